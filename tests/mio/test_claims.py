"""What a solver claims is what is so, at any scale; and what it claims falsely is refuted."""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import likely
from likely import search
from likely.errors import ContradictionError
from likely.predictor import Column, LinearModel, Link, ReluNetwork
from likely.predictor.forms import form_from_dict
from likely.problem import Bounds, Limits, Problem, Result, Solution, not_class, to_class
from likely.schema import Constraint, Feature
from likely.schema.costs import Cost, MoveCost, SwitchCost
from likely.schema.grid import snap
from tests.mio.judging import LIMITS
from tests.mio.test_solve import case_problem

pytest.importorskip("pyomo")
pytest.importorskip("highspy")
from likely import mio
from likely.mio.claims import held_against_rows
from likely.mio.modelling import OutOfTimeError, in_time, seconds_left, until
from likely.mio.solvers import Effort, make_solver
from likely.mio.solvers.solver import TOO_LATE

DATA = Path(__file__).parent / "data"
#: The tolerance that `docs/mio.md` states: relative to 1 + the objective, with the gap of the exact engine.
STATED = 1e-5


def case(name: str) -> Problem:
    """A problem of which HiGHS with its presolve claimed a false optimum: three features, one linear rule."""
    data = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    form = form_from_dict(data["form"])
    return Problem(likely.Schema.from_dict(data["schema"]), np.array(data["factual"]), form, to_class(form, data["target"]))


@pytest.mark.parametrize("solver", ["highs", "scip"])
@pytest.mark.parametrize("formulation", ["hull", "paper"])
@pytest.mark.parametrize(("name", "optimum"), [("presolve_one_change", 1.46177067), ("presolve_two_changes", 3.04177775)])
def test_claims_that_were_false(name: str, optimum: float, formulation: Any, solver: str) -> None:
    if solver == "scip":
        pytest.importorskip("pyscipopt")
    result = mio.solve(case(name), LIMITS, formulation=formulation, solver=solver, test=False)
    assert result.status == "optimal"
    assert result.proof == "solver"
    assert result.solutions[0].objective == pytest.approx(optimum, abs=1e-5)
    assert result.bounds.lower == pytest.approx(optimum, abs=1e-5)


# -- numbers at odd scales ------------------------------------------------------------------------------------------------


@st.composite
def odd_problems(draw: st.DrawFn) -> Problem:
    """Two to four columns of numbers, each in a unit of its own between 1e-6 and 1e6, a category, and one or two linear rules."""
    rng = np.random.default_rng(draw(st.integers(0, 10**9)))
    units = 10.0 ** rng.uniform(-6, 6, rng.integers(2, 5))
    columns = [odd_column(rng, f"x{i}", unit) for i, unit in enumerate(units)]
    features: list[Feature] = [*(feature for feature, _ in columns), likely.Categorical("c", ("a", "b", "c"))]
    factual = np.array([*(value for _, value in columns), float(rng.integers(3))])
    costs: list[Cost] = [
        *(MoveCost(*(rng.uniform(0.5, 2, 2) / unit), rng.random() * (rng.random() < 0.3)) for unit in units),
        SwitchCost(tuple(rng.uniform(1, 2, 3))),
    ]
    rules: list[Constraint] = [likely.Increasing(f"x{i}") for i in range(len(units)) if rng.random() < 0.3]
    for _ in range(rng.integers(1, 3)):
        chosen = rng.choice(len(units), 2, replace=False)
        terms = {f"x{j}": float(rng.normal() / units[j]) for j in chosen}
        now = sum(a * factual[int(name[1:])] for name, a in terms.items())
        rules.append(likely.LinearConstraint(terms, float(now + 0.7 * rng.normal())))
    try:
        schema = likely.Schema(features, rules, costs)
    except ContradictionError:
        reject()
    return Problem(schema, factual, *odd_model(rng, units, factual))


def odd_column(rng: np.random.Generator, name: str, unit: float) -> tuple[Feature, float]:
    """A feature of numbers, with a step or without, and a value of it."""
    lower, upper = np.sort(rng.normal(size=2)) * 3 * unit
    if rng.random() < 0.7:
        return likely.Continuous(name, float(lower), float(upper)), float(rng.uniform(lower, upper))
    step = 10.0 ** round(math.log10(0.1 * unit))
    ends = snap(np.array([lower - step, upper + step]), step)
    value = snap(rng.uniform(lower, upper, 1), step)
    return likely.Continuous(name, *map(float, ends), step=step), float(value[0])


def odd_model(rng: np.random.Generator, units: np.ndarray, factual: np.ndarray) -> tuple[LinearModel, Any]:
    """A linear model of scaled numbers and one-hot values, and the class that it does not give the factual."""
    count = len(units)
    indicators = [Column(count, 0.0, 0.0, tuple(np.eye(3)[k]), True) for k in range(3)]
    columns = (*(Column(i, 1 / unit, 0.1 * rng.normal()) for i, unit in enumerate(units)), *indicators)
    form = LinearModel(Link("logistic"), (0, 1), columns, 2 * rng.normal(size=(1, count + 3)), rng.normal(size=1))
    return form, to_class(form, int(1 - form.predict(factual[None])[0]))


@settings(max_examples=40)
@given(problem=odd_problems())
def test_no_claim_exceeds_the_optimum(problem: Problem) -> None:
    """Without the exact engine's help: no bound above a row that is an answer, and no worse answer that is called optimal."""
    exact = search.solve(problem, LIMITS)
    result = mio.solve(problem, LIMITS, test=False)
    if not exact.solutions:
        assert exact.status != "infeasible" or not result.solutions
        return
    best = exact.solutions[0].objective
    assert result.bounds.lower <= best + STATED * (1 + abs(best))
    if result.status == "optimal":
        assert result.solutions[0].objective <= best + STATED * (1 + abs(best))


def test_scores_that_vary_by_rounding_alone_are_no_scale() -> None:
    """To divide by their spread made coefficients of 1e15, and HiGHS left out all rows."""
    schema = likely.Schema(
        (likely.Binary("a", (False, True)),), (likely.MaxChanges(1), likely.Decreasing("a"), likely.Increasing("a"))
    )
    column = Column(0, 0.0, 0.0, (1.5, -1.0), True)
    layers = (
        (np.array([[-0.25], [-1.75]]), np.array([0, -1.25])),
        (np.array([[-1.25, 0.75], [-0.75, 0.25], [-1, -1.5]]), np.array([-0.5, -0.5, -2.0])),
    )
    form = ReluNetwork(Link("shares"), ("x", "y", "z"), (column,), layers)
    problem = Problem(schema, np.array([1.0]), form, not_class(form, "x", margin=0.25))
    assert search.solve(problem).status == "infeasible"
    assert mio.solve(problem, test=False).status == "infeasible"


def test_a_solver_that_leaves_out_rows_claims_nothing() -> None:
    """HiGHS takes none of the rows that it is given with one whose coefficients are too large."""
    import pyomo.environ as pyo

    model = pyo.ConcreteModel()
    model.x, model.y = pyo.Var(bounds=(0, 1)), pyo.Var(bounds=(0, 1))
    model.rows = pyo.ConstraintList()
    model.rows.add(model.x + model.y >= 1)
    model.rows.add(1e16 * model.x + model.y <= 2)
    model.objective = pyo.Objective(expr=model.x + model.y)
    report = make_solver("highs", model).solve(Effort(10.0, 1000, 1e-6, 0.0), start=False)
    assert (report.outcome, report.objective, report.bound) == ("failed", None, -math.inf)


# -- the test of a claim --------------------------------------------------------------------------------------------------


def test_a_false_claim_is_refuted() -> None:
    """Then the answer and the bound are those of the exact engine."""
    problem = case("presolve_one_change")
    costly = problem.factual.copy()
    costly[2] = 2.0
    known = problem.solutions(costly[None])[0]
    assert isinstance(known, Solution)
    false = Result("optimal", (known,), Bounds(known.objective, known.objective), proof="solver")
    result = held_against_rows(problem, Limits(), false)
    assert result.proof == "exact"
    assert result.solutions[0].objective < 1.5 < known.objective
    assert result.bounds.lower < 1.5


def test_a_false_infeasibility_is_refuted() -> None:
    false = Result("infeasible", (), Bounds(math.inf, math.inf), proof="solver")
    result = held_against_rows(case("presolve_two_changes"), Limits(), false)
    assert result.proof == "exact"
    assert result.solutions


def test_a_claim_that_holds_stays_a_claim() -> None:
    problem = case("presolve_one_change")
    result = mio.solve(problem, LIMITS)
    assert (result.status, result.proof) == ("optimal", "solver")
    assert search.solve(problem).proof == "exact"


# -- time -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["highs", "scip"])
@pytest.mark.parametrize("seconds", [0.2, 2.0])
def test_building_and_starts_count_as_time(seconds: float, solver: str) -> None:
    """A circuit of thousands of rows: to build the programme takes longer than the shortest limit."""
    if solver == "scip":
        pytest.importorskip("pyscipopt")
    problem = case_problem("adult")
    plausibility = problem.plausibility
    assert plausibility is not None
    exactly = replace(problem, plausibility=replace(plausibility, approximate=False))
    began = time.perf_counter()
    result = mio.solve(exactly, Limits(seconds=seconds), solver=solver)
    assert time.perf_counter() - began < 1.1 * seconds + 2  # a busy machine; a solver looks at its clock now and then
    assert result.status in ("feasible", "unknown", "optimal")


@pytest.mark.parametrize("solver", ["highs", "scip"])
def test_what_a_solver_could_not_read_in_time_is_read_again(solver: str) -> None:
    if solver == "scip":
        pytest.importorskip("pyscipopt")
    problem = case_problem("credit")
    assert problem.plausibility is not None
    programme = mio.Programme(problem.schema, problem.form, problem.plausibility.circuit)
    programme.ask(problem)
    engine = make_solver(solver, programme.model)
    assert engine.solve(Effort(1e-3, 1000, 1e-6, 0.0), start=False) == TOO_LATE
    assert engine.solve(Effort(60.0, 1, 1e-6, 0.0), start=False).bound > -math.inf


def test_a_moment_holds_for_what_is_within() -> None:
    """An earlier end is not put off by a later one; outside of all, there is none."""
    with until(time.perf_counter() - 1), until(time.perf_counter() + 60):
        assert seconds_left() < 0
        with pytest.raises(OutOfTimeError):
            in_time()
    assert seconds_left() == math.inf
