"""A schema as a table for a terminal and for a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from likely.schema.constraints import Constraint, Decreasing, Immutable, Increasing
from likely.schema.values import Name

if TYPE_CHECKING:
    from likely.schema.schema import Schema

_MOST = 72
_WORDS: dict[type[Constraint], str] = {
    Immutable: "may not change",
    Increasing: "may not decrease",
    Decreasing: "may not increase",
}


def _rows(schema: Schema) -> list[tuple[str, str, str, str, str]]:
    return [
        (str(f.name), f.kind, f.describe(), _moves(schema.constraints, f.name), cost.describe())
        for f, cost in zip(schema.features, schema.costs, strict=True)
    ]


def _moves(constraints: tuple[Constraint, ...], name: Name) -> str:
    words = [_WORDS[type(c)] for c in constraints if type(c) in _WORDS and c.features == (name,)]
    return ", ".join(words)


def _other_rules(schema: Schema) -> list[str]:
    return [str(c) for c in schema.constraints if type(c) not in _WORDS]


def as_text(schema: Schema) -> str:
    """The schema as aligned columns of text."""
    head = ("feature", "kind", "values", "moves", "cost")
    rows = [head, *((n, k, d if len(d) <= _MOST else d[: _MOST - 3] + "...", m, p) for n, k, d, m, p in _rows(schema))]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    rules = ["", "rules:", *("  " + rule for rule in _other_rules(schema))] if _other_rules(schema) else []
    count = len(schema.features)
    return "\n".join([f"Schema of {count} feature{'s' if count > 1 else ''}", *lines, *rules])


def as_html(schema: Schema) -> str:
    """The schema as an HTML table."""
    cells = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in row) + "</tr>" for row in _rows(schema)
    )
    head = "".join(f"<th style='text-align:left'>{word}</th>" for word in ("feature", "kind", "values", "moves", "cost"))
    rules = "".join(f"<li>{escape(rule)}</li>" for rule in _other_rules(schema))
    listed = f"<p><b>Rules</b></p><ul>{rules}</ul>" if rules else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{cells}</tbody></table>{listed}"
