"""Where nodes stand: below their parents, apart from each other, without crossings in a tree."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from likely.circuit import Categories, Circuit, Leaf, Product, Sum
from likely.schema import Binary
from likely.show import Edge, Layout, circuit_layout
from tests import strategies
from tests.show.examples import simple


def test_a_simple_circuit() -> None:
    found = circuit_layout(simple())
    assert found.depth.tolist() == [2, 2, 2, 1, 2, 2, 2, 1, 0]
    assert found.across.tolist() == [0, 1, 2, 1, 3, 4, 5, 4, 2.5]
    assert found.width == 6
    assert found.edges[0] == Edge(3, 0, None)
    assert found.edges[-1] == Edge(8, 7, 0.25)


def test_leaves_of_a_product_in_one_column() -> None:
    found = circuit_layout(simple(), grouped=True)
    assert found.across.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 0.5]
    assert np.nan_to_num(found.column, nan=-1).tolist() == [-1, -1, -1, 0, -1, -1, -1, 1, -1]
    assert found.width == 2


def test_heavier_children_stand_first() -> None:
    leaves = [Categories(0, (p, 1 - p)) for p in (0.1, 0.2, 0.3)]
    circuit = Circuit((Binary("a"),), (*leaves, Sum((0, 1, 2), (0.2, 0.5, 0.3))))
    assert circuit_layout(circuit).across.tolist() == [2, 0, 1, 1]


def test_a_shared_leaf_is_in_the_columns_of_all_its_products() -> None:
    leaves = (Categories(0, (0.1, 0.9)), Categories(1, (0.2, 0.8)), Categories(1, (0.7, 0.3)))
    circuit = Circuit(
        (Binary("a"), Binary("b")), (*leaves, Product((0, 1)), Product((0, 2)), Product((0, 1)), Sum((3, 4, 5), (0.5, 0.3, 0.2)))
    )
    found = circuit_layout(circuit, grouped=True)
    assert found.column[3:6].tolist() == [0, 1, 2]
    assert found.across.tolist() == [0, 0, 1, 0, 1, 2, 1]


def test_one_leaf() -> None:
    found = circuit_layout(Circuit((Binary("a"),), (Categories(0, (0.5, 0.5)),)))
    assert (found.across.tolist(), found.depth.tolist(), found.edges, found.width) == ([0], [0], (), 1)


@given(st.data(), st.booleans())
def test_nodes_stand_apart_and_below_their_parents(data: st.DataObject, grouped: bool) -> None:
    circuit = data.draw(strategies.circuits(most=4, depth=5))
    found = circuit_layout(circuit, grouped=grouped)
    assert len(found.edges) == circuit.edges
    assert found.depth[-1] == 0
    assert ((found.across >= 0) & (found.across <= found.width - 1)).all()
    parents = defaultdict(list)
    for edge in found.edges:
        parents[edge.child].append(edge.parent)
    for child, above in parents.items():
        assert found.depth[child] == max(found.depth[parent] for parent in above) + 1
    drawn = [i for i, node in enumerate(circuit.nodes) if not (grouped and isinstance(node, Leaf))]
    assert len({(found.across[i], found.depth[i]) for i in drawn}) == len(drawn)
    columns = found.column[~np.isnan(found.column)]
    assert len(set(columns)) == len(columns)


@given(st.data(), st.booleans())
def test_edges_of_a_tree_do_not_cross(data: st.DataObject, grouped: bool) -> None:
    circuit = data.draw(strategies.circuits(most=4, depth=5))
    if circuit.check().tree:
        assert not crossings(circuit_layout(circuit, grouped=grouped))


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
