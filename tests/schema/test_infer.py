"""`Schema.infer`: one home for every column, and what the user knows better."""

from __future__ import annotations

import datetime
import decimal
import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from likely.errors import LikelyWarning, SchemaError
from likely.schema import Binary, Categorical, Continuous, Feature, Increasing, Integer, MaxChanges, Mixed, Ordinal, Schema
from likely.schema.constraints import Decreasing, Immutable, Implies
from likely.when import increases
from tests import strategies

DAY = datetime.date(2026, 1, 31)
DAYS = 20484.0
TEXT = str(pd.Series(["a"]).dtype)  # "str", or "object" before pandas 3


def infer(column: Any, override: Any = None) -> Feature:
    """The feature of a table with this column."""
    table = pd.DataFrame({"f": column})
    return Schema.infer(table, features=None if override is None else {"f": override})["f"]


def category(cells: list[Any], categories: list[Any], *, ordered: bool) -> pd.Series[Any]:
    return pd.Series(pd.Categorical(cells, categories, ordered=ordered))


HOMES: list[tuple[Any, Feature]] = [
    # truth values
    ([True, False], Binary("f", dtype="bool")),
    ([True, True], Binary("f", dtype="bool")),
    (pd.Series([True, False], dtype="boolean"), Binary("f", dtype="boolean")),
    (pd.Series([True, None], dtype="boolean"), Categorical("f", [False, True, None], dtype="boolean")),
    (pd.Series([True, None], dtype=object), Binary("f", [True, None])),
    (pd.Series([True, False, None], dtype=object), Categorical("f", [False, True, None])),
    # whole numbers
    *(
        (pd.Series([1, 5], dtype=dtype), Integer("f", 1, 5, dtype=dtype))
        for dtype in (
            "int8",
            "int16",
            "int32",
            "int64",
            "uint8",
            "uint64",
            "Int8",
            "Int64",
            "UInt16",
            "float32",
            "float64",
            "Float64",
        )
    ),
    (pd.Series([1, 5], dtype=object), Integer("f", 1, 5, dtype="object")),
    (pd.Series([3], dtype="int64"), Integer("f", 3, 3)),
    ([7, 7, 7], Integer("f", 7, 7)),
    ([0, 0, 0], Integer("f", 0, 0)),
    # zeros and ones
    ([0, 1, 1], Binary("f", [0, 1], dtype="int64")),
    ([1.0, -0.0], Binary("f", [0, 1], dtype="float64")),
    (pd.Series([1, 0], dtype="Int8"), Binary("f", [0, 1], dtype="Int8")),
    # other numbers
    ([1.0, 2.5], Continuous("f", 1, 2.5)),
    ([1e-300, 1e300], Continuous("f", 1e-300, 1e300)),
    ([1e17, 2e17], Continuous("f", 1e17, 2e17)),
    (pd.Series([0.5, 1.5], dtype="float32"), Continuous("f", 0.5, 1.5, dtype="float32")),
    (pd.Series([np.float64(0.5), 2], dtype=object), Continuous("f", 0.5, 2, dtype="object")),
    (pd.Series([True, 2, 3.5], dtype=object), Continuous("f", 1, 3.5, dtype="object")),
    # numbers with missing cells
    ([1.5, None], Mixed("f", 1.5, 1.5, [None])),
    ([1.0, 4.0, math.nan], Mixed("f", 1, 4, [None], integer=True)),
    (pd.Series([1, None, 3], dtype="Int64"), Mixed("f", 1, 3, [None], integer=True, dtype="Int64")),
    (pd.Series([1, pd.NA, pd.NaT, None, math.nan], dtype=object), Mixed("f", 1, 1, [None], integer=True, dtype="object")),
    # text
    (["b", "a"], Binary("f", ["a", "b"], dtype=TEXT)),
    (["c", "a", "b"], Categorical("f", ["a", "b", "c"], dtype=TEXT)),
    (["a"], Categorical("f", ["a"], dtype=TEXT)),
    (["01", "1", "1.0"], Categorical("f", ["01", "1", "1.0"], dtype=TEXT)),
    (pd.Series(["a", "b", None], dtype="string"), Categorical("f", ["a", "b", None], dtype="string")),
    (pd.Series(["a", "b", "c"], dtype="string[python]"), Categorical("f", ["a", "b", "c"], dtype="string")),
    (pd.Series(["a", "b", "c"], dtype=object), Categorical("f", ["a", "b", "c"])),
    (pd.Series(["a", None], dtype=object), Binary("f", ["a", None])),
    (pd.Series([True, "a", False], dtype=object), Categorical("f", [False, True, "a"])),
    # numbers and text
    (pd.Series([1, "none", 2.5], dtype=object), Mixed("f", 1, 2.5, ["none"], dtype="object")),
    (pd.Series([1, "z", "a", None], dtype=object), Mixed("f", 1, 1, ["a", "z", None], integer=True, dtype="object")),
    (pd.Series([1, "1"], dtype=object), Mixed("f", 1, 1, ["1"], integer=True, dtype="object")),
    # categories
    (category(["x", "y", "z"], ["z", "y", "x"], ordered=False), Categorical("f", ["z", "y", "x"], dtype="category")),
    (category(["x"], ["x", "y"], ordered=False), Binary("f", ["x", "y"], dtype="category")),
    (category([1, 2, 3], [3, 2, 1], ordered=False), Categorical("f", [3, 2, 1], dtype="category")),
    (category(["x", None], ["x", "y"], ordered=False), Categorical("f", ["x", "y", None], dtype="category")),
    (category(["lo", "hi"], ["lo", "mid", "hi"], ordered=True), Ordinal("f", ["lo", "mid", "hi"], dtype="category[ordered]")),
    # dates
    (pd.to_datetime(["2026-01-31"]).astype("datetime64[ns]"), Integer("f", DAYS, DAYS, dtype="datetime64[ns]")),
    (pd.to_datetime(["2026-01-31"]).astype("datetime64[s]"), Integer("f", DAYS, DAYS, dtype="datetime64[s]")),
    ([DAY, DAY], Integer("f", DAYS, DAYS, dtype="date")),
    (pd.Series([pd.Timestamp(DAY)], dtype=object), Integer("f", DAYS, DAYS, dtype="date")),
    (pd.Series([DAY, None]), Mixed("f", DAYS, DAYS, [None], integer=True, dtype="date")),
    (
        pd.to_datetime(["2026-01-31", None]).astype("datetime64[us]"),
        Mixed("f", DAYS, DAYS, [None], integer=True, dtype="datetime64[us]"),
    ),
]


@pytest.mark.parametrize(("column", "feature"), HOMES, ids=[f"{i}-{home.kind}" for i, (_, home) in enumerate(HOMES)])
def test_every_column_has_one_home(column: Any, feature: Feature) -> None:
    inferred = infer(column)
    assert inferred == feature
    assert [type(atom) for atom in inferred.atoms] == [type(atom) for atom in feature.atoms]


@given(strategies.columns())
def test_the_data_fits_its_own_schema(column: Any) -> None:
    if column.notna().any():
        table = pd.DataFrame({"f": column})
        schema = Schema.infer(table)
        assert schema.validate(table).ok
        assert Schema.from_json(schema.to_json()) == schema


def test_an_ordered_category_with_missing_cells_loses_its_order() -> None:
    column = category(["lo", None], ["lo", "mid", "hi"], ordered=True)
    with pytest.warns(
        LikelyWarning, match=r"Feature 'f' is ordered and has missing cells, which have no rank; it loses its order\. Hint: fill"
    ) as said:
        feature = infer(column)
    assert feature == Categorical("f", ["lo", "mid", "hi", None], dtype="category[ordered]")
    assert said[0].filename == __file__
    assert feature.decode(feature.encode(column)).equals(column.rename("f"))


# -- what the user knows better ---------------------------------------------------------------------------------------


OVERRIDES: list[tuple[Any, Any, Feature]] = [
    ([1, 2, 3], Continuous("f", 0, 10, step=0.5), Continuous("f", 0, 10, step=0.5)),
    ([1, 2, 3], "continuous", Continuous("f", 1, 3, dtype="int64")),
    ([1, 2, 3], "ordinal", Ordinal("f", [1, 2, 3], dtype="int64")),
    ([3, 1, 2], "categorical", Categorical("f", [1, 2, 3], dtype="int64")),
    ([1, 2], "binary", Binary("f", [1, 2], dtype="int64")),
    ([True, False], "integer", Integer("f", 0, 1, dtype="bool")),
    ([1.5, None], "continuous", Continuous("f", 1.5, 1.5)),
    ([1.0, None], "integer", Integer("f", 1, 1, dtype="float64")),
    ([1.5, None], "mixed", Mixed("f", 1.5, 1.5, [None])),
    ([1.5, None], "categorical", Categorical("f", [1.5, None], dtype="float64")),
    ([1, 2], {"upper": 9}, Integer("f", 1, 9)),
    ([1, 2], {"lower": -5, "upper": 9, "dtype": "int8"}, Integer("f", -5, 9, dtype="int8")),
    ([1.0, 2.0], {"step": 0.01}, Continuous("f", 1, 2, step=0.01)),
    ([1.0, None], {"step": 0.01}, Mixed("f", 1, 1, [None], step=0.01)),
    ([1, 2], {"kind": "continuous", "upper": 9}, Continuous("f", 1, 9, dtype="int64")),
    ([-9, 2, 5], {"codes": {-9: "no record"}}, Mixed("f", 2, 5, {-9: "no record"}, integer=True, dtype="int64")),
    ([-9, 2, 5], {"codes": [-9], "kind": "mixed"}, Mixed("f", 2, 5, [-9], integer=True, dtype="int64")),
    ([-9.0, 2, 5.5], {"codes": np.array([-9])}, Mixed("f", 2, 5.5, [-9])),
    ([-9, 2, 5], {"codes": [-9], "integer": False}, Mixed("f", 2, 5, [-9], dtype="int64")),
    ([-9, 2, 5], {"codes": [-9], "step": 0.5}, Mixed("f", 2, 5, [-9], step=0.5, dtype="int64")),
    ([-20, -9, 5], {"codes": [-9]}, Mixed("f", -20, 5, [-9], integer=True, dtype="int64")),
    ([-9, -9], {"codes": [-9], "lower": 0, "upper": 5}, Mixed("f", 0, 5, [-9], integer=True, dtype="int64")),
    ([1.0, None], {"codes": [None, -9]}, Mixed("f", 1, 1, [None, -9], integer=True)),
    (["a", "b"], {"values": ["a", "b", "c"]}, Categorical("f", ["a", "b", "c"], dtype=TEXT)),
    (["a", "b"], {"values": ["b", "a"]}, Binary("f", ["b", "a"], dtype=TEXT)),
    ([1, 2, 3], {"values": [1, 2, 3, 4]}, Categorical("f", [1, 2, 3, 4], dtype="int64")),
    (["a", "b"], {"kind": "ordinal", "values": ["b", "a"]}, Ordinal("f", ["b", "a"], dtype=TEXT)),
    (["a", None], {"kind": "ordinal", "values": [None, "a", "b"]}, Ordinal("f", [None, "a", "b"], dtype=TEXT)),
    (
        category(["lo"], ["lo", "hi"], ordered=True),
        {"values": ["lo", "mid", "hi"]},
        Ordinal("f", ["lo", "mid", "hi"], dtype="category[ordered]"),
    ),
    (category(["lo"], ["lo", "hi"], ordered=True), "ordinal", Ordinal("f", ["lo", "hi"], dtype="category[ordered]")),
    ([DAY], {"upper": "2030-12-31"}, Integer("f", DAYS, "2030-12-31", dtype="date")),
    ([DAY], {"upper": datetime.date(2030, 12, 31)}, Integer("f", DAYS, "2030-12-31", dtype="date")),
    (
        [DAY, datetime.date(9999, 12, 31)],
        {"codes": ["9999-12-31"]},
        Mixed("f", DAYS, DAYS, ["9999-12-31"], integer=True, dtype="date"),
    ),
    ([DAY, datetime.date(2026, 2, 1)], "ordinal", Ordinal("f", ["2026-01-31", "2026-02-01"], dtype="date")),
    (
        pd.to_datetime(["2026-01-31"]).astype("datetime64[us]"),
        "categorical",
        Categorical("f", ["2026-01-31"], dtype="datetime64[us]"),
    ),
    ([None, None], {"lower": 0, "upper": 1, "kind": "continuous", "dtype": "float64"}, Continuous("f", 0, 1)),
    ([None, None], {"values": ["a", "b"]}, Binary("f", ["a", "b"])),
    ([f"id {i}" for i in range(300)], "categorical", Categorical("f", sorted(f"id {i}" for i in range(300)), dtype=TEXT)),
    ([1, 2], {}, Integer("f", 1, 2)),
]


@pytest.mark.parametrize(("column", "override", "feature"), OVERRIDES, ids=[f"{i}-{o[2].kind}" for i, o in enumerate(OVERRIDES)])
def test_overrides(column: Any, override: Any, feature: Feature) -> None:
    assert infer(column, override) == feature


def test_rules_and_prices_by_name() -> None:
    table = pd.DataFrame({"sex": ["f", "m", "f"], "age": [20, 30, 50], "debt": [1.5, 0.0, 2.0]})
    rule = Implies(increases("age"), increases("debt"))
    schema = Schema.infer(
        table,
        immutable=["sex"],
        increasing=("age",),
        decreasing={"debt"},
        rules=[rule],
        max_changes=2,
        weights={"age": 2.0},
        fees={"debt": 3.0},
        tables={"sex": {"f": {"m": 7.0}}},
    )
    assert schema.constraints == (Immutable("sex"), Increasing("age"), Decreasing("debt"), rule, MaxChanges(2))
    factual = {"sex": "f", "age": 30, "debt": 0.0}
    assert schema.cost(factual, {**factual, "age": 40}) == 2.0
    assert schema.cost(factual, {**factual, "debt": 0.5}) == 4.0
    assert schema.cost(factual, {**factual, "sex": "m"}) == 7.0
    everywhere = Schema.infer(table, fees=1.0)
    assert everywhere.cost(factual, {**factual, "age": 40, "debt": 0.5}) == 4.0


def test_names_may_be_numbers() -> None:
    schema = Schema.infer(pd.DataFrame(np.array([[1.5, 2.0], [0.0, 3.0]])), immutable=[0])
    assert schema.names == (0, 1)
    assert schema[1] == Integer(1, 2, 3, dtype="float64")


def test_rules_named_twice_are_one() -> None:
    schema = Schema.infer(pd.DataFrame({"a": [1, 2]}), immutable=["a", "a"], rules=[Immutable("a")])
    assert schema.constraints == (Immutable("a"),)


def test_no_warning_without_a_reason() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dates = pd.to_datetime(["2026-01-31", None])
        schema = Schema.infer(pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": [0.5, 1e200], "d": dates}))
    assert [feature.kind for feature in schema.features] == ["integer", "binary", "continuous", "mixed"]


# -- what is refused --------------------------------------------------------------------------------------------------


REFUSED: list[tuple[Any, Any, str]] = [
    ([None, None], None, r"Feature 'f' must have a value; got only missing values\. Hint: drop the column\."),
    ([None, math.nan], "continuous", r"Feature 'f' must have a value; got only missing values"),
    (
        [math.nan],
        {"lower": 0},
        r"Feature 'f' must have a number; got none\. Hint: drop the column, make it Categorical, or give lower and upper\.",
    ),
    ([-9, -9], {"codes": [-9]}, r"Feature 'f' must have a number; got none"),
    (["a", "b"], "mixed", r"Feature 'f' must have a number; got none"),
    ([1.5, math.inf], None, r"Feature 'f' must be finite; got inf\. Hint: replace it by a bound or a missing value\."),
    ([2**60, 1], None, r"Feature 'f' must stay below 2\*\*53; got 1152921504606846976\. Hint: drop it if it is an identifier\."),
    (pd.Series([2**60, 1], dtype=object), None, r"Feature 'f' must stay below 2\*\*53"),
    (pd.Series([10**30, 1], dtype=object), None, r"Feature 'f' must stay below 2\*\*53"),
    (
        [f"id {i}" for i in range(300)],
        None,
        r"Feature 'f' must have at most 256 different values; got 300 different texts\. Hint: drop it if it is an "
        r"identifier, or say features=\{'f': 'categorical'\}\.",
    ),
    (
        [*(f"id {i}" for i in range(300)), 1.5],
        None,
        r"Feature 'f' must have at most 256 different values; got 300 different texts",
    ),
    (
        [1j, 2j],
        None,
        r"Feature 'f' must hold numbers, text, truth values, categories, times or intervals; got dtype complex128\. Hint: "
        r"convert the column\.",
    ),
    (pd.period_range("2026-01", periods=2, freq="M"), None, r"Feature 'f' must hold numbers, text, .*; got dtype period\[M\]"),
    ([decimal.Decimal("1.5")], None, r"A value of feature 'f' must be text, a number, .*\(Decimal\)"),
    (
        pd.Series(pd.to_datetime(["2026-01-31"])).astype("category"),
        None,
        r"Feature 'f' must have no dates as categories; got 2026-01-31 00:00:00\. Hint: convert it with \.astype\('datetime64",
    ),
    ([[1], [2]], None, r"Feature 'f' must hold single values; got \[1\]\. Hint: split the column\."),
    (
        [DAY, "never"],
        None,
        r"Feature 'f' must hold nothing beside its dates; got 'never'\. Hint: make it missing, or a date of its own\.",
    ),
    ([DAY, 5], None, r"Feature 'f' must hold nothing beside its dates; got 5"),
    (
        pd.to_datetime(["2026-01-31 12:00"]),
        {"unit": ""},
        r"Feature 'f' must hold whole days; got '2026-01-31 12:00'\. Hint: drop the time with \.dt\.normalize\(\), or say what "
        r"it counts: features=\{'f': \{'unit': 'seconds'\}\}\.",
    ),
    (pd.to_datetime(["2026-01-31 12:00"]), {"unit": "EUR"}, r"Feature 'f' must have a unit of time; got 'EUR'"),
    (pd.to_datetime([1e18 / 7]), None, r"Feature 'f' must hold moments to the microsecond or coarser.*\.dt\.round\('s'\)"),
    (
        pd.Series([datetime.timedelta(hours=1)], dtype=object),
        None,
        r"Feature 'f' must hold durations in a dtype of them; got .* Hint: convert it: pd\.to_timedelta\(X\['f'\]\)\.",
    ),
    (
        pd.Series([datetime.datetime(2026, 1, 31, 12)], dtype=object),
        None,
        r"Feature 'f' must hold days, or moments in a dtype of moments; got '2026-01-31 12:00'\. Hint: convert the column: pd",
    ),
    ([1, 2], Integer("g", 1, 2), r"The override of feature 'f' must have its name; got 'g'\. Hint: rename it\."),
    (
        [1, 2],
        5,
        r"The override of feature 'f' must be a feature, the name of a kind, or settings; got 5\. Hint: write "
        r"'ordinal', or \{'upper': 100\}\.",
    ),
    ([1, 2], Integer, r"The override of feature 'f' must be a feature, .*; got <class"),
    ([1, 2], "shoe", r"The kind of feature 'f' must be known; got 'shoe'\. Hint: use one of continuous, integer"),
    ([1, 2], {"kind": ["integer"]}, r"The kind of feature 'f' must be known; got \['integer'\]"),
    ([1, 2], {"colour": 1}, r"Feature 'f' must have only settings of the kind integer; got 'colour'"),
    ([1, 2], {"kind": "integer", "step": 2}, r"Feature 'f' must have only settings of the kind integer; got 'step'"),
    (
        [1, 2],
        {"kind": "integer", "codes": [-9]},
        r"Feature 'f' must be mixed to have codes; got kind 'integer'\. Hint: leave the kind out\.",
    ),
    ([1, 2], "mixed", r"Feature 'f' must have codes to be mixed; got no codes\. Hint: give codes=\[\.\.\.\]\."),
    ([1, 2], {"codes": "none"}, r"Feature 'f' must have a list of codes; got 'none'"),
    (
        [1.0, None],
        {"codes": [-9]},
        r"Feature 'f' must have a code for missing cells; got 1 missing cells\. Hint: add None to its codes\.",
    ),
    (["a", "b"], {"codes": ["a"]}, r"Feature 'f' must hold numbers; got 'b'"),
    (
        ["12", "none"],
        {"codes": ["none"]},
        r"Feature 'f' must hold numbers; got '12'\. Hint: it is text, not a number: convert the column with pd\.to_numeric\.",
    ),
    (["a", "b"], "integer", r"Feature 'f' must hold numbers; got 'a'"),
    (["1", "2"], "integer", r"Feature 'f' must hold numbers; got '1'\. Hint: it is text"),
    (
        category([1, 2], [1, 2], ordered=False),
        "integer",
        r"Feature 'f' must have a pandas dtype of numbers or times; got 'category'",
    ),
    ([DAY], "continuous", r"Feature 'f' must have whole numbers of its unit as values; got a continuous feature"),
    (["a", "b", "c"], "binary", r"Feature 'f' must have two values; got \['a', 'b', 'c'\]"),
    (
        ["a", "b"],
        "ordinal",
        r"Feature 'f' must have its values in rank order; got 'a', \.\.\. without an order\. Hint: say "
        r"features=\{'f': \{'kind': 'ordinal', 'values': \[\.\.\.\]\}\}\.",
    ),
    (
        category(["a"], ["a", "b"], ordered=False),
        "ordinal",
        r"Feature 'f' must have its values in rank order; got 'a', \.\.\. without an order",
    ),
    ([1.0, None], "ordinal", r"Feature 'f' must have its values in rank order; got missing cells, which have no rank"),
    (["a", "b"], {"values": 5}, r"Feature 'f' must have a list of values; got 5"),
    (["a", "b"], {"values": ["a"]}, r"Feature 'f' must have a known value; got 'b'\. Hint: use one of 'a'\."),
]


@pytest.mark.parametrize(("column", "override", "message"), REFUSED, ids=range(len(REFUSED)))
def test_columns_and_overrides_that_are_refused(column: Any, override: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        infer(column, override)
    assert caught.value.feature == "f"


@pytest.mark.parametrize(
    ("table", "settings", "message"),
    [
        (np.zeros((2, 2)), {}, r"A table must be a DataFrame; got ndarray\. Hint: use pd\.DataFrame\(X, columns=\[\.\.\.\]\)\."),
        (pd.Series([1]), {}, r"A table must be a DataFrame; got Series"),
        (pd.DataFrame(), {}, r"A table must have rows and columns; got 0 x 0\. Hint: check how it was read\."),
        (pd.DataFrame({"a": []}), {}, r"A table must have rows and columns; got 0 x 1"),
        (pd.DataFrame(index=[1, 2]), {}, r"A table must have rows and columns; got 2 x 0"),
        (
            pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])),
            {},
            r"The columns of a table must have one level; got 2 levels\. Hint: flatten their names\.",
        ),
        (
            pd.DataFrame({"a": [1]}),
            {"immutable": "a"},
            r"'immutable' must be a list of names; got 'a'\. Hint: write immutable=\['a'\]\.",
        ),
        (pd.DataFrame({"a": [1]}), {"increasing": "a"}, r"'increasing' must be a list of names; got 'a'"),
        (pd.DataFrame({"a": [1]}), {"decreasing": "a"}, r"'decreasing' must be a list of names; got 'a'"),
        (
            pd.DataFrame({"a": [1]}),
            {"rules": Immutable("a")},
            r"The constraints of a schema must be a list of constraints; got Immutable\(feature='a'\)\. Hint: use "
            r"Schema\.infer\(X, rules=\[\.\.\.\]\)\.",
        ),
        (pd.DataFrame({"a": [1]}), {"rules": ["a"]}, r"The constraints of a schema must be a list of constraints; got 'a'"),
        (
            pd.DataFrame({"a": [1]}),
            {"immutable": 5},
            r"'immutable' must be a list of names; got 5\. Hint: write immutable=\[5\]\.",
        ),
        (pd.DataFrame({"a": [1]}), {"rules": 5}, r"The constraints of a schema must be a list of constraints; got 5"),
        (
            pd.DataFrame({"a": [1]}),
            {"weights": 2.0},
            r"'weights' must be a dict with names of columns; got 2\.0\. Hint: write weights=",
        ),
        (pd.DataFrame({"a": [1]}), {"features": ["a"]}, r"'features' must be a dict with names of columns; got \['a'\]"),
        (pd.DataFrame({"a": [1]}), {"tables": ["a"]}, r"'tables' must be a dict with names of columns"),
        (pd.DataFrame({"a": [1]}), {"fees": "2"}, r"The fee of feature 'a' must be a finite number of at least 0; got '2'"),
        (pd.DataFrame({"a": [1]}), {"max_changes": 0}, r"MaxChanges must be a whole number of at least 1; got 0"),
    ],
)
def test_tables_and_settings_that_are_refused(table: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Schema.infer(table, **settings)


@pytest.mark.parametrize(
    ("columns", "settings", "message"),
    [
        (["a", "a"], {}, r"The names of columns must differ; got 'a' twice\. Hint: rename one\."),
        ([1.5, "a"], {}, r"A feature's name must be text or a whole number; got 1\.5\. Hint: rename the column\."),
        (["x", "y"], {"immutable": ["a"]}, r"A feature must be in the schema; got 'a'\. Hint: the schema has 'x', 'y'\."),
        (
            ["x", "y"],
            {"features": {"a": "binary"}},
            r"'features' must name columns of the table; got 'a'\. Hint: it has \['x', 'y'\]\.",
        ),
        (["x", "y"], {"weights": {"a": 1}}, r"'weights' must name columns of the table; got 'a'"),
        (["x", "y"], {"fees": {"a": 1}}, r"'fees' must name columns of the table; got 'a'"),
        (["x", "y"], {"tables": {"a": {}}}, r"'tables' must name columns of the table; got 'a'"),
    ],
)
def test_names_that_are_refused(columns: list[Any], settings: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        Schema.infer(pd.DataFrame([[1, 2]], columns=columns), **settings)
    assert caught.value.feature in ("a", 1.5)


def test_zeros_and_ones_are_numbers_where_the_user_says_so():
    flags = pd.DataFrame({"f": [0, 1, 1]})
    assert Schema.infer(flags, features={"f": {"upper": 5}})["f"] == Integer("f", 0, 5)
    assert Schema.infer(flags, features={"f": "integer"})["f"] == Integer("f", 0, 1)
    assert Schema.infer(flags, features={"f": {"step": 0.5}})["f"] == Continuous("f", 0, 1, step=0.5, dtype="int64")
