"""What a counterfactual must reach, as inequalities over the scores of a form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.errors import ProblemError
from likely.predictor import Form
from likely.schema.values import Numbers, plain

#: By how much a score must be on the other side, unless said otherwise: the paper's tau.
SCORE_MARGIN = 1e-4


@dataclass(frozen=True, eq=False)
class Alternative:
    """All of these must hold: coefficients @ scores >= least. `number` is the class that a row then has, if it has one."""

    coefficients: Numbers  # inequality x output
    least: Numbers
    number: int | None = None

    def met(self, scores: Numbers) -> NDArray[np.bool_]:
        """Which rows of scores fulfil it."""
        return np.asarray((scores @ self.coefficients.T >= self.least).all(axis=1))


@dataclass(frozen=True, eq=False)
class Goal:
    """At least one alternative must be met. `sentence` says it to people."""

    alternatives: tuple[Alternative, ...]
    sentence: str

    def met(self, scores: Numbers) -> NDArray[np.bool_]:
        """Which rows of scores reach the goal."""
        return np.asarray(np.any([own.met(scores) for own in self.alternatives], axis=0))


def to_class(form: Form, label: Any, *, margin: float = SCORE_MARGIN) -> Goal:
    """The model decides for this class, by a margin of score over every other."""
    number = _number_of(form, label)
    return Goal((_class(form, number, margin),), f"the class is {form.classes[number]!r}")


def not_class(form: Form, label: Any, *, margin: float = SCORE_MARGIN) -> Goal:
    """The model decides for any class but this one."""
    number = _number_of(form, label)
    others = tuple(_class(form, k, margin) for k in range(len(form.classes)) if k != number)
    return Goal(others, f"the class is not {form.classes[number]!r}")


def _number_of(form: Form, label: Any) -> int:
    value = plain(label)
    if value not in form.classes:
        known = ", ".join(repr(own) for own in form.classes) or "none: it is a regressor"
        raise ProblemError("The class to reach", "be one of the model's", repr(value), f"it has {known}")
    return form.classes.index(value)


def _class(form: Form, number: int, margin: float) -> Alternative:
    if not form.link.one_score_per_class:
        sign = 1.0 if number == 1 else -1.0
        return Alternative(np.array([[sign]]), np.array([margin]), number)
    count = len(form.classes)
    rows = np.zeros((count, count))
    rows[:, number] = 1.0
    rows -= np.eye(count)
    others = np.arange(count) != number
    return Alternative(rows[others], np.full(count - 1, margin), number)


def between(form: Form, low: float = -math.inf, high: float = math.inf, *, output: int = 0, margin: float = 0.0) -> Goal:
    """One score (for a regressor, the prediction before its link) lies between two numbers."""
    if not 0 <= output < form.outputs:
        raise ProblemError("The output of a goal", f"be below {form.outputs}", output, "leave it out")
    if not low <= high or (math.isinf(low) and math.isinf(high)):
        raise ProblemError("A goal", "have low <= high, one of them finite", (low, high), "give a bound")
    own = np.zeros(form.outputs)
    own[output] = 1.0
    rows, least = [], []
    if low > -math.inf:
        rows.append(own)
        least.append(low + margin)
    if high < math.inf:
        rows.append(-own)
        least.append(-high + margin)
    return Goal((Alternative(np.array(rows), np.array(least)),), f"score {output} lies between {low:g} and {high:g}")
