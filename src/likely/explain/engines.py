"""The engines behind one contract, `likely.problem.Session`, in one table: another one is added to `ENGINES`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from likely.errors import ProblemError
from likely.problem import Callback, Engine, Limits, Problem, Result, Session, Solve, StatelessSession
from likely.schema.values import Numbers


def _search(solver: str | None, threads: int) -> Callable[[Problem], Session]:
    from likely.search import SearchSession

    return partial(SearchSession, threads=threads)


def _mio(solver: str | None, threads: int) -> Callable[[Problem], Session]:
    from likely.mio import require_solver, solve

    chosen = solver or ENGINES["mio"].solver
    assert chosen is not None
    require_solver(chosen)
    return partial(StatelessSession, solve_problem=partial(solve, solver=chosen))


#: name -> engine
ENGINES = {
    engine.name: engine
    for engine in (Engine("search", _search, threads=True), Engine("mio", _mio, threads=False, solver="highs"))
}


def engine_of(name: str) -> Engine:
    """An engine by its name.

    Args:
        name: One of `ENGINES`.
    """
    if name not in ENGINES:
        raise ProblemError("An engine", f"be {' or '.join(map(repr, ENGINES))}", repr(name), "leave it out for 'search'")
    return ENGINES[name]


def sessions_of(engine: str, solver: str | None = None, threads: int = 1) -> Callable[[Problem], Session]:
    """What begins sessions of an engine; what is not installed is an error that names the extra.

    Args:
        engine: One of `ENGINES`.
        solver: The solver that it shall drive; None for its default.
        threads: On how many threads one search that takes long may go on; solvers have their own.
    """
    chosen = engine_of(engine)
    if chosen.solver is None and solver is not None:
        rule = f"be left out for engine={engine!r}, which drives none"
        raise ProblemError("A solver", rule, repr(solver), "leave it out, or use engine='mio'")
    return chosen.load(solver, threads)


def solve_of(engine: str, solver: str | None = None, threads: int = 1) -> Solve:
    """The `solve` of an engine, for problems that are solved once.

    Args:
        engine: One of `ENGINES`.
        solver: The solver that it shall drive; None for its default.
        threads: On how many threads one search that takes long may go on.
    """
    begin = sessions_of(engine, solver, threads)

    def solve(
        problem: Problem,
        limits: Limits | None = None,
        *,
        starts: Numbers | None = None,
        callback: Callback | None = None,
    ) -> Result:
        return begin(problem).solve(limits, starts=starts, callback=callback)

    return solve
