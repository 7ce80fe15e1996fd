"""Plain values: what may stand in a cell, and how it becomes a double and comes back.

A *number* is stored as itself, a time as a number of units (`likely.schema.times`), a discrete value as its place in the
feature's list, a special code of a mixed feature as a number far outside every range (`code_number`), and an unknown as NaN.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from likely.errors import SchemaError
from likely.schema.intervals import interval_text
from likely.schema.times import EXACT_INTEGER, is_time, time_text

Name: TypeAlias = str | int
Value: TypeAlias = str | int | float | bool | None
Numbers: TypeAlias = NDArray[np.float64]

#: Numbers of a feature lie within +-LARGEST; what lies below is a special code.
LARGEST = 2.0**999
ORDERED_CATEGORY = "category[ordered]"


def code_number(k: int) -> float:
    """The double that stands for the k-th special code of a mixed feature.

    Args:
        k: The place of the code in the feature's list.
    """
    return -(2.0**1000) * (k + 1)


def is_code(numbers: Numbers) -> NDArray[np.bool_]:
    """Which doubles stand for special codes.

    Args:
        numbers: Doubles.
    """
    return numbers < -LARGEST


def code_index(number: float) -> int:
    """The k of `code_number(k)`.

    Args:
        number: What `code_number` made.
    """
    return round(-number / 2.0**1000) - 1


def plain_name(name: Any) -> Any:
    """A feature's name as Python's own text or whole number, where it is one.

    Args:
        name: A column's name.
    """
    if isinstance(name, np.integer):
        return int(name)
    return str.__str__(name) if isinstance(name, str) else name


def plain(value: Any, name: Name | None = None) -> Value:
    """`value` as a Python scalar that JSON keeps, a time or an interval as text; None for anything missing. Errors tell `name`.

    Args:
        value: A cell, or what a person wrote.
        name: The feature's name, for errors.
    """
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if is_time(value):
        return None if pd.isna(value) else time_text(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, pd.Interval):
        return interval_text(value)
    # Subclasses (enums, say) become what they are underneath.
    if isinstance(value, float):
        return None if math.isnan(value) else float(value)
    if isinstance(value, int):
        return value if isinstance(value, bool) else int(value)
    if isinstance(value, str):
        return str.__str__(value)
    raise SchemaError(
        "A value" if name is None else f"A value of feature {name!r}",
        "be text, a number, a truth value, a time, an interval or missing", f"{value!r} ({type(value).__name__})",
        "convert the column", feature=name,
    )  # fmt: skip


def dtype_of_numbers(dtype: Any) -> bool:
    """Whether a column of numbers may have this dtype.

    Args:
        dtype: The dtype of the user's column.
    """
    if not isinstance(dtype, str):
        return False
    try:
        kind = types.pandas_dtype(dtype)
    except TypeError:
        return False
    return types.is_object_dtype(kind) or (types.is_numeric_dtype(kind) and not types.is_complex_dtype(kind))


def distinct(column: pd.Series[Any], name: Name) -> tuple[NDArray[np.intp], list[Any]]:
    """The place of every cell among the column's different cells, -1 where it is missing, and those cells.

    Args:
        column: A column of the user's table.
        name: The feature's name.
    """
    try:
        places, cells = pd.factorize(column)
    except TypeError:
        bad = next(cell for cell in column if isinstance(cell, Collection) and not isinstance(cell, str))
        raise SchemaError(f"Feature {name!r}", "hold single values", repr(bad), "split the column", feature=name) from None
    return places, list(cells)


def number_of(value: Any, name: Name) -> float:
    """One cell of a column of numbers as a double, a missing one as NaN; refuses text and what a double cannot hold.

    Args:
        value: The cell.
        name: The feature's name.
    """
    cell = plain(value, name)
    if cell is None:
        return math.nan
    if isinstance(cell, str):
        raise SchemaError(f"Feature {name!r}", "hold numbers", repr(cell), _text_hint(cell), feature=name)
    if not abs(cell) < LARGEST:
        raise _not_finite(cell, name)
    if isinstance(cell, int) and abs(cell) >= EXACT_INTEGER:
        raise _not_exact(cell, name)
    return float(cell)


def _text_hint(text: str) -> str:
    try:
        float(text)
    except ValueError:
        return "correct the cell or make the feature Categorical"
    return "it is text, not a number: convert the column with pd.to_numeric"


def _not_finite(number: object, name: Name) -> SchemaError:
    return SchemaError(f"Feature {name!r}", "be finite", number, "replace it by a bound or a missing value", feature=name)


def _not_exact(number: object, name: Name) -> SchemaError:
    return SchemaError(f"Feature {name!r}", "stay below 2**53", number, "drop it if it is an identifier", feature=name)


def numbers_of(column: pd.Series[Any], name: Name) -> Numbers:
    """A column of numbers as doubles, missing cells as NaN; refuses what `number_of` refuses.

    Args:
        column: A column of the user's table.
        name: The feature's name.
    """
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    if not types.is_numeric_dtype(column.dtype) or types.is_complex_dtype(column.dtype):
        return np.array([number_of(cell, name) for cell in column], dtype=np.float64)
    numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
    large = np.abs(numbers)
    if (large >= LARGEST).any():
        raise _not_finite(numbers[large >= LARGEST][0], name)
    if types.is_integer_dtype(column.dtype) and (large >= EXACT_INTEGER).any():
        raise _not_exact(column[large >= EXACT_INTEGER].iloc[0], name)
    return numbers


def column_of(numbers: Numbers, dtype: str, name: Name) -> pd.Series[Any]:
    """Doubles as a column of the user's dtype (the inverse of `numbers_of`).

    A dtype that cannot hold them - a missing value or a fraction among whole numbers - gives way to floats.

    Args:
        numbers: Doubles.
        dtype: The dtype of the user's column.
        name: The feature's name.
    """
    series = pd.Series(numbers, name=name)
    kind = types.pandas_dtype(dtype)
    if isinstance(kind, np.dtype):
        return series.astype(kind) if _holds(kind, numbers) else series
    inner = getattr(kind, "numpy_dtype", None)
    return series.astype(kind if inner is None or _holds(inner, numbers[~np.isnan(numbers)]) else "Float64")


def _holds(kind: np.dtype[Any], numbers: Numbers) -> bool:
    """Whether a numpy dtype can hold these numbers, the rounding of floats aside."""
    if kind.kind == "f":
        return not (np.abs(numbers) > np.finfo(kind).max).any()
    low, high = (np.iinfo(kind).min, np.iinfo(kind).max) if kind.kind in "iu" else (0, 1)
    return bool(((numbers == np.round(numbers)) & (numbers >= low) & (numbers <= high)).all())


def show_number(number: float) -> str:
    """A number as a person writes it, without loss.

    Args:
        number: A double.
    """
    if abs(number) < 1e15 and number == round(number):
        return str(round(number))
    return repr(float(number))


def show_value(value: Value) -> str:
    """A value as a person writes it in a sentence.

    Args:
        value: A value, as the user writes it.
    """
    if value is None:
        return "missing"
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, float):
        return show_number(value)
    return str(value)
