"""What a row may be: features, constraints, costs; rows <-> arrays; JSON and YAML."""

from likely.schema.conditions import Condition
from likely.schema.constraint import Constraint
from likely.schema.constraints import (
    AllowedValues,
    Decreasing,
    Forbid,
    Immutable,
    Implies,
    Increasing,
    LinearConstraint,
    MaxChanges,
    Range,
)
from likely.schema.features import Binary, Categorical, Continuous, Feature, Integer, Mixed, Ordinal
from likely.schema.max_change import MaxChange
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
    "LinearConstraint",
    "MaxChange",
    "MaxChanges",
    "Mixed",
    "Ordinal",
    "Range",
    "Schema",
    "ValidationReport",
]
