"""Functions of one feature before linear models and networks: logarithms, powers, quantiles, clipping."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    PowerTransformer,
    QuantileTransformer,
    StandardScaler,
)

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor import read
from likely.predictor.curves import CurveStep
from likely.problem import Limits, Problem, to_class
from likely.schema import Schema
from likely.search import solve
from tests.contracts.reader import Case, ReaderContract, mixed_table

TABLE, TWO, THREE = mixed_table()
TABLE["count"] = np.minimum(TABLE["age"] // 9, 6)  # with many equal values: quantiles that are the same
SCHEMA = Schema.infer(TABLE, features={"school": {"kind": "ordinal", "values": ["none", "middle", "high"]}})
POSITIVE, TEXTS = ["age", "amount"], ["job", "school", "owner"]
MAPS = {
    "log1p": FunctionTransformer(np.log1p),
    "log10": FunctionTransformer(np.log10),
    "sqrt": FunctionTransformer(np.sqrt),
    "yeo-johnson": PowerTransformer(),
    "box-cox": PowerTransformer(method="box-cox", standardize=False),
    "quantiles": QuantileTransformer(n_quantiles=40, subsample=None),
    "clipped": MinMaxScaler((0.1, 0.7), clip=True),
    "binary": Binarizer(threshold=40.0),
}


@functools.cache
def fitted(name, kind="linear"):
    models = {
        "linear": LogisticRegression(max_iter=500),
        "network": MLPClassifier((6,), max_iter=60, random_state=0),
        "smooth": MLPClassifier((6,), activation="tanh", max_iter=60, random_state=0),
        "naive Bayes": GaussianNB(),
    }
    chosen = MAPS.get(name, "passthrough")
    counts = QuantileTransformer(n_quantiles=20) if name == "quantiles" else StandardScaler()
    encoder = make_column_transformer(
        (make_pipeline(chosen, StandardScaler()) if name in MAPS else chosen, POSITIVE),
        (counts, ["count", "rate"]),
        (OneHotEncoder(), TEXTS),
        sparse_threshold=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_pipeline(encoder, models[kind]).fit(TABLE, TWO)


class TestReading(ReaderContract):
    @pytest.fixture(
        params=[
            *((name, "linear") for name in MAPS),
            ("log1p", "network"),
            ("yeo-johnson", "smooth"),
            ("as it is", "naive Bayes"),
        ],
        ids=str,
    )
    def case(self, request):
        model = fitted(*request.param)
        return Case(model, SCHEMA, None, model.predict_proba, model.predict, tolerance=1e-6, tie=1e-6)


@pytest.mark.parametrize("name", ["log1p", "yeo-johnson", "quantiles", "clipped"])
def test_no_row_is_cheaper(name):
    """Every other feature as it is: each pair of values of two features is asked."""
    model = fitted(name)
    form = read(model, SCHEMA)
    labels = form.predict(SCHEMA.encode(TABLE))
    at = int(np.flatnonzero(labels == "bad")[0])
    factual = SCHEMA.encode(TABLE)[at]
    goal = to_class(form, "good")
    result = solve(Problem(SCHEMA, factual, form, goal), Limits(seconds=60, absolute_gap=1e-4))
    assert result.status == "optimal"
    rng = np.random.default_rng(0)
    rows = np.repeat(factual[None], 20_000, axis=0)
    ages, rates = SCHEMA.index("age"), SCHEMA.index("rate")
    rows[:, ages] = rng.integers(18, 80, len(rows))
    rows[:, rates] = np.where(rng.random(len(rows)) < 0.5, factual[rates], rng.uniform(-1, 1, len(rows)))
    met = goal.met(form.score(rows))
    assert SCHEMA.prices(factual, rows[met]).min(initial=np.inf) >= result.bounds.lower - 1e-9
    assert goal.met(form.score(result.solutions[0].row[None]), slack=1e-9)[0]


def test_what_is_no_data_is_refused():
    model = make_pipeline(
        make_column_transformer((QuantileTransformer(n_quantiles=20, output_distribution="normal"), POSITIVE)),
        LogisticRegression(),
    )
    with pytest.raises(UnsupportedModelError, match="be read by LogisticRegression as a function that likely has as data"):
        read(model.fit(TABLE, TWO), SCHEMA)
    with pytest.raises(PredictorError, match="have a known operation"):
        CurveStep("cosine")
    with pytest.raises(PredictorError, match="have knots that rise"):
        CurveStep("interpolate", knots=(1.0, 0.0), values=(0.0, 1.0))
