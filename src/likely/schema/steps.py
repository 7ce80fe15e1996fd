"""The step to which a column of numbers was recorded: 0.1, 0.01, 5, 1000, 1/8, read off its values.

The step is the coarsest of those that people use (1, 2, 2.5 and 5 times a power of ten, and halves down to 1/64) of which
the values are multiples, as far as rounding allows to tell (`likely.schema.grid`). What else could make a column look so?

- *A finer step, by chance.* A multiple of half the step is one of the step in one case of two. With `FEWEST` = 10 different
  values (0, a multiple of everything, aside) that happens once in a thousand columns. A column of whole numbers has a home
  already, and whole numbers may be codes: it takes `FEWEST_WHOLE` = 20, one in a million. And a step other than a power of ten
  must be seen: `FEWEST_BETWEEN` values lie between the multiples of the next power (0.906 among hundredths makes no 0.002).
- *Reals, by chance.* The slack is never more than `MOST_SLACK` of a step, so a real passes for a multiple once in five; usually
  once in a million.
- *A few values that came from elsewhere*: imputed means, defaults, a single that was written out (9.899999). One in
  `PER_EXCEPTION` different values, and at most `MOST_EXCEPTIONS`, may be no multiple. These stay values of the feature (its
  `exceptions`), so that every row of the table fits its schema. More would be no exceptions, and of whole numbers there are
  none: that most ages end in 0 or 5 does not make 37 an exception.

Multiples count from 0: a column of 2, 7, 12, ... has whole numbers. A step of which more than `MOST_STEPS` fit into the range
says nothing that a real does not, and standardised or logarithmic columns are multiples of nothing that people use.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from likely.schema.grid import is_multiple
from likely.schema.values import Numbers

#: How many different values, other than 0, a step is read off at least; and if all are whole.
FEWEST, FEWEST_WHOLE = 10, 20
#: How many lie at least between the multiples of the next power of ten, if the step is no power itself.
FEWEST_BETWEEN = 5
#: Of how many different values one may be no multiple, and how many in all.
PER_EXCEPTION, MOST_EXCEPTIONS = 50, 3
#: How many steps may fit into the range of the values.
MOST_STEPS = 1e6
#: By how much of a step rounding may move a value.
MOST_SLACK = 0.1
#: Nor is it less: one over it is a double.
LEAST_STEP = 1e-290
_DIGITS = (5.0, 2.5, 2.0, 1.0)
_HALVES = tuple(0.5**power for power in range(3, 7))
#: So many values are looked at before all are.
_FIRST_LOOK = 200


class Recorded(NamedTuple):
    """The step of a column, and its values that are no multiples of it."""

    step: float
    exceptions: tuple[float, ...]


def recorded_step(numbers: Numbers, relative: float) -> Recorded | None:
    """The step that a column was recorded to; None if its values do not tell, or if they are just whole numbers.

    Args:
        numbers: The values of the column, without NaN.
        relative: `grid.DOUBLES` or `grid.SINGLES`, by what the column holds.
    """
    values = np.unique(numbers)
    values = values[values != 0]
    whole = bool((values == np.round(values)).all())
    if len(values) < (FEWEST_WHOLE if whole else FEWEST):
        return None
    most = 0 if whole else min(len(values) // PER_EXCEPTION, MOST_EXCEPTIONS)
    for step in _candidates(values, relative):
        if whole and not (step > 1 and step == round(step)):
            continue
        off = _exceptions(values, step, relative, most)
        if off is not None and _is_shown(values, step, relative):
            return Recorded(step, off)
    return None


def _candidates(values: Numbers, relative: float) -> Iterator[float]:
    """Steps that people use, the coarsest first, of which the range holds neither too many nor too few."""
    spread = float(values[-1] - values[0])
    largest = float(np.abs(values).max())
    finest = max(spread / MOST_STEPS, largest * relative / MOST_SLACK, LEAST_STEP)
    if not (math.isfinite(spread) and spread >= finest):
        return
    powers = range(math.ceil(math.log10(spread)), math.floor(math.log10(finest)) - 1, -1)
    decimals = [float(f"{digits}e{power}") for power in powers for digits in _DIGITS]
    yield from (step for step in sorted({*decimals, *_HALVES}, reverse=True) if finest <= step <= spread)


def _exceptions(values: Numbers, step: float, relative: float, most: int) -> tuple[float, ...] | None:
    """The values that are no multiples of the step; None if there are more than `most`."""
    some = values[:: max(1, len(values) // _FIRST_LOOK)]
    if int((~is_multiple(some, step, relative)).sum()) > most:
        return None
    off = values[~is_multiple(values, step, relative)]
    return tuple(off.tolist()) if len(off) <= most else None


def _is_shown(values: Numbers, step: float, relative: float) -> bool:
    """Whether a step is a power of ten, or enough values lie between the multiples of the next one."""
    power = float(f"1e{math.ceil(math.log10(step))}")
    return step == power or int((~is_multiple(values, power, relative)).sum()) >= FEWEST_BETWEEN
