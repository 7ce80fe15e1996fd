"""`learn` on tables of every kind: each gives a sound circuit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likely.circuit import Circuit, Sum
from likely.errors import SchemaError
from likely.schema import Continuous, Schema
from tests import strategies
from tests.circuit.learning.learned import METHODS, SMALL_BY_METHOD, check_sound, drawn, quiet, true_logs

# -- tables of every kind ---------------------------------------------------------------------------------------------


@st.composite
def any_tables(draw: st.DrawFn) -> tuple[Schema, pd.DataFrame, Any, pd.DataFrame]:
    """A schema with numbers of any size, rows of it with unknown cells, classes or none, and other rows of the schema."""
    schema = draw(strategies.schemas(extremes=True))
    values = draw(strategies.rows(schema, least=1, most=8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows = values[rng.integers(0, len(values), draw(st.integers(1, 30)))]
    gone = rng.random(rows.shape) < draw(st.sampled_from([0.0, 0.3, 1.0]))
    rows[gone & np.array([None not in feature.atoms for feature in schema.features])] = np.nan
    y = draw(st.sampled_from([None, np.arange(len(rows)) % 2, np.array(["a", "b", "c"])[np.arange(len(rows)) % 3]]))
    return schema, schema.decode(rows), y, schema.decode(draw(strategies.rows(schema, least=1)))


@pytest.mark.parametrize("method", ["auto", *METHODS])
@given(table=any_tables())
@settings(max_examples=25, deadline=None)
def test_every_table_gives_a_sound_circuit(method: Any, table: tuple[Schema, pd.DataFrame, Any, pd.DataFrame]) -> None:
    schema, X, y, others = table
    learned = quiet(X, y, schema, method=method)
    check_sound(learned, X, y)
    assert np.isfinite(learned.circuit.log_likelihood(others)).all()
    assert Circuit.from_json(learned.circuit.to_json()) == learned.circuit


def test_samples_keep_bounds_that_are_singles() -> None:
    """The least value, as a single, is just above the multiple of the step that it stands for."""
    X = pd.DataFrame({"x": np.array([-1.8, -1.9, -2.0, -2.1] * 5, dtype=np.float32)})
    feature = Continuous("x", float(X["x"].min()), float(X["x"].max()), step=0.1, dtype="float32")
    learned = quiet(X, None, Schema((feature,)), method="mixture")
    check_sound(learned, X)


def numbers(values: Any) -> pd.DataFrame:
    """A table with one awkward column of numbers, beside a colour."""
    count = len(values)
    return pd.DataFrame({"colour": np.array(["blue", "red", "red"])[np.arange(count) % 3], "awkward": values})


MANY = np.random.default_rng(5)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "values",
    [
        np.full(100, 3),
        np.full(100, 3.25),
        np.full(100, 1e17),
        np.full(100, -1.1e200),
        np.repeat([0, 199], 50),
        1e15 + MANY.normal(size=100),
        MANY.random(100) * 1e-310,
        MANY.normal(size=100) * 10.0 ** MANY.uniform(-300, 299, 100),
        MANY.uniform(-5e300, 5e300, 100),
        np.where(MANY.random(100) < 0.2, np.nan, MANY.uniform(-5e300, 5e300, 100)),
        MANY.standard_cauchy(100) ** 5,
        pd.to_datetime("2026-01-01") + pd.to_timedelta(MANY.integers(0, 3000, 100), unit="D"),
        np.where(MANY.random(100) < 0.5, np.nan, np.round(MANY.normal(size=100), 2)),
        pd.Series([1, "none", 2.5, None] * 25),
    ],
    ids=[
        "whole constant", "constant", "constant 1e17", "constant -1e200", "a gap", "1e15", "denormal", "all sizes", "5e300",
        "5e300 or missing", "heavy tails", "dates", "half missing", "numbers and text",
    ],
)  # fmt: skip
def test_awkward_columns(values: Any, method: Any) -> None:
    X = numbers(values)
    settings_ = SMALL_BY_METHOD[method]
    check_sound(quiet(X, **settings_), X)
    check_sound(quiet(X, np.arange(100) % 2, **settings_), X, np.arange(100) % 2)


@pytest.mark.parametrize("method", ["auto", *METHODS])
@pytest.mark.parametrize("rows", [1, 2, 3, 19, 20, 21])
def test_few_rows(rows: int, method: Any) -> None:
    X, y = drawn(0, rows)
    check_sound(quiet(X, y, method=method), X, y)


def test_one_column() -> None:
    for column in (np.random.default_rng(0).normal(size=90), np.arange(90) % 3, ["a"] * 90):
        X = pd.DataFrame({"only": column})
        learned = quiet(X)
        check_sound(learned, X)
        assert not [node for node in learned.circuit.nodes if isinstance(node, Sum)]
        assert quiet(X, np.arange(90) % 2).circuit.names == ("only", "class")


@pytest.mark.parametrize("method", METHODS)
def test_a_column_that_is_missing_altogether(method: Any) -> None:
    X, y = drawn(0, 100)
    schema = Schema.infer(X)
    settings_ = SMALL_BY_METHOD[method]
    for name in X.columns:
        gone = X.assign(**{name: np.full(100, np.nan)})
        learned = quiet(gone, y, schema, **settings_)
        check_sound(learned, gone, y)
        assert np.isfinite(learned.circuit.log_likelihood(X, y)).all()
    message = r"^Feature 'size' must have a value; got only missing values\. Hint: drop the column\.$"
    with pytest.raises(SchemaError, match=message):
        quiet(X.assign(size=np.nan), y)


@pytest.mark.parametrize("method", METHODS)
def test_columns_that_are_equal(method: Any) -> None:
    X, y = drawn(0, 250)
    X = X.assign(**{f"copy {j}": X["visits"] for j in range(3)})
    learned = quiet(X, y, method=method)
    check_sound(learned, X, y)
    assert learned.train > quiet(X, y, nodes=1, method="mixture").train + 1


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_two_hundred_columns(method: Any) -> None:
    """Far beyond the range of single precision, and constant, missing and equal columns among them."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 60)
    columns: dict[str, Any] = {f"x{j}": 4 * rng.permutation(3)[group] + rng.normal(size=60) for j in range(90)}
    columns |= {f"c{j}": np.array(list("abc"))[rng.permutation(3)[group]] for j in range(100)}
    columns |= {f"same {j}": np.full(60, j) for j in range(5)} | {f"copy {j}": columns["x0"] for j in range(5)}
    X = pd.DataFrame(columns)
    assert X.shape == (60, 200)
    learned = quiet(X, group, method=method, nodes=430 if method == "mixture" else None)
    check_sound(learned, X, group)
    assert learned.train > quiet(X, group, nodes=1, method="mixture").train + 20


def test_many_rows() -> None:
    X, y = drawn(0, 60_000)
    learned = quiet(X, y, nodes=24, method="mixture")
    check_sound(learned, X, y)
    assert learned.train == pytest.approx(learned.validation, abs=0.05)
    assert learned.train > true_logs(X, y).mean() - 0.1


@given(st.integers(0, 2**32), st.sampled_from(["mixture", "learnspn"]))
def test_a_change_of_the_last_bit_gains_nothing(seed: int, method: Any) -> None:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=80), "b": np.where(rng.random(80) < 0.3, 0.0, rng.lognormal(size=80))})
    schema = Schema.infer(X, steps=None)
    circuit = quiet(X, schema=schema, **SMALL_BY_METHOD[method]).circuit
    rows = schema.encode(X)
    for j, feature in enumerate(schema.features):
        for end in (-np.inf, np.inf):
            moved = rows.copy()
            moved[:, j] = np.nextafter(rows[:, j], end)
            inside = feature.fits(moved[:, j])
            np.testing.assert_array_equal(circuit.log_likelihood(moved)[inside], circuit.log_likelihood(rows)[inside])
