"""Solvers, one small adapter each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from likely.errors import ProblemError
from likely.mio.modelling import Block
from likely.mio.solvers.appsi import Gurobi, Highs
from likely.mio.solvers.scip import Scip
from likely.mio.solvers.solver import Effort, Going, Outcome, Report, Solver

__all__ = ["SOLVERS", "Effort", "Going", "Outcome", "Report", "Solver", "make_solver", "require_solver"]

#: name -> adapter
SOLVERS: dict[str, type[Solver]] = {"highs": Highs, "scip": Scip, "gurobi": Gurobi}


def require_solver(name: str) -> type[Solver]:
    """The adapter of a solver; one that is not known, or not installed (then it names the extra), is an error.

    Args:
        name: One of `SOLVERS`.
    """
    if name not in SOLVERS:
        raise ProblemError("A solver", f"be {', '.join(map(repr, SOLVERS))}", repr(name), "leave it out for 'highs'")
    SOLVERS[name].require()
    return SOLVERS[name]


def make_solver(name: str, model: Block, options: Mapping[str, Any] | None = None) -> Solver:
    """A solver for a model; see `require_solver`.

    Args:
        name: One of `SOLVERS`.
        model: What to minimise.
        options: The solver's own, by its names.
    """
    return require_solver(name)(model, options or {})
