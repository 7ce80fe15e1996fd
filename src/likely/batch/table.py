"""Answers as a table: a line per answer, and one per row that has none, in columns whose dtypes do not depend on the rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from likely.batch.entries import Entry
from likely.batch.parquet import EXPLANATION
from likely.explain.counterfactual import MEASURES
from likely.schema import Feature, Schema

#: column -> its dtype, before those of the features
_COLUMNS = {
    "row": "int64",
    "status": "string",
    "reason": "string",
    "answer": "Int64",
    "from": "string",
    "to": "string",
    "lower_bound": "float64",
    **dict.fromkeys(MEASURES, "float64"),
    "number_of_changes": "Int64",
    "sentence": "string",
}


def records_of(entry: Entry, *, explanations: bool = False) -> list[dict[str, Any]]:
    """The lines of one row, as plain data.

    Args:
        entry: A row of a batch.
        explanations: Whether the first line has the whole explanation beside it, as JSON.
    """
    first, *more = _records(entry)
    if explanations and entry.explanation is not None:
        first[EXPLANATION] = entry.explanation.to_json()
    return [first, *more]


def _records(entry: Entry) -> list[dict[str, Any]]:
    explanation = entry.explanation
    if explanation is None:
        return [{"row": entry.row, "status": entry.status, "reason": entry.note}]
    lower = explanation.bounds.lower
    whole = {"row": entry.row, "status": explanation.status, "lower_bound": lower if math.isfinite(lower) else None}
    lines = []
    for i, answer in enumerate(explanation.counterfactuals):
        numbers = {name: getattr(answer, name) for name in MEASURES}
        cells = {new(name): value for name, value in zip(explanation.query.schema.names, answer.values, strict=True)}
        decided = {"answer": i + 1, "from": _class(explanation.query.label), "to": _class(answer.label)}
        lines.append({**whole, **decided, **numbers, "sentence": answer.sentence, **cells})
    return lines or [whole]


def table_of(records: Iterable[dict[str, Any]], schema: Schema, *, explanations: bool = True) -> pd.DataFrame:
    """Lines of answers as a table.

    Args:
        records: What `records_of` made.
        schema: That of the explainer.
        explanations: Whether there is a column for whole explanations.
    """
    kinds = dtypes_of(schema, explanations=explanations)
    lines = list(records)
    return pd.DataFrame({name: _column([line.get(name) for line in lines], kind) for name, kind in kinds.items()})


def dtypes_of(schema: Schema, *, explanations: bool = True) -> dict[str, str]:
    """The columns of such a table, and their dtypes.

    Args:
        schema: That of the explainer.
        explanations: Whether there is a column for whole explanations.
    """
    features = {new(feature.name): _dtype(feature) for feature in schema.features}
    return {**_COLUMNS, **features, **({EXPLANATION: "string"} if explanations else {})}


def new(name: Any) -> str:
    """The column of a feature's value in an answer.

    Args:
        name: Of the feature.
    """
    return f"new {name}"


def _dtype(feature: Feature) -> str:
    """Numbers and truth values as such, anything else as people write it."""
    kind = feature.dtype.lower()
    if any(isinstance(atom, str) for atom in feature.atoms):
        return "string"
    if kind.startswith("uint"):
        return "UInt64"
    if kind.startswith("int") and not kind.startswith("interval"):
        return "Int64"
    if kind.startswith("float"):
        return "float64"
    return "boolean" if kind.startswith("bool") else "string"


def _column(cells: Sequence[Any], kind: str) -> pd.Series[Any]:
    if kind == "string":
        return pd.Series([None if cell is None else str(cell) for cell in cells], dtype="string")
    if kind == "float64":
        return pd.Series([math.nan if cell is None else float(cell) for cell in cells], dtype=kind)
    return pd.Series(list(cells), dtype=kind)


def _class(label: Any) -> str | None:
    return None if label is None else str(label)
