"""The engines behind one contract, `solve(problem, limits, starts=..., callback=...) -> Result`, in one table."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol, cast

from likely.errors import ProblemError
from likely.problem import Limits, Problem, Result
from likely.schema.values import Numbers

#: name -> the room that has its `solve`; imported when it is first asked for
ENGINES = {"search": "likely.search"}


class Solve(Protocol):
    """What an engine can do."""

    def __call__(
        self, problem: Problem, limits: Limits | None = None, *, starts: Numbers | None = None, callback: Any = None
    ) -> Result:
        """The best rows of a problem."""


def solve_of(engine: str) -> Solve:
    """The `solve` of an engine, by its name."""
    if engine not in ENGINES:
        raise ProblemError("An engine", f"be {' or '.join(map(repr, ENGINES))}", repr(engine), "leave it out for 'search'")
    return cast("Solve", import_module(ENGINES[engine]).solve)
