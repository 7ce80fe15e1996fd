"""A limit of seconds is for all of a question: by a clock that is set, not by a stopwatch."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import likely.explain.front as front_module
from likely.explain import polishing
from likely.explain.front import _Time
from likely.explain.solving import _Watch
from likely.problem import Limits, Problem, Result, Solution
from likely.search import SearchSession, solve
from tests.explain.examples import explainer_of, rejected
from tests.search.test_follow import loan


class Clock:
    """Stands where it is set."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_points_of_a_front_share_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(front_module, "perf_counter", clock)
    time = _Time(60.0)
    assert time.spent(4) == 45.0  # a quarter of all
    clock.now += 15
    assert time.spent(3) == 45.0  # a third of what is left
    clock.now += 5
    assert time.spent(2) == 40.0  # what the one before did not need goes to those after it
    clock.now += 100
    assert time.spent(1) == 60.0
    assert _Time(np.inf).spent(3) == 0.0


@pytest.mark.parametrize("by", ["likelihood", "changes"])
def test_a_front_keeps_to_its_seconds(monkeypatch: pytest.MonkeyPatch, by: Any) -> None:
    """A clock on which every point takes all that it may: none is left for more than all of them together."""
    clock = Clock()
    monkeypatch.setattr(front_module, "perf_counter", clock)
    spent: list[float] = []
    explainer_module = sys.modules["likely.explain.explainer"]
    explained = explainer_module.explained

    def slow(*asked: Any, **options: Any) -> Any:
        spent.append(options.pop("spent"))
        clock.now += 60.0 - spent[-1]
        return explained(*asked, **options)

    monkeypatch.setattr(explainer_module, "explained", slow)
    explainer_of().front(rejected().iloc[0], by=by, limits=60)
    assert len(spent) > 1
    assert clock.now <= 160.0 + 1e-9


def test_polishing_ends_with_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without time nothing is looked at, and the answer is the one that was found."""
    problem, asked = loan(), []
    monkeypatch.setattr(Problem, "solutions", lambda self, rows: asked.append(rows) or [])
    answer = Solution(np.array([3.0, 0.0, 4.0]), 6.0, 6.0, -1.0, 1)
    assert polishing.polished(problem, answer, 7.0, more=lambda: False) is answer
    assert not asked


@pytest.mark.parametrize(("seconds", "most"), [(10.0, 11.0), (0.1, 0.15)])
def test_polishing_has_a_little_more_time_than_the_search(monkeypatch: pytest.MonkeyPatch, seconds: float, most: float) -> None:
    clock = Clock()
    monkeypatch.setattr("likely.explain.solving.time.perf_counter", clock)
    watch = _Watch(Limits(seconds=seconds), None, started=0.0)
    clock.now = most - 1e-6
    assert watch.patience()
    clock.now = most + 1e-6
    assert not watch.patience()


def test_putting_a_problem_together_is_part_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, told = Clock(), []
    module = sys.modules["likely.search.solve"]
    monkeypatch.setattr(module.time, "perf_counter", clock)
    begin, search = SearchSession.__init__, SearchSession.solve

    def slowly(self: SearchSession, problem: Problem, threads: int = 1) -> None:
        clock.now += 3
        begin(self, problem, threads)

    def listen(self: SearchSession, limits: Limits | None = None, **options: Any) -> Result:
        told.append(limits)
        return search(self, limits, **options)

    monkeypatch.setattr(SearchSession, "__init__", slowly)
    monkeypatch.setattr(SearchSession, "solve", listen)
    assert solve(loan(), Limits(seconds=10)).status == "optimal"
    assert told[-1].seconds == 7.0
    assert solve(loan(), Limits(seconds=2)).status in ("optimal", "feasible", "unknown")
    assert 0 < told[-1].seconds < 1e-6
