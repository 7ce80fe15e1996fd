"""`learn`: a known density is found again; every table gives a sound circuit or a clear message."""

from __future__ import annotations

import io
import math
import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import logsumexp

from likely._display.progress import progress_bar
from likely.circuit import FLOOR, Circuit, Leaf, Sum, learn
from likely.circuit.learning import learn as learn_module
from likely.circuit.learning import mixture
from likely.circuit.learning.table import MOST_ROWS
from likely.errors import CircuitError, LikelyError, LikelyWarning, SchemaError
from likely.schema import Binary, Categorical, Continuous, Integer, Mixed, Ordinal, Schema
from tests import strategies

METHODS = ("mixture", "learnspn")
#: Where it does not matter what is learned: no trials of sizes.
SMALL: dict[str, Any] = {"method": "mixture", "nodes": 20}
SMALL_BY_METHOD: dict[str, dict[str, Any]] = {"mixture": SMALL, "learnspn": {"method": "learnspn"}}


def quiet(X: Any, y: Any = None, schema: Any = None, **settings_: Any) -> Any:
    return learn(X, y, schema, **{"progress": False, **settings_})


def check_sound(learned: Any, X: pd.DataFrame, y: Any = None) -> None:
    """A normalised circuit that covers its features and gives every row a density."""
    report = learned.circuit.check()
    assert report.normalised
    assert not report.uncovered
    logs = learned.circuit.log_likelihood(X, y)
    assert np.isfinite(logs).all()
    assert math.isfinite(learned.train)
    assert not learned.interrupted


# -- a density that is known ------------------------------------------------------------------------------------------

SHARES = np.array([0.5, 0.3, 0.2])
CENTRES = np.array([[0.0, 5.0], [4.0, 1.0], [8.0, 9.0]])
COLOURS = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.1, 0.6]])
GRANTED = np.array([0.9, 0.2, 0.5])


def drawn(seed: int, count: int) -> tuple[pd.DataFrame, pd.Series]:
    """Three clusters: a real number, a whole one, a colour, and a class."""
    rng = np.random.default_rng(seed)
    group = rng.choice(3, count, p=SHARES)
    X = pd.DataFrame(
        {
            "size": rng.normal(CENTRES[group, 0], 1.0),
            "visits": rng.poisson(CENTRES[group, 1]),
            "colour": np.array(["blue", "green", "red"])[
                (rng.random((count, 1)) > COLOURS.cumsum(axis=1)[group, :-1]).sum(axis=1)
            ],
        }
    )
    return X, pd.Series(rng.random(count) < GRANTED[group], name="granted")


def true_logs(X: pd.DataFrame, y: pd.Series) -> np.ndarray:
    parts = [
        math.log(SHARES[g])
        + stats.norm(CENTRES[g, 0], 1.0).logpdf(X["size"])
        + stats.poisson(CENTRES[g, 1]).logpmf(X["visits"])
        + np.log(COLOURS[g, X["colour"].map({"blue": 0, "green": 1, "red": 2}).to_numpy(int)])
        + np.log(np.where(y, GRANTED[g], 1 - GRANTED[g]))
        for g in range(3)
    ]
    return np.asarray(logsumexp(parts, axis=0))


def test_a_known_mixture_is_found_again() -> None:
    X, y = drawn(0, 5000)
    unseen, classes = drawn(100, 5000)
    learned = quiet(X, y, method="mixture", nodes=60)
    check_sound(learned, X, y)
    truth = true_logs(unseen, classes).mean()
    judged = learned.circuit.log_likelihood(unseen, classes).mean()
    alone = quiet(X, y, method="mixture", nodes=1).circuit.log_likelihood(unseen, classes).mean()
    assert judged > truth - 0.1
    assert judged > alone + 0.8
    assert learned.validation == pytest.approx(judged, abs=0.1)
    assert learned.train > judged - 0.05


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_better_than_independence(method: Any) -> None:
    X, y = drawn(0, 800)
    unseen, classes = drawn(100, 2000)
    learned = quiet(X, y, method=method)
    check_sound(learned, X, y)
    alone = quiet(X, y, method="mixture", nodes=1)
    assert learned.circuit.log_likelihood(unseen, classes).mean() > alone.circuit.log_likelihood(unseen, classes).mean() + 0.5
    # the class, given the features: what the circuit says against what is so
    classify = [learned.circuit.log_likelihood(unseen, np.full(2000, value)) for value in (False, True)]
    right = ((classify[1] > classify[0]) == classes.to_numpy()).mean()
    assert right > 0.75


def test_the_class_left_out_is_summed_over() -> None:
    X, y = drawn(0, 500)
    circuit = quiet(X, y, **SMALL).circuit
    both = [circuit.log_likelihood(X, np.full(500, value)) for value in (False, True)]
    np.testing.assert_allclose(circuit.log_likelihood(X), np.logaddexp(*both), rtol=1e-9)


# -- the report -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_the_report(method: Any) -> None:
    X, y = drawn(0, 300)
    learned = quiet(X, y, method=method)
    assert learned.rows == 300
    assert learned.seconds > 0
    assert learned.method == ("mixture" if method == "auto" else method)  # a number has too many bins for a tree
    assert learned.train == pytest.approx(learned.circuit.log_likelihood(X, y).mean())
    text = str(learned)
    assert repr(learned.circuit) in text
    assert f"{learned.train:.3f} in training" in text
    assert f"learned from 300 rows in {learned.seconds:.1f} s by {learned.method}" in text
    if method == "learnspn":
        assert math.isnan(learned.validation)
        assert "held out" not in text
        assert learned.settings == {"smallest slice": 15.0, "threshold": 0.3}
        assert "(smallest slice 15, threshold 0.3)" in text
    else:
        assert f", {learned.validation:.3f} held out" in text
        assert list(learned.settings) == ["nodes at most"]
        assert len(learned.circuit) <= learned.settings["nodes at most"]
        assert f"(nodes at most {learned.settings['nodes at most']:g})" in text


@pytest.mark.parametrize("nodes", [5, 12, 40, np.int64(90)])
def test_the_size_can_be_given(nodes: Any) -> None:
    X, y = drawn(0, 400)
    learned = quiet(X, y, nodes=nodes, method="mixture")
    assert len(learned.circuit) <= nodes
    assert learned.settings == {"nodes at most": float(nodes)}
    assert math.isfinite(learned.validation)
    check_sound(learned, X, y)


@pytest.mark.parametrize("method", METHODS)
def test_one_seed_one_circuit(method: Any) -> None:
    X, y = drawn(0, 150)
    first = quiet(X, y, method=method, random_state=3, n_jobs=1).circuit
    assert quiet(X, y, method=method, random_state=3, n_jobs=3).circuit == first
    assert quiet(X.set_index(X.index[::-1]), y.to_numpy(), method=method, random_state=3).circuit.nodes == first.nodes


def test_seeds_differ() -> None:
    X, y = drawn(0, 400)
    assert (
        quiet(X, y, nodes=40, method="mixture", random_state=1).circuit
        != quiet(X, y, nodes=40, method="mixture", random_state=2).circuit
    )


def test_finer_bins() -> None:
    X, _ = drawn(0, 3000)
    breaks = [
        sum(len(node.steps[0]) for node in quiet(X[["size"]], finest=finest, nodes=1).circuit.nodes if isinstance(node, Leaf))
        for finest in (0.1, 0.005)  # shares of the range
    ]
    assert 2 * breaks[0] < breaks[1]


def test_slices_and_threshold_of_learnspn() -> None:
    X, y = drawn(0, 600)
    sizes = [len(quiet(X, y, method="learnspn", min_slice=share).circuit) for share in (1.0, 0.3, 0.02)]
    assert sizes[0] < sizes[1] <= sizes[2]
    assert len(quiet(X, y, method="learnspn", threshold=1.0).circuit) == 5


# -- the floor --------------------------------------------------------------------------------------------------------


def test_the_floor() -> None:
    X, y = drawn(0, 200)
    assert quiet(X, y, **SMALL).circuit.floor == FLOOR
    assert quiet(X, y, floor=0.0, **SMALL).circuit.floor == 0.0
    assert quiet(X, y, floor=1e-3, **SMALL).circuit.floor == 1e-3
    with pytest.raises(CircuitError, match=r"^The floor of a circuit must be a number of at least 0; got -1\."):
        quiet(X.head(5), floor=-1)


@pytest.mark.parametrize("method", METHODS)
def test_the_floor_is_below_all_that_was_learned(method: Any) -> None:
    """Of an amount in the trillions every density per unit is below the usual floor: it may not hide them."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"gdp": 1e17 * rng.lognormal(0, 2, 500), "b": rng.random(500) < 0.5})
    learned = quiet(X, method=method, nodes=20 if method == "mixture" else None)
    check_sound(learned, X)
    assert 0 < learned.circuit.floor < FLOOR
    logs = learned.circuit.log_likelihood(X)
    truth = stats.lognorm(2, scale=1e17).logpdf(X["gdp"]) - math.log(2)
    assert np.corrcoef(logs, truth)[0, 1] > 0.9


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
    assert quiet(X, y, **SMALL).circuit == quiet(X, y, Schema.infer(X), **SMALL).circuit
    wider = Schema.infer(X, features={"size": {"lower": -50, "upper": 50}, "visits": {"upper": 100}})
    learned = quiet(X, y, wider, **SMALL)
    check_sound(learned, X, y)
    assert learned.circuit.features == wider.features
    assert learned.circuit.log_likelihood(pd.DataFrame({"size": [-49.0], "visits": [99]}))[0] > math.log(FLOOR)


def test_a_schema_of_some_columns() -> None:
    X, y = drawn(0, 100)
    learned = quiet(X, y, Schema.infer(X[["colour", "size"]]), **SMALL)
    assert learned.circuit.names == ("colour", "size", "granted")
    assert learned.circuit.nodes == quiet(X[["colour", "size"]], y, **SMALL).circuit.nodes


def test_a_category_never_seen() -> None:
    X, y = drawn(0, 100)
    schema = Schema((Categorical("colour", ("blue", "green", "red", "violet")), Integer("visits", 0, 99)))
    for settings_ in SMALL_BY_METHOD.values():
        learned = quiet(X, y, schema, **settings_)
        check_sound(learned, X, y)
        violet = learned.circuit.log_likelihood(pd.DataFrame({"colour": ["violet"]}))[0]
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
    assert math.exp(plain.log_likelihood(red)[0]) == pytest.approx(reds.mean(), abs=0.02)
    assert math.exp(heavy.log_likelihood(red)[0]) == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize(
    ("weights", "got"),
    [
        ([1.0, 2.0], r"shape \(2,\)"),
        (np.ones((5, 1)), r"shape \(5, 1\)"),
        (np.zeros(5), "only 0"),
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
@settings(max_examples=25)
def test_every_table_gives_a_sound_circuit(method: Any, table: tuple[Schema, pd.DataFrame, Any, pd.DataFrame]) -> None:
    schema, X, y, others = table
    learned = quiet(X, y, schema, method=method)
    check_sound(learned, X, y)
    assert np.isfinite(learned.circuit.log_likelihood(others)).all()
    assert Circuit.from_json(learned.circuit.to_json()) == learned.circuit


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


# -- Ctrl-C -----------------------------------------------------------------------------------------------------------

INTERRUPTED = r"^Learning was interrupted; the circuit is what was learned until then\.$"


def check_interrupted(learned: Any, X: pd.DataFrame, y: Any, nodes: int) -> None:
    assert learned.interrupted
    assert math.isnan(learned.validation)
    assert learned.circuit.check().normalised
    assert len(learned.circuit) <= nodes
    assert np.isfinite(learned.circuit.log_likelihood(X, y)).all()


@pytest.mark.parametrize("calls", [0, 1, 2, 7, 20, 40, 100])
def test_an_interrupt_of_the_core(monkeypatch: pytest.MonkeyPatch, calls: int) -> None:
    """Wherever it comes while candidates are tried."""
    step = mixture.expect_mixture
    seen: list[int] = []

    def interrupted(*given_arrays: Any) -> Any:
        seen.append(1)
        if len(seen) == calls + 1:
            raise KeyboardInterrupt
        return step(*given_arrays)

    monkeypatch.setattr(mixture, "expect_mixture", interrupted)
    X, y = drawn(0, 200)
    with pytest.warns(LikelyWarning, match=INTERRUPTED):
        learned = quiet(X, y, nodes=40, method="mixture")
    check_interrupted(learned, X, y, 40)


def test_an_interrupt_when_the_size_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The validation is known by then, and is kept."""

    def interrupting(shown: bool, title: str) -> Any:
        bar = progress_bar(False, title)

        class Wrapped:
            def __enter__(self) -> Any:
                move = bar.__enter__()

                def stop(done: float, what: str) -> None:
                    move(done, what)
                    if done > 0.8:
                        raise KeyboardInterrupt

                return stop

            def __exit__(self, *given_error: Any) -> Any:
                return bar.__exit__(*given_error)

        return Wrapped()

    monkeypatch.setattr(learn_module, "progress_bar", interrupting)
    X, y = drawn(0, 200)
    with pytest.warns(LikelyWarning, match=INTERRUPTED):
        learned = learn(X, y, nodes=40, method="mixture", progress=True)
    assert learned.interrupted
    assert math.isfinite(learned.validation)
    assert len(learned.circuit) <= 40
    assert learned.circuit.check().normalised


# -- the bar ----------------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with progress_bar(True, "Learning") as move:
        for done in (0.25, 0.5, 0.4, 1.0, 1.5):  # never back, never beyond the end
            move(done, f"step {done}")
    shown = screen.getvalue()
    assert "Learning" in shown
    assert "100%" in shown
    percent = [int(part.split("%")[0][-3:]) for part in shown.split("Learning")[1:]]
    assert all(a <= b for a, b in pairwise(percent))
    assert percent[-1] == 100


@pytest.mark.parametrize("shown", [True, False])
def test_no_bar_in_a_log(capsys: pytest.CaptureFixture[str], shown: bool) -> None:
    X, y = drawn(0, 50)
    learn(X, y, nodes=10, progress=shown)
    assert capsys.readouterr() == ("", "")


def test_no_bar_on_a_terminal_where_it_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with progress_bar(False, "Learning") as move:
        move(0.5, "half")
    assert screen.getvalue() == ""


def test_the_bar_says_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    X, y = drawn(0, 200)
    learn(X, y, nodes=30, method="mixture")
    shown = screen.getvalue()
    assert "30 nodes" in shown
    assert "100%" in shown
