"""The paper's queries: how many are answered with a proof, how well, and how fast.

    python benchmarks/paper_cases.py DIR [--variant median sample] [--limit-seconds 60] [--json OUT]

DIR holds case files (`*.json.gz`): schema, network, circuit and factuals, with the answers of the authors' Gurobi runs
and the best answers known. Every query is asked on one thread. Its time is all that a caller pays from the user's row to
the answer: encoding it, building the problem, compiling it and the search ("search" is the last alone).

An answer is worse than the best known, or than the paper's, if its objective under the exact likelihood is greater by more
than 1e-5, or if there is none. Of the paper's rows, those count that are answers as published: within the domains and rules,
of the other class by the margin, and likely enough. They have six decimals, so margin and threshold may be missed by 1e-6.
"wrong" counts answers that are none when judged without the engine, or are better than was proved possible.
Training rows are no part of a case, so the search starts from none.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

import cases
import numpy as np
from summary import Column, head, line, one_thread, share, spread

from likely.problem import Limits, Problem, Result
from likely.problem.tolerances import SUM_ROUNDING
from likely.search import solve

#: Objectives this close are the same.
SAME = 1e-5
#: Published rows have six decimals.
PUBLISHED = 1e-6


def asked(case: cases.Case, query: cases.Query, limits: Limits) -> dict[str, Any]:
    """One query, answered and judged."""
    clock, processor = time.perf_counter(), time.process_time()
    problem = cases.problem(case, query)
    result = solve(problem, limits)
    seconds, processor_seconds = time.perf_counter() - clock, time.process_time() - processor
    objective = result.solutions[0].objective if result.solutions else math.inf
    paper = paper_objective(problem, query)
    return {
        "seconds": seconds,
        "processor_seconds": processor_seconds,
        "search_seconds": result.statistics.seconds,
        "nodes": result.statistics.nodes,
        "status": result.status,
        "worse_than_best_known": query.best is not None and objective > query.best + SAME,
        "against_a_proof": against_a_proof(query, objective),
        "worse_than_paper": objective > paper + SAME,
        "paper_answered": paper < math.inf,
        "wrong": wrong(problem, result),
        "paper_seconds": query.paper_seconds,
    }


def against_a_proof(query: cases.Query, objective: float) -> bool:
    """Whether an answer is better than was proved possible."""
    if query.proof == "infeasible":
        return objective < math.inf
    return query.proof == "optimal" and query.best is not None and objective < query.best - SAME


def wrong(problem: Problem, result: Result) -> bool:
    """Whether an answer is none, or not worth what the engine says."""
    if not result.solutions:
        return False
    rows = np.array([solution.row for solution in result.solutions])
    said = np.array([solution.objective for solution in result.solutions])
    judged = problem.solutions(rows, slack=SUM_ROUNDING)
    objectives = [math.inf if solution is None else solution.objective for solution in judged]
    return not np.allclose(objectives, said, rtol=0, atol=1e-8)


def paper_objective(problem: Problem, query: cases.Query) -> float:
    """The best of the paper's rows under the exact likelihood; infinite if none is an answer."""
    if not query.paper_rows:
        return math.inf
    rows = np.array([problem.schema.encode_row(row) for row in query.paper_rows])
    answers = problem.solutions(rows, slack=PUBLISHED)
    return min((answer.objective for answer in answers if answer is not None), default=math.inf)


def summed(case: str, variant: str, answers: list[dict[str, Any]]) -> dict[str, Any]:
    """All queries of one file and variant."""
    status = [answer["status"] for answer in answers]
    counts = {
        key: sum(answer[key] for answer in answers)
        for key in ("worse_than_best_known", "worse_than_paper", "against_a_proof", "wrong")
    }
    timed = [answer for answer in answers if answer["paper_seconds"] is not None]
    paper = float(np.median([answer["paper_seconds"] for answer in timed])) if timed else None
    return {
        "case": case,
        "variant": variant,
        "queries": len(answers),
        "certified": share(each in ("optimal", "infeasible") for each in status),
        "found": share(each in ("optimal", "feasible") for each in status),
        "infeasible": share(each == "infeasible" for each in status),
        **counts,
        "paper_answered": share(answer["paper_answered"] for answer in answers) if timed else None,
        **{
            key: spread(answer[key] for answer in answers) for key in ("seconds", "processor_seconds", "search_seconds", "nodes")
        },
        "paper_seconds": paper,
        "speedup_over_paper": None if paper is None else paper / float(np.median([answer["seconds"] for answer in timed])),
    }  # fmt: skip


def _ms(key: str, which: str) -> Column:
    return which, 6, lambda item: f"{1e3 * item[key][which]:.1f}"


def _or_none(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


COLUMNS: list[Column] = [
    ("case", -12, lambda item: item["case"]),
    ("variant", -9, lambda item: item["variant"]),
    ("queries", 7, lambda item: str(item["queries"])),
    ("certified", 9, lambda item: f"{item['certified']:.1%}"),
    ("found", 6, lambda item: f"{item['found']:.0%}"),
    ("none", 5, lambda item: f"{item['infeasible']:.0%}"),
    ("worse", 5, lambda item: str(item["worse_than_best_known"])),
    ("than paper", 10, lambda item: str(item["worse_than_paper"]) if item["paper_seconds"] is not None else "-"),
    ("wrong", 5, lambda item: str(item["wrong"] + item["against_a_proof"])),
    ("ms: median", 10, lambda item: f"{1e3 * item['seconds']['median']:.1f}"),
    _ms("seconds", "p99"),
    _ms("seconds", "max"),
    ("processor", 9, lambda item: f"{1e3 * item['processor_seconds']['median']:.1f}"),
    ("search", 6, lambda item: f"{1e3 * item['search_seconds']['median']:.1f}"),
    ("nodes: median", 13, lambda item: f"{item['nodes']['median']:.0f}"),
    ("p99", 6, lambda item: f"{item['nodes']['p99']:.0f}"),
    ("max", 6, lambda item: f"{item['nodes']['max']:.0f}"),
    ("paper s", 7, lambda item: _or_none(item["paper_seconds"], ".1f")),
    ("ratio", 6, lambda item: _or_none(item["speedup_over_paper"], ".0f")),
]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--variant", nargs="*", help="only these, e.g. median (all that a file has)")
    parser.add_argument("--limit-seconds", type=float, default=60.0, help="per query (60)")
    parser.add_argument("--json", type=Path, metavar="OUT")
    options = parser.parse_args()
    limits = Limits(seconds=options.limit_seconds)
    results = []
    print(head(COLUMNS))
    for path in cases.files(options.folder):
        case = cases.read(path)
        for variant, queries in case.queries.items():
            if options.variant and variant not in options.variant:
                continue
            with one_thread():
                results.append(summed(case.name, variant, [asked(case, query, limits) for query in queries]))
            print(line(COLUMNS, results[-1]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
