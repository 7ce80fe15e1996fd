"""`solve`: a problem's cheapest rows, with a proof, by branch and bound in the compiled core."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from likely._core import SearchProblem
from likely.errors import EngineError, ProblemError
from likely.problem import Bounds, Limits, Problem, Progress, Result, Solution, Statistics
from likely.schema.values import Numbers
from likely.search.compile import compiled

#: Counts beyond it are no limit.
_MOST = 2**62


def solve(
    problem: Problem,
    limits: Limits | None = None,
    *,
    starts: Numbers | None = None,
    callback: Callable[[Progress], bool] | None = None,
    follow: Numbers | None = None,
) -> Result:
    """The best rows of a problem.

    Args:
        problem: what is asked for.
        limits: when to stop, and how many answers are wanted.
        starts: rows that may be answers (training rows of the wanted class, a known answer): the search begins with the
            best of them.
        callback: called some thirty times a second; if it returns False, the search ends there, as it does at Ctrl-C,
            with what it has.
        follow: for debugging the engine: one row, a known answer, that is followed through the tree. If some step loses
            it although it is better than all that was known then, `likely.errors.EngineError` names the step.
    """
    limits = limits or Limits()
    rows = _rows(problem, starts)
    core = compiled(problem)
    answer = core.solve(
        limits.seconds,
        min(limits.nodes, _MOST),
        limits.absolute_gap,
        limits.relative_gap,
        min(limits.solutions, _MOST),
        limits.other_features,
        limits.pool_gap,
        rows,
        None if callback is None else lambda *now: bool(callback(Progress(*now))),
        None if follow is None else _followed(core, follow),
    )
    if answer["loss"] is not None:
        raise _lost(*answer["loss"])
    solutions = tuple(
        Solution(np.array(row), objective, cost, likelihood, problem.goal.alternatives[alternative].class_index)
        for row, objective, cost, likelihood, alternative in answer["solutions"]
    )
    statistics = Statistics(
        answer["nodes"],
        answer["tested"],
        answer["filtered"],
        answer["seconds"],
        answer["seconds_score"],
        answer["seconds_likelihood"],
        tuple(Progress(*now) for now in answer["trace"]),
    )
    bounds = Bounds(answer["upper"], answer["lower"])
    return Result(answer["status"], solutions, bounds, statistics, answer["interrupted"])


def _rows(problem: Problem, starts: Numbers | None) -> Numbers:
    """Rows to begin with, if they are rows of the schema; those outside its domains are passed over by the core."""
    width = len(problem.schema)
    if starts is None:
        return np.empty((0, width))
    rows = np.ascontiguousarray(starts, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != width:
        raise ProblemError("Rows to start from", f"have {width} columns", f"shape {rows.shape}", "encode them with schema.encode")
    return rows


def _followed(core: SearchProblem, row: Numbers) -> list[float]:
    """A row to be followed, if it is one of the problem's domain."""
    numbers = [float(number) for number in row]
    if not core.contains(numbers):
        raise ProblemError("A row to follow", "be one of the schema", numbers, "encode it with schema.encode_row")
    return numbers


def _lost(step: str, node: int, objective: float, cutoff: float) -> EngineError:
    return EngineError(
        "The search",
        f"keep a row of objective {objective:g} while only rows of {cutoff:g} and above are excluded",
        f"none: it was lost in {step!r}, at node {node}",
        "see which demand the row misses; if it is an answer, this is a bug of the engine, please report it",
    )
