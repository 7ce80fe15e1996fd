"""Refinement: what expectation-maximisation may not lower, closed forms of single leaves, and what it leaves alone."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from likely.circuit import (
    Bernoulli,
    Categories,
    Circuit,
    Coded,
    Histogram,
    Leaf,
    Parametric,
    Product,
    Sum,
    learn,
    refine,
)
from likely.circuit.learning import refine as refine_module
from likely.circuit.learning.bins import bins_of
from likely.circuit.learning.learnspn import learn_structure
from likely.circuit.learning.refine import LEAST_ROWS
from likely.errors import CircuitError, LikelyWarning
from likely.schema import Binary, Categorical, Continuous, Feature, Integer, Mixed
from likely.schema.values import code_number
from tests import strategies
from tests.circuit.learning.tables import clusters
from tests.oracles import circuits as oracle


def refined(circuit: Circuit, rows: Any, rounds: int = 1, strength: float = 10.0, **settings: Any) -> Circuit:
    return refine(circuit, np.asarray(rows, dtype=np.float64), rounds=rounds, strength=strength, progress=False, **settings)


# -- the objective ----------------------------------------------------------------------------------------------------


def room_between(feature: Feature, low: float, high: float) -> float:
    """The measure of the numbers in low <= v < high; where there is a step, of its multiples that are no codes."""
    step = oracle.step_of(feature)
    if step is None:
        return high - low
    first, last = (math.ceil(end / step - 1e-6) for end in (low, high))
    taken = {round(code / step) for code in oracle.codes_inside(feature) if abs(code / step - round(code / step)) < 1e-6}
    inside = {k for k in taken if feature.lower <= k * step * (1 + 1e-9) and k * step <= feature.upper * (1 + 1e-9)}
    return step * (last - first - sum(first <= k < last for k in inside))


def parts_of(circuit: Circuit, variable: int) -> list[tuple[float, float]]:
    """The ranges low <= v < high that a leaf of a variable may tell apart, codes and values of lists one by one."""
    feature = circuit.variables[variable]
    atoms = [(feature.atom_number(k), math.nextafter(feature.atom_number(k), math.inf)) for k in range(len(feature.atoms))]
    if not feature.numeric:
        return atoms
    breaks = sorted({b for leaf in leaves_of(circuit, variable) for b in oracle.breaks_of(leaf) if b > -oracle.FARTHEST})
    return atoms + [(low, high) for low, high in pairwise(breaks) if room_between(feature, low, high) > 0]


def leaves_of(circuit: Circuit, variable: int) -> list[Leaf]:
    return [node for node in circuit.nodes if isinstance(node, Leaf) and node.variable == variable]


def objective(circuit: Circuit, rows: np.ndarray, weights: np.ndarray, strength: float) -> float:
    """The weighted log-likelihood, and the pseudo-rows: of each child of a sum, and of each leaf, as its variable is."""
    total = float(weights @ circuit.log_likelihood(rows))
    for node in circuit.nodes:
        if isinstance(node, Sum):
            total += LEAST_ROWS * float(np.log(node.weights).sum())
    for variable, feature in enumerate(circuit.variables):
        parts = parts_of(circuit, variable)
        column = rows[:, variable]
        rooms = np.array(
            [1.0 if low < -oracle.FARTHEST or not feature.numeric else room_between(feature, low, high) for low, high in parts]
        )
        seen = np.array([weights[(low <= column) & (column < high)].sum() for low, high in parts])
        whole = seen + LEAST_ROWS * rooms / rooms.sum()
        for leaf in leaves_of(circuit, variable):
            shares = np.array([oracle.density(leaf, low) for low, _ in parts]) * rooms
            total += strength * float((whole / whole.sum()) @ np.log(shares))
    return total


@given(st.data(), st.sampled_from([0.1, 10.0]))
def test_no_round_lowers_the_penalised_likelihood(data: st.DataObject, strength: float) -> None:
    """From the first round on: before it, a density may be 0 that no pseudo-row can have."""
    circuit = data.draw(strategies.circuits(normalised=True, parametric=False, floors=(0.0,)))
    drawn = st.lists(st.tuples(*(strategies.numbers(v) for v in circuit.variables)), min_size=1, max_size=12)
    rows = np.array(data.draw(drawn))
    rows[np.random.default_rng(0).random(rows.shape) < 0.1] = np.nan
    weights = np.random.default_rng(1).choice([0.5, 1.0, 2.0], len(rows))
    current = refined(circuit, rows, 1, strength, weights=weights)
    values = [objective(current, rows, weights, strength)]
    assume(math.isfinite(values[0]))  # not so where the first round had no leaf at a value
    for _ in range(4):
        current = refined(current, rows, 1, strength, weights=weights)
        values.append(objective(current, rows, weights, strength))
    assert (np.diff(values) >= -1e-9 * max(1.0, abs(values[0]))).all(), values


@given(st.data())
def test_the_structure_stays_and_all_is_normalised(data: st.DataObject) -> None:
    """Of any circuit, normalised or not, with leaves of any kind, on any rows."""
    circuit = data.draw(strategies.circuits(aligned=False))
    rows = data.draw(strategies.circuit_rows(circuit, least=1))
    assume(all(has_parametric(circuit, j) or has_measure(circuit, j) for j in range(len(circuit.variables))))
    after = refined(circuit, rows, 3)
    assert len(after) == len(circuit)
    assert [type(node) for node in after.nodes if not isinstance(node, Leaf)] == [
        type(node) for node in circuit.nodes if not isinstance(node, Leaf)
    ]
    for old, new in zip(circuit.nodes, after.nodes, strict=True):
        assert getattr(old, "children", ()) == getattr(new, "children", ())
        assert getattr(old, "variable", None) == getattr(new, "variable", None)
    assert (after.features, after.target, after.floor) == (circuit.features, circuit.target, circuit.floor)
    fixed = {place for place, leaf in oracle.leaves_of(circuit).items() if has_parametric(circuit, leaf.variable)}
    assert {place for place, _ in after.check().unnormalised} <= fixed
    assert after.check().weight_error < 1e-9
    assert all(after.nodes[place] == circuit.nodes[place] for place in fixed)
    assert not np.isnan(after.log_likelihood(rows)).any()


def has_measure(circuit: Circuit, variable: int) -> bool:
    """Whether the leaves of a variable lie on values, and not all between them."""
    return len(parts_of(circuit, variable)) > 0


def has_parametric(circuit: Circuit, variable: int) -> bool:
    return any(leaf.parametric is not None for leaf in leaves_of(circuit, variable))


# -- closed forms -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strength", [0.5, 10.0])
def test_one_leaf_of_a_list_has_frequencies(strength: float) -> None:
    """Of one leaf, the whole table is what it has itself: pseudo-rows change nothing but the values never seen."""
    feature = Categorical("c", tuple("abcd"))
    rows = np.repeat([0.0, 1.0, 2.0], [5, 3, 2])[:, None]
    for leaf in (Categories(0, (0.1, 0.2, 0.3, 0.4)), Histogram(0, (0, 1, 2, 3, 4), (0.1, 0.2, 0.3, 0.4))):
        (new,) = refined(Circuit((feature,), (leaf,)), rows, strength=strength).nodes
        counts = np.array([5, 3, 2, 0])
        whole = counts + LEAST_ROWS / 4
        expected = counts + strength * whole / whole.sum()
        assert isinstance(new, Categories)
        assert new.probabilities == pytest.approx(expected / expected.sum())


def test_one_leaf_of_numbers_and_codes() -> None:
    feature = Mixed("m", 0, 9, [-1, None])
    rows = np.array([code_number(0), code_number(0), 1.0, 2.5, 2.5, 8.0])[:, None]
    circuit = Circuit((feature,), (Coded(0, (0.3, 0.3), Histogram(0, (0, 2, 10), (0.25, 0.0625))),))
    (new,) = refined(circuit, rows, strength=2.0).nodes
    counts, measure = np.array([2.0, 0, 1, 3]), np.array([1.0, 1, 2, 8])
    whole = counts + LEAST_ROWS * measure / measure.sum()
    expected = counts + 2 * whole / whole.sum()
    expected /= expected.sum()
    assert isinstance(new, Coded)
    assert new.codes == pytest.approx(expected[:2])
    assert isinstance(new.numbers, Histogram)
    assert new.numbers.breaks == (0, 2, 10)
    assert new.numbers.densities == pytest.approx(expected[2:] / measure[2:] / expected[2:].sum())


def test_two_clusters_that_do_not_overlap() -> None:
    feature = Integer("n", 0, 3)
    leaves = (Histogram(0, (0, 1, 2, 3, 4), (0.5, 0.3, 0.1, 0.1)), Histogram(0, (0, 1, 2, 3, 4), (0.1, 0.1, 0.3, 0.5)))
    other = (Bernoulli(1, 0.05), Bernoulli(1, 0.95))
    circuit = Circuit((feature, Binary("b")), (*leaves, *other, Product((0, 2)), Product((1, 3)), Sum((4, 5), (0.5, 0.5))))
    rows = np.array([[0, 0]] * 30 + [[1, 0]] * 30 + [[3, 1]] * 20, dtype=float)
    after = refined(circuit, rows, 30, 1e-6)
    assert after.nodes[-1].weights == pytest.approx((0.75, 0.25), abs=1e-3)
    assert after.nodes[3].probabilities == pytest.approx((0, 1), abs=1e-3)
    density = [oracle.density(after.nodes[0], v) for v in range(4)]
    assert density == pytest.approx([0.5, 0.5, 0, 0], abs=1e-3)
    assert after.log_likelihood(rows).mean() == pytest.approx(0.75 * math.log(0.375) + 0.25 * math.log(0.25), abs=1e-3)


def test_leaves_that_cannot_tell_values_apart() -> None:
    """Two values in one bin of a list, two codes without a leaf: they share what is there."""
    listed = Circuit((Categorical("c", tuple("abc")),), (Histogram(0, (0, 2, 3), (0.25, 0.5)),))
    (new,) = refined(listed, [[0.0]] * 6 + [[2.0]] * 2, strength=1e-9).nodes
    assert isinstance(new, Categories)
    assert new.probabilities == pytest.approx((0.375, 0.375, 0.25))
    bare = Circuit((Mixed("m", 0, 9, [-1, None]),), (Histogram(0, (0, 10), (0.1,)),))
    (new,) = refined(bare, [[code_number(0)]] * 2 + [[3.0]] * 6, strength=1e-9).nodes
    assert isinstance(new, Coded)
    assert new.codes == pytest.approx((0.125, 0.125))


def test_cells_between_the_values_stay_empty() -> None:
    feature = Integer("n", 0, 2)
    leaves = (Histogram(0, (0, 0.5, 3), (0.5, 0.25)), Histogram(0, (0.2, 0.8, 3), (0.9, 0.5)))
    circuit = Circuit((feature,), (*leaves, Sum((0, 1), (0.5, 0.5))))
    after = refined(circuit, [[0.0], [1.0], [2.0]], 5)
    assert after.check().normalised
    assert np.exp(after.log_likelihood(np.array([[0.0], [1.0], [2.0]]))).sum() == pytest.approx(1)


def test_a_leaf_between_all_values() -> None:
    circuit = Circuit((Integer("n", 0, 2),), (Histogram(0, (0.2, 0.8), (1.0,)),))
    message = r"^Every leaf of feature 'n' must have a density above 0 somewhere; got one without\. Hint: drop the leaf\.$"
    with pytest.raises(CircuitError, match=message):
        refined(circuit, [[0.0]])


# -- circuits as they are learned -------------------------------------------------------------------------------------


def learned_spn(rows: np.ndarray, features: tuple[Feature, ...]) -> Circuit:
    return Circuit(features, learn_structure(rows, features, bins_of(rows, features), min_rows=len(rows) // 10))


@pytest.mark.parametrize("seed", range(3))
def test_a_learned_structure_gets_better(seed: int) -> None:
    """Clusters that overlap, which k-means cuts apart: each row then belongs to one of them alone."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, (4000, 1))
    rows = (group + (rng.random((4000, 6)) < 0.35)) % 3.0
    rows[rng.random(rows.shape) < 0.05] = np.nan
    features = tuple(Categorical(f"c{j}", tuple("abc")) for j in range(6))
    circuit = learned_spn(rows[:2000], features)
    after = refined(circuit, rows[:2000], 20)
    assert len(after) == len(circuit)
    assert after.check().normalised
    for part in (rows[:2000], rows[2000:]):
        assert after.log_likelihood(part).mean() > circuit.log_likelihood(part).mean() + 0.02


def test_a_graph_with_shared_leaves() -> None:
    rows, features = clusters(1, 400, width=4)
    table = pd.DataFrame({feature.name: feature.decode(rows[:, j]) for j, feature in enumerate(features)})
    y = np.where(rows[:, 0] > 4, "high", "low")
    circuit = learn(table, y, nodes=40, progress=False).circuit
    assert not circuit.check().tree
    after = refine(circuit, table, y, rounds=5, strength=0.1, progress=False)
    assert len(after) == len(circuit)
    assert after.check().normalised
    assert after.log_likelihood(table, y).mean() > circuit.log_likelihood(table, y).mean()
    assert refine(circuit, table, rounds=2, progress=False).target == circuit.target  # the class unknown


def test_parametric_leaves_stay_with_all_leaves_of_their_variable() -> None:
    features = (Continuous("x", -9, 9), Continuous("y", -9, 9))
    nodes = (
        Parametric(0, "gaussian", 0.0, 1.0), Histogram(0, (-9, 9), (1 / 18,)),
        Histogram(1, (-9, 0, 9), (1 / 27, 2 / 27)), Histogram(1, (-9, 0, 9), (1 / 36, 1 / 12)),
        Product((0, 2)), Product((1, 3)), Sum((4, 5), (0.5, 0.5)),
    )  # fmt: skip
    rows = np.random.default_rng(0).normal(size=(200, 2))
    circuit = Circuit(features, nodes)
    after = refined(circuit, rows, 3)
    assert after.nodes[:2] == nodes[:2]
    assert all(new != old for new, old in zip(after.nodes[2:4], nodes[2:4], strict=True))
    assert after.nodes[-1].weights[0] > 0.9
    assert after.log_likelihood(rows).mean() > circuit.log_likelihood(rows).mean()


def test_a_child_without_rows_comes_back() -> None:
    feature = Binary("b")
    circuit = Circuit((feature,), (Bernoulli(0, 0.0), Bernoulli(0, 1.0), Sum((0, 1), (1.0, 0.0))))
    after = refined(circuit, [[0.0]] * 5 + [[1.0]] * 5, 1)
    assert 0 < after.nodes[-1].weights[1] < 1e-2
    assert refined(after, [[0.0]] * 5 + [[1.0]] * 5, 50).log_likelihood(np.array([[1.0]]))[0] > math.log(0.4)


# -- weights, threads, interrupts -------------------------------------------------------------------------------------


def test_weights_are_rows() -> None:
    rows, features = clusters(2, 120)
    circuit = learned_spn(rows, features)
    weights = np.arange(120) % 3
    counted = refined(circuit, rows, 2, weights=weights)
    repeated = refined(circuit, np.repeat(rows, weights, axis=0), 2)
    np.testing.assert_allclose(counted.log_likelihood(rows), repeated.log_likelihood(rows), rtol=1e-9)


def test_the_same_on_any_number_of_threads() -> None:
    rows, features = clusters(2, 3000)
    circuit = learned_spn(rows, features)
    assert refined(circuit, rows, 2, n_jobs=1) == refined(circuit, rows, 2, n_jobs=3)


def test_no_rounds() -> None:
    rows, features = clusters(2, 50)
    circuit = learned_spn(rows, features)
    assert refined(circuit, rows, 0) == circuit


def test_an_interrupt_keeps_the_rounds_before(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, features = clusters(2, 200)
    circuit = learned_spn(rows, features)
    one_round = refine_module._em_round
    seen: list[Circuit] = []

    def interrupted(*given: Any) -> Circuit:
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(one_round(*given))
        return seen[-1]

    monkeypatch.setattr(refine_module, "_em_round", interrupted)
    with pytest.warns(LikelyWarning, match=r"^Refining was interrupted; the circuit is what was learned until then\.$"):
        after = refined(circuit, rows, 20)
    assert after is seen[1]


# -- refusals ---------------------------------------------------------------------------------------------------------

COIN = Circuit((Binary("b"),), (Bernoulli(0, 0.5),))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rounds": -1}, r"^rounds must be at least 0; got -1\. Hint: leave it out\.$"),
        ({"strength": 0.0}, r"^strength must be a positive number; got 0\.0\. Hint: 10 is ten pseudo-rows per leaf\.$"),
        ({"strength": math.inf}, r"^strength must be a positive number; got inf\."),
        ({"strength": math.nan}, r"^strength must be a positive number; got nan\."),
        ({"weights": [1.0]}, r"^The weights of rows must be 2 numbers of at least 0, not all 0; got shape \(1,\)\."),
        ({"weights": [1.0, -1.0]}, r"^The weights of rows must be 2 numbers of at least 0, not all 0; got -1\.0\."),
    ],
)
def test_settings_that_cannot_be(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(CircuitError, match=message):
        refined(COIN, [[0.0], [1.0]], **settings)


def test_no_rows() -> None:
    message = r"^A table to learn from must have rows; got none\. Hint: check how it was read\.$"
    with pytest.raises(CircuitError, match=message):
        refine(COIN, pd.DataFrame({"b": []}), progress=False)


def test_impossible_rows_teach_nothing() -> None:
    """With no floor, a row that no leaf allows has no share in anything, and nothing breaks."""
    circuit = replace(COIN, nodes=(Bernoulli(0, 0.0),), floor=0.0)
    after = refined(circuit, [[1.0], [1.0]], 2)
    assert after.check().normalised
