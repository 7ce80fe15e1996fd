"""Hidden units that have prices together with the likelihood: the same answers, no answer lost, and proofs in fewer nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import assume, given

import likely
from likely.problem import Limits, Plausibility, Problem, Result, to_class
from likely.schema import Continuous, Schema
from likely.search import SearchSession
from tests.oracles.search import answers_of, space_of
from tests.search.judging import LIMITS, judge
from tests.search.test_blocks import check_reals, some_rows
from tests.search.test_units import problems_with_blocks, some_network, wide_problems
from tests.strategies import generators
from tests.strategies.circuit import some_mixture

NEVER = 10**9


def together(problem: Problem, limits: Limits = LIMITS, *, after: int = 0, **options: Any) -> Result:
    """What the engine answers if units have prices together with the likelihood after so many nodes."""
    session = SearchSession(problem)
    session._core.nodes_before_prices = 0
    session._core.nodes_before_unit_prices = after
    return session.solve(limits, **options)


@given(wide_problems(), generators())
def test_enumeration_with_histograms(problem: Problem, rng: np.random.Generator) -> None:
    circuit = some_mixture(rng, problem.schema.features, None, int(rng.integers(1, 5)))
    logs = circuit.log_likelihood(space_of(problem))
    possible = logs[np.isfinite(logs)]
    assume(possible.size)
    plausibility = Plausibility(circuit, float(np.quantile(possible, rng.choice([0.6, 0.95, 0.99]))))
    problem = replace(problem, plausibility=plausibility)
    answers = answers_of(problem)
    best = answers.rows[answers.sure][answers.objective[answers.sure].argmin()] if answers.sure.any() else None
    judge(problem, together(problem, follow=best), answers)


@given(problems_with_blocks(), generators())
def test_no_row_is_better_than_what_is_proved(problem: Problem, rng: np.random.Generator) -> None:
    check_reals(problem, rng, together)


@given(problems_with_blocks(), generators())
def test_an_answer_is_followed(problem: Problem, rng: np.random.Generator) -> None:
    answers = [answer for answer in problem.solutions(some_rows(problem, rng, 1000)) if answer is not None]
    assume(answers)
    best = min(answers, key=lambda answer: answer.objective)
    together(problem, Limits(seconds=5, nodes=200), follow=best.row)  # an error if it is lost


def question(seed: int) -> Problem:
    """The other class of a row of ten reals that hang together, likelier than seven in ten rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 10)) @ rng.normal(size=(10, 10)) / np.sqrt(10)
    schema = Schema(tuple(Continuous(f"x{j}", -5, 5) for j in range(10)))
    circuit = likely.circuit.learn(schema.decode(X), None, schema, method="blocks", random_state=seed).circuit
    form = some_network(rng, 10, (20, 10))
    score = form.score(X)[:, 0]
    lower = float(np.quantile(circuit.log_likelihood(X), 0.7))
    return Problem(schema, X[score.argmin()], form, to_class(form, "yes"), Plausibility(circuit, lower))


def test_proofs_take_fewer_nodes() -> None:
    few = many = 0
    for seed in (1, 2):
        problem = question(seed)
        limits = Limits(nodes=1500, relative_gap=1e-4)
        one, other = together(problem, limits), together(problem, limits, after=NEVER)
        assert one.bounds.lower <= other.bounds.upper
        assert other.bounds.lower <= one.bounds.upper
        few += one.statistics.nodes
        many += other.statistics.nodes
    assert few < 0.7 * many


def test_two_threads_say_the_same() -> None:
    results = []
    for threads in (1, 2):
        session = SearchSession(question(0), threads)
        session._core.nodes_before_unit_prices = session._core.nodes_before_rounds = 0
        results.append(session.solve(Limits(nodes=200)))
    assert results[0].bounds == results[1].bounds
