"""Decision trees and forests of scikit-learn, alone and behind pipelines."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, RobustScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor import read
from likely.schema import Continuous, Mixed, Schema
from tests.contracts.reader import Case, ReaderContract, mixed_schema, mixed_table, rows_at_thresholds

TABLE, TWO, THREE = mixed_table()
SCHEMA = mixed_schema(TABLE)
TARGET = TABLE["amount"] / 100 + TABLE["age"] * TABLE["rate"]
NUMBERS, TEXTS = ["age", "amount", "rate"], ["job", "school", "owner"]
ENCODERS = {
    "standard": make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(), TEXTS)),
    "min_max": make_column_transformer((OrdinalEncoder(), TEXTS), (MinMaxScaler((-1, 1)), NUMBERS)),
    "robust": make_column_transformer(
        (RobustScaler(), ["rate", "age"]), (OneHotEncoder(drop="first"), TEXTS), remainder="passthrough"
    ),
}
CLASSIFIERS = {
    "tree": DecisionTreeClassifier(max_depth=6, random_state=0),
    "full_tree": DecisionTreeClassifier(random_state=0),
    "extra_tree": ExtraTreeClassifier(random_state=0),
    "forest": RandomForestClassifier(15, max_depth=5, random_state=0),
    "full_forest": RandomForestClassifier(10, random_state=0),
    "extra_trees": ExtraTreesClassifier(10, random_state=0),
}
REGRESSORS = {
    "tree": DecisionTreeRegressor(max_depth=6, random_state=0),
    "extra_tree": ExtraTreeRegressor(random_state=0),
    "forest": RandomForestRegressor(10, random_state=0),
    "extra_trees": ExtraTreesRegressor(10, max_depth=6, random_state=0),
}


@functools.cache
def behind(encoder, model, target):
    """A fitted pipeline: the contract asks for it once per test."""
    kind, name = model
    model = {"classifier": CLASSIFIERS, "regressor": REGRESSORS}[kind][name]
    return clone(make_pipeline(ENCODERS[encoder], model)).fit(TABLE, {"two": TWO, "three": THREE, "target": TARGET}[target])


class TestClassifiers(ReaderContract):
    @pytest.fixture(
        params=[
            ("standard", "tree", "two"), ("min_max", "tree", "three"), ("robust", "full_tree", "three"),
            ("min_max", "extra_tree", "two"), ("robust", "extra_tree", "three"), ("robust", "forest", "two"),
            ("standard", "full_forest", "three"), ("min_max", "full_forest", "two"),
            ("standard", "extra_trees", "two"), ("min_max", "extra_trees", "three"),
        ],
        ids="-".join,
    )  # fmt: skip
    def case(self, request):
        encoder, name, labels = request.param
        fitted = behind(encoder, ("classifier", name), labels)
        return Case(fitted, SCHEMA, fitted.predict_proba, fitted.predict_proba, fitted.predict)

    def test_values_at_thresholds_are_among_the_rows(self, case, form):
        assert len(rows_at_thresholds(case.schema, form)) > 30


class TestRegressors(ReaderContract):
    @pytest.fixture(params=list(zip(["standard", "min_max", "robust", "standard"], REGRESSORS, strict=True)), ids="-".join)
    def case(self, request):
        encoder, name = request.param
        fitted = behind(encoder, ("regressor", name), "target")
        return Case(fitted, SCHEMA, fitted.predict, None, fitted.predict)


def without_names(fitted, schema):
    """A case of a model that was fitted on an array."""

    def asked(method):
        return lambda X: method(X.to_numpy(dtype=np.float64))

    return Case(fitted, schema, asked(fitted.predict_proba), asked(fitted.predict_proba), asked(fitted.predict))


class TestBare(ReaderContract):
    """On arrays of numbers, with labels that are not text."""

    @pytest.fixture(params=["tree", "forest", "extra_trees"])
    def case(self, request):
        numbers = TABLE[NUMBERS]
        labels = {"tree": THREE.map({"low": 7, "mid": 3, "top": 5}), "forest": TWO == "good", "extra_trees": THREE == "mid"}
        fitted = clone(CLASSIFIERS[request.param]).fit(numbers.to_numpy(), labels[request.param])
        return without_names(fitted, Schema(SCHEMA.features[:3]))

    def test_values_at_thresholds_are_among_the_rows(self, case, form):
        assert len(rows_at_thresholds(case.schema, form)) > 30
        assert {"amount", "rate"} <= {feature.name for feature in case.schema.features if isinstance(feature, Continuous)}


class TestSinglePrecision(ReaderContract):
    """A column of float32 beside one of float64, which the trees round."""

    @pytest.fixture(params=[False, True], ids=["bare", "scaled"])
    def case(self, request):
        numbers = TABLE[NUMBERS].astype({"rate": "float32", "age": "float32"})
        model = RandomForestClassifier(10, random_state=0)
        fitted = (make_pipeline(StandardScaler(), model) if request.param else model).fit(numbers, THREE)
        return Case(fitted, Schema.infer(numbers), fitted.predict_proba, fitted.predict_proba, fitted.predict)


def with_gaps():
    """Numbers with missing cells: some in `amount`, which leans to a class, some in `rate`, at random."""
    random = np.random.default_rng(5)
    numbers = TABLE[NUMBERS].copy()
    numbers.loc[(THREE == "mid") & (random.random(len(TABLE)) < 0.4), "amount"] = np.nan
    numbers.loc[random.random(len(TABLE)) < 0.2, "rate"] = np.nan
    return numbers


class TestMissing(ReaderContract):
    """Missing values go as each split sends them; those of a column that had none in training, too."""

    @pytest.fixture(params=["full_tree", "forest", "extra_trees", "extra_tree", "unseen", "scaled"])
    def case(self, request):
        numbers = with_gaps()
        schema = Schema.infer(numbers)
        model = clone(CLASSIFIERS.get(request.param, CLASSIFIERS["full_forest"]))
        if request.param == "scaled":
            model = make_pipeline(StandardScaler(), model)
        if request.param == "unseen":
            numbers = TABLE[NUMBERS]
        fitted = model.fit(numbers, THREE)
        return Case(fitted, schema, fitted.predict_proba, fitted.predict_proba, fitted.predict)


class TestCodes(ReaderContract):
    """A number that stands for no record is a number to the trees."""

    @pytest.fixture
    def case(self):
        numbers = with_gaps()
        numbers["rate"] = numbers["rate"].fillna(-9)
        schema = Schema.infer(numbers, features={"rate": Mixed("rate", -1, 1, (-9,))})
        fitted = clone(CLASSIFIERS["full_forest"]).fit(numbers, TWO)
        return Case(fitted, schema, fitted.predict_proba, fitted.predict_proba, fitted.predict)


def test_values_beyond_the_bounds_go_as_the_model_sends_them():
    numbers = with_gaps()
    fitted = make_pipeline(StandardScaler(), clone(CLASSIFIERS["full_forest"])).fit(numbers, TWO)
    narrow = Schema([Mixed("age", 40, 41, (None,)), Continuous("amount", 900, 1000), Mixed("rate", 0, 0.1, (None,))])
    form = read(fitted, narrow)
    rows = numbers.dropna()
    np.testing.assert_array_equal(form.predict(rows.to_numpy(dtype=float)), fitted.predict(rows))


def test_several_targets_are_refused():
    fitted = DecisionTreeRegressor().fit(TABLE[NUMBERS], TABLE[["age", "rate"]])
    with pytest.raises(PredictorError, match=r"A DecisionTreeRegressor must predict one column; got 2 columns"):
        read(fitted, SCHEMA)


def test_missing_values_are_refused_where_the_tree_refuses_them():
    fitted = ExtraTreeClassifier(splitter="best", random_state=0).fit(TABLE[NUMBERS], TWO)
    expected = r"Feature 'amount' must not be missing where ExtraTreeClassifier reads it; got a missing value\. Hint: put a S"
    with pytest.raises(PredictorError, match=expected) as caught:
        read(fitted, Schema.infer(with_gaps()))
    assert caught.value.feature == "amount"


def test_missing_values_are_refused_where_the_trees_are_given_a_sparse_array():
    encoder = make_column_transformer(("passthrough", ["rate"]), (OneHotEncoder(), ["job", "school"]), sparse_threshold=1.0)
    fitted = make_pipeline(encoder, clone(CLASSIFIERS["tree"])).fit(TABLE, TWO)
    gaps = TABLE[["job", "school"]].assign(rate=with_gaps()["rate"])
    with pytest.raises(PredictorError, match=r"Feature 'rate' must not be missing where DecisionTreeClassifier reads it"):
        read(fitted, Schema.infer(TABLE.assign(**gaps)))


def test_a_forest_that_is_not_fitted_is_refused():
    with pytest.raises(
        PredictorError, match=r"A RandomForestClassifier must be fitted; got one that is not\. Hint: call fit first"
    ):
        read(RandomForestClassifier(), SCHEMA)


def test_another_number_of_inputs_is_refused():
    fitted = clone(CLASSIFIERS["tree"]).fit(TABLE[NUMBERS].to_numpy(), TWO)
    with pytest.raises(PredictorError, match=r"A DecisionTreeClassifier must be given the 3 inputs it was trained on; got 6"):
        read(fitted, SCHEMA)


def test_text_is_refused_by_name():
    fitted = clone(CLASSIFIERS["tree"]).fit(TABLE[NUMBERS].to_numpy(), TWO)
    schema = Schema([SCHEMA["age"], SCHEMA["job"], SCHEMA["rate"]])
    with pytest.raises(PredictorError, match=r"Feature 'job' must be numbers where DecisionTreeClassifier reads it; got 'clerk'"):
        read(fitted, schema)


def test_other_forests_are_refused():
    fitted = IsolationForest(n_estimators=5).fit(TABLE[NUMBERS].to_numpy())
    with pytest.raises(
        UnsupportedModelError, match=r"got sklearn\.IsolationForest\. .*What is read.*likely\.predictor\.register"
    ):
        read(fitted, SCHEMA)
