"""On larger tables, where not every row can be tried: no training row, random row or row on the way to an answer is better.

Such rows keep the rules and the user's own `predict` decides them as wanted; none may cost less than what was proved to be the
least. Training rows are led towards the row that is explained, value by value, as long as the model decides them as wanted: the
search of somebody who knows nothing of bounds.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

import likely
from likely.predictor.reading import random_rows
from likely.problem import Limits
from likely.schema import Schema

#: Rows that are explained of each model: one, and more where there is time for it.
ASKED = max(1, settings.default.max_examples // 25)
#: Enough for an answer and a bound; the bound is claimed whenever the search ends.
LIMITS = Limits(nodes=100)
#: Of training rows and random rows, and how many are led to the row that is explained.
DRAWN, LED = 800, 40


@cache
def table(name: str) -> tuple[pd.DataFrame, pd.Series[Any], Schema, likely.circuit.Circuit]:
    """A table, its classes, a schema with rules, and a small circuit."""
    if name == "numbers":
        columns, classes = make_classification(900, 20, n_informative=8, random_state=0)
        X, y = pd.DataFrame(columns.round(2), columns=[f"x{j}" for j in range(20)]), pd.Series(classes)
        rules: list[Any] = [likely.MaxChanges(6), likely.Immutable("x3"), likely.Increasing("x5")]
    else:
        data = likely.datasets.load(name)
        drawn = np.random.default_rng(0).permutation(len(data.X))[:900]
        X, y = data.X.iloc[drawn].reset_index(drop=True), data.y.iloc[drawn].reset_index(drop=True)
        rules = [likely.Increasing("age"), likely.MaxChanges(5)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        schema = Schema.infer(X, rules=rules)
    return X, y, schema, likely.circuit.learn(X, y, schema, method="histograms", nodes=3, progress=False).circuit


def encoder() -> Any:
    texts = make_column_selector(dtype_exclude="number")
    return make_column_transformer(
        (OneHotEncoder(sparse_output=False, handle_unknown="ignore"), texts), remainder=StandardScaler()
    )


def of_inputs(model: Any) -> Any:
    return make_pipeline(encoder(), model)


def linear() -> Any:
    return LogisticRegression(max_iter=1000)


def boosting() -> Any:
    return GradientBoostingClassifier(n_estimators=12, random_state=0)


def forest() -> Any:
    return RandomForestClassifier(10, max_depth=5, random_state=0)


def catboost() -> Any:
    package = pytest.importorskip("catboost")
    return of_inputs(package.CatBoostClassifier(iterations=15, depth=4, verbose=0, allow_writing_files=False))


def additive() -> Any:
    package = pytest.importorskip("interpret.glassbox")
    return package.ExplainableBoostingClassifier(max_rounds=30, interactions=2, outer_bags=2, n_jobs=1, random_state=0)


MODELS: dict[str, tuple[str, Callable[[], Any]]] = {
    "voting": ("credit", lambda: of_inputs(VotingClassifier([("a", linear()), ("b", boosting())], voting="soft"))),
    "calibration": ("credit", lambda: CalibratedClassifierCV(of_inputs(boosting()), method="isotonic", cv=2)),
    "stacking": ("numbers", lambda: of_inputs(StackingClassifier([("a", linear()), ("b", forest())], cv=2))),
    "bagging": ("adult", lambda: of_inputs(BaggingClassifier(linear(), 4, random_state=0))),
    "threshold": ("credit", lambda: FixedThresholdClassifier(of_inputs(forest()), threshold=0.65)),
    "GaussianNB": ("numbers", lambda: of_inputs(GaussianNB())),
    "tanh": ("numbers", lambda: of_inputs(MLPClassifier((6,), activation="tanh", max_iter=200, random_state=0))),
    "relu": ("adult", lambda: of_inputs(MLPClassifier((8,), max_iter=100, random_state=0))),
    "forest": ("adult", lambda: of_inputs(forest())),
    "histograms": ("adult", lambda: of_inputs(HistGradientBoostingClassifier(max_iter=8, max_leaf_nodes=8, random_state=0))),
    "CatBoost": ("credit", catboost),
    "EBM": ("numbers", additive),
}


def led(
    model: Any, schema: Schema, factual: np.ndarray, rows: np.ndarray, target: Any, random: np.random.Generator
) -> np.ndarray:
    """Rows of the wanted class, each value of which is that of the factual as long as the class is the wanted one."""
    rows = rows.copy()
    for j in random.permutation(len(schema)):
        nearer = rows.copy()
        nearer[:, j] = factual[j]
        kept = model.predict(schema.decode(nearer)) == target
        rows[kept] = nearer[kept]
    return rows


def between(schema: Schema, factual: np.ndarray, answer: np.ndarray, count: int, random: np.random.Generator) -> np.ndarray:
    """Rows with values of the factual, of the answer, or of numbers in between."""
    rows = np.where(random.random((count, len(schema))) < 0.5, answer, factual)
    for j, feature in enumerate(schema.features):
        if feature.numeric and min(factual[j], answer[j]) > -1e300:
            numbers = factual[j] + random.random(count) * (answer[j] - factual[j])
            if feature.grid is not None:
                numbers = np.round(numbers / feature.grid) * feature.grid
            rows[:, j] = np.where(random.random(count) < 0.5, rows[:, j], feature.encode(feature.decode(numbers)))
    return rows


@pytest.mark.parametrize("name", MODELS)
@threadpool_limits.wrap(limits=1, user_api="openmp")  # small trees: threads would wait for each other
def test_no_row_beats_the_bound(name: str) -> None:
    which, make = MODELS[name]
    X, y, schema, circuit = table(which)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make().fit(X, y)
    explainer = likely.Explainer(model, schema, circuit, progress=False, n_jobs=1).fit(X, y)
    said = model.predict(X)
    random = np.random.default_rng(0)
    trained, anything = schema.encode(X), random_rows(schema, DRAWN, 1)
    for i in random.permutation(np.flatnonzero(said != said[0]))[:ASKED]:
        likely_enough = None if i % 2 else likely.Quantile(0.25)
        explanation = explainer.explain(X.iloc[i], target=said[0].item() if hasattr(said[0], "item") else said[0],
                                        plausibility=likely_enough, limits=LIMITS, margin=0.0, unread="free")  # fmt: skip
        assert explanation.status != "disputed"
        factual, rules = explanation.query.factual, explanation.query.schema
        wanted = trained[said == said[0]]
        nearest = wanted[np.argsort(rules.prices(factual, wanted))[:LED]]
        tried = [trained, anything]
        tried += [between(rules, factual, answer.numbers, DRAWN, random) for answer in explanation.counterfactuals]
        tried += [led(model, schema, factual, nearest, said[0], random) for _ in range(2)]
        rows = np.concatenate(tried)
        rows = rows[rules.admits(factual, rows)]
        cheaper = rows[rules.prices(factual, rows) < explanation.bounds.lower * (1 - 1e-9) - 1e-9]
        if len(cheaper) and likely_enough is not None:
            least = dict(explanation.thresholds)[explanation.query.target]
            cheaper = cheaper[circuit.log_likelihood(circuit.encode(cheaper, said[0])) >= least]
        assert not len(cheaper) or not (model.predict(schema.decode(cheaper)) == said[0]).any()
        for answer in explanation.counterfactuals:
            assert model.predict(explanation.to_frame())[0] == said[0]
            assert rules.admits(factual, answer.numbers[None]).all()
