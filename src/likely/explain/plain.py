"""Numbers and rows as plain data: what JSON does not have, by name; what two rows share; what tells data apart."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.schema import Schema
from likely.schema.values import Numbers, Value

#: Numbers that JSON does not have.
_NAMED = {"inf": math.inf, "-inf": -math.inf}


def plain_numbers(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data with names for infinities, which JSON does not have."""
    return {key: str(value) if isinstance(value, float) and math.isinf(value) else value for key, value in data.items()}


def with_infinities(data: Any) -> Any:
    """The inverse of `plain_numbers`."""
    if data is None:
        return None
    return {key: _NAMED.get(value, value) if isinstance(value, str) else value for key, value in data.items()}


def of_kinds(data: Mapping[str, Any], kinds: Mapping[str, type | tuple[type, ...]]) -> None:
    """Refuse data whose parts are of other kinds than they are written with, by a TypeError; true is no number.

    Args:
        data: What came from a file.
        kinds: name of a part -> its kinds.
    """
    for name, kind in kinds.items():
        if name not in data:
            continue  # said elsewhere, if it has no default
        value, known = data[name], kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(value, known) or (isinstance(value, bool) and bool not in known):
            raise TypeError(f"{name} is {type(value).__name__}")


#: Kinds of parts: a number, one that may be unknown, and what may stand in a cell.
NUMBER, MAYBE, CELL = (int, float), (int, float, type(None)), (str, int, float, bool, type(None))


def values_of(schema: Schema, row: Numbers) -> tuple[Value, ...]:
    """The user's values that doubles stand for."""
    return tuple(feature.value(float(number)) for feature, number in zip(schema.features, row, strict=True))


def same_values(one: Numbers, other: Numbers) -> NDArray[np.bool_]:
    """Where two rows have the same value; an unknown is an unknown."""
    return np.asarray((one == other) | (np.isnan(one) & np.isnan(other)))


def digest(data: Any) -> str:
    """The SHA-256 of plain data, as JSON in one canonical form: the same however they were written.

    Args:
        data: What JSON can hold.
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
