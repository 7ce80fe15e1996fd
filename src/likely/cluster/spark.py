"""Spark: a table of it to a table of answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Unpack

import pandas as pd

from likely.batch.tasks import as_plain, whole_names
from likely.cluster.frames import Frames
from likely.errors import ExplainerError, MissingExtraError
from likely.explain import Question, QuestionOptions
from likely.explain.question import asked_question

#: dtype of a column of answers -> Spark's type
_TYPES = {"string": "string", "float64": "double", "Int64": "long", "UInt64": "decimal(20,0)", "boolean": "boolean"}


def explain(
    table: Any,
    folder: str | Path,
    question: Question | None = None,
    *,
    model: str | Path | None = None,
    encoder: str | Path | None = None,
    key: str,
    **options: Unpack[QuestionOptions],
) -> Any:
    """A Spark DataFrame of rows to one of answers (`mapInPandas`); nothing is computed yet. Spark does a task again that fails.

    Args:
        table: A `pyspark.sql.DataFrame`.
        folder: What `Explainer.save` wrote, where every worker can read it.
        question: What is asked about each row.
        model: As in `likely.cluster.explain_frame`, as the rest is.
        encoder: That of the explainer.
        key: A column that tells rows apart: Spark's tables have no index, nor an order.
        options: Fields of the `Question`.
    """
    try:
        from pyspark.sql.types import StructType
    except ImportError:
        raise MissingExtraError("pyspark", "spark", "work with tables of Spark") from None
    frames = Frames(*whole_names(folder, model, encoder), as_plain(asked_question(question, options)), key)
    if key not in table.columns:
        raise ExplainerError("The key of rows", "be a column of the table", repr(key), f"it has {table.columns}")
    frames.refuse(pd.DataFrame(columns=table.columns))
    made = StructType([table.schema[key]])
    for name, kind in frames.dtypes().items():
        made = made.add(name, _TYPES[kind])
    return table.mapInPandas(_Parts(frames), made)


class _Parts:
    """What Spark calls with the parts of its table."""

    def __init__(self, frames: Frames) -> None:
        self._frames = frames

    def __call__(self, parts: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        yield from (self._frames(part) for part in parts)
