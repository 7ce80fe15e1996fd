"""`why`: what excludes every answer, when there is none - and the cheapest way out.

A *conflict* is a set of the problem's demands (constraints of the schema; of likelihood: to reach the threshold, or where it
only has a weight, to be possible at all; of coherence) that, with the goal and the features' domains, no row can meet. First a
minimal one is found by leaving out demands, many at a time, as long as it is proved that there still is no row (Junker,
"QuickXplain", AAAI 2004; Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002): a number of
questions to the engine that is polynomial in the number of demands. Then the smallest one is looked for by implicit hitting
sets (Ignatiev et al., "Smallest MUS extraction with minimal hitting set dualization", CP 2015): whatever demands can be met,
one that is left out of a largest such set is in every conflict. What a row that was found meets is not asked again, and what is
not proved after a number of questions that is linear in the number of demands is not called proved.

The *way out* is the smallest set of demands to give up (a minimal correction set), of those the one with the cheapest answer; it
is the smallest hitting set of all conflicts, found as in MaxHS (Davies and Bacchus, "Solving MAXSAT by solving a sequence of
simpler SAT instances", CP 2011): one that hits the conflicts known so far brings an answer, or another conflict.

Nothing is claimed that was not proved: what the limits came before is said to be open. Any engine will do: `solve` is one of
`likely.search` or `likely.mio`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from likely.errors import ProblemError
from likely.problem.engine import Solve
from likely.problem.hitting_sets import Members, hitting_sets, smallest_hitting_set
from likely.problem.plausibility import Plausibility
from likely.problem.problem import Limits, Problem
from likely.problem.result import Bounds, Result
from likely.schema import Constraint
from likely.schema.costs import Cost, MixedCost, MoveCost, SwitchCost
from likely.schema.values import Numbers

#: A gap that every answer is within: the first one ends the search.
_ANY_GAP = 1e300
#: Which share of the time may have passed when a minimal conflict is taken as it is, and when the search for a smaller one ends.
_SHRINKING, _SMALLEST = 0.5, 0.7
#: Less time than this is none.
_LEAST_SECONDS = 1e-3
#: How many questions may be asked for a smaller conflict than the first, and for a better way out than the first: some, and some
#: more per demand. The number that would prove that there is none is exponential.
_PATIENCE = 30, 1
#: What is known of a question that there was no time to ask.
_UNDECIDED = Result("unknown", (), Bounds(math.inf, -math.inf))


@dataclass(frozen=True)
class LikelihoodWords:
    """How to speak of likelihoods to people who do not think in logarithms."""

    #: What is asked for: "at least as likely as half of the granted loans"
    asked: str
    #: A log-likelihood: "likelier than 12 % of them"
    of: Callable[[float], str]


@dataclass(frozen=True)
class Reason:
    """One demand of a conflict, in words, and what giving it up alone would bring."""

    demand: str
    #: The constraint of the schema; None for the demands of likelihood and of coherence.
    constraint: Constraint | None
    #: The objective of the best answer without this demand (all others kept); None if there is still none.
    without: float | None
    #: For the threshold: the greatest log-likelihood that can be reached; None if there is no row at all.
    reachable: float | None = None
    #: Whether it was decided in time what giving it up brings; if not, `without` may be None though there is an answer.
    decided: bool = True
    #: For the threshold: what can be reached, in words.
    reachable_in_words: str = ""

    def __str__(self) -> str:
        best = (
            f"; the likeliest row that meets all the other demands {self.reachable_in_words}" if self.reachable_in_words else ""
        )
        if self.without is not None:
            return f"{self.demand}: without this, there is an answer at cost {self.without:.4g}{best}"
        if not self.decided:
            return f"{self.demand}: what giving this up alone would bring was not decided in time{best}"
        return f"{self.demand}: giving this up alone does not help"


@dataclass(frozen=True, eq=False)
class WayOut:
    """Demands to give up together, and the answer that this would bring."""

    #: In words, and as constraints of the schema (None for the demands of likelihood and of coherence).
    demands: tuple[str, ...]
    constraints: tuple[Constraint | None, ...]
    #: The cost of the answer (with a weight of likelihood: its objective), and the row itself, as doubles.
    cost: float
    row: Numbers
    #: Whether it is proved that giving up fewer demands brings no answer, and as many others no cheaper one.
    proved: bool

    def __str__(self) -> str:
        count = len(self.demands)
        what = "this demand" if count == 1 else f"these {count} demands together"
        best = "The cheapest way out" if self.proved else "A way out (a cheaper one may exist)"
        head = f"{best} is to give up {what}; then there is an answer at cost {self.cost:.4g}:"
        return "\n".join([head, *(f"- {demand}" for demand in self.demands)])


@dataclass(frozen=True)
class Conflict:
    """Demands that together exclude every row; none at all if the goal itself is out of reach within the domains."""

    reasons: tuple[Reason, ...]
    #: Whether it is proved that no smaller set of demands excludes everything.
    smallest: bool
    #: What to give up; None if nothing helps, or none was found in time.
    way_out: WayOut | None = field(default=None, compare=False)

    def __str__(self) -> str:
        if not self.reasons:
            return "Whatever the rules, the model decides no row within the features' bounds as wanted."
        head = "These demands cannot be met together:" if len(self.reasons) > 1 else "This demand cannot be met:"
        lines = [head, *(f"- {reason}" for reason in self.reasons)]
        if any(reason.without is not None for reason in self.reasons):
            return "\n".join(lines)  # what each one would bring stands there
        open_end = "What to give up so that there is an answer was not found in time."
        return "\n".join([*lines, open_end if self.way_out is None else str(self.way_out)])


def why(
    problem: Problem,
    solve: Solve,
    limits: Limits | None = None,
    *,
    words: LikelihoodWords | None = None,
    coherence_words: str | None = None,
) -> Conflict:
    """The smallest conflict of a problem without an answer, and the cheapest way out.

    Refuses a problem that has an answer, and one that is not decided in time.

    Args:
        problem: One without an answer.
        solve: The engine to ask.
        limits: How hard to try: seconds for all of it, nodes for each question to the engine.
        words: How to speak of likelihoods; left out, as logarithms.
        coherence_words: What is demanded of coherence; left out, as a number.
    """
    asking = _Asking(problem, solve, limits or Limits(), coherence_words)
    possible = asking.possible(asking.everything)
    if possible:
        raise ProblemError("A problem to explain", "have no answer", "one that has", "use solve")
    if possible is None:
        raise ProblemError(
            "A problem to explain", "be decided in time", "neither an answer nor the proof that there is none", "raise the limits"
        )
    asking.end = _SHRINKING
    conflict = _shrunk(asking, asking.everything)
    asking.end = _SMALLEST
    conflict, smallest = _smallest(asking, conflict)
    asking.end = 1.0
    reasons = tuple(_reason(asking, demand, words) for demand in sorted(conflict))
    return Conflict(reasons, smallest, _way_out(asking, conflict, words) if conflict else None)


def kept(problem: Problem, demands: Iterable[int]) -> Problem:
    """The problem with only some of its demands.

    Args:
        problem: The problem with all of them.
        demands: Places of constraints in the schema; what is demanded of likelihood is the one after the last, then coherence.
    """
    wanted, count = set(demands), len(problem.schema.constraints)
    constraints = tuple(constraint for i, constraint in enumerate(problem.schema.constraints) if i in wanted)
    return replace(
        problem,
        schema=replace(problem.schema, constraints=constraints),
        plausibility=problem.plausibility if count in wanted else None,
        coherence=problem.coherence if count + 1 in wanted else None,
    )


# -- asking the engine ---------------------------------------------------------------------------------------------------


class _Asking:
    """Questions to the engine about sets of demands, within one limit of time; what is known is not asked again."""

    def __init__(self, problem: Problem, solve: Solve, limits: Limits, coherence_words: str | None) -> None:
        self.problem, self.solve, self.limits = problem, solve, replace(limits, solutions=1, other_features=False)
        self.coherence_words = coherence_words
        count = len(problem.schema.constraints)
        likelihood = [count] if problem.plausibility is not None and problem.plausibility.counts else []
        coherence = [] if problem.coherence is None else [count + 1]
        self.everything: Members = frozenset([*range(count), *likelihood, *coherence])
        #: The share of the time after which nothing more is asked.
        self.end = 1.0
        self._started = time.perf_counter()
        self._rules = [kept(problem, (demand,)).schema.compile(problem.factual) for demand in range(count)]
        self._of_circuits = {demand: kept(problem, (demand,)) for demand in (*likelihood, *coherence)}
        self._met: list[Members] = []
        self._excluded: list[Members] = []
        self._best: dict[Members, Result] = {}
        self._asked = 0

    @property
    def seconds(self) -> float:
        """What is left of the time."""
        return self.moment - time.perf_counter()

    @property
    def moment(self) -> float:
        """When the time is over, by `time.perf_counter`."""
        return self._started + self.end * self.limits.seconds

    def patience(self) -> Callable[[], bool]:
        """For what makes a good answer better: says whether that may go on, by time and by the number of questions from here."""
        most = self._asked + _PATIENCE[0] + _PATIENCE[1] * len(self.everything)
        return lambda: self._asked < most and self.seconds >= _LEAST_SECONDS

    def most_met(self, demands: Members) -> Members:
        """The most demands that a known row meets together with these; these themselves if none is known."""
        return max((met for met in self._met if demands <= met), key=len, default=demands)

    def within(self, *, any_answer: bool = False) -> Limits:
        """The limits of one question."""
        limits = replace(self.limits, seconds=max(self.seconds, _LEAST_SECONDS))
        return replace(limits, absolute_gap=_ANY_GAP) if any_answer else limits

    def possible(self, demands: Members) -> bool | None:
        """Whether some row meets these demands; None if the limits came first. The first row found is enough."""
        if any(demands <= met for met in self._met):
            return True
        if any(excluded <= demands for excluded in self._excluded):
            return False
        if self.seconds < _LEAST_SECONDS:
            return None
        return self._noted(demands, self.solve(kept(self.problem, demands), self.within(any_answer=True)))

    def best_without(self, given_up: Members) -> Result:
        """The best answer if these demands are given up."""
        demands = self.everything - given_up
        if demands not in self._best and self.seconds < _LEAST_SECONDS:
            return _UNDECIDED
        if demands not in self._best:
            self._best[demands] = self.solve(kept(self.problem, demands), self.within())
            self._noted(demands, self._best[demands])
        return self._best[demands]

    def _noted(self, demands: Members, result: Result) -> bool | None:
        self._asked += 1
        if result.solutions:
            self._met.append(demands | self._met_by(result.solutions[0].row[None]))
            return True
        if result.status == "infeasible":
            self._excluded.append(demands)
            return False
        return None

    def _met_by(self, row: Numbers) -> Members:
        """The demands that a row meets, which lies in the domains and reaches the goal."""
        met = {i for i, rules in enumerate(self._rules) if all(rule.satisfied(row)[0] for rule in rules)}
        return frozenset(met | {demand for demand, alone in self._of_circuits.items() if alone.admits(row)[0]})


# -- conflicts -----------------------------------------------------------------------------------------------------------


def _shrunk(asking: _Asking, conflict: Members) -> Members:
    """A conflict of which nothing can be left out, as far as is decided in time: half of it, quarters, ..., one by one."""
    size = max(len(conflict) // 2, 1)
    while True:
        members, start = sorted(conflict), 0
        while start < len(members):
            fewer = frozenset(members[:start] + members[start + size :])
            if asking.possible(fewer) is False:
                members = sorted(fewer)
            else:
                start += size
        conflict = frozenset(members)
        if size == 1 or not conflict:
            return conflict
        size = max(min(size // 2, len(conflict) // 2), 1)


def _smallest(asking: _Asking, conflict: Members) -> tuple[Members, bool]:
    """The smallest conflict, or the smallest that is known; and whether that is proved."""
    corrections: list[Members] = []
    going = asking.patience()
    while going():
        try:
            candidate = smallest_hitting_set(corrections, len(conflict) - 1, asking.moment)
        except TimeoutError:
            break
        if candidate is None:  # every conflict has as many demands as this one
            return conflict, True
        possible = asking.possible(candidate)
        if possible is None:
            break
        if not possible:
            return candidate, True
        corrections.append(asking.everything - _grown(asking, candidate))
    return conflict, False


def _grown(asking: _Asking, demands: Members) -> Members:
    """Demands that can be met, with more added as long as they still can (one that is not decided is left out)."""
    demands = asking.most_met(demands)
    for demand in sorted(asking.everything - demands):
        if demand not in demands and asking.possible(demands | {demand}):
            demands = asking.most_met(demands | {demand})
    return demands


# -- what to do ----------------------------------------------------------------------------------------------------------


def _reason(asking: _Asking, demand: int, words: LikelihoodWords | None) -> Reason:
    result = asking.best_without(frozenset({demand}))
    without = result.solutions[0].objective if result.solutions else None
    decided = bool(result.solutions) or result.status == "infeasible"
    constraint = _constraint(asking, demand)
    if constraint is not None or _is_coherence(asking, demand):
        return Reason(_demand(asking, demand, words), constraint, without, decided=decided)
    helps = (without is not None or not decided) and _threshold(asking) > -math.inf and asking.seconds >= _LEAST_SECONDS
    reachable = likeliest(asking.problem, asking.solve, asking.within()) if helps else None
    told = "" if reachable is None else f"has {reachable:.2f}" if words is None else f"is {words.of(reachable)}"
    return Reason(_demand(asking, demand, words), None, without, reachable, decided, told)


def _constraint(asking: _Asking, demand: int) -> Constraint | None:
    constraints = asking.problem.schema.constraints
    return constraints[demand] if demand < len(constraints) else None


def _is_coherence(asking: _Asking, demand: int) -> bool:
    return demand == len(asking.problem.schema.constraints) + 1


def _threshold(asking: _Asking) -> float:
    assert asking.problem.plausibility is not None
    return asking.problem.plausibility.lower


def _demand(asking: _Asking, demand: int, words: LikelihoodWords | None) -> str:
    constraint = _constraint(asking, demand)
    if constraint is not None:
        return str(constraint)
    if _is_coherence(asking, demand):
        assert asking.problem.coherence is not None
        usual = f"the values of an answer must fit together (a coherence of at least {asking.problem.coherence.lower:.2f})"
        return asking.coherence_words or usual
    lower = _threshold(asking)
    if lower == -math.inf:
        return "an answer must be possible: its values, taken together, must not have a likelihood of zero"
    if words is not None:
        return f"an answer must be {words.asked}"
    return f"an answer must be likely enough (a log-likelihood of at least {lower:.2f})"


@dataclass(frozen=True, eq=False)
class _Way:
    """Demands to give up, and the best answer then."""

    given_up: Members
    result: Result

    def better_than(self, other: _Way | None) -> bool:
        """Whether there is an answer, of fewer demands given up, or of as many at a lower cost."""
        return bool(self.result.solutions) and (other is None or self._rank < other._rank)

    @property
    def _rank(self) -> tuple[int, float]:
        return len(self.given_up), self.result.solutions[0].objective


def _way_out(asking: _Asking, conflict: Members, words: LikelihoodWords | None) -> WayOut | None:
    """The fewest demands to give up, and of as few those that bring the cheapest answer."""
    first = asking.everything - _grown(asking, frozenset())
    best: _Way | None = None
    tried, proved = [first], True
    conflicts, going = [conflict], asking.patience()
    given_up: Members | None = first
    while given_up is not None:
        way = _Way(given_up, asking.best_without(given_up))
        best = way if way.better_than(best) else best
        if not way.result.solutions and way.result.status == "infeasible":
            conflicts.append(_shrunk(asking, asking.everything - given_up))
        else:
            proved &= way.result.status == "optimal"
        given_up = None
        try:
            most = len(asking.everything) if best is None else len(best.given_up)
            untried = (chosen for chosen in hitting_sets(conflicts, most, asking.moment) if chosen not in tried)
            given_up = next(untried, None)
        except TimeoutError:
            proved = False
        if given_up is not None and not going():
            given_up, proved = None, False
        tried += [] if given_up is None else [given_up]
    return None if best is None else _in_words(asking, best, words, proved)


def _in_words(asking: _Asking, way: _Way, words: LikelihoodWords | None, proved: bool) -> WayOut:
    places = sorted(way.given_up)
    demands, constraints = (tuple(_demand(asking, i, words) for i in places), tuple(_constraint(asking, i) for i in places))
    answer = way.result.solutions[0]
    return WayOut(demands, constraints, answer.objective, answer.row, proved)


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
