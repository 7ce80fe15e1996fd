"""Models of XGBoost: trees, categories, missing values, linear boosters, files."""

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
from likely.predictor import LinearModel, Link, Raw, TreeEnsemble, read
from likely.predictor.reading import feed, random_rows
from likely.schema import Schema
from likely.schema.features import Binary, Categorical, Continuous, Integer, Mixed
from tests.contracts.reader import Case, ReaderContract, Refusals, mixed_schema, mixed_table

xgboost = pytest.importorskip("xgboost")
from xgboost import DMatrix, XGBClassifier, XGBRegressor, XGBRFClassifier, XGBRFRegressor  # noqa: E402

SMALL = {"n_estimators": 12, "max_depth": 4, "n_jobs": 1}
NUMERIC = ["age", "amount", "rate", "owner"]
keeps_categories = pytest.mark.skipif(
    tuple(map(int, xgboost.__version__.split(".")[:2])) < (3, 1), reason="categories are kept in the model since 3.1"
)

TABLE, _TWO, _THREE = mixed_table()
TWO, THREE = _TWO.eq("good").astype(int), _THREE.map({"low": 0, "mid": 1, "top": 2})
TARGET = TABLE["amount"] / 1000 + TABLE["age"] / 50 + (TABLE["job"] == "nurse")
#: Texts as pandas categories, in the order of the schema.
LISTS = {"job": ["clerk", "farmer", "nurse", "pilot"], "school": ["none", "middle", "high"]}
CATEGORIES = TABLE.astype({name: pd.CategoricalDtype(values) for name, values in LISTS.items()})
CATEGORY_SCHEMA = mixed_schema(CATEGORIES)
NUMERIC_SCHEMA = Schema.infer(TABLE[NUMERIC])


def with_gaps():
    """Missing values and -9s."""
    table, random = CATEGORIES.copy(), np.random.default_rng(5)
    table.loc[random.random(len(table)) < 0.2, "rate"] = np.nan
    table.loc[random.random(len(table)) < 0.2, "amount"] = -9.0
    table.loc[random.random(len(table)) < 0.2, "job"] = None
    return table


GAPS = with_gaps()
GAP_FEATURES = {
    "rate": Mixed("rate", -1, 1, (None,)),
    "amount": Mixed("amount", 0, 20000, (-9, None)),
    "job": Categorical("job", ["clerk", "farmer", None, "nurse", "pilot"], dtype="category"),
}
GAP_SCHEMA = Schema([GAP_FEATURES.get(feature.name, feature) for feature in CATEGORY_SCHEMA.features])


def wrapped(model, X, y, schema, tolerance=1e-5, **fit):
    """A scikit-learn wrapper, fitted."""
    model.fit(X, y, verbose=False, **fit)
    names = list(X.columns)
    has = hasattr(model, "predict_proba") and model.objective != "binary:hinge"
    return Case(
        model,
        schema,
        lambda X: model.predict(X[names], output_margin=True),
        (lambda X: model.predict_proba(X[names])) if has else None,
        lambda X: model.predict(X[names]),
        tolerance=tolerance,
        tie=tolerance,
    )


def on_categories(kind, y, **settings):
    return wrapped(kind(**{**SMALL, "enable_categorical": True, **settings}), CATEGORIES, y, CATEGORY_SCHEMA)


def train(X, y, rounds=12, **settings):
    settings = {"objective": "binary:logistic", "max_depth": 4, "nthread": 1, **settings}
    return xgboost.train(settings, DMatrix(X, label=y, enable_categorical=True), rounds)


def boosted(booster, schema, model=None, data=DMatrix, **options):
    """A booster of two classes; `data` makes of a table what it reads."""

    def says(X, **how):
        return booster.predict(data(X, enable_categorical=True), **how)

    return Case(
        booster if model is None else model,
        schema,
        lambda X: says(X, output_margin=True),
        lambda X: np.stack([1 - says(X), says(X)], axis=1),
        lambda X: (says(X) > 0.5).astype(int),
        tolerance=1e-5,
        tie=1e-5,
        options=options,
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


LINEAR = {"booster": "gblinear", "n_estimators": 10, "n_jobs": 1}
SCALED = TABLE[NUMERIC].assign(amount=TABLE["amount"] / 1000, age=TABLE["age"] / 10)
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


def small(X=CATEGORIES, y=TWO, kind=XGBClassifier, **settings):
    return kind(**{"n_estimators": 4, "max_depth": 2, "enable_categorical": True, "n_jobs": 1, **settings}).fit(X, y)


class TestCategories:
    @pytest.mark.parametrize("dtype", ["category", "object"])
    @keeps_categories
    def test_order_and_dtype_of_the_schema_do_not_matter(self, dtype):
        """The model finds a category by its name, and so do we; texts that are no categories become such."""
        model = small(n_estimators=20, max_cat_to_onehot=1)
        turned = {
            "job": Categorical("job", ["pilot", "nurse", "clerk"], dtype=dtype),
            "school": Categorical("school", ["high", "none", "middle"], dtype=dtype),
            "owner": Binary("owner"),
        }
        schema = Schema([turned.get(feature.name, feature) for feature in CATEGORY_SCHEMA.features])
        rows = random_rows(schema, 500)
        table = schema.decode(rows).astype({name: CATEGORIES[name].dtype for name in ("job", "school", "owner")})
        form = read(model, schema)
        np.testing.assert_allclose(form.score(rows)[:, 0], model.predict(table, output_margin=True), rtol=1e-5, atol=1e-5)

    @pytest.mark.parametrize("values", [["učitel", "řidič", "šéf", "kněz"], ["zé", "z", "é", "éé"], [10, 5, 30, 20]])
    def test_values_beyond_ascii_and_numbers(self, values):
        jobs = pd.Categorical.from_codes(CATEGORIES["job"].cat.codes, values)
        model = small(pd.DataFrame({"job": jobs, "rate": TABLE["rate"]}), n_estimators=20, max_cat_to_onehot=1)
        schema = Schema([Categorical("job", values, dtype="category"), Continuous("rate", -1, 1)])
        rows = random_rows(schema, 500)
        theirs = model.predict(schema.decode(rows), output_margin=True)
        np.testing.assert_allclose(read(model, schema).score(rows)[:, 0], theirs, rtol=1e-5, atol=1e-5)

    def refuses(self, model, schema, message):
        with pytest.raises(PredictorError, match=message) as error:
            read(model, schema)
        assert error.value.feature == schema.features[0].name

    @keeps_categories
    def test_unknown_category(self):
        features = [Categorical("job", ["clerk", "judge"], dtype="category"), Continuous("rate", -1, 1)]
        message = "Feature 'job' must have only categories that XGBClassifier knows; got 'judge'. Hint: it knows .*'clerk'"
        self.refuses(small(CATEGORIES[["job", "rate"]]), Schema(features), message)

    @keeps_categories
    def test_categories_that_are_numbers_now(self):
        codes = CATEGORIES["job"].cat.codes * 10
        message = "Feature 'job' must be a pandas category, as when XGBClassifier was trained; got another dtype"
        self.refuses(small(pd.DataFrame({"job": pd.Categorical(codes)})), Schema([Integer("job", 0, 30)]), message)

    @pytest.mark.parametrize("chosen", range(4))
    def test_negative_codes(self, chosen):
        """They are in no set, as codes that were not seen."""
        codes = np.arange(300) % 4
        model = small(pd.DataFrame({"x": codes}), y=codes == chosen, feature_types=["c"])
        schema = Schema([Integer("x", -3, 5)])
        rows = np.arange(-3.0, 6.0)[:, None]
        theirs = model.predict(schema.decode(rows), output_margin=True)
        np.testing.assert_allclose(read(model, schema).score(rows)[:, 0], theirs, rtol=1e-5)
        assert (theirs[:3] == theirs[-1]).all()

    def test_fractions_as_categories(self):
        model = small(pd.DataFrame({"x": np.arange(300) % 4}), feature_types=["c"])
        message = "Feature 'x' must be whole numbers where XGBClassifier takes it for categories; got fractions"
        self.refuses(model, Schema([Continuous("x", 0, 3)]), message)

    def test_a_category_that_is_missing(self):
        model = small(pd.DataFrame({"x": np.arange(300) % 4, "y": TABLE["rate"]}), feature_types=["c", "q"], missing=2)
        message = "Feature 'x' must not have numbers that XGBClassifier takes for missing; got 2 within its bounds"
        self.refuses(model, Schema([Integer("x", 0, 3), Continuous("y", -1, 1)]), message)


class TestRefused(Refusals):
    schema = CATEGORY_SCHEMA

    def test_not_fitted(self):
        self.refuses(XGBClassifier(), "A XGBClassifier must be fitted; got one that is not. Hint: call fit first")

    def test_unknown_objective(self):
        model = train(CATEGORIES, TWO, objective="rank:pairwise")
        self.refuses_kind(model, "The objective of a Booster must be one of binary:logistic, .*; got 'rank:pairwise'")

    def test_classifier_of_raw_margins(self):
        message = "The objective of a XGBClassifier must choose class 1 at a margin above 0; got 'binary:logitraw'"
        self.refuses_kind(small(objective="binary:logitraw"), message)

    def test_classifier_by_regression(self):
        message = "The objective of a XGBClassifier must tell classes apart; got 'reg:squarederror'"
        self.refuses_kind(small(objective="reg:squarederror"), message)

    def test_regressor_by_classification(self):
        model = small(kind=XGBRegressor, objective="binary:logistic")
        message = "The objective of a XGBRegressor must predict a number; got 'binary:logistic'. Hint: use XGBClassifier"
        self.refuses_kind(model, message)
        assert read(model.get_booster(), CATEGORY_SCHEMA).link == Link("logistic")

    def test_several_targets(self):
        model = small(y=np.stack([TARGET, TARGET], axis=1), kind=XGBRegressor)
        self.refuses(model, "A XGBRegressor must predict one column; got 2 columns")

    def test_trees_of_several_outputs(self):
        model = small(TABLE[NUMERIC], THREE, multi_strategy="multi_output_tree")
        message = "A XGBClassifier must grow a tree per output; got multi_strategy='multi_output_tree'"
        self.refuses_kind(model, message, NUMERIC_SCHEMA)

    def test_no_trees(self):
        model = xgboost.train({}, DMatrix(TABLE[NUMERIC], label=TWO), 0)
        self.refuses(model, "A Booster must have at least one tree; got none", NUMERIC_SCHEMA)

    def test_sparse_and_missing(self):
        encoder = make_column_transformer((OneHotEncoder(), ["job"]), ("passthrough", ["rate"]), sparse_threshold=1)
        model = make_pipeline(encoder, XGBClassifier(n_estimators=2, missing=-9)).fit(TABLE, TWO)
        message = "A XGBClassifier that reads a sparse array must have missing=nan or missing=0; got missing=-9"
        self.refuses_kind(model, message, mixed_schema(TABLE))

    def test_linear_with_missing_number(self):
        model = XGBClassifier(**LINEAR, missing=0.5).fit(SCALED, TWO)
        message = "must not have numbers that XGBClassifier takes for missing; got 0.5 within its bounds"
        self.refuses(model, message, Schema.infer(SCALED))

    def test_missing_column(self):
        message = "The schema of a XGBClassifier must have the column 'job' that it was trained on; got columns 'age'"
        self.refuses(small(), message, NUMERIC_SCHEMA)

    def test_number_of_inputs(self):
        message = "A XGBClassifier must be given the 4 inputs it was trained on; got 6 from the schema"
        self.refuses(small(TABLE[NUMERIC].to_numpy(dtype=float)), message, CATEGORY_SCHEMA)

    def test_text(self):
        message = "Feature 'job' must be numbers where XGBClassifier reads it"
        self.refuses(small(TABLE[["age"]].to_numpy(dtype=float)), message, Schema([CATEGORY_SCHEMA["job"]]))


def test_a_single_leaf():
    """Trees that never split: only the base score speaks."""
    model = small(TABLE[NUMERIC], min_child_weight=1e9, base_score=0.9)
    form = read(model, NUMERIC_SCHEMA)
    assert isinstance(form, TreeEnsemble)
    np.testing.assert_allclose(form.score(random_rows(NUMERIC_SCHEMA, 3)), np.log(9), rtol=1e-6)


@pytest.mark.parametrize("settings", [{"base_score": 0.5}, {"base_score": 0.0, "objective": "binary:hinge"}])
def test_a_tie(settings):
    """At a margin of 0 the first class is chosen."""
    model = small(TABLE[NUMERIC], min_child_weight=1e9, **settings)
    form, rows = read(model, NUMERIC_SCHEMA), random_rows(NUMERIC_SCHEMA, 3)
    assert (form.score(rows) == 0).all()
    assert form.predict(rows).tolist() == model.predict(feed(NUMERIC_SCHEMA, rows)).tolist() == [0, 0, 0]


def test_custom_objective():
    """A Booster trained with a loss of one's own predicts its margin; the user says what it means."""

    def loss(margins, data):
        p = 1 / (1 + np.exp(-margins))
        return p - data.get_label(), p * (1 - p)

    model = xgboost.train({"max_depth": 3}, DMatrix(TABLE[NUMERIC], label=TWO), 5, obj=loss)
    assert read(model, NUMERIC_SCHEMA).link == Link("identity")
    assert read(model, NUMERIC_SCHEMA, link="logistic", classes=["bad", "good"]).classes == ("bad", "good")
