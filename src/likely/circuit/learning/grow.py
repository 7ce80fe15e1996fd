"""Circuits over discrete tables: a Chow-Liu tree whose variables learn what is worth remembering.

At first every variable is independent (`likely.circuit.learning.tree`). Then, again and again, one context of one
variable learns the answer to a test - is the value of another variable this one? Does it lie beyond? - so that the
likelihood gained per node added is the greatest (`likely.circuit.learning.growth`), until the nodes are used up or
nothing more is worth it. An answer is worth it if

    gain in log-likelihood  >  (values - 1) / 2 log(rows) + log(tests)

(the Bayesian information criterion of the new probabilities, Schwarz 1978, and a word for which of the tests it is). A
test may be about any variable that does not depend on this one: where need be, a branch of the tree is hung elsewhere. In
the end, contexts of a variable whose probabilities differ by less than they should share them, and all are shrunk towards
the whole table's (`likely.circuit.learning.smoothing`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from likely.circuit.learning.binned import Binned
from likely.circuit.learning.bins import Bins, Indices
from likely.circuit.learning.contexts import counted
from likely.circuit.learning.growth import Growth, bic_penalty
from likely.circuit.learning.merging import after, merges, pooled
from likely.circuit.learning.smoothing import Shrinkage
from likely.circuit.learning.tree import Tree
from likely.circuit.model.builder import Builder
from likely.circuit.model.circuit import Circuit
from likely.circuit.model.nodes import Node
from likely.schema.values import Numbers, code_number

#: Only tables of variables with at most as many bins, and as many in all.
MOST_BINS, MOST_BINS_IN_ALL = 32, 2_048
#: A tree is grown on at most as many rows, and rows times bins, drawn at random; probabilities are learned from all.
MOST_ROWS, MOST_CELLS = 50_000, 2**25
#: Probabilities are shared if they differ by less than this share of what the information criterion asks.
SHARED = 0.5


def suits(bins: Sequence[Bins]) -> bool:
    """Whether the variables are discrete enough: few bins each, and not too many in all."""
    sizes = [len(variable_bins) for variable_bins in bins]
    return max(sizes) <= MOST_BINS and sum(sizes) <= MOST_BINS_IN_ALL


def fit(
    table: Binned, sizes: Sequence[int], random_state: int, *, progress: Callable[[float], None] = lambda _: None
) -> tuple[Grown, ...]:
    """Circuits of at most so many nodes (but at least a leaf per variable), all on the way to the largest.

    The same for the same seed. Ctrl-C ends it with what it has.
    """
    limit = min(MOST_ROWS, MOST_CELLS // sum(table.sizes))
    growth = Growth(table.drawn(limit, np.random.default_rng(random_state)))
    trees = [growth.tree] * len(sizes)
    interrupted = False
    try:
        for tree, nodes in growth.grow(max(sizes)):
            trees = [tree if nodes <= size else old for size, old in zip(sizes, trees, strict=True)]
            progress(nodes / max(sizes))
    except KeyboardInterrupt:
        interrupted = True  # every tree on the way is whole
    return tuple(Grown.of(tree, table, interrupted) for tree in trees)


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
        least = SHARED * bic_penalty(table)
        pairs = zip(counts, table.shrinkage, strict=True)
        probabilities = tuple(_probabilities(of_contexts, shrinkage, least) for of_contexts, shrinkage in pairs)
        return cls(tree, table.bins, probabilities, interrupted)

    @cached_property
    def circuit_nodes(self) -> tuple[Node, ...]:
        """The nodes of the circuit."""
        builder = Builder()
        made: list[list[int]] = [[] for _ in self.bins]
        for variable in reversed(self.tree.order):
            below = self.tree.below(variable)
            parts = below if self.tree.grouped(variable)[0] else np.broadcast_to(np.arange(below.shape[1]), below.shape)
            made[variable] = [self._context(builder, variable, context, groups, made) for context, groups in enumerate(parts)]
        return builder.below(made[self.tree.order[0]][0])

    @property
    def nodes(self) -> int:
        """How many nodes the circuit has."""
        return len(self.circuit_nodes)

    def _context(self, builder: Builder, variable: int, context: int, part: Indices, made: list[list[int]]) -> int:
        """The node of one context: a leaf, its product with what is below, or a sum of such products, one per part."""
        probabilities = self.probabilities[variable][context]
        routes = [(made[child], self.tree.route[child][context]) for child in self.tree.children[variable]]
        below = [tuple(nodes[route[value]] for nodes, route in routes) for value in range(len(probabilities))]
        if len(set(below)) == 1:
            part = np.zeros(len(probabilities), dtype=np.intp)
        children, weights = [], []
        for number in np.unique(part):
            inside = np.where(part == number, probabilities, 0.0)
            leaf = builder.add(self.bins[variable].leaf(variable, inside))
            children.append(builder.product([leaf, *below[int(np.argmax(part == number))]]))
            weights.append(float(inside.sum()))
        return builder.sum(children, weights)


def log_densities(grown: Grown, table: Binned, threads: int = 1) -> Numbers:
    """The log-likelihood of each row of a table with the same bins, its density per unit of raw features."""
    circuit = Circuit(tuple(variable_bins.feature for variable_bins in grown.bins), grown.circuit_nodes)
    rows = np.column_stack(
        [_examples(variable_bins)[places] for variable_bins, places in zip(grown.bins, table.places.T, strict=True)]
    )
    return circuit.log_likelihood(rows, n_jobs=threads)


def _examples(bins: Bins) -> Numbers:
    """A value in each bin, and last the unknown."""
    return np.array([*(code_number(k) for k in range(bins.codes)), *bins.breaks[:-1], np.nan])


def _probabilities(counts: Numbers, shrinkage: Shrinkage, least: float) -> Numbers:
    """Smoothed probabilities of contexts (context x bin), equal where merging loses less than `least` per probability."""
    shrinkage = shrinkage.fitted(counts)
    pairs, lost = merges(counts, shrinkage)
    enough = np.maximum.accumulate(lost) >= least * (counts.shape[1] - 1)
    group = after(pairs[: int(np.argmax(enough)) if enough.any() else len(pairs)], len(counts))
    together = pooled(counts, group)
    return shrinkage.fitted(together).probabilities(together)[group]
