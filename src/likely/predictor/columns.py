"""Columns: the inputs of linear models and networks, each a function of one feature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from likely.errors import PredictorError
from likely.predictor.curves import CurveStep, read_step
from likely.schema.values import Numbers


@dataclass(frozen=True)
class Column:
    """One input of a model as a function of one feature.

    The value is `table[k]` for the k-th discrete value of the feature, or the k-th code of a mixed one, and
    slope * (x - center) + intercept for a number x: with the center of a scaler, as the scaler computes it. Where there is a
    `curve`, its steps follow, in order.
    """

    feature: int
    slope: float = 0.0
    intercept: float = 0.0
    table: tuple[float, ...] = ()
    discrete: bool = False
    center: float = 0.0
    curve: tuple[CurveStep, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.feature, bool) or not isinstance(self.feature, int | np.integer) or not 0 <= self.feature < 2**31:
            raise PredictorError("A Column", "read a feature of the schema by its place", repr(self.feature), "count from 0")
        object.__setattr__(self, "table", tuple(self.table))
        object.__setattr__(self, "curve", tuple(self.curve))
        if not np.isfinite([self.slope, self.intercept, self.center, *self.table]).all():
            raise PredictorError(
                f"A Column of feature number {self.feature}", "have finite numbers", "NaN or infinity", "check how it is scaled"
            )

    def at(self, numbers: Numbers | float) -> Numbers:
        """What the model reads for numbers of the feature.

        Args:
            numbers: Numbers, no codes.
        """
        reads = np.asarray(self.slope * (numbers - self.center) + self.intercept)
        for step in self.curve:
            reads = step.at(reads)
        return reads

    @property
    def kinks(self) -> Numbers:
        """Numbers of the feature, up to rounding, at which the curve is clipped or has a knot; between them it is smooth."""
        found: list[Numbers] = []
        for k, step in enumerate(self.curve):
            ends = np.array(step.knots if step.knots else [step.intercept] * (step.op in ("at_least", "at_most", "above")))
            for before in reversed(self.curve[:k]):
                ends = (ends - before.intercept) / before.slope if before.op == "affine" and before.slope else ends
            found.append((ends - self.intercept) / self.slope + self.center if self.slope else ends[:0])
            if step.op not in ("affine", "at_least", "at_most"):  # what follows is not carried back through it
                break
        return np.concatenate([*found, np.empty(0)])

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `column_from_dict` reads back."""
        data = {**vars(self), "table": list(self.table)}
        if self.curve:
            return {**data, "curve": [step.to_dict() for step in self.curve]}
        del data["curve"]
        return data


def column_from_dict(data: Mapping[str, Any]) -> Column:
    """The column that `Column.to_dict` described.

    Args:
        data: What it gave.
    """
    curve = tuple(read_step(step) for step in data.get("curve", ()))
    return Column(**{**data, "table": tuple(data["table"]), "curve": curve})
