"""Upper bounds of Gaussian blocks over a box: sums of terms of one number each, tangents that keep some of the curvature.

Let e = z - mean be the warped numbers of a row, L the factor of the covariance and D a diagonal for which I - L' D L is positive
semidefinite. For every vector p, with e1 = L L' p,

    -|L^-1 e|^2 / 2 <= sum_j [ p_j (e1_j / 2 - e_j) - D_j (e_j - e1_j)^2 / 2 ],

with equality at e1: a tangent there. No matrix is inverted for it, so that nothing is lost where covariances are nearly singular.
With the logarithm of the warp's slope, which is linear in z on every piece of a warp, and a reward that is linear in the number
on every piece of its cost, every term is a concave parabola on a piece; in tails, where numbers are bent in z, after a chord
(where the reward is convex in z) or a tangent (where it is concave) has replaced it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.certificate.domain import ROUNDOFF, Box, Domain
from likely.circuit.model.blocks import GaussianBlock
from likely.circuit.model.warps import Warp
from likely.schema.values import Numbers

#: Rounds in which the coordinates take curvature in turn, and the share of what each could take that it takes.
_ROUNDS, _SHARE = 12, 0.15
#: By how much the diagonal stays below what it may be: much more than rounding can add to it.
_CAUTION, _LEAST_CAUTION = 1e-6, 1e-9
#: A tail that ends is cut where half of what is left of it is left, so often.
_HALVINGS = 5
#: Tangents of a bent reward that are tried, each where the last one's parabola is greatest.
_TANGENTS = 4
#: Roundings of one term.
_ROUNDINGS = 64


@dataclass(frozen=True, eq=False)
class _Pieces:
    """Intervals of numbers on which a warp is straight or bent one way, and the cost is linear; coordinate by coordinate."""

    coordinate: NDArray[np.intp]
    low: Numbers
    high: Numbers
    #: Where the warp's piece above begins: that number is on it.
    limit: Numbers
    #: z = value + slope (x - knot) where the piece is straight.
    knot: Numbers
    value: Numbers
    slope: Numbers
    #: 0 where it is straight, otherwise the side on which the domain ends, how far that is from the knot, and where it is.
    side: Numbers
    width: Numbers
    end: Numbers
    #: Of the cost: low, high, cost at low, cost at high.
    segment: Numbers

    def part(self, which: NDArray[np.bool_]) -> _Pieces:
        """Some of the pieces."""
        return _Pieces(*(getattr(self, name)[which] for name in self.__dataclass_fields__))

    def warped(self, x: Numbers) -> tuple[Numbers, Numbers]:
        """z and the logarithm of the warp's slope at a number of each piece."""
        bent = self.side != 0
        with np.errstate(divide="ignore", invalid="ignore"):
            left = np.log(np.where(bent, self.side * (self.end - x) / self.width, 1.0))
            straight = self.value + self.slope * (x - self.knot)
            z = np.where(bent, self.value - self.side * self.slope * self.width * left, straight)
            return z, np.log(self.slope) - left

    def unwarped(self, z: Numbers) -> Numbers:
        """The number of each bent piece at z."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            left = self.side * (z - self.value) / (self.slope * self.width)
            return np.asarray(self.end - self.side * self.width * np.exp(-left))

    def cost(self, x: Numbers) -> Numbers:
        """What a number of each piece costs."""
        low, high, cost_low, cost_high = self.segment.T
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(high > low, (x - low) / (high - low), 0.0)
        return np.asarray(cost_low + (cost_high - cost_low) * share)


@dataclass(frozen=True, eq=False)
class Rewards:
    """What values are worth, per part of a circuit (rows): of numbers slope * offset + level - price of cost * cost; of atoms."""

    cost: Numbers
    slope: Numbers
    level: Numbers
    atoms: Numbers

    @classmethod
    def none(cls, parts: int, domain: Domain) -> Rewards:
        """Nothing is worth anything."""
        features = np.zeros((parts, domain.size))
        return cls(np.zeros(parts), features, features, np.zeros((parts, int(domain.first_atom[-1]))))


@dataclass(frozen=True, eq=False)
class Tangents:
    """The parabolas of every coordinate: p, e1, what e1 may be off by, and D."""

    slope: Numbers
    point: Numbers
    off: Numbers
    curvature: Numbers


class Blocks:
    """Blocks of a circuit, once for every part that has them; a *coordinate* is a variable of one of these.

    Args:
        domain: The features' values.
        blocks: The blocks.
        parts: The part of the circuit that each belongs to.
        floor: The circuit's least density of a leaf of one variable.
    """

    def __init__(self, domain: Domain, blocks: Sequence[GaussianBlock], parts: Sequence[int], floor: float) -> None:
        self._domain, self._blocks = domain, list(blocks)
        counts = [len(block.variables) for block in blocks]
        self.first = np.cumsum([0, *counts])[:-1].astype(np.intp)
        self.size = sum(counts)
        self.feature = np.array([j for block in blocks for j in block.variables], dtype=np.intp)
        self.part = np.repeat(np.array(parts, dtype=np.intp), counts)
        self._mean = np.array([value for block in blocks for value in block.mean])
        self._log_floor = math.log(floor) if floor > 0 else -math.inf
        self._counts = np.array(counts)
        self._log_normaliser = np.array([block.log_normaliser for block in blocks])
        known: dict[int, Numbers] = {}
        for block in blocks:
            if id(block) not in known:
                known[id(block)] = kept_curvature(block)
        self._curvature = np.concatenate([np.empty(0), *(known[id(block)] for block in blocks)])
        self._pieces = self._cut()
        self._of_feature = [self._pieces.part(self.feature[self._pieces.coordinate] == j) for j in range(domain.size)]

    def _cut(self) -> _Pieces:
        """Every piece of every coordinate."""
        cut: dict[tuple[int, int], list[tuple[float, ...]]] = {}
        rows, coordinates, place = [], [], 0
        for block in self._blocks:
            for j, warp in zip(block.variables, block.warps, strict=True):
                if (j, id(warp)) not in cut:
                    cut[j, id(warp)] = list(_pieces(self._domain, j, warp))
                rows += cut[j, id(warp)]
                coordinates += [place] * len(cut[j, id(warp)])
                place += 1
        table = np.array(rows, dtype=np.float64).reshape(len(rows), 13)
        low, high, limit, knot, value, slope, side, width, end = np.ascontiguousarray(table[:, :9].T)
        coordinate, segment = np.array(coordinates, dtype=np.intp), np.ascontiguousarray(table[:, 9:])
        return _Pieces(coordinate, low, high, limit, knot, value, slope, side, width, end, segment)

    # -- tangents -------------------------------------------------------------------------------------------------------

    def tangents(self, points: Numbers) -> Tangents:
        """Tangents at points, less the means: any numbers, one per coordinate."""
        slope, point, off = np.zeros(self.size), np.zeros(self.size), np.zeros(self.size)
        points = np.where(np.isfinite(points), points, 0.0)
        for block, first, count in zip(self._blocks, self.first, self._counts, strict=True):
            here = slice(first, first + count)
            factor, wanted = block.lower_factor, points[here]
            p = block.precision @ wanted
            p = p + block.precision @ (wanted - factor @ (factor.T @ p))
            p = np.where(np.isfinite(p), p, 0.0)
            slope[here], point[here] = p, factor @ (factor.T @ p)
            off[here] = 4 * ROUNDOFF * (count + 2) * (np.abs(factor) @ (np.abs(factor.T) @ np.abs(p)))
        return Tangents(slope, point, off, self._curvature)

    def nearest(self, box: Box) -> Numbers:
        """Points for tangents where nothing better is known: of every coordinate that of a box which is nearest to the mean."""
        low, high = np.full(self.size, np.inf), np.full(self.size, -np.inf)
        pieces, from_x, to_x = self._within(self._pieces, box)
        np.minimum.at(low, pieces.coordinate, pieces.warped(from_x)[0])
        np.maximum.at(high, pieces.coordinate, pieces.warped(to_x)[0])
        there = low <= high
        return np.where(there, np.clip(self._mean, np.where(there, low, 0.0), np.where(there, high, 0.0)) - self._mean, 0.0)

    # -- bounds ---------------------------------------------------------------------------------------------------------

    def _within(self, pieces: _Pieces, box: Box) -> tuple[_Pieces, Numbers, Numbers]:
        """The pieces that meet a box, and the ends of what they share with it."""
        j = self.feature[pieces.coordinate]
        low, high = np.maximum(pieces.low, box.low[j]), np.minimum(pieces.high, box.high[j])
        met = (low <= high) & (low < pieces.limit) & (box.low[j] <= box.high[j])
        return pieces.part(met), low[met], high[met]

    def greatest(self, box: Box, tangents: Tangents, rewards: Rewards, feature: int | None = None) -> Numbers:
        """The greatest of the term of every coordinate over a box, rounding included; -inf where it has no density.

        Args:
            box: The rows.
            tangents: Of the coordinates.
            rewards: Of the parts.
            feature: Only coordinates of this feature are looked at, if it is given.
        """
        pieces, low, high = self._within(self._pieces if feature is None else self._of_feature[feature], box)
        most = np.full(self.size, -np.inf)
        if len(low):
            np.maximum.at(most, pieces.coordinate, self._terms(pieces, low, high, tangents, rewards))
        return most

    def _terms(self, pieces: _Pieces, low: Numbers, high: Numbers, tangents: Tangents, rewards: Rewards) -> Numbers:
        """The greatest of a coordinate's term on each piece."""
        c = pieces.coordinate
        j, part, mean = self.feature[c], self.part[c], self._mean[c]
        p, e1, off, d = tangents.slope[c], tangents.point[c], tangents.off[c], tangents.curvature[c]
        (z_low, log_low), (z_high, log_high) = pieces.warped(low), pieces.warped(high)
        e_low, e_high = z_low - mean, z_high - mean
        width = e_high - e_low
        slope, level, price, anchor = rewards.slope[part, j], rewards.level[part, j], rewards.cost[part], self._domain.anchor[j]
        costs = pieces.cost(low), pieces.cost(high)
        reward_low = slope * (low - anchor) + level - price * costs[0]
        reward_high = slope * (high - anchor) + level - price * costs[1]

        def greatest(at_low: Numbers, rise: Numbers) -> tuple[Numbers, Numbers]:
            """With a reward of at_low + rise t, t from 0 to 1: the greatest of the parabola, and where it is."""
            start = p * (0.5 * e1 - e_low) - 0.5 * d * (e_low - e1) ** 2 + log_low + at_low
            linear = -p * width - d * width * (e_low - e1) + (log_high - log_low) + rise
            bent = d * width**2
            with np.errstate(divide="ignore", invalid="ignore"):
                at = np.where(bent > 0, np.clip(linear / bent, 0.0, 1.0), np.where(linear > 0, 1.0, 0.0))
            return start + linear * at - 0.5 * bent * at**2, at

        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            rise = reward_high - reward_low
            best, _ = greatest(reward_low, rise)
            # As a function of z, a number is concave where the domain ends above, convex where it ends below.
            concave = np.flatnonzero((pieces.side * rise > 0) & (width > 0) & (high > low))
            if len(concave):
                per_number = np.where(high > low, rise / (high - low), 0.0)
                best[concave] = np.inf
                at = np.clip((e1 - e_low) / width, 0.0, 1.0)
                for _ in range(_TANGENTS):
                    x = np.clip(pieces.unwarped(z_low + at * width), low, high)
                    z, log_slope = pieces.warped(x)
                    here = (z - z_low) / width
                    steep = per_number * np.exp(-log_slope) * width
                    value, at = greatest(reward_low + per_number * (x - low) - steep * here, steep)
                    best[concave] = np.minimum(best[concave], value[concave])
            far = np.maximum(np.abs(e_low - e1), np.abs(e_high - e1))
            force = np.abs(p) + d * far
            sizes = np.abs(p) * (np.abs(e1) + np.maximum(np.abs(e_low), np.abs(e_high))) + d * far**2
            sizes += np.abs(log_low) + np.abs(log_high) + np.abs(np.log(pieces.slope)) + np.abs(level)
            sizes += np.abs(slope) * np.maximum(np.abs(low - anchor), np.abs(high - anchor)) + price * np.maximum(*costs)
            sizes += force * (np.abs(z_low) + np.abs(z_high) + np.abs(pieces.value) + np.abs(mean))
            best = best + off * force + 2 * ROUNDOFF * _ROUNDINGS * sizes
        return np.where(np.isnan(best), np.inf, best)

    def combined(self, terms: Numbers, most_reward: Numbers) -> Numbers:
        """The logarithm of every block.

        Args:
            terms: The greatest term of every coordinate.
            most_reward: The greatest reward of every coordinate: for rows at which the block has its least density.
        """
        if not len(self._blocks):
            return np.empty(0)
        size = np.add.reduceat(np.where(np.isfinite(terms), np.abs(terms), 0.0), self.first) + np.abs(self._log_normaliser)
        dense = np.add.reduceat(terms, self.first) - self._log_normaliser + 4 * ROUNDOFF * (self._counts + 8) * size
        least = self._counts * self._log_floor + np.add.reduceat(most_reward, self.first)
        return np.maximum(np.where(np.isnan(dense), np.inf, dense), np.where(np.isnan(least), -np.inf, least))


def kept_curvature(block: GaussianBlock) -> Numbers:
    """A large diagonal D with I - L' D L positive semidefinite.

    Of what is left, one coordinate alone could take 1 / (inverse)_ii (its Schur complement): all take a share of that in turn. At
    last it is scaled so that the greatest eigenvalue of L' D L, which has no entry above 1 in size, is below 1 by much more than
    what computing it may lose.

    Args:
        block: The block.
    """
    factor, inverse = block.lower_factor, block.covariance.copy()
    diagonal = np.zeros(len(inverse))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for _ in range(_ROUNDS):
            for i in range(len(inverse)):
                taken = _SHARE / inverse[i, i]
                diagonal[i] += taken
                inverse += taken / (1 - _SHARE) * np.outer(inverse[:, i], inverse[i])
        diagonal *= 1 - _CAUTION
        root = np.sqrt(diagonal)[:, None] * factor
    if not np.isfinite(root).all():
        return np.zeros(len(inverse))
    greatest = float(np.linalg.eigvalsh(root.T @ root)[-1])
    return np.asarray(diagonal * min(1.0, (1 - _LEAST_CAUTION) / greatest)) if greatest > 0 else np.zeros(len(inverse))


def _pieces(domain: Domain, j: int, warp: Warp) -> Iterator[tuple[float, ...]]:
    """The pieces of a warp within pieces of the cost of a feature: as rows of `_Pieces`."""
    first, last = domain.inside(j, warp.lower, warp.upper)
    for low, high, *straight in _parts(warp):
        for segment in domain.parts[j].segments:
            start, end = max(low, segment[0], first), min(high, segment[1], last)
            if start <= end and start < high:
                yield (start, end, high, *straight, *map(float, segment))


def _parts(warp: Warp) -> Iterator[tuple[float, ...]]:
    """Low, high, knot, value, slope, side, width, end of every part of a warp."""
    knots, values, slopes = warp.knots, warp.values, [float(slope) for slope in warp.slopes]
    for side, knot, value, slope, end in (
        (-1.0, knots[0], values[0], slopes[0], warp.lower),
        (1.0, knots[-1], values[-1], slopes[-1], warp.upper),
    ):
        if math.isinf(end):
            yield (*sorted((knot, end)), knot, value, slope, 0.0, 1.0, 0.0)
            continue
        at = knot
        for halving in range(_HALVINGS + 1):
            to = at + (end - at) / 2 if halving < _HALVINGS else end
            yield (*sorted((at, to)), knot, value, slope, side, abs(end - knot), end)
            at = to
    for k, slope in enumerate(slopes):
        yield (knots[k], knots[k + 1], knots[k], values[k], slope, 0.0, 1.0, 0.0)
