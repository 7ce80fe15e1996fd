"""Features with a list of values: `Ordinal`, `Categorical` and `Binary`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from pandas.api import types

from likely.schema.feature import Feature
from likely.schema.intervals import holds_intervals, intervals_of
from likely.schema.region import Region
from likely.schema.times import Clock, holds_times
from likely.schema.values import (
    ORDERED_CATEGORY,
    Name,
    Numbers,
    Value,
    distinct,
    plain,
    show_value,
)


@dataclass(frozen=True, init=False)
class _Discrete(Feature):
    """What `Ordinal`, `Categorical` and `Binary` have in common: a short list of values."""

    values: tuple[Value, ...]
    dtype: str = field(default="object", kw_only=True)

    def __init__(self, name: Name, values: Sequence[Value], *, dtype: str = "object", label: str = "", unit: str = "") -> None:
        for key, value in (("name", name), ("values", values), ("dtype", dtype), ("label", label), ("unit", unit)):
            object.__setattr__(self, key, value)
        self.__post_init__()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not types.is_list_like(self.values, allow_sets=False) or isinstance(self.values, Mapping):
            raise self._error("have a list of values", repr(self.values), "write values=['a', 'b']")
        values = tuple(plain(value, self.name) for value in self.values)
        object.__setattr__(self, "values", values)
        if not values:
            raise self._error("have at least one value", "none", "drop the feature")
        if len(set(values)) < len(values):
            repeated = next(v for i, v in enumerate(values) if v in values[:i])
            raise self._error("have different values", f"{repeated!r} twice", "drop one")
        if any(isinstance(value, float) and math.isinf(value) for value in values):
            raise self._error("have finite values", list(values), "replace the infinite one by a text")
        if not self._keeps_values():
            raise self._error(f"have a dtype that holds {self.describe()}", repr(self.dtype), "leave dtype out")

    def _keeps_values(self) -> bool:
        """Whether every value comes back from a column of the feature's dtype."""
        places = np.arange(float(len(self.values)))
        try:
            return isinstance(self.dtype, str) and np.array_equal(self.encode(self.decode(places)), places)
        except (TypeError, ValueError, OverflowError):
            return False

    @cached_property
    def region(self) -> Region:
        return Region.points(float(k) for k in range(len(self.values)))

    @property
    def grid(self) -> float | None:
        return 1.0

    @property
    def lower(self) -> float:
        return 0.0

    @property
    def upper(self) -> float:
        return float(len(self.values) - 1)

    @property
    def atoms(self) -> tuple[Value, ...]:
        return self.values

    def atom_number(self, k: int) -> float:
        return float(k)

    def encode(self, column: pd.Series[Any]) -> Numbers:
        places, cells = distinct(column, self.name)
        lookup = np.array([self._place(value) for value in cells], dtype=np.float64)
        missing = float(self.values.index(None)) if None in self.values else math.nan
        return np.append(lookup, missing)[places]

    def _place(self, value: Any) -> float:
        cell = plain(value, self.name)
        if cell in self.values:
            return float(self.values.index(cell))
        hint = f"use one of {_some(self.values)}"
        twin = next((v for v in self.values if v is not None and str(v) == str(cell)), None)
        if twin is not None:
            hint = f"{twin!r} is {type(twin).__name__}, not {type(cell).__name__}: convert the column"
        raise self._error("have a known value", repr(cell), hint)

    def decode(self, numbers: Numbers) -> pd.Series[Any]:
        places = np.where(np.isnan(numbers), -1, numbers).astype(np.intp)
        if self.dtype in ("category", ORDERED_CATEGORY):
            return self._category(places)
        if holds_intervals(self.dtype):
            return intervals_of([None if value is None else str(value) for value in self.values], places.tolist(),
                                self.dtype, self.name)  # fmt: skip
        cells = np.empty(len(self.values) + 1, dtype=object)
        cells[:-1] = self.values
        column = pd.Series(cells[places], dtype=object, name=self.name)
        gone = column.isna()
        if self.dtype == "object" or (self.dtype == "bool" and gone.any()):
            return column
        if holds_times(self.dtype):
            return Clock(self.dtype, "", self.name).cells(column)
        if self.dtype.startswith(("int", "uint")) and gone.any():
            return column.astype("float64")
        return column.astype(types.pandas_dtype(self.dtype)).mask(gone)  # before pandas 3, "str" made a text of None

    def _category(self, places: np.ndarray[Any, np.dtype[np.intp]]) -> pd.Series[Any]:
        categories = [v for v in self.values if v is not None]
        if None in self.values:
            gone = self.values.index(None)
            places = np.where(places == gone, -1, places - (places > gone))
        dtype = pd.CategoricalDtype(categories, ordered=self.dtype == ORDERED_CATEGORY)
        return pd.Series(pd.Categorical.from_codes(places.tolist(), dtype=dtype), name=self.name)

    def number(self, value: Any) -> float:
        if plain(value, self.name) is None and None not in self.values:
            return math.nan
        return self._place(value)

    def value(self, number: float) -> Value:
        return None if math.isnan(number) else self.values[round(number)]

    def describe(self) -> str:
        return _some(self.values)


def _some(values: Sequence[Value], most: int = 8) -> str:
    shown = ", ".join(show_value(v) for v in values[:most])
    return shown if len(values) <= most else f"{shown}, ... ({len(values)} values)"


@dataclass(frozen=True, init=False)
class Categorical(_Discrete):
    """One of a list of values without an order."""

    kind: ClassVar[str] = "categorical"

    @property
    def ordered(self) -> bool:
        return False


@dataclass(frozen=True, init=False)
class Ordinal(_Discrete):
    """One of a list of values in rank order, lowest first."""

    kind: ClassVar[str] = "ordinal"

    def describe(self) -> str:
        return " < ".join(show_value(v) for v in self.values)


@dataclass(frozen=True, init=False)
class Binary(_Discrete):
    """One of two values; the second counts as the higher one."""

    kind: ClassVar[str] = "binary"
    values: tuple[Value, ...] = (False, True)

    def __init__(
        self, name: Name, values: Sequence[Value] = (False, True), *, dtype: str = "object", label: str = "", unit: str = ""
    ) -> None:
        super().__init__(name, values, dtype=dtype, label=label, unit=unit)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.values) != 2:
            raise self._error("have two values", list(self.values), "use Categorical")
