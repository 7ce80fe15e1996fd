"""Linear models of scikit-learn, alone and behind pipelines."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from tests.contracts.reader import Case, ReaderContract, mixed_schema, mixed_table

TABLE, TWO, THREE = mixed_table()
SCHEMA = mixed_schema(TABLE)
CLASSIFIERS = [
    LogisticRegression(max_iter=500),
    LogisticRegression(solver="liblinear"),
    LinearSVC(),
    SGDClassifier(loss="hinge", random_state=0),
    SGDClassifier(loss="log_loss", random_state=0),
    SGDClassifier(loss="modified_huber", random_state=0),
    RidgeClassifier(),
    Perceptron(),
    LinearDiscriminantAnalysis(),
]


def behind_encoder(model):
    numbers, texts = ["age", "amount", "rate"], ["job", "school", "owner"]
    return make_pipeline(make_column_transformer((StandardScaler(), numbers), (OneHotEncoder(), texts)), model)


CASES = [
    (model, labels)
    for model in CLASSIFIERS
    for labels in (TWO, THREE)
    if not (getattr(model, "solver", "") == "liblinear" and labels is THREE)
]


class TestLinearClassifiers(ReaderContract):
    @pytest.fixture(params=CASES, ids=lambda p: f"{p[0]}-{p[1].nunique()}")
    def case(self, request):
        model, labels = request.param
        fitted = behind_encoder(model).fit(TABLE, labels)
        has = hasattr(fitted, "predict_proba")
        return Case(fitted, SCHEMA, fitted.decision_function, fitted.predict_proba if has else None, fitted.predict)


class TestLinearRegressors(ReaderContract):
    @pytest.fixture(params=[LinearRegression(), Ridge()], ids=str)
    def case(self, request):
        fitted = behind_encoder(request.param).fit(TABLE, TABLE["amount"] * 2 + TABLE["age"])
        return Case(fitted, SCHEMA, fitted.predict, None, fitted.predict)


class TestWithoutNames(ReaderContract):
    """Fitted on arrays: inputs by position."""

    @pytest.fixture
    def case(self):
        numbers = TABLE[["age", "amount", "rate"]]
        fitted = LogisticRegression(max_iter=500).fit(numbers.to_numpy(), TWO)
        schema = mixed_schema(TABLE)
        schema = type(schema)(schema.features[:3])

        def plain(frame: pd.DataFrame) -> np.ndarray:
            return frame.to_numpy()

        return Case(
            fitted,
            schema,
            lambda X: fitted.decision_function(plain(X)),
            lambda X: fitted.predict_proba(plain(X)),
            lambda X: fitted.predict(plain(X)),
        )
