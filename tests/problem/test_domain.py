"""Values off the grid: a factual that somebody computed is a value beside the multiple of the step that it nearly is."""

from __future__ import annotations

import math
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import likely
from likely import search
from likely.errors import ContradictionError
from likely.predictor import Column, LinearModel, Link
from likely.problem import Limits, Problem, to_class
from likely.problem.domain import partitions
from likely.schema import Constraint, Feature
from tests.oracles.search import space_of

#: 0.30000000000000004
COMPUTED = 0.1 + 0.2


def problem_of(feature: Feature, factual: float, *rules: Constraint) -> Problem:
    """The feature decides almost nothing beside a second one, `b`: any value of it will do."""
    schema = likely.Schema((feature, likely.Integer("b", 0, 3)), rules)
    row = np.array([factual, 0.0])
    columns = (Column(0, 0.01 / max(1.0, abs(factual)), 0.0, tuple(0.0 for _ in feature.atoms)), Column(1, 1.0, -1.5))
    form = LinearModel(Link("logistic"), (0, 1), columns, np.ones((1, 2)), np.zeros(1))
    return Problem(schema.widened(row), row, form, to_class(form, 1))


def optimum(problem: Problem) -> float:
    """By trying every row."""
    solutions = [solution for solution in problem.solutions(space_of(problem)) if solution is not None]
    return min((solution.objective for solution in solutions), default=math.inf)


def agreed(problem: Problem) -> float:
    """The optimum, which both engines and brute force have."""
    best = optimum(problem)
    results = [search.solve(problem)]
    if find_spec("pyomo") and find_spec("highspy"):
        from likely import mio

        results.append(mio.solve(problem, Limits(seconds=5), test=False))
    for result in results:
        assert result.status == ("optimal" if best < math.inf else "infeasible")
        if result.solutions:
            assert result.solutions[0].objective == pytest.approx(best, abs=1e-6)
            assert problem.solutions(result.solutions[0].row[None])[0] is not None
    return best


@pytest.mark.parametrize(
    "rule", [likely.AllowedValues("a", [0.3]), likely.Range("a", upper=0.3), likely.Range("a", 0.3, 0.3), likely.Decreasing("a")]
)
def test_the_multiple_beside_a_computed_factual(rule: Constraint) -> None:
    problem = problem_of(likely.Continuous("a", 0, 1, step=0.1), COMPUTED, rule)
    assert agreed(problem) < math.inf
    solution = search.solve(problem).solutions[0]
    assert solution.row[0] == (COMPUTED if isinstance(rule, likely.Decreasing) else 0.3)


def test_both_are_values() -> None:
    problem = problem_of(likely.Continuous("a", 0, 1, step=0.1), COMPUTED)
    part = partitions(problem)[0]
    for value in (0.3, COMPUTED, 0.2, 0.4):
        assert ((part.low <= value) & (value <= part.high)).sum() == 1, value
    rows = space_of(problem)
    assert {0.3, COMPUTED} <= set(rows[:, 0])


def test_neither_takes_the_other_out_of_the_k_best() -> None:
    """Asked for all rows, both engines have as many as there are."""
    pytest.importorskip("pyomo")
    pytest.importorskip("highspy")
    from likely import mio

    problem = problem_of(likely.Continuous("a", 0.2, 0.4, step=0.1), COMPUTED)
    limits = Limits(seconds=20, solutions=20)
    rows = {tuple(s.row) for s in problem.solutions(space_of(problem)) if s is not None}
    for result in (search.solve(problem, limits), mio.solve(problem, limits, test=False)):
        assert {tuple(solution.row) for solution in result.solutions} == rows


@pytest.mark.parametrize(
    ("feature", "factual"),
    [
        (likely.Continuous("a", COMPUTED, 1, step=0.1), 0.7),  # a bound above its multiple
        (likely.Continuous("a", 0, np.nextafter(0.3, 0), step=0.1), 0.1),  # a bound below its multiple
        (likely.Continuous("a", 0, COMPUTED, step=0.1), COMPUTED),
        (likely.Mixed("a", 0, 1, (0.3, -1.0), step=0.1), 0.1 + 0.6),  # a code that is a multiple
        (likely.Mixed("a", 0, 1, (-1.0,), step=0.1), COMPUTED),
        (likely.Continuous("a", 1e9, 1e9 + 1, step=0.1), 1e9 + COMPUTED),
        (likely.Continuous("a", 1e9, 1e9 + 1, step=0.1), float(np.nextafter(1e9 + 0.3, 2e9))),
        (likely.Continuous("a", -3e-7, 3e-7, step=1e-7), 3 * 1e-7),
        (likely.Continuous("a", 0, 1, step=0.1, dtype="float32"), float(np.float32(0.3))),
        (likely.Continuous("a", 0, 1, step=1 / 3), float(np.nextafter(1 / 3, 1))),
    ],
)  # fmt: skip
@pytest.mark.parametrize("ruled", ["free", "not the factual", "at most it", "at least it", "moves"])
def test_engines_agree(feature: Feature, factual: float, ruled: str) -> None:
    rules: dict[str, Any] = {
        "free": (),
        "not the factual": (likely.Range("a", upper=np.nextafter(factual, -math.inf)),),
        "at most it": (likely.Range("a", upper=factual),),
        "at least it": (likely.Range("a", lower=factual),),
        "moves": (likely.Implies(likely.when.changes("b"), likely.when.changes("a")),),
    }
    try:
        problem = problem_of(feature, factual, *rules[ruled])
    except ContradictionError:
        return
    agreed(problem)


def test_singles_have_no_twin_that_their_column_cannot_hold() -> None:
    factual = float(np.float32(0.3))
    problem = problem_of(likely.Continuous("a", 0, 1, step=0.1, dtype="float32"), factual)
    part = partitions(problem)[0]
    assert not ((part.low <= 0.3) & (part.high >= 0.3)).any()
    allowed = problem_of(
        likely.Continuous("a", 0, 1, step=0.1, dtype="float32"), factual, likely.AllowedValues("a", [np.float32(0.3)])
    )
    assert agreed(allowed) < math.inf


@pytest.mark.parametrize("lower", [0.0, 0.27])
def test_an_exception_is_a_value_beside_the_multiples(lower: float) -> None:
    feature = likely.Continuous("a", lower, 1, step=0.1, exceptions=(0.274, 5.0))
    part = partitions(problem_of(feature, 0.6))[0]
    assert ((part.low == 0.274) & (part.high == 0.274)).sum() == 1
    assert part.high.max() == 1.0, "not beyond the bounds"
    problem = problem_of(feature, 0.6, likely.Range("a", 0.25, 0.28))
    assert search.solve(problem).solutions[0].row[0] == 0.274
    assert search.solve(problem_of(feature, 0.6, likely.Range("a", 0.275, 0.42))).solutions[0].row[0] == 0.4
