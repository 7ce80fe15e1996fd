"""Explainers in MLflow: a store of files in a folder, no network, no pickle."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import likely
from likely.errors import ExplainerError, PredictorError, SchemaError
from tests.explain import examples

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
mlflow: Any = pytest.importorskip("mlflow")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A tracking store and a registry in a folder."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    place = (tmp_path / "store").as_uri()
    before = mlflow.get_tracking_uri(), mlflow.get_registry_uri()
    mlflow.set_tracking_uri(place)
    mlflow.set_registry_uri(place)
    yield tmp_path
    mlflow.set_tracking_uri(before[0])
    mlflow.set_registry_uri(before[1])


def test_an_explainer_is_logged_registered_and_loaded(store: Path) -> None:
    explainer, rows = examples.explainer_of(), examples.rejected(4)
    with mlflow.start_run():
        logged = likely.mlflow.log_explainer(
            explainer, question=likely.Question(k=1, locked=["age"]), model_uri="models:/credit/1", registered_model_name="why"
        )
    again = likely.mlflow.load_explainer("models:/why/1")
    assert again.explain_many(rows) == explainer.explain_many(rows)
    with_model = likely.mlflow.load_explainer(logged.model_uri, model=examples.model_of())
    assert with_model.explain(rows.iloc[0]) == explainer.explain(rows.iloc[0])
    described = mlflow.models.Model.load("models:/why/1")
    assert described.flavors["likely"]["model_uri"] == "models:/credit/1"


def test_pyfunc_gives_a_table_of_answers(store: Path) -> None:
    explainer, rows = examples.explainer_of(), examples.rejected(3)
    likely.mlflow.save_model(explainer, store / "saved", question=likely.Question(locked=["age"]))
    table = mlflow.pyfunc.load_model(str(store / "saved")).predict(rows)
    expected = explainer.explain_many(rows, locked=["age"])
    assert list(table.index) == list(rows.index)
    assert list(table["status"]) == [answer.status for answer in expected]
    assert list(table["cost"]) == [answer.best.cost for answer in expected]
    assert list(table["sentence"]) == [answer.best.sentence for answer in expected]
    new = table[[f"new {name}" for name in rows.columns]].set_axis(rows.columns, axis=1).astype(rows.dtypes.to_dict())
    assert set(examples.model_of().predict(new)) == {"yes"}
    strange = rows.assign(housing="houseboat")
    refused = mlflow.pyfunc.load_model(str(store / "saved")).predict(strange)
    assert set(refused["status"]) == {"refused"}
    assert refused["sentence"].str.contains("houseboat").all()


def test_there_is_no_pickle_in_what_is_logged(store: Path) -> None:
    likely.mlflow.save_model(examples.explainer_of(), store / "saved")
    files = {file.relative_to(store / "saved").as_posix() for file in (store / "saved").rglob("*") if file.is_file()}
    own = {f"explainer/{name}" for name in ("explainer.json", "schema.json", "circuit.json", "training.npz")}
    assert files == {*own, "form.json", "MLmodel", "requirements.txt", "python_env.yaml"}
    assert json.loads((store / "saved" / "form.json").read_text())["form"] == "linear"


def test_the_file_of_a_model_is_logged_with_it(store: Path) -> None:
    lightgbm: Any = pytest.importorskip("lightgbm")
    X, y = examples.table_of()
    numbers = X.drop(columns=["housing", "telephone"])
    model = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(numbers, y == "yes")
    model.booster_.save_model(store / "model.txt")
    explainer = likely.Explainer(store / "model.txt", classes=["no", "yes"], nodes=10, progress=False).fit(numbers, y)
    likely.mlflow.save_model(explainer, store / "saved")
    (store / "model.txt").unlink()
    again = likely.mlflow.load_explainer(store / "saved")
    row = numbers[explainer.form_.predict(explainer.schema_.encode(numbers)) == "no"].iloc[0]
    assert again.explain(row) == explainer.explain(row)
    assert Path(again.model).name == "model.txt"
    assert "likely[lightgbm]" in (store / "saved" / "requirements.txt").read_text()


def test_what_is_refused(store: Path) -> None:
    explainer = examples.explainer_of()
    likely.mlflow.save_model(explainer, store / "saved")
    with pytest.raises(ExplainerError, match=r"The folder of a model must not be there yet"):
        likely.mlflow.save_model(explainer, store / "saved")
    with pytest.raises(SchemaError, match=r"got 'agee'"):
        likely.mlflow.save_model(explainer, store / "other", question=likely.Question(locked=["agee"]))
    (store / "empty").mkdir()
    with pytest.raises(ExplainerError, match=r"A logged explainer must be one that log_explainer wrote"):
        likely.mlflow.load_explainer(store / "empty")
    other = examples.pipeline(examples.LogisticRegression(C=0.01)).fit(*examples.table_of())
    with pytest.raises(PredictorError, match=r"computes something else"):
        likely.mlflow.load_explainer(store / "saved", model=other)
    with pytest.raises(ExplainerError, match=r"have no parameters; got k"):
        likely.mlflow._load_pyfunc(str(store / "saved")).predict(examples.rejected(1), {"k": 3})
