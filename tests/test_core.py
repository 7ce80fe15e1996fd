"""The compiled core against the obvious Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likely import _core
from likely.predictor.forms import NODE
from likely.schema.values import code_number


def random_trees(random: np.random.Generator, features: int, outputs: int) -> tuple[np.ndarray, ...]:
    """A random forest of tests on intervals, with shared successors and chains, as the core takes it."""
    nodes, roots, output_of, values = [], [], [], []

    def leaf(width: int) -> int:
        nodes.append((0.0, 0.0, -1, len(values), 0, 0))
        values.extend(random.normal(size=width))
        return len(nodes) - 1

    for _ in range(random.integers(1, 6)):
        output_of.append(int(random.integers(-1, outputs)))
        width = outputs if output_of[-1] < 0 else 1
        below = [leaf(width) for _ in range(random.integers(1, 6))]
        for _ in range(random.integers(0, 12)):
            low, high = np.sort(random.normal(size=2))
            ends = [(low, high), (-np.inf, high), (low, np.inf), (np.inf, -np.inf)][random.integers(4)]
            inside, outside = random.choice(below, 2)
            nodes.append((*ends, int(random.integers(features)), int(inside), int(outside), 0))
            below.append(len(nodes) - 1)
        roots.append(below[-1])
    return (
        np.array(nodes, dtype=NODE), np.array(roots, dtype=np.int32), np.array(output_of, dtype=np.int32), np.array(values),
    )  # fmt: skip


def walk(nodes: np.ndarray, at: int, row: np.ndarray) -> int:
    while nodes[at]["feature"] >= 0:
        x = row[nodes[at]["feature"]]
        at = nodes[at]["inside"] if nodes[at]["low"] <= x <= nodes[at]["high"] else nodes[at]["outside"]
    return int(nodes[at]["inside"])


@given(seed=st.integers(0, 10**9), count=st.integers(0, 40))
@settings(max_examples=150, deadline=None)
def test_trees_equal_a_walk(seed: int, count: int) -> None:
    random = np.random.default_rng(seed)
    features, outputs = int(random.integers(1, 5)), int(random.integers(1, 4))
    nodes, roots, output_of, values = random_trees(random, features, outputs)
    rows = np.concatenate([random.normal(size=(count, features)), np.tile(nodes["low"][:5, None], features)])
    rows = np.nan_to_num(rows, posinf=1e9, neginf=-1e9)
    base = random.normal(size=outputs)
    expected = np.tile(base, (len(rows), 1))
    for r, row in enumerate(rows):
        for root, output in zip(roots, output_of, strict=True):
            start = walk(nodes, root, row)
            if output >= 0:
                expected[r, output] += values[start]
            else:
                expected[r] += values[start : start + outputs]
    trees = _core.Trees(nodes.view(np.uint8), roots, output_of, values, outputs)
    for threads in (1, 3):
        np.testing.assert_array_equal(trees.score(rows, base, threads), expected)


def test_deep_chains_are_walked_to_the_end() -> None:
    """A million tests in a row: no recursion, no limit."""
    count = 1_000_000
    nodes = np.zeros(count + 2, dtype=NODE)
    nodes["low"][:count], nodes["high"][:count] = np.arange(count), np.arange(count)
    nodes["inside"][:count], nodes["outside"][:count] = count, np.arange(1, count + 1)
    nodes["outside"][count - 1] = count + 1
    nodes["feature"][count:], nodes["inside"][count:] = -1, [0, 1]
    trees = _core.Trees(nodes.view(np.uint8), np.array([0], np.int32), np.array([0], np.int32), np.array([1.0, 2.0]), 1)
    scores = trees.score(np.array([[0.0], [count - 1.0], [0.5]]), np.zeros(1))
    assert scores.ravel().tolist() == [1.0, 1.0, 2.0]


def columns() -> _core.Columns:
    """(x0 - 4) * 2 + 9 with two codes, and a table of three values of x1."""
    return _core.Columns(
        np.array([0, 1], np.int32), np.array([False, True]), np.array([2.0, 0.0]), np.array([4.0, 0.0]), np.array([9.0, 0.0]),
        np.array([0, 2]), np.array([10.0, 20.0, 7.0, 8.0, 9.0]),
    )  # fmt: skip


def test_columns() -> None:
    rows = np.array([[3.0, 0.0], [code_number(0), 1.0], [code_number(1), 2.0], [np.nan, np.nan]])
    expected = np.array([[7.0, 7.0], [10.0, 8.0], [20.0, 9.0], [np.nan, np.nan]])
    np.testing.assert_array_equal(columns().expand(rows), expected)
    many = np.tile(rows, (5000, 1))
    np.testing.assert_array_equal(columns().expand(many, 4), columns().expand(many, 1))


@pytest.mark.parametrize("row", [[3.0, 3.0], [3.0, -1.0], [code_number(2), 0.0], [-np.inf, 0.0]])
def test_a_value_without_an_entry_is_refused(row: list[float]) -> None:
    with pytest.raises(IndexError, match="rows must hold numbers of known values"):
        columns().expand(np.array([row]))


def test_rows_that_lack_a_feature_are_refused() -> None:
    with pytest.raises(IndexError, match="rows must have a value of every feature"):
        columns().expand(np.array([[1.0]]))
    nodes = np.array([(0.0, 1.0, 3, 1, 1, 0), (0.0, 0.0, -1, 0, 0, 0)], dtype=NODE)
    trees = _core.Trees(nodes.view(np.uint8), np.array([0], np.int32), np.array([0], np.int32), np.array([1.0]), 1)
    with pytest.raises(IndexError, match="rows must have a value of every feature"):
        trees.score(np.zeros((1, 3)), np.zeros(1))


def test_trees_that_lead_back_to_themselves_are_refused() -> None:
    nodes = np.array([(0.0, 1.0, 0, 1, 2, 0), (0.0, 1.0, 0, 0, 2, 0), (0.0, 0.0, -1, 0, 0, 0)], dtype=NODE)
    with pytest.raises(ValueError, match="must not lead back to themselves"):
        _core.Trees(nodes.view(np.uint8), np.array([0], np.int32), np.array([0], np.int32), np.array([1.0]), 1)
