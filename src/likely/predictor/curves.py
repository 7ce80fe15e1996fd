"""Curves: what preprocessing makes of a feature's numbers where that is no linear function, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from likely.errors import PredictorError
from likely.schema.values import Numbers


def _yeo_johnson(x: Numbers, step: CurveStep) -> Numbers:
    power = step.slope
    with np.errstate(all="ignore"):
        above, below = np.log1p(np.maximum(x, 0.0)), np.log1p(np.maximum(-x, 0.0))
        up = above if power == 0 else np.expm1(power * above) / power
        down = -below if power == 2 else -np.expm1((2 - power) * below) / (2 - power)
    return np.where(x >= 0, up, down)


#: In the order of the core's (`src/core/search/curve.hpp`). All but `square` never fall, or, times a negative slope, never rise.
OPERATIONS: dict[str, Callable[[Numbers, CurveStep], Numbers]] = {
    "affine": lambda x, step: step.slope * x + step.intercept,
    "at_least": lambda x, step: np.maximum(x, step.intercept),
    "at_most": lambda x, step: np.minimum(x, step.intercept),
    "log1p": lambda x, _: np.log1p(x),
    "log": lambda x, _: np.log(x),
    "sqrt": lambda x, _: np.sqrt(x),
    "expm1": lambda x, _: np.expm1(x),
    "exp": lambda x, _: np.exp(x),
    "square": lambda x, _: x * x,
    "yeo_johnson": _yeo_johnson,  # its power is the slope
    "above": lambda x, step: np.where(x > step.intercept, 1.0, 0.0),
    "interpolate": lambda x, step: np.interp(x, step.knots, step.values),  # constant beyond the knots
    "normal_quantile": lambda x, _: ndtri(x),  # what a standard normal variable is below with probability x
}


@dataclass(frozen=True)
class CurveStep:
    """One step of a curve: an operation of `OPERATIONS` on a number."""

    op: str
    slope: float = 1.0
    intercept: float = 0.0
    knots: tuple[float, ...] = ()
    values: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for name in ("knots", "values"):
            object.__setattr__(self, name, tuple(float(x) for x in getattr(self, name)))
        if self.op not in OPERATIONS:
            known = ", ".join(OPERATIONS)
            raise PredictorError("A step of a curve", "have a known operation", repr(self.op), f"use one of {known}")
        rises = bool((np.diff(self.knots) > 0).all() and (np.diff(self.values) >= 0).all())
        if (self.op == "interpolate") != bool(self.knots) or len(self.knots) != len(self.values) or not rises:
            rule = "have knots that rise, with values that never fall"
            raise PredictorError("An interpolation", rule, f"{len(self.knots)} knots", "sort them, and keep one of equals")
        if not np.isfinite([self.slope, self.intercept, *self.knots, *self.values]).all():
            raise PredictorError("A step of a curve", "have finite numbers", "NaN or infinity", "check how the column is scaled")

    def at(self, numbers: Numbers) -> Numbers:
        """What becomes of numbers.

        Args:
            numbers: Before the step.
        """
        with np.errstate(all="ignore"):
            return np.asarray(OPERATIONS[self.op](numbers, self), dtype=np.float64)

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `read_step` reads back."""
        return {**vars(self), "knots": list(self.knots), "values": list(self.values)}


def jumps(edges: Numbers, values: Numbers) -> tuple[CurveStep, ...] | None:
    """A function that is constant from each edge up to the next, exact at every double; None if no chain of steps is it.

    It must never fall, or never rise, or have one value in between and another one on both sides, as the indicator of a bin
    has. Between an edge and the double before it there is no other, so that an interpolation can jump there.

    Args:
        edges: Numbers that rise.
        values: Before the first edge, and from each edge on.
    """
    places = np.flatnonzero(np.diff(values))
    edges, values = edges[places], values[[0, *(places + 1)]]
    if not len(edges):
        return (CurveStep("affine", 0.0, float(values[0])),)
    knots = tuple(np.column_stack([np.nextafter(edges, -np.inf), edges]).ravel().tolist())
    rises = np.diff(values)
    if (rises > 0).all() or (rises < 0).all():
        sign = float(np.sign(rises[0]))
        return (
            CurveStep("interpolate", knots=knots, values=tuple(np.repeat(sign * values, 2)[1:-1].tolist())),
            CurveStep("affine", sign),
        )
    if len(edges) == 2 and values[0] == values[2]:
        outside, inside = float(values[0]), float(values[1])
        sides = CurveStep("interpolate", knots=knots, values=(-1.0, 0.0, 0.0, 1.0))
        return sides, CurveStep("square"), CurveStep("affine", outside - inside, inside)
    return None


def read_step(data: Mapping[str, Any]) -> CurveStep:
    """The step that `CurveStep.to_dict` described.

    Args:
        data: What it gave.
    """
    return CurveStep(**data)
