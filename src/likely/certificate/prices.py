"""The price of likelihood: cost, goals, rules and likelihood in one bound.

The circuit's *parts* are the components of its mixture, or it itself. With prices u >= 0 of cost, v_g >= 0 of every goal
(constant_g + sum_j a_gj(x_j) >= lower_g) and r_i >= 0 of every linear rule (sum_j w_ij (x_j - anchor_j) <= rest_i), every row x
that reaches the goals and keeps the rules has, for every part t,

    log t(x) <= u cost(x) + sum_g v_g (constant_g - lower_g) + sum_i r_i rest_i + log V,

V being the part with, of every leaf, the greatest product of its density and exp(reward) instead of its density, where
reward_j = sum_g v_g a_gj - sum_i r_i w_ij (x_j - anchor_j) - u cost_j. So every part has a *line* above its logarithm as a
function of the cost, whatever the prices are. All together say how much a row must cost that is likely enough; and if every u is
one over the weight of likelihood in the objective, how small that can be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.certificate.blocks import Blocks, Rewards, Tangents
from likely.certificate.domain import ROUNDOFF, Box, Domain
from likely.certificate.likelihood import Level, Likelihood, levels_of, rounding_of
from likely.certificate.relaxation import Relaxation
from likely.certificate.rules import Linear
from likely.circuit.model.blocks import GaussianBlock
from likely.circuit.model.nodes import Leaf, Node, Product, Sum
from likely.schema.values import Numbers

#: Halvings of an interval of costs in which lines come up to a threshold.
_HALVINGS = 50


@dataclass(frozen=True, eq=False)
class Prices:
    """Of a circuit's parts (rows): of cost, of each goal, of each linear rule; and the points of the tangents of all blocks."""

    cost: Numbers
    goals: Numbers
    rules: Numbers
    points: Numbers

    @classmethod
    def read(cls, values: Sequence[Any], goals: int, rules: int) -> Prices:
        """As a certificate has them; what is negative or no number counts as 0, and so does what is missing."""
        table = np.zeros((len(values), 1 + goals + rules))
        for row, (cost, of_goals, of_rules, _) in zip(table, values, strict=True):
            row[0] = cost
            row[1 : 1 + min(goals, len(of_goals))] = of_goals[:goals]
            row[1 + goals : 1 + goals + min(rules, len(of_rules))] = of_rules[:rules]
        table = np.where((table >= 0) & np.isfinite(table), table, 0.0)
        points = np.array([point for *_, each in values for point in each], dtype=np.float64)
        return cls(table[:, 0], table[:, 1 : 1 + goals], table[:, 1 + goals :], points)


@dataclass(frozen=True, eq=False)
class Lines:
    """Per part, log t(x) <= height + rise * cost(x)."""

    height: Numbers
    rise: Numbers

    def log_sum(self, cost: float) -> float:
        """No row that costs at most so much has a greater log-likelihood."""
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            terms = self.height + self.rise * cost
            most = float(terms.max(initial=-np.inf))
            if not math.isfinite(most):
                return most if most == -math.inf else math.inf
            size = 1 + abs(most) + float(np.abs(self.rise * cost)[terms > -np.inf].max(initial=0.0))
            return most + float(np.log(np.exp(terms - most).sum())) + 4 * ROUNDOFF * (len(terms) + 8) * size

    def least_cost(self, threshold: float, cheapest: float, target: float, most: float) -> float:
        """A bound of the cost of rows that reach a threshold, up to a target; infinite if none of them does.

        Args:
            threshold: Of the log-likelihood.
            cheapest: No row costs less.
            target: More need not be shown.
            most: No row costs more.
        """
        if self.log_sum(min(target, most)) < threshold:
            return math.inf if most <= target else target
        low, high = cheapest, min(target, most)
        if not self.log_sum(low) < threshold:
            return cheapest
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.log_sum(middle) < threshold else (low, middle)
        return low


@dataclass(frozen=True, eq=False)
class _Leaves:
    """The leaves of a feature in all parts: their places there, their rows in the feature's table, their parts."""

    place: NDArray[np.intp]
    row: NDArray[np.intp]
    part: NDArray[np.intp]


class Parts:
    """A circuit as parts that share nothing.

    Args:
        likelihood: The circuit.
        domain: The features' values.
        components: Whether the children of its root are parts, or all of it is one.
    """

    def __init__(self, likelihood: Likelihood, domain: Domain, components: bool) -> None:
        nodes, root = likelihood.nodes, len(likelihood.nodes) - 1
        top = nodes[root]
        if components and isinstance(top, Sum):
            tops = list(top.children)
            with np.errstate(divide="ignore"):
                self.log_weight = np.log(np.array(top.weights))
        else:
            tops, self.log_weight = [root], np.zeros(1)
        made: list[Node] = []
        origin: list[int] = []
        parts: list[int] = []
        self.top = np.zeros(len(tops), dtype=np.intp)
        for part, place in enumerate(tops):
            where: dict[int, int] = {}
            for i in _below(nodes, place):
                node = nodes[i]
                if isinstance(node, (Sum, Product)):
                    node = replace(node, children=tuple(where[child] for child in node.children))
                where[i] = len(made)
                made.append(node)
                origin.append(i)
                parts.append(part)
            self.top[part] = where[place]
        self.size, self.count, self.part = len(made), len(tops), np.array(parts, dtype=np.intp)
        self.levels: list[Level] = levels_of(tuple(made))
        self.leaves = [
            _leaves(made, origin, parts, variable, likelihood.cells[variable].leaves) for variable in range(len(likelihood.cells))
        ]
        self.block_places = np.array([i for i, node in enumerate(made) if isinstance(node, GaussianBlock)], dtype=np.intp)
        blocks = [node for node in made if isinstance(node, GaussianBlock)]
        self.blocks = Blocks(domain, blocks, [parts[i] for i in self.block_places], likelihood.floor)
        #: Per coordinate of the blocks of the parts, that of the circuit's own blocks, in their order.
        own = np.cumsum([0, *(len(node.variables) if isinstance(node, GaussianBlock) else 0 for node in nodes)])
        self.own_coordinates = np.array(
            [own[origin[i]] + k for i in self.block_places for k in range(own[origin[i] + 1] - own[origin[i]])], dtype=np.intp
        )


def _below(nodes: Sequence[Node], top: int) -> list[int]:
    """A node and all below it, children first."""
    below, waiting = {top}, [top]
    while waiting:
        node = nodes[waiting.pop()]
        for child in node.children if isinstance(node, (Sum, Product)) else ():
            if child not in below:
                below.add(child)
                waiting.append(child)
    return sorted(below)


def _leaves(made: Sequence[Node], origin: Sequence[int], parts: Sequence[int], variable: int, places: Sequence[int]) -> _Leaves:
    row = {place: k for k, place in enumerate(places)}
    here = [i for i, node in enumerate(made) if isinstance(node, Leaf) and node.variable == variable]
    columns = ([*here], [row[origin[i]] for i in here], [parts[i] for i in here])
    return _Leaves(*(np.array(column, dtype=np.intp) for column in columns))


@dataclass(frozen=True, eq=False)
class _Swept:
    """What the leaves and blocks of all parts are over a box."""

    box: Box
    logs: Numbers
    terms: Numbers
    most: Numbers
    sizes: Numbers


class Priced:
    """The parts of a circuit with rewards of values.

    Args:
        likelihood: The circuit.
        parts: Its parts.
        domain: The features' values.
        rewards: Of the parts.
        tangents: Of their blocks.
    """

    def __init__(self, likelihood: Likelihood, parts: Parts, domain: Domain, rewards: Rewards, tangents: Tangents) -> None:
        self._likelihood, self._parts, self._domain = likelihood, parts, domain
        self._rewards, self._tangents = rewards, tangents
        self._last: _Swept | None = None

    def log_values(self, box: Box, alternative: int) -> Numbers:
        """log V of every part over a box, with the class of an alternative."""
        swept, parts = self._swept(box), self._parts
        logs = swept.logs.copy()
        logs[parts.block_places] = parts.blocks.combined(swept.terms, swept.most)
        target = self._likelihood.target(alternative)
        if len(target):
            leaves = parts.leaves[self._domain.size]
            logs[leaves.place] = target[leaves.row]
        with np.errstate(invalid="ignore", over="ignore"):
            for level in parts.levels:
                level.up(logs, self._likelihood.approximate)
        most = np.zeros(parts.count)
        np.maximum.at(most, parts.part, np.where(np.isfinite(logs), np.abs(logs), 0.0))
        off = rounding_of(parts.levels, most) + 8 * ROUNDOFF * (self._domain.size + 8) * swept.sizes.sum(axis=1)
        values = logs[parts.top] + parts.log_weight - self._likelihood.given(alternative) + off
        return np.where(np.isnan(values), np.inf, values)

    def _swept(self, box: Box) -> _Swept:
        """Over a box; of features that have the same values as in the first box, what it was there."""
        domain, parts = self._domain, self._parts
        if self._last is None:
            nothing = np.full(parts.blocks.size, -np.inf)
            swept = _Swept(
                box,
                np.zeros(parts.size),
                parts.blocks.greatest(box, self._tangents, self._rewards),
                nothing,
                np.zeros((parts.count, domain.size)),
            )
            for j in range(domain.size):
                self._fill(box, j, swept)
            self._last = swept
            return swept
        first = self._last
        differs = (first.box.low != box.low) | (first.box.high != box.high)
        atoms = first.box.atoms != box.atoms
        changed = [j for j in range(domain.size) if differs[j] or atoms[domain.first_atom[j] : domain.first_atom[j + 1]].any()]
        swept = _Swept(box, first.logs.copy(), first.terms.copy(), first.most.copy(), first.sizes.copy())
        for j in changed:
            here = parts.blocks.feature == j
            if here.any():
                swept.terms[here] = parts.blocks.greatest(box, self._tangents, self._rewards, j)[here]
            self._fill(box, j, swept)
        return swept

    def _fill(self, box: Box, j: int, swept: _Swept) -> None:
        """The leaves of a feature, the greatest of its rewards for blocks, and the sizes of the terms of these."""
        domain, rewards, leaves = self._domain, self._rewards, self._parts.leaves[j]
        low, high, cost_low, cost_high = domain.cell_ends(box, j)
        alive = domain.atoms_of(box, j)
        slope, level, price = rewards.slope[:, [j]], rewards.level[:, [j]], rewards.cost[:, None]
        ends = [(slope * (x - domain.anchor[j]), price * cost) for x, cost in ((low, cost_low), (high, cost_high))]
        numbers = np.maximum(*(gain + level - cost for gain, cost in ends))
        atoms = rewards.atoms[:, domain.first_atom[j] : domain.first_atom[j + 1]][:, alive]
        values = np.concatenate([atoms, numbers], axis=1)
        sizes = np.maximum(*(np.abs(gain) + np.abs(level) + cost for gain, cost in ends))
        swept.sizes[:, j] = np.maximum(np.abs(atoms).max(axis=1, initial=0.0), sizes.max(axis=1, initial=0.0))
        if len(leaves.place):
            table = self._likelihood.table(box, j)
            swept.logs[leaves.place] = (table[leaves.row] + values[leaves.part]).max(axis=1, initial=-np.inf)
        here = self._parts.blocks.feature == j
        if here.any():
            swept.most[here] = values.max(axis=1, initial=-np.inf)[self._parts.blocks.part[here]]


class Pricing:
    """Bounds of boxes from prices.

    Args:
        likelihood: The circuit.
        domain: The features' values.
    """

    def __init__(self, likelihood: Likelihood, domain: Domain) -> None:
        self._likelihood, self._domain = likelihood, domain
        top = likelihood.nodes[-1]
        self._components = len(top.children) if isinstance(top, Sum) and not likelihood.approximate else 0
        self._made: dict[bool, Parts] = {}

    def parts(self, count: int) -> Parts:
        """The circuit as so many parts.

        Raises:
            ValueError: If it has not so many.
        """
        components = count == self._components
        if count != 1 and not components:
            raise ValueError(f"prices of {count} parts of a circuit")
        if components not in self._made:
            self._made[components] = Parts(self._likelihood, self._domain, components)
        return self._made[components]

    def priced(self, prices: Prices, relaxations: Sequence[Relaxation], rules: Sequence[Linear]) -> Priced:
        """The parts with the rewards of prices, the goals relaxed."""
        parts = self.parts(len(prices.cost))
        slope, level = (np.zeros((parts.count, self._domain.size)) for _ in range(2))
        atoms = np.zeros((parts.count, int(self._domain.first_atom[-1])))
        for price, relaxation in zip(prices.goals.T, relaxations, strict=True):
            slope += np.outer(price, relaxation.slope)
            level += np.outer(price, relaxation.level)
            atoms += np.outer(price, relaxation.atoms)
        for price, rule in zip(prices.rules.T, rules, strict=True):
            slope -= np.outer(price, rule.dense)
        atoms -= np.outer(prices.cost, self._domain.atom_cost)
        points = prices.points if len(prices.points) == parts.blocks.size else np.zeros(parts.blocks.size)
        rewards = Rewards(prices.cost, slope, level, atoms)
        return Priced(self._likelihood, parts, self._domain, rewards, parts.blocks.tangents(points))

    def unpriced(self, box: Box, points: Numbers | None) -> Priced:
        """The parts without rewards; `points` are of the circuit's blocks, in their order."""
        parts = self.parts(self._components or 1)
        own = points is not None and len(points) > parts.own_coordinates.max(initial=-1)
        at = np.asarray(points, dtype=np.float64)[parts.own_coordinates] if own else parts.blocks.nearest(box)
        return Priced(self._likelihood, parts, self._domain, Rewards.none(parts.count, self._domain), parts.blocks.tangents(at))


def lines(
    priced: Priced, prices: Prices, relaxations: Sequence[Relaxation], rules: Sequence[Linear], box: Box, alternative: int
) -> Lines:
    """The lines of prices over a box.

    Args:
        priced: The parts with the rewards of these prices.
        prices: Of the parts.
        relaxations: Of the goals.
        rules: The linear rules, those with a price 0 if they do not apply to the box.
        box: The rows.
        alternative: Whose class they have.
    """
    height = priced.log_values(box, alternative)
    size = np.zeros(len(height))
    for price, relaxation in zip(prices.goals.T, relaxations, strict=True):
        terms = [price * each for each in (relaxation.constant, relaxation.rounding, -relaxation.lower)]
        height, size = height + sum(terms), size + sum(map(np.abs, terms))
    for price, rule in zip(prices.rules.T, rules, strict=True):
        if price.any():
            term = price * rule.rest(box)
            height, size = height + term, size + np.abs(term)
    height = height + 4 * ROUNDOFF * (len(relaxations) + len(rules) + 8) * (
        size + np.where(np.isfinite(height), np.abs(height), 0.0)
    )
    return Lines(np.where(np.isnan(height), np.inf, height), prices.cost)
