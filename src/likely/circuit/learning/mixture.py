"""Mixtures of independent variables that share their leaves: small circuits, and likely ones.

The circuit has three layers: a sum, products, and per variable a pool of leaves, each used by many products. Sharing
pays twice: a component costs one node instead of one per variable, so that a few hundred of them fit into a small
circuit; and a leaf learns from the rows of all components that use it.

    1. Start from rows drawn at random, a component each, and run expectation-maximisation, leaves being shrunk towards
       the marginals (`likely.circuit.learning.smoothing`).
    2. Merge leaves of a variable, two at a time, always where the rows lose the least likelihood, over all variables
       together, until the circuit has the wanted number of nodes.
    3. Go on with expectation-maximisation of the circuit with shared leaves.

The components are two mixtures of half the size, learned side by side from different starting rows and averaged: what
one of them takes for structure by chance, the other does not. They share the same leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from likely._core import expect_mixture
from likely.circuit.learning.bins import Bins
from likely.circuit.learning.smoothing import Shrinkage
from likely.circuit.model.nodes import Node, Product
from likely.circuit.queries.transform import mixed, reachable
from likely.errors import CircuitError
from likely.schema.values import Numbers

Places = NDArray[np.intp]

#: Mixtures that are averaged.
BLOCKS = 2
#: Rounds before and after leaves are merged, and how often the strengths of smoothing are chosen anew.
ROUNDS, REFIT_EVERY = 15, 5
#: Leaves that are not shared yet are held back by this factor on the strengths.
HELD_BACK = 2.0
#: The rounds before leaves are merged run on at most as many rows, and cells of them, drawn at random.
FIRST_ROWS, FIRST_CELLS = 100_000, 5_000_000
#: The most components for each leaf that a variable has: of more, too many would have to share one.
PER_LEAF = 16
#: The most components at all: the time to merge their leaves grows with the third power.
MOST_COMPONENTS = 1_500
#: Pseudo-rows of every component.
LEAST_ROWS = 0.1
#: Which leaves to merge is judged by at most as many branches of a variable's bins.
MOST_BRANCHES = 64
#: How much likelier a component can make a bin than it is in the whole table: six such factors fit in single precision.
MOST_RATIO = 1e6
#: As many bins, and one for the unknown, are counted in 16 bits.
MOST_BINS = 2**16 - 1


@dataclass(frozen=True)
class Binned:
    """Rows by their bins, and what they say about each variable alone."""

    bins: tuple[Bins, ...]
    places: NDArray[np.uint16]  # the bin, row x variable; one past the last where unknown
    weights: Numbers
    shrinkage: tuple[Shrinkage, ...]

    @classmethod
    def of(cls, rows: Numbers, weights: Numbers, bins: Sequence[Bins]) -> Binned:
        """Encoded rows, binned."""
        places = np.empty(rows.shape, dtype=np.uint16)
        for j, own in enumerate(bins):
            if len(own) > MOST_BINS:
                name, hint = own.feature.name, "drop it if it is an identifier, or join rare values"
                raise CircuitError(
                    f"Feature {name!r}", f"have at most {MOST_BINS} values to learn from", len(own), hint, feature=name
                )
            found = own.index(rows[:, j])
            places[:, j] = np.where(found < 0, len(own), found)
        return cls(tuple(bins), places, weights, ()).alone()

    def alone(self) -> Binned:
        """With what these rows say, and no others that they were taken from."""
        shrinkage = []
        for own, places in zip(self.bins, self.places.T, strict=True):
            counts = np.bincount(places, weights=self.weights, minlength=len(own) + 1)[:-1]
            shrinkage.append(Shrinkage.of(own, np.asarray(counts, dtype=np.float64)))
        return replace(self, shrinkage=tuple(shrinkage))

    def __len__(self) -> int:
        return len(self.places)

    @property
    def offset(self) -> NDArray[np.int64]:
        """Where the bins of each variable begin, each followed by one for the unknown; and in the end their number."""
        return np.cumsum([0, *(len(own) + 1 for own in self.bins)]).astype(np.int64)

    def some(self, which: Places) -> Binned:
        """Some of the rows, still with what all of them say."""
        return replace(self, places=np.ascontiguousarray(self.places[which]), weights=self.weights[which])

    def drawn(self, count: int, rng: np.random.Generator) -> Binned:
        """At most `count` rows, drawn at random."""
        return self if len(self) <= count else self.some(np.sort(rng.choice(len(self), count, replace=False)))


@dataclass(frozen=True)
class Mixture:
    """Components, which leaf of each variable a component uses, and the expected rows of every component and bin."""

    weights: Numbers  # those of each block sum to 1
    leaf: tuple[Places, ...]  # per variable, the leaf of each component
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


def pooled(counts: Numbers, leaf: Places) -> Numbers:
    """The counts of every leaf: the sum over the components that use it."""
    number = int(leaf.max()) + 1
    if number == len(leaf) and (leaf == np.arange(number)).all():
        return counts
    return np.asarray((np.arange(number)[:, None] == leaf).astype(np.float64) @ counts)


def fit(
    table: Binned, nodes: int, random_state: int, *, threads: int = 1, progress: Callable[[float], None] = lambda _: None
) -> Mixture:
    """A mixture whose circuit has at most `nodes` nodes (but at least a leaf per variable); the same for the same seed.

    Ctrl-C ends it with what it has.
    """
    rng = np.random.default_rng(random_state)
    part = table.drawn(min(FIRST_ROWS, FIRST_CELLS // len(table.bins)), rng)
    found = _start(part, nodes, rng)
    if found.components == 1:
        return _round(found, table, 1.0, threads).refitted()
    try:
        for done in range(ROUNDS):
            held_back = done >= ROUNDS // 2
            if held_back and done % REFIT_EVERY == 0:
                found = found.refitted()
            found = _round(found, part, HELD_BACK if held_back else 1.0, threads)
            progress((done + 1) / (2 * ROUNDS + 2))
        found = shared(found.refitted(), nodes)
        for done in range(ROUNDS):
            if done % REFIT_EVERY == 0:
                found = found.refitted()
            found = _round(found, table, 1.0, threads)
            progress((ROUNDS + done + 3) / (2 * ROUNDS + 2))
    except KeyboardInterrupt:
        return replace(found if found.nodes <= nodes else shared(found, nodes), interrupted=True)
    return found


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
    own_leaves = tuple(np.arange(count) for _ in table.bins)
    return Mixture(np.full(count, blocks / count), own_leaves, tuple(counts), table.shrinkage, blocks)


def _components(nodes: int, variables: int) -> int:
    """How many components a circuit is to have: half of the nodes, the others being leaves; of a wide table, fewer."""
    half = (nodes - 1 - 2 * variables) // 2
    return max(0, min(MOST_COMPONENTS, half, (nodes - 1) * PER_LEAF // (PER_LEAF + variables)))


def _expected(mixture: Mixture, table: Binned, factor: float, threads: int) -> tuple[Numbers, Numbers, Numbers]:
    """log density of each row over that of the marginals; expected rows of each bin and component; of each component."""
    offset = table.offset
    ratio = np.ones((int(offset[-1]), mixture.components), dtype=np.float32)
    for j, probabilities in enumerate(mixture.tables(factor)):
        own = np.minimum(probabilities / mixture.shrinkage[j].marginal, MOST_RATIO).astype(np.float32)
        ratio[offset[j] : offset[j + 1] - 1] = own.T[:, mixture.leaf[j]]
    weights = mixture.weights.astype(np.float32)
    return expect_mixture(table.places, table.weights, offset, ratio, weights, mixture.blocks, threads)


def _round(mixture: Mixture, table: Binned, factor: float, threads: int) -> Mixture:
    """One round of expectation-maximisation."""
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
    found, _, _ = _expected(mixture, table, 1.0, threads)
    for j, (own, shrinkage) in enumerate(zip(table.bins, mixture.shrinkage, strict=True)):
        found += np.append(np.log(shrinkage.marginal) - np.log(own.room), 0.0)[table.places[:, j]]
    return found


# -- sharing leaves ---------------------------------------------------------------------------------------------------


def shared(mixture: Mixture, nodes: int) -> Mixture:
    """The mixture with leaves merged until its circuit has at most `nodes` nodes."""
    paths = [merges(counts, own) for counts, own in zip(mixture.counts, mixture.shrinkage, strict=True)]
    # A merge needs those before it on its path: what counts is the greatest loss so far.
    losses = [np.maximum.accumulate(loss) if len(loss) else loss for _, loss in paths]
    variable = np.repeat(np.arange(len(paths)), [len(loss) for loss in losses])
    order = np.argsort(np.concatenate(losses), kind="stable")[: max(0, mixture.nodes - nodes)]
    taken = np.bincount(variable[order], minlength=len(paths))
    leaf = tuple(after(pairs[:count], mixture.components) for (pairs, _), count in zip(paths, taken, strict=True))
    return replace(mixture, leaf=leaf)


def after(pairs: Places, components: int) -> Places:
    """The leaf of each component after merges (kept, dropped)."""
    found = np.arange(components)
    for kept, dropped in pairs:
        found[found == dropped] = kept
    return np.unique(found, return_inverse=True)[1]


def merges(counts: Numbers, shrinkage: Shrinkage) -> tuple[Places, Numbers]:
    """All merges of a variable's leaves down to one: pairs (kept, dropped), and the log-likelihood each loses."""
    leaves = _Leaves.of(counts, shrinkage)
    count = len(counts)
    name, own = np.arange(count), leaves.gain()
    loss = np.full((count, count), np.inf)
    for i in range(1, count):
        loss[i, :i] = loss[:i, i] = own[i] + own[:i] - leaves.gain(i, i)
    pairs, lost = np.zeros((max(0, count - 1), 2), dtype=np.intp), np.zeros(max(0, count - 1))
    nearest = loss.argmin(axis=1) if count else name
    least = loss.min(axis=1, initial=np.inf)
    for step, last in enumerate(range(count - 1, 0, -1)):
        kept = int(least[: last + 1].argmin())
        dropped = int(nearest[kept])
        pairs[step], lost[step] = name[[kept, dropped]], loss[kept, dropped]
        own[kept] += own[dropped] - lost[step]
        leaves.merge(kept, dropped, last)
        loss[dropped], loss[:, dropped] = loss[last], loss[:, last]
        stale = (nearest == kept) | (nearest == dropped)
        nearest[nearest == last] = dropped
        for part in (name, own, nearest, least, stale):
            part[dropped] = part[last]
        loss[kept, :last] = loss[:last, kept] = own[kept] + own[:last] - leaves.gain(kept, last)
        loss[kept, kept] = loss[dropped, dropped] = np.inf
        stale[kept] = True
        closer = np.flatnonzero((loss[kept, :last] < least[:last]) & ~stale[:last])
        nearest[closer], least[closer] = kept, loss[kept, closer]
        again = np.flatnonzero(stale[:last])
        nearest[again], least[again] = loss[again, :last].argmin(axis=1), loss[again, :last].min(axis=1)
    return pairs, lost


@dataclass(frozen=True)
class _Leaves:
    """The leaves of a variable while they are merged, in single precision: its logarithms are several times faster.

    A leaf's log-likelihood is counted from what the marginal would give its rows, as a difference of two would be lost
    among the digits of their size. It is the sum over branchings, of each child's rows, of

        rows log((rows / share + strength) / (rows of the parent + strength))
    """

    rows: NDArray[np.float32]  # of every child (leaf x child)
    scaled: NDArray[np.float32]  # over the child's share of its parent in the marginal
    above: NDArray[np.float32]  # of its parent
    strength: NDArray[np.float32]

    @classmethod
    def of(cls, counts: Numbers, shrinkage: Shrinkage) -> _Leaves:
        """Leaves with these counts; of very many branches, those that tell the leaves apart the most."""
        nodes = shrinkage.totals(counts)
        rows, above = nodes[:, 1:], nodes[:, shrinkage.parent]
        parts = (rows, rows / shrinkage.share, above, shrinkage.strength)
        whole = cls(*(np.ascontiguousarray(part, dtype=np.float32) for part in parts))
        if rows.shape[1] <= MOST_BRANCHES:
            return whole
        gains = np.abs(whole.rows * whole.lift(whole.scaled, whole.above)).sum(axis=0)
        kept = np.sort(np.argsort(-gains, kind="stable")[:MOST_BRANCHES])
        return cls(*(np.ascontiguousarray(part[..., kept]) for part in (whole.rows, whole.scaled, whole.above, whole.strength)))

    def lift(self, scaled: NDArray[np.float32], above: NDArray[np.float32]) -> NDArray[np.float32]:
        """log of how much likelier each child is than in the marginal."""
        return np.asarray(np.log((scaled + self.strength) / (above + self.strength)))

    def gain(self, leaf: int | None = None, count: int | None = None) -> Numbers:
        """The log-likelihood of every leaf; or of the union of one leaf with each of the first so many."""
        rows, scaled, above = self.rows, self.scaled, self.above
        if leaf is not None:
            rows, scaled, above = (part[:count] + part[leaf] for part in (rows, scaled, above))
        return np.asarray((rows * self.lift(scaled, above)).sum(axis=-1, dtype=np.float64))

    def merge(self, kept: int, dropped: int, last: int) -> None:
        """Give one leaf the rows of another, whose place the last one takes."""
        for part in (self.rows, self.scaled, self.above):
            part[kept] += part[dropped]
            part[dropped] = part[last]


# -- the circuit ------------------------------------------------------------------------------------------------------


def circuit_nodes(mixture: Mixture, bins: Sequence[Bins]) -> tuple[Node, ...]:
    """The nodes of the circuit, equal leaves and equal products made one."""
    made: list[Node] = []
    place: dict[Node, int] = {}

    def add(node: Node) -> int:
        if node not in place:
            place[node] = len(made)
            made.append(node)
        return place[node]

    leaves = [
        np.array([add(own.leaf(j, row)) for row in table])
        for j, (own, table) in enumerate(zip(bins, mixture.tables(), strict=True))
    ]
    used = np.stack([own[leaf] for own, leaf in zip(leaves, mixture.leaf, strict=True)], axis=1)
    products = [int(row[0]) if len(row) == 1 else add(Product(tuple(row.tolist()))) for row in used]
    root = mixed(products, mixture.weights)
    return reachable(made, root if isinstance(root, int) else add(root))
