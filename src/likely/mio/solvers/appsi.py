"""HiGHS and Gurobi, by Pyomo's persistent interfaces (appsi: they pass a start, which the newer ones for HiGHS do not)."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, ClassVar

from likely.errors import MissingExtraError
from likely.mio.modelling import Block, solver_module
from likely.mio.solvers.solver import Effort, Outcome, Report
from likely.mio.tolerances import Tolerances

#: Pyomo warns of every solution that is not proved optimal; we say it by the status.
logging.getLogger("pyomo.contrib.appsi").setLevel(logging.ERROR)


class _Appsi:
    """What both have in common."""

    package: ClassVar[str]
    extra: ClassVar[str]
    module: ClassVar[str]
    solver: ClassVar[str]

    def __init__(self, model: Block, options: Mapping[str, Any], tolerances: Tolerances) -> None:
        if find_spec(self.package) is None:
            raise MissingExtraError(self.package, self.extra, f"solve with {self.solver}")
        self.model, self.options, self.tolerances = model, dict(options), tolerances
        self.interface: Any = getattr(solver_module(self.module), self.solver)()
        self.interface.config.load_solution = False

    def solve(self, effort: Effort, *, start: bool) -> Report:
        """Minimise; see `Solver`."""
        config = self.interface.config
        config.time_limit, config.mip_gap, config.warmstart = max(0.01, effort.seconds), effort.relative_gap, start
        self._set(effort)
        results = self.interface.solve(self.model)
        outcome = _OUTCOMES.get(results.termination_condition.name, "failed")
        found = results.best_feasible_objective if outcome in ("optimal", "stopped") else None
        if found is not None:
            self.interface.load_vars()
        bound = results.best_objective_bound
        proven = math.inf if outcome == "infeasible" else -math.inf if bound is None or math.isnan(bound) else float(bound)
        return Report(outcome, None if found is None else float(found), proven, self._nodes())

    def _set(self, effort: Effort) -> None:
        raise NotImplementedError

    def _nodes(self) -> int:
        raise NotImplementedError


_OUTCOMES: dict[str, Outcome] = {
    "optimal": "optimal",
    "infeasible": "infeasible",
    "infeasibleOrUnbounded": "infeasible",  # all our variables that matter are bounded
    "maxTimeLimit": "stopped",
    "maxIterations": "stopped",
    "objectiveLimit": "stopped",
    "interrupted": "stopped",
}


class Highs(_Appsi):
    """HiGHS."""

    package, extra, module, solver = "highspy", "mio", "highs", "Highs"

    def _set(self, effort: Effort) -> None:
        self.interface.highs_options = {
            "threads": 1,
            "presolve": "off",  # with it, HiGHS 1.14 called a dearer row optimal (tests/mio: fee at the end of an interval)
            "mip_abs_gap": effort.absolute_gap,
            "mip_max_nodes": min(effort.nodes, 2**31 - 1),
            "primal_feasibility_tolerance": self.tolerances.feasibility,
            "mip_feasibility_tolerance": self.tolerances.feasibility,
            **self.options,
        }

    def _nodes(self) -> int:
        return max(0, int(self.interface._solver_model.getInfo().mip_node_count))


class Gurobi(_Appsi):
    """Gurobi, where it is installed and has a licence."""

    package, extra, module, solver = "gurobipy", "gurobi", "gurobi", "Gurobi"

    def _set(self, effort: Effort) -> None:
        self.interface.gurobi_options = {
            "Threads": 1,
            "MIPGapAbs": effort.absolute_gap,
            "NodeLimit": effort.nodes,
            "FeasibilityTol": self.tolerances.feasibility,
            "IntFeasTol": self.tolerances.feasibility,
            **self.options,
        }

    def _nodes(self) -> int:
        return int(self.interface._solver_model.NodeCount)
