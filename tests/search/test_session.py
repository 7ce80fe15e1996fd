"""A problem that is solved again with more constraints: as if each had been asked by itself, and put together once."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.problem import Problem
from likely.schema import Constraint, Forbid, MaxChanges
from likely.schema.conditions import changes
from likely.search import SearchSession, solve
from tests.explain.examples import explainer_of, rejected
from tests.search.judging import LIMITS, rounding
from tests.strategies import generators, problems


def further(problem: Problem, rng: np.random.Generator) -> Constraint:
    """A rule that cuts no cell, or one that may."""
    names = [name for name, known in zip(problem.schema.names, ~np.isnan(problem.factual), strict=True) if known]
    if not names or rng.random() < 0.2:
        return MaxChanges(int(rng.integers(1, len(problem.schema) + 2)))
    chosen = rng.choice(len(names), size=int(rng.integers(1, len(names) + 1)), replace=False)
    return Forbid(*(changes(names[int(j)]) for j in chosen))


@given(problems(rows=600), generators(), st.integers(1, 4))
def test_as_if_each_had_been_asked_by_itself(problem: Problem, rng: np.random.Generator, times: int) -> None:
    session = SearchSession(problem)
    asked = problem
    for _ in range(times):
        rule = further(problem, rng)
        session.require(rule)
        asked = asked.with_constraints(rule)
        alone, again = solve(asked, LIMITS), session.solve(LIMITS)
        assert (alone.status, alone.statistics.nodes) == (again.status, again.statistics.nodes)
        assert session.problem.schema.constraints == asked.schema.constraints
        for one, other in zip(alone.solutions, again.solutions, strict=True):
            assert abs(one.objective - other.objective) <= LIMITS.absolute_gap + rounding(one.objective)
            assert problem.schema.admits(problem.factual, other.row[None], asked.rules)[0]


def test_several_answers_need_one_core_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    solving = importlib.import_module("likely.search.solve")  # the module: the package's attribute is its function
    made: list[Problem] = []
    compiled = solving.compiled

    def counted(problem: Problem) -> object:
        made.append(problem)
        return compiled(problem)

    monkeypatch.setattr(solving, "compiled", counted)
    answer = explainer_of().explain(rejected(1).iloc[0], k=3)
    assert len(answer.counterfactuals) == 3
    assert len(made) == 1
