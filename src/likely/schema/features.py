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

from likely.errors import SchemaError
from likely.schema.region import Region
from likely.schema.values import (
    EXACT_INTEGER,
    LARGEST,
    ORDERED_CATEGORY,
    Name,
    Numbers,
    Value,
    code_index,
    code_number,
    column_of,
    day_number,
    day_text,
    holds_dates,
    is_code,
    numbers_of,
    plain,
    show_number,
    show_value,
)


@dataclass(frozen=True)
class Feature(ABC):
    """One column of the user's table."""

    name: Name
    kind: ClassVar[str]

    def __post_init__(self) -> None:
        if isinstance(self.name, np.integer):
            object.__setattr__(self, "name", int(self.name))
        if not isinstance(self.name, (str, int)) or isinstance(self.name, bool) or self.name == "":
            raise SchemaError("A feature's name", "be text or a whole number", repr(self.name), "rename the column")

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
        return self

    def show(self, number: float) -> str:
        """A double as a person would write the value."""
        return "unknown" if math.isnan(number) else show_value(self.value(number))

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `feature_from_dict` reads back."""
        plain_fields: dict[str, Any] = {"name": self.name, "kind": self.kind}
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name != "name" and value != item.default:
                plain_fields[item.name] = list(value) if isinstance(value, tuple) else value
        return plain_fields

    def _error(self, rule: str, got: object, hint: str) -> SchemaError:
        return SchemaError(f"Feature {self.name!r}", rule, got, hint, feature=self.name)


def _check_bounds(feature: Continuous | Integer | Mixed) -> None:
    for end in ("lower", "upper"):
        bound = getattr(feature, end)
        if holds_dates(feature.dtype) and isinstance(plain(bound), str):
            try:
                bound = day_number(str(plain(bound)))
            except ValueError:
                raise feature._error(f"have a date as {end} bound", repr(bound), "write it as 2026-01-31") from None
        if isinstance(bound, (bool, np.bool_)) or not isinstance(bound, (int, float, np.number)):
            raise feature._error(f"have a number as {end} bound", repr(bound), "give lower= and upper=")
        if not abs(bound) < LARGEST:
            raise feature._error(f"have a finite {end} bound", bound, "give the widest value that can occur")
        object.__setattr__(feature, end, float(bound))
    if feature.lower > feature.upper:
        raise feature._error("have lower <= upper", f"[{feature.lower}, {feature.upper}]", "exchange the bounds")


def _check_step(feature: Continuous | Mixed) -> None:
    if feature.step is not None:
        if not (isinstance(feature.step, (int, float, np.number)) and 0 < feature.step < LARGEST):
            raise feature._error("have a positive step", repr(feature.step), "use 0.01 for cents, or step=None")
        object.__setattr__(feature, "step", float(feature.step))
        if math.ceil(feature.lower / feature.step - 1e-9) > math.floor(feature.upper / feature.step + 1e-9):
            raise feature._error(
                "have a multiple of its step within its bounds",
                f"step {feature.step} in [{feature.lower}, {feature.upper}]",
                "make the step smaller or the bounds wider",
            )


def snap(numbers: Numbers, step: float) -> Numbers:
    """The nearest multiples of `step`, each as the double nearest to its decimal (0.07, not 7 * 0.01)."""
    per_unit = round(1 / step) if step < 1 else 0
    if per_unit and abs(per_unit * step - 1) < 1e-12:
        return np.asarray(np.round(numbers * per_unit) / per_unit, dtype=np.float64)
    return np.asarray(np.round(numbers / step) * step, dtype=np.float64)


@dataclass(frozen=True)
class _Numeric(Feature):
    """What `Continuous`, `Integer` and the numbers of `Mixed` have in common."""

    lower: float
    upper: float

    @property
    def grid(self) -> float | None:
        """The distance between neighbouring values, or None if every real is one. Values are multiples of it."""
        raise NotImplementedError

    dtype: str = field(default="float64", kw_only=True)

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
        return column_of(numbers, self.dtype, self.name)

    def fits(self, numbers: Numbers) -> np.ndarray[Any, np.dtype[np.bool_]]:
        inside = super().fits(numbers)
        if self.grid is None:
            return inside
        numbers = np.where(inside & ~is_code(numbers), numbers, 0.0)
        # A multiple of the step may differ from ours in the last bits: the data were computed by somebody else.
        return inside & (np.abs(numbers - snap(numbers, self.grid)) <= 1e-9 * np.maximum(self.grid, np.abs(numbers)))

    def number(self, value: Any) -> float:
        found = plain(value)
        if found is None:
            return math.nan
        if holds_dates(self.dtype):
            try:
                return day_number(found) if isinstance(found, str) else float(found)
            except ValueError:
                raise self._error("hold dates", repr(found), "write dates as 2026-01-31") from None
        if isinstance(found, str):
            raise self._error("hold numbers", repr(found), "give a number")
        if not abs(found) < LARGEST:
            raise self._error("be finite", found, "replace it by a bound or a missing value")
        return float(found)

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
        if math.ceil(self.lower) > math.floor(self.upper):
            raise self._error(
                "have a whole number within its bounds", f"[{self.lower}, {self.upper}]", "widen the bounds or use Continuous"
            )
        if max(-self.lower, self.upper) > EXACT_INTEGER:
            raise self._error("stay below 2**53", f"[{self.lower}, {self.upper}]", "drop it if it is an identifier")

    @property
    def grid(self) -> float | None:
        return 1.0


@dataclass(frozen=True)
class Mixed(_Numeric):
    """A number within bounds, or one of a few special codes: -9 "no record", None for a missing value.

    `codes` may be a list of codes or a mapping from codes to labels. A number that equals a code is the code.
    """

    kind: ClassVar[str] = "mixed"
    codes: tuple[Value, ...] = ()
    labels: tuple[str, ...] = field(default=(), kw_only=True)
    step: float | None = field(default=None, kw_only=True)
    integer: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_bounds(self)
        _check_step(self)
        if self.integer and self.step is not None:
            raise self._error("have integer=True or a step, not both", f"step={self.step}", "leave one of them out")
        given: Any = self.codes
        if isinstance(given, Mapping):
            object.__setattr__(self, "labels", tuple(str(label) for label in given.values()))
        codes = tuple(plain(code) for code in given)
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "labels", tuple(self.labels))
        if not codes:
            raise self._error("have at least one special code", "none", "use Continuous or Integer")
        if len(set(codes)) < len(codes):
            raise self._error("have different codes", list(codes), "drop the repeated one")
        if self.labels and len(self.labels) != len(codes):
            raise self._error("have one label per code", list(self.labels), "give codes={-9: 'no record'}")
        for code in codes:
            if isinstance(code, (int, float)) and self.lower <= code <= self.upper:
                raise self._error(
                    "have its codes outside its bounds",
                    f"code {code} in [{show_number(self.lower)}, {show_number(self.upper)}]",
                    "narrow the bounds or drop the code",
                )

    @property
    def grid(self) -> float | None:
        return 1.0 if self.integer else self.step

    @property
    def region(self) -> Region:
        return super().region | Region.points(code_number(k) for k in range(len(self.codes)))

    @property
    def atoms(self) -> tuple[Value, ...]:
        return self.codes

    def atom_number(self, k: int) -> float:
        return code_number(k)

    def encode(self, column: pd.Series[Any]) -> Numbers:
        if all(code is None or isinstance(code, (int, float)) for code in self.codes) or holds_dates(self.dtype):
            numbers = numbers_of(column, self.dtype, self.name)
        else:
            is_text = column.map(lambda cell: isinstance(cell, str) and cell in self.codes).to_numpy(dtype=bool)
            numbers = numbers_of(column.where(~is_text, None), self.dtype, self.name)
            for k, code in enumerate(self.codes):
                if isinstance(code, str):
                    numbers[(column == code).to_numpy(dtype=bool, na_value=False) & is_text] = code_number(k)
        numbers = numbers.copy()
        for k, code in enumerate(self.codes):
            if code is None:
                numbers[np.isnan(numbers)] = code_number(k)
            elif not isinstance(code, str):
                numbers[numbers == code] = code_number(k)
        return numbers

    def decode(self, numbers: Numbers) -> pd.Series[Any]:
        coded = is_code(numbers)
        if not coded.any():
            return super().decode(numbers) if self.dtype != "object" else self._objects(numbers)
        if self.dtype == "object":
            return self._objects(numbers)
        plain_numbers = numbers.copy()
        for k, code in enumerate(self.codes):
            plain_numbers[numbers == code_number(k)] = np.nan if code is None else float(code)
        return column_of(plain_numbers, self.dtype, self.name)

    def _objects(self, numbers: Numbers) -> pd.Series[Any]:
        return pd.Series([self.value(n) for n in numbers], dtype=object, name=self.name)

    def number(self, value: Any) -> float:
        found = plain(value)
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


@dataclass(frozen=True)
class _Discrete(Feature):
    """What `Ordinal`, `Categorical` and `Binary` have in common: a short list of values."""

    values: tuple[Value, ...]
    dtype: str = field(default="object", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.values, str) or not isinstance(self.values, Sequence | np.ndarray | pd.Index):
            raise self._error("have a list of values", repr(self.values), "write values=['a', 'b']")
        values = tuple(plain(value) for value in self.values)
        object.__setattr__(self, "values", values)
        if not values:
            raise self._error("have at least one value", "none", "drop the feature")
        if len(set(values)) < len(values):
            repeated = next(v for i, v in enumerate(values) if v in values[:i])
            raise self._error("have different values", f"{repeated!r} twice", "drop one")

    @property
    def region(self) -> Region:
        return Region.points(float(k) for k in range(len(self.values)))

    @property
    def atoms(self) -> tuple[Value, ...]:
        return self.values

    def atom_number(self, k: int) -> float:
        return float(k)

    def encode(self, column: pd.Series[Any]) -> Numbers:
        places, found = pd.factorize(column)
        lookup = np.array([self._place(value) for value in found], dtype=np.float64)
        missing = float(self.values.index(None)) if None in self.values else math.nan
        return np.append(lookup, missing)[places]

    def _place(self, value: Any) -> float:
        cell = plain(value)
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
            categories = [v for v in self.values if v is not None]
            if None in self.values:
                gone = self.values.index(None)
                places = np.where(places == gone, -1, places - (places > gone))
            dtype = pd.CategoricalDtype(categories, ordered=self.dtype == ORDERED_CATEGORY)
            return pd.Series(pd.Categorical.from_codes(places.tolist(), dtype=dtype), name=self.name)
        cells = np.empty(len(self.values) + 1, dtype=object)
        cells[:-1] = self.values
        column = pd.Series(cells[places], dtype=object, name=self.name)
        if self.dtype == "object" or (self.dtype == "bool" and column.isna().any()):
            return column
        if column.isna().any() and self.dtype.startswith(("int", "uint")):
            return column.astype("float64")
        return column.astype(self.dtype)

    def number(self, value: Any) -> float:
        if plain(value) is None and None not in self.values:
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
    found = dict(data)
    name, kind = found.get("name"), found.pop("kind", None)
    if kind not in KINDS:
        raise SchemaError(f"Feature {name!r}", "have a known kind", repr(kind), f"use one of {', '.join(KINDS)}", feature=name)
    return make_feature(str(kind), found)


def make_feature(kind: str, settings: Mapping[str, Any]) -> Feature:
    """A feature of this kind with these settings; refuses what the kind does not have."""
    known = {item.name for item in fields(KINDS[kind])}
    name = settings.get("name")
    for key in settings:
        if key not in known:
            raise SchemaError(
                f"Feature {name!r}", f"have only settings of a {kind} feature", repr(key), f"use {_names(known)}", feature=name
            )
    try:
        return KINDS[kind](**settings)
    except TypeError as error:
        raise SchemaError(f"Feature {name!r}", "be complete", str(error), f"a {kind} feature has {_names(known)}") from None


def _names(names: set[str]) -> str:
    return ", ".join(sorted(names - {"name"}))
