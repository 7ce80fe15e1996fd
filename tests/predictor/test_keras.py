"""Keras 3: sequential and functional models of dense layers, and what is refused."""

from __future__ import annotations

import os

import numpy as np
import pytest

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor import read
from tests.contracts.reader import Case, ReaderContract

pytest.importorskip("torch")
os.environ.setdefault("KERAS_BACKEND", "torch")
keras = pytest.importorskip("keras")

from tests.predictor.test_torch import ENCODINGS, NUMBERS, SCHEMA, WIDTH  # noqa: E402 - after the backend is chosen

layers = keras.layers


def functional(count):
    inputs = keras.Input((WIDTH,))
    first = layers.Dense(6)(inputs)
    bent = layers.LeakyReLU(negative_slope=0.1)(first)
    normal = layers.BatchNormalization()(layers.Add()([first, bent]))
    joined = layers.Concatenate()([normal, inputs, layers.ReLU(max_value=2.0)(bent)])
    return keras.Model(inputs, layers.Dense(count)(layers.Dropout(0.5)(joined)))


def sequential(*rest):
    return keras.Sequential([layers.Input((WIDTH,)), layers.Dense(5, activation="relu"), layers.Dense(4, "hard_sigmoid"), *rest])


def activated(*names):
    hidden = [layers.Dense(4, activation=name) for name in names]
    return lambda: keras.Sequential([layers.Input((WIDTH,)), *hidden, layers.Dense(1)])


MODELS = {
    "tanh": activated("tanh", "sigmoid", "relu"),
    "elu": activated("elu", "selu", "celu"),
    "gelu": activated("gelu", "swish", "softplus"),
    "softsign": activated("softsign", "log_sigmoid", "tanh_shrink", "soft_shrink"),
    "elu layer": lambda: keras.Sequential([layers.Input((WIDTH,)), layers.Dense(4), layers.ELU(alpha=0.5), layers.Dense(1)]),
    "sequential": lambda: sequential(layers.Dense(1)),
    "sigmoid": lambda: sequential(layers.Dense(1, activation="sigmoid")),
    "softmax": lambda: sequential(layers.Dense(3, activation="softmax")),
    "softmax layer": lambda: sequential(layers.Dense(3), layers.Activation("softmax")),
    "functional": lambda: functional(1),
    "functional of three": lambda: functional(3),
    "linear": lambda: keras.Sequential([layers.Input((WIDTH,)), layers.Rescaling(0.5, 1.0), layers.Dense(1, use_bias=False)]),
}


def spread(model):
    """Random weights that are not those of a new model."""
    random = np.random.default_rng(0)
    model.set_weights(
        [
            np.abs(random.normal(size=w.shape)) + 0.1 if i % 5 == 3 else random.normal(size=w.shape)
            for i, w in enumerate(model.get_weights())
        ]
    )
    for layer in model.layers:
        if isinstance(layer, layers.BatchNormalization):
            layer.set_weights([np.abs(w) + 0.2 for w in layer.get_weights()])
    return model


class TestReading(ReaderContract):
    @pytest.fixture(params=MODELS)
    def case(self, request):
        model = spread(MODELS[request.param]())
        ends = request.param if request.param in ("sigmoid", "softmax", "softmax layer") else None

        def given(X):
            return np.asarray(model.predict(np.asarray(X, dtype=np.float32), verbose=0, batch_size=4096), dtype=np.float64)

        def shares(X):
            scores = given(X)
            if ends == "sigmoid" or scores.shape[1] == 1:
                upper = scores if ends == "sigmoid" else 1 / (1 + np.exp(-scores))
                return np.hstack([1 - upper, upper])
            parts = scores if ends else np.exp(scores - scores.max(axis=1, keepdims=True))
            return parts / parts.sum(axis=1, keepdims=True)

        def predict(X):
            return shares(X).argmax(axis=1)

        scores = None if ends else given
        return Case(model, SCHEMA, scores, shares, predict, tolerance=1e-4, tie=1e-3, options={"encoder": ENCODINGS})


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (
            lambda: keras.Sequential([layers.Input((3,)), layers.Dense(2, "mish"), layers.Dense(1)]),
            UnsupportedModelError,
            "have an activation that likely can read; got 'mish'. Hint: use one of",
        ),
        (
            lambda: keras.Sequential([layers.Input((3,)), layers.LayerNormalization(), layers.Dense(1)]),
            UnsupportedModelError,
            "LayerNormalization. Hint: it divides each row by its own spread",
        ),
        (
            lambda: keras.Sequential([layers.Input((3,)), layers.Dense(2, "softmax"), layers.Dense(1)]),
            UnsupportedModelError,
            "got 'softmax'. Hint: it divides by a sum over all numbers",
        ),
        (lambda: keras.Sequential([layers.Dense(1)]), PredictorError, "must be built"),
        (lambda: keras.Sequential([layers.Input((4,)), layers.Dense(1)]), PredictorError, "must be given the 4 inputs"),
    ],
)
def test_refusals(model, error, message):
    with pytest.raises(error, match=message):
        read(model(), NUMBERS)
