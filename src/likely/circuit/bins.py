"""How a learner sees a variable: a few bins, and the leaf that probabilities of bins make.

Categories, ranks and special codes are a bin each. Numbers are cut at equal shares of the rows, so that every bin has
rows to learn from, but never finer than a feature's step, nor finer than a hundredth of the range in which nearly all
rows lie: a density per unit can be driven up without limit by ever narrower bins around a value that repeats, and would
then say nothing about how plausible a row is. Beyond what was seen there is a tail on either side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.circuit.measure import room
from likely.circuit.nodes import Categories, Coded, Histogram, Leaf
from likely.schema import Feature
from likely.schema.region import above
from likely.schema.values import Numbers, code_index, is_code

#: At most as many bins of numbers per variable (tails aside).
MOST_BINS = 100
#: No bin of a feature without a step is narrower than this share of the range of nearly all rows (1st to 99th percentile).
FINEST = 0.01
#: A bin of numbers holds at least as many rows, where bins are cut by rows.
ROWS_PER_BIN = 5


@dataclass(frozen=True)
class Bins:
    """The bins of one variable: special codes first, then ranges breaks[i] <= v < breaks[i + 1] of numbers or places."""

    feature: Feature
    codes: int
    breaks: Numbers
    room: Numbers

    def __len__(self) -> int:
        return len(self.room)

    def index(self, values: Numbers) -> NDArray[np.intp]:
        """The bin of each value, the nearest one for a value outside all; -1 for a NaN."""
        last = max(len(self.breaks) - 2, 0)
        found = np.clip(np.searchsorted(self.breaks, values, side="right") - 1, 0, last) + self.codes
        if self.codes:
            code = is_code(values)
            found[code] = [code_index(value) for value in values[code]]
        return np.where(np.isnan(values), -1, found)

    def counts(self, values: Numbers) -> Numbers:
        """How many of the values each bin holds."""
        found = self.index(values)
        return np.bincount(found[found >= 0], minlength=len(self)).astype(np.float64)

    def leaf(self, variable: int, probabilities: Numbers) -> Leaf:
        """The normalised leaf with these probabilities of bins."""
        shares = np.asarray(probabilities, dtype=np.float64) / np.sum(probabilities)
        if not self.feature.numeric:
            return Categories(variable, tuple(shares))
        codes, numbers = shares[: self.codes], shares[self.codes :]
        total = float(numbers.sum())
        densities = numbers / self.room[self.codes :] / (total or 1.0)
        histogram = _histogram(variable, self.breaks, densities) if total > 0 else None
        if not self.codes:
            return histogram or _histogram(variable, self.breaks, 1 / self.room)
        return Coded(variable, tuple(codes), histogram)


def _histogram(variable: int, breaks: Numbers, densities: Numbers) -> Histogram:
    """A histogram with neighbouring bins of one density joined."""
    new = np.concatenate([[True], densities[1:] != densities[:-1]])
    return Histogram(variable, (*breaks[:-1][new], float(breaks[-1])), tuple(densities[new]))


def bins_of(rows: Numbers, features: Sequence[Feature]) -> tuple[Bins, ...]:
    """The bins of every variable of a table."""
    return tuple(_bins(feature, rows[:, j]) for j, feature in enumerate(features))


def _bins(feature: Feature, values: Numbers) -> Bins:
    if not feature.numeric:
        breaks = np.arange(len(feature.atoms) + 1.0)
        return Bins(feature, 0, breaks, np.ones(len(breaks) - 1))
    numbers = np.sort(values[~np.isnan(values) & ~is_code(values)])
    breaks = _breaks(feature, numbers)
    codes = len(feature.atoms)
    return Bins(feature, codes, breaks, np.concatenate([np.ones(codes), room(feature, breaks[:-1], breaks[1:])]))


def _breaks(feature: Feature, numbers: Numbers) -> Numbers:
    """Where to cut the numbers of a feature; the bounds of the feature lie within the outer breaks."""
    grid = getattr(feature, "grid", None)
    bounds = getattr(feature, "lower"), getattr(feature, "upper")  # noqa: B009 - a feature of numbers has both
    low, high = min([bounds[0], *numbers[:1]]), max([bounds[1], *numbers[-1:]])
    if grid is None:
        inner = _equal_shares(numbers, low, high)
        return np.unique(np.concatenate([[low], inner, [above(high)]]))
    first, last = np.floor(low / grid), np.ceil(high / grid)
    if last - first + 1 <= MOST_BINS:
        return np.asarray(np.arange(first, last + 2) * grid)
    inner = np.unique(np.round(_equal_shares(numbers, low, high) / grid))
    inner = inner[(inner > first) & (inner < last)]
    return np.asarray(np.concatenate([[first], inner, [last + 1]]) * grid)


def _equal_shares(numbers: Numbers, low: float, high: float) -> Numbers:
    """Cuts between equal shares of the rows, none closer together than the finest width; a repeated value gets its own bin."""
    if not len(numbers):
        return np.empty(0)
    count = int(np.clip(len(numbers) // ROWS_PER_BIN, 1, MOST_BINS))
    cuts = np.unique(np.quantile(numbers, np.linspace(0, 1, count + 1)))
    finest = FINEST * float(np.subtract(*np.quantile(numbers, [0.99, 0.01]))) or (high - low) or 1.0
    kept: list[float] = []
    for cut in cuts:
        if not kept or cut - kept[-1] >= finest:
            kept.append(float(cut))
    return np.array([cut for cut in kept if low < cut < high])
