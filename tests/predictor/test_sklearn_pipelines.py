"""Pipelines, column transformers and unions of scikit-learn: transformers in a row and side by side."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

from likely.errors import PredictorError
from likely.predictor import TreeEnsemble, read
from likely.predictor.reading import random_rows
from likely.schema import Continuous, Schema
from tests.predictor.transformers import NUMBERS, SCHEMA, TABLE, TEXTS, TWO, agree, wires_of


@pytest.mark.parametrize(
    "columns",
    [
        ["rate", "age"],
        np.array(["rate", "age"]),
        pd.Index(["rate", "age"]),
        [2, 0],
        [-4, -6],
        [True, False, True, False, False, False],
        np.array([True, False, True, False, False, False]),
        slice("age", "rate"),
        slice(None, "rate"),
        slice(0, 3),
        slice(None, -3),
        slice(0, 3, 2),
        make_column_selector(dtype_include=np.number),
        lambda X: ["rate"],
        [],
    ],
    ids=lambda columns: type(columns).__name__,
)
def test_ways_to_name_columns(columns):
    fitted = ColumnTransformer([("chosen", StandardScaler(), columns), ("other", MaxAbsScaler(), ["amount"])]).fit(TABLE)
    agree(fitted, SCHEMA)


COLUMNS = {"name": ["rate"], "place": [2], "mask": [False, False, True], "selector": make_column_selector("rate")}


@pytest.mark.parametrize("remainder", ["drop", "passthrough", MinMaxScaler()], ids=str)
@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)
def test_remainder(columns, remainder):
    table = TABLE[NUMBERS]
    fitted = ColumnTransformer([("one", StandardScaler(), columns)], remainder=remainder).fit(table)
    made = agree(fitted, Schema.infer(table))
    assert made.shape[1] == (1 if remainder == "drop" else 3)


def test_drop_passthrough_and_weights():
    parts = [
        ("a", "passthrough", ["age"]),
        ("b", "drop", ["amount"]),
        ("c", StandardScaler(), ["rate"]),
        ("d", OneHotEncoder(), ["job"]),
    ]
    agree(ColumnTransformer(parts, transformer_weights={"a": 0.1, "c": 3}).fit(TABLE), SCHEMA)
    union = FeatureUnion([("s", StandardScaler()), ("m", MaxAbsScaler()), ("p", "passthrough"), ("d", "drop")])
    for dtype in (np.float64, np.float32):
        table = TABLE[NUMBERS].astype(dtype)
        agree(union.set_params(transformer_weights={"m": 0.1}).fit(table), Schema.infer(table))


def test_nothing_left():
    fitted = ColumnTransformer([("none", StandardScaler(), []), ("drop", "drop", NUMBERS)]).fit(TABLE)
    assert agree(fitted, SCHEMA).shape == (200, 0)


def test_nested():
    inner = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["rate", "age"]), ("passthrough", ["amount"])
    )
    outer = ColumnTransformer([("inner", make_pipeline(inner, RobustScaler()), NUMBERS), ("texts", OneHotEncoder(), TEXTS)])
    agree(make_pipeline(FunctionTransformer(), "passthrough", outer, MaxAbsScaler()).fit(TABLE), SCHEMA)
    agree(make_pipeline(make_union(outer, inner), FunctionTransformer(validate=True, accept_sparse=True)).fit(TABLE), SCHEMA)


def test_columns_that_the_model_does_not_use_or_knows_in_another_order():
    agree(make_column_transformer((StandardScaler(), ["rate"])).fit(TABLE[["owner", "rate", "job"]]), SCHEMA)
    table = TABLE[["rate", "age"]]
    rows = random_rows(SCHEMA, 50)
    theirs = StandardScaler().fit(table)
    np.testing.assert_array_equal(
        wires_of(theirs, SCHEMA).read(rows, "the test"), theirs.transform(SCHEMA.decode(rows)[["rate", "age"]])
    )


def test_columns_that_are_dropped_need_not_be_in_the_schema():
    table = TABLE.assign(id=np.arange(len(TABLE)), target=TWO)
    fitted = make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(), ["job"])).fit(table)
    agree(fitted, SCHEMA)
    model = make_pipeline(fitted, LogisticRegression()).fit(table, TWO)
    assert read(model, SCHEMA).score(random_rows(SCHEMA, 5)).shape == (5, 1)


def test_arrays_instead_of_tables():
    numbers = Schema(SCHEMA.features[:3])
    agree(StandardScaler().fit(TABLE[NUMBERS].to_numpy()), numbers, as_array=True)
    parts = ColumnTransformer([("n", StandardScaler(), [0, 1, 2]), ("t", OneHotEncoder(), slice(3, 6))])
    agree(parts.fit(TABLE.to_numpy()), SCHEMA, as_array=True)
    single = TABLE[["rate", "amount"]].astype(np.float32)
    agree(RobustScaler().fit(single.to_numpy()), Schema.infer(single), as_array=True)
    mixed = TABLE[["rate", "owner"]].astype({"rate": np.float32})
    agree(RobustScaler().fit(mixed.to_numpy()), Schema.infer(mixed), as_array=True)


def test_names_that_are_whole_numbers():
    table = pd.DataFrame({7: TABLE["age"], 3: TABLE["rate"].astype(np.float32), 0: TABLE["job"]})
    schema = Schema.infer(table)
    fitted = ColumnTransformer([("t", OneHotEncoder(), [2]), ("n", StandardScaler(), [1])], remainder="passthrough").fit(table)
    agree(fitted, schema)
    model = make_pipeline(fitted, RidgeClassifier()).fit(table, TWO)
    np.testing.assert_array_equal(read(model, schema).predict(schema.encode(table)), model.predict(table))


def test_output_as_tables():
    """The last estimator knows its inputs as 'num__age'."""
    columns = ColumnTransformer([("num", StandardScaler(), NUMBERS), ("text", OneHotEncoder(sparse_output=False), TEXTS)])
    model = make_pipeline(columns, DecisionTreeClassifier(max_depth=4)).set_output(transform="pandas").fit(TABLE, TWO)
    assert "num__age" in model[-1].feature_names_in_
    form = read(model, SCHEMA)
    rows = random_rows(SCHEMA, 300)
    np.testing.assert_array_equal(form.predict(rows), model.predict(SCHEMA.decode(rows)))


def test_the_first_step_may_be_nothing():
    model = Pipeline([("same", "passthrough"), ("model", RidgeClassifier())]).fit(TABLE[["rate", "age"]], TWO)
    rows = random_rows(SCHEMA, 50)
    theirs = model.decision_function(SCHEMA.decode(rows)[["rate", "age"]])
    np.testing.assert_allclose(read(model, SCHEMA).score(rows)[:, 0], theirs)


def test_a_search_is_its_best_estimator():
    model = make_pipeline(make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(), TEXTS)), LogisticRegression())
    search = GridSearchCV(model, {"logisticregression__C": [0.1, 1.0]}, cv=2).fit(TABLE, TWO)
    assert read(search, SCHEMA) == read(search.best_estimator_, SCHEMA)
    with pytest.raises(PredictorError, match="A GridSearchCV must be fitted"):
        read(GridSearchCV(model, {}), SCHEMA)


def test_clipping():
    """Trees read what is clipped; linear models too, as a curve if it is a number of the feature that is clipped."""
    inside = Schema((Continuous("rate", *TABLE["rate"].agg(["min", "max"])),))
    outside = Schema((Continuous("rate", -5, 5),))
    scaler = MinMaxScaler(clip=True)
    tree = make_pipeline(scaler, DecisionTreeClassifier(max_depth=3)).fit(TABLE[["rate"]], TWO)
    linear = make_pipeline(scaler, LogisticRegression()).fit(TABLE[["rate"]], TWO)
    assert isinstance(read(tree, outside), TreeEnsemble)
    for schema in (inside, outside):
        rows = random_rows(schema, 100)
        np.testing.assert_allclose(read(linear, schema).score(rows)[:, 0], linear.decision_function(schema.decode(rows)))
