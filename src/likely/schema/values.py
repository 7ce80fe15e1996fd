"""Plain values: what may stand in a cell, and how it becomes a double and comes back.

A *number* is stored as itself, a date as its days since 1970-01-01, a discrete value as its place in the feature's
list, a special code of a mixed feature as a number far outside every range (`code_number`), and an unknown as NaN.
"""

from __future__ import annotations

import datetime
import math
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from likely.errors import SchemaError

Name: TypeAlias = str | int
Value: TypeAlias = str | int | float | bool | None
Numbers: TypeAlias = NDArray[np.float64]

#: Numbers of a feature lie within +-LARGEST; what lies below is a special code.
LARGEST = 2.0**999
#: Whole numbers beyond this are not exact as doubles.
EXACT_INTEGER = 2**53
DATE = "date"
ORDERED_CATEGORY = "category[ordered]"


def code_number(k: int) -> float:
    """The double that stands for the k-th special code of a mixed feature."""
    return -(2.0**1000) * (k + 1)


def is_code(numbers: Numbers) -> NDArray[np.bool_]:
    """Which doubles stand for special codes."""
    return numbers < -LARGEST


def code_index(number: float) -> int:
    """The k of `code_number(k)`."""
    return round(-number / 2.0**1000) - 1


def plain(value: Any) -> Value:
    """`value` as a Python scalar that JSON keeps; None for anything missing."""
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, datetime.date):
        return value.isoformat()[:10] if not isinstance(value, datetime.datetime) else _iso_day(value)
    if isinstance(value, (str, bool, int, float)):
        return value
    raise SchemaError(
        "A value", "be text, a number, a truth value or missing", f"{value!r} ({type(value).__name__})", "convert the column"
    )


def _iso_day(moment: datetime.datetime) -> str:
    if moment != moment.replace(hour=0, minute=0, second=0, microsecond=0):
        raise SchemaError("A date", "be a whole day", moment.isoformat(sep=" "), "drop the time with .dt.normalize()")
    return moment.date().isoformat()


def holds_dates(dtype: str) -> bool:
    """Whether a column of this dtype holds days."""
    return dtype == DATE or dtype.startswith("datetime64")


def day_number(text: str) -> float:
    """Days since 1970-01-01 of an ISO date."""
    return float((datetime.date.fromisoformat(text[:10]) - datetime.date(1970, 1, 1)).days)


def day_text(number: float) -> str:
    """The ISO date that is `number` days after 1970-01-01."""
    return (datetime.date(1970, 1, 1) + datetime.timedelta(days=round(number))).isoformat()


def numbers_of(column: pd.Series[Any], dtype: str, name: Name) -> Numbers:
    """A numeric or date column as doubles, missing cells as NaN; refuses text, infinities and times of day."""
    if holds_dates(dtype) or pd.api.types.is_datetime64_any_dtype(column.dtype):
        return _days_of(column, name)
    try:
        numbers = pd.to_numeric(column).to_numpy(dtype=np.float64, na_value=np.nan)
    except (ValueError, TypeError):
        bad = next(v for v in column if not isinstance(v, (int, float, np.number)) and plain(v) is not None)
        raise SchemaError(
            f"Feature {name!r}", "hold numbers", repr(bad), "correct the cell or make the feature Categorical", feature=name
        ) from None
    if np.isinf(numbers).any():
        raise SchemaError(
            f"Feature {name!r}", "be finite", "an infinite value", "replace it by a bound or a missing value", feature=name
        )
    return numbers


def _days_of(column: pd.Series[Any], name: Name) -> Numbers:
    try:
        moments = pd.to_datetime(column)
    except (ValueError, TypeError) as error:
        raise SchemaError(f"Feature {name!r}", "hold dates", str(error), "write dates as 2026-01-31", feature=name) from None
    if moments.dt.tz is not None:
        raise SchemaError(
            f"Feature {name!r}", "have dates without a time zone", str(moments.dt.tz), "use .dt.tz_localize(None)", feature=name
        )
    days = moments.dt.floor("D")
    if (days != moments)[moments.notna()].any():
        bad = moments[(days != moments) & moments.notna()].iloc[0]
        raise SchemaError(f"Feature {name!r}", "hold whole days", bad, "drop the time with .dt.normalize()", feature=name)
    counted = (days - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    return counted.to_numpy(dtype=np.float64, na_value=np.nan)


def column_of(numbers: Numbers, dtype: str, name: Name) -> pd.Series[Any]:
    """Doubles as a column of the user's dtype (the inverse of `numbers_of`)."""
    missing = np.isnan(numbers)
    if dtype == DATE:
        dates = [None if gone else datetime.date.fromisoformat(day_text(n)) for n, gone in zip(numbers, missing, strict=True)]
        return pd.Series(dates, dtype=object, name=name)
    if holds_dates(dtype):
        days = pd.Series(pd.to_timedelta(np.where(missing, 0, numbers), unit="D"))
        return (pd.Timestamp("1970-01-01") + days).astype(dtype).where(~missing).rename(name)
    series = pd.Series(numbers, name=name)
    if not missing.any():
        return series.astype(dtype)
    return series if dtype.lower().startswith(("int", "uint")) and dtype[0].islower() else series.astype(dtype)


def show_number(number: float) -> str:
    """A number as a person writes it."""
    if number == round(number) and abs(number) < 1e15:
        return str(round(number))
    return f"{number:.6g}"


def show_value(value: Value) -> str:
    """A value as a person writes it in a sentence."""
    if value is None:
        return "missing"
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, float):
        return show_number(value)
    return str(value)
