"""Answers side by side, for a notebook: no scripts, nothing from elsewhere, in the page's own colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from likely._display.markup import Html, el, plain_table, table_row
from likely.explain import text

if TYPE_CHECKING:
    from likely.explain.explanation import Explanation
    from likely.explain.front import Front

_CELL = "text-align:left;padding:4px 12px"
_FOOT = f"{_CELL};opacity:0.8"
_LINE = f"{_FOOT};border-top:1px solid currentColor"


def as_html(explanation: Explanation) -> str:
    """What was asked and claimed, the answers side by side, and each as a sentence."""
    lines = [part for line in text.claim(explanation) for part in (Html("<br/>"), line)]
    top = el("p", el("b", text.goal(explanation)), *lines)
    if not explanation:
        return el("div", top)
    body = [table_row([name, before, *after], style=_CELL) for name, before, after in text.cells(explanation)]
    foot = [
        table_row([name, before, *after], style=_FOOT if i else _LINE)
        for i, (name, before, after) in enumerate(text.measures(explanation))
    ]
    sentences = el("ol", *(el("li", answer.sentence) for answer in explanation.counterfactuals))
    return el("div", top, plain_table(text.heads(explanation), body, foot, style=_CELL), sentences)


def front_as_html(front: Front) -> str:
    """A line per point of a trade-off: what it costs, what it changes, how likely it is, and how strong the claim is."""
    if not front.points:
        return el("div", el("p", text.front_ending(front))) if front.beyond is None else as_html(front.beyond)
    changes = [text.changed_features(point.best) for point in front.points]
    rows = [[*cells, names] for cells, names in zip(text.front_cells(front), changes, strict=True)]
    made = plain_table([*text.FRONT_HEADS, "changes"], [table_row(row, style=_CELL) for row in rows], style=_CELL)
    return el("div", made, el("p", text.front_ending(front)))
