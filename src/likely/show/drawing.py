"""A drawing of a circuit: every node of a small one; of a large one the sums and products above a table of the leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likely.circuit import Circuit, GaussianBlock, Leaf, Product, Sum, log_likelihood
from likely.schema.values import Numbers
from likely.show.axis import Axis, axis_of, short
from likely.show.layout import Edge, Layout, circuit_layout

if TYPE_CHECKING:
    from likely.show.canvas import Axes, Figure

#: Up to this many leaves, each is drawn.
FEW_LEAVES = 30
#: The bars of a tiny histogram are no thinner than a dot.
FEW_BARS = 20
#: Above this many variables their names are too small to read.
MANY_VARIABLES = 90
#: In inches: a layer of nodes, a row of the table of leaves.
LAYER, ROW = 0.62, 0.17
TINY = 1e-300


def densities_of(circuit: Circuit, variable: int) -> list[int]:
    """The places of the densities of a variable: its leaves in the order of `circuit.cells`, then the blocks that have it."""
    blocks = [place for place, node in enumerate(circuit.nodes) if isinstance(node, GaussianBlock) and variable in node.variables]
    return [*circuit.cells[variable].leaves, *blocks]


def leaf_masses(circuit: Circuit, axis: Axis) -> Numbers:
    """The probability that each density of a variable (in the order of `densities_of`) gives to each cell of its axis."""
    j = circuit.index(axis.feature.name)
    logs = [*circuit.cells[j].log_densities(axis.values, 0.0)]
    for place in densities_of(circuit, j)[len(logs) :]:
        block = circuit.nodes[place]
        assert isinstance(block, GaussianBlock)
        logs.append(block.marginal([block.variables.index(j)]).log_density(axis.values[:, None]))
    masses = np.exp(np.array(logs)) * axis.room
    return np.asarray(masses / np.maximum(masses.sum(axis=1, keepdims=True), TINY))


def leaf_distances(circuit: Circuit) -> Numbers:
    """How far each leaf (its node's place) is from its variable's marginal: the total variation, 0 equal, 1 disjoint.

    Of a block, the farthest of its variables.
    """
    distances = np.full(len(circuit.nodes), np.nan)
    for j, variable in enumerate(circuit.variables):
        axis = axis_of(circuit, variable.name)
        rows = np.full((len(axis.values), len(circuit.variables)), np.nan)
        rows[:, j] = axis.values
        whole = np.exp(log_likelihood(circuit, rows)) * axis.room
        masses = leaf_masses(circuit, axis)
        places = densities_of(circuit, j)
        distances[places] = np.fmax(distances[places], np.abs(masses - whole / max(whole.sum(), TINY)).sum(axis=1) / 2)
    return distances


def plot_circuit(circuit: Circuit, *, detailed: bool | None = None, ax: Axes | None = None) -> Figure:
    """A drawing of a circuit, the root at the top; edges are as wide as their weight.

    A small circuit is drawn node by node, with the weights of sums and the densities of leaves. A large one shows its
    sums and products, and below them a table: a row for each variable, a column for each product that has leaves (or
    each leaf of a sum), coloured by how far the leaf is from the variable's marginal.

    Args:
        circuit: The circuit.
        detailed: Whether to draw every node; by default, if there are at most 30 leaves.
        ax: Where to draw; by default, in a new figure of a size that fits.
    """
    if detailed is None:
        detailed = sum(isinstance(node, Leaf | GaussianBlock) for node in circuit.nodes) <= FEW_LEAVES
    alone = len(circuit) == 1  # a leaf, below which there is no table
    return _detailed(circuit, ax) if detailed or alone else _overview(circuit, ax)


def _title(circuit: Circuit) -> str:
    counts = {kind.__name__.lower(): sum(isinstance(node, kind) for node in circuit.nodes) for kind in (Sum, Product)}
    parts = [f"{count} {kind}{'s' * (count != 1)}" for kind, count in counts.items()]
    blocks = sum(isinstance(node, GaussianBlock) for node in circuit.nodes)
    leaves = len(circuit) - sum(counts.values()) - blocks
    parts.append(f"{leaves} {'leaf' if leaves == 1 else 'leaves'}")
    parts += [f"{blocks} block{'s' * (blocks != 1)}"] if blocks else []
    return f"{len(circuit)} node{'s' * (len(circuit) != 1)}: {', '.join(parts)}"


def _nodes(ax: Axes, circuit: Circuit, places: Numbers, size: float, *, signs: bool) -> None:
    from likely.show import canvas

    for kind in (Sum, Product):
        of_kind = [i for i, node in enumerate(circuit.nodes) if isinstance(node, kind)]
        if of_kind:
            canvas.nodes(ax, kind.kind, places[of_kind], size, signs=signs)


def _widths(layout: Layout, thin: float, wide: float) -> Numbers:
    return np.array([thin if edge.weight is None else thin + wide * edge.weight for edge in layout.edges])


def _detailed(circuit: Circuit, ax: Axes | None) -> Figure:
    from likely.show import canvas

    layout = circuit_layout(circuit)
    places = np.column_stack([layout.across, -1.0 * layout.depth])
    figure, ax = canvas.figure_of(ax, (max(4.5, 0.62 * layout.width + 0.6), 1.15 * (layout.depth.max() + 1) + 0.9))
    starts, ends = _ends(layout, places)
    canvas.edges(ax, starts, ends, _widths(layout, 0.7, 4.0))
    weighted = [i for i, edge in enumerate(layout.edges) if edge.weight is not None]
    canvas.notes(ax, (0.45 * starts + 0.55 * ends)[weighted], [show_weight(layout.edges[i].weight or 0.0) for i in weighted])
    _nodes(ax, circuit, places, 260, signs=True)
    _leaves(ax, circuit, places)
    ax.set_xlim(-0.7, layout.width - 0.3)
    ax.set_ylim(-layout.depth.max() - 1.1, 0.3)
    canvas.bare(ax, _title(circuit))
    return figure


def _ends(layout: Layout, places: Numbers) -> tuple[Numbers, Numbers]:
    """The places where edges start and end."""
    pairs = np.array([(edge.parent, edge.child) for edge in layout.edges], dtype=np.intp).reshape(-1, 2)
    return places[pairs[:, 0]], places[pairs[:, 1]]


def show_weight(weight: float) -> str:
    """Two decimals, or three where two would say nothing or all."""
    text = f"{weight:.2f}" if 0.005 <= weight < 0.995 or weight in (0, 1) else f"{weight:.3f}"
    return {"0.000": "<0.001", "1.000": ">0.999"}.get(text, text)


def _leaves(ax: Axes, circuit: Circuit, places: Numbers) -> None:
    """Each leaf as a tiny histogram with its variable's name below."""
    from likely.show import canvas

    for j, variable in enumerate(circuit.variables):
        axis, leaves = axis_of(circuit, variable.name), list(circuit.cells[j].leaves)
        if not leaves:
            continue
        canvas.boxes(ax, places[leaves] - [0, 0.13], (0.8, 0.38))
        for place, masses in zip(leaves, leaf_masses(circuit, axis), strict=False):
            breaks, heights = tiny_histogram(axis, masses)
            x, y = places[place]
            canvas.steps(ax, x + 0.76 * (breaks - 0.5), 0.34 * heights, y - 0.31)
        canvas.hanging_texts(ax, places[leaves] - [0, 0.37], [short(axis.label, 16)] * len(leaves))
    for place, node in enumerate(circuit.nodes):
        if isinstance(node, GaussianBlock):
            names = ", ".join(str(circuit.names[j]) for j in node.variables)
            canvas.boxes(ax, places[[place]] - [0, 0.13], (0.8, 0.38))
            canvas.notes(ax, places[[place]] - [0, 0.13], [f"N({len(node.variables)})"])
            canvas.hanging_texts(ax, places[[place]] - [0, 0.37], [short(names, 16)])


def tiny_histogram(axis: Axis, masses: Numbers) -> tuple[Numbers, Numbers]:
    """Breaks from 0 to 1 and heights up to 1 of a few bars, whose areas go with the mass of the cells below them."""
    edges = (axis.edges - axis.edges[0]) / (axis.edges[-1] - axis.edges[0])
    breaks = edges if len(masses) <= FEW_BARS else np.linspace(0, 1, FEW_BARS + 1)
    heights = np.diff(np.interp(breaks, edges, np.concatenate([[0.0], np.cumsum(masses)]))) / np.diff(breaks)
    return breaks, heights / max(heights.max(), TINY)


def _overview(circuit: Circuit, ax: Axes | None) -> Figure:
    from likely.show import canvas

    layout = circuit_layout(circuit, grouped=True)
    deepest = max(edge_depth + 1 for edge_depth in layout.depth[[edge.parent for edge in layout.edges]])
    top = -LAYER * deepest - ROW
    rows = top - ROW * (np.arange(len(circuit.variables)) + 0.5)
    names = [short(str(name), 30) for name in circuit.names] if len(circuit.names) <= MANY_VARIABLES else []
    size = (np.clip(0.13 * layout.width, 4.5, 13) + 0.075 * max(map(len, names), default=0) + 1.2, 0.9 - rows[-1])
    figure, ax = canvas.figure_of(ax, size)
    canvas.guides(ax, rows)
    _tree(ax, circuit, layout, top)
    columns, variables, leaves = _table(circuit, layout)
    label = "distance of a leaf from the marginal (total variation)"
    canvas.tiles(ax, np.column_stack([columns, rows[variables]]), leaf_distances(circuit)[leaves], (0.88, 0.84 * ROW), label)
    ax.set_xlim(-0.8, layout.width - 0.2)
    ax.set_ylim(rows[-1] - ROW, 0.3)
    canvas.bare(ax, _title(circuit), list(zip(rows.tolist(), names, strict=False)))
    return figure


def _tree(ax: Axes, circuit: Circuit, layout: Layout, top: float) -> None:
    """The sums and products, and a line from each down to the columns of its leaves."""
    from likely.show import canvas

    places = np.column_stack([layout.across, -LAYER * layout.depth])
    starts, ends = _ends(layout, places)
    down = np.array([isinstance(circuit.nodes[edge.child], Leaf | GaussianBlock) for edge in layout.edges])
    ends[down, 0] = [_column(layout, edge) for edge, leaf in zip(layout.edges, down, strict=True) if leaf]
    ends[down, 1] = starts[down, 1] - LAYER
    weighted = np.array([edge.weight is not None for edge in layout.edges])
    inner = weighted | ~down
    canvas.edges(ax, starts[inner], ends[inner], _widths(layout, 0.5, 4.0)[inner])
    feet = np.unique(ends[down], axis=0)
    canvas.edges(ax, feet, np.column_stack([feet[:, 0], np.full(len(feet), top)]), 0.5, canvas.PALE)
    canvas.edges(ax, starts[~inner], ends[~inner], 0.5, canvas.PALE)
    _nodes(ax, circuit, places, canvas.disc_size(ax, layout.width), signs=False)


def _column(layout: Layout, edge: Edge) -> float:
    """Where a leaf stands below one of its parents: a product has its leaves in its column."""
    return float(layout.across[edge.child] if np.isnan(layout.column[edge.parent]) else layout.column[edge.parent])


def _table(circuit: Circuit, layout: Layout) -> tuple[Numbers, list[int], list[int]]:
    """Of every cell of the table of leaves its place across, its variable and its leaf's place among the nodes."""
    cells: dict[tuple[float, int], int] = {}
    for edge in layout.edges:
        leaf = circuit.nodes[edge.child]
        if isinstance(leaf, Leaf | GaussianBlock):
            for variable in leaf.variables if isinstance(leaf, GaussianBlock) else (leaf.variable,):
                cells[_column(layout, edge), variable] = edge.child
    return np.array([across for across, _ in cells]), [j for _, j in cells], list(cells.values())
