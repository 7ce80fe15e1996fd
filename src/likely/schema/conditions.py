"""Conditions: what a rule may ask of one feature.

A condition is a set of values of one feature, given the factual's value. With nothing to compare to - the factual's
value is unknown - nothing increases, decreases or changes. The codes of a mixed feature are neither above nor below
its numbers: going from a number to a code is a change, and neither an increase nor a decrease.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from likely.errors import SchemaError
from likely.schema.features import Feature
from likely.schema.region import EVERYTHING, NOTHING, Region, above, below
from likely.schema.values import LARGEST, Name, Value, plain, plain_name
from likely.schema.wording import name_in_words, value_in_words

if TYPE_CHECKING:
    from likely.schema.schema import Schema

#: test -> (phrase, phrase when negated)
_PHRASES = {
    "increases": ("'{f}' increases", "'{f}' does not increase"),
    "decreases": ("'{f}' decreases", "'{f}' does not decrease"),
    "changes": ("'{f}' changes", "'{f}' stays"),
    "equals": ("'{f}' is {v}", "'{f}' is not {v}"),
    "at_least": ("'{f}' is at least {v}", "'{f}' is below {v}"),
    "at_most": ("'{f}' is at most {v}", "'{f}' is above {v}"),
    "was": ("'{f}' was {v}", "'{f}' was not {v}"),
}
_RELATIVE = ("increases", "decreases", "changes", "was")
_NEED_VALUE = ("equals", "at_least", "at_most", "was")
_NEED_ORDER = ("increases", "decreases", "at_least", "at_most")


@dataclass(frozen=True)
class Condition:
    """A test of one feature's value; `~condition` is its opposite. Made by `increases`, `equals`, ... below."""

    test: str
    feature: Name
    value: Value = None
    negated: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.test, str) or self.test not in _PHRASES:
            raise SchemaError("A condition", "have a known test", repr(self.test), f"use one of {', '.join(_PHRASES)}")
        object.__setattr__(self, "feature", plain_name(self.feature))
        object.__setattr__(self, "value", plain(self.value, self.feature))
        if self.test not in _NEED_VALUE and self.value is not None:
            raise SchemaError(
                f"Condition '{self.test}'", "have no value", repr(self.value), "leave the value out", feature=self.feature
            )

    def __invert__(self) -> Condition:
        return replace(self, negated=not self.negated)

    def __str__(self) -> str:
        return self.sentence()

    def sentence(self, schema: Schema | None = None) -> str:
        """The condition as a part of a sentence.

        Args:
            schema: Its labels and units are used; left out, the name of the column.
        """
        name, value = name_in_words(self.feature, schema), value_in_words(self.value, self.feature, schema)
        return _PHRASES[self.test][self.negated].format(f=name, v=value)

    @property
    def row_wise(self) -> bool:
        """Whether the condition can be told from the row alone, without the factual."""
        return self.test not in _RELATIVE

    def check(self, feature: Feature) -> None:
        """Refuse a condition that its feature cannot have.

        Args:
            feature: The feature that it names.
        """
        if self.test in _NEED_ORDER and not feature.ordered:
            raise SchemaError(
                f"Feature {self.feature!r}",
                f"have an order to be used in '{self}'",
                f"a {feature.kind} feature",
                "declare it Ordinal with its values in rank order",
                feature=self.feature,
            )
        if self.test in _NEED_VALUE:
            number = feature.number(self.value)
            if math.isnan(number) or (self.test in _NEED_ORDER and number < -LARGEST):
                raise SchemaError(
                    f"Condition '{self}'",
                    "name a value of its feature",
                    repr(self.value),
                    feature.describe(),
                    feature=self.feature,
                )

    def region(self, feature: Feature, factual: float) -> Region:
        """The values for which the condition holds, given the factual's value (NaN: unknown).

        Args:
            feature: The feature that it names.
            factual: The factual's value, as a double.
        """
        region = _TESTS[self.test](feature, factual, self.value)
        return ~region if self.negated else region

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `condition_from_dict` reads back."""
        plain_fields: dict[str, Any] = {"test": self.test, "feature": self.feature}
        if self.test in _NEED_VALUE:
            plain_fields["value"] = self.value
        if self.negated:
            plain_fields["not"] = True
        return plain_fields


def condition_from_dict(data: Mapping[str, Any]) -> Condition:
    """The condition that `Condition.to_dict` described.

    Args:
        data: As `Condition.to_dict` wrote it.
    """
    if not isinstance(data, Mapping) or not {"test", "feature"} <= set(data) <= {"test", "feature", "value", "not"}:
        raise SchemaError(
            "A condition",
            "have 'test', 'feature' and, where it needs them, 'value' and 'not'",
            data,
            "see the guide on constraints",
        )
    return Condition(data["test"], data["feature"], data.get("value"), bool(data.get("not", False)))


def _increases(feature: Feature, factual: float, value: Value) -> Region:
    return Region.between(above(factual), LARGEST) if _is_number(factual) else NOTHING


def _decreases(feature: Feature, factual: float, value: Value) -> Region:
    return Region.between(-LARGEST, below(factual)) if _is_number(factual) else NOTHING


def _changes(feature: Feature, factual: float, value: Value) -> Region:
    return NOTHING if math.isnan(factual) else ~Region.points([factual])


def _equals(feature: Feature, factual: float, value: Value) -> Region:
    return Region.points([feature.number(value)])


def _at_least(feature: Feature, factual: float, value: Value) -> Region:
    return Region.between(feature.number(value), LARGEST)


def _at_most(feature: Feature, factual: float, value: Value) -> Region:
    return Region.between(-LARGEST, feature.number(value))


def _was(feature: Feature, factual: float, value: Value) -> Region:
    return EVERYTHING if factual == feature.number(value) else NOTHING


def _is_number(factual: float) -> bool:
    return not math.isnan(factual) and factual >= -LARGEST


_TESTS: dict[str, Callable[[Feature, float, Value], Region]] = {
    "increases": _increases,
    "decreases": _decreases,
    "changes": _changes,
    "equals": _equals,
    "at_least": _at_least,
    "at_most": _at_most,
    "was": _was,
}


def increases(feature: Name) -> Condition:
    """The feature's value is higher than the factual's.

    Args:
        feature: Its name.
    """
    return Condition("increases", feature)


def decreases(feature: Name) -> Condition:
    """The feature's value is lower than the factual's.

    Args:
        feature: Its name.
    """
    return Condition("decreases", feature)


def changes(feature: Name) -> Condition:
    """The feature's value differs from the factual's.

    Args:
        feature: Its name.
    """
    return Condition("changes", feature)


def equals(feature: Name, value: Value) -> Condition:
    """The feature has this value.

    Args:
        feature: Its name.
        value: The value, as the user writes it.
    """
    return Condition("equals", feature, value)


def at_least(feature: Name, value: Value) -> Condition:
    """The feature is a number or rank of at least this.

    Args:
        feature: Its name.
        value: The value, as the user writes it.
    """
    return Condition("at_least", feature, value)


def at_most(feature: Name, value: Value) -> Condition:
    """The feature is a number or rank of at most this.

    Args:
        feature: Its name.
        value: The value, as the user writes it.
    """
    return Condition("at_most", feature, value)


def was(feature: Name, value: Value) -> Condition:
    """The factual has this value.

    Args:
        feature: Its name.
        value: The value, as the user writes it.
    """
    return Condition("was", feature, value)
