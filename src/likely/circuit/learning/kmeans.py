"""K-means of rows that are given by bins, without ever writing the rows out as coordinates.

An ordered column is one coordinate: the middle rank of the bin, times sqrt(12) so that a column without ties has variance
1. An unordered column is one coordinate per category, 1 or 0. Ties and rare categories so count for less, and no row is
far from all others. A centre is the mean of its rows, and the squared distance of a row to it is a sum over columns of
something that depends on the row's bin alone:

    ordered:    (position[bin] - mean of positions)^2
    unordered:  1 - 2 share[bin] + sum of squared shares

So a centre is a table with a cost per bin; an unknown value costs nothing anywhere. Each round's work is one look-up per
cell of the table, however many categories there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.schema.values import Numbers

#: The bin of every column (rows of the array) in every row (columns), -1 where it is unknown.
BinIndices = NDArray[np.signedinteger[Any]]
#: How often to start anew, and how many rounds at most.
STARTS, ROUNDS = 3, 30


@dataclass(frozen=True)
class Centres:
    """What lies how far from each of some centres: per column a cost of each bin (rows) to each centre (columns)."""

    costs: tuple[Numbers, ...]

    def nearest(self, places: BinIndices) -> NDArray[np.intp]:
        """The nearest centre of each row."""
        total = np.zeros((places.shape[1], self.costs[0].shape[1]))
        for bins, cost in zip(places, self.costs, strict=True):
            total += cost[bins]
        return np.asarray(total.argmin(axis=1))


def k_means(
    places: BinIndices, sizes: Sequence[int], ordered: Sequence[bool], clusters: int, rng: np.random.Generator
) -> Centres:
    """The centres of clusters of rows, the best of a few starts; `sizes` are the numbers of bins."""
    space = _space(places, sizes, ordered)
    best = min((_one_start(space, clusters, rng) for _ in range(STARTS)), key=lambda start: start[0])[1]
    ends = np.cumsum(sizes)
    nothing = np.zeros((1, clusters))
    return Centres(tuple(np.vstack([best[end - size : end], nothing]) for end, size in zip(ends, sizes, strict=True)))


@dataclass(frozen=True)
class _Space:
    """The bins of all columns in one list, and one more for what is unknown."""

    cells: NDArray[np.intp]  # column x row, the place in the list
    start: NDArray[np.intp]  # per column
    column: NDArray[np.intp]  # per bin
    ordered: NDArray[np.bool_]  # per bin
    position: Numbers  # per bin
    share: Numbers  # per bin, among all rows

    def costs(self, counts: Numbers) -> Numbers:
        """The costs of bins (and last, 0 for the unknown) to centres with these counts of rows (bin x centre).

        A centre whose rows all have an unknown value has the mean of all rows there.
        """
        known = np.add.reduceat(counts, self.start, axis=0)[self.column]
        share = np.where(known > 0, counts / np.maximum(known, 1), self.share[:, None])
        position = self.position[:, None]
        mean = np.add.reduceat(share * position, self.start, axis=0)[self.column]
        square = np.add.reduceat(share * share, self.start, axis=0)[self.column]
        costs = np.where(self.ordered[:, None], (position - mean) ** 2, 1 - 2 * share + square)
        return np.vstack([costs, np.zeros((1, counts.shape[1]))])

    def counts(self, cells: NDArray[np.intp], owner: NDArray[np.intp] | int, centres: int) -> Numbers:
        """How many of the rows that a centre owns are in each bin."""
        bins = len(self.column)
        counts = np.bincount((cells * centres + owner).ravel(), minlength=(bins + 1) * centres)
        return counts.reshape(bins + 1, centres)[:bins].astype(np.float64)

    def distances(self, costs: Numbers) -> Numbers:
        """Squared distance of every row to every centre."""
        return np.asarray(sum(costs[bins] for bins in self.cells))


def _space(places: BinIndices, sizes: Sequence[int], ordered: Sequence[bool]) -> _Space:
    start = np.concatenate([[0], np.cumsum(sizes)])
    cells = np.where(places < 0, start[-1], places + start[:-1, None])
    column = np.repeat(np.arange(len(sizes)), sizes)
    counts = np.bincount(cells.ravel(), minlength=start[-1] + 1)[:-1]
    share = counts / np.maximum(np.add.reduceat(counts, start[:-1]), 1)[column]
    before = np.cumsum(share) - share
    position = np.sqrt(12) * (before - before[start[:-1]][column] + share / 2)
    return _Space(cells, start[:-1], column, np.asarray(ordered)[column], position, share)


def _one_start(space: _Space, clusters: int, rng: np.random.Generator) -> tuple[float, Numbers]:
    """The sum of squared distances, and the costs, where k-means ends from one random start."""
    costs = _spread_rows(space, clusters, rng)
    distances = space.distances(costs)
    owner = distances.argmin(axis=1)
    for _ in range(ROUNDS):
        costs = space.costs(space.counts(space.cells, owner, clusters))
        distances = space.distances(costs)
        before, owner = owner, distances.argmin(axis=1)
        if np.array_equal(before, owner):
            break
    return float(distances.min(axis=1).sum()), costs


def _spread_rows(space: _Space, clusters: int, rng: np.random.Generator) -> Numbers:
    """Costs to rows drawn as first centres: k-means++ (Arthur and Vassilvitskii 2007).

    Each is drawn with a probability in proportion to its squared distance to those before.
    """
    count = space.cells.shape[1]
    centres: list[Numbers] = []
    weights = np.ones(count)
    for _ in range(clusters):
        row = int(rng.choice(count, p=weights / weights.sum()) if weights.sum() > 0 else rng.integers(count))
        costs = space.costs(space.counts(space.cells[:, row : row + 1], 0, 1))
        distance = space.distances(costs)[:, 0]
        weights = np.minimum(weights, distance) if centres else distance
        centres.append(costs)
    return np.hstack(centres)
