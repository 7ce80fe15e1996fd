"""Small tables, and what is learned of them once."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import likely
from likely.bench.method import Asked, Data, Method
from likely.bench.methods import METHODS
from likely.predictor import Form, read
from tests.explain.examples import circuit_of, pipeline, schema_of, table_of

#: Over the training rows: fewer than the methods' own, which tests have no time for.
ROUNDS = 30


@cache
def loans() -> tuple[Data, Any, Form]:
    """Numbers, categories and rules, and a small ReLU network."""
    X, y = table_of()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = pipeline(MLPClassifier((6, 4), max_iter=150, random_state=0)).fit(X, y)
    return Data("loans", schema_of(), X, y, circuit_of()), model, read(model, schema_of())


@cache
def forest() -> tuple[Data, Any, Form]:
    """The same table, and a small forest."""
    data = loans()[0]
    model = pipeline(RandomForestClassifier(6, max_depth=3, random_state=0)).fit(data.X, data.y)
    return data, model, read(model, data.schema)


@cache
def moons() -> tuple[Data, Any, Form]:
    """Two real numbers, two classes that are no half-planes, and a network."""
    rng = np.random.default_rng(0)
    angle, upper = rng.uniform(0, np.pi, 200), rng.random(200) < 0.5
    a = np.where(upper, np.cos(angle), 1 - np.cos(angle)) + rng.normal(0, 0.1, 200)
    b = np.where(upper, np.sin(angle), 0.5 - np.sin(angle)) + rng.normal(0, 0.1, 200)
    X, y = pd.DataFrame({"a": a, "b": b}), pd.Series(np.where(upper, "up", "down"), name="side")
    schema = likely.Schema.infer(X, steps=None)
    circuit = likely.circuit.learn(X, y, schema, method="histograms", nodes=20, progress=False).circuit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make_pipeline(
            MinMaxScaler(), MLPClassifier((8, 4), solver="lbfgs", max_iter=200, alpha=0.01, random_state=1)
        ).fit(X, y)
    return Data("moons", schema, X, y, circuit), model, read(model, schema)


@cache
def line() -> tuple[Data, Any, Form]:
    """The same numbers, and a linear model."""
    data = moons()[0]
    model = make_pipeline(MinMaxScaler(), LogisticRegression(C=100.0)).fit(data.X, data.y)
    return data, model, read(model, data.schema)


def asked(example: tuple[Data, Any, Form], place: int, k: int = 1, seconds: float = 20.0) -> Asked:
    """A training row, and the class that the model does not give it."""
    data, model, _ = example
    factual = data.X.iloc[[place]]
    target = next(label for label in model.classes_ if label != model.predict(factual)[0])
    return Asked(factual, target, k, seconds)


@cache
def fitted(name: str, example: Any) -> Method:
    """A method by name, fitted for an example."""
    method: Any = METHODS[name]()
    if hasattr(method, "rounds"):
        method.rounds = ROUNDS
    method.fit(*example())
    return method
