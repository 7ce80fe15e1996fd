"""What makes nodes a circuit, what is refused, and what `check()` says of one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.circuit import FLOOR, Bernoulli, Categories, Circuit, Coded, Histogram, Leaf, Parametric, Product, Report, Sum
from likely.circuit.model.check import scopes
from likely.errors import CircuitError
from likely.schema import Binary, Categorical, Continuous, Feature, Integer, Mixed, Ordinal
from likely.schema.region import Region, below
from likely.schema.values import code_number
from tests import strategies
from tests.oracles import circuits as oracle

X, N, C = Continuous("x", 0, 1), Integer("n", 0, 4), Categorical("c", ("a", "b", "c"))
M, Y = Mixed("m", 0, 9, [-1, None], integer=True, dtype="float64"), Binary("y")
FLAT = Histogram(0, (0, 1), (1,))
ABC = Categories(1, (0.5, 0.25, 0.25))


def made(features: tuple[Feature, ...], *nodes: Any, **settings: Any) -> Circuit:
    return Circuit(features, nodes, **settings)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: made((X,)), "A circuit must have nodes; got none. Hint: learn one with likely.circuit.learn(X, y, schema)."),
        (
            lambda: made((X,), "leaf"),
            "Node 0 must be a Sum, a Product, a leaf or a GaussianBlock; got str. Hint: see likely.circuit.",
        ),
        (
            lambda: made((X,), Sum((0,), (1,))),
            "The children of node 0 must stand before it; got 0. Hint: sort the nodes, the root last.",
        ),
        (
            lambda: made((X,), FLAT, Product((0, 2)), FLAT),
            "The children of node 1 must stand before it; got 2. Hint: sort the nodes, the root last.",
        ),
        (
            lambda: made((X,), FLAT, Product((-1,))),
            "The children of node 1 must stand before it; got -1. Hint: sort the nodes, the root last.",
        ),
        (
            lambda: made((X,), FLAT, FLAT, Product((0, 1))),
            "Product 2 must have children with no variable in common (decomposable); got child 1. Hint: use a Sum.",
        ),
        (
            lambda: made((X, C), FLAT, ABC, Product((0, 1)), Product((2, 0))),
            "Product 3 must have children with no variable in common (decomposable); got child 0. Hint: use a Sum.",
        ),
        (
            lambda: made((X, C), FLAT, ABC, Sum((0, 1), (0.5, 0.5))),
            "Sum 2 must have children with the same variables (smooth); got child 1 with others. "
            "Hint: give the child a leaf for every variable that it lacks.",
        ),
        (
            lambda: made((X,), FLAT, Sum((0,), (0.9,))),
            "The weights of sum 1 must sum to 1; got 0.9. Hint: divide them by their sum.",
        ),
        (
            lambda: made((X, C), FLAT),
            "The root (the last node) must have all variables; got none of ['c']. Hint: add leaves or drop the features.",
        ),
        (
            lambda: made((X,), FLAT, FLAT),
            "Every node but the root must have a parent; got node 0 without. Hint: drop the node.",
        ),
        (lambda: made((X,), ABC), "The variable of leaf 0 must be below 1; got 1. Hint: correct it."),
        (
            lambda: made((X,), Histogram(-1, (0, 1), (1,))),
            "The variable of leaf 0 must be below 1; got -1. Hint: correct it.",
        ),
        (
            lambda: made((C,), Categories(0, (0.5, 0.5))),
            "Leaf 0 of feature 'c' must have 3 values; got 2. Hint: give one probability each.",
        ),
        (
            lambda: made((M,), Coded(0, (0.5,))),
            "Leaf 0 of feature 'm' must have 2 codes; got 1. Hint: give one probability each.",
        ),
        (
            lambda: made((X,), Coded(0, (0.5,), FLAT)),
            "Leaf 0 of feature 'x' must have 0 codes; got 1. Hint: give one probability each.",
        ),
        (
            lambda: made((M,), Categories(0, (0.5, 0.5))),
            "Leaf 0 of feature 'm' must be a Histogram, Parametric or Coded; got categories. "
            "Hint: categories need a feature with a list of values.",
        ),
        (
            lambda: made((X,), Categories(0, ())),
            "Leaf 0 of feature 'x' must be a Histogram, Parametric or Coded; got categories. "
            "Hint: categories need a feature with a list of values.",
        ),
        (
            lambda: made((C,), Parametric(0, "gaussian", 0)),
            "Leaf 0 of feature 'c' must be a Histogram, Categories or Bernoulli; got parametric. "
            "Hint: a parametric density needs a feature of numbers.",
        ),
        (
            lambda: made((C,), Coded(0, (0.25, 0.25, 0.5))),
            "Leaf 0 of feature 'c' must be a Histogram, Categories or Bernoulli; got coded. "
            "Hint: a parametric density needs a feature of numbers.",
        ),
        (
            lambda: made((X,), Parametric(0, "poisson", 2.0)),
            "Leaf 0 of feature 'x' must be a density of all its numbers; got poisson. "
            "Hint: make the feature Integer or use another family.",
        ),
        (
            lambda: made((Mixed("m", 0, 1, [-1]),), Coded(0, (0.5,), Parametric(0, "poisson", 2.0))),
            "Leaf 0 of feature 'm' must be a density of all its numbers; got poisson. "
            "Hint: make the feature Integer or use another family.",
        ),
        (
            lambda: made((X,), FLAT, floor=-1.0),
            "The floor of a circuit must be a number of at least 0; got -1.0. Hint: leave it out.",
        ),
        (
            lambda: made((X,), FLAT, floor=math.nan),
            "The floor of a circuit must be a number of at least 0; got nan. Hint: leave it out.",
        ),
        (
            lambda: made((X,), FLAT, floor=math.inf),
            "The floor of a circuit must be a number of at least 0; got inf. Hint: leave it out.",
        ),
        (
            lambda: made((X,), FLAT, floor="1"),
            "The floor of a circuit must be a number of at least 0; got '1'. Hint: leave it out.",
        ),
        (
            lambda: made((X, X), FLAT),
            "The names of variables must differ; got 'x' twice. Hint: rename one.",
        ),
        (
            lambda: made((X,), FLAT, target=X),
            "The names of variables must differ; got 'x' twice. Hint: rename one.",
        ),
    ],
)  # fmt: skip
def test_refusals(make: Any, message: str) -> None:
    with pytest.raises(CircuitError) as caught:
        make()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("make", "feature"),
    [
        (lambda: made((C,), Categories(0, (0.5, 0.5))), "c"),
        (lambda: made((M,), Categories(0, (0.5, 0.5))), "m"),
        (lambda: made((C,), Parametric(0, "gaussian", 0)), "c"),
        (lambda: made((X,), Parametric(0, "poisson", 1)), "x"),
        (lambda: made((X, C), FLAT), "c"),
        (lambda: made((X, X), FLAT), "x"),
    ],
)
def test_the_error_has_the_feature(make: Any, feature: str) -> None:
    with pytest.raises(CircuitError) as caught:
        make()
    assert caught.value.feature == feature


def test_weights_may_be_a_millionth_off() -> None:
    circuit = made((X,), FLAT, Sum((0,), (1 - 9e-7,)))
    assert circuit.check().weight_error == pytest.approx(9e-7)
    with pytest.raises(CircuitError, match="sum to 1"):
        made((X,), FLAT, Sum((0,), (1 - 1.1e-6,)))


# -- what is accepted -------------------------------------------------------------------------------------------------


@given(strategies.circuits(aligned=False))
def test_scopes_are_the_variables_of_the_leaves_below(circuit: Circuit) -> None:
    expected: list[set[int]] = []
    for node in circuit.nodes:
        if isinstance(node, Leaf):
            expected.append({node.variable})
        else:
            assert isinstance(node, (Sum, Product))
            expected.append(set().union(*(expected[child] for child in node.children)))
    assert scopes(circuit) == tuple(sum(1 << j for j in scope) for scope in expected)


def test_scopes_of_very_many_variables() -> None:
    count = 300
    leaves = [Bernoulli(j, 0.5) for j in range(count)]
    circuit = made(tuple(Binary(j) for j in range(count)), *leaves, Product(tuple(range(count))))
    assert scopes(circuit)[-1] == 2**count - 1


@pytest.mark.parametrize("leaf", [Histogram(0, (0, 1.5, 3), (0.5, 0.25)), Bernoulli(0, 0.5), Categories(0, (0.5, 0.25, 0.25))])
def test_leaves_that_a_discrete_feature_can_have(leaf: Leaf) -> None:
    for feature in (C, Ordinal("o", (1, 2, 3))):
        assert len(made((feature,), leaf)) == 1


@pytest.mark.parametrize(
    "leaf", [Histogram(0, (0, 5), (0.2,)), Bernoulli(0, 0.5), Parametric(0, "poisson", 2.0), Coded(0, (), None)]
)
def test_leaves_that_whole_numbers_can_have(leaf: Leaf) -> None:
    assert len(made((N,), leaf)) == 1


# -- looking ----------------------------------------------------------------------------------------------------------


def small() -> Circuit:
    nodes = (FLAT, ABC, Categories(1, (0.0, 0.5, 0.5)), Sum((1, 2), (0.5, 0.5)), Bernoulli(2, 0.5), Product((0, 3, 4)))
    return Circuit((X, C), nodes, Y)


def test_looking_at_a_circuit() -> None:
    circuit = small()
    assert circuit.variables == (X, C, Y)
    assert circuit.names == ("x", "c", "y")
    assert [circuit.index(name) for name in circuit.names] == [0, 1, 2]
    assert len(circuit) == 6
    assert circuit.edges == 5
    assert circuit.floor == FLOOR == np.finfo(float).eps
    assert repr(circuit) == (
        "Circuit of 6 nodes (1 sums, 1 products, 4 leaves) and 5 edges over 3 variables, the class 'y' among them"
    )
    assert repr(made((X,), FLAT)) == "Circuit of 1 nodes (0 sums, 0 products, 1 leaves) and 0 edges over 1 variables"


def test_a_variable_that_is_not_there() -> None:
    with pytest.raises(CircuitError) as caught:
        small().index("z")
    assert str(caught.value) == "A variable must be in the circuit; got 'z'. Hint: it has 'x', 'c', 'y'."
    assert caught.value.feature == "z"


def test_a_circuit_is_a_value() -> None:
    a, b = small(), small()
    _ = a.core, a.cells
    assert a == b
    assert hash(a) == hash(b)
    assert a != Circuit(a.features, a.nodes, a.target, 0.0)
    with pytest.raises(AttributeError):
        a.floor = 1.0  # type: ignore[misc]


# -- reports ----------------------------------------------------------------------------------------------------------


@given(strategies.circuits())
def test_the_report_counts(circuit: Circuit) -> None:
    report = circuit.check()
    inner = [node for node in circuit.nodes if isinstance(node, (Sum, Product))]
    assert report.nodes == len(circuit.nodes) == report.sums + report.products + report.leaves
    assert report.edges == sum(len(node.children) for node in inner)
    assert report.leaves == sum(isinstance(node, Leaf) for node in circuit.nodes)
    assert report.weight_error == max((abs(math.fsum(n.weights) - 1) for n in inner if isinstance(n, Sum)), default=0.0)
    parents = [sum(node.children.count(place) for node in inner) for place in range(len(circuit.nodes))]
    assert report.tree == (max(parents) <= 1)
    assert report.floor == circuit.floor


@given(strategies.circuits(small=True, parametric=False))
def test_leaves_without_mass_one_are_told(circuit: Circuit) -> None:
    """Mass is that of everything, also of numbers outside the bounds: so only where all bins lie inside."""
    told = dict(circuit.check().unnormalised)
    for place, leaf in oracle.leaves_of(circuit).items():
        feature = circuit.variables[leaf.variable]
        breaks = [b for b in oracle.breaks_of(leaf) if b > -oracle.FARTHEST]
        if (
            feature.numeric
            and breaks
            and not (feature.lower <= breaks[0] and breaks[-1] <= feature.upper + oracle.step_of(feature))
        ):
            continue
        mass = float(oracle.leaf_mass(leaf, feature, feature.region))
        assert (place in told) == (abs(mass - 1) > 1e-6)
        assert told.get(place, mass) == pytest.approx(mass, abs=1e-9)


@given(st.data())
def test_uncovered_values_have_the_floor(data: st.DataObject) -> None:
    """A value is told to be uncovered just where every leaf of its variable is at the floor."""
    circuit = data.draw(strategies.circuits(parametric=False))
    told = dict(circuit.check().uncovered)
    row = data.draw(strategies.value_rows(circuit, most=1))[0]
    for j, feature in enumerate(circuit.variables):
        leaves = [leaf for leaf in oracle.leaves_of(circuit).values() if leaf.variable == j]
        bare = all(oracle.density(leaf, row[j]) <= circuit.floor for leaf in leaves)
        assert (row[j] in told.get(feature.name, Region(()))) == bare


def test_a_code_that_no_leaf_knows_is_uncovered_also_beside_a_parametric_leaf() -> None:
    leaf = Coded(0, (0.5, 0.0), Parametric(0, "poisson", 2.0))
    assert made((M,), leaf).check().uncovered == (("m", Region.points([code_number(1)])),)
    assert made((M,), Parametric(0, "poisson", 2.0)).check().uncovered == (
        ("m", Region.points([code_number(0), code_number(1)])),
    )
    assert made((N,), Parametric(0, "poisson", 2.0)).check().uncovered == ()


def test_a_report_in_words() -> None:
    report = small().check()
    assert isinstance(report, Report)
    assert report.normalised
    assert report.uncovered == ((("x"), Region.points([1.0])),)
    assert str(report).splitlines() == [
        "6 nodes, 5 edges (a tree): 1 sums, 1 products, 4 leaves",
        "6 parameters",
        "smooth: yes; decomposable: yes",
        "weights sum to 1 within 0.0e+00",
        "every leaf has mass 1",
        "P(domain) = 1: the probability that every feature has a value of its own",
        "floor density 2.220446049250313e-16",
        "no leaf covers 1 part(s) of feature 'x'",
    ]


def test_mass_outside_the_domain_is_told() -> None:
    spilt = Histogram(0, (-1.0, 1.0), (0.5,))
    report = made((Continuous("spilt", 0, 1), X), spilt, Histogram(1, (0, 1), (1.0,)), Product((0, 1))).check()
    assert report.inside == pytest.approx(0.5)
    assert report.outside == (("spilt", pytest.approx(0.5)),)
    assert "feature 'spilt' lies outside its domain with probability 0.5" in str(report)


def test_a_report_of_an_unnormalised_circuit_with_shared_nodes() -> None:
    half = Histogram(0, (0, 0.5), (1.0,))
    report = made((X,), half, Sum((0, 0), (0.5, 0.5)), floor=0.0).check()
    assert not report.normalised
    assert report.unnormalised == ((0, 0.5),)
    assert not report.tree
    assert report.uncovered == (("x", Region.between(0.5, 1.0)),)
    assert str(report).splitlines()[0] == "2 nodes, 2 edges (nodes are shared): 1 sums, 0 products, 1 leaves"
    assert str(report).splitlines()[4] == "1 leaves do not have mass 1"


def test_densities_at_the_floor_cover_nothing() -> None:
    report = made((X,), Histogram(0, (0, 0.5, 2), (1e-3, 2.0)), floor=1e-3).check()
    assert report.uncovered == (("x", Region.between(0.0, below(0.5))),)
