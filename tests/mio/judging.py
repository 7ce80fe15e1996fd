"""What the second engine must say of a problem: what the first says, and brute force."""

from __future__ import annotations

import math
from dataclasses import replace

from likely.problem import Limits, Problem, Result

LIMITS = Limits(seconds=5)
#: A solver's tolerances, through prices of up to a few units.
SAME = 1e-5


def approximate(problem: Problem) -> Problem:
    """The problem with the paper's maximum for sums."""
    own = problem.plausibility
    return problem if own is None else replace(problem, plausibility=replace(own, approximate=True))


def same(one: Result, other: Result) -> None:
    """The same claim: infeasible, or an optimum within the solver's tolerances."""
    assert one.status in ("optimal", "infeasible"), one
    assert other.status in ("optimal", "infeasible"), other
    assert one.status == other.status, (one, other)
    found = [[own.objective for own in result.solutions] for result in (one, other)]
    assert len(found[0]) == len(found[1]), found
    for a, b in zip(*found, strict=True):
        assert math.isclose(a, b, rel_tol=SAME, abs_tol=SAME), found
