"""A row as the user's columns hold it: a column of singles rounds what the engine computes in doubles."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from likely.schema import Feature, Schema
from likely.schema.values import LARGEST, Numbers

_DTYPES: dict[str, Any] = {"float16": np.float16, "float32": np.float32}
#: Of so many rounded values both neighbours are tried, of further ones the nearest alone.
_MOST = 6


def rounded_rows(schema: Schema, row: Numbers) -> Numbers:
    """The rows next to this one that the user's dtypes hold; the row itself if they hold it."""
    choices = [_neighbours(feature, float(number)) for feature, number in zip(schema.features, row, strict=True)]
    rounded = [j for j, numbers in enumerate(choices) if len(numbers) > 1]
    for j in rounded[_MOST:]:
        choices[j] = choices[j][:1]
    return np.array(list(product(*choices)), dtype=np.float64)


def _neighbours(feature: Feature, number: float) -> list[float]:
    """The number, or the nearest one that the feature's dtype holds and the one on its other side."""
    dtype = _DTYPES.get(feature.dtype.lower()) if feature.numeric and number > -LARGEST else None
    if dtype is None or float(dtype(number)) == number:
        return [number]
    nearest = dtype(number)
    return [float(nearest), float(np.nextafter(nearest, dtype(np.inf if float(nearest) < number else -np.inf)))]
