"""`Incumbents`: the answers of a search so far (the solution pool), and the bound on all others."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any

from likely.mio.tolerances import NOISE
from likely.problem import Bounds, Callback, Limits, Problem, Progress, Result, Solution, Statistics, Status
from likely.problem.tolerances import rounding


@dataclass(eq=False)
class Incumbents:
    """The answers so far, one of each kind, and what is proved."""

    problem: Problem
    limits: Limits
    callback: Callback | None
    began: float = field(default_factory=time.perf_counter)
    pool: dict[Any, Solution] = field(default_factory=dict)
    #: No row that is not in the pool has a lower objective.
    lower: float = -math.inf
    #: Whether it is proved that there is no row that is not in the pool.
    exhausted: bool = False
    interrupted: bool = False
    #: An answer to start from.
    start: Solution | None = None
    nodes: int = 0
    solves: int = 0
    trace: list[Progress] = field(default_factory=list)

    @property
    def counts(self) -> bool:
        """Whether likelihood matters to the question."""
        return self.problem.plausibility is not None and self.problem.plausibility.counts

    @property
    def seconds(self) -> float:
        """What the search took so far."""
        return time.perf_counter() - self.began

    @property
    def ends(self) -> float:
        """When its time is over, by `time.perf_counter`."""
        return self.began + self.limits.seconds

    @property
    def left(self) -> float:
        """How many seconds are left."""
        return self.limits.seconds - self.seconds

    @property
    def answers(self) -> list[Solution]:
        """The best of every kind, as many as were asked for, none much costlier than the best."""
        ranked = sorted(self.pool.values(), key=lambda solution: solution.objective)
        limit = self.pool_cutoff + rounding(self.pool_cutoff, NOISE)
        return [solution for solution in ranked if solution.objective <= limit][: self.limits.solutions]

    @property
    def pool_cutoff(self) -> float:
        """What an answer may cost, given the best: the paper's rho."""
        best, gap = self.best, self.limits.pool_gap
        return math.inf if best is None or gap == math.inf else best.objective + gap * abs(best.objective)

    @property
    def best(self) -> Solution | None:
        """The incumbent."""
        return min(self.pool.values(), key=lambda solution: solution.objective, default=None)

    @property
    def cutoff(self) -> float:
        """What another answer must be below: the last asked for, or what is near enough to the best."""
        answers = self.answers
        return min(self.pool_cutoff, answers[-1].objective if len(answers) == self.limits.solutions else math.inf)

    def gap(self, objective: float) -> float:
        """How far the bound may be from an answer.

        Args:
            objective: The answer's.
        """
        return max(self.limits.absolute_gap, self.limits.relative_gap * abs(objective)) + rounding(objective, NOISE)

    @property
    def done(self) -> bool:
        """Whether no row that is not among the answers can be better than the last of them, or near enough to the best."""
        if self.exhausted or (self.pool_cutoff < math.inf and self.lower > self.pool_cutoff + rounding(self.pool_cutoff, NOISE)):
            return True
        answers = self.answers
        return len(answers) == self.limits.solutions and self.lower >= answers[-1].objective - self.gap(answers[-1].objective)

    def put(self, key: Any, solution: Solution) -> None:
        """Keep an answer, if it is the best of its kind.

        Args:
            key: Its kind.
            solution: The answer.
        """
        if key not in self.pool or solution.objective < self.pool[key].objective:
            self.pool[key] = solution

    def keep_start(self) -> None:
        """Keep the answer to start from, if no other is known."""
        if self.start is not None and not self.pool:
            self.put((), self.start)

    def going(self) -> bool:
        """Say how far it is; whether the caller wants it to go on."""
        best = self.best
        now = Progress(self.seconds, self.nodes, math.inf if best is None else best.objective, self.lower)
        self.trace.append(now)
        if self.callback is not None and not self.callback(now):
            self.interrupted = True
        return not self.interrupted

    @property
    def within_limits(self) -> bool:
        """Whether there is time left, and nodes."""
        return self.left > 0 and self.nodes < self.limits.nodes

    def result(self) -> Result:
        """What is claimed."""
        answers = self.answers
        upper = answers[-1].objective if answers else math.inf
        lower = self.pool_cutoff if self.exhausted else self.lower
        if len(answers) == self.limits.solutions:
            lower = min(lower, upper)
        status: Status = "unknown"
        if answers:
            status = "optimal" if self.done else "feasible"
        elif self.exhausted:
            status = "infeasible"
        statistics = Statistics(self.nodes, self.solves, 0, self.seconds, trace=tuple(self.trace))
        return Result(status, tuple(answers), Bounds(upper, lower), statistics, self.interrupted, "solver")
