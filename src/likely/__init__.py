"""Likely counterfactuals: the closest, most plausible row that a model would have decided otherwise - with a proof.

import likely

schema = likely.Schema.infer(X, immutable=["sex"], increasing=["age"])
explainer = likely.Explainer(model, schema).fit(X, y)
explainer.explain(row)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
    LinearConstraint,
    MaxChange,
    MaxChanges,
    Mixed,
    Ordinal,
    Range,
    Schema,
)

if TYPE_CHECKING:
    from likely.explain import (
        AtLeastFactual,
        Counterfactual,
        Explainer,
        Explanation,
        Quantile,
        Question,
        Threshold,
        Weight,
        verify,
    )

__all__ = [
    "AllowedValues",
    "AtLeastFactual",
    "Binary",
    "Categorical",
    "Continuous",
    "Counterfactual",
    "Decreasing",
    "Explainer",
    "Explanation",
    "Forbid",
    "Immutable",
    "Implies",
    "Increasing",
    "Integer",
    "LikelyError",
    "LikelyWarning",
    "LinearConstraint",
    "MaxChange",
    "MaxChanges",
    "Mixed",
    "Ordinal",
    "Quantile",
    "Question",
    "Range",
    "Schema",
    "Threshold",
    "Weight",
    "batch",
    "bench",
    "certificate",
    "circuit",
    "cluster",
    "datasets",
    "explain",
    "mio",
    "mlflow",
    "predictor",
    "problem",
    "search",
    "serve",
    "show",
    "verify",
    "when",
]

#: Rooms, imported when they are first used.
_ROOMS = (
    "batch",
    "bench",
    "certificate",
    "circuit",
    "cluster",
    "datasets",
    "explain",
    "mio",
    "mlflow",
    "predictor",
    "problem",
    "search",
    "serve",
    "show",
    "when",
)
#: Names of `likely.explain` that stand here, too.
_REEXPORTS = (
    "AtLeastFactual",
    "Counterfactual",
    "Explainer",
    "Explanation",
    "Quantile",
    "Question",
    "Threshold",
    "Weight",
    "verify",
)


def __getattr__(name: str) -> Any:
    """Rooms are imported when they are first used, and the version is looked up when it is asked for."""
    if name in _ROOMS:
        return import_module(f"likely.{name}")
    if name in _REEXPORTS:
        return getattr(import_module("likely.explain"), name)
    if name == "__version__":
        from importlib.metadata import version

        return version("likely")
    raise AttributeError(f"module 'likely' has no attribute {name!r}")


def __dir__() -> list[str]:
    """All names, also of what is imported later."""
    return sorted({*globals(), *__all__, "__version__"})
