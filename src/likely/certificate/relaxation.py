"""Sums over features that are above a score, and the Lagrangian bounds of the cost that follow from them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from likely.certificate.domain import ROUNDOFF, Box, Corners, Domain
from likely.certificate.rules import Linear, Rules
from likely.schema.values import Numbers


@dataclass(frozen=True, eq=False)
class Relaxation:
    """For every row of the box that it was made for, and whatever reaches the goal: constant + sum_j a_j(x_j) >= lower.

    `a_j` is `slope[j]` * offset + `level[j]` for numbers, and `atoms` for atoms.
    """

    constant: float
    slope: Numbers
    level: Numbers
    atoms: Numbers
    lower: float
    #: By how much the left side may be off for want of digits.
    rounding: float

    def at(self, corners: Corners) -> Numbers:
        """a_j at corners."""
        numbers = self.slope[corners.feature] * corners.offset + self.level[corners.feature]
        return np.where(corners.atom >= 0, self.atoms[corners.atom], numbers) if len(self.atoms) else numbers

    def missed(self, corners: Corners) -> bool:
        """Whether no row between these corners fulfils it."""
        return bool(self.constant + corners.greatest(self.at(corners)).sum() + self.rounding < self.lower)


@dataclass(frozen=True)
class Multipliers:
    """Of a relaxation, and of at most one linear rule. Any numbers >= 0 give a bound."""

    goal: float
    rule: float
    rule_index: int

    @classmethod
    def read(cls, numbers: list[float]) -> Multipliers:
        """As a certificate has them; what is negative or no number counts as 0."""
        goal, rule = (float(number) if 0 <= number < np.inf else 0.0 for number in numbers[:2])
        return cls(goal, rule, int(numbers[2]))


class Dual:
    """What no row of a box that reaches the goal and keeps the rule can cost less than.

    With multipliers m and p >= 0:
    m (lower - constant) - p rest + sum_j min over v of [cost_j(v) - m a_j(v) + p c_j (v - anchor_j)].

    Args:
        domain: The features' values.
        rules: Of the problem.
        box: The rows.
        corners: Its corners.
        relaxation: Of the goal; None for none.
        at: The multipliers.
    """

    def __init__(
        self, domain: Domain, rules: Rules, box: Box, corners: Corners, relaxation: Relaxation | None, at: Multipliers
    ) -> None:
        self._domain, self._relaxation, self._at = domain, relaxation, at
        self._rule: Linear | None = None
        self._total, self._size = 0.0, 0.0
        if relaxation is not None and at.goal > 0:
            terms = at.goal * relaxation.lower, at.goal * relaxation.constant, at.goal * relaxation.rounding
            self._total += terms[0] - terms[1] - terms[2]
            self._size += sum(map(abs, terms))
        if at.rule > 0 and 0 <= at.rule_index < len(rules.linear) and rules.linear[at.rule_index].applies(domain, box):
            self._rule = rules.linear[at.rule_index]
            charge = at.rule * self._rule.rest(box)
            self._total -= charge
            self._size += abs(charge)
        reduced, sizes = self._reduced(corners)
        self._least, self._sizes = corners.least(reduced), corners.greatest(sizes)

    def _reduced(self, corners: Corners) -> tuple[Numbers, Numbers]:
        """The reduced costs of corners, and the sizes of their terms."""
        reduced, sizes = corners.cost, np.abs(corners.cost)
        if self._relaxation is not None and self._at.goal > 0:
            gains = self._at.goal * self._relaxation.at(corners)
            reduced, sizes = reduced - gains, sizes + np.abs(gains)
        if self._rule is not None:
            charge = self._at.rule * self._rule.dense[corners.feature] * corners.offset
            reduced, sizes = reduced + charge, sizes + np.abs(charge)
        return reduced, sizes

    @property
    def bound(self) -> float:
        """Of all rows of the box."""
        return self._rounded(float(self._least.sum()), float(self._sizes.sum()))

    def bound_of(self, j: int, corners: Corners) -> float:
        """Of those whose feature j has one of these values: corners of that feature alone."""
        reduced, sizes = self._reduced(corners)
        others = float(self._least[:j].sum() + self._least[j + 1 :].sum())
        return self._rounded(others + float(reduced.min()), float(self._sizes.sum() + sizes.max()))

    def _rounded(self, terms: float, size: float) -> float:
        bound = self._total + terms - 2 * ROUNDOFF * (self._domain.size + 16) * (self._size + size)
        return -math.inf if math.isnan(bound) else bound
