"""Chow-Liu trees: information counted row by row, and the best of all trees by trying them all."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.circuit.learning import chow_liu as module
from likely.circuit.learning.binned import Binned
from likely.circuit.learning.bins import bins_of
from likely.circuit.learning.chow_liu import chow_liu, mutual_information, pair_counts, x_log_x
from likely.schema import Categorical


def table_of(rows: np.ndarray, sizes: list[int], weights: np.ndarray | None = None) -> Binned:
    """A table of categories, NaN where unknown."""
    features = [Categorical(f"c{j}", tuple(range(size))) for j, size in enumerate(sizes)]
    return Binned.of(rows, np.ones(len(rows)) if weights is None else weights, bins_of(rows, features))


def some_table(seed: int, rows: int, sizes: list[int], unknown: float) -> Binned:
    """Columns that depend on the one before, with cells missing."""
    rng = np.random.default_rng(seed)
    values = np.stack([rng.integers(0, size, rows) for size in sizes], axis=1).astype(float)
    for j in range(1, len(sizes)):
        same = rng.random(rows) < rng.random()
        values[same, j] = values[same, j - 1] % sizes[j]
    values[rng.random(values.shape) < unknown] = np.nan
    return table_of(values, sizes, rng.integers(0, 4, rows).astype(float))


def naive_information(table: Binned, a: int, b: int) -> float:
    """Mutual information times rows, from the definition, over rows where both are known."""
    joint: dict[tuple[int, int], float] = {}
    for (x, y), weight in zip(table.places[:, [a, b]].tolist(), table.weights, strict=True):
        if x < len(table.bins[a]) and y < len(table.bins[b]) and weight > 0:
            joint[x, y] = joint.get((x, y), 0.0) + weight
    total = sum(joint.values())
    first = {x: sum(n for (value, _), n in joint.items() if value == x) for x, _ in joint}
    second = {y: sum(n for (_, value), n in joint.items() if value == y) for _, y in joint}
    return sum(n * math.log(n * total / (first[x] * second[y])) for (x, y), n in joint.items())


def all_trees(count: int) -> list[list[tuple[int, int]]]:
    """The edges of every tree over so many variables."""
    edges = list(itertools.combinations(range(count), 2))
    return [list(chosen) for chosen in itertools.combinations(edges, count - 1) if _joins(chosen, count)]


def _joins(edges: tuple[tuple[int, int], ...], count: int) -> bool:
    group = list(range(count))
    for a, b in edges:
        group = [group[a] if number == group[b] else number for number in group]
    return len(set(group)) == 1


@given(
    st.integers(0, 2**32),
    st.integers(1, 60),
    st.lists(st.integers(1, 4), min_size=1, max_size=5),
    st.sampled_from([0.0, 0.3, 1.0]),
)
def test_information_and_the_best_tree_are_those_of_the_definitions(
    seed: int, rows: int, sizes: list[int], unknown: float
) -> None:
    table = some_table(seed, rows, sizes, unknown)
    information = mutual_information(pair_counts(table), sizes)
    pairs = list(itertools.permutations(range(len(sizes)), 2))
    np.testing.assert_allclose(
        [information[pair] for pair in pairs], [naive_information(table, *pair) for pair in pairs], atol=1e-4
    )
    assert (np.diag(information) == 0).all()
    parent = chow_liu(table)
    assert parent.count(-1) == 1
    total = sum(information[child, above] for child, above in enumerate(parent) if above >= 0)
    assert total >= max(sum(information[edge] for edge in edges) for edges in all_trees(len(sizes))) - 1e-4
    assert _joins(tuple((child, above) for child, above in enumerate(parent) if above >= 0), len(sizes))


def test_a_chain_is_found() -> None:
    rng = np.random.default_rng(0)
    rows = np.zeros((2_000, 6))
    rows[:, 0] = rng.integers(0, 3, 2_000)
    for j in range(1, 6):
        rows[:, j] = np.where(rng.random(2_000) < 0.7, rows[:, j - 1], rng.integers(0, 3, 2_000))
    edges = {frozenset(edge) for edge in enumerate(chow_liu(table_of(rows, [3] * 6))) if -1 not in edge}
    assert edges == {frozenset({j, j + 1}) for j in range(5)}


def test_rows_are_counted_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    table = some_table(1, 100, [3, 2, 4], 0.2)
    whole = pair_counts(table)
    monkeypatch.setattr(module, "AT_A_TIME", 7)
    np.testing.assert_array_equal(pair_counts(table), whole)


def test_nothing_times_its_logarithm_is_nothing() -> None:
    np.testing.assert_allclose(x_log_x(np.array([0.0, 1.0, 2.0])), [0.0, 0.0, 2 * math.log(2)])
