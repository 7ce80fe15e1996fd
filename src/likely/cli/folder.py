"""A fitted explainer in a folder, and the user's model beside it."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pandas as pd

from likely._files import read_text, write_text
from likely.errors import ExplainerError
from likely.explain import Explainer
from likely.explain.named import PICKLES, load_encoder, load_model
from likely.schema import Schema
from likely.schema.files import read_table

#: What only the command line needs: from which files the explainer was made.
_SOURCE = "source.json"
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


def save_explainer(explainer: Explainer, folder: str, *, data: str, target: str, model: str) -> None:
    """Write an explainer, and where its files are."""
    explainer.save(folder)
    source = {"data": str(Path(data).resolve()), "target": target, "model": model}
    write_text(Path(folder) / _SOURCE, json.dumps(source, ensure_ascii=False, indent=1))


def open_explainer(options: argparse.Namespace) -> Explainer:
    """The explainer in the folder that the user named; its model is read again, but a pickle must be named."""
    refuse_unnamed(options)
    return Explainer.load(options.explainer, load_model(options.model), encoder=load_encoder(options.encoder))


def refuse_unnamed(options: argparse.Namespace) -> None:
    """Refuse to load a pickle that only the folder names."""
    named = source_of(options.explainer).get("model", "")
    if options.model is None and Path(named).suffix.lower() in PICKLES:
        raise ExplainerError(
            f"The model of {options.explainer}", "be named, because a pickle may run any code", "no --model", f"--model {named}"
        )


def source_of(folder: str) -> dict[str, str]:
    """From which files an explainer was made; nothing if it was saved from Python."""
    file = Path(folder) / _SOURCE
    try:
        source: dict[str, str] = json.loads(read_text(file)) if file.is_file() else {}
    except ValueError as error:
        raise ExplainerError("The source of a saved explainer", "be JSON", error, f"remove {file}") from None
    return source


def data_of(options: argparse.Namespace) -> str:
    """The data file that the user named, or the one that the explainer was fitted on."""
    data: str | None = options.data or source_of(options.explainer).get("data")
    if data is None:
        raise ExplainerError("The rows to explain", "be in a file", "none", "name it with --data")
    return data


def rows_of(options: argparse.Namespace, schema: Schema) -> pd.DataFrame:
    """The rows of that file."""
    return read_table(data_of(options), schema)
