"""`Reach`: which values of a feature an answer to a question can have."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.mio.inputs import Cells, FeatureInputs, RowVariables
from likely.mio.moves import FeatureMoves, Moves
from likely.mio.tolerances import PRICE_ROUNDING
from likely.schema.costs import Cost
from likely.schema.rules import Clause
from likely.schema.values import Numbers


@dataclass(frozen=True, eq=False)
class Reach:
    """The atoms, and the ends of the numbers (none: an empty array), that a feature can have."""

    atoms: NDArray[np.bool_]
    ends: Numbers


def all_of(inputs: RowVariables) -> list[Reach]:
    """Every value of the schema.

    Args:
        inputs: The row.
    """
    reach = []
    for part in inputs.features:
        scale = part.scale
        ends = [] if scale is None else [scale.base, scale.base + scale.unit * scale.length]
        reach.append(Reach(np.ones(len(part.atoms), dtype=np.bool_), np.array(ends)))
    return reach


def reach_of(moves: Moves, most: float = math.inf) -> list[Reach]:
    """What rules of one feature allow, and what is below the cut-off by itself: domain reduction before the solver's own.

    Args:
        moves: Where each feature goes.
        most: The cut-off: what an answer costs at most.
    """
    reach = []
    for j, feature in enumerate(moves.features):
        regions = [rule.literals[0][1] for rule in moves.rules if isinstance(rule, Clause) and _alone(rule, j)]
        atoms, cells = (np.ones(len(ends), dtype=np.bool_) for ends in (feature.domain.atom, feature.domain.low))
        for region in regions:
            atoms &= region.contains(feature.domain.atom)
            cells &= region.contains(feature.domain.low)
        atoms &= feature.domain.atom_cost <= most + PRICE_ROUNDING * abs(most)
        reach.append(Reach(atoms, _ends(feature, cells, moves.inputs.schema.costs[j], most)))
    return reach


def hold_within(inputs: RowVariables, cells: Mapping[int, Cells], reach: Sequence[Reach]) -> None:
    """Give values, numbers and cells bounds of 0 beyond a reach, and take away those of a reach before.

    Args:
        inputs: The row.
        cells: The cells of a circuit, by feature.
        reach: Which values each feature can have.
    """
    for j, (part, within) in enumerate(zip(inputs.features, reach, strict=True)):
        first = len(part.atoms) - len(part.atom_variables)  # of a binary feature, the second value has the only variable
        for k, variable in enumerate(part.atom_variables):
            variable.setub(int(within.atoms[k + first]))
        if first:
            part.atom_variables[0].setlb(int(not within.atoms[0]))
        if part.scale is not None:
            _hold_number(part, cells.get(j), within.ends)


def _hold_number(part: FeatureInputs, cells: Cells | None, ends: Numbers) -> None:
    assert part.scale is not None
    low, high = part.scale.units(ends) if len(ends) else (0.0, 0.0)
    part.variable.setub(float(high))
    if not part.atoms:  # with a code, the number is 0
        part.variable.setlb(float(low))
    if cells is not None:
        inside = (cells.high >= ends[0]) & (cells.low <= ends[1]) if len(ends) else np.zeros(len(cells.low), dtype=np.bool_)
        for variable, here in zip(cells.variables, inside, strict=True):
            variable.setub(int(here))


def _alone(rule: Clause, j: int) -> bool:
    return len(rule.literals) == 1 and rule.literals[0][0] == j


def _ends(moves: FeatureMoves, allowed: NDArray[np.bool_], cost: Cost, most: float) -> Numbers:
    """The least and the greatest number in allowed cells that costs no more than `most`; the cost is linear on each."""
    low, high = moves.domain.low[allowed], moves.domain.high[allowed]
    if not len(low):
        return np.empty(0)
    if most == math.inf:
        return np.array([low[0], high[-1]])
    first, last = (cost.price(moves.inputs.feature, moves.factual, numbers) for numbers in (low, high))
    relaxed = most + PRICE_ROUNDING * abs(most)
    ends: list[float] = []
    for a, b, p, q in zip(low, high, first, last, strict=True):
        if min(p, q) <= relaxed:
            part = 1.0 if max(p, q) <= relaxed else (relaxed - min(p, q)) / abs(q - p)
            ends += [a, a + part * (b - a)] if p <= q else [b - part * (b - a), b]
    return np.array([min(ends), max(ends)]) if ends else np.empty(0)
