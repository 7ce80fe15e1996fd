"""Where the nodes of a circuit stand in a drawing: layers from the root down, subtrees side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.circuit import Circuit, GaussianBlock, Leaf, Node, Product, Sum
from likely.schema.values import Numbers


@dataclass(frozen=True)
class Edge:
    """From a node to one of its children, with the weight that a sum gives it (None below a product)."""

    parent: int
    child: int
    weight: float | None


@dataclass(frozen=True)
class Layout:
    """The places of nodes: how far across and how many layers below the root, and their edges."""

    #: from 0 to width - 1
    across: Numbers
    depth: NDArray[np.int64]
    edges: tuple[Edge, ...]
    width: int
    #: of a product with grouped leaves, where these stand; of others NaN
    column: Numbers


def edges_of(node: Node) -> Iterator[tuple[int, float | None]]:
    """The children of a node with their weights."""
    if isinstance(node, Sum):
        yield from zip(node.children, node.weights, strict=True)
    elif isinstance(node, Product):
        yield from ((child, None) for child in node.children)


def circuit_layout(circuit: Circuit, *, grouped: bool = False) -> Layout:
    """The places of all nodes.

    A node is one layer below its lowest parent. Leaves are side by side in the order of a walk from the root, heavier
    children first, and every other node is in the middle above its children. So no edges cross in a tree; a node with
    several parents stands below the first of them.

    Args:
        circuit: The circuit.
        grouped: Whether the leaves of a product stand in one column.
    """
    edges = tuple(Edge(i, child, weight) for i, node in enumerate(circuit.nodes) for child, weight in edges_of(node))
    depth = np.zeros(len(circuit.nodes), dtype=np.int64)
    for edge in reversed(edges):  # parents stand after their children
        depth[edge.child] = max(depth[edge.child], depth[edge.parent] + 1)
    across, column, width = _across(circuit, _children_below(circuit), grouped)
    return Layout(across, depth, edges, width, column)


def _children_below(circuit: Circuit) -> list[list[int]]:
    """The children that stand below each node, in order: of a tree all, otherwise those met below no other node before."""
    children: list[list[int]] = [[] for _ in circuit.nodes]
    met, todo = {len(circuit.nodes) - 1}, [len(circuit.nodes) - 1]
    while todo:
        place = todo.pop()
        ordered = sorted(edges_of(circuit.nodes[place]), key=lambda edge: _order(circuit, *edge))
        children[place] = list(dict.fromkeys(child for child, _ in ordered if child not in met))
        met |= set(children[place])
        todo += reversed(children[place])
    return children


def _order(circuit: Circuit, child: int, weight: float | None) -> tuple[float, int]:
    """Heavier children before lighter ones, leaves in the order of the variables and before other nodes."""
    node = circuit.nodes[child]
    if isinstance(node, GaussianBlock):
        return -(weight or 0.0), node.variables[0]
    return -(weight or 0.0), node.variable if isinstance(node, Leaf) else len(circuit.variables) + child


def _across(circuit: Circuit, children: list[list[int]], grouped: bool) -> tuple[Numbers, Numbers, int]:
    """How far across each node stands, where the leaves of each product are grouped, and how wide it all is."""
    across, column = np.full((2, len(circuit.nodes)), np.nan)
    width = 0
    todo = [(len(circuit.nodes) - 1, False)]
    while todo:
        place, below_done = todo.pop()
        below = children[place]
        if below_done:
            spots = np.append(across[below], column[place])
            across[place] = (np.nanmin(spots) + np.nanmax(spots)) / 2
            continue
        if grouped and _has_leaves(circuit, place):
            column[place], width = width, width + 1
            across[[child for child in below if isinstance(circuit.nodes[child], Leaf | GaussianBlock)]] = column[place]
        rest = [child for child in below if np.isnan(across[child])]
        if rest or not np.isnan(column[place]):
            todo += [(place, True), *((child, False) for child in reversed(rest))]
        else:  # a leaf, or all that is below it stands below another node
            across[place], width = width, width + 1
    return across, column, width


def _has_leaves(circuit: Circuit, place: int) -> bool:
    """Whether a node is a product of leaves (and maybe other nodes)."""
    node = circuit.nodes[place]
    return isinstance(node, Product) and any(isinstance(circuit.nodes[child], Leaf | GaussianBlock) for child in node.children)
