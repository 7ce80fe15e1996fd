"""Gaussian blocks in programmes: bounded from above by tangents, exact where they touch; claims, limits and refusals."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likely
from likely import search
from likely.circuit import Circuit, GaussianBlock, Product, Sum, Warp
from likely.errors import CircuitError
from likely.predictor import Column, LinearModel, Link
from likely.problem import Limits, Plausibility, Problem, Progress, to_class
from likely.schema import Schema
from tests.mio.judging import LIMITS, SAME, agree, best_of
from tests.oracles.search import answers_of
from tests.search.judging import check_solution
from tests.search.test_blocks import block_problems, problems_of_reals
from tests.strategies import generators
from tests.strategies.blocks import block_circuits

pyo = pytest.importorskip("pyomo.environ")
pytest.importorskip("highspy")
from likely import mio  # noqa: E402
from likely.mio.modelling import columns_of, new_block, size  # noqa: E402
from likely.mio.solvers import Effort, appsi  # noqa: E402
from likely.mio.warped import block_leaf  # noqa: E402
from tests.mio.test_encoders import fixed, least, model_of, satisfied  # noqa: E402

#: For what takes seconds on a machine of its own.
PLENTY = Limits(seconds=60)


def some_rows(circuit: Circuit, rng: np.random.Generator, count: int) -> np.ndarray:
    """Rows of the features' values."""
    columns = []
    for feature in circuit.features:
        drawn = rng.uniform(feature.lower, feature.upper, count)
        columns.append(drawn if feature.grid is None else np.round(drawn / feature.grid) * feature.grid)
    return np.stack(columns, axis=1)


# -- what a block is in a programme ---------------------------------------------------------------------------------------


@given(circuit=block_circuits(discrete=False), rng=generators())
def test_no_row_is_above_its_tangents(circuit: Circuit, rng: np.random.Generator) -> None:
    """Inside: slopes and any tangent at the row's coordinates. Outside: what stands for far out. Both floors counted."""
    rows = some_rows(circuit, rng, 50)
    for block in (node for node in circuit.nodes if isinstance(node, GaussianBlock)):
        leaf = block_leaf(block, circuit, [circuit.features[j] for j in block.variables])
        tangents = [leaf.tangent(point) for point in [*leaf.first_points(), *rng.normal(0, 3, (5, len(leaf.pieces)))]]
        own = rows[:, list(block.variables)]
        for numbers, log in zip(own, block.log_density(own, circuit.floor), strict=True):
            upper = leaf.far
            places = [np.flatnonzero((part.low <= x) & (x <= part.high))[0] for part, x in zip(leaf.pieces, numbers, strict=True)]
            if all(part.inside[r] for part, r in zip(leaf.pieces, places, strict=True)):
                point = leaf.coordinates(numbers)
                parts = zip(leaf.pieces, places, point, strict=True)
                slopes = sum(part.offset[r] + part.slope[r] * q for part, r, q in parts)
                upper = max(upper, slopes + min(constant + gradient @ point for constant, gradient in tangents))
                assert slopes + leaf.gaussian(point) == pytest.approx(block.log_density(numbers[None])[0], rel=1e-9, abs=1e-9)
            assert upper >= log - 1e-9 * (1 + abs(log))


@pytest.mark.parametrize("side", ["under", "over"])
@settings(max_examples=10)
@given(circuit=block_circuits(discrete=False), rng=generators())
def test_blocks_from_above_and_exact_when_refined(side: Any, circuit: Circuit, rng: np.random.Generator) -> None:
    """At every row: never below what the formulation promises, and equal to it after some tangents and splits."""
    inputs = mio.encode_schema(Schema(circuit.features))
    likelihood = mio.encode_circuit(circuit, inputs, side=side)
    model = model_of(inputs.block, likelihood.block)
    for row in some_rows(circuit, rng, 2):
        promised = likelihood.value(row)
        model.refined = new_block()
        refinement = mio.Refinement(model.refined)
        fixed(inputs, row)
        for _ in range(40):
            negative = least(model, -1 * likelihood.log_likelihood)
            greatest = -math.inf if negative is None else -negative
            assert greatest >= promised - 1e-6 * (1 + abs(promised))
            if negative is None or not likelihood.refine(refinement, 1e-7):
                break
        assert greatest == pytest.approx(promised, rel=1e-5, abs=1e-5)
        if promised > -math.inf:
            likelihood.set(row)
            refinement.set()
            assert satisfied(model, 1e-6 * (1 + abs(promised)))
        model.del_component("refined")


# -- both engines ---------------------------------------------------------------------------------------------------------


def claims_hold(problem: Problem, limits: Limits) -> Any:
    """The result of programmes, of which no bound is above the optimum and no answer below; nor is any other claim refuted."""
    result, exact = mio.solve(problem, limits, test=False), search.solve(problem, LIMITS)
    tolerance = SAME * (1 + abs(best_of(exact))) if exact.solutions else 0.0
    assert result.bounds.lower <= best_of(exact) + tolerance
    assert best_of(result) >= exact.bounds.lower - tolerance
    for solution in result.solutions:
        check_solution(problem, solution)
    return result


@settings(max_examples=20)
@given(problem=block_problems(), approximate=st.booleans())
def test_the_optimum_of_enumeration(problem: Problem, approximate: bool) -> None:
    assert problem.plausibility is not None
    asked = replace(problem, plausibility=replace(problem.plausibility, approximate=approximate))
    result, answers = claims_hold(asked, LIMITS), answers_of(asked)
    assert result.bounds.lower <= answers.best + SAME * (1 + abs(answers.best)) or answers.best == math.inf
    if result.status == "optimal":
        assert best_of(result) <= answers.best + SAME * (1 + abs(answers.best))
    elif result.status == "infeasible":
        assert answers.best == math.inf


@settings(max_examples=8)
@given(problem=block_problems(), solutions=st.sampled_from([2, 3]))
def test_the_same_answers(problem: Problem, solutions: int) -> None:
    assert problem.plausibility is not None
    asked = replace(problem, plausibility=replace(problem.plausibility, approximate=True))
    limits = replace(LIMITS, solutions=solutions)
    agree(asked, limits, mio.solve(asked, limits, test=False))


@settings(max_examples=6)
@given(problem=problems_of_reals(), approximate=st.booleans())
def test_claims_over_reals(problem: Problem, approximate: bool) -> None:
    assert problem.plausibility is not None
    claims_hold(replace(problem, plausibility=replace(problem.plausibility, approximate=approximate)), replace(LIMITS, seconds=3))


# -- one problem ------------------------------------------------------------------------------------------------------------


def two_reals(*, step: float | None = None, ends: tuple[float, float] = (-math.inf, math.inf), **plausibility: Any) -> Problem:
    """Two correlated numbers, two components, and a line that must be crossed."""
    schema = Schema((likely.Continuous("a", 0, 10, step=step), likely.Continuous("b", 0, 10, step=step)))
    warp = Warp((1.0, 4.0, 9.0), (-2.0, 0.0, 2.5), *ends)
    blocks = [GaussianBlock((0, 1), (warp, warp), mean, ((1.0,), (0.8, 0.6))) for mean in ((-0.5, -0.5), (1.0, 1.2))]
    circuit = Circuit(schema.features, (*blocks, Product((0,)), Product((1,)), Sum((2, 3), (0.6, 0.4))), floor=1e-12)
    form = LinearModel(Link("logistic"), ("no", "yes"), (Column(0, 1.0, 0.0), Column(1, 0.5, -8.0)), np.ones((1, 2)), np.zeros(1))
    options = {"lower": -4.0, "approximate": True, **plausibility}
    return Problem(schema, np.array([3.0, 3.0]), form, to_class(form, "yes"), Plausibility(circuit, **options))


@pytest.mark.parametrize("ends", [(-math.inf, math.inf), (-0.5, 10.5)])
@pytest.mark.parametrize("asked", [{}, {"lower": -3.7}, {"lower": -math.inf, "weight": 0.5}, {"weight": 2.0}])
def test_reals_are_solved_to_the_optimum(asked: dict[str, float], ends: tuple[float, float]) -> None:
    optimal(two_reals(ends=ends, **asked), "highs")


@pytest.mark.parametrize("asked", [{"lower": -3.7}, {"weight": 2.0}])
def test_scip_says_the_same(asked: dict[str, float]) -> None:
    pytest.importorskip("pyscipopt")
    optimal(two_reals(**asked), "scip")


def optimal(problem: Problem, solver: str) -> None:
    """Programmes find the optimum of the exact engine, and claim that it is one."""
    result, exact = mio.solve(problem, PLENTY, solver=solver, test=False), search.solve(problem, PLENTY)
    assert (result.status, result.proof) == ("optimal", "solver")
    assert best_of(result) == pytest.approx(best_of(exact), rel=SAME, abs=SAME)
    assert result.bounds.lower <= best_of(exact) + SAME


def test_mixtures_are_bracketed_where_likelihoods_are_exact() -> None:
    problem = two_reals(approximate=False)
    result, exact = mio.solve(problem, LIMITS, test=False), search.solve(problem, PLENTY)
    assert result.status == "feasible"
    assert result.bounds.lower <= exact.bounds.lower <= best_of(exact) <= result.bounds.upper + SAME


def test_what_a_question_adds_is_forgotten_with_it() -> None:
    problem = two_reals()
    assert problem.plausibility is not None
    programme = mio.Programme(problem.schema, problem.form, problem.plausibility.circuit)
    sizes = []
    for factual in ([3.0, 3.0], [1.0, 2.0], [3.0, 3.0]):
        asked = replace(problem, factual=np.array(factual))
        programme.ask(asked)
        sizes.append(size(programme.model))
        programme.set(np.array([6.0, 6.0]))
        (chosen,) = [flow for flow in programme.model.likelihood.flow[0].near.values() if flow.value]
        values = [variable for variable in programme.model.likelihood.flow[0].coordinate.values() if variable.value]
        for variable in values:
            variable.set_value(variable.value + 0.5)
        assert chosen.value == 1
        assert programme.refine(1e-6)
        assert size(programme.model)[0] == sizes[-1][0] + 1
    assert sizes[0] == sizes[2]


def test_relaxed_variables_keep_their_bounds() -> None:
    problem = two_reals()
    assert problem.plausibility is not None
    programme = mio.Programme(problem.schema, problem.form, problem.plausibility.circuit)
    programme.ask(problem)
    before = [(column.name, column.bounds, column.is_integer()) for column in columns_of(programme.model)]
    with programme.relaxed():
        assert [(column.name, column.bounds) for column in columns_of(programme.model)] == [part[:2] for part in before]
        assert not any(column.is_integer() for column in columns_of(programme.model))
    assert [(column.name, column.bounds, column.is_integer()) for column in columns_of(programme.model)] == before


def test_of_a_number_beside_its_step_nothing_is_claimed() -> None:
    problem = two_reals(step=0.5)
    aside = replace(problem, factual=np.array([3.0, 3.2]))
    assert mio.solve(problem, LIMITS, test=False).status == "optimal"
    result = mio.solve(aside, LIMITS, test=False)
    assert (result.status, result.bounds.lower) == ("feasible", -math.inf)
    check_solution(aside, result.solutions[0])


def test_the_papers_formulation_names_the_other() -> None:
    circuit = two_reals().plausibility.circuit  # type: ignore[union-attr]
    with pytest.raises(CircuitError, match=r"got 2 Gaussian block\(s\)\. Hint: use formulation='hull'"):
        mio.encode_circuit(circuit, mio.encode_schema(Schema(circuit.features)), formulation="paper")


def test_blocks_over_features_with_codes_are_refused() -> None:
    features = (likely.Mixed("a", 0, 10, codes=(-9,)), likely.Continuous("b", 0, 10))
    block = GaussianBlock((0, 1), (Warp.identity(-1, 11), Warp.identity(-1, 11)), (5.0, 5.0), ((1.0,), (0.5, 1.0)))
    with pytest.raises(CircuitError, match="must be over features without special codes; got 'a'"):
        mio.encode_circuit(Circuit(features, (block,)), mio.encode_schema(Schema(features)))


# -- time -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rounds", [1, 2, 4])
def test_callback_ends_it(rounds: int) -> None:
    """Between the linear relaxations, too; what is known until then is returned."""
    seen: list[Progress] = []
    result = mio.solve(two_reals(), callback=lambda moment: len(seen.append(moment) or seen) < rounds)
    assert result.interrupted
    assert len(seen) == rounds
    assert result.solutions


@pytest.mark.parametrize("seconds", [1e-6, 0.05, 0.5])
def test_limits_are_kept(seconds: float) -> None:
    began = time.perf_counter()
    result = mio.solve(two_reals(approximate=False), Limits(seconds=seconds))
    assert time.perf_counter() - began < 1.1 * seconds + 2
    assert result.status in ("feasible", "unknown", "optimal")


def test_no_limit_is_one_of_all_linear_programmes_together() -> None:
    """The clock of HiGHS runs on from one linear programme to the next, and a limit is held against all of it."""
    problem = two_reals()
    assert problem.plausibility is not None
    programme = mio.Programme(problem.schema, problem.form, problem.plausibility.circuit)
    programme.ask(problem)
    solver = appsi.Highs(programme.model, {})
    with programme.relaxed():
        assert solver.solve(Effort(10.0, 1, 0.0, 0.0), start=False).outcome == "optimal"
        spent = solver.interface._solver_model.getRunTime()
        assert solver._spent() == spent > 0
        solver.solve(Effort(10.0, 1, 0.0, 0.0), start=False)
        assert solver.interface.config.time_limit > 10.0 - 5.0 + spent
    solver.solve(Effort(10.0, 1000, 0.0, 0.0), start=False)
    assert solver._spent() == 0.0
