"""A row as the user's columns hold it: a column of singles rounds what the engine computes in doubles."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np

from likely.schema import Feature, Schema
from likely.schema.values import LARGEST, Numbers

_DTYPES: dict[str, Any] = {"float16": np.float16, "float32": np.float32}
#: Of so many rounded values both neighbours are tried, of further ones the nearest alone.
_MOST = 6


def as_held(feature: Feature, number: float) -> float:
    """The number that the feature's dtype holds in the place of this one.

    Args:
        feature: It has the dtype.
        number: A double; codes and unknowns are themselves.
    """
    dtype = _dtype(feature, number)
    if dtype is None:
        return number
    with np.errstate(over="ignore"):
        held = float(dtype(number))
    return held if math.isfinite(held) else number  # a column that cannot hold it becomes one of doubles


def held_row(schema: Schema, row: Numbers) -> Numbers:
    """The row that the user's table would hold.

    Args:
        schema: The features, with their dtypes.
        row: A row as doubles, of a dict, say; unknown values stay unknown.
    """
    return np.array([as_held(feature, float(number)) for feature, number in zip(schema.features, row, strict=True)])


def step_away(feature: Feature, number: float, steps: float) -> float:
    """The number that is so many representable ones above (or, if negative, below) what the feature's dtype holds.

    Args:
        feature: It has the dtype.
        number: A double.
        steps: How many.
    """
    dtype = _dtype(feature, number) or np.float64
    held = dtype(number)
    return float(dtype(float(held) + steps * float(np.spacing(np.abs(held)))))


def rounded_rows(schema: Schema, row: Numbers) -> Numbers:
    """The rows next to this one that the user's dtypes hold; the row itself if they hold it."""
    choices = [_neighbours(feature, float(number)) for feature, number in zip(schema.features, row, strict=True)]
    rounded = [j for j, numbers in enumerate(choices) if len(numbers) > 1]
    for j in rounded[_MOST:]:
        choices[j] = choices[j][:1]
    return np.array(list(product(*choices)), dtype=np.float64)


def _neighbours(feature: Feature, number: float) -> list[float]:
    """The number, or the nearest one that the feature's dtype holds and the one on its other side."""
    dtype = _dtype(feature, number)
    if dtype is None or float(dtype(number)) == number:
        return [number]
    nearest = dtype(number)
    return [float(nearest), float(np.nextafter(nearest, dtype(np.inf if float(nearest) < number else -np.inf)))]


def _dtype(feature: Feature, number: float) -> Any:
    """What rounds a number of this feature; None if nothing does."""
    return _DTYPES.get(feature.dtype.lower()) if feature.numeric and abs(number) < LARGEST else None
