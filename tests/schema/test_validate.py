"""`schema.validate`: everything that does not fit is counted, nothing is raised."""

from __future__ import annotations

import datetime
import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.errors import SchemaError
from likely.schema import (
    AllowedValues,
    Binary,
    Categorical,
    Continuous,
    Feature,
    Forbid,
    Immutable,
    Implies,
    Increasing,
    Integer,
    LinearConstraint,
    Mixed,
    Range,
    Schema,
)
from likely.when import at_least, equals, increases
from tests import strategies
from tests.oracles import constraints as oracle


def faults(feature: Feature, cells: Any) -> list[tuple[int, str, str]]:
    report = Schema((feature,)).validate(pd.DataFrame({"f": cells}))
    assert report.ok == (not report.problems)
    assert all(problem.feature == "f" for problem in report.problems)
    return [(problem.count, problem.what, problem.example) for problem in report.problems]


NO_VALUE, GONE = "without a value of the feature", "missing (add a code None, or fill them)"


@pytest.mark.parametrize(
    ("feature", "cells", "expected"),
    [
        (Continuous("f", 0, 1), [0.5, 1, 0], []),
        (Continuous("f", 0, 1), [2.0, 0.5, -1], [(2, "outside 0 to 1", "2.0")]),
        (Continuous("f", 0, 1), [None, 0.5, math.nan], [(2, GONE, "None")]),
        (Continuous("f", 0, 1), [math.inf, 0.5], [(1, NO_VALUE, "inf")]),
        (
            Continuous("f", 0, 1),
            ["x", 0.5, None, 9, "x"],
            [(2, NO_VALUE, "'x'"), (1, GONE, "None"), (1, "outside 0 to 1", "9")],
        ),
        (Continuous("f", 0, 1), ["0.5", 0.5], [(1, NO_VALUE, "'0.5'")]),
        (Continuous("f", 0, 1), [[1], 0.5], [(1, NO_VALUE, "[1]")]),
        (
            Continuous("f", 0, 1, step=0.25),
            [0.25, 0.3, 0.6, 7.1],
            [(1, "outside 0 to 1 in steps of 0.25", "7.1"), (2, "between the steps of 0 to 1 in steps of 0.25", "0.3")],
        ),
        (Integer("f", 0, 9), [1, 2.5, 3], [(1, "between the steps of 0 to 9", "2.5")]),
        (
            Integer("f", "2026-01-01", "2026-12-31", dtype="date"),
            [datetime.date(2025, 1, 1), datetime.date(2026, 1, 1)],
            [(1, "outside 2026-01-01 to 2026-12-31", "'2025-01-01'")],
        ),
        (
            Integer("f", "2026-01-01", "2026-12-31", dtype="date"),
            pd.to_datetime(["2026-05-05 12:00", "2026-05-05 00:00"]),
            [(1, NO_VALUE, "'2026-05-05 12:00'")],
        ),
        (Integer("f", "2026-01-01", "2026-12-31", dtype="date"), ["2026-05-05", "5 May"], [(1, NO_VALUE, "'5 May'")]),
        (Categorical("f", ["a", "b"]), ["a", "z", "z", None], [(2, NO_VALUE, "'z'"), (1, GONE, "None")]),
        (Categorical("f", ["a", None]), ["a", None, math.nan], []),
        (Categorical("f", [1, 2]), ["1", 1], [(1, NO_VALUE, "'1'")]),
        (Binary("f"), [True, 1, 0, "True"], [(1, NO_VALUE, "'True'")]),
        (
            Mixed("f", 0, 9, [-9, "none"]),
            [-9, "none", 4, "x", 10, None],
            [(1, NO_VALUE, "'x'"), (1, GONE, "None"), (1, "outside 0 to 9, or -9, 'none'", "10")],
        ),
        (
            Mixed("f", 0, 9, [None], integer=True),
            [1, 1.5, None],
            [(1, "between the steps of 0 to 9 in steps of 1, or missing", "1.5")],
        ),
        (Continuous("f", 0, 1), [], []),
    ],
)
def test_each_kind_of_fault_is_counted(feature: Feature, cells: Any, expected: list[Any]) -> None:
    assert faults(feature, pd.Series(cells, dtype=object)) == expected


def test_numeric_columns_are_counted_too() -> None:
    assert faults(Continuous("f", 0, 1), [0.5, math.nan, 2.0]) == [(1, GONE, "None"), (1, "outside 0 to 1", "2.0")]
    assert faults(Integer("f", 0, 9), [1, 2**60]) == [(1, NO_VALUE, str(2**60))]


@given(st.data())
def test_rows_of_the_schema_fit(data: st.DataObject) -> None:
    schema = data.draw(strategies.schemas())
    report = schema.validate(data.draw(strategies.tables(schema)))
    assert report.ok
    assert report
    assert str(report) == f"{report.rows} rows fit the schema"


@given(st.data())
def test_broken_rules_are_counted(data: st.DataObject) -> None:
    schema = data.draw(strategies.schemas(rules=3))
    table = data.draw(strategies.tables(schema))
    broken = dict(schema.validate(table).broken)
    for rule in schema.constraints:
        kept = [oracle.holds(rule, schema, row, row) for row in table.to_dict("records")] if rule.row_wise else []
        assert broken.get(rule, 0) in range(kept.count(False), kept.count(False) + kept.count(None) + 1)


def test_only_row_wise_rules_are_counted() -> None:
    schema = Schema(
        (Integer("a", 0, 9), Integer("b", 0, 9), Categorical("c", ["x", "y"])),
        (
            Immutable("a"),
            Increasing("b"),
            Implies(increases("a"), increases("b")),
            Range("a", lower=5),
            LinearConstraint.ordered("a", "b"),
            AllowedValues("c", ["x"]),
            AllowedValues("c", transitions={"x": []}),
            Implies(equals("c", "y"), at_least("a", 8)),
            Forbid(equals("c", "x"), equals("b", 9)),
        ),
    )
    table = pd.DataFrame({"a": [1, 5, 9, 8], "b": [2, 4, 9, 9], "c": ["x", "y", "x", "y"]})
    report = schema.validate(table)
    assert [(str(rule), count) for rule, count in report.broken] == [
        ("'a' must be at least 5", 1),
        ("'a' <= 'b'", 1),
        ("'c' must be one of 'x'", 2),
        ("if 'c' is 'y', then 'a' is at least 8", 1),
        ("it may not be that 'c' is 'x' and 'b' is 9", 1),
    ]


def test_a_rule_is_counted_where_what_it_names_is_known() -> None:
    schema = Schema(
        (Integer("a", 0, 9), Integer("b", 0, 9), Integer("c", 0, 9)), (LinearConstraint.ordered("a", "b"), Range("c", lower=5))
    )
    table = pd.DataFrame({"a": [5.0, None, 5.0], "b": [1, 1, 1]})
    report = schema.validate(table)
    assert [(rule.rule, count) for rule, count in report.broken] == [("linear", 2)]
    assert report.missing == ("c",)


def test_columns_that_are_missing_or_beside() -> None:
    schema = Schema((Integer("a", 0, 9), Integer(7, 0, 9)))
    report = schema.validate(pd.DataFrame({"a": [1], "x": [2], "y": [3]}))
    assert (report.missing, report.extra, report.ok) == ((7,), ("x", "y"), False)
    assert schema.validate(pd.DataFrame({"a": [1], 7: [2], "x": [3]})).ok


def test_a_column_that_is_there_twice() -> None:
    table = pd.DataFrame([[1, 2]], columns=["a", "a"])
    report = Schema((Integer("a", 0, 9),)).validate(table)
    assert not report.ok
    assert str(report.problems[0]) == "'a': 1 row stand in several columns of this name, first 2"


def test_the_report_reads_well() -> None:
    schema = Schema((Integer("age", 18, 99), Categorical("job", ["clerk"]), Integer("debt", 0, 9)), (Range("age", upper=60),))
    table = pd.DataFrame({"age": [17, 70, 80], "job": ["clerk", "pilot", None], "shoe": [1, 2, 3]})
    report = schema.validate(table)
    assert str(report) == "\n".join(
        [
            "3 rows, 5 kinds of fault",
            "  'debt': the column is missing",
            "  'age': 1 row outside 18 to 99, first 17",
            "  'job': 1 row without a value of the feature, first 'pilot'",
            "  'job': 1 row missing (add a code None, or fill them), first None",
            "  2 of 3 rows break the rule: 'age' must be at most 60",
            "  not in the schema: 'shoe'",
        ]
    )
    assert not report
    fit = schema.validate(pd.DataFrame({"age": [20], "job": ["clerk"], "debt": [1], "shoe": [1]}))
    assert str(fit) == "1 rows fit the schema\n  not in the schema: 'shoe'"


def test_the_report_for_machines() -> None:
    schema = Schema((Integer("age", 18, 99),), (Range("age", upper=60),))
    report = schema.validate(pd.DataFrame({"age": [17, 70], "shoe": [1, 2]}))
    assert json.loads(json.dumps(report.to_dict())) == {
        "ok": False,
        "rows": 2,
        "problems": [{"feature": "age", "count": 1, "what": "outside 18 to 99", "example": "17"}],
        "broken": [{"rule": "'age' must be at most 60", "rows": 1}],
        "missing": [],
        "extra": ["shoe"],
    }


def test_a_table_must_be_one() -> None:
    with pytest.raises(SchemaError, match="A table must be a DataFrame; got ndarray"):
        Schema((Integer("a", 0, 9),)).validate(np.zeros((1, 1)))  # type: ignore[arg-type]


def test_one_fault_is_one_kind():
    report = Schema((Integer("age", 18, 99),)).validate(pd.DataFrame({"age": [17, 20]}))
    assert str(report) == "2 rows, 1 kind of fault\n  'age': 1 row outside 18 to 99, first 17"
