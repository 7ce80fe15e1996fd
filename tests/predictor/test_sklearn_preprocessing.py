"""Transformers of scikit-learn: what a reader makes of a row is what the transformer makes of it, to the last bit."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor import read
from likely.predictor.reading import random_rows
from likely.predictor.tables import as_fitted
from likely.schema import Categorical, Continuous, Integer, Mixed, Ordinal, Schema
from tests.contracts.reader import rows_at_thresholds
from tests.predictor.pipelines import random_preprocessing, random_table, schema_of
from tests.predictor.transformers import NUMBERS, SCHEMA, TABLE, TEXTS, TWO, agree, dense, wires_of

# -- the property -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_random_preprocessing_to_the_last_bit(seed):
    """Whatever the columns and however they are scaled, encoded, imputed, split, joined and nested."""
    random = np.random.default_rng(seed)
    table = random_table(random)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        preprocessing = random_preprocessing(random, table)
        schema = schema_of(table)
        rows = random_rows(schema, 60, seed)
        theirs = dense(preprocessing.transform(as_fitted(preprocessing, schema.decode(rows))))
    np.testing.assert_array_equal(wires_of(preprocessing, schema).read(rows, "the test"), theirs)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_trees_behind_random_preprocessing(seed):
    """Bits matter: a value at a split goes the way the model sends it, whatever lies between the two."""
    random = np.random.default_rng(seed)
    table = random_table(random)
    schema = schema_of(table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make_pipeline(random_preprocessing(random, table), DecisionTreeClassifier(random_state=0))
        form = read(model.fit(table, random.integers(0, 3, len(table))), schema)
        rows = np.concatenate([random_rows(schema, 100, seed), rows_at_thresholds(schema, form, most=100)])
        theirs = model.predict_proba(as_fitted(model, schema.decode(rows)))
    np.testing.assert_array_equal(form.probabilities(rows), theirs)


# -- encoders -----------------------------------------------------------------------------------------------------------

ONE_HOTS = [
    OneHotEncoder(),
    OneHotEncoder(drop="first"),
    OneHotEncoder(drop="if_binary"),
    OneHotEncoder(drop=["nurse", "none", True]),
    OneHotEncoder(sparse_output=False, dtype=np.float32),
    OneHotEncoder(min_frequency=70),
    OneHotEncoder(max_categories=2, drop="first"),
    OneHotEncoder(min_frequency=0.27, drop="if_binary", handle_unknown="infrequent_if_exist"),
    OneHotEncoder(categories=[["pilot", "clerk", "nurse", "farmer", "smith"], ["high", "none", "middle"], [False, True]]),
]


@pytest.mark.parametrize("encoder", ONE_HOTS, ids=lambda encoder: str(encoder)[:60])
def test_one_hot(encoder):
    agree(make_column_transformer((encoder, TEXTS)).fit(TABLE), SCHEMA)


@pytest.mark.parametrize("grouping", [{}, {"max_categories": 2}], ids=str)
@pytest.mark.parametrize("drop", [None, "first"])
@pytest.mark.parametrize("unknown", ["ignore", "infrequent_if_exist", "warn"])
def test_one_hot_of_values_it_has_not_seen(unknown, drop, grouping):
    """A schema may have more values than the training table, if the encoder has a way for them."""
    seen = TABLE[(TABLE["job"] != "pilot") & (TABLE["school"] != "none")]
    encoder = OneHotEncoder(handle_unknown=unknown, drop=drop, **grouping)
    made = agree(make_column_transformer((encoder, ["job", "school"])).fit(seen), SCHEMA)
    assert (made[:, 0] == 0).any()


ORDINALS = [
    OrdinalEncoder(),
    OrdinalEncoder(categories=[["pilot", "clerk", "nurse", "farmer"], ["none", "middle", "high"], [False, True]]),
    OrdinalEncoder(min_frequency=70),
    OrdinalEncoder(max_categories=2, dtype=np.int64),
    OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-7, max_categories=3, dtype=np.float32),
]


@pytest.mark.parametrize("encoder", ORDINALS, ids=lambda encoder: str(encoder)[:60])
def test_ordinal(encoder):
    agree(make_column_transformer((encoder, TEXTS)).fit(TABLE), SCHEMA)


@pytest.mark.parametrize("unknown", [-1, 99, np.nan])
def test_ordinal_of_values_it_has_not_seen(unknown):
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=unknown)
    made = agree(make_column_transformer((encoder, ["job"])).fit(TABLE[TABLE["job"] != "pilot"]), SCHEMA)
    assert (np.isnan(made) if np.isnan(unknown) else made == unknown).any()


GAPPY = [
    pd.Series(["a", None, "b", "c"] * 10, dtype="str"),
    pd.Series(["a", None, "b", "c"] * 10, dtype=object),
    pd.Series(["a", np.nan, "b", "c"] * 10, dtype=object),
    pd.Series(["a", None, "b", "c"] * 10, dtype="category"),
    pd.Series([1, np.nan, 2, 5] * 10, dtype="category"),
    pd.Series([True, None, False, False] * 10, dtype=object),
]


MISSING_ENCODERS = [
    OneHotEncoder(),
    OneHotEncoder(drop="first", handle_unknown="ignore"),
    OrdinalEncoder(),
    OrdinalEncoder(encoded_missing_value=-4),
    make_pipeline(SimpleImputer(strategy="most_frequent", add_indicator=True), OrdinalEncoder()),
    make_pipeline(SimpleImputer(strategy="most_frequent", missing_values=pd.NA), OrdinalEncoder()),
]


@pytest.mark.parametrize("column", GAPPY, ids=lambda column: f"{column.dtype}-{column[0]}-{column[1]}")
@pytest.mark.parametrize("encoder", MISSING_ENCODERS, ids=lambda encoder: " ".join(str(encoder).split())[:90])
def test_missing_is_a_category(column, encoder):
    """None and NaN are two categories to scikit-learn; a schema has one missing value, and means the one that was there."""
    table = pd.DataFrame({"x": column, "n": range(len(column))})
    fitted = make_column_transformer((encoder, ["x"])).fit(table)
    schema = schema_of(table)
    rows = random_rows(schema, 100)
    theirs = dense(fitted.transform(as_fitted(fitted, schema.decode(rows))))
    np.testing.assert_array_equal(wires_of(fitted, schema).read(rows, "the test"), theirs)
    # what a row of the training table becomes is what it became
    np.testing.assert_array_equal(wires_of(fitted, schema).read(schema.encode(table), "the test"), dense(fitted.transform(table)))


@pytest.mark.parametrize("marker", [None, np.nan])
def test_imputing_the_missing_value_that_was_there(marker):
    column = pd.Series(["a", marker, "b", "b"] * 5, dtype=object)
    table = pd.DataFrame({"x": column, "n": range(len(column))})
    imputer = SimpleImputer(missing_values=marker, strategy="constant", fill_value="b")
    fitted = make_column_transformer((make_pipeline(imputer, OneHotEncoder()), ["x"])).fit(table)
    schema = schema_of(table)
    np.testing.assert_array_equal(wires_of(fitted, schema).read(schema.encode(table), "the test"), dense(fitted.transform(table)))


# -- scalers ------------------------------------------------------------------------------------------------------------

SCALERS = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    StandardScaler(with_std=False),
    MinMaxScaler(),
    MinMaxScaler(feature_range=(-0.3, 0.1), clip=True),
    RobustScaler(),
    RobustScaler(with_centering=False, quantile_range=(10, 80)),
    RobustScaler(with_scaling=False, unit_variance=True),
    MaxAbsScaler(),
]


@pytest.mark.parametrize(
    "dtypes", ["float64", "float32", "float16", {"age": "int16", "rate": "float32", "amount": "float32"}], ids=str
)
@pytest.mark.parametrize("scaler", SCALERS, ids=str)
def test_scalers_in_every_precision(scaler, dtypes):
    table = TABLE[NUMBERS].assign(amount=TABLE["amount"].clip(upper=9000)).astype(dtypes)
    agree(scaler.fit(table[:40]), Schema.infer(table))


def test_a_block_has_the_precision_of_its_columns():
    table = TABLE[NUMBERS].astype({"rate": "float32", "amount": "float32", "age": "int64"})
    schema = Schema.infer(table)
    single = make_column_transformer((StandardScaler(), ["rate", "amount"]), (MaxAbsScaler(), ["age", "rate"])).fit(table)
    dtypes = [wire.dtype for wire in wires_of(single, schema).wires]
    assert dtypes == ["float64"] * 4  # one array of both blocks
    single.set_output(transform="pandas")
    dtypes = [wire.dtype for wire in wires_of(single, schema).wires]
    assert dtypes == ["float32", "float32", "float64", "float64"]
    agree(make_pipeline(single, StandardScaler()).fit(table), schema)


def test_pandas_output_by_configuration():
    table = TABLE[NUMBERS].astype({"rate": "float32"})
    with config_context(transform_output="pandas"):
        fitted = make_column_transformer((StandardScaler(), ["rate"]), (MaxAbsScaler(), ["age"])).fit(table)
        assert [wire.dtype for wire in wires_of(fitted, Schema.infer(table)).wires] == ["float32", "float64"]


def test_scaling_a_sparse_matrix_multiplies_by_the_reciprocal():
    columns = ColumnTransformer([("n", "passthrough", NUMBERS), ("t", OneHotEncoder(), TEXTS)], sparse_threshold=1)
    for scaler in (StandardScaler(with_mean=False), MaxAbsScaler(), RobustScaler(with_centering=False)):
        agree(make_pipeline(columns, scaler).fit(TABLE), SCHEMA)


# -- imputers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("indicator", [False, True])
@pytest.mark.parametrize("strategy", ["mean", "median", "most_frequent", "constant"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "Int64"])
def test_imputing_a_missing_number(dtype, strategy, indicator):
    table = pd.DataFrame({"x": pd.Series([1, None, 7, 7, 30], dtype=dtype), "y": [1, 2, 3, 4, 5]})
    schema = Schema.infer(table)
    assert isinstance(schema["x"], Mixed)
    assert schema["x"].codes == (None,)
    imputer = SimpleImputer(strategy=strategy, add_indicator=indicator)
    made = agree(make_column_transformer((imputer, ["x", "y"])).fit(table), schema)
    assert made.shape[1] == 2 + indicator


def test_imputing_complete_rows_changes_nothing():
    complete = Schema.infer(TABLE)
    made = agree(make_column_transformer((SimpleImputer(), NUMBERS)).fit(TABLE), complete)
    np.testing.assert_array_equal(made, complete.decode(random_rows(complete, 200, random_state=5))[NUMBERS])


@pytest.mark.parametrize("strategy", ["mean", "most_frequent"])
def test_imputing_a_code(strategy):
    table = pd.DataFrame({"score": [-9, 5, 7, 7, 100, -9], "n": [1.5, 2, 3, 4, 5, 6]})
    imputer = SimpleImputer(missing_values=-9, strategy=strategy, add_indicator=True)
    fitted = make_column_transformer((make_pipeline(imputer, StandardScaler()), ["score"])).fit(table)
    agree(fitted, Schema.infer(table, features={"score": {"codes": [-9]}}))
    inside = Schema((Mixed("score", -20, 100, codes=(-9,), integer=True, dtype="int64"), Continuous("n", 0, 9)))
    agree(fitted, inside)
    with pytest.raises(PredictorError, match="Feature 'score' must not have the number -9, which SimpleImputer takes") as caught:
        wires_of(fitted, Schema.infer(table))
    assert caught.value.feature == "score"
    assert "features={'score': {'codes': [-9]}}" in str(caught.value)


def test_imputing_a_number_that_a_scaler_made():
    table = pd.DataFrame({"x": [-1.0, 0.0, 4.0]})
    fitted = make_pipeline(MaxAbsScaler(), SimpleImputer(missing_values=0.0)).fit(table)
    with pytest.raises(PredictorError, match=r"Feature 'x' must not have the number 0.0"):
        wires_of(fitted, Schema.infer(table))
    agree(make_pipeline(MaxAbsScaler(), SimpleImputer(missing_values=-5)).fit(table), Schema.infer(table))


def test_imputing_text():
    table = pd.DataFrame({"x": pd.Series(["?", "a", "b", "b"], dtype=object), "y": [1.0, 2, 3, 4]})
    imputer = SimpleImputer(missing_values="?", strategy="most_frequent")
    agree(make_column_transformer((make_pipeline(imputer, OneHotEncoder()), ["x"])).fit(table), Schema.infer(table))
    codes = pd.DataFrame({"x": pd.Series(["none", 1, 2.5, 2.5], dtype=object)})
    imputer = SimpleImputer(missing_values="none", strategy="most_frequent")
    agree(make_pipeline(imputer, StandardScaler()).fit(codes), Schema.infer(codes))


def test_imputing_numbers_and_text_together():
    table = pd.DataFrame({"x": pd.Series(["a", "b", "b"], dtype=object), "y": np.array([1.5, 2, 2], dtype=np.float32)})
    fitted = SimpleImputer(strategy="most_frequent").fit(table)
    wires = wires_of(fitted, Schema.infer(table)).wires
    assert [wire.dtype for wire in wires] == ["object", "object"]
    assert wires[0].atoms == ("a", "b")


def test_a_column_without_values_is_dropped_or_kept():
    table = pd.DataFrame({"x": [np.nan] * 4, "y": [1.0, 2, np.nan, 4]})
    schema = Schema((Mixed("x", 0, 1, codes=(None,)), Mixed("y", 0, 5, codes=(None,))))
    for keep in (False, True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert agree(SimpleImputer(keep_empty_features=keep).fit(table), schema).shape[1] == 1 + keep


def test_missing_values_that_an_imputer_leaves():
    table = pd.DataFrame({"x": [-9.0, 1, 2]})
    schema = Schema((Mixed("x", 0, 2, codes=(-9, None)),))
    with pytest.raises(PredictorError, match=r"Feature 'x' must have its missing values marked .* by -9; got NaN") as caught:
        wires_of(SimpleImputer(missing_values=-9).fit(table), schema)
    assert caught.value.feature == "x"


# -- what is refused ----------------------------------------------------------------------------------------------------


def test_a_transformer_without_a_reader():
    model = make_pipeline(Normalizer(), DecisionTreeClassifier(max_depth=2)).fit(TABLE[NUMBERS], TWO)
    message = "got sklearn.Normalizer. Hint: it divides a row by its length; use StandardScaler"
    with pytest.raises(UnsupportedModelError, match=f"A transformer must be of a class that likely can read; {message}"):
        read(model, SCHEMA)


def test_a_function_of_a_column_before_a_linear_model():
    model = make_pipeline(FunctionTransformer(np.log1p), LogisticRegression()).fit(TABLE[["age"]], TWO)
    assert [step.op for step in read(model, SCHEMA).columns[0].curve] == ["log1p"]
    model = make_pipeline(FunctionTransformer(np.arctan), LogisticRegression()).fit(TABLE[["age"]], TWO)
    with pytest.raises(UnsupportedModelError, match=r"as a function that likely has as data; got np\.arctan of it"):
        read(model, SCHEMA)


def test_a_pipeline_without_a_model():
    for last in ("passthrough", None):
        model = Pipeline([("scale", StandardScaler()), ("last", last)]).fit(TABLE[NUMBERS])
        with pytest.raises(PredictorError, match=r"A Pipeline must end in a classifier or regressor; got .*pass it as encoder="):
            read(model, SCHEMA)


def test_unfitted():
    for model, name in (
        (make_pipeline(StandardScaler(), LogisticRegression()), "StandardScaler"),
        (make_pipeline(make_column_transformer((StandardScaler(), NUMBERS)), LogisticRegression()), "ColumnTransformer"),
        (LogisticRegression(), "LogisticRegression"),
    ):
        with pytest.raises(PredictorError, match=f"A {name} must be fitted; got one that is not. Hint: call fit first."):
            read(model, SCHEMA)


def refusal(fitted, schema: Schema, match: str, feature) -> None:
    with pytest.raises(PredictorError, match=match) as caught:
        read(fitted, schema)
    assert caught.value.feature == feature


def test_a_missing_column():
    model = make_pipeline(make_column_transformer((StandardScaler(), NUMBERS)), LogisticRegression()).fit(TABLE, TWO)
    without = Schema(SCHEMA.features[1:])
    refusal(
        model,
        without,
        "The schema of a ColumnTransformer must have the column 'age' that it was trained on; got columns 'amount', 'rate'",
        "age",
    )
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(TABLE[NUMBERS], TWO)
    refusal(model, without, "The schema of a StandardScaler must have the column 'age'", "age")


@pytest.mark.parametrize("encoder", [OneHotEncoder(), OrdinalEncoder()], ids=str)
def test_an_unknown_category(encoder):
    model = make_pipeline(make_column_transformer((encoder, ["job"])), RandomForestClassifier(3)).fit(TABLE, TWO)
    schema = Schema((Categorical("job", ("clerk", "farmer", "nurse", "pilot", "smith"), dtype="str"),))
    name = type(encoder).__name__
    refusal(
        model, schema, f"Feature 'job' must have only values that {name} knows; got 'smith'. Hint: it knows .'clerk', ", "job"
    )
    missing = Schema((Categorical("job", ("clerk", None), dtype="str"),))
    refusal(model, missing, f"Feature 'job' must have only values that {name} knows; got nan", "job")


def test_another_number_of_inputs():
    model = RidgeClassifier().fit(TABLE[NUMBERS].to_numpy(), TWO)
    refusal(model, SCHEMA, "A RidgeClassifier must be given the 3 inputs it was trained on; got 6 from the schema", None)


def test_text_where_numbers_are_needed():
    model = RidgeClassifier().fit(TABLE[NUMBERS], TWO)
    texts = Schema((Categorical("age", ("young", "old")), *SCHEMA.features[1:]))
    refusal(model, texts, "Feature 'age' must be numbers where RidgeClassifier reads it; got 'young'", "age")
    scaled = make_pipeline(StandardScaler(), LogisticRegression()).fit(TABLE[NUMBERS], TWO)
    refusal(scaled, texts, "Feature 'age' must be numbers where StandardScaler reads it; got 'young'", "age")


def test_a_date():
    day = Integer("day", "2026-01-01", "2026-12-31", dtype="datetime64[ns]")
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(pd.DataFrame({"day": TABLE["age"]}), TWO)
    refusal(model, Schema((day,)), "Feature 'day' must be a number where StandardScaler reads it; got a date", "day")
    array = LogisticRegression().fit(TABLE[["age"]].to_numpy(), TWO)
    refusal(array, Schema((day,)), "Feature 'day' must be a number where LogisticRegression reads it; got a date", "day")
    tree = DecisionTreeClassifier(max_depth=2).fit(pd.DataFrame({"day": TABLE["age"]}), TWO)
    refusal(tree, Schema((day,)), "Feature 'day' must be a number where DecisionTreeClassifier reads it; got a date", "day")
    unused = Schema((*SCHEMA.features, day))
    read(make_pipeline(StandardScaler(), LogisticRegression()).fit(TABLE[NUMBERS], TWO), unused)


def test_missing_values_into_a_linear_model():
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(TABLE[["age"]], TWO)
    schema = Schema((Mixed("age", 18, 80, codes=(None,)),))
    refusal(
        model, schema, "Feature 'age' must not be missing where LogisticRegression reads it.*put a SimpleImputer before it", "age"
    )


@pytest.mark.parametrize("encoder", [OneHotEncoder(handle_unknown="ignore"), OrdinalEncoder()], ids=str)
def test_an_encoder_of_a_numeric_feature(encoder):
    model = make_pipeline(make_column_transformer((encoder, ["age"])), RandomForestClassifier(3)).fit(TABLE, TWO)
    match = f"Feature 'age' must have a list of values where {type(encoder).__name__} encodes it; got a numeric feature"
    refusal(model, SCHEMA, match, "age")
    mixed = Schema((Mixed("age", 18, 80, codes=(-9,)),))
    refusal(model, mixed, "Feature 'age' must have a list of values .* got a Mixed feature", "age")
    ages = Schema((Ordinal("age", tuple(sorted(TABLE["age"].unique().tolist())), dtype="int64"),))
    rows = random_rows(ages, 100)
    np.testing.assert_array_equal(read(model, ages).predict(rows), model.predict(ages.decode(rows)))
