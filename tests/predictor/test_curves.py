"""Functions of one feature before linear models and networks: logarithms, powers, quantiles, clipping."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
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
from likely.predictor.curves import CurveStep, jumps
from likely.predictor.sklearn.functions import _quantile_curve
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
    "normal": QuantileTransformer(n_quantiles=40, subsample=None, output_distribution="normal"),
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
    counts = StandardScaler()
    if name in ("quantiles", "normal"):  # of few values: at its ends, and in between
        counts = QuantileTransformer(n_quantiles=20, output_distribution="uniform" if name == "quantiles" else "normal")
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


@pytest.mark.parametrize("name", ["log1p", "yeo-johnson", "quantiles", "normal", "clipped"])
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
        make_column_transformer((FunctionTransformer(np.arcsinh), POSITIVE)),
        LogisticRegression(),
    )
    with pytest.raises(UnsupportedModelError, match="be read by LogisticRegression as a function that likely has as data"):
        read(model.fit(TABLE, TWO), SCHEMA)
    with pytest.raises(PredictorError, match="have a known operation"):
        CurveStep("cosine")
    with pytest.raises(PredictorError, match="have knots that rise"):
        CurveStep("interpolate", knots=(1.0, 0.0), values=(0.0, 1.0))


@given(
    edges=st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=5, unique=True).map(sorted),
    kind=st.sampled_from(["rising", "falling", "bin"]),
    numbers=st.lists(st.floats(-2e9, 2e9), min_size=1, max_size=20),
    data=st.data(),
)
def test_jumps_are_exact_at_every_double(edges, kind, numbers, data):
    """At the edges, at the doubles beside them, and anywhere: the value from the last edge on."""
    values = np.array(data.draw(st.lists(st.floats(-9, 9), min_size=len(edges) + 1, max_size=len(edges) + 1)))
    if kind == "bin":
        values = np.where(np.arange(len(values)) == data.draw(st.integers(0, len(edges))), values[0], values[-1])
    else:
        values = np.sort(values)[:: 1 if kind == "rising" else -1]
    at = np.array([*numbers, *edges, *np.nextafter(edges, -np.inf), *np.nextafter(edges, np.inf)])
    reads = at
    for step in jumps(np.array(edges), values):
        reads = step.at(reads)
    np.testing.assert_allclose(reads, values[np.searchsorted(edges, at, side="right")], rtol=0, atol=1e-14)


COLUMNS = {
    "one value": [3.0] * 30,
    "two values": [0.0] * 20 + [5.0] * 10,
    "near": [1.0] * 9 + [1.0 + 5e-8] * 9 + [2.0] * 9,
    "large": np.linspace(-3e9, 1e9, 30),
}


@pytest.mark.parametrize("numbers", COLUMNS.values(), ids=COLUMNS)
def test_normal_quantiles_of_odd_columns(numbers):
    """At every quantile, around it, and where a number begins to count as beyond the first or the last one."""
    X = np.asarray(numbers)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        transformer = QuantileTransformer(n_quantiles=10, output_distribution="normal").fit(X)
    steps = _quantile_curve(transformer, 0, "float64")
    at = np.unique([x + off for x in np.unique(X) for off in (0, 1e-9, -1e-9, 1e-7, -1e-7, 2e-7, -2e-7, 0.5, -0.5)])
    at = np.unique([at, np.nextafter(at, np.inf), np.nextafter(at, -np.inf)])
    reads = at
    for step in steps:
        reads = step.at(reads)
    np.testing.assert_allclose(reads, transformer.transform(at[:, None])[:, 0], rtol=1e-9, atol=1e-9)


def test_other_functions_that_jump_are_none():
    assert jumps(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 0.0, 1.0])) is None
