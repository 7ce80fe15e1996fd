"""Contradictions are found when the schema is built, and only where there are some."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.errors import ContradictionError
from likely.schema import (
    AllowedValues,
    Binary,
    Categorical,
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
from likely.schema.rules import all_satisfied
from likely.when import at_least, at_most, changes, equals, increases, was
from tests import strategies

FEATURES: tuple[Feature, ...] = (
    Integer("age", 18, 99),
    Continuous("income", 0, 1000),
    Continuous("rent", 0, 1000, step=0.5),
    Categorical("job", ["clerk", "nurse", "pilot"]),
    Ordinal("school", ["none", "middle", "high"]),
    Binary("owner"),
    Mixed("late", 0, 20, [-9]),
    Integer("since", "2020-01-01", "2025-12-31", dtype="date"),
)

CONTRADICTIONS: list[tuple[list[Constraint], list[str], str]] = [
    ([Range("age", 10, 17)], ["'age' must be at least 10 and at most 17"], "age"),
    ([Range("age", 20.2, 20.8)], ["'age' must be at least 20.2 and at most 20.8"], "age"),
    ([Range("rent", 0.6, 0.9)], ["'rent' must be at least 0.6"], "rent"),
    ([Range("since", "2026-01-01")], ["'since' must be at least '2026-01-01'"], "since"),
    ([Range("age", lower=50), Range("age", upper=40)], ["'age' must be at least 50", "'age' must be at most 40"], "age"),
    ([AllowedValues("age", [20, 30]), Range("age", 31, 99)], ["'age' must be one of 20, 30", "'age' must be at least 31"], "age"),
    ([AllowedValues("job", [])], ["'job' must be one of nothing"], "job"),
    (
        [AllowedValues("job", ["clerk"]), AllowedValues("job", ["nurse"])],
        ["must be one of 'clerk'", "must be one of 'nurse'"],
        "job",
    ),
    ([Forbid(at_least("age", 0))], ["it may not be that 'age' is at least 0"], "age"),
    ([Forbid(equals("owner", True)), Forbid(equals("owner", False))], ["'owner' is True", "'owner' is False"], "owner"),
    ([Forbid(~equals("job", "clerk")), Forbid(equals("job", "clerk"))], ["'job' is not 'clerk'", "'job' is 'clerk'"], "job"),
    (
        [Range("age", upper=35), Implies(at_most("age", 36), at_least("age", 40))],
        ["'age' must be at most 35", "if 'age' is at most 36, then 'age' is at least 40"],
        "age",
    ),
    (
        [
            AllowedValues("owner", [True]),
            Implies(equals("owner", True), equals("job", "pilot")),
            Implies(equals("job", "pilot"), equals("school", "high")),
            Range("school", upper="middle"),
        ],
        ["'owner' must be one of True", "then 'job' is 'pilot'", "then 'school' is 'high'", "'school' must be at most 'middle'"],
        "school",
    ),
    ([LinearConstraint({"income": 1}, -1)], ["'income' + 1 <= 0"], "income"),
    (
        [LinearConstraint({"income": 1, "rent": 1}, 2000), LinearConstraint({"income": -1, "rent": -1}, -2001)],
        ["2001 <= 'income' + 'rent'"],
        "income",
    ),
    (
        [LinearConstraint({"rent": 12, "income": -1}, 0), Range("rent", lower=100)],
        ["12 'rent' <= 'income'", "'rent' must be at least 100"],
        "rent",
    ),
    (
        [LinearConstraint.ordered("income", "rent"), Range("income", 500), Range("rent", upper=499)],
        ["'income' <= 'rent'"],
        "income",
    ),
    ([LinearConstraint({"age": 2}, 37), Range("age", lower=18.5)], ["2 'age' <= 37"], "age"),
    ([LinearConstraint({"age": 0}, -1)], ["1 <= 0"], "age"),
    ([AllowedValues("late", [3]), LinearConstraint({"late": 1}, 2)], ["'late' must be one of 3", "'late' <= 2"], "late"),
]


@pytest.mark.parametrize(
    ("rules", "named", "feature"), CONTRADICTIONS, ids=[" / ".join(map(str, rules)) for rules, _, _ in CONTRADICTIONS]
)
def test_contradictions_are_found_and_named(rules: list[Constraint], named: list[str], feature: str) -> None:
    with pytest.raises(
        ContradictionError,
        match=r"The rules of a schema must leave at least one row \(domains: .*\); got \".*\"\. Hint: drop or relax one",
    ) as caught:
        Schema(FEATURES, tuple(rules))
    assert caught.value.feature == feature
    for rule in named:
        assert rule in str(caught.value)
    for order in (rules[::-1], rules[1:] + rules[:1]):
        with pytest.raises(ContradictionError):
            Schema(FEATURES, tuple(order))


def test_only_the_rules_at_fault_are_named() -> None:
    rules = (Range("income", 1, 2), LinearConstraint({"rent": 1}, 600), Range("age", lower=50), Range("age", upper=40))
    with pytest.raises(
        ContradictionError,
        match=r"domains: 'age': 18 to 99\); got \"'age' must be at least 50\" and \"'age' must be at most 40\"\. Hint",
    ):
        Schema(FEATURES, rules)


CONSISTENT: list[list[Constraint]] = [
    [Increasing("age"), Decreasing("age"), Immutable("job"), MaxChanges(1)],
    [Range("age", 18, 18)],
    [Range("age", -1000, 1000)],
    [Range("late", 100, 200)],  # its code is left
    [LinearConstraint({"late": 1}, -5)],  # so here
    [LinearConstraint({"late": 1, "age": 1}, -100)],
    [AllowedValues("late", [-9]), LinearConstraint({"late": 1}, -100)],
    [AllowedValues("job", [], unless=equals("owner", True))],
    [AllowedValues("job", transitions={"clerk": []})],
    [Forbid(changes("age")), Forbid(~changes("age"))],  # nobody could keep both, but that takes a factual to see
    [Forbid(was("job", "clerk")), Forbid(~was("job", "clerk"))],
    [Implies(at_most("age", 30), at_least("age", 40))],
    [Implies(increases("age"), increases("income"))],
    [LinearConstraint({"income": 1, "rent": -1}, 0), LinearConstraint({"income": -1, "rent": 1}, 0)],
    [LinearConstraint({"income": 1e300, "rent": -1e300}, 1e308)],
    [LinearConstraint({"income": 1e-300}, 0)],
]


@pytest.mark.parametrize("rules", CONSISTENT, ids=lambda rules: " / ".join(map(str, rules)))
def test_what_is_no_contradiction(rules: list[Constraint]) -> None:
    assert Schema(FEATURES, tuple(rules)).constraints == tuple(rules)


@given(st.data())
def test_a_schema_that_some_row_keeps_is_built(data: st.DataObject) -> None:
    """However many rules: those that one row keeps contradict each other nowhere."""
    schema = data.draw(strategies.schemas())
    row = data.draw(strategies.row_numbers(schema))
    drawn = data.draw(st.lists(strategies.constraints(schema, row_wise=True), max_size=6))
    nobody = np.full(len(schema), math.nan)
    kept = [rule for rule in drawn if all_satisfied(rule.compile(schema, nobody), row[None, :])[0]]
    assert schema.with_constraints(*kept).keeps(nobody, row[None, :])[0]


@given(st.data())
def test_what_is_refused_no_row_keeps(data: st.DataObject) -> None:
    schema = data.draw(strategies.schemas(most=2))
    drawn = data.draw(st.lists(strategies.constraints(schema, row_wise=True), min_size=1, max_size=4))
    try:
        schema.with_constraints(*drawn)
    except ContradictionError:
        rows = data.draw(strategies.rows(schema, most=8))
        rules: list[Any] = [rule for c in drawn for rule in c.compile(schema, np.full(len(schema), math.nan))]
        assert not all_satisfied(rules, rows).any()


@pytest.mark.parametrize("size", [1.0, 1e9, 1e-9])
def test_rounding_makes_no_contradiction(size: float) -> None:
    """A row that keeps the rules but for rounding is a row."""
    schema = Schema((Continuous("a", 0, 2 * size), Continuous("b", 0, size)))
    row = np.array([[size * (1 + 2**-50), size]])
    rules = (LinearConstraint.ordered("a", "b"), Range("a", lower=float(row[0, 0])))
    assert Schema(schema.features, rules).keeps(np.full(2, math.nan), row)[0]
