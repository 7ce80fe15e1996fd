"""Grid arithmetic: features whose values are the multiples k * step of a step, with k a whole number (the *place*).

Whole numbers are the grid of step 1, and exact. Multiples of any other step are what somebody's arithmetic made of them: 0.07
may have been written in decimals, computed as 7 * 0.01, or held in a column of singles. So a number counts as the k-th multiple
if it lies within `slack` of it, and there is one formula for that slack, in units of the step:

    slack(k) = min(relative * max(1, |k|), 1/4)        relative = 1e-9 for doubles (`DOUBLES`), 1e-6 for singles (`SINGLES`)

The error of a multiple is relative to its size, |k| steps, and at least that of one step; a quarter of a step keeps two
neighbours apart, however large they are. 1e-6 is some ten times the unit roundoff of a single (6e-8); 1e-9 leaves a double the
errors of any sums that made it, and is far below any step that a person would choose. `Feature::multiple` of the core
(`src/core/search/domain.cpp`) writes the same doubles as `multiples`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likely.schema.values import LARGEST, Numbers

#: By how much a multiple of a step may be off, relative to its size, in a column of doubles and in one of singles.
DOUBLES, SINGLES = 1e-9, 1e-6
#: A step of which this many nearly make 1 is meant to be their reciprocal: 0.01 is a hundredth, though no double is.
_RECIPROCAL = 1e-12


def slack(places: ArrayLike, step: float, relative: float = SINGLES) -> Numbers:
    """How far from a whole number of steps a multiple of the step may lie, in steps; whole numbers are exact.

    Args:
        places: How many steps the numbers are away from 0; only their size counts.
        step: The distance between neighbouring values.
        relative: `DOUBLES` or `SINGLES`, by what the numbers were held in.
    """
    sizes = np.abs(np.asarray(places, dtype=np.float64))
    return np.zeros_like(sizes) if step == 1.0 else np.minimum(relative * np.maximum(1.0, sizes), 0.25)


def snap(numbers: Numbers, step: float) -> Numbers:
    """The nearest multiples of `step`, each as the double nearest to its decimal (0.07, not 7 * 0.01).

    Args:
        numbers: Any numbers.
        step: The distance between neighbouring values.
    """
    per_unit = float(round(1 / step)) if step < 1 else 0.0
    if per_unit and abs(per_unit * step - 1) < _RECIPROCAL:
        return np.asarray(np.round(numbers * per_unit) / per_unit, dtype=np.float64)
    return np.asarray(np.round(numbers / step) * step, dtype=np.float64)


def multiples(places: Numbers, step: float) -> Numbers:
    """The multiples of `step` at these places, as `snap` writes them.

    Args:
        places: Whole numbers.
        step: The distance between neighbouring values.
    """
    return snap(places * step, step)


def is_multiple(numbers: Numbers, step: float, relative: float = DOUBLES) -> NDArray[np.bool_]:
    """Which numbers are multiples of a step, as far as their rounding allows to tell.

    Args:
        numbers: Any numbers.
        step: The distance between neighbouring values.
        relative: `DOUBLES` or `SINGLES`, by what the numbers were held in.
    """
    return np.asarray(np.abs(numbers - snap(numbers, step)) <= slack(numbers / step, step, relative) * step)


def holds_multiple(low: float, high: float, step: float, relative: float = DOUBLES) -> bool:
    """Whether a multiple of a step lies between two numbers, as far as their rounding allows to tell.

    Args:
        low: The lower end.
        high: The upper end.
        step: The distance between neighbouring values.
        relative: `DOUBLES` or `SINGLES`, by what the ends were held in.
    """
    ends = np.array([low, high]) / step
    under, over = slack(ends, step, relative)
    return bool(np.ceil(ends[0] - under) <= np.floor(ends[1] + over))


def steps_below(numbers: Numbers, step: float) -> Numbers:
    """How many multiples of the step (from 0 on) lie below each number; a multiple, however it was computed, counts as itself.

    Args:
        numbers: Any numbers; special codes lie below all others.
        step: The distance between neighbouring values.
    """
    with np.errstate(over="ignore"):
        places = np.clip(np.clip(numbers, -LARGEST, LARGEST) / step, -LARGEST, LARGEST)
    near = np.round(places)
    return np.where(np.abs(places - near) <= slack(near, step), near, np.ceil(places))


def first_place(numbers: Numbers, step: float) -> Numbers:
    """The place of the first multiple of the step that is not below each number, to the last bit.

    Args:
        numbers: Any numbers.
        step: The distance between neighbouring values.
    """
    places = steps_below(numbers, step)
    return np.where(multiples(places, step) < numbers, places + 1, places)
