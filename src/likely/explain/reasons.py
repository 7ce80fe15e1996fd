"""`Reasons`: the principal reasons for a decision, in the order of how little of them would have changed it - with proof.

A *way* is a set of features of which other values - the row's other values kept - make the model decide otherwise; it costs
what the cheapest such change costs by the schema's prices. What may change in a person's life plays no part: rules about the
row and its answer (what may not change, may only rise, how much or how many), likelihood and the question's own rules are left
out. Rules about rows as such (a debt is at most the income) are kept: what cannot be is no reason.

The ways are found one after the other. Each time the engine finds the cheapest change of all that do not contain an earlier
way; of the features that it changes, the fewest are kept with which the decision can be changed at no more than a ninth more
cost. So a further feature is named beside others only if it makes the change smaller by a tenth or more: a small top-up is no
reason. A feature is a reason if it is in a way, and ranks by the cheapest way that it is in. Within a way, the feature comes
first whose new value alone moves the score furthest towards the other decision (`closes`: the share of the distance from the
row's score to the goal's). Where that is a tie, the order is that of the schema.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from likely._display.tables import aligned
from likely.errors import ExplainerError
from likely.explain.concluding import explained
from likely.explain.counterfactual import Counterfactual
from likely.explain.explanation import Explanation, Status
from likely.explain.fitted import Fitted
from likely.explain.outcomes import goal_of
from likely.explain.query import Query
from likely.explain.question import Question
from likely.explain.reason_words import Direction, Words, check_words, own_sentence
from likely.explain.text import joined, told_apart, wanted
from likely.problem import Alternative
from likely.problem.tolerances import SAME_COST
from likely.schema import Constraint, Feature, Forbid, Immutable
from likely.schema.conditions import changes
from likely.schema.values import LARGEST, Name, Numbers, Value, show_value

#: How many reasons, unless said otherwise: more than four are not likely to help an applicant (Regulation B, comment 9(b)(2)-1).
USUAL = 4
#: By which share a further feature must make a change cheaper to be named beside the others.
MATERIAL = 0.1
#: So many ways are looked for, at most.
_MOST_WAYS = 24
#: Of a change of more features than this, subsets are not gone through: all of them are the way.
_MOST_REDUCED = 8


@dataclass(frozen=True)
class Alone:
    """What another value of one feature alone does, everything else as it is."""

    #: The value with which the decision is another, for people; None if there is none.
    to: Value
    cost: float | None
    #: "optimal": the cheapest, proved. "infeasible": proved that no value of the feature does it. "unknown": not decided in time.
    status: Status


@dataclass(frozen=True)
class PrincipalReason:
    """One feature that the decision rests on."""

    feature: Name
    title: str
    sentence: str
    #: The row's value, and the one with which - and those of `together` - the decision would have been another.
    value: Value
    to: Value
    #: Whether the value would have to be higher ("low") or lower ("high"); "" where values have no order.
    direction: Direction
    #: The other features of the way, in the order of the schema; none if this one is enough.
    together: tuple[Name, ...]
    #: The number of the way that it is in, the cheapest is 1; and what that way costs.
    way: int
    cost: float
    #: The share of the distance to the other decision, in score, that the new value alone covers; 1 or more is enough.
    closes: float
    alone: Alone


@dataclass(frozen=True)
class Way:
    """Features that together decide: their values now, and those with which the decision would have been another."""

    changes: tuple[tuple[Name, Value, Value], ...]
    cost: float
    sentence: str


@dataclass(frozen=True, repr=False)
class Reasons:
    """The principal reasons for a decision, the most principal first; a sequence of `PrincipalReason`."""

    decision: Value
    #: What the decision would have been: `decide 'good'`.
    otherwise: str
    reasons: tuple[PrincipalReason, ...]
    ways: tuple[Way, ...]
    #: "optimal": the ways and their order are proved. "feasible" or "unknown": the time was over before all were found, or
    #: proved. "infeasible": proved that the model decides no row otherwise.
    status: Status
    #: Whether there are no more reasons than these: no other feature is in a way.
    complete: bool
    #: The features that were not to be reasons, and those that cannot be: the model does not read them.
    excluded: tuple[Name, ...]
    unread: tuple[Name, ...]

    def __len__(self) -> int:
        return len(self.reasons)

    def __iter__(self) -> Iterator[PrincipalReason]:
        return iter(self.reasons)

    def __getitem__(self, place: int) -> PrincipalReason:
        return self.reasons[place]

    @property
    def proved(self) -> bool:
        """Whether the reasons and their order are proved (up to the question's gap)."""
        return self.status in ("optimal", "infeasible")

    @property
    def sentences(self) -> tuple[str, ...]:
        """What to tell the person, in order."""
        return tuple(reason.sentence for reason in self.reasons)

    def __repr__(self) -> str:
        if not self.reasons:
            return self._nothing()
        rows = [(f"{i + 1}.", reason.sentence) for i, reason in enumerate(self.reasons)]
        head = f"Principal reasons why the model did not {self.otherwise}:"
        return "\n".join([head, *(line.rstrip() for line in aligned(rows)), self.claim])

    def _nothing(self) -> str:
        if self.status == "infeasible":
            return f"Proved: whatever the values, the model does not {self.otherwise}. There is no reason in the row."
        return "No reason was found in time."

    @property
    def claim(self) -> str:
        """What is proved of the order, in words."""
        left_out = f" Not to be reasons: {joined([repr(str(name)) for name in self.excluded])}." if self.excluded else ""
        if not self.proved:
            return f"The time was over before it was proved that no smaller change would have been enough.{left_out}"
        return f"Proved: no change that is smaller by more than a tenth would have been enough.{left_out}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for machines."""
        data = asdict(self)
        data["reasons"] = [{**asdict(reason), "closes": _finite(reason.closes)} for reason in self.reasons]
        data["ways"] = [{**asdict(way), "changes": [list(change) for change in way.changes]} for way in self.ways]
        return {**data, "proved": self.proved, "claim": self.claim, "excluded": list(self.excluded), "unread": list(self.unread)}


def reasons_of(
    fitted: Fitted,
    explanation: Explanation,
    n: int = USUAL,
    *,
    words: Words | None = None,
    exclude: Iterable[Name] = (),
    threads: int = 1,
) -> Reasons:
    """The principal reasons for the decision about the explained row.

    Args:
        fitted: What the explainer knows.
        explanation: Of the row; of its question, what is to be reached and the limits count.
        n: How many, at most.
        words: feature -> sentence, or sentences by direction.
        exclude: Features that are not to be reasons.
        threads: On how many threads a search that takes long may go on.
    """
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise ExplainerError("The number of reasons", "be 1 or more", repr(n), f"leave it out for {USUAL}")
    query = explanation.query
    if explanation.status == "refused" or query.label is None:
        got = explanation.reason or "a row with an unknown value, which the model does not decide"
        raise ExplainerError("A row to have reasons", "be decided by the model", got, "fill in what is missing")
    check_words(words, fitted.schema)
    left_out = tuple(dict.fromkeys(exclude))
    for name in left_out:
        fitted.schema.index(name)
    asking = _Asking(fitted, query, left_out, threads)
    return _told(asking, _ways(asking, int(n)), int(n), words)


@dataclass(frozen=True, eq=False)
class _Found:
    """The ways, the cheapest first; and what the search for the next one said."""

    ways: tuple[Counterfactual, ...]
    status: Status
    #: Whether it is proved that there are no more.
    exhausted: bool


def _ways(asking: _Asking, n: int) -> _Found:
    """Ways one after the other, until they name so many features, or there are no more."""
    ways: list[Counterfactual] = []
    named: set[int] = set()
    status: Status = "optimal"
    while len(ways) < _MOST_WAYS and len(named) < n:
        found = asking.cheapest(ways)
        if found.status == "infeasible":
            return _Found(_in_order(ways), "optimal" if ways else "infeasible", exhausted=True)
        if not found:
            return _Found(_in_order(ways), "feasible" if ways else found.status, exhausted=False)
        status = "optimal" if status == found.status == "optimal" else "feasible"
        ways.append(asking.reduced(found))
        named |= set(_places(ways[-1]))
        if found.status != "optimal":
            break
    return _Found(_in_order(ways), status, exhausted=False)


def _places(answer: Counterfactual) -> list[int]:
    """The places of the features that an answer changes."""
    places: list[int] = np.flatnonzero(answer.query.changed(answer.numbers)).tolist()
    return places


class _Asking:
    """Questions about a row in which nothing counts but the decision."""

    def __init__(self, fitted: Fitted, query: Query, exclude: tuple[Name, ...], threads: int) -> None:
        self.fitted, self.exclude, self.threads = fitted, exclude, threads
        rules = tuple(rule for rule in fitted.schema.constraints if rule.row_wise)
        schema = replace(query.schema, constraints=rules)
        asked = query.question
        question = Question(
            target=asked.target, probability=asked.probability, prediction=asked.prediction, margin=asked.margin, gap=asked.gap,
            plausibility=None, limits=asked.limits, unread="free", rounding=0.0,
        )  # fmt: skip
        self.query = replace(query, question=question, schema=schema, given=(), kept=())
        self._started = time.perf_counter()
        self._only: dict[tuple[int, ...], Explanation] = {}
        #: Whether all that was asked of a few features was decided in time.
        self.decided = True

    def _asked(self, *rules: Constraint) -> Explanation:
        query = replace(self.query, schema=self.query.schema.with_constraints(*rules))
        return explained(self.fitted, query, threads=self.threads, spent=time.perf_counter() - self._started)

    def cheapest(self, ways: Sequence[Counterfactual]) -> Explanation:
        """The cheapest change that does not contain one of these ways."""
        names = self.query.schema.names
        locked = [Immutable(name) for name in dict.fromkeys((*self.exclude, *self.fitted.unread))]
        without = [Forbid(*(changes(names[j]) for j in _places(way))) for way in ways]
        return self._asked(*locked, *without)

    def only(self, places: tuple[int, ...]) -> Explanation:
        """The cheapest change of nothing but these features."""
        if places not in self._only:
            names = self.query.schema.names
            self._only[places] = self._asked(*(Immutable(name) for j, name in enumerate(names) if j not in places))
            self.decided &= self._only[places].status in ("optimal", "infeasible")
        return self._only[places]

    def reduced(self, found: Explanation) -> Counterfactual:
        """The cheapest change of the fewest features of an answer that costs no more than a ninth more than it."""
        places, most = _places(found.best), found.best.cost / (1 - MATERIAL) + SAME_COST
        for size in range(1, len(places) if len(places) <= _MOST_REDUCED else 0):
            answers = [self.only(some) for some in combinations(places, size)]
            enough = [answer.best for answer in answers if answer and answer.best.cost <= most]
            if enough:
                return min(enough, key=lambda answer: (round(answer.cost, 9), _places(answer)))
        return found.best

    def alone(self, place: int) -> Alone:
        """What another value of one feature alone does."""
        answer = self.only((place,))
        if not answer:
            return Alone(None, None, answer.status)
        return Alone(answer.best.values[place], answer.best.cost, answer.status)

    def closes(self, answer: Counterfactual, places: list[int]) -> list[float]:
        """The share of the distance to the goal, in score, that each new value of an answer alone covers."""
        form, question = self.fitted.form, self.query.question
        rows = np.tile(self.query.factual, (len(places) + 1, 1))
        rows[range(1, len(places) + 1), places] = answer.numbers[places]
        scores = form.score(rows, n_jobs=1)
        goal = goal_of(form, question, answer.label, question.margin)
        distances = np.min([_distances(alternative, scores) for alternative in goal.alternatives], axis=0)
        if not distances[0] > 0:
            return [math.nan] * len(places)
        return [float(1 - distance / distances[0]) for distance in distances[1:]]


def _distances(alternative: Alternative, scores: Numbers) -> Numbers:
    """By how much rows of scores miss an alternative: the most that they miss one of its inequalities by."""
    missed = alternative.lower[None, :] - scores @ alternative.coefficients.T
    return np.asarray(missed.max(axis=1))


# -- telling ----------------------------------------------------------------------------------------------------------------


def _told(asking: _Asking, found: _Found, n: int, words: Words | None) -> Reasons:
    query = asking.query
    ranked: dict[int, tuple[int, float]] = {}  # place of the feature -> its way, and what it closes
    for number, answer in enumerate(found.ways):
        places = _places(answer)
        closing = dict(zip(places, asking.closes(answer, places), strict=True))
        for j, closes in sorted(closing.items(), key=lambda item: (-_rounded(item[1]), item[0])):
            ranked.setdefault(j, (number, closes))
    reasons = tuple(_reason(asking, found.ways, j, *of, words) for j, of in list(ranked.items())[:n])
    complete = found.exhausted and len(ranked) <= n
    unread = tuple(name for name in asking.fitted.unread if name not in asking.exclude)
    ways = tuple(_way(answer) for answer in found.ways)
    otherwise = wanted(query, show_value)
    status: Status = found.status if asking.decided or found.status != "optimal" else "feasible"
    return Reasons(query.label, otherwise, reasons, ways, status, complete, asking.exclude, unread)


def _in_order(ways: Sequence[Counterfactual]) -> tuple[Counterfactual, ...]:
    """The cheapest first; of those that cost the same, the one of fewer features, then in the order of the schema."""
    return tuple(sorted(ways, key=lambda answer: (round(answer.cost, 6), len(_places(answer)), _places(answer))))


def _rounded(number: float) -> float:
    """So that two ways of adding up the same do not change an order."""
    return -math.inf if math.isnan(number) else round(number, 9)


def _reason(
    asking: _Asking, ways: Sequence[Counterfactual], j: int, number: int, closes: float, words: Words | None
) -> PrincipalReason:
    answer, query = ways[number], asking.query
    feature = query.schema.features[j]
    others = [k for k in _places(answer) if k != j]
    before, (after,) = told_apart(feature, float(query.factual[j]), [float(answer.numbers[j])])
    way = _direction(feature, float(query.factual[j]), float(answer.numbers[j]))
    sentence = own_sentence(words, feature, query.values[j], before, after, way)
    if sentence is None:
        sentence = _sentence(feature, before, after, [query.schema.features[k].title for k in others])
    return PrincipalReason(
        feature.name, feature.title, sentence, query.values[j], answer.values[j], way,
        tuple(query.schema.names[k] for k in others), number + 1, answer.cost, closes, asking.alone(j),
    )  # fmt: skip


def _sentence(feature: Feature, before: str, after: str, others: Sequence[str]) -> str:
    """'duration' is 24 months; 12 months would have changed the decision."""
    enough = f", together with another value of {joined([repr(name) for name in others])}," if others else ""
    return f"'{feature.title}' is {before}; {after}{enough} would have changed the decision"


def _direction(feature: Feature, before: float, after: float) -> Direction:
    if not feature.ordered or min(before, after) < -LARGEST:  # a code is no amount
        return ""
    return "low" if after > before else "high"


def _way(answer: Counterfactual) -> Way:
    names = answer.query.schema.names
    moves = tuple((names[j], answer.query.values[j], answer.values[j]) for j in _places(answer))
    return Way(moves, answer.cost, answer.sentence)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
