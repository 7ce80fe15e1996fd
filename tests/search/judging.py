"""What a result of the engine must be, given every answer there is."""

from __future__ import annotations

import math

import numpy as np
import pytest

from likely.problem import Limits, Problem, Result, Solution
from tests.oracles import constraints as rules
from tests.oracles.search import ROUNDING, Answers, answers_of, values_with
from tests.strategies import user_row

LIMITS = Limits(seconds=60)


def judge(problem: Problem, result: Result, answers: Answers, limits: Limits = LIMITS) -> None:
    """The search ended by itself: it found the optimum, or there is no answer."""
    assert result.status in ("optimal", "infeasible")
    assert not result.interrupted
    if result.status == "infeasible":
        assert result.solutions == ()
        assert answers.best == math.inf, f"there is an answer: {answers.rows[answers.sure][0]}"
        assert result.bounds.upper == result.bounds.lower == math.inf
        return
    for solution in result.solutions:
        check_solution(problem, solution)
    best = result.solutions[0].objective
    gap = max(limits.absolute_gap, limits.relative_gap * abs(best))
    assert answers.least - rounding(best) <= best <= answers.best + gap + rounding(best)
    if limits.solutions == 1:
        assert len(result.solutions) == 1
        assert result.bounds.upper == best
        assert result.bounds.lower <= answers.best + rounding(best)
        assert result.bounds.gap <= gap + rounding(best)


def rounding(objective: float) -> float:
    """By how much two computations of this objective may differ."""
    return ROUNDING * (1 + abs(objective)) if math.isfinite(objective) else 0.0


def check_solution(problem: Problem, solution: Solution) -> None:
    """The row is one of the schema, keeps its rules, and is an answer of this objective: by other means than the engine's."""
    for feature, value, factual in zip(problem.schema.features, solution.row, problem.factual, strict=True):
        assert feature.region.contains(np.array([value]))[0]
        if feature.grid is not None:
            assert value in values_with(feature, float(factual)), f"{feature.name}: {value!r} is no value"
    factual, row = user_row(problem.schema, problem.factual), user_row(problem.schema, solution.row)
    for constraint in problem.schema.constraints:
        assert rules.holds(constraint, problem.schema, factual, row) in (True, None), str(constraint)
    answers = answers_of(problem, solution.row[None])
    class_indices = [problem.goal.alternatives[a].class_index for a in answers.alternative]
    assert solution.class_index in class_indices, "the row is no answer"
    place = class_indices.index(solution.class_index)
    assert solution.cost == pytest.approx(answers.cost[place], rel=ROUNDING, abs=ROUNDING)
    assert solution.objective == pytest.approx(answers.objective[place], rel=ROUNDING, abs=ROUNDING)
    if problem.plausibility is not None:
        assert solution.log_likelihood == pytest.approx(answers.log_likelihood[place], rel=ROUNDING, abs=ROUNDING)
    if (
        solution.class_index is not None
        and answers.sure[place]
        and problem.goal.alternatives[answers.alternative[place]].lower.min() > 0
    ):
        assert problem.form.predict(solution.row[None])[0] == problem.form.classes[solution.class_index]
