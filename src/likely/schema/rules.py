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

#: A linear rule may be missed by this much, relative to the size of its terms: doubles do not add up exactly.
FEASIBILITY = 1e-9


@dataclass(frozen=True, slots=True)
class Clause:
    """At least one literal holds."""

    literals: tuple[Literal, ...]

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
    """sum_i coefficients[i] * x[features[i]] <= upper, wherever all x are numbers."""

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
        terms = np.where(skipped[:, None], 0.0, numbers) * np.array(self.coefficients)
        slack = FEASIBILITY * np.maximum(np.abs(terms).sum(axis=1), abs(self.upper))
        holds: NDArray[np.bool_] = skipped | (terms.sum(axis=1) <= self.upper + slack)
        return holds


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
