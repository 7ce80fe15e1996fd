"""Solvers, one small adapter each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from likely.errors import ProblemError
from likely.mio.modelling import Block
from likely.mio.solvers.appsi import Gurobi, Highs
from likely.mio.solvers.scip import Scip
from likely.mio.solvers.solver import Effort, Outcome, Report, Solver
from likely.mio.tolerances import TOLERANCES, Tolerances

__all__ = ["SOLVERS", "Effort", "Outcome", "Report", "Solver", "make_solver"]

#: name -> adapter
SOLVERS: dict[str, type[Solver]] = {"highs": Highs, "scip": Scip, "gurobi": Gurobi}


def make_solver(name: str, model: Block, options: Mapping[str, Any] | None = None, tolerances: Tolerances = TOLERANCES) -> Solver:
    """A solver for a model; one that is not installed is an error that names the extra."""
    if name not in SOLVERS:
        raise ProblemError("A solver", f"be {', '.join(map(repr, SOLVERS))}", repr(name), "leave it out for 'highs'")
    return SOLVERS[name](model, options or {}, tolerances)
