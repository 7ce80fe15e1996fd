"""Answers as files that grow and survive being killed at any moment: lines of JSON, or parts of Parquet.

An output is asked for its state after every task, and the journal keeps it. `begin` takes whatever was written after
that state away.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from likely.batch import parquet
from likely.batch.table import table_of
from likely.batch.tasks import Done
from likely.errors import ExplainerError
from likely.schema import Schema

#: So many rows are gathered before they are a part of Parquet.
PART_ROWS = 4096


class Output(Protocol):
    """Answers on a disk."""

    #: Whether lines of a table are needed instead of JSON.
    records: bool

    def begin(self, state: Mapping[str, Any] | None) -> None:
        """Make the files what they were at a state; None for none at all."""

    def append(self, done: Done) -> dict[str, Any]:
        """Write a task's answers, and tell the state then."""

    def end(self) -> dict[str, Any]:
        """Write what was gathered, and tell the state then."""


def output_of(path: Path, schema: Schema, head: Mapping[str, Any]) -> Output:
    """Where answers go, by the end of its name.

    Args:
        path: `.jsonl` or `.parquet`.
        schema: That of the explainer.
        head: What stands at its head: the question.
    """
    if parquet.is_parquet(path):
        return Parts(path, schema, head)
    if path.suffix == ".jsonl":
        return Lines(path, head)
    raise ExplainerError("The output of a batch", "end in .jsonl or .parquet", path.name, "choose one of them")


class Lines:
    """A line of JSON per row, after one with the question.

    Args:
        path: The file.
        head: What stands in the first line.
    """

    records = False

    def __init__(self, path: Path, head: Mapping[str, Any] | None) -> None:
        self.path = path
        self._first = b"" if head is None else json.dumps({"question": head}, ensure_ascii=False).encode() + b"\n"
        self._size = 0

    def begin(self, state: Mapping[str, Any] | None) -> None:
        self._size = 0 if state is None else state["bytes"]
        if state is None:
            self.write(self._first)
        elif not self.path.exists() or self.path.stat().st_size < self._size:
            raise _cut(self.path)

    def append(self, done: Done) -> dict[str, Any]:
        self.write("".join(f"{line}\n" for line in done.lines).encode())
        return self.state

    def write(self, content: bytes) -> None:
        """Add bytes after those that count; they are on the disk when it returns.

        Args:
            content: Whole lines.
        """
        with self.path.open("r+b" if self.path.exists() else "wb") as file:
            file.truncate(self._size)
            file.seek(self._size)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        self._size += len(content)

    @property
    def state(self) -> dict[str, Any]:
        """How long the file is."""
        return {"bytes": self._size}

    def end(self) -> dict[str, Any]:
        self.write(b"")  # what was cut off beyond the end
        return self.state

    def lines(self) -> Iterator[bytes]:
        """What counts of the file."""
        with self.path.open("rb") as file:
            yield from file.read(self._size).splitlines(keepends=False)


class Parts:
    """A folder of Parquet files, each whole or not there; rows that do not fill one yet are lines in a file beside them.

    Parquet has its table of contents at the end: a file that grows cannot be read while it does, nor after its writer was
    killed. A folder of files can, and everything that reads Parquet reads it as one table.

    Args:
        path: The folder.
        schema: That of the explainer.
        head: What stands in every part.
        rows: How many rows a part has.
    """

    records = True

    def __init__(self, path: Path, schema: Schema, head: Mapping[str, Any], rows: int = PART_ROWS) -> None:
        self.path, self._schema, self._rows = path, schema, rows
        self._notes = {"likely": json.dumps({"question": head}, ensure_ascii=False)}
        self._open = Lines(path / "_rows.jsonl", None)
        self._parts = self._gathered = 0

    def begin(self, state: Mapping[str, Any] | None) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise ExplainerError("The output of a batch in Parquet", "be a folder", str(self.path), "choose another output")
        if state is not None and not self.path.is_dir():
            raise _cut(self.path)
        self.path.mkdir(exist_ok=True)
        self._parts, self._gathered = (0, 0) if state is None else (state["parts"], state["rows"])
        if state is None or state["bytes"]:
            self._open.begin(None if state is None else state)
        present = parquet.parts_of(self.path)
        if present[: self._parts] != [self._part(number) for number in range(self._parts)]:
            raise _cut(self.path)
        for part in present[self._parts :]:
            part.unlink()

    def append(self, done: Done) -> dict[str, Any]:
        lines = [json.dumps(of_row, ensure_ascii=False) for of_row in done.records]
        self._open.append(Done(tuple(lines)))
        self._gathered += len(lines)
        return self._flushed() if self._gathered >= self._rows else self.state

    def end(self) -> dict[str, Any]:
        state = self._flushed() if self._gathered or not self._parts else self.state
        self._open.path.unlink(missing_ok=True)
        return state

    def _flushed(self) -> dict[str, Any]:
        """Make a part of the rows that were gathered. Their lines stay until the next are written: the journal comes first."""
        records = [record for line in self._open.lines() for record in json.loads(line)]
        parquet.write(table_of(records, self._schema), self._part(self._parts), self._notes)
        self._parts, self._gathered = self._parts + 1, 0
        self._open = Lines(self._open.path, None)
        return self.state

    def _part(self, number: int) -> Path:
        return self.path / f"part-{number:06}{parquet.SUFFIX}"

    @property
    def state(self) -> dict[str, Any]:
        """How many parts there are, and how much of the next one."""
        return {"parts": self._parts, "rows": self._gathered, **self._open.state}


def _cut(path: Path) -> ExplainerError:
    return ExplainerError(
        "A batch that goes on", "find what it has written", f"less than that in {path}", "remove it and its journal to begin anew"
    )
