"""Models of XGBoost: trees, missing values, linear boosters, files."""

from __future__ import annotations

import sys
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from likely.errors import MissingExtraError, PredictorError
from likely.predictor import LinearModel, Raw, read
from likely.predictor.reading import feed, random_rows
from likely.schema import Schema
from likely.schema.features import Categorical, Continuous, Integer, Mixed
from tests.contracts.reader import Case, ReaderContract, mixed_schema

xgboost = pytest.importorskip("xgboost")
from xgboost import DMatrix, XGBClassifier, XGBRegressor, XGBRFClassifier, XGBRFRegressor  # noqa: E402

from tests.predictor.xgboost_models import (  # noqa: E402
    CATEGORIES,
    CATEGORY_SCHEMA,
    GAP_SCHEMA,
    GAPS,
    LINEAR,
    NUMERIC,
    NUMERIC_SCHEMA,
    SCALED,
    SMALL,
    TABLE,
    TARGET,
    THREE,
    TWO,
    boosted,
    on_categories,
    train,
    wrapped,
)

CLASSIFIERS = {
    "two": (XGBClassifier, TWO, {}),
    "three": (XGBClassifier, THREE, {}),
    "softmax": (XGBClassifier, THREE, {"objective": "multi:softmax"}),
    "hinge": (XGBClassifier, TWO, {"objective": "binary:hinge"}),
    "base score": (XGBClassifier, TWO, {"base_score": 0.2}),
    "one category a split": (XGBClassifier, TWO, {"max_cat_to_onehot": 100}),
    "sets of categories": (XGBClassifier, THREE, {"max_cat_to_onehot": 1}),
    "by loss": (XGBClassifier, TWO, {"grow_policy": "lossguide", "max_leaves": 9}),
    "parallel trees": (XGBClassifier, THREE, {"num_parallel_tree": 3, "subsample": 0.5}),
    "dart": (XGBClassifier, TWO, {"booster": "dart", "rate_drop": 0.5}),
    "dart of three": (XGBClassifier, THREE, {"booster": "dart", "rate_drop": 0.5, "normalize_type": "forest"}),
    "forest": (XGBRFClassifier, TWO, {}),
    "forest of three": (XGBRFClassifier, THREE, {}),
}
REGRESSORS = {
    "squares": (XGBRegressor, TARGET, {}),
    "forest": (XGBRFRegressor, TARGET, {}),
    "absolute": (XGBRegressor, TARGET, {"objective": "reg:absoluteerror"}),
    "huber": (XGBRegressor, TARGET, {"objective": "reg:pseudohubererror"}),
    "quantile": (XGBRegressor, TARGET, {"objective": "reg:quantileerror", "quantile_alpha": 0.3}),
    "logarithm": (XGBRegressor, TARGET, {"objective": "reg:squaredlogerror"}),
    "poisson": (XGBRegressor, TARGET.round(), {"objective": "count:poisson"}),
    "gamma": (XGBRegressor, TARGET, {"objective": "reg:gamma"}),
    "tweedie": (XGBRegressor, TARGET, {"objective": "reg:tweedie", "base_score": 0.7}),
}


@cache
def wrapper_case(name):
    kind, y, settings = {**CLASSIFIERS, **{f"regressor {key}": value for key, value in REGRESSORS.items()}}[name]
    return on_categories(kind, y, **settings)


class TestWrappers(ReaderContract):
    @pytest.fixture(params=[*CLASSIFIERS, *(f"regressor {name}" for name in REGRESSORS)])
    def case(self, request):
        return wrapper_case(request.param)


def exact():
    return wrapped(XGBClassifier(**SMALL, tree_method="exact", gamma=1), TABLE[NUMERIC], TWO, NUMERIC_SCHEMA)


def single_precision():
    table = TABLE[["age", "rate"]].astype("float32")
    return wrapped(XGBClassifier(**SMALL), table, TWO, Schema.infer(table))


def large_whole_numbers():
    """Beyond 2 ** 24, neighbouring whole numbers are the same single."""
    random = np.random.default_rng(0)
    table = pd.DataFrame({"id": random.integers(2**24, 2**24 + 200, 300), "far": random.integers(-(2**52), 2**52, 300)})
    target = (table["id"] % 50 < 25).astype(int) + (table["far"] > 2**50)
    return wrapped(XGBClassifier(**SMALL, tree_method="exact"), table, target.clip(upper=1), Schema.infer(table))


def whole_columns():
    """Names that are numbers, and columns in another order than the schema's."""
    table = TABLE[NUMERIC].rename(columns={"age": 1, "amount": 0})
    return wrapped(XGBClassifier(**SMALL), table[["rate", 0, 1, "owner"]], TWO, Schema.infer(table))


def missing_values():
    return wrapped(XGBClassifier(**SMALL, enable_categorical=True), GAPS, THREE, GAP_SCHEMA)


def missing_code():
    return wrapped(XGBClassifier(**SMALL, enable_categorical=True, missing=-9), GAPS, TWO, GAP_SCHEMA)


def stepped(schema):
    step = Continuous("rate", -1, 1, step=0.1)
    return Schema([step if feature.name == "rate" else feature for feature in schema.features])


def missing_zero():
    """With missing=0, the first category, False and the number 0 are missing."""
    table = CATEGORIES.assign(rate=CATEGORIES["rate"].round(1) + 0.0)
    return wrapped(XGBClassifier(**SMALL, enable_categorical=True, missing=0), table, TWO, stepped(CATEGORY_SCHEMA))


def missing_number():
    """The value that counts as missing is one of a numeric feature, as single: 0.1 and its neighbours."""
    table = TABLE[NUMERIC].assign(rate=TABLE["rate"].round(1))
    return wrapped(XGBClassifier(**SMALL, missing=0.1), table, TWO, stepped(NUMERIC_SCHEMA))


def codes():
    """Categories as whole numbers, of an Integer and of a Categorical feature; some were not seen in training."""
    table = pd.DataFrame({name: CATEGORIES[name].cat.codes.astype(int) for name in ("job", "school")}).assign(rate=TABLE["rate"])
    schema = Schema([Integer("job", 0, 40), Categorical("school", [2, 0, 7, 1], dtype="int64"), Continuous("rate", -1, 1)])
    model = XGBClassifier(**SMALL, feature_types=["c", "c", "q"], enable_categorical=True, max_cat_to_onehot=1)
    return wrapped(model, table, TWO, schema)


def ordinal_codes():
    """Categories as codes that an encoder makes."""
    encoder = make_column_transformer((OrdinalEncoder(), ["job", "school"]), remainder="passthrough")
    last = XGBClassifier(**SMALL, feature_types=["c", "c", "q", "q", "q", "i"], enable_categorical=True, max_cat_to_onehot=1)
    return pipeline(encoder, last)


def pipeline(encoder, last, schema=None):
    model = make_pipeline(encoder, last).fit(TABLE, TWO)
    return Case(
        model,
        schema or mixed_schema(TABLE),
        lambda X: model[-1].predict(model[:-1].transform(X), output_margin=True),
        model.predict_proba,
        model.predict,
        tolerance=1e-5,
        tie=1e-5,
    )


SCALER = (StandardScaler(), ["age", "amount", "rate"])
TEXTS = ["job", "school", "owner"]


def dense_pipeline():
    return pipeline(make_column_transformer(SCALER, (OneHotEncoder(sparse_output=False), TEXTS)), XGBClassifier(**SMALL))


def sparse_pipeline():
    """A sparse array's zeros are missing values to XGBoost: of indicators, and of the ages."""
    encoder = make_column_transformer(SCALER, (OneHotEncoder(), TEXTS), ("passthrough", ["age"]), sparse_threshold=1)
    ages = Schema([Integer("age", -5, 80), *mixed_schema(TABLE).features[1:]])
    return pipeline(encoder, XGBClassifier(**SMALL), ages)


def one_hot_pipeline():
    return pipeline(make_column_transformer((OneHotEncoder(), TEXTS)), XGBClassifier(**SMALL))


@cache
def stopped():
    """Trained with early stopping: a wrapper predicts with the best rounds, its booster with all."""
    half = len(TABLE) // 2
    model = XGBClassifier(n_estimators=60, learning_rate=1.0, early_stopping_rounds=8, enable_categorical=True, n_jobs=1)
    later = [(CATEGORIES[half:], THREE[half:])]
    case = wrapped(model, CATEGORIES[:half], THREE[:half], CATEGORY_SCHEMA, eval_set=later)
    assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    return case


def stopped_booster():
    booster = stopped().model.get_booster()

    def says(X, **how):
        return booster.predict(DMatrix(X, enable_categorical=True), **how)

    return Case(
        booster,
        CATEGORY_SCHEMA,
        lambda X: says(X, output_margin=True),
        says,
        lambda X: says(X).argmax(axis=1),
        tolerance=1e-5,
        tie=1e-5,
    )


def stopped_dart():
    half = len(TABLE) // 2
    model = XGBClassifier(n_estimators=30, booster="dart", rate_drop=0.3, learning_rate=1.0, early_stopping_rounds=5, n_jobs=1)
    later = [(TABLE[NUMERIC][half:], TWO[half:])]
    case = wrapped(model, TABLE[NUMERIC][:half], TWO[:half], NUMERIC_SCHEMA, eval_set=later)
    assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    return case


def booster():
    return boosted(train(CATEGORIES, TWO), CATEGORY_SCHEMA)


def raw_margins():
    booster = train(CATEGORIES, TWO, objective="binary:logitraw")

    def margins(X):
        return booster.predict(DMatrix(X, enable_categorical=True))

    def shares(X):
        upper = 1 / (1 + np.exp(-margins(X).astype(float)))
        return np.stack([1 - upper, upper], axis=1)

    return Case(booster, CATEGORY_SCHEMA, margins, shares, lambda X: (margins(X) > 0).astype(int), tolerance=1e-5, tie=1e-5)


def nameless_booster():
    """Trained on an array: inputs by position."""
    table = TABLE[NUMERIC]
    return boosted(
        train(table.to_numpy(dtype=float), TWO), NUMERIC_SCHEMA, data=lambda X, **how: DMatrix(X.to_numpy(dtype=float), **how)
    )


def encoded_booster():
    encoder = [Raw("rate"), Raw("age"), Raw("amount")]
    table = TABLE[["rate", "age", "amount"]]
    return boosted(train(table.to_numpy(dtype=float), TWO), mixed_schema(TABLE), encoder=encoder)


OTHERS = [
    exact, single_precision, large_whole_numbers, whole_columns, missing_values, missing_code, missing_zero, missing_number,
    codes, ordinal_codes, dense_pipeline, sparse_pipeline, one_hot_pipeline, stopped, stopped_booster, stopped_dart, booster,
    raw_margins, nameless_booster, encoded_booster,
]  # fmt: skip


@cache
def made(factory):
    return factory()


class TestUses(ReaderContract):
    @pytest.fixture(params=OTHERS, ids=lambda factory: factory.__name__)
    def case(self, request):
        return made(request.param)


LINEAR_CASES = {
    "two": lambda: wrapped(XGBClassifier(**LINEAR), SCALED, TWO, Schema.infer(SCALED)),
    "three": lambda: wrapped(XGBClassifier(**LINEAR), SCALED, THREE, Schema.infer(SCALED)),
    "regressor": lambda: wrapped(XGBRegressor(**LINEAR), SCALED, TARGET, Schema.infer(SCALED)),
    "missing": lambda: wrapped(  # what is missing adds nothing
        XGBClassifier(**LINEAR, missing=-9),
        SCALED.assign(rate=GAPS["rate"], amount=GAPS["amount"].where(GAPS["amount"] < 0, SCALED["amount"])),
        TWO,
        Schema([*Schema.infer(SCALED[["age", "owner"]]).features, Mixed("rate", -1, 1, (None,)), Mixed("amount", 0, 20, (-9,))]),
    ),
    "booster": lambda: boosted(train(SCALED, TWO, booster="gblinear", max_depth=None), Schema.infer(SCALED)),
}


@cache
def linear_case(name):
    return LINEAR_CASES[name]()


class TestLinear(ReaderContract):
    @pytest.fixture(params=LINEAR_CASES)
    def case(self, request):
        return linear_case(request.param)

    def test_form(self, form):
        assert isinstance(form, LinearModel)


class TestFiles:
    @pytest.mark.parametrize("suffix", ["json", "ubj"])
    def test_a_file_is_read_as_its_booster(self, tmp_path, suffix):
        path = tmp_path / f"model.{suffix}"
        booster = train(CATEGORIES, TWO)
        booster.save_model(path)
        form = read(path, CATEGORY_SCHEMA, classes=["bad", "good"])
        assert form == read(booster, CATEGORY_SCHEMA, classes=["bad", "good"])
        assert form.classes == ("bad", "good")
        rows = random_rows(CATEGORY_SCHEMA, 500)
        np.testing.assert_allclose(
            form.score(rows)[:, 0],
            booster.predict(DMatrix(feed(CATEGORY_SCHEMA, rows), enable_categorical=True), output_margin=True),
            rtol=1e-5,
            atol=1e-5,
        )

    def test_the_file_of_a_wrapper(self, tmp_path):
        """It holds all rounds, and a Booster predicts with all of them."""
        case = made(stopped)
        case.model.get_booster().save_model(tmp_path / "model.json")
        assert read(tmp_path / "model.json", CATEGORY_SCHEMA) == read(case.model.get_booster(), CATEGORY_SCHEMA)

    @pytest.mark.parametrize("suffix", ["json", "ubj"])
    @pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
    def test_broken_file(self, tmp_path, suffix, share):
        path = tmp_path / f"model.{suffix}"
        train(TABLE[NUMERIC], TWO).save_model(path)
        path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
        message = f"^Model file 'model.{suffix}' must be a model of XGBoost; got a file it cannot read. Hint: write it with"
        with pytest.raises(PredictorError, match=message):
            read(path, NUMERIC_SCHEMA)

    def test_other_json(self, tmp_path):
        (tmp_path / "schema.json").write_text('{"features": []}')
        with pytest.raises(PredictorError, match=r"Model file 'schema\.json' must be a model of XGBoost"):
            read(tmp_path / "schema.json", NUMERIC_SCHEMA)

    def test_missing_package(self, tmp_path, monkeypatch):
        (tmp_path / "model.json").write_text("{}")
        monkeypatch.setitem(sys.modules, "xgboost", None)
        message = r"Package 'xgboost' must be installed to read an XGBoost model file; .*likely\[xgboost\]"
        with pytest.raises(MissingExtraError, match=message):
            read(tmp_path / "model.json", NUMERIC_SCHEMA)
