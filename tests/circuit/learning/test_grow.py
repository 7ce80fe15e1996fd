"""Trees grown from tables: known distributions are found, gains are those of the definition, every table gives a circuit."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likely
from likely.circuit import Circuit
from likely.circuit.learning import contexts as contexts_module
from likely.circuit.learning import grow, mixture
from likely.circuit.learning import growth as growth_module
from likely.circuit.learning.binned import Binned
from likely.circuit.learning.bins import bins_of
from likely.circuit.learning.contexts import context_of, counted
from likely.circuit.learning.grow import Grown, fit, log_densities, suits
from likely.circuit.learning.growth import Growth
from likely.circuit.learning.tree import Tree
from likely.errors import CircuitError, LikelyWarning
from likely.schema import Binary, Categorical, Continuous, Feature, Integer, Mixed, Ordinal, Schema
from likely.schema.values import code_number
from tests.circuit.learning.test_tree import contexts_of, some_question, some_tree

NAN = math.nan


def categories(sizes: Sequence[int]) -> tuple[Feature, ...]:
    return tuple(Binary(f"b{j}", (0, 1)) if k == 2 else Categorical(f"c{j}", tuple(range(k))) for j, k in enumerate(sizes))


def binned(rows: np.ndarray, features: Sequence[Feature], weights: np.ndarray | None = None) -> Binned:
    return Binned.of(rows, np.ones(len(rows)) if weights is None else weights, bins_of(rows, features))


def circuit_of(grown: Grown, floor: float = 0.0) -> Circuit:
    return Circuit(tuple(bins.feature for bins in grown.bins), grown.circuit_nodes, floor=floor)


def every(sizes: Sequence[int]) -> np.ndarray:
    return np.array(list(itertools.product(*map(range, sizes))), dtype=float)


class Network:
    """A Bayesian network with random tables: `parents[j]` of variable j are before it."""

    def __init__(self, seed: int, sizes: Sequence[int], parents: Sequence[Sequence[int]]) -> None:
        rng = np.random.default_rng(seed)
        self.sizes, self.parents = sizes, parents
        self.tables = [
            rng.dirichlet(np.full(size, 0.5), [sizes[p] for p in above]) for size, above in zip(sizes, parents, strict=True)
        ]

    def log_probability(self, rows: np.ndarray) -> np.ndarray:
        places = rows.astype(int)
        logs = [
            np.log(t[tuple(places[:, [*above, j]].T)]) for j, (t, above) in enumerate(zip(self.tables, self.parents, strict=True))
        ]
        return np.sum(logs, axis=0)

    def sample(self, count: int, rng: np.random.Generator) -> np.ndarray:
        rows = np.zeros((count, len(self.sizes)), dtype=int)
        for j, (table, above) in enumerate(zip(self.tables, self.parents, strict=True)):
            upto = table.cumsum(axis=-1)[tuple(rows[:, list(above)].T)]
            rows[:, j] = np.minimum((rng.random((count, 1)) > upto).sum(axis=1), self.sizes[j] - 1)
        return rows.astype(float)

    def divergence(self, circuit: Circuit) -> float:
        """Kullback and Leibler's, from the network to the circuit, in nats."""
        rows = every(self.sizes)
        logs = self.log_probability(rows)
        return float((np.exp(logs) * (logs - circuit.log_likelihood(rows))).sum())


CHAIN = Network(0, [3, 2, 4, 2, 3], [[], [0], [1], [2], [3]])
STAR = Network(1, [4, 2, 3, 2, 2], [[], [0], [0], [0], [0]])
#: Two causes of one effect, and an effect of that: no tree.
COLLIDER = Network(2, [2, 2, 2, 3], [[], [], [0, 1], [2, 0]])
#: A loop: 3 depends on 1 and 2, which both depend on 0.
DIAMOND = Network(3, [2, 3, 2, 2, 2], [[], [0], [0], [1, 2], [3]])


# -- what is learned --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("network", [CHAIN, STAR, COLLIDER, DIAMOND], ids=["chain", "star", "collider", "diamond"])
def test_known_distributions_are_found(network: Network) -> None:
    rows = network.sample(20_000, np.random.default_rng(9))
    grown = fit(binned(rows, categories(network.sizes)), [300], 0)[0]
    parameters = sum(table.size - table.size // table.shape[-1] for table in network.tables)
    # The true structure would lose half a nat per parameter.
    assert network.divergence(circuit_of(grown)) < 3 * parameters / (2 * len(rows))


@pytest.mark.parametrize("network", [CHAIN, DIAMOND], ids=["chain", "diamond"])
def test_cells_unknown_at_random_distort_nothing(network: Network) -> None:
    rng = np.random.default_rng(9)
    rows = network.sample(20_000, rng)
    rows[rng.random(rows.shape) < 0.2] = NAN
    grown = fit(binned(rows, categories(network.sizes)), [300], 0)[0]
    assert network.divergence(circuit_of(grown)) < 0.006


def test_independent_variables_stay_independent() -> None:
    rows = np.random.default_rng(0).integers(0, 3, (3_000, 6)).astype(float)
    grown = fit(binned(rows, categories([3] * 6)), [200], 0)[0]
    assert grown.nodes == 7
    assert grown.tree.contexts == (1,) * 6


def test_a_question_of_order_is_one_question() -> None:
    rng = np.random.default_rng(0)
    level = rng.integers(0, 12, 2_000)
    rows = np.column_stack([level, np.where(rng.random(2_000) < 0.05, level < 5, level >= 5)]).astype(float)
    grown = fit(binned(rows, (Ordinal("level", tuple(range(12))), Binary("high"))), [100], 0)[0]
    assert sorted(grown.tree.contexts) == [1, 2]
    assert grown.nodes <= 8  # a sum, two products of two leaves each, and nothing per level


def test_more_nodes_are_more_likely_and_all_beat_independence() -> None:
    network = Network(5, [2, 3] * 5, [[], [0], [1], [1, 2], [0], [4, 3], [5], [2], [7, 6], [8]])
    rng = np.random.default_rng(1)
    features, sizes = categories(network.sizes), [11, 30, 60, 120, 240]
    train, test = binned(network.sample(4_000, rng), features), network.sample(4_000, rng)
    unseen = Binned.of(test, np.ones(len(test)), train.bins)
    grown = fit(train, sizes, 0)
    assert [one.nodes <= size for one, size in zip(grown, sizes, strict=True)] == [True] * 5
    likelihoods = [log_densities(one, unseen).mean() for one in grown]
    independent = mixture.log_densities(mixture.fit(train, 11, 0), unseen).mean()
    assert likelihoods[0] == pytest.approx(independent, abs=1e-5)  # a mixture is learned in single precision
    assert likelihoods == sorted(likelihoods)
    assert likelihoods[-1] > independent + 0.5
    assert likelihoods[-1] == pytest.approx(network.log_probability(test).mean(), abs=0.05)


@given(st.integers(0, 2**32), st.integers(1, 200), st.lists(st.integers(1, 4), min_size=1, max_size=6), st.integers(1, 80))
@settings(deadline=None, max_examples=60)
def test_any_table_gives_a_distribution_within_its_nodes(seed: int, count: int, sizes: list[int], nodes: int) -> None:
    rows = some_rows(seed, count, sizes)
    table = binned(rows, categories(sizes))
    (grown,) = fit(table, [nodes], 0)
    circuit = circuit_of(grown)
    assert grown.nodes == len(circuit) <= max(nodes, len(sizes) + 1)
    assert circuit.check().normalised
    assert np.exp(circuit.log_likelihood(every(sizes))).sum() == pytest.approx(1, abs=1e-9)
    assert np.isfinite(circuit.log_likelihood(every(sizes))).all()
    np.testing.assert_allclose(
        log_densities(grown, table), circuit_of(grown, likely.circuit.FLOOR).log_likelihood(rows), atol=1e-9
    )
    assert fit(table, [nodes], 0)[0].circuit_nodes == grown.circuit_nodes


def some_rows(seed: int, count: int, sizes: Sequence[int]) -> np.ndarray:
    """Rows of a random network, in which a few cells are unknown, columns may repeat, and one may be constant."""
    rng = np.random.default_rng(seed)
    rows = Network(seed % 1000, sizes, [rng.permutation(j)[:2].tolist() for j in range(len(sizes))]).sample(count, rng)
    rows[rng.random(rows.shape) < rng.choice([0.0, 0.2])] = NAN
    if rng.random() < 0.3:
        rows[:, 0] = 0
    if rng.random() < 0.2:
        rows[:, -1] = NAN
    return rows


@pytest.mark.parametrize(
    "rows",
    [
        np.zeros((1, 3)),
        np.full((5, 3), NAN),
        np.tile(np.arange(3.0) % 2, (100, 1)),
        np.repeat(np.random.default_rng(0).integers(0, 2, (100, 1)), 3, axis=1).astype(float),
    ],
    ids=["one row", "nothing known", "constant columns", "equal columns"],
)
def test_poor_tables(rows: np.ndarray) -> None:
    grown = fit(binned(rows, categories([2, 2, 2])), [50], 0)[0]
    assert np.exp(circuit_of(grown).log_likelihood(every([2, 2, 2]))).sum() == pytest.approx(1)


def test_numbers_codes_and_ranks_are_learned_too() -> None:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 3_000)
    features: tuple[Feature, ...] = (
        Integer("n", 0, 9),
        Mixed("m", 0, 5, ("none",), step=1),
        Ordinal("o", ("a", "b", "c", "d")),
        Categorical("c", ("x", "y")),
    )
    rows = np.column_stack([
        group * 3 + rng.integers(0, 3, 3_000),
        np.where(group == 1, code_number(0), rng.integers(0, 6, 3_000)),
        group + rng.integers(0, 2, 3_000),
        (group > 1) ^ (rng.random(3_000) < 0.1),
    ]).astype(float)  # fmt: skip
    rows[::7, 0] = NAN
    table = binned(rows, features)
    assert suits(table.bins)
    grown = fit(table, [300], 0)[0]
    circuit = circuit_of(grown, likely.circuit.FLOOR)
    assert circuit.check().normalised
    np.testing.assert_allclose(log_densities(grown, table), circuit.log_likelihood(rows), atol=1e-9)
    assert circuit.log_likelihood(rows).mean() > log_densities(fit(table, [5], 0)[0], table).mean() + 1


def test_weights_are_repetitions() -> None:
    rows = COLLIDER.sample(500, np.random.default_rng(3))
    weights = np.random.default_rng(4).integers(0, 4, 500)
    features = categories(COLLIDER.sizes)
    heavy = fit(binned(rows, features, weights.astype(float)), [100], 0)[0]
    many = fit(binned(np.repeat(rows, weights, axis=0), features), [100], 0)[0]
    assert heavy.tree.parent == many.tree.parent
    np.testing.assert_allclose(
        circuit_of(heavy).log_likelihood(every(COLLIDER.sizes)), circuit_of(many).log_likelihood(every(COLLIDER.sizes)), atol=1e-9
    )


def test_trees_grow_on_a_sample_and_learn_from_all(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = CHAIN.sample(6_000, np.random.default_rng(3))
    table = binned(rows, categories(CHAIN.sizes))
    monkeypatch.setattr(grow, "MOST_ROWS", 1_000)
    seen: list[int] = []
    monkeypatch.setattr(growth_module, "chow_liu", lambda part: seen.append(len(part)) or (-1, 0, 1, 2, 3))
    grown = fit(table, [200], 0)[0]
    assert seen == [1_000]
    whole = counted(grown.tree, table)
    assert [int(counts.sum()) for counts in whole] == [6_000] * 5
    monkeypatch.setattr(contexts_module, "AT_A_TIME", 999)
    for counts, parts in zip(whole, counted(grown.tree, table), strict=True):
        np.testing.assert_array_equal(counts, parts)


def test_an_interrupt_keeps_what_has_grown() -> None:
    table = binned(DIAMOND.sample(5_000, np.random.default_rng(3)), categories(DIAMOND.sizes))
    calls: list[float] = []

    def third(done: float) -> None:
        calls.append(done)
        if len(calls) == 3:
            raise KeyboardInterrupt

    grown = fit(table, [300], 0, progress=third)[0]
    assert grown.interrupted
    assert sum(grown.tree.contexts) > len(grown.tree.contexts)
    assert grown.nodes < fit(table, [300], 0)[0].nodes


# -- how it is learned ------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 5), st.integers(0, 6))
@settings(deadline=None, max_examples=60)
def test_a_row_counts_where_its_context_is_certain(seed: int, count: int, width: int, changes: int) -> None:
    rng = np.random.default_rng(seed)
    tree = some_tree(rng, width, 3)
    for _ in range(changes):
        question = some_question(rng, tree)
        tree = tree if question is None else tree.remembering(*question)[0]
    rows = np.stack([rng.integers(0, size, count) for size in tree.values], axis=1).astype(float)
    whole = rows.copy()
    rows[rng.random(rows.shape) < 0.3] = NAN
    features = [Categorical(f"c{j}", tuple(range(size))) for j, size in enumerate(tree.values)]
    table = binned(rows, features)
    contexts: dict[int, Any] = {}
    for variable in tree.order:
        contexts[variable] = context_of(tree, variable, table, contexts)
    for r, row in enumerate(rows):
        options = [range(k) if math.isnan(value) else [int(value)] for value, k in zip(row, tree.values, strict=True)]
        possible = [contexts_of(tree, full) for full in itertools.product(*options)]
        for variable in range(width):
            ways = {full[variable] for full in possible}
            if contexts[variable][r] >= 0:
                assert ways == {contexts[variable][r]}
    complete = binned(whole, features)
    for variable, counts in enumerate(counted(tree, complete)):
        naive = np.zeros(counts.shape)
        for row in whole.astype(int):
            naive[contexts_of(tree, tuple(row))[variable], row[variable]] += 1
        np.testing.assert_array_equal(counts, naive)
        assert (counted(tree, table)[variable] <= naive).all()


def naive_gain(table: Binned, contexts: Any, variable: int, context: int, about: int, yes: Any) -> float:
    """The log-likelihood that the answer to a question brings, over rows where all of it is known; before any penalty."""
    counts = np.zeros((2, len(table.bins[variable])))
    for r, row in enumerate(table.places):
        known = row[about] < len(table.bins[about]) and row[variable] < len(table.bins[variable])
        if known and contexts[variable][r] == context:
            counts[int(yes[row[about]]), row[variable]] += table.weights[r]

    def likelihood(rows: np.ndarray) -> float:
        return float(sum(n * math.log(n / rows.sum()) for n in rows if n > 0))

    return likelihood(counts[0]) + likelihood(counts[1]) - likelihood(counts.sum(axis=0))


def test_rows_that_stand_for_very_many_are_counted_in_doubles() -> None:
    """Single precision would round a count of this size by more than an answer has to gain."""
    rng = np.random.default_rng(0)
    rows, weights = DIAMOND.sample(300, rng), 1e8 * (1 + rng.random(300))
    table = binned(rows, categories(DIAMOND.sizes), weights)
    growth = Growth(table)
    asked = [(size - 1) * growth.asked + math.log(len(growth.tests.yes)) for size in DIAMOND.sizes]
    for j, (test, yes) in itertools.product(range(5), enumerate(growth.tests.yes)):
        wanted = naive_gain(table, growth.contexts, j, 0, int(growth.tests.variable[test]), yes)
        assert growth.gain[j][0, test] + asked[j] == pytest.approx(wanted, rel=1e-9, abs=1e-3)
    grown = fit(table, [200], 0)[0]
    assert grown.nodes <= 200
    assert np.exp(circuit_of(grown).log_likelihood(every(DIAMOND.sizes))).sum() == pytest.approx(1)


def test_a_full_tree_does_not_look_for_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no answer fits, only as many are looked at as there are variables."""
    table = binned(DIAMOND.sample(5_000, np.random.default_rng(3)), categories(DIAMOND.sizes))
    seen: list[int] = []
    remembering = Tree.remembering
    monkeypatch.setattr(
        Tree, "remembering", lambda self, variable, *asked: seen.append(variable) or remembering(self, variable, *asked)
    )
    assert fit(table, [6], 0)[0].nodes == 6
    assert 0 < len(seen) <= 2 * 6


def wild(table: Binned, sizes: Sequence[int]) -> Growth:
    """A tree that has grown as if answers were worth it for nothing."""
    growth = Growth(table)
    growth.asked = 0.0
    growth.gain = [growth._gains(j, 0)[None, :] for j in range(len(sizes))]
    growth._choose(range(len(sizes)))
    for _ in growth.grow(60):
        pass
    return growth


GROWN = given(st.integers(0, 2**32), st.integers(20, 150), st.lists(st.integers(1, 4), min_size=2, max_size=5))


@GROWN
@settings(deadline=None, max_examples=40)
def test_what_is_kept_while_growing_is_what_it_should_be(seed: int, count: int, sizes: list[int]) -> None:
    table = binned(some_rows(seed, count, sizes), categories(sizes))
    growth = wild(table, sizes)
    tree = growth.tree
    assert growth.nodes == [tree.grouped(j)[1] for j in range(len(sizes))]
    contexts: dict[int, Any] = {}
    for j in tree.order:
        contexts[j] = context_of(tree, j, table, contexts)
        np.testing.assert_array_equal(contexts[j], growth.contexts[j])
        may_ask = [j not in tree.line(about) and tree.parent[j] >= 0 for about in growth.tests.variable.tolist()]
        assert growth.allowed[j].tolist() == may_ask


@GROWN
@settings(deadline=None, max_examples=40)
def test_gains_are_kept_up_to_date_while_growing(seed: int, count: int, sizes: list[int]) -> None:
    """Where all cells are known: what an unknown cell takes from other contexts than those that split is not followed."""
    table = binned(np.nan_to_num(some_rows(seed, count, [2, *sizes])), categories([2, *sizes]))
    growth = wild(table, [2, *sizes])
    tree, tests = growth.tree, growth.tests
    asked = [
        (j, context, test)
        for j in range(len(tree.values))
        for context, test in itertools.product(range(tree.contexts[j]), range(len(tests.yes)))
    ]
    assert asked
    for j, context, test in asked[:: max(1, len(asked) // 20)]:  # by loops over rows, which take long
        wanted = naive_gain(table, growth.contexts, j, context, int(tests.variable[test]), tests.yes[test])
        assert growth.gain[j][context, test] + math.log(len(tests.yes)) == pytest.approx(wanted, abs=1e-3)


def test_contexts_that_do_not_differ_share_their_probabilities() -> None:
    """0 -> 2 -> 1 in a line where 1 depends on 0 alone: 2 must remember 0, but its own probabilities stay one."""
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (4_000, 3)).astype(float)
    table = binned(rows, categories([2, 2, 2]))
    tree = Tree.forgetful([2, 2, 2], [-1, 2, 0]).remembering(1, 0, 0, np.array([False, True]))[0]
    assert tree.contexts == (1, 2, 2)
    grown = Grown.of(tree, table)
    assert (grown.probabilities[2][0] == grown.probabilities[2][1]).all()


def test_which_tables_suit() -> None:
    few, many = Categorical("a", tuple(range(32))), Categorical("b", tuple(range(33)))
    row = np.zeros((1, 1))
    assert suits(bins_of(row, [few]))
    assert not suits(bins_of(row, [many]))
    assert not suits(bins_of(np.random.default_rng(0).random((500, 1)), [Continuous("x", 0, 1)]))
    assert suits(bins_of(np.zeros((1, 64)), [few] * 64))
    assert not suits(bins_of(np.zeros((1, 65)), [few] * 65))


# -- learn ------------------------------------------------------------------------------------------------------------


def frame(rows: np.ndarray, sizes: Sequence[int]) -> tuple[pd.DataFrame, Schema]:
    features = categories(sizes)
    return pd.DataFrame(rows.astype(int), columns=[feature.name for feature in features]), Schema(features)


def test_auto_learns_what_is_better_on_held_out_rows() -> None:
    network = Network(5, [2, 3] * 4, [[], [0], [1], [1, 2], [0], [4, 3], [5], [2]])
    X, schema = frame(network.sample(1_000, np.random.default_rng(0)), network.sizes)
    auto, tree, mix = (
        likely.circuit.learn(X, None, schema, method=method, progress=False) for method in ("auto", "tree", "mixture")
    )
    assert (auto.method, tree.method, mix.method) == ("tree", "tree", "mixture")
    assert auto.circuit == tree.circuit
    assert auto.validation == tree.validation > mix.validation
    assert "by tree" in str(auto)


def test_auto_learns_a_mixture_where_that_is_better() -> None:
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.full(3, 0.3), (6, 12))  # six groups, in which twelve variables are independent
    rows = (rng.random((800, 12, 1)) > shares[rng.integers(0, 6, 800)].cumsum(axis=-1)[..., :-1]).sum(axis=-1)
    X, schema = frame(rows, [3] * 12)
    auto = likely.circuit.learn(X, None, schema, nodes=100, progress=False)
    tree = likely.circuit.learn(X, None, schema, nodes=100, method="tree", progress=False)
    assert auto.method == "mixture"
    assert auto.validation > tree.validation + 0.2


def test_numbers_with_many_values_are_for_mixtures() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.random(300), "c": rng.choice(["a", "b"], 300)})
    auto, mix = (likely.circuit.learn(X, method=method, progress=False) for method in ("auto", "mixture"))
    assert auto.circuit == mix.circuit
    assert auto.method == "mixture"
    message = "A feature to learn a tree of must have at most 32 bins, and all together 2048; got .* Hint: use method='mixture'"
    with pytest.raises(CircuitError, match=message) as caught:
        likely.circuit.learn(X, method="tree", progress=False)
    assert caught.value.feature == "x"


@pytest.mark.parametrize("method", ["auto", "tree"])
def test_few_rows_and_the_class_and_a_given_size(method: Any) -> None:
    X = pd.DataFrame({"a": [0, 1, 1], "b": ["x", "y", "y"]})
    learned = likely.circuit.learn(X, ["no", "yes", "yes"], method=method, progress=False)
    assert math.isnan(learned.validation)
    assert learned.circuit.target is not None
    assert learned.circuit.check().normalised
    rows = STAR.sample(400, np.random.default_rng(1))
    X, schema = frame(rows, STAR.sizes)
    small = likely.circuit.learn(X, None, schema, method=method, nodes=20, progress=False)
    assert len(small.circuit) <= 20
    assert small.settings == {"nodes at most": 20}


def test_ctrl_c_keeps_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    X, schema = frame(DIAMOND.sample(3_000, np.random.default_rng(3)), DIAMOND.sizes)

    def stopped(self: Any, nodes: int) -> Any:
        yield self.tree, len(self.nodes) + 1
        raise KeyboardInterrupt

    monkeypatch.setattr(Growth, "grow", stopped)
    with pytest.warns(LikelyWarning, match="Learning was interrupted"):
        learned = likely.circuit.learn(X, None, schema, method="tree", progress=False)
    assert learned.interrupted
    assert learned.method == "tree"
    assert learned.circuit.check().normalised
