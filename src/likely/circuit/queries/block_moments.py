"""Means and covariances of Gaussian blocks in the raw values of their variables.

A raw value is f(u) of a standard normal u, with f the inverse of the warp after the deviation and the mean of z. With c_k the
coefficients of f in the normalised Hermite polynomials, and rho the correlation of two of them (Mehler's formula),

    E f = c_0,    Var f = sum_k>0 c_k^2,    Cov(f, g) = sum_k>0 rho^k c_k d_k.

Means and variances are integrals on each smooth piece, exact to rounding. Covariances take `DEGREE` terms: their error is
at most what those leave of the variances, some 1e-5 of them, times |rho| ** DEGREE.
"""

from __future__ import annotations

import numpy as np

from likely.circuit.model.blocks import GaussianBlock
from likely.circuit.model.warps import Warp
from likely.schema.values import Numbers

DEGREE = 60
#: Standard normal values beyond this have no mass to speak of; pieces of the integral are at most this wide.
FARTHEST, WIDEST = 12.0, 0.5
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(16)


def block_moments(block: GaussianBlock) -> tuple[Numbers, Numbers]:
    """The mean and the covariance of a block's variables.

    Args:
        block: The density.
    """
    deviation = np.sqrt(np.diag(block.covariance))
    parts = [_moments(*each) for each in zip(block.warps, block.mean, deviation.tolist(), strict=True)]
    coefficients = np.array([part[0] for part in parts])
    correlation = block.covariance / np.outer(deviation, deviation)
    covariance = np.zeros_like(correlation)
    for k in range(1, DEGREE + 1):
        covariance += correlation**k * np.outer(coefficients[:, k], coefficients[:, k])
    np.fill_diagonal(covariance, [part[1] for part in parts])
    return coefficients[:, 0], covariance


def _moments(warp: Warp, mean: float, deviation: float) -> tuple[Numbers, float]:
    """The Hermite coefficients of the raw value as a function of a standard normal one, and its variance."""
    marks = np.clip((np.array(warp.values) - mean) / deviation, -FARTHEST, FARTHEST)
    marks = np.unique([*np.arange(-FARTHEST, FARTHEST + WIDEST, WIDEST), *marks])
    half = np.diff(marks) / 2
    u = ((marks[1:] + marks[:-1]) / 2 + np.outer(_POINTS, half)).ravel()
    weights = np.outer(_WEIGHTS, half).ravel() * np.exp(-0.5 * u * u) / np.sqrt(2 * np.pi)
    raw = warp.inverse(mean + deviation * u)
    before, polynomial = np.zeros_like(u), np.ones_like(u)
    coefficients = np.empty(DEGREE + 1)
    for k in range(DEGREE + 1):
        coefficients[k] = weights @ (polynomial * raw)
        before, polynomial = polynomial, (u * polynomial - np.sqrt(k) * before) / np.sqrt(k + 1)
    return coefficients, float(weights @ (raw - coefficients[0]) ** 2)
