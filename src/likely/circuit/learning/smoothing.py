"""Probabilities of bins from few rows: shrunk towards what the whole table says, as far as the data themselves advise.

**The marginal** of a variable, from all rows: nominal bins get half a row each; ranges of numbers lend a share of their
mass to their neighbours (the share of the rows whose bin holds no other: the estimate of Good and Turing of what was not
seen, Good 1953), and one row's worth goes to the tails.

**A leaf** has the rows of one component only. Its bins are the ends of a tree (a Polya tree: Lavine 1992): ranges of an
ordered variable are halved, by mass, again and again; the bins of a nominal one hang on the root, which makes it a
Dirichlet prior. At each branching

    p(child | parent) = (n_child + a m_child / m_parent) / (n_parent + a)

with n the leaf's rows, m the marginal and a the strength of the prior at that depth; the probability of a bin is the
product along its path. So where a leaf has few rows it is shaped like the marginal, but at the scale it can tell.

**The strengths** are those under which the rows of all leaves of a variable are most probable (Dirichlet-multinomial
likelihood, empirical Bayes), never less at a greater depth. No rows need to be held out for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from likely.circuit.learning.bins import Bins
from likely.schema.values import Numbers

#: Pseudo-rows of each nominal bin, and of the numbers together, in the marginal: Jeffreys' prior.
JEFFREYS = 0.5
#: No more of the mass of ranges than this is spread over neighbours, nor put into tails, however few the rows.
MOST_SPREAD = 0.5
#: Mass is spread by a Gaussian kernel whose deviation is one in so many ranges, but one range at least.
KERNEL_RANGES = 20
#: Strengths whose log-likelihoods differ by less, in nats, are equally good; of equals, the strongest.
EQUALLY_GOOD = 1e-3
#: The strengths to choose from, in rows.
STRENGTHS = 2.0 ** np.arange(-2, 13)
#: Before they are chosen: how strong at the root, and how much stronger per level.
FIRST_STRENGTH, GROWTH = 4.0, 1.5
#: Strengths are chosen on every n-th leaf, so that fewer than twice as many are looked at.
MANY_LEAVES = 64
#: No bin has less: far from everything seen, a spread mass may vanish, and single precision must hold a share of it.
LEAST_MASS = 1e-12


def marginal(bins: Bins, counts: Numbers) -> Numbers:
    """The smoothed probabilities of a variable's bins in the whole table; none is 0."""
    if not bins.feature.numeric:
        return np.asarray((counts + JEFFREYS) / (counts + JEFFREYS).sum())
    codes, numbers = counts[: bins.codes] + JEFFREYS, counts[bins.codes :]
    total = float(numbers.sum())
    share = (total + JEFFREYS) / (total + JEFFREYS + codes.sum())
    ranges = _ranges(numbers, bins.measure[bins.codes :], bins.tails)
    return np.concatenate([codes / codes.sum() * (1 - share), ranges * share]) if bins.codes else ranges


def _ranges(counts: Numbers, width: Numbers, tails: tuple[int, int]) -> Numbers:
    """Probabilities of ranges: what was seen, partly spread over neighbours, and the tails."""
    rows = float(counts.sum())
    core = slice(tails[0], len(counts) - tails[1])
    seen, wide = counts[core], width[core]
    if rows > 0:
        alone = float(((seen > 0) & (seen <= 1)).sum())
        unseen = min(MOST_SPREAD, (alone + 1) / (rows + 1))
        mass = (1 - unseen) * seen / rows + unseen * _spread(seen / rows, wide)
    else:
        mass = wide / wide.sum()
    mass = np.maximum(mass, LEAST_MASS)
    beyond = min(MOST_SPREAD, 1 / (rows + 1)) if sum(tails) else 0.0
    low, high = (0.5 ** np.arange(count, dtype=np.float64) for count in tails)
    scale = beyond / ((low.sum() + high.sum()) or 1.0)
    return np.concatenate([low[::-1] * scale, mass / mass.sum() * (1 - beyond), high * scale])


def _spread(mass: Numbers, width: Numbers) -> Numbers:
    """The mass of every range spread over the ranges near it, in proportion to their width."""
    places = np.arange(len(mass))
    kernel = np.exp(-0.5 * (np.subtract.outer(places, places) / max(1.0, len(mass) / KERNEL_RANGES)) ** 2) * width[:, None]
    return np.asarray((kernel / kernel.sum(axis=0)) @ mass)


@dataclass(frozen=True)
class Shrinkage:
    """The tree of one variable's bins: how counts of a leaf become probabilities. Node 0 is the root."""

    marginal: Numbers
    low: NDArray[np.intp]  # of every node: its first bin
    high: NDArray[np.intp]  # and the one after its last
    parent: NDArray[np.intp]  # of every node but the root
    depth: NDArray[np.intp]  # of its parent
    share: Numbers  # of every node but the root: its marginal mass over its parent's
    strength: Numbers  # of every node but the root: pseudo-rows at its parent

    @classmethod
    def of(cls, bins: Bins, counts: Numbers) -> Shrinkage:
        """The tree of a variable with these counts in the whole table."""
        mass = marginal(bins, counts)
        low, high, up = np.array(list(_halved(mass) if bins.feature.numeric else _star(len(mass))), dtype=np.intp).T
        depths = np.zeros(len(up), dtype=np.intp)
        for node in range(1, len(up)):
            depths[node] = depths[up[node]] + 1
        parent, depth = up[1:], depths[1:] - 1
        total = ranged(mass[None, :], low, high)[0]
        strength = FIRST_STRENGTH * np.power(GROWTH if bins.feature.numeric else 1.0, depth, dtype=np.float64)
        return cls(mass, low, high, parent, depth, total[1:] / total[parent], strength)

    def totals(self, counts: Numbers) -> Numbers:
        """The counts below every node (leaf x node) from those in every bin (leaf x bin)."""
        return ranged(counts, self.low, self.high)

    def probabilities(self, counts: Numbers, factor: float = 1.0) -> Numbers:
        """Probabilities of bins (leaf x bin) from counts, with strengths times `factor`."""
        nodes = self.totals(counts).T  # node by node, so that a level of the tree is a block of rows
        strength = (self.strength * factor)[:, None]
        probability = np.ones((len(nodes), len(counts)))
        probability[1:] = (nodes[1:] + strength * self.share[:, None]) / (nodes[self.parent] + strength)
        for level in self.levels:
            probability[1:][level] *= probability[self.parent[level]]
        ends = probability[self.ends]
        return np.asarray((ends / ends.sum(axis=0)).T)

    def fitted(self, counts: Numbers) -> Shrinkage:
        """With the strengths that make the counts (leaf x bin) most probable."""
        if not len(self.parent):
            return self
        nodes = self.totals(counts[:: max(1, len(counts) // MANY_LEAVES)])
        strength = np.empty(len(self.parent))
        least = 0.0
        for level in self.levels:
            if least < STRENGTHS[-1]:
                least = max(least, self._likeliest(nodes, level))
            strength[level] = least
        return replace(self, strength=strength)

    @cached_property
    def levels(self) -> tuple[slice, ...]:
        """Which of the nodes but the root have a parent of each depth: parents come first, so they follow each other."""
        starts = np.searchsorted(self.depth, np.arange(int(self.depth.max(initial=-1)) + 2))
        return tuple(slice(int(low), int(high)) for low, high in pairwise(starts))

    @cached_property
    def ends(self) -> NDArray[np.intp]:
        """The node of each bin."""
        single = np.flatnonzero(self.high - self.low == 1)
        return single[np.argsort(self.low[single])]

    def _likeliest(self, nodes: Numbers, level: slice) -> float:
        """The strength of some siblings that makes their counts most probable, climbing from the one they have."""
        from scipy.special import gammaln

        child, share = nodes[:, 1:][:, level], self.share[level]
        above = nodes[:, np.unique(self.parent[level])]

        def score(place: int) -> float:
            a = STRENGTHS[place]
            prior = a * share
            return float(
                gammaln(child + prior).sum() - len(child) * gammaln(prior).sum() + (gammaln(a) - gammaln(above + a)).sum()
            )

        place = int(np.argmin(np.abs(np.log(STRENGTHS / self.strength[level][0]))))
        best = score(place)
        while place + 1 < len(STRENGTHS) and (higher := score(place + 1)) >= best - EQUALLY_GOOD:
            place, best = place + 1, higher
        while place > 0 and (lower := score(place - 1)) > best + EQUALLY_GOOD:
            place, best = place - 1, lower
        return float(STRENGTHS[place])


def ranged(counts: Numbers, low: NDArray[np.intp], high: NDArray[np.intp]) -> Numbers:
    """Sums over the bins low <= b < high (leaf x range)."""
    # Not as differences of running sums: those lose what is small beside a large one. Bin by bin, as all leaves are one
    # row of memory then.
    ends = np.column_stack([low, high]).ravel()
    padded = np.concatenate([counts.T, np.zeros((1, len(counts)))])
    return np.asarray(np.add.reduceat(padded, ends, axis=0)[::2].T, dtype=np.float64)


def _star(count: int) -> Iterator[tuple[int, int, int]]:
    """Nodes (first bin, last bin + 1, parent) of a tree whose bins all hang on the root."""
    yield 0, count, 0
    if count > 1:
        yield from ((place, place + 1, 0) for place in range(count))


def _halved(mass: Numbers) -> Iterator[tuple[int, int, int]]:
    """Nodes (first bin, last bin + 1, parent) of a tree that halves the mass again and again; parents first."""
    waiting, count = [(0, len(mass), 0)], 0
    total = np.concatenate([[0.0], np.cumsum(mass)])
    while waiting:
        low, high, up = waiting.pop(0)
        yield low, high, up
        if high - low > 1:
            middle = low + 1 + int(np.argmin(np.abs(total[low + 1 : high] - (total[low] + total[high]) / 2)))
            waiting += [(low, middle, count), (middle, high, count)]
        count += 1
