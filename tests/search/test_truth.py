"""The engine against brute force: every row of small problems of every kind is looked at."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.problem import Problem
from likely.search import solve
from tests.oracles.search import answers_of
from tests.search.instances import variants
from tests.search.judging import LIMITS, judge
from tests.strategies import generators, hard_problems, problems


@pytest.mark.parametrize("plausible", [False, True])
@pytest.mark.parametrize("kind", ["linear", "network", "forest", "linear trees", "composite"])
@given(data=st.data())
def test_optimum(kind: str, plausible: bool, data: st.DataObject) -> None:
    problem = data.draw(problems(kinds=[kind], plausible=plausible, rows=600))
    for asked in variants(problem, data.draw(generators()), 8):
        judge(asked, solve(asked, LIMITS), answers_of(asked))


@pytest.mark.slow
@pytest.mark.parametrize("plausible", [False, True])
@given(data=st.data())
def test_optimum_where_one_must_branch(plausible: bool, data: st.DataObject) -> None:
    problem = data.draw(hard_problems(plausible=plausible, rows=3000))
    for asked in variants(problem, data.draw(generators()), 4):
        judge(asked, solve(asked, LIMITS), answers_of(asked))


@pytest.mark.parametrize("kind", ["composite", "linear trees"])
@given(data=st.data())
def test_optimum_of_composites_where_one_must_branch(kind: str, data: st.DataObject) -> None:
    problem = data.draw(hard_problems(kinds=[kind], rows=1000))
    for asked in variants(problem, data.draw(generators()), 4):
        judge(asked, solve(asked, LIMITS), answers_of(asked))


@given(hard_problems(rows=600), generators(), st.sampled_from([0.0, 1e-3, 0.5]), st.sampled_from([0.0, 0.05, 0.5]))
def test_optimum_within_a_gap(problem: Problem, rng: np.random.Generator, absolute: float, relative: float) -> None:
    limits = replace(LIMITS, absolute_gap=absolute, relative_gap=relative)
    for asked in variants(problem, rng, 6):
        judge(asked, solve(asked, limits), answers_of(asked), limits)
