"""Warps: monotone maps of one number, under which a column looks like a Gaussian one.

Between knots a warp is linear. Beyond the last knot `k` it goes on with the slope `s` of the last piece or, where the domain
ends at `upper`, as

    T(x) = z_k - s w log(1 - (x - x_k) / w),    w = upper - x_k,    T'(x) = s w / (upper - x)

so that the slope is continuous at the knot and z grows without end as x comes to the end of the domain: the whole mass of a
Gaussian lies inside the domain. Below the first knot is the mirror image.

On every piece g T(x) + log T'(x) is monotone in x, whatever g: linear between knots, a multiple of the logarithm of the
distance to the end in a tail. So its extremes over an interval are at the interval's ends and at knots.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from likely.circuit.model.numbers import finite
from likely.errors import CircuitError
from likely.schema.values import Numbers


@dataclass(frozen=True)
class Warp:
    """A strictly increasing map T from an open interval of numbers onto all reals, linear between knots.

    Args:
        knots: Where the slope may change, increasing, at least two, inside the domain.
        values: T at each knot, increasing.
        lower: The lower end of the domain, itself not in it; minus infinity for a linear tail.
        upper: The upper end of the domain; infinity for a linear tail.

    Raises:
        CircuitError: If knots or values do not increase, or lie outside the domain.
    """

    knots: tuple[float, ...]
    values: tuple[float, ...]
    lower: float = -math.inf
    upper: float = math.inf

    def __post_init__(self) -> None:
        object.__setattr__(self, "knots", finite(self.knots, "The knots of a warp"))
        object.__setattr__(self, "values", finite(self.values, "The values of a warp"))
        object.__setattr__(self, "lower", float(self.lower))
        object.__setattr__(self, "upper", float(self.upper))
        if len(self.knots) != len(self.values) or len(self.knots) < 2:
            got = f"{len(self.knots)} knots and {len(self.values)} values"
            raise CircuitError("A warp", "have at least two knots and a value for each", got, "use Warp.identity()")
        slopes = self.slopes
        if np.any(np.diff(self.knots) <= 0) or not np.all((slopes > 0) & np.isfinite(slopes)):
            raise CircuitError(
                "The knots and values of a warp", "increase, with slopes that are positive doubles", self.knots,
                "sort both and drop knots that nearly coincide",
            )  # fmt: skip
        if not self.lower < self.knots[0] or not self.knots[-1] < self.upper:
            raise CircuitError(
                "The knots of a warp", "lie inside its domain", (self.lower, self.knots[0], self.knots[-1], self.upper),
                "drop knots at or beyond an end",
            )  # fmt: skip

    @classmethod
    def identity(cls, lower: float = -math.inf, upper: float = math.inf) -> Warp:
        """The map that changes nothing between its two knots, nor beyond them if the domain has no ends.

        Args:
            lower: The lower end of the domain.
            upper: The upper end of the domain.
        """
        if math.isfinite(lower) and math.isfinite(upper):
            knots = (lower + 0.25 * (upper - lower), lower + 0.75 * (upper - lower))
        elif math.isfinite(lower):
            knots = (lower + 1.0, lower + 2.0)
        else:
            knots = (upper - 2.0, upper - 1.0) if math.isfinite(upper) else (-1.0, 1.0)
        return cls(knots, knots, lower, upper)

    @cached_property
    def slopes(self) -> Numbers:
        """The slope of each piece between knots."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            return np.asarray(np.diff(self.values) / np.diff(self.knots))

    @cached_property
    def _ends(self) -> tuple[tuple[float, float, float, float], ...]:
        """Of the lower and of the upper tail: knot, value, slope, and the width up to the end of the domain."""
        return (
            (self.knots[0], self.values[0], float(self.slopes[0]), self.knots[0] - self.lower),
            (self.knots[-1], self.values[-1], float(self.slopes[-1]), self.upper - self.knots[-1]),
        )

    def __call__(self, x: ArrayLike) -> Numbers:
        """T(x); minus or plus infinity at and beyond the ends of the domain, NaN at NaN.

        Args:
            x: Numbers.
        """
        x = np.asarray(x, dtype=np.float64)
        z = np.interp(x, self.knots, self.values)
        for sign, (knot, value, slope, width) in zip((-1.0, 1.0), self._ends, strict=True):
            beyond = np.maximum(sign * (x - knot), 0.0)
            with np.errstate(divide="ignore", over="ignore"):
                rise = beyond if math.isinf(width) else -width * np.log1p(-np.minimum(beyond / width, 1.0))
                z = np.where(beyond > 0, value + sign * slope * rise, z)
        return np.asarray(z)

    def log_slope(self, x: ArrayLike) -> Numbers:
        """log T'(x); at a knot that of the piece above, minus infinity at and beyond the ends of the domain.

        Args:
            x: Numbers.
        """
        x = np.asarray(x, dtype=np.float64)
        piece = np.searchsorted(self.knots, np.nan_to_num(x), side="right") - 1
        logs = np.log(self.slopes)[np.clip(piece, 0, len(self.slopes) - 1)]
        for sign, (knot, _, _, width) in zip((-1.0, 1.0), self._ends, strict=True):
            beyond = sign * (x - knot)
            if math.isfinite(width):
                with np.errstate(divide="ignore", over="ignore"):
                    inside = np.clip(beyond / width, 0.0, 1.0)
                    logs = np.where(inside < 1, logs - np.log1p(-inside), -np.inf)
        return np.asarray(np.where(np.isnan(x), np.nan, np.where(np.isinf(x), -np.inf, logs)))

    def inverse(self, z: ArrayLike) -> Numbers:
        """The x with T(x) = z; a number inside the domain for every finite z.

        Args:
            z: Numbers.
        """
        z = np.asarray(z, dtype=np.float64)
        x = np.interp(z, self.values, self.knots)
        for sign, (knot, value, slope, width) in zip((-1.0, 1.0), self._ends, strict=True):
            rise = np.maximum(sign * (z - value), 0.0) / slope
            with np.errstate(over="ignore"):  # where a tail has no room, any rise leads to its end
                away = rise if math.isinf(width) else -width * np.expm1(-rise / width)
            x = np.where(rise > 0, knot + sign * away, x)
        return np.asarray(np.clip(x, math.nextafter(self.lower, math.inf), math.nextafter(self.upper, -math.inf)))

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back without loss; an end at infinity is None."""
        ends = {name: value if math.isfinite(value) else None for name, value in (("lower", self.lower), ("upper", self.upper))}
        return {"knots": list(self.knots), "values": list(self.values), **ends}

    @classmethod
    def from_dict(cls, data: Any) -> Warp:
        """The warp that `to_dict` described.

        Args:
            data: What `to_dict` returned.

        Raises:
            CircuitError: If it is something else.
        """
        keys = {"knots", "values", "lower", "upper"}
        if not isinstance(data, Mapping) or set(data) != keys:
            got = sorted(map(str, data)) if isinstance(data, Mapping) else type(data).__name__
            raise CircuitError("A warp's data", f"have {', '.join(sorted(keys))}", got, "use circuit.to_json()")
        given = {name: data[name] for name in ("lower", "upper") if data[name] is not None}
        ends = dict(zip(given, finite(given.values(), "The ends of a warp's domain"), strict=True))
        return cls(data["knots"], data["values"], **ends)
