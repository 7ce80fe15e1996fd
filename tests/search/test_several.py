"""The k best answers: in other cells, or with other features changed; and that there are no more."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from likely.problem import Limits, Problem, Result
from likely.search import solve
from tests.oracles.search import answers_of, best_by_key, cell_keys, changed_keys
from tests.search.instances import variants
from tests.search.judging import LIMITS, check_solution, judge, rounding
from tests.strategies import generators, hard_problems, problems

Keys = Callable[[Problem, np.ndarray], Sequence[Any]]


def judge_list(problem: Problem, limits: Limits, result: Result, keys_of: Keys) -> None:
    """The best answer of each kind, the k best kinds; where there are fewer kinds, all of them."""
    answers = answers_of(problem)
    judge(problem, result, answers, limits)
    if not answers.sure.all() or result.status == "infeasible":
        return  # whether a row is an answer is a matter of rounding
    wanted = sorted(best_by_key(keys_of(problem, answers.rows), answers.objective).values())
    objectives = [solution.objective for solution in result.solutions]
    assert len(objectives) == min(limits.solutions, len(wanted))
    assert objectives == sorted(objectives)
    rows = np.array([solution.row for solution in result.solutions])
    assert len(set(keys_of(problem, rows))) == len(objectives), "two answers of one kind"
    gap = limits.absolute_gap + rounding(max(abs(x) for x in objectives))
    assert np.allclose(objectives, wanted[: len(objectives)], rtol=0, atol=gap)
    for solution in result.solutions:
        check_solution(problem, solution)
    if len(objectives) < limits.solutions:
        assert result.bounds.lower == math.inf, "there are no others, and it says so"
    else:
        assert result.bounds.upper == objectives[-1]
        others = wanted[len(objectives)] if len(wanted) > len(objectives) else math.inf
        assert objectives[-1] - gap <= result.bounds.lower <= others + gap


def limits_of(solutions: int, other_features: bool) -> Limits:
    return replace(LIMITS, solutions=solutions, other_features=other_features)


@pytest.mark.parametrize("other_features", [False, True])
@given(problems(rows=600), generators(), st.sampled_from([2, 3, 10]))
def test_k_best(other_features: bool, problem: Problem, rng: np.random.Generator, solutions: int) -> None:
    limits = limits_of(solutions, other_features)
    for asked in variants(problem, rng, 6):
        judge_list(asked, limits, solve(asked, limits), changed_keys if other_features else cell_keys)


@pytest.mark.slow
@pytest.mark.parametrize("other_features", [False, True])
@given(hard_problems(rows=2000), generators(), st.sampled_from([2, 5, 30]))
def test_k_best_of_hard_problems(other_features: bool, problem: Problem, rng: np.random.Generator, solutions: int) -> None:
    limits = limits_of(solutions, other_features)
    for asked in variants(problem, rng, 3):
        judge_list(asked, limits, solve(asked, limits), changed_keys if other_features else cell_keys)


@pytest.mark.parametrize("other_features", [False, True])
@given(problems(rows=200, features=3), generators())
def test_all_answers(other_features: bool, problem: Problem, rng: np.random.Generator) -> None:
    """Asked for more answers than there are, it gives all of them, and says that there are no others."""
    limits = limits_of(10_000, other_features)
    for asked in variants(problem, rng, 4):
        judge_list(asked, limits, solve(asked, limits), changed_keys if other_features else cell_keys)


@given(hard_problems(rows=600), generators(), st.sampled_from([0.0, 0.1, 1.0]))
def test_none_is_much_costlier_than_the_best(problem: Problem, rng: np.random.Generator, pool_gap: float) -> None:
    """The paper's rho: all answers up to a share above the best, and no others."""
    limits = replace(LIMITS, solutions=10_000, pool_gap=pool_gap)
    checked = 0
    for asked in variants(problem, rng, 3):
        result, answers = solve(asked, limits), answers_of(asked)
        if not answers.sure.all() or not len(answers.rows):
            continue
        checked += 1
        wanted = np.sort(list(best_by_key(cell_keys(asked, answers.rows), answers.objective).values()))
        most = wanted[0] + pool_gap * abs(wanted[0])
        objectives = np.array([solution.objective for solution in result.solutions])
        slack = 1e-6 + rounding(most)
        assert (wanted < most - slack).sum() <= len(objectives) <= (wanted <= most + slack).sum()
        assert np.allclose(objectives, wanted[: len(objectives)], rtol=0, atol=slack)
        assert result.bounds.lower >= most - slack
    assume(checked)
