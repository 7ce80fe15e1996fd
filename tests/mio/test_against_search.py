"""Both engines on the same problems: the same optimum, the same answers, the same infeasibility."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likely import search
from likely.problem import Problem
from tests.mio.judging import LIMITS, SAME, approximate, same
from tests.search.instances import variants
from tests.search.judging import check_solution
from tests.strategies import generators, hard_problems, problems, problems_over, real_schemas

pytest.importorskip("pyomo")
pytest.importorskip("highspy")
from likely import mio


@pytest.mark.parametrize("formulation", ["hull", "paper"])
@pytest.mark.parametrize("kind", ["linear", "network", "forest"])
@settings(max_examples=15)
@given(data=st.data())
def test_the_same_optimum(kind: str, formulation: str, data: st.DataObject) -> None:
    problem = data.draw(problems(kinds=[kind], rows=300))
    for asked in map(approximate, variants(problem, data.draw(generators()), 2)):
        found = mio.solve(asked, LIMITS, formulation=formulation)
        same(search.solve(asked, LIMITS), found)
        for solution in found.solutions:
            check_solution(asked, solution)


@pytest.mark.parametrize("formulation", ["hull", "paper"])
@settings(max_examples=10)
@given(problem=hard_problems(rows=300), rng=generators())
def test_the_same_optimum_where_all_depends_on_all(formulation: str, problem: Problem, rng: np.random.Generator) -> None:
    for asked in map(approximate, variants(problem, rng, 2)):
        same(search.solve(asked, LIMITS), mio.solve(asked, LIMITS, formulation=formulation))


@pytest.mark.parametrize("kind", ["linear", "network", "forest"])
@settings(max_examples=20)
@given(data=st.data())
def test_the_same_optimum_over_reals(kind: str, data: st.DataObject) -> None:
    schema = data.draw(real_schemas())
    problem = approximate(data.draw(problems_over(schema, kinds=[kind], parametric=False)))
    same(search.solve(problem, LIMITS), mio.solve(problem, LIMITS))


@pytest.mark.parametrize("other_features", [False, True])
@settings(max_examples=15)
@given(problem=problems(rows=200), rng=generators(), solutions=st.sampled_from([2, 4]))
def test_the_same_answers(other_features: bool, problem: Problem, rng: np.random.Generator, solutions: int) -> None:
    limits = replace(LIMITS, solutions=solutions, other_features=other_features)
    for asked in map(approximate, variants(problem, rng, 2)):
        same(search.solve(asked, limits), mio.solve(asked, limits))


@settings(max_examples=10)
@given(problem=problems(rows=100), within=st.sampled_from([0.0, 0.5]))
def test_none_is_much_dearer_than_the_best(problem: Problem, within: float) -> None:
    limits = replace(LIMITS, solutions=6, within=within)
    asked = approximate(problem)
    same(search.solve(asked, limits), mio.solve(asked, limits))


@settings(max_examples=15)
@given(problem=problems(rows=200, plausible=True), rng=generators())
def test_both_sides_bracket_the_exact_optimum(problem: Problem, rng: np.random.Generator) -> None:
    """They meet, unless the limit comes first: then the optimum lies between them."""
    for asked in variants(problem, rng, 2):
        exactly = replace(asked, plausibility=replace(asked.plausibility, approximate=False))
        wanted, found = search.solve(exactly, LIMITS), mio.solve(exactly, replace(LIMITS, seconds=1))
        best = wanted.solutions[0].objective if wanted.solutions else math.inf
        assert found.bounds.proven <= best + SAME * (1 + abs(best) if best < math.inf else 0)
        assert found.bounds.found >= best - SAME * (1 + abs(best)) if best < math.inf else not found.solutions
        if found.status in ("optimal", "infeasible"):
            same(wanted, found)
