"""`held_against_rows`: what a solver claims, held against rows that the exact engine finds."""

from __future__ import annotations

import math
from dataclasses import replace

from likely import search
from likely.mio.tolerances import NOISE, TESTED_NODES
from likely.problem import Limits, Problem, Result, Statistics
from likely.problem.tolerances import rounding
from likely.schema.values import Numbers


def held_against_rows(problem: Problem, limits: Limits, result: Result, starts: Numbers | None = None) -> Result:
    """A solver's result, unless a row refutes it; then all that stands is what the exact engine knows: its rows and its bound.

    A solver computes in floating point under tolerances, and what it derives wrongly nobody sees in its answer. So the exact
    engine searches for some nodes, from the same answers on, within the time that is left. That it finds no better row proves
    nothing: `proof` stays "solver".

    Args:
        problem: What is asked.
        limits: Of the whole search.
        result: What the solver claims.
        starts: Rows that may be answers.
    """
    left = limits.seconds - result.statistics.seconds
    claims_nothing = result.bounds.lower == -math.inf and result.status in ("feasible", "unknown")
    if claims_nothing or left <= 0 or result.interrupted:
        return result
    trial = replace(limits, seconds=left, nodes=TESTED_NODES)
    exact = search.solve(problem, trial, starts=starts)
    before = result.statistics
    seconds = before.seconds + exact.statistics.seconds
    if not _refutes(exact, result, limits):
        return replace(result, statistics=replace(before, seconds=seconds))
    nodes, tests = before.nodes + exact.statistics.nodes, before.tested + exact.statistics.tested
    return replace(exact, statistics=Statistics(nodes, tests, 0, seconds, trace=before.trace))


def _refutes(exact: Result, claimed: Result, limits: Limits) -> bool:
    """Whether rows are better than the claim allows, by more than the gap and a solver's tolerances.

    Among the i best rows that differ, all but the claimed answers cost at least the claimed bound.
    """
    for i, solution in enumerate(exact.solutions):
        least = claimed.bounds.lower
        if i < len(claimed.solutions):
            least = min(least, claimed.solutions[i].objective)
        objective = solution.objective
        gap = max(limits.absolute_gap, limits.relative_gap * abs(objective)) + rounding(objective, NOISE)
        if objective < least - gap:
            return True
    return False
