"""`Findings`: the answers of a search so far, and what is proved of all others."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from likely.mio.tolerances import NOISE
from likely.problem import Bounds, Limits, Problem, Progress, Result, Solution, Statistics, Status

Callback: TypeAlias = Callable[[Progress], bool]


@dataclass(eq=False)
class Findings:
    """The answers so far, one of each kind, and what is proved."""

    problem: Problem
    limits: Limits
    callback: Callback | None
    began: float = field(default_factory=time.perf_counter)
    pool: dict[Any, Solution] = field(default_factory=dict)
    proven: float = -math.inf
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
        return time.perf_counter() - self.began

    @property
    def left(self) -> float:
        return self.limits.seconds - self.seconds

    @property
    def answers(self) -> list[Solution]:
        """The best of every kind, as many as were asked for, none much dearer than the best."""
        found = sorted(self.pool.values(), key=lambda own: own.objective)
        slack = NOISE * (1 + abs(self.near)) if self.near < math.inf else 0.0
        return [own for own in found if own.objective <= self.near + slack][: self.limits.solutions]

    @property
    def near(self) -> float:
        """What an answer may cost, given the best: the paper's rho."""
        best, within = self.best, self.limits.pool_gap
        return math.inf if best is None or within == math.inf else best.objective + within * abs(best.objective)

    @property
    def best(self) -> Solution | None:
        """The best answer."""
        return min(self.pool.values(), key=lambda own: own.objective, default=None)

    @property
    def most(self) -> float:
        """What another answer must be below: the last asked for, or what is near enough to the best."""
        found = self.answers
        return min(self.near, found[-1].objective if len(found) == self.limits.solutions else math.inf)

    def gap(self, found: float) -> float:
        """How far proof and answer may be apart."""
        return max(self.limits.absolute_gap, self.limits.relative_gap * abs(found)) + NOISE * (1 + abs(found))

    @property
    def done(self) -> bool:
        """Whether no row that is not among the answers can be better than the last of them, or near enough to the best."""
        if self.exhausted or (self.near < math.inf and self.proven > self.near + NOISE * (1 + abs(self.near))):
            return True
        found = self.answers
        return len(found) == self.limits.solutions and self.proven >= found[-1].objective - self.gap(found[-1].objective)

    def put(self, key: Any, solution: Solution) -> None:
        """Keep an answer, if it is the best of its kind."""
        if key not in self.pool or solution.objective < self.pool[key].objective:
            self.pool[key] = solution

    def going(self) -> bool:
        """Say how far it is; whether the caller wants it to go on."""
        best = self.best
        now = Progress(self.seconds, self.nodes, math.inf if best is None else best.objective, self.proven)
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
        found = self.answers
        last = found[-1].objective if found else math.inf
        proven = self.near if self.exhausted else self.proven
        if len(found) == self.limits.solutions:
            proven = min(proven, last)
        status: Status = "unknown"
        if found:
            status = "optimal" if self.done else "feasible"
        elif self.exhausted:
            status = "infeasible"
        statistics = Statistics(self.nodes, self.solves, 0, self.seconds, trace=tuple(self.trace))
        return Result(status, tuple(found), Bounds(last, proven), statistics, self.interrupted)
