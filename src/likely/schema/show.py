"""A schema as a table for a terminal and for a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from likely._display.markup import el, join, plain_table, table_row
from likely._display.tables import aligned, shortened
from likely.schema.constraint import Constraint
from likely.schema.constraints import Decreasing, Immutable, Increasing
from likely.schema.feature import Feature
from likely.schema.times import holds_times
from likely.schema.values import Name

if TYPE_CHECKING:
    from likely.schema.schema import Schema

_HEAD = ("feature", "kind", "values", "moves", "cost")
_CELL = "text-align:left"
#: A description of values is cut at so many characters.
_MOST = 72
_WORDS: dict[type[Constraint], str] = {
    Immutable: "may not change",
    Increasing: "may not decrease",
    Decreasing: "may not increase",
}


def _rows(schema: Schema) -> list[tuple[str, str, str, str, str]]:
    return [
        (_name(f), f.kind, _values(f), _moves(schema.constraints, f.name), cost.describe())
        for f, cost in zip(schema.features, schema.costs, strict=True)
    ]


def _name(feature: Feature) -> str:
    """The name of the column, and what people call it."""
    return f"{feature.name} ({feature.label})" if feature.label else str(feature.name)


def _values(feature: Feature) -> str:
    if not feature.unit or holds_times(feature.dtype):
        return feature.describe()
    return f"{feature.describe()} ({feature.unit})"


def _moves(constraints: tuple[Constraint, ...], name: Name) -> str:
    words = [_WORDS[type(c)] for c in constraints if type(c) in _WORDS and c.features == (name,)]
    return ", ".join(words)


def _other_rules(schema: Schema) -> list[str]:
    return [str(c) for c in schema.constraints if type(c) not in _WORDS]


def as_text(schema: Schema) -> str:
    """The schema as aligned columns of text.

    Args:
        schema: The features, rules and costs.
    """
    rows = [(name, kind, shortened(values, _MOST), moves, cost) for name, kind, values, moves, cost in _rows(schema)]
    lines = [line.rstrip() for line in aligned([_HEAD, *rows])]
    rules = ["", "rules:", *("  " + rule for rule in _other_rules(schema))] if _other_rules(schema) else []
    notes = ["", *schema.notes] if schema.notes else []
    count = len(schema.features)
    return "\n".join([f"Schema of {count} feature{'s' if count > 1 else ''}", *lines, *rules, *notes])


def as_html(schema: Schema) -> str:
    """The schema as an HTML table.

    Args:
        schema: The features, rules and costs.
    """
    made = plain_table(_HEAD, [table_row(row, style=_CELL) for row in _rows(schema)], style=_CELL)
    rules = [el("li", rule) for rule in _other_rules(schema)]
    notes = [el("p", note) for note in schema.notes]
    return join(made, join(el("p", el("b", "Rules")), el("ul", *rules)) if rules else None, *notes)
