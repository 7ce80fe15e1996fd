"""Functions of scores: what calibrations, votes, averages and smooth networks do to the scores of their parts.

Each is bounded from the bounds of its arguments, so that whatever is composed of them can be bounded part by part.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, ndtr, softmax

from likely.errors import PredictorError
from likely.schema.values import Numbers


def _interpolated(z: Numbers, function: Function) -> Numbers:
    return np.interp(z, function.knots, function.values)


#: What makes `silu` and `gelu` rise everywhere: neither falls by more than 0.13 per unit. A layer can take it away again.
RISE = 5 / 32

#: Functions of one number, none of which ever falls; in the order of the core's (`src/core/search/score_functions.hpp`).
SINGLE: dict[str, Callable[[Numbers, Function], Numbers]] = {
    "identity": lambda z, _: z,
    "relu": lambda z, _: np.maximum(z, 0.0),
    "logistic": lambda z, _: expit(z),  # 1 / (1 + exp(-z))
    "tanh": lambda z, _: np.tanh(z),
    "clip": lambda z, _: np.clip(z, 0.0, 1.0),
    "above": lambda z, _: np.where(z > 0, 1.0, 0.0),  # a vote
    "at_least": lambda z, _: np.where(z >= 0, 1.0, 0.0),
    "confidence": lambda z, _: z / (3 * (np.abs(z) + 1)),  # within a third of 0, as one-vs-one breaks ties of votes
    "interpolate": _interpolated,  # linear between knots, constant beyond them
    "softplus": lambda z, _: np.logaddexp(0.0, z),  # log(1 + exp(z))
    "elu": lambda z, _: np.where(z > 0, z, np.expm1(np.minimum(z, 0.0))),
    "rising_silu": lambda z, _: z * expit(z) + RISE * z,
    "rising_gelu": lambda z, _: z * ndtr(z) + RISE * z,
}
#: Functions of all numbers of a group, each result rising in its own number and falling in the others.
GROUP = ("softmax", "shares", "largest")


@dataclass(frozen=True)
class Function:
    """A function of scale * x + shift; of `width` neighbouring numbers together if it is a softmax or the like.

    - `identity`, `relu`, `logistic`, `tanh`, `clip` (to 0 ... 1), `above` and `at_least` (1 where the number is above 0, or at
      least 0; else 0), `confidence` (z / (3 |z| + 3)), `interpolate` (through `knots` and `values`), `softplus`
      (log(1 + exp(z))), `elu` (z, or exp(z) - 1 below 0), `rising_silu` and `rising_gelu` (z logistic(z) or z Phi(z), plus
      5 z / 32): of each number alone;
    - `softmax`, `shares` (each number divided by their sum; all alike if that is 0), `largest` (1 for the first of the largest,
      0 for the others): of a group.
    """

    kind: str
    scale: float = 1.0
    shift: float = 0.0
    width: int = 1
    knots: tuple[float, ...] = ()
    values: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for name in ("knots", "values"):
            object.__setattr__(self, name, tuple(float(x) for x in getattr(self, name)))
        if self.kind not in SINGLE and self.kind not in GROUP:
            known = ", ".join([*SINGLE, *GROUP])
            raise PredictorError("A function of scores", "have a known kind", repr(self.kind), f"use one of {known}")
        if not np.isfinite([self.scale, self.shift, *self.knots, *self.values]).all():
            raise PredictorError(f"A function {self.kind!r}", "have finite numbers", "NaN or infinity", "train the model again")
        if (self.width < 1) or (self.kind in SINGLE and self.width != 1):
            raise PredictorError(f"A function {self.kind!r}", "be of one number", f"width={self.width}", "leave width out")
        if (self.kind == "interpolate") != bool(self.knots) or len(self.knots) != len(self.values):
            raise PredictorError("An interpolation", "have a value per knot", f"{len(self.knots)} knots", "give both")
        if any(a >= b for a, b in zip(self.knots, self.knots[1:], strict=False)) or any(
            a > b for a, b in zip(self.values, self.values[1:], strict=False)
        ):
            raise PredictorError("An interpolation", "rise from knot to knot", "one that does not", "sort them by knot")

    @property
    def rises(self) -> bool:
        """Whether it never falls in its own number."""
        return self.scale >= 0

    def at(self, x: Numbers) -> Numbers:
        """The function of each row of numbers, n x width.

        Args:
            x: The numbers, n x width.
        """
        z = self.scale * x + self.shift
        if self.kind in SINGLE:
            return np.asarray(SINGLE[self.kind](z, self), dtype=np.float64)
        if self.kind == "softmax":
            return np.asarray(softmax(z, axis=1), dtype=np.float64)
        if self.kind == "largest":
            return np.asarray(np.argmax(z, axis=1)[:, None] == np.arange(z.shape[1]), dtype=np.float64)
        return _shares(z, z.sum(axis=1, keepdims=True))

    def bounds(self, low: Numbers, high: Numbers) -> tuple[Numbers, Numbers]:
        """The least and the greatest result where every number lies between two others.

        Args:
            low: Lower ends, n x width.
            high: Upper ends.
        """
        if self.kind in SINGLE:
            ends = self.at(low), self.at(high)
            return ends if self.rises else ends[::-1]
        first, second = (low, high) if self.rises else (high, low)
        lower, upper = np.empty_like(low), np.empty_like(low)
        for k in range(self.width):
            for out, own, others in ((lower, first, second), (upper, second, first)):
                at = others.copy()
                at[:, k] = own[:, k]
                out[:, k] = self._bound_of_group(at, k, upper=out is upper)
        return lower, upper

    def _bound_of_group(self, x: Numbers, k: int, *, upper: bool) -> Numbers:
        if self.kind == "largest":  # of equals, any may be first
            z = self.scale * x + self.shift
            others = np.delete(z, k, axis=1).max(axis=1, initial=-math.inf)
            return np.asarray(z[:, k] >= others if upper else z[:, k] > others, dtype=np.float64)
        return self.at(x)[:, k]

    def to_dict(self) -> dict[str, Any]:
        """Plain data: `Function(**data)` reads it back."""
        return {**vars(self), "knots": list(self.knots), "values": list(self.values)}


def _shares(parts: Numbers, total: Numbers) -> Numbers:
    return np.asarray(np.where(total == 0, 1 / parts.shape[1], parts / np.where(total == 0, 1.0, total)))
