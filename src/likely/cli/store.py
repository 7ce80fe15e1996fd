"""The answers of a batch: a line of JSON per row, so that a batch that was interrupted goes on where it ended."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from likely.cli.files import write_file
from likely.errors import ExplainerError
from likely.explain import Explanation
from likely.explain.query import ReadSchema, SharedSchemas


@dataclass(frozen=True)
class Entry:
    """One row of a batch: its explanation, or why there is none."""

    row: int
    explanation: Explanation | None
    #: What kept the row from being explained.
    note: str = ""

    def to_json(self) -> str:
        """One line."""
        outcome = {"note": self.note} if self.explanation is None else {"explanation": self.explanation.to_dict()}
        return json.dumps({"row": self.row, **outcome}, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], read_schema: ReadSchema) -> Entry:
        """What `to_json` wrote."""
        known = data.get("explanation")
        explanation = None if known is None else Explanation.from_dict(known, read_schema=read_schema)
        return cls(int(data["row"]), explanation, data.get("note", ""))


def finished_rows(path: str, question: Mapping[str, Any]) -> set[int]:
    """Which rows a file has; it is begun if there is none, and must be of the same question.

    The first line is the question. A last line that was cut off is taken away.
    """
    if not Path(path).exists():
        write_file(path, json.dumps({"question": question}, ensure_ascii=False) + "\n")
        return set()
    content = Path(path).read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    lines = _lines(path, _decoded(path, whole))
    if next(lines, {}).get("question") != question:
        raise ExplainerError(
            "A batch that goes on", "have the question, the data and the explainer of the file", path, "choose another --output"
        )
    rows = {int(line["row"]) for line in lines}
    if whole != content:  # only now: another file is left as it is
        write_file(path, _decoded(path, whole))
    return rows


def append(path: str, entries: Iterable[Entry]) -> None:
    """Add rows at the end."""
    text = "".join(entry.to_json() + "\n" for entry in entries)  # all of it first, so that little is cut off by Ctrl-C
    with Path(path).open("ab") as file:
        file.write(text.encode("utf-8"))


def read_entries(path: str) -> list[Entry]:
    """The rows of a file, in order; a last line that was cut off is left out."""
    if not Path(path).is_file():
        raise ExplainerError("A file of answers", "exist", path, "check the path")
    content = Path(path).read_bytes()
    whole, _, last = content.rpartition(b"\n")
    lines = _lines(path, _decoded(path, content if _is_json(last) else whole + b"\n"))
    if next(lines, {}).get("question") is None:
        raise ExplainerError("A file of answers", "be one that likely batch wrote", path, "use likely batch -o answers.jsonl")
    read_schema = SharedSchemas()
    return sorted((Entry.from_dict(line, read_schema) for line in lines), key=lambda entry: entry.row)


def _decoded(path: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except ValueError as error:
        raise ExplainerError("A file of answers", "be UTF-8 text", f"{path}: {error}", "see likely batch") from None


def _is_json(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _lines(path: str, text: str) -> Iterator[dict[str, Any]]:
    """One object per line; only a line feed ends a line: other ends of lines (U+2028, U+0085) may stand in values."""
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else ()):
        try:
            data = json.loads(line)
        except ValueError:
            data = None
        if not isinstance(data, dict) or (number > 0 and "row" not in data):
            raise ExplainerError(
                "A file of answers", "have a JSON object per line", f"line {number + 1} of {path}", "see likely batch"
            )
        yield data
