"""What a row may be: features, constraints, costs; rows <-> arrays; JSON and YAML."""

from likely.schema.conditions import Condition, at_least, at_most, changes, decreases, equals, increases, was
from likely.schema.constraints import (
    AllowedValues,
    Constraint,
    Decreasing,
    Forbid,
    Immutable,
    Implies,
    Increasing,
    Linear,
    MaxChanges,
    Range,
)
from likely.schema.features import Binary, Categorical, Continuous, Feature, Integer, Mixed, Ordinal
from likely.schema.schema import Schema
from likely.schema.validate import ValidationReport

__all__ = [
    "AllowedValues",
    "Binary",
    "Categorical",
    "Condition",
    "Constraint",
    "Continuous",
    "Decreasing",
    "Feature",
    "Forbid",
    "Immutable",
    "Implies",
    "Increasing",
    "Integer",
    "Linear",
    "MaxChanges",
    "Mixed",
    "Ordinal",
    "Range",
    "Schema",
    "ValidationReport",
    "at_least",
    "at_most",
    "changes",
    "decreases",
    "equals",
    "increases",
    "was",
]
