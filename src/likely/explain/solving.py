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
from likely.explain.dtype_rounding import rounded_rows
from likely.explain.engines import solve_of
from likely.explain.explanation import Explanation, Status
from likely.explain.fitted import Fitted, log_likelihood_of
from likely.explain.merging import in_turn, merged, unsearched
from likely.explain.plausibility import AtLeastFactual, Quantile, Threshold
from likely.explain.query import Query
from likely.problem import Bounds, Goal, Limits, Plausibility, Problem, Progress, Result, Solution, not_class, to_class
from likely.problem.tolerances import MARGIN_ROUNDING, SINGLES_ROUNDING, rounding
from likely.schema import Constraint, Immutable
from likely.schema.values import Numbers, Value

#: How often the score margin is raised, tenfold each time, while the model's own predict rejects an answer.
RAISES = 3

Callback = Callable[[Progress], bool]


# -- what to ask the engine -------------------------------------------------------------------------------------------


def thresholds_of(fitted: Fitted, query: Query) -> dict[Value, float]:
    """The log-likelihood that an answer of each class that may be reached must have, less what rounding may take."""
    classes = fitted.form.classes
    wanted = [label for label in classes if label != query.label] if query.target is None else [query.target]
    thresholds = {label: _threshold(fitted, query, label) for label in wanted}
    return {label: threshold - rounding(threshold) for label, threshold in thresholds.items()}


def _threshold(fitted: Fitted, query: Query, label: Value) -> float:
    variant = query.plausibility
    if isinstance(variant, Threshold):
        return float(variant.log_likelihood)
    if not isinstance(variant, (Quantile, AtLeastFactual)):
        return -math.inf
    number = fitted.form.classes.index(label) if variant.of == "class" else None
    if isinstance(variant, AtLeastFactual):
        if query.label is None:
            raise ProblemError("A row for AtLeastFactual", "be complete", "an unknown value", "fill it in, or use Quantile(0.5)")
        factual = log_likelihood_of(fitted.circuit, query, query.factual, query.label)
        return min(factual, fitted.training.quantile(variant.most, variant.given, number))
    return fitted.training.quantile(variant.q, variant.given, number)


def problems_of(fitted: Fitted, query: Query, margin: float, thresholds: dict[Value, float]) -> list[Problem]:
    """One problem per different threshold: an engine knows one for all classes."""
    form, different = fitted.form, set(thresholds.values())
    if len(different) == 1:
        any_other = query.target is None
        goal = not_class(form, query.label, margin=margin) if any_other else to_class(form, query.target, margin=margin)
        return [_problem(fitted, query, goal, different.pop())]
    return [_problem(fitted, query, to_class(form, label, margin=margin), lower) for label, lower in thresholds.items()]


def _problem(fitted: Fitted, query: Query, goal: Goal, threshold: float) -> Problem:
    plausibility = None
    if threshold > -math.inf or query.total_weight > 0:
        plausibility = Plausibility(fitted.circuit, threshold, query.total_weight, query.given)
    return Problem(query.schema, query.factual, fitted.form, goal, plausibility)


def starts_for(fitted: Fitted, query: Query, labels: Sequence[Value]) -> Numbers:
    """Training rows of the wanted classes, with what may not change as the factual has it."""
    schema = query.schema
    numbers = [fitted.form.classes.index(label) for label in labels]
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
class Draft:
    """The result of one search, before the model itself was asked."""

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

    def __call__(self, progress: Progress) -> bool:
        if self.callback is not None and not self.callback(progress):
            self.ended = True
        return not self.ended

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started

    def left(self, limits: Limits) -> Limits:
        return replace(limits, seconds=max(1e-3, self.limits.seconds - self.seconds))


def drafted(fitted: Fitted, query: Query, margin: float, callback: Callback | None = None, known: Numbers | None = None) -> Draft:
    """Search for all answers.

    Args:
        fitted: What the explainer knows.
        query: What is asked.
        margin: By how much score an answer must be on the other side; the one that was asked for, or more.
        callback: Ends the search by returning False.
        known: Rows that may be answers.
    """
    watch = _Watch(query.limits, callback)
    thresholds = thresholds_of(fitted, query)
    starts = starts_for(fitted, query, list(thresholds))
    starts = starts if known is None else np.concatenate([known, starts])
    watch(Progress(0.0, 0, math.inf, -math.inf))  # nothing is begun if it was ended before
    problems = problems_of(fitted, query, margin, thresholds)
    solve = partial(solve_of(query.engine, query.solver), starts=starts, callback=watch)

    def search(limits: Limits, more: Sequence[Constraint] = ()) -> Result:
        results = []
        for problem in problems:
            asked = replace(problem, schema=problem.schema.with_constraints(*more)) if more else problem
            results.append(unsearched() if watch.ended else solve(asked, watch.left(limits)))
            watch.ended |= results[-1].interrupted
        return merged(results, limits)

    result = in_turn(search, query) if query.limits.other_features else search(query.limits)
    rows = _acceptable_rows(fitted, query, result, thresholds, margin)
    return Draft(query, result, thresholds, margin, rows, watch.ended, watch.seconds)


def labels_of(fitted: Fitted, drafts: Sequence[Draft]) -> list[list[Value]]:
    """What the model itself says of the rows of each draft, asked once for all."""
    rows = [row for draft in drafts for row, _ in draft.rows]
    labels = iter(fitted.user_model.labels(np.stack(rows)) if rows else ())
    return [[next(labels) for _ in draft.rows] for draft in drafts]


def concluded(fitted: Fitted, draft: Draft, labels: Sequence[Value], callback: Callback | None = None) -> Explanation:
    """The explanation, once the model itself has spoken.

    Where it rejects an answer that its form accepts (they may round otherwise, at the boundary), the margin of score is
    raised and the search repeated, a few times.

    Args:
        fitted: What the explainer knows.
        draft: The result of the search.
        labels: What the model says of the rows of the draft.
        callback: Ends a further search by returning False.
    """
    drafts = [draft]
    while len(drafts) <= RAISES and not draft.ended and _rejected(draft, labels):
        draft = drafted(fitted, draft.query, draft.margin * 10, callback)
        drafts.append(draft)
        (labels,) = labels_of(fitted, [draft])
    query = draft.query
    confirmed = [(row, label) for (row, label), predicted in zip(draft.rows, labels, strict=True) if predicted == label]
    answers = sorted((counterfactual(fitted, query, row, label) for row, label in confirmed), key=lambda row: row.objective)
    status, bounds = _claim(draft, answers, disputed=len(drafts) > 1)
    return Explanation(
        query, status, bounds, tuple(answers), _finite(draft.thresholds), draft.margin, fitted.evidence, draft.ended,
        sum(made.result.statistics.nodes for made in drafts), sum(made.seconds for made in drafts),
    )  # fmt: skip


def explained(fitted: Fitted, query: Query, *, callback: Callback | None = None, known: Numbers | None = None) -> Explanation:
    """The answers to a query, every one checked with the model's own predict.

    Args:
        fitted: What the explainer knows.
        query: What is asked.
        callback: Ends the search by returning False.
        known: Rows that may be answers.
    """
    draft = drafted(fitted, query, query.question.margin, callback, known)
    return concluded(fitted, draft, labels_of(fitted, [draft])[0], callback)


def _rejected(draft: Draft, labels: Sequence[Value]) -> bool:
    """Whether a solution of the engine does not hold outside of it."""
    return len(draft.rows) < len(draft.result.solutions) or any(
        label != predicted for (_, label), predicted in zip(draft.rows, labels, strict=True)
    )


def _claim(draft: Draft, answers: Sequence[Counterfactual], *, disputed: bool) -> tuple[Status, Bounds]:
    """What can be said of the answers that are left."""
    result, limits = draft.result, draft.query.limits
    rejected = len(answers) < len(result.solutions)
    lower = min([result.bounds.lower, *(solution.objective for solution in result.solutions if rejected)])
    if not answers:
        # That no row has a greater margin proves nothing about those that the model itself accepts.
        return ("disputed" if disputed or rejected else result.status), Bounds(math.inf, lower)
    bounds = Bounds(answers[-1].objective, lower)
    return ("feasible" if rejected or bounds.gap > allowed_gap(limits, bounds.upper) else result.status), bounds


def allowed_gap(limits: Limits, upper: float) -> float:
    """How far the bounds of an optimal answer may be apart: as was asked for, and what a column of singles rounds."""
    return max(limits.absolute_gap, limits.relative_gap * abs(upper)) + rounding(upper, SINGLES_ROUNDING)


def _finite(thresholds: dict[Value, float]) -> tuple[tuple[Value, float], ...]:
    return tuple((label, lower) for label, lower in thresholds.items() if lower > -math.inf)


# -- checking ----------------------------------------------------------------------------------------------------------


def _acceptable_rows(
    fitted: Fitted, query: Query, result: Result, thresholds: dict[Value, float], margin: float
) -> tuple[tuple[Numbers, Value], ...]:
    """The solutions that hold by form, rules and circuit outside of the engine, as the user's dtypes hold them."""
    rows = []
    for solution in result.solutions:
        assert solution.class_index is not None
        label = fitted.form.classes[solution.class_index]
        goal = to_class(fitted.form, label, margin=margin * (1 - MARGIN_ROUNDING))
        problem = _problem(fitted, query, goal, thresholds[label] - rounding(thresholds[label]))
        row = _acceptable(problem, solution)
        if row is not None:
            rows.append((row, label))
    return tuple(rows)


def _acceptable(problem: Problem, solution: Solution) -> Numbers | None:
    """The best row that stands for a solution in the user's dtypes and answers the problem; None if there is none."""
    answers = [answer for answer in problem.solutions(rounded_rows(problem.schema, solution.row)) if answer is not None]
    return min(answers, key=lambda answer: answer.objective).row if answers else None


def counterfactual(fitted: Fitted, query: Query, row: Numbers, label: Value) -> Counterfactual:
    """A row as an answer, measured anew."""
    log = log_likelihood_of(fitted.circuit, query, row, label)
    number = fitted.form.classes.index(label)
    cost = float(query.schema.prices(query.factual, row[None])[0])
    weight = query.total_weight
    before = after = None
    if fitted.form.link.has_probabilities:
        after = float(fitted.form.probabilities(row[None])[0, number])
        before = None if query.label is None else float(fitted.form.probabilities(query.factual[None])[0, number])
    percentile = fitted.training.percentile(log, query.density, number if query.of_class else None)
    return Counterfactual(query, row, label, cost - weight * log if weight else cost, cost, log, percentile, before, after)
