"""From a query to a draft: problems for the engine, and its solutions as rows that hold outside of it."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from likely.circuit import Circuit
from likely.errors import LikelyWarning, ProblemError
from likely.explain.dtype_rounding import rounded_rows
from likely.explain.engines import sessions_of
from likely.explain.fitted import Fitted, log_likelihood_of
from likely.explain.merging import after, distinct, enough, in_turn, merged, settled, total, unsearched
from likely.explain.outcomes import goal_of, outcomes
from likely.explain.plausibility import AtLeastFactual, Quantile, Threshold
from likely.explain.polishing import More, polished
from likely.explain.query import Query, rows_named
from likely.predictor import Form
from likely.problem import (
    Coherence,
    Goal,
    Limits,
    Plausibility,
    Problem,
    Progress,
    Result,
    Solution,
    Statistics,
    not_class,
)
from likely.problem.tolerances import MARGIN_ROUNDING, rounding
from likely.schema import Constraint, Immutable
from likely.schema.values import Numbers, Value

Callback = Callable[[Progress], bool]

#: Polishing may go on after the limit of seconds, by this share of it or by so many seconds.
_GRACE, _LEAST_GRACE = 0.1, 0.05
#: Where there are several problems, all together are first looked at for this share of the time.
_FIRST_LOOK = 0.1


# -- what to ask the engine -------------------------------------------------------------------------------------------


def thresholds_of(fitted: Fitted, query: Query) -> dict[Value, float]:
    """The log-likelihood that an answer of each class that may be reached must have, less what rounding may take."""
    thresholds = {label: _threshold(fitted, query, label) for label in query.reachable(outcomes(fitted.form, query.question))}
    return {label: threshold - rounding(threshold) for label, threshold in thresholds.items()}


def coherences_of(fitted: Fitted, query: Query) -> dict[Value, float]:
    """The coherence that an answer of each class that may be reached must have, less what rounding may take; -inf for any."""
    classes, share = outcomes(fitted.form, query.question), query.question.coherence
    if share is None:
        return dict.fromkeys(query.reachable(classes), -math.inf)
    if not fitted.training.knows(query.rows, "coherence"):
        rule, got = "be asked of an explainer that knows how well rows fit together", "one that an earlier version saved"
        raise ProblemError("A demand on coherence", rule, got, "fit the explainer again")
    peers = {label: query.peers(classes.index(label), "coherence") for label in query.reachable(classes)}
    thresholds = {label: fitted.training.quantile(share, of_class) for label, of_class in peers.items()}
    return {label: threshold - rounding(threshold) for label, threshold in thresholds.items()}


def _threshold(fitted: Fitted, query: Query, label: Value) -> float:
    variant = query.plausibility
    if isinstance(variant, Threshold):
        return float(variant.log_likelihood)
    if not isinstance(variant, (Quantile, AtLeastFactual)):
        return -math.inf
    peers = query.peers(outcomes(fitted.form, query.question).index(label))
    if isinstance(variant, AtLeastFactual):
        if query.label is None:
            raise ProblemError("A row for AtLeastFactual", "be complete", "an unknown value", "fill it in, or use Quantile(0.5)")
        factual = log_likelihood_of(fitted.circuit, query, query.factual, query.label)
        return min(factual, fitted.training.quantile(variant.most, peers))
    threshold = fitted.training.quantile(variant.q, peers)
    if threshold == -math.inf:
        message = f"{variant.q:.0%} of {rows_named(query.rows)} are impossible by the circuit: {variant} asks for nothing."
        warnings.warn(message, LikelyWarning, stacklevel=2)
    return threshold


def problems_of(fitted: Fitted, query: Query, margin: float, thresholds: dict[Value, float]) -> list[Problem]:
    """One problem per different threshold: an engine knows one for all classes."""
    return problems_with(fitted.form, fitted.circuit, query, margin, thresholds, coherences_of(fitted, query))


def problems_with(
    form: Form,
    circuit: Circuit,
    query: Query,
    margin: float,
    thresholds: Mapping[Value, float],
    coherences: Mapping[Value, float],
) -> list[Problem]:
    """The same with all thresholds given.

    Args:
        form: Of the model.
        circuit: Of how likely rows are.
        query: What is asked.
        margin: By how much score an answer must be on the other side.
        thresholds: class -> the log-likelihood that an answer of it must have.
        coherences: class -> the coherence that it must have.
    """
    demands = {label: (lower, coherences[label]) for label, lower in thresholds.items()}
    different = set(demands.values())
    if len(different) == 1:
        any_other = query.target is None
        wanted = query.question
        goal = not_class(form, query.label, margin=margin) if any_other else goal_of(form, wanted, query.target, margin)
        return [_problem(form, circuit, query, goal, *different.pop())]
    goals = {label: goal_of(form, query.question, label, margin) for label in demands}
    return [_problem(form, circuit, query, goals[label], *lower) for label, lower in demands.items()]


def _problem(form: Form, circuit: Circuit, query: Query, goal: Goal, threshold: float, fit: float) -> Problem:
    plausibility = None
    if threshold > -math.inf or query.total_weight > 0:
        plausibility = Plausibility(circuit, threshold, query.total_weight, query.given)
    coherence = Coherence(circuit, fit) if fit > -math.inf else None
    return Problem(query.schema, query.factual, form, goal, plausibility, coherence)


def starts_for(fitted: Fitted, query: Query, labels: Sequence[Value]) -> Numbers:
    """Training rows of the wanted classes, with what may not change as the factual has it."""
    schema = query.schema
    numbers = [outcomes(fitted.form, query.question).index(label) for label in labels]
    if query.question.probability is not None:  # whichever class the model decides
        numbers = list(range(len(fitted.form.classes)))
    rows = np.concatenate(
        [np.empty((0, len(schema))), *(fitted.training.starts.get(k, np.empty((0, len(schema)))) for k in numbers)]
    )
    for rule in schema.constraints:
        if isinstance(rule, Immutable) and not np.isnan(query.factual[schema.index(rule.feature)]):
            rows[:, schema.index(rule.feature)] = query.factual[schema.index(rule.feature)]
    fits = [feature.fits(rows[:, j]) for j, feature in enumerate(schema.features)]
    return rows[np.all(fits, axis=0)]


# -- asking ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Candidate:
    """What stands for one solution of the engine outside of it."""

    #: As the engine found it.
    solution: Solution
    label: Value
    #: What a row must keep to: the goal is its class, the threshold that of its class.
    problem: Problem
    #: Rows that hold by form, rules and circuit, in the user's dtypes: the one to be preferred first.
    rows: tuple[Numbers, ...]


@dataclass(frozen=True, eq=False)
class Draft:
    """The result of one search, before the model itself was asked."""

    query: Query
    result: Result
    thresholds: dict[Value, float]
    coherences: dict[Value, float]
    margin: float
    #: One per solution.
    candidates: tuple[Candidate, ...]
    ended: bool
    seconds: float
    #: What it took, with what was searched before in vain.
    statistics: Statistics


@dataclass
class _Watch:
    """What is left of the time, and whether somebody ended the search."""

    limits: Limits
    callback: Callback | None
    started: float = field(default_factory=time.perf_counter)
    ended: bool = False

    def __call__(self, progress: Progress) -> bool:
        if self.callback is not None and not self.callback(progress):
            self.ended = True
        return not self.ended

    def until(self, enough: float, progress: Progress) -> bool:
        """The same, for a search that may also end when nothing that is as good as what is known already can be left."""
        return self(progress) and progress.lower < enough

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started

    @property
    def over(self) -> bool:
        """Whether nothing more shall be searched."""
        return self.ended or self.seconds >= self.limits.seconds

    def patience(self) -> bool:
        """Whether there is time to make answers nicer: a limit of seconds is kept to within 10 % or 50 ms."""
        return self.seconds < self.limits.seconds + max(_GRACE * self.limits.seconds, _LEAST_GRACE)

    @property
    def left(self) -> float:
        """Seconds."""
        return self.limits.seconds - self.seconds


def drafted(
    fitted: Fitted,
    query: Query,
    margin: float,
    callback: Callback | None = None,
    known: Numbers | None = None,
    spent: float = 0.0,
    threads: int = 1,
) -> Draft:
    """Search for all answers; first for those that change nothing that the model does not read.

    Args:
        fitted: What the explainer knows.
        query: What is asked.
        margin: By how much score an answer must be on the other side; the one that was asked for, or more.
        callback: Ends the search by returning False.
        known: Rows that may be answers.
        spent: How many of the seconds are gone already.
        threads: On how many threads a search that takes long may go on.
    """
    watch = _Watch(query.limits, callback, time.perf_counter() - spent)
    watch(Progress(0.0, 0, math.inf, -math.inf))  # nothing is begun if it was ended before
    keeping = query.keeping_unread()
    draft = _drafted(fitted, keeping, margin, watch, known, threads)
    if keeping is not query and not draft.result.solutions and not watch.over:
        free = _drafted(fitted, query, margin, watch, known, threads)
        draft = replace(free, statistics=total([draft.statistics, free.statistics]))
    return replace(draft, seconds=watch.seconds - spent)


def _drafted(fitted: Fitted, query: Query, margin: float, watch: _Watch, known: Numbers | None, threads: int) -> Draft:
    thresholds, coherences = thresholds_of(fitted, query), coherences_of(fitted, query)
    starts = starts_for(fitted, query, list(thresholds))
    starts = starts if known is None else np.concatenate([known, starts])
    sessions = list(map(sessions_of(query.engine, query.solver, threads), problems_of(fitted, query, margin, thresholds)))
    clean = _Polisher(query, watch.patience)

    def search(limits: Limits, further: Constraint | None = None) -> Result:
        results = [unsearched() for _ in sessions]
        for session in sessions:
            if further is not None:
                session.require(further)

        def look(i: int, seconds: float) -> None:
            answers = sorted((answer for result in results for answer in result.solutions), key=lambda answer: answer.objective)
            least = enough(answers, limits)
            if watch.ended or settled(results[i], least, limits):
                return
            rows = [solution.row[None] for solution in results[i].solutions]
            result = sessions[i].solve(
                replace(limits, seconds=max(1e-3, seconds)),
                starts=np.concatenate([*rows, starts]),
                callback=partial(watch.until, least),
            )
            results[i] = after(results[i], clean(sessions[i].problem, result))
            watch.ended |= result.interrupted

        # Of several searches none takes all the time: each gets a little, and those that were not over share the rest.
        for i in range(len(sessions) if len(sessions) > 1 else 0):
            look(i, min(watch.left, _FIRST_LOOK * limits.seconds / len(sessions)))
        for i in range(len(sessions)):
            if len(sessions) == 1 or not watch.over:
                look(i, watch.left / (len(sessions) - i))
        return merged(results, limits)

    result = in_turn(search, query) if query.limits.other_features else distinct(search, query.limits)
    pairs = [(clean.originals[solution.row.tobytes()], solution) for solution in result.solutions]
    demands = {label: (lower, coherences[label]) for label, lower in thresholds.items()}
    candidates = tuple(_candidate(fitted, query, pair, demands, margin, watch.patience) for pair in pairs)
    return Draft(query, result, thresholds, coherences, margin, candidates, watch.ended, watch.seconds, result.statistics)


class _Polisher:
    """Polishes what an engine finds, before it is asked for more: those must not change all that a polished one changes."""

    def __init__(self, query: Query, more: More) -> None:
        self._query, self._more = query, more
        #: polished row -> the best solution that became it
        self.originals: dict[bytes, Solution] = {}

    def __call__(self, problem: Problem, result: Result) -> Result:
        """The result with polished solutions; those that become the same row even if they change what they changed are one."""
        rows: dict[bytes, Solution] = {}
        for solution in result.solutions:
            most = self._query.worst_polished(solution.objective)
            answer = polished(problem, solution, most, more=self._more)
            if answer.row.tobytes() in rows:
                answer = polished(problem, solution, most, same_features=True, more=self._more)
            self.originals.setdefault(answer.row.tobytes(), solution)
            rows.setdefault(answer.row.tobytes(), answer)
        solutions = tuple(sorted(rows.values(), key=lambda answer: answer.objective))
        bounds = replace(result.bounds, upper=solutions[-1].objective) if solutions else result.bounds
        return replace(result, solutions=solutions, bounds=bounds)


def _candidate(
    fitted: Fitted,
    query: Query,
    pair: tuple[Solution, Solution],
    demands: dict[Value, tuple[float, float]],
    margin: float,
    more: More,
) -> Candidate:
    """A solution (as it was found, and polished) outside of the engine: rows that stand for it in the user's dtypes."""
    original, answer = pair
    label = query.target if original.class_index is None else fitted.form.classes[original.class_index]
    goal = goal_of(fitted.form, query.question, label, margin * (1 - MARGIN_ROUNDING))
    problem = _problem(fitted.form, fitted.circuit, query, goal, *(lower - rounding(lower) for lower in demands[label]))
    rows = []
    for each in {each.row.tobytes(): each for each in (answer, original)}.values():
        held = [other for other in problem.solutions(rounded_rows(query.schema, each.row)) if other is not None]
        if held:
            best = min(held, key=lambda other: other.objective)
            if each is not answer or not np.array_equal(best.row, answer.row):  # the answer is polished already
                most = query.worst_polished(original.objective)
                same = query.question.diversity == "values"
                rows.append(polished(problem, best, most, same_features=same, more=more).row)
            rows.append(best.row)
    return Candidate(original, label, problem, tuple({row.tobytes(): row for row in rows}.values()))
