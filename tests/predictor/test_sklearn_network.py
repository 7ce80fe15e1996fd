"""Multi-layer perceptrons of scikit-learn, alone and behind pipelines."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler

from likely.errors import PredictorError
from likely.predictor import Composite, LinearModel, ReluNetwork, read
from likely.schema import Mixed, Schema
from tests.contracts.reader import Case, ReaderContract, mixed_schema, mixed_table

TABLE, TWO, THREE = mixed_table()
SCHEMA = mixed_schema(TABLE)
TARGET = np.exp(TABLE["rate"]) + TABLE["age"] / 30
NUMBERS, TEXTS = ["age", "amount", "rate"], ["job", "school", "owner"]
LABELS = {"two": TWO, "three": THREE, "number": THREE.map({"low": 7, "mid": 3, "top": 5}), "truth": TWO == "good"}
ENCODERS = {
    "standard": make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(), TEXTS)),
    "min_max": make_column_transformer((MinMaxScaler(), NUMBERS), (OrdinalEncoder(), TEXTS)),
}


def quiet(model, X, y):
    """The fitted model; it need not be well trained."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


@functools.cache
def classifier(encoder, activation, layers, labels):
    model = MLPClassifier(layers, activation=activation, max_iter=30, random_state=0)
    return quiet(make_pipeline(ENCODERS[encoder], model), TABLE, LABELS[labels])


ACTIVATIONS = {
    "identity": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
}


def raw_outputs(fitted):
    """The forward pass up to the last activation, from the weights that scikit-learn publishes."""

    def scores(X):
        model = fitted[-1]
        hidden = fitted[:-1].transform(X)
        for weights, bias in zip(model.coefs_[:-1], model.intercepts_[:-1], strict=True):
            hidden = hidden @ weights + bias
            hidden = ACTIVATIONS[model.activation](hidden)
        return hidden @ model.coefs_[-1] + model.intercepts_[-1]

    return scores


class TestClassifiers(ReaderContract):
    @pytest.fixture(
        params=[
            ("standard", "relu", (12,), "two"), ("min_max", "relu", (8, 6, 4), "three"), ("standard", "relu", (), "truth"),
            ("min_max", "identity", (5, 3), "two"), ("standard", "identity", (6,), "number"),
            ("standard", "tanh", (7, 4), "two"), ("min_max", "logistic", (5,), "three"),
        ],
        ids=str,
    )  # fmt: skip
    def case(self, request):
        fitted = classifier(*request.param)
        return Case(fitted, SCHEMA, raw_outputs(fitted), fitted.predict_proba, fitted.predict)

    def test_the_form_is_as_simple_as_can_be(self, case, form):
        model = case.model[-1]
        affine = model.activation == "identity" or len(model.coefs_) == 1
        hidden = ReluNetwork if model.activation == "relu" else Composite
        assert isinstance(form, LinearModel if affine else hidden)


class TestRegressors(ReaderContract):
    @pytest.fixture(params=["squared_error", "poisson"])
    def case(self, request):
        model = MLPRegressor(hidden_layer_sizes=(10,), loss=request.param, max_iter=30, random_state=0)
        fitted = quiet(make_pipeline(ENCODERS["standard"], model), TABLE, TARGET)
        return Case(fitted, SCHEMA, raw_outputs(fitted), None, fitted.predict)


class TestBare(ReaderContract):
    """On an array of numbers, in double and in single precision."""

    @pytest.fixture(params=["float64", "float32"])
    def case(self, request):
        numbers = TABLE[["age", "rate"]].astype(request.param)
        fitted = quiet(MLPClassifier((6,), max_iter=30, random_state=0), numbers.to_numpy(), THREE)

        def asked(method):
            return lambda X: method(X.to_numpy())

        single = request.param == "float32"
        return Case(
            fitted, Schema.infer(numbers), None, asked(fitted.predict_proba), asked(fitted.predict),
            tolerance=1e-5 if single else 1e-9, tie=1e-5 if single else 0.0,
        )  # fmt: skip


def test_several_labels_per_row_are_refused():
    labels = np.stack([TWO == "good", THREE == "mid"], axis=1).astype(int)
    fitted = quiet(MLPClassifier((4,), max_iter=2), TABLE[NUMBERS], labels)
    with pytest.raises(
        PredictorError, match=r"An MLPClassifier must give each row one class; got 2 labels per row\. Hint: fit one model"
    ):
        read(fitted, SCHEMA)


def test_several_targets_are_refused():
    fitted = quiet(MLPRegressor(hidden_layer_sizes=(4,), max_iter=2), TABLE[NUMBERS], TABLE[["age", "rate"]])
    with pytest.raises(PredictorError, match=r"A MLPRegressor must predict one column; got 2 columns"):
        read(fitted, SCHEMA)


def test_missing_values_are_refused():
    fitted = quiet(MLPClassifier((4,), max_iter=2), TABLE[["rate"]], TWO)
    with pytest.raises(PredictorError, match=r"Feature 'rate' must not be missing where MLPClassifier reads it") as caught:
        read(fitted, Schema([Mixed("rate", -1, 1, (None,))]))
    assert caught.value.feature == "rate"
