"""HiGHS and Gurobi, by Pyomo's persistent interfaces (appsi: they pass a start, which the newer ones for HiGHS do not)."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.util import find_spec
from typing import Any, ClassVar

from likely.errors import MissingExtraError
from likely.mio.modelling import Block, OutOfTimeError, in_time, require_pyomo, seconds_left, solver_module, until
from likely.mio.solvers.solver import TOO_LATE, Effort, Going, Outcome, Report

#: Pyomo warns of every solution that is not proved optimal; we say it by the status.
logging.getLogger("pyomo.contrib.appsi").setLevel(logging.ERROR)

#: How many rows are read at once: few enough that they take less than a hundredth of a second.
_BATCH = 50
#: Solvers take 0 for no limit, or refuse it.
_LEAST_SECONDS = 0.01


class _Appsi:
    """What both have in common."""

    package: ClassVar[str]
    extra: ClassVar[str]
    module: ClassVar[str]
    solver: ClassVar[str]

    def __init__(self, model: Block, options: Mapping[str, Any]) -> None:
        self.model, self.options = model, dict(options)
        self.interface = self._new()

    def _new(self) -> Any:
        solver = getattr(solver_module(self.module), self.solver)()
        solver.config.load_solution = False
        _read_in_time(solver, self._spent)
        return solver

    @classmethod
    def require(cls) -> None:
        """See `Solver`."""
        require_pyomo()
        if find_spec(cls.package) is None:
            raise MissingExtraError(cls.package, cls.extra, f"solve with {cls.solver}")

    def solve(self, effort: Effort, *, start: bool, going: Going | None = None) -> Report:
        """Minimise; see `Solver`.

        Args:
            effort: When to stop, and how exactly to compute.
            start: Whether the variables' values are a warm start.
            going: Asked now and then whether to go on.
        """
        config = self.interface.config
        config.mip_gap, config.warmstart = effort.relative_gap, start
        self._set(effort)
        with until(time.perf_counter() + effort.seconds):
            try:
                with self._watched(going):
                    results = self.interface.solve(self.model)
            except OutOfTimeError:  # half of the model is read
                self.interface = self._new()
                return TOO_LATE
        if not self._complete():
            self.interface = self._new()
            return Report("failed", None, -math.inf, 0)
        outcome = "interrupted" if self._interrupted() else _OUTCOMES.get(results.termination_condition.name, "failed")
        objective = results.best_feasible_objective if outcome in ("optimal", "stopped", "interrupted") else None
        if objective is not None:
            self.interface.load_vars()
        bound = results.best_objective_bound
        proven = math.inf if outcome == "infeasible" else -math.inf if bound is None or math.isnan(bound) else float(bound)
        report = Report(outcome, None if objective is None else float(objective), proven, self._nodes())
        if outcome == "interrupted":  # which the solver would remember
            self.interface = self._new()
        return report

    def _complete(self) -> bool:
        """Whether the solver took every row, where Pyomo does not say so."""
        return True

    def _interrupted(self) -> bool:
        """Whether somebody ended it, where Pyomo does not say so."""
        return False

    def _spent(self) -> float:
        """The seconds that the solver counts as spent before it begins."""
        return 0.0

    def _watched(self, going: Going | None) -> AbstractContextManager[None]:
        """While the solver asks whether to go on; one that cannot be asked goes on."""
        return nullcontext()

    def _set(self, effort: Effort) -> None:
        raise NotImplementedError

    def _nodes(self) -> int:
        raise NotImplementedError


def _read_in_time(interface: Any, spent: Callable[[], float]) -> None:
    """Make one of Pyomo's interfaces read, and solve, until the moment that is set; it reads a large model for seconds."""
    add, drop, solve = interface.add_constraints, interface.remove_variables, interface._solve

    def add_in_time(rows: list[Any]) -> None:
        for first in range(0, len(rows), _BATCH):
            in_time()
            add(rows[first : first + _BATCH])

    def drop_in_time(columns: list[Any]) -> None:
        in_time()
        if columns:  # to drop none, Pyomo counts all columns again
            drop(columns)

    def solve_in_time(timer: Any) -> Any:
        in_time()
        interface.config.time_limit = max(_LEAST_SECONDS, seconds_left()) + spent()
        return solve(timer)

    interface.add_constraints, interface.remove_variables, interface._solve = add_in_time, drop_in_time, solve_in_time


_OUTCOMES: dict[str, Outcome] = {
    "optimal": "optimal",
    "infeasible": "infeasible",
    "infeasibleOrUnbounded": "infeasible",  # all our variables that matter are bounded
    "maxTimeLimit": "stopped",
    "maxIterations": "stopped",
    "objectiveLimit": "stopped",
    "interrupted": "interrupted",
}


class Highs(_Appsi):
    """HiGHS, without its presolve.

    With it, HiGHS 1.14 called costlier rows optimal, in programmes of some twenty rows with coefficients near 1 (tests/mio: a fee
    at the end of an interval; the claims in `test_claims.py`), whichever of its rules were left out. It saved little time.
    """

    package, extra, module, solver = "highspy", "mio", "highs", "Highs"

    def _set(self, effort: Effort) -> None:
        self.interface.highs_options = {
            "threads": 1,
            "presolve": "off",
            "mip_abs_gap": effort.absolute_gap,
            "mip_max_nodes": min(effort.nodes, 2**31 - 1),
            "primal_feasibility_tolerance": effort.feasibility,
            "mip_feasibility_tolerance": effort.feasibility,
            **self.options,
        }

    @contextmanager
    def _watched(self, going: Going | None) -> Iterator[None]:
        if self.interface._solver_model is None:
            self.interface.set_instance(self.model)
        asked = self.interface._solver_model.cbMipInterrupt

        def ask(event: Any) -> None:
            if going is not None and not going():
                event.interrupt()

        asked.subscribe(ask)
        try:
            yield
        finally:
            asked.unsubscribe(ask)

    def _spent(self) -> float:
        """Its clock runs on from one linear programme to the next, and begins anew for every one with whole numbers."""
        model = self.interface._solver_model
        linear = not any(kind.name == "kInteger" for kind in model.getLp().integrality_)
        return float(model.getRunTime()) if linear else 0.0

    def _complete(self) -> bool:
        """It refuses all rows that it is given at once if a coefficient of one of them is 1e15 or more."""
        return bool(self.interface._solver_model.getNumRow() == len(self.interface._active_constraints))

    def _interrupted(self) -> bool:
        return bool(self.interface._solver_model.getModelStatus().name == "kInterrupt")

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
            "FeasibilityTol": effort.feasibility,
            "IntFeasTol": effort.feasibility,
            **self.options,
        }

    def _nodes(self) -> int:
        return int(self.interface._solver_model.NodeCount)
