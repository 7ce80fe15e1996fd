"""`Counterfactual`: one answer, in the user's own values, with what it costs and how likely it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from likely.explain import text
from likely.explain.plain import CELL, MAYBE, NUMBER, of_kinds, plain_numbers, same_values, values_of, with_infinities
from likely.explain.query import Query
from likely.schema import Feature
from likely.schema.values import Name, Numbers, Value

#: The numbers of an answer, as tables have them.
MEASURES = (
    "cost",
    "number_of_changes",
    "log_likelihood",
    "percentile",
    "coherence",
    "coherence_percentile",
    "probability_before",
    "probability_after",
    "prediction",
)
#: What may be infinite.
_NUMBERS = ("objective", "log_likelihood", "coherence")
#: name -> what it is written with
_KINDS = {
    "label": CELL, "objective": NUMBER, "cost": NUMBER, "log_likelihood": MAYBE, "percentile": MAYBE, "coherence": MAYBE,
    "coherence_percentile": MAYBE, "probability_before": MAYBE, "probability_after": MAYBE,
}  # fmt: skip
#: What `to_dict` writes for readers, and the rest follows from.
_FOR_READERS = ("changes", "sentence")


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """A row that the model decides otherwise."""

    query: Query = field(repr=False)
    #: The row as doubles, in the order of the features.
    numbers: Numbers = field(repr=False)
    #: The class that the model gives it.
    label: Value
    #: What was minimised: cost - weight * log-likelihood.
    objective: float
    #: What the changes cost, by the schema.
    cost: float
    #: The natural logarithm of its likelihood together with its class (given what the query says); None without a circuit.
    log_likelihood: float | None
    #: How many percent of the rows that the query compares with (of its class, unless it says all) are no likelier.
    percentile: float | None
    #: How well its values and its class fit together (`likely.circuit.coherence`), and in how many percent of the same rows
    #: they fit no better; None without a circuit, without such rows, and in explanations of version 4 and before.
    coherence: float | None
    coherence_percentile: float | None
    #: The model's probability of `label`: for the row that was explained (None if that is not complete), and for this one.
    probability_before: float | None
    probability_after: float | None
    #: A regressor's prediction for this row; None of a classifier, and in explanations of version 6 and before.
    prediction: float | None

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """The row's values in the order of the features."""
        return values_of(self.query.schema, self.numbers)

    @property
    def row(self) -> pd.Series[Any]:
        """The row in the user's own dtypes."""
        return self.query.schema.decode(self.numbers).iloc[0]

    @cached_property
    def changed(self) -> tuple[Name, ...]:
        """The names of the features with a new value, and of those whose unknown value is filled in."""
        places = np.flatnonzero(~same_values(self.query.factual, self.numbers)).tolist()
        return tuple(self.query.schema.names[j] for j in places)

    @cached_property
    def changes(self) -> dict[Name, tuple[Any, Any]]:
        """Each feature with a new value: the one before and the one after.

        An unknown value that is filled in is listed, too, with None before; it does not count as a change.
        """
        before, after = self.query.factual, self.numbers
        changed = [(j, feature) for j, feature in enumerate(self.query.schema.features) if feature.name in self.changed]
        return {feature.name: (_cell(feature, float(before[j])), _cell(feature, float(after[j]))) for j, feature in changed}

    @property
    def number_of_changes(self) -> int:
        """How many features change, as `MaxChanges` counts them: not those whose unknown value was filled in."""
        return int(self.query.changed(self.numbers).sum())

    @property
    def sentence(self) -> str:
        """The answer in plain language."""
        return text.sentence(self)

    def __str__(self) -> str:
        return self.sentence

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Counterfactual) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[Any, ...]:
        """Everything, with values in the place of doubles: a missing value equals itself."""
        return (self.values, *(getattr(self, item.name) for item in fields(self) if item.name != "numbers"))

    def to_dict(self) -> dict[str, Any]:
        """Plain data; with its query, `from_dict` reads it back without loss. Changes and sentence are for readers."""
        data = {item.name: getattr(self, item.name) for item in fields(self) if item.name not in ("query", "numbers")}
        written = {**data, **plain_numbers({name: data[name] for name in _NUMBERS})}
        return {"values": list(self.values), **written, **self.for_readers()}

    def for_readers(self) -> dict[str, Any]:
        """What `to_dict` writes for readers: it follows from the rest."""
        cells = zip(self.query.schema.names, self.query.values, self.values, strict=True)
        changes = {str(name): [before, after] for name, before, after in cells if name in self.changed}
        return {"changes": changes, "sentence": self.sentence}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], query: Query) -> Counterfactual:
        """The answer that `to_dict` described.

        Args:
            data: What `to_dict` made.
            query: The query that it answers.
        """
        parts = {key: value for key, value in data.items() if key not in ("values", *_FOR_READERS)}
        infinite = with_infinities({name: parts[name] for name in _NUMBERS})
        of_kinds({**parts, **infinite}, _KINDS)
        return cls(**{**parts, **infinite, "query": query, "numbers": query.schema.encode_row(data["values"])})


def _cell(feature: Feature, number: float) -> Any:
    """A value as the user's column holds it, numpy's numbers as Python's and anything missing as None."""
    cell: Any = feature.decode(np.array([number])).iloc[0]
    if pd.isna(cell):
        return None
    return cell.item() if isinstance(cell, np.generic) else cell
