"""From a query to an explanation: problems for the engine, their answers checked outside of it, and searched again if need be."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from likely.errors import ProblemError
from likely.explain.counterfactual import Counterfactual
from likely.explain.dtype_rounding import held_rows
from likely.explain.engines import solve_of
from likely.explain.explanation import Explanation, Status
from likely.explain.fitted import Fitted
from likely.explain.merging import in_turn, merged, unsearched
from likely.explain.plausibility import AtLeastFactual, Quantile, Threshold
from likely.explain.query import Query, values_of
from likely.explain.training import slack
from likely.problem import Bounds, Goal, Limits, Plausibility, Problem, Progress, Result, Solution, not_class, to_class
from likely.schema import Constraint, Immutable
from likely.schema.values import Numbers, Value

#: How often the score margin is raised, tenfold each time, while the model's own predict rejects an answer.
RAISES = 3
#: Which share of the margin an answer may miss, because sums of scores round: the model itself has the last word.
ROUNDING = 1e-6
#: By how much an objective may differ, relative to its size, because a column of singles rounds.
COARSE = 1e-6

Callback = Callable[[Progress], bool]


# -- what to ask the engine -------------------------------------------------------------------------------------------


def thresholds_of(fitted: Fitted, query: Query) -> dict[Value, float]:
    """The least log-likelihood of an answer of each class that may be reached, less what rounding may take."""
    classes = fitted.form.classes
    wanted = [label for label in classes if label != query.label] if query.target is None else [query.target]
    least = {label: _least(fitted, query, label) for label in wanted}
    return {label: own - slack(own) for label, own in least.items()}


def _least(fitted: Fitted, query: Query, label: Value) -> float:
    variant = query.plausibility
    if isinstance(variant, Threshold):
        return float(variant.log_likelihood)
    if not isinstance(variant, (Quantile, AtLeastFactual)):
        return -math.inf
    number = fitted.form.classes.index(label) if variant.of == "class" else None
    if isinstance(variant, AtLeastFactual):
        if query.label is None:
            raise ProblemError("A row to be as likely as", "be complete", "an unknown value", "fill it in, or use Quantile(0.5)")
        own = float(fitted.log_likelihoods(query, query.factual[None], query.label)[0])
        return min(own, fitted.training.quantile(variant.most, variant.given, number))
    return fitted.training.quantile(variant.q, variant.given, number)


def problems_of(fitted: Fitted, query: Query, margin: float, thresholds: dict[Value, float]) -> list[Problem]:
    """One problem per different threshold: an engine knows one for all classes."""
    least = set(thresholds.values())
    if len(least) == 1:
        goal = not_class(fitted.form, query.label, margin=margin) if query.target is None else None
        goal = goal or to_class(fitted.form, query.target, margin=margin)
        return [_problem(fitted, query, goal, least.pop())]
    return [_problem(fitted, query, to_class(fitted.form, label, margin=margin), own) for label, own in thresholds.items()]


def _problem(fitted: Fitted, query: Query, goal: Goal, least: float) -> Problem:
    plausibility = None
    if least > -math.inf or query.total_weight > 0:
        plausibility = Plausibility(fitted.circuit, least, query.total_weight, query.given)
    return Problem(query.schema, query.factual, fitted.form, goal, plausibility)


def starts_for(fitted: Fitted, query: Query, labels: Sequence[Value]) -> Numbers:
    """Training rows of the wanted classes, with what may not change as the factual has it."""
    schema = query.schema
    numbers = [fitted.form.classes.index(label) for label in labels]
    rows = np.concatenate(
        [np.empty((0, len(schema))), *(fitted.training.starts.get(k, np.empty((0, len(schema)))) for k in numbers)]
    )
    for own in schema.constraints:
        if isinstance(own, Immutable) and not np.isnan(query.factual[schema.index(own.feature)]):
            rows[:, schema.index(own.feature)] = query.factual[schema.index(own.feature)]
    fits = [feature.fits(rows[:, j]) for j, feature in enumerate(schema.features)]
    return rows[np.all(fits, axis=0)]


# -- asking ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Draft:
    """What one search found, before the model itself was asked."""

    query: Query
    result: Result
    thresholds: dict[Value, float]
    margin: float
    #: Rows that hold by form, rules and circuit, in the user's dtypes, with the class that they have by the form.
    rows: tuple[tuple[Numbers, Value], ...]
    ended: bool
    seconds: float


@dataclass
class _Watch:
    """What is left of the time, and whether somebody ended the search."""

    limits: Limits
    callback: Callback | None
    started: float = field(default_factory=time.perf_counter)
    ended: bool = False

    def __call__(self, moment: Progress) -> bool:
        if self.callback is not None and not self.callback(moment):
            self.ended = True
        return not self.ended

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started

    def left(self, limits: Limits) -> Limits:
        return replace(limits, seconds=max(1e-3, self.limits.seconds - self.seconds))


def drafted(fitted: Fitted, query: Query, margin: float, callback: Callback | None = None, known: Numbers | None = None) -> Draft:
    """Search for all answers; `known` are rows that may be some."""
    watch = _Watch(query.limits, callback)
    thresholds = thresholds_of(fitted, query)
    starts = starts_for(fitted, query, list(thresholds))
    starts = starts if known is None else np.concatenate([known, starts])
    watch(Progress(0.0, 0, math.inf, -math.inf))  # nothing is begun if it was ended before
    problems = problems_of(fitted, query, margin, thresholds)
    solve = partial(solve_of(query.engine, query.solver), starts=starts, callback=watch)

    def search(limits: Limits, more: Sequence[Constraint] = ()) -> Result:
        found = []
        for problem in problems:
            asked = replace(problem, schema=problem.schema.with_constraints(*more)) if more else problem
            found.append(unsearched() if watch.ended else solve(asked, watch.left(limits)))
            watch.ended |= found[-1].interrupted
        return merged(found, limits)

    result = in_turn(search, query) if query.limits.other_features else search(query.limits)
    rows = _acceptable_rows(fitted, query, result, thresholds, margin)
    return Draft(query, result, thresholds, margin, rows, watch.ended, watch.seconds)


def labels_of(fitted: Fitted, drafts: Sequence[Draft]) -> list[list[Value]]:
    """What the model itself says of the rows of each draft, asked once for all."""
    rows = [row for draft in drafts for row, _ in draft.rows]
    said = iter(fitted.own.labels(np.stack(rows)) if rows else ())
    return [[next(said) for _ in draft.rows] for draft in drafts]


def concluded(fitted: Fitted, draft: Draft, said: Sequence[Value], callback: Callback | None = None) -> Explanation:
    """The explanation, once the model itself has spoken.

    Where it rejects an answer that its form accepts (they may round otherwise, at the boundary), the margin of score is
    raised and the search repeated, a few times.
    """
    drafts = [draft]
    while len(drafts) <= RAISES and not draft.ended and _rejected(draft, said):
        draft = drafted(fitted, draft.query, draft.margin * 10, callback)
        drafts.append(draft)
        (said,) = labels_of(fitted, [draft])
    query = draft.query
    kept = [(row, label) for (row, label), own in zip(draft.rows, said, strict=True) if own == label]
    answers = sorted((counterfactual(fitted, query, row, label) for row, label in kept), key=lambda own: own.objective)
    status, bounds = _claim(draft, answers, disputed=len(drafts) > 1)
    return Explanation(
        query, status, bounds, tuple(answers), _finite(draft.thresholds), draft.margin, fitted.evidence, draft.ended,
        sum(own.result.statistics.nodes for own in drafts), sum(own.seconds for own in drafts),
    )  # fmt: skip


def explained(
    fitted: Fitted, query: Query, *, margin: float, callback: Callback | None = None, known: Numbers | None = None
) -> Explanation:
    """The answers to a query, every one checked with the model's own predict."""
    draft = drafted(fitted, query, margin, callback, known)
    return concluded(fitted, draft, labels_of(fitted, [draft])[0], callback)


def _rejected(draft: Draft, said: Sequence[Value]) -> bool:
    """Whether something that the engine found does not hold outside of it."""
    return len(draft.rows) < len(draft.result.solutions) or any(
        label != own for (_, label), own in zip(draft.rows, said, strict=True)
    )


def _claim(draft: Draft, answers: Sequence[Counterfactual], *, disputed: bool) -> tuple[Status, Bounds]:
    """What can be said of the answers that are left."""
    result, limits = draft.result, draft.query.limits
    rejected = len(answers) < len(result.solutions)
    proven = min([result.bounds.lower, *(own.objective for own in result.solutions if rejected)])
    if not answers:
        # That no row has a greater margin proves nothing about those that the model itself accepts.
        return ("disputed" if disputed or rejected else result.status), Bounds(math.inf, proven)
    bounds = Bounds(answers[-1].objective, proven)
    return ("feasible" if rejected or bounds.gap > allowed_gap(limits, bounds.upper) else result.status), bounds


def allowed_gap(limits: Limits, found: float) -> float:
    """How far the bounds of an optimal answer may be apart: as was asked for, and what a column of singles rounds."""
    return max(limits.absolute_gap, limits.relative_gap * abs(found)) + COARSE * (1 + abs(found))


def _finite(thresholds: dict[Value, float]) -> tuple[tuple[Value, float], ...]:
    return tuple((label, least) for label, least in thresholds.items() if least > -math.inf)


# -- checking ----------------------------------------------------------------------------------------------------------


def _acceptable_rows(
    fitted: Fitted, query: Query, result: Result, thresholds: dict[Value, float], margin: float
) -> tuple[tuple[Numbers, Value], ...]:
    """The solutions that hold by form, rules and circuit outside of the engine, as the user's dtypes hold them."""
    found = []
    for solution in result.solutions:
        assert solution.class_index is not None
        label = fitted.form.classes[solution.class_index]
        goal = to_class(fitted.form, label, margin=margin * (1 - ROUNDING))
        row = _acceptable(fitted, query, solution, goal, thresholds[label])
        if row is not None:
            found.append((row, label))
    return tuple(found)


def _acceptable(fitted: Fitted, query: Query, solution: Solution, goal: Goal, least: float) -> Numbers | None:
    """The cheapest row that stands for a solution in the user's dtypes, reaches the goal and keeps rules and threshold."""
    schema, label = query.schema, goal.alternatives[0].class_index
    assert label is not None
    rows = held_rows(schema, solution.row)
    fits = np.all(
        [feature.fits(rows[:, j]) | (rows[:, j] == query.factual[j]) for j, feature in enumerate(schema.features)], axis=0
    )
    holds = fits & schema.keeps(query.factual, rows) & goal.met(fitted.form.score(rows))
    logs = fitted.log_likelihoods(query, rows, fitted.form.classes[label])
    if least > -math.inf:
        holds &= logs >= least - slack(least)
    if not holds.any():
        return None
    weight = query.total_weight
    objective = schema.prices(query.factual, rows) - (weight * logs if weight else 0.0)
    row: Numbers = rows[int(np.argmin(np.where(holds, objective, np.inf)))]
    return row


def counterfactual(fitted: Fitted, query: Query, row: Numbers, label: Value) -> Counterfactual:
    """A row as an answer, measured anew."""
    log = float(fitted.log_likelihoods(query, row[None], label)[0])
    number = fitted.form.classes.index(label)
    cost = float(query.schema.prices(query.factual, row[None])[0])
    weight = query.total_weight
    before = after = None
    if fitted.form.link.has_probabilities:
        after = float(fitted.form.probabilities(row[None])[0, number])
        before = None if query.label is None else float(fitted.form.probabilities(query.factual[None])[0, number])
    percentile = fitted.training.percentile(log, query.density, number if query.of_class else None)
    return Counterfactual(
        query, values_of(query.schema, row), label, cost - weight * log if weight else cost, cost, log, percentile, before, after
    )
