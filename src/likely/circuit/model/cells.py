"""A circuit cut for computing: per variable one partition of the doubles into cells, and every leaf constant on a cell.

The breaks of all leaves of a variable together cut the doubles into cells; cell `c` holds breaks[c-1] <= v < breaks[c],
the first and the last cell are what lies outside. A leaf is then a row of a table with one density per cell. Parametric
leaves keep their formula; the table has what their steps are (zero, where they have none).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from likely._core import Circuit as CoreCircuit
from likely.circuit.model.families import FAMILIES
from likely.circuit.model.nodes import Leaf, Peaked, Product, Sum
from likely.schema.region import Region
from likely.schema.values import Numbers

if TYPE_CHECKING:
    from likely.circuit.model.circuit import Circuit


@dataclass(frozen=True)
class Cells:
    """The leaves of one variable over its cells."""

    breaks: Numbers
    leaves: tuple[int, ...]
    densities: Numbers  # leaf x cell, no floor
    peaked: tuple[Peaked | None, ...]

    def cell(self, values: Numbers) -> NDArray[np.intp]:
        """The cell of each value."""
        return np.searchsorted(self.breaks, values, side="right")

    def log_densities(self, values: Numbers, floor: float) -> Numbers:
        """log density of every leaf (rows) at every value (columns); 0 at a NaN, which is any value."""
        found = self.densities[:, self.cell(values)]
        for i, peaked in enumerate(self.peaked):
            if peaked is not None:
                found[i] += _peaked_density(peaked, values)
        with np.errstate(divide="ignore"):
            return np.where(np.isnan(values), 0.0, np.log(np.maximum(found, floor)))

    def log_extremes(self, region: Region, floor: float) -> tuple[Numbers, Numbers]:
        """The smallest and the largest log density of every leaf over a region that holds values only."""
        smallest, largest = np.full(len(self.leaves), np.inf), np.zeros(len(self.leaves))
        for low, high in region.intervals:
            first, last = self.cell(np.array([low, high]))
            part = self.densities[:, first : last + 1]
            under, over = part.min(axis=1), part.max(axis=1)
            for i, peaked in enumerate(self.peaked):
                if peaked is not None:
                    bottom, top = _peaked_extremes(peaked, low, high)
                    under[i], over[i] = under[i] + bottom, over[i] + top
            smallest, largest = np.minimum(smallest, under), np.maximum(largest, over)
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(smallest, floor)), np.log(np.maximum(largest, floor))


def _peaked_density(peaked: Peaked, values: Numbers) -> Numbers:
    family = FAMILIES[peaked.family]
    numbers = np.where(np.abs(values) < 2.0**999, values, 0.0)
    with np.errstate(over="ignore"):  # far from the peak: the density is 0
        density = peaked.share * np.exp(family.log_density(numbers, peaked.a, peaked.b))
    return np.where(np.abs(values) < 2.0**999, density, 0.0)


def _peaked_extremes(peaked: Peaked, low: float, high: float) -> tuple[float, float]:
    """Exact: a density with one peak is largest at the point nearest to the peak and smallest at an end."""
    family = FAMILIES[peaked.family]
    first, last = (np.ceil(low), np.floor(high)) if family.discrete else (low, high)
    top = min(max(family.peak(peaked.a, peaked.b), first), last)
    at_low, at_high, at_top = _peaked_density(peaked, np.array([low, high, top]))
    return min(at_low, at_high), max(at_low, at_high, at_top)


def cells_of(circuit: Circuit) -> tuple[Cells, ...]:
    """The cells of every variable."""
    leaves: list[list[int]] = [[] for _ in circuit.variables]
    for place, node in enumerate(circuit.nodes):
        if isinstance(node, Leaf):
            leaves[node.variable].append(place)
    return tuple(_cells(circuit, tuple(places)) for places in leaves)


def _cells(circuit: Circuit, places: tuple[int, ...]) -> Cells:
    nodes = [node for place in places if isinstance(node := circuit.nodes[place], Leaf)]
    steps = [node.steps for node in nodes]
    breaks = np.unique(np.concatenate([np.empty(0), *(breaks for breaks, _ in steps)]))
    table = np.zeros((len(nodes), len(breaks) + 1))
    for row, (own, densities) in zip(table, steps, strict=True):
        if len(own):
            inner = np.searchsorted(own, breaks, side="right")  # cell c > 0 begins at breaks[c - 1]
            row[1:] = np.concatenate([[0.0], densities, [0.0]])[inner]
    return Cells(breaks, places, table, tuple(node.peaked for node in nodes))


def compiled(circuit: Circuit, cells: tuple[Cells, ...]) -> CoreCircuit:
    """The circuit in the compiled core."""
    kinds = {Sum: 0, Product: 1}
    inner = [node if isinstance(node, (Sum, Product)) else None for node in circuit.nodes]
    children = [() if node is None else node.children for node in inner]
    weights = [node.weights if isinstance(node, Sum) else (1.0,) * len(own) for node, own in zip(inner, children, strict=True)]
    start = np.concatenate([[0], np.cumsum([len(own) for own in children])])
    core = CoreCircuit(
        np.array([kinds.get(type(node), 2) for node in circuit.nodes], dtype=np.int32),
        start.astype(np.int64),
        np.array([child for own in children for child in own], dtype=np.int32),
        np.array([weight for own in weights for weight in own], dtype=np.float64),
        circuit.floor,
    )
    for part in cells:
        peaked = [p or Peaked("gaussian", 0.0, 1.0, 0.0) for p in part.peaked]
        core.add_variable(
            part.breaks,
            np.array(part.leaves, dtype=np.int32),
            np.ascontiguousarray(part.densities),
            np.array([FAMILIES[p.family].code if p.share > 0 else 0 for p in peaked], dtype=np.int32),
            np.array([[p.a, p.b, p.share] for p in peaked], dtype=np.float64).reshape(-1, 3),
        )
    return core
