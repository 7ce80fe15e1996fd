"""Strategies of schemas with so few rows that an oracle can go through all of them, and of their factuals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

from likely.errors import ContradictionError
from likely.schema import Binary, Categorical, Continuous, Feature, Integer, LinearConstraint, Mixed, Ordinal, Schema
from likely.schema.costs import Cost, MixedCost, MoveCost, SwitchCost
from likely.schema.grid import snap
from tests.oracles.circuits import values_of
from tests.strategies.schema import STEPS, Strategy, constraints, costs, factuals, plain_numbers
from tests.strategies.sources import QUARTERS, generators


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
    plain = ends.map(lambda bounds: Continuous(name, *bounds))
    return st.one_of(plain, plain, ends.map(lambda bounds: Mixed(name, *bounds, (-9,))))


@st.composite
def finite_schemas(draw: st.DrawFn, *, features: int = 4, rows: int = 2000, rules: int = 3) -> Schema:
    """A schema with no more rows than that, with prices and with rules."""
    drawn: list[Feature] = []
    for name in "abcdefgh"[: draw(st.integers(1, features))]:
        room = rows // math.prod(len(values_of(feature)) for feature in drawn)
        if room < 2:
            break
        drawn.append(draw(finite_features(name, most=min(12, room))))
    return draw(ruled(Schema(tuple(drawn), (), tuple(draw(costs(feature)) for feature in drawn)), rules))


@st.composite
def real_schemas(draw: st.DrawFn, *, reals: int = 2, others: int = 1, rules: int = 2) -> Schema:
    """A schema with features of reals, and a few of finitely many values."""
    drawn = [draw(real_features(name)) for name in "abc"[: draw(st.integers(1, reals))]]
    drawn += [draw(finite_features(name, most=4)) for name in "xyz"[: draw(st.integers(0, others))]]
    return draw(ruled(Schema(tuple(drawn), (), tuple(draw(costs(feature)) for feature in drawn)), rules))


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


def some_cost(rng: np.random.Generator, feature: Any) -> Cost:
    move = MoveCost(*rng.uniform(0.1, 2, 2), fee=float(rng.choice([0.0, 0.5])))
    weights = tuple(rng.uniform(0.1, 2, len(feature.atoms)))
    if not feature.numeric:
        return SwitchCost(weights)
    return MixedCost(move, weights, float(rng.choice(values_of(feature)[len(feature.atoms) :]))) if feature.atoms else move
