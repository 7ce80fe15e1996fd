"""Smoothing of several variables at once, with their trees side by side.

A round of learning is a few operations over all bins then, and not some for each variable: a table of a hundred columns has a
hundred, and only a few rows for each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from likely.circuit.learning.smoothing import EQUALLY_GOOD, MANY_LEAVES, STRENGTHS, Shrinkage, ranged
from likely.schema.values import Numbers


@dataclass(frozen=True)
class JointShrinkage:
    """The trees of several variables. Their bins follow each other, and so do their nodes."""

    trees: tuple[Shrinkage, ...]

    def probabilities(self, counts: Numbers) -> Numbers:
        """Probabilities of all bins (leaf x bin) from counts: of every variable what `Shrinkage.probabilities` says."""
        if not self.trees:
            return np.ones(counts.shape)
        nodes = ranged(counts, self._low, self._high).T
        probability = np.ones(nodes.shape)
        for level in self._levels:
            up, strength = self._parent[level], self._strength[level, None]
            shares = (nodes[level] + strength * self._share[level, None]) / (nodes[up] + strength)
            probability[level] = shares * probability[up]
        ends = probability[self._ends]
        total = np.add.reduceat(ends, self._first_bins, axis=0)
        return np.asarray((ends / np.repeat(total, self._sizes, axis=0)).T)

    def fitted(self, counts: Numbers) -> JointShrinkage:
        """With the strengths that make the counts of each variable (leaf x bin) most probable, as `Shrinkage.fitted`.

        A leaf without rows has no say.
        """
        if not self.trees:
            return self
        nodes = ranged(counts[:: max(1, len(counts) // MANY_LEAVES)], self._low, self._high)
        places = np.zeros(len(self.trees), dtype=np.intp)  # of the strengths so far: no less at a greater depth
        strength = self._strength.copy()
        for level in self._levels:
            owners = np.unique(self._owner[level])
            open_ones = owners[places[owners] + 1 < len(STRENGTHS)]
            if len(open_ones):
                places[open_ones] = np.maximum(places[open_ones], self._likeliest(nodes, level, open_ones))
            strength[level] = STRENGTHS[places[self._owner[level]]]
        parts = np.split(strength, self._first_nodes[1:])
        return JointShrinkage(tuple(replace(tree, strength=part[1:]) for tree, part in zip(self.trees, parts, strict=True)))

    def _likeliest(self, nodes: Numbers, level: NDArray[np.intp], owners: NDArray[np.intp]) -> NDArray[np.intp]:
        """The likeliest strengths of some variables at a level, as places in `STRENGTHS`, climbing from those they have."""
        first = level[np.searchsorted(self._owner[level], owners)]
        place = np.argmin(np.abs(np.log(STRENGTHS[None, :] / self._strength[first, None])), axis=1)
        best = self._scores(nodes, level, owners, place)
        for step, enough in ((1, -EQUALLY_GOOD), (-1, EQUALLY_GOOD)):
            moving = np.arange(len(owners))
            while True:
                moving = moving[(place[moving] + step >= 0) & (place[moving] + step < len(STRENGTHS))]
                if not len(moving):
                    break
                scores = self._scores(nodes, level, owners[moving], place[moving] + step)
                better = scores >= best[moving] + enough if step > 0 else scores > best[moving] + enough
                moving, scores = moving[better], scores[better]
                place[moving] += step
                best[moving] = scores
        return np.asarray(place)

    def _scores(self, nodes: Numbers, level: NDArray[np.intp], owners: NDArray[np.intp], place: NDArray[np.intp]) -> Numbers:
        """The log-likelihood of some variables' counts at a level, each with a strength (Dirichlet-multinomial)."""
        from scipy.special import gammaln

        strength = np.full(len(self.trees), np.nan)
        strength[owners] = STRENGTHS[place]
        child = level[~np.isnan(strength[self._owner[level]])]
        above = np.unique(self._parent[child])
        prior, least = strength[self._owner[child]] * self._share[child], strength[self._owner[above]]
        of_children = (gammaln(nodes[:, child] + prior) - gammaln(prior)).sum(axis=0)
        of_parents = (gammaln(least) - gammaln(nodes[:, above] + least)).sum(axis=0)
        count = len(self.trees)
        whole = np.bincount(self._owner[child], of_children, count) + np.bincount(self._owner[above], of_parents, count)
        return np.asarray(whole[owners])

    @cached_property
    def _sizes(self) -> NDArray[np.intp]:
        return np.array([len(tree.marginal) for tree in self.trees], dtype=np.intp)

    @cached_property
    def _first_bins(self) -> NDArray[np.intp]:
        return np.cumsum(self._sizes) - self._sizes

    @cached_property
    def _first_nodes(self) -> NDArray[np.intp]:
        counts = np.array([len(tree.low) for tree in self.trees], dtype=np.intp)
        return np.cumsum(counts) - counts

    @cached_property
    def _owner(self) -> NDArray[np.intp]:
        """The variable of each node."""
        return np.repeat(np.arange(len(self.trees)), [len(tree.low) for tree in self.trees])

    @cached_property
    def _low(self) -> NDArray[np.intp]:
        return np.concatenate([tree.low + first for tree, first in zip(self.trees, self._first_bins, strict=True)])

    @cached_property
    def _high(self) -> NDArray[np.intp]:
        return np.concatenate([tree.high + first for tree, first in zip(self.trees, self._first_bins, strict=True)])

    @cached_property
    def _parent(self) -> NDArray[np.intp]:
        """Of every node; a root is its own."""
        pairs = zip(self.trees, self._first_nodes, strict=True)
        return np.concatenate([np.append(0, tree.parent) + first for tree, first in pairs]).astype(np.intp)

    @cached_property
    def _share(self) -> Numbers:
        return np.concatenate([np.append(1.0, tree.share) for tree in self.trees])

    @cached_property
    def _strength(self) -> Numbers:
        return np.concatenate([np.append(0.0, tree.strength) for tree in self.trees])

    @cached_property
    def _levels(self) -> list[NDArray[np.intp]]:
        """The nodes but the roots by their depth: parents are done before their children."""
        depth = np.concatenate([np.append(-1, tree.depth) for tree in self.trees])
        return [np.flatnonzero(depth == level) for level in range(int(depth.max()) + 1)]

    @cached_property
    def _ends(self) -> NDArray[np.intp]:
        """The node of each bin."""
        return np.concatenate([tree.ends + first for tree, first in zip(self.trees, self._first_nodes, strict=True)])
