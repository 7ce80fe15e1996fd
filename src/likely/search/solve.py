"""`solve`: a problem's cheapest rows, with a proof, by branch and bound in the compiled core."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from likely.problem import Bounds, Limits, Problem, Progress, Result, Solution, Statistics
from likely.schema.values import Numbers
from likely.search.compile import compiled


def solve(
    problem: Problem,
    limits: Limits | None = None,
    *,
    starts: Numbers | None = None,
    callback: Callable[[Progress], bool] | None = None,
) -> Result:
    """The best rows of a problem.

    `starts` are rows that may be answers (training rows of the wanted class, a known answer): the search begins with the
    best of them. `callback` is called some thirty times a second; if it returns False, the search ends there, as it does
    at Ctrl-C, with what it has.
    """
    limits = limits or Limits()
    rows = np.empty((0, len(problem.schema))) if starts is None else np.ascontiguousarray(starts, dtype=np.float64)
    moved = None if callback is None else lambda *now: bool(callback(Progress(*now)))
    found = compiled(problem).solve(
        limits.seconds,
        limits.nodes,
        limits.absolute_gap,
        limits.relative_gap,
        limits.solutions,
        limits.other_features,
        limits.pool_gap,
        rows,
        moved,
    )
    solutions = tuple(
        Solution(np.array(row), objective, cost, likelihood, problem.goal.alternatives[alternative].class_index)
        for row, objective, cost, likelihood, alternative in found["solutions"]
    )
    statistics = Statistics(
        found["boxes"],
        found["tested"],
        found["filtered"],
        found["seconds"],
        found["seconds_score"],
        found["seconds_likelihood"],
        tuple(Progress(*now) for now in found["trace"]),
    )
    bounds = Bounds(found["found"], found["proven"])
    return Result(found["status"], solutions, bounds, statistics, found["interrupted"])
