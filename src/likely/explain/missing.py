"""Values that stand for a missing one: nobody can act on "become missing", so answers do not, unless they are allowed to."""

from __future__ import annotations

from collections.abc import Iterable

from likely.schema import Constraint, Feature, Forbid, Schema
from likely.schema.conditions import equals
from likely.schema.values import Name, Numbers, Value

#: Texts that tables have in the place of a missing value; also as labels of codes.
_TEXTS = frozenset({"", "?", "nan", "n/a", "<na>", "null", "missing"})


def missing_values(feature: Feature) -> tuple[Value, ...]:
    """The values of a feature that stand for a missing one.

    Args:
        feature: Any; a mixed one may have codes of this kind.
    """
    labels = getattr(feature, "labels", ()) or feature.atoms
    named = zip(feature.atoms, labels, strict=True)
    return tuple(atom for atom, label in named if atom is None or _is_missing(atom) or _is_missing(label))


def _is_missing(text: Value) -> bool:
    return isinstance(text, str) and text.strip().lower() in _TEXTS


def rules_against_missing(schema: Schema, factual: Numbers, allowed: Iterable[Name] | bool) -> list[Constraint]:
    """Rules that what the factual has does not become missing; what is missing may stay so.

    Args:
        schema: The features.
        factual: The row, as doubles.
        allowed: The names of features that may become missing; True for all.
    """
    if isinstance(allowed, bool):
        allowed = schema.names if allowed else ()
    free = {schema.index(name) for name in allowed}
    rules: list[Constraint] = []
    for j, feature in enumerate(schema.features):
        values = () if j in free else missing_values(feature)
        if values and factual[j] not in [feature.number(value) for value in values]:
            rules += [Forbid(equals(feature.name, value)) for value in values]
    return rules
