"""Parametric densities of one number, each unimodal, so that the largest value on an interval is known exactly.

The density at `v` of a family with parameters `a` and `b`; the compiled core has the same five formulas:

    gaussian     exp(-(v - a)^2 / (2 b^2)) / (b sqrt(2 pi))            mode at a
    lognormal    exp(-(ln v - a)^2 / (2 b^2)) / (v b sqrt(2 pi))       mode at exp(a - b^2)
    exponential  a exp(-a v),  v >= 0                                  mode at 0
    gamma        b^a v^(a-1) exp(-b v) / Gamma(a),  a >= 1             mode at (a - 1) / b
    poisson      a^v exp(-a) / v!,  v = 0, 1, 2, ...                   mode at floor(a)

On an interval the largest value is the one at the point nearest to the mode, the smallest one is at an end.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from likely.circuit.model.tolerances import LARGEST_EXPONENT
from likely.schema.values import Numbers

_LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)


def _gaussian(v: Numbers, a: float, b: float) -> Numbers:
    z = (v - a) / b
    return -0.5 * z * z - math.log(b) - _LOG_ROOT_2PI


def _lognormal(v: Numbers, a: float, b: float) -> Numbers:
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.log(v)
        return np.where(v > 0, _gaussian(log, a, b) - log, -np.inf)


def _exponential(v: Numbers, a: float, b: float) -> Numbers:
    return np.where(v >= 0, math.log(a) - a * v, -np.inf)


def _gamma(v: Numbers, a: float, b: float) -> Numbers:
    with np.errstate(divide="ignore", invalid="ignore"):
        power = np.where(a == 1, 0.0, (a - 1) * np.log(v))
        return np.where(v >= 0, a * math.log(b) + power - b * v - math.lgamma(a), -np.inf)


def _poisson(v: Numbers, a: float, b: float) -> Numbers:
    from scipy.special import gammaln

    whole = (v >= 0) & (v == np.floor(v))
    return np.where(whole, v * math.log(a) - a - gammaln(np.where(whole, v, 0.0) + 1), -np.inf)


@dataclass(frozen=True)
class Family:
    """A unimodal density: its name in the core, its log density, its mode, and its twin in scipy."""

    code: int
    log_density: Callable[[Numbers, float, float], Numbers]
    mode: Callable[[float, float], float]
    scipy: Callable[[Any, float, float], Any]
    discrete: bool = False


FAMILIES: dict[str, Family] = {
    "gaussian": Family(1, _gaussian, lambda a, b: a, lambda stats, a, b: stats.norm(a, b)),
    "lognormal": Family(
        2,
        _lognormal,
        lambda a, b: math.exp(min(a - b * b, LARGEST_EXPONENT)),
        lambda stats, a, b: stats.lognorm(b, scale=math.exp(a)),
    ),
    "exponential": Family(3, _exponential, lambda a, b: 0.0, lambda stats, a, b: stats.expon(scale=1 / a)),
    "gamma": Family(4, _gamma, lambda a, b: (a - 1) / b, lambda stats, a, b: stats.gamma(a, scale=1 / b)),
    "poisson": Family(5, _poisson, lambda a, b: float(math.floor(a)), lambda stats, a, b: stats.poisson(a), discrete=True),
}
