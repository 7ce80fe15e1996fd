"""HTML whose texts are escaped by construction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TypeAlias


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


Part: TypeAlias = "str | Iterable[str] | None"


def join(*parts: Part) -> Html:
    """Parts one after another: texts are escaped, markup is not, None is nothing."""
    return Html("".join(_markup(part) for part in parts))


def _markup(part: Part) -> str:
    if part is None:
        return ""
    if isinstance(part, str):
        return part if isinstance(part, Html) else escape(part)
    return join(*part)


def el(tag: str, *parts: Part, **attributes: object) -> Html:
    """An element. An attribute that is None is left out; `class_` is class."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"' for key, value in attributes.items() if value is not None
    )
    return Html(f"<{tag}{given}>{join(*parts)}</{tag}>")


def table_row(cells: Iterable[Part], *, tag: str = "td", style: str | None = None) -> Html:
    """A row of a table whose cells all look the same."""
    return el("tr", *(el(tag, cell, style=style) for cell in cells))


def plain_table(head: Iterable[Part], body: Sequence[Html], foot: Sequence[Html] = (), *, style: str | None = None) -> Html:
    """A table for a notebook: no classes, no scripts, in the page's own colours."""
    top = el("thead", table_row(head, tag="th", style=style))
    return el("table", top, el("tbody", *body), el("tfoot", *foot) if foot else None)
