"""Moments, durations and intervals: exact both ways, in the user's own dtype, whatever the unit."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likely
from likely.errors import SchemaError
from likely.schema import Integer, Mixed, Ordinal, Schema
from likely.schema.files import read_table
from likely.schema.times import UNITS, Clock, time_text

MOMENTS = ("datetime64[s]", "datetime64[ms]", "datetime64[us]", "datetime64[ns]", "datetime64[us, UTC]",
           "datetime64[ns, Europe/Berlin]", "datetime64[s, Asia/Kolkata]")  # fmt: skip
DURATIONS = ("timedelta64[s]", "timedelta64[ms]", "timedelta64[us]", "timedelta64[ns]")
TICKS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_1970 = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def tick_of(dtype: str) -> int:
    return TICKS[dtype.split("[")[1].rstrip("]").split(",")[0]]


@st.composite
def clocks(draw: st.DrawFn) -> Clock:
    dtype = draw(st.sampled_from(MOMENTS + DURATIONS))
    least = max(tick_of(dtype), 1 if dtype in DURATIONS else 1000)
    unit = draw(st.sampled_from([unit for unit, size in UNITS.items() if size >= least]))
    many = draw(st.sampled_from([1, 1, 2, 15, 30]))
    return Clock(dtype, unit if many == 1 else f"{many} {unit}", "t")


def counts(clock: Clock) -> st.SearchStrategy[int]:
    """Numbers of units, of times between 1690 and 2250."""
    most = min(8 * 10**18 // clock.size, 2**53 - 1)
    return st.one_of(st.integers(-most, most), st.integers(-5, 5))


@given(st.data())
def test_columns_come_back(data: st.DataObject) -> None:
    clock = data.draw(clocks())
    places = data.draw(st.lists(st.one_of(counts(clock), st.none()), min_size=1, max_size=6))
    numbers = np.array([np.nan if place is None else float(place) for place in places])
    column = clock.column(numbers)
    assert str(column.dtype) == clock.dtype
    np.testing.assert_array_equal(clock.numbers(column), numbers)
    np.testing.assert_array_equal([clock.number(cell) for cell in column], numbers)
    for place, cell in zip(places, column, strict=True):
        if place is None:
            assert pd.isna(cell)
        else:  # by Python's own whole numbers
            since = pd.Timestamp("1970-01-01", tz=getattr(cell, "tz", None) and "UTC") if clock.moments else pd.Timedelta(0)
            assert (cell - since) // pd.Timedelta(1, unit="ns") == place * clock.size
            assert clock.number(clock.text(float(place))) == place
            assert clock.number(time_text(cell)) == place


@given(clocks(), st.data())
def test_bounds_and_files(clock: Clock, data: st.DataObject) -> None:
    low, high = sorted(data.draw(counts(clock)) for _ in range(2))
    feature = Integer("t", low, high, dtype=clock.dtype, unit=clock.unit)
    ends = clock.column(np.array([low, high], dtype=np.float64))
    assert Integer("t", ends[0], ends[1], dtype=clock.dtype, unit=clock.unit) == feature
    schema = Schema((feature, Mixed("m", low, high + 3, [None], integer=True, dtype=clock.dtype, unit=clock.unit)))
    assert Schema.from_json(schema.to_json()) == schema
    for number in {float(low), float(high), float((low + high) // 2)}:
        assert feature.number(feature.value(number)) == number
        assert feature.show_with_unit(number) == feature.value(number)


@given(st.data())
def test_the_recorded_unit_is_the_longest_one(data: st.DataObject) -> None:
    clock = data.draw(clocks())
    unit = clock.unit.split(" ")[-1]
    plain = Clock(clock.dtype, unit, "t")
    places = data.draw(st.lists(counts(plain), min_size=1, max_size=30, unique=True))
    column = plain.column(np.array(places, dtype=np.float64))
    feature: Any = Schema.infer(pd.DataFrame({"t": column}))["t"]
    np.testing.assert_array_equal(feature.decode(feature.encode(column)), column)
    inferred = feature.clock
    assert inferred.size % plain.size == 0
    longer = [size for size in UNITS.values() if size > inferred.size and size % inferred.size == 0]
    assert not any(all(place * plain.size % size == 0 for place in places) for size in longer)


def test_what_is_recorded_is_what_people_wrote() -> None:
    quarter = pd.Timestamp("2024-03-01") + pd.to_timedelta(np.arange(40) * 15, unit="min")
    feature: Any = Schema.infer(pd.DataFrame({"at": quarter}))["at"]
    assert (feature.kind, feature.unit, feature.describe()) == (
        "integer", "15 minutes", "2024-03-01 00:00 to 2024-03-01 09:45 in steps of 15 minutes",
    )  # fmt: skip
    few = Schema.infer(pd.DataFrame({"at": quarter[:10]}))["at"]
    assert few.unit == "minutes"  # ten times are no evidence
    assert Schema.infer(pd.DataFrame({"at": quarter}), steps=None)["at"].unit == "minutes"
    assert Schema.infer(pd.DataFrame({"at": quarter}), features={"at": {"unit": "seconds"}})["at"].unit == "seconds"
    waited = Schema.infer(pd.DataFrame({"waited": pd.to_timedelta([36, 1, 0], unit="h")}))["waited"]
    assert [waited.show(n) for n in (0.0, 1.0, 36.0)] == ["0 hours", "1 hour", "36 hours"]
    assert Schema.infer(pd.DataFrame({"d": pd.to_datetime(["2024-01-31", "2023-01-31"])}))["d"].unit == ""


def test_moments_of_a_zone_without_one_are_local() -> None:
    feature = Integer("at", "2024-03-30", "2024-04-02 12:00", dtype="datetime64[us, Europe/Berlin]", unit="hours")
    assert feature.value(feature.lower) == "2024-03-30 00:00+01:00"
    assert feature.value(feature.upper) == "2024-04-02 12:00+02:00"
    assert feature.upper - feature.lower == 3 * 24 + 12 - 1  # the clock was put forward
    assert feature.number(pd.Timestamp("2024-03-31 10:00", tz="UTC")) == feature.number("2024-03-31 12:00+02:00")


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("2024-03-01 08:10", r"Feature 'at' must hold multiples of 15 minutes; got '2024-03-01 08:10'\. Hint: round it with "
         r"\.dt\.floor\('15min'\), or say what it counts: features=\{'at': \{'unit': 'seconds'\}\}\."),
        ("tomorrow", r"Feature 'at' must hold moments; got 'tomorrow'\. Hint: write moments as 2026-01-31 08:30\."),
        (28_000_000, r"Feature 'at' must hold moments; got 28000000"),
        (pd.Timestamp("2024-03-01 08:15", tz="UTC"), r"Feature 'at' must have times without a time zone"),
        (pd.Timedelta("1h"), r"Feature 'at' must hold moments; got Timedelta"),
    ],
)  # fmt: skip
def test_moments_that_are_none(cell: Any, message: str) -> None:
    feature = Integer("at", "2024-01-01", "2025-01-01", dtype="datetime64[us]", unit="15 minutes")
    with pytest.raises(SchemaError, match=message):
        feature.number(cell)
    with pytest.raises(SchemaError, match=message):
        feature.encode(pd.Series([cell], dtype=object))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Integer("t", 0, 1, dtype="datetime64[s]", unit="milliseconds"), "a unit that a column of dtype .* can hold"),
        (lambda: Integer("t", 0, 1, dtype="datetime64[ns]", unit="nanoseconds"), "be counted in microseconds or longer units"),
        (lambda: Integer("t", 0, 2**53, dtype="timedelta64[ns]", unit="nanoseconds"), "as upper bound"),
        (lambda: Integer("t", "5", "9 hours", dtype="timedelta64[ns]", unit="hours"), "must hold durations; got '5'"),
        (lambda: likely.MaxChange("t", up="soon"), r"a number or a duration of at least 0; got 'soon'.*up='36 hours'"),
        (lambda: likely.MaxChange("t", up="-1 hour"), "a number or a duration of at least 0"),
    ],
)
def test_times_that_cannot_be(make: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        make()


@given(clocks())
def test_the_limits_can_be_written(clock: Clock) -> None:
    for number in clock.limits:
        assert clock.number(clock.text(number)) == number
        assert Integer("t", number, number, dtype=clock.dtype, unit=clock.unit).describe()
    weeks = Clock("date", "7 days", "t")
    assert [weeks.text(end)[:4] for end in weeks.limits] == ["0001", "9999"]


def test_limits_of_changes() -> None:
    feature = Integer("at", "2024-01-01", "2024-12-31", dtype="datetime64[us]", unit="15 minutes")
    schema = Schema((feature,))
    factual = {"at": "2024-05-01 12:00"}
    limited = schema.with_constraints(likely.MaxChange("at", up="100 minutes", down=pd.Timedelta("1h")))
    for text, kept in (("13:30", True), ("13:45", False), ("11:00", True), ("10:45", False)):
        assert (not limited.violations(factual, {"at": f"2024-05-01 {text}"})) is kept
    assert str(limited.constraints[0]) == "'at' may rise by at most 100 minutes and fall by at most 1 hour"
    assert Schema.from_json(limited.to_json()) == limited
    counted = likely.MaxChange("at", up=2)
    assert counted.sentence(schema) == "'at' may rise by at most 30 minutes"
    with pytest.raises(SchemaError, match="be a duration where values are moments; got percent"):
        schema.with_constraints(likely.MaxChange("at", up=5, unit="percent"))
    with pytest.raises(SchemaError, match="be counted in numbers where values are no times"):
        Schema((Integer("n", 0, 9),)).with_constraints(likely.MaxChange("n", up="1 hour"))
    not_before = schema.with_constraints(likely.Range("at", lower="2024-02-01"))
    assert not_before.constraints[0].sentence(schema) == "'at' must be at least 2024-02-01 00:00"
    assert not_before.violations(factual, {"at": "2024-01-31 23:45"})


def test_sums_of_times_have_one_unit() -> None:
    """`ordered` would compare hours with minutes otherwise."""
    begin = Integer("begin", "2024-01-01", "2024-12-31", dtype="datetime64[us]", unit="hours")
    ends = [Integer("end", "2024-01-01", "2024-12-31", dtype="datetime64[us]", unit=unit) for unit in ("15 minutes", "hours")]
    ordered = likely.LinearConstraint.ordered("begin", "end")
    with pytest.raises(SchemaError, match=r"be over times in one unit; got hours and 15 minutes\. Hint: .*'unit': '15 minutes'"):
        Schema((begin, ends[0])).with_constraints(ordered)
    schema = Schema((begin, ends[1])).with_constraints(ordered)
    before, after = (
        {"begin": "2024-05-01 12:00", "end": "2024-05-01 13:00"},
        {"begin": "2024-05-01 14:00", "end": "2024-05-01 13:00"},
    )
    assert not schema.violations(before, before)
    assert schema.violations(before, after) == (ordered,)


def table() -> pd.DataFrame:
    random = np.random.default_rng(0)
    at = pd.Series(pd.Timestamp("2024-03-01") + pd.to_timedelta(random.integers(0, 90_000, 60), unit="min"))
    waited = pd.Series(pd.to_timedelta(random.integers(0, 99, 60), unit="h"))
    waited[3] = pd.NaT
    size = random.normal(50, 10, 60)
    return pd.DataFrame(
        {
            "at": at,
            "there": at.dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin"),
            "waited": waited,
            "bin": pd.cut(size, [0, 40, 50, 60, 100]),
            "span": pd.arrays.IntervalArray.from_arrays(np.floor(size / 10) * 10, np.floor(size / 10) * 10 + 10, closed="left"),
            "week": pd.cut(at, pd.date_range("2024-02-25", periods=4, freq="28D")),
        }
    )


def test_tables_rows_and_files(tmp_path: Any) -> None:
    X = table()
    schema = Schema.infer(X)
    assert [feature.kind for feature in schema.features] == ["integer", "integer", "mixed", "ordinal", "ordinal", "ordinal"]
    assert schema["bin"].atoms == ("(0, 40]", "(40, 50]", "(50, 60]", "(60, 100]")
    numbers = schema.encode(X)
    pd.testing.assert_frame_equal(schema.decode(numbers), X)
    np.testing.assert_array_equal(schema.encode_row(X.iloc[3]), numbers[3])
    np.testing.assert_array_equal(schema.encode_row(dict(X.iloc[5])), numbers[5])
    texts = {feature.name: feature.value(n) for feature, n in zip(schema.features, numbers[5], strict=True)}
    np.testing.assert_array_equal(schema.encode_row(texts), numbers[5])
    for name in ("schema.yaml", "schema.json"):
        schema.save(tmp_path / name)
        assert Schema.load(tmp_path / name) == schema
    X.to_csv(tmp_path / "data.csv", index=False)
    pd.testing.assert_frame_equal(read_table(tmp_path / "data.csv", schema), X)
    guessed = read_table(tmp_path / "data.csv")
    for name in ("at", "waited"):
        pd.testing.assert_series_equal(guessed[name], X[name], check_dtype=False)
    assert str(guessed["there"].dtype).endswith(", UTC]")
    assert (guessed["there"] == X["there"]).all()
    assert schema.validate(X)


def test_intervals_without_an_order_and_with_missing_cells() -> None:
    bins = pd.cut(pd.Series([1.0, 2.0, 3.0, np.nan]), 2)
    with pytest.warns(likely.LikelyWarning, match="missing cells, which have no rank"):
        feature = Schema.infer(pd.DataFrame({"b": bins}))["b"]
    assert feature.kind == "categorical"
    pd.testing.assert_series_equal(feature.decode(feature.encode(bins.rename("b"))), bins.rename("b"))
    loose = bins.dropna().cat.as_unordered().rename("b")
    feature = Schema.infer(pd.DataFrame({"b": loose}))["b"]
    assert feature.kind == "binary"
    pd.testing.assert_series_equal(feature.decode(feature.encode(loose)), loose.reset_index(drop=True))
    with pytest.raises(SchemaError, match="have a dtype that holds"):
        Ordinal("b", ["(0, 1]", "2 to 3"], dtype="interval[int64, right]")
    many = pd.DataFrame({"b": pd.arrays.IntervalArray.from_breaks(np.arange(301))})
    with pytest.raises(SchemaError, match="at most 256 different values; got 300 different intervals"):
        Schema.infer(many)
