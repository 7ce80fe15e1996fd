"""CatBoost: symmetric and other trees, missing values, one-hot and counted categories."""

from __future__ import annotations

import functools
import math
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import likely
from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor import read
from tests.contracts.reader import Case, ReaderContract

catboost = pytest.importorskip("catboost")

QUIET = {"iterations": 12, "depth": 4, "verbose": 0, "allow_writing_files": False, "thread_count": 1, "random_seed": 0}


def table(seed: int = 0, rows: int = 300) -> tuple[pd.DataFrame, pd.Series, pd.Series]:
    """Numbers with ties and missing values, a constant column, categories with few and with more values, truth values."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "n": random.integers(0, 9, rows),
            "x": np.round(random.gamma(2, 2, rows), 2),
            "z": random.normal(size=rows),
            "flat": np.full(rows, 3.0),
            "job": random.choice(["clerk", "farmer", "nurse", "pilot"], rows),
            "town": random.choice([f"t{i}" for i in range(12)], rows),
        }
    )
    merit = X["n"] - X["x"] + 2 * (X["job"] == "nurse") + (X["town"] > "t5") + random.normal(0, 1, rows)
    X.loc[random.random(rows) < 0.2, "z"] = np.nan
    two = pd.Series(np.where(merit > merit.median(), "yes", "no"), name="y")
    three = pd.Series(np.array(["a", "b", "c"])[np.digitize(merit, merit.quantile([0.3, 0.7]))], name="y")
    return X, two, three


X, TWO, THREE = table()
SCHEMA = likely.Schema.infer(X)
NUMBERS = ["n", "x", "z", "flat"]
TEXTS = ["job", "town"]


def classifier(**options: Any) -> Any:
    return catboost.CatBoostClassifier(**{**QUIET, **options})


def case_of(model: Any, y: Any = TWO, columns: list[str] | None = None, tie: float = 1e-6) -> Case:
    some = X if columns is None else X[columns]
    schema = SCHEMA if columns is None else likely.Schema.infer(some)
    model = model.fit(some, y)

    def raw(rows: pd.DataFrame) -> Any:
        return model.predict(rows, prediction_type="RawFormulaVal")

    form = read(model, schema)
    shares = model.predict_proba if form.link.classifies and form.link.has_probabilities else None
    return Case(model, schema, raw if form.link.kind != "exponential" else None, shares, model.predict, tolerance=1e-6, tie=tie)


CASES = {
    "numbers": lambda: case_of(classifier(), columns=NUMBERS),
    "numbers_max": lambda: case_of(classifier(nan_mode="Max"), columns=NUMBERS),
    "several_classes": lambda: case_of(classifier(), THREE, NUMBERS),
    "one_vs_all": lambda: case_of(classifier(loss_function="MultiClassOneVsAll"), THREE, NUMBERS),
    "lossguide": lambda: case_of(classifier(grow_policy="Lossguide"), columns=NUMBERS),
    "depthwise": lambda: case_of(classifier(grow_policy="Depthwise"), THREE, NUMBERS),
    "one_hot": lambda: case_of(classifier(cat_features=TEXTS, one_hot_max_size=20)),
    "counters": lambda: case_of(classifier(cat_features=TEXTS, one_hot_max_size=2, max_ctr_complexity=1)),
    "both_3": lambda: case_of(classifier(cat_features=TEXTS, one_hot_max_size=5, max_ctr_complexity=1), THREE),
    "cross_entropy": lambda: case_of(classifier(loss_function="CrossEntropy"), (TWO == "yes").astype(int), NUMBERS),
    "regressor": lambda: case_of(catboost.CatBoostRegressor(**QUIET), X["x"] + X["n"], NUMBERS),
    "regressor_categories": lambda: case_of(
        catboost.CatBoostRegressor(**QUIET, cat_features=TEXTS, max_ctr_complexity=1), X["x"] + X["n"]
    ),
    "poisson": lambda: case_of(catboost.CatBoostRegressor(**QUIET, loss_function="Poisson"), X["n"], NUMBERS),
}


@functools.cache
def made(name: str) -> Case:
    return CASES[name]()


class TestReading(ReaderContract):
    @pytest.fixture(params=CASES)
    def case(self, request: pytest.FixtureRequest) -> Case:
        return made(request.param)


def test_a_threshold_of_its_own() -> None:
    model = classifier().fit(X[NUMBERS], TWO)
    model.set_probability_threshold(0.3)
    form, schema = read(model, likely.Schema.infer(X[NUMBERS])), likely.Schema.infer(X[NUMBERS])
    np.testing.assert_array_equal(form.predict(schema.encode(X[NUMBERS])), model.predict(X[NUMBERS]))


def test_in_a_pipeline_and_from_a_file(tmp_path: Any) -> None:
    columns = ["n", "x", "job"]
    encoder = make_column_transformer((OneHotEncoder(sparse_output=False), ["job"]), (StandardScaler(), ["n", "x"]))
    model = make_pipeline(encoder, classifier()).fit(X[columns], TWO)
    schema = likely.Schema.infer(X[columns])
    rows = schema.encode(X[columns])
    np.testing.assert_array_equal(read(model, schema).predict(rows), model.predict(X[columns]))
    alone = classifier().fit(X[NUMBERS], TWO)
    alone.save_model(str(tmp_path / "model.cbm"))
    form = read(tmp_path / "model.cbm", likely.Schema.infer(X[NUMBERS]))
    np.testing.assert_allclose(
        form.score(likely.Schema.infer(X[NUMBERS]).encode(X[NUMBERS]))[:, 0], alone.predict(X[NUMBERS], "RawFormulaVal")
    )


def test_a_tree_that_asks_nothing() -> None:
    """Its splits are null, as those of some trees over German Credit."""
    data = likely.datasets.load("credit")
    some = data.X[["duration", "amount", "age", "savings", "housing", "purpose"]]
    model = classifier(iterations=50, cat_features=["savings", "housing", "purpose"]).fit(some, data.y)
    schema = likely.Schema.infer(some)
    form = read(model, schema)
    assert isinstance(form, likely.predictor.TreeEnsemble)
    assert (np.diff(form.roots) == 1).any()
    np.testing.assert_array_equal(form.predict(schema.encode(some)), model.predict(some))


def test_refusals() -> None:
    with pytest.raises(PredictorError, match="must be fitted"):
        read(classifier(), SCHEMA)
    pairs = classifier(cat_features=TEXTS, one_hot_max_size=2, max_ctr_complexity=2, iterations=60).fit(X, TWO)
    with pytest.raises(UnsupportedModelError, match=r"a counter of a combination with .*max_ctr_complexity=1"):
        read(pairs, SCHEMA)
    loss = classifier(grow_policy="Lossguide", cat_features=TEXTS, one_hot_max_size=20).fit(X, TWO)
    with pytest.raises(UnsupportedModelError, match="grow_policy='SymmetricTree'"):
        read(loss, SCHEMA)
    numbered = classifier(cat_features=["n"], one_hot_max_size=20).fit(X[["n", "x"]], TWO)
    with pytest.raises(PredictorError, match=r"Feature 'n' must have a list of values"):
        read(numbered, likely.Schema.infer(X[["n", "x"]]))


SMALL = {"n": range(7), "m": range(6), "c": ["a", "b", "d"]}


def test_explained_as_by_enumeration() -> None:
    rows = pd.DataFrame(list(product(*SMALL.values())), columns=list(SMALL))
    random = np.random.default_rng(4)
    some = rows.sample(220, replace=True, random_state=4).reset_index(drop=True)
    y = np.where(some["n"] - some["m"] + 2 * (some["c"] == "b") + random.normal(0, 1, len(some)) > 0.5, "yes", "no")
    model = classifier(cat_features=["c"], max_ctr_complexity=1, one_hot_max_size=2).fit(some, y)
    schema = likely.Schema.infer(some, increasing=["m"])
    explainer = likely.Explainer(model, schema, nodes=8, progress=False, n_jobs=1).fit(some, y)
    decided = model.predict(rows)
    for i in (0, 29, 61, 97, 125):
        row = rows.iloc[i]
        answer = explainer.explain(row, plausibility=None, rounding=0, gap=0)
        others = [other for j, other in rows.iterrows() if decided[j] != decided[i] and not schema.violations(row, other)]
        least = min((schema.cost(row, other) for other in others), default=math.inf)
        assert (answer.best.cost if answer else math.inf) == pytest.approx(least, rel=1e-6)
        assert likely.verify(answer, explainer).ok
