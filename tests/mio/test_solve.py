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
from likely.mio.solvers import appsi


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
    """The file has what the model has, in every format."""
    asked = approximate(problem)
    for ending in (".lp", ".mps", ".nl"):
        path = tmp_path_factory.mktemp("files") / f"problem{ending}"
        programme = mio.export(asked, path, formulation="paper")
        assert path.stat().st_size > 0
        assert programme.size[1] > 0


def test_exported_file_has_the_optimum(tmp_path: Path) -> None:
    highspy = pytest.importorskip("highspy")
    problem = small()
    mio.export(problem, tmp_path / "problem.mps")
    solver = highspy.Highs()
    solver.setOptionValue("log_to_console", False)
    solver.readModel(str(tmp_path / "problem.mps"))
    solver.run()
    assert solver.getInfo().objective_function_value == pytest.approx(search.solve(problem).solutions[0].objective, abs=1e-5)


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
    found = mio.solve(small())
    assert found.status == "optimal"
    assert found.solutions[0].cost == pytest.approx(2.0001, abs=1e-6)
    assert small().form.score(found.solutions[0].row[None])[0, 0] >= 1e-4


@pytest.mark.parametrize("name", ["asia", "credit"])
def test_the_papers_cases(name: str) -> None:
    """As the exact engine in the paper's approximation, or a limit came first and the bounds hold it."""
    problem = case_problem(name)
    wanted, found = search.solve(problem, LIMITS), mio.solve(problem, LIMITS)
    best = wanted.solutions[0].objective
    assert found.bounds.lower - 1e-5 <= best <= found.bounds.upper + 1e-5
    if found.status == "optimal":
        agree(problem, LIMITS, found)


def test_callback_ends_it() -> None:
    seen: list[Progress] = []
    found = mio.solve(small(), callback=lambda moment: bool(seen.append(moment)))
    assert found.interrupted
    assert found.status == "feasible"  # the start, which is an answer
    assert found.bounds.lower == -math.inf
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
        found = mio.solve(replace(problem, factual=np.array([factual])))
        assert found.solutions[0].cost == pytest.approx(5.0001 - factual, abs=1e-6)
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
    found = mio.solve(small(), Limits(seconds=1e-6))
    assert found.status in ("feasible", "unknown")
