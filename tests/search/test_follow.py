"""A known answer is followed through the tree: it is never lost; a row that is no answer is, in the step that sees it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import likely
from likely.errors import EngineError, ProblemError
from likely.predictor import Column, LinearModel, Link
from likely.problem import Limits, Plausibility, Problem, to_class
from likely.search import solve
from tests.oracles.search import answers_of
from tests.search.instances import variants
from tests.search.judging import LIMITS, judge
from tests.search.test_solve import circuit_of
from tests.strategies import generators, hard_problems, problems


@pytest.mark.parametrize("kind", ["linear", "network", "forest"])
@given(data=st.data())
def test_the_optimum_is_never_lost(kind: str, data: st.DataObject) -> None:
    problem = data.draw(problems(kinds=[kind], rows=600))
    followed = 0
    for asked in variants(problem, data.draw(generators()), 6):
        answers = answers_of(asked)
        if not answers.sure.any():
            continue
        followed += 1
        best = answers.rows[answers.sure][answers.objective[answers.sure].argmin()]
        judge(asked, solve(asked, LIMITS, follow=best), answers)
    assume(followed)


@pytest.mark.slow
@given(hard_problems(rows=2000), generators(), st.sampled_from([1, 3, 1000]), st.booleans())
def test_no_answer_is_lost(problem: Problem, rng: np.random.Generator, solutions: int, other_features: bool) -> None:
    limits = replace(LIMITS, solutions=solutions, other_features=other_features)
    followed = 0
    for asked in variants(problem, rng, 3):
        answers = answers_of(asked)
        for row in rng.permutation(answers.rows[answers.sure])[:5]:
            solve(asked, limits, follow=row)
            followed += 1
    assume(followed)


def loan(least: float = -math.inf) -> Problem:
    """Granted if n + 2 m >= 8; now n is 1, m is 0 and c is 'a', which may not change."""
    features = (likely.Integer("n", 0, 6), likely.Categorical("c", ("a", "b", "d")), likely.Integer("m", 0, 4))
    schema = likely.Schema(features, (likely.Immutable("c"),))
    form = LinearModel(
        Link("logistic"), ("no", "yes"), (Column(0, 1.0), Column(2, 2.0)), np.array([[1.0, 1.0]]), np.array([-7.5])
    )
    plausibility = Plausibility(circuit_of(np.random.default_rng(0), schema), lower=least)
    return Problem(schema, np.array([1.0, 0.0, 0.0]), form, to_class(form, "yes"), plausibility)


@pytest.mark.parametrize(
    ("row", "steps"),
    [
        ([1.0, 1.0, 4.0], "rules"),  # another c
        ([1.0, 0.0, 3.0], "score|cost bound"),  # one more is needed: the goal is in the dual too
    ],
)
def test_what_is_no_answer_is_lost(row: list[float], steps: str) -> None:
    with pytest.raises(EngineError, match=rf"lost in '({steps})', at node \d+") as error:
        solve(loan(), Limits(solutions=1000), follow=np.array(row))
    assert "must keep a row of objective" in str(error.value)


def test_what_is_unlikely_is_lost() -> None:
    row = np.array([1.0, 0.0, 4.0])
    likelihood = float(loan().plausibility.circuit.log_likelihood(row[None], "yes")[0])  # type: ignore[union-attr]
    solve(loan(likelihood - 1e-6), Limits(solutions=1000), follow=row)
    with pytest.raises(EngineError, match="lost in 'likelihood'"):
        solve(loan(likelihood + 1e-3), Limits(solutions=1000), follow=row)


@pytest.mark.parametrize("row", [[1.0, 0.0], [1.5, 0.0, 0.0], [1.0, 7.0, 0.0], [math.nan, 0.0, 0.0]])
def test_only_rows_of_the_schema_are_followed(row: list[float]) -> None:
    with pytest.raises(ProblemError, match="A row to follow must be one of the schema"):
        solve(loan(), follow=np.array(row))
