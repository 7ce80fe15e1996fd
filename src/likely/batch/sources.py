"""Tables of any length, a few rows at a time: CSV, Parquet, a table in memory, or any iterable of tables."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from likely.batch import parquet
from likely.batch.tasks import Task
from likely.errors import ExplainerError, SchemaError
from likely.schema import Schema
from likely.schema.files import read_frames
from likely.schema.frames import as_pandas, is_polars


@dataclass(frozen=True, eq=False)
class Source:
    """Rows that come one after the other."""

    #: What people call it.
    name: str
    frames: Iterable[pd.DataFrame]
    #: How many rows there are, if that is known.
    rows: int | None = None
    #: How much of it was read, from 0 to 1, if that is known.
    share: Callable[[], float] | None = None


def source_of(data: Any, schema: Schema, size: int) -> Source:
    """Where rows come from.

    Args:
        data: The path of a CSV or Parquet file (or of a folder of these), a DataFrame of pandas or polars, or an
            iterable of such.
        schema: What a row may be.
        size: About so many rows are read at a time.
    """
    names = [str(name) for name in schema.names]
    if parquet.is_parquet(data):
        frames = (frame.rename(columns=dict(zip(names, schema.names, strict=True))) for frame in
                  parquet.read_frames(data, names, size))  # fmt: skip
        return Source(Path(data).name, frames, parquet.count_rows(data))
    if isinstance(data, (str, Path)):
        file = _Counted(Path(data))
        return Source(Path(data).name, read_frames(data, schema, size, io.BufferedReader(file)), share=file.share)
    if isinstance(data, pd.DataFrame) or is_polars(data):
        table = as_pandas(data)
        return Source("a table", [table], len(table))
    if isinstance(data, Iterable):
        return Source("tables", (_table(each) for each in data))
    raise ExplainerError(
        "Rows to explain", "be a table, the path of one, or an iterable of tables", type(data).__name__, "give a DataFrame"
    )


def _table(each: Any) -> pd.DataFrame:
    table = as_pandas(each)
    if not isinstance(table, pd.DataFrame):
        raise ExplainerError("Each part of the rows", "be a DataFrame", type(each).__name__, "use pd.DataFrame(...)")
    return table


class _Counted(io.FileIO):
    """A file that knows how much of it was read."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise SchemaError("A data file", "exist", str(path), "check the path")
        super().__init__(path)
        self._size = max(1, path.stat().st_size)
        self._read = 0

    def readinto(self, buffer: Any, /) -> int | None:
        count = super().readinto(buffer)
        self._read += count or 0
        return count

    def share(self) -> float:
        """From 0 to 1."""
        return min(1.0, self._read / self._size)


def tasks_of(source: Source, schema: Schema, size: int, rows: slice) -> Iterator[Task]:
    """The rows of a source that are wanted, as tasks.

    The bounds of a task are those of the table, not of what is wanted of it or how it was read: the same rows are always
    together.

    Args:
        source: Where rows come from.
        schema: Only its columns are kept.
        size: How many rows a task has, but for the first and the last one.
        rows: Those that are wanted, by their places.
    """
    number, place = 0, 0
    for frame in _gathered(source.frames, schema, size):
        begin, end = max(rows.start or 0, place), place + len(frame)
        end = end if rows.stop is None else min(rows.stop, end)
        if begin < end:
            chosen = frame.iloc[begin - place : end - place]
            yield Task(number, begin, chosen, _cells(chosen))
            number += 1
        place += len(frame)
        if rows.stop is not None and place >= rows.stop:
            return


def _gathered(frames: Iterable[pd.DataFrame], schema: Schema, size: int) -> Iterator[pd.DataFrame]:
    """The same rows in tables of one size, but for the last one."""
    left: pd.DataFrame | None = None
    for frame in frames:
        wanted = frame[[name for name in schema.names if name in frame.columns]]
        left = wanted if left is None or not len(left) else pd.concat([left, wanted])
        for start in range(0, len(left) - size + 1, size):
            yield left.iloc[start : start + size].reset_index(drop=True)
        left = left.iloc[len(left) // size * size :]
    if left is not None and len(left):
        yield left.reset_index(drop=True)


def _cells(table: pd.DataFrame) -> str:
    """A hash of all cells."""
    numbers = pd.util.hash_pandas_object(table.astype(str), index=False).to_numpy()
    return hashlib.sha256(numbers.tobytes()).hexdigest()[:16]
