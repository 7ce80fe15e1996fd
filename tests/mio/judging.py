"""What the second engine must say of a problem: what the first says, and brute force."""

from __future__ import annotations

import math
from dataclasses import replace

from likely import search
from likely.errors import ContradictionError
from likely.problem import Alternative, Bounds, Limits, Problem, Result
from likely.schema import LinearConstraint

LIMITS = Limits(seconds=5)
#: A solver's tolerances, through prices of up to a few units.
SAME = 1e-5
#: How far from an edge solvers agree.
EDGE = 1e-5
#: The smallest coefficient of a linear rule that a solver reads as it is, with room to spare (HiGHS: 1e-9).
SMALLEST = 1e-7


def approximate(problem: Problem) -> Problem:
    """The problem with the paper's maximum for sums."""
    plausibility = problem.plausibility
    return problem if plausibility is None else replace(problem, plausibility=replace(plausibility, approximate=True))


def alike(one: Result, other: Result) -> bool:
    """Whether two results are the same claim: infeasible, or answers of the same objectives within a solver's tolerances."""
    if not {one.status, other.status} <= {"optimal", "infeasible"} or one.status != other.status:
        return False
    objectives = [[solution.objective for solution in result.solutions] for result in (one, other)]
    return len(objectives[0]) == len(objectives[1]) and all(
        math.isclose(a, b, rel_tol=SAME, abs_tol=SAME) for a, b in zip(*objectives, strict=True)
    )


def agree(problem: Problem, limits: Limits, result: Result) -> None:
    """The result is that of the exact engine.

    Or the problem stands on an edge, where a solver's tolerances decide: asked for a little more or a little less, the exact
    engine itself says something else. Then, and where a limit came first, the bounds must hold what it says of both. And so they
    must where the solver proved the optimum, but by its tolerances the row that it found for it is no answer, and where it may
    say that it does not know because it cannot read a rule.
    """
    exact = search.solve(problem, limits)
    if alike(exact, result):
        return
    less, more = (solved(problem, by, limits) for by in (-EDGE, EDGE))
    late = result.statistics.seconds > 0.9 * limits.seconds
    proved = math.isclose(result.bounds.lower, best_of(exact), rel_tol=SAME, abs_tol=SAME)
    undecided = result.status in ("feasible", "unknown") and (late or proved or not readable(problem))
    assert undecided or not alike(less, more), (less, result)
    assert best_of(result) >= best_of(less) - SAME * (1 + abs(best_of(less))) or less.status == "infeasible"
    if limits.solutions == 1:
        assert result.bounds.lower <= best_of(more) + SAME * (1 + abs(best_of(more)))


def readable(problem: Problem) -> bool:
    """Whether a solver can read the linear rules as they are meant: it takes a coefficient that is too small for none."""
    rules = [rule for rule in problem.schema.constraints if isinstance(rule, LinearConstraint)]
    sizes = [abs(coefficient) for rule in rules for _, coefficient in rule.coefficients if coefficient]
    return all(SMALLEST <= size <= 1 / SMALLEST for size in sizes)


def best_of(result: Result) -> float:
    """The objective of the best answer; infinite if there is none."""
    return result.solutions[0].objective if result.solutions else math.inf


def solved(problem: Problem, by: float, limits: Limits) -> Result:
    """What the exact engine says if goal, threshold and sums are asked for by a little more."""
    try:
        return search.solve(moved(problem, by), limits)
    except ContradictionError:
        return Result("infeasible", (), Bounds(math.inf, math.inf))


def moved(problem: Problem, by: float) -> Problem:
    """The problem with goal, threshold and sums asked for by a little more."""
    alternatives = tuple(_moved_alternative(alternative, by) for alternative in problem.goal.alternatives)
    plausibility = problem.plausibility
    if plausibility is not None and plausibility.lower > -math.inf:
        plausibility = replace(plausibility, lower=plausibility.lower + by * (1 + abs(plausibility.lower)))
    rules = tuple(
        replace(rule, upper=rule.upper - by * (1 + abs(rule.upper))) if isinstance(rule, LinearConstraint) else rule
        for rule in problem.schema.constraints
    )
    schema = replace(problem.schema, constraints=rules)
    return replace(problem, schema=schema, goal=replace(problem.goal, alternatives=alternatives), plausibility=plausibility)


def _moved_alternative(alternative: Alternative, by: float) -> Alternative:
    share = alternative.share
    if share is not None:
        low, high = (min(1.0, max(0.0, end)) for end in (share.low * (1 + by), share.high * (1 - by)))
        share = replace(share, low=min(low, high), high=high)
    return replace(alternative, lower=alternative.lower + by * (1 + abs(alternative.lower)), share=share)
