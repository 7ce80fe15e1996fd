"""`Front`: how much plausibility, or how few changes, cost; every point certified."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np
import pandas as pd

from likely.errors import ExplainerError, ProblemError
from likely.explain import html, text
from likely.explain.explanation import Explanation
from likely.explain.plausibility import Quantile, Threshold, Variant
from likely.explain.query import Query, SharedSchemas
from likely.problem.tolerances import SAME_COST
from likely.schema import MaxChanges
from likely.schema.frames import in_kind
from likely.schema.values import Numbers, Value

VERSION = 1

By: TypeAlias = Literal["likelihood", "changes"]
#: The shares of other rows at which a front looks.
QUANTILES = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)

#: Answers a query; the rows may be answers, and so many of its seconds are spent.
Answer: TypeAlias = Callable[[Query, Numbers | None, float], Explanation]


@dataclass(frozen=True, repr=False)
class Front:
    """The trade-off of one row: each point is the cheapest answer under its own demand, with the proof of that.

    By "likelihood", the demands are quantiles of new rows, from none at all upwards; by "changes", how many
    features may change. A demand that the answer of a weaker one meets already is no point of its own.
    """

    by: By
    points: tuple[Explanation, ...]
    #: The first demand that no row meets, or that was not decided in time; None if all were met.
    beyond: Explanation | None

    def __len__(self) -> int:
        return len(self.points)

    def to_frame(self) -> pd.DataFrame:
        """A row per point: cost, number of changes, log-likelihood, percentile, and how strong the claim is.

        A table of polars if the user's was.
        """
        polars = any(point.dtypes is not None for point in self.points)
        return cast("pd.DataFrame", in_kind(self.table(), {} if polars else None))

    def table(self) -> pd.DataFrame:
        """`to_frame` as a table of pandas, whatever the user's was."""
        rows = [
            {
                "cost": point.best.cost,
                "changes": point.best.number_of_changes,
                "log_likelihood": point.best.log_likelihood,
                "percentile": point.best.percentile,
                "status": point.status,
                "lower_bound": point.bounds.lower,
            }
            for point in self.points
        ]
        return pd.DataFrame(rows, columns=["cost", "changes", "log_likelihood", "percentile", "status", "lower_bound"])

    def __repr__(self) -> str:
        return text.front_table(self) if self.points else text.front_ending(self) if self.beyond is None else str(self.beyond)

    def _repr_html_(self) -> str:
        return html.front_as_html(self)

    # -- files ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back without loss: every point is an explanation."""
        beyond = None if self.beyond is None else self.beyond.to_dict()
        return {"version": VERSION, "by": self.by, "points": [point.to_dict() for point in self.points], "beyond": beyond}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Front:
        """The front that `to_dict` described.

        Args:
            data: What `to_dict` made.
        """
        if not isinstance(data, Mapping) or data.get("version") != VERSION:
            got = repr(data.get("version")) if isinstance(data, Mapping) else type(data).__name__
            raise ExplainerError("A front's data", f"have version {VERSION}", got, "use front.to_json()")
        if set(data) != {"version", "by", "points", "beyond"} or not isinstance(data["points"], list):
            got = ", ".join(map(str, data))
            raise ExplainerError("A front's data", "have by, points (a list) and beyond", got, "use front.to_json()")
        if data["by"] not in get_args(By):
            rule = f"be by {' or '.join(map(repr, get_args(By)))}"
            raise ExplainerError("A front", rule, repr(data["by"]), "correct the file")
        read_schema = SharedSchemas()
        points = tuple(Explanation.from_dict(point, read_schema=read_schema) for point in data["points"])
        if not all(points):
            raise ExplainerError("The points of a front", "have an answer each", "one without", "correct the file")
        beyond = None if data["beyond"] is None else Explanation.from_dict(data["beyond"], read_schema=read_schema)
        return cls(data["by"], points, beyond)

    def to_json(self) -> str:
        """JSON text that holds everything: every point with its schema, query, answer and proof."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Front:
        """The front in a JSON text.

        Args:
            text: What `to_json` made.
        """
        try:
            data = json.loads(text)
        except ValueError as error:
            raise ExplainerError("A front's text", "be JSON", error, "use front.to_json()") from None
        return cls.from_dict(data)


def front_of(
    query: Query, by: By, quantiles: Sequence[float], answer: Answer, thresholds: Callable[[Query], dict[Value, float]]
) -> Front:
    """The front of a query.

    Args:
        query: What is asked, for one answer and by cost alone.
        by: What the cost is traded for.
        quantiles: By likelihood: the quantiles of other rows to ask for.
        answer: Answers a query; the rows beside it may be answers, and so many of its seconds are spent. Each has an equal share
            of the seconds that are left.
        thresholds: The log-likelihood that a query asks of each class.
    """
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
    demands: list[Variant] = [Threshold(float("-inf"), of=base.of, given=base.given, rows=base.rows)]
    demands += [replace(base, q=float(q)) for q in sorted(quantiles)]
    points: list[Explanation] = []
    time = _Time(query.limits.seconds)
    for i, demand in enumerate(demands):
        asked = query.asking(plausibility=demand)
        if points and _meets(points[-1], thresholds(asked)):
            continue
        point = answer(asked, _rows(points), time.spent(len(demands) - i))
        if not point:
            return Front("likelihood", tuple(points), point)
        if points and _as_cheap(point, points[-1]):
            points.pop()  # and likelier
        points.append(point)
    return Front("likelihood", tuple(points), None)


def _meets(point: Explanation, thresholds: dict[Value, float]) -> bool:
    """Whether the best row under a weaker demand meets this one, and so is the best under it too."""
    log = point.best.log_likelihood
    return log is not None and log >= thresholds[point.best.label]


def _as_cheap(point: Explanation, other: Explanation) -> bool:
    """Whether an answer costs no more than another, as far as the gap of their proofs tells."""
    cost, limits = other.best.cost, other.query.limits
    return point.best.cost <= cost + max(SAME_COST, limits.relative_gap * cost)


def _by_changes(query: Query, answer: Answer) -> Front:
    time = _Time(query.limits.seconds)
    point = answer(query, None, time.spent(2))
    if not point:
        return Front("changes", (), point)
    points = [point]
    while points[0].best.number_of_changes > 1:
        most = points[0].best.number_of_changes - 1
        point = answer(replace(query, schema=query.schema.with_constraints(MaxChanges(most))), None, time.spent(most))
        if not point:
            return Front("changes", tuple(points), point)
        if point.best.number_of_changes > most:  # an engine that does not keep the rule would never end
            break
        if _as_cheap(point, points[0]):
            points.pop(0)  # with fewer changes
        points.insert(0, point)
    return Front("changes", tuple(points), None)


class _Time:
    """The seconds of a front, and how they are shared out among its points."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._started = seconds, perf_counter()

    def spent(self, points: int) -> float:
        """How many of all seconds the next point may not use, if so many are still to come and each has the same share.

        Args:
            points: At least 1.
        """
        if self._seconds == math.inf:
            return 0.0
        left = max(0.0, self._seconds - (perf_counter() - self._started))
        return self._seconds - left / points


def _rows(points: Sequence[Explanation]) -> Numbers | None:
    return np.stack([point.best.numbers for point in points]) if points else None
