"""Explainable boosting machines: tables over one and two features, with missing values, categories and a constant column."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest

from likely.errors import PredictorError
from likely.predictor import TreeEnsemble, read
from likely.schema import Schema
from tests.contracts.reader import Case, ReaderContract, mixed_table

glassbox = pytest.importorskip("interpret.glassbox")

TABLE, TWO, THREE = mixed_table()
TABLE["debt"] = np.where(np.arange(len(TABLE)) % 7 == 0, np.nan, np.round(TABLE["amount"] / 7, 1))
TABLE["branch"] = 3
SCHEMA = Schema.infer(TABLE, features={"school": {"kind": "ordinal", "values": ["none", "middle", "high"]}})


@functools.cache
def fitted(kind):
    options = {"max_rounds": 40, "outer_bags": 2, "n_jobs": 1, "random_state": 0}
    labels = {"two": TWO, "three": THREE, "number": TABLE["rate"] * 3 + TABLE["age"] / 20}
    make = glassbox.ExplainableBoostingRegressor if kind == "number" else glassbox.ExplainableBoostingClassifier
    pairs = 0 if kind == "three" else 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(interactions=pairs, **options).fit(TABLE, labels[kind])


class TestReading(ReaderContract):
    @pytest.fixture(params=["two", "three", "number"])
    def case(self, request):
        model = fitted(request.param)
        if request.param == "number":
            return Case(model, SCHEMA, model.predict, None, model.predict)
        return Case(model, SCHEMA, model.decision_function, model.predict_proba, model.predict, tie=1e-12)

    def test_it_is_trees(self, form):
        assert isinstance(form, TreeEnsemble)


def test_one_that_is_not_fitted():
    with pytest.raises(PredictorError, match="An ExplainableBoostingClassifier must be fitted"):
        read(glassbox.ExplainableBoostingClassifier(), SCHEMA)
