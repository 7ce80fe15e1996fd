"""LearnSPN: known structures are found, every table gives a circuit, the same seed the same one."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from likely.circuit import Circuit
from likely.circuit.learning import learnspn
from likely.circuit.learning.bins import bins_of
from likely.circuit.learning.learnspn import learn_structure, one_blas_thread
from likely.circuit.model.nodes import Categories, Leaf, Node, Product, Sum
from likely.errors import CircuitError
from likely.schema import Binary, Categorical, Continuous, Feature, Integer, Mixed, Ordinal
from likely.schema.values import code_number
from tests import strategies

Table = tuple[np.ndarray, tuple[Feature, ...]]


def learned(rows: np.ndarray, features: Sequence[Feature], **settings: object) -> Circuit:
    given_settings = {"min_rows": max(1, len(rows) // 20), **settings}
    return Circuit(tuple(features), learn_structure(rows, features, bins_of(rows, features), **given_settings))  # type: ignore[arg-type]


def scope(nodes: Sequence[Node], place: int) -> set[int]:
    node = nodes[place]
    return {node.variable} if isinstance(node, Leaf) else set().union(*(scope(nodes, child) for child in node.children))


def clusters_table(seed: int, count: int, width: int = 6) -> Table:
    """Three clusters of rows in columns of all kinds, which are independent within a cluster."""
    rng = np.random.default_rng(seed)
    group = rng.choice(3, count, p=[0.5, 0.3, 0.2])
    columns: list[np.ndarray] = []
    features: list[Feature] = []
    for j in range(width):
        centre = rng.permutation([0.0, 4.0, 8.0])[group] + rng.normal(size=count)
        low = np.digitize(centre, [2.0, 6.0]).astype(float)
        kinds: list[tuple[Feature, np.ndarray]] = [
            (Continuous(f"x{j}", -9, 19), centre),
            (Integer(f"n{j}", -9, 19), np.round(centre)),
            (Categorical(f"c{j}", ("a", "b", "c", "never")), low),
            (Ordinal(f"o{j}", (1, 2, 3)), low),
            (Binary(f"b{j}"), (centre > 4).astype(float)),
            (Mixed(f"m{j}", -9, 19, (-99, None)), np.where(rng.random(count) < 0.2, code_number(0), centre)),
        ]
        feature, column = kinds[j % 6]
        features.append(feature)
        columns.append(column)
    return np.stack(columns, axis=1), tuple(features)


# -- structure --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_independent_blocks_become_a_product(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, 3000))
    noise = rng.normal(size=(3000, 3))
    rows = np.column_stack([x, y, x + 0.3 * noise[:, 0], np.round(2 * y), noise[:, 1]])
    features = [Continuous(f"x{j}", -99, 99) for j in range(3)] + [Integer("n", -99, 99), Continuous("alone", -99, 99)]
    nodes = learned(rows, features).nodes
    root = nodes[-1]
    assert isinstance(root, Product)
    assert sorted(sorted(scope(nodes, child)) for child in root.children) == [[0, 2], [1, 3], [4]]


@pytest.mark.parametrize("seed", range(3))
def test_clusters_become_a_sum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(3000, 4)) + rng.permutation(np.repeat([0.0, 10.0], 1500))[:, None]
    nodes = learned(rows, [Continuous(f"x{j}", -99, 99) for j in range(4)]).nodes
    root = nodes[-1]
    assert isinstance(root, Sum)
    assert root.weights == (0.5, 0.5)
    assert [type(nodes[child]) for child in root.children] == [Product] * 2
    assert len(nodes) == 1 + 2 * 5


def test_more_clusters_at_once() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3000, 4)) + rng.permutation(np.repeat([0.0, 10.0, 20.0], 1000))[:, None]
    nodes = learned(rows, [Continuous(f"x{j}", -99, 99) for j in range(4)], clusters=3).nodes
    root = nodes[-1]
    assert isinstance(root, Sum)
    assert root.weights == pytest.approx([1 / 3] * 3)
    assert len(nodes) == 1 + 3 * 5


def test_threshold_and_min_rows() -> None:
    """At threshold 1 all is independent; slices with fewer rows than min_rows are leaves."""
    rows, features = clusters_table(0, 600)
    for settings_ in ({"threshold": 1.0}, {"min_rows": 601}):
        nodes = learned(rows, features, **settings_).nodes
        assert [type(node) for node in nodes if not isinstance(node, Leaf)] == [Product]
    sizes = [len(learned(rows, features, min_rows=least).nodes) for least in (600, 300, 100, 30)]
    assert sizes == sorted(sizes)
    assert len(set(sizes)) > 1


def test_products_and_sums_alternate() -> None:
    rows, features = clusters_table(1, 1500, width=12)
    nodes = learned(rows, features, min_rows=20, threshold=0.1).nodes
    inner = [node for node in nodes if isinstance(node, (Sum, Product))]
    assert len(inner) > 10
    assert all(type(nodes[child]) is not type(node) for node in inner for child in node.children)
    assert len(set(nodes)) == len(nodes)


def test_equal_leaves_are_one() -> None:
    """Two clusters in which a column is constant alike."""
    rng = np.random.default_rng(0)
    group = (rng.random(400) < 0.5).astype(float)
    rows = np.column_stack([group, group, np.repeat([0.0, 1.0], 200)])
    rows = np.vstack([rows, np.column_stack([1 - group, 1 - group, np.repeat([0.0, 1.0], 200)])])
    nodes = learned(rows, [Binary(name) for name in "abc"]).nodes
    assert sum(isinstance(node, Leaf) and node.variable == 2 for node in nodes) == 1


# -- parameters -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.5, 10.0])
def test_leaves_are_smoothed_towards_the_table(alpha: float) -> None:
    """One leaf from counts 6, 2, 0 of the table: its marginal has one more row in equal parts."""
    rows = np.array([[0.0], [1.0]]).repeat([6, 2], axis=0)
    (leaf,) = learned(rows, [Categorical("c", tuple("abc"))], alpha=alpha).nodes
    assert isinstance(leaf, Categories)
    marginal = (np.array([6, 2, 0]) + 1 / 3) / 9
    assert leaf.probabilities == pytest.approx((np.array([6, 2, 0]) + alpha * marginal) / (8 + alpha))


def test_probabilities_sum_to_1() -> None:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 500)
    rows = np.column_stack([(group + (rng.random(500) < 0.3)) % 3 for _ in range(3)]).astype(float)
    features = [Categorical("a", tuple("abc")), Ordinal("b", (1, 2, 3, 4)), Integer("c", 0, 3)]
    circuit = learned(rows, features, min_rows=30)
    assert len(circuit) > 10
    everything = np.array(list(product(range(3), range(4), range(-9, 13))), dtype=float)  # the tails of a number too
    assert math.fsum(np.exp(circuit.log_likelihood(everything))) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_held_out_rows_are_likelier_than_under_independence(seed: int) -> None:
    rows, features = clusters_table(seed, 4000)
    train, test = rows[:2000], rows[2000:]
    circuit, independent = learned(train, features), learned(train, features, threshold=1.0)
    assert circuit.check().normalised
    assert circuit.log_likelihood(test).mean() > independent.log_likelihood(test).mean() + 2


# -- the same seed, progress, threads ---------------------------------------------------------------------------------


def test_one_seed_one_circuit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where slices are sampled; rows in another memory layout too."""
    monkeypatch.setattr(learnspn, "MOST_ROWS", 200)
    rows, features = clusters_table(2, 1000)
    first, again = learned(rows, features, random_state=3), learned(np.asfortranarray(rows), features, random_state=3)
    assert first == again
    assert len({learned(rows, features, random_state=seed).nodes for seed in range(5)}) > 1


def test_a_sample_finds_the_same_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, features = clusters_table(2, 3000)
    whole = learned(rows, features).log_likelihood(rows).mean()
    monkeypatch.setattr(learnspn, "MOST_ROWS", 500)
    assert learned(rows, features).log_likelihood(rows).mean() == pytest.approx(whole, abs=0.2)


def test_progress_ends_at_1() -> None:
    rows, features = clusters_table(0, 1000)
    shares: list[float] = []
    learned(rows, features, progress=shares.append)
    assert len(shares) > 3
    assert all(a < b for a, b in pairwise([0.0, *shares]))
    assert shares[-1] == 1.0


def blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_one_thread_while_learning_and_all_again_after_an_interrupt() -> None:
    rows, features = clusters_table(0, 500)
    seen: list[list[int]] = []

    def interrupt(_: float) -> None:
        seen.append(blas_threads())
        raise KeyboardInterrupt

    with threadpool_limits(limits=2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(KeyboardInterrupt):
            learned(rows, features, progress=interrupt)
        assert blas_threads() == before
        with one_blas_thread():
            assert set(blas_threads()) <= {1}
        assert blas_threads() == before
    assert set(seen[0]) <= {1}


# -- tables of every kind ---------------------------------------------------------------------------------------------


def check_sound(circuit: Circuit, rows: np.ndarray) -> None:
    report = circuit.check()
    assert report.normalised
    assert not report.uncovered
    assert np.isfinite(circuit.log_likelihood(rows)).all()


@st.composite
def any_table(draw: st.DrawFn) -> Table:
    """A few rows of features of all kinds: unknown cells, columns that are unknown, constant or the same as another."""
    count = draw(st.integers(1, 4))
    features = tuple(draw(strategies.features(f"f{j}")) for j in range(count))
    height = draw(st.integers(1, 25))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    columns = []
    for feature in features:
        column = rng.choice(draw(st.lists(strategies.numbers(feature), min_size=1, max_size=4)), height)
        column[rng.random(height) < draw(st.sampled_from([0.0, 0.0, 0.3, 1.0]))] = np.nan
        columns.append(column)
    twin = draw(st.integers(0, count - 1))
    return np.stack([*columns, columns[twin]], axis=1), (*features, replace(features[twin], name="twin"))


@given(any_table(), st.integers(1, 5), st.integers(2, 3), st.sampled_from([0.0, 0.3]))
@settings(max_examples=80, deadline=None)
def test_every_table_gives_a_circuit(table: Table, min_rows: int, clusters: int, threshold: float) -> None:
    rows, features = table
    check_sound(learned(rows, features, min_rows=min_rows, clusters=clusters, threshold=threshold), rows)


def test_one_row() -> None:
    rows, features = clusters_table(0, 1)
    circuit = learned(rows, features)
    assert [type(node) for node in circuit.nodes if not isinstance(node, Leaf)] == [Product]
    check_sound(circuit, rows)


def test_nothing_but_unknown_cells() -> None:
    _, features = clusters_table(0, 1)
    check_sound(learned(np.full((30, len(features)), np.nan), features), clusters_table(1, 20)[0])


@pytest.mark.slow
def test_two_hundred_columns() -> None:
    """Some constant, some unknown, some twice; the stack of slices is no recursion."""
    rows, features = clusters_table(0, 500, width=198)
    rows[:, 6] = 1.0
    rows[:, 12] = np.nan
    rows[:, 24] = rows[:, 18]
    rows[np.random.default_rng(0).random(rows.shape) < 0.05] = np.nan
    circuit = learned(rows, features)
    check_sound(circuit, rows)
    assert isinstance(circuit.nodes[-1], Product)
    assert any(isinstance(node, Sum) for node in circuit.nodes)


def test_slices_deeper_than_python_recurs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every division cuts off one row, and columns never fall apart: each row becomes a child of one sum."""
    count = 1500
    assert count > sys.getrecursionlimit()
    monkeypatch.setattr(learnspn, "dependence", lambda rows, features, rng, **_: np.ones((len(features),) * 2))
    monkeypatch.setattr(learnspn._Learner, "_row_parts", lambda self, sample, whole: [whole.rows[:1], whole.rows[1:]])
    rows = np.random.default_rng(0).normal(size=(count, 2))
    circuit = learned(rows, [Continuous("x", -9, 9), Continuous("y", -9, 9)], min_rows=2)
    root = circuit.nodes[-1]
    assert isinstance(root, Sum)
    assert math.fsum(root.weights) == pytest.approx(1)
    assert len(root.children) <= count
    check_sound(circuit, rows)


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"min_rows": 0}, r"min_rows must be at least 1; got 0\. Hint: leave it out or raise it\."),
        ({"clusters": 1}, r"clusters must be at least 2; got 1\. Hint: leave it out or raise it\."),
        ({"threshold": 1.5}, r"threshold must be between 0 and 1; got 1\.5\. Hint: 0\.3 is the paper's\."),
        ({"threshold": math.nan}, r"threshold must be between 0 and 1; got nan\."),
        ({"alpha": 0.0}, r"alpha must be a positive number; got 0\.0\. Hint: 10 is ten pseudo-rows per leaf\."),
        ({"alpha": math.inf}, r"alpha must be a positive number; got inf\."),
    ],
)
def test_settings_that_cannot_be(settings_: dict[str, float], message: str) -> None:
    rows, features = clusters_table(0, 10)
    with pytest.raises(CircuitError, match=message):
        learned(rows, features, **settings_)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (3,)])
def test_no_table(shape: tuple[int, ...]) -> None:
    message = r"A table to learn from must have rows and columns; got shape .*\. Hint: give at least one of each\."
    with pytest.raises(CircuitError, match=message):
        learn_structure(np.zeros(shape), [], [], min_rows=1)


def test_a_feature_per_column() -> None:
    rows, features = clusters_table(0, 10)
    message = (
        r"A table to learn from must have a feature and bins per column; got 6 columns, 5 features and bins of 6\. "
        r"Hint: use bins_of\(rows, features\)\."
    )
    with pytest.raises(CircuitError, match=message):
        learn_structure(rows, features[:5], bins_of(rows, features), min_rows=1)
