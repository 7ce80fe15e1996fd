"""Why there is no answer: the smallest conflict, by trying every set of demands; and what giving one up brings."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given

import likely
from likely.errors import ProblemError
from likely.predictor import Column, LinearModel, Link
from likely.problem import Conflict, Limits, Plausibility, Problem, likeliest, to_class, why
from likely.problem.conflict import kept
from likely.search import solve
from tests.oracles.search import answers_of
from tests.search.instances import variants
from tests.search.judging import rounding
from tests.search.test_solve import circuit_of
from tests.strategies import generators, problems


def demands_of(problem: Problem) -> list[int]:
    plausibility = problem.plausibility
    return list(range(len(problem.schema.constraints) + (plausibility is not None and plausibility.lower > -math.inf)))


def smallest_conflicts(problem: Problem) -> list[set[int]]:
    """All smallest sets of demands that no row meets."""
    demands = demands_of(problem)
    for size in range(len(demands) + 1):
        subsets = combinations(demands, size)
        conflicts = [set(subset) for subset in subsets if not len(answers_of(kept(problem, subset)).rows)]
        if conflicts:
            return conflicts
    return []


def named(problem: Problem, conflict: Conflict) -> set[int]:
    """The demands of a conflict by number."""
    constraints = problem.schema.constraints
    return {
        len(constraints) if reason.constraint is None else constraints.index(reason.constraint) for reason in conflict.reasons
    }


def clearly_infeasible(problem: Problem) -> bool:
    """Whether no row meets all demands, by more than rounding (a weight of likelihood alone is no demand)."""
    clear = answers_of(problem).sure.all() and answers_of(kept(problem, ())).sure.all()
    return bool(clear) and solve(kept(problem, demands_of(problem))).status == "infeasible"


@given(problems(rows=150, features=3), generators())
def test_smallest_conflict(problem: Problem, rng: np.random.Generator) -> None:
    without_answer = [asked for asked in variants(problem, rng, 12) if clearly_infeasible(asked)]
    assume(without_answer)
    for asked in without_answer[:4]:
        conflict = why(asked, solve)
        wanted = smallest_conflicts(asked)
        assert conflict.smallest
        assert named(asked, conflict) in wanted
        for reason, demand in zip(conflict.reasons, sorted(named(asked, conflict)), strict=True):
            answers = answers_of(kept(asked, set(demands_of(asked)) - {demand}))
            if not answers.sure.all():
                continue  # whether a row is likely enough is a matter of rounding
            assert (reason.without is None) == (not len(answers.rows))
            if reason.without is not None:
                assert reason.without == pytest.approx(answers.best, abs=1e-6 + rounding(answers.best))


def loan(*rules: likely.schema.Constraint, least: float = -math.inf) -> Problem:
    """Granted if n + 2 m >= 8; now n is 1, m is 0 and c is 'a'."""
    features = (likely.Integer("n", 0, 6), likely.Categorical("c", ("a", "b", "d")), likely.Integer("m", 0, 4))
    schema = likely.Schema(features, rules)
    columns = (Column(0, 1.0), Column(2, 2.0))
    form = LinearModel(Link("logistic"), ("no", "yes"), columns, np.array([[1.0, 1.0]]), np.array([-7.5]))
    circuit = circuit_of(np.random.default_rng(0), schema)
    plausibility = Plausibility(circuit, lower=least) if least > -math.inf else None
    return Problem(schema, np.array([1.0, 0.0, 0.0]), form, to_class(form, "yes"), plausibility)


def test_in_words() -> None:
    conflict = why(loan(likely.Immutable("n"), likely.Range("m", upper=2), likely.Immutable("c")), solve)
    assert [reason.demand for reason in conflict.reasons] == ["'n' may not change", "'m' must be at most 2"]
    lines = str(conflict).splitlines()
    assert lines[0] == "These demands cannot be met together:"
    assert lines[1].startswith("- 'n' may not change: without this, there is an answer at cost ")
    assert len(lines) == 3


def test_a_threshold_says_what_can_be_reached() -> None:
    problem = loan(least=-1.0)
    (reason,) = why(problem, solve).reasons
    most = likeliest(problem, solve)
    assert reason.constraint is None
    assert reason.reachable == most
    assert str(reason).startswith("an answer must be likely enough (a log-likelihood of at least -1.00): without this, there is ")
    assert str(reason).endswith(f"; the likeliest row that meets all the other demands has {most:.2f}")


def test_a_goal_beyond_every_row_needs_no_demand() -> None:
    form = LinearModel(Link("logistic"), ("no", "yes"), (Column(0, 1.0),), np.array([[1.0]]), np.array([-100.0]))
    problem = Problem(likely.Schema((likely.Integer("n", 0, 6),)), np.array([1.0]), form, to_class(form, "yes"))
    assert str(why(problem, solve)) == "Whatever the rules, the model decides no row within the features' bounds as wanted."


def test_a_problem_with_an_answer_is_refused() -> None:
    with pytest.raises(ProblemError, match="A problem to explain must have no answer; got one that has"):
        why(loan(), solve)
    with pytest.raises(ProblemError, match="A problem must have a circuit to ask for likelihoods"):
        likeliest(loan(), solve)


def test_undecided_is_not_called_smallest() -> None:
    def never(problem: Problem, limits: Limits) -> likely.problem.Result:
        full = len(problem.schema.constraints) == 3
        result = solve(problem, limits)
        return result if full else likely.problem.Result("unknown", (), result.bounds)

    conflict = why(loan(likely.Immutable("n"), likely.Range("m", upper=2), likely.Immutable("c")), never)
    assert not conflict.smallest
    assert len(conflict.reasons) == 3
