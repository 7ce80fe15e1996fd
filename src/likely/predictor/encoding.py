"""Inputs of a model in the user's words: for networks and boosters that come without their preprocessing.

    encoder = [Scaled("age", shift=17, scale=73), *one_hot_of(schema, "job"), Raw("amount"), Rank("school")]
    likely.predictor.read(network, schema, encoder=encoder)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from likely.errors import PredictorError
from likely.predictor.wires import Inputs, Step, Wire, one_hot, ordinal
from likely.schema import Schema
from likely.schema.values import Name, Value, plain


@dataclass(frozen=True)
class Raw:
    """The feature's value itself."""

    feature: Name

    def wire(self, raw: Wire) -> Wire:
        """The input, from the feature's own column."""
        return raw


@dataclass(frozen=True)
class Scaled:
    """(value - shift) / scale."""

    feature: Name
    shift: float = 0.0
    scale: float = 1.0

    def wire(self, raw: Wire) -> Wire:
        """The input, from the feature's own column."""
        return raw.then(Step("subtract", self.shift), Step("divide", self.scale), by="Scaled")


@dataclass(frozen=True)
class Indicator:
    """1 where the feature has this value, 0 elsewhere."""

    feature: Name
    value: Value

    def wire(self, raw: Wire) -> Wire:
        """The input, from the feature's own column."""
        if plain(self.value) not in raw.atoms:
            raise PredictorError(
                f"An Indicator of feature {self.feature!r}", "name one of its values", repr(self.value), f"it has {list(raw.atoms)}",
                feature=self.feature,
            )  # fmt: skip
        if raw.numeric:  # a code of a mixed feature
            return replace(raw, atoms=tuple(float(atom == self.value) for atom in raw.atoms), constant=0.0)
        return one_hot(raw, [self.value], "Indicator")[0]


@dataclass(frozen=True)
class Rank:
    """The place of the feature's value in its list: 0, 1, 2, ..."""

    feature: Name

    def wire(self, raw: Wire) -> Wire:
        """The input, from the feature's own column."""
        return ordinal(raw, lambda atom: float(raw.atoms.index(atom)), "Rank")


Encoding: TypeAlias = Raw | Scaled | Indicator | Rank


def one_hot_of(schema: Schema, feature: Name) -> list[Indicator]:
    """One `Indicator` per value of a feature, in the order of its values."""
    return [Indicator(feature, value) for value in schema[feature].atoms]


def encoded(schema: Schema, encodings: Sequence[Encoding]) -> Inputs:
    """The inputs that a list of encodings describes."""
    raw = Inputs.raw(schema)
    wires = []
    for item in encodings:
        if not isinstance(item, Raw | Scaled | Indicator | Rank):
            raise PredictorError("An encoder", "be a transformer or a list of encodings", repr(item), "use Raw, Scaled, Indicator, Rank")
        wires.append(item.wire(raw.wires[schema.index(item.feature)]))
    return Inputs(schema, tuple(wires))
