"""The probability that a Gaussian block gives to a box.

In warped coordinates a box is a product of unions of intervals, and its probability a Gaussian integral. With the Cholesky
factor, one variable after the other is conditioned on those before it (Genz 1992): of one variable, or of independent ones,
the integral is a product of differences of the normal distribution function, exact; of correlated ones it is a mean over
`POINTS` points of a Sobol sequence, always the same ones, with an error of some 1e-5 of the probability in a few variables and
1e-3 in thirty.

References:
    A. Genz, Numerical computation of multivariate normal probabilities, J. Comp. Graph. Stat. 1(2), 1992.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from likely.circuit.model.blocks import GaussianBlock
from likely.circuit.model.measure import half_open
from likely.circuit.model.warps import Warp
from likely.schema import Feature
from likely.schema.grid import steps_below
from likely.schema.region import Region
from likely.schema.values import Numbers

#: Points at which the integral of correlated variables is computed, as a power of 2.
LOG_POINTS = 14
#: A warp ends half a step beyond the bounds of a feature, but for this share of it.
SAME_END = 1e-6


def block_mass(block: GaussianBlock, features: Sequence[Feature], regions: Mapping[int, Region]) -> float:
    """The probability of a box, all variables without a region summed over.

    Args:
        block: The density.
        features: The circuit's variables.
        regions: Values of some variables, by their place among the circuit's.
    """
    intervals = {
        i: _warped(warp, features[j], regions[j])
        for i, (j, warp) in enumerate(zip(block.variables, block.warps, strict=True))
        if j in regions
    }
    limited = [i for i, ends in intervals.items() if not np.array_equal(ends, [[-np.inf, np.inf]])]
    return _gaussian_mass(block.marginal(limited), [intervals[i] for i in limited]) if limited else 1.0


def _warped(warp: Warp, feature: Feature, region: Region) -> Numbers:
    """The intervals of a region in z; of a feature with a step, a value stands for half a step on either side."""
    low, high = half_open(feature, region)
    if feature.grid is None:
        low = np.nextafter(low, -np.inf)  # a bound belongs to the region, and so does what lies between it and the next double
        return np.column_stack([warp(low), warp(high)])
    least, most = ((steps_below(end, feature.grid) - 0.5) * feature.grid for end in (low, high))
    # Near an end of a warp a mass may lie between two doubles, or beside the grid if the bound does: with the bound goes the end.
    half = (0.5 + SAME_END) * feature.grid
    if warp.lower >= feature.lower - half:
        least = np.where(low <= feature.lower, warp.lower, least)
    if warp.upper <= feature.upper + half:
        most = np.where(high > feature.upper, warp.upper, most)
    return np.column_stack([warp(least), warp(most)])


def _gaussian_mass(block: GaussianBlock, intervals: Sequence[Numbers]) -> float:
    """The probability that every z lies in its intervals."""
    from scipy.stats import qmc

    factor, count = block.lower_factor, len(intervals)
    uniform = np.zeros((1, 0))
    if np.any(np.tril(factor, -1)):
        uniform = qmc.Sobol(count - 1, scramble=False).random_base2(LOG_POINTS) + 0.5**LOG_POINTS / 2
    before = np.zeros((len(uniform), count))
    total = np.ones(len(uniform))
    for i, ends in enumerate(intervals):
        centre = block.mean[i] + before @ factor[i] - before[:, i] * factor[i, i]
        scaled = (ends[None] - centre[:, None, None]) / factor[i, i]
        masses = _normal_masses(scaled)
        total *= masses.sum(axis=1)
        if i + 1 < count and uniform.shape[1]:
            before[:, i] = _drawn(scaled, masses, uniform[:, i])
    return float(total.mean())


def _normal_masses(ends: Numbers) -> Numbers:
    """The probability of each interval under a standard normal, without cancellation far above 0."""
    from scipy.special import ndtr

    low, high = ends[..., 0], ends[..., 1]
    return np.asarray(np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low)))


def _drawn(ends: Numbers, masses: Numbers, uniform: Numbers) -> Numbers:
    """For each uniform number a standard normal one within its intervals."""
    from scipy.special import ndtr, ndtri

    reached = np.cumsum(masses, axis=1)
    wanted = uniform * reached[:, -1]
    which = np.minimum((reached < wanted[:, None]).sum(axis=1), masses.shape[1] - 1)
    rows = np.arange(len(ends))
    low, high = ends[rows, which, 0], ends[rows, which, 1]
    inside = wanted - (reached - masses)[rows, which]
    drawn = np.where(low > 0, -ndtri(ndtr(-low) - inside), ndtri(ndtr(low) + inside))
    nearest = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0.0))
    return np.asarray(np.where(np.isfinite(drawn), np.clip(drawn, low, high), nearest))
