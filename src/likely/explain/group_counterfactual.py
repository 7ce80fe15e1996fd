"""`group_counterfactual`: the cheapest change that, made by everybody in a group, turns at least a share of it - with its proof.

A *change* is one move or a few (`group_moves`), of different features, the same for everybody. It *turns* a member if the row
that comes out is an answer to the member's own question: the model decides as wanted, and domains, rules and likelihood are
kept. It costs what it costs the members on average, whether it turns them or not; a move that would leave a member's domain is
not made.

All changes are gone through in the order of their cost: the first that turns enough members is the cheapest. Most are ruled out
by what is proved of single members already: a change that costs a member less than its own best answer cannot turn it, and
nothing turns a member that has no answer. What is left is tested on the form, and the change that is claimed by the model's own
predict.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely._display.numbers import cost_text
from likely.errors import ExplainerError
from likely.explain.audit_statistics import Share
from likely.explain.explainer import Explainer
from likely.explain.explanation import Explanation
from likely.explain.fitted import Fitted
from likely.explain.group_moves import GroupMove, Member, moves_of
from likely.explain.outcomes import said_of
from likely.explain.solving import problems_of, thresholds_of
from likely.explain.text import joined
from likely.problem import Status
from likely.problem.tolerances import rounding
from likely.schema import Immutable
from likely.schema.values import Name, Numbers

#: So many changes are tested together, and so many sets of moves are extended by all moves at a time.
_CHUNK, _BLOCK = 256, 256
#: So many prices of a move for a member are kept.
_MOST_PRICES = 20_000_000
#: features of a change -> how many moves are looked at in all: so many that every set of them can be
_MOST_MOVES = {1: 1_000_000, 2: 1_500, 3: 180}


@dataclass(frozen=True)
class GroupChange:
    """Moves that everybody makes, what they cost on average, and whom they turn, by the model's own predict."""

    moves: tuple[GroupMove, ...]
    cost: float
    turned: Share

    def __str__(self) -> str:
        share = f"{self.turned.count:,} of {self.turned.of:,} ({100 * self.turned.value:.1f} %)"
        moves = joined([str(move) for move in self.moves])
        return f"If {moves}, {share} are decided as wanted, at a mean cost of {cost_text(self.cost)}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for machines."""
        turned = {"count": self.turned.count, "of": self.turned.of, "share": self.turned.value}
        return {"moves": [move.to_dict() for move in self.moves], "cost": self.cost, "turned": turned, "text": str(self)}


@dataclass(frozen=True)
class GroupCounterfactual:
    """The cheapest change that turns at least a share of a group, as far as it is proved.

    `status` is "optimal" (proved: no change that was to be looked at turns so many at less cost), "infeasible" (proved: none
    turns so many), "feasible" or "unknown" (the time was over before; `lower` is what no such change costs less than).
    """

    #: Of how many members, and how many of them were to be turned.
    members: int
    wanted: int
    #: How many features a change may have moves of.
    features: int
    status: Status
    change: GroupChange | None
    lower: float
    #: The moves that turn most, one per feature, the one that turns most first; of as many, the cheapest.
    single: tuple[GroupChange, ...]
    #: Whether the time was enough to look at all of them.
    single_whole: bool
    #: The features of which a choice of values was looked at, with how many moves; of all others, no move can be better.
    choice: tuple[tuple[Name, int], ...]
    #: How many changes are cheaper than the one claimed (or were gone through), and how many of them had to be tested.
    passed: int
    tested: int

    @property
    def exact(self) -> bool:
        """Whether the proof is about all values of every feature."""
        return not self.choice

    def __str__(self) -> str:
        return " ".join([*([] if self.change is None else [f"{self.change}."]), self.claim])

    @property
    def claim(self) -> str:
        """What is proved, in words."""
        what = f"turns at least {self.wanted:,} of the {self.members:,} members"
        least = cost_text(self.lower) if math.isfinite(self.lower) else "any"
        of = "one feature" if self.features == 1 else f"up to {self.features} features"
        said = {
            "optimal": f"Proved: no change of {of} that {what} is cheaper.",
            "infeasible": f"Proved: no change of {of} {what}.",
            "feasible": f"The time was over: a change of {of} that {what} may cost less, but not less than {least}.",
            "unknown": f"Whether a change of {of} {what} was not decided in time; none costs less than {least}.",
        }[self.status]
        if not self.choice:
            return said
        names = joined([f"'{name}' ({count:,} moves)" for name, count in self.choice])
        rest = f"of {names} these are a choice, of the others all that matter"
        return f"{said} The proof is about the moves that were looked at; {rest}."

    def to_dict(self) -> dict[str, Any]:
        """Plain data for machines."""
        return {
            "members": self.members,
            "wanted": self.wanted,
            "features": self.features,
            "status": self.status,
            "change": None if self.change is None else self.change.to_dict(),
            "lower": self.lower if math.isfinite(self.lower) else str(self.lower),
            "single": [change.to_dict() for change in self.single],
            "single_whole": self.single_whole,
            "choice": {str(name): count for name, count in self.choice},
            "exact": self.exact,
            "passed": self.passed,
            "tested": self.tested,
            "claim": self.claim,
        }


def group_counterfactual(
    explanations: Sequence[Explanation],
    explainer: Explainer,
    *,
    share: float = 0.5,
    features: int = 1,
    seconds: float = 60.0,
) -> GroupCounterfactual:
    """The cheapest change that, made by everybody, turns at least a share of the explained rows, with its proof.

    Args:
        explanations: Of the members of the group, made by this explainer; a row that was refused is no member.
        explainer: It has the model, the circuit and the engine.
        share: Which share of the members must be turned, above 0 and at most 1.
        features: Of how many features a change may have moves.
        seconds: At most so long; what is proved until then is said.
    """
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
        raise ExplainerError("The share of a group to turn", "be above 0 and at most 1", repr(share), "0.5 is half of it")
    if isinstance(features, bool) or features not in _MOST_MOVES:
        raise ExplainerError("The features of a change", "be 1, 2 or 3", repr(features), "leave it out for 1")
    asked = [each for each in explanations if each.status != "refused"]
    if not asked:
        raise ExplainerError("A group", "have a row that was explained", "none", "see .reason of the explanations")
    refuse_others(asked, explainer)
    end = time.perf_counter() + seconds
    return _Group(explainer._known, asked, features).cheapest(math.ceil(share * len(asked) - 1e-9), features, end)


def refuse_others(explanations: Sequence[Explanation], explainer: Explainer) -> None:
    """Refuse explanations that another explainer made, and those that were changed since: what they prove is built upon.

    Args:
        explanations: What is to be asked about.
        explainer: What is to be asked.
    """
    known = explainer._known.evidence
    for each in explanations:
        for what in ("model", "circuit", "schema"):
            theirs = getattr(each.evidence, what)
            if theirs != getattr(known, what) and (theirs or what != "schema"):  # early versions did not note the schema
                raise ExplainerError(
                    "An explanation", "be one of this explainer", f"one by another {what}", "load that explainer"
                )
        if each.reading is not None and each.reading.as_written is False:
            hint = "see likely verify"
            raise ExplainerError("An explanation", "be as it was written", "one that was changed since", hint)


class _Group:
    """The members, the moves, and what each move costs and does to each member."""

    def __init__(self, fitted: Fitted, explanations: Sequence[Explanation], features: int) -> None:
        self.fitted, self.explanations = fitted, explanations
        self.members = [Member(tuple(_problems(fitted, each)), _least(each)) for each in explanations]
        self.rows = np.stack([member.factual for member in self.members])
        self.least = np.array([member.least for member in self.members])
        movable = self._movable()
        most = max(min(_MOST_MOVES[features], _MOST_PRICES // len(self.members)) // max(len(movable), 1), 1)
        each = [moves_of(self.members, j, fitted.schema.features[j], fitted.schema.costs[j]).some(most) for j in movable]
        #: The features of which the moves are a choice, with how many these are.
        inexact = [moves for moves in each if not (moves.exact if features == 1 else moves.exact_together)]
        self.choice = tuple((moves.feature.name, len(moves.moves)) for moves in inexact)
        moves = [(j, move) for j, of_feature in zip(movable, each, strict=True) for move in of_feature.moves]
        new = np.array([move.new(self.rows[:, j]) for j, move in moves]).reshape(len(moves), len(self.members))
        prices = self._prices([j for j, _ in moves], new)
        order = np.argsort(prices.mean(axis=1), kind="stable")
        #: The cheapest first: moves, the places of their features, the members' new values, what each costs each member.
        self.moves = [moves[i][1] for i in order]
        self.places = np.array([moves[i][0] for i in order], dtype=np.intp)
        self.new, self.prices = new[order], prices[order]
        self.tested = 0

    def _movable(self) -> list[int]:
        """The features that somebody may change and the model reads."""
        schemas = [each.query.schema for each in self.explanations]
        fixed = [{rule.feature for rule in schema.constraints if isinstance(rule, Immutable)} for schema in schemas]
        names = self.fitted.schema.names
        return [
            j for j, name in enumerate(names) if name not in self.fitted.unread and not all(name in locked for locked in fixed)
        ]

    def _prices(self, places: Sequence[int], new: Numbers) -> Numbers:
        """What each move costs each member."""
        prices, of_move = np.zeros_like(new), np.array(places, dtype=np.intp)
        for j in np.unique(of_move):
            here, feature, cost = of_move == j, self.fitted.schema.features[j], self.fitted.schema.costs[j]
            for i, value in enumerate(self.rows[:, j]):
                prices[here, i] = cost.price(feature, float(value), new[here, i])
        return prices

    # -- the cheapest change ------------------------------------------------------------------------------------------

    def cheapest(self, wanted: int, features: int, end: float) -> GroupCounterfactual:
        """The cheapest change that turns so many members; nothing is begun after the end, by `time.perf_counter`."""
        single, whole = self._single(end)
        changes, costs = self._changes(features, wanted)
        known = self._known(single, features, wanted)
        best, lower, over = known, math.inf if known is None else known.cost, False
        changes = changes[costs < lower]
        for start in range(0, len(changes), _CHUNK):
            if time.perf_counter() > end:
                lower, over = float(costs[start]), True
                break
            found = self._first(changes[start : start + _CHUNK], wanted)
            if found is not None:
                best, lower = found, found.cost
                break
        status: Status = "infeasible" if best is None else "optimal"
        if over:
            status = "unknown" if best is None else "feasible"
        passed = self._count(features, lower)
        return GroupCounterfactual(
            len(self.members), wanted, features, status, best, lower, single, whole, self.choice, passed, self.tested
        )  # fmt: skip

    def _sets(self, features: int) -> Iterator[NDArray[np.intp]]:
        """Every set of moves of at most so many different features, by their places; in blocks, -1 where there are fewer."""
        count = len(self.moves)
        for size in range(1, features + 1):
            smaller = list(combinations(range(count), size - 1))
            every = np.array(smaller, dtype=np.intp).reshape(len(smaller), size - 1)
            for start in range(0, len(every), _BLOCK):
                heads = every[start : start + _BLOCK]
                last = heads[:, -1] + 1 if size > 1 else np.zeros(len(heads), dtype=np.intp)
                repeats = count - last
                tails = np.concatenate([np.empty(0, dtype=np.intp), *(np.arange(first, count) for first in last)])
                sets = np.column_stack([np.repeat(heads, repeats, axis=0), tails])
                of = self.places[sets]
                apart = np.all([of[:, a] != of[:, b] for a, b in combinations(range(size), 2)], axis=0)
                sets = sets[np.broadcast_to(apart, len(sets))]
                yield np.column_stack([sets, np.full((len(sets), features - size), -1, dtype=np.intp)])

    def _changes(self, features: int, wanted: int) -> tuple[NDArray[np.intp], Numbers]:
        """The sets of moves that may turn so many members by what is proved of each, and their costs; the cheapest first."""
        prices = np.vstack([self.prices, np.zeros((1, len(self.members)))])  # the last, -1, is no move
        sets, costs = [np.empty((0, features), dtype=np.intp)], [np.empty(0)]
        for block in self._sets(features):
            of_set = prices[block[:, 0]]
            for column in range(1, features):
                of_set = of_set + prices[block[:, column]]
            possible = (of_set >= self.least[None, :]).sum(axis=1) >= wanted
            sets.append(block[possible])
            costs.append(of_set[possible].mean(axis=1))
        cost = np.concatenate(costs)
        order = np.argsort(cost, kind="stable")
        return np.concatenate(sets)[order], cost[order]

    def _count(self, features: int, below: float) -> int:
        """How many sets of moves cost less."""
        mean = np.append(self.prices.mean(axis=1), 0.0)
        return sum(int((mean[block].sum(axis=1) < below).sum()) for block in self._sets(features))

    def _known(self, single: Sequence[GroupChange], features: int, wanted: int) -> GroupChange | None:
        """The cheapest of a few changes that turn so many: the moves that turn most, and several of them together."""
        places = [self.moves.index(change.moves[0]) for change in single]
        sets = [chosen for size in range(1, features + 1) for chosen in combinations(places, size)][:_CHUNK]
        padded = [(*chosen, *[-1] * (features - len(chosen))) for chosen in sets]
        ordered = sorted(padded, key=self._cost)
        return self._first(np.array(ordered, dtype=np.intp).reshape(-1, features), wanted)

    # -- testing ------------------------------------------------------------------------------------------------------

    def _first(self, changes: NDArray[np.intp], wanted: int) -> GroupChange | None:
        """The first change of some that turns so many members, by the model's own predict."""
        for chosen, turned in zip(changes, self._turned(changes), strict=True):
            if int(turned.sum()) >= wanted:
                change = self._confirmed(chosen, turned)
                if change.turned.count >= wanted:
                    return change
        return None

    def _turned(self, changes: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Which members each change turns, by the form: change x member; a member is tested if its own proof leaves it open."""
        turned = np.zeros((len(changes), len(self.members)), dtype=np.bool_)
        if not len(changes):
            return turned
        self.tested += len(changes)
        rows = np.stack([self._rows(chosen) for chosen in changes])
        prices = np.stack([self.prices[chosen[chosen >= 0]].sum(axis=0) for chosen in changes])
        for i, member in enumerate(self.members):
            places = np.flatnonzero(prices[:, i] >= member.least)
            if len(places):
                turned[places, i] = np.any([problem.admits(rows[places, i]) for problem in member.problems], axis=0)
        return turned

    def _rows(self, chosen: NDArray[np.intp]) -> Numbers:
        """The members' rows after a change."""
        rows = self.rows.copy()
        for i in chosen[chosen >= 0]:
            rows[:, self.places[i]] = self.new[i]
        return rows

    def _cost(self, chosen: Sequence[int]) -> float:
        return float(self.prices[[i for i in chosen if i >= 0]].sum(axis=0).mean())

    def _confirmed(self, chosen: NDArray[np.intp], turned: NDArray[np.bool_]) -> GroupChange:
        """A change with the members that the model's own predict confirms."""
        rows, count = self._rows(chosen), 0
        asked: dict[tuple[float, float] | None, list[int]] = {}
        for i in np.flatnonzero(turned).tolist():
            asked.setdefault(self.explanations[i].query.question.ends, []).append(i)
        for places in asked.values():  # members may have been asked for different predictions or probabilities
            queries = [self.explanations[i].query for i in places]
            said = said_of(self.fitted.user_model, queries[0].question, rows[places], [query.target for query in queries])
            count += sum(self._as_wanted(i, label) for i, label in zip(places, said, strict=True))
        moves = sorted((self.moves[i] for i in chosen if i >= 0), key=lambda move: self.fitted.schema.index(move.feature.name))
        return GroupChange(tuple(moves), self._cost(chosen.tolist()), Share.counted(count, len(self.members)))

    def _as_wanted(self, i: int, label: Any) -> bool:
        query = self.explanations[i].query
        return label is not None and (label != query.label if query.target is None else label == query.target)

    def _single(self, end: float) -> tuple[tuple[GroupChange, ...], bool]:
        """Of every feature the move that turns most members, and of as many the cheapest; and whether all moves were tested."""
        whole = True
        best: dict[int, tuple[int, int, NDArray[np.bool_]]] = {}
        for start in range(0, len(self.moves), _CHUNK):
            if time.perf_counter() > end:
                whole = False
                break
            chunk = np.arange(start, min(start + _CHUNK, len(self.moves)), dtype=np.intp)[:, None]
            for (i,), turned in zip(chunk.tolist(), self._turned(chunk), strict=True):
                place, count = int(self.places[i]), int(turned.sum())
                if count > (best[place][0] if place in best else 0):  # moves come the cheapest first
                    best[place] = (count, i, turned)
        confirmed = [self._confirmed(np.array([i]), turned) for _, i, turned in best.values()]
        turning = [change for change in confirmed if change.turned.count]
        return tuple(sorted(turning, key=lambda change: (-change.turned.count, change.cost))), whole


def _problems(fitted: Fitted, explanation: Explanation) -> Any:
    query = explanation.query
    return problems_of(fitted, query, query.question.margin, thresholds_of(fitted, query))


def _least(explanation: Explanation) -> float:
    """What no answer of a row costs less than, as far as it is proved (not claimed by a solver) and about the cost."""
    query = explanation.query
    if query.claimed_by is not None:
        return -math.inf
    if explanation.status == "infeasible":
        return math.inf
    if explanation.status not in ("optimal", "feasible") or query.question.k > 1 or query.total_weight > 0:
        return -math.inf
    if explanation.margin != query.question.margin:  # the search was repeated for answers further from the boundary
        return -math.inf
    least = min(explanation.bounds.lower, explanation.best.cost)
    return least - rounding(least)
