"""What is asked of an engine and what it answers: the contract of `likely.search` and `likely.mio`."""

from likely.problem.conflict import Conflict, LikelihoodWords, Reason, WayOut, likeliest, why
from likely.problem.engine import Callback, Engine, Session, Solve, StatelessSession
from likely.problem.goal import (
    Alternative,
    Goal,
    Share,
    between,
    not_class,
    prediction,
    probability,
    to_class,
)
from likely.problem.plausibility import Coherence, Plausibility
from likely.problem.problem import Limits, Problem
from likely.problem.result import Bounds, Progress, Proof, Result, Solution, Statistics, Status
from likely.problem.tolerances import SCORE_MARGIN

__all__ = [
    "SCORE_MARGIN",
    "Alternative",
    "Bounds",
    "Callback",
    "Coherence",
    "Conflict",
    "Engine",
    "Goal",
    "LikelihoodWords",
    "Limits",
    "Plausibility",
    "Problem",
    "Progress",
    "Proof",
    "Reason",
    "Result",
    "Session",
    "Share",
    "Solution",
    "Solve",
    "StatelessSession",
    "Statistics",
    "Status",
    "WayOut",
    "between",
    "likeliest",
    "not_class",
    "prediction",
    "probability",
    "to_class",
    "why",
]
