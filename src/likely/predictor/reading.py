"""`read`: the user's own model -> its neutral form, checked against the model before it is returned."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from likely.errors import LikelyError, PredictorError
from likely.predictor.encoding import encoded
from likely.predictor.forms import Form
from likely.predictor.links import Link
from likely.predictor.registry import Reader, reader_of, transformer_reader_of
from likely.predictor.tables import as_fitted, knows_none
from likely.predictor.wires import ModelInputs
from likely.schema import Schema
from likely.schema.features import Feature
from likely.schema.grid import snap
from likely.schema.values import Numbers, is_code

#: How many random rows a form is checked on.
_PROBES = 200
#: Dtypes that hold fewer numbers than a double.
_PRECISIONS = {"float16": np.float16, "float32": np.float32}
#: How far a form and a model that works in float32 may be apart.
_TOLERANCE = 1e-4


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

    Args:
        model: A fitted scikit-learn estimator or Pipeline, a torch module, an ONNX, XGBoost, LightGBM or CatBoost model, or
            the path of an `.onnx`, XGBoost `.json` / `.ubj`, LightGBM `.txt` or CatBoost `.cbm` file.
        schema: The columns that the model, or its encoder, is given.
        encoder: Where the model reads encoded inputs, the fitted transformer that makes them, or a list of `Raw`,
            `Scaled`, `Indicator`, `Rank`.
        classes: The labels of a model that does not know them, in the order of its outputs.
        link: What replaces the model's last step ("identity" makes a network a regressor).
        check: Whether to compare the form with the model on random rows of the schema, and to refuse it if they differ.
    """
    if isinstance(model, (str, Path)):
        model = load_file(Path(model))
    if not isinstance(schema, Schema):
        raise PredictorError("A schema", "be a likely.Schema", type(schema).__name__, "use Schema.infer(X)")
    reader = reader_of(model)
    form = _with_link(reader.read(model, inputs_of(model, schema, encoder)), link, classes)
    if check:
        rows = random_rows(schema, _PROBES)
        _refuse_difference(form, rows, _asked(reader, model, schema, rows, encoder), model)
    return form


def _with_link(form: Form, link: Link | str | None, classes: Sequence[Any] | None) -> Form:
    """The form with another last step, or other names of its classes."""
    link = form.link if link is None else Link(link) if isinstance(link, str) else link
    labels = form.classes if classes is None else tuple(classes)
    return replace(form, link=link, classes=labels if link.classifies or classes is not None else ())


def load_file(path: Path) -> Any:
    """The model in a file, by the ending of its name."""
    if not path.is_file():
        raise PredictorError("A model file", "exist", str(path), "check the path")
    kind = path.suffix.lower()
    if kind == ".onnx":
        from likely.predictor.onnx import load
    elif kind in (".json", ".ubj"):
        from likely.predictor.xgboost import load
    elif kind == ".txt":
        from likely.predictor.lightgbm import load
    elif kind == ".cbm":
        from likely.predictor.catboost import load
    else:
        raise PredictorError(
            "A model file", "end in .onnx, .json, .ubj, .txt or .cbm", path.name, "load it yourself and pass the object"
        )
    return load(path)


def inputs_of(model: Any, schema: Schema, encoder: Any = None) -> ModelInputs:
    """The inputs of a model: the schema's own columns, or what the encoder makes of them."""
    if encoder is None:
        return ModelInputs.raw(schema, none=knows_none(model))
    if isinstance(encoder, (list, tuple)):
        return encoded(schema, encoder)
    return transformer_reader_of(encoder)(encoder, ModelInputs.raw(schema, none=knows_none(encoder)))


def feed(schema: Schema, rows: Numbers, encoder: Any = None) -> Any:
    """Rows as the model takes them: a DataFrame of the user's columns, or what the encoder makes of it."""
    if isinstance(encoder, (list, tuple)):
        return encoded(schema, encoder).read(rows, "the model")
    frame = schema.decode(rows)
    if encoder is None:
        return frame
    return encoder.transform(as_fitted(encoder, frame))


def random_rows(schema: Schema, count: int, random_state: int = 0) -> Numbers:
    """Random rows of the schema, uniform per feature, as the features' dtypes hold them."""
    random = np.random.default_rng(random_state)
    return np.stack([_random_values(feature, count, random) for feature in schema.features], axis=1)


def _random_values(feature: Feature, count: int, random: np.random.Generator) -> Numbers:
    atoms = np.array([feature.atom_number(k) for k in range(len(feature.atoms))])
    if not feature.numeric:
        return random.choice(atoms, size=count)
    numbers = _random_numbers(feature, count, random)
    if atoms.size:
        return np.where(random.random(count) < 0.2, random.choice(atoms, size=count), numbers)
    return numbers


def _random_numbers(feature: Feature, count: int, random: np.random.Generator) -> Numbers:
    """Numbers within the bounds, on the grid, as the dtype holds them."""
    numbers = random.uniform(feature.lower, feature.upper, size=count)
    if feature.grid:
        first, last = np.ceil(feature.lower / feature.grid - 1e-9), np.floor(feature.upper / feature.grid + 1e-9)
        ends = snap(np.array([first, last]) * feature.grid, feature.grid)
        numbers = np.clip(np.clip(snap(numbers, feature.grid), *ends), feature.lower, feature.upper)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        held = feature.encode(feature.decode(numbers))
    precision = _PRECISIONS.get(feature.dtype.lower())
    if precision is None:
        return held
    # A rounded number may lie just outside the bounds: its neighbour is the nearest one within.
    low, high = (held < feature.lower) & ~is_code(held), held > feature.upper
    within = np.nextafter(np.where(low | high, held, 0.0).astype(precision), np.where(low, np.inf, -np.inf).astype(precision))
    return np.where(low | high, within.astype(np.float64), held)


def _asked(reader: Reader, model: Any, schema: Schema, rows: Numbers, encoder: Any) -> Numbers:
    """What the model itself says of rows; an error of its own means that it was not made for such rows."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(reader.score(model, feed(schema, rows, encoder)), dtype=np.float64)
    except LikelyError:
        raise
    except Exception as error:
        raise PredictorError(
            f"A {type(model).__name__}", "score rows of the schema", f"{type(error).__name__}: {str(error).rstrip('.')}",
            "give the schema the columns, dtypes and values of the table that the model was trained on",
        ) from error  # fmt: skip


def _refuse_difference(form: Form, rows: Numbers, says: Numbers, model: Any) -> None:
    """Refuse a form whose scores are not those of the model."""
    by = type(model).__name__
    scores = form.score(rows)
    says = says.reshape(len(rows), -1)
    if says.shape != scores.shape:
        hint = "let the reader's score give what its form scores"
        raise PredictorError(f"The scores of a {by}", f"be {scores.shape[1]} per row", says.shape[1], hint)
    astray = ~np.isclose(scores, says, rtol=_TOLERANCE, atol=_TOLERANCE)
    if astray.any():
        r, k = np.argwhere(astray)[0]
        raise PredictorError(
            f"What was read from a {by}", "score every row as the model does",
            f"{scores[r, k]:.6g} where the model says {says[r, k]:.6g}",
            "the model does something that its reader does not know; pass check=False only if you know what",
        )  # fmt: skip
