"""Where an axis has ticks, and what they say."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

from likely.schema.times import UNITS, Clock, day_text
from likely.schema.values import Numbers

#: Places on an axis and what stands there.
Ticks: TypeAlias = tuple[tuple[float, str], ...]
#: About as many ticks as fit without crowding.
ABOUT = 7
#: Round times of day, in seconds.
_DAY_PARTS = (1, 5, 15, 30, 60, 300, 900, 1800, 3600, 7200, 10800, 21600, 43200)
MINUS = "\N{MINUS SIGN}"


def number_ticks(low: float, high: float, grid: float | None = None) -> Ticks:
    """Round numbers from `low` to `high`: 1, 2, 2.5 or 5 times a power of ten apart, multiples of `grid` if there is one."""
    step = _round_step((high - low) / ABOUT)
    if grid is not None:
        step = max(round(step / grid), 1) * grid
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple((k * step, text) for k, text in zip(range(first, last + 1), _texts(first, last, step), strict=True))


def _round_step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * power >= least * (1 - 1e-9))


def _texts(first: int, last: int, step: float) -> list[str]:
    """Multiples of a step with the decimals that it needs, thousands apart if there is one from 10,000 on (a year is 2026)."""
    largest = max(abs(first), abs(last)) * step
    if largest >= 1e9 or step < 1e-5:
        return [f"{k * step:.6g}".replace("-", MINUS) for k in range(first, last + 1)]
    decimals = next((d for d in range(12) if abs(step * 10**d - round(step * 10**d)) < 1e-6 * step * 10**d), 12)
    comma = "," if largest >= 10_000 else ""
    return [f"{k * step:{comma}.{decimals}f}".replace("-", MINUS) for k in range(first, last + 1)]


def time_ticks(low: float, high: float, clock: Clock) -> Ticks:
    """Of durations, round numbers of the unit's name; of moments, first days or round times of day.

    Args:
        low: The lower end, in the clock's unit.
        high: The upper end.
        clock: How times become numbers.
    """
    if not clock.moments:
        return tuple(
            (place / clock.many, text)
            for place, text in number_ticks(low * clock.many, high * clock.many, None if clock.many > 1 else 1.0)
        )
    per_day = UNITS["days"] / clock.size
    if (high - low) / per_day > 2:
        return tuple((place * per_day, text) for place, text in day_ticks(low / per_day, high / per_day))
    step = next(
        (size for size in _DAY_PARTS if size * 10**9 / clock.size * ABOUT >= high - low and size * 10**9 >= clock.size), 1
    )
    wide = step * 10**9 / clock.size  # in units
    places = [k * wide for k in range(math.ceil(low / wide), math.floor(high / wide) + 1)]
    return tuple((place, clock.text(place)[5:16] if step >= 60 else clock.text(place)[11:19]) for place in places)


def day_ticks(low: float, high: float) -> Ticks:
    """First days of years, of months, or days, whichever are about as many as fit."""
    span = high - low
    if span > 2 * 366:
        years = max(round(_round_step(span / 365.25 / ABOUT)), 1)
        return tuple((place, day_text(place)[:4]) for place in _starts(low, high, "Y", years))
    if span > 62:
        months = next(m for m in (1, 2, 3, 6) if span / 30.4 / m <= ABOUT or m == 6)
        return tuple((place, day_text(place)[:7]) for place in _starts(low, high, "M", months))
    days = max(math.ceil(span / ABOUT), 1)
    return tuple((float(day), day_text(day)) for day in range(math.ceil(low), math.floor(high) + 1, days))


def _starts(low: float, high: float, unit: str, every: int) -> list[float]:
    """The first days of every so many years or months (counted from 1970) between two days."""
    ends = np.array([math.floor(low), math.ceil(high)], dtype="datetime64[D]").astype(f"datetime64[{unit}]").astype(int)
    periods = np.arange(ends[0] - ends[0] % every, ends[1] + 1, every)
    starts: Numbers = periods.astype(f"datetime64[{unit}]").astype("datetime64[D]").astype(np.float64)
    return [float(start) for start in starts if low <= start <= high]
