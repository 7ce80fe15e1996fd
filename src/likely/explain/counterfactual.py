"""`Counterfactual`: one answer, in the user's own values, with what it costs and how likely it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from likely.explain import text
from likely.explain.query import Query, plain_numbers, same_rows, with_infinities
from likely.schema import Feature
from likely.schema.values import Name, Numbers, Value


@dataclass(frozen=True)
class Counterfactual:
    """A row that the model decides otherwise."""

    query: Query = field(repr=False)
    #: The row's values in the order of the features.
    values: tuple[Value, ...] = field(repr=False)
    #: The class that the model gives it.
    label: Value
    #: What was minimised: cost - weight * log-likelihood.
    objective: float
    #: What the changes cost, by the schema.
    cost: float
    #: The natural logarithm of its likelihood together with its class (given what the query says); None without a circuit.
    log_likelihood: float | None
    #: How many percent of the training rows (of its class, unless the query says all) are no likelier.
    percentile: float | None
    #: The model's probability of `label`: for the row that was explained (None if that is not complete), and for this one.
    probability_before: float | None
    probability_after: float | None

    @cached_property
    def numbers(self) -> Numbers:
        """The row as doubles."""
        return self.query.schema.encode_row(list(self.values))

    @property
    def row(self) -> pd.Series[Any]:
        """The row in the user's own dtypes."""
        return self.query.schema.decode(self.numbers).iloc[0]

    @cached_property
    def changes(self) -> dict[Name, tuple[Any, Any]]:
        """Each feature that changes: its value before and after. An unknown value is None before."""
        schema, before, after = self.query.schema, self.query.factual, self.numbers
        changed = np.flatnonzero(~same_rows(before, after)).tolist()
        features = [(j, schema.features[j]) for j in changed]
        return {own.name: (_cell(own, float(before[j])), _cell(own, float(after[j]))) for j, own in features}

    @property
    def number_of_changes(self) -> int:
        """How many features change."""
        return int((~same_rows(self.query.factual, self.numbers)).sum())

    @property
    def sentence(self) -> str:
        """The answer in plain language."""
        return text.sentence(self)

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """Plain data; with its query, `from_dict` reads it back without loss."""
        data = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "query"}
        return {**data, **plain_numbers({name: data[name] for name in _NUMBERS}), "values": list(self.values)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], query: Query) -> Counterfactual:
        """The answer that `to_dict` described."""
        numbers = with_infinities({name: data[name] for name in _NUMBERS})
        return cls(**{**data, **numbers, "query": query, "values": tuple(data["values"])})


#: What may be infinite.
_NUMBERS = ("objective", "log_likelihood")


def _cell(feature: Feature, number: float) -> Any:
    """A value as the user's column holds it, numpy's numbers as Python's and anything missing as None."""
    cell: Any = feature.decode(np.array([number])).iloc[0]
    if pd.isna(cell):
        return None
    return cell.item() if isinstance(cell, np.generic) else cell
