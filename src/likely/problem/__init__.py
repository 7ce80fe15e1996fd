"""What is asked of an engine and what it answers: the contract of `likely.search` and `likely.mio`."""

from likely.problem.conflict import Conflict, Reason, likeliest, why
from likely.problem.goal import (
    SCORE_MARGIN,
    Alternative,
    Goal,
    Share,
    between,
    not_class,
    prediction,
    probability,
    to_class,
)
from likely.problem.problem import Limits, Plausibility, Problem
from likely.problem.result import Bounds, Progress, Result, Solution, Statistics, Status

__all__ = [
    "SCORE_MARGIN",
    "Alternative",
    "Bounds",
    "Conflict",
    "Goal",
    "Limits",
    "Plausibility",
    "Problem",
    "Progress",
    "Reason",
    "Result",
    "Share",
    "Solution",
    "Statistics",
    "Status",
    "between",
    "likeliest",
    "not_class",
    "prediction",
    "probability",
    "to_class",
    "why",
]
