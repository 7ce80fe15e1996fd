"""One row to its counterfactuals: `Explainer`, `Explanation`, and `verify`, which checks every claim again."""

from likely.explain.auditing import Audit, audit
from likely.explain.counterfactual import Counterfactual
from likely.explain.explainer import Explainer
from likely.explain.explanation import Evidence, Explanation
from likely.explain.front import Front
from likely.explain.plausibility import AtLeastFactual, Quantile, Threshold, Weight
from likely.explain.query import Query
from likely.explain.question import Question, QuestionOptions
from likely.explain.verification import Check, Verification, verify, verify_all

__all__ = [
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
    "Question",
    "QuestionOptions",
    "Threshold",
    "Verification",
    "Weight",
    "audit",
    "verify",
    "verify_all",
]
