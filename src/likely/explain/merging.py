"""Several results as one: the best rows of all, and what is proved of the rest."""

from __future__ import annotations

import math
from collections.abc import Sequence

from likely.explain.query import same_rows
from likely.problem import Bounds, Limits, Result, Solution, Statistics, Status
from likely.schema.values import Numbers


def merged(results: Sequence[Result], limits: Limits, factual: Numbers) -> Result:
    """The result of searching the union of several problems that no row has in common."""
    if len(results) == 1:
        return results[0]
    found = sorted((own for result in results for own in result.solutions), key=lambda own: own.objective)
    kept, left = _chosen(found, limits, factual)
    proven = min([result.bounds.proven for result in results] + [own.objective for own in left])
    last = kept[-1].objective if kept else math.inf
    statistics = Statistics(
        boxes=sum(result.statistics.boxes for result in results),
        tested=sum(result.statistics.tested for result in results),
        seconds=sum(result.statistics.seconds for result in results),
    )
    interrupted = any(result.interrupted for result in results)
    return Result(_status(results), tuple(kept), Bounds(last, proven), statistics, interrupted)


def _status(results: Sequence[Result]) -> Status:
    said = {result.status for result in results}
    if said <= {"optimal", "infeasible"}:
        return "optimal" if "optimal" in said else "infeasible"
    return "feasible" if said & {"optimal", "feasible"} else "unknown"


def _chosen(found: Sequence[Solution], limits: Limits, factual: Numbers) -> tuple[list[Solution], list[Solution]]:
    """The best ones that the limits allow, and the others; one that changes what a better one does is neither."""
    kept: list[Solution] = []
    left: list[Solution] = []
    sets: set[bytes] = set()
    for own in found:
        changed = (~same_rows(own.row, factual)).tobytes()
        if limits.other_features and changed in sets:
            continue
        sets.add(changed)
        far = kept and limits.within < math.inf and own.objective > kept[0].objective + limits.within * abs(kept[0].objective)
        (left if far or len(kept) == limits.solutions else kept).append(own)
    return kept, left


def unsearched() -> Result:
    """What is known before any search."""
    return Result("unknown", (), Bounds(math.inf, -math.inf))
