"""What skl2onnx makes of estimators and pipelines, compared with onnxruntime's labels and probabilities."""

from __future__ import annotations

import sys
import warnings
from functools import cache
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, RobustScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from likely.errors import UnsupportedModelError
from likely.predictor import Raw, Scaled, one_hot_of, read
from likely.predictor.reading import feed, random_rows
from likely.schema import Schema
from tests.contracts.reader import Case, ReaderContract, mixed_schema, mixed_table
from tests.predictor.onnx_graphs import helper, run

skl2onnx = pytest.importorskip("skl2onnx")
kinds = skl2onnx.common.data_types

TABLE, TWO, THREE = mixed_table()
NUMBERS = ["age", "amount", "rate"]
X = TABLE[NUMBERS]
SCHEMA = Schema(mixed_schema(TABLE).features[:3])


LABELS = {"2": TWO, "3": THREE}
FLOATS = X.to_numpy(dtype=np.float32)


def fitted(model, target):
    """A fitted copy; networks need not have converged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(FLOATS, target)


def export(model, types=None, **options):
    """A fitted estimator or pipeline as a graph, without ZipMap; its one input is X, if no types are given."""
    last = model[-1] if isinstance(model, Pipeline) else model
    plain = isinstance(last, RidgeClassifier) or not hasattr(last, "classes_")
    wanted = None if plain else {id(last): {"zipmap": False, **options}}
    with mock.patch.object(helper, "make_attribute", with_whole_numbers(helper.make_attribute)):
        return skl2onnx.to_onnx(model, None if types else FLOATS[:1], initial_types=types, options=wanted)


def with_whole_numbers(make):
    """onnx's `make_attribute` for truth values, which skl2onnx writes of HistGradientBoosting and newer protobufs refuse."""

    def make_attribute(key, value, *args, **kwargs):
        if isinstance(value, list) and any(isinstance(entry, bool | np.bool_) for entry in value):
            value = [int(entry) for entry in value]
        return make(key, value, *args, **kwargs)

    return make_attribute


def scaled(model):
    return make_pipeline(StandardScaler(), model)


#: model, and where its raw scores are: in its second output, there with the option raw_scores, or in a tensor
CLASSIFIERS = {
    "logistic": (scaled(LogisticRegression()), "raw_scores"),
    "lda": (scaled(LinearDiscriminantAnalysis()), "raw_scores"),
    "ridge": (scaled(RidgeClassifier()), "outputs"),
    "network": (scaled(MLPClassifier((6, 4), max_iter=30, random_state=0)), "add_result2"),
    "network without relu": (scaled(MLPClassifier((4,), activation="identity", max_iter=30, random_state=0)), "add_result1"),
    "tree": (DecisionTreeClassifier(max_depth=6, random_state=0), "outputs"),
    "forest": (RandomForestClassifier(8, max_depth=5, random_state=0), "outputs"),
    "extra trees": (ExtraTreesClassifier(8, max_depth=5, random_state=0), "outputs"),
    "boosting": (GradientBoostingClassifier(n_estimators=8, random_state=0), "raw_scores"),
    "hist boosting": (HistGradientBoostingClassifier(max_iter=8, random_state=0), "raw_scores"),
    "scaled forest": (make_pipeline(RobustScaler(), RandomForestClassifier(8, max_depth=5, random_state=0)), "outputs"),
    "scaled tree": (make_pipeline(MinMaxScaler(), MaxAbsScaler(), DecisionTreeClassifier(random_state=0)), "outputs"),
}


@cache
def classifier(name, count):
    """A fitted classifier as a graph, and a graph that has its raw scores."""
    model, where = CLASSIFIERS[name]
    model = fitted(model, LABELS[count])
    raw = export(model, raw_scores=True) if where == "raw_scores" else export(model)
    if where.startswith("add_"):
        raw.graph.output.append(helper.make_empty_tensor_value_info(where))
    return export(model), raw


class TestClassifiers(ReaderContract):
    @pytest.fixture(params=[(name, count) for name in CLASSIFIERS for count in LABELS], ids=str)
    def case(self, request):
        name, count = request.param
        graph, raw = classifier(name, count)
        where = CLASSIFIERS[name][1]
        # One score s of two classes is written as -s and s; not so by an LDA, which has a softmax of the two.
        first = int(where == "raw_scores" and count == "2" and name != "lda")
        probabilities = None if name == "ridge" else lambda table: run(graph, table)[1]
        return Case(
            graph, SCHEMA, lambda table: run(raw, table)[2 if where.startswith("add_") else 1][:, first:], probabilities,
            lambda table: run(graph, table)[0], tolerance=3e-5, tie=1e-4,
        )  # fmt: skip


REGRESSORS = {
    "linear": scaled(LinearRegression()),
    "network": scaled(MLPRegressor(hidden_layer_sizes=(5,), max_iter=30, random_state=0)),
    "tree": DecisionTreeRegressor(max_depth=6, random_state=0),
    "forest": RandomForestRegressor(8, max_depth=5, random_state=0),
    "boosting": GradientBoostingRegressor(n_estimators=8, random_state=0),
    "hist boosting": HistGradientBoostingRegressor(max_iter=8, random_state=0),
}


@cache
def regressor(name):
    return export(fitted(REGRESSORS[name], TABLE["rate"] * 3 + TABLE["age"] / 30))


class TestRegressors(ReaderContract):
    @pytest.fixture(params=list(REGRESSORS))
    def case(self, request):
        graph = regressor(request.param)
        # A network ends in a bare layer, which could as well be a logit.
        options = {"link": "identity"} if request.param == "network" else {}
        return Case(graph, SCHEMA, lambda t: run(graph, t)[0], None, lambda t: run(graph, t)[0], tolerance=3e-5, options=options)


class TestLabelsAndZipMap(ReaderContract):
    """The default export: labels of whole numbers, and probabilities as a list of dicts."""

    @pytest.fixture(params=[LogisticRegression(), SGDClassifier(loss="log_loss", random_state=0)], ids=str)
    def case(self, request):
        labels = (TWO == "good").astype(int) + 5
        model = fitted(scaled(request.param), labels)
        graph = skl2onnx.to_onnx(model, FLOATS[:1])

        def probabilities(table):
            return pd.DataFrame(run(graph, table)[1])[[5, 6]].to_numpy()

        def scores(table):
            return model.decision_function(np.asarray(table, dtype=np.float32))

        return Case(graph, SCHEMA, scores, probabilities, lambda table: run(graph, table)[0], tolerance=1e-4, tie=1e-4)


class TestDoubles(ReaderContract):
    """A graph of doubles, with a tree behind a scaler."""

    @pytest.fixture
    def case(self):
        model = make_pipeline(MinMaxScaler(), DecisionTreeClassifier(random_state=0)).fit(X.to_numpy(), THREE)
        graph = export(model, [("X", kinds.DoubleTensorType([None, 3]))])
        outputs = [helper.make_empty_tensor_value_info(entry.name) for entry in graph.graph.output]
        del graph.graph.value_info[:], graph.graph.output[:]  # skl2onnx notes doubles where the trees give floats
        graph.graph.output.extend(outputs)

        def probabilities(table):
            return run(graph, table)[1]

        return Case(graph, SCHEMA, probabilities, probabilities, lambda t: run(graph, t)[0], tolerance=1e-6, tie=1e-5)


class TestInputPerFeature(ReaderContract):
    """A whole pipeline: numbers and text, each an input named like its feature."""

    @pytest.fixture(params=["logistic", "forest"])
    def case(self, request):
        last = LogisticRegression() if request.param == "logistic" else RandomForestClassifier(6, max_depth=4, random_state=0)
        known = OneHotEncoder(handle_unknown="ignore")
        encoder = make_column_transformer((StandardScaler(), NUMBERS), (known, ["job", "school"]))
        table = TABLE[["school", *NUMBERS, "job"]]
        model = make_pipeline(encoder, last).fit(table, TWO)
        types = [(name, (kinds.FloatTensorType if name in NUMBERS else kinds.StringTensorType)([None, 1])) for name in table]
        graph = export(model, types)
        raw, first = (export(model, types, raw_scores=True), 1) if request.param == "logistic" else (graph, 0)
        schema = mixed_schema(TABLE)
        return Case(
            graph, Schema([schema[name] for name in (*NUMBERS, "job", "school")]), lambda t: run(raw, t)[1][:, first:],
            lambda t: run(graph, t)[1], lambda t: run(graph, t)[0], tolerance=3e-5, tie=1e-4,
        )  # fmt: skip


def test_numbers_alone_as_an_input_per_feature():
    model = scaled(LogisticRegression()).fit(X, TWO)
    graph = export(model, [(name, kinds.FloatTensorType([None, 1])) for name in NUMBERS])
    assert "FeatureVectorizer" in [entry.op_type for entry in graph.graph.node]
    form, rows = read(graph, SCHEMA), random_rows(SCHEMA, 200)
    np.testing.assert_allclose(form.probabilities(rows), run(graph, SCHEMA.decode(rows))[1], atol=1e-5)


@pytest.mark.parametrize("encoder", ["list", "transformer"])
def test_an_encoder_makes_the_inputs(encoder):
    schema = mixed_schema(TABLE)
    made = make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(), ["job"])).fit(TABLE)
    if encoder == "list":
        made = [Scaled("age", 50, 20), Scaled("amount", 1000, 2000), Raw("rate"), *one_hot_of(schema, "job")]
    inputs = np.asarray(feed(schema, schema.encode(TABLE), made), dtype=np.float32)
    model = LogisticRegression().fit(inputs, TWO)
    graph = skl2onnx.to_onnx(model, inputs[:1], options={"zipmap": False})
    form, rows = read(graph, schema, encoder=made), random_rows(schema, 200)
    np.testing.assert_allclose(form.probabilities(rows), run(graph, feed(schema, rows, made))[1], atol=1e-5)


def test_trees_of_one_output_each_stay_so():
    """Boosting of three classes: a tree per class and round, each with one value per leaf."""
    form = read(classifier("boosting", "3")[0], SCHEMA)
    assert form.output_of.tolist() == [0, 1, 2] * 8
    assert len(form.values) == len(form.nodes)


@pytest.mark.parametrize("name", ["logistic", "network", "forest", "boosting"])
@pytest.mark.parametrize("count", LABELS)
def test_without_onnxruntime_the_reference_evaluator_is_asked(name, count, monkeypatch):
    graph, _ = classifier(name, count)
    form = read(graph, SCHEMA)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert read(graph, SCHEMA) == form


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Perceptron(), r"Node 'Concat' \(Concat\) must read columns of the table; got layers"),
        (AdaBoostClassifier(n_estimators=2), r"Node 'Shape' \(Shape\) must be of an operator that likely can read"),
    ],
    ids=str,
)
def test_what_is_not_supported_is_refused_by_name(model, message):
    with pytest.raises(UnsupportedModelError, match=message):
        read(export(fitted(model, TWO)), SCHEMA)
