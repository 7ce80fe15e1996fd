"""`Density`: an estimator like scikit-learn's, over tables of any kind; and why a row is unlikely."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from likely.circuit import Density, learn, sample
from likely.errors import CircuitError, NotFittedError
from likely.schema import Schema
from tests.circuit.learning.learned import drawn

SMALL: dict[str, Any] = {"method": "mixture", "nodes": 40}


def table(seed: int = 0, count: int = 400) -> pd.DataFrame:
    """Numbers, whole numbers, categories; some cells missing."""
    X, y = drawn(seed, count)
    X = X.assign(granted=y, colour=X["colour"].astype("category"))
    return X.assign(size=X["size"].where(np.arange(count) % 10 > 0))


def fitted(**settings: Any) -> Density:
    return Density(**{**SMALL, **settings}).fit(table())


# -- scikit-learn's conventions ---------------------------------------------------------------------------------------


def test_all_checks_of_scikit_learn_pass() -> None:
    results = check_estimator(Density(**SMALL), on_skip=None)
    assert {result["check_name"] for result in results if result["status"] != "passed"} <= {
        "check_array_api_input",  # skipped by scikit-learn itself: it needs an environment variable
    }


def test_a_clone_has_the_same_parameters_and_no_fit() -> None:
    model = fitted()
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    with pytest.raises(NotFittedError, match=r"^A Density must be fitted; got one that is not\."):
        copy.score_samples(table())
    with pytest.raises(CircuitError, match=r"^A parameter of Density must be one of schema, method"):
        copy.set_params(depth=3)


def test_pipelines_searches_and_pickles() -> None:
    X = np.random.default_rng(0).normal(size=(120, 2))
    pipe = make_pipeline(StandardScaler(), Density(**SMALL)).fit(X)
    assert pipe.score_samples(X).shape == (120,)
    assert np.isfinite(cross_val_score(Density(**SMALL), X, cv=3)).all()
    search = GridSearchCV(Density(method="mixture"), {"nodes": [5, 20]}, cv=2).fit(X)
    assert search.best_params_["nodes"] in (5, 20)
    model = fitted()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).score_samples(table()), model.score_samples(table()))


def test_names_and_counts() -> None:
    model = fitted()
    assert model.n_features_in_ == 4
    assert model.feature_names_in_.tolist() == ["size", "visits", "colour", "granted"]
    model.fit(np.random.default_rng(0).normal(size=(50, 3)))
    assert model.n_features_in_ == 3
    assert not hasattr(model, "feature_names_in_")


# -- scores -----------------------------------------------------------------------------------------------------------


def test_scores_are_those_of_the_circuit() -> None:
    model, X = fitted(), table(1)
    np.testing.assert_array_equal(model.score_samples(X), model.circuit_.log_likelihood(X))
    assert model.score(X) == pytest.approx(model.score_samples(X).mean())
    assert model.circuit_ == learn(table(), None, model.schema_, **SMALL).circuit


def test_a_schema_is_used_and_weights_count() -> None:
    X = table().dropna()
    schema = Schema.infer(X)
    model = Density(schema=schema, **SMALL).fit(X)
    assert model.schema_ is schema
    numbers = X[["size", "visits"]]
    arrays = Density(schema=Schema.infer(numbers), **SMALL).fit(numbers.to_numpy())
    np.testing.assert_array_equal(arrays.score_samples(numbers.to_numpy()), arrays.circuit_.log_likelihood(numbers))
    reds = Density(schema=schema, **SMALL).fit(X, sample_weight=np.where(X["colour"] == "red", 50.0, 1.0))
    red = X[X["colour"] == "red"]
    assert reds.score(red) > model.score(red)


def test_columns_are_found_by_name_in_tables_and_by_place_in_arrays() -> None:
    model, X = fitted(), table(1)
    np.testing.assert_array_equal(model.score_samples(X[X.columns[::-1]].assign(id=1)), model.score_samples(X))
    with pytest.raises(CircuitError, match=r"must have the column 'visits'; got none, but 'visit'"):
        model.score_samples(X.rename(columns={"visits": "visit"}))
    numbers = np.random.default_rng(0).normal(size=(80, 2))
    arrays = Density(**SMALL).fit(numbers)
    np.testing.assert_array_equal(arrays.score_samples(pd.DataFrame(numbers, columns=["a", "b"])), arrays.score_samples(numbers))


def test_a_row_beyond_all_that_was_seen_is_unlikely_not_impossible() -> None:
    model, X = fitted(), table(1).dropna()
    scores = model.score_samples(X.assign(size=X["size"].max() + 3))
    assert np.isfinite(scores).all()
    assert (scores < model.score_samples(X)).mean() > 0.99


# -- rows -------------------------------------------------------------------------------------------------------------


def test_synthetic_rows_look_like_the_table_and_lie_within_the_bounds() -> None:
    model = fitted()
    rows = model.sample(200, random_state=3)
    assert rows.dtypes.equals(table().dtypes)
    assert rows.equals(model.sample(200, random_state=3))
    assert rows.equals(sample(model.circuit_, 200, random_state=3))
    numbers = model.schema_.encode(rows)
    assert all(feature.fits(numbers[:, j]).all() for j, feature in enumerate(model.schema_.features))
    arrays = Density(**SMALL).fit(np.random.default_rng(0).normal(size=(80, 2)))
    assert arrays.sample(5).shape == (5, 2)
    assert not np.array_equal(arrays.sample(5), arrays.sample(5))


def dependent(count: int, seed: int = 0) -> pd.DataFrame:
    """Two columns that agree but for noise, and two that nothing depends on."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 4, count)
    second = np.where(rng.random(count) < 0.97, first, rng.integers(0, 4, count))
    return pd.DataFrame({"first": first, "second": second, "other": rng.integers(0, 4, count), "noise": rng.normal(size=count)})


def test_what_does_not_fit_together_is_named() -> None:
    X = dependent(1500)
    model = Density(method="mixture", nodes=80).fit(X)
    odd = {"first": 0, "second": 3, "other": 1, "noise": 0.1}
    report = model.explain_row(odd)
    assert {report.parts[0].features, report.parts[1].features} == {("first",), ("second",)}
    assert report.percentile < 10
    assert report.coherence_percentile < 5
    usual = model.explain_row({**odd, "second": 0})
    assert min(part.percentile for part in usual.parts) > 1
    assert usual.coherence_percentile > 20


def test_conditionals_are_exact() -> None:
    X = dependent(600)
    model = Density(**SMALL).fit(X)
    row = X.iloc[[5]]
    report = model.explain_row(row)
    whole = model.score_samples(row)[0]
    assert report.log_likelihood == pytest.approx(whole)
    for part in report.parts:
        rest = model.circuit_.log_likelihood(row.drop(columns=list(part.features)), marginal=True)[0]
        assert part.log_conditional == pytest.approx(whole - rest)
    assert {part.features for part in report.parts if len(part.features) == 1} == {(name,) for name in X}


def test_a_pair_is_listed_where_it_is_far_less_usual_than_either_alone() -> None:
    rng = np.random.default_rng(0)
    bit = rng.integers(0, 2, 3000)
    X = pd.DataFrame({name: np.where(rng.random(3000) < 0.95, bit, 1 - bit) for name in "abcde"}).assign(
        other=rng.integers(0, 2, 3000)
    )
    model = Density(method="mixture", nodes=60).fit(X)
    report = model.explain_row({"a": 1, "b": 1, "c": 0, "d": 0, "e": 0, "other": 0})
    alone = {part.features[0]: part.percentile for part in report.parts if len(part.features) == 1}
    pairs = {part.features: part.percentile for part in report.parts if len(part.features) == 2}
    assert min(pairs, key=lambda names: pairs[names]) == ("a", "b")
    assert all(2 * percentile <= min(alone[name] for name in names) for names, percentile in pairs.items())


@pytest.mark.parametrize(
    "as_row", [lambda row: row, dict, list, lambda row: row.to_frame().T], ids=["series", "dict", "list", "table"]
)
def test_rows_of_every_form(as_row: Any) -> None:
    X = dependent(300)
    model = Density(**SMALL).fit(X)
    assert model.explain_row(as_row(X.iloc[7])) == model.explain_row(X.iloc[[7]])


def test_several_rows_are_refused() -> None:
    with pytest.raises(CircuitError, match=r"^A row must be one row; got a DataFrame of 2 rows\."):
        fitted().explain_row(table().head(2))


def test_a_report_prints_as_a_table_and_is_a_frame() -> None:
    X = dependent(300)
    model = Density(**SMALL).fit(X)
    report = model.explain_row(X.iloc[0])
    lines = str(report).splitlines()
    assert lines[0].startswith(f"log-likelihood {report.log_likelihood:.2f}: likelier than")
    assert lines[1].startswith(f"coherence {report.coherence:.2f}: ")
    assert lines[2].split() == ["feature", "value", "log", "p(value", "|", "rest)", "usual", "percentile"]
    assert len(lines) == 4 + min(10, len(report.parts))
    frame = report.to_frame()
    assert list(frame) == ["features", "shown", "log_conditional", "usual", "percentile"]
    assert frame["percentile"].is_monotonic_increasing


def test_new_categories_and_missing_cells_can_be_explained() -> None:
    row = {"size": None, "visits": 3, "colour": "violet", "granted": True}
    report = fitted().explain_row(row)
    assert report.parts[0].features == ("colour",)
    assert report.parts[0].shown == ("a new category",)
    assert math.isfinite(report.log_likelihood)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros(3), r"^A table must be a DataFrame or an array of rows x columns; got shape \(3,\)\. Hint: Reshape your data"),
        (np.zeros((2, 2), dtype=complex), r"^A table must hold real numbers; got Complex data not supported\."),
        (np.zeros((0, 2)), r"^A table must have rows and columns; got 0 sample\(s\), 2 feature\(s\)"),
    ],
)
def test_refusals(X: Any, message: str) -> None:
    with pytest.raises(CircuitError, match=message):
        Density().fit(X)
