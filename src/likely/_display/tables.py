"""Text tables for a terminal: the cells of a column stand under each other."""

from __future__ import annotations

from collections.abc import Collection, Sequence

#: What stands between two columns.
GAP = "  "


def aligned(rows: Sequence[Sequence[str]], *, right: Collection[int] = ()) -> list[str]:
    """A line of text per row, every column as wide as its widest cell.

    Args:
        rows: The cells, as many in every row; the head is a row like any other.
        right: The columns whose cells are flush right, such as numbers.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        GAP.join(cell.rjust(widths[i]) if i in right else cell.ljust(widths[i]) for i, cell in enumerate(row)) for row in rows
    ]


def ruled(lines: Sequence[str], *places: int) -> list[str]:
    """The lines of a table without trailing spaces, and a rule below each of the lines at these places."""
    rule = "─" * max(map(len, lines))
    return [text for i, line in enumerate(lines) for text in ([line.rstrip(), rule] if i in places else [line.rstrip()])]


def shortened(text: str, width: int) -> str:
    """A text cut to a width, with a sign that it was."""
    return text if len(text) <= width else text[: width - 1] + "…"
