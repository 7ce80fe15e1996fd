"""What other solvers say of a question of the frontier, in the same words as our engine: a record per question."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import rivals
from frontier_questions import Numbers, Question, Table

from likely.predictor import Form
from likely.problem import Limits, Result

#: An answer is certified if nothing is cheaper by more than this share: what an explanation claims, and MIP solvers.
GAP = 1e-4
#: An answer that is worse than the best one known by this share of it at most is near it.
NEAR = 0.05


def solved(solve: Callable[..., Result], question: Question, seconds: float) -> dict[str, Any]:
    """What an engine of ours says, how long it took, and how its best answer became better."""
    clock, processor = time.perf_counter(), time.process_time()
    result = solve(question.problem, Limits(seconds=seconds, relative_gap=GAP), starts=question.starts)
    took, used = time.perf_counter() - clock, time.process_time() - processor
    better: list[tuple[float, float]] = []
    for now in result.statistics.trace:
        if now.upper < (better[-1][1] if better else math.inf):
            better.append((round(now.seconds, 4), now.upper))
    return {
        "row": question.row, "status": result.status, "certified": result.status in ("optimal", "infeasible"),
        "seconds": took, "processor_seconds": used, "nodes": result.statistics.nodes,
        "upper": finite(result.bounds.upper), "lower": finite(result.bounds.lower), "answers": better,
    }  # fmt: skip


def finite(number: float | None) -> float | None:
    """A number as JSON can have it."""
    return number if number is not None and math.isfinite(number) else None


def of_trees(
    table: Table, form: Form, rows: Numbers, seconds: float, python: Path, wanted: Collection[str]
) -> dict[str, list[dict[str, Any]]]:
    """What wanted rivals of another interpreter say of a forest, without a likelihood: per rival, a record per row.

    treecf minimises our cost with its exact backend, OCEAN by a constraint programme. veritas does not know it and finds
    the least *largest* weighted change, an easier question. What a rival prepares once per model is not in its time.
    """
    answers = rivals.asked(table.schema, form, rows, seconds, python, wanted)
    return {
        rival: [
            {
                "row": row, "status": answer["status"], "certified": answer["status"] in ("optimal", "infeasible"),
                "seconds": answer["seconds"], "processor_seconds": answer["processor_seconds"],
                "nodes": answer.get("search_nodes", 0), "upper": finite(answer["upper"]), "lower": finite(answer["lower"]),
                "answers": [],
            }
            for row, answer in enumerate(of_rival)
        ]
        for rival, of_rival in answers.items()
    }  # fmt: skip


def near_seconds(record: dict[str, Any], best: float) -> float:
    """When an answer was there that is near the best one; infinite if none was."""
    return next((seconds for seconds, upper in record["answers"] if upper <= best + NEAR * abs(best) + 1e-9), math.inf)
