from __future__ import annotations

import datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.schema.times import Clock
from likely.show.ticks import day_ticks, number_ticks, time_ticks

day_number = Clock("date", "", "day").number


@pytest.mark.parametrize(
    ("low", "high", "grid", "texts"),
    [
        (0, 6, None, ["0", "1", "2", "3", "4", "5", "6"]),
        (0, 18424, None, ["0", "5,000", "10,000", "15,000"]),
        (1990, 2026, 1.0, ["1990", "2000", "2010", "2020"]),
        (-1, 1, None, ["−1.0", "−0.5", "0.0", "0.5", "1.0"]),  # noqa: RUF001
        (0.5, 4.5, 1.0, ["1", "2", "3", "4"]),
        (-0.5, 12.5, 5.0, ["0", "5", "10"]),
        (0, 3e-7, None, ["0", "5e-08", "1e-07", "1.5e-07", "2e-07", "2.5e-07", "3e-07"]),
        (0, 6e12, None, ["0", "1e+12", "2e+12", "3e+12", "4e+12", "5e+12", "6e+12"]),
    ],
)
def test_number_ticks(low: float, high: float, grid: float | None, texts: list[str]) -> None:
    assert [text.replace("e−", "e-") for _, text in number_ticks(low, high, grid)] == texts  # noqa: RUF001


@given(st.floats(-1e12, 1e12), st.floats(1e-3, 1e12))
def test_ticks_are_few_and_evenly_apart(low: float, width: float) -> None:
    high = low + width
    places = [place for place, _ in number_ticks(low, high)]
    assert 2 <= len(places) <= 8
    slack = 1e-6 * width + 1e-9 * abs(low)
    assert low - slack <= places[0]
    assert places[-1] <= high + slack
    gaps = [b - a for a, b in pairwise(places)]
    assert max(gaps) - min(gaps) <= slack


@pytest.mark.parametrize(
    ("first", "last", "texts"),
    [
        ("1995-05-05", "2026-01-31", ["2000", "2005", "2010", "2015", "2020", "2025"]),
        ("2023-11-20", "2026-01-31", ["2024", "2025", "2026"]),
        ("2025-01-31", "2025-06-30", ["2025-02", "2025-03", "2025-04", "2025-05", "2025-06"]),
        ("2025-12-30", "2026-01-02", ["2025-12-30", "2025-12-31", "2026-01-01", "2026-01-02"]),
    ],
)
def test_day_ticks(first: str, last: str, texts: list[str]) -> None:
    assert [text for _, text in day_ticks(day_number(first), day_number(last))] == texts


@given(st.dates(datetime.date(1600, 1, 1), datetime.date(2400, 1, 1)), st.integers(1, 150_000))
def test_day_ticks_stand_where_they_say(first: datetime.date, width: int) -> None:
    low = day_number(first.isoformat())
    ticks = day_ticks(low, low + width)
    assert 1 <= len(ticks) <= 14
    for place, text in ticks:
        assert low <= place <= low + width
        assert place == day_number((text + "-01-01")[:10])


@pytest.mark.parametrize(
    ("dtype", "unit", "first", "last", "texts"),
    [
        ("datetime64[us]", "hours", "2025-01-31", "2025-06-30", ["2025-02", "2025-03", "2025-04", "2025-05", "2025-06"]),
        ("datetime64[us]", "15 minutes", "2025-01-31 07:15", "2025-01-31 10:00",
         ["01-31 07:30", "01-31 08:00", "01-31 08:30", "01-31 09:00", "01-31 09:30", "01-31 10:00"]),
        ("datetime64[us]", "seconds", "2025-01-31 07:15:10", "2025-01-31 07:15:50", ["07:15:15", "07:15:30", "07:15:45"]),
        ("timedelta64[us]", "15 minutes", "0 minutes", "6 hours", ["0", "100", "200", "300"]),
    ],
)  # fmt: skip
def test_time_ticks(dtype: str, unit: str, first: str, last: str, texts: list[str]) -> None:
    clock = Clock(dtype, unit, "t")
    ticks = time_ticks(clock.number(first), clock.number(last), clock)
    assert [text for _, text in ticks] == texts
    assert not clock.moments or all(text.split(" ")[0] in clock.text(place) for place, text in ticks)
