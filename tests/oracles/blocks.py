"""What a Gaussian block means: warps as plain formulas, Gaussians by scipy, no factor of any part."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import stats

from likely.circuit import Circuit, GaussianBlock, Warp
from tests.oracles.circuits import Algebra, leaf_values, log, swept, total

#: Below exp of this, a density is 0 to the oracle: every floor of the tests is far above.
NEVER = -1e5


def warp_at(warp: Warp, x: float) -> tuple[float, float]:
    """T(x) and T'(x); a slope of 0 outside the domain."""
    if not warp.lower < x < warp.upper:
        return 0.0, 0.0
    (x0, x1), (z0, z1) = warp.knots[:2], warp.values[:2]
    (y0, y1), (u0, u1) = warp.knots[-2:], warp.values[-2:]
    first, last = (z1 - z0) / (x1 - x0), (u1 - u0) / (y1 - y0)
    if x < x0:
        if math.isinf(warp.lower):
            return z0 - first * (x0 - x), first
        w = x0 - warp.lower
        return z0 + first * w * math.log((x - warp.lower) / w), first * w / (x - warp.lower)
    if x >= y1:
        if math.isinf(warp.upper):
            return u1 + last * (x - y1), last
        w = warp.upper - y1
        return u1 - last * w * math.log((warp.upper - x) / w), last * w / (warp.upper - x)
    k = max(i for i, knot in enumerate(warp.knots) if knot <= x)
    slope = (warp.values[k + 1] - warp.values[k]) / (warp.knots[k + 1] - warp.knots[k])
    return warp.values[k] + slope * (x - warp.knots[k]), slope


def covariance(block: GaussianBlock) -> np.ndarray:
    """Of the warped values."""
    count = len(block.mean)
    factor = np.array([[*row, *[0.0] * (count - len(row))] for row in block.factor])
    return factor @ factor.T


def block_log_density(block: GaussianBlock, row: Sequence[float]) -> float:
    """log p of the known variables of a block at a row of the circuit, no floor."""
    known = [i for i, j in enumerate(block.variables) if not math.isnan(row[j])]
    if not known:
        return 0.0
    points = [warp_at(block.warps[i], row[block.variables[i]]) for i in known]
    if any(slope == 0 for _, slope in points):
        return -math.inf
    law: Any = stats.multivariate_normal(
        np.array(block.mean)[known], covariance(block)[np.ix_(known, known)], allow_singular=True
    )
    return float(law.logpdf([z for z, _ in points])) + math.fsum(math.log(slope) for _, slope in points)


def exact_exp(number: float) -> Fraction:
    """exp as a fraction, however small."""
    if number < NEVER:
        return Fraction(0)
    power = math.floor(number / math.log(2))
    return Fraction(math.exp(number - power * math.log(2))) * Fraction(2) ** power


def node_values(circuit: Circuit, row: Sequence[float]) -> dict[int, Fraction]:
    """Every leaf and block at a row, with the floor."""
    values = leaf_values(circuit, row)
    for place, node in enumerate(circuit.nodes):
        if isinstance(node, GaussianBlock):
            known = sum(not math.isnan(row[j]) for j in node.variables)
            values[place] = max(exact_exp(block_log_density(node, row)), Fraction(circuit.floor) ** known)
    return values


def log_likelihoods(circuit: Circuit, rows: Any, algebra: Algebra = total) -> np.ndarray:
    """The logarithm of the density of each row."""
    values = (swept(circuit, node_values(circuit, [float(v) for v in row]), algebra)[-1] for row in rows)
    return np.array([log(value) for value in values], dtype=np.float64)
