"""Splits of hidden units: the same answers as by enumeration and by mixed-integer programming, in any units of the features."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import likely
from likely import Categorical, Continuous, Integer, Schema, mio
from likely.predictor import Column, Link, ReluNetwork
from likely.problem import Limits, Plausibility, Problem, Result, to_class
from likely.search import SearchSession, solve
from tests.oracles.search import answers_of
from tests.search.instances import variants
from tests.search.judging import LIMITS, judge
from tests.search.test_blocks import check_reals, some_rows
from tests.strategies import generators
from tests.strategies.blocks import block_circuits
from tests.strategies.finite import ruled, some_cost
from tests.strategies.problem import problems_over


@st.composite
def wide_problems(draw: st.DrawFn, *, plausible: bool = False) -> Problem:
    """Three features of fourteen whole numbers each and one of two categories: enough numbers that units are split."""
    rng = draw(generators())
    features = (*(Integer(name, 0, 13) for name in "abc"), Categorical("d", ("x", "y")))
    schema = draw(ruled(Schema(features, (), tuple(some_cost(rng, feature) for feature in features)), 1))
    return draw(problems_over(schema, kinds=["network"], plausible=plausible))


def some_network(rng: np.random.Generator, features: int, hidden: tuple[int, ...], *, categories: int = 0) -> ReluNetwork:
    """Inputs of about unit size: the first features are numbers, the last one has so many categories."""
    columns = [Column(j, 1.0) for j in range(features)]
    columns += [Column(features, table=tuple(np.eye(categories)[k]), discrete=True) for k in range(categories)]
    sizes = [len(columns), *hidden, 1]
    layers = [
        (rng.normal(size=(after, before)) / np.sqrt(before), rng.normal(size=after) / 2) for before, after in pairwise(sizes)
    ]
    return ReluNetwork(Link("logistic"), ("no", "yes"), tuple(columns), tuple(layers))


def asked(rng: np.random.Generator, reals: int, hidden: tuple[int, ...], categories: int) -> Problem | None:
    """The other class of some row of reals and perhaps one category; none if the network has only one."""
    features: list[likely.schema.Feature] = [Continuous(f"x{j}", -3, 3) for j in range(reals)]
    if categories:
        features.append(Categorical("c", tuple(f"c{k}" for k in range(categories))))
    schema = Schema(tuple(features), (), tuple(some_cost(rng, feature) for feature in features))
    form = some_network(rng, reals, hidden, categories=categories)
    rows = np.column_stack([rng.uniform(-3, 3, (200, reals)), rng.integers(0, max(categories, 1), 200)])[:, : len(features)]
    scores = form.score(rows)[:, 0]
    if not (scores > 0.1).any() or not (scores < 0).any():
        return None
    return Problem(schema, rows[np.flatnonzero(scores < 0)[0]], form, to_class(form, "yes"))


def with_ranges(problem: Problem, limits: Limits = LIMITS, threads: int = 1, **options: Any) -> Result:
    """What the engine answers if it narrows the ranges of units at every node, not only where the search takes long."""
    session = SearchSession(problem, threads)
    session._core.nodes_before_ranges = session._core.nodes_before_rounds = 0
    return session.solve(limits, **options)


@given(wide_problems(), generators())
def test_enumeration_with_ranges(problem: Problem, rng: np.random.Generator) -> None:
    for each in variants(problem, rng, 4):
        answers = answers_of(each)
        best = answers.rows[answers.sure][answers.objective[answers.sure].argmin()] if answers.sure.any() else None
        judge(each, with_ranges(each, follow=best), answers)


@pytest.mark.parametrize("hidden", [(8,), (10, 8), (7, 6, 5)])
@given(rng=generators(), reals=st.integers(3, 8), categories=st.sampled_from([0, 3]))
def test_ranges_change_no_answer(hidden: tuple[int, ...], rng: np.random.Generator, reals: int, categories: int) -> None:
    problem = asked(rng, reals, hidden, categories)
    assume(problem is not None)
    assert problem is not None
    result, other = with_ranges(problem), solve(problem, LIMITS)
    assert result.status == other.status
    if result.solutions:
        assert result.solutions[0].objective == pytest.approx(other.solutions[0].objective, abs=1e-5, rel=1e-5)
        assert with_ranges(problem, follow=other.solutions[0].row).status == "optimal"
        assert with_ranges(problem, threads=3).bounds == result.bounds


def test_ranges_of_a_network_that_is_no_small_one() -> None:
    rng = np.random.default_rng(3)
    problem = asked(rng, 8, (24, 24), 0)
    assert problem is not None
    result = with_ranges(problem, Limits(seconds=60))
    assert result.status == "optimal"
    assert result.statistics.nodes < solve(problem, Limits(seconds=60, nodes=5000)).statistics.nodes


@given(wide_problems(), generators())
def test_enumeration(problem: Problem, rng: np.random.Generator) -> None:
    for each in variants(problem, rng, 4):
        answers = answers_of(each)
        best = answers.rows[answers.sure][answers.objective[answers.sure].argmin()] if answers.sure.any() else None
        judge(each, solve(each, LIMITS, follow=best), answers)


@given(wide_problems(plausible=True))
def test_enumeration_with_a_likelihood(problem: Problem) -> None:
    answers = answers_of(problem)
    best = answers.rows[answers.sure][answers.objective[answers.sure].argmin()] if answers.sure.any() else None
    judge(problem, solve(problem, LIMITS, follow=best), answers)


@st.composite
def problems_with_blocks(draw: st.DrawFn) -> Problem:
    """Reals that a network and Gaussian blocks know, with a threshold that some rows reach, or a weight."""
    circuit = draw(block_circuits(least=3, most=4, real=True, discrete=False))
    problem = draw(problems_over(Schema(circuit.features), plausible=False, kinds=["network"]))
    rng = draw(generators())
    logs = circuit.log_likelihood(some_rows(problem, rng, 200))
    weight = float(rng.choice([0.0, 0.0, 0.1, 1.0]))
    lower = -np.inf if weight else float(np.quantile(logs, rng.choice([0.3, 0.7, 0.95])))
    return replace(problem, plausibility=Plausibility(circuit, lower, weight))


@given(problems_with_blocks(), generators())
def test_no_row_is_better_than_what_units_and_blocks_prove(problem: Problem, rng: np.random.Generator) -> None:
    check_reals(problem, rng)


@given(problems_with_blocks(), generators())
def test_an_answer_is_followed_through_units_and_blocks(problem: Problem, rng: np.random.Generator) -> None:
    rows = some_rows(problem, rng, 1000)
    answers = [answer for answer in problem.solutions(rows) if answer is not None]
    assume(answers)
    best = min(answers, key=lambda answer: answer.objective)
    solve(problem, Limits(seconds=5, nodes=200), follow=best.row)  # an error if it is lost


@given(wide_problems(), generators(), st.sampled_from([2, 5]))
def test_several_answers(problem: Problem, rng: np.random.Generator, solutions: int) -> None:
    asked_any = False
    for each in variants(problem, rng, 3):
        answers = answers_of(each)
        if len(answers.rows) != answers.sure.sum() or not answers.sure.any():
            continue
        asked_any = True
        result = solve(each, replace(LIMITS, solutions=solutions))
        expected = np.sort(answers.objective)[:solutions]
        assert result.status == "optimal"
        assert [solution.objective for solution in result.solutions] == pytest.approx(expected, abs=2e-6)
    assume(asked_any)


@pytest.mark.parametrize("hidden", [(6,), (8, 5), (5, 4, 3)])
@given(rng=generators(), reals=st.integers(3, 8), categories=st.sampled_from([0, 3]))
def test_mixed_integer_programming(hidden: tuple[int, ...], rng: np.random.Generator, reals: int, categories: int) -> None:
    pytest.importorskip("pyomo")
    pytest.importorskip("highspy")
    problem = asked(rng, reals, hidden, categories)
    assume(problem is not None)
    assert problem is not None
    result, other = solve(problem, LIMITS), mio.solve(problem, Limits(seconds=60))
    assert result.status == other.status
    if result.solutions:
        assert result.solutions[0].objective == pytest.approx(other.solutions[0].objective, abs=1e-5, rel=1e-5)
        assert solve(problem, LIMITS, follow=other.solutions[0].row).status == "optimal"


@given(rng=generators(), exponent=st.sampled_from([-11, -6, 0, 9]), offset=st.sampled_from([0.0, 1.0, 1e9]))
def test_units_and_offsets_of_features(rng: np.random.Generator, exponent: int, offset: float) -> None:
    problem = asked(rng, 5, (8, 5), 0)
    assume(problem is not None)
    assert problem is not None
    unit = 10.0**exponent
    shift = offset * unit
    columns = tuple(replace(column, slope=1 / unit, center=shift) for column in problem.form.columns)
    schema = Schema(
        tuple(Continuous(feature.name, shift - 3 * unit, shift + 3 * unit) for feature in problem.schema.features),
        (),
        tuple(replace(cost, up=cost.up / unit, down=cost.down / unit) for cost in problem.schema.costs),
    )
    form = replace(problem.form, columns=columns)
    factual = np.clip(shift + unit * problem.factual, shift - 3 * unit, shift + 3 * unit)
    moved = Problem(schema, factual, form, to_class(form, "yes"))
    expected, result = solve(problem, LIMITS), solve(moved, LIMITS)
    assert expected.status == result.status
    if expected.solutions:
        assert result.solutions[0].objective == pytest.approx(expected.solutions[0].objective, abs=1e-5, rel=1e-5)
