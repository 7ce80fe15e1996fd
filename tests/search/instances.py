"""Many questions about one schema, model and circuit: harder ones than chance draws, since few rows answer them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from likely.predictor import Form
from likely.problem import SCORE_MARGIN, Goal, Plausibility, Problem, between, not_class, to_class
from tests.oracles.search import log_likelihoods, space_of


def variants(problem: Problem, rng: np.random.Generator, count: int) -> Iterator[Problem]:
    """The problem itself, and others with another factual, goal and plausibility."""
    yield problem
    space = space_of(problem)
    scores = problem.form.score(space)
    for _ in range(count - 1):
        factual = _factual(problem, space, rng)
        goal = _goal(problem.form, scores, rng)
        asked = replace(problem, factual=factual, goal=goal)
        if problem.plausibility is not None:
            asked = replace(asked, plausibility=_plausibility(asked, problem.plausibility, space, scores, rng))
        yield asked


def _factual(problem: Problem, space: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Some row; what was unknown may remain so."""
    row = space[rng.integers(len(space))].copy()
    return np.where(np.isnan(problem.factual) & (rng.random(len(row)) < 0.5), math.nan, row)


def _goal(form: Form, scores: np.ndarray, rng: np.random.Generator) -> Goal:
    """A goal that a small share of all rows reach."""
    share = rng.choice([0.5, 0.8, 0.95, 0.99])
    if not form.classes or rng.random() < 0.2:
        output = int(rng.integers(form.outputs))
        low, high = (float(x) for x in np.quantile(scores[:, output], [share, 0.5 + share / 2], method="nearest"))
        return between(form, *[(low, math.inf), (-math.inf, low), (low, high)][rng.integers(3)], output=output)
    make = to_class if rng.random() < 0.7 else not_class
    bare = make(form, form.classes[rng.integers(len(form.classes))], margin=0.0)
    room = np.max([(scores @ asked.coefficients.T).min(axis=1) for asked in bare.alternatives], axis=0)
    margin = max(SCORE_MARGIN, float(np.quantile(room, share, method="nearest")))
    return Goal(tuple(replace(asked, lower=asked.lower + margin) for asked in bare.alternatives), bare.sentence)


def _plausibility(
    problem: Problem, plausibility: Plausibility, space: np.ndarray, scores: np.ndarray, rng: np.random.Generator
) -> Plausibility:
    """A threshold that a share of the rows with the right score reach, perhaps only one."""
    reached = [
        log_likelihoods(problem, space[alternative.met(scores)], alternative)
        for alternative in problem.goal.alternatives
        if alternative.met(scores).any()
    ]
    least = -math.inf
    if reached and rng.random() < 0.8:
        share = rng.choice([0.0, 0.5, 0.8, 0.95, 1.0])
        least = float(np.quantile(np.concatenate(reached), share, method="nearest"))
    return replace(plausibility, lower=least, weight=float(rng.choice([0.0, 0.0, 0.05, 1.0, 20.0])))
