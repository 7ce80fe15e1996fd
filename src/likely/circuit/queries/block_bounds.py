"""Bounds of a Gaussian block over a box, and the likeliest point in it.

In warped coordinates a log density is concave but for the slopes of the warps,

    log p = log N(z) + sum_j h_j(z_j),    h_j(z) = log T_j'(T_j^-1(z)): constant between knots, linear in a tail,

and log N is quadratic, so that for every z0, with g its gradient there and D diagonal with Sigma^-1 - D positive semidefinite,

    log N(z) <= log N(z0) + sum_j [ g_j (z_j - z0_j) - D_j (z_j - z0_j)^2 / 2 ]:

a tangent with some of the curvature left. The right side is a sum of one-variable terms, each a concave parabola on every piece
of its warp, and largest at an end or at its vertex. Any z0 gives a valid bound; the one that coordinate ascent ends at gives a
good one: exact for a block without correlations, or without warps.

The curvature that is left keeps the bound finite where a box reaches the end of a domain, where the slope of a warp has no
bound: D_j = lambda (Sigma^-1)_jj, with lambda the least eigenvalue of Sigma^-1 scaled to a diagonal of ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from likely.circuit.model.blocks import GaussianBlock
from likely.circuit.model.circuit import Circuit
from likely.circuit.model.warps import Warp
from likely.schema.region import Region
from likely.schema.values import LARGEST, Numbers

#: Of one variable in a box, per piece: z from `low` to `high`, where h(z) = offset + slope z. Columns in this order.
Pieces: TypeAlias = Numbers

#: Rounds of coordinate ascent, and the gap between a bound and the value at its point below which no more are made.
ROUNDS, CLOSE = 50, 1e-9
#: By this share the curvature that is left stays below the one that would be exact, so that rounding cannot exceed it.
CAUTION = 1e-6


@dataclass(frozen=True)
class BlockBounds:
    """Of the log density of a block over a box, with the likeliest z that was come upon (None if there is no density)."""

    lower: float
    upper: float
    best: Numbers | None


def block_bounds(block: GaussianBlock, regions: Sequence[Region], floor: float) -> BlockBounds:
    """Bounds of a block's log density over a box, the floor counted.

    Args:
        block: The density.
        regions: The values of each of its variables.
        floor: The floor of the circuit.
    """
    least = len(block.variables) * np.log(floor) if floor > 0 else -np.inf
    pieces = [pieces_of(warp, region) for warp, region in zip(block.warps, regions, strict=True)]
    if not all(len(part) for part in pieces):
        return BlockBounds(least, least, None)
    with np.errstate(over="ignore", invalid="ignore"):  # where z is so large that its square is no double
        upper, best = _upper(block, pieces)
    lower = _lower(block, pieces) if all(map(_covers, block.warps, regions)) else -np.inf
    return BlockBounds(max(lower, least), max(upper, least), best)


def bounds_of_blocks(circuit: Circuit, regions: Sequence[Region | None]) -> dict[int, BlockBounds]:
    """The bounds of every block of a circuit, by its place; a variable without a region is summed over.

    Args:
        circuit: The circuit.
        regions: Of each of its variables.
    """
    blocks = {place: node for place, node in enumerate(circuit.nodes) if isinstance(node, GaussianBlock)}
    return {place: known_bounds(block, regions, circuit.floor) for place, block in blocks.items()}


def known_bounds(block: GaussianBlock, regions: Sequence[Region | None], floor: float) -> BlockBounds:
    """The bounds of the marginal of a block that has the variables with a region.

    Args:
        block: The density.
        regions: Of each of the circuit's variables.
        floor: The floor of the circuit.
    """
    known = {i: region for i, j in enumerate(block.variables) if (region := regions[j]) is not None}
    return block_bounds(block.marginal(list(known)), list(known.values()), floor) if known else BlockBounds(0.0, 0.0, None)


def _covers(warp: Warp, region: Region) -> bool:
    """Whether every value of a region has a place on a warp; a special code has none."""
    return max(warp.lower, -LARGEST) < region.low and region.high < warp.upper


def pieces_of(warp: Warp, region: Region) -> Pieces:
    """The pieces of a warp that the numbers of a region meet.

    Args:
        warp: The warp.
        region: Numbers; special codes among them have no place on a warp.
    """
    marks = [warp.lower, *warp.knots, warp.upper]
    rows = []
    for k, (start, end) in enumerate(pairwise(marks)):
        place = min(max(k - 1, 0), len(warp.slopes) - 1)
        rate = float(warp.slopes[place])
        tail = {0: -1.0, len(marks) - 2: 1.0}.get(k, 0.0)
        width = end - start
        # a tail without a double inside is never steeper than at its knot
        slope = tail / (rate * width) if np.isfinite(width) and math.nextafter(start, end) < end else 0.0
        offset = np.log(rate) - slope * warp.values[0 if k == 0 else -1]
        for low, high in (pair for pair in region.intervals if pair[1] >= -LARGEST):
            first, last = max(low, start), min(high, end)
            if first < last or (first == last and warp.lower < first < warp.upper):
                rows.append((*warp([first, last]).tolist(), offset, slope))
    made = np.array(rows).reshape(-1, 4)
    return made[(made[:, 0] < np.inf) & (made[:, 1] > -np.inf)]  # beyond all doubles there is no density


def largest(pieces: Pieces, gradient: float, curvature: float, at: float) -> tuple[float, float]:
    """The z in the pieces where gradient (z - at) - curvature (z - at)^2 / 2 + h(z) is largest, and that value.

    Args:
        pieces: At least one.
        gradient: Of the parabola at `at`.
        curvature: Of the parabola, positive.
        at: A point.
    """
    low, high, offset, slope = pieces.T
    z = np.clip(at + (gradient + slope) / curvature, low, high)
    values = gradient * (z - at) - 0.5 * curvature * (z - at) ** 2 + offset + slope * z
    best = int(np.argmax(values))
    return float(z[best]), float(values[best])


def _log_slope(pieces: Pieces, z: float) -> float:
    """h(z); between two pieces the greater one."""
    low, high, offset, slope = pieces.T
    return float((offset + slope * z)[(low <= z) & (z <= high)].max())


def _start(block: GaussianBlock, pieces: Sequence[Pieces]) -> Numbers:
    """The mean of what the box leaves open, given what it fixes; in the box."""
    low, high = (np.array([ends(part[:, side]) for part in pieces]) for side, ends in ((0, np.min), (1, np.max)))
    fixed, mean = low == high, np.array(block.mean)
    z = np.where(fixed, low, mean)
    if fixed.any() and not fixed.all():
        pull = block.precision[np.ix_(~fixed, fixed)] @ (z - mean)[fixed]
        z[~fixed] -= np.linalg.solve(block.precision[np.ix_(~fixed, ~fixed)], pull)
    return np.asarray(np.clip(z, low, high))


def _upper(block: GaussianBlock, pieces: Sequence[Pieces]) -> tuple[float, Numbers]:
    """The least bound that was come upon, and the z with the greatest density."""
    mean, precision = np.array(block.mean), block.precision
    diagonal = np.diag(precision)
    scaled = precision / np.sqrt(np.outer(diagonal, diagonal))
    left = max(float(np.linalg.eigvalsh(scaled)[0]), CAUTION) * (1 - CAUTION) * diagonal
    z = _start(block, pieces)
    upper, greatest, best = np.inf, -np.inf, z
    for _ in range(ROUNDS):
        for j, part in enumerate(pieces):
            z[j] = largest(part, float(precision[j] @ (mean - z)), float(diagonal[j]), float(z[j]))[0]
        gradient = precision @ (mean - z)
        gaussian = -0.5 * float((mean - z) @ gradient) - block.log_normaliser
        terms = [largest(part, float(gradient[j]), float(left[j]), float(z[j]))[1] for j, part in enumerate(pieces)]
        value = gaussian + sum(_log_slope(part, float(z[j])) for j, part in enumerate(pieces))
        upper = min(upper, gaussian + sum(terms))
        improved = value > greatest
        if improved:
            greatest, best = value, z.copy()
        if upper - greatest < CLOSE or not improved:
            break
    return upper, best


def _lower(block: GaussianBlock, pieces: Sequence[Pieces]) -> float:
    """An interval bound: every whitened coordinate as far from 0, and every slope as small, as the box allows."""
    low, high = (np.array([ends(part[:, side]) for part in pieces]) for side, ends in ((0, np.min), (1, np.max)))
    if not np.isfinite([low, high]).all():
        return -np.inf
    root = np.linalg.solve(block.lower_factor, np.eye(len(low)))
    farthest = np.abs(root @ ((low + high) / 2 - block.mean)) + np.abs(root) @ ((high - low) / 2)
    slopes = sum(float((part[:, 2] + np.minimum(part[:, 3] * part[:, 0], part[:, 3] * part[:, 1])).min()) for part in pieces)
    with np.errstate(over="ignore"):
        return float(slopes - 0.5 * (farthest**2).sum() - block.log_normaliser)
