"""The page of many explanations: numbers first, then every row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from likely._display.markup import Html, el, join
from likely._display.numbers import cost_text
from likely.explain import Audit, Explanation, audit
from likely.explain.audit_text import GROUP_HEAD, group_cells, share
from likely.explain.auditing import Use
from likely.show.pages.parts import MARKS, answer_text, cards, claim_box, spoken, table
from likely.show.pages.pictures import bar_picture


def many_page(explanations: Sequence[Explanation], names: Sequence[Any], groups: Sequence[Any] | None) -> Html:
    """What the answers say together, per group if asked, and each of them."""
    counted = audit(explanations, groups)
    return join(_tiles(counted), _features(counted), _groups(counted), _rows(explanations, names))


def _tiles(counted: Audit) -> Html:
    tiles = [
        (f"{counted.rows:,}", "rows explained"),
        (share(counted.certified, counted.rows), "certified: proved that there is no better answer, or none"),
        (share(counted.answered, counted.rows), "have an answer"),
        (share(counted.keeping, counted.answers), "of the answers keep every rule"),
    ]
    if counted.cost and counted.changes:
        tiles += [
            (cost_text(counted.cost.median), "median cost"),
            (cost_text(counted.changes.median), "features changed (median)"),
        ]
    return el(
        "div",
        *(el("div", el("b", number), el("span", text, class_="soft small"), class_="tile") for number, text in tiles),
        class_="tiles",
    )


def _features(counted: Audit) -> Html | None:
    if not counted.features:
        return None
    body = [_use(use, counted.answered) for use in counted.features]
    head = ["feature", "share", "", "up", "down", "most often to"]
    note = "How often the best answer changes a feature, and which way."
    return el(
        "section", el("h2", "What people are asked to change"), el("p", note, class_="soft"), table(head, body, (2, 3, 4), "uses")
    )


def _use(use: Use, rows: int) -> Html:
    cells = [
        el("td", bar_picture(use.count / rows), class_="wide"),
        el("td", share(use.count, rows), class_="number"),
        el("td", f"{use.up:,}" if use.up else "", class_="number"),
        el("td", f"{use.down:,}" if use.down else "", class_="number"),
        el("td", use.to, class_="end"),
    ]
    return el("tr", el("th", spoken(use.title), scope="row"), *cells)


def _groups(counted: Audit) -> Html | None:
    if not counted.groups:
        return None
    body = [
        el(
            "tr",
            *(
                el("th" if i == 0 else "td", cell, class_=None if i == 0 else "number")
                for i, cell in enumerate(group_cells(name, group))
            ),
        )
        for name, group in counted.groups
    ]
    note = "Numbers are medians of the best answers."
    return el("section", el("h2", "Per group"), el("p", note, class_="soft"), table(GROUP_HEAD, body, range(1, len(GROUP_HEAD))))


def _rows(explanations: Sequence[Explanation], names: Sequence[Any]) -> Html:
    rows = [_row(explanation, name) for explanation, name in zip(explanations, names, strict=True)]
    return el("section", el("h2", "Every row"), el("p", "Open a row for its answers.", class_="soft"), *rows)


def _row(explanation: Explanation, name: Any) -> Html:
    word, colour = MARKS[explanation.status]
    head = el(
        "summary",
        el("span", f"Row {name}", class_="fold"),
        el("span", answer_text(explanation), class_="what"),
        el("span", word, class_=f"mark {colour}".strip()),
    )
    return el("details", head, el("div", claim_box(explanation), cards(explanation) if explanation else None))
