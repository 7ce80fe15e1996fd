"""Goals whose end is a prediction of the model: the row that has it is an answer, whatever precision the model computes in."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import likely
from likely.problem import Problem, prediction, probability
from likely.search import solve
from tests.search.judging import LIMITS

ROWS = 20


def table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.integers(0, 20, 300).astype(float) for name in "ab"})
    return X, np.exp(X.a / 10 + rng.normal(0, 0.1, len(X))).to_numpy()


@pytest.mark.parametrize("objective", ["reg:squarederror", "reg:gamma", "binary:logistic"])
def test_the_row_itself(objective: str) -> None:
    xgboost = pytest.importorskip("xgboost")
    X, y = table()
    if classifies := objective == "binary:logistic":
        model = xgboost.XGBClassifier(n_estimators=30).fit(X, (y > np.median(y)).astype(int))
        said, least, most = model.predict_proba(X)[:, 1], 0.0, 1.0
    else:
        model = xgboost.XGBRegressor(n_estimators=30, objective=objective).fit(X, y)
        said, least, most = model.predict(X), -math.inf, math.inf
    schema = likely.Schema.infer(X)
    form = likely.predictor.read(model, schema)
    for i in range(ROWS):
        number = float(said[i])
        for low, high in ((number, most), (least, number), (number, number)):
            goal = probability(form, 1, low, high) if classifies else prediction(form, low, high)
            result = solve(Problem(schema, schema.encode_row(X.iloc[i]), form, goal), LIMITS)
            assert result.solutions, (i, low, high)
            assert result.solutions[0].cost == 0, (i, low, high)
