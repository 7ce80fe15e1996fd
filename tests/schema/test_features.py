"""Features one by one: what they are, what they say, what they refuse."""

from __future__ import annotations

import datetime
import enum
import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.errors import SchemaError
from likely.schema import Binary, Categorical, Continuous, Feature, Integer, Mixed, Ordinal, yaml
from likely.schema.features import KINDS, feature_from_dict, make_feature
from likely.schema.grid import SINGLES, is_multiple, snap
from likely.schema.region import Region, above, below
from likely.schema.values import code_index, code_number, is_code, plain
from tests import strategies


@given(strategies.features(extremes=True))
def test_json_and_yaml_keep_everything(feature: Feature) -> None:
    for data in (json.loads(json.dumps(feature.to_dict(), allow_nan=False)), yaml.loaded(yaml.dumped(feature.to_dict()))):
        again = feature_from_dict(data)
        assert again == feature
        assert hash(again) == hash(feature)
        assert [type(value) for value in again.atoms] == [type(value) for value in feature.atoms]


@given(st.data())
def test_the_domain_is_what_fits(data: st.DataObject) -> None:
    feature = data.draw(strategies.features(extremes=True))
    number = data.draw(strategies.numbers(feature))
    assert number in feature.region
    assert number in feature.reachable(feature.region)
    assert not feature.fits(np.array([math.nan]))[0]
    if feature.numeric:
        outside = np.array([below(feature.lower), above(feature.upper)])
        assert not feature.fits(outside).any()
    else:
        assert feature.region == Region.points(float(k) for k in range(len(feature.atoms)))
    for k in range(len(feature.atoms)):
        assert feature.fits(np.array([feature.atom_number(k)]))[0]
        assert feature.value(feature.atom_number(k)) == feature.atoms[k]


@given(st.data())
def test_every_kind_has_bounds_and_a_grid(data: st.DataObject) -> None:
    feature = data.draw(strategies.features())
    number = data.draw(strategies.numbers(feature))
    assert feature.lower <= feature.upper
    assert is_code(np.array([number]))[0] or feature.lower <= number <= feature.upper
    if not feature.numeric:
        assert (feature.lower, feature.upper, feature.grid) == (0, len(feature.atoms) - 1, 1)
    assert feature.grid is None or is_code(np.array([number]))[0] or is_multiple(np.array([number]), feature.grid, SINGLES)[0]


@given(st.integers(0, 1000))
def test_codes_are_numbers_beyond_all_numbers(k: int) -> None:
    assert code_index(code_number(k)) == k
    assert is_code(np.array([code_number(k), -(2.0**998), 0.0, math.nan])).tolist() == [True, False, False, False]


# -- values -----------------------------------------------------------------------------------------------------------


class Job(enum.StrEnum):
    CLERK = "clerk"


class OldJob(str, enum.Enum):  # noqa: UP042  # what the users of older Pythons write
    NURSE = "nurse"


class Level(enum.IntEnum):
    LOW = 1


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float64(0.5), 0.5),
        (np.float32(0.5), 0.5),
        (np.int8(3), 3),
        (np.True_, True),
        (np.str_("a"), "a"),
        (Job.CLERK, "clerk"),
        (OldJob.NURSE, "nurse"),
        (Level.LOW, 1),
        (datetime.date(2026, 1, 31), "2026-01-31"),
        (datetime.datetime(2026, 1, 31), "2026-01-31"),
        (pd.Timestamp("2026-01-31"), "2026-01-31"),
        (np.datetime64("2026-01-31", "ns"), "2026-01-31"),
        (np.datetime64("NaT"), None),
        (pd.NA, None),
        (pd.NaT, None),
        (math.nan, None),
        (-0.0, 0.0),
        (True, True),
    ],
    ids=repr,
)
def test_values_become_python_s_own(value: Any, expected: Any) -> None:
    assert plain(value) == expected
    assert type(plain(value)) is type(expected)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            object,
            r"A value must be text, a number, a truth value, a time, an interval or missing; got <class 'object'> \(type\)\. "
            r"Hint: convert the column\.",
        ),
        ((1,), r"A value must be text, .*; got \(1,\) \(tuple\)"),
        (pd.Period("2026-01"), r"A value must be text, .*\(Period\)"),
    ],
)
def test_values_that_are_none(value: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        plain(value)


def test_names_become_python_s_own() -> None:
    assert type(Continuous(np.int64(3), 0, 1).name) is int  # type: ignore[arg-type]
    assert type(Continuous(np.str_("x"), 0, 1).name) is str
    assert type(Continuous(Job.CLERK, 0, 1).name) is str


@pytest.mark.parametrize("name", ["", None, 1.5, True, ("a", "b"), math.nan], ids=repr)
def test_names_must_be_text_or_whole_numbers(name: Any) -> None:
    with pytest.raises(
        SchemaError, match=r"A feature's name must be text or a whole number; got .*\. Hint: rename the column\."
    ) as caught:
        Continuous(name, 0, 1)
    assert caught.value.feature is name


# -- what they say ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("feature", "words"),
    [
        (Continuous("x", 0, 1e6), "0 to 1000000"),
        (Continuous("x", 0.1234567, 1e20), "0.1234567 to 1e+20"),
        (Continuous("x", 0, 9, step=0.01), "0 to 9 in steps of 0.01"),
        (Integer("x", -5, 5), "-5 to 5"),
        (Integer("x", "2020-01-01", "2026-12-31", dtype="date"), "2020-01-01 to 2026-12-31"),
        (Ordinal("x", ["low", "high"]), "'low' < 'high'"),
        (Categorical("x", ["a", None, 2, 2.5]), "'a', missing, 2, 2.5"),
        (Categorical("x", range(9)), "0, 1, 2, 3, 4, 5, 6, 7, ... (9 values)"),
        (Binary("x"), "False, True"),
        (Mixed("x", 0, 9, {-9: "no record", None: "gone"}), "0 to 9, or -9 (no record), missing (gone)"),
        (Mixed("x", 0, 9, ["none"], integer=True), "0 to 9 in steps of 1, or 'none'"),
        (
            Mixed("x", "2020-01-01", "2026-12-31", ["9999-12-31"], integer=True, dtype="date"),
            "2020-01-01 to 2026-12-31, or '9999-12-31'",
        ),
    ],
)
def test_the_domain_in_words(feature: Feature, words: str) -> None:
    assert feature.describe() == words


@pytest.mark.parametrize(
    ("feature", "value", "words"),
    [
        (Continuous("x", 0, 1), 1000000.5, "1000000.5"),
        (Continuous("x", 0, 1), 3, "3"),
        (Integer("x", 0, 1, dtype="date"), "2026-01-31", "2026-01-31"),
        (Categorical("x", ["O'Brien"]), "O'Brien", "'O'Brien'"),
        (Binary("x"), True, "True"),
        (Mixed("x", 0, 1, {-9: "no record"}), -9, "-9 (no record)"),
        (Mixed("x", 0, 1, [-9]), -9, "-9"),
        (Mixed("x", 0, 1, [-9]), 0.5, "0.5"),
    ],
)
def test_a_value_in_words(feature: Feature, value: Any, words: str) -> None:
    assert feature.show(feature.number(value)) == words


def test_which_features_have_an_order() -> None:
    assert {kind: cls.ordered.fget(None) for kind, cls in KINDS.items()} == {  # type: ignore[attr-defined]
        "continuous": True, "integer": True, "ordinal": True, "categorical": False, "binary": True, "mixed": True,
    }  # fmt: skip


def test_numbers_are_no_atoms() -> None:
    assert Continuous("x", 0, 1).atoms == ()
    with pytest.raises(IndexError):
        Continuous("x", 0, 1).atom_number(0)


# -- steps ------------------------------------------------------------------------------------------------------------


@given(st.integers(-10_000_000, 10_000_000))
def test_cents_are_the_doubles_of_their_decimals(cents: int) -> None:
    feature = Continuous("x", -1e6, 1e6, step=0.01)
    computed = np.array([cents * 0.01, cents / 100, sum([0.01] * (abs(cents) % 100)) * math.copysign(1, cents)])
    assert feature.fits(computed).all()
    assert snap(computed[:1], 0.01)[0] == float(f"{cents}e-2")
    assert not feature.fits(computed + 0.004).any()


@pytest.mark.parametrize("step", strategies.STEPS)
def test_multiples_of_the_step_fit_and_others_do_not(step: float) -> None:
    feature = Continuous("x", -100 * step, 100 * step, step=step)
    multiples = np.arange(-99, 100) * step
    assert feature.fits(multiples).all()
    assert not feature.fits(multiples + 0.4 * step).any()


def test_steps_of_singles_are_singles() -> None:
    feature = Continuous("x", 0, 1000, step=0.01, dtype="float32")
    assert feature.fits(np.array([0.07, 12.34, 999.99], dtype=np.float32).astype(np.float64)).all()
    assert not feature.fits(np.array([0.074, 12.344])).any()


def test_steps_matter_at_any_size() -> None:
    assert Continuous("x", 0, 1e12, step=0.01).fits(np.array([1e10, 1e10 + 0.005])).tolist() == [True, False]
    assert Integer("x", 0, 1e15).fits(np.array([1e9, 1e9 + 0.25])).tolist() == [True, False]


def test_intervals_without_a_multiple_are_not_reachable() -> None:
    whole = Integer("x", 0, 9)
    assert whole.reachable(Region(((0.2, 0.8), (1.5, 2.0), (20, 30)))) == Region.between(1.5, 2.0)
    cents = Continuous("x", 0, 9, step=0.01)
    assert cents.reachable(Region.between(0.011, 0.019)).empty
    assert not cents.reachable(Region.points([0.07])).empty
    mixed = Mixed("x", 0, 9, [5, "none"], integer=True)
    assert mixed.reachable(Region.between(4.5, 5.5)).empty
    assert mixed.reachable(mixed.region) == mixed.region


# -- mixed ------------------------------------------------------------------------------------------------------------


def test_a_number_that_equals_a_code_is_the_code() -> None:
    feature = Mixed("x", 0, 100, [50, -9], integer=True, dtype="int64")
    assert feature.number(50) == code_number(0)
    assert feature.encode(pd.Series([49, 50, -9])).tolist() == [49, code_number(0), code_number(1)]
    assert feature.fits(np.array([49.0, 50.0, 51.0])).tolist() == [True, False, True]
    assert feature.decode(np.array([49, code_number(0), code_number(1)])).tolist() == [49, 50, -9]


def test_a_widened_domain_may_hold_a_code() -> None:
    feature = Mixed("x", 0, 100, [-9]).widened(-20)
    assert feature.region.contains(np.array([-20.0, -10.0, -9.0, code_number(0)])).tolist() == [True, True, False, True]


@pytest.mark.parametrize("dtype", strategies.DATES)
def test_a_date_may_be_a_code(dtype: str) -> None:
    feature = Mixed("until", "2020-01-01", "2030-12-31", ["2200-01-01", None], integer=True, dtype=dtype)
    column = pd.Series([datetime.date(2026, 1, 31), datetime.date(2200, 1, 1), None], dtype=object)
    column = column if dtype == "date" else pd.to_datetime(column).astype(dtype)
    numbers = feature.encode(column)
    assert numbers.tolist() == [20484, code_number(0), code_number(1)]
    assert feature.number("2200-01-01") == feature.number(pd.Timestamp("2200-01-01")) == code_number(0)
    back = feature.decode(numbers)
    assert back.dtype == column.dtype
    assert back.equals(column.rename("until"))


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Continuous("f", "a", 1),
            r"Feature 'f' must have a number as lower bound; got 'a'\. Hint: give lower= and upper=\.",
        ),
        (lambda: Continuous("f", 0, None), r"Feature 'f' must have a number as upper bound; got None"),
        (lambda: Continuous("f", False, 1), r"Feature 'f' must have a number as lower bound; got False"),
        (lambda: Continuous("f", 0, 1j), r"Feature 'f' must have a number as upper bound; got 1j"),
        (
            lambda: Continuous("f", -math.inf, 1),
            r"Feature 'f' must have a finite lower bound; got -inf\. Hint: give the widest value that can occur\.",
        ),
        (lambda: Continuous("f", 0, math.nan), r"Feature 'f' must have a finite upper bound; got nan"),
        (lambda: Integer("f", 0, 10**400), r"Feature 'f' must have a finite upper bound; got 1000"),
        (lambda: Continuous("f", 2, 1), r"Feature 'f' must have lower <= upper; got \[2, 1\]\. Hint: exchange the bounds\."),
        (
            lambda: Integer("f", "2026-01-02", "2026-01-01", dtype="date"),
            r"Feature 'f' must have lower <= upper; got \[2026-01-02, 2026-01-01\]",
        ),
        (
            lambda: Integer("f", "1.1.2026", 9, dtype="date"),
            r"Feature 'f' must hold dates; got '1\.1\.2026'\. Hint: write dates as 2026-01-31\.",
        ),
        (
            lambda: Integer("f", 0, 1.5, dtype="date"),
            r"Feature 'f' must have a time between 0001-01-01 and 9999-12-31 as upper bound; got 1\.5",
        ),
        (
            lambda: Integer("f", 0, 1e9, dtype="date"),
            r"Feature 'f' must have a time between 0001-01-01 and 9999-12-31 as upper bound; got 1000000000\.0",
        ),
        (
            lambda: Integer("f", 0, None, dtype="date"),
            r"Feature 'f' must have a time between 0001-01-01 and 9999-12-31 as upper bound; got None",
        ),
        (lambda: Integer("f", 0, [1], dtype="date"), r"Feature 'f' must hold dates; got \[1\]"),
        (
            lambda: Continuous("f", 0, 1, step=0),
            r"Feature 'f' must have a positive step; got 0\. Hint: use 0\.01 for cents, or step=None\.",
        ),
        (lambda: Continuous("f", 0, 1, step="0.01"), r"Feature 'f' must have a positive step; got '0\.01'"),
        (lambda: Mixed("f", 0, 1, [-9], step=math.nan), r"Feature 'f' must have a positive step; got nan"),
        (
            lambda: Continuous("f", 0, 1e300, step=1e-300),
            r"Feature 'f' must have fewer than 2\*\*53 steps; got step 1e-300\. Hint: make the step larger, or use step=None\.",
        ),
        (
            lambda: Continuous("f", 0.1, 0.2, step=1),
            r"Feature 'f' must have a number within its bounds; got 0\.1 to 0\.2 in steps of 1\. Hint: widen the "
            r"bounds, make the step smaller or drop a code\.",
        ),
        (lambda: Mixed("f", 7, 7, [7]), r"Feature 'f' must have a number within its bounds; got 7 to 7, or 7"),
        (
            lambda: Continuous("f", 0, 9, dtype="date"),
            r"Feature 'f' must have whole numbers of its unit as values; got a continuous feature\. Hint: use Integer, or Mixed "
            r"with integer=True, and say what it counts: unit='15 minutes'\.",
        ),
        (
            lambda: Mixed("f", 0, 9, [None], dtype="datetime64[ns]"),
            r"Feature 'f' must have whole numbers of its unit as values; got a mixed feature",
        ),
        (
            lambda: Mixed("f", 0, 9, [None], step=0.5, dtype="datetime64[ns]"),
            r"Feature 'f' must have whole numbers of its unit as values",
        ),
        (lambda: Mixed("f", 0, 9, ["never"], integer=True, dtype="date"), r"Feature 'f' must hold dates; got 'never'"),
        (lambda: Mixed("f", 0, 9, [-9], integer=True, dtype="date"), r"Feature 'f' must hold dates; got -9"),
        (
            lambda: Integer("f", 0.2, 0.8),
            r"Feature 'f' must have a whole number within its bounds; got \[0\.2, 0\.8\]\. Hint: widen the bounds or "
            r"use Continuous\.",
        ),
        (lambda: Mixed("f", 0.2, 0.8, [-9], integer=True), r"Feature 'f' must have a whole number within its bounds"),
        (lambda: Integer("f", 0, 2**53), r"Feature 'f' must stay below 2\*\*53; got .*\. Hint: drop it if it is an identifier\."),
        (lambda: Mixed("f", -(2**60), 0, [5], integer=True), r"Feature 'f' must stay below 2\*\*53"),
        (
            lambda: Mixed("f", 0, 1, [-9], integer=True, step=0.5),
            r"Feature 'f' must have integer=True or a step, not both; got step=0\.5\. Hint: leave one of them out\.",
        ),
        (
            lambda: Mixed("f", 0, 1),
            r"Feature 'f' must have at least one special code; got none\. Hint: use Continuous or Integer\.",
        ),
        (lambda: Mixed("f", 0, 1, "none"), r"Feature 'f' must have a list of codes; got 'none'\. Hint: write codes=\[-9\]"),
        (lambda: Mixed("f", 0, 1, -9), r"Feature 'f' must have a list of codes; got -9"),
        (
            lambda: Mixed("f", 0, 1, [-9, -9.0]),
            r"Feature 'f' must have different codes; got \[-9, -9\.0\]\. Hint: drop the repeated one\.",
        ),
        (lambda: Mixed("f", 0, 1, [None, math.nan]), r"Feature 'f' must have different codes; got \[None, None\]"),
        (
            lambda: Mixed("f", 0, 1, [-9], labels=["a", "b"]),
            r"Feature 'f' must have one label per code; got \['a', 'b'\]\. Hint: give codes=\{-9: 'no record'\}\.",
        ),
        (lambda: Mixed("f", 0, 1, [math.inf]), r"Feature 'f' must be finite; got inf"),
        (lambda: Mixed("f", 0, 1, [2**53]), r"Feature 'f' must stay below 2\*\*53; got 9007199254740992"),
        (lambda: Mixed("f", 0, 1, [[1]]), r"A value of feature 'f' must be text, a number.*; got \[1\]"),
        (
            lambda: Continuous("f", 0, 1, dtype="shoe"),
            r"Feature 'f' must have a pandas dtype of numbers or times; got 'shoe'\. Hint: convert the column, or leave "
            r"dtype out\.",
        ),
        (lambda: Continuous("f", 0, 1, dtype="category"), r"must have a pandas dtype of numbers or times; got 'category'"),
        (lambda: Continuous("f", 0, 1, dtype="complex128"), r"must have a pandas dtype of numbers or times; got 'complex128'"),
        (
            lambda: Integer("f", 0, 1, dtype="datetime64[ns, Atlantis]"),
            r"must have a dtype of times that pandas knows; got 'datetime64\[ns, Atlantis\]'",
        ),
        (
            lambda: Integer("f", 0, 1, dtype="datetime64[D]"),
            r"must have a dtype of times that pandas knows; got 'datetime64\[D\]'",
        ),
        (lambda: Integer("f", 0, 1, dtype=float), r"must have a pandas dtype of numbers or times; got <class 'float'>"),
        (lambda: Categorical("f", "ab"), r"Feature 'f' must have a list of values; got 'ab'\. Hint: write values=\['a', 'b'\]\."),
        (lambda: Categorical("f", {"a", "b"}), r"Feature 'f' must have a list of values; got \{"),
        (lambda: Categorical("f", {"a": 1}), r"Feature 'f' must have a list of values; got \{'a': 1\}"),
        (lambda: Categorical("f", 5), r"Feature 'f' must have a list of values; got 5"),
        (lambda: Categorical("f", []), r"Feature 'f' must have at least one value; got none\. Hint: drop the feature\."),
        (lambda: Categorical("f", ["a", "b", "a"]), r"Feature 'f' must have different values; got 'a' twice\. Hint: drop one\."),
        (lambda: Categorical("f", [True, 1]), r"Feature 'f' must have different values; got 1 twice"),
        (lambda: Categorical("f", [None, pd.NA]), r"Feature 'f' must have different values; got None twice"),
        (
            lambda: Ordinal("f", [1.0, math.inf]),
            r"Feature 'f' must have finite values; got \[1\.0, inf\]\. Hint: replace the infinite one by a text\.",
        ),
        (lambda: Categorical("f", [["a"]]), r"A value of feature 'f' must be text, a number.*; got \['a'\] \(list\)"),
        (
            lambda: Categorical("f", ["a"], dtype="shoe"),
            r"Feature 'f' must have a dtype that holds 'a'; got 'shoe'\. Hint: leave dtype out\.",
        ),
        (lambda: Categorical("f", ["a"], dtype="int64"), r"Feature 'f' must have a dtype that holds 'a'; got 'int64'"),
        (lambda: Categorical("f", [1, 2], dtype="str"), r"Feature 'f' must have a dtype that holds 1, 2; got 'str'"),
        (
            lambda: Categorical("f", [True, False], dtype="str"),
            r"Feature 'f' must have a dtype that holds True, False; got 'str'",
        ),
        (lambda: Categorical("f", [1, 300], dtype="int8"), r"Feature 'f' must have a dtype that holds 1, 300; got 'int8'"),
        (lambda: Categorical("f", [0.5, 1], dtype="int64"), r"Feature 'f' must have a dtype that holds 0\.5, 1; got 'int64'"),
        (lambda: Categorical("f", ["soon"], dtype="date"), r"Feature 'f' must have a dtype that holds 'soon'; got 'date'"),
        (lambda: Categorical("f", ["a"], dtype=7), r"Feature 'f' must have a dtype that holds 'a'; got 7"),
        (
            lambda: Binary("f", ["a", "b", "c"]),
            r"Feature 'f' must have two values; got \['a', 'b', 'c'\]\. Hint: use Categorical\.",
        ),
    ],
)
def test_features_that_cannot_be(make: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        make()
    assert caught.value.feature == "f"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            {"name": "f"},
            r"Feature 'f' must have a known kind; got None\. Hint: use one of continuous, integer, ordinal, "
            r"categorical, binary, mixed\.",
        ),
        ({"name": "f", "kind": "shoe"}, r"Feature 'f' must have a known kind; got 'shoe'"),
        ({"name": "f", "kind": ["integer"]}, r"Feature 'f' must have a known kind; got \['integer'\]"),
        (
            {"name": "f", "kind": "integer", "step": 1},
            r"Feature 'f' must have only settings of the kind integer; got 'step'\. Hint: use dtype, label, lower, unit, upper\.",
        ),
        ({"name": "f", "kind": "integer", 5: 1}, r"Feature 'f' must have only settings of the kind integer; got 5"),
        (
            {"name": "f", "kind": "integer", "lower": 1},
            r"Feature 'f' must be complete; got .*'upper'\. Hint: the kind integer has dtype, label, lower, unit, upper\.",
        ),
    ],
)
def test_files_with_features_that_cannot_be(data: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        feature_from_dict(data)
    assert caught.value.feature == "f"


def test_a_feature_in_a_file_is_a_mapping() -> None:
    with pytest.raises(
        SchemaError, match=r"A feature must have a name, a kind and its settings; got 'age'\. Hint: see `likely schema infer`\."
    ):
        feature_from_dict("age")  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match=r"A feature's name must be text or a whole number; got None"):
        make_feature("binary", {"name": None})


def test_lists_of_any_kind_are_lists() -> None:
    column = pd.Series(["a", "b"])
    for values in (["a", "b"], ("a", "b"), np.array(["a", "b"]), pd.Index(["a", "b"]), column, column.unique()):
        assert Categorical("f", values).values == ("a", "b")  # type: ignore[arg-type]
    assert Mixed("f", 0, 1, np.array([-9, -8])).codes == (-9, -8)  # type: ignore[arg-type]


def test_values_of_a_binary_keep_their_type() -> None:
    """(0, 1) == (False, True), the default; the file must tell them apart."""
    for values in ((0, 1), (False, True), (0.0, 1.0)):
        again = feature_from_dict(json.loads(json.dumps(Binary("f", values).to_dict())))
        assert [type(value) for value in again.atoms] == [type(value) for value in values]


def test_a_discrete_feature_is_not_widened() -> None:
    with pytest.raises(
        SchemaError,
        match=r"Feature 'f' must be one of its values in a factual; got 7\.0\. Hint: use schema\.encode_row\(factual\)\.",
    ) as caught:
        Categorical("f", ["a"]).widened(7.0)
    assert caught.value.feature == "f"
