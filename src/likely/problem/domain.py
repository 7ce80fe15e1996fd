"""The finest partition of a problem's features: cells on which circuit, trees and rules are constant and costs linear."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.circuit.model.measure import steps_below
from likely.predictor import TreeEnsemble
from likely.problem.problem import Problem
from likely.schema import Continuous, Feature, Integer, Mixed
from likely.schema.costs import Cost, MixedCost
from likely.schema.numeric import snap
from likely.schema.region import Region
from likely.schema.rules import AtMost, Clause, Rule
from likely.schema.values import LARGEST, Numbers

_NOTHING = np.empty(0)


@dataclass(frozen=True, eq=False)
class FeatureCells:
    """One feature as the core knows it (`src/core/search/domain.hpp`)."""

    atom: Numbers
    atom_cost: Numbers
    low: Numbers
    high: Numbers
    segments: Numbers  # low, high, cost at low, cost at high
    segment: NDArray[np.int32]  # of each cell
    grid: float


def _starts_of(problem: Problem, rules: Iterable[Rule]) -> list[Numbers]:
    """Per feature the doubles at which something begins to differ, for any part of the problem that is not the factual's.

    Nothing where there are no numbers to be cut.
    """
    numeric = [j for j, feature in enumerate(problem.schema.features) if feature.numeric]
    found: dict[int, list[Numbers]] = {j: [] for j in numeric}
    if problem.plausibility is not None:
        for j in numeric:
            found[j].append(problem.plausibility.circuit.cells[j].breaks)
    if isinstance(problem.form, TreeEnsemble):
        nodes = problem.form.nodes
        for j in numeric:
            own = nodes[nodes["feature"] == j]
            found[j] += [own["low"], np.nextafter(own["high"], np.inf)]
    for rule in rules:
        if isinstance(rule, (Clause, AtMost)):
            for j, region in rule.literals:
                if j in found:
                    found[j].append(_starts(region))
    return [np.unique(np.concatenate([_NOTHING, *found[j]])) if j in found else _NOTHING for j in range(len(problem.schema))]


def problem_cells(problem: Problem, rules: Sequence[Rule]) -> list[FeatureCells]:
    """The atoms and cells of every feature of a problem with these (compiled) rules."""
    schema = problem.schema
    parts = zip(schema.features, schema.costs, problem.factual, _starts_of(problem, rules), strict=True)
    return [feature_cells(feature, cost, float(factual), own) for feature, cost, factual, own in parts]


def _starts(region: Region) -> Numbers:
    ends = np.array(region.intervals, dtype=np.float64).reshape(-1, 2)
    return np.concatenate([ends[:, 0], np.nextafter(ends[:, 1], np.inf)])


def feature_cells(feature: Feature, cost: Cost, factual: float, starts: Numbers) -> FeatureCells:
    """The atoms and cells of one feature."""
    atoms = np.array([feature.atom_number(k) for k in range(len(feature.atoms))])
    prices = cost.price(feature, factual, atoms) if len(atoms) else _NOTHING
    if not feature.numeric:
        return FeatureCells(atoms, prices, _NOTHING, _NOTHING, np.empty((0, 4)), np.empty(0, dtype=np.int32), 0.0)
    grid = getattr(feature, "grid", None) or 0.0
    numbers = feature.region & Region.between(-LARGEST, LARGEST)
    kinks = _kinks(feature, cost, factual)
    apart = _apart(feature, numbers, factual)
    low, high = _cut(numbers, np.unique(np.concatenate([starts, kinks, apart, np.nextafter(apart, np.inf)])))
    if grid:
        low, high = _on_grid(low, high, grid, apart, np.round(apart[feature.fits(apart)] / grid))
    segments, segment = _segments(feature, cost, factual, low, high, kinks)
    return FeatureCells(atoms, prices, low, high, segments, segment, grid)


def _kinks(feature: Feature, cost: Cost, factual: float) -> Numbers:
    """Where another piece of the cost begins. The factual is a piece of its own: a fee is due on either side of it."""
    found = [] if np.isnan(factual) else [factual, np.nextafter(factual, np.inf)]
    if isinstance(cost, MixedCost):
        found.append(cost.anchor)
    return np.array(found)


def _apart(feature: Feature, numbers: Region, factual: float) -> Numbers:
    """Values that are no multiple of the step to the last bit, each a cell of its own.

    The factual may always stay as it is, and takes the place of the multiple beside it; and so may a bound, where that
    multiple lies beyond it (data were computed by somebody else, perhaps as singles).
    """
    if not isinstance(feature, (Continuous, Integer, Mixed)) or feature.grid is None:
        return np.empty(0)
    ends = np.array([feature.lower, feature.upper])
    multiples = snap(ends, feature.grid)
    beyond = (multiples < feature.lower) | (multiples > feature.upper)
    found = ends[feature.fits(ends) & beyond]
    if factual in numbers and factual != snap(np.array([factual]), feature.grid)[0]:
        found = np.append(found, factual)
    return np.unique(found)


def _cut(numbers: Region, starts: Numbers) -> tuple[Numbers, Numbers]:
    """Closed cells between the starts."""
    lows, highs = [np.empty(0)], [np.empty(0)]
    for low, high in numbers.intervals:
        inner = starts[(starts > low) & (starts <= high)]
        lows.append(np.concatenate([[low], inner]))
        highs.append(np.concatenate([np.nextafter(inner, -np.inf), [high]]))
    return np.concatenate(lows), np.concatenate(highs)


def _on_grid(low: Numbers, high: Numbers, grid: float, apart: Numbers, taken: Numbers) -> tuple[Numbers, Numbers]:
    """The cells from multiple to multiple of the step, without those that hold none.

    What stands `apart` stays as it is; the multiples whose numbers are `taken` are no values beside it.
    """
    first, last = _first_place(low, grid), _first_place(np.nextafter(high, np.inf), grid) - 1
    for place in taken:
        first, last = np.where(first == place, place + 1, first), np.where(last == place, place - 1, last)
    alone = (low == high) & np.isin(low, apart)
    held = alone | (first <= last)
    on_grid = snap(np.stack([first, last]) * grid, grid) + 0.0
    return np.where(alone, low, on_grid[0])[held], np.where(alone, high, on_grid[1])[held]


def _first_place(numbers: Numbers, grid: float) -> Numbers:
    """The number of the first multiple of the step that is not below each number, to the last bit."""
    places = steps_below(numbers, grid)
    return np.where(snap(places * grid, grid) < numbers, places + 1, places)


def _segments(
    feature: Feature, cost: Cost, factual: float, low: Numbers, high: Numbers, kinks: Numbers
) -> tuple[Numbers, NDArray[np.int32]]:
    """Runs of cells with one linear cost."""
    if not len(low):
        return np.empty((0, 4)), np.empty(0, dtype=np.int32)
    piece = np.searchsorted(np.sort(kinks), low, side="right")
    new = np.append(True, piece[1:] != piece[:-1])
    segment = np.cumsum(new).astype(np.int32) - 1
    first = np.flatnonzero(new)
    last = np.append(first[1:] - 1, len(low) - 1)
    ends = np.stack([low[first], high[last]])
    prices = np.stack([cost.price(feature, factual, own) for own in ends])
    return np.ascontiguousarray(np.concatenate([ends, prices]).T), segment
