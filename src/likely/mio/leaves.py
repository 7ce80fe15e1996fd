"""The leaves of a circuit over the values that a programme's row can have, and what they are at least and at most."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from likely.circuit import Circuit, GaussianBlock
from likely.circuit.model.cells import Cells as CircuitCells
from likely.errors import CircuitError
from likely.mio.inputs import FeatureInputs, RowVariables, cell_holds, cells_of
from likely.mio.modelling import Expression
from likely.mio.warped import BlockLeaf, Pieces, block_leaf
from likely.schema.region import Region
from likely.schema.values import Numbers

Side: TypeAlias = Literal["under", "over"]
#: Into how many parts a cell of a density that is no histogram is cut, where it is not one value each.
PIECES = 32
#: Up to so many values of a feature with parametric leaves are pieces of their own.
VALUES = 256


@dataclass(frozen=True, eq=False)
class Runs:
    """A leaf over the numbers of its feature: constant between `low[i]` and `high[i]`."""

    low: Numbers
    high: Numbers
    logs: Numbers


def spans(parts: Runs | Pieces, low: Numbers) -> list[tuple[int, int]]:
    """The first and the last of the cells that begin at `low`, of every part.

    Args:
        parts: Runs of a leaf, or pieces of a warp.
        low: Where each cell begins.
    """
    first, last = np.searchsorted(low, parts.low), np.searchsorted(low, parts.high, side="right") - 1
    return [(int(a), int(b)) for a, b in zip(first, last, strict=True)]


@dataclass(eq=False)
class VariableLeaves:
    """All leaves of one variable: their logarithms at its atoms, and as runs over its numbers."""

    leaves: tuple[int, ...]
    indicators: list[Expression]
    atom_logs: Numbers  # leaf x atom
    runs: list[Runs]  # per leaf; empty without numbers
    inputs: FeatureInputs | None = None
    blocks: dict[int, Pieces] = field(default_factory=dict)  # of this variable, by the place of the block

    @property
    def cells(self) -> tuple[Numbers, Numbers]:
        """Where the coarsest cells begin and end on which all leaves are constant, and no warp bends."""
        parts = [*(part for part in self.runs if len(part.low)), *self.blocks.values()]
        low, high = (np.unique(np.concatenate([getattr(part, end) for part in parts])) for end in ("low", "high"))
        return low, high

    def place(self, i: int, value: float) -> tuple[str, int]:
        """Where the i-th leaf has a double: ("atom", k) or ("run", r).

        Args:
            i: Which of the variable's leaves.
            value: A double of the variable.
        """
        atom = len(self.indicators) - 1 if self.inputs is None and math.isnan(value) else None
        if self.inputs is None:
            return "atom", round(value) if atom is None else atom
        atom = self.inputs.atom(value)
        if atom is not None:
            return "atom", atom
        runs = self.runs[i]
        inside = np.flatnonzero(cell_holds(self.inputs, runs.low, runs.high, value))
        return "run", int(inside[0])

    def log(self, i: int, place: tuple[str, int]) -> float:
        """The logarithm of the i-th leaf at a place.

        Args:
            i: Which of the variable's leaves.
            place: What `place` said.
        """
        return float(self.atom_logs[i, place[1]] if place[0] == "atom" else self.runs[i].logs[place[1]])


def leaves_of(circuit: Circuit, inputs: RowVariables, target: Sequence[Expression] | None, side: Side) -> list[VariableLeaves]:
    """The leaves of every variable; those of the target at its values, and (last) where it is summed over.

    `target` are 0-1 expressions for these; None: it is summed over. Histograms are exact. A density that is none is cut into
    pieces, and replaced by its least ("under") or greatest ("over") value on each.

    Args:
        circuit: The density.
        inputs: The row.
        target: 0-1 expressions for the class of the row.
        side: "under" or "over".
    """
    if len(circuit.features) != len(inputs.features):
        got = f"{len(circuit.features)} and {len(inputs.features)}"
        raise CircuitError("A circuit", "have the features of the schema", got, "learn it with the same schema")
    parts = [_feature_leaves(circuit, j, part, side) for j, part in enumerate(inputs.features)]
    if circuit.target is not None:
        cells, count = circuit.cells[-1], len(circuit.target.atoms)
        values = np.array([circuit.target.atom_number(k) for k in range(count)])
        logs = np.concatenate([cells.log_densities(values, circuit.floor), np.zeros((len(cells.leaves), 1))], axis=1)
        indicators = [*([0.0] * count), 1.0] if target is None else list(target)
        parts.append(VariableLeaves(cells.leaves, indicators, logs, [Runs(*_NOTHING)] * len(cells.leaves)))
    return parts


def blocks_of(circuit: Circuit, inputs: RowVariables, parts: Sequence[VariableLeaves]) -> dict[int, BlockLeaf]:
    """The blocks of a circuit, by place; the leaves of each variable learn where the warps of its blocks bend.

    Args:
        circuit: The density.
        inputs: The row.
        parts: The leaves of every variable.
    """
    blocks = {}
    for n, node in enumerate(circuit.nodes):
        if isinstance(node, GaussianBlock):
            blocks[n] = block_leaf(node, circuit, [inputs.features[j].feature for j in node.variables])
            for j, pieces in zip(node.variables, blocks[n].pieces, strict=True):
                parts[j].blocks[n] = pieces
    return blocks


_NOTHING = (np.empty(0), np.empty(0), np.empty(0))


def _feature_leaves(circuit: Circuit, j: int, part: FeatureInputs, side: Side) -> VariableLeaves:
    leaf_cells = circuit.cells[j]
    atoms = np.array([part.feature.atom_number(k) for k in range(len(part.atoms))])
    logs = leaf_cells.log_densities(atoms, circuit.floor) if len(atoms) else np.zeros((len(leaf_cells.leaves), 0))
    if part.scale is None:
        return VariableLeaves(leaf_cells.leaves, part.atoms, logs, [Runs(*_NOTHING)] * len(leaf_cells.leaves), part)
    cells = cells_of(part.feature, _breakpoints(leaf_cells, part))
    table = _table(leaf_cells, cells.low, cells.high, circuit.floor, side)
    return VariableLeaves(leaf_cells.leaves, part.atoms, logs, [_runs(cells.low, cells.high, row) for row in table], part)


def _breakpoints(leaf_cells: CircuitCells, part: FeatureInputs) -> Numbers:
    """The circuit's breaks, and more of them where a leaf is no histogram."""
    assert part.scale is not None
    if all(parametric is None for parametric in leaf_cells.parametric):
        return leaf_cells.breaks
    scale = part.scale
    if scale.grid and scale.length <= VALUES:
        pieces = scale.base + scale.unit * (np.arange(scale.length + 1) - 0.5)
    else:
        pieces = scale.base + scale.unit * scale.length * np.arange(1, PIECES) / PIECES
    return np.unique(np.concatenate([leaf_cells.breaks, pieces]))


def _table(leaf_cells: CircuitCells, low: Numbers, high: Numbers, floor: float, side: Side) -> Numbers:
    """The logarithm of every leaf (rows) on every cell (columns)."""
    densities = leaf_cells.densities[:, leaf_cells.cell(low)]
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(densities, floor))
    if any(parametric is not None for parametric in leaf_cells.parametric):
        for c, ends in enumerate(zip(low, high, strict=True)):
            if ends[0] == ends[1]:
                logs[:, c] = leaf_cells.log_densities(np.array([ends[0]]), floor)[:, 0]
            else:
                logs[:, c] = leaf_cells.log_extremes(Region.between(*ends), floor)[0 if side == "under" else 1]
    return np.asarray(logs)


def _runs(low: Numbers, high: Numbers, logs: Numbers) -> Runs:
    """Neighbouring cells with the same logarithm as one."""
    new = np.flatnonzero(np.append(True, logs[1:] != logs[:-1]))
    return Runs(low[new], high[np.append(new[1:] - 1, len(low) - 1)], logs[new])
