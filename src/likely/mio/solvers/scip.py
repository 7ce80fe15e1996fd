"""SCIP, by PySCIPOpt: the model goes through a file, since that is the one way that takes a start from us."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from likely.errors import MissingExtraError
from likely.mio.modelling import Block, OutOfTimeError, in_time, require_pyomo, seconds_left, until, write_for_solver
from likely.mio.solvers.solver import TOO_LATE, Effort, Going, Outcome, Report

#: What SCIP takes for no limit of time.
_NO_LIMIT = 1e20


class Scip:
    """SCIP."""

    def __init__(self, model: Block, options: Mapping[str, Any]) -> None:
        self.package, self.model, self.options = self.require(), model, dict(options)

    @classmethod
    def require(cls) -> Any:
        """PySCIPOpt; see `Solver`."""
        require_pyomo()
        try:
            import pyscipopt
        except ImportError:
            raise MissingExtraError("pyscipopt", "scip", "solve with SCIP") from None
        return pyscipopt

    def solve(self, effort: Effort, *, start: bool, going: Going | None = None) -> Report:
        """Minimise; see `Solver`.

        Args:
            effort: When to stop, and how exactly to compute.
            start: Whether the variables' values are a warm start.
            going: Asked now and then whether to go on.
        """
        with until(time.perf_counter() + effort.seconds):
            try:
                return self._solve(effort, start, going)
            except OutOfTimeError:
                return TOO_LATE

    def _solve(self, effort: Effort, start: bool, going: Going | None) -> Report:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.lp"
            columns = write_for_solver(self.model, path)
            scip = self.package.Model()
            scip.hideOutput()
            scip.readProblem(str(path))
        in_time()
        self._set(scip, effort)
        variables = {variable.name: variable for variable in scip.getVars() if variable.name in columns}
        if start:
            self._start(scip, columns, variables)
        if going is not None:
            self._watch(scip, going)
        scip.optimize()
        outcome = _OUTCOMES.get(scip.getStatus(), "failed")
        objective = None
        if scip.getNSols() > 0:  # getObjVal answers even if there is none
            best = scip.getBestSol()
            objective = float(scip.getSolObjVal(best))
            for name, variable in variables.items():
                columns[name].set_value(scip.getSolVal(best, variable), skip_validation=True)
        bound = scip.getDualbound()
        proven = math.inf if outcome == "infeasible" else float(bound) if abs(bound) < 1e19 else -math.inf
        return Report(outcome, objective, proven, int(scip.getNTotalNodes()))

    def _set(self, scip: Any, effort: Effort) -> None:
        scip.setParams(
            {
                "limits/time": min(max(0.0, seconds_left()), _NO_LIMIT),
                "limits/totalnodes": effort.nodes,
                "limits/absgap": effort.absolute_gap,
                "limits/gap": effort.relative_gap,
                "numerics/feastol": effort.feasibility,
                **self.options,
            }
        )

    def _watch(self, scip: Any, going: Going) -> None:
        """Ask after every node whether to go on."""

        def ask(model: Any, event: Any) -> None:
            if not going():
                model.interruptSolve()

        scip.attachEventHandlerCallback(ask, [self.package.SCIP_EVENTTYPE.NODESOLVED])

    def _start(self, scip: Any, columns: Mapping[str, Any], variables: Mapping[str, Any]) -> None:
        solution = scip.createSol()
        for name, variable in variables.items():
            if columns[name].value is not None:
                scip.setSolVal(solution, variable, columns[name].value)
        scip.addSol(solution)


_OUTCOMES: dict[str, Outcome] = {
    "optimal": "optimal",
    "gaplimit": "optimal",
    "infeasible": "infeasible",
    "inforunbd": "infeasible",
    "timelimit": "stopped",
    "nodelimit": "stopped",
    "totalnodelimit": "stopped",
    "userinterrupt": "interrupted",
    "memlimit": "stopped",
}
