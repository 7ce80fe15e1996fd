"""Trees that remember: every change refines contexts exactly as asked, and nothing else."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from likely.circuit.learning.tree import Tree


def some_tree(rng: np.random.Generator, count: int, most: int = 4) -> Tree:
    """A tree of independent variables."""
    names = rng.permutation(count)
    parent = np.full(count, -1)
    for place in range(1, count):
        parent[names[place]] = names[rng.integers(0, place)]
    return Tree.forgetful(rng.integers(1, most + 1, count).tolist(), parent.tolist())


def contexts_of(tree: Tree, row: tuple[int, ...]) -> list[int]:
    """The context of every variable in one row, by its definition."""
    contexts = [0] * len(row)
    for variable in tree.order[1:]:
        above = tree.parent[variable]
        contexts[variable] = int(tree.route[variable][contexts[above], row[above]])
    return contexts


def all_rows(tree: Tree) -> list[tuple[int, ...]]:
    return list(itertools.product(*map(range, tree.values)))


def some_question(rng: np.random.Generator, tree: Tree) -> tuple[int, int, int, np.ndarray] | None:
    """A context, a variable that is not below, and some of its values."""
    pairs = [
        (variable, other)
        for variable in range(len(tree.values))
        for other in range(len(tree.values))
        if variable not in tree.line(other) and tree.parent[variable] >= 0
    ]
    if not pairs:
        return None
    variable, other = pairs[rng.integers(0, len(pairs))]
    return variable, int(rng.integers(0, tree.contexts[variable])), other, rng.random(tree.values[other]) < 0.5


@given(st.integers(0, 2**32), st.integers(2, 6), st.integers(1, 8))
def test_a_context_learns_the_answer_and_no_other_row_changes(seed: int, count: int, changes: int) -> None:
    rng = np.random.default_rng(seed)
    tree = some_tree(rng, count, 3)
    rows = all_rows(tree)
    for _ in range(changes):
        question = some_question(rng, tree)
        assert question is not None, "of two variables, one can be asked about"
        variable, context, other, yes = question
        new, origin = tree.remembering(*question)
        assert other in new.line(variable)
        known = set()
        for row in rows:
            before, after = contexts_of(tree, row), contexts_of(new, row)
            for j in range(count):
                assert before[j] == (origin[j][after[j]] if j in origin else after[j])
            if before[variable] == context:
                known.add((after[variable], bool(yes[row[other]])))
            else:
                assert (origin[variable] == before[variable]).sum() == 1
        assert len({learned for learned, _ in known}) == len(known), "a new context means one answer"
        assert len(known) <= 2
        _is_sound(new)
        tree = new


def _is_sound(tree: Tree) -> None:
    assert sorted(tree.order) == list(range(len(tree.values)))
    for variable, above in enumerate(tree.parent):
        route = tree.route[variable]
        assert route.shape == ((1, 1) if above < 0 else (tree.contexts[above], tree.values[above]))
        assert sorted(set(route.ravel().tolist())) == list(range(tree.contexts[variable])), "every context is led to"


def test_only_the_variables_in_between_remember() -> None:
    """0 - 1 - 2 - 3 in a line, and 4 below 1: when 3 learns about 0, 2 and 1 have to know it too, and 4 does not."""
    tree = Tree.forgetful([2, 2, 2, 2, 2], [-1, 0, 1, 2, 1])
    new, origin = tree.remembering(3, 0, 0, np.array([False, True]))
    assert new.contexts == (1, 2, 2, 2, 1)
    assert set(origin) == {1, 2, 3}
    again, _ = new.remembering(3, 1, 0, np.array([True, False]))
    assert again.contexts == new.contexts, "what is known already costs nothing"


def test_a_branch_is_hung_elsewhere_with_what_it_knew() -> None:
    """1 and 2 below 0: when 2 learns about 1, it goes below it, and 1 remembers for it what it knew of 0."""
    tree = Tree.forgetful([3, 2, 2], [-1, 0, 0]).remembering(2, 0, 0, np.array([False, True, True]))[0]
    new, _ = tree.remembering(2, 1, 1, np.array([True, False]))
    assert new.parent == (-1, 0, 1)
    assert new.contexts == (1, 2, 3)
    assert {tuple(contexts_of(new, row)) for row in all_rows(new)} == {(0, 0, 0), (0, 1, 1), (0, 1, 2)}


def naive_nodes(tree: Tree, variable: int, *, grouped: bool) -> int:
    """The nodes of a variable, one by one."""
    sums, leaves, products = 0, set(), set()
    for context in range(tree.contexts[variable]):
        groups: dict[tuple[int, ...], list[int]] = {}
        for value in range(tree.values[variable]):
            key = tuple(int(tree.route[child][context, value]) for child in tree.children[variable])
            groups.setdefault(key, []).append(value)
        if len(groups) == 1:
            leaves.add((context,))
            continue
        sums += 1
        for below, group in groups.items():
            for part in [group] if grouped else [[value] for value in group]:
                leaf = tuple(part) if len(part) == 1 else (context, *part)
                leaves.add((len(part), *leaf))
                products.add((len(part), leaf, below))
    return sums + len(leaves) + len(products)


@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(0, 8))
def test_nodes_are_counted_as_they_will_be_made(seed: int, count: int, changes: int) -> None:
    rng = np.random.default_rng(seed)
    tree = some_tree(rng, count, 5)
    for _ in range(changes):
        question = some_question(rng, tree)
        tree = tree if question is None else tree.remembering(*question)[0]
    for variable in range(count):
        grouped, nodes = tree.grouped(variable)
        if tree.children[variable]:
            assert nodes == min(naive_nodes(tree, variable, grouped=either) for either in (True, False))
            assert nodes == naive_nodes(tree, variable, grouped=grouped)
        else:
            assert (grouped, nodes) == (False, tree.contexts[variable])
