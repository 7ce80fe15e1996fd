"""The coarsest partition of a problem's features into cells on which circuit, trees and rules are constant and costs linear."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.predictor.composite import parts_of, trees_of
from likely.predictor.forms import ColumnForm
from likely.problem.problem import Problem
from likely.schema import Feature
from likely.schema.costs import Cost, MixedCost
from likely.schema.grid import first_place, multiples, snap
from likely.schema.region import Region
from likely.schema.rules import LinearRow, Rule
from likely.schema.values import LARGEST, Numbers

_NOTHING = np.empty(0)


@dataclass(frozen=True, eq=False)
class Partition:
    """The domain of one feature as the core knows it (`src/core/search/domain.hpp`): atoms, and closed cells of numbers."""

    atom: Numbers
    atom_cost: Numbers
    low: Numbers
    high: Numbers
    #: Pieces of the cost, which is linear on each: low, high, cost at low, cost at high.
    segments: Numbers
    #: The segment of each cell.
    segment: NDArray[np.int32]
    #: The step of the numbers; 0 if every real is a value.
    grid: float


def partitions(problem: Problem) -> list[Partition]:
    """The partition of every feature of a problem.

    Args:
        problem: What is asked.
    """
    schema = problem.schema
    parts = zip(schema.features, schema.costs, problem.factual, _breakpoints(problem), strict=True)
    return [partition(feature, cost, float(factual), breakpoints) for feature, cost, factual, breakpoints in parts]


def partition(feature: Feature, cost: Cost, factual: float, breakpoints: Numbers) -> Partition:
    """The partition of one feature.

    Args:
        feature: Whose values.
        cost: What a change of it costs; where its slope changes, a cell begins.
        factual: The value that a change starts from; NaN if it is unknown.
        breakpoints: The doubles from which on something else than the cost differs, in any order; a cell begins at each.
    """
    atoms = np.array([feature.atom_number(k) for k in range(len(feature.atoms))])
    prices = cost.price(feature, factual, atoms) if len(atoms) else _NOTHING
    if not feature.numeric:
        return Partition(atoms, prices, _NOTHING, _NOTHING, np.empty((0, 4)), np.empty(0, dtype=np.int32), 0.0)
    numbers = feature.region & Region.between(-LARGEST, LARGEST)
    cost_breakpoints = _cost_breakpoints(cost, factual)
    off_grid = _off_grid_values(feature, numbers, factual)
    low, high = _cells(
        numbers, np.unique(np.concatenate([breakpoints, cost_breakpoints, off_grid, np.nextafter(off_grid, np.inf)]))
    )
    if feature.grid is not None:
        low, high = _cells_on_grid(low, high, feature.grid, off_grid, _replaced(feature, off_grid))
    segments, segment = _segments(feature, cost, factual, low, high, cost_breakpoints)
    return Partition(atoms, prices, low, high, segments, segment, feature.grid or 0.0)


def rule_breakpoints(rules: Iterable[Rule], j: int) -> Numbers:
    """The doubles of a feature at which a region of some rule begins or has ended, in any order.

    Args:
        rules: Compiled rules; linear ones have no regions.
        j: The feature's place in the schema.
    """
    regions = [region for rule in rules if not isinstance(rule, LinearRow) for i, region in rule.literals if i == j]
    if not regions:
        return _NOTHING
    ends = np.array([end for region in regions for end in region.intervals], dtype=np.float64).reshape(-1, 2)
    return np.concatenate([ends[:, 0], np.nextafter(ends[:, 1], np.inf)])


def _breakpoints(problem: Problem) -> list[Numbers]:
    """Per feature the doubles from which on a rule, the circuit or the trees differ; none for a feature without numbers."""
    return [
        _feature_breakpoints(problem, j) if feature.numeric else _NOTHING for j, feature in enumerate(problem.schema.features)
    ]


def _feature_breakpoints(problem: Problem, j: int) -> Numbers:
    parts = [rule_breakpoints(problem.rules, j)]
    parts += [demand.circuit.cells[j].breaks for demand in (problem.plausibility, problem.coherence) if demand is not None]
    for trees in trees_of(problem.form):
        tests = trees.nodes[trees.nodes["feature"] == j]
        parts += [tests["low"], np.nextafter(tests["high"], np.inf)]
    for part in parts_of(problem.form):
        # A node is cut between cells first: where a curve has its kinks, it is straight on either side.
        if isinstance(part, ColumnForm) and part.curved:
            parts += [column.kinks for column in part.columns if column.feature == j]
    return np.concatenate(parts)  # in any order: `partition` sorts them


def _cost_breakpoints(cost: Cost, factual: float) -> Numbers:
    """Where the slope of the cost changes. The factual is a piece by itself: a fee is due on either side of it."""
    factual_piece = [] if np.isnan(factual) else [factual, np.nextafter(factual, np.inf)]
    return np.array([*factual_piece, cost.anchor] if isinstance(cost, MixedCost) else factual_piece)


def _off_grid_values(feature: Feature, numbers: Region, factual: float) -> Numbers:
    """Values that are no multiples of the step to the last bit; each is a cell by itself.

    The factual may always stay as it is, beside the multiple next to it (data were computed by somebody else: 0.1 + 0.2 is not
    0.3); a bound is a value where its multiple lies beyond it; and the feature may have values of its own beside the step.
    """
    if feature.grid is None:
        return _NOTHING
    bounds = np.array([feature.lower, feature.upper])
    nearest = snap(bounds, feature.grid)
    beyond = (nearest < feature.lower) | (nearest > feature.upper)
    beside = np.array(feature.off_grid)
    values = np.concatenate([bounds[feature.fits(bounds) & beyond], beside[numbers.contains(beside)]])
    if factual in numbers and factual != snap(np.array([factual]), feature.grid)[0]:
        values = np.append(values, factual)
    return np.unique(values)


def _replaced(feature: Feature, off_grid: Numbers) -> Numbers:
    """The places of multiples that the user's column cannot tell from a value off the grid: as singles, they are that value."""
    if feature.grid is None or "float32" not in feature.dtype.lower():
        return _NOTHING
    same = snap(off_grid, feature.grid).astype(np.float32) == off_grid.astype(np.float32)
    return np.asarray(np.round(off_grid[same] / feature.grid), dtype=np.float64)


def _cells(numbers: Region, breakpoints: Numbers) -> tuple[Numbers, Numbers]:
    """Closed cells between the breakpoints: their lower and upper ends."""
    lows, highs = [_NOTHING], [_NOTHING]
    for low, high in numbers.intervals:
        inner = breakpoints[(breakpoints > low) & (breakpoints <= high)]
        lows.append(np.concatenate([[low], inner]))
        highs.append(np.concatenate([np.nextafter(inner, -np.inf), [high]]))
    return np.concatenate(lows), np.concatenate(highs)


def _cells_on_grid(low: Numbers, high: Numbers, grid: float, off_grid: Numbers, replaced: Numbers) -> tuple[Numbers, Numbers]:
    """The cells from multiple to multiple of the step, without those that hold none.

    Cells of one value that is `off_grid` stay as they are; the multiples at the `replaced` places are no values beside it.
    """
    first, last = first_place(low, grid), first_place(np.nextafter(high, np.inf), grid) - 1
    for place in replaced:
        first, last = np.where(first == place, place + 1, first), np.where(last == place, place - 1, last)
    single = (low == high) & np.isin(low, off_grid)
    kept = single | (first <= last)
    ends = multiples(np.stack([first, last]), grid) + 0.0
    return np.where(single, low, ends[0])[kept], np.where(single, high, ends[1])[kept]


def _segments(
    feature: Feature, cost: Cost, factual: float, low: Numbers, high: Numbers, breakpoints: Numbers
) -> tuple[Numbers, NDArray[np.int32]]:
    """Runs of cells on which the cost is linear, and the run of each cell."""
    if not len(low):
        return np.empty((0, 4)), np.empty(0, dtype=np.int32)
    piece = np.searchsorted(np.sort(breakpoints), low, side="right")
    begins = np.append(True, piece[1:] != piece[:-1])
    segment = np.cumsum(begins).astype(np.int32) - 1
    first = np.flatnonzero(begins)
    last = np.append(first[1:] - 1, len(low) - 1)
    ends = np.stack([low[first], high[last]])
    prices = np.stack([cost.price(feature, factual, end) for end in ends])
    return np.ascontiguousarray(np.concatenate([ends, prices]).T), segment
