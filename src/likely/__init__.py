"""Likely counterfactuals: the closest, most plausible row that a model would have decided otherwise - with a proof.

import likely

schema = likely.Schema.infer(X, immutable=["sex"], increasing=["age"])
form = likely.predictor.read(model, schema)
"""

from importlib import import_module
from typing import Any

from likely.errors import LikelyError, LikelyWarning
from likely.schema import (
    AllowedValues,
    Binary,
    Categorical,
    Continuous,
    Decreasing,
    Forbid,
    Immutable,
    Implies,
    Increasing,
    Integer,
    Linear,
    MaxChanges,
    Mixed,
    Ordinal,
    Range,
    Schema,
    at_least,
    at_most,
    changes,
    decreases,
    equals,
    increases,
    was,
)

__all__ = [
    "AllowedValues",
    "Binary",
    "Categorical",
    "Continuous",
    "Decreasing",
    "Forbid",
    "Immutable",
    "Implies",
    "Increasing",
    "Integer",
    "LikelyError",
    "LikelyWarning",
    "Linear",
    "MaxChanges",
    "Mixed",
    "Ordinal",
    "Range",
    "Schema",
    "at_least",
    "at_most",
    "changes",
    "circuit",
    "datasets",
    "decreases",
    "equals",
    "increases",
    "predictor",
    "problem",
    "search",
    "show",
    "was",
]

_ROOMS = ("circuit", "datasets", "predictor", "problem", "search", "show")


def __getattr__(name: str) -> Any:
    """Rooms are imported when they are first used, and the version is looked up when it is asked for."""
    if name in _ROOMS:
        return import_module(f"likely.{name}")
    if name == "__version__":
        from importlib.metadata import version

        return version("likely")
    raise AttributeError(f"module 'likely' has no attribute {name!r}")
