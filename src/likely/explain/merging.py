"""Several results as one: the best rows of all, and what is proved of the rest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from likely.explain.plain import same_values
from likely.explain.query import Query
from likely.problem import Bounds, Limits, Proof, Result, Solution, Statistics, Status
from likely.problem.tolerances import TIE
from likely.schema import Constraint, Forbid
from likely.schema.conditions import changes
from likely.schema.values import Name


class Search(Protocol):
    """A search under limits, with more constraints."""

    def __call__(self, limits: Limits, more: Sequence[Constraint]) -> Result:
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
    return Result(_status(results), tuple(pool), Bounds(upper, lower), _total(results), interrupted, _proof(results))


def in_turn(search: Search, query: Query) -> Result:
    """Answers one after the other, none of which changes all that a better one changes.

    Each search is asked to leave a feature of every answer before as it is; so it has the proof of its own answer, and the
    last one that of the list.
    """
    limits, rules = query.limits, list[Constraint]()
    results: list[Result] = []
    pool: list[Solution] = []
    while len(pool) < limits.solutions:
        result = search(replace(limits, solutions=1), rules)
        results.append(result)
        if not result.solutions or _too_costly(result.solutions[0], pool, limits):
            break
        best = result.solutions[0]
        names = _changed(best, query)
        # of answers that are as good as each other, the one that changes less is kept
        pool = [other for other in pool if other.objective < best.objective - TIE or not names <= _changed(other, query)]
        pool.append(best)
        if result.status != "optimal" or not names:
            break
        rules.append(Forbid(*map(changes, sorted(names, key=str))))
    return _of_pool(pool, results)


def _of_pool(pool: Sequence[Solution], results: Sequence[Result]) -> Result:
    """What the searches of `in_turn` prove together."""
    last = results[-1]
    exhausted = last.status == "infeasible" or (bool(last.solutions) and last.solutions[0] is not pool[-1])
    status: Status = "optimal" if pool and (exhausted or last.status == "optimal") else "feasible" if pool else last.status
    upper = pool[-1].objective if pool else math.inf
    lower = last.bounds.lower if not exhausted or not pool else max(upper, last.bounds.lower)
    return Result(status, tuple(pool), Bounds(upper, lower), _total(results), last.interrupted, _proof(results))


def _changed(solution: Solution, query: Query) -> frozenset[Name]:
    """The features that an answer changes."""
    new = ~same_values(solution.row, query.factual)
    return frozenset(feature.name for feature, here in zip(query.schema.features, new, strict=True) if here)


def _total(results: Sequence[Result]) -> Statistics:
    return Statistics(
        nodes=sum(result.statistics.nodes for result in results),
        tested=sum(result.statistics.tested for result in results),
        seconds=sum(result.statistics.seconds for result in results),
    )


def _proof(results: Sequence[Result]) -> Proof:
    """All are proofs, or some are a solver's claims."""
    return "exact" if all(result.proof == "exact" for result in results) else "solver"


def _status(results: Sequence[Result]) -> Status:
    statuses = {result.status for result in results}
    if statuses <= {"optimal", "infeasible"}:
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


def unsearched() -> Result:
    """What is known before any search."""
    return Result("unknown", (), Bounds(math.inf, -math.inf))
