"""Models of XGBoost: categories by name, what is refused, and corner cases."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from likely.errors import PredictorError
from likely.predictor import Link, TreeEnsemble, read
from likely.predictor.reading import feed, random_rows
from likely.schema import Schema
from likely.schema.features import Binary, Categorical, Continuous, Integer
from tests.contracts.reader import Refusals, mixed_schema

xgboost = pytest.importorskip("xgboost")
from xgboost import DMatrix, XGBClassifier, XGBRegressor  # noqa: E402

from tests.predictor.xgboost_models import (  # noqa: E402
    CATEGORIES,
    CATEGORY_SCHEMA,
    LINEAR,
    NUMERIC,
    NUMERIC_SCHEMA,
    SCALED,
    TABLE,
    TARGET,
    THREE,
    TWO,
    keeps_categories,
    small,
    train,
)


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
