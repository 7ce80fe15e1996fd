"""Neutral forms: what they compute, JSON without loss, equality, threads, and what they refuse."""

from __future__ import annotations

import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.errors import PredictorError
from likely.predictor import Column, LinearModel, Link, ReluNetwork, TreeEnsemble, form_from_dict
from likely.predictor.forms import NODE
from likely.schema.values import code_number

COLUMNS = (
    Column(0, slope=2.0, intercept=-1.0),
    Column(1, table=(0.5, -0.5, 7.0), discrete=True),
    Column(2, slope=1.0, table=(-3.0, 4.0)),
    Column(0, slope=-0.1),
)
ROWS = np.array([[1.0, 0.0, 2.5], [-2.0, 2.0, code_number(1)], [0.5, 1.0, code_number(0)]])
READS = np.array([[1.0, 0.5, 2.5, -0.1], [-5.0, 7.0, 4.0, 0.2], [0.0, -0.5, -3.0, -0.05]])


def linear(outputs: int = 1, link: Link | None = None, classes=("no", "yes")) -> LinearModel:
    random = np.random.default_rng(0)
    return LinearModel(link or Link("logistic"), classes, COLUMNS, random.normal(size=(outputs, 4)), random.normal(size=outputs))


def network() -> ReluNetwork:
    random = np.random.default_rng(1)
    layers = tuple((random.normal(size=(o, i)), random.normal(size=o)) for i, o in ((4, 5), (5, 3), (3, 2)))
    return ReluNetwork(Link("softmax"), (0, 1), COLUMNS, layers)


def trees(**changes) -> TreeEnsemble:
    """x[0] <= 0.5 ? (x[1] in {1, 2} ? 1 : 2) : 3, and a second tree that is one leaf."""
    tests = [(-math.inf, 0.5, 0, 1, 4, 0), (1, 2, 1, 2, 3, 0)]
    leaves = [(0, 0, -1, start, 0, 0) for start in range(4)]
    nodes = np.array([*tests, *leaves], dtype=NODE)
    parts = {
        "nodes": nodes, "roots": [0, 5], "output_of": [0, 0], "values": [1.0, 2.0, 3.0, 10.0], "base": [0.25],
        "link": Link("identity"), "classes": (), **changes,
    }  # fmt: skip
    return TreeEnsemble(**parts)


FORMS = {
    "linear": linear,
    "argmax": lambda: linear(3, Link("argmax"), ("a", "b", None)),
    "network": network,
    "trees": trees,
    "average": lambda: trees(average=True),
}


@pytest.fixture(params=FORMS)
def form(request):
    return FORMS[request.param]()


# -- what they compute ----------------------------------------------------------------------------------------------------


def test_columns_are_functions_of_one_feature():
    np.testing.assert_allclose(linear().inputs(ROWS), READS)


def test_linear():
    form = linear(3, Link("softmax"), (1, 2, 3))
    np.testing.assert_allclose(form.score(ROWS), READS @ form.weights.T + form.bias)
    assert form.outputs == 3


def test_network():
    form, hidden = network(), READS
    for weights, bias in form.layers[:-1]:
        hidden = np.maximum(0, hidden @ weights.T + bias)
    expected = hidden @ form.layers[-1][0].T + form.layers[-1][1]
    np.testing.assert_allclose(form.score(ROWS), expected)
    np.testing.assert_allclose(form.probabilities(ROWS), Link("softmax").probabilities(expected))
    np.testing.assert_array_equal(form.predict(ROWS), np.argmax(expected, axis=1))


def test_trees():
    rows = np.array([[0.5, 1.0], [0.5, 0.0], [0.5, 2.0], [0.5, 3.0], [math.nextafter(0.5, 1), 1.0]])
    np.testing.assert_array_equal(trees().score(rows)[:, 0], np.array([1, 2, 1, 2, 3]) + 10.25)
    np.testing.assert_array_equal(trees(average=True).score(rows)[:, 0], (np.array([1, 2, 1, 2, 3]) + 10.25) / 2)


def test_trees_with_a_value_per_output():
    form = trees(
        output_of=[-1, -1], values=[1.0, 2.0, 3.0, 10.0, 20.0], base=[0.0, 100.0], link=Link("argmax"), classes=("a", "b")
    )
    np.testing.assert_array_equal(form.score(np.array([[0.0, 1.0]])), [[11.0, 122.0]])


def test_predictions_are_the_users_labels():
    assert linear().predict(ROWS).tolist() == [("no", "yes")[k] for k in linear().link.decide(linear().score(ROWS))]
    numpy_labels = linear(classes=(np.bool_(False), np.bool_(True)))
    assert numpy_labels.classes == (False, True)
    np.testing.assert_array_equal(trees().predict(np.zeros((1, 2))), trees().score(np.zeros((1, 2)))[:, 0])


# -- JSON, pickle, equality, threads --------------------------------------------------------------------------------------


def test_json_keeps_everything(form):
    """Also the infinite ends of intervals, which JSON does not have."""
    again = form_from_dict(json.loads(json.dumps(form.to_dict(), allow_nan=False)))
    assert again == form
    assert type(again) is type(form)
    np.testing.assert_array_equal(again.score(ROWS), form.score(ROWS))


@given(st.lists(st.floats(allow_nan=False), min_size=2, max_size=2), st.floats(allow_nan=False, allow_infinity=False))
def test_json_keeps_every_double(ends, value):
    form = trees()
    nodes = form.nodes.copy()
    nodes["low"][0], nodes["high"][0] = ends
    changed = trees(nodes=nodes, values=[value, 2.0, 3.0, 10.0])
    again = form_from_dict(json.loads(json.dumps(changed.to_dict(), allow_nan=False)))
    np.testing.assert_array_equal(again.nodes, changed.nodes)
    np.testing.assert_array_equal(again.values, changed.values)


def test_pickle_keeps_everything(form):
    form.score(ROWS)
    again = pickle.loads(pickle.dumps(form))
    assert again == form
    np.testing.assert_array_equal(again.score(ROWS), form.score(ROWS))


def test_equality_and_hash():
    assert len({make() for make in [*FORMS.values(), *FORMS.values()]}) == len(FORMS)
    assert linear() == linear()
    assert hash(linear()) == hash(linear())
    assert linear() != linear(classes=("yes", "no"))
    assert linear() != LinearModel(linear().link, ("no", "yes"), COLUMNS, linear().weights, linear().bias + 1e-300 + 1e-9)
    assert linear() != "linear"


def test_threads_do_not_matter(form):
    rows = np.tile(ROWS, (5000, 1))
    expected = form.score(rows, n_jobs=1)
    for n_jobs in (None, -1, 2, 3):
        np.testing.assert_array_equal(form.score(rows, n_jobs=n_jobs), expected)


def test_parts_cannot_be_changed():
    weights = np.ones((1, 4))
    form = LinearModel(Link("logistic"), (0, 1), COLUMNS, weights, np.zeros(1))
    weights[:] = 7
    assert (form.weights == 1).all()
    for array in (form.weights, form.bias, trees().nodes, trees().values, network().layers[0][0]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[0]


def test_no_rows(form):
    assert form.score(np.empty((0, 3))).shape == (0, form.outputs)


# -- what is refused ------------------------------------------------------------------------------------------------------


def test_rows_that_do_not_fit(form):
    incomplete = ROWS.copy()
    incomplete[1, 2] = math.nan
    with pytest.raises(PredictorError, match="Rows to score must have no missing value; got one in feature number 2") as caught:
        form.score(incomplete)
    assert caught.value.feature == 2
    with pytest.raises(PredictorError, match=r"Rows to score must be an array of rows x features; got shape \(3,\)"):
        form.score(ROWS[0])
    with pytest.raises(
        PredictorError,
        match=r"Rows to score must have the columns of the schema that the model was read with; got shape \(3, 1\)",
    ):
        form.score(ROWS[:, :1])


def test_values_that_a_column_does_not_know():
    for place, value in ((1, 3.0), (1, -1.0), (2, code_number(2))):
        rows = ROWS.copy()
        rows[0, place] = value
        with pytest.raises(
            PredictorError,
            match=r"Rows to score must have the columns of the schema that the model was read with; .* numbers of known values",
        ):
            linear().score(rows)


def test_classes():
    with pytest.raises(PredictorError, match=r"A linear form with 1 outputs and link 'logistic' must have 2 classes; got .'a'."):
        linear(classes=("a",))
    with pytest.raises(PredictorError, match="A linear form with 3 outputs and link 'softmax' must have 3 classes"):
        linear(3, Link("softmax"), (1, 2))
    with pytest.raises(PredictorError, match=r"link 'identity' must have 0 classes; .*Hint: give classes="):
        linear(1, Link("identity"), (1, 2))
    with pytest.raises(PredictorError, match=r"must have different classes; got .1, 1."):
        linear(classes=(1, 1))
    with pytest.raises(PredictorError, match="A linear form with 3 outputs and link 'sign' must have one output; got 3"):
        linear(3, Link("sign"))


def test_layers():
    def layer(weights, bias) -> LinearModel:
        return LinearModel(Link("identity"), (), COLUMNS, weights, bias)

    for weights, bias in ((np.ones((4, 1)), np.ones(1)), (np.ones(4), np.ones(1)), (np.ones((1, 4)), np.ones(2))):
        with pytest.raises(
            PredictorError, match=r"A layer must have weights of shape \(outputs, 4\) and one bias per output; got shapes"
        ):
            layer(weights, bias)
    with pytest.raises(PredictorError, match="A layer must have finite weights; got NaN or infinity"):
        layer(np.full((1, 4), np.nan), np.ones(1))
    with pytest.raises(PredictorError, match=r"A layer must have weights of shape \(outputs, 5\)"):
        ReluNetwork(Link("identity"), (), COLUMNS, ((np.ones((5, 4)), np.ones(5)), (np.ones((1, 4)), np.ones(1))))


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"roots": [0, 9]}, "Every branch of a tree must lead to a node; got a number without a node"),
        ({"nodes": np.empty(0, dtype=NODE)}, "Every branch of a tree must lead to a node"),
        ({"values": [1.0]}, "Every leaf of a tree must have values; got a place after the last value"),
        ({"values": [1.0, 2.0, 3.0, math.inf]}, "The leaves of trees must have finite values; got NaN or infinity"),
        ({"base": [math.nan]}, "The leaves of trees must have finite values"),
        ({"output_of": [0]}, r"Each tree must name the output that it adds to, or -1 for all; got \[0\]"),
        ({"output_of": [0, 1]}, "Each tree must name the output that it adds to"),
        ({"output_of": [-1, -1], "base": [0.0, 0.0], "link": Link("argmax"), "classes": (0, 1)}, "a place after the last value"),
    ],
    ids=lambda p: str(p)[:30],
)
def test_trees_that_are_none(changes, match):
    with pytest.raises(PredictorError, match=match):
        trees(**changes)


def test_data_that_is_no_form():
    with pytest.raises(
        PredictorError, match=r"A form must have a known kind; got 'svm'. Hint: use linear, relu_network, tree_ensemble"
    ):
        form_from_dict({"form": "svm"})
    data = linear().to_dict()
    without = {name: part for name, part in data.items() if name != "bias"}
    with pytest.raises(
        PredictorError, match=r"A linear form must have all its parts and no others; got .*'bias'.*write it with to_dict"
    ):
        form_from_dict(without)
    with pytest.raises(PredictorError, match=r"A linear form must have all its parts and no others; got .*'extra'"):
        form_from_dict({**data, "extra": 1})
    with pytest.raises(PredictorError, match="A linear form must have all its parts and no others; got 'link'"):
        form_from_dict({"form": "linear", "classes": []})
