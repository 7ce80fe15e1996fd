"""Inputs of a model in the user's words, for networks and boosters that come without their preprocessing.

One item per input, in the order in which the model takes them:

    encoder = [Scaled("age", shift=17, scale=73), *one_hot_of(schema, "job"), Raw("amount"), Rank("school")]
    likely.predictor.read(network, schema, encoder=encoder)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from likely.errors import PredictorError
from likely.predictor.wires import ModelInputs, Step, Wire, refuse_numbers
from likely.schema import Schema
from likely.schema.values import Name, Value, plain


@dataclass(frozen=True)
class Raw:
    """The feature's value itself."""

    feature: Name

    def wire(self, raw: Wire) -> Wire:
        """The input, from the feature's own column.

        Args:
            raw: The column as the user's table holds it.
        """
        return raw


@dataclass(frozen=True)
class Scaled:
    """(value - shift) / scale."""

    feature: Name
    shift: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.shift) and math.isfinite(self.scale)) or self.scale == 0:
            raise PredictorError(
                f"A Scaled of feature {self.feature!r}", "have a finite shift and a finite scale other than 0",
                f"shift={self.shift}, scale={self.scale}", "use scale=1 for a constant column", feature=self.feature,
            )  # fmt: skip

    def wire(self, raw: Wire) -> Wire:
        """The input, from the feature's own column.

        Args:
            raw: The column as the user's table holds it.
        """
        return raw.then(Step("subtract", float(self.shift)), Step("divide", float(self.scale)), by="Scaled")


@dataclass(frozen=True)
class Indicator:
    """1 where the feature has this value, 0 elsewhere."""

    feature: Name
    value: Value

    def wire(self, raw: Wire) -> Wire:
        """The input, from the feature's own column.

        Args:
            raw: The column as the user's table holds it.
        """
        value, known = plain(self.value), [plain(atom) for atom in raw.atoms]
        if value not in known:
            hint = f"it has {known}" if known else "it has only numbers; use Raw or Scaled"
            thing = f"An Indicator of feature {self.feature!r}"
            raise PredictorError(thing, "name one of its values", repr(self.value), hint, feature=self.feature)
        return raw.coded([atom == value for atom in known])


@dataclass(frozen=True)
class Rank:
    """The place of the feature's value in its list: 0, 1, 2, ..."""

    feature: Name

    def wire(self, raw: Wire) -> Wire:
        """The input, from the feature's own column.

        Args:
            raw: The column as the user's table holds it.
        """
        refuse_numbers(raw, "Rank")
        return raw.coded(range(len(raw.atoms)))


Encoding: TypeAlias = Raw | Scaled | Indicator | Rank


def one_hot_of(schema: Schema, feature: Name) -> list[Indicator]:
    """One `Indicator` per value of a feature (of a mixed one: per code), in the order of its values.

    Args:
        schema: The schema that the feature is of.
        feature: Its name.
    """
    if not schema[feature].atoms:
        thing = f"Feature {feature!r}"
        raise PredictorError(
            thing, "have a list of values to be one-hot encoded", "a numeric feature", "use Raw or Scaled", feature=feature
        )
    return [Indicator(feature, value) for value in schema[feature].atoms]


def encoded(schema: Schema, encodings: Sequence[Encoding]) -> ModelInputs:
    """The inputs that a list of encodings describes."""
    raw = ModelInputs.raw(schema)
    wires = []
    for item in encodings:
        if not isinstance(item, Raw | Scaled | Indicator | Rank):
            raise PredictorError(
                "An encoder", "be a transformer or a list of encodings", repr(item), "use Raw, Scaled, Indicator and Rank"
            )
        wires.append(item.wire(raw.wires[schema.index(item.feature)]))
    return ModelInputs(schema, tuple(wires))
