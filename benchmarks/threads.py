"""One hard query on several threads: how much sooner it ends, and whether it says the same.

    python benchmarks/threads.py [--threads 2] [--nodes 1000] [--rows 2]

Questions of the frontier (frontier_questions.py) that take long, each up to so many nodes, in turns on one thread and on several:
the ratio of seconds by the clock, and whether status, bounds, nodes and every answer are equal to the last bit.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from typing import Any

import frontier_questions as questions
import numpy as np
from summary import Column, head, line, one_thread

from likely import search
from likely.problem import Limits, Result

#: Data, model and likelihood of what takes long.
HARD = (
    ("breast_cancer", "20-10", "histograms"),
    ("twonorm", "20-10", "histograms"),
    ("twonorm", "20-10", "blocks"),
    ("sonar", "20-10", "blocks"),
    ("wine", "50-50", "none"),
    ("breast_cancer", "64-32", "none"),
    ("breast_cancer", "forest 100x6", "histograms"),
    ("twonorm", "XGBoost 100x3", "histograms"),
)


def said(result: Result) -> tuple[Any, ...]:
    """All that a result says but for the time."""
    answers = tuple((answer.row.tobytes(), answer.objective) for answer in result.solutions)
    return result.status, result.bounds, result.statistics.nodes, answers


def compared(question: questions.Question, threads: int, nodes: int) -> dict[str, Any]:
    """One question on one thread and on several, twice each in turns: the least of the seconds of each."""
    seconds: dict[int, float] = {1: math.inf, threads: math.inf}
    results = []
    for count in (1, threads, threads, 1):
        clock = time.perf_counter()
        results.append(search.solve(question.problem, Limits(nodes=nodes), starts=question.starts, n_jobs=count))
        seconds[count] = min(seconds[count], time.perf_counter() - clock)
    return {
        "row": question.row, "nodes": results[0].statistics.nodes, "one": seconds[1], "several": seconds[threads],
        "ratio": seconds[1] / seconds[threads], "same": len({said(result) for result in results}) == 1,
    }  # fmt: skip


def measured(threads: int, nodes: int, rows: int) -> Iterator[dict[str, Any]]:
    """Every hard question."""
    for data, model, density in HARD:
        table = questions.Table(data, "forests" if questions.MODELS[model][0] == "forests" else "others", rows)
        likelihood = questions.likelihood_of(table, density, None)
        fitted, form = questions.fitted(table, model)
        for question in questions.asked(table, fitted, form, likelihood, rows):
            yield {"data": data, "model": model, "density": density, **compared(question, threads, nodes)}


COLUMNS: list[Column] = [
    ("data", -13, lambda record: record["data"]),
    ("model", -13, lambda record: record["model"]),
    ("likelihood", -10, lambda record: record["density"]),
    ("row", 3, lambda record: str(record["row"])),
    ("nodes", 7, lambda record: str(record["nodes"])),
    ("1 thread: s", 11, lambda record: f"{record['one']:.2f}"),
    ("several: s", 10, lambda record: f"{record['several']:.2f}"),
    ("ratio", 5, lambda record: f"{record['ratio']:.2f}"),
    ("the same", 8, lambda record: "yes" if record["same"] else "NO"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--nodes", type=int, default=1_000, help="at most, per question (1000)")
    parser.add_argument("--rows", type=int, default=2, help="of each table (2)")
    options = parser.parse_args()
    print(head(COLUMNS))
    ratios, same = [], True
    with one_thread():
        for record in measured(options.threads, options.nodes, options.rows):
            print(line(COLUMNS, record), flush=True)
            ratios.append(record["ratio"])
            same &= record["same"]
    print(f"\n{options.threads} threads: {np.median(ratios):.2f} times as fast by the median, the same result: {same}")


if __name__ == "__main__":
    main()
