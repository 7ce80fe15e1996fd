"""A circuit prepared for computing: per variable one partition of the doubles into cells, every leaf constant on a cell.

The breaks of all leaves of a variable together cut the doubles into cells; cell `c` holds breaks[c-1] <= v < breaks[c],
the first and the last cell are what lies outside. A leaf is then a row of a table with one density per cell. Parametric
leaves keep their formula; the table has what their steps are (zero, where they have none).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from likely._core import Circuit as CoreCircuit
from likely.circuit.model.blocks import GaussianBlock
from likely.circuit.model.families import FAMILIES
from likely.circuit.model.nodes import Leaf, Node, ParametricPart, Product, Sum
from likely.schema.region import Region
from likely.schema.values import LARGEST, Numbers

if TYPE_CHECKING:
    from likely.circuit.model.circuit import Circuit


class Algebra(IntEnum):
    """What a sum does with its weighted children, as the compiled core numbers it."""

    #: adds them: the likelihood
    SUM = 0
    #: takes the largest: the maximiser circuit, a lower bound
    UNDER = 1
    #: takes the least of two upper bounds
    OVER = 2


class NodeKind(IntEnum):
    """Kinds of nodes, as the compiled core numbers them."""

    SUM = 0
    PRODUCT = 1
    LEAF = 2
    BLOCK = 3


@dataclass(frozen=True)
class Cells:
    """The leaves of one variable over its cells."""

    #: The cells are what lies between these, and beyond the first and the last.
    breaks: Numbers
    #: The place of every leaf among the nodes of the circuit.
    leaves: tuple[int, ...]
    #: leaf x cell, without the floor
    densities: Numbers
    #: The parametric part of every leaf, if it has one.
    parametric: tuple[ParametricPart | None, ...]

    def cell(self, values: Numbers) -> NDArray[np.intp]:
        """The cell of each value.

        Args:
            values: Doubles, as `circuit.encode` makes them.
        """
        return np.searchsorted(self.breaks, values, side="right")

    def log_densities(self, values: Numbers, floor: float) -> Numbers:
        """log density of every leaf (rows) at every value (columns); 0 at a NaN, which is any value.

        Args:
            values: Doubles, as `circuit.encode` makes them.
            floor: The least density of any leaf.
        """
        densities = self.densities[:, self.cell(values)]
        for i, parametric in enumerate(self.parametric):
            if parametric is not None:
                densities[i] += _parametric_density(parametric, values)
        with np.errstate(divide="ignore"):
            return np.where(np.isnan(values), 0.0, np.log(np.maximum(densities, floor)))

    def log_extremes(self, region: Region, floor: float) -> tuple[Numbers, Numbers]:
        """The smallest and the largest log density of every leaf over a region.

        Args:
            region: Values of the variable, and nothing between them where they are whole numbers (`on_values`).
            floor: The least density of any leaf.
        """
        smallest, largest = np.full(len(self.leaves), np.inf), np.zeros(len(self.leaves))
        for low, high in region.intervals:
            first, last = self.cell(np.array([low, high]))
            part = self.densities[:, first : last + 1]
            under, over = part.min(axis=1), part.max(axis=1)
            for i, parametric in enumerate(self.parametric):
                if parametric is not None:
                    bottom, top = _parametric_extremes(parametric, low, high)
                    under[i], over[i] = under[i] + bottom, over[i] + top
            smallest, largest = np.minimum(smallest, under), np.maximum(largest, over)
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(smallest, floor)), np.log(np.maximum(largest, floor))


def _parametric_density(parametric: ParametricPart, values: Numbers) -> Numbers:
    family = FAMILIES[parametric.family]
    is_number = np.abs(values) < LARGEST
    numbers = np.where(is_number, values, 0.0)
    with np.errstate(over="ignore"):  # far from the mode: the density is 0
        density = parametric.share * np.exp(family.log_density(numbers, parametric.a, parametric.b))
    return np.where(is_number, density, 0.0)


def _parametric_extremes(parametric: ParametricPart, low: float, high: float) -> tuple[float, float]:
    """Exact: a unimodal density is largest at the point nearest to its mode and smallest at an end."""
    family = FAMILIES[parametric.family]
    first, last = (np.ceil(low), np.floor(high)) if family.discrete else (low, high)
    top = min(max(family.mode(parametric.a, parametric.b), first), last)
    at_low, at_high, at_top = _parametric_density(parametric, np.array([low, high, top]))
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
    for row, (leaf_breaks, densities) in zip(table, steps, strict=True):
        if len(leaf_breaks):
            inner = np.searchsorted(leaf_breaks, breaks, side="right")  # cell c > 0 begins at breaks[c - 1]
            row[1:] = np.concatenate([[0.0], densities, [0.0]])[inner]
    return Cells(breaks, places, table, tuple(node.parametric for node in nodes))


def _kind(node: Node) -> NodeKind:
    kinds = {Sum: NodeKind.SUM, Product: NodeKind.PRODUCT, GaussianBlock: NodeKind.BLOCK}
    return kinds.get(type(node), NodeKind.LEAF)


def ratios(circuit: Circuit, cells: tuple[Cells, ...], core: CoreCircuit) -> CoreCircuit:
    """A circuit, not normalised, whose logarithm at a row is log p(x) - sum_j log p_j(x_j): the coherence.

    Every leaf of variable j is divided by the marginal p_j, which is constant on cells, too: a mixture of the same leaves, each
    with the derivative of the circuit by it where nothing is known.

    Args:
        circuit: One without blocks and parametric leaves.
        cells: Its leaves over cells.
        core: Itself in the compiled core.
    """
    shares = np.exp(core.differentiate(core.sweep(np.zeros((1, len(circuit.nodes)))))[0])
    divided = []
    for part in cells:
        densities = np.maximum(part.densities, circuit.floor)
        marginal = shares[list(part.leaves)] @ densities
        divided.append(replace(part, densities=np.divide(densities, marginal, where=marginal > 0, out=np.zeros_like(densities))))
    return compiled(circuit, tuple(divided), floor=0.0)


def compiled(circuit: Circuit, cells: tuple[Cells, ...], *, floor: float | None = None) -> CoreCircuit:
    """The circuit in the compiled core.

    Args:
        circuit: Its nodes.
        cells: Its leaves over cells.
        floor: The least density of every leaf; the circuit's own if left out.
    """
    children = [node.children if isinstance(node, (Sum, Product)) else () for node in circuit.nodes]
    weights = [
        node.weights if isinstance(node, Sum) else (1.0,) * len(edges)
        for node, edges in zip(circuit.nodes, children, strict=True)
    ]
    start = np.concatenate([[0], np.cumsum([len(edges) for edges in children])])
    core = CoreCircuit(
        np.array([_kind(node) for node in circuit.nodes], dtype=np.int32),
        start.astype(np.int64),
        np.array([child for edges in children for child in edges], dtype=np.int32),
        np.array([weight for edges in weights for weight in edges], dtype=np.float64),
        circuit.floor if floor is None else floor,
    )
    for part in cells:
        parametric = [p or ParametricPart("gaussian", 0.0, 1.0, 0.0) for p in part.parametric]
        core.add_variable(
            part.breaks,
            np.array(part.leaves, dtype=np.int32),
            np.ascontiguousarray(part.densities),
            np.array([FAMILIES[p.family].code if p.share > 0 else 0 for p in parametric], dtype=np.int32),
            np.array([[p.a, p.b, p.share] for p in parametric], dtype=np.float64).reshape(-1, 3),
        )
    for place, node in enumerate(circuit.nodes):
        if isinstance(node, GaussianBlock):
            _add_block(core, place, node)
    return core


def _add_block(core: CoreCircuit, place: int, block: GaussianBlock) -> None:
    core.add_block(
        place,
        np.array(block.variables, dtype=np.int32),
        np.cumsum([0, *(len(warp.knots) for warp in block.warps)], dtype=np.int64),
        np.concatenate([warp.knots for warp in block.warps]),
        np.concatenate([warp.values for warp in block.warps]),
        np.array([[warp.lower, warp.upper] for warp in block.warps]),
        np.array(block.mean),
        np.concatenate(block.factor),
    )
