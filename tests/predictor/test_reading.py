"""`read`: its options, its check of every form against the model, and random rows to check on."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from likely.errors import PredictorError
from likely.predictor import LinearModel, Link, Reader, read, register, registry
from likely.predictor.reading import feed, random_rows
from likely.schema import Categorical, Continuous, Integer, Mixed, Schema
from likely.schema.times import holds_times
from likely.schema.values import is_code
from tests.contracts.reader import mixed_schema, mixed_table
from tests.strategies import schemas

TABLE, TWO, _ = mixed_table()
SCHEMA = mixed_schema(TABLE)
NUMBERS, TEXTS = ["age", "amount", "rate"], ["job", "school", "owner"]
ROWS = random_rows(SCHEMA, 50)


@pytest.fixture(scope="module")
def model():
    columns = make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(), TEXTS))
    return make_pipeline(columns, LogisticRegression()).fit(TABLE, TWO)


# -- options --------------------------------------------------------------------------------------------------------------


def test_an_encoder_and_a_model_are_a_pipeline(model):
    assert read(model[-1], SCHEMA, encoder=model[0]) == read(model, SCHEMA)


def test_an_encoder_of_some_columns_in_another_order():
    scaler = StandardScaler().fit(TABLE[["rate", "age"]])
    fitted = LogisticRegression().fit(scaler.transform(TABLE[["rate", "age"]]), TWO)
    expected = fitted.decision_function(scaler.transform(SCHEMA.decode(ROWS)[["rate", "age"]]))
    np.testing.assert_allclose(read(fitted, SCHEMA, encoder=scaler).score(ROWS)[:, 0], expected)


def test_classes_are_renamed(model):
    assert read(model, SCHEMA).classes == ("bad", "good")
    form = read(model, SCHEMA, classes=["refused", "granted"])
    assert form.classes == ("refused", "granted")
    expected = np.where(model.predict(SCHEMA.decode(ROWS)) == "good", "granted", "refused")
    np.testing.assert_array_equal(form.predict(ROWS), expected)
    with pytest.raises(PredictorError, match=r"must have 2 classes; got \['a'\]. Hint: give classes=\[...\] in the order of"):
        read(model, SCHEMA, classes=["a"])


def test_the_link_is_replaced(model):
    plain = read(model, SCHEMA)
    assert read(model, SCHEMA, link="sign").classes == ("bad", "good")
    assert not read(model, SCHEMA, link="sign").link.has_probabilities
    assert read(model, SCHEMA, link=Link("logistic", scale=2.0)).link.scale == 2.0
    regressor = read(model, SCHEMA, link="identity")
    assert regressor.classes == ()
    np.testing.assert_array_equal(regressor.predict(ROWS), plain.score(ROWS)[:, 0])
    with pytest.raises(PredictorError, match="link 'identity' must have 0 classes"):
        read(model, SCHEMA, link="identity", classes=["a", "b"])
    with pytest.raises(PredictorError, match="A link must have a known kind; got 'probit'"):
        read(model, SCHEMA, link="probit")


def test_a_regressor_becomes_a_classifier():
    model = LinearRegression().fit(TABLE[NUMBERS], TWO == "good")
    form = read(model, SCHEMA, link="sign", classes=["no", "yes"])
    assert set(form.predict(ROWS)) <= {"no", "yes"}
    with pytest.raises(PredictorError, match=r"must have 2 classes; got \[\]"):
        read(model, SCHEMA, link="sign")


# -- the check ------------------------------------------------------------------------------------------------------------


class Doubler:
    """A model whose readers below are wrong, each in its own way."""


def doubler(factor: float = 2.0, score=lambda model, X: 2 * X["age"].to_numpy()) -> Reader:
    def read_doubler(model, inputs):
        columns = inputs.named(["age"], "Doubler").columns("Doubler")
        return LinearModel(Link("identity"), (), columns, [[factor]], [0.0])

    return Reader(read_doubler, score)


@pytest.fixture
def wrong():
    """Register a reader of `Doubler` for one test."""
    yield lambda *args, **options: register("tests.Doubler", doubler(*args, **options))
    registry._readers.pop(("tests", "Doubler"), None)


def test_a_right_reader_passes(wrong):
    wrong()
    np.testing.assert_array_equal(read(Doubler(), SCHEMA).score(ROWS)[:, 0], 2 * ROWS[:, 0])


def test_a_wrong_reader_is_refused(wrong):
    wrong(2.1)
    with pytest.raises(
        PredictorError, match=r"What was read from a Doubler must score every row as the model does; got .* where the model says"
    ) as caught:
        read(Doubler(), SCHEMA)
    assert "pass check=False only if you know what" in str(caught.value)
    assert read(Doubler(), SCHEMA, check=False).weights.tolist() == [[2.1]]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_that_are_no_numbers_are_refused(wrong, bad):
    wrong(score=lambda model, X: np.full(len(X), bad))
    with pytest.raises(PredictorError, match="What was read from a Doubler must score every row as the model does"):
        read(Doubler(), SCHEMA)


def test_a_wrong_number_of_scores_is_refused(wrong):
    wrong(score=lambda model, X: np.zeros((len(X), 3)))
    with pytest.raises(PredictorError, match="The scores of a Doubler must be 1 per row; got 3"):
        read(Doubler(), SCHEMA)


def test_an_error_of_the_model_is_told(wrong):
    wrong(score=lambda model, X: X["income"])
    with pytest.raises(
        PredictorError, match=r"A Doubler must score rows of the schema; got KeyError: 'income'. Hint: give the schema"
    ) as caught:
        read(Doubler(), SCHEMA)
    assert isinstance(caught.value.__cause__, KeyError)


def test_an_error_of_ours_is_left_as_it_is(wrong):
    def refuse(model, X):
        raise PredictorError("A row", "be kind", "rude", "smile")

    wrong(score=refuse)
    with pytest.raises(PredictorError, match=r"^A row must be kind; got rude"):
        read(Doubler(), SCHEMA)


def test_a_hidden_change_of_the_model_is_found(model, monkeypatch):
    """A subclass that does more than its base is found out, though its base has a reader."""

    class Squared(LogisticRegression):
        def decision_function(self, X):
            return super().decision_function(X) ** 2

    fitted = Squared().fit(model[0].transform(TABLE), TWO)
    with pytest.raises(PredictorError, match="What was read from a Squared must score every row as the model does"):
        read(fitted, SCHEMA, encoder=model[0])


def test_the_check_is_quiet():
    columns = make_column_transformer((OneHotEncoder(handle_unknown="ignore", drop="first"), ["job"]))
    seen = TABLE[TABLE["job"] != "pilot"]
    fitted = make_pipeline(columns, LogisticRegression()).fit(seen, TWO[seen.index])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        form = read(fitted, SCHEMA)
    assert form.classes == ("bad", "good")


# -- what is refused --------------------------------------------------------------------------------------------------------


def test_no_schema(model):
    with pytest.raises(PredictorError, match=r"A schema must be a likely.Schema; got DataFrame. Hint: use Schema.infer\(X\)"):
        read(model, TABLE)


def test_model_files(tmp_path):
    missing = tmp_path / "model.onnx"
    for path in (missing, str(missing), tmp_path):
        with pytest.raises(PredictorError, match=r"A model file must exist; got .*. Hint: check the path"):
            read(path, SCHEMA)
    other = tmp_path / "model.pkl"
    other.write_bytes(b"")
    with pytest.raises(
        PredictorError, match=r"A model file must end in .onnx, .json, .ubj, .txt or .cbm; got model.pkl. Hint: load it yourself"
    ):
        read(other, SCHEMA)


def test_an_unfitted_encoder(model):
    with pytest.raises(PredictorError, match="A StandardScaler must be fitted"):
        read(model[-1], SCHEMA, encoder=StandardScaler())


# -- rows -------------------------------------------------------------------------------------------------------------------


@given(schemas())
def test_random_rows_are_rows_of_the_schema(schema):
    """Within the domain, on the grid, and as the columns' dtypes hold them."""
    rows = random_rows(schema, 40)
    for feature, numbers in zip(schema.features, rows.T, strict=True):
        assert feature.fits(numbers).all(), (feature, numbers)
    np.testing.assert_array_equal(schema.encode(schema.decode(rows)), rows)


@pytest.mark.parametrize("dtype", ["float32", "Float32", "float16"])
def test_rounded_numbers_stay_within_the_bounds(dtype):
    """Neither 0.1 nor 0.3 is a single: the nearest ones lie outside."""
    narrow = Continuous("x", 0.1, 0.1 + 1e-3, dtype=dtype)
    mixed = Mixed("m", 0.1, 0.1 + 1e-3, codes=(-9, None), dtype=dtype)
    rows = random_rows(Schema((narrow, mixed)), 2000)
    numbers = rows[~is_code(rows)]
    precise = np.float16 if dtype == "float16" else np.float32
    assert (numbers == numbers.astype(precise)).all()
    assert (numbers >= 0.1).all()
    assert (numbers <= 0.1 + 1e-3).all()


def test_random_rows_reach_every_value():
    schema = Schema((Integer("n", 3, 6), Categorical("c", ("a", "b", None)), Mixed("m", 0, 1, codes=(-9, None), step=0.5)))
    rows = random_rows(schema, 500)
    assert [len(np.unique(column)) for column in rows.T] == [4, 3, 5]
    np.testing.assert_array_equal(rows, random_rows(schema, 500))
    assert (rows != random_rows(schema, 500, random_state=1)).any()


def test_a_code_within_the_bounds_is_never_a_number():
    feature = Mixed("m", 0, 3, codes=(0,), integer=True)
    rows = random_rows(Schema((feature,)), 500)
    assert feature.fits(rows[:, 0]).all()
    assert not (rows == 0).any()


def test_feed(model):
    frame = feed(SCHEMA, ROWS)
    pd.testing.assert_frame_equal(frame, SCHEMA.decode(ROWS))
    made = feed(SCHEMA, ROWS, model[0])
    expected = model[0].transform(frame)
    np.testing.assert_array_equal(made, expected.toarray() if hasattr(expected, "toarray") else expected)
    same = FunctionTransformer().fit(TABLE[["rate"]])
    assert list(feed(SCHEMA, ROWS, same).columns) == ["rate"]


def test_dates_are_rows_too():
    schema = Schema((Integer("day", "2026-01-01", "2026-12-31", dtype="datetime64[ns]"),))
    assert holds_times(schema["day"].dtype)
    assert schema["day"].fits(random_rows(schema, 100)[:, 0]).all()
