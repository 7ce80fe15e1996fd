"""Features: what one column may hold, and how its values become doubles.

| kind          | for                                            | a value is stored as                       |
| ------------- | ---------------------------------------------- | ------------------------------------------ |
| `Continuous`  | amounts, rates; with `step`: cents             | itself                                     |
| `Integer`     | counts, ages, dates (days since 1970-01-01)    | itself                                     |
| `Ordinal`     | ranked values: school degrees, income bands    | its rank                                   |
| `Categorical` | unranked values: purpose, marital status       | its place in `values`                      |
| `Binary`      | two values: yes / no                           | 0 or 1                                     |
| `Mixed`       | numbers plus codes: -9 "no record", missing    | the number, or `code_number(k)` of a code  |

An unknown value of a factual is stored as NaN. `encode` and `decode` are a pair: what a column holds comes back
unchanged, in its own dtype.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from likely.errors import SchemaError
from likely.schema.discrete import Binary, Categorical, Ordinal
from likely.schema.feature import Feature
from likely.schema.numeric import Continuous, Integer, Mixed

__all__ = [
    "KINDS",
    "Binary",
    "Categorical",
    "Continuous",
    "Feature",
    "Integer",
    "Mixed",
    "Ordinal",
    "feature_from_dict",
    "make_feature",
]


KINDS: dict[str, type[Feature]] = {
    feature.kind: feature for feature in (Continuous, Integer, Ordinal, Categorical, Binary, Mixed)
}


def feature_from_dict(data: Mapping[str, Any]) -> Feature:
    """The feature that `Feature.to_dict` described; refuses unknown kinds and keys by name.

    Args:
        data: As `Feature.to_dict` wrote it.
    """
    if not isinstance(data, Mapping):
        raise SchemaError("A feature", "have a name, a kind and its settings", repr(data), "see `likely schema infer`")
    settings = dict(data)
    return make_feature(settings.pop("kind", None), settings)


def make_feature(kind: Any, settings: Mapping[str, Any]) -> Feature:
    """A feature of this kind with these settings; refuses what the kind does not have.

    Args:
        kind: One of `KINDS`.
        settings: The fields of the kind, by name.
    """
    name = settings.get("name")
    if not isinstance(kind, str) or kind not in KINDS:
        raise SchemaError(f"Feature {name!r}", "have a known kind", repr(kind), f"use one of {', '.join(KINDS)}", feature=name)
    known = {item.name for item in fields(KINDS[kind])}
    for key in settings:
        if key not in known:
            raise SchemaError(
                f"Feature {name!r}", f"have only settings of the kind {kind}", repr(key), f"use {_names(known)}", feature=name
            )
    try:
        return KINDS[kind](**settings)
    except TypeError as error:
        raise SchemaError(
            f"Feature {name!r}", "be complete", error, f"the kind {kind} has {_names(known)}", feature=name
        ) from None


def _names(names: set[str]) -> str:
    return ", ".join(sorted(names - {"name"}))
