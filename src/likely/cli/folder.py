"""A fitted explainer in a folder, and the user's model beside it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pandas as pd

from likely._files import read_text, write_text
from likely.errors import ExplainerError, PredictorError
from likely.explain import Explainer
from likely.schema import Schema
from likely.schema.files import read_table

#: What only the command line needs: from which files the explainer was made.
_SOURCE = "source.json"
PICKLES = (".joblib", ".pkl", ".pickle")
PICKLE_WARNING = "a pickle may run any code when it is loaded: name only files that you trust"


def add_model(parser: argparse.ArgumentParser, *, required: bool = False, when: str = "") -> None:
    """The options that name the user's model."""
    parser.add_argument(
        "--model", metavar="FILE", required=required,
        help=f"the fitted model: .onnx, XGBoost .json or .ubj, LightGBM .txt; or .joblib, .pkl ({PICKLE_WARNING}){when}",
    )  # fmt: skip
    parser.add_argument(
        "--encoder", metavar="FILE.joblib", help="the fitted transformer that makes the model's inputs, if it reads encoded ones"
    )


def load_model(path: str | None) -> Any:
    """The model that the user named: a pickle as the object in it, any other file as its path, which is read later."""
    if path is None or Path(path).suffix.lower() not in PICKLES:
        return path
    return _unpickled(path, "A model file")


def load_encoder(path: str | None) -> Any:
    """The transformer that the user named; None if there is none."""
    return None if path is None else _unpickled(path, "An encoder file")


def _unpickled(path: str, thing: str) -> Any:
    import joblib

    if not Path(path).is_file():
        raise PredictorError(thing, "exist", path, "check the path")
    try:
        return joblib.load(path)
    except Exception as error:
        got = f"{type(error).__name__}: {' '.join(str(error).split()).rstrip('.')}"
        raise PredictorError(thing, "be one that joblib can load here", got, "install what it was made with") from error


def save_explainer(explainer: Explainer, folder: str, *, data: str, target: str, model: str) -> None:
    """Write an explainer, and where its files are."""
    explainer.save(folder)
    source = {"data": str(Path(data).resolve()), "target": target, "model": model}
    write_text(Path(folder) / _SOURCE, json.dumps(source, ensure_ascii=False, indent=1))


def open_explainer(options: argparse.Namespace) -> Explainer:
    """The explainer in the folder that the user named; its model is read again, but a pickle must be named."""
    named = source_of(options.explainer).get("model", "")
    if options.model is None and Path(named).suffix.lower() in PICKLES:
        raise ExplainerError(
            f"The model of {options.explainer}", "be named, because a pickle may run any code", "no --model", f"--model {named}"
        )
    return Explainer.load(options.explainer, load_model(options.model), encoder=load_encoder(options.encoder))


def source_of(folder: str) -> dict[str, str]:
    """From which files an explainer was made; nothing if it was saved from Python."""
    file = Path(folder) / _SOURCE
    try:
        source: dict[str, str] = json.loads(read_text(file)) if file.is_file() else {}
    except ValueError as error:
        raise ExplainerError("The source of a saved explainer", "be JSON", error, f"remove {file}") from None
    return source


def rows_of(options: argparse.Namespace, schema: Schema) -> pd.DataFrame:
    """The rows of the data file that the user named, or of the one that the explainer was fitted on."""
    data = options.data or source_of(options.explainer).get("data")
    if data is None:
        raise ExplainerError("The rows to explain", "be in a file", "none", "name it with --data")
    return read_table(data, schema)
