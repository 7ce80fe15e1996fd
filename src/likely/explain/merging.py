"""Several results as one: the best rows of all, and what is proved of the rest."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from likely.explain.query import Query
from likely.problem import Bounds, Limits, Progress, Proof, Result, Solution, Statistics, Status
from likely.problem.tolerances import TIE
from likely.schema import Constraint, Forbid
from likely.schema.conditions import changes
from likely.schema.values import Name

#: What a search says that was finished.
_FINISHED = {"optimal", "infeasible"}
#: How often more answers are searched for, where several turn out to be the same.
_MORE = 3


class Search(Protocol):
    """A search under limits; from now on with a further constraint, if one is given."""

    def __call__(self, limits: Limits, further: Constraint | None = None) -> Result:
        """The best rows, and what is proved of the others."""


def merged(results: Sequence[Result], limits: Limits) -> Result:
    """The result of searching the union of several problems that no row has in common."""
    if len(results) == 1:
        return results[0]
    candidates = sorted((solution for result in results for solution in result.solutions), key=lambda row: row.objective)
    pool, left_out = _pool(candidates, limits)
    lower = min([result.bounds.lower for result in results] + [solution.objective for solution in left_out])
    upper = pool[-1].objective if pool else math.inf
    interrupted = any(result.interrupted for result in results)
    status = _status(results, enough(pool, limits))
    return Result(status, tuple(pool), Bounds(upper, lower), _total(results), interrupted, _proof(results))


def enough(pool: Sequence[Solution], limits: Limits) -> float:
    """What a bound must reach so that nothing below it matters: all answers that are wanted are known; infinite if they are not.

    Args:
        pool: The answers that are known, the best first.
        limits: How many are wanted, and how far the bounds of an optimum may be apart.
    """
    if len(pool) < limits.solutions:
        return math.inf
    last = pool[limits.solutions - 1].objective
    return last - max(limits.absolute_gap, limits.relative_gap * abs(last))


def in_turn(search: Search, query: Query) -> Result:
    """Answers one after the other, none of which changes all that a better one changes.

    Each search is asked to leave a feature of every answer before as it is; so it has the proof of its own answer, and the
    last one that of the list. It ends with the time, and when a search brings nothing that was not excluded before.
    """
    started = time.perf_counter()
    limits, rules = query.limits, list[Constraint | None]([None])
    results: list[Result] = []
    pool: list[Solution] = []
    while len(pool) < limits.solutions:
        result = search(replace(limits, solutions=1), rules[-1])
        results.append(result)
        if not result.solutions or _too_costly(result.solutions[0], pool, limits):
            break
        best = result.solutions[0]
        names = _changed(best, query)
        # of answers that are as good as each other, the one that changes less is kept
        pool = [other for other in pool if other.objective < best.objective - TIE or not names <= _changed(other, query)]
        pool.append(best)
        rule = Forbid(*map(changes, sorted(names, key=str))) if names else None
        if result.status != "optimal" or rule is None or rule in rules or time.perf_counter() - started > limits.seconds:
            break
        rules.append(rule)
    return _of_pool(pool, results)


def distinct(search: Search, limits: Limits) -> Result:
    """As many answers as the limits ask for that differ in some value.

    Answers that become the same row without changes that do nothing are one: then more are searched for, a few times.
    """
    results = [search(limits)]
    while len(results) < _MORE and results[-1].status == "optimal" and 0 < len(results[-1].solutions) < limits.solutions:
        result = search(replace(limits, solutions=limits.solutions * 2 ** len(results)))
        results.append(result)
        if len(result.solutions) == len(results[-2].solutions):
            break
    best = max(results, key=lambda result: len(result.solutions))
    pool, left_out = best.solutions[: limits.solutions], best.solutions[limits.solutions :]
    lower = min([best.bounds.lower, *(solution.objective for solution in left_out)])
    bounds = Bounds(pool[-1].objective if pool else best.bounds.upper, lower)
    return replace(best, solutions=pool, bounds=bounds, statistics=_total(results))


def _of_pool(pool: Sequence[Solution], results: Sequence[Result]) -> Result:
    """What the searches of `in_turn` prove together."""
    last = results[-1]
    exhausted = last.status == "infeasible" or (bool(last.solutions) and last.solutions[0] is not pool[-1])
    pool = sorted(pool, key=lambda answer: answer.objective)  # within the gap, a later one may be cheaper
    status: Status = "optimal" if pool and (exhausted or last.status == "optimal") else "feasible" if pool else last.status
    upper = pool[-1].objective if pool else math.inf
    lower = last.bounds.lower if not exhausted or not pool else max(upper, last.bounds.lower)
    return Result(status, tuple(pool), Bounds(upper, lower), _total(results), last.interrupted, _proof(results))


def _changed(solution: Solution, query: Query) -> frozenset[Name]:
    """The features that an answer changes."""
    new = query.changed(solution.row)
    return frozenset(feature.name for feature, here in zip(query.schema.features, new, strict=True) if here)


def total(parts: Sequence[Statistics]) -> Statistics:
    """What several searches took, one after the other.

    The trace of each goes on where the one before it ended; its bounds are those of its own search.

    Args:
        parts: What each took, in order.
    """
    trace: list[Progress] = []
    seconds, nodes = 0.0, 0
    for part in parts:
        trace += [replace(now, seconds=now.seconds + seconds, nodes=now.nodes + nodes) for now in part.trace]
        seconds, nodes = seconds + part.seconds, nodes + part.nodes
    return Statistics(
        nodes=nodes,
        tested=sum(part.tested for part in parts),
        filtered=sum(part.filtered for part in parts),
        seconds=seconds,
        seconds_score=sum(part.seconds_score for part in parts),
        seconds_likelihood=sum(part.seconds_likelihood for part in parts),
        trace=tuple(trace),
        most_open=max((part.most_open for part in parts), default=0),
    )


def _proof(results: Sequence[Result]) -> Proof:
    """All are proofs, or some are a solver's claims."""
    return "exact" if all(result.proof == "exact" for result in results) else "solver"


def _total(results: Sequence[Result]) -> Statistics:
    return total([result.statistics for result in results])


def _status(results: Sequence[Result], enough: float) -> Status:
    """Of all together; a search that was not finished does no harm where all that is left to it is no better than the answers."""
    if enough < math.inf and all(result.bounds.lower >= enough or result.status in _FINISHED for result in results):
        return "optimal"
    statuses = {result.status for result in results}
    if statuses <= _FINISHED:
        return "optimal" if "optimal" in statuses else "infeasible"
    return "feasible" if statuses & {"optimal", "feasible"} else "unknown"


def _pool(candidates: Sequence[Solution], limits: Limits) -> tuple[list[Solution], list[Solution]]:
    """The best ones that the limits allow, and the others."""
    pool: list[Solution] = []
    left_out: list[Solution] = []
    for solution in candidates:
        full = len(pool) == limits.solutions or _too_costly(solution, pool, limits)
        (left_out if full else pool).append(solution)
    return pool, left_out


def _too_costly(solution: Solution, better: Sequence[Solution], limits: Limits) -> bool:
    """Whether an answer is costlier than the best by more than the pool's gap allows."""
    if not better or limits.pool_gap == math.inf:
        return False
    return solution.objective > better[0].objective + limits.pool_gap * abs(better[0].objective)


def settled(result: Result, least: float, limits: Limits) -> bool:
    """Whether a problem need not be searched again: that is finished, nothing is left that matters, or nodes were the limit.

    Args:
        result: What is known of it.
        least: What a bound must reach so that nothing below it matters.
        limits: Of every search.
    """
    return result.status in _FINISHED or result.bounds.lower >= least or result.statistics.nodes >= limits.nodes


def after(before: Result, now: Result) -> Result:
    """A search that was done again, longer: what it found, and all that is proved.

    Args:
        before: The first time.
        now: The second time, begun with the answers of the first.
    """
    bounds = replace(now.bounds, lower=max(before.bounds.lower, now.bounds.lower))
    return replace(now, bounds=bounds, statistics=_total([before, now]))


def unsearched() -> Result:
    """What is known before any search."""
    return Result("unknown", (), Bounds(math.inf, -math.inf))
