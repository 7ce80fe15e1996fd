"""Features from a DataFrame: every kind of column has one home.

| the column holds                          | becomes                                                             |
| ----------------------------------------- | ------------------------------------------------------------------- |
| truth values, or any two values of text   | `Binary`                                                            |
| text, an unordered pandas category        | `Categorical`; a missing cell is a value of its own                 |
| an ordered pandas category                | `Ordinal`                                                           |
| whole numbers (also stored as floats)     | `Integer`                                                           |
| other numbers                             | `Continuous`                                                        |
| dates                                     | `Integer`: days since 1970-01-01, shown as dates                    |
| numbers or dates with missing cells       | `Mixed` with the code None                                          |
| numbers and text                          | `Mixed` with the texts as codes                                     |
"""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from pandas.api import types

from likely.errors import LikelyWarning, SchemaError
from likely.schema.features import KINDS, Binary, Categorical, Continuous, Feature, Integer, Mixed, Ordinal, make_feature
from likely.schema.values import DATE, EXACT_INTEGER, ORDERED_CATEGORY, Name, Value, numbers_of, plain

#: A complete feature, the name of a kind, or settings that differ from what would be inferred.
Override: TypeAlias = Feature | str | Mapping[str, Any]

#: Text columns with more different values than this are taken for identifiers.
MOST_VALUES = 256


def infer_feature(column: pd.Series[Any], name: Name, override: Override | None = None) -> Feature:
    """The feature that a column of data suggests, with what the user knows better."""
    if isinstance(override, Feature):
        if override.name != name:
            raise SchemaError(f"The override of feature {name!r}", "have the same name", repr(override.name), "rename it", feature=name)
        return override
    settings = {"kind": override} if isinstance(override, str) else dict(override or {})
    kind = settings.pop("kind", None)
    if kind is not None and kind not in KINDS:
        raise SchemaError(f"The kind of feature {name!r}", "be known", repr(kind), f"use one of {', '.join(KINDS)}", feature=name)
    if column.isna().all() and not settings:
        raise SchemaError(f"Feature {name!r}", "have a value", "only missing values", "drop the column", feature=name)
    if "codes" in settings:
        return _with_codes(column, name, settings)
    inferred = _as_kind(column, name, kind, settings) if kind else _suggest(column, name, settings)
    found = {item.name: getattr(inferred, item.name) for item in fields(inferred)}
    return make_feature(inferred.kind, {**found, **settings})


def _suggest(column: pd.Series[Any], name: Name, settings: Mapping[str, Any]) -> Feature:
    """The feature by the column's dtype and values."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _from_category(column, name, dtype)
    if types.is_bool_dtype(dtype):
        return _discrete(column, name, [False, True])
    if types.is_datetime64_any_dtype(dtype) or _all_dates(column):
        return _numeric(column, name, None)
    if types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype):
        return _numeric(column, name, None)
    if types.is_object_dtype(dtype) or types.is_string_dtype(dtype):
        return _from_objects(column, name, settings)
    raise SchemaError(
        f"Feature {name!r}", "hold numbers, text, truth values, categories or dates", f"dtype {dtype}", "convert the column", feature=name
    )


def _all_dates(column: pd.Series[Any]) -> bool:
    cells = column.dropna()
    return column.dtype == object and bool(cells.map(lambda cell: isinstance(cell, datetime.date)).all())


def _from_category(column: pd.Series[Any], name: Name, dtype: pd.CategoricalDtype) -> Feature:
    values = [plain(value) for value in dtype.categories]
    if dtype.ordered and not column.isna().any():
        return Ordinal(name, tuple(values), dtype=ORDERED_CATEGORY)
    if dtype.ordered:
        warnings.warn(
            f"Feature {name!r} is ordered and has missing cells, which have no rank; it becomes Categorical. "
            "Hint: fill the missing cells to keep the order.",
            LikelyWarning,
            stacklevel=4,
        )
    return _discrete(column, name, values)


def _discrete(column: pd.Series[Any], name: Name, values: list[Value]) -> Feature:
    if column.isna().any() and None not in values:
        values = [*values, None]
    return (Binary if len(values) == 2 else Categorical)(name, tuple(values), dtype=_dtype(column))


def _dtype(column: pd.Series[Any]) -> str:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return ORDERED_CATEGORY if column.dtype.ordered else "category"
    if _all_dates(column):
        return DATE
    return str(column.dtype)


def _from_objects(column: pd.Series[Any], name: Name, settings: Mapping[str, Any]) -> Feature:
    cells = [plain(cell) for cell in column.dropna().unique()]
    texts = [cell for cell in cells if isinstance(cell, str)]
    if texts and len(texts) < len(cells):
        return _with_codes(column, name, {"codes": sorted(texts), **settings})
    if not texts and not all(isinstance(cell, bool) for cell in cells):
        return _numeric(column, name, None)
    if len(cells) > MOST_VALUES and len(cells) > len(column) / 20:
        raise SchemaError(
            f"Feature {name!r}", f"have at most {MOST_VALUES} different values", f"{len(cells)} different texts",
            f"drop it if it is an identifier, or say features={{{name!r}: 'categorical'}}", feature=name,
        )  # fmt: skip
    return _discrete(column, name, sorted(cells))  # type: ignore[type-var]


def _numeric(column: pd.Series[Any], name: Name, whole: bool | None) -> Feature:
    numbers = numbers_of(column, _dtype(column), name)
    known = numbers[~np.isnan(numbers)]
    if known.size == 0:
        raise SchemaError(f"Feature {name!r}", "have a number", "only missing values", "drop the column", feature=name)
    lower, upper, dtype = float(known.min()), float(known.max()), _dtype(column)
    if types.is_integer_dtype(column.dtype) and max(-lower, upper) > EXACT_INTEGER:
        raise SchemaError(f"Feature {name!r}", "stay below 2**53", upper, "drop it if it is an identifier", feature=name)
    integer = whole if whole is not None else bool((known == np.round(known)).all()) and max(-lower, upper) <= EXACT_INTEGER
    if known.size < numbers.size:
        return Mixed(name, lower, upper, (None,), integer=integer, dtype=dtype)
    return (Integer if integer else Continuous)(name, lower, upper, dtype=dtype)


def _as_kind(column: pd.Series[Any], name: Name, kind: str, settings: Mapping[str, Any]) -> Feature:
    """The feature of the kind the user asked for, with bounds or values from the data where they are not given."""
    if kind in ("continuous", "integer", "mixed"):
        if kind == "mixed" and not column.isna().any():
            raise SchemaError(f"Feature {name!r}", "have codes to be mixed", "no codes", "give codes=[...]", feature=name)
        return _numeric(column, name, kind == "integer" if kind != "mixed" else settings.get("integer"))
    values = settings.get("values")
    if values is None:
        if isinstance(column.dtype, pd.CategoricalDtype):
            values = [plain(value) for value in column.dtype.categories]
        else:
            values = sorted((plain(cell) for cell in column.dropna().unique()), key=lambda cell: (isinstance(cell, str), cell))
        if column.isna().any():
            values = [*values, None]
    return make_feature(kind, {"name": name, "values": tuple(values), "dtype": _dtype(column)})


def _with_codes(column: pd.Series[Any], name: Name, settings: Mapping[str, Any]) -> Feature:
    """A mixed feature: the bounds come from the cells that are not codes."""
    codes = {plain(code) for code in settings["codes"]}
    rest = column[[plain(cell) not in codes for cell in column]]
    settings = dict(settings)
    if rest.isna().any():
        raise SchemaError(
            f"Feature {name!r}", "have a code for missing cells", f"{int(rest.isna().sum())} missing cells", "add None to its codes",
            feature=name,
        )  # fmt: skip
    numbers = numbers_of(rest, _dtype(column), name)
    if numbers.size == 0 and not {"lower", "upper"} <= set(settings):
        raise SchemaError(f"Feature {name!r}", "have a number beside its codes", "only codes", "use Categorical", feature=name)
    if numbers.size:
        settings.setdefault("lower", float(numbers.min()))
        settings.setdefault("upper", float(numbers.max()))
    if "step" not in settings:
        settings.setdefault("integer", bool((numbers == np.round(numbers)).all()))
    return make_feature("mixed", {"name": name, "dtype": _dtype(column), **settings})
