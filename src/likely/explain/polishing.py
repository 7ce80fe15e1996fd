"""Answers as people would write them: no change that does nothing, and numbers that are as round as they can be.

An engine finds the cheapest row; where likelihood or a tree changes by steps, that row lies a unit in the last place beyond a
border. Everything here tests rows by the schema, the form and the circuit (`Problem.solutions`); the model itself is asked
afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from likely.explain.dtype_rounding import as_held
from likely.problem import Problem, Solution
from likely.schema import Feature
from likely.schema.values import LARGEST, Numbers

#: Whether there is time for more.
More: TypeAlias = Callable[[], bool]

#: With so many significant digits, every double is itself.
_ALL_DIGITS = 17


def _always() -> bool:
    return True


def without_needless_changes(problem: Problem, answer: Solution, more: More = _always) -> Solution:
    """The answer with each feature that need not change as the factual has it, if that is no worse.

    Args:
        problem: What the answer must keep to.
        answer: A row, with its objective.
        more: Whether there is time for more.
    """
    while more():
        places = np.flatnonzero(~np.isnan(problem.factual) & (answer.row != problem.factual))
        rows = np.repeat(answer.row[None], len(places), axis=0)
        rows[np.arange(len(places)), places] = problem.factual[places]
        better = [other for other in problem.solutions(rows) if other is not None and other.objective <= answer.objective]
        if not better:
            return answer
        answer = min(better, key=lambda other: other.objective)
    return answer


def polished(problem: Problem, answer: Solution, most: float, *, same_features: bool = False, more: More = _always) -> Solution:
    """The answer without needless changes, and with as few digits in its new real numbers as its objective allows.

    Numbers are made round one after the other, those first whose change costs most: that they go a little further often makes
    another change needless.

    Args:
        problem: What the answer must keep to.
        answer: A row, with its objective.
        most: What the objective may rise to.
        same_features: Whether the answer shall go on to change what it changes.
        more: Whether there is time for more; an answer is one at any time.
    """
    shortened = _as_it_is if same_features else without_needless_changes
    answer = shortened(problem, answer, more)
    spare, objective = most - answer.objective, answer.objective
    if spare <= 0:
        return answer
    reals = [j for j, feature in enumerate(problem.schema.features) if _is_real(feature, answer.row[j])]
    places = [j for j in _by_cost(problem, answer.row) if j in reals]
    for i, j in enumerate(places, start=1):  # each has its share of what is spare, and what those before it left
        if answer.row[j] != problem.factual[j] and more():
            rounder = _rounder(problem, answer, j, objective + spare * i / len(places))
            answer = answer if rounder is None else shortened(problem, rounder, more)
    return answer


def _as_it_is(problem: Problem, answer: Solution, more: More) -> Solution:
    return answer


def _by_cost(problem: Problem, row: Numbers) -> list[int]:
    """The places of the new values of a row, those first whose change costs most."""
    places = np.flatnonzero(is_new(problem, row))
    rows = np.repeat(row[None], len(places), axis=0)
    known = ~np.isnan(problem.factual[places])
    rows[np.arange(len(places))[known], places[known]] = problem.factual[places[known]]
    return [int(j) for j in places[np.argsort(problem.schema.prices(problem.factual, rows), kind="stable")]]


def is_new(problem: Problem, row: Numbers) -> NDArray[np.bool_]:
    """Which values of a row the factual does not have, unknown ones among them."""
    return np.asarray(row != problem.factual)


def _is_real(feature: Feature, number: float) -> bool:
    return feature.numeric and feature.grid is None and number > -LARGEST


def _rounder(problem: Problem, answer: Solution, j: int, most: float) -> Solution | None:
    """The answer with the number of feature `j` that has the fewest digits; None if none is rounder and allowed."""
    feature, number, before = problem.schema.features[j], float(answer.row[j]), float(problem.factual[j])
    around = [(digits, as_held(feature, rounded)) for digits, rounded in round_numbers(number)]
    enough = min((digits for digits, held in around if held == number), default=_ALL_DIGITS)  # so many it has itself
    choices = [
        (digits, held)
        for digits, held in around
        if digits < enough and (math.isnan(before) or (held - before) * (number - before) > 0)
    ]
    if not choices:
        return None
    rows = np.repeat(answer.row[None], len(choices), axis=0)
    rows[:, j] = [held for _, held in choices]
    allowed = [
        (digits, other.objective, other)
        for (digits, _), other in zip(choices, problem.solutions(rows), strict=True)
        if other is not None and other.objective <= most
    ]
    return min(allowed, key=lambda choice: choice[:2])[2] if allowed else None


def round_numbers(number: float) -> Iterator[tuple[int, float]]:
    """Numbers around this one that have fewer significant digits, from the fewest on, each with how many it has.

    Args:
        number: Any finite one.
    """
    if number == 0:
        return
    yield 0, 0.0
    exact = Decimal(number)
    for digits in range(1, _ALL_DIGITS):
        unit = Decimal((0, (1,), exact.adjusted() - digits + 1))
        around = {float(exact.quantize(unit, rounding=way)) for way in (ROUND_FLOOR, ROUND_CEILING)}
        if number in around:
            return
        for rounded in sorted(around):
            yield digits, rounded
