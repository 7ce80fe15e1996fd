"""Upper bounds of the likelihood of all rows of a box: one sweep up the circuit, with every leaf at its greatest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from likely.certificate.domain import ROUNDOFF, Box, Domain
from likely.circuit.model.blocks import GaussianBlock
from likely.circuit.model.cells import Cells
from likely.circuit.model.families import FAMILIES
from likely.circuit.model.nodes import ParametricPart, Product, Sum
from likely.problem import Coherence, Plausibility, Problem
from likely.schema.values import LARGEST, Numbers

#: Roundings of the logarithm of one leaf: density, maximum with the floor, logarithm (of which libraries lose one or two).
_ROUNDINGS_OF_LEAF = 8


@dataclass(frozen=True, eq=False)
class Level:
    """Inner nodes none of which is another's child: all are sums, or all products."""

    sums: bool
    nodes: NDArray[np.intp]
    children: NDArray[np.intp]
    #: Where the children of each node begin.
    first: NDArray[np.intp]
    log_weights: Numbers

    def up(self, logs: Numbers, maximise: bool) -> None:
        """The logarithms of these nodes, from those of their children.

        Args:
            logs: Of all nodes.
            maximise: Whether sums take their greatest child.
        """
        terms = logs[self.children] + self.log_weights
        if not self.sums:
            logs[self.nodes] = np.add.reduceat(terms, self.first)
            return
        most = np.maximum.reduceat(terms, self.first)
        if maximise:
            logs[self.nodes] = most
            return
        shift = np.where(np.isfinite(most), most, 0.0)
        parts = np.exp(terms - np.repeat(shift, np.diff(np.append(self.first, len(terms)))))
        with np.errstate(divide="ignore"):
            logs[self.nodes] = np.log(np.add.reduceat(parts, self.first)) + shift


class Likelihood:
    """The circuit of a problem's plausibility over the domain's values; or that of its coherence, which is a circuit as well.

    Args:
        problem: What was asked.
        asked: Its plausibility or coherence.
        domain: The features' values.
    """

    def __init__(self, problem: Problem, asked: Plausibility | Coherence, domain: Domain) -> None:
        self._domain, self._circuit = domain, asked.circuit
        self.nodes, self.cells, self.floor, self.approximate = (
            asked.circuit.nodes,
            asked.circuit.cells,
            asked.circuit.floor,
            False,
        )
        self.has_blocks = any(isinstance(node, GaussianBlock) for node in self.nodes)
        self._levels = levels_of(self.nodes)
        if isinstance(asked, Plausibility):
            self.approximate = asked.approximate
        else:
            self.cells, self.floor = self._ratios(), 0.0
        self._tables = [_table(self.cells[j], part.low, part.high, self.floor) for j, part in enumerate(domain.parts)]
        self._atoms = [_table(self.cells[j], part.atom, part.atom, self.floor) for j, part in enumerate(domain.parts)]
        self._given, self._targets = list[float](), list[Numbers]()
        for alternative in problem.goal.alternatives:
            target = asked.target_of(problem.form, alternative.class_index)
            self._given.append(self._log_given(problem, asked, target) if isinstance(asked, Plausibility) else 0.0)
            self._targets.append(self._target(target))

    def _ratios(self) -> tuple[Cells, ...]:
        """Every leaf divided by the marginal of its variable: a mixture of its leaves, each as often as the circuit has it."""
        logs, shares = np.zeros(len(self.nodes)), np.zeros(len(self.nodes))
        self._up(logs, maximise=False)
        shares[-1] = 1.0
        for place in range(len(self.nodes) - 1, -1, -1):
            node = self.nodes[place]
            if isinstance(node, (Sum, Product)):
                for k, child in enumerate(node.children):
                    rest = node.weights[k] if isinstance(node, Sum) else math.exp(logs[place] - logs[child])
                    shares[child] += shares[place] * rest
        divided = []
        for cells in self.cells:
            densities = np.maximum(cells.densities, self._circuit.floor)
            marginal = shares[list(cells.leaves)] @ densities
            ratio = np.divide(densities, marginal, where=marginal > 0, out=np.zeros_like(densities))
            divided.append(replace(cells, densities=ratio))
        return tuple(divided)

    def _target(self, target: float) -> Numbers:
        """The leaves of the class at a value of it, 0 (a logarithm) for any."""
        if self._circuit.target is None:
            return np.empty(0)
        cells = self.cells[self._domain.size]
        if math.isnan(target):
            return np.zeros(len(cells.leaves))
        return _table(cells, np.array([target]), np.array([target]), self.floor)[:, 0]

    def _log_given(self, problem: Problem, asked: Plausibility, target: float) -> float:
        """The logarithm of what is given, lowered by what computing it may lose."""
        if not asked.given:
            return 0.0
        circuit = self._circuit
        values = problem.factual if circuit.target is None else np.append(problem.factual, target)
        logs = np.zeros(len(circuit.nodes))
        for name, value, cells in zip(circuit.names, values, self.cells, strict=True):
            if name in asked.given and not math.isnan(value):
                logs[list(cells.leaves)] = _table(cells, np.array([value]), np.array([value]), circuit.floor)[:, 0]
        known = np.array([value if name in asked.given else math.nan for name, value in zip(circuit.names, values, strict=True)])
        off = 0.0
        for place, node in enumerate(self.nodes):
            if isinstance(node, GaussianBlock):
                row = known[list(node.variables)]
                logs[place] = node.log_density(row[None], self.floor)[0]
                off += _marginal_rounding(node, row, float(logs[place]))
        self._up(logs, maximise=False)
        log = float(logs[-1])
        return log - self._rounding(logs) - off if log > -math.inf else math.inf

    def given(self, alternative: int) -> float:
        """The logarithm of what is given, which is taken off all others."""
        return self._given[alternative]

    def target(self, alternative: int) -> Numbers:
        """The logarithms of the leaves of the class, of an alternative; none if the circuit knows no class."""
        return self._targets[alternative]

    def table(self, box: Box, j: int) -> Numbers:
        """The logarithm of the greatest density of every leaf of a feature, for every atom and then every cell of a box."""
        domain = self._domain
        first, last = domain.cells_of(box, j)
        atoms = self._atoms[j][:, domain.atoms_of(box, j)]
        if last == first + 1 and any(self.cells[j].parametric):
            low, high = (box.low[j : j + 1], box.high[j : j + 1])
            numbers = np.minimum(self._tables[j][:, first:last], _table(self.cells[j], low, high, self.floor))
        else:
            numbers = self._tables[j][:, first:last]
        return np.asarray(np.concatenate([atoms, numbers], axis=1))

    def upper(self, box: Box, alternative: int) -> float:
        """No row of a box has, with the class of an alternative, a greater log-likelihood."""
        logs = np.zeros(len(self._circuit.nodes))
        for j in range(self._domain.size):
            logs[list(self.cells[j].leaves)] = self.table(box, j).max(axis=1, initial=-np.inf)
        if len(self._targets[alternative]):
            logs[list(self.cells[self._domain.size].leaves)] = self._targets[alternative]
        self._up(logs, self.approximate)
        return float(logs[-1]) - self._given[alternative] + self._rounding(logs)

    def _rounding(self, logs: Numbers) -> float:
        return float(rounding_of(self._levels, np.abs(logs[np.isfinite(logs)]).max(initial=0.0)))

    def _up(self, logs: Numbers, maximise: bool) -> None:
        for level in self._levels:
            level.up(logs, maximise)


def rounding_of(levels: Sequence[Level], size: Numbers) -> Numbers:
    """What all levels together may lose: of every logarithm a few units of roundoff of its size, and of 1.

    Args:
        levels: Of a circuit.
        size: The greatest of its logarithms.
    """
    widest = max((int(np.diff(np.append(level.first, len(level.children))).max()) for level in levels), default=1)
    return np.asarray(4 * ROUNDOFF * (widest + _ROUNDINGS_OF_LEAF) * (len(levels) + 1) * (1 + size))


def levels_of(nodes: tuple[object, ...]) -> list[Level]:
    """The inner nodes of a circuit, from the leaves up.

    Args:
        nodes: Children before parents.
    """
    depth, groups = [0] * len(nodes), dict[tuple[int, bool], list[int]]()
    for place, node in enumerate(nodes):
        if isinstance(node, (Sum, Product)):
            depth[place] = 1 + max(depth[child] for child in node.children)
            groups.setdefault((depth[place], isinstance(node, Sum)), []).append(place)
    levels = []
    for (_, sums), places in sorted(groups.items()):
        inner = [node for place in places if isinstance(node := nodes[place], (Sum, Product))]
        children = np.array([child for node in inner for child in node.children], dtype=np.intp)
        first = np.cumsum([0, *(len(node.children) for node in inner)])[:-1]
        weights = [w for node in inner for w in (node.weights if isinstance(node, Sum) else (1.0,) * len(node.children))]
        with np.errstate(divide="ignore"):
            levels.append(Level(sums, np.array(places, dtype=np.intp), children, first, np.log(np.array(weights))))
    return levels


def _marginal_rounding(block: GaussianBlock, row: Numbers, log: float) -> float:
    """What the logarithm of a block's density may be off where some of its numbers are known."""
    known = np.flatnonzero(~np.isnan(row))
    if not len(known) or not math.isfinite(log):
        return 0.0
    condition = float(np.linalg.cond(block.covariance[np.ix_(known, known)]))
    return 16 * ROUNDOFF * (len(known) + 8) * condition * (1 + abs(log))


def _table(cells: Cells, low: Numbers, high: Numbers, floor: float) -> Numbers:
    """The logarithm of the greatest density of every leaf on intervals, each within a cell: leaf x interval."""
    densities = cells.densities[:, cells.cell(low)]
    for i, part in enumerate(cells.parametric):
        if part is not None:
            densities[i] += _greatest_density(part, low, high)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(densities, floor)))


def _greatest_density(part: ParametricPart, low: Numbers, high: Numbers) -> Numbers:
    """Of a unimodal density: at the point of each interval that is nearest to its mode."""
    family = FAMILIES[part.family]
    first, last = (np.ceil(low), np.floor(high)) if family.discrete else (low, high)
    top = np.minimum(np.maximum(family.mode(part.a, part.b), first), last)
    points = np.stack([low, high, top])
    numbers = np.abs(points) < LARGEST
    with np.errstate(over="ignore"):
        density = part.share * np.exp(family.log_density(np.where(numbers, points, 0.0), part.a, part.b))
    return np.asarray(np.where(numbers, density, 0.0).max(axis=0)) * (1 + 64 * ROUNDOFF)
