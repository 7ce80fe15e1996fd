"""Propagation takes away no answer that is better than the incumbent, and its bound is below them all."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.problem import Problem
from likely.search.compile import compiled
from tests.oracles.search import Answers, answers_of, values_with
from tests.search.instances import variants
from tests.search.judging import rounding
from tests.strategies import generators, hard_problems, problems


@dataclass(frozen=True)
class Part:
    """What a box leaves of one feature: places of atoms, and numbers from low to high (none, if low > high)."""

    atoms: list[int]
    low: float
    high: float


def some_part(problem: Problem, j: int, rng: np.random.Generator) -> Part:
    """Some values of a feature, at least one; often all."""
    feature = problem.schema.features[j]
    values = values_with(feature, float(problem.factual[j]))
    places = list(range(len(feature.atoms)))
    numbers = sorted(v for v in values if v > -(2.0**999)) if feature.numeric else []
    if rng.random() < 0.4:
        return Part(places, numbers[0], numbers[-1]) if numbers else Part(places, 1.0, 0.0)
    kept = [k for k in places if rng.random() < 0.5]
    if numbers and (not kept or rng.random() < 0.7):
        low, high = sorted(rng.choice(numbers, 2))
        return Part(kept, float(low), float(high))
    return Part(kept or [int(rng.choice(places))], 1.0, 0.0)


def inside(problem: Problem, rows: np.ndarray, box: list[Part]) -> np.ndarray:
    """Which rows lie in the box."""
    held = np.ones(len(rows), dtype=bool)
    for j, (feature, part) in enumerate(zip(problem.schema.features, box, strict=True)):
        atoms = [feature.atom_number(k) for k in part.atoms]
        numbers = (part.low <= rows[:, j]) & (rows[:, j] <= part.high) if feature.numeric else np.zeros(len(rows), dtype=bool)
        held &= numbers | np.isin(rows[:, j], atoms)
    return held


def check_boxes(problem: Problem, answers: Answers, rng: np.random.Generator, count: int) -> None:
    core = compiled(problem)
    for _ in range(count):
        box = [some_part(problem, j, rng) for j in range(len(problem.schema))]
        alternative = int(rng.integers(len(problem.goal.alternatives)))
        held = inside(problem, answers.rows, box) & answers.sure & (answers.alternative == alternative)
        rows, objectives = answers.rows[held], answers.objective[held]
        incumbent = math.inf
        if len(objectives) and rng.random() < 0.7:
            incumbent = float(rng.choice(objectives) + rng.choice([0, 0.1]))
        ranges = np.array([(part.low, part.high) for part in box])
        possible, bound, left = core.propagated([part.atoms for part in box], ranges, alternative, incumbent)
        remaining = [Part(*part) for part in left]
        better = objectives < (incumbent - rounding(incumbent) if incumbent < math.inf else math.inf)
        if better.any():
            assert possible
            assert bound <= objectives[better].min() + rounding(bound)
            assert inside(problem, rows[better], remaining).all()
        for before, after in zip(box, remaining, strict=True):
            assert set(after.atoms) <= set(before.atoms)
            assert after.low > after.high or before.low <= after.low <= after.high <= before.high


@pytest.mark.parametrize("plausible", [False, True])
@pytest.mark.parametrize("kind", ["linear", "network", "forest", "composite"])
@given(data=st.data())
def test_propagation(kind: str, plausible: bool, data: st.DataObject) -> None:
    problem, rng = data.draw(problems(kinds=[kind], plausible=plausible, rows=600)), data.draw(generators())
    for asked in variants(problem, rng, 3):
        check_boxes(asked, answers_of(asked), rng, 8)


@given(hard_problems(rows=2000), generators())
def test_propagation_of_hard_problems(problem: Problem, rng: np.random.Generator) -> None:
    for asked in variants(problem, rng, 3):
        check_boxes(asked, answers_of(asked), rng, 20)
