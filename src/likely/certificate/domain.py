"""Rows as a certificate knows them: boxes of atoms and ranges of numbers, and the corners at which costs are least."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.problem import Problem
from likely.problem.domain import Partition, partitions
from likely.schema.grid import multiples
from likely.schema.values import Numbers

#: Unit roundoff of doubles: what one operation loses, relative to its result.
ROUNDOFF = 2.0**-53


@dataclass(frozen=True, eq=False)
class Box:
    """For every feature the range of numbers (none if `low` > `high`) and, over the atoms of all features, which are left."""

    low: Numbers
    high: Numbers
    atoms: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Corners:
    """The atoms of a box, and both ends of every piece of a range on which the cost is linear; feature by feature.

    A function that is linear in the numbers of a feature, plus any multiple of its cost, is least and greatest at one of them.
    """

    feature: NDArray[np.intp]
    #: Places where the corners of each feature begin.
    first: NDArray[np.intp]
    #: The number, as an offset from the feature's anchor; 0 at atoms.
    offset: Numbers
    #: The place among all atoms; -1 at numbers.
    atom: NDArray[np.intp]
    cost: Numbers

    def least(self, values: Numbers) -> Numbers:
        """Per feature, the least of a value per corner (of several, if there are columns)."""
        return np.asarray(np.minimum.reduceat(values, self.first, axis=0))

    def greatest(self, values: Numbers) -> Numbers:
        """Per feature, the greatest of a value per corner."""
        return np.asarray(np.maximum.reduceat(values, self.first, axis=0))


class Domain:
    """The values of every feature and what they cost.

    Args:
        problem: What was asked.
    """

    def __init__(self, problem: Problem) -> None:
        self.parts: list[Partition] = partitions(problem)
        self.size = len(self.parts)
        self.anchor = np.array([_anchor(part, float(value)) for part, value in zip(self.parts, problem.factual, strict=True)])
        self.first_atom = np.cumsum([0, *(len(part.atom) for part in self.parts)])
        self._atom_feature = np.repeat(np.arange(self.size), np.diff(self.first_atom))
        self.atom_cost = np.concatenate([np.empty(0), *(part.atom_cost for part in self.parts)])
        segments = np.concatenate([np.empty((0, 4)), *(part.segments for part in self.parts)])
        self._segment_feature = np.repeat(np.arange(self.size), [len(part.segments) for part in self.parts])
        self._low, self._high, self._cost_low, self._cost_high = np.ascontiguousarray(segments.T)
        feature = np.concatenate([self._atom_feature, self._segment_feature, self._segment_feature])
        self._order = np.argsort(feature, kind="stable")
        self._feature = feature[self._order]
        nothing = np.full(len(self._segment_feature), -1)
        self._atom = np.concatenate([np.arange(len(self._atom_feature)), nothing, nothing])[self._order]

    def whole(self) -> Box:
        """All rows."""
        low = np.array([part.low[0] if len(part.low) else 1.0 for part in self.parts])
        high = np.array([part.high[-1] if len(part.low) else 0.0 for part in self.parts])
        return Box(low, high, np.ones(len(self._atom_feature), dtype=np.bool_))

    def atoms_of(self, box: Box, j: int) -> NDArray[np.bool_]:
        """Which atoms of a feature are left."""
        return box.atoms[self.first_atom[j] : self.first_atom[j + 1]]

    def cells_of(self, box: Box, j: int) -> tuple[int, int]:
        """The first cell of a feature that a box meets, and the one after the last."""
        part = self.parts[j]
        if box.low[j] > box.high[j]:
            return 0, 0
        first = int(np.searchsorted(part.high, box.low[j], side="left"))
        return first, max(first, int(np.searchsorted(part.low, box.high[j], side="right")))

    def cell_ends(self, box: Box, j: int) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """Of the cells of a feature that a box meets: both ends of what they share with it, and what these cost."""
        part, (first, last) = self.parts[j], self.cells_of(box, j)
        low, high = np.maximum(part.low[first:last], box.low[j]), np.minimum(part.high[first:last], box.high[j])
        pieces = part.segments[part.segment[first:last]].T
        return low, high, _interpolated(low, *pieces), _interpolated(high, *pieces)

    def corners(self, box: Box) -> Corners | None:
        """The corners of a box; None if a feature has no value left, hence the box no row."""
        low = np.maximum(self._low, box.low[self._segment_feature])
        high = np.minimum(self._high, box.high[self._segment_feature])
        met = low <= high
        alive = np.concatenate([box.atoms, met, met])[self._order]
        feature = self._feature[alive]
        first = np.searchsorted(feature, np.arange(self.size))
        if len(feature) == 0 or first[-1] == len(feature) or (feature[first] != np.arange(self.size)).any():
            return None
        anchor = self.anchor[self._segment_feature]
        offset = np.concatenate([np.zeros(len(self._atom_feature)), low - anchor, high - anchor])[self._order][alive]
        cost = np.concatenate([self.atom_cost, self._cost(low), self._cost(high)])[self._order][alive]
        return Corners(feature, first, offset, self._atom[alive], cost)

    def corners_of(self, box: Box, j: int) -> Corners | None:
        """The corners of one feature; None if it has no value left."""
        low, high, cost_low, cost_high = self.parts[j].segments.T
        first, last = np.maximum(low, box.low[j]), np.minimum(high, box.high[j])
        met = first <= last
        pieces = low[met], high[met], cost_low[met], cost_high[met]
        atoms = self.first_atom[j] + np.flatnonzero(self.atoms_of(box, j))
        count = len(atoms) + 2 * len(pieces[0])
        if count == 0:
            return None
        offset, atom, cost = np.zeros(count), np.full(count, -1), np.empty(count)
        atom[: len(atoms)], cost[: len(atoms)] = atoms, self.atom_cost[atoms]
        ends = np.concatenate([first[met], last[met]])
        offset[len(atoms) :] = ends - self.anchor[j]
        cost[len(atoms) :] = np.concatenate([_interpolated(first[met], *pieces), _interpolated(last[met], *pieces)])
        return Corners(np.full(count, j), np.zeros(1, dtype=np.intp), offset, atom, cost)

    def _cost(self, at: Numbers) -> Numbers:
        """What numbers of each segment cost."""
        return _interpolated(at, self._low, self._high, self._cost_low, self._cost_high)

    # -- parts of boxes ------------------------------------------------------------------------------------------------

    def changed(self, box: Box, changes: Sequence[Any]) -> Box:
        """A box in which some features have other values: (feature, range or None, places of atoms) each. No value is added."""
        low, high, atoms = box.low.copy(), box.high.copy(), box.atoms.copy()
        for j, numbers, left in changes:
            if numbers is None:
                low[j], high[j] = 1.0, 0.0
            elif low[j] <= high[j]:
                low[j], high[j] = max(low[j], numbers[0]), min(high[j], numbers[1])
            kept = np.zeros(self.first_atom[j + 1] - self.first_atom[j], dtype=np.bool_)
            kept[left] = True
            atoms[self.first_atom[j] : self.first_atom[j + 1]] &= kept
        return Box(low, high, atoms)

    def removed(self, before: Box, after: Box) -> Iterator[tuple[int, Box]]:
        """Boxes that together hold every row of `before` that is not in `after`, each with the feature that tells."""
        for j in range(self.size):
            lost = self.atoms_of(before, j) & ~self.atoms_of(after, j)
            for low, high in self._lost_numbers(before, after, j):
                yield j, self.restricted(before, j, low, high, None)
            if lost.any():
                yield j, self.restricted(before, j, 1.0, 0.0, lost)

    def _lost_numbers(self, before: Box, after: Box, j: int) -> list[tuple[float, float]]:
        low, high = float(before.low[j]), float(before.high[j])
        if low > high:
            return []
        if after.low[j] > after.high[j]:
            return [(low, high)]
        parts = []
        if after.low[j] > low:
            parts.append((low, self._before(j, float(after.low[j]))))
        if after.high[j] < high:
            parts.append((self._after(j, float(after.high[j])), high))
        return [part for part in parts if part[0] <= part[1]]

    def inside(self, j: int, low: float, high: float) -> tuple[float, float]:
        """The least and the greatest number of a feature that lie between two others, which do not count; none if low > high."""
        part = self.parts[j]
        first, last = float(part.low[0]), float(part.high[-1])
        return (
            first if low < first else max(float(np.nextafter(low, np.inf)), self._after(j, low)),
            last if high > last else min(float(np.nextafter(high, -np.inf)), self._before(j, high)),
        )

    def _before(self, j: int, value: float) -> float:
        """The greatest number of a feature that is below a value; one that is below all if there is none."""
        part = self.parts[j]
        cell = int(np.searchsorted(part.low, value, side="left")) - 1
        if cell < 0:
            return float(np.nextafter(part.low[0], -np.inf))
        if part.high[cell] < value:
            return float(part.high[cell])
        if part.grid > 0:
            near = multiples(np.floor(value / part.grid) + np.arange(-2.0, 3.0), part.grid)
            return max(float(part.low[cell]), float(near[near < value].max()))
        return float(np.nextafter(value, -np.inf))

    def _after(self, j: int, value: float) -> float:
        """The least number of a feature that is above a value; one that is above all if there is none."""
        part = self.parts[j]
        cell = int(np.searchsorted(part.high, value, side="right"))
        if cell == len(part.low):
            return float(np.nextafter(part.high[-1], np.inf))
        if part.low[cell] > value:
            return float(part.low[cell])
        if part.grid > 0:
            near = multiples(np.ceil(value / part.grid) + np.arange(-2.0, 3.0), part.grid)
            return min(float(part.high[cell]), float(near[near > value].min()))
        return float(np.nextafter(value, np.inf))

    def restricted(self, box: Box, j: int, low: float, high: float, atoms: NDArray[np.bool_] | None) -> Box:
        """The box with other numbers and atoms (none, if left out) of one feature."""
        lows, highs, all_atoms = box.low.copy(), box.high.copy(), box.atoms.copy()
        lows[j], highs[j] = low, high
        all_atoms[self.first_atom[j] : self.first_atom[j + 1]] = False if atoms is None else atoms
        return Box(lows, highs, all_atoms)

    def single(self, box: Box) -> bool:
        """Whether a box is one row."""
        numbers = (box.low <= box.high).astype(np.intp)
        count = numbers + np.bincount(self._atom_feature[box.atoms], minlength=self.size)
        return bool((count == 1).all() and (box.low[numbers == 1] == box.high[numbers == 1]).all())

    def single_cells(self, box: Box) -> bool:
        """Whether a box has one atom, or numbers of one cell, of every feature."""
        numbers = box.low <= box.high
        count = numbers + np.bincount(self._atom_feature[box.atoms], minlength=self.size)
        cells = [self.cells_of(box, int(j)) for j in np.flatnonzero(numbers)]
        return bool((count == 1).all()) and all(last == first + 1 for first, last in cells)

    def halves(self, box: Box, j: int) -> list[Box]:
        """Two boxes that hold all rows of one, each with about half of the cells or atoms of a feature; none if it has one."""
        atoms, (first, last) = self.atoms_of(box, j), self.cells_of(box, j)
        if atoms.any() and last > first:
            return [self.restricted(box, j, 1.0, 0.0, atoms), self.restricted(box, j, box.low[j], box.high[j], None)]
        if last - first > 1:
            part, cut = self.parts[j], (first + last) // 2
            ends = (box.low[j], part.high[cut - 1]), (part.low[cut], box.high[j])
            return [self.restricted(box, j, float(low), float(high), None) for low, high in ends]
        places = np.flatnonzero(atoms)
        if len(places) < 2:
            return []
        left = np.isin(np.arange(len(atoms)), places[: len(places) // 2])
        return [self.restricted(box, j, 1.0, 0.0, each) for each in (left, atoms & ~left)]

    def halves_on_grid(self, box: Box, j: int) -> list[Box]:
        """The same within one cell, if the numbers of a feature have a grid; none if it has one number there."""
        low, high = float(box.low[j]), float(box.high[j])
        if not self.parts[j].grid > 0 or not low < high or self.atoms_of(box, j).any():
            return []
        above = self._after(j, low + (high - low) / 2)
        below = self._before(j, above)
        parts = [(low, below), (above, high)]
        return [self.restricted(box, j, *part, None) for part in parts] if low <= below and above <= high else []

    def cut(self, box: Box, j: int, at: float) -> list[Box]:
        """Two boxes that hold all rows of one whose feature j is a number: with those up to a number, and from it on."""
        ends = (float(box.low[j]), at), (at, float(box.high[j]))
        return [self.restricted(box, j, low, high, None) for low, high in ends]

    def uncovered(self, box: Box, parts: Sequence[Box]) -> list[Box]:
        """Boxes that hold every row of `box` that is in none of the parts; these may differ from it in one feature."""
        features = {j for part in parts for j, _ in self.removed(box, part)}
        if not parts or len(features) > 1:
            return [box]
        if not features:
            return []
        j = features.pop()
        left = [box]
        for part in parts:
            left = [rest for piece in left for _, rest in self.removed(piece, self._overlap(piece, part, j))]
        return left

    def _overlap(self, box: Box, part: Box, j: int) -> Box:
        low, high = max(box.low[j], part.low[j]), min(box.high[j], part.high[j])
        empty = box.low[j] > box.high[j] or part.low[j] > part.high[j] or low > high
        low, high = (1.0, 0.0) if empty else (float(low), float(high))
        return self.restricted(box, j, low, high, self.atoms_of(box, j) & self.atoms_of(part, j))


def _interpolated(at: Numbers, low: Numbers, high: Numbers, cost_low: Numbers, cost_high: Numbers) -> Numbers:
    """Costs that are linear between two ends: from the cheaper one, as costs are elsewhere."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rising = cost_low + (cost_high - cost_low) * ((at - low) / (high - low))
        falling = cost_high + (cost_low - cost_high) * ((high - at) / (high - low))
    return np.asarray(np.where(high > low, np.where(cost_low <= cost_high, rising, falling), cost_low))


def _anchor(part: Partition, factual: float) -> float:
    """The number from which offsets are measured: the factual, or the middle of the numbers if it is none."""
    if not len(part.low):
        return 0.0
    if ((part.low <= factual) & (factual <= part.high)).any():
        return factual
    return float(part.low[0] / 2 + part.high[-1] / 2)
