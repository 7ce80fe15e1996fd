"""How a learner sees a variable: a few bins, and the leaf that probabilities of bins make.

Categories, ranks and special codes are a bin each, and so are whole numbers (or multiples of a step) of a short range.
Other numbers are cut so that a bin has rows to learn from, midway between two that were seen and never on one: to move a
value by its last bit gains nothing. A value that many rows have, far more than lie beside it (an *atom*: no debt, a
default), gets a bin of its own, around it; two rows that happen to agree make none.
No other bin is narrower than `finest`, a share of the range in which nearly all rows lie (1st to 99th percentile), and of
numbers without a step no bin is. There must be such a limit: a density per unit can be driven up for ever by narrower bins
around an atom, and would then say nothing about how plausible a row is. Where there is a step, the bin of an atom holds
nothing else: 1 is not as likely as 0 because four rows of ten have no debt. Beyond what was seen there are up to three wider
and wider bins on either side, and nothing beyond the feature's bounds.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from likely.circuit.model.measure import LEAST_WIDTH, ends, measure
from likely.circuit.model.nodes import Categories, Coded, Histogram, Leaf
from likely.schema import Feature
from likely.schema.grid import steps_below
from likely.schema.region import above
from likely.schema.values import LARGEST, Numbers, code_number, is_code

#: Places in an array.
Indices: TypeAlias = NDArray[np.intp]

#: No bin is narrower than this share of the range of nearly all rows.
FINEST = 1 / 200
#: Whole numbers have a bin each if at most as many fit in their range.
MOST_WHOLE = 200
#: A value that at least this share of the rows has, and so many times as many as a bin beside it, gets a bin of its own.
OFTEN, PROMINENT = 0.01, 4
#: So many bins beside a value, on both sides together, are looked at.
BESIDE = 10
#: A bin holds at least as many rows, and at least this share of all.
FEWEST_ROWS, FEWEST_SHARE = 5, 0.0005
#: A cut is moved off a value by this share of a bin.
ASIDE = 1e-3
#: The widths of the bins beyond what was seen, as shares of its range.
TAILS = (0.05, 0.2, 1.0)


@dataclass(frozen=True)
class Bins:
    """The bins of one variable: special codes first, then ranges breaks[i] <= v < breaks[i + 1] of numbers or places."""

    feature: Feature
    codes: int
    breaks: Numbers
    measure: Numbers
    #: How many of the first and of the last ranges lie beyond what was seen.
    tails: tuple[int, int] = (0, 0)

    def __len__(self) -> int:
        return len(self.measure)

    def index(self, values: Numbers) -> Indices:
        """The bin of each value, the nearest one for a value outside all; -1 for a NaN."""
        last = max(len(self.breaks) - 2, 0)
        index = np.clip(np.searchsorted(self.breaks, values, side="right") - 1, 0, last) + self.codes
        if self.codes:
            code = is_code(values)
            index[code] = np.round(values[code] / code_number(0)) - 1
        return np.where(np.isnan(values), -1, index)

    def leaf(self, variable: int, probabilities: Numbers) -> Leaf:
        """The normalised leaf with these probabilities of bins."""
        shares = np.asarray(probabilities, dtype=np.float64) / np.sum(probabilities)
        if not self.feature.numeric:
            return Categories(variable, tuple(shares))
        codes, numbers = shares[: self.codes], shares[self.codes :]
        total = float(numbers.sum())
        wide = self.measure[self.codes :]
        densities = np.divide(numbers, wide * (total or 1.0), out=np.zeros(len(numbers)), where=wide > 0)
        if not self.codes:
            return _histogram(variable, self.breaks, densities)
        return Coded(variable, tuple(codes), _histogram(variable, self.breaks, densities) if total > 0 else None)


def _histogram(variable: int, breaks: Numbers, densities: Numbers) -> Histogram:
    """A histogram with neighbouring bins of one density joined."""
    new = np.concatenate([[True], densities[1:] != densities[:-1]])
    return Histogram(variable, (*breaks[:-1][new], float(breaks[-1])), tuple(densities[new]))


def bins_of(rows: Numbers, features: Sequence[Feature], finest: float = FINEST) -> tuple[Bins, ...]:
    """The bins of every variable of a table."""
    return tuple(_bins(feature, rows[:, j], finest) for j, feature in enumerate(features))


def _bins(feature: Feature, values: Numbers, finest: float) -> Bins:
    if not feature.numeric:
        count = len(feature.atoms)
        return Bins(feature, 0, np.arange(count + 1.0), np.ones(count))
    numbers = np.sort(values[~np.isnan(values) & ~is_code(values)])
    if not len(numbers):
        numbers = np.array([feature.lower, feature.upper])
    below, core, over = _breaks(feature, numbers, finest)
    breaks = np.clip(np.concatenate([below, core, over]), -LARGEST, LARGEST)
    wide = measure(feature, breaks[:-1], breaks[1:])
    tails = int((wide[: len(below)] > 0).sum()), int((wide[len(wide) - len(over) :] > 0).sum())
    breaks = np.append(breaks[:-1][wide > 0], breaks[-1])  # where the only number of a bin is a code, it joins the one before
    codes = len(feature.atoms)
    return Bins(feature, codes, breaks, np.concatenate([np.ones(codes), wide[wide > 0]]), tails)


def _breaks(feature: Feature, numbers: Numbers, finest: float) -> tuple[Numbers, Numbers, Numbers]:
    """Breaks below, within and beyond what was seen; the outermost are the ends of the feature's domain."""
    grid = feature.grid
    if grid is None:
        lower, end = ends(feature)
        return _tailed(_real_cuts(numbers, finest, lower, end), lower, end, whole=False)
    # Where there is a step, all is counted in steps. Whole numbers are exact; of other steps the multiples are what
    # somebody's arithmetic made of them (0.07 or 7 * 0.01), and the breaks lie half a step away from all of them.
    lower, upper = steps_below(np.array([feature.lower, -feature.upper]), grid)
    tailed = _tailed(_whole_cuts(np.round(numbers / grid), finest), lower, 1 - upper, whole=True)
    below, core, over = ((part - (0.0 if grid == 1.0 else 0.5)) * grid for part in tailed)
    return below, core, over


def _tailed(core: Numbers, lower: float, end: float, *, whole: bool) -> tuple[Numbers, Numbers, Numbers]:
    """Breaks below, within and beyond what was seen; the outermost are those of lower <= v < end."""
    core = np.unique(np.clip(core, lower, end))
    away = np.cumsum(TAILS) * (core[-1] - core[0])
    if whole:
        away = np.maximum(np.round(away), np.arange(1.0, len(TAILS) + 1))
    low, high = core[0] - away[::-1], core[-1] + away
    least = 0.5 if whole else away[0] / 2  # of a bin: with less room than this, what was seen reaches to the bound
    below = np.append(lower, low[1:][low[1:] > lower + least]) if core[0] - lower > least else np.empty(0)
    over = np.append(high[:-1][high[:-1] < end - least], end) if end - core[-1] > least else np.empty(0)
    core[0], core[-1] = core[0] if len(below) else lower, core[-1] if len(over) else end
    return below, core, over


def _spread_of(numbers: Numbers) -> float:
    """The range of nearly all numbers, or if that is 0, of all."""
    return float(np.subtract(*np.quantile(numbers, [0.99, 0.01]))) or float(numbers[-1] - numbers[0])


def _real_cuts(numbers: Numbers, finest: float, lower: float, end: float) -> Numbers:
    """Where to cut the numbers that were seen, every real in lower <= v < end being one."""
    # Doubles must lie within a bin, and a density, one over its width, must be one.
    least = max(LEAST_WIDTH, 4 * float(np.spacing(np.abs(numbers).max())))
    width = max(finest * _spread_of(numbers) or 1.0, least)
    first, last = float(numbers[0]), float(numbers[-1])
    start = min(first, max(first - width / 2, lower))
    cuts = _cuts(numbers, width, start, max(above(last), min(last + width / 2, end)))
    return np.concatenate([cuts[:1], _off_values(cuts[1:-1], np.unique(numbers), width), cuts[-1:]])


def _off_values(cuts: Numbers, values: Numbers, width: float) -> Numbers:
    """Cuts moved off the values that they lie on, to a place between the same two values and as near as makes no odds."""
    after = np.searchsorted(values, cuts)  # the first value that is not below the cut
    before = values[np.clip(after - 1, 0, None)]
    after_value = values[np.clip(after, None, len(values) - 1)]
    aside = np.minimum(width * ASIDE, (after_value - before) / 2)
    moved = np.where(cuts >= after_value - aside, after_value - aside, np.maximum(cuts, before + aside))
    return np.where((after > 0) & (after < len(values)), moved, cuts)


def _whole_cuts(places: Numbers, finest: float) -> Numbers:
    """Where to cut the whole numbers that were seen."""
    end = float(places[-1]) + 1
    if end - places[0] <= MOST_WHOLE:
        return np.arange(places[0], end + 1)
    width = max(1.0, np.ceil(finest * _spread_of(places)))
    return np.unique(np.ceil(_cuts(places, width, float(places[0]), end, whole=True)))


def _cuts(numbers: Numbers, width: float, start: float, end: float, *, whole: bool = False) -> Numbers:
    """Cuts from a start to an end: around the atoms, and between them wherever there are rows for another bin."""
    values = np.unique(numbers)
    midway = values[:-1] + (values[1:] - values[:-1]) / 2
    repeated = _atoms(numbers, width, start, end, whole=whole)
    cuts = [min(start, repeated[0][0]) if repeated else start]
    for low, high in repeated:
        if low - cuts[-1] >= width:
            cuts += [*_filled(numbers, midway, cuts[-1], low, width), low]
        elif whole:
            cuts.append(low)
        elif len(cuts) > 1:
            cuts[-1] += (low - cuts[-1]) / 2  # too narrow for a bin: its neighbours share it
        cuts.append(high)
    if end - cuts[-1] >= width:
        cuts += [*_filled(numbers, midway, cuts[-1], end, width), end]
    elif whole:
        cuts.append(end)
    elif len(cuts) == 1:
        cuts.append(start + width)
    return np.unique(np.array([*cuts[:-1], max(cuts[-1], end)]))


def _atoms(numbers: Numbers, width: float, start: float, end: float, *, whole: bool) -> list[tuple[float, float]]:
    """The bins of values that far more rows have than lie beside them, in order: none over another, none over an end."""
    values, counts = np.unique(numbers, return_counts=True)
    intervals: list[tuple[float, float]] = []
    for place in np.argsort(-counts, kind="stable"):
        if counts[place] < max(FEWEST_ROWS, OFTEN * len(numbers)):
            break
        value, reach = float(values[place]), (BESIDE + 1) * width / 2
        near = np.searchsorted(numbers, value + reach, side="right") - np.searchsorted(numbers, value - reach)
        if counts[place] * BESIDE < PROMINENT * (near - counts[place]):
            continue
        interval = (value, value + 1) if whole else (value - width / 2, value + width / 2)
        if interval[0] < start:
            interval = start, start + width
        elif interval[1] > end:
            interval = max(start, end - width), end
        at = bisect(intervals, interval)
        if (at == 0 or intervals[at - 1][1] <= interval[0]) and (at == len(intervals) or interval[1] <= intervals[at][0]):
            intervals.insert(at, interval)
    return intervals


def _filled(numbers: Numbers, midway: Numbers, low: float, high: float, width: float) -> list[float]:
    """Cuts within low <= v < high and midway between values, no closer than `width`, with rows enough between and beside them."""
    rows = int(max(FEWEST_ROWS, FEWEST_SHARE * len(numbers)))
    cuts: list[float] = []
    at, last = low, np.searchsorted(numbers, high)
    while (next_row := np.searchsorted(numbers, at) + rows) < len(numbers):
        place = np.searchsorted(midway, max(at + width, float(numbers[next_row - 1])))
        at = float(midway[place]) if place < len(midway) else high
        if at > high - width or last - np.searchsorted(numbers, at) < rows:
            break
        cuts.append(at)
    return cuts
