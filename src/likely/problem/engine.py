"""`Engine`: what stands behind the contract `solve(problem, limits, starts=..., callback=...) -> Result`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from likely.problem.problem import Limits, Problem
from likely.problem.result import Progress, Result
from likely.schema.values import Numbers

#: Called now and then with how far a search is; it ends if the answer is False.
Callback: TypeAlias = Callable[[Progress], bool]


class Solve(Protocol):
    """What an engine can do."""

    def __call__(
        self,
        problem: Problem,
        limits: Limits | None = None,
        *,
        starts: Numbers | None = None,
        callback: Callback | None = None,
    ) -> Result:
        """The best rows of a problem.

        Args:
            problem: What is asked.
            limits: When to stop, and how many answers.
            starts: Rows that may be answers.
            callback: Ends the search by returning False.
        """


@dataclass(frozen=True)
class Engine:
    """One engine, and what it can do."""

    name: str
    #: Its `solve`, given the solver that it shall drive (None: its default); imports what it needs when it is called.
    load: Callable[[str | None], Solve]
    #: Whether several of its searches may run in threads of one process.
    threads: bool
    #: The solver that it drives if none is named; None if it drives none.
    solver: str | None = None
