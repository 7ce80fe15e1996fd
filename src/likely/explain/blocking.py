"""`blocking`: which demands keep rows without an answer from having one, row by row, as `why_not` proves it."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from likely.errors import LikelyError, LikelyWarning
from likely.explain.explainer import Explainer
from likely.explain.explanation import Explanation
from likely.explain.group_counterfactual import refuse_others
from likely.problem import Conflict

#: Less time than this is none.
_LEAST_SECONDS = 0.01


@dataclass(frozen=True)
class Block:
    """One demand (a rule, or what is asked of likelihood or coherence), and the rows that it keeps from an answer."""

    demand: str
    #: In the smallest set of demands that excludes every answer, of so many rows.
    rows: int
    #: Without this demand alone there is an answer, of so many rows, and what it costs in the middle (None if of none).
    opens: int
    cost: float | None
    #: Proved: without it alone there still is no answer. And not decided in time.
    still_none: int
    undecided: int


@dataclass(frozen=True)
class Blocking:
    """What keeps rows from an answer: of all rows that are proved to have none, those that were asked about within the time."""

    #: How many rows are proved to have no answer, how many of them were asked about, and of how many it was not decided why.
    rows: int
    asked: int
    undecided: int
    #: The demands that would open the way for most rows first.
    demands: tuple[Block, ...]
    #: The smallest sets of demands to give up, by how many rows each is the cheapest way out of.
    ways_out: tuple[tuple[tuple[str, ...], int], ...]
    #: How many rows nothing helps: within the features' bounds the model decides no row as wanted.
    hopeless: int = 0

    @property
    def whole(self) -> bool:
        """Whether every row without an answer was asked about, and decided."""
        return self.asked == self.rows and not self.undecided

    def to_dict(self) -> dict[str, Any]:
        """Plain data for machines."""
        ways = [{"give_up": list(demands), "rows": count} for demands, count in self.ways_out]
        parts = {name: getattr(self, name) for name in ("rows", "asked", "undecided", "hopeless", "whole")}
        return {**parts, "demands": [vars(block) for block in self.demands], "ways_out": ways}


def conflicts(explanations: Sequence[Explanation], explainer: Explainer, seconds: float = 60.0) -> dict[int, Conflict | None]:
    """Why rows have no answer, by their places; None where that was not decided. Rows that the time was over for are left out.

    Args:
        explanations: Of any rows; only those that are proved to have no answer are asked about.
        explainer: That made them.
        seconds: At most so long for all of them.
    """
    none = [i for i, each in enumerate(explanations) if each.status == "infeasible"]
    refuse_others([explanations[i] for i in none], explainer)
    end = time.perf_counter() + seconds
    found: dict[int, Conflict | None] = {}
    for i in none:
        left = end - time.perf_counter()
        if left < _LEAST_SECONDS:
            break
        found[i] = _conflict(explanations[i], explainer, left)
    return found


def _conflict(explanation: Explanation, explainer: Explainer, seconds: float) -> Conflict | None:
    question = explanation.query.question
    limits = replace(question.limits, seconds=min(question.limits.seconds, seconds))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikelyWarning)  # that a domain was widened was said when the row was explained
        try:
            return explainer.why_not(explanation.query.row, question, limits=limits)
        except LikelyError:
            return None


def blocking(known: dict[int, Conflict | None], rows: Iterable[int], without: int) -> Blocking:
    """What conflicts say together.

    Args:
        known: What `conflicts` found.
        rows: The places to count.
        without: How many of these rows are proved to have no answer.
    """
    asked = [known[i] for i in rows if i in known]
    decided = [conflict for conflict in asked if conflict is not None]
    names = list(dict.fromkeys(reason.demand for conflict in decided for reason in conflict.reasons))
    blocks = sorted((_block(name, decided) for name in names), key=lambda block: (-block.opens, -block.rows))
    ways = Counter(tuple(sorted(conflict.way_out.demands)) for conflict in decided if conflict.way_out is not None)
    hopeless = sum(not conflict.reasons for conflict in decided)
    return Blocking(without, len(asked), len(asked) - len(decided), tuple(blocks), tuple(ways.most_common()), hopeless)


def _block(demand: str, decided: Sequence[Conflict]) -> Block:
    reasons = [reason for conflict in decided for reason in conflict.reasons if reason.demand == demand]
    costs = [reason.without for reason in reasons if reason.without is not None]
    open_ends = sum(reason.without is None and not reason.decided for reason in reasons)
    cost = float(np.median(costs)) if costs else None
    return Block(demand, len(reasons), len(costs), cost, len(reasons) - len(costs) - open_ends, open_ends)
