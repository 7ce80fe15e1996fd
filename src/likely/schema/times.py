"""Times as whole numbers: a moment counts a unit since 1970-01-01, a duration counts it from 0, both ways without rounding.

A unit is written as people say it: "days" (which is meant where a moment has none), "hours", "15 minutes". Moments with a time
zone are counted in UTC. A time that is no whole number of units is refused, and never rounded; so is one of 2**53 units, from
where on a double would round it: moments are counted to the microsecond at best, durations to the nanosecond.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from likely.errors import SchemaError

DATE = "date"
#: Whole numbers from here on are not exact as doubles.
EXACT_INTEGER = 2**53
#: Nanoseconds of each unit, the longest first.
UNITS = {
    "days": 86_400 * 10**9,
    "hours": 3_600 * 10**9,
    "minutes": 60 * 10**9,
    "seconds": 10**9,
    "milliseconds": 10**6,
    "microseconds": 10**3,
    "nanoseconds": 1,
}
#: What people round times to, beside whole units.
_ROUND = {
    "hours": (12, 6, 4, 3, 2),
    "minutes": (30, 20, 15, 10, 5, 2),
    "seconds": (30, 20, 15, 10, 5, 2),
    "milliseconds": (500, 200, 100, 50, 20, 10, 5, 2),
    "microseconds": (500, 200, 100, 50, 20, 10, 5, 2),
}
#: How many different times it takes to tell that they are rounded to more than a whole unit.
_FEWEST = 20
_TICKS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)
_DTYPE = re.compile(r"(datetime64|timedelta64)\[(s|ms|us|ns)(, .+)?\]")
_FRACTION = re.compile(r"\.(\d{6})(\d{1,3})(?=$|[-+Z])")

Counts: TypeAlias = NDArray[np.int64]


def holds_moments(dtype: str) -> bool:
    """Whether a column of this dtype holds days, or moments of them.

    Args:
        dtype: The dtype of the user's column.
    """
    return dtype == DATE or dtype.startswith("datetime64")


def holds_durations(dtype: str) -> bool:
    """Whether a column of this dtype holds lengths of time.

    Args:
        dtype: The dtype of the user's column.
    """
    return dtype.startswith("timedelta64")


def holds_times(dtype: str) -> bool:
    """Whether a column of this dtype holds moments or durations.

    Args:
        dtype: The dtype of the user's column.
    """
    return holds_moments(dtype) or holds_durations(dtype)


def is_time(cell: Any) -> bool:
    """Whether a cell is a day, a moment or a duration.

    Args:
        cell: Any cell of a table.
    """
    return isinstance(cell, (datetime.date, datetime.timedelta, np.datetime64, np.timedelta64))


def time_text(time: Any) -> str:
    """A day, a moment or a duration as a person writes it: 2026-01-31, 2026-01-31 08:30, 90 minutes.

    Args:
        time: What `is_time` takes for one.
    """
    if isinstance(time, (datetime.timedelta, np.timedelta64)):
        length = _nanoseconds(pd.Timedelta(time))
        unit = next(name for name, size in UNITS.items() if length % size == 0)
        return _counted(length // UNITS[unit], unit)
    moment = pd.Timestamp(time) if isinstance(time, np.datetime64) else time
    text = moment.isoformat(sep=" ") if isinstance(moment, datetime.datetime) else moment.isoformat()
    return re.sub(r"( \d\d:\d\d):00(?=$|[-+])", r"\1", re.sub(r" 00:00:00$", "", text))


def _counted(count: int, unit: str) -> str:
    return f"{count} {unit[:-1] if abs(count) == 1 else unit}"


def _nanoseconds(length: pd.Timedelta) -> int:
    return ((length.days * 86_400 + length.seconds) * 10**6 + length.microseconds) * 1000 + length.nanoseconds


def _days_since_1970(year: int, month: int, day: int) -> int:
    return (datetime.date(year, month, day) - _EPOCH.date()).days


@dataclass(frozen=True)
class Clock:
    """How the times of one column become numbers and come back: by its dtype, in a unit."""

    dtype: str
    unit: str
    #: Of the feature, for errors.
    name: str | int

    def __post_init__(self) -> None:
        if not _is_known(self.dtype):
            raise self._error("have a dtype of times that pandas knows", repr(self.dtype), "leave dtype out")
        known = re.fullmatch(rf"(?:([1-9]\d{{0,5}}) )?({'|'.join(UNITS)})", self.unit or "days")
        if known is None:
            hint = f"use one of {', '.join(UNITS)}, or '15 minutes'"
            raise self._error("have a unit of time", repr(self.unit), hint)
        if self.size % self._tick:
            raise self._error(f"have a unit that a column of dtype {self.dtype!r} can hold", repr(self.unit), "use a longer one")
        if self.moments and self.size < UNITS["microseconds"]:
            hint = f"round them: X[{self.name!r}].dt.round('us')"
            raise self._error("be counted in microseconds or longer units", repr(self.unit), hint)

    def _error(self, rule: str, got: object, hint: str) -> SchemaError:
        return SchemaError(f"Feature {self.name!r}", rule, got, hint, feature=self.name)

    @property
    def moments(self) -> bool:
        """Whether the times are moments, and not durations."""
        return holds_moments(self.dtype)

    @cached_property
    def many(self) -> int:
        """How many of a unit's names make it: 15 of "15 minutes"."""
        count = self.unit.rpartition(" ")[0]
        return int(count) if count else 1

    @property
    def called(self) -> str:
        """The name of the unit: "minutes" of "15 minutes"."""
        return self.unit.rpartition(" ")[2] or "days"

    @property
    def in_words(self) -> str:
        """The unit in a few words; nothing for days."""
        if self.many > 1:
            return f" in steps of {self.unit}"
        return "" if self.called == "days" or not self.moments else f" in {self.unit}"

    @cached_property
    def size(self) -> int:
        """The unit in nanoseconds."""
        return self.many * UNITS[self.called]

    @cached_property
    def _tick(self) -> int:
        """What the dtype counts, in nanoseconds."""
        match = _DTYPE.fullmatch(self.dtype)
        return UNITS["days"] if match is None else _TICKS[match[2]]

    @cached_property
    def _zone(self) -> Any:
        return getattr(types.pandas_dtype(self.dtype), "tz", None) if "," in self.dtype else None

    @cached_property
    def limits(self) -> tuple[float, float]:
        """The least and the greatest number that can be written: of moments, the years 1 to 9999; of durations, 292 years."""
        exact = EXACT_INTEGER - 1
        if not self.moments:
            longest = (2**63 - 1) // self.size  # 292 years, as pandas reads texts
            return float(-min(longest, exact)), float(min(longest, exact))
        spare = 0 if self._zone is None else 1  # a day: in some zones, the year is another one
        first, last = (_days_since_1970(*day) * UNITS["days"] for day in ((1, 1, 1 + spare), (9999, 12, 31 - spare)))
        least, most = -(-first // self.size), (last + UNITS["days"] - 1) // self.size
        return float(max(least, -exact)), float(min(most, exact))

    # -- one time ---------------------------------------------------------------------------------------------------

    def number(self, cell: Any) -> float:
        """One cell, or what a person wrote in its place, as a number of units; NaN for a missing one.

        Args:
            cell: A moment or a duration of Python, numpy or pandas, or a text.
        """
        if types.is_scalar(cell) and pd.isna(cell):
            return math.nan
        text = time_text(cell) if is_time(cell) else cell
        try:
            length = self._moment(text) if self.moments else self._duration(text)
        except SchemaError:
            raise
        except (TypeError, ValueError, OverflowError):
            what = "dates" if self.called == "days" else "moments"
            rule, example = (f"hold {what}", "2026-01-31") if self.moments else ("hold durations", "90 minutes")
            example += " 08:30" if self.moments and self.called != "days" else ""
            raise self._error(rule, repr(cell), f"write {what if self.moments else 'them'} as {example}") from None
        if length % self.size:
            raise self._between(text)
        return self._exact(length // self.size)

    def _between(self, text: Any) -> SchemaError:
        """The refusal of a time that is no whole number of units."""
        short = {"days": "D", "hours": "h", "minutes": "min", "seconds": "s", "milliseconds": "ms"}.get(self.called, "us")
        floor = f"{self.many if self.many > 1 else ''}{short}"
        drop = "drop the time with .dt.normalize()" if floor == "D" and self.moments else f"round it with .dt.floor({floor!r})"
        return self._error(
            f"hold whole {self.unit or 'days'}" if self.many == 1 else f"hold multiples of {self.unit}", repr(text),
            f"{drop}, or say what it counts: features={{{self.name!r}: {{'unit': 'seconds'}}}}",
        )  # fmt: skip

    def _exact(self, count: int) -> float:
        if abs(count) >= EXACT_INTEGER:
            raise self._error(f"stay below 2**53 {self.unit or 'days'}", count, "count it in a longer unit: unit='seconds'")
        return float(count)

    def _moment(self, text: str) -> int:
        """Nanoseconds since 1970-01-01, in UTC where there is a zone; a moment without one is meant in that of the column."""
        fine = _FRACTION.search(text)
        moment = datetime.datetime.fromisoformat(text)  # to the microsecond
        if moment.tzinfo is None and self._zone is not None:
            local = pd.Timestamp(moment).tz_localize(self._zone, ambiguous=True, nonexistent="shift_forward")
            moment = local.to_pydatetime()
        if moment.tzinfo is not None:
            if self._zone is None:
                raise self._error("have times without a time zone", repr(text), "use .dt.tz_localize(None)")
            moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
        return (moment - _EPOCH) // _MICROSECOND * 1000 + (int(fine[2].ljust(3, "0")) if fine else 0)

    def _duration(self, text: str) -> int:
        if not isinstance(text, str) or re.fullmatch(r"[-+.\d\s]*", text):  # a bare number: of what?
            raise ValueError(text)
        return _nanoseconds(pd.Timedelta(text))

    def text(self, number: float) -> str:
        """The time that is so many units, as a person writes it.

        Args:
            number: A whole number, within the limits.
        """
        count = round(number) * self.many
        if not self.moments:
            return _counted(count, self.called)
        moment = _EPOCH + datetime.timedelta(microseconds=count * UNITS[self.called] // 1000)
        if self._zone is not None:
            moment = pd.Timestamp(moment).tz_localize("UTC").tz_convert(self._zone).to_pydatetime()
        elif self.called == "days":
            return moment.date().isoformat()
        detail = {"hours": "minutes", "minutes": "minutes", "seconds": "seconds", "milliseconds": "milliseconds"}
        fine = detail.get(self.called, "microseconds")
        if fine == "minutes" and moment.second:  # before time was standardised, zones were apart by seconds
            fine = "seconds"
        return moment.isoformat(sep=" ", timespec=fine)

    def length(self, number: float) -> str:
        """A number of units as a duration that a person writes.

        Args:
            number: How many.
        """
        return _counted(math.floor(number) * self.many, self.called)

    def span(self, duration: str) -> float:
        """How many units fit into a duration.

        Args:
            duration: As a person writes it.
        """
        return float(self._duration(duration) // self.size)

    # -- columns ----------------------------------------------------------------------------------------------------

    def numbers(self, column: pd.Series[Any]) -> NDArray[np.float64]:
        """A column of times as numbers of units, missing cells as NaN.

        Args:
            column: A column of the user's table.
        """
        ticks = ticks_of(column) if self._same_kind(column) else None
        if ticks is None:
            return np.array([self.number(cell) for cell in column], dtype=np.float64)
        counts, tick = ticks
        common = math.gcd(tick, self.size)
        known = ~column.isna().to_numpy()
        counted = np.where(known, counts, 0)
        if known.any() and max(abs(int(counted.min())), abs(int(counted.max()))) * (tick // common) >= 2**63:
            raise self._error(f"stay below 2**53 {self.unit or 'days'}", column[known].iloc[0], "count it in a longer unit")
        places, rest = np.divmod(counted * (tick // common), self.size // common)
        if rest.any():
            raise self._between(time_text(column.iloc[int(np.flatnonzero(rest)[0])]))
        for extreme in (places.min(), places.max()) if len(places) else ():
            self._exact(int(extreme))
        return np.where(known, places.astype(np.float64), np.nan)

    def _same_kind(self, column: pd.Series[Any]) -> bool:
        """Whether a column is one of numpy's times of this kind; refuses one whose time zone is missing, or one too many."""
        dtype = str(column.dtype)
        if self.moments and dtype.startswith("datetime64"):
            zone = getattr(column.dtype, "tz", None)
            if zone is not None and self._zone is None:
                raise self._error("have times without a time zone", str(zone), "use .dt.tz_localize(None)")
            if zone is None and self._zone is not None:
                hint = f"use .dt.tz_localize({str(self._zone)!r})"
                raise self._error("have times with a time zone", f"dtype {dtype}", hint)
            return True
        return not self.moments and holds_durations(dtype)

    def column(self, numbers: NDArray[np.float64]) -> pd.Series[Any]:
        """Numbers of units as a column of times, in the column's own dtype (the inverse of `numbers`).

        Args:
            numbers: Whole numbers, NaN for missing cells.
        """
        missing = np.isnan(numbers)
        if self.dtype == DATE:
            cells = [
                None if gone else datetime.date.fromisoformat(self.text(n)) for n, gone in zip(numbers, missing, strict=True)
            ]
            return pd.Series(cells, dtype=object, name=self.name)
        counts = np.where(missing, 0, numbers).round().astype(np.int64)
        tick = self._tick
        if len(counts) and int(np.abs(counts).max()) * (self.size // tick) >= 2**63:
            tick = 1000  # datetime64[ns] ends in 1677 and 2262
        kind = "datetime64" if self.moments else "timedelta64"
        held = next(short for short, size in _TICKS.items() if size == tick)
        times = pd.Series((counts * (self.size // tick)).astype(f"{kind}[{held}]"), name=self.name)
        if self._zone is not None:
            times = times.dt.tz_localize("UTC").dt.tz_convert(self._zone)
        return times.mask(missing)

    def cells(self, texts: Iterable[str | None]) -> pd.Series[Any]:
        """Times that a person wrote, as a column of the dtype; None for missing ones.

        Args:
            texts: As `text` writes them.
        """
        least = max(self._tick, UNITS["microseconds"]) if self.moments else self._tick
        finest = Clock(self.dtype, next(name for name, size in UNITS.items() if size <= least), self.name)
        return finest.column(np.array([finest.number(text) for text in texts], dtype=np.float64))


def _is_known(dtype: str) -> bool:
    """Whether a dtype is one of times that pandas knows, its time zone too."""
    if dtype == DATE or _DTYPE.fullmatch(dtype) is None:
        return dtype == DATE
    try:
        return bool(types.pandas_dtype(dtype))
    except (TypeError, ValueError, KeyError):
        return False


def clock_of(feature: Any) -> Clock | None:
    """How the times of a feature become numbers; None if it is none of times.

    Args:
        feature: A `Feature`.
    """
    return Clock(feature.dtype, feature.unit, feature.name) if feature.numeric and holds_times(feature.dtype) else None


def ticks_of(column: pd.Series[Any]) -> tuple[Counts, int]:
    """What a column of numpy's times counts, from 1970-01-01 (in UTC) or from 0, and of how many nanoseconds.

    Args:
        column: Its dtype is datetime64 or timedelta64, with a time zone or without.
    """
    if getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    times = column.to_numpy()
    return times.astype(np.int64), _TICKS[np.datetime_data(times.dtype)[0]]


def recorded_unit(column: pd.Series[Any], name: str | int, *, rounded: bool) -> str:
    """The longest unit of which all times of a column are whole numbers: days, hours, ..., or 15 minutes.

    Args:
        column: Its dtype is datetime64 or timedelta64, with a time zone or without.
        name: The feature's name, for errors.
        rounded: Whether to look for what times are rounded to, beside whole units, too.
    """
    counts, tick = ticks_of(column.dropna())
    counts = np.unique(counts)
    unit = next(unit for unit, size in UNITS.items() if _all_multiples(counts, size, tick))
    if unit == "nanoseconds" and not holds_durations(str(column.dtype)):
        raise SchemaError(
            f"Feature {name!r}", "hold moments to the microsecond or coarser, which doubles hold exactly",
            column.dropna().iloc[0], f"round them: X[{name!r}].dt.round('s')", feature=name,
        )  # fmt: skip
    if not rounded or len(counts) < _FEWEST:
        return unit
    many = next((many for many in _ROUND.get(unit, ()) if _all_multiples(counts, many * UNITS[unit], tick)), None)
    return unit if many is None else f"{many} {unit}"


def _all_multiples(counts: Counts, size: int, tick: int) -> bool:
    common = math.gcd(size, tick)
    return not (counts % (size // common)).any()


def day_text(number: float) -> str:
    """The ISO date that is `number` days after 1970-01-01.

    Args:
        number: Days since 1970-01-01.
    """
    return (_EPOCH.date() + datetime.timedelta(days=round(number))).isoformat()
