"""Circuits over discrete tables: a Chow-Liu tree whose variables learn what is worth remembering.

At first every variable is independent (`likely.circuit.learning.tree`). Then, again and again, one context of one variable learns
the answer to a test - is the value of another variable this one? Does it lie beyond? - so that the likelihood gained per
node added is the greatest, until the nodes are used up or nothing more is worth it. An answer is worth it if

    gain in log-likelihood  >  (values - 1) / 2 log(rows) + log(tests)

(the Bayesian information criterion of the new probabilities, and a word for which of the tests it is). A test may be about
any variable that does not depend on this one: where need be, a branch of the tree is hung elsewhere. In the end, contexts
of a variable whose probabilities differ by less than they should share them, and all are shrunk towards the whole table's
(`likely.circuit.learning.smoothing`).

Unknown cells: a row counts for a variable where its value and its context are known; the context is, if all that the
unknown cells could be lead to the same. So where cells are unknown at random, nothing is distorted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from likely.circuit.learning.bins import Bins
from likely.circuit.learning.chow_liu import chow_liu, x_log_x
from likely.circuit.learning.mixture import Binned, after, merges, pooled
from likely.circuit.learning.smoothing import Shrinkage
from likely.circuit.learning.tree import Flags, Places, Tree
from likely.circuit.model.builder import Builder
from likely.circuit.model.circuit import Circuit
from likely.circuit.model.nodes import Node
from likely.circuit.queries.evaluate import log_likelihood
from likely.circuit.queries.transform import reachable
from likely.schema.values import Numbers, code_number

Floats: TypeAlias = NDArray[np.floating[Any]]

#: Only tables of variables with at most as many bins, and as many in all.
MOST_BINS, MOST_BINS_IN_ALL = 32, 2_048
#: A tree is grown on at most as many rows, and rows times bins, drawn at random; probabilities are learned from all.
MOST_ROWS, MOST_CELLS = 50_000, 2**25
#: Up to as many rows are counted in single precision: it holds every whole number till there.
MOST_IN_SINGLE = 2**24
#: Probabilities are shared if they differ by less than this share of what the information criterion asks.
SHARED = 0.5
#: Rows whose contexts are found at a time.
AT_A_TIME = 65_536


def suits(bins: Sequence[Bins]) -> bool:
    """Whether the variables are discrete enough: few bins each, and not too many in all."""
    sizes = [len(own) for own in bins]
    return max(sizes) <= MOST_BINS and sum(sizes) <= MOST_BINS_IN_ALL


def fit(
    table: Binned, sizes: Sequence[int], random_state: int, *, progress: Callable[[float], None] = lambda _: None
) -> tuple[Grown, ...]:
    """Circuits of at most so many nodes (but at least a leaf per variable), all on the way to the largest.

    The same for the same seed. Ctrl-C ends it with what it has.
    """
    limit = min(MOST_ROWS, MOST_CELLS // sum(len(own) for own in table.bins))
    growth = _Growth(table.drawn(limit, np.random.default_rng(random_state)))
    found = [growth.tree] * len(sizes)
    interrupted = False
    try:
        for tree, nodes in growth.grow(max(sizes)):
            found = [tree if nodes <= size else old for size, old in zip(sizes, found, strict=True)]
            progress(nodes / max(sizes))
    except KeyboardInterrupt:
        interrupted = True  # every tree on the way is whole
    return tuple(Grown.of(tree, table, interrupted) for tree in found)


# -- a tree and its probabilities -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Grown:
    """A tree, and the probabilities of every variable's bins in each of its contexts."""

    tree: Tree
    bins: tuple[Bins, ...]
    probabilities: tuple[Numbers, ...]  # per variable, context x bin
    interrupted: bool = False  # by Ctrl-C, before it was done

    @classmethod
    def of(cls, tree: Tree, table: Binned, interrupted: bool = False) -> Grown:
        """The tree with probabilities learned from the rows of a table."""
        counts = counted(tree, table)
        least = SHARED * _criterion(table)
        found = (_probabilities(own, shrinkage, least) for own, shrinkage in zip(counts, table.shrinkage, strict=True))
        return cls(tree, table.bins, tuple(found), interrupted)

    @cached_property
    def circuit_nodes(self) -> tuple[Node, ...]:
        """The nodes of the circuit."""
        builder = Builder()
        made: list[list[int]] = [[] for _ in self.bins]
        for variable in reversed(self.tree.order):
            below = self.tree.below(variable)
            parts = below if self.tree.grouped(variable)[0] else np.broadcast_to(np.arange(below.shape[1]), below.shape)
            made[variable] = [self._context(builder, variable, context, own, made) for context, own in enumerate(parts)]
        return reachable(builder.made, made[self.tree.order[0]][0])

    @property
    def nodes(self) -> int:
        """How many nodes the circuit has."""
        return len(self.circuit_nodes)

    def _context(self, builder: Builder, variable: int, context: int, part: Places, made: list[list[int]]) -> int:
        """The node of one context: a leaf, its product with what is below, or a sum of such products, one per part."""
        shares = self.probabilities[variable][context]
        routes = [made[child] for child in self.tree.children[variable]]
        places = [self.tree.route[child][context] for child in self.tree.children[variable]]
        below = [tuple(own[place[value]] for own, place in zip(routes, places, strict=True)) for value in range(len(shares))]
        if len(set(below)) == 1:
            part = np.zeros(len(shares), dtype=np.intp)
        children, weights = [], []
        for number in np.unique(part):
            own = np.where(part == number, shares, 0.0)
            leaf = builder.add(self.bins[variable].leaf(variable, own))
            children.append(builder.product([leaf, *below[int(np.argmax(part == number))]]))
            weights.append(float(own.sum()))
        return builder.sum(children, weights)


def log_densities(grown: Grown, table: Binned, threads: int = 1) -> Numbers:
    """The log-likelihood of each row of a table with the same bins, its density per unit of raw features."""
    circuit = Circuit(tuple(own.feature for own in grown.bins), grown.circuit_nodes)
    rows = np.column_stack([_examples(own)[places] for own, places in zip(grown.bins, table.places.T, strict=True)])
    return log_likelihood(circuit, rows, n_jobs=threads)


def _examples(bins: Bins) -> Numbers:
    """A value in each bin, and last the unknown."""
    return np.array([*(code_number(k) for k in range(bins.codes)), *bins.breaks[:-1], np.nan])


def _criterion(table: Binned) -> float:
    """What the information criterion asks of a probability, in nats."""
    return 0.5 * float(np.log(max(2.0, table.weights.sum())))


def _probabilities(counts: Numbers, shrinkage: Shrinkage, least: float) -> Numbers:
    """Smoothed probabilities of contexts (context x bin), equal where merging loses less than `least` per probability."""
    shrinkage = shrinkage.fitted(counts)
    pairs, lost = merges(counts, shrinkage)
    enough = np.maximum.accumulate(lost) >= least * (counts.shape[1] - 1)
    group = after(pairs[: int(np.argmax(enough)) if enough.any() else len(pairs)], len(counts))
    together = pooled(counts, group)
    return shrinkage.fitted(together).probabilities(together)[group]


# -- rows and their contexts ------------------------------------------------------------------------------------------


def counted(tree: Tree, table: Binned) -> list[Numbers]:
    """Per variable, the rows in each context and bin (context x bin)."""
    found = [np.zeros((tree.contexts[j], len(own))) for j, own in enumerate(table.bins)]
    for start in range(0, len(table), AT_A_TIME):
        rows = slice(start, start + AT_A_TIME)
        part = replace(table, places=table.places[rows], weights=table.weights[rows])
        contexts: dict[int, Places] = {}
        for variable in tree.order:
            contexts[variable] = context_of(tree, variable, part, contexts)
            width = len(table.bins[variable]) + 1
            places = (contexts[variable] + 1) * width + part.places[:, variable]
            sums = np.bincount(places, weights=part.weights, minlength=(tree.contexts[variable] + 1) * width)
            found[variable] += sums.reshape(-1, width)[1:, :-1]
    return found


def context_of(tree: Tree, variable: int, table: Binned, contexts: dict[int, Places]) -> Places:
    """The context of a variable in each row, given its parent's; -1 where it is not known."""
    above = tree.parent[variable]
    if above < 0:
        return np.zeros(len(table), dtype=np.intp)
    return _with_unknown(tree.route[variable])[contexts[above], table.places[:, above]]


def _with_unknown(route: Places) -> Places:
    """A route with a last row and column for a context and a value not known: where they lead, if all lead to the same."""

    def common(places: Places, axis: int) -> Places:
        first = places.min(axis=axis, keepdims=True)
        return np.where(first == places.max(axis=axis, keepdims=True), first, -1)

    wide = np.concatenate([route, common(route, 1)], axis=1)
    last = np.concatenate([common(route, 0), common(route.reshape(1, -1), 1)], axis=1)
    return np.concatenate([wide, last])


# -- growing ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Tests:
    """Questions about single variables, and the rows that say yes."""

    variable: Places  # the one each test is about
    yes: tuple[Flags, ...]  # per test, which bins say yes
    said: Floats  # row x test: 1 for yes
    known: Floats | None  # row x variable: 1 where the value is known; None if all are

    @classmethod
    def of(cls, table: Binned) -> _Tests:
        asked = [(j, bins) for j, own in enumerate(table.bins) for bins in _questions(own)]
        known = table.places < np.array([len(own) for own in table.bins])
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


class _Growth:
    """A tree, and for each context and test what it would gain and cost to know the answer."""

    def __init__(self, table: Binned) -> None:
        self.table, self.tests = table, _Tests.of(table)
        self.asked = _criterion(table)
        self.tree = Tree.forgetful([len(own) for own in table.bins], chow_liu(table))
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

    def _step(self, most: int) -> tuple[Tree, dict[int, Places], dict[int, int]] | None:
        """The next tree, what changed, and the nodes of variables; none if nothing is worth it or fits.

        What is not among as many of the best answers as there are variables is worth too little to be looked for.
        """
        room = most - sum(self.nodes)
        beyond = 0
        while len(self.tests.variable) and self.best.max() > 0 and beyond <= len(self.nodes):
            variable = int(self.best.argmax())
            context, test = divmod(int(self.place[variable]), len(self.tests.variable))
            other = int(self.tests.variable[test])
            tree, origin = self.tree.remembering(variable, context, other, self.tests.yes[test])
            # What it costs is known only now, first at least: a node per new context.
            least = sum(len(old) - self.tree.contexts[j] for j, old in origin.items())
            beyond += least > room
            if self._leads(variable, context, other, least, room):
                touched = {*origin, *(self.tree.parent[j] for j in origin), *(tree.parent[j] for j in origin)} - {-1}
                nodes = {j: tree.grouped(j)[1] for j in touched}
                if self._leads(variable, context, other, sum(nodes[j] - self.nodes[j] for j in touched), room):
                    return tree, origin, nodes
        return None

    def _leads(self, variable: int, context: int, other: int, more: int, room: int) -> bool:
        """Whether an answer is still the best to know, if it costs so many nodes, and about as many others of that variable."""
        self.cost[variable][context, self.tests.variable == other] = max(1, more) if more <= room else np.inf
        last = self.place[variable]
        self._choose([variable])
        return bool(self.place[variable] == last and 0 < self.best[variable] == self.best.max())

    def _take(self, tree: Tree, origin: dict[int, Places], nodes: dict[int, int]) -> None:
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
                split = np.bincount(origin[j])[origin[j]] > 1
                self._renew(j, origin[j], split)
            elif j in changed:  # what was learned made the context of some rows unknown
                self._renew(j, np.arange(tree.contexts[j]), np.ones(tree.contexts[j], dtype=np.bool_))
        self._choose(range(len(self.nodes)) if moved else sorted({*origin, *changed}))

    def _renew(self, variable: int, origin: Places, new: Flags) -> None:
        """Take gains and costs over from the old contexts, and compute those of the new ones."""
        gain, cost = self.gain[variable][origin], self.cost[variable][origin]
        for context in np.flatnonzero(new):
            gain[context], cost[context] = self._gains(variable, int(context)), self.least_cost[variable]
        self.gain[variable], self.cost[variable] = gain, cost

    def _gains(self, variable: int, context: int) -> Numbers:
        """What the answer to each test would gain in one context, in nats, less what is asked of it."""
        places, size = self.table.places[:, variable], len(self.table.bins[variable])
        rows = np.flatnonzero((self.contexts[variable] == context) & (places < size))
        own = np.zeros((size, len(rows)), dtype=self.tests.said.dtype)
        own[places[rows], np.arange(len(rows))] = self.table.weights[rows]
        yes = (own @ self.tests.said[rows]).astype(np.float64)
        if self.tests.known is None:
            both = own.sum(axis=1, dtype=np.float64)[:, None]
        else:
            both = (own @ self.tests.known[rows]).astype(np.float64)[:, self.tests.variable]
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
