"""Circuits with Gaussian blocks: the optimum by enumeration, and bounds of boxes that no row exceeds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import likely
from likely.circuit import Circuit, Sum
from likely.circuit.model.blocks import GaussianBlock
from likely.circuit.model.warps import Warp
from likely.predictor import Column, LinearModel, Link
from likely.problem import Limits, Plausibility, Problem, Result, between
from likely.problem.tolerances import SAME_COST
from likely.schema import Schema
from likely.schema.values import Numbers, code_number
from likely.search import solve
from tests.oracles.search import answers_of, space_of
from tests.search.judging import LIMITS, judge
from tests.strategies import generators
from tests.strategies.blocks import block_circuits
from tests.strategies.problem import problems_over

MOST_ROWS = 3000


@st.composite
def block_problems(draw: st.DrawFn, *, codes: bool = False) -> Problem:
    """Problems whose rows can be counted, with a circuit of blocks: a threshold, a weight, or both."""
    circuit = draw(block_circuits(least=2, most=3, real=False, discrete=False, codes=codes))
    values = [(feature.upper - feature.lower) / (feature.grid or 1.0) + 1 + len(feature.atoms) for feature in circuit.features]
    assume(math.prod(values) <= MOST_ROWS)
    problem = draw(problems_over(Schema(circuit.features), plausible=False))
    rng = draw(generators())
    logs = circuit.log_likelihood(space_of(problem))
    lower = float(np.quantile(logs, rng.random())) if rng.random() < 0.7 else -math.inf
    weight = 0.0 if lower > -math.inf and rng.random() < 0.5 else float(rng.choice([0.1, 1.0]))
    return replace(problem, plausibility=Plausibility(circuit, lower, weight, approximate=bool(rng.random() < 0.3)))


@given(block_problems(codes=True))
def test_the_optimum_is_that_of_enumeration(problem: Problem) -> None:
    judge(problem, solve(problem, LIMITS), answers_of(problem))


@pytest.mark.parametrize("unused", [0.0, 1e-310])
def test_a_component_that_hardly_counts_hides_no_other(unused: float) -> None:
    """Far from the component that counts, the other one is likelier by more than doubles can tell as a factor."""
    features = (likely.Continuous("a", 0, 9, step=1), likely.Continuous("b", 0, 9, step=1))
    warps = (Warp.identity(), Warp.identity())
    nodes = (
        GaussianBlock((0, 1), warps, (8.0, 8.0), ((0.1,), (0.0, 0.1))),
        GaussianBlock((0, 1), warps, (1.0, 1.0), ((3.0,), (0.0, 3.0))),
        Sum((0, 1), (1.0, unused)),
    )
    form = LinearModel(Link("sign"), (0, 1), (Column(0),), np.array([[1.0]]), np.array([0.0]))
    plausibility = Plausibility(Circuit(features, nodes, floor=0.0), -400.0, approximate=True)
    problem = Problem(Schema(features), np.zeros(2), form, between(form, 0.0, math.inf), plausibility)
    judge(problem, solve(problem, LIMITS), answers_of(problem))


@st.composite
def problems_of_reals(draw: st.DrawFn, *, codes: bool = False) -> Problem:
    """Problems over reals, with a threshold that some rows reach."""
    circuit = draw(block_circuits(least=2, most=4, real=True, discrete=False, codes=codes))
    problem = draw(problems_over(Schema(circuit.features), plausible=False, kinds=("linear", "network")))
    rng = draw(generators())
    logs = circuit.log_likelihood(some_rows(problem, rng, 200))
    lower = float(np.quantile(logs, rng.choice([0.3, 0.7, 0.95])))
    return replace(problem, plausibility=Plausibility(circuit, lower))


def some_rows(problem: Problem, rng: np.random.Generator, count: int) -> Numbers:
    """Rows of the domain: half of them near the factual, where that is known."""
    low, high = (np.array([getattr(f, end) for f in problem.schema.features]) for end in ("lower", "upper"))
    rows = rng.uniform(low, high, size=(count, len(low)))
    near = np.where(np.isnan(problem.factual), rows, problem.factual)
    shares = rng.random((count, 1)) * (rng.random((count, len(low))) < 0.5)
    rows[::2] = np.clip(near + shares * (rows - near), low, high)[::2]
    for j, feature in enumerate(problem.schema.features):
        coded = (rng.random(count) < 0.2) & bool(feature.atoms)
        rows[coded, j] = [code_number(k) for k in rng.integers(0, max(1, len(feature.atoms)), coded.sum())]
    return rows


@given(problems_of_reals(codes=True), generators())
def test_no_row_of_reals_is_better_than_what_is_proved(problem: Problem, rng: np.random.Generator) -> None:
    check_reals(problem, rng)


def check_reals(problem: Problem, rng: np.random.Generator, solve: Callable[..., Result] = solve) -> None:
    """No row among many, some of them near the answer, is better than what is proved."""
    result = solve(problem, Limits(seconds=5, nodes=300))
    answers = [answer for answer in problem.solutions(some_rows(problem, rng, 1500)) if answer is not None]
    if result.solutions:  # and rows near the answer, which are most likely to be as good
        best = result.solutions[0].row
        scale = np.array([f.upper - f.lower for f in problem.schema.features])
        near = best + rng.normal(size=(1500, len(best))) * scale * 10.0 ** rng.uniform(-6, -1, size=(1500, 1))
        answers += [answer for answer in problem.solutions(near) if answer is not None]
    assert result.status != "infeasible" or not answers
    for answer in answers:
        if answer.objective < result.bounds.lower - SAME_COST:
            solve(problem, Limits(seconds=5, nodes=300), follow=answer.row)
            raise AssertionError(f"{answer} is better than {result.bounds.lower}, and no step lost it")
