"""`Audit`: many explanations as numbers: how many are proved, what the answers cost, and what they ask people to change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from likely._display.numbers import cost_text, number_text
from likely._display.tables import aligned
from likely.errors import ExplainerError
from likely.explain.counterfactual import Counterfactual
from likely.explain.explanation import Explanation
from likely.explain.plausibility import Rows
from likely.explain.query import rows_named
from likely.explain.text import FIT, shown
from likely.schema import Feature
from likely.schema.values import show_value

#: More different values than this are gathered into quarters.
_MOST_GROUPS = 12
#: The group of the rows whose value is not known.
_UNKNOWN = "missing"


@dataclass(frozen=True)
class Spread:
    """A number of many rows: its median, and between what the middle half of the rows lies."""

    lower: float
    median: float
    upper: float

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

    @property
    def answered(self) -> int:
        """How many rows have an answer."""
        return self.rows - sum(self.statuses.get(name, 0) for name in ("infeasible", "unknown", "disputed", "refused"))

    @property
    def certified(self) -> int:
        """Of how many rows it is proved that nothing better exists, or nothing at all."""
        return self.statuses.get("optimal", 0) + self.statuses.get("infeasible", 0)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for machines."""
        data = {key: value for key, value in asdict(self).items() if key != "groups"}
        more = {"answered": self.answered, "certified": self.certified}
        return {**data, **more, "groups": {name: group.to_dict() for name, group in self.groups}}

    def __repr__(self) -> str:
        lines = aligned(summary(self))
        if self.features:
            head = ["feature", "changed", "up", "down", "most often to"]
            lines += ["", *aligned([head, *(_use_cells(use, self.answered) for use in self.features)])]
        if self.groups:
            lines += ["", *aligned([GROUP_HEAD, *(group_cells(name, group) for name, group in self.groups)])]
        return "\n".join(line.rstrip() for line in lines)


GROUP_HEAD = ["group", "rows", "certified", "no answer", "cost", "changes", "likelier than"]


def summary(audit: Audit) -> list[tuple[str, str]]:
    """The numbers of an audit, named, for people."""
    numbers = [
        ("rows", f"{audit.rows:,}"),
        ("certified", f"{share(audit.certified, audit.rows)} (proved: there is no better answer, or none at all)"),
        ("with an answer", share(audit.answered, audit.rows)),
        ("every rule kept", f"{audit.keeping:,} of {audit.answers:,} answers"),
    ]
    if audit.cost and audit.changes:
        numbers += [("cost", f"{audit.cost}"), ("features changed", f"{audit.changes}")]
    rows = " and ".join(rows_named(rows) for rows in audit.compared_with)
    for text, spread in (("likelier than", audit.percentile), (FIT, audit.coherence_percentile)):
        if spread:
            numbers.append((text, f"{spread} % of {rows}"))
    others = {name: count for name, count in audit.statuses.items() if name != "optimal" and count}
    return [*numbers, ("not optimal", ", ".join(f"{count:,} {name}" for name, count in others.items()) or "none")]


def group_cells(name: str, audit: Audit) -> list[str]:
    """One group, in the order of `GROUP_HEAD`."""
    numbers = [cost_text(spread.median) if spread else "" for spread in (audit.cost, audit.changes)]
    likelier = f"{audit.percentile.median:.0f}%" if audit.percentile else ""
    none = audit.rows - audit.answered
    return [name, f"{audit.rows:,}", share(audit.certified, audit.rows), share(none, audit.rows), *numbers, likelier]


def share(part: int, whole: int) -> str:
    """A part as percent."""
    return f"{100 * part / whole:.1f}%" if whole else "-"


def _use_cells(use: Use, rows: int) -> list[str]:
    most = f"{use.to} ({use.to_count:,})"
    return [use.title, share(use.count, rows), f"{use.up:,}" if use.up else "", f"{use.down:,}" if use.down else "", most]


def audit(explanations: Iterable[Explanation], groups: Sequence[Any] | None = None) -> Audit:
    """What explanations say together.

    Args:
        explanations: Of any rows, by any question.
        groups: A value per explanation, by which they are told apart too; many numbers are gathered into quarters.
    """
    every = list(explanations)
    whole = _audited(every)
    if groups is None:
        return whole
    if len(groups) != len(every):
        raise ExplainerError("The groups of an audit", "be one per explanation", f"{len(groups)} for {len(every)}", "check both")
    names, order = group_names(groups)
    parts = {name: [explanation for explanation, of in zip(every, names, strict=True) if of == name] for name in order}
    return Audit(**{**vars(whole), "groups": tuple((name, _audited(part)) for name, part in parts.items())})


def _audited(explanations: Sequence[Explanation]) -> Audit:
    best = [explanation.best for explanation in explanations if explanation]
    every = [answer for explanation in explanations for answer in explanation.counterfactuals]
    return Audit(
        rows=len(explanations),
        statuses=dict(Counter(explanation.status for explanation in explanations).most_common()),
        answers=len(every),
        keeping=sum(_keeps(answer) for answer in every),
        cost=_spread([answer.cost for answer in best]),
        changes=_spread([answer.number_of_changes for answer in best]),
        percentile=_spread([answer.percentile for answer in best if answer.percentile is not None]),
        coherence_percentile=_spread([a.coherence_percentile for a in best if a.coherence_percentile is not None]),
        compared_with=tuple(sorted({answer.query.rows for answer in best if answer.percentile is not None})),
        features=_uses(best),
    )


def _keeps(answer: Counterfactual) -> bool:
    return not answer.query.schema.violations(list(answer.query.values), list(answer.values))


def _spread(numbers: Sequence[float]) -> Spread | None:
    return Spread(*(float(number) for number in np.quantile(numbers, (0.25, 0.5, 0.75)))) if len(numbers) else None


def _uses(best: Sequence[Counterfactual]) -> tuple[Use, ...]:
    """The features that change, the most frequent first."""
    moves: dict[str, list[tuple[float, str]]] = {}
    titles: dict[str, str] = {}
    for answer in best:
        features = answer.query.schema.features
        for feature, before, after in zip(features, answer.query.factual, answer.numbers, strict=True):
            if feature.name in answer.changes:
                way = float(np.sign(after - before)) if feature.ordered else 0.0
                titles.setdefault(str(feature.name), feature.title)
                moves.setdefault(str(feature.name), []).append((way, _text(feature, float(after))))
    uses = []
    for name, of_feature in moves.items():
        (to, count), *_ = Counter(after for _, after in of_feature).most_common(1)
        up, down = sum(way > 0 for way, _ in of_feature), sum(way < 0 for way, _ in of_feature)
        uses.append(Use(name, titles[name], len(of_feature), up, down, to, count))
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
