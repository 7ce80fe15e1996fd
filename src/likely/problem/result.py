"""`Result`: what an engine found, and how strong the claim is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from likely.schema.values import Numbers

#: optimal: proved, within the gap. feasible: answers, but a limit came first. infeasible: proved that no row exists.
#: unknown: a limit came first, and nothing was found.
Status: TypeAlias = Literal["optimal", "feasible", "infeasible", "unknown"]
#: What status and lower bound rest on. exact: the exact engine's bounds, which allow for all rounding. solver: what a solver of
#: mixed-integer programmes claims under its tolerances; a claim, and no proof.
Proof: TypeAlias = Literal["exact", "solver"]


@dataclass(frozen=True)
class Bounds:
    """The objective of the last answer asked for, and what no row that is not among the answers can be below."""

    upper: float
    lower: float

    @property
    def gap(self) -> float:
        """How much better an answer could still be."""
        return max(0.0, self.upper - self.lower)


@dataclass(frozen=True, eq=False)
class Solution:
    """One row, as doubles, with its objective and the parts of it; `class_index` is the class that its goal asked for."""

    row: Numbers
    objective: float
    cost: float
    log_likelihood: float
    class_index: int | None = None


@dataclass(frozen=True)
class Progress:
    """A point of the trace."""

    seconds: float
    nodes: int
    upper: float
    lower: float


@dataclass(frozen=True)
class Statistics:
    """What it took."""

    nodes: int = 0
    tested: int = 0
    #: Values (and cells of numbers) that were taken out of boxes because no answer has them.
    filtered: int = 0
    seconds: float = 0.0
    #: Of all threads together.
    seconds_score: float = 0.0
    seconds_likelihood: float = 0.0
    trace: tuple[Progress, ...] = ()
    #: Nodes that were in memory at a time, at most.
    most_open: int = 0


@dataclass(frozen=True)
class Result:
    """An engine's answer: the best solution first."""

    status: Status
    solutions: tuple[Solution, ...]
    bounds: Bounds
    statistics: Statistics = field(default_factory=Statistics)
    #: Whether Ctrl-C ended it.
    interrupted: bool = False
    proof: Proof = "exact"
