"""A goal and a sum of features that must both be kept: a linear programme, solved without cutting reals small."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import likely
from likely.predictor import Column, LinearModel, Link
from likely.problem import Limits, Problem, between
from likely.schema.costs import MoveCost
from likely.search import solve

ENDS = (-10.0, 10.0)
#: More than it needs; without a multiplier of the rule, some of these take millions. (The gap is relative because a rule may be
#: exceeded by 1e-9 of its terms, which is worth more than 1e-6 where rule and goal are nearly opposite.)
NODES = 2_000


def programme(rng: np.random.Generator, count: int) -> tuple[Problem, np.ndarray, np.ndarray, float, float]:
    """weights @ x >= least and coefficients @ x <= upper, both near each other's opposite, from a factual that keeps neither."""
    weights = rng.normal(size=count)
    coefficients = weights + rng.normal(size=count) * rng.choice([0.1, 1.0])
    factual = rng.uniform(-8, 8, count)
    least = float(weights @ factual) + rng.uniform(0.5, 4.0)
    # Lower, and the rule could exclude every row: a schema with such a rule is refused.
    lowest = 0.9 * ENDS[0] * float(np.abs(coefficients).sum())
    upper = max(float(coefficients @ factual) + rng.uniform(-2.0, 2.0), lowest)
    names = [f"x{j}" for j in range(count)]
    costs = tuple(MoveCost(*rng.uniform(0.1, 2.0, 2)) for _ in names)
    rule = likely.LinearConstraint(dict(zip(names, coefficients.tolist(), strict=True)), upper)
    schema = likely.Schema(tuple(likely.Continuous(name, *ENDS) for name in names), (rule,), costs)
    columns = tuple(Column(j, 1.0, 0.0) for j in range(count))
    form = LinearModel(Link("identity"), (), columns, weights[None], np.zeros(1))
    return Problem(schema, factual, form, between(form, low=least)), weights, coefficients, least, upper


def optimum(problem: Problem, weights: np.ndarray, coefficients: np.ndarray, least: float, upper: float) -> float | None:
    """The least cost by a linear programme over moves up and down; None if there is none."""
    costs = problem.schema.costs
    prices = [*(cost.up for cost in costs), *(cost.down for cost in costs)]  # type: ignore[attr-defined]
    both = [-np.concatenate([weights, -weights]), np.concatenate([coefficients, -coefficients])]
    factual = problem.factual
    answer = linprog(
        prices,
        A_ub=np.array(both),
        b_ub=[weights @ factual - least, upper - coefficients @ factual],
        bounds=[*((0, ENDS[1] - x) for x in factual), *((0, x - ENDS[0]) for x in factual)],
    )
    return float(answer.fun) if answer.success else None


@given(st.integers(0, 2**32), st.integers(2, 5))
def test_equals_a_linear_programme(seed: int, count: int) -> None:
    asked, *parts = programme(np.random.default_rng(seed), count)
    wanted, result = optimum(asked, *parts), solve(asked, Limits(nodes=NODES, relative_gap=1e-6))
    if wanted is None:
        assert result.status == "infeasible"
        return
    assert result.status == "optimal"
    assert abs(result.solutions[0].objective - wanted) < 1e-5 * (1 + wanted)
