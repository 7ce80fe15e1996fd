"""`why`: what excludes every answer, when there is none - and what giving up each part of it would bring.

A *conflict* is a set of the problem's demands (constraints of the schema, the threshold of likelihood) that, with the goal
and the features' domains, no row can meet; the smallest one is the explanation that people can act on. It is found by
implicit hitting sets (Ignatiev et al., "Smallest MUS extraction with minimal hitting set dualization", CP 2015): whatever set
of demands can be met, some demand outside a largest such set must be in every conflict; the smallest set that has one demand
of each of these groups (correction sets) is either the smallest conflict, or can be met and gives a new group.

Any engine will do: `solve` is one of `likely.search` or `likely.mio`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations

from likely.errors import ProblemError
from likely.problem.engine import Solve
from likely.problem.plausibility import Plausibility
from likely.problem.problem import Limits, Problem
from likely.schema import Constraint
from likely.schema.costs import Cost, MixedCost, MoveCost, SwitchCost

#: A gap that every answer is within: the first one ends the search.
_ANY_GAP = 1e300


@dataclass(frozen=True)
class Reason:
    """One demand of a conflict, in words, and what giving it up alone would bring."""

    demand: str
    #: The constraint of the schema; None for the threshold of likelihood.
    constraint: Constraint | None
    #: The objective of the best answer without this demand (all others kept); None if there is still none.
    without: float | None
    #: For the threshold: the greatest log-likelihood that can be reached; None if there is no row at all.
    reachable: float | None = None

    def __str__(self) -> str:
        if self.without is None:
            return f"{self.demand}: giving this up alone does not help"
        best = "" if self.reachable is None else f"; the likeliest row that meets all the other demands has {self.reachable:.2f}"
        return f"{self.demand}: without this, there is an answer at cost {self.without:.4g}{best}"


@dataclass(frozen=True)
class Conflict:
    """Demands that together exclude every row; none at all if the goal itself is out of reach within the domains."""

    reasons: tuple[Reason, ...]
    #: Whether it is proved that no smaller set of demands excludes everything.
    smallest: bool

    def __str__(self) -> str:
        if not self.reasons:
            return "Whatever the rules, the model decides no row within the features' bounds as wanted."
        head = "These demands cannot be met together:" if len(self.reasons) > 1 else "This demand cannot be met:"
        return "\n".join([head, *(f"- {reason}" for reason in self.reasons)])


def why(problem: Problem, solve: Solve, limits: Limits | None = None) -> Conflict:
    """The smallest conflict of a problem without an answer; refuses a problem that has one, or is not decided in time.

    Args:
        problem: One without an answer.
        solve: The engine to ask.
        limits: How hard to try, for each question to the engine.
    """
    limits = limits or Limits()
    count = len(problem.schema.constraints) + _thresholds(problem)
    everything = frozenset(range(count))
    if _possible(problem, everything, limits, solve):
        raise ProblemError("A problem to explain", "have no answer", "one that has", "use solve")
    correction_sets: list[frozenset[int]] = []
    while True:
        candidate = _smallest_hitting_set(correction_sets, count)
        possible = _possible(problem, candidate, limits, solve)
        if possible is None:
            return Conflict(_reasons(problem, everything, limits, solve), smallest=False)
        if not possible:
            return Conflict(_reasons(problem, candidate, limits, solve), smallest=True)
        correction_sets.append(everything - _grown(problem, candidate, everything, limits, solve))


def _thresholds(problem: Problem) -> int:
    return int(problem.plausibility is not None and problem.plausibility.lower > -math.inf)


def kept(problem: Problem, demands: Iterable[int]) -> Problem:
    """The problem with only some of its demands.

    Args:
        problem: The problem with all of them.
        demands: Places of constraints in the schema; the threshold of likelihood is the one after the last.
    """
    wanted = set(demands)
    constraints = tuple(constraint for i, constraint in enumerate(problem.schema.constraints) if i in wanted)
    plausibility = problem.plausibility if len(problem.schema.constraints) in wanted else None
    return replace(problem, schema=replace(problem.schema, constraints=constraints), plausibility=plausibility)


def _possible(problem: Problem, demands: Iterable[int], limits: Limits, solve: Solve) -> bool | None:
    """Whether some row meets these demands; None if the limits came first. The first row found is enough."""
    any_gap = replace(limits, solutions=1, absolute_gap=_ANY_GAP)
    status = solve(kept(problem, demands), any_gap).status
    return {"infeasible": False, "unknown": None}.get(status, True)


def _grown(problem: Problem, demands: frozenset[int], everything: frozenset[int], limits: Limits, solve: Solve) -> frozenset[int]:
    """Demands that can be met, with more added as long as they still can (one that is not decided is left out)."""
    for demand in sorted(everything - demands):
        if _possible(problem, demands | {demand}, limits, solve):
            demands |= {demand}
    return demands


def _smallest_hitting_set(sets: list[frozenset[int]], count: int) -> frozenset[int]:
    """The smallest set with a member of every one of these."""
    for size in range(count + 1):
        for chosen in combinations(range(count), size):
            if all(members.intersection(chosen) for members in sets):
                return frozenset(chosen)
    raise ProblemError("A conflict", "exist", "demands that can all be met", "use solve")


def _reasons(problem: Problem, demands: frozenset[int], limits: Limits, solve: Solve) -> tuple[Reason, ...]:
    everything = frozenset(range(len(problem.schema.constraints) + _thresholds(problem)))
    reasons = []
    for demand in sorted(demands):
        result = solve(kept(problem, everything - {demand}), limits)
        without = result.solutions[0].objective if result.solutions else None
        if demand < len(problem.schema.constraints):
            constraint = problem.schema.constraints[demand]
            reasons.append(Reason(str(constraint), constraint, without))
        else:
            assert problem.plausibility is not None
            text = f"an answer must be likely enough (a log-likelihood of at least {problem.plausibility.lower:.2f})"
            reasons.append(Reason(text, None, without, likeliest(problem, solve, limits)))
    return tuple(reasons)


def likeliest(problem: Problem, solve: Solve, limits: Limits | None = None) -> float | None:
    """The greatest log-likelihood of a row that reaches the goal and keeps the rules, whatever it costs; None if there is none.

    Args:
        problem: One that has a circuit; its threshold and costs do not count.
        solve: The engine to ask.
        limits: How hard to try.
    """
    if problem.plausibility is None:
        raise ProblemError("A problem", "have a circuit to ask for likelihoods", "none", "give plausibility=")
    free = replace(problem.schema, costs=tuple(_free(cost) for cost in problem.schema.costs))
    likelihood_alone: Plausibility = replace(problem.plausibility, lower=-math.inf, weight=1.0)
    result = solve(replace(problem, schema=free, plausibility=likelihood_alone), limits or Limits())
    return result.solutions[0].log_likelihood if result.solutions else None


def _free(cost: Cost) -> MoveCost | SwitchCost | MixedCost:
    """The price list with all prices 0."""
    if isinstance(cost, MixedCost):
        return MixedCost(MoveCost(0.0, 0.0), (0.0,) * len(cost.weights), cost.anchor)
    return SwitchCost((0.0,) * len(cost.weights)) if isinstance(cost, SwitchCost) else MoveCost(0.0, 0.0)
