"""Features of numbers: `Continuous`, `Integer` (times too) and `Mixed`, which has codes beside its numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from pandas.api import types

from likely.schema.feature import Feature
from likely.schema.grid import DOUBLES, SINGLES, holds_multiple, is_multiple
from likely.schema.region import Region
from likely.schema.times import EXACT_INTEGER, Clock, clock_of
from likely.schema.values import (
    LARGEST,
    Numbers,
    Value,
    code_index,
    code_number,
    column_of,
    dtype_of_numbers,
    is_code,
    number_of,
    numbers_of,
    plain,
    show_number,
    show_value,
)


def _scalar(value: Any) -> Any:
    """Numpy's numbers as Python's."""
    return value.item() if isinstance(value, np.generic) else value


def _check_bounds(feature: _Numeric) -> None:
    if feature.clock is None and not dtype_of_numbers(feature.dtype):
        raise feature._error(
            "have a pandas dtype of numbers or times", repr(feature.dtype), "convert the column, or leave dtype out"
        )
    for end in ("lower", "upper"):
        bound = _scalar(getattr(feature, end))
        if feature.clock is not None:
            bound = _time_bound(feature, feature.clock, end)
        if isinstance(bound, bool) or not isinstance(bound, (int, float)):
            raise feature._error(f"have a number as {end} bound", repr(bound), "give lower= and upper=")
        if not abs(bound) < LARGEST:
            raise feature._error(f"have a finite {end} bound", bound, "give the widest value that can occur")
        object.__setattr__(feature, end, float(bound))
    if feature.lower > feature.upper:
        ends = [feature.show(bound) for bound in (feature.lower, feature.upper)]
        raise feature._error("have lower <= upper", f"[{', '.join(ends)}]", "exchange the bounds")


def _time_bound(feature: _Numeric, clock: Clock, end: str) -> float:
    """A bound of times as a number of units."""
    bound = _scalar(getattr(feature, end))
    counted = isinstance(bound, (int, float)) and not isinstance(bound, bool)
    number = float(bound) if counted else clock.number(bound)
    low, high = clock.limits
    if not (low <= number <= high and number == round(number)):
        raise feature._error(f"have a time between {clock.text(low)} and {clock.text(high)} as {end} bound", repr(bound),
                             "write it as 2026-01-31" if clock.moments else "write it as '90 minutes'")  # fmt: skip
    return number


def _check_step(feature: Continuous | Mixed) -> None:
    if feature.step is not None:
        step = _scalar(feature.step)
        if not (isinstance(step, (int, float)) and 1 / LARGEST < step < LARGEST):
            raise feature._error("have a positive step", repr(feature.step), "use 0.01 for cents, or step=None")
        object.__setattr__(feature, "step", float(step))
        if max(abs(feature.lower), abs(feature.upper)) / feature.step >= EXACT_INTEGER:
            raise feature._error("have fewer than 2**53 steps", f"step {feature.step}", "make the step larger, or use step=None")
    _check_exceptions(feature)
    if feature.clock is not None and feature.grid != 1.0:
        hint = "use Integer, or Mixed with integer=True, and say what it counts: unit='15 minutes'"
        raise feature._error("have whole numbers of its unit as values", f"a {feature.kind} feature", hint)
    if feature.reachable(Region.between(feature.lower, feature.upper)).empty:
        raise feature._error(
            "have a number within its bounds", feature.describe(), "widen the bounds, make the step smaller or drop a code"
        )


def _check_exceptions(feature: Continuous | Mixed) -> None:
    given: Any = feature.exceptions
    numbers = [_scalar(value) for value in given] if types.is_list_like(given) else [given]
    if not all(isinstance(value, (int, float)) and abs(value) < LARGEST for value in numbers):
        raise feature._error("have a list of numbers as exceptions", repr(given), "leave exceptions out")
    if numbers and feature.step is None:
        raise feature._error("have a step to have exceptions", repr(given), "leave exceptions out")
    object.__setattr__(feature, "exceptions", tuple(sorted({float(value) for value in numbers})))


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
    def numeric(self) -> bool:
        return True

    @cached_property
    def clock(self) -> Clock | None:
        """How times become numbers, if the feature is one of times; its unit is what they count."""
        return clock_of(self) if isinstance(self.dtype, str) else None

    @cached_property
    def region(self) -> Region:
        return Region.between(self.lower, self.upper)

    @property
    def atoms(self) -> tuple[Value, ...]:
        return ()

    def atom_number(self, k: int) -> float:
        raise IndexError(k)

    def encode(self, column: pd.Series[Any]) -> Numbers:
        return self._read(column)

    def _read(self, column: pd.Series[Any]) -> Numbers:
        """The column's numbers, NaN for missing cells."""
        if self.clock is None:
            return numbers_of(column, self.name)
        return self.clock.numbers(column.astype(object) if isinstance(column.dtype, pd.CategoricalDtype) else column)

    def _read_cell(self, value: Any) -> float:
        """The number of one cell, NaN if it is missing."""
        return number_of(value, self.name) if self.clock is None else self.clock.number(value)

    def decode(self, numbers: Numbers) -> pd.Series[Any]:
        if self.clock is not None:
            return self.clock.column(numbers)
        return self._objects(numbers) if self.dtype == "object" else column_of(numbers, self.dtype, self.name)

    def _objects(self, numbers: Numbers) -> pd.Series[Any]:
        return pd.Series([self.value(n) for n in numbers], dtype=object, name=self.name)

    def fits(self, numbers: Numbers) -> np.ndarray[Any, np.dtype[np.bool_]]:
        inside = super().fits(numbers)
        if self.grid is None:
            return inside
        multiple = is_multiple(np.where(inside & ~is_code(numbers), numbers, 0.0), self.grid, self._rounding)
        return inside & (multiple | np.isin(numbers, self.off_grid))

    @property
    def _rounding(self) -> float:
        """By how much a multiple of the step may be off, relative to its size: the data were computed by somebody else."""
        return SINGLES if self.dtype.lower() == "float32" else DOUBLES

    def reachable(self, region: Region) -> Region:
        return Region(tuple(interval for interval in super().reachable(region).intervals if self._holds_value(*interval)))

    def _holds_value(self, low: float, high: float) -> bool:
        """Whether an interval within the bounds holds a multiple of the step or an exception, or is a code."""
        if self.grid is None or high < -LARGEST or holds_multiple(low, high, self.grid, self._rounding):
            return True
        return any(low <= value <= high for value in self.off_grid)

    def number(self, value: Any) -> float:
        return self._read_cell(value)

    def value(self, number: float) -> Value:
        if math.isnan(number):
            return None
        if self.clock is not None:
            return self.clock.text(number)
        return round(number) if self._whole(number) else number

    def _whole(self, number: float) -> bool:
        return number == round(number) and (self.grid == 1.0 or "int" in self.dtype.lower())

    def widened(self, number: float) -> Feature:
        return replace(self, lower=min(self.lower, number), upper=max(self.upper, number))

    def show(self, number: float) -> str:
        timed = self.clock is not None and number > -LARGEST
        return str(self.value(number)) if timed else super().show(number)

    def describe(self) -> str:
        if self.clock is not None:
            return f"{self.clock.text(self.lower)} to {self.clock.text(self.upper)}{self.clock.in_words}"
        return f"{show_number(self.lower)} to {show_number(self.upper)}"

    def to_dict(self) -> dict[str, Any]:
        plain_fields = super().to_dict()
        if self.clock is not None:
            plain_fields["lower"], plain_fields["upper"] = self.clock.text(self.lower), self.clock.text(self.upper)
        elif self.grid == 1.0 and abs(self.lower) + abs(self.upper) < EXACT_INTEGER:
            whole = {end: round(plain_fields[end]) for end in ("lower", "upper") if plain_fields[end] == round(plain_fields[end])}
            plain_fields.update(whole)
        return plain_fields


@dataclass(frozen=True)
class Continuous(_Numeric):
    """A real number within bounds; with a `step`, only the multiples of it (0.01: cents), and the `exceptions`."""

    kind: ClassVar[str] = "continuous"
    step: float | None = field(default=None, kw_only=True)
    exceptions: tuple[float, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_bounds(self)
        _check_step(self)

    @property
    def grid(self) -> float | None:
        return self.step

    @property
    def off_grid(self) -> tuple[float, ...]:
        return self.exceptions

    def describe(self) -> str:
        return super().describe() + _in_steps(self)


@dataclass(frozen=True)
class Integer(_Numeric):
    """A whole number within bounds; with a dtype of times, a moment or a duration in whole units (`unit="minutes"`)."""

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
    exceptions: tuple[float, ...] = field(default=(), kw_only=True)
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
    def off_grid(self) -> tuple[float, ...]:
        return self.exceptions

    @cached_property
    def region(self) -> Region:
        taken = [self._as_number(code) for code in self.codes if code is not None and not self._is_text(code)]
        numbers = Region.between(self.lower, self.upper)
        return (numbers - Region.points(taken)) | Region.points(code_number(k) for k in range(len(self.codes)))

    @property
    def atoms(self) -> tuple[Value, ...]:
        return self.codes

    def atom_number(self, k: int) -> float:
        return code_number(k)

    def _is_text(self, code: Value) -> bool:
        """Whether a code stands in the column as text, and not as a number, a time or a missing cell."""
        return isinstance(code, str) and self.clock is None

    def _as_number(self, code: Value) -> float:
        """What a code that is no text is in the column: a number, a time, or NaN for a missing cell."""
        return self._read_cell(code)

    def encode(self, column: pd.Series[Any]) -> Numbers:
        texts = {code for code in self.codes if self._is_text(code)}
        named = np.fromiter((isinstance(cell, str) and cell in texts for cell in column), dtype=np.bool_, count=len(column))
        numbers = self._read(column.mask(named, None) if texts else column).copy()
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
        cell = plain(value, self.name)
        if cell in self.codes:
            return code_number(self.codes.index(cell))
        number = super().number(cell)
        coded = [] if self.clock is None else [self._as_number(code) for code in self.codes]  # other words for the same time
        return code_number(coded.index(number)) if number in coded else number

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
        return f"{super().describe()}{_in_steps(self) if self.clock is None else ''}, or {codes}"


def _in_steps(feature: Continuous | Mixed) -> str:
    """The step in a few words, and the values beside it."""
    step = f" in steps of {show_number(feature.grid)}" if feature.grid else ""
    return step + "".join(f", or {show_number(value)}" for value in feature.exceptions)


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
