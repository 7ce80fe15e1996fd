"""Rules: a box of which no row keeps them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from likely.certificate.domain import ROUNDOFF, Box, Domain
from likely.schema.region import Region
from likely.schema.rules import AtMost, Clause, LinearRow, Rule
from likely.schema.values import Numbers

#: Rounds after which nothing more is sought: linear rules over reals may tighten each other for ever, by less and less.
_ROUNDS = 40


class Linear:
    """A linear rule in offsets from anchors: sum of coefficient * (x - anchor) <= rest, where all its features are numbers."""

    def __init__(self, domain: Domain, rule: LinearRow) -> None:
        self.features = np.array(sorted(set(rule.features)), dtype=np.intp)
        self.dense = np.zeros(domain.size)
        np.add.at(self.dense, list(rule.features), rule.coefficients)
        self._anchors = domain.anchor[self.features]
        self._rule = rule
        self._exact = dict.fromkeys(self.features.tolist(), Fraction(0))
        for j, c in zip(rule.features, rule.coefficients, strict=True):
            self._exact[j] += Fraction(float(c))
        self._rest = float(Fraction(rule.upper) - self._activity(domain.anchor))

    def applies(self, domain: Domain, box: Box) -> bool:
        """Whether all its features are numbers in every row of a box."""
        return all(box.low[j] <= box.high[j] and not domain.atoms_of(box, j).any() for j in self.features)

    def rest(self, box: Box) -> float:
        """The right side: with what a row may exceed the rule by, and what adding up its terms may lose."""
        sizes = np.abs(self.dense[self.features])
        low, high = box.low[self.features], box.high[self.features]
        offsets = float(sizes @ np.maximum(np.abs(low - self._anchors), np.abs(high - self._anchors)))
        lost = 2 * (len(sizes) + 2) * ROUNDOFF * (offsets + abs(self._rest))
        return self._rest + 2 * float(self._rule.slack(self._sizes(box))) + lost

    def least(self, box: Box) -> Numbers:
        """The least of every term over a box."""
        low, high = box.low[self.features] - self._anchors, box.high[self.features] - self._anchors
        return np.asarray(np.minimum(self.dense[self.features] * low, self.dense[self.features] * high))

    def _too_much(self, box: Box) -> bool:
        """Whether every row of a box breaks the rule, in exact arithmetic: for where rounding would decide."""
        least = self._activity(np.where(self.dense > 0, box.low, box.high))
        return least > Fraction(self._rule.upper) + Fraction(2 * float(self._rule.slack(self._sizes(box))))

    def _activity(self, values: Numbers) -> Fraction:
        """The left side of the rule, in exact arithmetic."""
        return sum((c * Fraction(float(values[j])) for j, c in self._exact.items()), Fraction(0))

    def _sizes(self, box: Box) -> float:
        """The greatest sum of the sizes of the terms over a box."""
        return float(np.abs(self.dense[self.features]) @ np.maximum(np.abs(box.low), np.abs(box.high))[self.features])

    def tightened(self, box: Box) -> Box | None:
        """The box without numbers for which the others, at their least, leave no room; None if no row is left."""
        least, rest = self.least(box), self.rest(box)
        lowest = float(least.sum())
        if lowest > rest or (lowest > self._rest - (rest - self._rest) and self._too_much(box)):
            return None
        low, high = box.low.copy(), box.high.copy()
        for j, term, anchor in zip(self.features, least, self._anchors, strict=True):
            c = self.dense[j]
            if c == 0:
                continue
            end = anchor + (rest - (lowest - term)) / c
            wider = 8 * ROUNDOFF * (abs(end) + abs(anchor) + abs(end - anchor))
            if c > 0:
                high[j] = min(high[j], end + wider)
            else:
                low[j] = max(low[j], end - wider)
        return Box(low, high, box.atoms)


class Rules:
    """The rules of a problem.

    Args:
        domain: The features' values.
        rules: As the schema compiles them.
    """

    def __init__(self, domain: Domain, rules: tuple[Rule, ...]) -> None:
        self._domain = domain
        self.linear = [Linear(domain, rule) for rule in rules if isinstance(rule, LinearRow)]
        self._clauses = [self._literals(rule) for rule in rules if isinstance(rule, Clause)]
        self._at_most = [(self._literals(rule), rule.count) for rule in rules if isinstance(rule, AtMost)]

    def _literals(self, rule: Clause | AtMost) -> list[tuple[int, NDArray[np.bool_]]]:
        return [(j, self._inside(j, region)) for j, region in rule.literals]

    def _inside(self, j: int, region: Region) -> NDArray[np.bool_]:
        """Which cells, then which atoms, of a feature lie in a region; no cell straddles an end of one."""
        part = self._domain.parts[j]
        return np.concatenate([region.contains(part.low), region.contains(part.atom)])

    def refute(self, box: Box) -> bool:
        """Whether no row of a box keeps the rules: by unit propagation, counting, and activities of linear rules."""
        domain = self._domain
        alive = []
        for j in range(domain.size):
            first, last = domain.cells_of(box, j)
            cells = np.zeros(len(domain.parts[j].low), dtype=np.bool_)
            cells[first:last] = True
            alive.append(np.concatenate([cells, domain.atoms_of(box, j)]))
        for _ in range(_ROUNDS):
            before = sum(int(values.sum()) for values in alive), box
            if not all(self._clause(alive, literals) for literals in self._clauses):
                return True
            if not all(self._count(alive, literals, count) for literals, count in self._at_most):
                return True
            narrowed = self._activities(box, alive)
            if narrowed is None or not all(values.any() for values in alive):
                return True
            box = narrowed
            if before[0] == sum(int(values.sum()) for values in alive) and not _moved(before[1], box):
                return False
        return False

    @staticmethod
    def _clause(alive: list[NDArray[np.bool_]], literals: list[tuple[int, NDArray[np.bool_]]]) -> bool:
        """Unit propagation; False if no literal can hold."""
        possible = [(j, inside) for j, inside in literals if (alive[j] & inside).any()]
        if len(possible) == 1:
            j, inside = possible[0]
            alive[j] &= inside
        return bool(possible)

    @staticmethod
    def _count(alive: list[NDArray[np.bool_]], literals: list[tuple[int, NDArray[np.bool_]]], count: int) -> bool:
        """If as many hold as may, no other one does; False if more do."""
        open_ones = []
        for j, inside in literals:
            if (alive[j] & ~inside).any():
                open_ones.append((j, inside))
            else:
                count -= 1
        if count == 0:
            for j, inside in open_ones:
                alive[j] &= ~inside
        return count >= 0

    def _activities(self, box: Box, alive: list[NDArray[np.bool_]]) -> Box | None:
        """The box within cells that are alive, tightened by the linear rules; None if one cannot hold."""
        domain = self._domain
        if not self.linear:
            return box
        low, high, atoms = box.low.copy(), box.high.copy(), box.atoms.copy()
        for j, part in enumerate(domain.parts):
            cells = np.flatnonzero(alive[j][: len(part.low)])
            atoms[domain.first_atom[j] : domain.first_atom[j + 1]] = alive[j][len(part.low) :]
            if len(cells):
                low[j], high[j] = max(low[j], part.low[cells[0]]), min(high[j], part.high[cells[-1]])
            else:
                low[j], high[j] = 1.0, 0.0
        box = Box(low, high, atoms)
        for rule in self.linear:
            if not rule.applies(domain, box):
                continue
            tightened = rule.tightened(box)
            if tightened is None:
                return None
            box = self._rounded(tightened)
            for j in rule.features:
                first, last = domain.cells_of(box, j)
                alive[j][:first] = False
                alive[j][last : len(domain.parts[j].low)] = False
                if not alive[j].any():
                    return None
        return box

    def _rounded(self, box: Box) -> Box:
        """Ends that lie between two numbers of a grid, moved to them; never beyond the end of a cell that they lie in."""
        low, high = box.low.copy(), box.high.copy()
        for j, part in enumerate(self._domain.parts):
            if not part.grid > 0 or low[j] > high[j]:
                continue
            first, last = self._domain.cells_of(box, j)
            if first >= last:
                low[j], high[j] = 1.0, 0.0
                continue
            up = part.grid * np.ceil(low[j] / part.grid - 1e-6)
            down = part.grid * np.floor(high[j] / part.grid + 1e-6)
            low[j] = max(low[j], min(up * (1 - 4 * ROUNDOFF * np.sign(up)), part.high[first]))
            high[j] = min(high[j], max(down * (1 + 4 * ROUNDOFF * np.sign(down)), part.low[last - 1]))
        return Box(low, high, box.atoms)


def _moved(before: Box, after: Box) -> bool:
    """Whether some range became narrower by a tenth or more."""
    was, now = before.high - before.low, after.high - after.low
    return bool(((now < 0.9 * was) & (was > 0)).any())
