"""Features from a DataFrame: every kind of column has one home.

| the column holds                          | becomes                                                             |
| ----------------------------------------- | ------------------------------------------------------------------- |
| truth values, 0 and 1, or any two texts   | `Binary`                                                            |
| text, an unordered pandas category        | `Categorical`; a missing cell is a value of its own                 |
| an ordered pandas category                | `Ordinal`                                                           |
| whole numbers (also stored as floats)     | `Integer`                                                           |
| other numbers                             | `Continuous`, with the step that they were recorded to, if any      |
| whole numbers, all multiples of 10, say   | `Continuous` with that step (`likely.schema.steps`)                 |
| dates, moments, durations                 | `Integer` in the unit they were recorded to (`likely.schema.times`) |
| intervals (also as categories)            | `Ordinal`                                                           |
| numbers or times with missing cells       | `Mixed` with the code None                                          |
| numbers and text                          | `Mixed` with the texts as codes                                     |
"""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from pandas.api import types

from likely.errors import LikelyWarning, SchemaError
from likely.schema.features import KINDS, Feature, make_feature
from likely.schema.grid import DOUBLES, SINGLES
from likely.schema.intervals import holds_intervals, interval_dtype
from likely.schema.steps import Recorded, recorded_step
from likely.schema.times import DATE, EXACT_INTEGER, Clock, holds_times, is_time, recorded_unit, time_text
from likely.schema.values import (
    ORDERED_CATEGORY,
    Name,
    Numbers,
    Value,
    distinct,
    numbers_of,
    plain,
)

#: A complete feature, the name of a kind, or settings that differ from what would be inferred.
Override: TypeAlias = Feature | str | Mapping[str, Any]

#: Text columns with more different values than this are taken for identifiers.
MOST_VALUES = 256

_NUMERIC = ("continuous", "integer", "mixed")


def infer_feature(column: pd.Series[Any], name: Name, override: Override | None = None, *, detect_step: bool = False) -> Feature:
    """The feature that a column of data suggests, with what the user knows better.

    Args:
        column: A column of the user's table.
        name: The feature's name.
        override: A kind, or the settings that the user knows better.
        detect_step: Whether to look for the step that numbers were recorded to, where no kind and no step are given.
    """
    if isinstance(override, Feature):
        if override.name != name:
            raise SchemaError(
                f"The override of feature {name!r}", "have its name", repr(override.name), "rename it", feature=name
            )
        return override
    settings = _settings(name, override)
    kind = settings.pop("kind", None)
    detect_step = detect_step and kind is None and not {"step", "exceptions", "integer"} & settings.keys()
    words: dict[str, Any] = {key: settings.pop(key) for key in ("label", "unit") if key in settings}  # say nothing of the kind
    if column.isna().all() and not settings:
        raise _error(name, "have a value", "only missing values", "drop the column")
    if kind is None:
        kind = _kind(column, name, settings)
    if kind in _NUMERIC and holds_times(_dtype(column)):
        settings["unit"] = words.pop("unit") if "unit" in words else _unit(column, name, detect_step)
    if kind == "mixed" and "codes" not in settings:
        settings["codes"] = _codes(column, name)
    elif kind != "mixed" and "codes" in settings:
        raise _error(name, "be mixed to have codes", f"kind {kind!r}", "leave the kind out")
    inferred = _numeric(column, name, kind, settings) if kind in _NUMERIC else _discrete(column, name, kind, settings)
    recorded = _recorded(column, name, kind, settings) if detect_step and kind in _NUMERIC else None
    if recorded is not None:
        inferred |= {"step": recorded.step, "exceptions": recorded.exceptions}
        inferred.pop("integer", None)
        kind = "continuous" if kind == "integer" else kind
    return make_feature(kind, {"name": name, "dtype": _dtype(column), **inferred, **settings, **words})


def _error(name: Name, rule: str, got: object, hint: str) -> SchemaError:
    return SchemaError(f"Feature {name!r}", rule, got, hint, feature=name)


def _settings(name: Name, override: Override | None) -> dict[str, Any]:
    settings = {"kind": override} if isinstance(override, str) else override or {}
    if not isinstance(settings, Mapping):
        raise SchemaError(
            f"The override of feature {name!r}", "be a feature, the name of a kind, or settings", repr(override),
            "write 'ordinal', or {'upper': 100}", feature=name,
        )  # fmt: skip
    kind = settings.get("kind")
    if kind is not None and kind not in tuple(KINDS):
        raise SchemaError(f"The kind of feature {name!r}", "be known", repr(kind), f"use one of {', '.join(KINDS)}", feature=name)
    return dict(settings)


def _kind(column: pd.Series[Any], name: Name, settings: Mapping[str, Any]) -> str:
    """The kind by the settings, the column's dtype and its cells."""
    if "codes" in settings:
        return "mixed"
    ordered = bool(getattr(column.dtype, "ordered", False)) or isinstance(column.dtype, pd.IntervalDtype)
    if "values" in settings:
        count = len(settings["values"]) if types.is_list_like(settings["values"]) else 0
        return "ordinal" if ordered else "binary" if count == 2 else "categorical"
    if ordered and not column.isna().any():
        return "ordinal"
    if ordered:
        warnings.warn(
            f"Feature {name!r} is ordered and has missing cells, which have no rank; it loses its order. "
            "Hint: fill the missing cells to keep it.",
            LikelyWarning,
            stacklevel=5,
        )
    if holds_times(_dtype(column)):
        _refuse_objects(column, name)
        return "mixed" if column.isna().any() else "integer"
    if _holds_numbers(column, name):
        if not settings and _zeros_and_ones(column):
            return "binary"
        whole = "step" not in settings and _whole(_known_numbers(column, name))
        return "mixed" if column.isna().any() else "integer" if whole else "continuous"
    if types.is_object_dtype(column.dtype) or types.is_string_dtype(column.dtype):
        texts, others = _split(column, name)
        _refuse_identifier(len(texts), column, name)
        if any(not isinstance(cell, bool) for cell in others):
            return "mixed"
    return "binary" if len(_values(column, name)) == 2 else "categorical"


def _holds_numbers(column: pd.Series[Any], name: Name) -> bool:
    """Whether the cells are numbers or times; refuses a dtype that has no home."""
    dtype = column.dtype
    if isinstance(dtype, (pd.CategoricalDtype, pd.IntervalDtype)) or types.is_bool_dtype(dtype):
        return False
    if holds_times(_dtype(column)):
        return True
    if types.is_object_dtype(dtype) or types.is_string_dtype(dtype):
        texts, others = _split(column, name)
        return not texts and any(not isinstance(cell, bool) for cell in others)
    if types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype):
        return True
    hint = f"make days of it: X[{name!r}].dt.to_timestamp()" if isinstance(dtype, pd.PeriodDtype) else "convert the column"
    raise _error(name, "hold numbers, text, truth values, categories, times or intervals", f"dtype {dtype}", hint)


def _refuse_objects(column: pd.Series[Any], name: Name) -> None:
    """Refuse Python's moments with a time of day in a column of objects, which would come back as days."""
    if column.dtype == object:
        timed = [cell for cell in column.dropna() if " " in time_text(cell)]
        if timed:
            raise _error(name, "hold days, or moments in a dtype of moments", repr(time_text(timed[0])),
                         f"convert the column: pd.to_datetime(X[{name!r}])")  # fmt: skip


def _unit(column: pd.Series[Any], name: Name, rounded: bool) -> str:
    """What a column of times counts; days of moments need not be said."""
    if column.dtype == object:
        return ""
    unit = recorded_unit(column, name, rounded=rounded)
    return "" if unit == "days" and not types.is_timedelta64_dtype(column.dtype) else unit


def _zeros_and_ones(column: pd.Series[Any]) -> bool:
    return types.is_numeric_dtype(column.dtype) and len(values := column.unique()) == 2 and set(values) == {0, 1}


def _split(column: pd.Series[Any], name: Name) -> tuple[list[str], list[Value]]:
    """The different cells of a column: the texts in order, and the others."""
    cells = distinct(column, name)[1]
    others = [cell for cell in cells if not is_time(cell)]
    if 0 < len(others) < len(cells):
        raise _error(name, "hold nothing beside its dates", repr(others[0]), "make it missing, or a date of its own")
    if cells and isinstance(cells[0], datetime.timedelta):
        raise _error(name, "hold durations in a dtype of them", repr(cells[0]), f"convert it: pd.to_timedelta(X[{name!r}])")
    values = [plain(cell, name) for cell in cells]
    return sorted(value for value in values if isinstance(value, str)), [value for value in values if not isinstance(value, str)]


def _all_dates(column: pd.Series[Any]) -> bool:
    cells = column.dropna()
    return column.dtype == object and len(cells) > 0 and all(isinstance(cell, datetime.date) for cell in cells)


def _dtype(column: pd.Series[Any]) -> str:
    if (dtype := interval_dtype(column.dtype)) is not None:
        return dtype
    if isinstance(column.dtype, pd.CategoricalDtype):
        return ORDERED_CATEGORY if column.dtype.ordered else "category"
    return DATE if _all_dates(column) else str(column.dtype)


def _known_numbers(column: pd.Series[Any], name: Name, unit: str = "") -> Numbers:
    dtype = _dtype(column)
    numbers = Clock(dtype, unit, name).numbers(column) if holds_times(dtype) else numbers_of(column, name)
    return numbers[~np.isnan(numbers)]


def _whole(numbers: Numbers) -> bool:
    return bool(((numbers == np.round(numbers)) & (np.abs(numbers) < EXACT_INTEGER)).all())


def _codes(column: pd.Series[Any], name: Name) -> list[Value]:
    """The codes of a mixed feature that the data shows: its texts, and missing cells."""
    texts: list[str] = [] if _holds_numbers(column, name) else _split(column, name)[0]
    codes: list[Value] = [*texts, *([None] if column.isna().any() else [])]
    if not codes:
        raise _error(name, "have codes to be mixed", "no codes", "give codes=[...]")
    return codes


def _refuse_identifier(values: int, column: pd.Series[Any], name: Name, what: str = "texts") -> None:
    if values > MOST_VALUES and values > len(column) / 20:
        raise _error(
            name, f"have at most {MOST_VALUES} different values", f"{values} different {what}",
            f"drop it if it is an identifier, or say features={{{name!r}: 'categorical'}}",
        )  # fmt: skip


def _numeric(column: pd.Series[Any], name: Name, kind: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Bounds from the cells that are numbers, and whether those of a mixed feature are whole."""
    known = _cells_of_numbers(column, name, kind, settings)
    if known.size == 0 and not {"lower", "upper"} <= set(settings):
        raise _error(name, "have a number", "none", "drop the column, make it Categorical, or give lower and upper")
    bounds = {"lower": float(known.min()), "upper": float(known.max())} if known.size else {}
    return bounds if kind != "mixed" or "step" in settings else {**bounds, "integer": _whole(known)}


def _cells_of_numbers(column: pd.Series[Any], name: Name, kind: str, settings: Mapping[str, Any]) -> Numbers:
    """The cells that are numbers, and no codes of a mixed feature."""
    if kind == "mixed":
        given = settings["codes"] if types.is_list_like(settings["codes"]) else ()
        codes = {plain(code, name) for code in given}
        column = column[[plain(cell, name) not in codes for cell in column]]
        if column.isna().any():
            raise _error(
                name, "have a code for missing cells", f"{int(column.isna().sum())} missing cells", "add None to its codes"
            )
    return _known_numbers(column, name, settings.get("unit", ""))


def _recorded(column: pd.Series[Any], name: Name, kind: str, settings: Mapping[str, Any]) -> Recorded | None:
    """The step that a column was recorded to; times have their units."""
    if holds_times(_dtype(column)):
        return None
    dtype = settings.get("dtype", _dtype(column))
    relative = SINGLES if str(dtype).lower() == "float32" else DOUBLES
    return recorded_step(_cells_of_numbers(column, name, kind, settings), relative)


def _discrete(column: pd.Series[Any], name: Name, kind: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The values that the data shows, where they are not given."""
    if "values" in settings:
        return {}
    values = _values(column, name)
    dtype = _dtype(column)
    known = dtype == ORDERED_CATEGORY or holds_times(dtype) or holds_intervals(dtype)
    ranked = known or not any(isinstance(value, str) for value in values)
    if kind == "ordinal" and (None in values or not ranked):
        what = "missing cells, which have no rank" if None in values else f"{values[0]!r}, ... without an order"
        raise _error(
            name, "have its values in rank order", what, f"say features={{{name!r}: {{'kind': 'ordinal', 'values': [...]}}}}"
        )
    return {"values": values}


def _values(column: pd.Series[Any], name: Name) -> list[Value]:
    """The values of a discrete column: a category's in their order, others sorted; missing last, where a cell is."""
    missing: list[Value] = [None] if column.isna().any() else []
    if isinstance(column.dtype, pd.CategoricalDtype):
        categories = list(column.dtype.categories)
        if any(isinstance(value, datetime.date) for value in categories):
            raise _error(name, "have no dates as categories", str(categories[0]), "convert it with .astype('datetime64[ns]')")
        return [*(plain(value, name) for value in categories), *missing]
    if isinstance(column.dtype, pd.IntervalDtype):
        intervals = sorted(column.dropna().unique())
        _refuse_identifier(len(intervals), column, name, "intervals")
        return [*(plain(interval, name) for interval in intervals), *missing]
    if types.is_bool_dtype(column.dtype):
        return [False, True, *missing]
    if _zeros_and_ones(column):
        return [0, 1]
    texts, others = _split(column, name)
    return [*sorted(others), *texts, *missing]  # type: ignore[type-var]
