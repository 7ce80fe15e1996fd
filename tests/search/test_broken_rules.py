"""Rules that the row to explain breaks: they are decided before reals are cut ever finer, so that few nodes are enough."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import likely
from likely import when
from likely.predictor import Column, LinearModel, Link, ReluNetwork
from likely.problem import Limits, Problem, between
from likely.schema import Constraint, Schema
from likely.search import solve

COUNT = 6
NAMES = [f"x{j}" for j in range(COUNT)]
LIMITS = Limits(nodes=3_000, relative_gap=1e-6)
# Of a rule, the ways to keep it: each is a rule that boxes show at once.
HOLE = (
    likely.Forbid(when.at_least("x4", -0.5), when.at_most("x4", 0.25)),
    [
        [likely.Range("x4", None, np.nextafter(-0.5, -1))],
        [likely.Range("x4", np.nextafter(0.25, 1), None)],
    ],
)
EITHER = (
    likely.Forbid(when.at_most("x4", 0.5), when.at_most("x5", 0.75)),
    [
        [likely.Range("x4", np.nextafter(0.5, 1), None)],
        [likely.Range("x5", np.nextafter(0.75, 1), None)],
    ],
)
SAME_FEATURE_TWICE = (
    likely.Forbid(~when.equals("x4", 0.4), ~when.at_most("x4", -1.0), ~when.at_least("x5", 2.0)),
    [
        [likely.Range("x4", 0.4, 0.4)],
        [likely.Range("x4", None, -1.0)],
        [likely.Range("x5", 2.0, None)],
    ],
)
RULES = {"hole": HOLE, "either": EITHER, "same feature twice": SAME_FEATURE_TWICE}


@pytest.mark.parametrize("kind", ["linear", "network"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(3))
def test_the_cheapest_of_all_ways_to_keep_it(kind: str, rule: str, seed: int) -> None:
    broken, ways = RULES[rule]
    result = solve(problem_of(kind, seed, [broken]), LIMITS)
    best = min(solve(problem_of(kind, seed, way), LIMITS).bounds.upper for way in ways)
    assert result.status == "optimal"
    assert result.bounds.upper == pytest.approx(best, rel=1e-5)


def test_two_broken_rules() -> None:
    problem = problem_of("linear", 0, [HOLE[0], EITHER[0]])
    result = solve(problem, LIMITS)
    assert result.status == "optimal"
    both = [[*HOLE[1][0], *EITHER[1][1]], EITHER[1][0], [*HOLE[1][1], *EITHER[1][1]]]  # above 0.5, x4 is beyond the hole, too
    best = min(solve(problem_of("linear", 0, way), LIMITS).bounds.upper for way in both)
    assert result.bounds.upper == pytest.approx(best, rel=1e-5)
    assert problem.admits(result.solutions[0].row[None]).all()


def problem_of(kind: str, seed: int, rules: Sequence[Constraint]) -> Problem:
    """A score of the first four features; the rules are about the other two, so that no score or cost leads to them."""
    rng = np.random.default_rng(seed)
    schema = Schema(tuple(likely.Continuous(name, -3, 3) for name in NAMES), constraints=tuple(rules))
    columns = tuple(Column(j, 1.0) for j in range(COUNT))
    read = np.arange(COUNT) < 4
    if kind == "linear":
        form: LinearModel | ReluNetwork = LinearModel(
            Link("sign"), (0, 1), columns, (rng.normal(size=COUNT) * read)[None], np.array([-2.0])
        )
    else:
        layers = ((rng.normal(size=(5, COUNT)) * read, rng.normal(size=5)), (rng.normal(size=(1, 5)), np.array([-2.0])))
        form = ReluNetwork(Link("sign"), (0, 1), columns, layers)
    factual = np.zeros(COUNT)
    reached = np.sort(form.score(rng.uniform(-3, 3, (2_000, COUNT)))[:, 0])[-400]
    return Problem(schema, factual, form, between(form, float(reached), np.inf))
