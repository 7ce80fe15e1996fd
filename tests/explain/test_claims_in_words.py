"""What is said of answers that are not proved to be the best, and of many changes at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import likely
from likely.explain.text import percent_at_most
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
    assert said(upper * 0.97).endswith("; a better one could be at most 3 % cheaper.")
    assert said(upper * 0.5).startswith("Proved: no other answer costs less than ")
    last = explainer_of().explain(rejected().iloc[0], k=3).bounds.upper
    assert said(last * 0.9, k=3).endswith("; better ones could be at most 10 % cheaper than the last of these.")
    total = explainer_of().explain(rejected().iloc[0], weight=0.1).bounds.upper
    assert said(total - 0.25, weight=0.1).endswith("; a better one could be at most 0.25 better.")


def test_an_answer_is_the_best_up_to_a_gap_that_is_said() -> None:
    row = rejected().iloc[0]
    exact, usual, coarse = (explainer_of().explain(row, rounding=0, gap=gap) for gap in (0, 1e-4, 0.5))
    assert {exact.status, usual.status, coarse.status} == {"optimal"}
    assert exact.query.limits.relative_gap == 0
    aside = ", not counting rows within a score of 0.0001 of the border"
    assert str(exact).splitlines()[2] == f"Proved: no other answer costs less than {exact.bounds.lower:.4g}{aside}."
    assert usual == explainer_of().explain(row, rounding=0)
    assert str(usual).splitlines()[2].endswith("; nothing is cheaper by more than 0.01 %.")
    assert exact.best.cost <= usual.best.cost <= coarse.best.cost <= 2 * exact.bounds.upper
    assert usual.bounds.lower <= exact.bounds.upper
    for answer in (exact, usual, coarse):
        assert likely.verify(answer, explainer_of())
    said_too_much = replace(coarse, bounds=Bounds(coarse.bounds.upper, coarse.bounds.upper * 0.4))
    assert not likely.verify(said_too_much, explainer_of())


def test_the_greater_gap_counts() -> None:
    limits = likely.problem.Limits(seconds=5, relative_gap=0.05)
    assert likely.Question(limits=limits).engine_limits.relative_gap == 0.05
    assert likely.Question(limits=limits, gap=0.1).engine_limits.relative_gap == 0.1
    assert likely.Question(limits=5).engine_limits.relative_gap == 1e-4


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0"), (1e-4, "0.01"), (0.03, "3"), (0.0301, "3.1"), (0.5, "50"), (0.999, "100"), (0.00012345, "0.013")],
)
def test_a_share_is_never_said_to_be_less_than_it_is(share: float, text: str) -> None:
    assert percent_at_most(share) == text


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
