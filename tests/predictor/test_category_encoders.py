"""Encoders of `category_encoders`: what a reader makes of a row is what the encoder makes of it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor import read
from likely.predictor.reading import random_rows
from tests.predictor.transformers import NUMBERS, SCHEMA, TABLE, TWO, dense, wires_of

category_encoders = pytest.importorskip("category_encoders")
TEXTS = ["job", "school"]
Y = (TWO == "good").astype(int)
NAMES = (
    "BackwardDifferenceEncoder", "BaseNEncoder", "BinaryEncoder", "CatBoostEncoder", "CountEncoder", "GrayEncoder",
    "HelmertEncoder", "JamesSteinEncoder", "LeaveOneOutEncoder", "MEstimateEncoder", "OneHotEncoder", "OrdinalEncoder",
    "PolynomialEncoder", "QuantileEncoder", "RankHotEncoder", "SumEncoder", "SummaryEncoder", "TargetEncoder", "WOEEncoder",
)  # fmt: skip


def fitted(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(category_encoders, name)(cols=TEXTS).fit(TABLE[[*NUMBERS, *TEXTS]], Y)


@pytest.mark.parametrize("name", NAMES)
def test_to_the_last_bit(name: str) -> None:
    encoder = fitted(name)
    rows = random_rows(SCHEMA, 200, random_state=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = dense(encoder.transform(SCHEMA.decode(rows)[[*NUMBERS, *TEXTS]]))
    np.testing.assert_array_equal(wires_of(encoder, SCHEMA).read(rows, "the test"), theirs)


@pytest.mark.parametrize("name", ["TargetEncoder", "OneHotEncoder", "WOEEncoder"])
@pytest.mark.parametrize("last", [LogisticRegression(max_iter=500), DecisionTreeClassifier(max_depth=5)], ids=str)
def test_before_models(name: str, last: Any) -> None:
    encoder = make_column_transformer((getattr(category_encoders, name)(cols=TEXTS), TEXTS), ("passthrough", NUMBERS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make_pipeline(encoder, last).fit(TABLE, Y)
    rows = random_rows(SCHEMA, 300, random_state=6)
    np.testing.assert_array_equal(read(model, SCHEMA).predict(rows), model.predict(SCHEMA.decode(rows)))


def test_refusals() -> None:
    with pytest.raises(UnsupportedModelError, match="A transformer must be of a class that likely can read"):
        wires_of(fitted("HashingEncoder"), SCHEMA)
    with pytest.raises(PredictorError, match="must be fitted"):
        wires_of(category_encoders.TargetEncoder(), SCHEMA)
