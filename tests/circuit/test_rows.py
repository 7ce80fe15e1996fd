"""Rows that a circuit scores: tables, arrays, the class; what is not there is any value."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.circuit import Bernoulli, Categories, Circuit, Coded, Histogram, Product, log_likelihood
from likely.errors import CircuitError, SchemaError
from likely.schema import Binary, Categorical, Mixed, Schema
from likely.schema.values import code_number
from tests import strategies
from tests.oracles import circuits as oracle

LOANS = Mixed("loans", 0, 5, [-9, None], integer=True, dtype="float64")
KIND = Categorical("kind", ("car", "house"))


def circuit(target: bool = True) -> Circuit:
    nodes = (Coded(0, (0.25, 0.25), Histogram(0, (0, 3, 6), (0.25, 1 / 12))), Categories(1, (0.5, 0.5)))
    if not target:
        return Circuit((LOANS, KIND), (*nodes, Product((0, 1))))
    return Circuit((LOANS, KIND), (*nodes, Bernoulli(2, 0.25), Product((0, 1, 2))), Binary("paid", ("no", "yes")))


TABLE = pd.DataFrame({"loans": [1, -9, None], "kind": ["car", "house", None], "other": [1, 2, 3]})


def test_tables() -> None:
    expected = [[1.0, 0.0, math.nan], [code_number(0), 1.0, math.nan], [code_number(1), math.nan, math.nan]]
    np.testing.assert_array_equal(circuit().encode(TABLE), expected)
    np.testing.assert_array_equal(circuit(target=False).encode(TABLE), np.array(expected)[:, :2])


def test_columns_that_are_not_there_are_unknown() -> None:
    rows = circuit().encode(TABLE[["kind"]], marginal=True)
    np.testing.assert_array_equal(rows, [[math.nan, 0.0, math.nan], [math.nan, 1.0, math.nan], [math.nan] * 3])
    np.testing.assert_allclose(circuit().log_likelihood(TABLE[["kind"]], marginal=True), [math.log(0.5), math.log(0.5), 0])


def test_a_missing_cell_is_a_value_where_the_feature_has_it_and_unknown_elsewhere() -> None:
    logs = circuit(target=False).log_likelihood(pd.DataFrame({"loans": [None, 1.0], "kind": ["car", None]}))
    np.testing.assert_allclose(logs, [math.log(0.25 * 0.5), math.log(0.5 * 0.25)])
    unknown = circuit(target=False).log_likelihood(np.array([[math.nan, 0.0]]))
    np.testing.assert_allclose(unknown, [math.log(0.5)], err_msg="in an encoded array, NaN is always unknown")


def test_a_category_that_is_not_listed_has_the_floor_density() -> None:
    boats = TABLE.assign(kind=["boat", "house", "ship"])
    model = circuit(target=False)
    known = model.log_likelihood(TABLE[["loans"]], marginal=True)
    expected = known + np.log([model.floor, 0.5, model.floor])
    np.testing.assert_allclose(model.log_likelihood(boats), expected)
    np.testing.assert_allclose(model.log_likelihood(boats.assign(kind=pd.Categorical(boats["kind"]))), expected)
    assert circuit().encode(TABLE, "perhaps")[:, 2].tolist() == [2.0] * 3


def test_a_number_that_is_listed_as_text_is_a_mistake() -> None:
    feature = Categorical("rate", ("1", "2"))
    model = Circuit((feature,), (Categories(0, (0.5, 0.5)),))
    with pytest.raises(SchemaError, match=r"'1' is str, not int: convert the column"):
        model.encode(pd.DataFrame({"rate": [1, 2]}))


@pytest.mark.parametrize(
    "y", [["no", "yes", None], pd.Series(["no", "yes", None], index=[7, 3, 5]), np.array(["no", "yes", None])]
)
def test_classes(y: Any) -> None:
    assert circuit().encode(TABLE, y)[:, 2].tolist() == pytest.approx([0.0, 1.0, math.nan], nan_ok=True)


def test_classes_may_be_a_column_of_the_table() -> None:
    table = TABLE.assign(paid=["no", "yes", "yes"])
    assert circuit().encode(table)[:, 2].tolist() == [0.0, 1.0, 1.0]
    assert circuit().encode(table, "no")[:, 2].tolist() == [0.0] * 3
    assert circuit(target=False).encode(table).shape == (3, 2)


def test_one_class_for_all() -> None:
    assert circuit().encode(TABLE, "yes")[:, 2].tolist() == [1.0] * 3


def test_arrays_are_taken_as_encoded() -> None:
    rows = np.array([[1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    np.testing.assert_array_equal(circuit().encode(rows), rows)
    short = circuit().encode(rows[:, :2])
    np.testing.assert_array_equal(short, [[1.0, 0.0, math.nan], [2.0, 1.0, math.nan]])
    np.testing.assert_array_equal(circuit().encode(rows[:, :2], ["yes", "no"]), rows)
    np.testing.assert_array_equal(circuit().encode(rows[0]), rows[:1])
    np.testing.assert_array_equal(circuit().encode(rows.astype(np.int32)), rows)
    assert circuit().encode(np.empty((0, 2))).shape == (0, 3)


def test_what_is_given_is_not_changed() -> None:
    rows = np.array([[1.0, 0.0, 1.0]])
    circuit().encode(rows, "no")
    assert rows.tolist() == [[1.0, 0.0, 1.0]]


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_in_any_order(order: Any) -> None:
    rows = np.array([[1.0, 0.0, 1.0], [5.0, 1.0, 0.0], [code_number(0), 1.0, np.nan]])
    expected = oracle.log_likelihoods(circuit(), rows)
    np.testing.assert_allclose(log_likelihood(circuit(), np.asarray(rows, order=order)), expected)
    np.testing.assert_allclose(log_likelihood(circuit(), np.repeat(rows, 2, axis=0)[::2]), expected)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda: circuit().encode(np.zeros((2, 4))),
            "An array of rows must have 2 or 3 columns; got (2, 4). Hint: use circuit.encode(X, y).",
        ),
        (
            lambda: circuit(target=False).encode(np.zeros((2, 3))),
            "An array of rows must have 2 columns; got (2, 3). Hint: use circuit.encode(X, y).",
        ),
        (
            lambda: circuit().encode(np.zeros((1, 3, 3))),
            "An array of rows must have 2 or 3 columns; got (1, 3, 3). Hint: use circuit.encode(X, y).",
        ),
        (
            lambda: circuit().encode([["yes", "no"]]),
            "An array of rows must hold numbers; got could not convert string to float: 'yes'. "
            "Hint: use circuit.encode(X, y) with a table.",
        ),
        (
            lambda: circuit().encode(TABLE[["other", "kind"]]),
            "A table must have the column 'loans'; got none. Hint: pass marginal=True to sum over what is not there.",
        ),
        (
            lambda: circuit().encode(TABLE.rename(columns={"loans": "loan"})),
            "A table must have the column 'loans'; got none, but 'loan'. "
            "Hint: rename 'loan', or pass marginal=True to sum over what is not there.",
        ),
        (
            lambda: circuit().encode(TABLE[["kind"]].rename(columns={"kind": "kinds"}), marginal=True),
            "Every column, where some are left out, must be the circuit's; got 'kinds'. Hint: rename it to 'kind', or drop it.",
        ),
        (
            lambda: circuit().encode(TABLE[["kind", "other"]], marginal=True),
            "Every column, where some are left out, must be the circuit's; got 'other'. Hint: drop it.",
        ),
        (
            lambda: circuit().encode(TABLE[["kind", "loans", "kind"]]),
            "A table must have one column 'kind'; got several. Hint: rename all but one.",
        ),
        (
            lambda: circuit(target=False).encode(TABLE, "yes"),
            "y must be left out; got classes. Hint: this circuit was learned without a target.",
        ),
        (
            lambda: circuit().encode(TABLE, ["yes"]),
            "y must have one class per row (3); got 1. Hint: give as many.",
        ),
    ],
)
def test_refusals(ask: Any, message: str) -> None:
    with pytest.raises(CircuitError) as caught:
        ask()
    assert str(caught.value) == message


@given(st.data())
def test_a_table_scores_as_its_rows_of_doubles(data: st.DataObject) -> None:
    drawn = data.draw(strategies.circuits())
    rows = data.draw(strategies.value_rows(drawn))
    table = Schema(drawn.variables).decode(rows)
    apart = drawn.target is not None and len(drawn.features) > 0 and data.draw(st.booleans())
    y = table.pop(drawn.target.name) if apart and drawn.target is not None else None
    encoded = drawn.encode(table, y)
    np.testing.assert_array_equal(encoded, Schema(drawn.variables).encode(Schema(drawn.variables).decode(rows)))
    np.testing.assert_array_equal(drawn.log_likelihood(table, y), log_likelihood(drawn, encoded))
