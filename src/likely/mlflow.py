"""Explainers in MLflow: `log_explainer` and `load_explainer`, and a flavour that `mlflow.pyfunc` loads and serves. No pickle.

What is logged is the folder that `Explainer.save` writes, and with it what the model computes, as the plain data of its form: so
it can be loaded anywhere without the model, and answers are checked against the form. If the explainer was made of a model file
(`.onnx`, XGBoost, LightGBM, CatBoost), the file is logged, too, and has the last word as always. Your own model object stays
where you logged it: `load_explainer(uri, model=mlflow.sklearn.load_model(...))` puts both together again.
"""

from __future__ import annotations

import importlib
import json
import shutil
import sys
import warnings
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from likely._files import read_text, write_text
from likely.errors import ExplainerError
from likely.explain import Explainer, Explanation, Question
from likely.explain.counterfactual import MEASURES
from likely.predictor import Form, Reader, register
from likely.predictor.forms import form_from_dict
from likely.schema import Schema
from likely.schema.values import Numbers

__all__ = ["FormModel", "load_explainer", "log_explainer", "save_model"]

FLAVOR = "likely"
#: Inside a logged model: the explainer, what its model computes, the model's own file, the question of `predict`.
_EXPLAINER, _FORM, _FILE, _QUESTION = "explainer", "form.json", "model", "question.json"
#: ending of a model's file -> the package that reads it
_PACKAGES = {".onnx": "onnx", ".json": "xgboost", ".ubj": "xgboost", ".txt": "lightgbm", ".cbm": "catboost"}


@dataclass(frozen=True, eq=False)
class FormModel:
    """A model that is nothing but what a model computes: a form over the columns of a schema."""

    form: Form
    schema: Schema

    def score(self, X: pd.DataFrame) -> Numbers:
        """The scores of a table of the schema's columns.

        Args:
            X: The rows.
        """
        return self.form.score(self.schema.encode(X))


register(f"{__name__.partition('.')[0]}.FormModel", Reader(lambda model, inputs: model.form, lambda model, X: model.score(X)))


# -- saving ------------------------------------------------------------------------------------------------------------


def log_explainer(
    explainer: Explainer,
    name: str = "explainer",
    *,
    question: Question | None = None,
    model_uri: str | None = None,
    registered_model_name: str | None = None,
    **options: Any,
) -> Any:
    """Log a fitted explainer as a model of the active run (one is begun if there is none), and maybe register it.

    Args:
        explainer: A fitted one.
        name: Of the logged model.
        question: What `predict` of the pyfunc model asks about every row; the usual question, if left out.
        model_uri: Where the explained model itself is logged, for people: `models:/credit/3`. Nothing is loaded from there.
        registered_model_name: The name under which it is registered; left out, it is not.
        options: Further arguments of `mlflow.models.Model.log`: `signature=`, `input_example=`, `metadata=`, `tags=`.
    """
    mlflow = _mlflow()
    return mlflow.models.Model.log(
        artifact_path=None, name=name, flavor=sys.modules[__name__], registered_model_name=registered_model_name,
        explainer=explainer, question=question, model_uri=model_uri, **options,
    )  # fmt: skip


def save_model(
    explainer: Explainer,
    path: str | Path,
    mlflow_model: Any = None,
    *,
    question: Question | None = None,
    model_uri: str | None = None,
    **options: Any,
) -> None:
    """Write a fitted explainer as a folder that MLflow knows as a model; `mlflow.pyfunc.load_model(path)` loads it.

    Args:
        explainer: A fitted one.
        path: A folder that is not there yet, or is empty.
        mlflow_model: MLflow's description of the model, if there is one already.
        question: What `predict` asks about every row.
        model_uri: Where the explained model itself is logged.
        options: `signature=`, `input_example=`, `metadata=`, as MLflow's flavours have them.
    """
    mlflow = _mlflow()
    place = Path(path)
    if place.exists() and any(place.iterdir()):
        raise ExplainerError("The folder of a model", "not be there yet", str(place), "choose another path")
    place.mkdir(parents=True, exist_ok=True)
    described = mlflow_model or mlflow.models.Model()
    for part in ("signature", "metadata"):
        if options.get(part) is not None:
            setattr(described, part, options[part])
    explainer.save(place / _EXPLAINER)
    file = _write_model(explainer, place)
    if question is not None:
        question.refuse_strangers(explainer.schema_)
        write_text(place / _QUESTION, json.dumps(question.to_dict(), ensure_ascii=False, allow_nan=False))
    _write_environment(place, file)
    mlflow.pyfunc.add_to_model(described, loader_module=__name__, python_env="python_env.yaml")
    own = {"likely_version": version("likely"), "explainer": _EXPLAINER, "model_file": file, "model_uri": model_uri}
    described.add_flavor(FLAVOR, **{key: value for key, value in own.items() if value is not None})
    described.save(str(place / "MLmodel"))


def _write_model(explainer: Explainer, place: Path) -> str | None:
    """What the model computes; and the model's own file, if it is one and reads the table as it is: its name."""
    write_text(place / _FORM, json.dumps(explainer.form_.to_dict(), ensure_ascii=False, allow_nan=False))
    if not isinstance(explainer.model, (str, Path)) or explainer.encoder is not None:
        return None
    source = Path(explainer.model)
    (place / _FILE).mkdir()
    shutil.copyfile(source, place / _FILE / source.name)
    return f"{_FILE}/{source.name}"


def _write_environment(place: Path, file: str | None) -> None:
    """What is needed to load it, as MLflow reads it."""
    packages = ["likely", *([] if file is None else [_PACKAGES[Path(file).suffix.lower()]])]
    lines = [f"likely=={version('likely')}", *(f"likely[{extra}]" for extra in packages[1:])]
    python = ".".join(map(str, sys.version_info[:3]))
    write_text(place / "requirements.txt", "\n".join(lines) + "\n")
    write_text(place / "python_env.yaml", f"python: {python}\nbuild_dependencies: [pip]\ndependencies: [-r requirements.txt]\n")


# -- loading -----------------------------------------------------------------------------------------------------------


def load_explainer(uri: str | Path, model: Any = None, *, encoder: Any = None) -> Explainer:
    """The explainer that was logged, ready to explain.

    Args:
        uri: `models:/credit-explainer/3`, `runs:/<id>/explainer`, or the path of a folder.
        model: The model that was explained, if it is to have the last word; another one is refused. Left out, the file that was
            logged with it, or what the model computes.
        encoder: The explainer's encoder, if it had one and the model is given.
    """
    place = Path(uri)
    if not place.is_dir():
        place = Path(_mlflow().artifacts.download_artifacts(artifact_uri=str(uri)))
    return _loaded(place, model, encoder)


def _loaded(place: Path, model: Any = None, encoder: Any = None) -> Explainer:
    folder = place / _EXPLAINER
    if not (place / _FORM).is_file() or not folder.is_dir():
        raise ExplainerError("A logged explainer", "be one that log_explainer wrote", str(place), "check the URI")
    if model is None:
        files = sorted((place / _FILE).iterdir()) if (place / _FILE).is_dir() else []
        model = files[0] if files else _form_model(place)
    return Explainer.load(folder, model, encoder=encoder)


def _form_model(place: Path) -> FormModel:
    schema = Schema.from_json(read_text(place / _EXPLAINER / "schema.json"))
    return FormModel(form_from_dict(json.loads(read_text(place / _FORM))), schema)


# -- pyfunc ------------------------------------------------------------------------------------------------------------


class _Predicts:
    """What `mlflow.pyfunc` calls: a table of rows to a table of answers."""

    def __init__(self, explainer: Explainer, question: Question) -> None:
        self.explainer, self.question = explainer, question

    def predict(self, model_input: pd.DataFrame, params: dict[str, Any] | None = None) -> pd.DataFrame:
        """A line per row: status, what is proved, the numbers of the best answer, a sentence, and the new values.

        Args:
            model_input: Rows with the explainer's columns.
            params: None are known; the question is the one that was logged.
        """
        if params:
            rule, hint = "have no parameters", "log the explainer with question="
            raise ExplainerError("A prediction of answers", rule, ", ".join(params), hint)
        answers = self.explainer.explain_many(model_input, self.question)
        return pd.DataFrame([_line(answer) for answer in answers], index=model_input.index, columns=self._columns())

    def _columns(self) -> list[str]:
        names = [f"new {name}" for name in self.explainer.schema_.names]
        return ["status", "lower_bound", "decided", "label", *MEASURES, "sentence", *names]


def _line(explanation: Explanation) -> dict[str, Any]:
    query = explanation.query
    line: dict[str, Any] = {"status": explanation.status, "lower_bound": explanation.bounds.lower, "decided": query.label}
    if not explanation:
        return {**line, "sentence": explanation.reason or None}
    best = explanation.best
    new = {f"new {name}": value for name, value in zip(query.schema.names, best.values, strict=True)}
    numbers = {name: getattr(best, name) for name in MEASURES}
    return {**line, "label": best.label, **numbers, "sentence": best.sentence, **new}


def _load_pyfunc(path: str) -> _Predicts:
    """What MLflow calls to load the flavour.

    Args:
        path: The folder of the model.
    """
    place = Path(path)
    asked = Question()
    if (place / _QUESTION).is_file():
        asked = Question.from_dict(json.loads(read_text(place / _QUESTION)))
    explainer = _loaded(place)
    explainer.set_params(progress=False)
    return _Predicts(explainer, asked)


def _mlflow() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what it deprecates in itself is not ours
            importlib.import_module("mlflow.pyfunc")
            importlib.import_module("mlflow.artifacts")
            import mlflow
    except ImportError as error:
        raise ExplainerError("MLflow", "be installed", error, 'pip install "likely[mlflow]"') from None
    return mlflow
