"""`solve`: a problem's cheapest rows, with a proof, by branch and bound in the compiled core; `SearchSession`: repeatedly."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from likely._core import SearchProblem
from likely._jobs import thread_count
from likely.certificate import MOST_BYTES, Certificate, fingerprint, save
from likely.errors import EngineError, ProblemError
from likely.problem import Bounds, Callback, Limits, Problem, Progress, Result, Solution, Statistics
from likely.problem.domain import rule_breakpoints
from likely.schema import Constraint
from likely.schema.rules import LinearRow, Rule
from likely.schema.values import Numbers
from likely.search.compile import add_rule, compiled

#: Counts beyond it are no limit.
_MOST = 2**62


class SearchSession:
    """A problem in the core, which is put together once and solved again and again, with more constraints each time.

    Args:
        problem: What is asked.
        threads: On how many threads a search that takes long goes on.
    """

    def __init__(self, problem: Problem, threads: int = 1) -> None:
        self.problem = problem
        self._threads = threads
        self._core = compiled(problem)

    def require(self, *constraints: Constraint) -> None:
        """From now on, answers must keep these constraints, too.

        Args:
            *constraints: Rules that cut features only where they are cut already are added to what the core has; for others it
                is put together anew.
        """
        self.problem = self.problem.with_constraints(*constraints)
        rules = [rule for constraint in constraints for rule in constraint.compile(self.problem.schema, self.problem.factual)]
        if self._fit(rules):
            for rule in rules:
                add_rule(self._core, rule)
        else:
            self._core = compiled(self.problem)

    def _fit(self, rules: Sequence[Rule]) -> bool:
        """Whether regions of rules begin and end where cells of the core do."""
        features = {j for rule in rules if not isinstance(rule, LinearRow) for j, _ in rule.literals}
        return all(self._core.cut_at(j, rule_breakpoints(rules, j)) for j in features)

    def solve(
        self,
        limits: Limits | None = None,
        *,
        starts: Numbers | None = None,
        callback: Callback | None = None,
        follow: Numbers | None = None,
        certificate: str | Path | None = None,
    ) -> Result:
        """The best rows of the problem as it is now.

        Args:
            limits: When to stop, and how many answers are wanted.
            starts: Rows that may be answers.
            callback: Ends the search by returning False.
            follow: A row to be followed through the tree; see `solve`.
            certificate: Where the proof is written; see `solve`.
        """
        limits = limits or Limits()
        if certificate is not None and limits.solutions > 1:
            rule, hint = "be of a search for one answer", "leave certificate= out, or ask for one solution"
            raise ProblemError("A certificate", rule, f"solutions={limits.solutions}", hint)
        rows = _rows(self.problem, starts)
        answer = self._core.solve(
            limits.seconds,
            min(limits.nodes, _MOST),
            limits.absolute_gap,
            limits.relative_gap,
            min(limits.solutions, _MOST),
            limits.other_features,
            limits.pool_gap,
            _MOST if limits.open_nodes is None else min(limits.open_nodes, _MOST),
            self._threads,
            rows,
            None if callback is None else lambda *now: bool(callback(Progress(*now))),
            None if follow is None else _followed(self._core, follow),
            0 if certificate is None else MOST_BYTES,
        )
        if answer["loss"] is not None:
            raise _lost(*answer["loss"])
        solutions = tuple(
            Solution(np.array(row), objective, cost, likelihood, self.problem.goal.alternatives[alternative].class_index)
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
            answer["most_open"],
        )
        bounds = Bounds(answer["upper"], answer["lower"])
        if certificate is not None:
            made = Certificate(fingerprint(self.problem), answer["lower"], answer["truncated"], answer["certificate"])
            save(certificate, [made])
        return Result(answer["status"], solutions, bounds, statistics, answer["interrupted"])


def solve(
    problem: Problem,
    limits: Limits | None = None,
    *,
    starts: Numbers | None = None,
    callback: Callback | None = None,
    follow: Numbers | None = None,
    n_jobs: int | None = 1,
    certificate: str | Path | None = None,
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
        n_jobs: on how many threads a search that takes long goes on; None or -1 for one per core. The result is the same on any
            number, unless a limit of seconds comes first.
        certificate: the path of a file to which the proof of `bounds.lower` is written: somebody else can derive it again
            (`likely.certificate.load(path)[0].check(problem)`).
    """
    started, limits = time.perf_counter(), limits or Limits()
    session = SearchSession(problem, thread_count(n_jobs, ProblemError))
    left = max(limits.seconds - (time.perf_counter() - started), sys.float_info.min)  # putting it together takes time, too
    within = replace(limits, seconds=left)
    return session.solve(within, starts=starts, callback=callback, follow=follow, certificate=certificate)


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
