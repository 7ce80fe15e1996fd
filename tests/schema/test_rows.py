"""Rows <-> arrays of doubles: nothing is lost, and every dtype comes back."""

from __future__ import annotations

import datetime
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.errors import SchemaError
from likely.schema import Binary, Categorical, Continuous, Integer, Mixed, Ordinal, Schema
from tests import strategies
from tests.oracles.constraints import cell


@given(st.data())
def test_numbers_to_table_and_back(data: st.DataObject) -> None:
    schema = data.draw(strategies.schemas(extremes=True))
    rows = data.draw(strategies.rows(schema))
    table = schema.decode(rows)
    assert list(table.columns) == list(schema.names)
    np.testing.assert_array_equal(schema.encode(table), rows)


@given(st.data())
def test_table_to_numbers_and_back(data: st.DataObject) -> None:
    """Of any column that a user may have: equal cells, equal dtype, whatever the index."""
    column = data.draw(strategies.columns(least=0))
    feature = data.draw(fitting(column))
    index = data.draw(st.permutations(range(10, 10 + len(column))))
    table = pd.DataFrame({feature.name: column.set_axis(index)})
    back = Schema((feature,)).decode(Schema((feature,)).encode(table))[feature.name]
    assert [cell(value) for value in back] == [cell(value) for value in column]
    if column.notna().any():
        assert back.dtype == column.dtype


def fitting(column: pd.Series[Any]) -> st.SearchStrategy[Any]:
    """The feature that `infer` makes of the column (of a filled one, where it says nothing)."""
    some = column if column.notna().any() else pd.Series([1, 2])
    return st.just(Schema.infer(pd.DataFrame({"f": some}))["f"])


@given(st.data())
def test_unknowns_survive(data: st.DataObject) -> None:
    schema = data.draw(strategies.schemas())
    factual = data.draw(strategies.factuals(schema))
    np.testing.assert_array_equal(schema.encode(schema.decode(factual)), factual[None, :])


@given(st.data())
def test_one_row_is_read_as_a_table_is(data: st.DataObject) -> None:
    schema = data.draw(strategies.schemas())
    factual = data.draw(strategies.factuals(schema))
    table = schema.decode(factual)
    user = strategies.user_row(schema, factual)
    shown = [feature.value(number) for feature, number in zip(schema.features, factual, strict=True)]
    for row in (table, user, {**user, "beside": 1}, list(user.values()), shown):
        np.testing.assert_array_equal(schema.encode_row(row), factual)


@given(st.data())
def test_a_value_and_its_number(data: st.DataObject) -> None:
    feature = data.draw(strategies.features(extremes=True))
    number = data.draw(strategies.numbers(feature))
    value = feature.value(number)
    assert feature.number(value) == number
    assert feature.encode(pd.Series([value], dtype=object)).tolist() == [number]
    assert feature.fits(np.array([number])).all()
    assert isinstance(feature.show(number), str)


def test_an_empty_table() -> None:
    for dtype in ("float64", "int64", "Int64", "object", "date", "datetime64[ns]"):
        schema = Schema((Integer("x", 0, 1, dtype=dtype), Mixed("m", 0, 1, ["a", None], dtype="object"), Categorical("c", ["a"])))
        table = schema.decode(np.empty((0, 3)))
        assert table.shape == (0, 3)
        assert schema.encode(table).shape == (0, 3)
        assert schema.encode(pd.DataFrame({"x": [], "m": [], "c": []})).shape == (0, 3)


MISSING = [None, math.nan, np.nan, pd.NA, pd.NaT, np.float32("nan"), np.datetime64("NaT")]


@pytest.mark.parametrize("gone", MISSING, ids=repr)
@pytest.mark.parametrize(
    "feature",
    [
        Continuous("x", 0, 1),
        Integer("x", 0, 1),
        Integer("x", "2020-01-01", "2020-12-31", dtype="date"),
        Categorical("x", ["a", "b"]),
        Ordinal("x", [1, 2]),
        Binary("x"),
        Mixed("x", 0, 1, [-9]),
    ],
    ids=lambda feature: feature.kind,
)
def test_everything_missing_is_an_unknown(feature: Any, gone: Any) -> None:
    assert math.isnan(feature.number(gone))
    assert math.isnan(feature.encode(pd.Series([gone], dtype=object))[0])
    assert feature.value(math.nan) is None
    assert feature.show(math.nan) == "unknown"


@pytest.mark.parametrize("gone", MISSING, ids=repr)
def test_everything_missing_is_the_value_missing(gone: Any) -> None:
    for feature in (Mixed("x", 0, 1, [-9, None]), Categorical("x", ["a", None]), Ordinal("x", [None, "a"])):
        number = feature.atom_number(feature.atoms.index(None))
        assert feature.number(gone) == number
        assert feature.encode(pd.Series([gone], dtype=object))[0] == number
        assert feature.show(number) == "missing"


@pytest.mark.parametrize(
    ("feature", "cells", "numbers"),
    [
        (Binary("x"), [True, 1, 1.0, np.True_, np.int8(0), -0.0], [1, 1, 1, 1, 0, 0]),
        (Binary("x", [0, 1]), [True, False, 1.0, "1"][:3], [1, 0, 1]),
        (Categorical("x", [1, "1", 2.5]), [1, "1", 2.5, np.float64(2.5), np.str_("1")], [0, 1, 2, 2, 1]),
        (Continuous("x", -1, 1), [True, 0, -0.0, 1e-300, np.float32(0.5), np.int64(1)], [1, 0, -0.0, 1e-300, 0.5, 1]),
        (Mixed("x", 0, 5, [-9, "none"]), [-9, -9.0, "none", np.int64(3)], [-(2.0**1000), -(2.0**1000), -(2.0**1001), 3]),
    ],
)
def test_mixtures_of_types_in_one_column(feature: Any, cells: list[Any], numbers: list[float]) -> None:
    assert feature.encode(pd.Series(cells, dtype=object)).tolist() == numbers
    assert [feature.number(value) for value in cells] == numbers


DAY = datetime.date(2026, 1, 31)
DAYS = (DAY - datetime.date(1970, 1, 1)).days


@pytest.mark.parametrize("dtype", strategies.DATES)
@pytest.mark.parametrize(
    "day",
    [
        DAY,
        datetime.datetime(2026, 1, 31),
        pd.Timestamp(DAY),
        np.datetime64("2026-01-31"),
        np.datetime64("2026-01-31", "ns"),
        "2026-01-31",
        "2026-01-31 00:00:00",
    ],
    ids=repr,
)
def test_all_ways_to_write_a_day(day: Any, dtype: str) -> None:
    feature = Integer("since", "2000-01-01", "2030-01-01", dtype=dtype)
    assert feature.number(day) == DAYS
    assert feature.encode(pd.Series([day, None], dtype=object))[0] == DAYS
    assert feature.value(DAYS) == "2026-01-31"
    back = feature.decode(np.array([DAYS, math.nan]))
    assert str(back.dtype) == ("object" if dtype == "date" else dtype)
    assert cell(back[0]) == DAY
    assert cell(back[1]) is None


def test_days_far_away() -> None:
    feature = Integer("d", "0001-01-01", "9999-12-31", dtype="datetime64[ns]")
    table = feature.decode(np.array([feature.lower, feature.upper]))
    assert [cell(day).year for day in table] == [1, 9999]
    assert feature.encode(table).tolist() == [feature.lower, feature.upper]


@pytest.mark.parametrize(
    ("feature", "numbers", "dtype"),
    [
        (Integer("x", 0, 9, dtype="int64"), [1, math.nan], "float64"),
        (Integer("x", 0, 9, dtype="Int64"), [1, math.nan], "Int64"),
        (Integer("x", 0, 1, dtype="bool"), [1, 0], "bool"),
        (Integer("x", 0, 1, dtype="bool"), [1, math.nan], "float64"),
        (Continuous("x", 0, 9, dtype="int64"), [1, 2], "int64"),
        (Continuous("x", 0, 9, dtype="int64"), [1, 2.5], "float64"),
        (Continuous("x", 0, 9, dtype="Int64"), [1, 2.5], "Float64"),
        (Integer("x", 0, 300, dtype="int8"), [1, 300], "float64"),
        (Integer("x", -1, 9, dtype="uint8"), [-1], "float64"),
        (Continuous("x", 0, 1e300, dtype="float32"), [1e300], "float64"),
        (Mixed("x", 0, 9, [None], dtype="int64"), [1, -(2.0**1000)], "float64"),
        (Mixed("x", 0, 9, ["none"]), [1.5], "float64"),
        (Mixed("x", 0, 9, ["none"]), [1.5, -(2.0**1000)], "object"),
        (Binary("x", dtype="bool"), [1, math.nan], "object"),
        (Categorical("x", [1, 2], dtype="int64"), [1, math.nan], "float64"),
        (Categorical("x", ["a", None, "b"], dtype="category"), [0, 1, 2, math.nan], "category"),
    ],
)
def test_a_dtype_that_cannot_hold_the_values_gives_way(feature: Any, numbers: list[float], dtype: str) -> None:
    column = feature.decode(np.array(numbers, dtype=float))
    assert str(column.dtype) == dtype
    np.testing.assert_array_equal(
        feature.encode(column),
        np.array([1.0 if f"{feature.kind}{n}" == "categoricalnan" and None in feature.atoms else n for n in numbers]),
    )


def test_values_of_dates() -> None:
    for dtype in ("date", "datetime64[us]"):
        feature = Ordinal("quarter", ["2026-01-01", "2026-04-01"], dtype=dtype)
        column = feature.decode(np.array([1.0, 0.0, math.nan]))
        assert [cell(day) for day in column] == [datetime.date(2026, 4, 1), datetime.date(2026, 1, 1), None]
        np.testing.assert_array_equal(feature.encode(column), [1.0, 0.0, math.nan])


def test_an_object_column_has_python_s_own_values() -> None:
    assert Integer("n", 0, 9, dtype="object").decode(np.array([3.0])).tolist() == [3]
    assert type(Integer("n", 0, 9, dtype="object").decode(np.array([3.0]))[0]) is int
    assert Mixed("m", 0, 9, ["none", -9], dtype="object").decode(np.array([2.5, -(2.0**1000), -(2.0**1001)])).tolist() == [
        2.5,
        "none",
        -9,
    ]


# -- what is refused --------------------------------------------------------------------------------------------------

SCHEMA = Schema((Continuous("amount", 0, 100), Categorical("job", ["clerk", "nurse"])))


def test_a_table_must_be_one() -> None:
    with pytest.raises(SchemaError, match=r"A table must be a DataFrame; got ndarray\. Hint: use pd\.DataFrame"):
        SCHEMA.encode(np.zeros((1, 2)))  # type: ignore[arg-type]


def test_every_feature_must_be_there() -> None:
    with pytest.raises(
        SchemaError, match=r"A row must have a value of feature 'job'; got none\. Hint: give None if it is unknown\."
    ) as caught:
        SCHEMA.encode(pd.DataFrame({"amount": [1.0]}))
    assert caught.value.feature == "job"
    with pytest.raises(SchemaError, match="have a value of feature 'amount'"):
        SCHEMA.encode_row({"job": "clerk"})


def test_every_feature_must_be_there_once() -> None:
    table = pd.DataFrame([[1.0, "clerk", 2.0]], columns=["amount", "job", "amount"])
    for use in (SCHEMA.encode, SCHEMA.encode_row):
        with pytest.raises(
            SchemaError, match=r"A row must have a value of feature 'amount'; got several\. Hint: rename all but one\."
        ) as caught:
            use(table)
        assert caught.value.feature == "amount"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            pd.DataFrame({"amount": [1.0, 2.0], "job": ["clerk", "clerk"]}),
            r"A row must be one row; got a DataFrame of 2 rows\. Hint: use X\.iloc",
        ),
        ([1.0], r"A row must have 2 values; got 1\. Hint: use a dict"),
        ("ab", r"A row must be a dict, Series, one-row DataFrame or list; got str\. Hint: use X\.iloc\[i\]"),
        (3, r"A row must be a dict, Series, one-row DataFrame or list; got int"),
    ],
)
def test_a_row_must_be_one(row: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        SCHEMA.encode_row(row)


def test_an_array_must_have_all_columns() -> None:
    with pytest.raises(SchemaError, match=r"An array of rows must have 2 columns; got 3\. Hint: use schema\.encode\(X\)\."):
        SCHEMA.decode(np.zeros((1, 3)))


def test_a_counterfactual_is_complete() -> None:
    factual = {"amount": None, "job": None}
    np.testing.assert_array_equal(SCHEMA.encode_row(factual), [math.nan, math.nan])
    with pytest.raises(
        SchemaError, match=r"A counterfactual must have a value of feature 'job'; got an unknown\. Hint: fill it in\."
    ) as caught:
        SCHEMA.encode_row({"amount": 1, "job": None}, complete=True)
    assert caught.value.feature == "job"
    with pytest.raises(SchemaError, match="A counterfactual must have a value of feature 'amount'"):
        SCHEMA.cost(factual, factual)


@pytest.mark.parametrize(
    ("feature", "value", "message"),
    [
        (
            Continuous("f", 0, 1),
            "high",
            r"Feature 'f' must hold numbers; got 'high'\. Hint: correct the cell or make the feature Categorical\.",
        ),
        (
            Continuous("f", 0, 1),
            "0.5",
            r"Feature 'f' must hold numbers; got '0\.5'\. Hint: it is text, not a number: convert the column with "
            r"pd\.to_numeric\.",
        ),
        (Continuous("f", 0, 1), datetime.date(2026, 1, 31), r"Feature 'f' must hold numbers; got '2026-01-31'"),
        (
            Continuous("f", 0, 1),
            math.inf,
            r"Feature 'f' must be finite; got inf\. Hint: replace it by a bound or a missing value\.",
        ),
        (Continuous("f", 0, 1), -1e305, r"Feature 'f' must be finite; got -1e\+305"),
        (Continuous("f", 0, 1), 10**400, r"Feature 'f' must be finite; got 1000"),
        (
            Integer("f", 0, 1),
            2**53,
            r"Feature 'f' must stay below 2\*\*53; got 9007199254740992\. Hint: drop it if it is an identifier\.",
        ),
        (
            Continuous("f", 0, 1),
            [1],
            r"A value of feature 'f' must be text, a number, a truth value, a time, an interval or missing; got \[1\] \(list\)\. "
            r"Hint: convert the column\.",
        ),
        (Continuous("f", 0, 1), 1j, r"must be text, a number, .*; got 1j \(complex\)"),
        (
            Integer("f", 0, 1, dtype="date"),
            "31.1.2026",
            r"Feature 'f' must hold dates; got '31\.1\.2026'\. Hint: write dates as 2026-01-31\.",
        ),
        (Integer("f", 0, 1, dtype="date"), "2026-01-31 12:00", r"Feature 'f' must hold whole days; got '2026-01-31 12:00'"),
        (
            Integer("f", 0, 1, dtype="date"),
            "2026-01-31T00:00+01:00",
            r"Feature 'f' must have times without a time zone; got '2026-01-31T00:00\+01:00'",
        ),
        (Integer("f", 0, 1, dtype="date"), 20000, r"Feature 'f' must hold dates; got 20000"),
        (Integer("f", 0, 1, dtype="date"), math.inf, r"Feature 'f' must hold dates; got inf"),
        (
            Integer("f", 0, 1, dtype="date"),
            pd.Timestamp("2026-01-31 12:00"),
            r"Feature 'f' must hold whole days; got '2026-01-31 12:00'\. Hint: drop the time with \.dt\.normalize\(\), or",
        ),
        (
            Integer("f", 0, 1, dtype="date"),
            pd.Timestamp("2026-01-31", tz="UTC"),
            r"Feature 'f' must have times without a time zone; got '2026-01-31 00:00\+00:00'\. Hint: use "
            r"\.dt\.tz_localize\(None\)\.",
        ),
        (Categorical("f", ["a", "b"]), "c", r"Feature 'f' must have a known value; got 'c'\. Hint: use one of 'a', 'b'\."),
        (
            Categorical("f", [1, 2]),
            "1",
            r"Feature 'f' must have a known value; got '1'\. Hint: 1 is int, not str: convert the column\.",
        ),
        (
            Binary("f"),
            "True",
            r"Feature 'f' must have a known value; got 'True'\. Hint: True is bool, not str: convert the column\.",
        ),
        (
            Categorical("f", ["1", "2"]),
            1,
            r"Feature 'f' must have a known value; got 1\. Hint: '1' is str, not int: convert the column\.",
        ),
        (Mixed("f", 0, 1, ["none"]), "nothing", r"Feature 'f' must hold numbers; got 'nothing'"),
        (Mixed("f", 0, 1, [-9]), "-9", r"Feature 'f' must hold numbers; got '-9'\. Hint: it is text"),
    ],
)
def test_cells_that_are_refused(feature: Any, value: Any, message: str) -> None:
    column = pd.Series([None, value], dtype=object)
    for use in (lambda: feature.number(value), lambda: feature.encode(column)):
        with pytest.raises(SchemaError, match=message) as caught:
            use()
        assert caught.value.feature == "f"


@pytest.mark.parametrize(
    ("feature", "column", "message"),
    [
        (Continuous("f", 0, 1), pd.Series([0.5, math.inf]), r"Feature 'f' must be finite; got inf"),
        (Continuous("f", 0, 1), pd.Series([0.5, -1e302]), r"Feature 'f' must be finite; got -1e\+302"),
        (Integer("f", 0, 1), pd.Series([1, 2**60]), r"Feature 'f' must stay below 2\*\*53; got 1152921504606846976"),
        (
            Integer("f", 0, 1),
            pd.Series([1, 2**53 + 1, None], dtype="Int64"),
            r"Feature 'f' must stay below 2\*\*53; got 9007199254740993",
        ),
        (Continuous("f", 0, 1), pd.Series(pd.to_datetime(["2026-01-31"])), r"Feature 'f' must hold numbers; got '2026-01-31'"),
        (
            Continuous("f", 0, 1),
            pd.Series(pd.to_timedelta(["1D"])),
            r"Feature 'f' must hold numbers; got '1 day'\. Hint: correct the cell",
        ),
        (Continuous("f", 0, 1), pd.Series([1j]), r"A value of feature 'f' must be text, a number.*\(complex\)"),
        (Integer("f", 0, 1, dtype="date"), pd.Series([1, 2]), r"Feature 'f' must hold dates; got 1"),
        (
            Integer("f", 0, 1, dtype="date"),
            pd.Series(pd.to_datetime(["2026-01-31 12:00"])),
            r"Feature 'f' must hold whole days; got '2026-01-31 12:00'\. Hint: drop the time with \.dt\.normalize\(\)",
        ),
        (
            Integer("f", 0, 1, dtype="date"),
            pd.Series(pd.to_datetime(["2026-01-31"])).dt.tz_localize("UTC"),
            r"Feature 'f' must have times without a time zone; got UTC\. Hint: use \.dt\.tz_localize\(None\)\.",
        ),
        (
            Categorical("f", ["a"]),
            pd.Series([["a"]]),
            r"Feature 'f' must hold single values; got \['a'\]\. Hint: split the column\.",
        ),
    ],
)
def test_columns_that_are_refused(feature: Any, column: pd.Series[Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        feature.encode(column)
    assert caught.value.feature == "f"


def test_a_category_of_numbers_is_read_as_numbers() -> None:
    assert Integer("n", 0, 9).encode(pd.Series([3, 1], dtype="category")).tolist() == [3, 1]


def test_codes_only_in_a_text_column() -> None:
    """All cells of this batch happen to be codes, so that pandas made the column text."""
    feature = Mixed("m", 0, 9, ["none", None], dtype="object")
    assert feature.encode(pd.Series(["none", None], dtype="str")).tolist() == [-(2.0**1000), -(2.0**1001)]
