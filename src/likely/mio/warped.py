"""Gaussian blocks over the values that a programme's row can have: pieces of warps, tangents, and what lies far out.

In a block's own coordinates q_i = (T_i(x_i) - mean_i) / deviation_i, with P the inverse of their correlations,

    log p(x) = sum_i h_i(q_i) - q' P q / 2 - c,    q_i piecewise linear in x_i but for tails, h_i = log T_i' constant on a piece
                                                  (linear in q_i in a tail),

and at any q0 the tangent  q0' P q0 / 2 - c - (P q0)' q  lies above the concave part.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from likely.circuit import Circuit, GaussianBlock, Warp
from likely.circuit.queries.block_bounds import block_bounds
from likely.mio.inputs import cells_of
from likely.mio.tolerances import SAME_SLOPE, SMALLEST
from likely.problem.tolerances import rounding
from likely.schema import Feature
from likely.schema.region import Region
from likely.schema.values import LARGEST, Numbers

#: So many deviations from its mean, a block has a density below exp(-800) times its greatest, but for the slopes of its warps.
FARTHEST = 40.0
#: How many deviations from the mean the first tangents touch, along every feature and every axis of a block.
FIRST_STEPS = (-2.5, -1.0, 1.0, 2.5)
#: How often the distance to the end of a domain is halved in a tail; a cell begins at each half.
HALVINGS = 8
#: Up to so many values of a feature with a step are pieces of their own in a tail.
TAIL_VALUES = 64


@dataclass(frozen=True, eq=False)
class Pieces:
    """The numbers of a feature, cut where a block's warp bends; `inside`: which pieces the block is encoded on.

    On piece r the numbers go from `low` to `high` and q from `first` to `last`, linearly or, in a tail, curved to one side
    (`bend`: 1 convex, -1 concave, 0 linear), and log T' is `offset` + `slope` q.
    """

    warp: Warp
    low: Numbers
    high: Numbers
    inside: NDArray[np.bool_]
    first: Numbers
    last: Numbers
    offset: Numbers
    slope: Numbers
    bend: Numbers
    mean: float
    deviation: float

    def coordinate(self, value: float) -> float:
        """Where a number lies, in deviations from the mean.

        Args:
            value: A number of the feature.
        """
        return (float(self.warp(value)) - self.mean) / self.deviation

    def steepness(self, value: float) -> float:
        """By how much the coordinate grows per unit of the number.

        Args:
            value: A number of the feature, inside.
        """
        return math.exp(float(self.warp.log_slope(value))) / self.deviation


@dataclass(frozen=True, eq=False)
class BlockLeaf:
    """A block as a leaf of a programme: pieces of each of its features, and what it is worth where it is not encoded.

    `far` is what the block is worth at most where one of its numbers is `FARTHEST` deviations out or at the end of a domain,
    and no less than the floor: the block is the greater of this and what the tangents say.
    """

    block: GaussianBlock
    pieces: tuple[Pieces, ...]
    far: float

    @property
    def near(self) -> bool:
        """Whether there is a row where the block is encoded."""
        return all(part.inside.any() for part in self.pieces)

    @cached_property
    def precision(self) -> Numbers:
        """The inverse of the correlations."""
        deviations = np.sqrt(np.diag(self.block.covariance))
        return np.asarray(self.block.precision * np.outer(deviations, deviations))

    @cached_property
    def correlation(self) -> Numbers:
        """The correlations of the coordinates."""
        deviations = np.sqrt(np.diag(self.block.covariance))
        return np.asarray(self.block.covariance / np.outer(deviations, deviations))

    def coordinates(self, numbers: Numbers) -> Numbers:
        """Where each number lies, in deviations from its mean.

        Args:
            numbers: A value of each feature of the block.
        """
        return np.array([part.coordinate(float(value)) for part, value in zip(self.pieces, numbers, strict=True)])

    def gaussian(self, point: Numbers) -> float:
        """The concave part of the log density: without the slopes of warps.

        Args:
            point: Coordinates.
        """
        return -self.below(point) - self.block.log_normaliser

    def below(self, away: Numbers) -> float:
        """By how much the concave part lies below its tangent, so far from where that touches.

        Args:
            away: A difference of coordinates.
        """
        return float(0.5 * away @ self.precision @ away)

    def tangent(self, point: Numbers) -> tuple[float, Numbers]:
        """Constant and gradient of the tangent at a point, which the concave part nowhere exceeds.

        Args:
            point: Coordinates.
        """
        pull = self.precision @ point
        return float(0.5 * point @ pull) - self.block.log_normaliser, -pull

    def first_points(self) -> list[Numbers]:
        """Where the first tangents touch: the mean, and the ends of ellipsoids along every feature and every axis."""
        count = len(self.pieces)
        values, axes = np.linalg.eigh(self.correlation)
        ways = [
            *(self.correlation[i] for i in range(count)),
            *(axes[:, i] * math.sqrt(max(values[i], 0.0)) for i in range(count)),
        ]
        steps = (-2.5, -1.0, 1.0, 2.5)
        return [np.zeros(count), *(step * way for way in (ways if count > 1 else ways[:1]) for step in steps)]


def block_leaf(block: GaussianBlock, circuit: Circuit, features: list[Feature]) -> BlockLeaf:
    """A block over the values of its features.

    Args:
        block: A node of the circuit.
        circuit: The density.
        features: Of the schema, in the order of the block's variables.
    """
    deviations = np.sqrt(np.diag(block.covariance))
    parts = zip(features, block.warps, block.mean, deviations, strict=True)
    pieces = tuple(_pieces(feature, warp, mean, float(deviation)) for feature, warp, mean, deviation in parts)
    whole = [Region.between(float(part.low[0]), float(part.high[-1])) for part in pieces]
    far = len(pieces) * math.log(circuit.floor) if circuit.floor > 0 else -math.inf
    for i, part in enumerate(pieces):
        for low, high in zip(part.low[~part.inside], part.high[~part.inside], strict=True):
            region = [*whole[:i], Region.between(float(low), float(high)), *whole[i + 1 :]]
            far = max(far, block_bounds(block, region, circuit.floor).upper)
    return BlockLeaf(block, pieces, far + rounding(far) if math.isfinite(far) else far)


def _pieces(feature: Feature, warp: Warp, mean: float, deviation: float) -> Pieces:
    ends = warp.inverse([mean - FARTHEST * deviation, mean + FARTHEST * deviation])
    cells = cells_of(feature, np.unique(np.concatenate([ends, _bends(warp), _tails(feature, warp)])))
    low, high = cells.low, cells.high
    inside = (low >= ends[0]) & (high < ends[1])
    with np.errstate(invalid="ignore"):
        first, last = ((warp(end) - mean) / deviation for end in (low, high))
    below, above = high < warp.knots[0], low > warp.knots[-1]
    widths = np.where(below, warp.knots[0] - warp.lower, np.where(above, warp.upper - warp.knots[-1], math.inf))
    side = np.where(below, -1.0, np.where(above, 1.0, 0.0)) * np.isfinite(widths)
    rate = np.where(below, warp.slopes[0], warp.slopes[-1])
    slope = np.where(side != 0, side * deviation / (rate * widths), 0.0)
    with np.errstate(invalid="ignore"):
        offset = np.where(inside, warp.log_slope(low) - slope * first, 0.0)
    first, last, offset = (np.where(np.abs(part) < SMALLEST, 0.0, part) for part in (first, last, offset))
    return Pieces(warp, low, high, inside, first, last, offset, slope, side, mean, deviation)


def _bends(warp: Warp) -> Numbers:
    """The knots at which the slope changes, and those where a curved tail begins."""
    slopes = np.concatenate([warp.slopes[:1], warp.slopes, warp.slopes[-1:]])
    changes = ~np.isclose(slopes[1:], slopes[:-1], rtol=SAME_SLOPE, atol=0.0)
    changes[[0, -1]] |= np.isfinite([warp.lower, warp.upper])
    knots = np.array(warp.knots)
    knots[-1] = np.nextafter(knots[-1], math.inf)  # at the last knot, tail and piece are the same
    return np.asarray(knots[changes])


def _tails(feature: Feature, warp: Warp) -> Numbers:
    """More breakpoints where a tail is curved: at half the distance to the end, a quarter, ...; or at every value."""
    marks: list[float] = []
    for knot, end, last in ((warp.knots[0], warp.lower, feature.lower), (warp.knots[-1], warp.upper, feature.upper)):
        within = last < knot if end < knot else last > knot
        if not math.isfinite(end) or not within:
            continue
        if feature.grid and abs(last - knot) <= TAIL_VALUES * feature.grid:
            first, past = (math.floor(number / feature.grid) for number in sorted((knot, last)))
            marks += [(k + 0.5) * feature.grid for k in range(first - 1, past + 1)]
        else:
            marks += [end + (knot - end) * 0.5**k for k in range(1, HALVINGS + 1)]
    return np.array([mark for mark in marks if abs(mark) < LARGEST])
