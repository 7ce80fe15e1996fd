"""Parquet files: rows to explain, and answers. The one file of this room that knows pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from likely._files import replacing
from likely.errors import ExplainerError, MissingExtraError, SchemaError

SUFFIX = ".parquet"
#: The column that has all of an explanation, as JSON.
EXPLANATION = "explanation"


def is_parquet(path: Any) -> bool:
    """Whether a path is that of a Parquet file, or of a folder of them.

    Args:
        path: Anything.
    """
    return isinstance(path, (str, Path)) and Path(path).suffix.lower() == SUFFIX


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet", "read and write Parquet files") from None
    return pyarrow


def parts_of(path: str | Path) -> list[Path]:
    """The files of a Parquet table, in order: itself, or those of the folder.

    Args:
        path: A file or a folder.
    """
    place = Path(path)
    if place.is_dir():
        return sorted(part for part in place.iterdir() if part.suffix == SUFFIX and part.name[0] not in "._")
    return [place]


def count_rows(path: str | Path) -> int:
    """How many rows a table has, without reading them.

    Args:
        path: A file or a folder.
    """
    return sum(_opened(part).metadata.num_rows for part in parts_of(path))


def read_frames(path: str | Path, columns: Sequence[str], size: int) -> Iterator[pd.DataFrame]:
    """The rows of a table, a few at a time.

    Args:
        path: A file or a folder.
        columns: Those to read; one that is not there is left out.
        size: At most so many rows at a time.
    """
    for part in parts_of(path):
        with _opened(part) as file:
            known = [name for name in columns if name in file.schema_arrow.names]
            for batch in file.iter_batches(batch_size=size, columns=known):
                yield batch.to_pandas()


def _opened(path: Path) -> Any:
    arrow = _arrow()
    if not path.exists():
        raise SchemaError("A data file", "exist", str(path), "check the path")
    try:
        return arrow.parquet.ParquetFile(path)
    except arrow.ArrowInvalid as error:
        got = f"{path.name}: {' '.join(str(error).split())}"
        raise SchemaError("A data file", "be Parquet", got, "write it again, or use CSV") from None


def write(table: pd.DataFrame, path: Path, notes: Mapping[str, str]) -> None:
    """Write a file that is whole or not there; the same table makes the same bytes.

    Args:
        table: All columns have a dtype that does not depend on the rows.
        path: The file.
        notes: Texts to be kept in it.
    """
    arrow = _arrow()
    made = arrow.Table.from_pandas(table, preserve_index=False)
    head = {**(made.schema.metadata or {}), **{key.encode(): text.encode() for key, text in notes.items()}}
    with replacing(path) as file:
        arrow.parquet.write_table(made.replace_schema_metadata(head), file, compression="zstd")


def read_answers(path: str | Path) -> Iterator[tuple[int, str, str | None]]:
    """The rows of a folder of answers: the place of each, why it was refused, and its explanation as JSON, if there is one.

    Args:
        path: What a batch wrote.
    """
    if not Path(path).exists():
        raise ExplainerError("A file of answers", "exist", path, "check the path")
    columns = ["row", "answer", "reason", EXPLANATION]
    for part in parts_of(path):
        with _opened(part) as file:
            if not set(columns) <= set(file.schema_arrow.names):
                raise ExplainerError("A file of answers", "be one that likely batch wrote", part, "use likely batch -o")
            for batch in file.iter_batches(batch_size=256, columns=columns):
                for line in batch.to_pylist():
                    if line["answer"] in (None, 1):
                        yield line["row"], line["reason"] or "", line[EXPLANATION]
