"""Tables of polars as tables of pandas, and back: every room reads pandas, and polars is not imported for it."""

from __future__ import annotations

import sys
from typing import Any

import pandas as pd


def is_polars(table: Any) -> bool:
    """Whether a table, or a column, is one of polars.

    Args:
        table: Anything.
    """
    return type(table).__module__.partition(".")[0] == "polars"


def as_pandas(table: Any) -> Any:
    """A DataFrame or Series of polars as that of pandas; anything else as it is.

    Numbers, truth values, texts and times keep their values; an `Enum` is an ordered category. A missing cell is NaN or None, as
    pandas has it in a column of that dtype.

    Args:
        table: Any table.
    """
    if not is_polars(table):
        return table
    if type(table).__name__ == "LazyFrame":
        table = table.collect()
    if type(table).__name__ == "DataFrame":
        return pd.DataFrame({name: _column(table[name]) for name in table.columns})
    return _column(table)


def _column(series: Any) -> pd.Series[Any]:
    kind = type(series.dtype).__name__
    if kind in ("Enum", "Categorical"):
        ordered = kind == "Enum"
        categories = series.dtype.categories.to_list() if ordered else sorted(set(series.drop_nulls().to_list()))
        return pd.Series(pd.Categorical(series.to_list(), categories=categories, ordered=ordered), name=series.name)
    if series.dtype.is_numeric() or series.dtype.is_temporal():
        column = pd.Series(series.to_numpy(), name=series.name)
        zone = getattr(series.dtype, "time_zone", None)
        return column if zone is None else column.dt.tz_localize("UTC").dt.tz_convert(zone)
    return pd.Series(series.to_list(), name=series.name)


def dtypes_of(table: Any) -> dict[str, Any] | None:
    """The dtypes of a table of polars by the names of its columns; None if it is none.

    Args:
        table: Any table, or row.
    """
    return dict(table.collect_schema()) if is_polars(table) and hasattr(table, "collect_schema") else None


def in_kind(table: pd.DataFrame, dtypes: dict[str, Any] | None) -> Any:
    """A table as one of polars, in dtypes that a user's table has; as it is, if that was none of polars.

    Args:
        table: Of pandas.
        dtypes: What `dtypes_of` told of the user's table.
    """
    if dtypes is None:
        return table
    polars: Any = sys.modules["polars"]  # the user's own
    return polars.DataFrame([_back(polars, table[name], dtypes.get(str(name))) for name in table.columns])


def _back(polars: Any, column: pd.Series[Any], dtype: Any) -> Any:
    zone = getattr(column.dtype, "tz", None)
    if zone is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    cells = [None if pd.isna(cell) else _plain(cell) for cell in column]
    series = polars.Series(str(column.name), cells, strict=False)
    if zone is not None:
        series = series.cast(polars.Datetime("us")).dt.replace_time_zone("UTC").dt.convert_time_zone(str(zone))
    if dtype is None and isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered:
        dtype = polars.Enum([str(category) for category in column.dtype.categories])
    if dtype is None or series.dtype == dtype:
        return series
    made = series.cast(dtype, strict=False)
    return made if made.null_count() == series.null_count() else series  # a dtype that cannot hold an answer gives way


def _plain(cell: Any) -> Any:
    """A cell as Python has it; pandas' moments are Python's already, to the microsecond."""
    if isinstance(cell, pd.Timestamp):
        return cell.to_pydatetime(warn=False)
    if isinstance(cell, pd.Timedelta):
        return cell.to_pytimedelta()
    return cell.item() if hasattr(cell, "item") else cell
