"""`Query`: one question about one row, as plain data."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pandas as pd

from likely.explain.plausibility import Variant, Weight, variant_from_dict
from likely.problem import Limits
from likely.schema import Schema
from likely.schema.values import Name, Numbers, Value


@dataclass(frozen=True)
class Query:
    """What was asked: a row, what it shall become, and what an answer must keep."""

    #: The features, costs and rules, those of this question too; wide enough to hold the row.
    schema: Schema
    #: The row's values in the order of the features; None where a value is unknown.
    values: tuple[Value, ...]
    #: The class that the model gives the row; None if the row is not complete.
    label: Value
    #: The class to reach; None for any other.
    target: Value
    #: How likely an answer must be; None if that does not matter.
    plausibility: Variant | None
    #: Of likelihood in what is minimised: cost - weight * log-likelihood.
    weight: float
    limits: Limits
    #: The names of what likelihoods are given: features that may not change, the circuit's target.
    given: tuple[Name, ...] = ()
    engine: str = "search"
    #: The solver that the engine was told to drive.
    solver: str | None = None

    @cached_property
    def factual(self) -> Numbers:
        """The row as doubles."""
        return self.schema.encode_row(list(self.values))

    @property
    def row(self) -> pd.Series[Any]:
        """The row in the user's own dtypes."""
        return self.schema.decode(self.factual).iloc[0]

    @property
    def density(self) -> tuple[str, ...]:
        """What likelihoods are given, as the plausibility says it."""
        return () if self.plausibility is None else self.plausibility.given

    @property
    def of_class(self) -> bool:
        """Whether answers are compared with the training rows of their class, not with all."""
        return self.plausibility is None or self.plausibility.of == "class"

    @property
    def total_weight(self) -> float:
        """The weight of likelihood, wherever it was given."""
        return self.plausibility.weight if isinstance(self.plausibility, Weight) else self.weight

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back without loss."""
        return {
            "schema": self.schema.to_dict(),
            "values": list(self.values),
            "label": self.label,
            "target": self.target,
            "plausibility": None if self.plausibility is None else plain_numbers(self.plausibility.to_dict()),
            "weight": self.weight,
            "limits": plain_numbers(asdict(self.limits)),
            "given": list(self.given),
            "engine": self.engine,
            "solver": self.solver,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Query:
        """The query that `to_dict` described."""
        found = dict(data)
        found["schema"] = _schema(json.dumps(found["schema"]))
        found["values"], found["given"] = tuple(found["values"]), tuple(found["given"])
        found["plausibility"] = variant_from_dict(with_infinities(found["plausibility"]))
        found["limits"] = Limits(**with_infinities(found["limits"]))
        return cls(**found)


@lru_cache(maxsize=16)
def _schema(text: str) -> Schema:
    """The schema in a JSON text; the queries of a batch have the same one, and building it takes longest."""
    return Schema.from_dict(json.loads(text))


def values_of(schema: Schema, row: Numbers) -> tuple[Value, ...]:
    """The user's values that doubles stand for."""
    return tuple(feature.value(float(number)) for feature, number in zip(schema.features, row, strict=True))


#: Numbers that JSON does not have.
_NAMED = {"inf": math.inf, "-inf": -math.inf}


def plain_numbers(data: dict[str, Any]) -> dict[str, Any]:
    """The data with names for infinities, which JSON does not have."""
    return {key: str(value) if isinstance(value, float) and math.isinf(value) else value for key, value in data.items()}


def with_infinities(data: Any) -> Any:
    """The inverse of `plain_numbers`."""
    if data is None:
        return None
    return {key: _NAMED.get(value, value) if isinstance(value, str) else value for key, value in data.items()}


def same_rows(one: Numbers, other: Numbers) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which values two rows share; an unknown is an unknown."""
    return np.asarray((one == other) | (np.isnan(one) & np.isnan(other)))
