"""Tables, and small models of XGBoost, for the tests of its reader."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from likely.schema import Schema
from likely.schema.features import Categorical, Mixed
from tests.contracts.reader import Case, mixed_schema, mixed_table

xgboost = pytest.importorskip("xgboost")
from xgboost import DMatrix, XGBClassifier  # noqa: E402

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
SCALED = TABLE[NUMERIC].assign(amount=TABLE["amount"] / 1000, age=TABLE["age"] / 10)
LINEAR = {"booster": "gblinear", "n_estimators": 10, "n_jobs": 1}


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


def small(X=CATEGORIES, y=TWO, kind=XGBClassifier, **settings):
    return kind(**{"n_estimators": 4, "max_depth": 2, "enable_categorical": True, "n_jobs": 1, **settings}).fit(X, y)
