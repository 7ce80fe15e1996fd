"""Models of LightGBM: trees, categories, missing values, files."""

from __future__ import annotations

import math
import sys
from functools import cache
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import likely
from likely.errors import MissingExtraError, PredictorError
from likely.predictor import Link, Raw, TreeEnsemble, read
from likely.predictor.reading import feed, random_rows
from likely.schema import Schema
from likely.schema.features import Binary, Categorical, Continuous, Integer, Mixed
from tests.contracts.reader import Case, ReaderContract, Refusals, mixed_schema, mixed_table

lightgbm = pytest.importorskip("lightgbm")
from lightgbm import Dataset, LGBMClassifier, LGBMRegressor  # noqa: E402

#: A small table needs small leaves, and groups of categories too.
SMALL = {"num_leaves": 9, "min_child_samples": 4, "n_jobs": 1, "verbose": -1, "min_data_per_group": 2, "cat_smooth": 1.0}
NUMERIC = ["age", "amount", "rate", "owner"]

TABLE, TWO, THREE = mixed_table()
LABELS = TWO.eq("good").astype(int)
TARGET = TABLE["amount"] / 1000 + TABLE["age"] / 50 + (TABLE["job"] == "nurse")
#: Texts as pandas categories, sorted by name, which is not the order of the schema.
CATEGORIES = TABLE.astype({"job": "category", "school": "category"})
CATEGORY_SCHEMA = mixed_schema(CATEGORIES)
NUMERIC_SCHEMA = Schema.infer(TABLE[NUMERIC])


def with_gaps():
    """Missing values, and zeros."""
    table, random = CATEGORIES.copy(), np.random.default_rng(5)
    table.loc[random.random(len(table)) < 0.2, "rate"] = np.nan
    table.loc[random.random(len(table)) < 0.2, "amount"] = 0.0
    table.loc[random.random(len(table)) < 0.2, "job"] = None
    return table


GAPS = with_gaps()
GAP_FEATURES = {
    "rate": Mixed("rate", -1, 1, (None,)),
    "amount": Mixed("amount", -10, 20000, (None,), step=0.5),
    "job": Categorical("job", ["clerk", "farmer", None, "pilot", "nurse", "judge"], dtype="category"),
}
GAP_SCHEMA = Schema([GAP_FEATURES.get(feature.name, feature) for feature in CATEGORY_SCHEMA.features])


def wrapped(model, X, y, schema, **fit):
    """A scikit-learn wrapper, fitted."""
    model.fit(X, y, **fit)
    names = list(X.columns)
    has = hasattr(model, "predict_proba") and model.objective != "multiclassova"
    rounds = model.n_estimators if model.boosting_type == "rf" else 1  # a forest's raw score is a sum, its score the mean
    return Case(
        model,
        schema,
        lambda X: model.predict(X[names], raw_score=True) / rounds,
        (lambda X: model.predict_proba(X[names])) if has else None,
        lambda X: model.predict(X[names]),
    )


def train(X, y, rounds=12, categorical_feature="auto", **settings):
    settings = {"objective": "binary", **SMALL, **settings}
    return lightgbm.train(settings, Dataset(X, label=y, categorical_feature=categorical_feature), rounds)


def boosted(booster, schema, data=lambda X: X, **options):
    """A booster of two classes; `data` makes of a table what it reads."""
    return Case(
        booster,
        schema,
        lambda X: booster.predict(data(X), raw_score=True),
        lambda X: np.stack([1 - booster.predict(data(X)), booster.predict(data(X))], axis=1),
        lambda X: (booster.predict(data(X)) > 0.5).astype(int),
        options=options,
    )


RF = {"boosting_type": "rf", "subsample": 0.6, "subsample_freq": 1}
WRAPPERS = {
    "two": (LGBMClassifier, TWO, {}),
    "three": (LGBMClassifier, THREE, {}),
    "one against the rest": (LGBMClassifier, THREE, {"objective": "multiclassova"}),
    "cross entropy": (LGBMClassifier, LABELS, {"objective": "cross_entropy"}),
    "sigmoid": (LGBMClassifier, TWO, {"sigmoid": 0.3}),
    "one category a split": (LGBMClassifier, TWO, {"max_cat_to_onehot": 100}),
    "sets of categories": (LGBMClassifier, THREE, {"max_cat_to_onehot": 1}),
    "dart": (LGBMClassifier, TWO, {"boosting_type": "dart", "drop_rate": 0.5}),
    "dart of three": (LGBMClassifier, THREE, {"boosting_type": "dart", "drop_rate": 0.5}),
    "goss": (LGBMClassifier, TWO, {"data_sample_strategy": "goss"}),
    "forest": (LGBMClassifier, TWO, RF),
    "forest of three": (LGBMClassifier, THREE, RF),
    "extra trees": (LGBMClassifier, TWO, {"extra_trees": True}),
    "squares": (LGBMRegressor, TARGET, {}),
    "forest of numbers": (LGBMRegressor, TARGET, RF),
    "absolute": (LGBMRegressor, TARGET, {"objective": "regression_l1"}),
    "huber": (LGBMRegressor, TARGET, {"objective": "huber"}),
    "fair": (LGBMRegressor, TARGET, {"objective": "fair"}),
    "quantile": (LGBMRegressor, TARGET, {"objective": "quantile", "alpha": 0.3}),
    "mape": (LGBMRegressor, TARGET, {"objective": "mape"}),
    "poisson": (LGBMRegressor, TARGET.round(), {"objective": "poisson"}),
    "gamma": (LGBMRegressor, TARGET, {"objective": "gamma"}),
    "tweedie": (LGBMRegressor, TARGET, {"objective": "tweedie"}),
    "linear": (LGBMClassifier, TWO, {"linear_tree": True, "linear_lambda": 0.1}),
    "linear of three": (LGBMClassifier, THREE, {"linear_tree": True}),
    "linear dart": (LGBMClassifier, TWO, {"linear_tree": True, "boosting_type": "dart", "drop_rate": 0.5}),
    "linear forest": (LGBMRegressor, TARGET, {"linear_tree": True, **RF}),
    "linear squares": (LGBMRegressor, TARGET, {"linear_tree": True}),
    "linear poisson": (LGBMRegressor, TARGET.round(), {"linear_tree": True, "objective": "poisson"}),
}


@cache
def wrapper_case(name):
    kind, y, settings = WRAPPERS[name]
    return wrapped(kind(**{"n_estimators": 12, **SMALL, **settings}), CATEGORIES, y, CATEGORY_SCHEMA)


class TestWrappers(ReaderContract):
    @pytest.fixture(params=WRAPPERS)
    def case(self, request):
        return wrapper_case(request.param)


def classifier(**settings):
    return LGBMClassifier(**{"n_estimators": 12, **SMALL, **settings})


def single_precision():
    table = TABLE[["age", "rate"]].astype("float32")
    return wrapped(classifier(), table, TWO, Schema.infer(table))


def large_whole_numbers():
    random = np.random.default_rng(0)
    table = pd.DataFrame({"id": random.integers(2**24, 2**24 + 200, 300), "far": random.integers(-(2**52), 2**52, 300)})
    return wrapped(classifier(), table, (table["id"] % 50 < 25) | (table["far"] > 2**50), Schema.infer(table))


def odd_columns():
    """Names that are numbers or hold spaces, and columns in another order than the schema's."""
    table = TABLE[NUMERIC].rename(columns={"age": 1, "amount": "amount of credit"})
    return wrapped(classifier(), table[["rate", "amount of credit", 1, "owner"]], TWO, Schema.infer(table))


def missing_values():
    """NaN in training; a category that the model does not know is missing too."""
    return wrapped(classifier(), GAPS, THREE, GAP_SCHEMA)


def nothing_missing():
    """No missing values in training: NaN counts as 0."""
    return wrapped(classifier(), CATEGORIES.assign(rate=TABLE["rate"] * 2), TWO, GAP_SCHEMA)


def missing_is_off():
    return wrapped(classifier(use_missing=False), GAPS, TWO, GAP_SCHEMA)


def zero_as_missing():
    """Zeros and what is as small; NaN too."""
    schema = Schema([Continuous("rate", -1e-34, 1e-34), *(f for f in GAP_SCHEMA.features if f.name != "rate")])
    table = GAPS.assign(rate=TABLE["rate"] * 1e-34)
    return wrapped(classifier(zero_as_missing=True), table, TWO, schema)


def zero_as_missing_for_all():
    return wrapped(classifier(zero_as_missing=True), GAPS, THREE, GAP_SCHEMA)


def continued():
    """Trained with zeros as missing, then on without: splits differ in what they take for missing."""
    first = train(GAPS, LABELS, zero_as_missing=True)
    settings = {"objective": "binary", **SMALL}
    return boosted(lightgbm.train(settings, Dataset(GAPS, label=LABELS), 12, init_model=first), GAP_SCHEMA)


def codes():
    """Categories as whole numbers, of an Integer and of a Categorical feature; some were not seen, some are negative."""
    table = pd.DataFrame({name: CATEGORIES[name].cat.codes.astype(int) for name in ("job", "school")}).assign(rate=TABLE["rate"])
    table["job"] += 30  # beyond one word of bits
    schema = Schema(
        [Integer("job", -2, 70), Categorical("school", [2, 0, 7, 1, None], dtype="float64"), Continuous("rate", -1, 1)]
    )
    return wrapped(classifier(max_cat_to_onehot=1), table, TWO, schema, categorical_feature=["job", "school"])


def ordered_categories():
    """An ordered pandas category is a number to LightGBM: its rank."""
    school = pd.Categorical(TABLE["school"], ["none", "middle", "high"], ordered=True)
    table = CATEGORIES.assign(school=school)
    return wrapped(classifier(), table, THREE, mixed_schema(table))


def pipeline(encoder, last, **fit):
    model = make_pipeline(encoder, last).fit(TABLE, TWO, **fit)
    return Case(
        model,
        mixed_schema(TABLE),
        lambda X: model[-1].predict(model[:-1].transform(X), raw_score=True),
        model.predict_proba,
        model.predict,
    )


SCALER = (StandardScaler(), ["age", "amount", "rate"])
TEXTS = ["job", "school", "owner"]


def dense_pipeline():
    return pipeline(make_column_transformer(SCALER, (OneHotEncoder(sparse_output=False), TEXTS)), classifier())


def sparse_pipeline():
    return pipeline(make_column_transformer(SCALER, (OneHotEncoder(), TEXTS), sparse_threshold=1), classifier())


def ordinal_pipeline():
    encoder = make_column_transformer((OrdinalEncoder(), ["job", "school"]), remainder="passthrough")
    return pipeline(encoder, classifier(max_cat_to_onehot=1), lgbmclassifier__categorical_feature=[0, 1])


HALF = len(TABLE) // 2
STOP = [lightgbm.early_stopping(5, verbose=False)]


def stopped():
    """Trained with early stopping."""
    later = {"eval_set": [(CATEGORIES[HALF:], THREE[HALF:])], "callbacks": STOP}
    case = wrapped(classifier(n_estimators=60, learning_rate=0.5), CATEGORIES[:HALF], THREE[:HALF], CATEGORY_SCHEMA, **later)
    assert 0 < case.model.best_iteration_ < 55
    return case


@cache
def stopped_booster():
    """A booster that keeps its later rounds predicts with the best ones, too."""
    known = Dataset(CATEGORIES[:HALF], label=LABELS[:HALF])
    later = Dataset(CATEGORIES[HALF:], label=LABELS[HALF:], reference=known)
    settings = {"objective": "binary", "learning_rate": 0.5, **SMALL}
    booster = lightgbm.train(settings, known, 60, valid_sets=[later], callbacks=STOP, keep_training_booster=True)
    assert 0 < booster.best_iteration < booster.current_iteration()
    return boosted(booster, CATEGORY_SCHEMA)


def booster():
    return boosted(train(CATEGORIES, LABELS), CATEGORY_SCHEMA)


def two_as_several():
    booster = train(CATEGORIES, LABELS, objective="multiclass", num_class=2)
    return Case(
        booster,
        CATEGORY_SCHEMA,
        lambda X: booster.predict(X, raw_score=True),
        booster.predict,
        lambda X: booster.predict(X).argmax(axis=1),
    )


def nameless_booster():
    """Trained on an array: inputs by position."""
    table = TABLE[NUMERIC].to_numpy(dtype=float)
    return boosted(train(table, LABELS), NUMERIC_SCHEMA, data=lambda X: X.to_numpy(dtype=float))


def encoded_booster():
    table = TABLE[["rate", "age", "amount"]].to_numpy(dtype=float)
    return boosted(train(table, LABELS), mixed_schema(TABLE), encoder=[Raw("rate"), Raw("age"), Raw("amount")])


def linear_trees_with_gaps():
    """Where an input of a leaf is missing, the leaf's value counts."""
    case = wrapped(classifier(linear_tree=True, linear_lambda=1.0), GAPS, TWO, GAP_SCHEMA)
    assert read(case.model, GAP_SCHEMA).weights.any()
    return case


def linear_trees_that_miss_nothing():
    """Without missing values, and with zeros as missing: only NaN is missing to a leaf."""
    return wrapped(classifier(linear_tree=True, use_missing=False), CATEGORIES, TWO, GAP_SCHEMA)


def linear_pipeline():
    return pipeline(make_column_transformer(SCALER, (OneHotEncoder(sparse_output=False), TEXTS)), classifier(linear_tree=True))


def linear_nameless_booster():
    table = TABLE[NUMERIC].to_numpy(dtype=float)
    return boosted(train(table, LABELS, linear_tree=True), NUMERIC_SCHEMA, data=lambda X: X.to_numpy(dtype=float))


OTHERS = [
    linear_trees_with_gaps, linear_trees_that_miss_nothing, linear_pipeline, linear_nameless_booster,
    single_precision, large_whole_numbers, odd_columns, missing_values, nothing_missing, missing_is_off, zero_as_missing,
    zero_as_missing_for_all, continued, codes, ordered_categories, dense_pipeline, sparse_pipeline, ordinal_pipeline, stopped,
    stopped_booster, booster, two_as_several, nameless_booster, encoded_booster,
]  # fmt: skip


@cache
def made(factory):
    return factory()


class TestUses(ReaderContract):
    @pytest.fixture(params=OTHERS, ids=lambda factory: factory.__name__)
    def case(self, request):
        return made(request.param)


def test_linear_trees_are_explained_as_by_enumeration():
    """With missing values, of which leaves know nothing but their value."""
    values = {"n": [*range(7), None], "m": range(6), "s": [0.0, 1.5, 4.0]}
    rows = pd.DataFrame(list(product(*values.values())), columns=list(values), dtype=float)
    random = np.random.default_rng(4)
    some = rows.sample(300, replace=True, random_state=4).reset_index(drop=True)
    merit = some["n"].fillna(3) * np.where(some["s"] > 1, 1, -0.5) - some["m"]
    y = np.where(merit + random.normal(0, 0.5, len(some)) > 0.5, "yes", "no")
    model = classifier(linear_tree=True, linear_lambda=0.1, num_leaves=4).fit(some, y)
    features = [
        Mixed("n", 0, 6, (None,), step=1.0),
        Integer("m", 0, 5, dtype="float64"),
        Categorical("s", [0.0, 1.5, 4.0], dtype="float64"),
    ]
    schema = Schema(features, constraints=[likely.schema.Increasing("m")])
    assert read(model, schema).weights.any()
    explainer = likely.Explainer(model, schema, nodes=8, progress=False, n_jobs=1).fit(some, y)
    decided = model.predict(rows)
    for i in (0, 29, 61, 97, 125):
        row = rows.iloc[i]
        answer = explainer.explain(row, plausibility=None, rounding=0, gap=0, may_become_missing=True)
        others = [other for j, other in rows.iterrows() if decided[j] != decided[i] and not schema.violations(row, other)]
        least = min((schema.cost(row, other) for other in others), default=math.inf)
        assert (answer.best.cost if answer else math.inf) == pytest.approx(least, rel=1e-6)
        assert likely.verify(answer, explainer).ok


class TestFiles:
    def test_a_file_is_read_as_its_booster(self, tmp_path):
        path = tmp_path / "model.txt"
        booster = train(CATEGORIES, LABELS)
        booster.save_model(path)
        form = read(path, CATEGORY_SCHEMA, classes=["bad", "good"])
        assert form == read(booster, CATEGORY_SCHEMA, classes=["bad", "good"])
        assert form.classes == ("bad", "good")
        rows = random_rows(CATEGORY_SCHEMA, 500)
        theirs = booster.predict(feed(CATEGORY_SCHEMA, rows), raw_score=True)
        np.testing.assert_allclose(form.score(rows)[:, 0], theirs, rtol=1e-9)

    def test_the_file_of_a_stopped_model(self, tmp_path):
        booster = stopped_booster().model
        booster.save_model(tmp_path / "model.txt")
        assert read(tmp_path / "model.txt", CATEGORY_SCHEMA) == read(booster, CATEGORY_SCHEMA)

    @pytest.mark.parametrize("share", [0.0, 0.02, 0.1, 0.3, 0.7, 0.99])
    def test_broken_file(self, tmp_path, share):
        """LightGBM would end the process on some of these."""
        path = tmp_path / "model.txt"
        train(TABLE[NUMERIC], LABELS).save_model(path)
        path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
        message = "^Model file 'model.txt' must be a model of LightGBM; got a file it cannot read. Hint: write it with save_model"
        with pytest.raises(PredictorError, match=message):
            read(path, NUMERIC_SCHEMA)

    def test_other_text(self, tmp_path):
        (tmp_path / "notes.txt").write_bytes(b"tree of life \xff\nTree=0\n\nend of trees\n")
        with pytest.raises(PredictorError, match=r"Model file 'notes\.txt' must be a model of LightGBM"):
            read(tmp_path / "notes.txt", NUMERIC_SCHEMA)

    def test_damaged_categories(self, tmp_path):
        path = tmp_path / "model.txt"
        train(CATEGORIES, LABELS).save_model(path)
        path.write_text(path.read_text().replace('pandas_categorical:[["clerk"', 'pandas_categorical:[["clerk'))
        with pytest.raises(PredictorError, match=r"Model file 'model\.txt' must be a model of LightGBM"):
            read(path, CATEGORY_SCHEMA)

    def test_missing_package(self, tmp_path, monkeypatch):
        (tmp_path / "model.txt").write_text("")
        monkeypatch.setitem(sys.modules, "lightgbm", None)
        message = r"Package 'lightgbm' must be installed to read a LightGBM model file; .*likely\[lightgbm\]"
        with pytest.raises(MissingExtraError, match=message):
            read(tmp_path / "model.txt", NUMERIC_SCHEMA)


def small(X=CATEGORIES, y=LABELS, kind=LGBMClassifier, **settings):
    return kind(**{**SMALL, "n_estimators": 4, "num_leaves": 5, **settings}).fit(X, y)


class TestCategories:
    @pytest.mark.parametrize("dtype", ["category", "object"])
    def test_order_and_dtype_of_the_schema_do_not_matter(self, dtype):
        """The model finds a category by its name, and so do we; texts that are no categories become such."""
        model = small(n_estimators=20, max_cat_to_onehot=1)
        turned = {
            "job": Categorical("job", ["pilot", "judge", "nurse", "clerk"], dtype=dtype),
            "school": Categorical("school", ["high", "none", "middle"], dtype=dtype),
            "owner": Binary("owner"),
        }
        schema = Schema([turned.get(feature.name, feature) for feature in CATEGORY_SCHEMA.features])
        rows = random_rows(schema, 500)
        table = schema.decode(rows).astype({name: CATEGORIES[name].dtype for name in ("school", "owner")})
        theirs = model.predict(table.astype({"job": "category"}), raw_score=True)
        np.testing.assert_allclose(read(model, schema).score(rows)[:, 0], theirs, rtol=1e-9)

    def test_numbers_as_categories(self):
        values = [10, 5, 30, 20]
        jobs = pd.Categorical.from_codes(CATEGORIES["job"].cat.codes, values)
        model = small(pd.DataFrame({"job": jobs, "rate": TABLE["rate"]}), n_estimators=20, max_cat_to_onehot=1)
        schema = Schema([Categorical("job", values, dtype="category"), Continuous("rate", -1, 1)])
        rows = random_rows(schema, 500)
        theirs = model.predict(schema.decode(rows), raw_score=True)
        np.testing.assert_allclose(read(model, schema).score(rows)[:, 0], theirs, rtol=1e-9)

    def test_number_of_category_columns(self):
        codes = TABLE["job"].map({"clerk": 0, "farmer": 1, "nurse": 2, "pilot": 3})
        message = "The schema of a LGBMClassifier must have the 2 columns of categories it was trained on; got 'school'"
        with pytest.raises(PredictorError, match=message):
            read(small(), mixed_schema(CATEGORIES.assign(job=codes)))
        message = "The schema of a LGBMClassifier must have the 0 columns of categories it was trained on; got 'age'"
        with pytest.raises(PredictorError, match=message):
            read(small(TABLE[["age"]]), Schema([Categorical("age", [20, 30], dtype="category")]))


class TestRefused(Refusals):
    schema = CATEGORY_SCHEMA

    def test_not_fitted(self):
        self.refuses(LGBMClassifier(), "A LGBMClassifier must be fitted; got one that is not. Hint: call fit first")

    def test_unknown_objective(self):
        model = train(CATEGORIES, LABELS, objective="cross_entropy_lambda")
        self.refuses_kind(model, "The objective of a Booster must be one of binary, .*; got 'cross_entropy_lambda'")

    def test_classifier_by_regression(self):
        model = small(objective="regression")
        self.refuses_kind(model, "The objective of a LGBMClassifier must tell classes apart; got 'regression'")

    def test_regressor_by_classification(self):
        model = small(kind=LGBMRegressor, objective="binary")
        message = "The objective of a LGBMRegressor must predict a number; got 'binary'. Hint: use LGBMClassifier"
        self.refuses_kind(model, message)
        assert read(model.booster_, CATEGORY_SCHEMA).link == Link("logistic")

    def test_root_of_the_target(self):
        model = small(y=TARGET, kind=LGBMRegressor, reg_sqrt=True)
        self.refuses_kind(model, "A LGBMRegressor must predict the sum of its trees; got reg_sqrt=True")

    def test_several_outputs(self):
        def loss(scores, data):
            return scores.ravel(), np.ones(scores.size)

        model = train(TABLE[NUMERIC], LABELS, objective=loss, num_class=3)
        self.refuses(model, "A Booster must predict one column; got 3 columns", NUMERIC_SCHEMA)

    def test_no_trees(self):
        model = lightgbm.Booster({"verbose": -1}, Dataset(TABLE[NUMERIC], label=LABELS))
        self.refuses(model, "A Booster must have at least one tree; got none", NUMERIC_SCHEMA)

    def test_missing_column(self):
        message = "The schema of a LGBMClassifier must have the column 'job' that it was trained on; got columns 'age'"
        self.refuses(small(), message, NUMERIC_SCHEMA)

    def test_number_of_inputs(self):
        message = "A LGBMClassifier must be given the 4 inputs it was trained on; got 6 from the schema"
        self.refuses(small(TABLE[NUMERIC].to_numpy(dtype=float)), message, mixed_schema(TABLE))

    def test_text(self):
        message = "Feature 'job' must be numbers where LGBMClassifier reads it"
        self.refuses(small(TABLE[["age"]].to_numpy(dtype=float)), message, Schema([mixed_schema(TABLE)["job"]]))


def test_a_single_leaf():
    """Trees that never split say the average."""
    model = small(TABLE[NUMERIC], kind=LGBMRegressor, y=TARGET, min_child_samples=1000)
    form = read(model, NUMERIC_SCHEMA)
    assert isinstance(form, TreeEnsemble)
    np.testing.assert_allclose(form.predict(random_rows(NUMERIC_SCHEMA, 3)), TARGET.mean(), rtol=1e-6)


def test_a_tie():
    """At a probability of one half the first class is chosen."""
    half = np.arange(len(TABLE)) % 2
    model = small(TABLE[NUMERIC], np.array(["yes", "no"])[half], min_child_samples=1000)
    form, rows = read(model, NUMERIC_SCHEMA), random_rows(NUMERIC_SCHEMA, 3)
    assert (form.score(rows) == 0).all()
    assert form.predict(rows).tolist() == model.predict(feed(NUMERIC_SCHEMA, rows)).tolist() == ["no"] * 3


def test_custom_objective():
    """A Booster trained with a loss of one's own predicts its score; the user says what it means."""

    def loss(scores, data):
        p = 1 / (1 + np.exp(-scores))
        return p - data.get_label(), p * (1 - p)

    model = train(TABLE[NUMERIC], LABELS, objective=loss)
    assert read(model, NUMERIC_SCHEMA).link == Link("identity")
    assert read(model, NUMERIC_SCHEMA, link="logistic", classes=["bad", "good"]).classes == ("bad", "good")


def test_one_against_the_rest_has_no_probabilities():
    """The model's own do not add up to 1."""
    case = wrapper_case("one against the rest")
    assert abs(case.model.predict_proba(CATEGORIES).sum(axis=1) - 1).max() > 0.01
    assert not read(case.model, CATEGORY_SCHEMA).link.has_probabilities
