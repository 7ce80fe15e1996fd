"""Boosted trees of scikit-learn, alone and behind pipelines."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, RobustScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from threadpoolctl import threadpool_limits

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor import read
from likely.schema import Categorical, Integer, Schema
from tests.contracts.reader import Case, ReaderContract, mixed_schema, mixed_table, rows_at_thresholds

TABLE, TWO, THREE = mixed_table()
SCHEMA = mixed_schema(TABLE)
TARGET = np.exp(TABLE["rate"]) + TABLE["age"] / 30 + (TABLE["job"] == "pilot")
NUMBERS, TEXTS = ["age", "amount", "rate"], ["job", "school", "owner"]
LABELS = {
    "two": TWO,
    "three": THREE,
    "number": THREE.map({"low": 7, "mid": 3, "top": 5}),
    "truth": TWO == "good",
    "target": TARGET,
}
ENCODERS = {
    "standard": make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(), TEXTS)),
    "min_max": make_column_transformer((OrdinalEncoder(), TEXTS), (MinMaxScaler(), NUMBERS)),
    "robust": make_column_transformer(
        (RobustScaler(), ["rate", "age"]), (OneHotEncoder(drop="first"), TEXTS), remainder="passthrough"
    ),
}
MODELS = {
    "gradient": GradientBoostingClassifier(n_estimators=12, random_state=0),
    "exponential": GradientBoostingClassifier(n_estimators=12, loss="exponential", subsample=0.7, random_state=0),
    "from_zero": GradientBoostingClassifier(n_estimators=8, init="zero", learning_rate=0.3, random_state=0),
    "from_uniform": GradientBoostingClassifier(n_estimators=5, init=DummyClassifier(strategy="uniform"), random_state=0),
    "stumps": AdaBoostClassifier(n_estimators=20, random_state=0),
    "boosted_trees": AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=8, learning_rate=0.5, random_state=0),
    "boosted_extra": AdaBoostClassifier(ExtraTreeClassifier(max_depth=4), n_estimators=6, random_state=0),
    "hist": HistGradientBoostingClassifier(max_iter=10, random_state=0),
    "squared": GradientBoostingRegressor(n_estimators=12, random_state=0),
    "absolute": GradientBoostingRegressor(n_estimators=8, loss="absolute_error", random_state=0),
    "quantile": GradientBoostingRegressor(n_estimators=8, loss="quantile", alpha=0.8, random_state=0),
    "huber": GradientBoostingRegressor(n_estimators=8, loss="huber", random_state=0),
    "constant": GradientBoostingRegressor(n_estimators=8, init=DummyRegressor(strategy="constant", constant=2.0), random_state=0),
    "zero": GradientBoostingRegressor(n_estimators=8, init="zero", random_state=0),
}


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """The histograms' threads wait for each other in a loop: on a busy machine that takes longer than the work."""
    with threadpool_limits(1):
        yield


@functools.cache
def behind(encoder, name, labels):
    """A fitted pipeline: the contract asks for it once per test."""
    return clone(make_pipeline(ENCODERS[encoder], MODELS[name])).fit(TABLE, LABELS[labels])


@functools.cache
def bare(name, labels, singles=0):
    """A model fitted on the numbers, the first `singles` of them in single precision."""
    return clone(MODELS[name]).fit(in_single_precision(singles), LABELS[labels])


def in_single_precision(count):
    return TABLE[NUMBERS].astype(dict.fromkeys(NUMBERS[:count], "float32"))


class TestClassifiers(ReaderContract):
    @pytest.fixture(
        params=[
            ("standard", "gradient", "two"), ("min_max", "gradient", "three"), ("robust", "exponential", "truth"),
            ("standard", "from_zero", "number"), ("standard", "from_uniform", "two"), ("robust", "stumps", "two"),
            ("min_max", "stumps", "three"), ("standard", "boosted_trees", "number"), ("min_max", "boosted_trees", "truth"),
            ("robust", "boosted_extra", "three"), ("standard", "hist", "two"), ("min_max", "hist", "number"),
        ],
        ids="-".join,
    )  # fmt: skip
    def case(self, request):
        fitted = behind(*request.param)
        # AdaBoost divides the sum of the votes by their weight, we divide each vote: a tie may be broken by rounding.
        tie = 1e-12 if isinstance(fitted[-1], AdaBoostClassifier) else 0.0
        return Case(fitted, SCHEMA, fitted.decision_function, fitted.predict_proba, fitted.predict, tie=tie)

    def test_values_at_thresholds_are_among_the_rows(self, case, form):
        assert len(rows_at_thresholds(case.schema, form)) > 10


class TestRegressors(ReaderContract):
    @pytest.fixture(params=["squared", "absolute", "quantile", "huber", "constant", "zero"])
    def case(self, request):
        fitted = behind("standard", request.param, "target")
        return Case(fitted, SCHEMA, fitted.predict, None, fitted.predict)


@functools.cache
def fitted_on_array(name):
    return clone(MODELS[name]).fit(TABLE[NUMBERS].to_numpy(), THREE)


class TestBare(ReaderContract):
    """On an array of numbers."""

    @pytest.fixture(params=["gradient", "boosted_trees", "hist"])
    def case(self, request):
        fitted = fitted_on_array(request.param)

        def asked(method):
            return lambda X: method(X.to_numpy(dtype=np.float64))

        methods = [asked(method) for method in (fitted.decision_function, fitted.predict_proba, fitted.predict)]
        return Case(fitted, Schema(SCHEMA.features[:3]), *methods, tie=1e-12)

    def test_values_at_thresholds_are_among_the_rows(self, case, form):
        assert len(rows_at_thresholds(case.schema, form)) > 30


class TestSinglePrecision(ReaderContract):
    """Columns of float32, alone and beside float64; the histograms' thresholds are doubles."""

    @pytest.fixture(params=[("hist", 1), ("hist", 2), ("hist", 3), ("gradient", 2)], ids=str)
    def case(self, request):
        name, singles = request.param
        fitted = bare(name, "two", singles)
        return Case(
            fitted, Schema.infer(in_single_precision(singles)), fitted.decision_function, fitted.predict_proba, fitted.predict
        )


@functools.cache
def fitted_by_loss(loss):
    quantile = 0.3 if loss == "quantile" else None
    model = HistGradientBoostingRegressor(loss=loss, quantile=quantile, max_iter=10, early_stopping=True, random_state=0)
    return clone(make_pipeline(ENCODERS["min_max"], model)).fit(TABLE, TARGET)


class TestHistRegressors(ReaderContract):
    @pytest.fixture(params=["squared_error", "absolute_error", "quantile", "poisson", "gamma"])
    def case(self, request):
        fitted = fitted_by_loss(request.param)
        scores = (lambda X: np.log(fitted.predict(X))) if request.param in ("poisson", "gamma") else fitted.predict
        return Case(fitted, SCHEMA, scores, None, fitted.predict)


def as_categories(table, *, gaps=False):
    """Text as pandas categories, `school` in order; with gaps, missing cells in most columns."""
    table = table.copy()
    if gaps:
        random = np.random.default_rng(4)
        for name in ("amount", "rate", "job", "school"):
            lean = np.where(TWO == "good", 0.3, 0.05)
            table.loc[random.random(len(table)) < lean, name] = None
    table["job"] = table["job"].astype(pd.CategoricalDtype(["pilot", "nurse", "clerk", "farmer"]))
    return table.assign(school=table["school"].astype(pd.CategoricalDtype(["none", "middle", "high"])))


@functools.cache
def fitted_on_categories(how):
    table = as_categories(TABLE, gaps=how == "gaps")
    rows = table["job"] != "nurse" if how == "unseen" else slice(None)
    model = HistGradientBoostingClassifier(max_iter=10, max_depth=4, min_samples_leaf=4, random_state=0)
    return model.fit(table[rows], LABELS.get(how, TWO)[rows]), table


class TestHistCategories(ReaderContract):
    """Categories by dtype, in columns that are not first: the model puts them first."""

    @pytest.fixture(params=["two", "three", "gaps", "unseen"])
    def case(self, request):
        fitted, table = fitted_on_categories(request.param)
        return Case(fitted, Schema.infer(table), fitted.decision_function, fitted.predict_proba, fitted.predict)

    def test_a_feature_is_split_by_category(self, case):
        assert any(tree.nodes["is_categorical"].any() for stage in case.model._predictors for tree in stage)


@functools.cache
def fitted_on_given(how):
    table = TABLE.assign(band=TABLE["age"] // 10 * 10).drop(columns=["owner", "school"])
    chosen = {"names": ["job", "band"], "mask": [name in ("job", "band") for name in table], "array": [3, 4]}[how]
    model = HistGradientBoostingClassifier(max_iter=10, categorical_features=chosen, min_samples_leaf=5, random_state=0)
    fitted = model.fit(table.to_numpy(dtype=object) if how == "array" else table, THREE)
    return fitted, Schema.infer(table, features={"band": "categorical"})


class TestHistGivenCategories(ReaderContract):
    """Categories by name or by place: of text and of numbers."""

    @pytest.fixture(params=["names", "mask", "array"])
    def case(self, request):
        fitted, schema = fitted_on_given(request.param)
        if request.param != "array":
            return Case(fitted, schema, fitted.decision_function, fitted.predict_proba, fitted.predict)
        methods = [
            lambda X, method=method: method(X.to_numpy(dtype=object))
            for method in (fitted.decision_function, fitted.predict_proba, fitted.predict)
        ]
        return Case(fitted, schema, *methods)


@functools.cache
def fitted_on_gaps(how):
    table = as_categories(TABLE, gaps=True)[NUMBERS]
    if how == "only_missing":
        table["rate"] = table["rate"].where(table["rate"].isna(), 1.5)
    model = clone(MODELS["hist"])
    return (make_pipeline(StandardScaler(), model) if how == "scaled" else model).fit(table, TWO), table


class TestHistMissing(ReaderContract):
    """Missing numbers go as each split sends them; where a split is "missing or not", too."""

    @pytest.fixture(params=["bare", "scaled", "only_missing"])
    def case(self, request):
        fitted, table = fitted_on_gaps(request.param)
        return Case(fitted, Schema.infer(table), fitted.decision_function, fitted.predict_proba, fitted.predict)


def test_equal_scores_go_as_the_model_sends_them():
    """A raw score of exactly 0 is class 1 to GradientBoosting and class 0 to HistGradientBoosting."""
    X, y = TABLE[["rate"]].to_numpy(), np.arange(len(TABLE)) % 2
    schema = Schema(SCHEMA.features[2:3])
    rows = X[:5]
    gradient = GradientBoostingClassifier(n_estimators=1, init="zero", learning_rate=1e-300, max_depth=1).fit(X, y)
    gradient.learning_rate = 0.0
    hist = HistGradientBoostingClassifier(max_iter=1, min_samples_leaf=1000).fit(X, y)
    assert (gradient.predict(rows) == 1).all()
    assert (hist.predict(rows) == 0).all()
    np.testing.assert_array_equal(read(gradient, schema).predict(rows), gradient.predict(rows))
    np.testing.assert_array_equal(read(hist, schema).predict(rows), hist.predict(rows))


def test_boosting_that_ended_early_keeps_the_weights_of_its_trees():
    fitted = AdaBoostClassifier(DecisionTreeClassifier(), n_estimators=10, random_state=0).fit(TABLE[NUMBERS], THREE)
    assert len(fitted.estimators_) < len(fitted.estimator_weights_)
    form = read(fitted, Schema(SCHEMA.features[:3]))
    np.testing.assert_allclose(form.score(TABLE[NUMBERS].to_numpy(dtype=float)), fitted.decision_function(TABLE[NUMBERS]))


@pytest.mark.parametrize(
    ("init", "said"),
    [(LogisticRegression(), r"init=LogisticRegression\(\)"), (DummyClassifier(strategy="stratified"), r"init=DummyClassifier\(")],
)
def test_another_start_is_refused(init, said):
    fitted = GradientBoostingClassifier(n_estimators=2, init=init).fit(TABLE[NUMBERS], TWO)
    with pytest.raises(
        UnsupportedModelError, match=rf"A GradientBoostingClassifier must start from a constant; got {said}.*'zero'"
    ):
        read(fitted, SCHEMA)


def test_another_start_of_a_regressor_is_refused():
    fitted = GradientBoostingRegressor(n_estimators=2, init=LinearRegression()).fit(TABLE[NUMBERS], TARGET)
    with pytest.raises(
        UnsupportedModelError, match=r"A GradientBoostingRegressor must start from a constant; got init=LinearRegression"
    ):
        read(fitted, SCHEMA)


@pytest.mark.parametrize("name", ["gradient", "stumps"])
def test_missing_values_are_refused_where_the_model_refuses_them(name):
    fitted = bare(name, "two")
    schema = Schema.infer(as_categories(TABLE, gaps=True)[NUMBERS])
    expected = (
        rf"Feature 'amount' must not be missing where {type(fitted).__name__} reads it; got a missing value\. Hint: put a Simple"
    )
    with pytest.raises(PredictorError, match=expected):
        read(fitted, schema)


def test_boosting_of_other_models_is_refused():
    fitted = AdaBoostClassifier(LogisticRegression(), n_estimators=2).fit(TABLE[NUMBERS], TWO)
    expected = (
        r"An AdaBoostClassifier must boost decision trees; got estimator=LogisticRegression\(.*Hint: use estimator=DecisionTree"
    )
    with pytest.raises(UnsupportedModelError, match=expected):
        read(fitted, SCHEMA)


def test_the_old_algorithm_is_refused():
    fitted = AdaBoostClassifier(n_estimators=2).fit(TABLE[NUMBERS], TWO)
    fitted.algorithm = "SAMME.R"  # as scikit-learn before 1.6 made them
    with pytest.raises(
        UnsupportedModelError, match=r"An AdaBoostClassifier must have algorithm='SAMME'; got algorithm='SAMME\.R'"
    ):
        read(fitted, SCHEMA)


def test_the_boosted_regressor_of_medians_is_refused():
    fitted = AdaBoostRegressor(n_estimators=2).fit(TABLE[NUMBERS], TARGET)
    with pytest.raises(
        UnsupportedModelError, match=r"got sklearn\.AdaBoostRegressor\. .*weighted median; use GradientBoostingRegressor"
    ):
        read(fitted, SCHEMA)


def test_another_loss_is_refused():
    fitted = HistGradientBoostingRegressor(max_iter=2).fit(TABLE[NUMBERS], TARGET)
    fitted.loss = "tweedie"
    with pytest.raises(
        UnsupportedModelError, match=r"A HistGradientBoostingRegressor must have a known loss; got loss='tweedie'.*poisson"
    ):
        read(fitted, SCHEMA)


def test_categories_of_a_numeric_feature_are_refused():
    table = TABLE.assign(band=TABLE["age"] // 10)[["amount", "band"]]
    fitted = HistGradientBoostingClassifier(max_iter=3, categorical_features=["band"]).fit(table, TWO)
    schema = Schema.infer(table)
    assert isinstance(schema["band"], Integer)
    with pytest.raises(
        PredictorError, match=r"Feature 'band' must have a list of values where OrdinalEncoder encodes it"
    ) as caught:
        read(fitted, schema)
    assert caught.value.feature == "band"
    assert isinstance(Schema.infer(table, features={"band": "categorical"})["band"], Categorical)
