"""One row to its counterfactuals: `Explainer`, `Explanation`, and `verify`, which checks every claim again."""

from likely.explain.audit_statistics import Difference, Share
from likely.explain.auditing import Audit, Spread, Use, audit
from likely.explain.blocking import Block, Blocking
from likely.explain.counterfactual import Counterfactual
from likely.explain.deciding import Decision
from likely.explain.explainer import Explainer
from likely.explain.explanation import Evidence, Explanation
from likely.explain.front import Front
from likely.explain.group_counterfactual import GroupChange, GroupCounterfactual, group_counterfactual
from likely.explain.group_moves import GroupMove
from likely.explain.plausibility import AtLeastFactual, Quantile, Threshold, Weight
from likely.explain.query import Query
from likely.explain.question import Question, QuestionOptions
from likely.explain.reasons import Alone, PrincipalReason, Reasons, Way
from likely.explain.verification import Check, Verification, verify, verify_all

__all__ = [
    "Alone",
    "AtLeastFactual",
    "Audit",
    "Block",
    "Blocking",
    "Check",
    "Counterfactual",
    "Decision",
    "Difference",
    "Evidence",
    "Explainer",
    "Explanation",
    "Front",
    "GroupChange",
    "GroupCounterfactual",
    "GroupMove",
    "PrincipalReason",
    "Quantile",
    "Query",
    "Question",
    "QuestionOptions",
    "Reasons",
    "Share",
    "Spread",
    "Threshold",
    "Use",
    "Verification",
    "Way",
    "Weight",
    "audit",
    "group_counterfactual",
    "verify",
    "verify_all",
]
