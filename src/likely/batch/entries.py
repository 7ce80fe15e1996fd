"""The answers of a batch, row by row: what stands in a file, and how it is read back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from likely.batch import parquet
from likely.errors import ExplainerError
from likely.explain import Explanation
from likely.explain.query import ReadSchema, SharedSchemas


@dataclass(frozen=True)
class Entry:
    """One row of a batch: its explanation, or why there is none."""

    #: Its place in the table; the first is 0.
    row: int
    explanation: Explanation | None
    #: What kept the row from being explained.
    note: str = ""

    @property
    def status(self) -> str:
        """That of the explanation; "refused" if there is none."""
        return "refused" if self.explanation is None else self.explanation.status

    def to_json(self) -> str:
        """One line."""
        outcome = {"note": self.note} if self.explanation is None else {"explanation": self.explanation.to_dict()}
        return json.dumps({"row": self.row, **outcome}, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], read_schema: ReadSchema) -> Entry:
        """What `to_json` wrote.

        Args:
            data: The object of a line.
            read_schema: How to read the schema of an explanation.
        """
        known = data.get("explanation")
        explanation = None if known is None else Explanation.from_dict(known, read_schema=read_schema)
        return cls(int(data["row"]), explanation, data.get("note", ""))


def read(path: str | Path) -> Iterator[Entry]:
    """The rows of a batch, one after the other, in the order of the table; of one that was killed, those that are finished.

    Args:
        path: What `likely.batch.run` or `likely batch` wrote: a file of JSON lines, or a folder of Parquet.
    """
    read_schema = SharedSchemas()
    if parquet.is_parquet(path):
        for row, note, text in parquet.read_answers(path):
            known = None if text is None else Explanation.from_dict(json.loads(text), read_schema=read_schema)
            yield Entry(row, known, note)
        return
    if not Path(path).is_file():
        raise ExplainerError("A file of answers", "exist", path, "check the path")
    for number, text in enumerate(_whole_lines(Path(path)), start=1):
        data = _object(str(path), number, text)
        if number == 1 and data.get("question") is None:
            raise ExplainerError("A file of answers", "be one that likely batch wrote", path, "use likely batch -o answers.jsonl")
        if number > 1 and "row" not in data:
            raise _no_object(str(path), number)
        if number > 1:
            yield Entry.from_dict(data, read_schema)


def _whole_lines(path: Path) -> Iterator[str]:
    """The lines of a file, without a last one that was cut off; only a line feed ends a line."""
    with path.open("rb") as file:
        for number, line in enumerate(file):
            if not line.endswith(b"\n") and not _is_object(line):
                return
            try:
                yield line.decode("utf-8-sig" if number == 0 else "utf-8")
            except ValueError as error:
                raise ExplainerError("A file of answers", "be UTF-8 text", f"{path}: {error}", "see likely batch") from None


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _object(path: str, number: int, text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise _no_object(path, number)
    return data


def _no_object(path: str, number: int) -> ExplainerError:
    return ExplainerError("A file of answers", "have a JSON object per line", f"line {number} of {path}", "see likely batch")
