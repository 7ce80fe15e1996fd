"""What a row is worth, judged without the programme: by the schema, the form and the circuit themselves."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from likely.circuit.queries.evaluate import log_likelihood, max_log_likelihood
from likely.mio.tolerances import ROUNDING
from likely.problem import Problem, Solution
from likely.schema.values import Numbers


def verified(problem: Problem, rows: Numbers) -> list[Solution | None]:
    """Each row as an answer, with its best alternative; None for what is none."""
    schema = problem.schema
    right = schema.keeps(problem.factual, rows)
    for feature, column, factual in zip(schema.features, rows.T, problem.factual, strict=True):
        right &= feature.fits(column) | (column == factual)
    found: list[Solution | None] = [None] * len(rows)
    places = np.flatnonzero(right)
    if not len(places):
        return found
    kept = rows[places]
    scores, costs = problem.form.score(kept, threads=1), schema.prices(problem.factual, kept)
    for a, alternative in enumerate(problem.goal.alternatives):
        logs = log_likelihoods(problem, kept, a)
        likely, objectives = _likely(problem, logs), costs.copy()
        if problem.plausibility is not None and problem.plausibility.weight:
            objectives = costs - problem.plausibility.weight * logs
        for i in np.flatnonzero(alternative.met(scores) & likely & (objectives < math.inf)):
            best = found[places[i]]
            if best is None or objectives[i] < best.objective:
                own = float(objectives[i]), float(costs[i]), float(logs[i])
                found[places[i]] = Solution(kept[i].copy(), *own, alternative.class_index)
    return found


def log_likelihoods(problem: Problem, rows: Numbers, alternative: int) -> Numbers:
    """How likely each row is with an alternative's class, and given what it is given; 0 if nobody asks."""
    own = problem.plausibility
    if own is None:
        return np.zeros(len(rows))
    number = target_of(problem, alternative)
    encoded = rows if own.circuit.target is None else np.column_stack([rows, np.full(len(rows), number)])
    compute = max_log_likelihood if own.approximate else log_likelihood
    return np.asarray(compute(own.circuit, encoded, n_jobs=1) - own.log_given(problem.factual, number))


def _likely(problem: Problem, logs: Numbers) -> NDArray[np.bool_]:
    own = problem.plausibility
    if own is None:
        return np.ones(len(logs), dtype=np.bool_)
    slack = ROUNDING * (1 + abs(own.lower)) if own.given and own.lower > -math.inf else 0.0
    return np.asarray(logs >= own.lower - slack)


def target_of(problem: Problem, alternative: int) -> float:
    """The class of an alternative of the goal, as the circuit knows it; NaN for any."""
    assert problem.plausibility is not None
    target, number = problem.plausibility.circuit.target, problem.goal.alternatives[alternative].class_index
    return math.nan if target is None or number is None else target.number(problem.form.classes[number])
