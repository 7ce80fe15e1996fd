"""The engines behind one contract, `solve(problem, limits, starts=..., callback=...) -> Result`, in one table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Protocol, cast

from likely.errors import ProblemError
from likely.problem import Limits, Problem, Result
from likely.schema.values import Numbers


@dataclass(frozen=True)
class Engine:
    """Where an engine lives, and what it can do."""

    #: The room that has its `solve`; imported when it is first asked for.
    room: str
    #: Whether several of its searches may run in threads of one process.
    threads: bool
    #: The solver that it drives if none is named; None if it drives none.
    solver: str | None = None


ENGINES = {"search": Engine("likely.search", threads=True), "mio": Engine("likely.mio", threads=False, solver="highs")}


class Solve(Protocol):
    """What an engine can do."""

    def __call__(
        self, problem: Problem, limits: Limits | None = None, *, starts: Numbers | None = None, callback: Any = None
    ) -> Result:
        """The best rows of a problem."""


def engine_of(name: str) -> Engine:
    """An engine by its name."""
    if name not in ENGINES:
        raise ProblemError("An engine", f"be {' or '.join(map(repr, ENGINES))}", repr(name), "leave it out for 'search'")
    return ENGINES[name]


def solve_of(engine: str, solver: str | None = None) -> Solve:
    """The `solve` of an engine, with the solver that it shall drive; what is not installed is an error that names the extra."""
    own = engine_of(engine)
    if own.solver is None:
        if solver is not None:
            rule = f"be left out for engine={engine!r}, which drives none"
            raise ProblemError("A solver", rule, repr(solver), "leave it out, or use engine='mio'")
        return cast("Solve", import_module(own.room).solve)
    room = import_module(own.room)
    room.require_solver(solver or own.solver)
    return cast("Solve", partial(room.solve, solver=solver or own.solver))
