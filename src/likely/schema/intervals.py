"""Intervals of pandas (bins of `pd.cut`) as texts and back: "(17, 30]"."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
from pandas.api import types

#: "interval[int64, right]", alone or as the categories of a category.
_DTYPE = re.compile(r"(category\[(ordered, )?)?(interval\[.+\])(?(1)\])")
_TEXT = re.compile(r"[\[(](.+), (.+)[\])]")


def holds_intervals(dtype: str) -> bool:
    """Whether a column of this dtype holds intervals.

    Args:
        dtype: The dtype of the user's column: "interval[int64, right]", "category[ordered, interval[int64, right]]".
    """
    return _DTYPE.fullmatch(dtype) is not None


def interval_text(interval: Any) -> str:
    """An interval as pandas shows it; its ends come back without loss.

    Args:
        interval: A `pd.Interval`.
    """
    return str(interval)


def interval_dtype(dtype: Any) -> str | None:
    """The dtype of a column of intervals, by its name; None if it holds none.

    Args:
        dtype: The dtype of a column of pandas.
    """
    if isinstance(dtype, pd.IntervalDtype):
        return str(dtype)
    if isinstance(dtype, pd.CategoricalDtype) and isinstance(dtype.categories.dtype, pd.IntervalDtype):
        return f"category[{'ordered, ' if dtype.ordered else ''}{dtype.categories.dtype}]"
    return None


def intervals_of(texts: Sequence[str | None], places: Sequence[int], dtype: str, name: str | int) -> pd.Series[Any]:
    """A column of intervals in its own dtype.

    Args:
        texts: The intervals that there are, as `interval_text` writes them; None for a missing one.
        places: Of each cell among them; -1 for a missing one.
        dtype: One that `holds_intervals`.
        name: The feature's name.
    """
    match = _DTYPE.fullmatch(dtype)
    assert match is not None, "a dtype of intervals"
    kind: Any = types.pandas_dtype(match[3])
    read = _reader(kind.subtype)
    ends = [tuple(map(read, _split(text))) if text is not None else math.nan for text in texts]
    known = pd.IntervalIndex.from_tuples([end for end in ends if isinstance(end, tuple)], closed=kind.closed, dtype=kind)
    rank = {k: i for i, k in enumerate(k for k, end in enumerate(ends) if isinstance(end, tuple))}
    codes = [rank.get(place, -1) for place in places]
    if match[1] is not None:
        categories = pd.CategoricalDtype(known, ordered=match[2] is not None)
        return pd.Series(pd.Categorical.from_codes(codes, dtype=categories), name=name)
    column: pd.Series[Any] = pd.Series(known.take(codes, allow_fill=True, fill_value=math.nan), dtype=kind, name=name)
    return column


def _split(text: str) -> tuple[str, str]:
    match = _TEXT.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return match[1], match[2]


def _reader(subtype: Any) -> Callable[[str], Any]:
    """From the text of an end to what it is."""
    if types.is_datetime64_any_dtype(subtype):
        return pd.Timestamp
    if types.is_timedelta64_dtype(subtype):
        return pd.Timedelta
    return int if types.is_integer_dtype(subtype) else float
