"""Sets of values of one feature: finite unions of closed intervals of doubles.

Every value of every feature is one double (see `likely.schema.features`), so every condition on one feature - "at
least 18", "increases", "one of these categories" - is a set of doubles. Because the doubles are discrete, an open end
is the neighbouring double and the intervals can all be closed: complements are exact, and no comparison needs a
tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.errors import SchemaError

Interval = tuple[float, float]

#: So many intervals are looked through one by one; among more of them, values are searched for.
_FEW = 4


def above(value: float) -> float:
    """The smallest double greater than `value`.

    Args:
        value: A double.
    """
    return math.nextafter(value, math.inf)


def below(value: float) -> float:
    """The largest double smaller than `value`.

    Args:
        value: A double.
    """
    return math.nextafter(value, -math.inf)


@dataclass(frozen=True, slots=True)
class Region:
    """A set of doubles, as disjoint closed intervals in increasing order (made so on construction)."""

    intervals: tuple[Interval, ...]

    def __post_init__(self) -> None:
        for low, high in self.intervals:
            if math.isnan(low) or math.isnan(high):
                raise SchemaError("An interval of a region", "have two numbers as ends", (low, high), "drop the NaN")
        ordered = sorted((low + 0.0, high + 0.0) for low, high in self.intervals if low <= high)
        merged: list[Interval] = []
        for low, high in ordered:
            if merged and low <= above(merged[-1][1]):
                merged[-1] = (merged[-1][0], max(merged[-1][1], high))
            else:
                merged.append((low, high))
        object.__setattr__(self, "intervals", tuple(merged))

    @classmethod
    def between(cls, low: float, high: float) -> Region:
        """All doubles from `low` to `high`, both included.

        Args:
            low: The lower end.
            high: The upper end.
        """
        return cls(((low, high),))

    @classmethod
    def points(cls, values: Iterable[float]) -> Region:
        """Just these values.

        Args:
            values: Doubles.
        """
        return cls(tuple((value, value) for value in values))

    @property
    def empty(self) -> bool:
        """Whether no value is in the set."""
        return not self.intervals

    @property
    def low(self) -> float:
        """The smallest value; +inf if empty."""
        return self.intervals[0][0] if self.intervals else math.inf

    @property
    def high(self) -> float:
        """The largest value; -inf if empty."""
        return self.intervals[-1][1] if self.intervals else -math.inf

    def __contains__(self, value: float) -> bool:
        return any(low <= value <= high for low, high in self.intervals)

    def contains(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which of the values are in the set (a NaN never is).

        Args:
            values: Doubles.
        """
        if len(self.intervals) < _FEW:
            inside = np.zeros(values.shape, dtype=np.bool_)
            for low, high in self.intervals:
                inside |= (values >= low) & (values <= high)
            return inside
        lows, highs = np.array(self.intervals).T
        last = np.searchsorted(lows, values, side="right") - 1  # the last interval that begins by then: all before have ended
        return np.asarray((last >= 0) & (values <= highs[last]))

    def __or__(self, other: Region) -> Region:
        return Region(self.intervals + other.intervals)

    def __and__(self, other: Region) -> Region:
        mine, theirs, both = list(self.intervals), list(other.intervals), []
        while mine and theirs:
            (a, b), (c, d) = mine[-1], theirs[-1]
            if max(a, c) <= min(b, d):
                both.append((max(a, c), min(b, d)))
            (mine if a > c else theirs).pop()
        return Region(tuple(both))

    def __invert__(self) -> Region:
        gaps: list[Interval] = []
        start = -math.inf
        for low, high in self.intervals:
            if low > start:
                gaps.append((start, below(low)))
            start = above(high) if high < math.inf else math.nan
        if not math.isnan(start):
            gaps.append((start, math.inf))
        return Region(tuple(gaps))

    def __sub__(self, other: Region) -> Region:
        return self & ~other


EVERYTHING = Region.between(-math.inf, math.inf)
NOTHING = Region(())
