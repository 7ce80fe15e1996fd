"""The formulations and solvers of `likely.mio` against the exact engine, on the paper's queries.

    python benchmarks/mio.py DIR [--case asia-0 credit-0] [--queries 10] [--answers 100] [--limit-seconds 30]
                                 [--solver highs scip] [--json OUT]

DIR holds case files (`*.json.gz`). Every query is asked on one thread with the paper's approximation of the likelihood
(`approximate=True`), so that all engines have the same optimum. "solved" counts queries with a proof; times include building
where a query is the first of its case, and the search for a start; "/ exact" is the median over that of the exact engine.
"M = 100" is what the authors published: where it claims another optimum than the others, or none where there is one, that is
counted as wrong. The second table, over all cases in DIR, is the paper's of approximation quality: the log-likelihood of the
answers, the programme's value of it, and the difference, as means and standard deviations.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import cases
import numpy as np
from summary import one_thread

from likely import mio, search
from likely.circuit.queries.evaluate import max_log_likelihood
from likely.problem import Limits, Problem, Result

#: name -> settings of `mio.solve`
FORMULATIONS: dict[str, dict[str, Any]] = {
    "paper, M = 100": {"formulation": "paper", "big_m": 100.0},
    "paper": {"formulation": "paper"},
    "hull": {"formulation": "hull"},
}
SAME = 1e-5


def approximate(problem: Problem) -> Problem:
    assert problem.plausibility is not None
    return replace(problem, plausibility=replace(problem.plausibility, approximate=True))


def timed(solve: Any, problem: Problem) -> tuple[Result, float]:
    clock = time.perf_counter()
    result = solve(problem)
    return result, time.perf_counter() - clock


def wrong(result: Result, best: Result) -> bool:
    """Whether a claim contradicts the exact engine's."""
    if result.status == "infeasible":
        return bool(best.solutions)
    optimum = best.solutions[0].objective if best.solutions else np.inf
    return result.status == "optimal" and abs(result.solutions[0].objective - optimum) > SAME


def engines(options: argparse.Namespace, limits: Limits) -> dict[str, Any]:
    table: dict[str, Any] = {"exact engine": lambda problem: search.solve(problem, limits)}
    for solver in options.solver:
        for name, settings in FORMULATIONS.items():
            table[f"{name}, {solver}"] = lambda problem, s=solver, chosen=settings: mio.solve(problem, limits, solver=s, **chosen)
    return table


def asked(case: cases.Case, options: argparse.Namespace, limits: Limits) -> list[dict[str, Any]]:
    """All engines on some queries of one case."""
    queries = case.queries["median"][: options.queries]
    problems = [approximate(cases.problem(case, query)) for query in queries]
    best = [search.solve(problem, limits) for problem in problems]
    rows = []
    for name, solve in engines(options, limits).items():
        results = [timed(solve, problem) for problem in problems]
        rows.append({
            "case": case.name,
            "engine": name,
            "queries": len(problems),
            "solved": sum(answer.status in ("optimal", "infeasible") for answer, _ in results),
            "wrong": sum(wrong(answer, known) for (answer, _), known in zip(results, best, strict=True)),
            "median_seconds": float(np.median([seconds for _, seconds in results])),
            "ratio": 0.0,
            "median_nodes": float(np.median([answer.statistics.nodes for answer, _ in results])),
            "size": size_of(name, problems[0]),
        })  # fmt: skip
        rows[-1]["ratio"] = rows[-1]["median_seconds"] / rows[0]["median_seconds"]
        print_row(rows[-1])
    return rows


def size_of(name: str, problem: Problem) -> tuple[int, int] | None:
    """Rows and columns of the first query."""
    if name == "exact engine":
        return None
    settings = FORMULATIONS[name.rsplit(", ", 1)[0]]
    assert problem.plausibility is not None
    programme = mio.Programme(problem.schema, problem.form, problem.plausibility.circuit, **settings)
    programme.ask(problem)
    return programme.size


def quality(case: cases.Case, options: argparse.Namespace, limits: Limits) -> dict[str, Any]:
    """The likelihood of answers, and the programme's value of it."""
    true, approximated = [], []
    for query in case.queries["median"][: options.answers]:
        problem = approximate(cases.problem(case, query))
        result = search.solve(problem, limits)
        for solution in result.solutions:
            encoded = case.circuit.encode(solution.row[None], case.form.predict(solution.row[None]))
            true.append(float(case.circuit.log_likelihood(encoded)[0]))
            approximated.append(float(max_log_likelihood(case.circuit, encoded)[0]))
    error = np.subtract(true, approximated)
    return {"case": case.name, "answers": len(true), **{
        key: (float(np.mean(solution)), float(np.std(solution)))
        for key, solution in (("true", true), ("programme", approximated), ("error", error)) if len(solution)
    }}  # fmt: skip


def print_row(item: dict[str, Any]) -> None:
    size = "-" if item["size"] is None else f"{item['size'][0]} x {item['size'][1]}"
    print(
        f"{item['case']:12} {item['engine']:24} {item['solved']:4}/{item['queries']:<4} {item['wrong']:5} "
        f"{item['median_seconds']:9.3f} {item['ratio']:9.0f} {item['median_nodes']:8.0f}  {size}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--case", nargs="*", help="only these, e.g. asia-0 (all that there are)")
    parser.add_argument("--queries", type=int, default=10)
    parser.add_argument("--answers", type=int, default=100, help="queries of each case for the second table (100)")
    parser.add_argument("--limit-seconds", type=float, default=30.0, help="per query (30)")
    parser.add_argument("--solver", nargs="*", default=["highs", "scip"])
    parser.add_argument("--json", type=Path, metavar="OUT")
    options = parser.parse_args()
    limits = Limits(seconds=options.limit_seconds)
    read = [cases.read(path) for path in cases.files(options.folder)]
    chosen = [case for case in read if not options.case or case.name in options.case]
    print(f"{'case':12} {'engine':24} {'solved':9} {'wrong':5} {'s: median':>9} {'/ exact':>9} {'nodes':>8}  rows x columns")
    with one_thread():
        rows = [row for case in chosen for row in asked(case, options, limits)]
        table = [quality(case, options, limits) for case in read]
    print(f"\n{'case':12} {'answers':>7} {'true':>16} {'programme':>16} {'error':>16}")
    for item in table:
        parts = [f"{item[key][0]:8.2f} ± {item[key][1]:5.2f}" if key in item else "-" for key in ("true", "programme", "error")]
        print(f"{item['case']:12} {item['answers']:7} " + " ".join(f"{part:>16}" for part in parts))
    if options.json:
        options.json.write_text(json.dumps({"engines": rows, "quality": table}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
