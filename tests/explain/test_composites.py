"""Explanations of ensembles, smooth networks and additive models, against every row there is, asked of the user's own model."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import likely
from likely.errors import LikelyError
from likely.predictor import read
from likely.problem import Limits, Problem, between, to_class
from likely.schema import Continuous, Integer, Schema
from likely.search import solve

VALUES = {"a": range(6), "b": range(5), "c": range(4), "d": range(3)}


def table(seed: int, classes: int) -> tuple[pd.DataFrame, pd.Series]:
    """A small table of whole numbers, one column of which never varies."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame({name: random.integers(0, len(values), 160) for name, values in VALUES.items()})
    X["same"] = 2
    signal = np.sin(X["a"]) + 0.4 * X["b"] - 0.3 * X["c"] * (X["d"] > 0) + random.normal(0, 0.4, 160)
    return X, pd.Series(np.digitize(signal, np.quantile(signal, np.arange(1, classes) / classes)))


def linear():
    return make_pipeline(StandardScaler(), LogisticRegression())


def boosting():
    return GradientBoostingClassifier(n_estimators=6, max_depth=2, random_state=0)


def forest():
    return RandomForestClassifier(5, max_depth=3, random_state=0)


def smooth(kind):
    return make_pipeline(StandardScaler(), MLPClassifier((6, 4), activation=kind, max_iter=150, random_state=0))


BOTH = [("linear", linear()), ("boosting", boosting())]
MODELS = {
    "soft": VotingClassifier(BOTH, voting="soft"),
    "hard": VotingClassifier([*BOTH, ("forest", forest())]),
    "bagging": BaggingClassifier(linear(), 4, random_state=0),
    "sigmoid": CalibratedClassifierCV(forest(), cv=3),
    "isotonic": CalibratedClassifierCV(linear(), cv=3, method="isotonic"),
    "stacking": StackingClassifier(BOTH, cv=3),
    "stacking under trees": StackingClassifier(BOTH, final_estimator=boosting(), cv=3),
    "one vs one": OneVsOneClassifier(linear()),
    "tanh": smooth("tanh"),
    "logistic": smooth("logistic"),
    "naive Bayes": GaussianNB(),
}


def every_row() -> pd.DataFrame:
    return pd.DataFrame(itertools.product(*VALUES.values()), columns=list(VALUES)).assign(same=2)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_no_row_is_cheaper(name, classes):
    X, y = table(3 + classes, classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MODELS[name].fit(X, y)
    schema = Schema.infer(X)
    explainer = likely.Explainer(model, schema, progress=False).fit(X, y)
    form, rows = read(model, schema), every_row()
    labels = model.predict(rows)
    encoded = schema.encode(rows)
    margins = by_margin(form, encoded)
    for at in range(0, len(rows), len(rows) // 4):
        wanted = [label for label in model.classes_ if label != labels[at]][at % (classes - 1)]
        prices = schema.prices(encoded[at], encoded)
        answers = (labels == wanted) & (margins > 1.001e-4)
        try:
            explanation = explainer.explain(rows.iloc[at], target=wanted, plausibility=None)
        except LikelyError:
            assert not answers.any()
            continue
        if not answers.any():
            assert explanation.status in ("infeasible", "unknown", "disputed")
            continue
        best = explanation.best.cost
        assert best <= prices[answers].min() + 1e-5
        assert best >= prices[labels == wanted].min() - 1e-9
        assert explanation.status == "optimal"


def by_margin(form, rows):
    """By how much the class of each row wins."""
    scores = form.score(rows)
    if scores.shape[1] == 1:
        return np.abs(scores[:, 0])
    ordered = np.sort(scores, axis=1)
    return ordered[:, -1] - ordered[:, -2]


@pytest.mark.parametrize("name", ["soft", "sigmoid", "isotonic", "tanh", "naive Bayes"])
def test_no_real_row_is_cheaper(name):
    """Of real features, not every row can be asked; none of a fine grid is cheaper than the bound that was proved."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.uniform(-1, 1, (200, 2)), columns=["u", "v"])
    y = (X["u"] ** 2 + X["v"] + random.normal(0, 0.2, 200) > 0.3).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MODELS[name].fit(X, y)
    schema = Schema([Continuous("u", -1, 1), Continuous("v", -1, 1)])
    form = read(model, schema)
    factual = X.iloc[[int(np.argmin(form.probabilities(X.to_numpy())[:, 1]))]].to_numpy()[0]
    result = solve(Problem(schema, factual, form, to_class(form, 1)), Limits(seconds=60, absolute_gap=1e-4))
    assert result.status == "optimal"
    u, v = np.meshgrid(np.linspace(-1, 1, 201), np.linspace(-1, 1, 201))
    grid = np.column_stack([u.ravel(), v.ravel()])
    met = to_class(form, 1).met(form.score(grid))
    assert schema.prices(factual, grid[met]).min() >= result.bounds.lower - 1e-9
    assert form.predict(result.solutions[0].row[None])[0] == 1


def test_an_explainer_of_an_ensemble_is_saved_and_loaded(tmp_path):
    X, y = table(1, 2)
    model = MODELS["soft"].fit(X, y)
    explainer = likely.Explainer(model, Schema.infer(X), progress=False).fit(X, y)
    explanation = explainer.explain(X.iloc[0])
    explainer.save(tmp_path / "explainer")
    again = likely.Explainer.load(tmp_path / "explainer", model)
    assert again.explain(X.iloc[0]).best.cost == explanation.best.cost
    assert likely.verify(explanation, again).ok


def test_the_second_engine_says_what_it_reads():
    X, y = table(1, 2)
    explainer = likely.Explainer(MODELS["soft"].fit(X, y), Schema.infer(X), engine="mio", progress=False).fit(X, y)
    with pytest.raises(LikelyError, match=r"must be linear, a ReLU network or trees .* use engine='search'"):
        explainer.explain(X.iloc[0])


def test_a_score_between_two_numbers():
    schema = Schema([Integer("a", 0, 5), Integer("b", 0, 4)])
    X = pd.DataFrame(itertools.product(range(6), range(5)), columns=["a", "b"])
    y = (X["a"] * X["b"] > 6).astype(int)
    form = read(CalibratedClassifierCV(linear(), cv=2).fit(X, y), schema)
    rows = schema.encode(X)
    shares = form.score(rows)[:, 1]
    goal = between(form, 0.3, 0.5, output=1)
    result = solve(Problem(schema, rows[0], form, goal))
    met = (shares >= 0.3) & (shares <= 0.5)
    assert result.solutions[0].cost == pytest.approx(schema.prices(rows[0], rows[met]).min())
