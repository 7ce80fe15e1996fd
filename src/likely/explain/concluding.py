"""From a draft to an explanation: the model itself has the last word on every row, and what is left is claimed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np

from likely.explain.counterfactual import Counterfactual
from likely.explain.explanation import Explanation, Status
from likely.explain.fitted import Fitted, coherence_of, log_likelihood_of
from likely.explain.merging import total
from likely.explain.outcomes import outcomes, said_of
from likely.explain.polishing import polished
from likely.explain.query import Query
from likely.explain.repairing import repaired
from likely.explain.solving import Callback, Candidate, Draft, drafted
from likely.problem import Bounds, Solution
from likely.schema.values import Numbers, Value

#: How often the score margin is raised while the model's own predict rejects an answer, and by which factor each time: from 1e-4
#: to 0.1 in all, in two steps per power of ten.
RAISES, RAISE = 6, math.sqrt(10)
#: Of so many repaired rows the model is asked, the cheapest first.
_MOST_REPAIRS = 500


def explained(
    fitted: Fitted,
    query: Query,
    *,
    callback: Callback | None = None,
    known: Numbers | None = None,
    threads: int = 1,
    spent: float = 0.0,
) -> Explanation:
    """The answers to a query, every one checked with the model's own predict.

    Args:
        fitted: What the explainer knows.
        query: What is asked.
        callback: Ends the search by returning False.
        known: Rows that may be answers.
        threads: On how many threads a search that takes long may go on.
        spent: How many of the seconds are gone already.
    """
    draft = drafted(fitted, query, query.question.margin, callback, known, spent, threads)
    return concluded(fitted, draft, labels_of(fitted, [draft])[0], callback, threads, spent)


def labels_of(fitted: Fitted, drafts: Sequence[Draft]) -> list[list[Value]]:
    """What the model itself says of the rows of each draft, asked once for all: they answer the same question."""
    rows = [[row for candidate in draft.candidates for row in candidate.rows] for draft in drafts]
    every = [row for of_draft in rows for row in of_draft]
    if not every:
        return [[] for _ in drafts]
    targets = [draft.query.target for draft, of_draft in zip(drafts, rows, strict=True) for _ in of_draft]
    labels = iter(said_of(fitted.user_model, drafts[0].query.question, np.stack(every), targets))
    return [[next(labels) for _ in of_draft] for of_draft in rows]


@dataclass(frozen=True, eq=False)
class _Attempt:
    """A draft, and per candidate the row that the model confirms; None where it confirms none."""

    draft: Draft
    rows: tuple[Numbers | None, ...]

    @property
    def whole(self) -> bool:
        return all(row is not None for row in self.rows)

    @property
    def count(self) -> int:
        return sum(row is not None for row in self.rows)


def concluded(
    fitted: Fitted,
    draft: Draft,
    labels: Sequence[Value],
    callback: Callback | None = None,
    threads: int = 1,
    spent: float = 0.0,
) -> Explanation:
    """The explanation, once the model itself has spoken.

    Where it rejects an answer that its form accepts (they may round otherwise, at the boundary), rows next to it are tried. If
    none of them is as good, the margin of score is raised and the search repeated, a few times; if that does not help
    either, what holds nevertheless is returned. If nothing holds of the rows that keep what the model does not read, the others
    are searched.

    Args:
        fitted: What the explainer knows.
        draft: The result of the search.
        labels: What the model says of the rows of the draft.
        callback: Ends a further search by returning False.
        threads: On how many threads a further search may go on.
        spent: How many of the seconds were gone before the search.
    """
    search = partial(drafted, fitted, callback=callback, threads=threads)
    attempts = _attempts(fitted, _attempt(fitted, draft, labels), search, spent)
    best, every = _best(fitted, attempts), attempts
    if draft.query.kept and not best.count and not attempts[0].whole and not _over(attempts, spent):
        spent += _seconds(attempts)
        free = _free_draft(draft.query, search, spent)
        attempts = _attempts(fitted, _attempt(fitted, free, labels_of(fitted, [free])[0]), search, spent)
        best, every = _best(fitted, attempts), [*every, *attempts]
    draft = best.draft
    status, bounds, answers = _claim(fitted, best, disputed=len(every) > 1)
    statistics = total([attempt.draft.statistics for attempt in every])
    return Explanation(
        draft.query, status, bounds, tuple(answers), _finite(draft.thresholds), draft.margin, fitted.evidence,
        any(attempt.draft.ended for attempt in every), statistics.nodes, _seconds(every), statistics,
        coherence_thresholds=_finite(draft.coherences), maker=fitted,
    )  # fmt: skip


def refused(fitted: Fitted, query: Query, reason: str) -> Explanation:
    """What is said of a row of which the question cannot be asked.

    Args:
        fitted: What the explainer knows.
        query: The row, as far as it can be read, and the question.
        reason: Why it cannot be asked.
    """
    bounds, margin = Bounds(math.inf, -math.inf), query.question.margin
    return Explanation(query, "refused", bounds, (), (), margin, fitted.evidence, reason=reason, maker=fitted)


# -- searching on ------------------------------------------------------------------------------------------------------


class _Search(Protocol):
    """`drafted`, of an explainer."""

    def __call__(self, query: Query, margin: float, *, spent: float) -> Draft:
        """The result of a search."""


def _attempts(fitted: Fitted, first: _Attempt, search: _Search, spent: float = 0.0) -> list[_Attempt]:
    """An attempt, and those at greater margins of score until the model confirms every row of one."""
    attempts = [first]
    while not attempts[-1].whole and len(attempts) <= RAISES and not _over(attempts, spent):
        last, seconds = attempts[-1].draft, spent + _seconds(attempts)
        draft = search(last.query, last.margin * RAISE, spent=seconds)
        attempts.append(_attempt(fitted, draft, labels_of(fitted, [draft])[0]))
    return attempts


def _seconds(attempts: Sequence[_Attempt]) -> float:
    return sum(attempt.draft.seconds for attempt in attempts)


def _over(attempts: Sequence[_Attempt], spent: float = 0.0) -> bool:
    """Whether nothing more shall be searched."""
    last = attempts[-1].draft
    return last.ended or spent + _seconds(attempts) >= last.query.limits.seconds


def _best(fitted: Fitted, attempts: Sequence[_Attempt]) -> _Attempt:
    """The attempt to claim something of."""
    best = attempts[-1]
    if not best.whole or (len(attempts) > 1 and not best.count):
        # that no row has a greater margin says nothing of those that the model accepts at the one that was asked for
        best = max([*attempts[::-1], _repaired_attempt(fitted, attempts[0])], key=lambda attempt: attempt.count)
    return best


def _free_draft(query: Query, search: _Search, spent: float) -> Draft:
    """The result of a search in which what the model does not read may change, whatever the question says."""
    free = query.freeing_unread()
    draft = search(free.asking(unread="free"), free.question.margin, spent=spent)
    return replace(draft, query=free)


# -- asking the model --------------------------------------------------------------------------------------------------


def _attempt(fitted: Fitted, draft: Draft, labels: Sequence[Value]) -> _Attempt:
    """The rows of a draft that the model confirms: of each candidate the first one that no better answer is already."""
    said = iter(labels)
    rows: list[Numbers | None] = []
    taken: set[bytes] = set()
    for candidate in draft.candidates:
        confirmed = [row for row in candidate.rows if next(said) == candidate.label]
        row = next((row for row in confirmed if row.tobytes() not in taken), confirmed[0] if confirmed else None)
        if row is None:
            row = _repaired(fitted, draft.query, candidate, draft.query.worst_polished(candidate.solution.objective))
        rows.append(row)
        taken |= set() if row is None else {row.tobytes()}
    return _Attempt(draft, tuple(rows))


def _repaired_attempt(fitted: Fitted, attempt: _Attempt) -> _Attempt:
    """The attempt with rows further away in the place of those that the model rejects."""
    pairs = zip(attempt.draft.candidates, attempt.rows, strict=True)
    return _Attempt(
        attempt.draft, tuple(_repaired(fitted, attempt.draft.query, each) if row is None else row for each, row in pairs)
    )


def _repaired(fitted: Fitted, query: Query, candidate: Candidate, most: float = math.inf) -> Numbers | None:
    """The best row next to a solution that the model confirms, rounded if it confirms that; None if there is none."""
    answers = [answer for answer in repaired(candidate.problem, candidate.solution.row) if answer.objective <= most]
    answers = answers[:_MOST_REPAIRS]
    if not answers:
        return None
    model, asked = fitted.user_model, query.question
    labels = said_of(model, asked, np.stack([answer.row for answer in answers]), [query.target] * len(answers))
    best = next((answer for answer, label in zip(answers, labels, strict=True) if label == candidate.label), None)
    if best is None:
        return None
    rounder = polished(candidate.problem, best, most if most < math.inf else best.objective)
    said = said_of(model, asked, rounder.row[None], [query.target])[0]
    return rounder.row if said == candidate.label else best.row


# -- claiming ----------------------------------------------------------------------------------------------------------


def _claim(fitted: Fitted, attempt: _Attempt, *, disputed: bool) -> tuple[Status, Bounds, list[Counterfactual]]:
    """What can be said of the answers that the model confirms, and these."""
    draft, query = attempt.draft, attempt.draft.query
    pairs = list(zip(draft.candidates, attempt.rows, strict=True))
    rows = {row.tobytes(): (row, candidate.label) for candidate, row in reversed(pairs) if row is not None}
    answers = sorted((counterfactual(fitted, query, *each) for each in rows.values()), key=lambda answer: answer.objective)
    rejected: list[Solution] = [candidate.solution for candidate, row in pairs if row is None]
    lower = min([draft.result.bounds.lower, *(solution.objective for solution in rejected)])
    if not answers:
        return ("disputed" if disputed or rejected else draft.result.status), Bounds(math.inf, lower), []
    bounds = Bounds(answers[-1].objective, lower)
    held = not rejected and bounds.gap <= allowed_gap(query, bounds.upper)
    return (draft.result.status if held else "feasible"), bounds, answers


def allowed_gap(query: Query, upper: float) -> float:
    """How far the bounds of an optimal answer may be apart: as the limits say, and the tolerance of polishing.

    Of several ways each is found in a search of its own: one may be cheaper than those before it by the gap, and what is proved
    below it by the gap again.

    Args:
        query: What was asked.
        upper: The objective of the last answer.
    """
    limits = query.limits
    searches = 2 if query.several_ways else 1
    return searches * max(limits.absolute_gap, limits.relative_gap * abs(upper)) + query.worst_polished(upper) - upper


def _finite(thresholds: dict[Value, float]) -> tuple[tuple[Value, float], ...]:
    return tuple((label, lower) for label, lower in thresholds.items() if lower > -math.inf)


def counterfactual(fitted: Fitted, query: Query, row: Numbers, label: Value) -> Counterfactual:
    """A row as an answer, measured anew."""
    log = log_likelihood_of(fitted.circuit, query, row, label)
    number = outcomes(fitted.form, query.question).index(label)
    cost = float(query.schema.prices(query.factual, row[None])[0])
    weight = query.total_weight
    before = after = None
    if fitted.form.link.classifies and fitted.form.link.has_probabilities:
        after = float(fitted.form.probabilities(row[None])[0, number])
        before = None if query.label is None else float(fitted.form.probabilities(query.factual[None])[0, number])
    fit = coherence_of(fitted.circuit, row, label)
    return Counterfactual(
        query,
        row,
        label,
        objective=cost - weight * log if weight else cost,
        cost=cost,
        log_likelihood=log,
        percentile=fitted.training.percentile(log, query.peers(number)),
        coherence=fit,
        coherence_percentile=fitted.training.percentile(fit, query.peers(number, "coherence")),
        probability_before=before,
        probability_after=after,
        prediction=None if fitted.form.link.classifies else float(fitted.form.predict(row[None])[0]),
    )
