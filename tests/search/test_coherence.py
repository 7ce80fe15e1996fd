"""How well values fit together, as a demand: the engine against enumeration, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import likely
from likely import mio
from likely.circuit import Circuit, GaussianBlock, Parametric, Product, Sum, Warp, coherence
from likely.circuit.model.cells import Algebra
from likely.errors import EngineError, ProblemError
from likely.predictor import Column, LinearModel, Link
from likely.problem import Coherence, Limits, Plausibility, Problem, between, likeliest, why
from likely.schema import Schema
from likely.schema.values import Numbers, code_number
from likely.search import solve
from tests.oracles.search import answers_of, coherences, space_of
from tests.search.judging import LIMITS, judge
from tests.search.test_blocks import check_reals, problems_of_reals, some_rows
from tests.search.test_follow import loan
from tests.search.test_propagation import check_boxes
from tests.strategies import generators, problems
from tests.strategies.blocks import block_circuits
from tests.strategies.problem import problems_over


@st.composite
def demanding_problems(draw: st.DrawFn) -> Problem:
    """A problem with a demand on coherence that some rows meet, with one on likelihood or without."""
    problem = draw(problems(rows=400, plausible=True, parametric=False))
    assert problem.plausibility is not None
    rows = answers_of(replace(problem, plausibility=None)).rows
    plausibility = problem.plausibility if draw(st.booleans()) else None
    return replace(demanding_of(draw, problem, problem.plausibility.circuit, rows), plausibility=plausibility)


def demanding_of(draw: st.DrawFn, problem: Problem, circuit: Circuit, rows: Numbers) -> Problem:
    """The problem with a demand on coherence that some of the rows meet."""
    assume(len(rows))
    asked = replace(problem, coherence=Coherence(circuit, -math.inf))
    fits = np.concatenate([coherences(asked, rows, alternative) for alternative in asked.goal.alternatives])
    assume(np.isfinite(fits).any())
    share = draw(st.sampled_from([0.3, 0.7, 0.95, 1.0]))
    return replace(asked, coherence=Coherence(circuit, float(np.quantile(fits[np.isfinite(fits)], share, method="nearest"))))


@given(demanding_problems(), generators())
def test_equals_enumeration_and_no_answer_is_lost(problem: Problem, rng: np.random.Generator) -> None:
    check_followed(problem, rng)


def check_followed(problem: Problem, rng: np.random.Generator) -> None:
    """The engine finds what enumeration does, whichever answer is followed."""
    answers = answers_of(problem)
    if not answers.sure.any():
        judge(problem, solve(problem, LIMITS), answers)
        return
    for row in rng.permutation(answers.rows[answers.sure])[:3]:
        judge(problem, solve(problem, LIMITS, follow=row), answers)


@st.composite
def problems_with_blocks(draw: st.DrawFn) -> Problem:
    """The same of a circuit with Gaussian blocks, whose rows can be counted."""
    circuit = draw(block_circuits(least=2, most=3, real=False, codes=True))
    over = problems_over(Schema(circuit.features), plausible=False)
    problem = draw(over if circuit.target is None else over.filter(lambda one: len(one.form.classes) == 2))
    if circuit.target is not None:
        circuit = replace(circuit, target=likely.Binary("y", values=problem.form.classes))
    rows = answers_of(problem).rows
    asked = demanding_of(draw, problem, circuit, rows)
    lower = float(np.quantile(circuit.log_likelihood(rows), 0.3)) if draw(st.booleans()) else -math.inf
    return replace(asked, plausibility=Plausibility(circuit, lower, draw(st.sampled_from([0.0, 0.0, 0.3]))))


@given(problems_with_blocks(), generators())
def test_with_blocks_no_answer_is_lost(problem: Problem, rng: np.random.Generator) -> None:
    check_followed(problem, rng)


@given(problems_with_blocks(), generators())
def test_no_row_of_a_box_fits_better_than_its_bound(problem: Problem, rng: np.random.Generator) -> None:
    check_boxes(problem, answers_of(problem), rng, 8)


@pytest.mark.parametrize("seed", range(20))
def test_values_without_any_density_are_not_lost(seed: int) -> None:
    """Where no row of a box has a density, a price of likelihood has no end, and differences of what it is worth no digits."""
    features = (
        likely.Mixed("a", 3.0, 4.0, step=0.25, codes=(None,)),
        likely.Mixed("b", 3.0, 9.0, step=1.0, codes=(None,)),
        likely.Mixed("c", -1.0, 2.0, step=1.0, codes=(None,)),
    )
    warps = (
        Warp((3.2, 3.7), (-0.75, 0.75), lower=2.83),
        Warp((3.4, 4.2, 6.2), (-1.75, 0.25, 1.75), lower=2.6, upper=7.67),
        Warp((-1.0, -0.7, -0.4, -0.1, 0.2), (-4.1, -1.9, 1.1, 1.9, 4.1), lower=-1.07, upper=2.4),
    )
    block = GaussianBlock((0, 1, 2), warps, (0.25, 1.5, 1.25), ((0.5,), (0.25, 1.5), (0.375, -0.125, 0.5)))
    circuit = Circuit(features, (block,))
    rng = np.random.default_rng(seed)
    form = LinearModel(
        Link("sign"), (0, 1), tuple(Column(j, 1.0, table=(0.0,)) for j in (0, 2)), rng.normal(size=(1, 2)), np.array([3.0])
    )
    factual = np.array([4.0, 9.0, code_number(0)])
    problem = Problem(Schema(features), factual, form, between(form, 0.1, math.inf), Plausibility(circuit, -math.inf))
    fits = coherences(replace(problem, coherence=Coherence(circuit, -math.inf)), space_of(problem), problem.goal.alternatives[0])
    asked = replace(problem, coherence=Coherence(circuit, float(np.quantile(fits, rng.random(), method="nearest"))))
    check_boxes(asked, answers_of(asked), rng, 20)


@given(st.data(), problems_of_reals(codes=True), generators())
def test_no_row_of_reals_is_better_than_what_is_proved(data: st.DataObject, problem: Problem, rng: np.random.Generator) -> None:
    assert problem.plausibility is not None
    asked = demanding_of(data.draw, problem, problem.plausibility.circuit, some_rows(problem, rng, 200))
    check_reals(asked, rng)
    check_reals(replace(asked, plausibility=None), rng)


@given(problems(rows=400, plausible=True, parametric=False))
def test_the_circuit_of_ratios_is_coherence(problem: Problem) -> None:
    assert problem.plausibility is not None
    circuit = problem.plausibility.circuit
    rows = circuit.encode(answers_of(replace(problem, plausibility=None)).rows)
    assume(len(rows))
    assert circuit.ratio_core.evaluate(rows, Algebra.SUM, 1) == pytest.approx(coherence(circuit, rows), abs=1e-9)


def demanding(shift: float) -> tuple[Problem, np.ndarray]:
    """A loan whose values must fit together nearly as well as those of a row, or a little better."""
    row, problem = np.array([1.0, 0.0, 4.0]), loan()
    assert problem.plausibility is not None
    fit = float(Coherence(problem.plausibility.circuit, 0.0).coherences(row[None], 1.0)[0])
    return replace(problem, plausibility=None, coherence=Coherence(problem.plausibility.circuit, fit + shift)), row


def test_what_does_not_fit_is_lost() -> None:
    problem, row = demanding(-1e-6)
    solve(problem, Limits(solutions=1000), follow=row)
    problem, row = demanding(1e-3)
    with pytest.raises(EngineError, match="lost in 'coherence'"):
        solve(problem, Limits(solutions=1000), follow=row)


def test_a_conflict_names_it() -> None:
    problem, _ = demanding(100.0)
    conflict = why(problem, solve)
    (reason,) = conflict.reasons
    assert reason.constraint is None
    assert reason.demand.startswith("the values of an answer must fit together (a coherence of at least 9")
    assert reason.without is not None
    (named,) = why(problem, solve, coherence_words="all must fit").reasons
    assert named.demand == "all must fit"
    with_both = replace(problem, plausibility=replace(loan().plausibility, lower=5.0))  # type: ignore[type-var]
    assert likeliest(with_both, solve) is None  # of rows that fit together so well there are none
    assert why(with_both, solve).smallest


def test_what_cannot_be_bounded_is_refused() -> None:
    schema = likely.Schema((likely.Continuous("a", 0, 9), likely.Continuous("b", 0, 9)))
    leaves = [Parametric(j % 2, "gaussian", float(j), 1.0) for j in range(4)]
    circuit = Circuit(schema.features, (*leaves, Product((0, 1)), Product((2, 3)), Sum((4, 5), (0.5, 0.5))))
    with pytest.raises(
        ProblemError,
        match="The circuit of a demand on coherence must have histograms, categories and Gaussian blocks only; got one",
    ):
        Coherence(circuit, 0.0)
    with pytest.raises(ProblemError, match="Coherence must have a threshold"):
        Coherence(loan().plausibility.circuit, math.nan)  # type: ignore[union-attr]


def test_programmes_refuse_it() -> None:
    problem, _ = demanding(-1e-6)
    with pytest.raises(
        ProblemError, match="A problem for a solver of mixed-integer programmes must leave open how well values fit"
    ):
        mio.solve(problem)
