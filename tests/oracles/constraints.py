"""What the rules mean, in plain Python on the user's own values; slow, and written without the code it judges."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pandas as pd

from likely.schema import (
    AllowedValues,
    Condition,
    Constraint,
    Decreasing,
    Feature,
    Forbid,
    Immutable,
    Implies,
    Increasing,
    LinearConstraint,
    MaxChange,
    MaxChanges,
    Mixed,
    Range,
    Schema,
)

Row = Mapping[Any, Any]


def cell(value: Any) -> Any:
    """A cell as Python's own value: dates as dates, everything missing as None."""
    if pd.isna(value):
        return None
    if isinstance(value, datetime.date):
        return datetime.date(value.year, value.month, value.day)
    return value.item() if hasattr(value, "item") else value


def _dated(feature: Feature) -> bool:
    return feature.dtype == "date" or feature.dtype.startswith("datetime64")


def named(feature: Feature, value: Any) -> Any:
    """A value that a rule or a feature names, as a cell would hold it."""
    if _dated(feature) and feature.numeric and isinstance(value, str):
        return datetime.date.fromisoformat(value)
    return cell(value)


def unknown(feature: Feature, value: Any) -> bool:
    return value is None and None not in feature.atoms


def is_code(feature: Feature, value: Any) -> bool:
    return isinstance(feature, Mixed) and value in [named(feature, code) for code in feature.codes]


def rank(feature: Feature, value: Any) -> Any:
    """What can be compared: the number or date itself, the place in a ranked list; None for codes and unknowns."""
    if unknown(feature, value) or is_code(feature, value):
        return None
    return value if feature.numeric else list(feature.atoms).index(value)


def condition_holds(condition: Condition, schema: Schema, factual: Row, row: Row) -> bool:
    feature = schema[condition.feature]
    old, new = cell(factual[feature.name]), cell(row[feature.name])
    return _test(condition, feature, old, new) != condition.negated


def _test(condition: Condition, feature: Feature, old: Any, new: Any) -> bool:
    wanted = named(feature, condition.value)
    if condition.test == "equals":
        return bool(new == wanted)
    if condition.test == "was":
        return not unknown(feature, old) and bool(old == wanted)
    if condition.test == "changes":
        return changed(feature, old, new)
    here, there = rank(feature, new), rank(feature, wanted if condition.test.startswith("at_") else old)
    if here is None or there is None:
        return False
    if condition.test == "increases":
        return bool(here > there)
    if condition.test == "decreases":
        return bool(here < there)
    return bool(here >= there if condition.test == "at_least" else here <= there)


def changed(feature: Feature, old: Any, new: Any) -> bool:
    return not unknown(feature, old) and bool(old != new)


def holds(constraint: Constraint, schema: Schema, factual: Row, row: Row) -> bool | None:
    """Whether the row keeps the rule; None where a sum is so close to its end that rounding may decide."""

    def met(condition: Condition) -> bool:
        return condition_holds(condition, schema, factual, row)

    if isinstance(constraint, Implies):
        return all(map(met, constraint.consequence)) or not all(map(met, constraint.condition))
    if isinstance(constraint, Forbid):
        return not all(map(met, constraint.conditions))
    if isinstance(constraint, MaxChanges):
        moved = [changed(f, cell(factual[f.name]), cell(row[f.name])) for f in schema.features]
        return sum(moved) <= constraint.count
    if isinstance(constraint, LinearConstraint):
        return _sum_holds(constraint, schema, row)
    if isinstance(constraint, AllowedValues) and constraint.unless is not None and met(constraint.unless):
        return True
    return _one_feature(constraint, schema, factual, row)


def _one_feature(constraint: Any, schema: Schema, factual: Row, row: Row) -> bool:
    feature = schema[constraint.feature]
    old, new = cell(factual[feature.name]), cell(row[feature.name])
    before, after = rank(feature, old), rank(feature, new)
    if isinstance(constraint, Immutable):
        return not changed(feature, old, new)
    if isinstance(constraint, Increasing):
        return before is None or after is None or bool(after >= before)
    if isinstance(constraint, Decreasing):
        return before is None or after is None or bool(after <= before)
    if isinstance(constraint, Range):
        low, high = (None if end is None else rank(feature, named(feature, end)) for end in (constraint.lower, constraint.upper))
        return after is None or bool((low is None or after >= low) and (high is None or after <= high))
    if isinstance(constraint, MaxChange):
        return before is None or after is None or _near(constraint, feature, before, after)
    if constraint.values is not None:
        return new in [named(feature, value) for value in constraint.values]
    moves = {named(feature, a): [named(feature, b) for b in targets] for a, targets in constraint.transitions}
    if unknown(feature, old) or old not in moves:
        return True
    return bool(new == old) or new in moves[old]


def _near(constraint: MaxChange, feature: Feature, before: Any, after: Any) -> bool:
    """In fractions, up to what rounding may do to the end."""
    moved = Fraction((after - before).days) if hasattr(after - before, "days") else Fraction(after) - Fraction(before)
    size = constraint.up if moved > 0 else constraint.down
    if size is None or not moved:
        return True
    unit = {"value": Fraction(1), "steps": Fraction(feature.grid or 1)}.get(constraint.unit)
    most = Fraction(size) * (abs(Fraction(before)) / 100 if unit is None else unit)
    return abs(moved) <= most + Fraction(1e-12) * (most + (0 if unit is not None else abs(Fraction(before))))


def _sum_holds(constraint: LinearConstraint, schema: Schema, row: Row) -> bool | None:
    total, size = Fraction(0), abs(Fraction(constraint.upper))
    for name, coefficient in constraint.coefficients:
        value = rank(schema[name], cell(row[name]))
        if value is None:
            return True
        number = Fraction((value - datetime.date(1970, 1, 1)).days if isinstance(value, datetime.date) else value)
        total += Fraction(coefficient) * number
        size += abs(Fraction(coefficient) * number)
    excess = total - Fraction(constraint.upper)
    return None if 0 < excess < size / 10**8 else excess <= 0
