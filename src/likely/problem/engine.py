"""`Engine`: what stands behind the contract `solve(problem, limits, starts=..., callback=...) -> Result`; its `Session`s."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from likely.problem.problem import Limits, Problem
from likely.problem.result import Progress, Result
from likely.schema import Constraint
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


class Session(Protocol):
    """A problem that is solved again and again, with more constraints each time."""

    @property
    def problem(self) -> Problem:
        """The problem, with all that was required since."""

    def require(self, *constraints: Constraint) -> None:
        """From now on, answers must keep these constraints, too.

        Args:
            *constraints: What else an answer must keep.
        """

    def solve(self, limits: Limits | None = None, *, starts: Numbers | None = None, callback: Callback | None = None) -> Result:
        """The best rows of the problem as it is now.

        Args:
            limits: When to stop, and how many answers.
            starts: Rows that may be answers.
            callback: Ends the search by returning False.
        """


@dataclass(eq=False)
class StatelessSession:
    """A session of an engine that keeps nothing from one solve to the next.

    Args:
        problem: What is asked.
        solve_problem: The engine's `solve`.
    """

    problem: Problem
    solve_problem: Solve

    def require(self, *constraints: Constraint) -> None:
        """From now on, answers must keep these constraints, too.

        Args:
            *constraints: What else an answer must keep.
        """
        self.problem = self.problem.with_constraints(*constraints)

    def solve(self, limits: Limits | None = None, *, starts: Numbers | None = None, callback: Callback | None = None) -> Result:
        """The best rows of the problem as it is now.

        Args:
            limits: When to stop, and how many answers.
            starts: Rows that may be answers.
            callback: Ends the search by returning False.
        """
        return self.solve_problem(self.problem, limits, starts=starts, callback=callback)


@dataclass(frozen=True)
class Engine:
    """One engine, and what it can do."""

    name: str
    #: What begins a session of it, given the solver that it shall drive (None: its default) and on how many threads one search
    #: may run, if it can; imports what it needs when it is called.
    load: Callable[[str | None, int], Callable[[Problem], Session]]
    #: Whether several of its searches may run in threads of one process.
    threads: bool
    #: The solver that it drives if none is named; None if it drives none.
    solver: str | None = None
