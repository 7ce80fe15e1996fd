"""The price of likelihood with mixtures of products of leaves: the same answers as by enumeration, in far fewer nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import likely
from likely.predictor import Column, LinearModel, Link
from likely.problem import Coherence, Limits, Plausibility, Problem, Result, to_class
from likely.search import SearchSession
from tests.oracles.search import answers_of, space_of
from tests.search.instances import variants
from tests.search.judging import LIMITS, judge
from tests.search.test_units import some_network
from tests.strategies import generators, problems
from tests.strategies.circuit import some_mixture

#: Nodes after which prices are sought: at once, after a few, and never.
AT_ONCE, SOON, NEVER = 0, 4, 10**9


def priced(problem: Problem, after: int, limits: Limits = LIMITS, **options: Any) -> Result:
    """What the engine answers if prices are sought after so many nodes."""
    session = SearchSession(problem)
    session._core.nodes_before_prices = after
    return session.solve(limits, **options)


@st.composite
def mixed_problems(draw: st.DrawFn) -> Problem:
    """Problems whose circuit is a mixture of products of histograms, with a threshold that some rows reach, a weight or both."""
    problem = draw(problems(kinds=["linear", "network"], plausible=False, rows=600))
    rng = draw(generators())
    circuit = some_mixture(rng, problem.schema.features, None, int(rng.integers(1, 5)))
    logs = circuit.log_likelihood(space_of(problem))
    possible = logs[np.isfinite(logs)]
    assume(possible.size)
    lower = float(np.quantile(possible, rng.choice([0.2, 0.6, 0.95])))
    weight = float(rng.choice([0.0, 0.0, 0.05, 1.0, 20.0]))
    return replace(problem, plausibility=Plausibility(circuit, -np.inf if weight and rng.random() < 0.5 else lower, weight))


@given(mixed_problems(), generators(), st.sampled_from([AT_ONCE, SOON]))
def test_the_optimum_is_that_of_enumeration(problem: Problem, rng: np.random.Generator, after: int) -> None:
    for asked in variants(problem, rng, 6):
        answers = answers_of(asked)
        best = answers.rows[answers.sure][answers.objective[answers.sure].argmin()] if answers.sure.any() else None
        judge(asked, priced(asked, after, follow=best), answers)


@given(mixed_problems(), generators(), st.sampled_from([AT_ONCE, SOON]))
def test_coherence_is_priced_alike(problem: Problem, rng: np.random.Generator, after: int) -> None:
    assert problem.plausibility is not None
    circuit = problem.plausibility.circuit
    fitting = likely.circuit.coherence(circuit, space_of(problem))
    possible = fitting[np.isfinite(fitting)]
    assume(possible.size)
    asked = replace(problem, plausibility=None, coherence=Coherence(circuit, float(np.quantile(possible, 0.7))))
    judge(asked, priced(asked, after), answers_of(asked))


@given(mixed_problems(), generators(), st.sampled_from([2, 4]))
def test_several_answers(problem: Problem, rng: np.random.Generator, solutions: int) -> None:
    limits = replace(LIMITS, solutions=solutions)
    for asked in variants(problem, rng, 3):
        here, there = priced(asked, AT_ONCE, limits), priced(asked, NEVER, limits)
        assert here.status == there.status
        assert [each.objective for each in here.solutions] == pytest.approx(
            [each.objective for each in there.solutions], abs=2e-6
        )


def question(seed: int, network: bool, weight: float = 0.0) -> Problem:
    """The other class of a row of eight reals, as likely as the median row under a mixture that was learned, or with a weight."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((400, 1)) < 0.5, rng.normal(-1, 0.7, (400, 8)), rng.normal(1, 0.5, (400, 8)))
    schema = likely.Schema(tuple(likely.Continuous(f"x{j}", -5, 5) for j in range(8)))
    circuit = likely.circuit.learn(schema.decode(X), None, schema, method="histograms", random_state=seed).circuit
    weights = rng.normal(size=(1, 8))
    columns = tuple(Column(j, 1.0) for j in range(8))
    linear = LinearModel(Link("logistic"), ("no", "yes"), columns, weights, np.zeros(1))
    form = some_network(rng, 8, (8, 4)) if network else linear
    score = form.score(X)[:, 0]
    lower = -np.inf if weight else float(np.median(circuit.log_likelihood(X)))
    return Problem(schema, X[score.argmin()], form, to_class(form, "yes"), Plausibility(circuit, lower, weight))


@pytest.mark.slow
@pytest.mark.parametrize("weight", [0.0, 0.3])
@pytest.mark.parametrize("network", [False, True])
def test_many_reals(network: bool, weight: float) -> None:
    """What likelihood as a filter, or the box's greatest, leaves open after thousands of nodes is closed after a few hundred."""
    closed = 0
    for seed in range(3):
        problem = question(seed, network, weight)
        with_prices = priced(problem, AT_ONCE, Limits(nodes=1500, relative_gap=1e-4))
        without = priced(problem, NEVER, Limits(nodes=6000, relative_gap=1e-4))
        assert with_prices.bounds.lower <= without.bounds.upper
        assert without.bounds.lower <= with_prices.bounds.upper
        closed += with_prices.status in ("optimal", "infeasible")
        again = priced(problem, 200, Limits(nodes=1700, relative_gap=1e-4))
        assert again.bounds.lower <= with_prices.bounds.upper * (1 + 1e-4)
    assert closed >= 2
