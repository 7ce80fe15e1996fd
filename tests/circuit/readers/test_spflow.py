"""SPFlow's circuits, read: the numbers of the real SPFlow from a file, and stand-ins of its classes for everything else."""

from __future__ import annotations

import json
import math
from bisect import bisect
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from likely.circuit import FLOOR, Bernoulli, Categories, Circuit, Histogram, Sum
from likely.circuit.readers.spflow import from_spflow
from likely.errors import CircuitError
from likely.schema import Binary, Categorical, Continuous, Feature, Integer, Mixed, Ordinal
from likely.schema.features import feature_from_dict

REAL: dict[str, Any] = json.loads(Path(__file__).parents[1].joinpath("data").joinpath("spflow.json").read_text(encoding="utf-8"))
X, Y, N = Continuous("x", -10, 10), Continuous("y", -10, 10), Integer("n", 0, 9)
COLOUR, FLAG = Categorical("colour", ("red", "green", "blue")), Binary("flag")


def spflow(kind: str, scope: int | list[int] = 0, **parameters: Any) -> Any:
    """An object of a class of this name, with the attributes that SPFlow's has."""
    node = type(kind, (), {})()
    vars(node).update(id=7, scope=[scope] if isinstance(scope, int) else scope, **parameters)
    return node


def standing_in(items: list[dict[str, Any]]) -> Any:
    """The root of a circuit that `make_spflow.py` wrote down."""
    nodes: list[Any] = []
    for item in items:
        parameters = {key: value for key, value in item.items() if key not in ("class", "scope")}
        if "children" in parameters:
            parameters["children"] = [nodes[child] for child in parameters["children"]]
        if item["class"] == "CategoricalDictionary":
            parameters["p"] = dict(parameters["p"])
        nodes.append(spflow(item["class"], item["scope"], **parameters))
    return nodes[-1]


def score(leaf: Any, feature: Feature, values: list[float], floor: float = FLOOR) -> np.ndarray:
    """The density that a circuit of one leaf gives to each value."""
    circuit = from_spflow(leaf, [feature], floor=floor)
    return np.exp(circuit.log_likelihood(np.array(values)[:, None]))


# -- the real SPFlow --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REAL)
def test_rows_have_the_log_likelihoods_that_spflow_gave_them(name: str) -> None:
    case = REAL[name]
    features = [feature_from_dict(item) for item in case["features"]]
    circuit = from_spflow(standing_in(case["nodes"]), features[:-1], features[-1], floor=0.0 if name == "parametric" else FLOOR)
    rows = np.array(case["rows"], dtype=np.float64)
    assert len(circuit) == len(case["nodes"])
    np.testing.assert_allclose(circuit.log_likelihood(rows), case["log_likelihoods"], rtol=1e-12, atol=1e-12)
    assert circuit.check().tree == (name != "shared")


def test_the_file_holds_what_a_reader_can_get_wrong() -> None:
    """Values on the last break, beyond it and unknown; each kind of leaf; a node with two parents."""
    kinds = {item["class"] for case in REAL.values() for item in case["nodes"]}
    assert kinds == {
        "Sum", "Product", "Histogram", "Categorical", "CategoricalDictionary", "Bernoulli", "Uniform", "Poisson", "Gaussian",
        "LogNormal", "Exponential", "Gamma",
    }  # fmt: skip
    case = REAL["histograms"]
    lasts = {(item["scope"][0], item["breaks"][-1]) for item in case["nodes"] if item["class"] == "Histogram"}
    cells = {(j, value) for row in case["rows"] for j, value in enumerate(row)}
    assert len(cells & lasts) > 5
    assert (0, None) in cells
    assert min(case["log_likelihoods"]) < math.log(FLOOR)


# -- leaves -----------------------------------------------------------------------------------------------------------


@given(st.data())
def test_a_histogram_is_bisected_as_spflow_does(data: st.DataObject) -> None:
    breaks = sorted(data.draw(st.lists(st.integers(-9, 9), min_size=2, max_size=6, unique=True)))
    densities = data.draw(st.lists(st.floats(0, 2), min_size=len(breaks) - 1, max_size=len(breaks) - 1))
    values = [float(b) for b in breaks] + data.draw(st.lists(st.floats(-10, 10), max_size=5))
    want = [
        max(densities[bisect(breaks, v) - 1], FLOOR) if breaks[0] <= v < breaks[-1] else FLOOR for v in values
    ]  # fmt: skip
    scores = score(spflow("Histogram", breaks=breaks, densities=densities), X, values)
    np.testing.assert_allclose(scores, want, rtol=1e-12)


@pytest.mark.parametrize(
    ("leaf", "law"),
    [
        (spflow("Gaussian", mean=1.5, stdev=2.0), stats.norm(1.5, 2.0)),
        (spflow("LogNormal", mean=0.5, stdev=0.8), stats.lognorm(0.8, scale=math.exp(0.5))),
        (spflow("Exponential", l=0.7), stats.expon(scale=1 / 0.7)),
        (spflow("Gamma", alpha=2.5, beta=1.5), stats.gamma(2.5, scale=1 / 1.5)),
    ],
    ids=lambda item: type(item).__name__,
)
def test_a_density_is_scipy_s(leaf: Any, law: Any) -> None:
    values = [-3.0, 0.25, 1.0, 2.5, 9.0]
    np.testing.assert_allclose(score(leaf, X, values, floor=0.0), law.pdf(values), rtol=1e-12)


def test_the_floor_is_below_every_leaf_unless_taken_away() -> None:
    """SPFlow has one below its histograms only."""
    leaf = spflow("Gaussian", mean=0.0, stdev=1.0)
    assert score(leaf, X, [9.0]) == pytest.approx(FLOOR)
    assert score(leaf, X, [9.0], floor=0.0) == pytest.approx(stats.norm.pdf(9.0))


def test_counts() -> None:
    values = [0.0, 1.0, 4.0]
    np.testing.assert_allclose(score(spflow("Poisson", mean=2.5), N, values), stats.poisson(2.5).pmf(values), rtol=1e-12)
    np.testing.assert_allclose(score(spflow("Poisson", mean=0.0), N, values), [1, FLOOR, FLOOR])
    assert from_spflow(spflow("Poisson", mean=0), [N]).check().normalised


def test_categories() -> None:
    p = [0.2, 0.5, 0.3]
    assert from_spflow(spflow("Categorical", p=p), [COLOUR]).nodes == (Categories(0, tuple(p)),)
    assert from_spflow(spflow("Categorical", p=np.array(p)), [Ordinal("o", (1, 2, 3))]).check().normalised
    assert from_spflow(spflow("Categorical", p=p), [Integer("n", 0, 2)]).nodes == (Histogram(0, (0, 1, 2, 3), tuple(p)),)
    np.testing.assert_allclose(score(spflow("Categorical", p=p), Integer("n", 0, 1), [0, 1]), [0.2, 0.5])
    assert from_spflow(spflow("Bernoulli", p=0.3), [FLAG]).nodes == (Bernoulli(0, 0.3),)


def test_a_dictionary_has_nothing_between_its_values() -> None:
    leaf = spflow("CategoricalDictionary", p={6.0: 0.25, 1.0: 0.5, 2.0: 0.25})
    np.testing.assert_allclose(score(leaf, N, [0, 1, 2, 3, 6, 7]), [FLOOR, 0.5, 0.25, FLOOR, 0.25, FLOOR])
    assert from_spflow(leaf, [N]).check().normalised
    far = spflow("CategoricalDictionary", p={0: 0.5, 10**9: 0.5})
    assert len(from_spflow(far, [Integer("n", 0, 10**9)]).nodes[0].steps[0]) == 4  # type: ignore[union-attr]


@pytest.mark.parametrize("feature", [X, N, COLOUR, Continuous("s", 0, 9, step=0.5)], ids=lambda f: f.kind)
def test_a_uniform_ignores_its_ends_as_spflow_does(feature: Feature) -> None:
    low, high = feature.region.low, feature.region.high
    leaf = spflow("Uniform", density=0.125, start=100.0, end=108.0)
    np.testing.assert_allclose(score(leaf, feature, [low, (low + high) / 2, high]), 0.125)
    room = 20 if feature is X else 10 if feature is N else 3 if feature is COLOUR else 9.5
    even = spflow("Uniform", density=1 / room, start=0.0, end=1.0)
    assert from_spflow(even, [feature]).check().normalised


# -- structure --------------------------------------------------------------------------------------------------------


def pair(x: Any, y: Any) -> Any:
    return spflow("Product", [0, 1], children=[x, y])


def gaussian(scope: int, mean: float) -> Any:
    return spflow("Gaussian", scope, mean=mean, stdev=1.0)


def test_shared_nodes_stay_shared_and_stand_before_their_parents() -> None:
    x, y, z = gaussian(0, 0.0), gaussian(1, 1.0), gaussian(1, 2.0)
    both = pair(x, y)
    inner = spflow("Sum", [0, 1], children=[both, pair(x, z)], weights=[0.25, 0.75])
    circuit = from_spflow(spflow("Sum", [0, 1], children=[inner, both], weights=np.array([0.5, 0.5])), [X, Y])
    assert len(circuit) == 7
    assert [node.kind for node in circuit.nodes] == ["parametric"] * 2 + ["product", "parametric", "product", "sum", "sum"]
    row = np.array([[0.3, 0.9]])
    first, second = (stats.norm.pdf(0.3) * stats.norm.pdf(0.9, mean) for mean in (1, 2))
    assert circuit.log_likelihood(row)[0] == pytest.approx(math.log(0.5 * (0.25 * first + 0.75 * second) + 0.5 * first))


def test_a_deep_circuit_is_no_recursion() -> None:
    root = gaussian(0, 0.0)
    for _ in range(5000):
        root = spflow("Sum", children=[root], weights=[1.0])
    circuit = from_spflow(root, [X])
    assert len(circuit) == 5001
    assert circuit.log_likelihood(np.zeros((1, 1)))[0] == pytest.approx(stats.norm.logpdf(0))


def test_the_target_is_the_last_column() -> None:
    circuit = from_spflow(pair(gaussian(0, 0.0), spflow("Bernoulli", 1, p=0.9)), [X], FLAG)
    assert circuit.target == FLAG
    assert circuit.names == ("x", "flag")
    np.testing.assert_allclose(np.diff(circuit.log_likelihood(np.zeros((2, 1)), [False, True])), math.log(9))


def test_a_class_made_of_spflow_s_is_read_as_it() -> None:
    mine = type("MyHistogram", (type("Histogram", (), {}),), {"scope": [0], "breaks": [0, 1], "densities": [1.0]})()
    assert from_spflow(mine, [X]).nodes == (Histogram(0, (0, 1), (1,)),)


def test_what_is_read_is_an_ordinary_circuit() -> None:
    case = REAL["shared"]
    circuit = from_spflow(standing_in(case["nodes"]), [feature_from_dict(item) for item in case["features"]])
    assert Circuit.from_json(circuit.to_json()) == circuit
    assert isinstance(circuit.nodes[-1], Sum)


# -- refusals ---------------------------------------------------------------------------------------------------------

CYCLE = spflow("Sum", children=[], weights=[1.0])
CYCLE.children.append(spflow("Product", children=[CYCLE]))


@pytest.mark.parametrize(
    ("root", "feature", "message"),
    [
        (
            spflow("PiecewiseLinear", x_range=[0, 1], y_range=[0, 1]), X,
            "A node of an SPFlow circuit must be a Sum, Product, Histogram, Categorical, .*; got PiecewiseLinear. "
            "Hint: learn with leaves=create_histogram_leaf",
        ),
        (spflow("MultivariateGaussian", [0, 1], mean=[0, 0]), X, "must be a Sum, .*; got MultivariateGaussian"),
        (None, X, "must be a Sum, .*; got NoneType"),
        (CYCLE, X, "SPFlow's Sum 7 must not be below itself; got a cycle. Hint: a circuit is a graph without cycles"),
        (
            spflow("Gaussian", mean=None, stdev=None), X,
            "SPFlow's Gaussian 7 must have mean and stdev; got mean=None, stdev=None. Hint: learn the circuit before reading it",
        ),
        (spflow("Sum", weights=[1.0]), X, "SPFlow's Sum 7 must have children; got children=None"),
        (
            spflow("Gaussian", 3, mean=0.0, stdev=1.0), X,
            r"SPFlow's Gaussian 7 must have one of the 1 variables as scope; got \[3\]. "
            "Hint: give a feature for every column, the target for the last",
        ),
        (spflow("Gaussian", [0, 1], mean=0.0, stdev=1.0), X, r"as scope; got \[0, 1\]"),
        (
            spflow("Categorical", p=[0.5, 0.5]), COLOUR,
            "SPFlow's Categorical 7 of feature 'colour' must have a probability for every value; got 2 of them. "
            "Hint: the feature has 'red', 'green', 'blue'; to SPFlow a category beyond the list is certain",
        ),
        (spflow("Categorical", p=[0.5, 0.5]), Integer("n", -1, 1), "must have a probability for every value"),
        (
            spflow("Bernoulli", p=0.5), X,
            "SPFlow's Bernoulli 7 of feature 'x' must have a feature of categories or whole numbers; got continuous. "
            "Hint: make the feature Integer or Binary",
        ),
        (spflow("Poisson", mean=0.0), X, "SPFlow's Poisson 7 of feature 'x' must have a feature of categories or whole numbers"),
        (
            spflow("CategoricalDictionary", p={0.5: 1.0}), N,
            "SPFlow's CategoricalDictionary 7 must have whole numbers as values; got 0.5. Hint: use a Histogram",
        ),
        (spflow("Gamma", alpha=0.5, beta=1.0), X, "The parameters of a gamma leaf must be positive"),
        (
            spflow("Gaussian", mean=0.0, stdev=1.0), Mixed("m", 0, 1, (-9,)),
            "Feature 'm' of an SPFlow circuit must have no special codes; got .*. "
            "Hint: SPFlow knows numbers only: make it Continuous or Integer",
        ),
    ],
)  # fmt: skip
def test_refusals(root: Any, feature: Feature, message: str) -> None:
    with pytest.raises(CircuitError, match=message):
        from_spflow(root, [feature])


def test_a_refusal_names_the_feature() -> None:
    with pytest.raises(CircuitError) as caught:
        from_spflow(spflow("Bernoulli", p=0.5), [X])
    assert caught.value.feature == "x"


def test_anything_of_the_right_shape_is_a_node_only_by_its_class() -> None:
    with pytest.raises(CircuitError, match="got SimpleNamespace"):
        from_spflow(SimpleNamespace(scope=[0], breaks=[0, 1], densities=[1.0]), [X])
