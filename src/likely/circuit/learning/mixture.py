"""Mixtures of products of independent variables that share their leaves: small circuits, and likely ones.

The circuit has three layers: a sum, products, and per variable a pool of leaves, each used by many products. Sharing
pays twice: a component costs one node instead of one per variable, so that a few hundred of them fit into a small
circuit; and a leaf learns from the rows of all components that use it.

    1. Start from rows drawn at random, a component each, and run expectation-maximisation (EM; Dempster, Laird and Rubin
       1977), leaves being shrunk towards the marginals (`likely.circuit.learning.smoothing`).
    2. Merge leaves of a variable, two at a time, always where the rows lose the least likelihood, over all variables
       together (`likely.circuit.learning.merging`), until the circuit has the wanted number of nodes.
    3. Go on with EM of the circuit with shared leaves.

The components are two mixtures of half the size, learned side by side from different starting rows and averaged: what
one of them takes for structure by chance, the other does not. They share the same leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from likely._core import expect_mixture
from likely.circuit.learning.binned import Binned
from likely.circuit.learning.bins import Bins, Indices
from likely.circuit.learning.merging import after, merges, pooled
from likely.circuit.learning.smoothing import Shrinkage
from likely.circuit.model.builder import Builder
from likely.circuit.model.nodes import Node, Product
from likely.schema.values import Numbers

#: Mixtures that are averaged.
BLOCKS = 2
#: Rounds before and after leaves are merged, and how often the strengths of smoothing are chosen anew.
ROUNDS, REFIT_EVERY = 15, 5
#: Leaves that are not shared yet are held back by this factor on the strengths.
HELD_BACK = 2.0
#: The rounds before leaves are merged run on at most as many rows, and cells of them, drawn at random.
FIRST_ROWS, FIRST_CELLS = 100_000, 5_000_000
#: With more rows, the rounds after it run on so many of them, but for the last ones: all rows have a say in every number.
MANY_ROWS, WITH_ALL = 200_000, 3
#: The most components for each leaf that a variable has: of more, too many would have to share one.
PER_LEAF = 16
#: The most components at all: the time to merge their leaves grows with the third power.
MOST_COMPONENTS = 1_500
#: Pseudo-rows of every component.
LEAST_ROWS = 0.1
#: How much likelier a component can make a bin than it is in the whole table: six such factors fit in single precision.
MOST_RATIO = 1e6


@dataclass(frozen=True)
class Mixture:
    """Components, which leaf of each variable a component uses, and the expected rows of every component and bin."""

    weights: Numbers  # those of each block sum to 1
    leaf: tuple[Indices, ...]  # per variable, the leaf of each component
    counts: tuple[Numbers, ...]  # per variable, component x bin
    shrinkage: tuple[Shrinkage, ...]
    blocks: int = BLOCKS
    interrupted: bool = False  # by Ctrl-C, before the last round

    @property
    def components(self) -> int:
        return len(self.weights)

    @property
    def nodes(self) -> int:
        """The nodes of the circuit."""
        return 1 + self.components + sum(int(leaf.max()) + 1 for leaf in self.leaf)

    def tables(self, factor: float = 1.0) -> list[Numbers]:
        """Per variable the leaves' probabilities of bins (leaf x bin)."""
        return [
            shrinkage.probabilities(pooled(counts, leaf), factor)
            for shrinkage, counts, leaf in zip(self.shrinkage, self.counts, self.leaf, strict=True)
        ]

    def refitted(self) -> Mixture:
        """With the strengths of smoothing that suit the leaves as they are now."""
        fitted = [
            shrinkage.fitted(pooled(counts, leaf))
            for shrinkage, counts, leaf in zip(self.shrinkage, self.counts, self.leaf, strict=True)
        ]
        return replace(self, shrinkage=tuple(fitted))


def fit(
    table: Binned, nodes: int, random_state: int, *, threads: int = 1, progress: Callable[[float], None] = lambda _: None
) -> Mixture:
    """A mixture whose circuit has at most `nodes` nodes (but at least a leaf per variable); the same for the same seed.

    Ctrl-C ends it with what it has.
    """
    rng = np.random.default_rng(random_state)
    part = table.drawn(min(FIRST_ROWS, FIRST_CELLS // len(table.bins)), rng)
    mixture = _start(part, nodes, rng)
    if mixture.components == 1:
        return _em_round(mixture, table, 1.0, threads).refitted()
    try:
        for done in range(ROUNDS):
            held_back = done >= ROUNDS // 2
            if held_back and done % REFIT_EVERY == 0:
                mixture = mixture.refitted()
            mixture = _em_round(mixture, part, HELD_BACK if held_back else 1.0, threads)
            progress((done + 1) / (2 * ROUNDS + 2))
        mixture = shared(mixture.refitted(), nodes)
        many = table.drawn(MANY_ROWS, rng)
        for done in range(ROUNDS):
            if done % REFIT_EVERY == 0:
                mixture = mixture.refitted()
            mixture = _em_round(mixture, many if done < ROUNDS - WITH_ALL else table, 1.0, threads)
            progress((ROUNDS + done + 3) / (2 * ROUNDS + 2))
    except KeyboardInterrupt:
        return replace(mixture if mixture.nodes <= nodes else shared(mixture, nodes), interrupted=True)
    return mixture


def _start(table: Binned, nodes: int, rng: np.random.Generator) -> Mixture:
    """A component for each of some rows drawn at random."""
    size = min(_components(nodes, len(table.bins)), len(table)) // BLOCKS
    count = size * BLOCKS if size > 1 else 1
    drawn = table.places[rng.choice(len(table), count, replace=False)] if count > 1 else table.places[:0]
    counts = []
    for j, bins in enumerate(table.bins):
        first = np.zeros((count, len(bins) + 1))
        first[np.arange(len(drawn)), drawn[:, j]] = 1
        counts.append(first[:, :-1])
    blocks = BLOCKS if count > 1 else 1
    unshared = tuple(np.arange(count) for _ in table.bins)
    return Mixture(np.full(count, blocks / count), unshared, tuple(counts), table.shrinkage, blocks)


def _components(nodes: int, variables: int) -> int:
    """How many components a circuit is to have: half of the nodes, the others being leaves; of a wide table, fewer."""
    half = (nodes - 1 - 2 * variables) // 2
    return max(0, min(MOST_COMPONENTS, half, (nodes - 1) * PER_LEAF // (PER_LEAF + variables)))


def _expected(mixture: Mixture, table: Binned, factor: float, threads: int) -> tuple[Numbers, Numbers, Numbers]:
    """log density of each row over that of the marginals; expected rows of each bin and component; of each component."""
    offset = table.offset
    ratio = np.ones((int(offset[-1]), mixture.components), dtype=np.float32)
    for j, probabilities in enumerate(mixture.tables(factor)):
        of_leaves = np.minimum(probabilities / mixture.shrinkage[j].marginal, MOST_RATIO).astype(np.float32)
        ratio[offset[j] : offset[j + 1] - 1] = of_leaves.T[:, mixture.leaf[j]]
    weights = mixture.weights.astype(np.float32)
    return expect_mixture(table.places, table.weights, offset, ratio, weights, mixture.blocks, threads)


def _em_round(mixture: Mixture, table: Binned, factor: float, threads: int) -> Mixture:
    """One round of EM: expected counts (the responsibilities summed over rows), then the weights and leaves they make."""
    _, counts, total = _expected(mixture, table, factor, threads)
    offset = table.offset
    by_block = (total + LEAST_ROWS).reshape(mixture.blocks, -1)
    return replace(
        mixture,
        weights=(by_block / by_block.sum(axis=1, keepdims=True)).ravel(),
        counts=tuple(counts[offset[j] : offset[j + 1] - 1].T for j in range(len(table.bins))),
    )


def log_densities(mixture: Mixture, table: Binned, threads: int = 1) -> Numbers:
    """The log-likelihood of each row, its density per unit of raw features."""
    logs, _, _ = _expected(mixture, table, 1.0, threads)
    for j, (variable_bins, shrinkage) in enumerate(zip(table.bins, mixture.shrinkage, strict=True)):
        logs += np.append(np.log(shrinkage.marginal) - np.log(variable_bins.measure), 0.0)[table.places[:, j]]
    return logs


# -- sharing leaves ---------------------------------------------------------------------------------------------------


def shared(mixture: Mixture, nodes: int) -> Mixture:
    """The mixture with leaves merged until its circuit has at most `nodes` nodes."""
    paths = [merges(counts, shrinkage) for counts, shrinkage in zip(mixture.counts, mixture.shrinkage, strict=True)]
    # A merge needs those before it on its path: what counts is the greatest loss so far.
    losses = [np.maximum.accumulate(loss) if len(loss) else loss for _, loss in paths]
    variable = np.repeat(np.arange(len(paths)), [len(loss) for loss in losses])
    order = np.argsort(np.concatenate(losses), kind="stable")[: max(0, mixture.nodes - nodes)]
    taken = np.bincount(variable[order], minlength=len(paths))
    leaf = tuple(after(pairs[:count], mixture.components) for (pairs, _), count in zip(paths, taken, strict=True))
    return replace(mixture, leaf=leaf)


# -- the circuit ------------------------------------------------------------------------------------------------------


def circuit_nodes(mixture: Mixture, bins: Sequence[Bins]) -> tuple[Node, ...]:
    """The nodes of the circuit, equal leaves and equal products made one."""
    builder = Builder()
    leaves = [
        np.array([builder.add(variable_bins.leaf(j, probabilities)) for probabilities in table])
        for j, (variable_bins, table) in enumerate(zip(bins, mixture.tables(), strict=True))
    ]
    used = np.stack([places[leaf] for places, leaf in zip(leaves, mixture.leaf, strict=True)], axis=1)
    products = [int(row[0]) if len(row) == 1 else builder.add(Product(tuple(row.tolist()))) for row in used]
    return builder.below(builder.mixture(products, mixture.weights))
