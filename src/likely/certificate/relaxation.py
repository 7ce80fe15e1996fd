"""Sums over features that are above a score, and the Lagrangian bounds of the cost that follow from them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from likely.certificate.domain import ROUNDOFF, Box, Corners, Domain
from likely.certificate.rules import Rules
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


def dual_bound(domain: Domain, rules: Rules, box: Box, corners: Corners, relaxation: Relaxation | None, at: Multipliers) -> float:
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
    reduced, sizes = corners.cost, np.abs(corners.cost)
    total, size = 0.0, 0.0
    if relaxation is not None and at.goal > 0:
        gains = at.goal * relaxation.at(corners)
        reduced, sizes = reduced - gains, sizes + np.abs(gains)
        terms = at.goal * relaxation.lower, at.goal * relaxation.constant, at.goal * relaxation.rounding
        total += terms[0] - terms[1] - terms[2]
        size += sum(map(abs, terms))
    if at.rule > 0 and 0 <= at.rule_index < len(rules.linear) and rules.linear[at.rule_index].applies(domain, box):
        rule = rules.linear[at.rule_index]
        charge = at.rule * rule.dense[corners.feature] * corners.offset
        reduced, sizes = reduced + charge, sizes + np.abs(charge)
        total -= at.rule * rule.rest(box)
        size += at.rule * abs(rule.rest(box))
    total += float(corners.least(reduced).sum())
    size += float(corners.greatest(sizes).sum())
    bound = total - 2 * ROUNDOFF * (domain.size + 16) * size
    return -math.inf if math.isnan(bound) else bound
