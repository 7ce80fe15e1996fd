"""`Solver`: the little that a programme needs of a solver, and what Pyomo does not say in one way for all."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from likely.mio.modelling import Block
from likely.mio.tolerances import TOLERANCES

#: optimal: within the gaps. stopped: a limit came first, with a solution or without. interrupted: somebody ended it.
#: failed: the solver broke off.
Outcome: TypeAlias = Literal["optimal", "infeasible", "stopped", "interrupted", "failed"]
#: Asked now and then while a solver works: whether it shall go on.
Going: TypeAlias = Callable[[], bool]


@dataclass(frozen=True)
class Effort:
    """When a solver must stop, and how exactly it computes."""

    #: Until it answers: what it takes to read the model counts.
    seconds: float
    nodes: int
    absolute_gap: float
    relative_gap: float
    #: By how much a row may be missed.
    feasibility: float = TOLERANCES.feasibility


@dataclass(frozen=True)
class Report:
    """What a solver says: the objective of the solution that the variables now have (None: there is none), and its bound."""

    outcome: Outcome
    objective: float | None
    bound: float
    nodes: int


#: The time was over before the solver had read the model.
TOO_LATE = Report("stopped", None, -math.inf, 0)


class Solver(Protocol):
    """One solver, bound to one model that may change between solves."""

    def __init__(self, model: Block, options: Mapping[str, Any]) -> None: ...

    @classmethod
    def require(cls) -> None:
        """Raise an error that names the extra if the solver is not installed."""

    def solve(self, effort: Effort, *, start: bool, going: Going | None = None) -> Report:
        """Minimise the model's objective; the variables' values are where to start, and then the best known.

        It ends when `going` says so, and at Ctrl-C.

        Args:
            effort: When to stop, and how exactly to compute.
            start: Whether the variables' values are a warm start.
            going: Asked now and then whether to go on.
        """
