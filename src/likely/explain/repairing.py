"""Rows next to one that does not hold: rounded by a column of singles, or rejected by the model itself at the boundary."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from likely.explain.dtype_rounding import rounded_rows, step_away
from likely.explain.polishing import is_new
from likely.problem import Problem, Solution
from likely.schema.values import LARGEST, Numbers

#: By how many representable numbers a single feature is moved away from the factual.
_STEPS = (1, 2, 4, 8, 16, 32, 64, 256, 1024)
#: By which shares of the change all features are moved on together, and each alone.
_SHARES = tuple(2.0**-exponent for exponent in range(26, 3, -1))
#: Of so many rows of rounded values the moves are tried.
_MOST = 16


def repaired(problem: Problem, row: Numbers) -> list[Solution]:
    """Answers a little further from the factual than a row, the best first.

    Args:
        problem: What an answer must keep to.
        row: A row that an engine found.
    """
    bases = rounded_rows(problem.schema, row)[:_MOST]
    rows = np.unique(np.concatenate([bases, *(list(_moved(problem, base)) for base in bases)]), axis=0)
    answers = [answer for answer in problem.solutions(rows) if answer is not None]
    return sorted(answers, key=lambda answer: answer.objective)


def _moved(problem: Problem, base: Numbers) -> Iterator[Numbers]:
    """Rows in which the real numbers that change do so by a little more: one of them, or all."""
    features = problem.schema.features
    places = [
        j
        for j in np.flatnonzero(is_new(problem, base) & ~np.isnan(problem.factual))
        if features[j].numeric and features[j].grid is None and min(base[j], problem.factual[j]) > -LARGEST
    ]
    yield base
    for j in places:
        away = 1.0 if base[j] > problem.factual[j] else -1.0
        for steps in _STEPS:
            row = base.copy()
            row[j] = step_away(features[j], float(base[j]), away * steps)
            yield row
    for share in _SHARES:
        moved = base + share * np.where(np.isnan(problem.factual), 0.0, base - problem.factual)
        for changed in [[j] for j in places] + ([places] if len(places) > 1 else []):
            row = base.copy()
            row[changed] = [step_away(features[j], float(moved[j]), 0.0) for j in changed]
            yield row
