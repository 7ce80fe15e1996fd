"""The results of a run as tables, in files that people and programs read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from likely.bench.journal import Journal
from likely.errors import MissingExtraError, ProblemError

ANSWERS, MEASURES, TABLE = "answers.jsonl", "measures.jsonl", "results.parquet"
#: What a measure is known by.
KEY = ["dataset", "fold", "method", "place", "choice"]
#: What is measured of an answer; where nobody answered, the columns are there, and empty.
MEASURED = (
    "seconds", "nll", "distance", "changed", "nearest", "lof", "isolation", "noise", "retraining", "rounded", "by_margin",
    "diversity", "claimed", "approximation_error", "error",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Results:
    """What was measured in a folder."""

    folder: Path
    #: The settings, versions and machine of each sitting.
    sittings: tuple[dict[str, Any], ...]
    #: A row per data set, fold, method, factual and choice ("first": what the method holds best; "likeliest" of its valid ones).
    measures: pd.DataFrame
    #: A row per data set, fold and method: what fitting took.
    fits: pd.DataFrame
    #: How long was waited for methods, fitting included; of who was ended, at least so long as it was told to take.
    seconds: float = 0.0

    @classmethod
    def load(cls, folder: str | Path) -> Results:
        """What a run has left in its folder, finished or not.

        Args:
            folder: That of `likely.bench.run`.
        """
        home = Path(folder)
        events = list(Journal(home / ANSWERS).events())
        sittings = tuple(event for event in events if "run" in event)
        if not sittings:
            raise ProblemError("The folder of a benchmark", "hold a run", str(folder), "name the folder that likely bench wrote")
        table = pd.DataFrame(list(Journal(home / MEASURES).events()))
        if len(table):
            table = table.assign(**dict.fromkeys((name for name in MEASURED if name not in table), np.nan))
            table = _ordered(table.drop_duplicates(KEY, keep="last").drop(columns="of"), sittings)
        fits = pd.DataFrame([event for event in events if "fit_seconds" in event])
        if len(fits):
            fits = fits.drop_duplicates(["dataset", "fold", "method"], keep="last").reset_index(drop=True)
        return cls(home, sittings, table, fits, _waited(events) + (float(fits["fit_seconds"].sum()) if len(fits) else 0.0))

    def chosen(self, choice: str = "likeliest") -> pd.DataFrame:
        """The measures of one choice among the answers.

        Args:
            choice: "likeliest", which counts in the paper, or "first", what the method holds best.
        """
        if not len(self.measures):
            return self.measures
        return self.measures[self.measures["choice"] == choice].reset_index(drop=True)

    def save(self) -> Path | None:
        """Write the measures as Parquet, with settings, versions and machine; None if pyarrow is not installed."""
        file = self.folder / TABLE
        try:
            write_parquet(self.measures, file, {"sittings": json.dumps(self.sittings)})
        except MissingExtraError:
            return None
        return file


def _waited(events: Iterable[dict[str, Any]]) -> float:
    """How long was waited for answers, in all."""
    limit, total = 0.0, 0.0
    for event in events:
        limit = event["run"]["seconds"] if "run" in event else limit
        ended = event.get("status") == "overtime" and not str(event.get("error")).startswith("not tried")
        total += event.get("waited", limit if ended else 0.0) if "place" in event else 0.0
    return total


def _ordered(table: pd.DataFrame, sittings: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Data sets and methods in the order in which they were named, whichever was asked first."""
    made = table.assign(
        **{
            f"{column} order": table[column].map(_ranks([*(event["run"][f"{column}s"] for event in sittings), table[column]]))
            for column in ("dataset", "method")
        }
    )
    order = ["dataset order", "fold", "method order", "place"]
    return made.sort_values(order, kind="stable", ignore_index=True).drop(columns=["dataset order", "method order"])


def _ranks(lists: Iterable[Iterable[str]]) -> dict[str, int]:
    """Where each word stands first."""
    words = dict.fromkeys(word for words in lists for word in words)
    return {word: rank for rank, word in enumerate(words)}


def write_parquet(table: pd.DataFrame, path: str | Path, notes: dict[str, str]) -> None:
    """A table as a Parquet file with notes in its head.

    Args:
        table: The table.
        path: The file.
        notes: Texts by name.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("pyarrow", "bench", "write Parquet files") from None
    made = pyarrow.Table.from_pandas(table, preserve_index=False)
    head = {**(made.schema.metadata or {}), **{key.encode(): text.encode() for key, text in notes.items()}}
    pyarrow.parquet.write_table(made.replace_schema_metadata(head), str(path), compression="zstd")


def read_notes(path: str | Path) -> dict[str, str]:
    """The notes of a Parquet file.

    Args:
        path: The file.
    """
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("pyarrow", "bench", "read Parquet files") from None
    head = pyarrow.parquet.read_schema(str(path)).metadata or {}
    return {key.decode(): text.decode() for key, text in head.items() if key != b"pandas"}
