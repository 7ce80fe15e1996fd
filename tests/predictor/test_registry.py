"""Readers of one's own, and what is said of a model that has none."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor import LinearModel, Link, Reader, Step, read, register, register_transformer, registry
from likely.predictor.reading import random_rows
from likely.predictor.registry import reader_of, transformer_reader_of
from tests.contracts.reader import mixed_schema, mixed_table

TABLE, TWO, _ = mixed_table()
SCHEMA = mixed_schema(TABLE)
NUMBERS = ["age", "amount", "rate"]


@pytest.fixture(autouse=True)
def _forget():
    """Whatever a test registers is forgotten after it."""
    known = [(table, dict(table)) for table in (registry._readers, registry._transformers)]
    yield
    for table, before in known:
        for key in [key for key in table if key[0] == "tests"]:
            del table[key]
        table.update(before)


# -- an example to copy from ------------------------------------------------------------------------------------------------


@dataclass
class Scorecard:
    """A model of one's own: points per unit of each column."""

    points: dict = field(default_factory=lambda: {"rate": 2.0, "age": 0.1})
    start: float = -4.0

    def decision(self, table) -> np.ndarray:
        return sum(points * table[name].to_numpy() for name, points in self.points.items()) + self.start


def read_scorecard(model, inputs):
    by = type(model).__name__
    columns = inputs.named(list(model.points), by).columns(by)
    return LinearModel(Link("logistic"), ("bad", "good"), columns, [list(model.points.values())], [model.start])


SCORECARD = Reader(read_scorecard, score=lambda model, X: model.decision(X))


def test_a_model_of_ones_own():
    register("tests.Scorecard", SCORECARD)
    form = read(Scorecard(), SCHEMA)
    rows = random_rows(SCHEMA, 100)
    np.testing.assert_allclose(form.score(rows)[:, 0], Scorecard().decision(SCHEMA.decode(rows)))
    assert set(form.predict(rows)) == {"bad", "good"}


class Cents(TransformerMixin, BaseEstimator):
    """A transformer of one's own: every column times 100."""

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        return X * 100


def read_cents(transformer, inputs):
    return inputs.then(Step("multiply", 100.0), by="Cents")


def test_a_transformer_of_ones_own():
    register_transformer("tests.Cents", read_cents)
    model = make_pipeline(StandardScaler(), Cents(), LogisticRegression()).fit(TABLE[NUMBERS], TWO)
    form = read(model, SCHEMA)
    rows = random_rows(SCHEMA, 100)
    np.testing.assert_allclose(form.score(rows)[:, 0], model.decision_function(SCHEMA.decode(rows)[NUMBERS]))
    encoded = read(model[-1], SCHEMA, encoder=model[:-1])
    assert encoded == form


# -- lookup -----------------------------------------------------------------------------------------------------------------


class Renamed(Scorecard):
    """A subclass."""


def test_subclasses_are_found_by_their_nearest_base():
    register("tests.Scorecard", SCORECARD)
    assert reader_of(Renamed()) is SCORECARD
    nearer = Reader(read_scorecard, SCORECARD.score)
    register("tests.predictor.test_registry.Renamed", nearer)  # the modules between do not matter
    assert reader_of(Renamed()) is nearer
    assert reader_of(Scorecard()) is SCORECARD


def test_subclasses_of_a_framework_are_read():
    class Mine(RidgeClassifier):
        pass

    model = Mine().fit(TABLE[NUMBERS], TWO)
    assert read(model, SCHEMA).classes == ("bad", "good")


def test_the_newest_registration_wins():
    register("tests.Scorecard", Reader(read_scorecard, lambda model, X: 1 / 0))
    register("tests.Scorecard", SCORECARD)
    assert reader_of(Scorecard()) is SCORECARD
    register_transformer("sklearn.StandardScaler", read_cents)
    assert transformer_reader_of(StandardScaler()) is read_cents


@pytest.mark.slow
def test_ones_own_reader_wins_over_ours_that_come_later():
    """Ours are imported when a model of their framework turns up, perhaps after the user's was registered."""
    code = """
from likely.predictor import Reader, register, register_transformer
from likely.predictor.registry import reader_of, transformer_reader_of
mine = Reader(None, None)
register("sklearn.LogisticRegression", mine)
register_transformer("sklearn.StandardScaler", mine)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler
assert reader_of(LogisticRegression()) is mine
assert transformer_reader_of(StandardScaler()) is mine
assert reader_of(Ridge()) is not mine
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_no_framework_is_imported_before_its_models_are():
    code = """
import sys, likely.predictor
loaded = {"sklearn", "torch", "onnx", "xgboost", "lightgbm"} & set(sys.modules)
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-c", code], check=True)


# -- what has no reader -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (KNeighborsClassifier(), "it compares a row with every training row; train a model that can be read on what it predicts"),
        (IsolationForest(), "the page 'What is read' of the documentation lists the models of sklearn; teach it with"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_models_without_a_reader(model, reason):
    """The reason and the way out, and no list of names."""
    name = type(model).__name__
    with pytest.raises(UnsupportedModelError) as caught:
        read(model, SCHEMA)
    told = str(caught.value)
    assert told.startswith(f"A model must be of a class that likely can read; got sklearn.{name}. Hint: {reason}")
    assert len(told) < 300
    with pytest.raises(UnsupportedModelError, match=f"got sklearn.{name}"):
        read(make_pipeline(StandardScaler(), model), SCHEMA)


@pytest.mark.parametrize(
    ("model", "name"), [(object(), "object"), (lambda X: X, "function"), ({}, "dict")], ids=["object", "function", "dict"]
)
def test_things_of_no_framework(model, name):
    with pytest.raises(UnsupportedModelError) as caught:
        read(model, SCHEMA)
    told = str(caught.value)
    assert f"A model must be of a class that likely can read; got builtins.{name}." in told
    assert (
        "Hint: there are readers for catboost, category_encoders, interpret, keras, lightgbm, onnx, sklearn, torch, xgboost;"
        in told
    )


def test_a_class_instead_of_a_model():
    with pytest.raises(UnsupportedModelError, match="A model must be a fitted object; got the class LogisticRegression itself"):
        read(LogisticRegression, SCHEMA)
    with pytest.raises(UnsupportedModelError, match="A transformer must be a fitted object; got the class StandardScaler itself"):
        read(LogisticRegression(), SCHEMA, encoder=StandardScaler)


@pytest.mark.parametrize("name", ["MyModel", "", "package.", ".MyModel"])
def test_names_without_a_package(name):
    for verb in (register, register_transformer):
        with pytest.raises(
            PredictorError, match=r"The name of a class must be 'package.Class'; got .* write 'mypackage.MyModel'"
        ):
            verb(name, None)
