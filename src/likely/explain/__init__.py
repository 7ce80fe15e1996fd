"""One row to its counterfactuals: `Explainer`, `Explanation`, and `verify`, which checks every claim again."""

from likely.explain.auditing import Audit, audit
from likely.explain.counterfactual import Counterfactual
from likely.explain.explainer import Explainer
from likely.explain.explanation import Evidence, Explanation
from likely.explain.front import Front
from likely.explain.plausibility import AtLeast, AtLeastFactual, Quantile, Weight
from likely.explain.query import Query
from likely.explain.verification import Check, Verification, verify, verify_all

__all__ = [
    "AtLeast",
    "AtLeastFactual",
    "Audit",
    "Check",
    "Counterfactual",
    "Evidence",
    "Explainer",
    "Explanation",
    "Front",
    "Quantile",
    "Query",
    "Verification",
    "Weight",
    "audit",
    "verify",
    "verify_all",
]
