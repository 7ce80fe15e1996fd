"""Tables of polars as tables of pandas: every room reads pandas, and polars is not imported for it."""

from __future__ import annotations

from typing import Any

import pandas as pd


def as_pandas(table: Any) -> Any:
    """A DataFrame or Series of polars as that of pandas; anything else as it is.

    Numbers, truth values, texts and days keep their values; an `Enum` is an ordered category. A missing cell is NaN or None, as
    pandas has it in a column of that dtype.

    Args:
        table: Any table.
    """
    if type(table).__module__.partition(".")[0] != "polars":
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
        return pd.Series(series.to_numpy(), name=series.name)
    return pd.Series(series.to_list(), name=series.name)
