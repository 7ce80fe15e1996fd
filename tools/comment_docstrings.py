"""For the reference: `#:` comments above a field or a constant are its docstring (an extension of griffe, see zensical.toml)."""

from __future__ import annotations

from typing import Any

from griffe import Attribute, Docstring, Extension

MARK = "#:"


class CommentDocstrings(Extension):
    """Gives attributes without a docstring the `#:` comment that stands right above them."""

    def on_attribute_instance(self, *, attr: Attribute, **_: Any) -> None:
        """Called once per attribute, when its source is visited."""
        if attr.docstring is None and attr.lineno is not None:
            text = _comment_above(attr.lines_collection[attr.filepath], attr.lineno - 1)
            if text:
                attr.docstring = Docstring(text, parent=attr)


def _comment_above(lines: list[str], end: int) -> str:
    """The text of the comment that ends right before a line (counted from 0)."""
    start = end
    while start and lines[start - 1].lstrip().startswith(MARK):
        start -= 1
    return " ".join(line.strip().removeprefix(MARK).strip() for line in lines[start:end])
