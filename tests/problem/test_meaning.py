"""What a problem means, said once: which rows it admits and what they are worth, against looking at every row."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.circuit import marginal
from likely.problem import Plausibility, Problem
from likely.problem.tolerances import SUM_ROUNDING, close, rounding
from tests.oracles.search import Answers, answers_of, log_likelihoods, space_of
from tests.problem.test_problem import some_problem
from tests.search.instances import variants
from tests.strategies import generators, problems


def among(rows: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Which rows are in a list of rows."""
    listed = {tuple(row) for row in answers}
    return np.array([tuple(row) in listed for row in rows], dtype=bool)


@pytest.mark.parametrize("plausible", [False, True])
@given(data=st.data())
def test_it_admits_its_answers_and_no_other_row(plausible: bool, data: st.DataObject) -> None:
    problem = data.draw(problems(plausible=plausible, rows=300))
    for asked in variants(problem, data.draw(generators()), 4):
        space, answers = space_of(asked), answers_of(asked)
        admitted = asked.admits(space)
        assert admitted[among(space, answers.rows[answers.sure])].all(), "an answer is lost"
        assert among(space, answers.rows)[admitted].all(), "a row that is none is taken for an answer"
        assert asked.admits(space, slack=1e-6)[admitted].all()
        outside = np.full(len(asked.schema), math.nan)
        assert not asked.admits(np.array([outside, outside + 1e9])).any()
        check_solutions(asked, space, answers)


def check_solutions(problem: Problem, space: np.ndarray, answers: Answers) -> None:
    """The rows as solutions: with the numbers of the oracle, for the best of their alternatives."""
    solutions = problem.solutions(space)
    assert [solution is not None for solution in solutions] == problem.admits(space).tolist()
    for solution in (solution for solution in solutions if solution is not None):
        mine = (answers.rows == solution.row).all(axis=1)
        objective = answers.objective[mine].min()
        assert solution.objective == pytest.approx(objective, rel=SUM_ROUNDING, abs=SUM_ROUNDING)
        place = np.flatnonzero(mine)[answers.objective[mine].argmin()]
        assert solution.cost == pytest.approx(answers.cost[place], rel=SUM_ROUNDING, abs=SUM_ROUNDING)
    for alternative in problem.goal.alternatives:
        logs = problem.log_likelihoods(space, alternative)
        assert logs == pytest.approx(log_likelihoods(problem, space, alternative), rel=SUM_ROUNDING, abs=SUM_ROUNDING)
        objectives = problem.schema.prices(problem.factual, space)
        if problem.plausibility is not None and problem.plausibility.weight:
            objectives = objectives - problem.plausibility.weight * logs
        assert problem.objectives(space, alternative).tolist() == objectives.tolist()


def test_the_class_of_an_answer_is_the_circuits() -> None:
    problem = some_problem()
    plausibility, form = problem.plausibility, problem.form
    assert plausibility is not None
    assert [plausibility.target_of(form, index) for index in (0, 1)] == [0.0, 1.0]
    assert math.isnan(plausibility.target_of(form, None))
    without = Plausibility(marginal(plausibility.circuit, problem.schema.names))
    assert math.isnan(without.target_of(form, 1))


def test_a_factual_off_the_domain_may_stay() -> None:
    problem = some_problem()
    schema = problem.schema
    between = problem.factual + np.array([0.5, 0, 0])
    rows = np.array([problem.factual, between])
    assert schema.admits(problem.factual, rows).tolist() == [True, False]
    assert schema.admits(between, rows)[1]


def test_rounding_is_relative_and_nothing_of_infinities() -> None:
    assert rounding(99.0) == 100 * SUM_ROUNDING
    assert rounding(-math.inf) == 0.0
    assert close(math.inf, math.inf)
    assert not close(math.inf, 1.0)
    assert close(1.0, 1.0 + 1e-9)
    assert not close(1.0, 1.0 + 1e-8)
