"""Several searches as one: what is proved of each stays, and none takes all the time."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import likely
from likely.explain import solving
from likely.explain.merging import after, settled, unsearched
from likely.problem import Bounds, Limits, Result, Solution, Statistics
from likely.search import SearchSession


def result(status: str, upper: float, lower: float, nodes: int = 5) -> Result:
    solutions = (Solution(np.zeros(1), upper, upper, 0.0, 0),) if upper < math.inf else ()
    return Result(status, solutions, Bounds(upper, lower), Statistics(nodes=nodes))  # type: ignore[arg-type]


def test_a_search_that_was_done_again_keeps_what_was_proved() -> None:
    first, second = result("feasible", 3.0, 1.5), result("feasible", 2.5, 1.0)
    both = after(first, second)
    assert both.solutions == second.solutions
    assert both.bounds == Bounds(2.5, 1.5)
    assert both.statistics.nodes == 10


def test_what_need_not_be_searched_again() -> None:
    limits = Limits(nodes=100)
    assert settled(result("optimal", 2.0, 2.0), math.inf, limits)
    assert settled(result("infeasible", math.inf, math.inf), math.inf, limits)
    assert settled(result("feasible", 3.0, 2.0), 1.9, limits)
    assert settled(result("feasible", 3.0, 1.0, nodes=100), 1.9, limits)
    assert not settled(result("feasible", 3.0, 1.0), 1.9, limits)
    assert not settled(unsearched(), math.inf, limits)


def test_every_class_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches that always take all of their time: each class gets some of it twice, and the answer has a bound."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(150, 2)).round(2), columns=["a", "b"])
    y = np.where(X["a"] > 0.3, "x", np.where(X["b"] > 0, "y", "z"))
    explainer = likely.Explainer(LogisticRegression().fit(X, y), progress=False, n_jobs=1, nodes=10).fit(X, y)
    asked: list[tuple[int, float]] = []
    solve = SearchSession.solve

    def slow(session: SearchSession, limits: Limits, **options: object) -> Result:
        asked.append((id(session), limits.seconds))
        found = solve(session, limits, **options)  # type: ignore[arg-type]
        return Result("feasible", found.solutions, Bounds(found.bounds.upper, 0.0), found.statistics)

    monkeypatch.setattr(SearchSession, "solve", slow)
    answer = explainer.explain(X.iloc[0], limits=Limits(seconds=100))
    assert answer.status == "feasible"
    assert answer.bounds.lower >= 0
    sessions = list(dict.fromkeys(session for session, _ in asked))
    assert len(sessions) == 2
    assert [session for session, _ in asked] == sessions * 2
    assert [seconds for _, seconds in asked[:2]] == [solving._FIRST_LOOK * 100 / 2] * 2
    assert 45 < asked[2][1] <= 50 < asked[3][1] <= 100
