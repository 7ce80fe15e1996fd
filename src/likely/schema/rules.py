"""What every constraint comes down to, once the factual is known: three kinds of rule over doubles.

- `Clause`: at least one of several features lies in its region. (One literal: a domain. Two: an implication.)
- `LinearRow`: sum_i a_i x_i <= b, wherever all these x_i are numbers.
- `AtMost`: at most `count` features lie in their regions.

The engines filter and encode these three and nothing else; `satisfied` is the exact test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from likely.schema.region import Region
from likely.schema.values import Numbers, is_code

#: Feature number and the set its value must lie in.
Literal: TypeAlias = tuple[int, Region]

#: Unit roundoff of doubles.
_ROUNDOFF = 2.0**-53
#: A linear rule whose terms are not all whole numbers may be exceeded by this many units of roundoff per term, relative to the
#: sum of the sizes of its terms: what somebody who adds them up may lose. The twin of `kRuleRoundoffs` of the core.
RULE_ROUNDOFFS = 2


@dataclass(frozen=True, slots=True)
class Clause:
    """At least one literal holds. Literals of the same feature are one: its value must lie in one of their regions."""

    literals: tuple[Literal, ...]

    def __post_init__(self) -> None:
        merged: dict[int, Region] = {}
        for feature, region in self.literals:
            merged[feature] = merged[feature] | region if feature in merged else region
        object.__setattr__(self, "literals", tuple(merged.items()))

    def satisfied(self, rows: Numbers) -> NDArray[np.bool_]:
        """Which rows keep the rule.

        Args:
            rows: Rows, as doubles.
        """
        holds = np.zeros(len(rows), dtype=np.bool_)
        for feature, region in self.literals:
            holds |= region.contains(rows[:, feature])
        return holds


@dataclass(frozen=True, slots=True)
class LinearRow:
    """sum_i coefficients[i] * x[features[i]] <= upper, wherever all x are numbers.

    Where all coefficients, values and the upper end are whole numbers, it is kept or broken, exactly. Elsewhere it may be
    exceeded by what rounding may do to the sum (`slack`).
    """

    features: tuple[int, ...]
    coefficients: tuple[float, ...]
    upper: float

    def satisfied(self, rows: Numbers) -> NDArray[np.bool_]:
        """Which rows keep the rule.

        Args:
            rows: Rows, as doubles.
        """
        numbers = rows[:, self.features]
        skipped: NDArray[np.bool_] = np.asarray((is_code(numbers) | np.isnan(numbers)).any(axis=1), dtype=np.bool_)
        values, coefficients = np.where(skipped[:, None], 0.0, numbers), np.array(self.coefficients)
        whole = _whole(values).all(axis=1) & _whole(np.array([self.upper, *coefficients])).all()
        slack = np.where(whole, 0.0, self.slack(np.abs(values * coefficients).sum(axis=1)))
        holds: NDArray[np.bool_] = skipped | (_excess(values, coefficients, self.upper) <= slack)
        return holds

    def slack(self, size: Numbers | float) -> Numbers:
        """By how much the sum may exceed `upper` if not all its terms are whole numbers.

        Args:
            size: The sum of the sizes of its terms.
        """
        return np.asarray(RULE_ROUNDOFFS * _ROUNDOFF * (len(self.features) + 1) * np.maximum(size, abs(self.upper)))


def _whole(numbers: Numbers) -> NDArray[np.bool_]:
    return np.asarray(numbers == np.floor(numbers))


def _excess(values: Numbers, coefficients: Numbers, upper: float) -> Numbers:
    """values @ coefficients - upper, row by row, without rounding but of the last step: error-free transformations.

    T. Ogita, S. M. Rump, S. Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26 (2005). The twin of
    `src/core/exact_sum.hpp`.
    """
    high, low = np.full(len(values), -upper), np.zeros(len(values))
    for value, coefficient in zip(values.T, coefficients, strict=True):
        product, lost = _product(value, coefficient)
        total = high + product
        part = total - high
        low += (high - (total - part)) + (product - part)
        low += lost
        high = total
    return np.asarray(high + low)


def _product(x: Numbers, y: np.float64) -> tuple[Numbers, Numbers]:
    """x * y, and what rounding took from it (Veltkamp, Dekker); nothing where a number is so large that its halves overflow."""
    product = x * y
    with np.errstate(over="ignore", invalid="ignore"):
        (x_high, x_low), (y_high, y_low) = _halves(x), _halves(np.asarray(y))
        lost = x_low * y_low - (((product - x_high * y_high) - x_low * y_high) - x_high * y_low)
    return product, np.where(np.isfinite(lost), lost, 0.0)


def _halves(x: Numbers) -> tuple[Numbers, Numbers]:
    """Doubles as sums of two with half as many digits."""
    scaled = x * (2.0**27 + 1)
    high = scaled - (scaled - x)
    return high, x - high


@dataclass(frozen=True, slots=True)
class AtMost:
    """At most `count` literals hold."""

    literals: tuple[Literal, ...]
    count: int

    def satisfied(self, rows: Numbers) -> NDArray[np.bool_]:
        """Which rows keep the rule.

        Args:
            rows: Rows, as doubles.
        """
        held = np.zeros(len(rows), dtype=np.int64)
        for feature, region in self.literals:
            held += region.contains(rows[:, feature])
        return np.asarray(held <= self.count, dtype=np.bool_)


Rule: TypeAlias = Clause | LinearRow | AtMost


def all_satisfied(rules: Sequence[Rule], rows: Numbers) -> NDArray[np.bool_]:
    """Which rows keep every rule.

    Args:
        rules: Compiled constraints.
        rows: Rows, as doubles.
    """
    holds = np.ones(len(rows), dtype=np.bool_)
    for rule in rules:
        holds &= rule.satisfied(rows)
    return holds
