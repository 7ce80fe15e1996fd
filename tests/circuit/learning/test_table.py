"""What `learn` is given: classes, schemas and weights of every kind, and what cannot be learned from."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from likely.circuit import FLOOR
from likely.circuit.learning.table import MOST_ROWS, open_schema
from likely.errors import CircuitError, LikelyError, SchemaError
from likely.schema import Binary, Categorical, Continuous, Integer, Mixed, Ordinal, Schema
from tests.circuit.learning.learned import METHODS, SMALL, SMALL_BY_METHOD, check_sound, drawn, quiet

# -- classes of every kind --------------------------------------------------------------------------------------------

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("y", "kind", "values"),
    [
        (RNG.random(60) < 0.5, Binary, (False, True)),
        (np.repeat([0, 1], 30), Binary, (0, 1)),
        (np.repeat([1, 2], 30), Binary, (1, 2)),
        (np.repeat([2, 0, 1], 20), Categorical, (0, 1, 2)),
        (np.repeat([0.5, -1.5], 30), Binary, (-1.5, 0.5)),
        (np.repeat(["yes", "no"], 30), Binary, ("no", "yes")),
        (["c", "a", "b"] * 20, Categorical, ("a", "b", "c")),
        (["only"] * 60, Categorical, ("only",)),
        (np.ones(60), Categorical, (1.0,)),
        (pd.Categorical(["b", "a"] * 30, categories=["b", "a", "never"]), Categorical, ("b", "a", "never")),
        (pd.Series(pd.Categorical(["lo", "hi"] * 30, ["lo", "hi"], ordered=True)), Ordinal, ("lo", "hi")),
        (pd.Series([1, 2, pd.NA] * 20, dtype="Int64"), Binary, (1, 2)),
        (pd.Series([True, False] * 30, dtype="boolean"), Binary, (False, True)),
        (pd.Series([1, "a", 2] * 20), Categorical, (1, 2, "a")),
        (
            pd.to_datetime(["2026-01-01", "2026-02-01", "2026-03-01"] * 20),
            Categorical,
            ("2026-01-01", "2026-02-01", "2026-03-01"),
        ),
        (np.where(RNG.random(60) < 0.2, np.nan, RNG.integers(0, 2, 60)), Binary, (0.0, 1.0)),
        (pd.Series(["x", None, "y"] * 20), Categorical, ("x", "y", None)),
    ],
    ids=str,
)
def test_classes(y: Any, kind: type, values: tuple[Any, ...]) -> None:
    X, _ = drawn(0, 60)
    learned = quiet(X, y, **SMALL)
    check_sound(learned, X, y)
    target = learned.circuit.target
    assert type(target) is kind
    assert target.atoms == values
    assert target.name == "class"


@pytest.mark.parametrize("method", METHODS)
def test_a_class_with_very_many_values_is_a_number(method: Any) -> None:
    X, _ = drawn(0, 100)
    y = X["size"] * 2 + np.random.default_rng(0).normal(size=100)
    settings_ = SMALL_BY_METHOD[method]
    learned = quiet(X, y, **settings_)
    check_sound(learned, X, y)
    assert isinstance(learned.circuit.target, Continuous)
    whole = quiet(X, np.arange(100), **settings_)
    assert isinstance(whole.circuit.target, Integer)
    assert isinstance(quiet(X, np.arange(100) % 50, **settings_).circuit.target, Categorical)
    unknown = quiet(X, y.where(X["colour"] != "red"), **settings_).circuit.target
    assert isinstance(unknown, Mixed)
    assert unknown.atoms == (None,)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("granted", "granted"), (None, "class"), ("", "class"), (7, "class"), ("size", "size'"), ("class", "class''")],
)
def test_the_name_of_the_class(name: Any, expected: str) -> None:
    X, y = drawn(0, 40)
    X = X.assign(**{"class": 1, "class'": 2})
    given_name = pd.Series(y.to_numpy(), name=name)
    learned = quiet(X, given_name, **SMALL).circuit
    assert learned.target.name == ("class''" if expected == "class" else expected)
    assert learned.names[-1] == learned.target.name


def test_classes_go_by_place_not_by_index() -> None:
    X, y = drawn(0, 300)
    shuffled = X.sample(frac=1, random_state=0)
    assert quiet(shuffled, y, **SMALL).circuit.nodes == quiet(shuffled.reset_index(drop=True), y, **SMALL).circuit.nodes


# -- schemas ----------------------------------------------------------------------------------------------------------


def test_a_schema_or_none() -> None:
    X, y = drawn(0, 300)
    assert quiet(X, y, **SMALL).circuit == quiet(X, y, open_schema(X), **SMALL).circuit
    wider = Schema.infer(X, features={"size": {"lower": -50, "upper": 50}, "visits": {"upper": 100}})
    learned = quiet(X, y, wider, **SMALL)
    check_sound(learned, X, y)
    assert learned.circuit.features == wider.features
    assert learned.circuit.log_likelihood(pd.DataFrame({"size": [-49.0], "visits": [99]}), marginal=True)[0] > math.log(FLOOR)


def test_rows_that_are_encoded_already() -> None:
    X, y = drawn(0, 300)
    schema = Schema.infer(X)
    assert quiet(schema.encode(X), y, schema, **SMALL).circuit == quiet(X, y, schema, **SMALL).circuit
    with pytest.raises(CircuitError, match=r"^A table to learn from must be a DataFrame; got ndarray\."):
        quiet(schema.encode(X)[:, 1:], y, schema)


def test_a_schema_of_some_columns() -> None:
    X, y = drawn(0, 100)
    learned = quiet(X, y, open_schema(X[["colour", "size"]]), **SMALL)
    assert learned.circuit.names == ("colour", "size", "granted")
    assert learned.circuit.nodes == quiet(X[["colour", "size"]], y, **SMALL).circuit.nodes


def test_a_category_never_seen() -> None:
    X, y = drawn(0, 100)
    schema = Schema((Categorical("colour", ("blue", "green", "red", "violet")), Integer("visits", 0, 99)))
    for settings_ in SMALL_BY_METHOD.values():
        learned = quiet(X, y, schema, **settings_)
        check_sound(learned, X, y)
        violet = learned.circuit.log_likelihood(pd.DataFrame({"colour": ["violet"]}), marginal=True)[0]
        assert math.log(1e-4) < violet < math.log(0.05)


# -- weights ----------------------------------------------------------------------------------------------------------


def test_one_component_counts_weights_as_rows() -> None:
    """Where there is nothing but counting, a row of weight 2 is two rows, to the last digits."""
    X, y = drawn(0, 200)
    X = X[["visits", "colour"]]
    weights = np.arange(200) % 3
    schema = Schema.infer(X)
    repeated = np.repeat(np.arange(200), weights)
    counted = quiet(X, y, schema, weights=weights, nodes=1, method="mixture").circuit
    doubled = quiet(X.iloc[repeated], y.iloc[repeated], schema, nodes=1, method="mixture").circuit
    np.testing.assert_allclose(counted.log_likelihood(X, y), doubled.log_likelihood(X, y), atol=1e-6)


def test_a_mixture_counts_weights_as_rows_nearly() -> None:
    X, y = drawn(0, 1000)
    weights = 1 + np.arange(1000) % 2
    repeated = np.repeat(np.arange(1000), weights)
    counted = quiet(X, y, weights=weights, nodes=60, method="mixture")
    doubled = quiet(X.iloc[repeated], y.iloc[repeated], nodes=60, method="mixture")
    assert counted.train == pytest.approx(doubled.train, abs=0.1)
    unseen, classes = drawn(1, 1000)
    logs = [learned.circuit.log_likelihood(unseen, classes).mean() for learned in (counted, doubled)]
    assert logs[0] == pytest.approx(logs[1], abs=0.1)


def test_a_row_of_weight_0_is_not_there() -> None:
    X, y = drawn(0, 300)
    schema = Schema.infer(X)
    weights = np.where(X["size"] > 6, 0.0, 1.5)
    kept = weights > 0
    learned = quiet(X, y, schema, weights=weights, **SMALL)
    assert learned.circuit == quiet(X[kept], y[kept], schema, weights=weights[kept], **SMALL).circuit
    assert learned.rows == kept.sum()


@pytest.mark.parametrize("method", ["mixture", "tree"])
@pytest.mark.parametrize(
    "weights",
    [
        np.full(300, 1 / 300) * (1 + 1e-9),
        1e6 * RNG.random(300),
        np.full(300, MOST_ROWS / 300) * (1 - 1e-9),
        np.append(MOST_ROWS / 2, np.ones(299)),
        np.append(np.full(200, 5e-324), np.ones(100)),
        10.0 ** np.linspace(-300, 11, 300),
    ],
    ids=["one row", "millions", "as many as can be", "one heavy", "subnormal", "all sizes"],
)
def test_weights_of_any_size(weights: np.ndarray, method: Any) -> None:
    X, y = drawn(0, 300)
    X = X[["visits", "colour"]]
    check_sound(quiet(X, y, weights=weights, method=method, nodes=30), X, y)


@pytest.mark.parametrize(
    ("weights", "got"),
    [
        (np.full(5, 1e300), r"5e\+300"),
        (np.full(5, 1e308), "inf"),
        (np.full(5, 1e12), r"5e\+12"),
        (np.full(5, 1e-300), "5e-300"),
        (np.full(5, 0.1), "0.5"),
    ],
)
def test_weights_are_numbers_of_rows(weights: np.ndarray, got: str) -> None:
    X, y = drawn(0, 5)
    message = (
        rf"^The weights of rows must sum to a number of rows, from 1 to 1e\+12; got {got}\. "
        r"Hint: scale them: a weight is how many rows a row stands for\.$"
    )
    with pytest.raises(CircuitError, match=message):
        quiet(X, y, weights=weights)


def test_weights_shift_what_is_likely() -> None:
    X, y = drawn(0, 500)
    reds = (X["colour"] == "red").to_numpy()
    plain, heavy = (quiet(X, y, weights=weights, **SMALL).circuit for weights in (None, np.where(reds, 10.0, 1.0)))
    red = pd.DataFrame({"colour": ["red"]})
    share = 10 * reds.sum() / (10 * reds.sum() + (~reds).sum())
    assert math.exp(plain.log_likelihood(red, marginal=True)[0]) == pytest.approx(reds.mean(), abs=0.02)
    assert math.exp(heavy.log_likelihood(red, marginal=True)[0]) == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize(
    ("weights", "got"),
    [
        ([1.0, 2.0], r"shape \(2,\)"),
        (np.ones((5, 1)), r"shape \(5, 1\)"),
        (np.zeros(5), "only zeros"),
        ([1, 1, 1, 1, -1], r"-1\.0"),
        ([1, 1, 1, 1, math.nan], "nan"),
        ([1, 1, 1, 1, math.inf], "inf"),
        (list("abcde"), "list"),
    ],
)
def test_weights_that_cannot_be(weights: Any, got: str) -> None:
    X, y = drawn(0, 5)
    message = rf"^The weights of rows must be 5 numbers of at least 0, not all 0; got {got}\. Hint: leave them out\.$"
    with pytest.raises(CircuitError, match=message):
        quiet(X, y, weights=weights)


# -- what cannot be learned from --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((3, 2)), r"^A table to learn from must be a DataFrame; got ndarray\. Hint: use pd\.DataFrame\(X, columns="),
        ([[1]], r"^A table to learn from must be a DataFrame; got list\."),
        (pd.Series([1, 2]), r"^A table to learn from must be a DataFrame; got Series\."),
        (pd.DataFrame(), r"^A table to learn from must have rows and columns; got 0 x 0\. Hint: check how it was read\.$"),
        (pd.DataFrame({"a": []}), r"^A table to learn from must have rows and columns; got 0 x 1\."),
        (pd.DataFrame(index=range(3)), r"^A table to learn from must have rows and columns; got 3 x 0\."),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), r"^The names of columns must differ; got 'a' twice\. Hint: rename one\.$"),
        (pd.DataFrame({"a": [1.0, math.inf]}), r"^Feature 'a' must be finite; got inf\."),
        (pd.DataFrame({"a": [1.0, -math.inf]}), r"^Feature 'a' must be finite; got -inf\."),
    ],
)  # fmt: skip
def test_tables_that_cannot_be(X: Any, message: str) -> None:
    with pytest.raises(LikelyError, match=message):
        quiet(X)


def test_tables_that_do_not_fit_the_schema() -> None:
    X, _ = drawn(0, 50)
    schema = Schema.infer(X)
    cases = [
        (X.assign(colour="violet"), r"^Feature 'colour' must have a known value; got 'violet'\. Hint: use one of 'blue', .*\.$"),
        (X.drop(columns="size"), r"^A row must have a value of feature 'size'; got none\. Hint: give None if it is unknown\.$"),
        (X.assign(size=math.inf), r"^Feature 'size' must be finite; got inf\."),
        (X.assign(size="large"), r"^Feature 'size' must hold numbers; got 'large'\."),
        (X.set_axis(["size", "size", "colour"], axis=1), r"^A row must have a value of feature 'size'; got several\. "),
    ]  # fmt: skip
    for table, message in cases:
        with pytest.raises(SchemaError, match=message):
            quiet(table, None, schema)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros(9), r"^y must have one class per row \(10\); got 9\. Hint: give as many\.$"),
        ("granted", r"^y must have one class per row \(10\); got 1\."),
        (np.zeros((10, 1)), r"^y must be one column; got shape \(10, 1\)\. Hint: give a Series, a list or an array of one dim"),
        (pd.DataFrame({"y": np.zeros(10)}), r"^y must be one column; got shape \(10, 1\)\."),
        ({1, 2}, r"^y must be one column; got set\."),
        (np.full(10, np.nan), r"^Feature 'class' must have a value; got only missing values\."),
        (np.append(np.zeros(9), math.inf), r"^Feature 'class' must be finite; got inf\."),
    ],
)  # fmt: skip
def test_classes_that_cannot_be(y: Any, message: str) -> None:
    X, _ = drawn(0, 10)
    with pytest.raises(LikelyError, match=message):
        quiet(X, y)


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"method": "forest"}, r"^method must be .*'learnspn'; got 'forest'\. Hint: .* is the default\.$"),
        ({"nodes": 0}, r"^nodes must be a whole number of at least 1; got 0\. Hint: leave it out\.$"),
        ({"nodes": 2.5}, r"^nodes must be a whole number of at least 1; got 2\.5\."),
        ({"nodes": 9, "method": "learnspn"}, r"^nodes must be left out for 'learnspn'; got some\. Hint: use method='mixture'\.$"),
        ({"weights": np.ones(10), "method": "learnspn"}, r"^weights must be left out for 'learnspn'; got some\."),
        ({"min_slice": 0.0}, r"^min_slice must be a share between 0 and 1; got 0\.0\. Hint: leave it out\.$"),
        ({"min_slice": 1.5}, r"^min_slice must be a share between 0 and 1; got 1\.5\."),
        ({"finest": math.nan}, r"^finest must be a share between 0 and 1; got nan\."),
        ({"threshold": -1, "method": "learnspn"}, r"^threshold must be between 0 and 1; got -1\."),
        ({"schema": {"size": 1}}, r"^schema must be a Schema; got dict\. Hint: use likely\.Schema\.infer\(X\)\.$"),
    ],
)
def test_settings_that_cannot_be(settings_: dict[str, Any], message: str) -> None:
    X, _ = drawn(0, 10)
    with pytest.raises(CircuitError, match=message):
        quiet(X, **settings_)


# -- bounds that nobody gave ------------------------------------------------------------------------------------------


def test_where_nobody_gave_bounds_there_is_room_beyond_what_was_seen() -> None:
    days = pd.to_datetime(["2020-01-01", "2020-01-11", "2020-01-06"])
    X = pd.DataFrame(
        {
            "real": [-1.0, 1.0, 0.5],
            "positive": [1.0, 3.0, 2.5],
            "negative": [-3.5, -0.5, -1.25],
            "whole": [-4, 4, 2],
            "small": np.array([0, 250, 3], dtype="uint8"),
            "constant": [2.5, 2.5, 2.5],
            "day": days,
            "text": ["a", "b", "a"],
        }
    )
    schema = open_schema(X)
    bounds = {f.name: (f.lower, f.upper) for f in schema.features if f.numeric}
    first = (days[0] - pd.Timestamp("1970-01-01")).days
    assert bounds == {
        "real": (-3.5, 3.5), "positive": (0, 5.5), "negative": (-7.25, 0), "whole": (-14, 14), "small": (0, 255),
        "constant": (2.5, 2.5), "day": (first - 13, first + 23),
    }  # fmt: skip
    assert schema["text"] == Schema.infer(X)["text"]
    beyond = X.assign(real=[-3.0, 3.0, 2.0])
    assert (quiet(X, **SMALL).circuit.log_likelihood(beyond) > np.log(FLOOR)).all()
