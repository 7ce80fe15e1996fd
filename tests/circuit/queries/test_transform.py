"""Marginals, conditionals and merged circuits, against sums and ratios of the circuits they come from."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from likely.circuit import (
    Bernoulli,
    Categories,
    Circuit,
    Histogram,
    Leaf,
    Parametric,
    Product,
    Sum,
    conditional,
    log_likelihood,
    marginal,
    merged,
)
from likely.circuit.model.builder import mixed, reachable
from likely.errors import CircuitError, SchemaError
from likely.schema import Binary, Categorical, Continuous, Integer
from tests import strategies
from tests.oracles import circuits as oracle
from tests.oracles.circuits import assert_close


def some_names(draw: Any, circuit: Circuit, *, least: int = 1, most: int | None = None) -> list[Any]:
    return draw(st.lists(st.sampled_from(circuit.names), min_size=least, max_size=most, unique=True))  # type: ignore[no-any-return]


def columns(circuit: Circuit, names: Any) -> list[int]:
    return [j for j, name in enumerate(circuit.names) if name in set(names)]


# -- marginals --------------------------------------------------------------------------------------------------------


@given(st.data())
def test_a_marginal_is_the_circuit_with_the_others_unknown(data: st.DataObject) -> None:
    circuit = data.draw(strategies.circuits(aligned=False))
    names = some_names(data.draw, circuit)
    rows = data.draw(strategies.circuit_rows(circuit))
    kept = columns(circuit, names)
    part = marginal(circuit, names)
    assert part.names == tuple(circuit.names[j] for j in kept)
    assert part.floor == circuit.floor
    unknown = rows.copy()
    unknown[:, [j for j in range(rows.shape[1]) if j not in kept]] = np.nan
    assert_close(log_likelihood(part, rows[:, kept]), oracle.log_likelihoods(circuit, unknown))


@given(st.data())
def test_a_marginal_is_a_sum_over_rows(data: st.DataObject) -> None:
    circuit = data.draw(strategies.circuits(small=True, normalised=True, parametric=False, floors=(0.0,)))
    kept = columns(circuit, some_names(data.draw, circuit))
    part = marginal(circuit, [circuit.names[j] for j in kept])
    sums: dict[tuple[float, ...], float] = {}
    for row in oracle.product_space(circuit):
        rest = [oracle.measure_of(circuit.variables[j], row[j]) for j in range(len(row)) if j not in kept]
        key = tuple(row[j] for j in kept)
        sums[key] = sums.get(key, 0.0) + float(oracle.likelihood(circuit, row) * math.prod(rest))
    likelihoods = np.exp(log_likelihood(part, np.array(list(sums))))
    np.testing.assert_allclose(likelihoods, list(sums.values()), atol=1e-12)


def test_a_marginal_keeps_the_target_in_its_place() -> None:
    circuit = two_groups()
    part = marginal(circuit, ["y", "x"])
    assert (part.features, part.target) == (circuit.features[:1], circuit.target)
    assert marginal(circuit, ["x", "n"]).target is None
    alone = marginal(circuit, ["y"])
    assert (alone.features, alone.target) == ((), circuit.target)
    assert_close(log_likelihood(alone, np.array([[0.0], [1.0]])), np.log([0.25 * 0.5 + 0.75 * 0.9, 0.25 * 0.5 + 0.75 * 0.1]))


def test_a_marginal_of_nothing_is_refused() -> None:
    with pytest.raises(CircuitError) as caught:
        marginal(two_groups(), [])
    assert str(caught.value) == "A marginal must keep a variable; got none. Hint: name some of ['x', 'n', 'y']."
    with pytest.raises(CircuitError, match=r"^A variable must be in the circuit; got 'z'\. Hint: it has 'x', 'n', 'y'\.$"):
        marginal(two_groups(), ["x", "z"])


# -- conditionals -----------------------------------------------------------------------------------------------------


@given(st.data())
def test_a_conditional_is_a_ratio(data: st.DataObject) -> None:
    circuit = data.draw(strategies.circuits(aligned=False).filter(lambda circuit: len(circuit.variables) > 1))
    given_names = some_names(data.draw, circuit, most=len(circuit.names) - 1)
    rows = data.draw(strategies.circuit_rows(circuit))
    fixed = columns(circuit, given_names)
    rows[:, fixed] = data.draw(strategies.value_rows(circuit, most=1))[0, fixed]
    evidence = np.full_like(rows[:1], np.nan)
    evidence[:, fixed] = rows[:1, fixed]
    chance = oracle.log_likelihoods(circuit, evidence)[0]
    assume(chance > -math.inf)
    named = {circuit.names[j]: circuit.variables[j].value(rows[0, j]) for j in fixed}
    # a value that stands in a coarser dtype, or for "unknown", is another matter
    assume(all(circuit.variables[j].number(named[circuit.names[j]]) == rows[0, j] for j in fixed))
    given_evidence = conditional(circuit, named)
    rest = [j for j in range(rows.shape[1]) if j not in fixed]
    assert given_evidence.names == tuple(circuit.names[j] for j in rest)
    assert_close(log_likelihood(given_evidence, rows[:, rest]), oracle.log_likelihoods(circuit, rows) - chance)


@given(st.data())
def test_a_conditional_sums_to_one(data: st.DataObject) -> None:
    wanted = strategies.circuits(small=True, normalised=True, parametric=False, floors=(0.0,))
    circuit = data.draw(wanted.filter(lambda circuit: len(circuit.variables) > 1))
    row = data.draw(strategies.value_rows(circuit, most=1))[0]
    j = data.draw(st.integers(0, len(row) - 1))
    feature = circuit.variables[j]
    assume(log_likelihood(marginal(circuit, [feature.name]), np.array([[row[j]]]))[0] > -math.inf)
    value = feature.value(row[j])
    assume(not math.isnan(feature.number(value)))
    given_evidence = conditional(circuit, {feature.name: value})
    space = oracle.product_space(given_evidence)
    measures = [float(oracle.measure_of_row(given_evidence, rest)) for rest in space]
    assert math.fsum(np.exp(log_likelihood(given_evidence, np.array(space))) * measures) == pytest.approx(1, abs=1e-9)


def two_groups() -> Circuit:
    """A feature of each kind, a class, and two groups that differ in all."""
    nodes = (
        Histogram(0, (0, 1, 10), (0.5, 0.5 / 9)), Parametric(1, "poisson", 2.0), Bernoulli(2, 0.5), Product((0, 1, 2)),
        Histogram(0, (0, 5, 10), (0.02, 0.18)), Parametric(1, "poisson", 6.0), Bernoulli(2, 0.1), Product((4, 5, 6)),
        Sum((3, 7), (0.25, 0.75)),
    )  # fmt: skip
    return Circuit((Continuous("x", 0, 10), Integer("n", 0, 20)), nodes, Binary("y", ("no", "yes")))


def test_a_conditional_by_hand() -> None:
    """Bayes: the groups' weights given y are 0.25 * 0.5 and 0.75 * 0.1, normalised."""
    given_evidence = conditional(two_groups(), {"y": "yes"})
    assert given_evidence.target is None
    root = given_evidence.nodes[-1]
    assert isinstance(root, Sum)
    assert root.weights == pytest.approx((0.125 / 0.2, 0.075 / 0.2))


def test_a_conditional_of_far_evidence_does_not_underflow() -> None:
    """Groups whose likelihoods are both far below the smallest double still have a ratio."""
    count = 400
    nodes: list[Any] = [Categories(j, (p, 1 - p)) for p in (1e-3, 2e-3) for j in range(count)]
    nodes += [Categories(count, (1.0, 0.0)), Categories(count, (0.0, 1.0))]
    nodes += [Product((*range(count), 2 * count)), Product((*range(count, 2 * count), 2 * count + 1))]
    nodes += [Sum((2 * count + 2, 2 * count + 3), (0.5, 0.5))]
    features = tuple(Categorical(f"c{j}", ("a", "b")) for j in range(count))
    circuit = Circuit(features, tuple(nodes), Binary("y"), 0.0)
    given_evidence = conditional(circuit, {f"c{j}": "a" for j in range(count)})
    odds = log_likelihood(given_evidence, np.array([[1.0], [0.0]]))
    assert_close(odds[0] - odds[1], count * math.log(2))


def test_conditionals_that_are_refused() -> None:
    circuit = two_groups()
    with pytest.raises(CircuitError) as caught:
        conditional(circuit, {"x": None})
    assert str(caught.value) == "The evidence for 'x' must be a value; got None. Hint: leave it out."
    assert caught.value.feature == "x"
    with pytest.raises(CircuitError) as caught:
        conditional(circuit, {"x": 1.0, "n": 2, "y": "yes"})
    assert str(caught.value) == "Evidence must leave a variable open; got a value of each. Hint: use log_likelihood."
    with pytest.raises(CircuitError, match=r"^A variable must be in the circuit; got 'z'"):
        conditional(circuit, {"z": 1})
    with pytest.raises(SchemaError, match=r"^Feature 'y' must have a known value; got 'maybe'"):
        conditional(circuit, {"y": "maybe"})


def test_impossible_evidence_is_refused() -> None:
    nodes = (Categories(0, (1.0, 0.0)), Bernoulli(1, 0.5), Product((0, 1)))
    circuit = Circuit((Categorical("c", ("a", "b")),), nodes, Binary("y"), 0.0)
    with pytest.raises(CircuitError) as caught:
        conditional(circuit, {"c": "b"})
    assert str(caught.value) == "Evidence must be possible; got a row of likelihood 0. Hint: use a circuit with a floor."
    floored = Circuit(circuit.features, circuit.nodes, circuit.target)
    assert_close(log_likelihood(conditional(floored, {"c": "b"}), np.array([[1.0]])), math.log(0.5))


def test_no_evidence_changes_nothing() -> None:
    circuit = two_groups()
    rows = np.array([[0.5, 2.0, 0.0], [7.0, 5.0, 1.0]])
    assert_close(log_likelihood(conditional(circuit, {}), rows), log_likelihood(circuit, rows))


# -- merging ----------------------------------------------------------------------------------------------------------


@given(st.data())
def test_merging_keeps_every_likelihood(data: st.DataObject) -> None:
    circuit = data.draw(strategies.circuits(aligned=False))
    rows = data.draw(strategies.circuit_rows(circuit))
    smaller = merged(circuit)
    assert (smaller.features, smaller.target, smaller.floor) == (circuit.features, circuit.target, circuit.floor)
    assert_close(log_likelihood(smaller, rows), oracle.log_likelihoods(circuit, rows))


@given(strategies.circuits())
def test_a_merged_circuit_has_nothing_twice_and_nothing_idle(circuit: Circuit) -> None:
    smaller = merged(circuit)
    assert len(smaller) <= len(circuit)
    assert len(set(smaller.nodes)) == len(smaller.nodes)
    for node in smaller.nodes:
        if isinstance(node, (Sum, Product)):
            assert len(node.children) > 1
        if isinstance(node, Sum):
            assert len(set(node.children)) == len(node.children)
            assert min(node.weights) > 0
    assert len(merged(smaller)) == len(smaller)


def test_merging_by_hand() -> None:
    leaf = Categories(0, (0.5, 0.5))
    nodes = (leaf, leaf, Sum((0, 1), (0.25, 0.75)), Categories(0, (1.0, 0.0)), Sum((2, 3, 0), (0.5, 0.0, 0.5)), Product((4,)))
    smaller = merged(Circuit((Categorical("c", ("a", "b")),), nodes))
    assert smaller.nodes == (leaf,)


def test_mixing() -> None:
    assert mixed([3, 4, 3], [1.0, 2.0, 1.0]) == Sum((3, 4), (0.5, 0.5))
    assert mixed([3, 4], [1.0, 0.0]) == 3
    assert mixed([3, 3], [0.25, 0.5]) == 3


def test_reachable_nodes_are_numbered_again() -> None:
    leaves: list[Leaf] = [Bernoulli(0, 0.25 * k) for k in range(4)]
    nodes = [*leaves, Sum((1, 3), (0.5, 0.5)), Sum((0, 2), (0.5, 0.5))]
    assert reachable(nodes, 4) == (leaves[1], leaves[3], Sum((0, 1), (0.5, 0.5)))
    assert reachable(nodes, 2) == (leaves[2],)
