"""`Schema` itself: its features by name, its looks, its widening."""

from __future__ import annotations

import math
import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.errors import ContradictionError, LikelyError, LikelyWarning, SchemaError
from likely.schema import (
    Binary,
    Categorical,
    Continuous,
    Decreasing,
    Immutable,
    Implies,
    Increasing,
    Integer,
    MaxChanges,
    Mixed,
    Ordinal,
    Range,
    Schema,
)
from likely.schema.costs import MoveCost
from likely.when import increases
from tests import strategies

SCHEMA = Schema(
    (
        Integer("age", 18, 99),
        Continuous("income", 0, 1e6, step=0.01),
        Categorical("job", ["clerk", "nurse"]),
        Mixed("late", 0, 20, {-9: "no record"}),
    ),
    (Increasing("age"), Immutable("job"), Implies(increases("income"), increases("age")), MaxChanges(2)),
)


# -- by name ----------------------------------------------------------------------------------------------------------


def test_features_by_name_and_place() -> None:
    assert SCHEMA.names == ("age", "income", "job", "late")
    assert len(SCHEMA) == 4
    assert SCHEMA.index("job") == 2
    assert SCHEMA["job"] == SCHEMA.features[2]


def test_a_name_that_is_misspelt() -> None:
    with pytest.raises(SchemaError, match=r"got 'incme'\. Hint: did you mean 'income'\? the schema has 'age'"):
        SCHEMA["incme"]


@pytest.mark.parametrize("name", ["shoe", 0, None, ["age"]], ids=repr)
def test_names_that_are_not_there(name: Any) -> None:
    with pytest.raises(
        SchemaError, match=r"A feature must be in the schema; got .*\. Hint: the schema has 'age', 'income', 'job', 'late'\."
    ) as caught:
        SCHEMA[name]
    assert caught.value.feature == name


@pytest.mark.parametrize(
    ("make", "message", "feature"),
    [
        (lambda: Schema(()), r"A schema must have at least one feature; got none\. Hint: use Schema\.infer\(X\)\.", None),
        (
            lambda: Schema((Binary("a"), Binary("a"))),
            r"The names of features must differ; got 'a' twice\. Hint: rename one column\.",
            "a",
        ),
        (
            lambda: Schema((Binary("a"),), (), (MoveCost(), MoveCost())),
            r"A schema must have one cost per feature; got 2\. Hint: leave costs out or give all\.",
            None,
        ),
        (
            lambda: Schema(Binary("a")),
            r"The features of a schema must be a list of features; got Binary\(.*\)\. Hint: use Schema\.infer",
            None,
        ),
        (lambda: Schema(("age",)), r"The features of a schema must be a list of features; got 'age'", None),
        (lambda: Schema("age"), r"The features of a schema must be a list of features; got 'age'", None),
        (
            lambda: Schema((Binary("a"),), Immutable("a")),
            r"The constraints of a schema must be a list of constraints; got Immutable",
            None,
        ),
        (
            lambda: Schema((Binary("a"),), ({"rule": "immutable"},)),
            r"The constraints of a schema must be a list of constraints; got \{",
            None,
        ),
    ],
)
def test_schemas_that_cannot_be(make: Any, message: str, feature: Any) -> None:
    with pytest.raises(SchemaError, match=message) as caught:
        make()
    assert caught.value.feature == feature


def test_lists_are_as_good_as_tuples() -> None:
    schema = Schema(list(SCHEMA.features), list(SCHEMA.constraints), list(SCHEMA.costs))  # type: ignore[arg-type]
    assert schema == SCHEMA
    assert hash(schema) == hash(SCHEMA)


def test_rules_are_added() -> None:
    more = SCHEMA.with_constraints(Decreasing("late"), Increasing("age"))
    assert more.constraints == (*SCHEMA.constraints, Decreasing("late"))
    with pytest.raises(ContradictionError):
        SCHEMA.with_constraints(Range("age", upper=17))


@given(strategies.schemas(rules=2, priced=True))
def test_pickle_keeps_everything(schema: Schema) -> None:
    assert pickle.loads(pickle.dumps(schema)) == schema


def test_errors_are_ours_and_python_s() -> None:
    assert issubclass(SchemaError, LikelyError)
    assert issubclass(SchemaError, ValueError)
    assert issubclass(ContradictionError, SchemaError)


# -- looks ------------------------------------------------------------------------------------------------------------


def test_the_schema_as_a_table_of_text() -> None:
    assert repr(SCHEMA) == "\n".join(
        [
            "Schema of 4 features",
            "feature  kind         values                         moves             cost",
            "age      integer      18 to 99                       may not decrease  1 per unit",
            "income   continuous   0 to 1000000 in steps of 0.01                    1 per unit",
            "job      categorical  'clerk', 'nurse'               may not change    1 per value",
            "late     mixed        0 to 20, or -9 (no record)                       1 per unit; code 1",
            "",
            "rules:",
            "  if 'income' increases, then 'age' increases",
            "  at most 2 features may change",
        ]
    )


def test_no_rules_no_heading() -> None:
    assert repr(Schema((Binary(7),))) == "\n".join(
        [
            "Schema of 1 feature",
            "feature  kind    values       moves  cost",
            "7        binary  False, True         0.5 per value",
        ]
    )
    assert "Rules" not in Schema((Binary(7),))._repr_html_()


def test_long_domains_are_cut_in_text() -> None:
    schema = Schema((Ordinal("o", [f"value number {i}" for i in range(20)]),), (Increasing("o"), Decreasing("o")))
    line = repr(schema).splitlines()[2]
    assert "…  may not decrease, may not increase" in line
    assert "value number 19" in schema._repr_html_()


def test_html_is_escaped() -> None:
    name, value = "<script>alert('&')</script>", '<img src="x">'
    schema = Schema((Categorical(name, [value]), Integer("n", 0, 9)), (Implies(increases("n"), ~increases("n")), Immutable(name)))
    schema = schema.with_constraints(Range("n", 0, 8))
    html = schema._repr_html_()
    assert "<script>" not in html
    assert "<img" not in html
    assert "&lt;script&gt;alert(&#x27;&amp;&#x27;)&lt;/script&gt;" in html
    assert "&lt;img src=&quot;x&quot;&gt;" in html
    assert "<li>&#x27;n&#x27; must be at least 0 and at most 8</li>" in html


@given(strategies.schemas(rules=2, priced=True))
def test_every_schema_can_be_shown(schema: Schema) -> None:
    text, html = repr(schema), schema._repr_html_()
    assert text.startswith(f"Schema of {len(schema)} feature")
    assert html.count("<tr>") == len(schema) + 1
    for feature in schema.features:
        assert str(feature.name) in text


# -- widening ---------------------------------------------------------------------------------------------------------


def test_a_factual_outside_the_bounds_widens_its_domain() -> None:
    factual = SCHEMA.encode_row({"age": 120, "income": -0.5, "job": "clerk", "late": 3})
    with pytest.warns(LikelyWarning) as said:
        wide = SCHEMA.widened(factual)
    assert [str(warning.message) for warning in said] == [
        "Feature 'age' of the factual is 120, outside 18 to 99; its domain was widened to hold it.",
        "Feature 'income' of the factual is -0.5, outside 0 to 1000000 in steps of 0.01; its domain was widened to hold it.",
    ]
    assert {warning.filename for warning in said} == {__file__}
    assert wide["age"] == Integer("age", 18, 120)
    assert wide["income"] == Continuous("income", -0.5, 1e6, step=0.01)
    assert (wide["job"], wide["late"]) == (SCHEMA["job"], SCHEMA["late"])
    assert (wide.constraints, wide.costs) == (SCHEMA.constraints, SCHEMA.costs)
    assert SCHEMA["age"] == Integer("age", 18, 99)


@pytest.mark.parametrize(
    "row",
    [
        {"age": 18, "income": 0, "job": "nurse", "late": -9},
        {"age": None, "income": math.nan, "job": None, "late": None},
        {"age": 20.5, "income": 0.005, "job": "nurse", "late": 3.3},  # between the steps, but within the bounds
    ],
)
def test_a_factual_within_the_bounds_changes_nothing(row: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SCHEMA.widened(SCHEMA.encode_row(row)) == SCHEMA


def test_off_step_factuals_outside_the_bounds() -> None:
    factual = SCHEMA.encode_row({"age": 17.5, "income": -0.001, "job": "nurse", "late": -20})
    with pytest.warns(LikelyWarning, match="outside") as said:
        wide = SCHEMA.widened(factual)
    assert len(said) == 3
    assert all(number in feature.region for feature, number in zip(wide.features, factual, strict=True))
    assert wide.keeps(factual, factual[None, :])[0]


@given(st.data())
def test_a_widened_schema_holds_its_factual(data: st.DataObject) -> None:
    schema = data.draw(strategies.schemas(kinds=["continuous", "integer", "mixed", "ordinal"], rules=2))
    factual = data.draw(strategies.factuals(schema))
    for j, feature in enumerate(schema.features):
        if feature.numeric and factual[j] > -1e300 and data.draw(st.booleans()):
            factual[j] += data.draw(st.integers(-300, 300))
    factual = schema.encode(schema.decode(factual))[0]  # as the dtypes hold it
    outside = [f.name for f, x in zip(schema.features, factual, strict=True) if not math.isnan(x) and x not in f.region]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        wide = schema.widened(factual)
    assert len(said) == len(outside)
    assert all(repr(name) in str(warning.message) for name, warning in zip(outside, said, strict=True))
    assert all(math.isnan(x) or x in f.region for f, x in zip(wide.features, factual, strict=True))
    assert all(wide[name] == schema[name] for name in schema.names if name not in outside)
    np.testing.assert_array_equal(wide.encode(wide.decode(factual)), factual[None, :])


def test_an_unknown_category_is_refused_by_name() -> None:
    with pytest.raises(
        SchemaError, match=r"Feature 'job' must have a known value; got 'pilot'\. Hint: use one of 'clerk', 'nurse'\."
    ) as caught:
        SCHEMA.encode_row({"age": 20, "income": 0, "job": "pilot", "late": 0})
    assert caught.value.feature == "job"
    with pytest.raises(SchemaError, match="Feature 'job' must be one of its values in a factual; got 7"):
        SCHEMA.widened(np.array([20.0, 0.0, 7.0, 0.0]))


def test_a_warning_fails_our_own_tests_unless_it_is_expected() -> None:
    with pytest.raises(LikelyWarning):
        SCHEMA.widened(np.array([200.0, 0.0, 0.0, 0.0]))


# -- awkward users ----------------------------------------------------------------------------------------------------


def test_cents_computed_by_arithmetic() -> None:
    table = pd.DataFrame({"amount": np.arange(200) * 0.01, "total": np.cumsum(np.full(200, 0.1))})
    schema = Schema.infer(table, features={"amount": {"step": 0.01}, "total": {"step": 0.1}})
    assert schema.validate(table).ok
    np.testing.assert_array_equal(schema.decode(schema.encode(table)), table)


@pytest.mark.parametrize("name", [*strategies.AWKWARD, 0, 7, -1])
def test_awkward_names(name: str | int) -> None:
    table = pd.DataFrame({name: [1, 2, 3], "other": ["a", "b", "c"]})
    schema = Schema.infer(table, immutable=[name], rules=[Range(name, 0, 9)], weights={name: 2.0})
    assert Schema.from_json(schema.to_json()) == schema
    assert schema.validate(table).ok
    assert str(name) in repr(schema)
    assert schema.violations({name: 1, "other": "a"}, {name: 2, "other": "a"}) == (Immutable(name),)
    assert schema.cost({name: 1, "other": "a"}, {name: 2, "other": "a"}) == 2.0


def test_rows_of_a_table_as_users_take_them() -> None:
    table = pd.DataFrame(
        {
            "a": pd.Series([1, 2], dtype="int8"),
            "b": [0.5, 1.5],
            "c": ["x", "y"],
            "d": [True, False],
            "e": pd.to_datetime(["2026-01-31", "2026-02-01"]),
        }
    )
    schema = Schema.infer(table)
    numbers = schema.encode(table)
    for i in range(2):
        for row in (
            table.iloc[i],
            table.iloc[[i]],
            table.iloc[i].to_dict(),
            table.to_dict("records")[i],
            table.iloc[i].to_list(),
            table.iloc[i].to_numpy(),
        ):
            np.testing.assert_array_equal(schema.encode_row(row), numbers[i])
