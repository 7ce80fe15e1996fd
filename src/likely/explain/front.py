"""`Front`: how much plausibility, or how few changes, cost; every point certified."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

from likely.errors import ProblemError
from likely.explain.explanation import Explanation
from likely.explain.plausibility import AtLeast, Quantile, Variant
from likely.explain.query import Query
from likely.schema import MaxChanges
from likely.schema.values import Numbers, Value

By: TypeAlias = Literal["likelihood", "changes"]
#: The shares of the training rows at which a front looks.
QUANTILES = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
#: Costs that differ less are the same.
_SAME = 1e-6

#: Answers a query; the rows may be answers.
Answer: TypeAlias = Callable[[Query, Numbers | None], Explanation]


@dataclass(frozen=True, repr=False)
class Front:
    """The trade-off of one row: each point is the cheapest answer under its own demand, with the proof of that.

    By "likelihood", the demands are quantiles of the training rows, from none at all upwards; by "changes", how many
    features may change. A demand that the answer of a weaker one meets already is no point of its own.
    """

    by: By
    points: tuple[Explanation, ...]
    #: The first demand that no row meets, or that was not decided in time; None if all were met.
    beyond: Explanation | None

    def __len__(self) -> int:
        return len(self.points)

    def to_frame(self) -> pd.DataFrame:
        """A row per point: cost, number of changes, log-likelihood, percentile, and how strong the claim is."""
        rows = [
            {
                "cost": point.best.cost,
                "changes": point.best.number_of_changes,
                "log_likelihood": point.best.log_likelihood,
                "percentile": point.best.percentile,
                "status": point.status,
                "proven": point.bounds.proven,
            }
            for point in self.points
        ]
        return pd.DataFrame(rows, columns=["cost", "changes", "log_likelihood", "percentile", "status", "proven"])

    def __repr__(self) -> str:
        if not self.points:
            return "no answer" if self.beyond is None else str(self.beyond)
        table = self.to_frame().to_string(index=False, float_format=lambda number: f"{number:.4g}")
        end = {"infeasible": "no row goes further (proved)", None: "all demands were met"}
        return f"{table}\n{end.get(self.beyond.status if self.beyond else None, 'what lies further was not decided in time')}"


def front_of(
    query: Query, by: By, quantiles: Sequence[float], answer: Answer, thresholds: Callable[[Query], dict[Value, float]]
) -> Front:
    """The front of a query; `thresholds` gives what a query asks of each class."""
    if by == "likelihood":
        return _by_likelihood(query, quantiles, answer, thresholds)
    if by == "changes":
        return _by_changes(query, answer)
    raise ProblemError("A front", "be by='likelihood' or by='changes'", repr(by), "leave it out for 'likelihood'")


def _by_likelihood(
    query: Query, quantiles: Sequence[float], answer: Answer, thresholds: Callable[[Query], dict[Value, float]]
) -> Front:
    base = query.plausibility
    if not isinstance(base, Quantile):
        raise ProblemError(
            "The plausibility of a front by likelihood", "be a Quantile", repr(base), "its q is not used; leave it out"
        )
    demands: list[Variant] = [AtLeast(float("-inf"), of=base.of, given=base.given)]
    demands += [replace(base, q=float(q)) for q in sorted(quantiles)]
    points: list[Explanation] = []
    for demand in demands:
        asked = replace(query, plausibility=demand)
        if points and _meets(points[-1], thresholds(asked)):
            continue
        found = answer(asked, _rows(points))
        if not found:
            return Front("likelihood", tuple(points), found)
        if points and found.best.cost <= points[-1].best.cost + _SAME:
            points.pop()  # as cheap and likelier
        points.append(found)
    return Front("likelihood", tuple(points), None)


def _meets(point: Explanation, thresholds: dict[Value, float]) -> bool:
    """Whether the best row under a weaker demand meets this one, and so is the best under it too."""
    log = point.best.log_likelihood
    return log is not None and log >= thresholds[point.best.label]


def _by_changes(query: Query, answer: Answer) -> Front:
    found = answer(query, None)
    if not found:
        return Front("changes", (), found)
    points = [found]
    while points[0].best.number_of_changes > 1:
        most = points[0].best.number_of_changes - 1
        found = answer(replace(query, schema=query.schema.with_constraints(MaxChanges(most))), None)
        if not found:
            return Front("changes", tuple(points), found)
        if found.best.cost <= points[0].best.cost + _SAME:
            points.pop(0)  # as cheap with fewer changes
        points.insert(0, found)
    return Front("changes", tuple(points), None)


def _rows(points: Sequence[Explanation]) -> Numbers | None:
    return np.stack([point.best.numbers for point in points]) if points else None
