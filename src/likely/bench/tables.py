"""Tables as Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from likely._files import write_text

_LATEX = {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "±": r"$\pm$", "\N{EN DASH}": "--"}

#: How numbers begin that do not begin with a digit, and how long a cell of numbers is at most.
_SIGNS, _LONGEST = ("-", "~", "<", "\N{EN DASH}", ""), 24


@dataclass(frozen=True)
class Table:
    """Texts in rows and columns, the first column flush left."""

    #: For files and links.
    name: str
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    #: What the numbers are.
    caption: str = ""

    def to_markdown(self) -> str:
        """For pages."""
        cells = list(zip(*self.rows, strict=True)) or [()] * len(self.head)
        rule = "| --- |" + "".join(" ---: |" if _short_numbers(column) else " --- |" for column in cells[1:])
        lines = [_line(self.head), rule, *(_line(row) for row in self.rows)]
        return "\n".join(lines) + "\n"

    def to_latex(self) -> str:
        """For papers: booktabs."""
        body = "\n".join(f"    {' & '.join(map(_escaped, row))} \\\\" for row in self.rows)
        columns = "l" + "r" * (len(self.head) - 1)
        return (
            f"\\begin{{table}}\n  \\centering\n  \\caption{{{_escaped(f'{self.title}. {self.caption}'.strip())}}}\n"
            f"  \\label{{tab:{self.name}}}\n  \\begin{{tabular}}{{{columns}}}\n    \\toprule\n"
            f"    {' & '.join(map(_escaped, self.head))} \\\\\n    \\midrule\n{body}\n"
            "    \\bottomrule\n  \\end{tabular}\n\\end{table}\n"
        )

    def to_csv(self) -> str:
        """For programs."""
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([self.head, *self.rows])
        return out.getvalue()

    def save(self, folder: str | Path) -> None:
        """Write all three.

        Args:
            folder: It is made if it is not there.
        """
        home = Path(folder)
        home.mkdir(parents=True, exist_ok=True)
        for ending, text in (("md", self.to_markdown()), ("tex", self.to_latex()), ("csv", self.to_csv())):
            write_text(home / f"{self.name}.{ending}", text)


def _short_numbers(cells: tuple[str, ...]) -> bool:
    """Whether a column is read from the right: numbers, and what is said where there is none."""
    return all(len(cell) <= _LONGEST and (cell[:1].isdigit() or cell[:1] in _SIGNS) for cell in cells)


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)
