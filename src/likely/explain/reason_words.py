"""Sentences of reasons: those that a table of the user has for a feature, or ones made of the values.

A table has an entry per feature: a sentence, or several by what is the case - `"low"` (the value would have to be higher),
`"high"` (lower), a value of the row itself, and `"otherwise"`. In a sentence, `{value}` is the row's value, `{to}` the one with
which the decision would have been another, `{feature}` what people call the feature.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from likely.errors import ExplainerError
from likely.schema import Feature, Schema
from likely.schema.values import Name

#: What is wrong with a value, where values have an order.
Direction: TypeAlias = Literal["low", "high", ""]
#: feature -> its sentence, or its sentences by what is the case
Words: TypeAlias = Mapping[Name, "str | Mapping[Any, str]"]

_PLACEHOLDERS = ("value", "to", "feature")


def check_words(words: Words | None, schema: Schema) -> None:
    """Refuse a table with features that are not in the schema, or with sentences that have other placeholders.

    Args:
        words: The user's table; None if there is none.
        schema: It has the features.
    """
    if words is None:
        return
    if not isinstance(words, Mapping):
        raise _refusal("be a mapping from features to sentences", type(words).__name__)
    for name, entry in words.items():
        schema.index(name)
        cases = entry if isinstance(entry, Mapping) else {"otherwise": entry}
        for case, sentence in cases.items():
            _check_sentence(name, sentence)
            _check_case(schema[name], case)


def _check_case(feature: Feature, case: Any) -> None:
    if case == "otherwise" or (case in ("low", "high") and feature.ordered):
        return
    if isinstance(case, str) and case in ("low", "high"):
        raise _refusal("have no 'low' and 'high' for a feature without an order", f"{case!r} of {feature.name!r}", feature)
    try:
        feature.number(case)
    except ValueError:
        rule = "tell 'low', 'high', 'otherwise' or a value of the feature apart"
        raise _refusal(rule, f"{case!r} of {feature.name!r}", feature) from None


def _check_sentence(name: Name, sentence: Any) -> None:
    if not isinstance(sentence, str) or not sentence.strip():
        raise _refusal("have a sentence for every feature", f"{sentence!r} of {name!r}")
    try:
        found = [part for _, part, _, _ in string.Formatter().parse(sentence) if part is not None]
    except ValueError as error:
        raise _refusal("have sentences with whole placeholders", f"{sentence!r}: {error}") from None
    for part in found:
        if part not in _PLACEHOLDERS:
            allowed = ", ".join(f"{{{one}}}" for one in _PLACEHOLDERS)
            raise _refusal(f"have sentences with no other placeholders than {allowed}", f"{{{part}}} of {name!r}")


def _refusal(rule: str, got: str, feature: Feature | None = None) -> ExplainerError:
    hint = "write {'income': 'Income insufficient', 'debt': {'high': 'Excessive obligations'}}"
    return ExplainerError("The words of reasons", rule, got, hint, feature=None if feature is None else feature.name)


def own_sentence(words: Words | None, feature: Feature, now: Any, before: str, after: str, way: Direction) -> str | None:
    """The sentence that the table has for a reason; None if it has none.

    Args:
        words: The user's table.
        feature: That is the reason.
        now: The row's value, as the user writes it.
        before: The same, for people.
        after: The value with which the decision would have been another, for people.
        way: What is wrong with the value, if values have an order.
    """
    entry = None if words is None else words.get(feature.name)
    if entry is None:
        return None
    sentence = entry if isinstance(entry, str) else _case(entry, feature, now, way)
    return None if sentence is None else sentence.format(value=before, to=after, feature=feature.title)


def _case(entry: Mapping[Any, str], feature: Feature, now: Any, way: Direction) -> str | None:
    """The sentence of the row's own value, else of its direction, else of all other cases."""
    number = feature.number(now)
    for case, sentence in entry.items():
        if case not in ("low", "high", "otherwise") and feature.number(case) == number:
            return sentence
    return entry.get(way, entry.get("otherwise"))
