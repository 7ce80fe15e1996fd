"""Nodes: what they are made of, what they refuse, and the densities of leaves against scipy's."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.circuit import Bernoulli, Categories, Coded, Histogram, Leaf, Parametric, Product, Sum
from likely.circuit.model.cells import Cells
from likely.circuit.model.families import FAMILIES
from likely.circuit.model.nodes import KINDS, ParametricPart, node_from_dict, node_to_dict
from likely.errors import CircuitError
from likely.schema.region import Region, above, below
from likely.schema.values import code_number
from tests import strategies
from tests.oracles import circuits as oracle

PARAMETERS = {
    "gaussian": [(0.0, 1.0), (-3.5, 0.1), (1e3, 50.0)],
    "lognormal": [(0.0, 1.0), (2.0, 0.25), (-3.0, 2.0)],
    "exponential": [(1.0, 1.0), (0.02, 1.0), (30.0, 1.0)],
    "gamma": [(1.0, 2.0), (1.5, 0.1), (20.0, 3.0)],
    "poisson": [(0.3, 1.0), (4.0, 1.0), (55.5, 1.0)],
}
LAWS = [(family, *parameters) for family, several in PARAMETERS.items() for parameters in several]


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Sum((), ()), "A sum or product must have children; got none. Hint: drop the node."),
        (lambda: Product(()), "A sum or product must have children; got none. Hint: drop the node."),
        (lambda: Product((1.5,)), "The children of a node must be places of nodes; got (1.5,). Hint: give a list of integers."),
        (lambda: Product("01"), "The children of a node must be places of nodes; got '01'. Hint: give a list of integers."),
        (lambda: Product(7), "The children of a node must be places of nodes; got 7. Hint: give a list of integers."),
        (lambda: Sum((0, 1), (1.0,)), "A sum must have a weight per child; got 1 for 2. Hint: give as many weights."),
        (lambda: Sum((0,), (-0.5,)), "The weights of a sum must not be negative; got -0.5. Hint: correct the number."),
        (
            lambda: Sum((0,), (math.nan,)),
            "The weights of a sum must be finite; got nan. Hint: drop the node or correct the number.",
        ),
        (lambda: Sum((0,), ("a",)), "The weights of a sum must be numbers; got ('a',). Hint: give a list of floats."),
        (lambda: Sum((0,), None), "The weights of a sum must be numbers; got None. Hint: give a list of floats."),
        (
            lambda: Sum((0,), (10**400,)),
            f"The weights of a sum must be numbers; got ({10**400},). Hint: give a list of floats.",
        ),
        (
            lambda: Categories("x", (1.0,)),
            "The variable of a leaf must be a place among the variables; got 'x'. Hint: give an integer.",
        ),
        (
            lambda: Categories(0.5, (1.0,)),
            "The variable of a leaf must be a place among the variables; got 0.5. Hint: give an integer.",
        ),
        (
            lambda: Categories(0, (0.5, -1e-9)),
            "The probabilities of a leaf must not be negative; got -1e-09. Hint: correct the number.",
        ),
        (lambda: Bernoulli(0, 1.5), "The probability of a leaf must be at most 1; got 1.5. Hint: correct the number."),
        (lambda: Bernoulli(0, -0.5), "The probability of a leaf must not be negative; got -0.5. Hint: correct the number."),
        (
            lambda: Bernoulli(0, math.inf),
            "The probability of a leaf must be finite; got inf. Hint: drop the node or correct the number.",
        ),
        (
            lambda: Histogram(0, (0, 1), (0.5, 0.5)),
            "A histogram must have one break more than densities; got 2 breaks and 2 densities. "
            "Hint: give both ends of every bin.",
        ),
        (
            lambda: Histogram(0, (0,), ()),
            "A histogram must have one break more than densities; got 1 breaks and 0 densities. "
            "Hint: give both ends of every bin.",
        ),
        (
            lambda: Histogram(0, (0, 1, 1), (0.5, 0.5)),
            "The breaks of a histogram must increase; got (0.0, 1.0, 1.0). Hint: sort them and drop empty bins.",
        ),
        (
            lambda: Histogram(0, (0, math.inf), (0.5,)),
            "The breaks of a histogram must be finite; got inf. Hint: drop the node or correct the number.",
        ),
        (
            lambda: Histogram(0, (0, 1), (-1,)),
            "The densities of a histogram must not be negative; got -1.0. Hint: correct the number.",
        ),
        (
            lambda: Parametric(0, "cauchy", 0, 1),
            "The family of a leaf must be one of gaussian, lognormal, exponential, gamma, poisson; got 'cauchy'. "
            "Hint: use a Histogram.",
        ),
        *(
            (
                lambda family=family, a=a, b=b: Parametric(0, family, a, b),
                f"The parameters of a {family} leaf must be positive (the shape of a gamma at least 1); got {(a, b)}. "
                "Hint: a narrow or unbounded density is better a Histogram.",
            )
            for family, a, b in [
                ("gaussian", 0.0, 0.0), ("lognormal", 0.0, -1.0), ("exponential", 0.0, 1.0), ("gamma", 0.5, 1.0),
                ("gamma", 2.0, 0.0), ("poisson", -1.0, 1.0),
            ]
        ),
        (
            lambda: Parametric(0, "gaussian", math.nan),
            "The parameters of a gaussian leaf must be finite; got nan. Hint: drop the node or correct the number.",
        ),
        (lambda: Coded(0, (0.7, 0.7)), "The probabilities of codes must sum to at most 1; got 1.4. Hint: scale them."),
        (lambda: Coded(0, (-0.1,)), "The probabilities of codes must not be negative; got -0.1. Hint: correct the number."),
        (
            lambda: Coded(1, (0.5,), Histogram(0, (0, 1), (1,))),
            "The numbers of a leaf must be of the leaf's variable; got 0. Hint: correct it.",
        ),
        (
            lambda: Coded(0, (0.5,), Bernoulli(0, 0.5)),
            "The numbers of a leaf must be a Histogram or Parametric; got Bernoulli. Hint: use None.",
        ),
        (lambda: Coded(0, (0.5,), [1]), "The numbers of a leaf must be a Histogram or Parametric; got list. Hint: use None."),
        (
            lambda: Coded(0, (0.5,), Histogram(0, (-1e305, 1), (1,))),
            "The numbers of a leaf must lie above the codes; got -1e+305. Hint: cut off the bin.",
        ),
        (
            lambda: node_from_dict({"kind": "mean"}),
            f"The kind of a node must be one of {', '.join(KINDS)}; got 'mean'. Hint: use circuit.to_json().",
        ),
        (
            lambda: node_from_dict(["sum"]),
            f"The kind of a node must be one of {', '.join(KINDS)}; got list. Hint: use circuit.to_json().",
        ),
    ],
)  # fmt: skip
def test_refusals(make: Any, message: str) -> None:
    with pytest.raises(CircuitError) as caught:
        make()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"kind": "product"}, r"^A product node must have children; got .*missing.*\. Hint: use circuit\.to_json\(\)\.$"),
        (
            {"kind": "bernoulli", "variable": 0, "p": 0.5, "q": 1},
            r"^A bernoulli node must have variable, p; got .*'q'.*\. Hint: use circuit\.to_json\(\)\.$",
        ),
        (
            {"kind": "coded", "variable": 0, "codes": [0.5], "numbers": {"kind": "none"}},
            r"^The kind of a node must be one of .*; got 'none'\. Hint: use circuit\.to_json\(\)\.$",
        ),
    ],
)
def test_data_that_is_no_node(data: Any, message: str) -> None:
    with pytest.raises(CircuitError, match=message):
        node_from_dict(data)


def test_a_shape_of_exactly_one_is_a_gamma() -> None:
    assert Parametric(0, "gamma", 1.0, 2.0).a == 1.0


# -- values -----------------------------------------------------------------------------------------------------------


def test_nodes_are_plain_values() -> None:
    """Numpy's numbers become Python's, lists become tuples; equal nodes are equal and have one hash."""
    a = Histogram(np.int64(1), np.array([0, 1.5]), [np.float32(0.5)])
    b = Histogram(1, (0.0, 1.5), (0.5,))
    assert a == b
    assert hash(a) == hash(b)
    assert repr(a) == repr(b)
    assert type(a.breaks[0]) is type(a.densities[0]) is float
    assert type(Sum(np.array([0, 1]), (0.5, 0.5)).children[0]) is int


@given(st.data())
def test_nodes_come_back_from_plain_data(data: st.DataObject) -> None:
    for node in data.draw(strategies.circuits()).nodes:
        again = node_from_dict(node_to_dict(node))
        assert again == node
        assert repr(again) == repr(node)


def test_steps_of_every_leaf() -> None:
    gap = [code_number(1), above(code_number(1)), code_number(0), above(code_number(0))]
    histogram = Histogram(0, (0, 2, 3), (0.25, 0.5))
    expected: list[tuple[Leaf, list[float], list[float]]] = [
        (histogram, [0, 2, 3], [0.25, 0.5]),
        (Categories(0, (0.5, 0.25, 0.25)), [0, 1, 2, 3], [0.5, 0.25, 0.25]),
        (Bernoulli(0, 0.25), [0, 1, 2], [0.75, 0.25]),
        (Parametric(0, "gaussian", 1, 2), [], []),
        (Coded(0, (0.5, 0.25)), gap, [0.25, 0, 0.5]),
        (Coded(0, (0.5, 0.25), histogram), [*gap, 0, 2, 3], [0.25, 0, 0.5, 0, 0.0625, 0.125]),
        (Coded(0, (0.5, 0.25), Parametric(0, "gamma", 2)), gap, [0.25, 0, 0.5]),
        (Coded(0, (), histogram), [0, 2, 3], [0.25, 0.5]),
    ]
    for leaf, breaks, densities in expected:
        steps = leaf.steps
        assert (steps[0].tolist(), steps[1].tolist()) == (breaks, densities), leaf


def test_parametric_parts() -> None:
    assert Histogram(0, (0, 1), (1,)).parametric is None
    assert Parametric(0, "gamma", 2, 3).parametric == ParametricPart("gamma", 2.0, 3.0, 1.0)
    assert Coded(0, (0.25, 0.25), Parametric(0, "gamma", 2, 3)).parametric == ParametricPart("gamma", 2.0, 3.0, 0.5)
    assert Coded(0, (0.25, 0.25), Histogram(0, (0, 1), (1,))).parametric is None
    assert Coded(0, (0.25, 0.25)).parametric is None


@pytest.mark.parametrize(
    ("leaf", "share"),
    [
        (Coded(0, (0.25, 0.5), Histogram(0, (0, 1), (1,))), 0.25),
        (Coded(0, (0.25, 0.5)), 0.0),
        (Coded(0, (0.1,) * 10, Histogram(0, (0, 1), (1,))), 0.0),
        (Coded(0, (), Histogram(0, (0, 1), (1,))), 1.0),
    ],
)
def test_share_of_numbers(leaf: Coded, share: float) -> None:
    assert leaf.share == share


# -- families ---------------------------------------------------------------------------------------------------------


def points(family: str, a: float, b: float) -> np.ndarray:
    law = oracle.law(Parametric(0, family, a, b))
    inside = law.ppf(np.linspace(0.001, 0.999, 41))
    return np.unique(
        np.concatenate([inside, np.round(inside), [-2.5, -1.0, 0.0, 1e-9, 1.0, 2.5, 1e3], [FAMILIES[family].mode(a, b)]])
    )


@pytest.mark.parametrize(("family", "a", "b"), LAWS)
def test_log_densities_are_scipys(family: str, a: float, b: float) -> None:
    values = points(family, a, b)
    law = oracle.law(Parametric(0, family, a, b))
    with np.errstate(divide="ignore"):
        expected = law.logpmf(values) if family == "poisson" else law.logpdf(values)
    np.testing.assert_allclose(FAMILIES[family].log_density(values, a, b), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("family", "a", "b"), LAWS)
def test_the_twin_in_scipy_is_the_same_law(family: str, a: float, b: float) -> None:
    from scipy import stats

    law, expected = FAMILIES[family].scipy(stats, a, b), oracle.law(Parametric(0, family, a, b))
    values = points(family, a, b)
    np.testing.assert_array_equal(law.cdf(values), expected.cdf(values))


@pytest.mark.parametrize(("family", "a", "b"), LAWS)
def test_nothing_is_above_the_peak(family: str, a: float, b: float) -> None:
    values = np.concatenate([points(family, a, b), np.linspace(-5, 200, 4001), np.arange(300.0)])
    at_mode = FAMILIES[family].log_density(np.array([FAMILIES[family].mode(a, b)]), a, b)
    assert (FAMILIES[family].log_density(values, a, b) <= at_mode + 1e-12).all()


def test_a_peak_beyond_the_largest_double_is_far_to_the_right() -> None:
    assert FAMILIES["lognormal"].mode(1e4, 1.0) > 2.0**999


def leaf_extremes(leaf: Leaf, low: float, high: float) -> tuple[float, float]:
    breaks, densities = leaf.steps
    table = np.concatenate([[0.0], densities, [0.0]]) if len(densities) else np.zeros(1)
    cells = Cells(breaks, (0,), table[None, :], (leaf.parametric,))
    extremes = cells.log_extremes(Region.between(low, high), 0.0)
    return float(extremes[0][0]), float(extremes[1][0])


@pytest.mark.parametrize(("family", "a", "b"), LAWS)
def test_extremes_over_intervals_are_exact(family: str, a: float, b: float) -> None:
    """Against all whole numbers of an interval for a probability, a fine grid of the interval and the mode for a density."""
    leaf = Parametric(0, family, a, b)
    law = oracle.law(leaf)
    ends = [0.0, *np.unique(np.round(law.ppf([0.01, 0.2, 0.5, 0.8, 0.99]), 0 if family == "poisson" else 6))]
    for low, high in itertools.combinations_with_replacement(sorted(set(ends)), 2):
        inside = np.arange(low, high + 1) if family == "poisson" else np.linspace(low, high, 2001)
        inside = np.append(inside, np.clip(oracle.peak(leaf), low, high))
        with np.errstate(divide="ignore"):
            values = law.logpmf(inside) if family == "poisson" else law.logpdf(inside)
        least, most = leaf_extremes(leaf, float(low), float(high))
        assert least == pytest.approx(values.min(), abs=1e-9)
        assert most == pytest.approx(values.max(), abs=1e-9)


@pytest.mark.parametrize(
    ("low", "high", "most"),
    [
        (below(4.0), 4.0, 4.0),
        (4.0, below(5.0), 4.0),
        (1.5, 2.5, 2.0),
        (5.5, 6.5, 6.0),
        (-math.inf, 2.0, 2.0),
        (9.0, math.inf, 9.0),
    ],
)
def test_probabilities_of_whole_numbers_are_greatest_at_one(low: float, high: float, most: float) -> None:
    """An interval that ends between whole numbers is greatest at the one inside that is nearest to the peak, 4."""
    leaf = Parametric(0, "poisson", 4.5)
    assert leaf_extremes(leaf, low, high) == pytest.approx((-math.inf, math.log(oracle.density(leaf, most))))
