"""Answers as people would write them: no change that does nothing, round numbers, and a proof that is still true."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import likely
from likely.explain.polishing import polished, round_numbers, without_needless_changes
from likely.predictor import Column, LinearModel, Link
from likely.problem import Problem, to_class
from tests.explain.examples import explainer_of, fitted, rejected

SCHEMA = likely.Schema((likely.Continuous("a", 0, 10), likely.Continuous("b", 0, 10), likely.Integer("c", 0, 10)))
#: yes from a + c > 5 on; b does nothing
FORM = LinearModel(Link("logistic"), ("no", "yes"), tuple(Column(j, 1.0) for j in range(3)), [[1.0, 0.0, 1.0]], [-5.0])


def problem(factual: list[float]) -> Problem:
    return Problem(SCHEMA, np.array(factual), FORM, to_class(FORM, "yes", margin=1e-4))


def solution(asked: Problem, row: list[float]) -> Any:
    (answer,) = asked.solutions(np.array([row]))
    assert answer is not None
    return answer


def test_changes_that_do_nothing_are_taken_back() -> None:
    asked = problem([1.0, 3.22, 0.0])
    answer = without_needless_changes(asked, solution(asked, [5.5, np.nextafter(3.22, 4), 1.0]))
    assert answer.row.tolist() == [5.5, 3.22, 0.0]  # c is not needed either
    assert answer.objective == pytest.approx(4.5 * SCHEMA.costs[0].price(SCHEMA.features[0], 0.0, np.array([1.0]))[0])


def test_numbers_become_round_within_the_tolerance() -> None:
    asked = problem([1.0, 3.22, 0.0])
    best = solution(asked, [5.000123456789, 3.22, 0.0])
    assert polished(asked, best, best.objective).row.tolist() == best.row.tolist()
    assert polished(asked, best, best.objective + 1e-3).row.tolist() == [5.001, 3.22, 0.0]
    assert polished(asked, best, best.objective + 2).row.tolist() == [6.0, 3.22, 0.0]


def test_a_tiny_second_change_goes_when_the_first_is_rounded() -> None:
    asked = problem([1.0, 3.22, 0.0])
    schema = likely.Schema((*SCHEMA.features[:2], likely.Continuous("c", 0, 10)))
    asked = Problem(schema, asked.factual, FORM, asked.goal)
    best = solution(asked, [5.00019, 3.22, 0.0000100001])
    assert polished(asked, best, best.objective + 1e-3).row.tolist() == [5.001, 3.22, 0.0]


def test_no_number_goes_beyond_the_factual() -> None:
    """From above the factual, a rounder number below it is not an improvement: it is another change."""
    form = LinearModel(
        Link("logistic"), ("no", "yes"), (Column(0, 1.0), Column(1, 0.0), Column(2, 0.0)), [[0.0, 1.0, 1.0]], [1.0]
    )
    asked = Problem(SCHEMA, np.array([2.3, 1.0, 1.0]), form, to_class(form, "yes"))
    best = solution(asked, [2.31, 1.0, 1.0])
    assert without_needless_changes(asked, best).row[0] == 2.3
    kept = Problem(SCHEMA.with_constraints(likely.Range("a", 2.305)), asked.factual, form, asked.goal)
    assert polished(kept, solution(kept, [2.3051234, 1.0, 1.0]), 99.0).row[0] > 2.3


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300))
def test_round_numbers_are_around_a_number(number: float) -> None:
    around = list(round_numbers(number))
    assert [digits for digits, _ in around] == sorted(digits for digits, _ in around)
    assert all(len(Decimal(repr(rounded)).normalize().as_tuple().digits) <= max(digits, 1) for digits, rounded in around)
    for digits, rounded in around[1:]:
        assert abs(rounded - number) <= abs(number) * 10.0 ** (1 - digits) * (1 + 1e-9)


@pytest.mark.parametrize(
    "model", [make_pipeline(StandardScaler(), LogisticRegression()), RandomForestClassifier(8, max_depth=4, random_state=0)]
)
@pytest.mark.parametrize("load", [load_wine, load_iris])
def test_no_change_of_a_unit_in_the_last_place(model: Any, load: Any) -> None:
    data = load(as_frame=True)
    X, y = data.data.iloc[:, :4], data.target
    explainer = fitted(model.fit(X, y), X, y, likely.Schema.infer(X, steps=None))
    rows = X.iloc[::4]
    exact = explainer.explain_many(rows, rounding=0)
    digits: dict[bool, list[int]] = {True: [], False: []}
    for answer, unrounded in zip(explainer.explain_many(rows), exact, strict=True):
        assert answer.status == "optimal"
        assert model.predict(answer.to_frame())[0] == answer.best.label
        assert likely.verify(answer, model, explainer.circuit_)
        for before, after in answer.best.changes.values():
            assert abs(after - before) > 1e-9 * max(abs(before), abs(after))
        assert unrounded.bounds.lower <= answer.best.cost <= unrounded.best.cost + 1.1e-4 * (1 + unrounded.best.cost)
        for polished_too, each in ((True, answer), (False, unrounded)):
            digits[polished_too] += [len(repr(after).replace(".", "")) for _, after in each.best.changes.values()]
    assert np.mean(digits[True]) < np.mean(digits[False]) - 0.5


def test_what_was_recorded_in_steps_is_answered_in_steps() -> None:
    """As a botanist writes it: 3.1, not 3.0999996."""
    data = load_iris(as_frame=True)
    X, y = data.data, data.target
    explainer = fitted(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y), X, y)
    for answer in explainer.explain_many(X.iloc[::15]):
        assert all(round(after, 1) == after for _, after in answer.best.changes.values())


def test_ways_stay_different_when_they_are_polished() -> None:
    data = load_wine(as_frame=True)
    X, y = data.data.iloc[:, :5], data.target
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    explainer = fitted(model, X, y, likely.Schema.infer(X, steps=None))
    for answer in explainer.explain_many(X.iloc[::9], k=3):
        changed = [set(other.changes) for other in answer.counterfactuals]
        assert not any(changed[i] <= changed[j] for i in range(len(changed)) for j in range(i + 1, len(changed)))
    for answer in explainer.explain_many(X.iloc[::30], k=3, diversity="values"):
        assert len({other.values for other in answer.counterfactuals}) == len(answer) == 3


def test_steps_stay_steps() -> None:
    for answer in explainer_of().explain_many(rejected(10)):
        for name in ("income", "debt"):
            cents = 100 * float(answer.best.row[name])
            assert math.isclose(cents, round(cents), abs_tol=1e-6)


def test_an_unknown_value_is_filled_in_with_a_round_number() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=120), "b": rng.normal(size=120)})
    y = (X["a"] + X["b"] > 0).astype(int)
    explainer = fitted(LogisticRegression().fit(X, y), X, y, likely.Schema.infer(X, steps=None))
    answer = explainer.explain({"a": None, "b": -0.5}, target=1)
    assert answer.best.changes["a"][0] is None
    assert len(repr(answer.best.changes["a"][1])) <= 6
