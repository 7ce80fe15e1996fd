"""Which leaves of a variable to share: agglomerative merging, always of the two that lose the least log-likelihood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.circuit.learning.bins import Indices
from likely.circuit.learning.smoothing import Shrinkage
from likely.schema.values import Numbers

#: Which leaves to merge is judged by at most as many branches of a variable's bins.
MOST_BRANCHES = 64


def pooled(counts: Numbers, leaf: Indices) -> Numbers:
    """The counts of every leaf: the sum over the components that use it."""
    number = int(leaf.max()) + 1
    if number == len(leaf) and (leaf == np.arange(number)).all():
        return counts
    return np.asarray((np.arange(number)[:, None] == leaf).astype(np.float64) @ counts)


def after(pairs: Indices, components: int) -> Indices:
    """The leaf of each component after merges (kept, dropped)."""
    leaf = np.arange(components)
    for kept, dropped in pairs:
        leaf[leaf == dropped] = kept
    return np.unique(leaf, return_inverse=True)[1]


def merges(counts: Numbers, shrinkage: Shrinkage) -> tuple[Indices, Numbers]:
    """All merges of a variable's leaves down to one: pairs (kept, dropped), and the log-likelihood each loses.

    Agglomerative clustering with a cache of nearest neighbours: `nearest` and `least` hold, for each leaf, the one that
    it would lose the least with. A merge makes only those stale that had one of the two merged as their nearest. The
    last leaf moves to the place of the dropped one, so that the leaves left are always the first ones.
    """
    leaves = _Leaves.of(counts, shrinkage)
    count = len(counts)
    name, gain = np.arange(count), leaves.gain()
    loss = np.full((count, count), np.inf)
    for i in range(1, count):
        loss[i, :i] = loss[:i, i] = gain[i] + gain[:i] - leaves.gain(i, i)
    pairs, lost = np.zeros((max(0, count - 1), 2), dtype=np.intp), np.zeros(max(0, count - 1))
    nearest = loss.argmin(axis=1) if count else name
    least = loss.min(axis=1, initial=np.inf)
    for step, last in enumerate(range(count - 1, 0, -1)):
        kept = int(least[: last + 1].argmin())
        dropped = int(nearest[kept])
        pairs[step], lost[step] = name[[kept, dropped]], loss[kept, dropped]
        gain[kept] += gain[dropped] - lost[step]
        leaves.merge(kept, dropped, last)
        loss[dropped], loss[:, dropped] = loss[last], loss[:, last]
        stale = (nearest == kept) | (nearest == dropped)
        nearest[nearest == last] = dropped
        for part in (name, gain, nearest, least, stale):
            part[dropped] = part[last]
        loss[kept, :last] = loss[:last, kept] = gain[kept] + gain[:last] - leaves.gain(kept, last)
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
