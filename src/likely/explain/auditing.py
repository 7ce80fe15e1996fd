"""`Audit`: many explanations as numbers: how many are proved, what the answers cost, and what they ask people to change."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from likely._display.numbers import cost_text, number_text
from likely.errors import ExplainerError
from likely.explain.audit_statistics import (
    ALIKE,
    Difference,
    Share,
    corrected,
    median_interval,
    number_difference,
    share_difference,
)
from likely.explain.audit_text import audit_text
from likely.explain.blocking import Blocking, blocking, conflicts
from likely.explain.counterfactual import Counterfactual
from likely.explain.explainer import Explainer
from likely.explain.explanation import Explanation
from likely.explain.group_counterfactual import GroupCounterfactual, group_counterfactual
from likely.explain.plausibility import Rows
from likely.explain.text import FIT, shown
from likely.problem import Conflict
from likely.schema import Feature
from likely.schema.values import show_value

#: More different values than this are gathered into quarters.
_MOST_GROUPS = 12
#: The group of the rows whose value is not known.
_UNKNOWN = "missing"


#: At which shares the numbers of a distribution are kept, in percent.
QUANTILES = tuple(range(0, 101, 5))
#: What can come of a row, in order: the word for it, and the statuses that are it.
OUTCOMES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("certified answer", ("optimal",)),
    ("answer, not proved the best", ("feasible",)),
    ("proved: no answer", ("infeasible",)),
    ("undecided", ("unknown", "disputed")),
)


@dataclass(frozen=True)
class Spread:
    """A number of many rows: its median, and between what the middle half of the rows lies."""

    lower: float
    median: float
    upper: float
    #: Of how many rows, and between what the median of all rows like them lies (95 %); None of too few.
    count: int = 0
    interval: tuple[float, float] | None = None
    #: The quantiles at 0, 5, ..., 100 %.
    quantiles: tuple[float, ...] = ()

    def __str__(self) -> str:
        return f"{cost_text(self.median)} ({cost_text(self.lower)} to {cost_text(self.upper)})"


@dataclass(frozen=True)
class Use:
    """How often the best answers change a feature: upwards, downwards (where values have an order), and to what most often."""

    feature: str
    #: What people call it: the label that the schema has for it, or its name.
    title: str
    count: int
    up: int
    down: int
    to: str
    to_count: int
    #: Which share of the cost of all best answers is that of changing this feature.
    carries: float = 0.0


@dataclass(frozen=True, repr=False)
class Audit:
    """What many explanations say together; numbers are those of the best answer of each row that has one."""

    rows: int
    #: status -> how many rows have it
    statuses: Mapping[str, int]
    #: All answers, not the best alone, and how many of them keep every rule, tested again.
    answers: int
    keeping: int
    cost: Spread | None
    changes: Spread | None
    percentile: Spread | None
    coherence_percentile: Spread | None
    #: What the percentiles are of.
    compared_with: tuple[Rows, ...]
    features: tuple[Use, ...]
    groups: tuple[tuple[str, Audit], ...] = ()
    #: What the groups are told apart by.
    by: str = ""
    #: Whether the groups differ, with the correction for so many tests.
    differences: tuple[Difference, ...] = ()
    #: With an explainer: which demands keep rows from an answer, and the cheapest change that turns a share of the rows.
    blocking: Blocking | None = None
    change: GroupCounterfactual | None = None

    @property
    def answered(self) -> int:
        """How many rows have an answer."""
        return self._counted("optimal", "feasible")

    @property
    def certified(self) -> int:
        """Of how many rows it is proved that nothing better exists, or nothing at all."""
        return self._counted("optimal", "infeasible")

    @property
    def refused(self) -> int:
        """How many rows could not be asked about: a value is not known, or they are decided as wanted already."""
        return self._counted("refused")

    @property
    def asked(self) -> int:
        """How many rows could be asked about: what shares are of."""
        return self.rows - self.refused

    @property
    def outcomes(self) -> dict[str, Share]:
        """What came of the rows that could be asked about, as shares of them: they add up to all of these."""
        return {name: Share.counted(self._counted(*statuses), self.asked) for name, statuses in OUTCOMES}

    @property
    def spreads(self) -> list[tuple[str, Spread]]:
        """The numbers that are known, named."""
        named = zip(
            ("cost", "features changed", "likelier than", FIT),
            (self.cost, self.changes, self.percentile, self.coherence_percentile),
            strict=True,
        )
        return [(name, spread) for name, spread in named if spread is not None]

    def _counted(self, *statuses: str) -> int:
        return sum(self.statuses.get(status, 0) for status in statuses)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for machines."""
        own = ("groups", "blocking", "change", "differences")
        data = {item.name: getattr(self, item.name) for item in fields(self) if item.name not in own}
        plain = {key: asdict(value) if isinstance(value, Spread) else value for key, value in data.items()}
        plain["features"] = [asdict(use) for use in self.features]
        more: dict[str, Any] = {"answered": self.answered, "certified": self.certified, "asked": self.asked}
        more["outcomes"] = {name: {**vars(share), "share": _number(share.value)} for name, share in self.outcomes.items()}
        more["differences"] = [_plain_difference(each) for each in self.differences]
        more["blocking"] = None if self.blocking is None else self.blocking.to_dict()
        more["group_counterfactual"] = None if self.change is None else self.change.to_dict()
        return {**plain, **more, "groups": {name: group.to_dict() for name, group in self.groups}}

    def to_frame(self) -> pd.DataFrame:
        """One number per line: of which group, what it is, the value, between what it lies (95 %), and of how many rows."""
        lines = _lines("", self)
        for name, group in self.groups:
            lines += _lines(name, group)
        for each in self.differences:
            lines.append({"group": "", "measure": f"p: {each.measure}", "value": each.corrected, "of": self.asked})
        return pd.DataFrame(lines, columns=["by", "group", "measure", "value", "low", "high", "of"]).assign(by=self.by)

    def __repr__(self) -> str:
        return audit_text(self)


def _plain_difference(each: Difference) -> dict[str, Any]:
    return {**vars(each), "statistic": _number(each.statistic), "least": list(each.least), "greatest": list(each.greatest)}


def _number(number: float) -> float | str | None:
    """As JSON has it: no NaN, and infinities by name."""
    return None if math.isnan(number) else number if math.isfinite(number) else str(number)


def _lines(name: str, audit: Audit) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = [
        {"measure": measure, "value": share.value, "low": share.low, "high": share.high, "of": share.of}
        for measure, share in audit.outcomes.items()
    ]
    lines.append({"measure": "refused", "value": audit.refused / audit.rows if audit.rows else math.nan, "of": audit.rows})
    for measure, spread in audit.spreads:
        low, high = spread.interval or (math.nan, math.nan)
        lines.append({"measure": f"median {measure}", "value": spread.median, "low": low, "high": high, "of": spread.count})
    for use in audit.features:
        share = Share.counted(use.count, audit.answered)
        lines.append(
            {"measure": f"changes {use.feature}", "value": share.value, "low": share.low, "high": share.high, "of": share.of}
        )
        lines.append({"measure": f"share of the cost: {use.feature}", "value": use.carries, "of": audit.answered})
    return [{"group": name, **line} for line in lines]


def audit(
    explanations: Iterable[Explanation | None],
    groups: Sequence[Any] | None = None,
    *,
    by: str = "",
    explainer: Explainer | None = None,
    share: float = 0.5,
    features: int = 1,
    seconds: float = 60.0,
) -> Audit:
    """What explanations say together.

    Args:
        explanations: Of any rows, by any question: what `explain_many` returns, or a file of `likely batch` holds. None is a row
            that was refused and of which nothing else is known.
        groups: A value per explanation, by which they are told apart too; many numbers are gathered into quarters.
        by: What the groups are told apart by, for people.
        explainer: That made the explanations: with it, the engine is asked which demands keep rows from an answer, and for the
            cheapest change that, made by everybody, turns a share of all rows and of each group.
        share: Which share of the rows that change is to turn.
        features: Of how many features it may have moves.
        seconds: At most so long for the demands, and so long for the change of each group; what was not decided is said.
    """
    every = list(explanations)
    known = None if explainer is None else conflicts([each for each in every if each is not None], explainer, seconds)
    asking = None if explainer is None else partial(_change, explainer, share, features, seconds)
    numbered = _Numbered(every, known, asking)
    whole = numbered.audited(range(len(every)))
    if groups is None:
        return whole
    if len(groups) != len(every):
        raise ExplainerError("The groups of an audit", "be one per explanation", f"{len(groups)} for {len(every)}", "check both")
    names, order = group_names(groups)
    parts = {name: [i for i, of in enumerate(names) if of == name] for name in order}
    audits = tuple((name, numbered.audited(part)) for name, part in parts.items())
    best = {name: numbered.best(part) for name, part in parts.items()}
    return replace(whole, by=by, groups=audits, differences=_differences(audits, best))


def _change(
    explainer: Explainer, share: float, features: int, seconds: float, explanations: Sequence[Explanation]
) -> GroupCounterfactual | None:
    asked = [each for each in explanations if each.status != "refused"]
    return group_counterfactual(asked, explainer, share=share, features=features, seconds=seconds) if asked else None


class _Numbered:
    """Explanations, of which some are counted together."""

    def __init__(
        self,
        every: Sequence[Explanation | None],
        known: dict[int, Conflict | None] | None,
        change: Callable[[Sequence[Explanation]], GroupCounterfactual | None] | None,
    ) -> None:
        self._every, self._change = every, change
        explained = [i for i, each in enumerate(every) if each is not None]
        self._known = None if known is None else {explained[i]: conflict for i, conflict in known.items()}

    def some(self, places: Iterable[int]) -> list[Explanation]:
        return [each for i in places if (each := self._every[i]) is not None]

    def best(self, places: Iterable[int]) -> list[Counterfactual]:
        """The best answers of rows that have one."""
        return [each.best for each in self.some(places) if each]

    def audited(self, places: Sequence[int]) -> Audit:
        """What some of them say together."""
        explanations, best = self.some(places), self.best(places)
        every = [answer for explanation in explanations for answer in explanation.counterfactuals]
        statuses = Counter("refused" if (each := self._every[i]) is None else each.status for i in places)
        return Audit(
            rows=len(places),
            statuses=dict(statuses.most_common()),
            answers=len(every),
            keeping=sum(_keeps(answer) for answer in every),
            cost=_spread([answer.cost for answer in best]),
            changes=_spread([answer.number_of_changes for answer in best]),
            percentile=_spread([answer.percentile for answer in best if answer.percentile is not None]),
            coherence_percentile=_spread([a.coherence_percentile for a in best if a.coherence_percentile is not None]),
            compared_with=tuple(sorted({answer.query.rows for answer in best if answer.percentile is not None})),
            features=_uses(best),
            blocking=None if self._known is None else blocking(self._known, places, statuses["infeasible"]),
            change=None if self._change is None else self._change(explanations),
        )


def _differences(groups: Sequence[tuple[str, Audit]], best: Mapping[str, Sequence[Counterfactual]]) -> tuple[Difference, ...]:
    """Whether groups differ: in what comes of their rows, in what answers cost, in how many changes and how likely they are."""
    tests = [share_difference(name, [(group, of.outcomes[name]) for group, of in groups]) for name, _ in OUTCOMES]
    numbers: dict[str, Callable[[Counterfactual], float | None]] = {
        "cost": lambda answer: answer.cost,
        "features changed": lambda answer: answer.number_of_changes,
        "likelier than": lambda answer: answer.percentile,
    }
    for measure, number in numbers.items():
        known = [(name, [value for answer in best[name] if (value := number(answer)) is not None]) for name, _ in groups]
        tests.append(number_difference(measure, known))
    return corrected([test for test in tests if test is not None and test.test != ALIKE])


def _keeps(answer: Counterfactual) -> bool:
    return not answer.query.schema.violations(list(answer.query.values), list(answer.values))


def _spread(numbers: Sequence[float]) -> Spread | None:
    if not len(numbers):
        return None
    lower, median, upper = (float(number) for number in np.quantile(numbers, (0.25, 0.5, 0.75)))
    quantiles = tuple(float(number) for number in np.quantile(numbers, np.array(QUANTILES) / 100))
    return Spread(lower, median, upper, len(numbers), median_interval(numbers), quantiles)


def _uses(best: Sequence[Counterfactual]) -> tuple[Use, ...]:
    """The features that change, the most frequent first."""
    moves: dict[str, list[tuple[float, str]]] = {}
    titles: dict[str, str] = {}
    prices: dict[str, float] = {}
    for answer in best:
        schema = answer.query.schema
        for j, (feature, before, after) in enumerate(zip(schema.features, answer.query.factual, answer.numbers, strict=True)):
            if feature.name in answer.changes:
                way = float(np.sign(after - before)) if feature.ordered else 0.0
                name = str(feature.name)
                titles.setdefault(name, feature.title)
                moves.setdefault(name, []).append((way, _text(feature, float(after))))
                price = float(schema.costs[j].price(feature, float(before), np.array([after]))[0])
                prices[name] = prices.get(name, 0.0) + price
    total = sum(prices.values())
    uses = []
    for name, of_feature in moves.items():
        (to, count), *_ = Counter(after for _, after in of_feature).most_common(1)
        up, down = sum(way > 0 for way, _ in of_feature), sum(way < 0 for way, _ in of_feature)
        carries = float(prices[name] / total) if total else 0.0
        uses.append(Use(name, titles[name], len(of_feature), up, down, to, count, carries))
    return tuple(sorted(uses, key=lambda use: -use.count))


def _text(feature: Feature, number: float) -> str:
    value = feature.value(number)
    return value if isinstance(value, str) else shown(feature, number)


# -- groups ------------------------------------------------------------------------------------------------------------


def group_names(values: Sequence[Any]) -> tuple[list[str], list[str]]:
    """A name per value: the value itself, or the quarter that a number lies in where there are many; and every name in order.

    Args:
        values: Of one column, row by row.
    """
    column = pd.Series(list(values), dtype=object).infer_objects()
    numbers = pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)
    unknown = [_UNKNOWN] * bool(column.isna().any())
    if column.nunique() > _MOST_GROUPS and numbers:
        quarters = pd.qcut(column, 4, duplicates="drop")
        parts = {quarter: column[quarters == quarter] for quarter in quarters.cat.categories}
        names = {quarter: f"{number_text(part.min())} to {number_text(part.max())}" for quarter, part in parts.items()}
        return [names.get(quarter, _UNKNOWN) for quarter in quarters], [*names.values(), *unknown]
    show = number_text if numbers else _group_name
    known = column.dropna()
    order = map(show, sorted(known.unique().tolist())) if numbers else sorted(map(show, known.tolist()))
    return [_UNKNOWN if pd.isna(value) else show(value) for value in column.tolist()], list(dict.fromkeys([*order, *unknown]))


def _group_name(value: Any) -> str:
    return value if isinstance(value, str) else show_value(value)
