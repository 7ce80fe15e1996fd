"""Strategies of features, rows, rules, costs, schemas and columns.

`features` -> `schemas` -> `rows`, `factuals`, `conditions`, `constraints`, `costs`.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from likely.errors import ContradictionError
from likely.schema import (
    AllowedValues,
    Binary,
    Categorical,
    Condition,
    Constraint,
    Continuous,
    Decreasing,
    Feature,
    Forbid,
    Immutable,
    Implies,
    Increasing,
    Integer,
    LinearConstraint,
    MaxChange,
    MaxChanges,
    Mixed,
    Ordinal,
    Range,
    Schema,
)
from likely.schema.costs import Cost, MixedCost, MoveCost, SwitchCost
from likely.schema.features import KINDS
from likely.schema.grid import snap
from likely.schema.times import day_text, holds_moments

Strategy = st.SearchStrategy

FLOATS = ("float64", "float32", "Float64", "object")

INTEGERS = ("int64", "int8", "uint8", "int32", "Int64", "float64", "object")

DATES = ("date", "datetime64[ns]", "datetime64[us]", "datetime64[s]")

STEPS = (0.01, 0.05, 0.1, 0.25, 0.5, 2.5, 3.0, 1 / 3)

NUMERIC = ("continuous", "integer", "mixed")

#: Texts that a file or a format string could trip over.
AWKWARD = (
    "O'Brien",
    '"',
    "{f}",
    "<b>&</b>",
    "né",
    "日本",
    "yes",
    "null",
    "1",
    "01",
    "1e5",
    "1.0",
    "2026-01-31",
    "a: b",
    "#",
    "-",
    " x",
)


def texts() -> Strategy[str]:
    """Short texts, some of them awkward."""
    plain = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=4)
    return st.one_of(st.sampled_from("abcdefgh"), st.sampled_from(AWKWARD), plain)


def names() -> Strategy[str | int]:
    """Names of features: texts, and whole numbers."""
    return st.one_of(texts(), st.integers(0, 9))


def values(*, missing: bool = True) -> Strategy[Any]:
    """What may stand in a cell of a discrete feature."""
    numbers = st.one_of(st.integers(-9, 99), st.integers(-(2**60), 2**60), st.floats(allow_nan=False, allow_infinity=False))
    known = st.one_of(texts(), numbers, st.booleans())
    return st.one_of(known, st.none()) if missing else known


def days() -> Strategy[float]:
    """Days since 1970-01-01, mostly of our time."""
    return st.integers(-20_000, 40_000).map(float)


def _held(number: float, dtype: str) -> float:
    """A number as a column of this dtype holds it."""
    return float(np.float32(number)) if dtype == "float32" else number


@st.composite
def _ends(draw: st.DrawFn, dtype: str, step: float | None, extremes: bool) -> tuple[float, float]:
    """Two bounds, multiples of the step where there is one."""
    if step is not None:
        low, high = sorted((draw(st.integers(-50, 50)), draw(st.integers(-50, 50))))
        return tuple(_held(float(snap(np.array([k * step]), step)[0]), dtype) for k in (low, high))  # type: ignore[return-value]
    size = 1e300 if extremes and dtype != "float32" else 1e3
    number = st.one_of(st.floats(-size, size), st.integers(-100, 100).map(float), st.sampled_from([0.0, -0.0, 1e-300, 0.1]))
    low, high = sorted((_held(draw(number), dtype), _held(draw(number), dtype)))
    return low, high


@st.composite
def continuous(draw: st.DrawFn, name: Any = "x", *, extremes: bool = False) -> Continuous:
    dtype = draw(st.sampled_from(FLOATS))
    step = draw(st.one_of(st.none(), st.sampled_from(STEPS)))
    return Continuous(name, *draw(_ends(dtype, step, extremes)), step=step, dtype=dtype)


@st.composite
def integers(draw: st.DrawFn, name: Any = "n") -> Integer:
    dtype = draw(st.sampled_from(INTEGERS))
    low = 0 if dtype.startswith("uint") else -100
    high = draw(st.sampled_from([1, 100, 2**40])) if dtype in ("int64", "Int64", "float64", "object") else 100
    lower, upper = sorted((draw(st.integers(low, high)), draw(st.integers(low, high))))
    return Integer(name, lower, upper, dtype=dtype)


@st.composite
def dates(draw: st.DrawFn, name: Any = "day") -> Integer:
    lower, upper = sorted((draw(days()), draw(days())))
    return Integer(name, day_text(lower), day_text(upper), dtype=draw(st.sampled_from(DATES)))


def _dtypes(cells: Sequence[Any]) -> list[str]:
    """The dtypes that a column of these values can have."""
    known = [value for value in cells if value is not None]
    types = {type(value) for value in known}
    dtypes = ["object"]
    if len(types) == 1:
        dtypes += ["category", "category[ordered]"]
    if types == {str}:
        dtypes += ["str", "string"]
    if types == {bool}:
        dtypes += ["bool", "boolean"]
    if types == {int}:
        dtypes += ["Int64", "int64"] if None not in cells else ["Int64"]
    if types == {float}:
        dtypes += ["float64", "Float64"]
    return dtypes


@st.composite
def discrete(draw: st.DrawFn, kind: type[Any], name: Any = "c", *, most: int = 4) -> Any:
    """A feature of this kind with a few values: of one type or of several, missing among them or not."""
    size = {"min_size": 2, "max_size": 2} if kind is Binary else {"min_size": 1, "max_size": most}
    cell = draw(st.sampled_from([texts(), st.integers(-9, 9), st.booleans(), st.floats(-9, 9), values()]))
    cells = draw(st.lists(st.one_of(cell, st.none()) if draw(st.booleans()) else cell, unique=True, **size))  # type: ignore[arg-type]
    return kind(name, tuple(cells), dtype=draw(st.sampled_from(_dtypes(cells))))


def ordinals(name: Any = "rank") -> Strategy[Ordinal]:
    return discrete(Ordinal, name)


def categoricals(name: Any = "c") -> Strategy[Categorical]:
    return discrete(Categorical, name)


def binaries(name: Any = "b") -> Strategy[Binary]:
    return discrete(Binary, name)


@st.composite
def mixed(draw: st.DrawFn, name: Any = "m") -> Mixed:
    """Numbers or dates with codes: numbers in and outside the bounds, texts, missing; with labels or not."""
    if draw(st.integers(0, 4)) == 0:
        return draw(_mixed_dates(name))
    codes = draw(st.lists(st.one_of(st.integers(-12, 12), st.none(), texts()), min_size=1, max_size=3, unique=True))
    texted = any(isinstance(code, str) for code in codes)
    whole = draw(st.booleans())
    step = None if whole else draw(st.one_of(st.none(), st.sampled_from(STEPS)))
    dtype = "object" if texted else draw(st.sampled_from(INTEGERS if whole else ("float64", "Float64", "object")))
    if dtype.startswith(("int", "uint")):
        codes = [code for code in codes if code is not None and (code >= 0 or dtype[0] == "i")] or [7]
    gap = len(codes) + 1  # numbers are left when the codes are taken out
    if whole:
        lower = draw(st.integers(0 if dtype.startswith("uint") else -20, 60))
        bounds = (lower, lower + draw(st.integers(gap, 30)))
    else:
        unit = step or 1.0
        lower = draw(st.integers(-20, 60))
        bounds = tuple(snap(np.array([lower, lower + draw(st.integers(gap, 30))]) * unit, unit))
    labels = tuple(f"label {k}" for k in range(len(codes))) if draw(st.booleans()) else ()
    return Mixed(name, *bounds, codes, labels=labels, step=step, integer=whole, dtype=dtype)


@st.composite
def _mixed_dates(draw: st.DrawFn, name: Any) -> Mixed:
    lower, upper = sorted((draw(days()), draw(days())))
    codes = draw(st.lists(st.sampled_from([None, "1900-01-01", "2200-12-31"]), min_size=1, max_size=2, unique=True))
    return Mixed(name, lower, upper, codes, integer=True, dtype=draw(st.sampled_from(DATES)))


def features(name: Any = "f", *, kinds: Sequence[str] = tuple(KINDS), extremes: bool = False) -> Strategy[Feature]:
    """A feature of one of the kinds; with `extremes`, also with bounds as large as a double allows."""
    made: dict[str, list[Strategy[Any]]] = {
        "continuous": [continuous(name, extremes=extremes)],
        "integer": [integers(name), dates(name)],
        "ordinal": [ordinals(name)],
        "categorical": [categoricals(name)],
        "binary": [binaries(name)],
        "mixed": [mixed(name)],
    }
    return st.one_of([strategy for kind in kinds for strategy in made[kind]])


@st.composite
def plain_numbers(draw: st.DrawFn, feature: Any) -> float:
    """A double that stands for a number of a numeric feature."""
    grid, low, high = feature.grid, feature.lower + 0.0, feature.upper + 0.0  # one zero
    if grid is None:
        drawn = draw(st.one_of(st.sampled_from([low, high]), st.floats(low, high)))
        number = min(max(_held(drawn, feature.dtype), low), high)
    else:
        first, last = math.ceil(low / grid - 1e-4), math.floor(high / grid + 1e-4)
        number = _held(float(snap(np.array([draw(st.integers(first, last)) * grid]), grid)[0]), feature.dtype)
    kept = feature.number(feature.value(number))  # a number that equals a code is the code
    if kept in feature.region and kept > -(2.0**999):
        return kept
    return next(n for n in _some_numbers(feature) if n in feature.region)


def _some_numbers(feature: Any) -> list[float]:
    grid = feature.grid or (feature.upper - feature.lower) / 8
    return [min(feature.lower + float(snap(np.array([k * grid]), grid)[0]), feature.upper) for k in range(8)]


def numbers(feature: Any) -> Strategy[float]:
    """A double that stands for a value of the feature."""
    atoms = [feature.atom_number(k) for k in range(len(feature.atoms))]
    drawn = [st.sampled_from(atoms)] if atoms else []
    return st.one_of([*drawn, plain_numbers(feature)] if feature.numeric else drawn)


def row_numbers(schema: Schema) -> Strategy[np.ndarray]:
    """A row of doubles within the schema's domains."""
    return st.tuples(*(numbers(feature) for feature in schema.features)).map(np.array)


def rows(schema: Schema, *, least: int = 0, most: int = 5) -> Strategy[np.ndarray]:
    """An array of rows within the schema's domains."""
    drawn = st.lists(row_numbers(schema), min_size=least, max_size=most)
    return drawn.map(lambda drawn_rows: np.array(drawn_rows).reshape(-1, len(schema)))


@st.composite
def factuals(draw: st.DrawFn, schema: Schema) -> np.ndarray:
    """A row of doubles, unknown (NaN) here and there where missing is not a value of its own."""
    row = draw(row_numbers(schema))
    for j, feature in enumerate(schema.features):
        if None not in feature.atoms and draw(st.integers(0, 5)) == 0:
            row[j] = math.nan
    return row


def tables(schema: Schema, *, least: int = 0, most: int = 5) -> Strategy[pd.DataFrame]:
    """A table in the user's own values and dtypes."""
    return rows(schema, least=least, most=most).map(schema.decode)


def user_row(schema: Schema, row: np.ndarray) -> dict[Any, Any]:
    """A row of doubles as the user writes it."""
    table = schema.decode(row[None, :])
    return {name: table[name].iloc[0] for name in schema.names}


ROW_WISE = ("equals", "at_least", "at_most")

RELATIVE = ("increases", "decreases", "changes", "was")

ORDERED = ("increases", "decreases", "at_least", "at_most")


def user_values(feature: Any, *, ranked: bool = False) -> Strategy[Any]:
    """A value of the feature as a rule names it; with `ranked`, no code."""
    return (plain_numbers(feature) if ranked and feature.numeric else numbers(feature)).map(feature.value)


@st.composite
def conditions(draw: st.DrawFn, schema: Schema, *, tests: Sequence[str] = ROW_WISE + RELATIVE) -> Condition:
    """A condition that one of the schema's features can have, turned around or not."""
    feature = draw(st.sampled_from(schema.features))
    able = [test for test in tests if feature.ordered or test not in ORDERED]
    test = draw(st.sampled_from(able))
    value = draw(user_values(feature, ranked=test in ORDERED)) if test in (*ROW_WISE, "was") else None
    return Condition(test, feature.name, value, draw(st.booleans()))


@st.composite
def ranges(draw: st.DrawFn, schema: Schema) -> Constraint:
    feature = draw(st.sampled_from([f for f in schema.features if f.ordered]))
    ends = sorted(draw(st.lists(user_values(feature, ranked=True), min_size=2, max_size=2)), key=feature.number)
    lower, upper = draw(st.sampled_from([(ends[0], ends[1]), (ends[0], None), (None, ends[1])]))
    # The value None of an ordinal feature reads as an open end; with two of them there is no range.
    return Range(feature.name, lower, upper) if (lower, upper) != (None, None) else Immutable(feature.name)


@st.composite
def allowed_values(draw: st.DrawFn, schema: Schema, *, tests: Sequence[str] = ROW_WISE + RELATIVE) -> AllowedValues:
    feature = draw(st.sampled_from(schema.features))
    some = st.lists(user_values(feature), max_size=3)
    unless = draw(st.one_of(st.none(), conditions(schema, tests=tests)))
    if draw(st.booleans()):
        return AllowedValues(feature.name, draw(some.filter(len)), unless=unless)
    olds = draw(st.lists(user_values(feature), min_size=1, max_size=2, unique=True))
    return AllowedValues(feature.name, transitions={old: draw(some) for old in olds}, unless=unless)


@st.composite
def linears(draw: st.DrawFn, schema: Schema) -> LinearConstraint:
    able = [f.name for f in schema.features if f.numeric]
    named = draw(st.lists(st.sampled_from(able), min_size=1, max_size=3, unique=True))
    number = st.one_of(st.integers(-5, 5).map(float), st.floats(-1e3, 1e3))
    return LinearConstraint({name: draw(number) for name in named}, draw(st.one_of(number, st.floats(-1e5, 1e5))))


@st.composite
def max_changes(draw: st.DrawFn, schema: Schema) -> MaxChange:
    """A limit of how far a feature may go, in a unit that it can be counted in."""
    feature = draw(st.sampled_from([f for f in schema.features if f.ordered]))
    units = ["steps"] if feature.grid is not None else []
    if feature.numeric:
        units += ["value"] if holds_moments(feature.dtype) else ["value", "percent"]
    size = st.one_of(st.none(), st.integers(0, 20).map(float))
    up, down = draw(st.tuples(size, size).filter(lambda pair: pair != (None, None)))
    return MaxChange(feature.name, up, down, draw(st.sampled_from(units)))


def constraints(schema: Schema, *, row_wise: bool = False) -> Strategy[Constraint]:
    """A constraint of any kind that the schema's features can have; with `row_wise`, one that needs no factual."""
    name = st.sampled_from(schema.names)
    ordered = st.sampled_from([f.name for f in schema.features if f.ordered] or [None])
    tests = ROW_WISE if row_wise else ROW_WISE + RELATIVE
    some = st.lists(conditions(schema, tests=tests), min_size=1, max_size=2)
    kinds: list[Strategy[Constraint]] = [st.builds(Implies, some, some), some.map(lambda c: Forbid(*c))]
    if any(f.ordered for f in schema.features):
        kinds.append(ranges(schema))
    if any(f.numeric for f in schema.features):
        kinds.append(linears(schema))
    if row_wise:
        return st.one_of(*kinds, allowed_values(schema, tests=tests)).filter(lambda constraint: constraint.row_wise)
    if any(f.ordered for f in schema.features):
        kinds += [st.builds(Increasing, ordered), st.builds(Decreasing, ordered), max_changes(schema)]
    kinds += [st.builds(Immutable, name), st.builds(MaxChanges, st.integers(1, 3)), allowed_values(schema)]
    return st.one_of(kinds)


def prices() -> Strategy[float]:
    """A price, often 0 or 1."""
    return st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 100))


@st.composite
def costs(draw: st.DrawFn, feature: Any) -> Cost:
    """A price list of the feature: directions, fees, tables."""
    if feature.numeric and not feature.atoms:
        return MoveCost(draw(prices()), draw(prices()), draw(prices()))
    count = len(feature.atoms)
    weights = tuple(draw(st.lists(prices(), min_size=count, max_size=count)))
    moves = [(i, j) for i in range(count) for j in range(count) if i != j]
    named = draw(st.lists(st.sampled_from(moves), max_size=2, unique=True)) if moves else []
    table = tuple((i, j, draw(prices())) for i, j in named)
    if not feature.numeric:
        return SwitchCost(weights, table, draw(prices()))
    return MixedCost(MoveCost(draw(prices()), draw(prices()), draw(prices())), weights, draw(plain_numbers(feature)), table)


@st.composite
def schemas(
    draw: st.DrawFn,
    *,
    kinds: Sequence[str] = tuple(KINDS),
    least: int = 1,
    most: int = 3,
    rules: int = 0,
    priced: bool = False,
    extremes: bool = False,
) -> Schema:
    """A schema of a few features; with up to `rules` constraints that do not contradict each other."""
    named = draw(st.lists(names(), min_size=least, max_size=most, unique=True))
    drawn = tuple(draw(features(name, kinds=kinds, extremes=extremes)) for name in named)
    schema = Schema(drawn, (), tuple(draw(costs(feature)) for feature in drawn) if priced else ())
    for constraint in draw(st.lists(constraints(schema), max_size=rules)) if rules else ():
        try:
            schema = schema.with_constraints(constraint)
        except ContradictionError:
            continue
    return schema


@st.composite
def _times(draw: st.DrawFn, least: int, most: int) -> pd.Series[Any]:
    """A column of moments or durations: in seconds, minutes, quarters of an hour or hours, some cells missing."""
    dtype = draw(st.sampled_from(["datetime64[us]", "datetime64[s, UTC]", "datetime64[ns, Europe/Berlin]", "timedelta64[s]"]))
    unit = draw(st.sampled_from([1, 60, 900, 3600]))
    cell = st.one_of(st.integers(-100_000, 400_000).map(lambda k: k * unit), st.none())
    seconds = pd.array(draw(st.lists(cell, min_size=least, max_size=most)), dtype="Int64")
    if dtype.startswith("timedelta64"):
        return pd.Series(pd.to_timedelta(seconds, unit="s")).astype(dtype)  # type: ignore[call-overload,no-any-return]
    moments = pd.Series(pd.to_datetime(seconds, unit="s"))
    zone = dtype.partition(", ")[2].rstrip("]")
    return (moments.dt.tz_localize("UTC").dt.tz_convert(zone) if zone else moments).astype(dtype)  # type: ignore[call-overload,no-any-return]


@st.composite
def _intervals(draw: st.DrawFn, least: int, most: int) -> pd.Series[Any]:
    """A column of intervals, alone or as ranked categories."""
    starts = draw(st.lists(st.integers(-9, 9), min_size=least, max_size=most))
    width = draw(st.sampled_from([1, 0.1, 1 / 3]))
    closed = draw(st.sampled_from(["left", "right", "both", "neither"]))
    column = pd.Series(
        pd.arrays.IntervalArray.from_arrays([k * width for k in starts], [(k + 1) * width for k in starts], closed)
    )
    return column.astype("category").cat.as_ordered() if draw(st.booleans()) else column  # type: ignore[call-overload,no-any-return]


@st.composite
def columns(draw: st.DrawFn, *, least: int = 1, most: int = 8) -> pd.Series[Any]:
    """A column of any dtype that `Schema.infer` has a home for."""
    if draw(st.integers(0, 4)) == 0:
        return draw(st.one_of(_times(least, most), _intervals(least, most)))
    dtype = draw(
        st.sampled_from([*FLOATS, *INTEGERS, *DATES, "bool", "boolean", "str", "string", "category", "texts and numbers"])
    )
    cell: Strategy[Any] = st.integers(0, 100)
    if dtype in FLOATS and dtype != "object":
        cell = st.one_of(st.integers(-9, 9).map(float), st.floats(-1e6, 1e6, width=32))
    elif holds_moments(dtype):
        cell = days().map(lambda day: datetime.date.fromisoformat(day_text(day)))
    elif dtype.startswith("bool"):
        cell = st.booleans()
    elif dtype in ("str", "string", "category"):
        cell = texts()
    elif dtype == "texts and numbers":
        cell = st.one_of(texts(), st.integers(-9, 9), st.floats(-9, 9))
    if not dtype.startswith(("int", "uint")) and dtype != "bool" and draw(st.booleans()):
        cell = st.one_of(cell, st.none())
    cells = draw(st.lists(cell, min_size=least, max_size=most))
    known = dtype if dtype not in ("date", "texts and numbers") else "object"
    if holds_moments(dtype) and dtype != "date":
        return pd.Series(pd.to_datetime(pd.Series(cells, dtype=object))).astype(known)  # type: ignore[call-overload,no-any-return]
    return pd.Series(cells, dtype=known)  # type: ignore[call-overload,no-any-return]
