"""Hypothesis strategies of everything a schema is made of (features, rules, costs, rows), of circuits and of problems.

They compose: `features` -> `schemas` -> `rows`, `factuals`, `conditions`, `constraints`, `costs`; and `features` ->
`leaves` -> `circuits` -> `circuit_rows`, `boxes`; and `finite_schemas`, `forms`, `goals`, `plausibilities` ->
`problems`. All are small by default (a few features of a few values), because what is wrong with a large schema is wrong
with a small one.
"""

from __future__ import annotations

import datetime
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from likely.circuit import (
    FLOOR,
    Bernoulli,
    Categories,
    Circuit,
    Coded,
    Histogram,
    Leaf,
    Node,
    Parametric,
    Product,
    Sum,
)
from likely.errors import ContradictionError, LikelyWarning
from likely.predictor import Column, Form, LinearModel, Link, ReluNetwork, TreeEnsemble
from likely.predictor.forms import NODE
from likely.problem import SCORE_MARGIN, Goal, Plausibility, Problem, between, not_class, probability, to_class
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
    MaxChanges,
    Mixed,
    Ordinal,
    Range,
    Schema,
)
from likely.schema.costs import Cost, MixedCost, MoveCost, SwitchCost
from likely.schema.features import KINDS, snap
from likely.schema.region import Region
from likely.schema.values import day_text, holds_dates
from tests.oracles.circuits import breaks_of, step_of, values_of, width_of
from tests.oracles.search import log_likelihoods

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


# -- names and values -------------------------------------------------------------------------------------------------


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
    found = st.one_of(texts(), numbers, st.booleans())
    return st.one_of(found, st.none()) if missing else found


def days() -> Strategy[float]:
    """Days since 1970-01-01, mostly of our time."""
    return st.integers(-20_000, 40_000).map(float)


# -- features ---------------------------------------------------------------------------------------------------------


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


def _dtypes(found: Sequence[Any]) -> list[str]:
    """The dtypes that a column of these values can have."""
    known = [value for value in found if value is not None]
    types = {type(value) for value in known}
    dtypes = ["object"]
    if len(types) == 1:
        dtypes += ["category", "category[ordered]"]
    if types == {str}:
        dtypes += ["str", "string"]
    if types == {bool}:
        dtypes += ["bool", "boolean"]
    if types == {int}:
        dtypes += ["Int64", "int64"] if None not in found else ["Int64"]
    if types == {float}:
        dtypes += ["float64", "Float64"]
    return dtypes


@st.composite
def discrete(draw: st.DrawFn, kind: type[Any], name: Any = "c", *, most: int = 4) -> Any:
    """A feature of this kind with a few values: of one type or of several, missing among them or not."""
    size = {"min_size": 2, "max_size": 2} if kind is Binary else {"min_size": 1, "max_size": most}
    cell = draw(st.sampled_from([texts(), st.integers(-9, 9), st.booleans(), st.floats(-9, 9), values()]))
    found = draw(st.lists(st.one_of(cell, st.none()) if draw(st.booleans()) else cell, unique=True, **size))  # type: ignore[arg-type]
    return kind(name, tuple(found), dtype=draw(st.sampled_from(_dtypes(found))))


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


# -- rows -------------------------------------------------------------------------------------------------------------


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
    return drawn.map(lambda found: np.array(found).reshape(-1, len(schema)))


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


# -- conditions and constraints ---------------------------------------------------------------------------------------

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


def constraints(schema: Schema, *, row_wise: bool = False) -> Strategy[Constraint]:
    """A constraint of any kind that the schema's features can have; with `row_wise`, one that needs no factual."""
    name = st.sampled_from(schema.names)
    ordered = st.sampled_from([f.name for f in schema.features if f.ordered] or [None])
    tests = ROW_WISE if row_wise else ROW_WISE + RELATIVE
    some = st.lists(conditions(schema, tests=tests), min_size=1, max_size=2)
    found: list[Strategy[Constraint]] = [st.builds(Implies, some, some), some.map(lambda c: Forbid(*c))]
    if any(f.ordered for f in schema.features):
        found.append(ranges(schema))
    if any(f.numeric for f in schema.features):
        found.append(linears(schema))
    if row_wise:
        return st.one_of(*found, allowed_values(schema, tests=tests)).filter(lambda constraint: constraint.row_wise)
    if any(f.ordered for f in schema.features):
        found += [st.builds(Increasing, ordered), st.builds(Decreasing, ordered)]
    found += [st.builds(Immutable, name), st.builds(MaxChanges, st.integers(1, 3)), allowed_values(schema)]
    return st.one_of(found)


# -- costs and schemas ------------------------------------------------------------------------------------------------


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
    found = tuple(draw(features(name, kinds=kinds, extremes=extremes)) for name in named)
    schema = Schema(found, (), tuple(draw(costs(feature)) for feature in found) if priced else ())
    for constraint in draw(st.lists(constraints(schema), max_size=rules)) if rules else ():
        try:
            schema = schema.with_constraints(constraint)
        except ContradictionError:
            continue
    return schema


# -- columns, as users have them --------------------------------------------------------------------------------------


@st.composite
def columns(draw: st.DrawFn, *, least: int = 1, most: int = 8) -> pd.Series[Any]:
    """A column of any dtype that `Schema.infer` has a home for."""
    dtype = draw(
        st.sampled_from([*FLOATS, *INTEGERS, *DATES, "bool", "boolean", "str", "string", "category", "texts and numbers"])
    )
    cell: Strategy[Any] = st.integers(0, 100)
    if dtype in FLOATS and dtype != "object":
        cell = st.one_of(st.integers(-9, 9).map(float), st.floats(-1e6, 1e6, width=32))
    elif holds_dates(dtype):
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
    if holds_dates(dtype) and dtype != "date":
        return pd.Series(pd.to_datetime(pd.Series(cells, dtype=object))).astype(known)  # type: ignore[call-overload,no-any-return]
    return pd.Series(cells, dtype=known)  # type: ignore[call-overload,no-any-return]


# -- circuits ---------------------------------------------------------------------------------------------------------

FLOORS = (FLOOR, 0.0, 1e-3)
#: What a circuit may have at most before it only closes what is open.
MOST_NODES = 30


@st.composite
def simplexes(draw: st.DrawFn, count: int) -> tuple[float, ...]:
    """Probabilities that sum to 1, some of them 0."""
    shares = draw(st.lists(st.integers(0, 9), min_size=count, max_size=count).filter(any))
    return tuple(share / sum(shares) for share in shares)


@st.composite
def small_features(draw: st.DrawFn, name: Any) -> Feature:
    """A feature of any kind with at most six values."""
    kind = draw(st.sampled_from([Binary, Categorical, Ordinal, Integer, Mixed, Continuous]))
    if kind is Binary:
        return Binary(name)
    if kind in (Categorical, Ordinal):
        return kind(name, tuple("abc"[: draw(st.integers(1, 3))]))  # type: ignore[no-any-return]
    first, more = draw(st.integers(-3, 3)), draw(st.integers(0, 3))
    if kind is Integer:
        # bounds need not be whole numbers themselves
        outside = draw(st.sampled_from([0, 0.5]))
        return Integer(name, first - outside, first + more + outside)
    if kind is Continuous:
        step = draw(st.sampled_from(STEPS))
        low, high = snap(np.array([first * step, (first + more) * step]), step)
        return Continuous(name, low, high, step=step)
    codes = draw(st.lists(st.one_of(st.integers(-4, 4), st.none()), min_size=1, max_size=2, unique=True))
    return Mixed(name, first, first + more + 2, codes, integer=True, dtype="float64")


def _bins(draw: st.DrawFn, feature: Any, aligned: bool) -> list[float]:
    """Breaks of a histogram: anywhere, or multiples of the step."""
    step = step_of(feature)
    low, high = (feature.lower, feature.upper) if feature.numeric else (0.0, len(feature.atoms) - 1.0)
    if step is None:
        inner = st.one_of(st.floats(low - 1, high + 1), st.integers(math.floor(low), math.ceil(high)).map(float))
        found = sorted({low, high + draw(st.sampled_from([0.1, 1.0])), *draw(st.lists(inner, max_size=4))})
        return [found[0], *(b for a, b in pairwise(found) if b - a > 1e-6 * max(1.0, abs(b)))]
    first, last = math.floor(low / step) - 1, math.ceil(high / step) + 2
    halves = st.integers(2 * first, 2 * last).map(lambda k: k / 2)
    places = draw(st.lists(st.integers(first, last) if aligned else halves, min_size=2, max_size=5, unique=True))
    return sorted({float(snap(np.array([place * step]), step / 2)[0]) for place in places})


@st.composite
def histograms(draw: st.DrawFn, feature: Any, variable: int, *, normalised: bool = True, aligned: bool = True) -> Histogram:
    """A histogram of a feature; a normalised one has mass 1 over the room of its bins."""
    breaks = _bins(draw, feature, aligned or normalised)
    if normalised and feature.numeric and step_of(feature) is not None:
        breaks = [b for b in breaks if feature.lower <= b + 1e-9 and b <= feature.upper + 1e-9]
        step = step_of(feature)
        ends = [math.ceil(feature.lower / step - 1e-9), math.floor(feature.upper / step + 1e-9) + 1]
        breaks = sorted({*breaks, *(float(snap(np.array([end * step]), step)[0]) for end in ends)})
    if normalised and not feature.numeric:
        breaks = sorted({0.0, float(len(feature.atoms)), *(b for b in breaks if 0 < b < len(feature.atoms))})
    widths = [float(width_of(feature, low, high)) for low, high in pairwise(breaks)]
    if not normalised:
        found = st.one_of(st.just(0.0), st.floats(1e-6, 5))
        return Histogram(variable, breaks, draw(st.lists(found, min_size=len(widths), max_size=len(widths))))
    able = [i for i, width in enumerate(widths) if width > 0]
    shares = dict(zip(able, draw(simplexes(len(able))), strict=True))
    return Histogram(variable, breaks, [shares.get(i, 0.0) / width if width > 0 else 0.0 for i, width in enumerate(widths)])


@st.composite
def parametrics(draw: st.DrawFn, feature: Any, variable: int) -> Parametric:
    """A parametric density with most of its mass somewhere near the feature's values."""
    families = ["gaussian", "lognormal", "exponential", "gamma"] + (["poisson"] if feature.grid == 1.0 else [])
    family = draw(st.sampled_from(families))
    size = max(feature.upper - feature.lower, feature.grid or 1.0)
    if family == "gaussian":
        return Parametric(variable, family, feature.lower + draw(st.floats(0, 1)) * size, size * draw(st.floats(0.05, 2)))
    if family == "lognormal":
        return Parametric(variable, family, draw(st.floats(-2, 5)), draw(st.floats(0.1, 2)))
    if family == "gamma":
        return Parametric(variable, family, draw(st.one_of(st.just(1.0), st.floats(1, 20))), draw(st.floats(0.01, 10)))
    return Parametric(variable, family, draw(st.floats(0.01, 30)))


@st.composite
def leaves(
    draw: st.DrawFn, feature: Any, variable: int, *, normalised: bool = True, parametric: bool = True, aligned: bool = True
) -> Leaf:
    """A leaf of any kind that a feature can have."""
    steps = histograms(feature, variable, normalised=normalised, aligned=aligned)
    if feature.numeric:
        numbers = st.one_of(steps, parametrics(feature, variable)) if parametric else steps
        if not feature.atoms or (not normalised and draw(st.integers(0, 4)) == 0):
            return draw(numbers)
        codes = draw(simplexes(len(feature.atoms) + 1))
        bare = draw(st.integers(0, 4)) == 0
        if bare:
            return Coded(variable, draw(simplexes(len(feature.atoms))))
        return Coded(variable, codes[:-1], draw(numbers))
    made = [simplexes(len(feature.atoms)).map(lambda found: Categories(variable, found)), steps]
    if isinstance(feature, Binary):
        made.append(st.floats(0, 1).map(lambda p: Bernoulli(variable, p)))
    return draw(st.one_of(made))


class _Grown:
    """The nodes of a circuit while it grows; what has been made for a scope may be used again."""

    def __init__(self, draw: st.DrawFn, variables: Sequence[Any], leaf: Callable[[Any, int], Strategy[Leaf]]) -> None:
        self.draw, self.variables, self.leaf = draw, variables, leaf
        self.nodes: list[Node] = []
        self.made: dict[frozenset[int], list[int]] = {}

    def grow(self, scope: frozenset[int], depth: int) -> int:
        """The place of a node over these variables."""
        known = self.made.get(scope, [])
        if known and (self.draw(st.integers(0, 2)) == 0 or len(self.nodes) > 2 * MOST_NODES):
            return self.draw(st.sampled_from(known))
        node = self._node(scope, depth if len(self.nodes) < MOST_NODES else 0)
        self.nodes.append(node)
        self.made.setdefault(scope, []).append(len(self.nodes) - 1)
        return len(self.nodes) - 1

    def _node(self, scope: frozenset[int], depth: int) -> Node:
        if len(scope) == 1 and (depth == 0 or self.draw(st.booleans())):
            (variable,) = scope
            return self.draw(self.leaf(self.variables[variable], variable))
        if depth > 0 and (len(scope) == 1 or self.draw(st.integers(0, 2)) > 0):
            children = [self.grow(scope, depth - 1) for _ in range(self.draw(st.integers(1, 3)))]
            return Sum(children, self.draw(simplexes(len(children))))
        return Product([self.grow(part, depth - 1 if depth else 0) for part in self._parts(scope, depth)])

    def _parts(self, scope: frozenset[int], depth: int) -> list[frozenset[int]]:
        ordered = sorted(scope)
        if depth == 0 or len(ordered) < 3 or self.draw(st.booleans()):
            return [frozenset([variable]) for variable in ordered]
        first = self.draw(st.sets(st.sampled_from(ordered), min_size=1, max_size=len(ordered) - 1))
        return [frozenset(first), scope - first]


@st.composite
def circuits(
    draw: st.DrawFn,
    *,
    small: bool = False,
    normalised: bool | None = None,
    parametric: bool = True,
    aligned: bool = True,
    most: int = 3,
    depth: int = 3,
    floors: Sequence[float] = FLOORS,
) -> Circuit:
    """A circuit over a few features of any kind: deep or flat, nodes shared or not, with a target or without.

    `small`: every feature has a few values. `normalised`: whether leaves have mass 1, None for either. `aligned`: the
    breaks of histograms are multiples of a feature's step.
    """
    named = draw(st.lists(names(), min_size=1, max_size=most, unique=True))
    found = [draw(small_features(name) if small else features(name)) for name in named]
    proper = draw(st.booleans()) if normalised is None else normalised

    def leaf(feature: Any, variable: int) -> Strategy[Leaf]:
        return leaves(feature, variable, normalised=proper, parametric=parametric, aligned=aligned)

    grown = _Grown(draw, found, leaf)
    grown.grow(frozenset(range(len(found))), draw(st.integers(0, depth)))
    with_target = draw(st.booleans())
    floor = draw(st.sampled_from(floors))
    if any(isinstance(node, Leaf) and node.peaked is not None for node in grown.nodes):
        floor = max(floor, 1e-300)  # below, a double has fewer digits, and no two computations agree
    return Circuit(
        tuple(found[:-1]) if with_target else tuple(found), tuple(grown.nodes), found[-1] if with_target else None, floor
    )


@st.composite
def _cells_of_rows(draw: st.DrawFn, circuit: Circuit, variable: int) -> float:
    """A double that a row may have: a value, unknown, at a break or beside it, far outside."""
    feature = circuit.variables[variable]
    kind = draw(st.integers(0, 5))
    if kind == 0:
        return math.nan
    if kind == 1:
        return draw(st.sampled_from([-1.0, 1e30, -1e30, 2.0**998, -(2.0**998), math.inf, -(2.0**1000), len(feature.atoms) + 0.0]))
    breaks = [b for n in circuit.nodes if isinstance(n, Leaf) and n.variable == variable for b in breaks_of(n)]
    if kind == 2 and breaks and feature.numeric:
        place = draw(st.sampled_from(breaks))
        return draw(st.sampled_from([place, math.nextafter(place, math.inf), math.nextafter(place, -math.inf)]))
    return draw(numbers(feature))


def circuit_rows(circuit: Circuit, *, least: int = 1, most: int = 5) -> Strategy[np.ndarray]:
    """Rows that a circuit may be asked about: values, unknown ones, ones outside all that it knows."""
    row = st.tuples(*(_cells_of_rows(circuit, j) for j in range(len(circuit.variables))))
    return st.lists(row, min_size=least, max_size=most).map(lambda found: np.array(found).reshape(-1, len(circuit.variables)))


def value_rows(circuit: Circuit, *, least: int = 1, most: int = 5) -> Strategy[np.ndarray]:
    """Rows of values of a circuit's variables."""
    row = st.tuples(*(numbers(variable) for variable in circuit.variables))
    return st.lists(row, min_size=least, max_size=most).map(lambda found: np.array(found).reshape(-1, len(circuit.variables)))


@st.composite
def boxes(draw: st.DrawFn, circuit: Circuit) -> dict[Any, Region]:
    """For some variables an interval or two between values, or a few values."""
    found: dict[Any, Region] = {}
    for variable in circuit.variables:
        if draw(st.integers(0, 2)) > 0:
            ends = draw(st.lists(numbers(variable), min_size=1, max_size=4))
            pairs = zip(ends[::2], ends[1::2], strict=False)
            wide = Region(tuple((min(pair), max(pair)) for pair in pairs))
            found[variable.name] = (wide if draw(st.booleans()) else Region(())) | Region.points(ends)
    return found


@st.composite
def rows_inside(draw: st.DrawFn, circuit: Circuit, box: Mapping[Any, Region]) -> np.ndarray:
    """A row of values in a box."""
    row = []
    for variable in circuit.variables:
        value = draw(numbers(variable))
        region = box.get(variable.name, variable.region)
        if value not in region:
            ends = [end for interval in region.intervals for end in interval]
            value = draw(st.sampled_from([end for end in ends if variable.fits(np.array([end]))[0]]))
        row.append(value)
    return np.array(row)


# -- problems ---------------------------------------------------------------------------------------------------------

#: Prices, thresholds and weights of scores are multiples of a quarter: sums of them are exact, and ties do occur.
QUARTERS = st.integers(-8, 8).map(lambda k: k / 4)


def generators() -> Strategy[np.random.Generator]:
    """A source of numbers where there are too many to draw one by one."""
    return st.integers(0, 2**32 - 1).map(np.random.default_rng)


def some_quarters(rng: np.random.Generator, *shape: int, zeros: float = 0.2) -> np.ndarray:
    """Multiples of a quarter between -2 and 2, some of them 0."""
    return rng.integers(-8, 9, shape) / 4 * (rng.random(shape) >= zeros)


@st.composite
def finite_features(draw: st.DrawFn, name: Any, *, most: int = 12) -> Feature:
    """A feature of any kind with finitely many values, `most` or fewer."""
    kind = draw(st.sampled_from(["binary", "categorical", "ordinal", "integer", "continuous", "mixed"]))
    if kind == "binary":
        return Binary(name)
    if kind in ("categorical", "ordinal"):
        values = "abcde"[: draw(st.integers(1, min(most, 5)))]
        return Categorical(name, tuple(values)) if kind == "categorical" else Ordinal(name, tuple(values))
    first, more = draw(st.integers(-6, 6)), draw(st.integers(0, max(0, most - 3)))
    if kind == "integer":
        outside = draw(st.sampled_from([0, 0.5]))
        return Integer(name, first - outside, first + more + outside)
    step = draw(st.sampled_from(STEPS))
    if kind == "continuous":
        return Continuous(name, *snap(np.array([first, first + more]) * step, step), step=step)
    codes = draw(st.lists(st.one_of(st.integers(-8, 8), st.none()), min_size=1, max_size=2, unique=True))
    if draw(st.booleans()):
        return Mixed(name, first, first + more + 2, codes, integer=True, dtype="float64")
    return Mixed(name, *snap(np.array([first, first + more + 2]) * step, step), codes, step=step)


def real_features(name: Any) -> Strategy[Feature]:
    """A feature of every real within bounds, with codes or without."""
    ends = st.tuples(st.integers(-3, 0), st.integers(1, 3))
    plain = ends.map(lambda found: Continuous(name, *found))
    return st.one_of(plain, plain, ends.map(lambda found: Mixed(name, *found, (-9,))))


@st.composite
def finite_schemas(draw: st.DrawFn, *, features: int = 4, rows: int = 2000, rules: int = 3) -> Schema:
    """A schema with no more rows than that, with prices and with rules."""
    found: list[Feature] = []
    for name in "abcdefgh"[: draw(st.integers(1, features))]:
        room = rows // math.prod(len(values_of(feature)) for feature in found)
        if room < 2:
            break
        found.append(draw(finite_features(name, most=min(12, room))))
    return draw(ruled(Schema(tuple(found), (), tuple(draw(costs(feature)) for feature in found)), rules))


@st.composite
def real_schemas(draw: st.DrawFn, *, reals: int = 2, others: int = 1, rules: int = 2) -> Schema:
    """A schema with features of reals, and a few of finitely many values."""
    found = [draw(real_features(name)) for name in "abc"[: draw(st.integers(1, reals))]]
    found += [draw(finite_features(name, most=4)) for name in "xyz"[: draw(st.integers(0, others))]]
    return draw(ruled(Schema(tuple(found), (), tuple(draw(costs(feature)) for feature in found)), rules))


@st.composite
def ruled(draw: st.DrawFn, schema: Schema, rules: int) -> Schema:
    """The schema with up to so many rules that do not contradict each other."""
    able = [constraints(schema)] + [tight_linears(schema)] * any(f.numeric for f in schema.features)
    for constraint in draw(st.lists(st.one_of(able), max_size=rules)):
        try:
            schema = schema.with_constraints(constraint)
        except ContradictionError:
            continue
    return schema


@st.composite
def tight_linears(draw: st.DrawFn, schema: Schema) -> LinearConstraint:
    """A linear rule that some row just keeps."""
    able = [f for f in schema.features if f.numeric]
    named = draw(st.lists(st.sampled_from(able), min_size=1, max_size=3, unique=True))
    terms = {f.name: draw(QUARTERS) for f in named}
    return LinearConstraint(terms, sum(terms[f.name] * draw(plain_numbers(f)) for f in named))


@st.composite
def asked_factuals(draw: st.DrawFn, schema: Schema) -> np.ndarray:
    """A factual: within the domains, here and there unknown, or a few steps outside the bounds."""
    row = draw(factuals(schema))
    for j, feature in enumerate(schema.features):
        if feature.numeric and draw(st.integers(0, 7)) == 0:
            step = feature.grid or 0.5
            end = draw(st.sampled_from([feature.lower - 2 * step, feature.upper + 2 * step]))
            row[j] = feature.number(float(snap(np.array([end]), step)[0]))
    return row


@st.composite
def links(draw: st.DrawFn) -> tuple[Link, int, tuple[Any, ...]]:
    """How scores decide, how many there are, and the classes."""
    kind = draw(st.sampled_from(["logistic", "sign", "softmax", "argmax", "shares", "identity"]))
    if kind == "identity":
        return Link(kind), draw(st.integers(1, 3)), ()
    if kind in ("logistic", "sign"):
        return Link(kind, tie=draw(st.booleans())), 1, draw(st.sampled_from([(0, 1), ("no", "yes"), (False, True)]))
    classes = draw(st.sampled_from([("x", "y"), ("x", "y", "z"), (3, 1, 2)]))
    return Link(kind), len(classes), classes


def _inputs(draw: st.DrawFn, rng: np.random.Generator, features: Sequence[Any]) -> tuple[Column, ...]:
    """A column or two of each feature, as networks read them."""
    found = []
    for j, feature in enumerate(features):
        for _ in range(draw(st.integers(0 if len(features) > 1 else 1, 2))):
            table = tuple(some_quarters(rng, len(feature.atoms)))
            slope, intercept = some_quarters(rng, 2) if feature.numeric else (0.0, 0.0)
            found.append(Column(j, float(slope), float(intercept), table, not feature.numeric))
    return tuple(found) or (Column(0, 1.0, 0.0, (1.0,) * len(features[0].atoms), not features[0].numeric),)


@st.composite
def linear_forms(draw: st.DrawFn, features: Sequence[Any]) -> Form:
    """A linear model of the features."""
    rng, (link, outputs, classes) = draw(generators()), draw(links())
    columns = _inputs(draw, rng, features)
    return LinearModel(link, classes, columns, some_quarters(rng, outputs, len(columns)), some_quarters(rng, outputs))


@st.composite
def networks(draw: st.DrawFn, features: Sequence[Any], *, depth: int = 3, width: int = 4) -> Form:
    """A ReLU network of a few layers and outputs."""
    rng, (link, outputs, classes) = draw(generators()), draw(links())
    columns = _inputs(draw, rng, features)
    widths = [*draw(st.lists(st.integers(1, width), min_size=1, max_size=depth)), outputs]
    before = [len(columns), *widths]
    layers = [(some_quarters(rng, own, inputs), some_quarters(rng, own)) for own, inputs in zip(widths, before, strict=False)]
    return ReluNetwork(link, classes, columns, tuple(layers))


class _GrownTrees:
    """The nodes and values of trees while they grow."""

    def __init__(self, rng: np.random.Generator, features: Sequence[Any], outputs: int) -> None:
        self.rng, self.features, self.outputs = rng, features, outputs
        self.nodes: list[tuple[float, float, int, int, int, int]] = []
        self.values: list[float] = []

    def grow(self, depth: int) -> int:
        """The place of a node; its successors are there already."""
        if depth == 0 or self.rng.random() < 0.2:
            self.nodes.append((0.0, 0.0, -1, len(self.values), 0, 0))
            self.values += some_quarters(self.rng, self.outputs).tolist()
            return len(self.nodes) - 1
        inside, outside = self.grow(depth - 1), self.grow(depth - 1)
        j = int(self.rng.integers(len(self.features)))
        for _ in range(self.rng.integers(1, 4)):  # a union of intervals is a chain of tests
            low, high = self._interval(self.features[j])
            self.nodes.append((low, high, j, inside, outside, 0))
            outside = len(self.nodes) - 1
        return len(self.nodes) - 1

    def _interval(self, feature: Any) -> tuple[float, float]:
        if feature.numeric and self.rng.random() < 0.8:
            size = feature.upper - feature.lower
            ends = feature.lower + size * self.rng.integers(-2, 11, 2) / 8
        else:
            ends = self.rng.choice([feature.atom_number(k) for k in range(len(feature.atoms))] or [0.0], 2)
        low, high = sorted(ends.tolist())
        return [(-math.inf, high), (low, math.inf), (low, high)][self.rng.integers(3)]


@st.composite
def forests(draw: st.DrawFn, features: Sequence[Any], *, trees: int = 4, depth: int = 3) -> Form:
    """Trees that add to one output or to all, averaged or not."""
    rng, (link, outputs, classes) = draw(generators()), draw(links())
    grown = _GrownTrees(rng, features, outputs)
    roots = [grown.grow(draw(st.integers(0, depth))) for _ in range(draw(st.integers(1, trees)))]
    output_of = [draw(st.integers(-1, outputs - 1)) for _ in roots]
    nodes, base = np.array(grown.nodes, dtype=NODE), some_quarters(rng, outputs)
    return TreeEnsemble(link, classes, nodes, roots, output_of, grown.values, base, draw(st.booleans()))  # type: ignore[arg-type]


def forms(features: Sequence[Any], kinds: Sequence[str] = ("linear", "network", "forest")) -> Strategy[Form]:
    """A model of one of the kinds."""
    made = {"linear": linear_forms, "network": networks, "forest": forests}
    return st.one_of([made[kind](features) for kind in kinds])


@st.composite
def goals(draw: st.DrawFn, form: Form, rows: np.ndarray) -> Goal:
    """A goal that some of the rows reach, perhaps just so, or none."""
    scores = form.score(rows)
    if form.link.kind in ("logistic", "softmax", "shares", "huber") and draw(st.integers(0, 3)) == 0:
        k = draw(st.integers(0, len(form.classes) - 1))
        low, high = sorted(min(1.0, max(0.0, draw(st.sampled_from(form.probabilities(rows)[:, k])))) for _ in range(2))
        ends = draw(st.sampled_from([(low, 1.0), (0.0, high), (low, high)]))
        if ends != (0.0, 1.0):
            return probability(form, form.classes[k], *ends)
    if not form.classes or draw(st.integers(0, 4)) == 0:
        output = draw(st.integers(0, form.outputs - 1))
        low, high = sorted(draw(st.sampled_from(scores[:, output])) + draw(st.sampled_from([0.0, 0.0, 0.1])) for _ in range(2))
        ends = draw(st.sampled_from([(low, math.inf), (-math.inf, low), (low, high)]))
        return between(form, *ends, output=output, margin=draw(st.sampled_from([0.0, 1e-4])))
    label = draw(st.sampled_from(form.classes))
    margins = [SCORE_MARGIN, SCORE_MARGIN, 0.0, 0.25, 1.0]
    return draw(st.sampled_from([to_class, not_class]))(form, label, margin=draw(st.sampled_from(margins)))


@st.composite
def circuits_over(
    draw: st.DrawFn, found: Sequence[Any], target: Feature | None = None, *, parametric: bool = True, depth: int = 3
) -> Circuit:
    """A circuit over these features and the target."""
    variables = [*found] if target is None else [*found, target]
    normalised, aligned = draw(st.booleans()), draw(st.booleans())
    small = draw(st.booleans()) or not parametric

    def leaf(feature: Any, variable: int) -> Strategy[Leaf]:
        return leaves(feature, variable, normalised=normalised, parametric=not small, aligned=aligned)

    grown = _Grown(draw, variables, leaf)
    grown.grow(frozenset(range(len(variables))), draw(st.integers(0, depth)))
    floor = draw(st.sampled_from(FLOORS))
    if any(isinstance(node, Leaf) and node.peaked is not None for node in grown.nodes):
        floor = max(floor, 1e-300)
    return Circuit(tuple(found), tuple(grown.nodes), target, floor)


@st.composite
def plausibilities(
    draw: st.DrawFn, schema: Schema, form: Form, goal: Goal, rows: np.ndarray, *, parametric: bool = True
) -> Plausibility:
    """A circuit of the schema's features, and of the class or not, with a threshold that some rows reach, a weight or both."""
    classes = [*form.classes, "none of them"] if form.classes else ["p", "q"]
    values = draw(st.permutations(classes))
    target = draw(st.one_of(st.none(), st.just(Categorical("the class", tuple(values)))))
    fixed = [constraint.feature for constraint in schema.constraints if isinstance(constraint, Immutable)]
    known = fixed if target is None else [*fixed, target.name]
    own = Plausibility(
        draw(circuits_over(schema.features, target, parametric=parametric)),
        weight=draw(st.sampled_from([0.0, 0.0, 0.05, 1.0, 20.0])),
        given=tuple(name for name in known if draw(st.integers(0, 2)) == 0),
        approximate=draw(st.booleans()),
    )
    problem = Problem(schema, np.full(len(schema), math.nan), form, goal, own)
    reachable = np.concatenate([log_likelihoods(problem, rows, alternative) for alternative in goal.alternatives])
    # Anything, a likelihood that a row has, a likely one, more than there is.
    some = draw(st.sampled_from(reachable))
    likely = float(np.quantile(reachable, draw(st.sampled_from([0.5, 0.9, 1.0])), method="higher"))
    return replace(own, lower=float(draw(st.sampled_from([-math.inf, some, some, likely, likely, reachable.max() + 1]))))


@st.composite
def problems(
    draw: st.DrawFn,
    *,
    features: int = 4,
    rows: int = 1000,
    rules: int = 3,
    kinds: Sequence[str] = ("linear", "network", "forest"),
    plausible: bool | None = None,
    parametric: bool = True,
) -> Problem:
    """A problem with no more rows than that (a few more if the factual lies outside): features, rules, prices, factuals,
    models, goals and circuits of every kind.

    `plausible`: whether there is a circuit, None for either.
    """
    schema = draw(finite_schemas(features=features, rows=rows, rules=rules))
    return draw(problems_over(schema, kinds=kinds, plausible=plausible, parametric=parametric))


@st.composite
def problems_over(
    draw: st.DrawFn,
    schema: Schema,
    *,
    kinds: Sequence[str] = ("linear", "network", "forest"),
    plausible: bool | None = None,
    parametric: bool = True,
) -> Problem:
    """A problem of this schema, or of one that is wider where the factual lies outside."""
    factual = draw(asked_factuals(schema))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikelyWarning)
        wide = schema.widened(factual)
    some = draw(rows_of(wide))
    form = draw(forms(schema.features, kinds))
    goal = draw(goals(form, some))
    if plausible is None:
        plausible = draw(st.integers(0, 2)) > 0
    own = draw(plausibilities(schema, form, goal, some, parametric=parametric)) if plausible else None
    return Problem(wide, factual, form, goal, own)


@st.composite
def rows_of(draw: st.DrawFn, schema: Schema, *, count: int = 64) -> np.ndarray:
    """Many rows within the domains."""
    rng = draw(generators())
    columns = [rng.choice(_numbers_of(feature, rng), count) for feature in schema.features]
    return np.stack(columns, axis=1)


def _numbers_of(feature: Any, rng: np.random.Generator) -> list[float]:
    """All values of a feature, or some if there are too many."""
    if not feature.numeric or feature.grid is not None:
        return values_of(feature)
    atoms = [feature.atom_number(k) for k in range(len(feature.atoms))]
    return atoms + rng.uniform(feature.lower, feature.upper, 20).tolist()


@st.composite
def hard_problems(
    draw: st.DrawFn, *, kinds: Sequence[str] = ("linear", "network", "forest"), rows: int = 4000, plausible: bool | None = None
) -> Problem:
    """A problem in which everything depends on everything, so that a search has to split boxes: a model that reads all
    features, a mixture of products of histograms, prices that differ. Few rules, and a factual that is known.
    """
    rng = draw(generators())
    found: list[Feature] = []
    while (room := rows // math.prod(len(values_of(feature)) for feature in found)) >= 3:
        found.append(draw(finite_features("abcdefgh"[len(found)], most=min(8, room))))
        if len(found) == 8:
            break
    schema = draw(ruled(Schema(tuple(found), (), tuple(_some_cost(rng, feature) for feature in found)), 1))
    form = _some_form(rng, found, draw(st.sampled_from(kinds)))
    factual = np.array([rng.choice(values_of(feature)) for feature in found])
    goal = not_class(form, form.predict(factual[None])[0])
    if plausible is None:
        plausible = draw(st.booleans())
    circuit = some_mixture(rng, found, Categorical("the class", form.classes), draw(st.integers(2, 8)))
    own = Plausibility(circuit, weight=float(rng.choice([0.0, 0.2, 1.0])), approximate=draw(st.booleans()))
    return Problem(schema, factual, form, goal, own if plausible else None)


def _some_cost(rng: np.random.Generator, feature: Any) -> Cost:
    move = MoveCost(*rng.uniform(0.1, 2, 2), fee=float(rng.choice([0.0, 0.5])))
    weights = tuple(rng.uniform(0.1, 2, len(feature.atoms)))
    if not feature.numeric:
        return SwitchCost(weights)
    return MixedCost(move, weights, float(rng.choice(values_of(feature)[len(feature.atoms) :]))) if feature.atoms else move


def _some_form(rng: np.random.Generator, features: Sequence[Any], kind: str) -> Form:
    """A model of two or three classes that reads every feature."""
    count = int(rng.integers(2, 4))
    link, outputs = (Link("logistic"), 1) if count == 2 else (Link("softmax"), 3)
    classes = ("x", "y", "z")[:count]
    if kind == "forest":
        grown = _GrownTrees(rng, features, outputs)
        roots = [grown.grow(4) for _ in range(8)]
        nodes, base = np.array(grown.nodes, dtype=NODE), np.zeros(outputs)
        return TreeEnsemble(link, classes, nodes, roots, np.full(8, -1), grown.values, base)  # type: ignore[arg-type]
    columns = tuple(
        Column(j, 1.0 if f.numeric else 0.0, 0.0, tuple(some_quarters(rng, len(f.atoms), zeros=0)), not f.numeric)
        for j, f in enumerate(features)
    )
    widths = [len(columns), *([] if kind == "linear" else rng.integers(3, 9, rng.integers(1, 4)).tolist()), outputs]
    layers = [(some_quarters(rng, own, before), some_quarters(rng, own)) for before, own in pairwise(widths)]
    if kind == "linear":
        return LinearModel(link, classes, columns, *layers[0])
    return ReluNetwork(link, classes, columns, tuple(layers))


def some_mixture(rng: np.random.Generator, found: Sequence[Any], target: Feature | None, components: int) -> Circuit:
    """A sum of products of histograms that share no leaf, each with values of its own that it finds likely."""
    variables = [*found, *([] if target is None else [target])]
    nodes: list[Node] = []
    products = []
    for _ in range(components):
        own = []
        for j, variable in enumerate(variables):
            values = sorted(values_of(variable))
            numbers = [v for v in values if v > -(2.0**999)]
            shares = rng.dirichlet(np.full(len(values), 0.5))
            if variable.numeric:
                step = variable.grid
                breaks = [*numbers, numbers[-1] + step]
                densities = shares[len(values) - len(numbers) :] / step
                histogram = Histogram(j, breaks, densities)
                codes = tuple(shares[: len(values) - len(numbers)])
                nodes.append(Coded(j, codes, histogram) if variable.atoms else histogram)
            else:
                nodes.append(Categories(j, shares))
            own.append(len(nodes) - 1)
        nodes.append(Product(own))
        products.append(len(nodes) - 1)
    nodes.append(Sum(products, rng.dirichlet(np.ones(components))))
    return Circuit(tuple(found), tuple(nodes), target, float(rng.choice([0.0, 1e-6])))
