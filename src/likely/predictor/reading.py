"""`read`: the user's own model -> its neutral form, checked against the model before it is returned."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from likely.errors import PredictorError
from likely.predictor.encoding import Encoding, encoded
from likely.predictor.forms import Form
from likely.predictor.links import Link
from likely.predictor.registry import reader_of, transformer_reader_of
from likely.predictor.wires import Inputs
from likely.schema import Schema
from likely.schema.features import Feature
from likely.schema.values import Numbers, is_code

_PROBES = 200


def read(
    model: Any,
    schema: Schema,
    *,
    encoder: Any = None,
    classes: Sequence[Any] | None = None,
    link: Link | str | None = None,
    check: bool = True,
) -> Form:
    """What a model computes, as a form over the schema's own columns.

    `model` is a fitted scikit-learn estimator or Pipeline, a torch `Sequential`, an ONNX model, an XGBoost or LightGBM
    model, or the path of an `.onnx`, XGBoost `.json` / `.ubj` or LightGBM `.txt` file. Where the model reads encoded
    inputs, `encoder` is the fitted transformer that makes them, or a list of `Raw`, `Scaled`, `Indicator`, `Rank`.
    `classes` names the classes of a model that does not know its labels, in the order of its outputs; `link` replaces
    the model's last step ("identity" makes a network a regressor). With `check`, the form is compared with the model
    on random rows of the schema, and refused if they differ.
    """
    if isinstance(model, (str, Path)):
        model = _load(Path(model))
    if not isinstance(schema, Schema):
        raise PredictorError("A schema", "be a likely.Schema", type(schema).__name__, "use Schema.infer(X)")
    reader = reader_of(model)
    form = reader.read(model, _inputs(schema, encoder))
    if link is not None:
        link = Link(link) if isinstance(link, str) else link
        form = replace(form, link=link, classes=tuple(classes or ()) if link.classifies else ())
    elif classes is not None:
        form = replace(form, classes=tuple(classes))
    if check:
        rows = random_rows(schema, _PROBES)
        _refuse_difference(form, rows, reader.score(model, feed(schema, rows, encoder)), model)
    return form


def _load(path: Path) -> Any:
    if not path.is_file():
        raise PredictorError("A model file", "exist", str(path), "check the path")
    if path.suffix == ".onnx":
        from likely.predictor.onnx import load
    elif path.suffix in (".json", ".ubj"):
        from likely.predictor.xgboost import load
    elif path.suffix == ".txt":
        from likely.predictor.lightgbm import load
    else:
        raise PredictorError("A model file", "be .onnx, .json, .ubj or .txt", path.name, "load it yourself and pass the object")
    return load(path)


def _inputs(schema: Schema, encoder: Any) -> Inputs:
    if encoder is None:
        return Inputs.raw(schema)
    if isinstance(encoder, (list, tuple)):
        return encoded(schema, encoder)
    return transformer_reader_of(encoder)(encoder, Inputs.raw(schema))


def feed(schema: Schema, rows: Numbers, encoder: Any = None) -> Any:
    """Rows as the model takes them: a DataFrame of the user's columns, or what the encoder makes of it."""
    frame = schema.decode(rows)
    if encoder is None:
        return frame
    if isinstance(encoder, (list, tuple)):
        return _encode_rows(schema, rows, encoder)
    made = encoder.transform(frame if hasattr(encoder, "feature_names_in_") else frame.to_numpy())
    return made.toarray() if hasattr(made, "toarray") else made


def _encode_rows(schema: Schema, rows: Numbers, encodings: Sequence[Encoding]) -> Numbers:
    """The model's inputs for a list of encodings, each wire applied as it stands."""
    inputs = encoded(schema, encodings)
    out = np.empty((len(rows), len(inputs)))
    for c, wire in enumerate(inputs.wires):
        numbers = rows[:, wire.feature]
        atoms = np.array([*wire.numbers("the encoder"), np.nan])
        coded = is_code(numbers) if wire.numeric else np.ones(len(rows), dtype=bool)
        places = (-numbers / 2.0**1000 - 1 if wire.numeric else numbers)[coded].round().astype(int)
        out[coded, c] = atoms[places]
        out[~coded, c] = wire.apply(numbers[~coded])
    return out


def random_rows(schema: Schema, count: int, seed: int = 0) -> Numbers:
    """Random rows of the schema, uniform per feature, rounded as the feature's dtype holds them."""
    random = np.random.default_rng(seed)
    rows = np.stack([_random_values(feature, count, random) for feature in schema.features], axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return schema.encode(schema.decode(rows))


def _random_values(feature: Feature, count: int, random: np.random.Generator) -> Numbers:
    atoms = np.array([feature.atom_number(k) for k in range(len(feature.atoms))])
    if not feature.numeric:
        return random.choice(atoms, size=count)
    low, high, grid = (getattr(feature, name) for name in ("lower", "upper", "grid"))
    numbers = random.uniform(low, high, size=count)
    if grid:
        from likely.schema.features import snap

        numbers = np.clip(snap(numbers, grid), np.ceil(low / grid - 1e-9) * grid, np.floor(high / grid + 1e-9) * grid)
    if atoms.size:
        numbers = np.where(random.random(count) < 0.2, random.choice(atoms, size=count), numbers)
    return numbers


def _refuse_difference(form: Form, rows: Numbers, says: Numbers, model: Any) -> None:
    by = type(model).__name__
    scores = form.score(rows)
    says = np.asarray(says, dtype=np.float64).reshape(len(rows), -1)
    if says.shape != scores.shape:
        raise PredictorError(f"The scores of a {by}", f"be {scores.shape[1]} per row", says.shape[1], "report the model's class to us")
    tolerance = 1e-4 * np.maximum(1.0, np.abs(says))
    astray = np.abs(scores - says) > tolerance
    if astray.any():
        r, k = np.argwhere(astray)[0]
        raise PredictorError(
            f"The form of a {by}", "score as the model does", f"{scores[r, k]:.6g} where the model says {says[r, k]:.6g}",
            "the model does something its reader does not know; pass check=False only if you know what",
        )  # fmt: skip
