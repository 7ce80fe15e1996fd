"""What is said of answers that are not proved to be the best, and of many changes at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import likely
from likely.problem import Bounds
from tests.explain.examples import explainer_of, fitted, rejected


def said(lower: float, k: int = 1, weight: float = 0.0) -> str:
    answer = explainer_of().explain(rejected().iloc[0], k=k, weight=weight)
    return str(replace(answer, status="feasible", bounds=Bounds(answer.bounds.upper, lower))).splitlines()[2]


@pytest.mark.parametrize("lower", [0.0, -1e-9, -np.inf, 1e-9])
def test_a_bound_that_holds_anyway_proves_nothing(lower: float) -> None:
    assert said(lower) == "Nothing is proved yet: how much better is not known."


def test_a_gap_is_said_in_words() -> None:
    upper = explainer_of().explain(rejected().iloc[0]).bounds.upper
    assert said(upper * 0.97).endswith("; this one is at most 3 % from the best possible.")
    assert said(upper * 0.5).startswith("Proved: no other answer costs less than ")
    last = explainer_of().explain(rejected().iloc[0], k=3).bounds.upper
    assert said(last * 0.9, k=3).endswith("; the last of these is at most 10 % from the best possible.")
    total = explainer_of().explain(rejected().iloc[0], weight=0.1).bounds.upper
    assert said(total - 0.25, weight=0.1).endswith("; this one is at most 0.25 from the best possible.")


def test_of_many_changes_the_costliest_are_told() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (200, 20)), columns=[f"x{j}" for j in range(20)])
    y = (X.sum(axis=1) > 10).astype(int)
    model = LogisticRegression().fit(X, y)
    schema = likely.Schema.infer(X, weights={"x3": 5.0, "x7": 9.0, "x12": 7.0})
    explainer = fitted(model, X, y, schema)
    answer = explainer.explain(dict.fromkeys(X.columns, 0), plausibility=None, constraints=[likely.Range("x3", 1)])
    row = dict.fromkeys(X.columns, 1)
    everything = replace(answer.best, numbers=schema.encode_row(row))
    moves, rest = everything.sentence.split(" and ")
    assert moves == "If x3 were 1 instead of 0, x7 were 1 instead of 0, x12 were 1 instead of 0"
    assert rest == "with 17 smaller changes, the model would decide 1 instead of 0."
    few = replace(answer.best, numbers=schema.encode_row({**dict.fromkeys(X.columns, 0), **dict.fromkeys(("x0", "x1", "x3"), 1)}))
    assert few.sentence.count(" were ") == 3
