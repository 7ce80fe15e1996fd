"""Conditions and constraints: what they mean, what they say, what they refuse."""

from __future__ import annotations

import datetime
import itertools
import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from likely.errors import SchemaError
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
    yaml,
)
from likely.schema.conditions import condition_from_dict
from likely.schema.constraints import RULES, constraint_from_dict
from likely.schema.rules import AtMost, Clause, LinearRow, all_satisfied
from likely.when import at_least, at_most, changes, decreases, equals, increases, was
from tests import strategies
from tests.oracles import constraints as oracle

# -- what they mean ---------------------------------------------------------------------------------------------------


@given(st.data())
def test_every_constraint_holds_where_the_oracle_says_so(data: st.DataObject) -> None:
    schema = data.draw(strategies.schemas())
    constraint = data.draw(strategies.constraints(schema))
    factual, row = data.draw(strategies.factuals(schema)), data.draw(strategies.row_numbers(schema))
    if data.draw(st.booleans()):
        row = np.where(np.isnan(factual) | data.draw(masks(len(schema))), row, factual)
    old, new = strategies.user_row(schema, factual), strategies.user_row(schema, row)
    expected = oracle.holds(constraint, schema, old, new)
    assume(expected is not None)
    assert constraint.holds(old, new, schema) == expected


def masks(count: int) -> st.SearchStrategy[np.ndarray]:
    return st.lists(st.booleans(), min_size=count, max_size=count).map(np.array)


@given(st.data())
def test_compiled_rules_are_the_constraints(data: st.DataObject) -> None:
    schema = data.draw(strategies.schemas(rules=3))
    factual, rows = data.draw(strategies.factuals(schema)), data.draw(strategies.rows(schema, most=3))
    old = strategies.user_row(schema, factual)
    broken = [schema.violations(old, strategies.user_row(schema, row)) for row in rows]
    kept = schema.keeps(factual, rows)
    assert kept.tolist() == [not violations for violations in broken]
    np.testing.assert_array_equal(kept, all_satisfied(schema.compile(factual), rows))
    for constraint in schema.constraints:
        compiled = all_satisfied(constraint.compile(schema, factual), rows)
        assert compiled.tolist() == [constraint not in violations for violations in broken]


@given(st.data())
def test_a_row_wise_rule_needs_no_factual(data: st.DataObject) -> None:
    schema = data.draw(strategies.schemas())
    constraint = data.draw(strategies.constraints(schema, row_wise=True))
    rows = data.draw(strategies.rows(schema))
    nobody = np.full(len(schema), math.nan)
    alone = all_satisfied(constraint.compile(schema, nobody), rows)
    np.testing.assert_array_equal(alone, all_satisfied(constraint.compile(schema, data.draw(strategies.factuals(schema))), rows))


@given(st.data())
def test_a_condition_and_its_opposite(data: st.DataObject) -> None:
    schema = data.draw(strategies.schemas(most=1))
    condition = data.draw(strategies.conditions(schema))
    factual, number = data.draw(strategies.factuals(schema))[0], data.draw(strategies.numbers(schema.features[0]))
    holds = number in condition.region(schema.features[0], factual)
    assert (number in (~condition).region(schema.features[0], factual)) != holds
    assert ~~condition == condition


@given(st.data())
def test_a_factual_keeps_its_own_relative_rules(data: st.DataObject) -> None:
    schema = data.draw(strategies.schemas(kinds=["continuous", "integer", "ordinal", "binary", "mixed"]))
    factual = data.draw(strategies.row_numbers(schema))
    for name in schema.names:
        for rule in (Immutable(name), Increasing(name), Decreasing(name), MaxChanges(1)):
            assert rule.holds(factual_row(schema, factual), factual_row(schema, factual), schema)


def factual_row(schema: Schema, numbers: np.ndarray) -> dict[Any, Any]:
    return strategies.user_row(schema, numbers)


#: Values of two features of each ordered kind: low, middle, high, and (of a mixed feature) a code.
KINDS: dict[str, tuple[Any, list[Any]]] = {
    "continuous": (lambda name: Continuous(name, 0, 1), [0.0, 0.5, 1.0]),
    "integer": (lambda name: Integer(name, 0, 9), [0, 4, 9]),
    "date": (lambda name: Integer(name, "2026-01-01", "2026-12-31", dtype="date"), [f"2026-{m}-01" for m in ("01", "06", "12")]),
    "ordinal": (lambda name: Ordinal(name, ["low", "mid", "high"]), ["low", "mid", "high"]),
    "binary": (lambda name: Binary(name, ["no", "yes"]), ["no", "yes"]),
    "mixed": (lambda name: Mixed(name, 0, 9, ["none", None]), [0, 4, 9, "none", None]),
}


def all_conditions(name: str, middle: Any) -> list[Condition]:
    return [increases(name), decreases(name), changes(name), equals(name, middle), at_least(name, middle), at_most(name, middle)]


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", KINDS)
def test_implications_of_all_pairs(first: str, second: str) -> None:
    """Every condition implies every condition, for every kind and every move: 36 rules, all pairs of rows."""
    (make_a, cells_a), (make_b, cells_b) = KINDS[first], KINDS[second]
    schema = Schema((make_a("a"), make_b("b")))
    pairs = list(itertools.product(cells_a, cells_b))
    numbers = np.array([schema.encode_row({"a": a, "b": b}) for a, b in pairs])
    users = [factual_row(schema, row) for row in numbers]
    rules = [Implies(c, d) for c in all_conditions("a", cells_a[1]) for d in all_conditions("b", cells_b[1])]
    for i, rule in itertools.product(range(0, len(pairs), 2), rules):
        kept = all_satisfied(rule.compile(schema, numbers[i]), numbers)
        assert kept.tolist() == [oracle.holds(rule, schema, users[i], row) for row in users]


def test_relative_to_an_unknown_nothing_changes() -> None:
    schema = Schema((Integer("a", 0, 9), Categorical("c", ["x", "y"])))
    unknown, row = {"a": None, "c": None}, {"a": 5, "c": "y"}
    for rule in (Immutable("a"), Increasing("a"), Decreasing("a"), Immutable("c"), AllowedValues("c", transitions={"x": []})):
        assert rule.holds(unknown, row, schema)
    for condition in (increases("a"), decreases("a"), changes("c"), was("c", "x")):
        assert Forbid(condition).holds(unknown, row, schema)
        assert not Forbid(~condition).holds(unknown, row, schema)


def test_codes_are_neither_above_nor_below() -> None:
    schema = Schema((Mixed("m", 0, 9, [-9]), Integer("n", 0, 9)))
    number, code = {"m": 5, "n": 0}, {"m": -9, "n": 0}
    for old, new in ((number, code), (code, number)):
        assert Increasing("m").holds(old, new, schema)
        assert Decreasing("m").holds(old, new, schema)
        assert not Immutable("m").holds(old, new, schema)
    assert Range("m", 7, 9).holds(number, code, schema)
    assert LinearConstraint({"m": 1, "n": 1}, -100).holds(number, code, schema)
    assert not LinearConstraint({"m": 1, "n": 1}, -100).holds(code, number, schema)
    assert not Implies(changes("m"), at_least("m", 0)).holds(number, code, schema)


def test_transitions_of_a_status() -> None:
    schema = Schema((Categorical("status", ["single", "married", "widowed"]), Integer("age", 0, 99)))
    rule = AllowedValues("status", transitions={"single": ["married"], "widowed": []}, unless=increases("age"))
    moves = {
        (a, b): rule.holds({"status": a, "age": 5}, {"status": b, "age": 5}, schema)
        for a in schema["status"].atoms
        for b in schema["status"].atoms
    }
    assert [pair for pair, kept in moves.items() if not kept] == [
        ("single", "widowed"), ("widowed", "single"), ("widowed", "married"),
    ]  # fmt: skip
    assert rule.holds({"status": "single", "age": 5}, {"status": "widowed", "age": 6}, schema)


def test_a_sum_that_is_equal_but_for_rounding_is_kept() -> None:
    schema = Schema((Continuous("a", 0, 1), Continuous("b", 0, 1), Continuous("c", 0, 1)))
    rule = LinearConstraint({"a": 1, "b": 1, "c": -1}, 0)
    assert 0.1 + 0.2 > 0.3
    assert rule.holds({"a": 0, "b": 0, "c": 0}, {"a": 0.1, "b": 0.2, "c": 0.3}, schema)
    assert not rule.holds({"a": 0, "b": 0, "c": 0}, {"a": 0.1, "b": 0.2, "c": 0.2999}, schema)


def test_what_the_engines_see() -> None:
    schema = Schema((Integer("a", 0, 9), Integer("b", 0, 9)))
    factual = np.array([5.0, 5.0])
    for rule, kind in ((Immutable("a"), Clause), (LinearConstraint.ordered("a", "b"), LinearRow), (MaxChanges(1), AtMost)):
        assert [type(violations) for violations in rule.compile(schema, factual)] == [kind]
    assert len(Implies(changes("a"), (increases("b"), at_most("b", 7))).compile(schema, factual)) == 2


# -- what they say ----------------------------------------------------------------------------------------------------

SENTENCES: list[tuple[Constraint, str]] = [
    (Immutable("sex"), "'sex' may not change"),
    (Increasing("age"), "'age' may not decrease"),
    (Decreasing("debt"), "'debt' may not increase"),
    (Range("amount", 500, 5000), "'amount' must be at least 500 and at most 5000"),
    (Range("amount", lower=0.5), "'amount' must be at least 0.5"),
    (Range("amount", upper=1234567.5), "'amount' must be at most 1234567.5"),
    (Range("since", lower=datetime.date(2026, 1, 31)), "'since' must be at least '2026-01-31'"),
    (AllowedValues("housing", ["own", "rent"]), "'housing' must be one of 'own', 'rent'"),
    (
        AllowedValues("housing", ["own", None], unless=changes("job")),
        "'housing' must be one of 'own', missing, unless 'job' changes",
    ),
    (
        AllowedValues("status", transitions={"single": ["married"], "widowed": []}, unless=~increases("age")),
        "'status' may change from 'single' only to 'married'; from 'widowed' only to nothing, unless 'age' does not increase",
    ),
    (Implies(increases("school"), increases("age")), "if 'school' increases, then 'age' increases"),
    (
        Implies((decreases("a"), ~decreases("b")), (~changes("c"), equals("d", True))),
        "if 'a' decreases and 'b' does not decrease, then 'c' stays and 'd' is True",
    ),
    (Implies(was("s", "single"), ~was("t", 3)), "if 's' was 'single', then 't' was not 3"),
    (Forbid(equals("housing", "own"), at_most("age", 20)), "it may not be that 'housing' is 'own' and 'age' is at most 20"),
    (
        Forbid(~equals("a", None), ~at_least("b", 2), ~at_most("c", 3)),
        "it may not be that 'a' is not missing and 'b' is below 2 and 'c' is above 3",
    ),
    (LinearConstraint({"rent": 12, "income": -1}, 0), "12 'rent' <= 'income'"),
    (LinearConstraint.ordered("a", "b"), "'a' <= 'b'"),
    (LinearConstraint({"a": 1, "b": -2.5}, 3), "'a' <= 2.5 'b' + 3"),
    (LinearConstraint({"a": 1, "b": -1}, -3), "'a' + 3 <= 'b'"),
    (LinearConstraint({"a": -1}, -18), "18 <= 'a'"),
    (LinearConstraint({"a": -1}, 18), "0 <= 'a' + 18"),
    (LinearConstraint({"a": 1, "b": 2}, 0), "'a' + 2 'b' <= 0"),
    (LinearConstraint({"a": 0}, 0), "0 <= 0"),
    (MaxChange("a", up=10, unit="percent"), "'a' may rise by at most 10 %"),
    (MaxChange("a", up=0.5, down=2), "'a' may rise by at most 0.5 and fall by at most 2"),
    (MaxChange("s", down=2, unit="steps"), "'s' may fall by at most 2 steps"),
    (MaxChanges(1), "at most 1 feature may change"),
    (MaxChanges(3), "at most 3 features may change"),
    (Immutable(7), "'7' may not change"),
    (Immutable("{f} {v}"), "'{f} {v}' may not change"),
    (Implies(increases("{v}"), equals("{f}", "{f}")), "if '{v}' increases, then '{f}' is '{f}'"),
]


@pytest.mark.parametrize(("constraint", "sentence"), SENTENCES, ids=[sentence for _, sentence in SENTENCES])
def test_sentences(constraint: Constraint, sentence: str) -> None:
    assert str(constraint) == sentence


def test_every_rule_has_a_sentence() -> None:
    assert {constraint.rule for constraint, _ in SENTENCES} == set(RULES)


@pytest.mark.parametrize("constraint", [constraint for constraint, _ in SENTENCES], ids=str)
def test_json_and_yaml_of_these(constraint: Constraint) -> None:
    assert constraint_from_dict(json.loads(json.dumps(constraint.to_dict()))) == constraint
    assert constraint_from_dict(yaml.loaded(yaml.dumped(constraint.to_dict()))) == constraint


@given(st.data())
def test_json_and_yaml_keep_everything(data: st.DataObject) -> None:
    constraint = data.draw(strategies.constraints(data.draw(strategies.schemas())))
    for plain in (
        json.loads(json.dumps(constraint.to_dict(), allow_nan=False)),
        yaml.loaded(yaml.dumped(constraint.to_dict())),
    ):
        again = constraint_from_dict(plain)
        assert again == constraint
        assert hash(again) == hash(constraint)
        assert str(again) == str(constraint)


def test_numpy_s_own_types_reach_no_file() -> None:
    rules: list[Constraint] = [
        Immutable(np.int64(0)),  # type: ignore[arg-type]
        Range(np.str_("a"), np.float32(0.5), np.int8(3)),  # type: ignore[arg-type]
        AllowedValues(np.str_("a"), np.array(["x"])),  # type: ignore[arg-type]
        AllowedValues("a", pd.Series(["x"])),  # type: ignore[arg-type]
        AllowedValues(np.int64(1), transitions={np.str_("x"): np.array(["y"])}),  # type: ignore[arg-type]
        LinearConstraint({np.str_("a"): np.float64(1)}, np.float32(2)),  # type: ignore[arg-type]
        MaxChanges(np.int64(2)),  # type: ignore[arg-type]
        Forbid(equals(np.str_("a"), np.float64(2)), changes(np.int64(1))),  # type: ignore[arg-type]
    ]
    for rule in rules:
        assert constraint_from_dict(yaml.loaded(yaml.dumped(rule.to_dict()))) == rule


def test_one_condition_needs_no_list_in_a_file() -> None:
    condition = {"test": "increases", "feature": "a"}
    assert constraint_from_dict({"rule": "implies", "condition": condition, "consequence": [condition]}) == Implies(
        increases("a"), increases("a")
    )
    assert constraint_from_dict({"rule": "forbid", "conditions": condition}) == Forbid(increases("a"))
    assert constraint_from_dict({"rule": "allowed_values", "feature": "s", "transitions": {"a": ["b"]}}) == AllowedValues(
        "s", transitions={"a": ["b"]}
    )


# -- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message", "feature"),
    [
        (
            lambda: Condition("grows", "a"),
            r"A condition must have a known test; got 'grows'\. Hint: use one of increases, decreases, changes, equals",
            None,
        ),
        (lambda: Condition(["grows"], "a"), r"A condition must have a known test; got \['grows'\]", None),
        (
            lambda: Condition("increases", "a", 3),
            r"Condition 'increases' must have no value; got 3\. Hint: leave the value out\.",
            "a",
        ),
        (lambda: equals("a", [1]), r"A value of feature 'a' must be text, a number, .*; got \[1\] \(list\)", "a"),
        (
            lambda: Range("a"),
            r"Rule ''a' must be ' must have a lower or an upper end; got neither\. Hint: give lower= or upper=\.",
            "a",
        ),
        (lambda: Range("a", lower=[1]), r"A value of feature 'a' must be text, a number", "a"),
        (
            lambda: AllowedValues("a"),
            r"The allowed values of feature 'a' must have either values or transitions; got both or neither\. Hint: "
            r"give one of them\.",
            "a",
        ),
        (lambda: AllowedValues("a", [1], {1: [2]}), r"must have either values or transitions", "a"),
        (
            lambda: AllowedValues("a", "own"),
            r"The allowed values of feature 'a' must have a list of values; got 'own'\. Hint: write \['married'\]\.",
            "a",
        ),
        (lambda: AllowedValues("a", transitions={"single": "married"}), r"must have a list of values; got 'married'", "a"),
        (
            lambda: AllowedValues("a", transitions=["single"]),
            r"must have transitions from values to lists of values; got \['single'\]\. Hint: write \{'single': \['married'\]\}\.",
            "a",
        ),
        (
            lambda: AllowedValues("a", transitions=[("x", ["y"]), ("x", [])]),
            r"must name each value once in its transitions; got .*\. Hint: put its moves in one list\.",
            "a",
        ),
        (
            lambda: AllowedValues("a", [1], unless="age"),
            r"must have a condition as unless; got 'age'\. Hint: use unless=increases\('age'\)\.",
            "a",
        ),
        (
            lambda: Implies((), increases("a")),
            r"The condition of a rule 'implies' must be one or more conditions; got \(\)\. Hint: use increases\('age'\)\.",
            None,
        ),
        (
            lambda: Implies(increases("a"), "b"),
            r"The consequence of a rule 'implies' must be one or more conditions; got 'b'",
            None,
        ),
        (
            lambda: Implies(increases("a"), None),
            r"The consequence of a rule 'implies' must be one or more conditions; got None",
            None,
        ),
        (Forbid, r"The condition of a rule 'forbid' must be one or more conditions; got \(\)", None),
        (lambda: Forbid([increases("a")]), r"The condition of a rule 'forbid' must be one or more conditions; got \(\[", None),
        (
            lambda: LinearConstraint({}, 0),
            r"A linear rule must name each of its features once; got \[\]\. Hint: add up their coefficients\.",
            None,
        ),
        (
            lambda: LinearConstraint([("a", 1), ("a", 2)], 0),
            r"A linear rule must name each of its features once; got \['a', 'a'\]",
            None,
        ),
        (
            lambda: LinearConstraint({"a": math.inf}, 0),
            r"A linear rule must have finite numbers; got \{'a': inf\}, 0\.0\. Hint: drop the infinite one\.",
            None,
        ),
        (lambda: LinearConstraint({"a": 1}, math.nan), r"A linear rule must have finite numbers; got \{'a': 1\}, nan", None),
        (
            lambda: LinearConstraint({"a": "x"}, 0),
            r"A linear rule must have a number per feature and an upper end; got \{'a': 'x'\}, 0\. Hint: write Lin",
            None,
        ),
        (
            lambda: LinearConstraint({"a": 1}, None),
            r"A linear rule must have a number per feature and an upper end; got \{'a': 1\}, None",
            None,
        ),
        (lambda: LinearConstraint(5, 0), r"A linear rule must have a number per feature and an upper end; got 5, 0", None),
        (
            lambda: MaxChanges(0),
            r"MaxChanges must be a whole number of at least 1; got 0\. Hint: give how many may change\.",
            None,
        ),
        (
            lambda: MaxChange("a"),
            r"The limit of a change of feature 'a' must have an end; got neither up= nor down=\.",
            "a",
        ),
        (lambda: MaxChange("a", up=-1), r"must have a number of at least 0 as up; got -1", "a"),
        (lambda: MaxChange("a", up=1, unit="per cent"), r"be counted in one of value, percent, steps", "a"),  # type: ignore[arg-type]
        (lambda: MaxChanges(True), r"MaxChanges must be a whole number of at least 1; got True", None),
        (lambda: MaxChanges(1.5), r"MaxChanges must be a whole number of at least 1; got 1\.5", None),
    ],
)
def test_rules_that_cannot_be(make: Any, message: str, feature: Any) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        make()
    assert caught.value.feature == feature


FEATURES: tuple[Feature, ...] = (
    Continuous("x", 0, 1),
    Integer("day", "2026-01-01", "2026-12-31", dtype="date"),
    Ordinal("rank", ["low", "high"]),
    Categorical("job", ["clerk", "nurse"]),
    Mixed("m", 0, 9, {-9: "no record"}),
)


@pytest.mark.parametrize(
    ("rule", "message", "feature"),
    [
        (
            Immutable("shoe"),
            r"A feature must be in the schema; got 'shoe'\. Hint: the schema has 'x', 'day', 'rank', 'job', 'm'\.",
            "shoe",
        ),
        (LinearConstraint({"x": 1, "shoe": 1}, 0), r"A feature must be in the schema; got 'shoe'", "shoe"),
        (Forbid(changes("x"), changes("shoe")), r"A feature must be in the schema; got 'shoe'", "shoe"),
        (AllowedValues("x", [1], unless=changes("shoe")), r"A feature must be in the schema; got 'shoe'", "shoe"),
        (
            Increasing("job"),
            r"Feature 'job' must have an order to be used in ''job' does not decrease'; got a categorical feature\. "
            r"Hint: declare it Ordinal with its values in rank order\.",
            "job",
        ),
        (Range("job", "clerk"), r"Feature 'job' must have an order to be used in ''job' is at least 'clerk''", "job"),
        (Forbid(at_most("job", "clerk")), r"Feature 'job' must have an order", "job"),
        (Implies(increases("job"), changes("x")), r"Feature 'job' must have an order", "job"),
        (
            Range("x", 0.9, 0.1),
            r"Rule ''x' must be at least 0\.9 and at most 0\.1' must have lower <= upper; got 0\.9 > 0\.1\. Hint: "
            r"exchange them\.",
            "x",
        ),
        (Range("rank", "high", "low"), r"must have lower <= upper; got 'high' > 'low'", "rank"),
        (Range("x", "low"), r"Feature 'x' must hold numbers; got 'low'", "x"),
        (Range("x", upper=math.inf), r"Feature 'x' must be finite; got inf", "x"),
        (Range("day", "soon"), r"Feature 'day' must hold dates; got 'soon'", "day"),
        (
            Range("m", -9),
            r"Condition ''m' is at least -9' must name a value of its feature; got -9\. Hint: 0 to 9, or -9 \(no record\)\.",
            "m",
        ),
        (
            Forbid(equals("x", None)),
            r"Condition ''x' is missing' must name a value of its feature; got None\. Hint: 0 to 1\.",
            "x",
        ),
        (Forbid(was("job", None)), r"Condition ''job' was missing' must name a value of its feature; got None", "job"),
        (
            AllowedValues("job", ["pilot"]),
            r"Feature 'job' must have a known value; got 'pilot'\. Hint: use one of 'clerk', 'nurse'\.",
            "job",
        ),
        (AllowedValues("job", transitions={"pilot": ["clerk"]}), r"Feature 'job' must have a known value; got 'pilot'", "job"),
        (AllowedValues("job", transitions={"clerk": ["pilot"]}), r"Feature 'job' must have a known value; got 'pilot'", "job"),
        (
            AllowedValues("job", ["clerk"], unless=equals("rank", "top")),
            r"Feature 'rank' must have a known value; got 'top'",
            "rank",
        ),
        (
            LinearConstraint({"rank": 1}, 0),
            r"Rule ''rank' <= 0' must be over numeric features; got 'rank', ordinal\. Hint: use Implies or Forbid\.",
            "rank",
        ),
    ],
    ids=str,
)
def test_rules_that_the_features_cannot_have(rule: Constraint, message: str, feature: Any) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        Schema(FEATURES, (rule,))
    assert caught.value.feature == feature


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            {},
            r"A constraint must have a known rule; got None\. Hint: use one of immutable, increasing, decreasing, "
            r"range, allowed_values, implies, forbid, linear, max_changes, max_change\.",
        ),
        ("immutable", r"A rule 'immutable' must be complete; got .*'feature'"),
        ({"rule": "shoe"}, r"A constraint must have a known rule; got 'shoe'"),
        ({"rule": ["immutable"]}, r"A constraint must have a known rule; got \['immutable'\]"),
        (
            {"rule": "immutable", "colour": 1},
            r"A rule 'immutable' must have only its own settings; got 'colour'\. Hint: use feature\.",
        ),
        ({"rule": "immutable"}, r"A rule 'immutable' must be complete; got .*'feature'\. Hint: it has feature\."),
        ({"rule": "forbid"}, r"A rule 'forbid' must be complete; got 'conditions'\. Hint: it has conditions\."),
        ({"rule": "implies", "condition": []}, r"A rule 'implies' must be complete; got .*'consequence'"),
        (
            {"rule": "forbid", "conditions": ["a"]},
            r"A condition must have 'test', 'feature' and, where it needs them, 'value' and 'not'; got a\. Hint: see "
            r"the guide on constraints\.",
        ),
        ({"rule": "forbid", "conditions": [{"test": "changes"}]}, r"A condition must have 'test', 'feature'"),
        (
            {"rule": "forbid", "conditions": [{"test": "changes", "feature": "a", "colour": 1}]},
            r"A condition must have 'test', 'feature'",
        ),
        (
            {"rule": "allowed_values", "feature": "a", "values": [1], "unless": 5},
            r"A condition must have 'test', 'feature' .*; got 5",
        ),
        (
            {"rule": "allowed_values", "feature": "a", "transitions": 5},
            r"The allowed values of feature 'a' must have transitions .*; got 5",
        ),
    ],
    ids=str,
)
def test_files_with_rules_that_cannot_be(data: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        constraint_from_dict(data)


def test_conditions_in_files() -> None:
    for condition in (~equals("a", None), at_least("b", 3), changes(7)):
        assert condition_from_dict(json.loads(json.dumps(condition.to_dict()))) == condition
