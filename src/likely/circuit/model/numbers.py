"""The numbers that nodes are made of, checked."""

from __future__ import annotations

import math
import operator
from typing import Any

from likely.errors import CircuitError


def finite(values: Any, thing: str) -> tuple[float, ...]:
    """The values as finite floats; `thing` is what they are, for the refusal of others."""
    try:
        numbers = tuple(float(value) for value in values)
    except (TypeError, ValueError, OverflowError):
        raise CircuitError(thing, "be numbers", repr(values), "give a list of floats") from None
    bad = next((value for value in numbers if not math.isfinite(value)), None)
    if bad is not None:
        raise CircuitError(thing, "be finite", bad, "drop the node or correct the number")
    return numbers


def probabilities(values: Any, thing: str) -> tuple[float, ...]:
    """The values as finite floats of at least 0."""
    numbers = finite(values, thing)
    if any(value < 0 for value in numbers):
        raise CircuitError(thing, "not be negative", min(numbers), "correct the number")
    return numbers


def places(children: Any) -> tuple[int, ...]:
    """Children as places of nodes, at least one."""
    try:
        indices = tuple(operator.index(child) for child in children)
    except TypeError:
        raise CircuitError("The children of a node", "be places of nodes", repr(children), "give a list of integers") from None
    if not indices:
        raise CircuitError("A sum or product", "have children", "none", "drop the node")
    return indices
