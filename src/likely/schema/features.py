"""Features: what one column may hold, and how its values become doubles.

| kind          | for                                            | a value is stored as                       |
| ------------- | ---------------------------------------------- | ------------------------------------------ |
| `Continuous`  | amounts, rates; with `step`: cents             | itself                                     |
| `Integer`     | counts, ages, dates (days since 1970-01-01)    | itself                                     |
| `Ordinal`     | ranked values: school degrees, income bands    | its rank                                   |
| `Categorical` | unranked values: purpose, marital status       | its place in `values`                      |
| `Binary`      | two values: yes / no                           | 0 or 1                                     |
| `Mixed`       | numbers plus codes: -9 "no record", missing    | the number, or `code_number(k)` of a code  |

An unknown value of a factual is stored as NaN. `encode` and `decode` are a pair: what a column holds comes back
unchanged, in its own dtype.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from pandas.api import types

from likely.errors import SchemaError
from likely.schema.region import Region
from likely.schema.values import (
    EXACT_INTEGER,
    FIRST_DAY,
    LARGEST,
    LAST_DAY,
    ORDERED_CATEGORY,
    Name,
    Numbers,
    Value,
    code_index,
    code_number,
    column_of,
    day_number,
    day_text,
    distinct,
    dtype_of_numbers,
    holds_dates,
    is_code,
    number_of,
    numbers_of,
    plain,
    plain_name,
    show_number,
    show_value,
)


@dataclass(frozen=True)
class Feature(ABC):
    """One column of the user's table."""

    name: Name
    kind: ClassVar[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", plain_name(self.name))
        if not isinstance(self.name, (str, int)) or isinstance(self.name, bool) or self.name == "":
            raise SchemaError(
                "A feature's name", "be text or a whole number", repr(self.name), "rename the column", feature=self.name
            )

    @property
    @abstractmethod
    def dtype(self) -> str:
        """The dtype of the user's column; "date" and "category[ordered]" where pandas has no name for it."""

    @property
    @abstractmethod
    def region(self) -> Region:
        """Every double that may stand for a value (steps aside)."""

    @property
    def ordered(self) -> bool:
        """Whether values can increase and decrease."""
        return True

    @property
    def numeric(self) -> bool:
        """Whether values are numbers (the codes of a mixed feature aside)."""
        return False

    @property
    @abstractmethod
    def atoms(self) -> tuple[Value, ...]:
        """The values that are not numbers: all of a discrete feature, the codes of a mixed one."""

    @abstractmethod
    def atom_number(self, k: int) -> float:
        """The double that stands for `atoms[k]`."""

    @abstractmethod
    def encode(self, column: pd.Series[Any]) -> Numbers:
        """A column of user's values as doubles; a missing value that is not a value of the feature becomes NaN."""

    @abstractmethod
    def decode(self, numbers: Numbers) -> pd.Series[Any]:
        """Doubles as a column in the user's own dtype (the inverse of `encode`)."""

    @abstractmethod
    def number(self, value: Any) -> float:
        """One user's value as a double; it may lie outside the bounds."""

    @abstractmethod
    def value(self, number: float) -> Value:
        """The user's value that a double stands for (a date as ISO text)."""

    @abstractmethod
    def describe(self) -> str:
        """The domain in a few words."""

    def fits(self, numbers: Numbers) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which doubles stand for a value of this feature."""
        return self.region.contains(numbers)

    def widened(self, number: float) -> Feature:
        """This feature with a domain that also holds `number`."""
        raise self._error("be one of its values in a factual", number, "use schema.encode_row(factual)")

    def reachable(self, region: Region) -> Region:
        """The intervals of `region` that hold a value of this feature, cut to its bounds."""
        return region & self.region

    def show(self, number: float) -> str:
        """A double as a person would write the value."""
        return "unknown" if math.isnan(number) else show_value(self.value(number))

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `feature_from_dict` reads back."""
        plain_fields: dict[str, Any] = {"name": self.name, "kind": self.kind}
        for item in fields(self):
            value = getattr(self, item.name)
            # (0, 1) equals Binary's (False, True): values are always written, so that their types come back
            if item.name != "name" and (value != item.default or item.name == "values"):
                plain_fields[item.name] = list(value) if isinstance(value, tuple) else value
        return plain_fields

    def _error(self, rule: str, got: object, hint: str) -> SchemaError:
        return SchemaError(f"Feature {self.name!r}", rule, got, hint, feature=self.name)


def _scalar(value: Any) -> Any:
    """Numpy's numbers as Python's."""
    return value.item() if isinstance(value, np.generic) else value


def _check_bounds(feature: Continuous | Integer | Mixed) -> None:
    if not dtype_of_numbers(feature.dtype):
        raise feature._error(
            "have a pandas dtype of numbers or days", repr(feature.dtype), "convert the column, or leave dtype out"
        )
    for end in ("lower", "upper"):
        bound = _scalar(getattr(feature, end))
        if holds_dates(feature.dtype):
            bound = _day_bound(feature, end, getattr(feature, end))
        if isinstance(bound, bool) or not isinstance(bound, (int, float)):
            raise feature._error(f"have a number as {end} bound", repr(bound), "give lower= and upper=")
        if not abs(bound) < LARGEST:
            raise feature._error(f"have a finite {end} bound", bound, "give the widest value that can occur")
        object.__setattr__(feature, end, float(bound))
    if feature.lower > feature.upper:
        ends = [feature.show(bound) for bound in (feature.lower, feature.upper)]
        raise feature._error("have lower <= upper", f"[{', '.join(ends)}]", "exchange the bounds")


def _day_bound(feature: Continuous | Integer | Mixed, end: str, bound: Any) -> float:
    """A bound of dates as a number of days."""
    found = plain(bound, feature.name)
    try:
        days = day_number(found) if isinstance(found, str) else float(found)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        days = math.nan
    if not (FIRST_DAY <= days <= LAST_DAY and days == round(days)):
        raise feature._error(f"have a date as {end} bound", repr(bound), "write it as 2026-01-31")
    return days


def _check_step(feature: Continuous | Mixed) -> None:
    if feature.step is not None:
        step = _scalar(feature.step)
        if not (isinstance(step, (int, float)) and 1 / LARGEST < step < LARGEST):
            raise feature._error("have a positive step", repr(feature.step), "use 0.01 for cents, or step=None")
        object.__setattr__(feature, "step", float(step))
        if max(abs(feature.lower), abs(feature.upper)) / feature.step >= EXACT_INTEGER:
            raise feature._error("have fewer than 2**53 steps", f"step {feature.step}", "make the step larger, or use step=None")
    if holds_dates(feature.dtype) and not (feature.grid and feature.grid == round(feature.grid)):
        raise feature._error("have whole days as values", f"a {feature.kind} feature", "use Integer, or Mixed with integer=True")
    if feature.reachable(Region.between(feature.lower, feature.upper)).empty:
        raise feature._error(
            "have a number within its bounds", feature.describe(), "widen the bounds, make the step smaller or drop a code"
        )


def snap(numbers: Numbers, step: float) -> Numbers:
    """The nearest multiples of `step`, each as the double nearest to its decimal (0.07, not 7 * 0.01)."""
    per_unit = float(round(1 / step)) if step < 1 else 0.0
    if per_unit and abs(per_unit * step - 1) < 1e-12:
        return np.asarray(np.round(numbers * per_unit) / per_unit, dtype=np.float64)
    return np.asarray(np.round(numbers / step) * step, dtype=np.float64)


def _check_whole(feature: Integer | Mixed) -> None:
    ends = f"[{feature.lower}, {feature.upper}]"
    if math.ceil(feature.lower) > math.floor(feature.upper):
        raise feature._error("have a whole number within its bounds", ends, "widen the bounds or use Continuous")
    if max(-feature.lower, feature.upper) >= EXACT_INTEGER:
        raise feature._error("stay below 2**53", ends, "drop it if it is an identifier")


@dataclass(frozen=True)
class _Numeric(Feature):
    """What `Continuous`, `Integer` and the numbers of `Mixed` have in common."""

    lower: float
    upper: float
    dtype: str = field(default="float64", kw_only=True)

    @property
    @abstractmethod
    def grid(self) -> float | None:
        """The distance between neighbouring values, or None if every real is one. Values are multiples of it."""

    @property
    def numeric(self) -> bool:
        return True

    @property
    def region(self) -> Region:
        return Region.between(self.lower, self.upper)

    @property
    def atoms(self) -> tuple[Value, ...]:
        return ()

    def atom_number(self, k: int) -> float:
        raise IndexError(k)

    def encode(self, column: pd.Series[Any]) -> Numbers:
        return numbers_of(column, self.dtype, self.name)

    def decode(self, numbers: Numbers) -> pd.Series[Any]:
        return self._objects(numbers) if self.dtype == "object" else column_of(numbers, self.dtype, self.name)

    def _objects(self, numbers: Numbers) -> pd.Series[Any]:
        return pd.Series([self.value(n) for n in numbers], dtype=object, name=self.name)

    def fits(self, numbers: Numbers) -> np.ndarray[Any, np.dtype[np.bool_]]:
        inside = super().fits(numbers)
        if self.grid is None:
            return inside
        numbers = np.where(inside & ~is_code(numbers), numbers, 0.0)
        return inside & (np.abs(numbers - snap(numbers, self.grid)) <= self._slack(np.abs(numbers)))

    def _slack(self, sizes: Numbers) -> Numbers:
        """How far from a multiple of the step a number of this size may lie: the data were computed by somebody else.

        Whole numbers are exact. Otherwise a few bits, those of a single where the column has no more, but never so
        much that the step would not matter.
        """
        if self.grid is None or self.grid == 1.0:
            return np.zeros_like(sizes)
        relative = 1e-6 if self.dtype.lower() == "float32" else 1e-9
        return np.minimum(relative * np.maximum(self.grid, sizes), self.grid / 4)

    def reachable(self, region: Region) -> Region:
        return Region(tuple(interval for interval in super().reachable(region).intervals if self._holds_value(*interval)))

    def _holds_value(self, low: float, high: float) -> bool:
        """Whether an interval within the bounds holds a multiple of the step, or is a code."""
        if self.grid is None or high < -LARGEST:
            return True
        under, over = self._slack(np.abs([low, high]))
        return bool(math.ceil((low - under) / self.grid) <= math.floor((high + over) / self.grid))

    def number(self, value: Any) -> float:
        return number_of(value, self.dtype, self.name)

    def value(self, number: float) -> Value:
        if math.isnan(number):
            return None
        if holds_dates(self.dtype):
            return day_text(number)
        return round(number) if self._whole(number) else number

    def _whole(self, number: float) -> bool:
        return number == round(number) and (self.grid == 1.0 or "int" in self.dtype.lower())

    def widened(self, number: float) -> Feature:
        return replace(self, lower=min(self.lower, number), upper=max(self.upper, number))

    def describe(self) -> str:
        ends = [day_text(e) if holds_dates(self.dtype) else show_number(e) for e in (self.lower, self.upper)]
        return f"{ends[0]} to {ends[1]}"

    def to_dict(self) -> dict[str, Any]:
        found = super().to_dict()
        if holds_dates(self.dtype):
            found["lower"], found["upper"] = day_text(self.lower), day_text(self.upper)
        elif self.grid == 1.0 and abs(self.lower) + abs(self.upper) < EXACT_INTEGER:
            whole = {end: round(found[end]) for end in ("lower", "upper") if found[end] == round(found[end])}
            found.update(whole)
        return found


@dataclass(frozen=True)
class Continuous(_Numeric):
    """A real number within bounds; with a `step`, only the multiples of it (0.01: cents)."""

    kind: ClassVar[str] = "continuous"
    step: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_bounds(self)
        _check_step(self)

    @property
    def grid(self) -> float | None:
        return self.step

    def describe(self) -> str:
        return super().describe() + (f" in steps of {show_number(self.step)}" if self.step else "")


@dataclass(frozen=True)
class Integer(_Numeric):
    """A whole number within bounds; with a date dtype, a day."""

    kind: ClassVar[str] = "integer"
    dtype: str = field(default="int64", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_bounds(self)
        _check_whole(self)

    @property
    def grid(self) -> float | None:
        return 1.0


@dataclass(frozen=True)
class Mixed(_Numeric):
    """A number within bounds, or one of a few special codes: -9 "no record", None for a missing value.

    `codes` may be a list of codes or a mapping from codes to labels. A number that equals a code is the code, within
    the bounds too.
    """

    kind: ClassVar[str] = "mixed"
    codes: tuple[Value, ...] = ()
    labels: tuple[str, ...] = field(default=(), kw_only=True)
    step: float | None = field(default=None, kw_only=True)
    integer: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_codes(self)
        _check_bounds(self)
        if self.integer and self.step is not None:
            raise self._error("have integer=True or a step, not both", f"step={self.step}", "leave one of them out")
        if self.integer:
            _check_whole(self)
        for code in self.codes:
            if not self._is_text(code):
                self._as_number(code)
        _check_step(self)

    @property
    def grid(self) -> float | None:
        return 1.0 if self.integer else self.step

    @property
    def region(self) -> Region:
        taken = [self._as_number(code) for code in self.codes if code is not None and not self._is_text(code)]
        return (super().region - Region.points(taken)) | Region.points(code_number(k) for k in range(len(self.codes)))

    @property
    def atoms(self) -> tuple[Value, ...]:
        return self.codes

    def atom_number(self, k: int) -> float:
        return code_number(k)

    def _is_text(self, code: Value) -> bool:
        """Whether a code stands in the column as text, and not as a number, a day or a missing cell."""
        return isinstance(code, str) and not holds_dates(self.dtype)

    def _as_number(self, code: Value) -> float:
        """What a code that is no text is in the column: a number, days, or NaN for a missing cell."""
        return number_of(code, self.dtype, self.name)

    def encode(self, column: pd.Series[Any]) -> Numbers:
        texts = {code for code in self.codes if self._is_text(code)}
        named = np.fromiter((isinstance(cell, str) and cell in texts for cell in column), dtype=np.bool_, count=len(column))
        numbers = numbers_of(column.mask(named, None) if texts else column, self.dtype, self.name).copy()
        for k, code in enumerate(self.codes):
            if self._is_text(code):
                here = (column == code).to_numpy(dtype=np.bool_, na_value=False) & named
            else:
                here = np.isnan(numbers) & ~named if code is None else numbers == self._as_number(code)
            numbers[here] = code_number(k)
        return numbers

    def decode(self, numbers: Numbers) -> pd.Series[Any]:
        cells = numbers.copy()
        for k, code in enumerate(self.codes):
            here = numbers == code_number(k)
            if here.any() and self._is_text(code):
                return self._objects(numbers)
            cells[here] = math.nan if self._is_text(code) else self._as_number(code)
        return self._objects(numbers) if self.dtype == "object" else super().decode(cells)

    def number(self, value: Any) -> float:
        found = plain(value, self.name)
        if found in self.codes:
            return code_number(self.codes.index(found))
        return super().number(found)

    def value(self, number: float) -> Value:
        if number < -LARGEST:
            return self.codes[code_index(number)]
        return super().value(number)

    def show(self, number: float) -> str:
        if number < -LARGEST and self.labels:
            k = code_index(number)
            return f"{show_value(self.codes[k])} ({self.labels[k]})"
        return super().show(number)

    def describe(self) -> str:
        codes = ", ".join(self.show(code_number(k)) for k in range(len(self.codes)))
        step = f" in steps of {show_number(self.grid)}" if self.grid else ""
        return f"{super().describe()}{step}, or {codes}"


def _check_codes(feature: Mixed) -> None:
    given: Any = feature.codes
    if not types.is_list_like(given, allow_sets=False):
        raise feature._error("have a list of codes", repr(given), "write codes=[-9], or codes={-9: 'no record'}")
    labels = given.values() if isinstance(given, Mapping) else feature.labels
    object.__setattr__(feature, "labels", tuple(str(label) for label in labels))
    object.__setattr__(feature, "codes", tuple(plain(code, feature.name) for code in given))
    if not feature.codes:
        raise feature._error("have at least one special code", "none", "use Continuous or Integer")
    if len(set(feature.codes)) < len(feature.codes):
        raise feature._error("have different codes", list(feature.codes), "drop the repeated one")
    if feature.labels and len(feature.labels) != len(feature.codes):
        raise feature._error("have one label per code", list(feature.labels), "give codes={-9: 'no record'}")


@dataclass(frozen=True)
class _Discrete(Feature):
    """What `Ordinal`, `Categorical` and `Binary` have in common: a short list of values."""

    values: tuple[Value, ...]
    dtype: str = field(default="object", kw_only=True)

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

    @property
    def region(self) -> Region:
        return Region.points(float(k) for k in range(len(self.values)))

    @property
    def atoms(self) -> tuple[Value, ...]:
        return self.values

    def atom_number(self, k: int) -> float:
        return float(k)

    def encode(self, column: pd.Series[Any]) -> Numbers:
        places, found = distinct(column, self.name)
        lookup = np.array([self._place(value) for value in found], dtype=np.float64)
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
        cells = np.empty(len(self.values) + 1, dtype=object)
        cells[:-1] = self.values
        column = pd.Series(cells[places], dtype=object, name=self.name)
        gone = column.isna()
        if self.dtype == "object" or (self.dtype == "bool" and gone.any()):
            return column
        if holds_dates(self.dtype):
            return column_of(numbers_of(column, self.dtype, self.name), self.dtype, self.name)
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


@dataclass(frozen=True)
class Categorical(_Discrete):
    """One of a list of values without an order."""

    kind: ClassVar[str] = "categorical"

    @property
    def ordered(self) -> bool:
        return False


@dataclass(frozen=True)
class Ordinal(_Discrete):
    """One of a list of values in rank order, lowest first."""

    kind: ClassVar[str] = "ordinal"

    def describe(self) -> str:
        return " < ".join(show_value(v) for v in self.values)


@dataclass(frozen=True)
class Binary(_Discrete):
    """One of two values; the second counts as the higher one."""

    kind: ClassVar[str] = "binary"
    values: tuple[Value, ...] = (False, True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.values) != 2:
            raise self._error("have two values", list(self.values), "use Categorical")


KINDS: dict[str, type[Feature]] = {
    feature.kind: feature for feature in (Continuous, Integer, Ordinal, Categorical, Binary, Mixed)
}


def feature_from_dict(data: Mapping[str, Any]) -> Feature:
    """The feature that `Feature.to_dict` described; refuses unknown kinds and keys by name."""
    if not isinstance(data, Mapping):
        raise SchemaError("A feature", "have a name, a kind and its settings", repr(data), "see `likely schema infer`")
    found = dict(data)
    return make_feature(found.pop("kind", None), found)


def make_feature(kind: Any, settings: Mapping[str, Any]) -> Feature:
    """A feature of this kind with these settings; refuses what the kind does not have."""
    name = settings.get("name")
    if not isinstance(kind, str) or kind not in KINDS:
        raise SchemaError(f"Feature {name!r}", "have a known kind", repr(kind), f"use one of {', '.join(KINDS)}", feature=name)
    known = {item.name for item in fields(KINDS[kind])}
    for key in settings:
        if key not in known:
            raise SchemaError(
                f"Feature {name!r}", f"have only settings of the kind {kind}", repr(key), f"use {_names(known)}", feature=name
            )
    try:
        return KINDS[kind](**settings)
    except TypeError as error:
        raise SchemaError(
            f"Feature {name!r}", "be complete", error, f"the kind {kind} has {_names(known)}", feature=name
        ) from None


def _names(names: set[str]) -> str:
    return ", ".join(sorted(names - {"name"}))
