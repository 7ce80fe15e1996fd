"""Where nodes stand: below their parents, apart from each other, without crossings in a tree."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from likely.circuit import Categories, Circuit, Leaf, Node, Product, Sum
from likely.schema import Binary
from likely.show import Edge, Layout, circuit_layout
from tests import strategies
from tests.show.examples import simple


def test_a_simple_circuit() -> None:
    layout = circuit_layout(simple())
    assert layout.depth.tolist() == [2, 2, 2, 1, 2, 2, 2, 1, 0]
    assert layout.across.tolist() == [0, 1, 2, 1, 3, 4, 5, 4, 2.5]
    assert layout.width == 6
    assert layout.edges[0] == Edge(3, 0, None)
    assert layout.edges[-1] == Edge(8, 7, 0.25)


def test_leaves_of_a_product_in_one_column() -> None:
    layout = circuit_layout(simple(), grouped=True)
    assert layout.across.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 0.5]
    assert np.nan_to_num(layout.column, nan=-1).tolist() == [-1, -1, -1, 0, -1, -1, -1, 1, -1]
    assert layout.width == 2


def test_heavier_children_stand_first() -> None:
    leaves = [Categories(0, (p, 1 - p)) for p in (0.1, 0.2, 0.3)]
    circuit = Circuit((Binary("a"),), (*leaves, Sum((0, 1, 2), (0.2, 0.5, 0.3))))
    assert circuit_layout(circuit).across.tolist() == [2, 0, 1, 1]


def test_a_shared_leaf_is_in_the_columns_of_all_its_products() -> None:
    leaves = (Categories(0, (0.1, 0.9)), Categories(1, (0.2, 0.8)), Categories(1, (0.7, 0.3)))
    circuit = Circuit(
        (Binary("a"), Binary("b")), (*leaves, Product((0, 1)), Product((0, 2)), Product((0, 1)), Sum((3, 4, 5), (0.5, 0.3, 0.2)))
    )
    layout = circuit_layout(circuit, grouped=True)
    assert layout.column[3:6].tolist() == [0, 1, 2]
    assert layout.across.tolist() == [0, 0, 1, 0, 1, 2, 1]


def test_one_leaf() -> None:
    layout = circuit_layout(Circuit((Binary("a"),), (Categories(0, (0.5, 0.5)),)))
    assert (layout.across.tolist(), layout.depth.tolist(), layout.edges, layout.width) == ([0], [0], (), 1)


@given(st.data(), st.booleans())
def test_nodes_stand_apart_and_below_their_parents(data: st.DataObject, grouped: bool) -> None:
    circuit = data.draw(strategies.circuits(most=4, depth=5))
    layout = circuit_layout(circuit, grouped=grouped)
    assert len(layout.edges) == circuit.edges
    assert layout.depth[-1] == 0
    assert ((layout.across >= 0) & (layout.across <= layout.width - 1)).all()
    parents = defaultdict(list)
    for edge in layout.edges:
        parents[edge.child].append(edge.parent)
    for child, above in parents.items():
        assert layout.depth[child] == max(layout.depth[parent] for parent in above) + 1
    drawn = [i for i, node in enumerate(circuit.nodes) if not (grouped and isinstance(node, Leaf))]
    assert len({(layout.across[i], layout.depth[i]) for i in drawn}) == len(drawn)
    columns = layout.column[~np.isnan(layout.column)]
    assert len(set(columns)) == len(columns)


@given(st.data(), st.booleans())
def test_edges_of_a_tree_do_not_cross(data: st.DataObject, grouped: bool) -> None:
    circuit = as_tree(data.draw(strategies.circuits(most=4, depth=5)))
    assert circuit.check().tree
    assert not crossings(circuit_layout(circuit, grouped=grouped))


def as_tree(circuit: Circuit) -> Circuit:
    """The circuit with a copy of every node that has several parents for each of them."""
    nodes: list[Node] = []

    def copied(place: int) -> int:
        node = circuit.nodes[place]
        if isinstance(node, (Sum, Product)):
            node = replace(node, children=tuple(copied(child) for child in node.children))
        nodes.append(node)
        return len(nodes) - 1

    copied(len(circuit.nodes) - 1)
    return replace(circuit, nodes=tuple(nodes))


def test_crossings_are_seen() -> None:
    edges = (Edge(0, 2, None), Edge(1, 3, None))
    places = np.array([0.0, 1.0, 1.0, 0.0])
    assert crossings(Layout(places, np.array([0, 0, 1, 1]), edges, 2, np.full(4, np.nan))) == [edges]


def crossings(layout: Layout) -> list[tuple[Edge, Edge]]:
    """Pairs of edges between the same two layers whose ends are in different orders."""
    levels = defaultdict(list)
    for edge in layout.edges:
        levels[layout.depth[edge.parent]].append(edge)
    x = layout.across
    return [
        (a, b)
        for edges in levels.values()
        for a, b in combinations(edges, 2)
        if (x[a.parent] - x[b.parent]) * (x[a.child] - x[b.child]) < 0
    ]
