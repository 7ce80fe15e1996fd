"""Several results as one: the best rows of all, and what is proved of the rest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from likely.explain.query import Query, same_rows
from likely.problem import Bounds, Limits, Result, Solution, Statistics, Status
from likely.schema import Constraint, Forbid
from likely.schema.conditions import changes
from likely.schema.values import Name

#: Answers whose objectives differ by less are as good as each other; of these the one that changes less is kept.
TIE = 2e-6


class Search(Protocol):
    """A search under limits, with more constraints."""

    def __call__(self, limits: Limits, more: Sequence[Constraint]) -> Result:
        """What is found."""


def merged(results: Sequence[Result], limits: Limits) -> Result:
    """The result of searching the union of several problems that no row has in common."""
    if len(results) == 1:
        return results[0]
    found = sorted((own for result in results for own in result.solutions), key=lambda own: own.objective)
    kept, left = _chosen(found, limits)
    proven = min([result.bounds.lower for result in results] + [own.objective for own in left])
    last = kept[-1].objective if kept else math.inf
    interrupted = any(result.interrupted for result in results)
    return Result(_status(results), tuple(kept), Bounds(last, proven), _together(results), interrupted)


def in_turn(search: Search, query: Query) -> Result:
    """Answers one after the other, none of which changes all that a better one changes.

    Each search is asked to leave a feature of every answer before as it is; so it has the proof of its own answer, and the
    last one that of the list.
    """
    limits, rules = query.limits, list[Constraint]()
    results: list[Result] = []
    found: list[Solution] = []
    while len(found) < limits.solutions:
        own = search(replace(limits, solutions=1), rules)
        results.append(own)
        if not own.solutions or _far(own.solutions[0], found, limits):
            break
        names = _changed(own.solutions[0], query)
        best = own.solutions[0]
        found = [other for other in found if other.objective < best.objective - TIE or not names <= _changed(other, query)]
        found.append(best)
        if own.status != "optimal" or not names:
            break
        rules.append(Forbid(*map(changes, sorted(names, key=str))))
    last = results[-1]
    ended = last.status == "infeasible" or (bool(last.solutions) and last.solutions[0] is not found[-1])
    status: Status = "optimal" if found and (ended or last.status == "optimal") else "feasible" if found else last.status
    worst = found[-1].objective if found else math.inf
    proven = last.bounds.lower if not ended or not found else max(worst, last.bounds.lower)
    return Result(status, tuple(found), Bounds(worst, proven), _together(results), last.interrupted)


def _changed(own: Solution, query: Query) -> frozenset[Name]:
    """The features that an answer changes."""
    new = ~same_rows(own.row, query.factual)
    return frozenset(feature.name for feature, here in zip(query.schema.features, new, strict=True) if here)


def _together(results: Sequence[Result]) -> Statistics:
    return Statistics(
        nodes=sum(result.statistics.nodes for result in results),
        tested=sum(result.statistics.tested for result in results),
        seconds=sum(result.statistics.seconds for result in results),
    )


def _status(results: Sequence[Result]) -> Status:
    said = {result.status for result in results}
    if said <= {"optimal", "infeasible"}:
        return "optimal" if "optimal" in said else "infeasible"
    return "feasible" if said & {"optimal", "feasible"} else "unknown"


def _chosen(found: Sequence[Solution], limits: Limits) -> tuple[list[Solution], list[Solution]]:
    """The best ones that the limits allow, and the others."""
    kept: list[Solution] = []
    left: list[Solution] = []
    for own in found:
        (left if _far(own, kept, limits) or len(kept) == limits.solutions else kept).append(own)
    return kept, left


def _far(own: Solution, better: Sequence[Solution], limits: Limits) -> bool:
    """Whether an answer is dearer than the best by more than was asked for."""
    if not better or limits.pool_gap == math.inf:
        return False
    return own.objective > better[0].objective + limits.pool_gap * abs(better[0].objective)


def unsearched() -> Result:
    """What is known before any search."""
    return Result("unknown", (), Bounds(math.inf, -math.inf))
