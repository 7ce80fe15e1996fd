"""The engine: solvers, files, limits, and the paper's cases."""

from __future__ import annotations

import builtins
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from likely import search
from likely.circuit import from_case
from likely.errors import MissingExtraError, ProblemError
from likely.problem import Limits, Plausibility, Problem, Progress, not_class
from tests import cases
from tests.mio.judging import LIMITS, agree, approximate
from tests.strategies import problems

pytest.importorskip("pyomo")
pytest.importorskip("highspy")
from likely import mio
from likely.mio import modelling
from likely.mio.solvers import Effort, appsi, make_solver

EFFORT = Effort(30.0, 100_000, 1e-7, 0.0)


def case_problem(name: str, number: int = 0) -> Problem:
    """A query of one of the paper's cases, with the paper's maximum for sums."""
    case = cases.load(cases.path_of(f"{name}-0"))
    schema = cases.schema_of(case)
    form, circuit = cases.network_of(case, schema), from_case(case, schema)
    asked = case["factuals"][number]
    factual = schema.encode_row(cases.row_of(case, asked["row"]))
    goal, threshold = not_class(form, form.predict(factual[None])[0]), asked["queries"]["median"]["threshold"]
    return Problem(schema, factual, form, goal, Plausibility(circuit, threshold, approximate=True))


@settings(max_examples=8)
@given(problem=problems(rows=100))
def test_scip_says_the_same(problem: Problem) -> None:
    pytest.importorskip("pyscipopt")
    asked = approximate(problem)
    agree(asked, LIMITS, mio.solve(asked, LIMITS, solver="scip"))


@settings(max_examples=8)
@given(problem=problems(rows=60, plausible=True))
def test_export(tmp_path_factory: Any, problem: Problem) -> None:
    """Every format, read back by a solver, has the optimum of the programme, or none if it has none."""
    asked = approximate(problem)
    for ending in (".lp", ".mps"):
        path = tmp_path_factory.mktemp("files") / f"problem{ending}"
        programme = mio.export(asked, path, formulation="paper")
        report = make_solver("highs", programme.model).solve(EFFORT, start=False)
        read = highs_optimum(path)
        assert (read is None) == (report.outcome == "infeasible")
        if read is not None:
            assert read == pytest.approx(report.objective, rel=1e-5, abs=1e-5)


def highs_optimum(path: Path) -> float | None:
    """The optimum of a file, by HiGHS itself; None if it has none."""
    highspy = pytest.importorskip("highspy")
    solver = highspy.Highs()
    solver.setOptionValue("log_to_console", False)
    assert solver.readModel(str(path)) == highspy.HighsStatus.kOk
    solver.setOptionValue("mip_abs_gap", EFFORT.absolute_gap)
    solver.setOptionValue("mip_rel_gap", EFFORT.relative_gap)
    solver.run()
    status = solver.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        return None
    assert status == highspy.HighsModelStatus.kOptimal
    return float(solver.getInfo().objective_function_value)


@pytest.mark.parametrize("formulation", ["paper", "hull"])
@pytest.mark.parametrize("ending", [".lp", ".mps"])
def test_exported_file_has_the_optimum(ending: str, formulation: str, tmp_path: Path) -> None:
    problem, path = small(), tmp_path / f"problem{ending}"
    mio.export(problem, path, formulation=formulation)
    assert highs_optimum(path) == pytest.approx(search.solve(problem).solutions[0].objective, abs=1e-5)


def test_a_file_for_nonlinear_solvers_has_all_rows_and_columns(tmp_path: Path) -> None:
    """No solver that reads `.nl` is among our extras: its header counts columns and rows."""
    programme = mio.export(small(), tmp_path / "problem.nl")
    columns, rows = map(int, (tmp_path / "problem.nl").read_text(encoding="utf-8").splitlines()[1].split()[:2])
    assert (rows, columns) == programme.size


def small() -> Problem:
    """A problem with an answer that changes something."""
    from likely import Continuous, Schema
    from likely.circuit import Circuit, Histogram
    from likely.predictor import Column, LinearModel, Link

    schema = Schema((Continuous("a", 0, 10),))
    form = LinearModel(Link("logistic"), (0, 1), (Column(0, 1.0, -5.0),), np.ones((1, 1)), np.zeros(1))
    circuit = Circuit(schema.features, (Histogram(0, (0, 4, 7, 10), (0.15, 0.1, 0.1 / 3)),))
    return Problem(schema, np.array([3.0]), form, not_class(form, 0), Plausibility(circuit, math.log(0.05), approximate=True))


def test_small() -> None:
    result = mio.solve(small())
    assert result.status == "optimal"
    assert result.solutions[0].cost == pytest.approx(2.0001, abs=1e-6)
    assert small().form.score(result.solutions[0].row[None])[0, 0] >= 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["asia", "credit"])
def test_the_papers_cases(name: str) -> None:
    """As the exact engine in the paper's approximation, or a limit came first and the bounds hold it."""
    problem = case_problem(name)
    wanted, result = search.solve(problem, LIMITS), mio.solve(problem, LIMITS)
    best = wanted.solutions[0].objective
    assert result.bounds.lower - 1e-5 <= best <= result.bounds.upper + 1e-5
    if result.status == "optimal":
        agree(problem, LIMITS, result)


def test_callback_ends_it() -> None:
    seen: list[Progress] = []
    result = mio.solve(small(), callback=lambda moment: bool(seen.append(moment)))
    assert result.interrupted
    assert result.status == "feasible"  # the start, which is an answer
    assert result.bounds.lower == -math.inf
    assert len(seen) == 1


def test_one_side() -> None:
    """Likelihoods are exact here: "under" finds and claims nothing, "over" proves."""
    problem = replace(small(), plausibility=replace(small().plausibility, approximate=False))  # type: ignore[type-var]
    under, over = mio.solve(problem, side="under"), mio.solve(problem, side="over")
    assert (under.status, over.status) == ("feasible", "optimal")
    assert under.bounds.lower == -math.inf
    assert under.bounds.upper == pytest.approx(over.bounds.upper, abs=1e-6)


def test_programme_is_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = small()
    made: list[Any] = []
    kind = sys.modules["likely.mio.solve"].Programme
    monkeypatch.setattr(sys.modules["likely.mio.solve"], "Programme", lambda *a, **k: made.append(1) or kind(*a, **k))
    for factual in (1.0, 2.0, 4.0):
        result = mio.solve(replace(problem, factual=np.array([factual])))
        assert result.solutions[0].cost == pytest.approx(5.0001 - factual, abs=1e-6)
    assert len(made) == 1


def test_refusals(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(ProblemError, match="A solver must be 'highs', 'scip', 'gurobi'; got 'other'"):
        mio.solve(small(), solver="other")
    with pytest.raises(ProblemError, match="side must be 'under', 'over' or 'both'; got 'left'"):
        mio.solve(small(), side="left")  # type: ignore[arg-type]
    with pytest.raises(ProblemError, match=r"A file for a programme must end in .lp, .mps, .nl; got 'problem.txt'"):
        mio.export(small(), tmp_path / "problem.txt")
    monkeypatch.setattr(appsi, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'likely\[gurobi\]'"):
        mio.solve(small(), solver="gurobi")


def test_missing_pyomo(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.startswith("pyomo"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    modelling._pyomo.cache_clear()
    with pytest.raises(MissingExtraError, match=r"pip install 'likely\[mio\]'"):
        mio.encode_schema(small().schema)
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'likely\[scip\]'"):
        mio.solve(small(), solver="scip")


def test_limits_are_kept() -> None:
    result = mio.solve(small(), Limits(seconds=1e-6))
    assert result.status in ("feasible", "unknown")


@pytest.mark.parametrize("solver", ["highs", "scip"])
def test_infinite_seconds_are_no_limit(solver: str) -> None:
    if solver == "scip":
        pytest.importorskip("pyscipopt")
    result = mio.solve(small(), Limits(seconds=math.inf), solver=solver)
    assert result.status == "optimal"
    assert result.solutions[0].cost == pytest.approx(2.0001, abs=1e-6)
