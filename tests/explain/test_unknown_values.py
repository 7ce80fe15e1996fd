"""Factuals with unknown values: filling one in is no change, for nobody, and every search ends."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import likely
from likely.problem import Limits
from tests.explain.examples import explainer_of, fitted, rejected


@pytest.fixture(scope="module")
def explainer() -> likely.Explainer:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.integers(0, 10, 100) for name in "abc"})
    y = (X.sum(axis=1) > 18).astype(int)
    return fitted(LogisticRegression().fit(X, y), X, y)


ROW = {"a": 1, "b": None, "c": 2}


@pytest.mark.parametrize("limits", [Limits(seconds=1), Limits()])
@pytest.mark.parametrize("diversity", ["features", "values"])
def test_several_answers_of_a_row_with_an_unknown_value(explainer: likely.Explainer, limits: Limits, diversity: str) -> None:
    started = time.perf_counter()
    answer = explainer.explain(ROW, target=1, k=3, plausibility=None, limits=limits, diversity=diversity)  # type: ignore[arg-type]
    assert time.perf_counter() - started < 5
    assert answer.status == "optimal"
    changed = [frozenset(name for name in other.changes if name != "b") for other in answer.counterfactuals]
    if diversity == "features":
        assert not any(one <= other for i, one in enumerate(changed) for other in changed[i + 1 :])
    assert [other.number_of_changes for other in answer.counterfactuals] == list(map(len, changed))


def test_filling_in_alone_may_be_enough(explainer: likely.Explainer) -> None:
    answer = explainer.explain({"a": 9, "b": None, "c": 9}, target=1, k=2, plausibility=None)
    assert (answer.status, len(answer), answer.best.number_of_changes, answer.best.cost) == ("optimal", 1, 0, 0.0)
    assert answer.best.changes["b"][0] is None


def test_the_most_changes_count_as_an_answer_does(explainer: likely.Explainer) -> None:
    answer = explainer.explain(ROW, target=1, plausibility=None, constraints=[likely.MaxChanges(1)])
    assert answer.best.number_of_changes == 1 < len(answer.best.changes)


def test_a_front_by_changes_ends(explainer: likely.Explainer) -> None:
    front = explainer.front(ROW, target=1, by="changes", limits=Limits(seconds=1))
    assert [point.best.number_of_changes for point in front.points] == sorted({p.best.number_of_changes for p in front.points})
    free = explainer.front({"a": 9, "b": None, "c": 9}, target=1, by="changes", plausibility=None)
    assert [point.best.number_of_changes for point in free.points] == [0]


def test_several_unknown_values() -> None:
    row = {**rejected().iloc[0], "income": None, "housing": None}
    answer = explainer_of().explain(row, target="yes", k=4, limits=Limits(seconds=5))
    assert answer.status == "optimal"
    assert {"income", "housing"} <= set(answer.best.changes)
