"""How a tree grows: one context of one variable learns the answer to one test, where that gains the most per node.

The likelihood of an answer in a context is known from counts alone; what it costs in nodes is known only when the tree is
made. So costs start as a lower bound, a node per variable on the way, and are computed for the best answer until it stays
the best.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from likely.circuit.learning.binned import Binned
from likely.circuit.learning.bins import Bins, Indices
from likely.circuit.learning.chow_liu import chow_liu, x_log_x
from likely.circuit.learning.contexts import context_of
from likely.circuit.learning.tree import Flags, Tree
from likely.schema.values import Numbers

Floats: TypeAlias = NDArray[np.floating[Any]]

#: Up to as many rows are counted in single precision: it holds every whole number till there.
MOST_IN_SINGLE = 2**24


def bic_penalty(table: Binned) -> float:
    """What the Bayesian information criterion asks of a probability, in nats: log(rows) / 2."""
    return 0.5 * float(np.log(max(2.0, table.weights.sum())))


@dataclass(frozen=True)
class Questions:
    """Questions about single variables, and the rows that say yes."""

    variable: Indices  # the one each test is about
    yes: tuple[Flags, ...]  # per test, which bins say yes
    said: Floats  # row x test: 1 for yes
    known: Floats | None  # row x variable: 1 where the value is known; None if all are

    @classmethod
    def of(cls, table: Binned) -> Questions:
        asked = [(j, bins) for j, variable_bins in enumerate(table.bins) for bins in _questions(variable_bins)]
        known = table.places < np.array(table.sizes)
        real = np.dtype(np.float32 if table.weights.sum() <= MOST_IN_SINGLE else np.float64)
        said: Floats = np.zeros((len(table), len(asked)), dtype=real)
        for place, (j, bins) in enumerate(asked):
            said[:, place] = np.append(bins, False)[table.places[:, j]]
        variable = np.array([j for j, _ in asked], dtype=np.intp)
        return cls(variable, tuple(bins for _, bins in asked), said, None if known.all() else known.astype(real))


def _questions(bins: Bins) -> Iterator[Flags]:
    """Is it this one? For each code and each nominal value. Does it lie beyond? For ordered values."""
    places = np.arange(len(bins))
    nominal = bins.codes if bins.feature.ordered else len(bins)
    alone = nominal - 1 if nominal == len(bins) <= 2 else nominal  # of two values, one is what the other is not
    yield from (places == place for place in range(alone))
    yield from (places >= place for place in range(nominal + 1, len(bins)))


class Growth:
    """A tree, and for each context and test what it would gain and cost to know the answer."""

    def __init__(self, table: Binned) -> None:
        self.table, self.tests = table, Questions.of(table)
        self.asked = bic_penalty(table)
        self.tree = Tree.forgetful(table.sizes, chow_liu(table))
        variables = range(len(table.bins))
        self.nodes = [self.tree.grouped(j)[1] for j in variables]
        self.contexts = {j: np.zeros(len(table), dtype=np.intp) for j in variables}
        self._look()
        self.gain = [self._gains(j, 0)[None, :] for j in variables]
        self.cost = [self.least_cost[j][None, :] for j in variables]
        self.best = np.zeros(len(variables))  # gain per node of each variable's best
        self.place = np.zeros(len(variables), dtype=np.intp)
        self._choose(variables)

    def grow(self, nodes: int) -> Iterator[tuple[Tree, int]]:
        """Larger and larger trees, and their nodes."""
        while (step := self._step(nodes - 1)) is not None:
            self._take(*step)
            yield self.tree, 1 + sum(self.nodes)

    def _step(self, most: int) -> tuple[Tree, dict[int, Indices], dict[int, int]] | None:
        """The next tree, what changed, and the nodes of variables; none if nothing is worth it or fits.

        What is not among as many of the best answers as there are variables is worth too little to be looked for.
        """
        budget = most - sum(self.nodes)
        beyond = 0
        while len(self.tests.variable) and self.best.max() > 0 and beyond <= len(self.nodes):
            variable = int(self.best.argmax())
            context, test = divmod(int(self.place[variable]), len(self.tests.variable))
            other = int(self.tests.variable[test])
            tree, origin = self.tree.remembering(variable, context, other, self.tests.yes[test])
            # What it costs is known only now, first at least: a node per new context.
            least = sum(len(old) - self.tree.contexts[j] for j, old in origin.items())
            beyond += least > budget
            if self._leads(variable, context, other, least, budget):
                touched = {*origin, *(self.tree.parent[j] for j in origin), *(tree.parent[j] for j in origin)} - {-1}
                nodes = {j: tree.grouped(j)[1] for j in touched}
                if self._leads(variable, context, other, sum(nodes[j] - self.nodes[j] for j in touched), budget):
                    return tree, origin, nodes
        return None

    def _leads(self, variable: int, context: int, other: int, more: int, budget: int) -> bool:
        """Whether an answer is still the best to know, if it costs so many nodes, and about as many others of that variable."""
        self.cost[variable][context, self.tests.variable == other] = max(1, more) if more <= budget else np.inf
        last = self.place[variable]
        self._choose([variable])
        return bool(self.place[variable] == last and 0 < self.best[variable] == self.best.max())

    def _take(self, tree: Tree, origin: dict[int, Indices], nodes: dict[int, int]) -> None:
        """Go on with another tree."""
        moved = tree.parent != self.tree.parent
        self.tree = tree
        for j, count in nodes.items():
            self.nodes[j] = count
        if moved:
            self._look()
        changed: set[int] = set()
        for j in tree.order:
            if j in origin or (self.tests.known is not None and tree.parent[j] in changed):
                before, self.contexts[j] = self.contexts[j], context_of(tree, j, self.table, self.contexts)
                if not np.array_equal(before, self.contexts[j]):
                    changed.add(j)
            if j in origin:
                # Contexts that do not split keep their gains, though a row with an unknown cell may have left them: a guess.
                split = np.bincount(origin[j])[origin[j]] > 1
                self._renew(j, origin[j], split)
            elif j in changed:  # what was learned made the context of some rows unknown
                self._renew(j, np.arange(tree.contexts[j]), np.ones(tree.contexts[j], dtype=np.bool_))
        self._choose(range(len(self.nodes)) if moved else sorted({*origin, *changed}))

    def _renew(self, variable: int, origin: Indices, new: Flags) -> None:
        """Take gains and costs over from the old contexts, and compute those of the new ones."""
        gain, cost = self.gain[variable][origin], self.cost[variable][origin]
        for context in np.flatnonzero(new):
            gain[context], cost[context] = self._gains(variable, int(context)), self.least_cost[variable]
        self.gain[variable], self.cost[variable] = gain, cost

    def _gains(self, variable: int, context: int) -> Numbers:
        """What the answer to each test would gain in one context, in nats, less what is asked of it."""
        places, size = self.table.places[:, variable], len(self.table.bins[variable])
        rows = np.flatnonzero((self.contexts[variable] == context) & (places < size))
        weights = np.zeros((size, len(rows)), dtype=self.tests.said.dtype)  # bin x row: what the row counts there
        weights[places[rows], np.arange(len(rows))] = self.table.weights[rows]
        yes = (weights @ self.tests.said[rows]).astype(np.float64)
        if self.tests.known is None:
            both = weights.sum(axis=1, dtype=np.float64)[:, None]
        else:
            both = (weights @ self.tests.known[rows]).astype(np.float64)[:, self.tests.variable]
        no = np.maximum(both - yes, 0.0)
        asked = (size - 1) * self.asked + np.log(max(1, len(self.tests.variable)))
        return np.asarray(_log_likelihood(yes) + _log_likelihood(no) - _log_likelihood(both) - asked)

    def _choose(self, variables: Iterable[int]) -> None:
        """Find the best of some variables: the most gain per node."""
        for j in variables:
            worth = np.where(self.allowed[j], self.gain[j] / self.cost[j], -1.0)
            self.place[j] = worth.argmax() if worth.size else 0
            self.best[j] = max(0.0, worth.flat[self.place[j]]) if worth.size else 0.0

    def _look(self) -> None:
        """See which tests a variable may ask, and what an answer costs at a guess: a node per variable on the way."""
        above = np.zeros((len(self.nodes), len(self.nodes)), dtype=np.bool_)  # or the same
        for j in self.tree.order:
            above[j] = above[self.tree.parent[j]]
            above[j, j] = True
        depth = above.sum(axis=1)
        together = above.astype(np.float32) @ above.T.astype(np.float32)  # how many are above both
        way = depth[:, None] + depth - 2 * together
        self.allowed = ~above.T[:, self.tests.variable]
        self.allowed[self.tree.order[0]] = False
        self.least_cost = np.maximum(1.0, way[:, self.tests.variable])


def _log_likelihood(counts: Numbers) -> Numbers:
    """The greatest log-likelihood of the counts in each column."""
    return np.asarray(x_log_x(counts).sum(axis=0) - x_log_x(counts.sum(axis=0)))
