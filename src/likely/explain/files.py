"""A fitted explainer in a folder, without pickle: JSON, an .npz of plain arrays, and the model by reference."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from likely._files import read_text, replacing, write_text
from likely.circuit import Circuit
from likely.errors import ExplainerError, PredictorError
from likely.explain.fitted import Fitted
from likely.explain.model import user_model
from likely.explain.training import Training
from likely.schema import Schema
from likely.schema.values import plain

VERSION = 4
#: version -> the names that settings have now, where they had others
_RENAMED = {1: {"seed": "random_state"}, 2: {}, 3: {}}
_MAIN, _SCHEMA, _CIRCUIT, _TRAINING = "explainer.json", "schema.json", "circuit.json", "training.npz"


def save(folder: str | Path, fitted: Fitted, model: Any, settings: Mapping[str, Any]) -> None:
    """Write everything but the model, of which the path (if it is a file), the class and a fingerprint are kept."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    reference = {
        "path": str(Path(model).resolve()) if isinstance(model, (str, Path)) else None,
        "class": f"{type(fitted.user_model.model).__module__}.{type(fitted.user_model.model).__qualname__}",
        "fingerprint": fitted.evidence.model,
        "classes": list(fitted.form.classes),
    }
    data = {"version": VERSION, "settings": dict(settings), "model": reference, "versions": dict(fitted.evidence.versions)}
    write_text(place / _SCHEMA, fitted.schema.to_json())
    write_text(place / _CIRCUIT, fitted.circuit.to_json())
    with replacing(place / _TRAINING) as file:
        np.savez_compressed(file, **fitted.training.to_arrays())  # type: ignore[arg-type]
    write_text(place / _MAIN, json.dumps(data, ensure_ascii=False, indent=1))  # last: with it, the folder is whole


def load(folder: str | Path, model: Any = None, encoder: Any = None) -> tuple[Fitted, Any, dict[str, Any]]:
    """What `save` wrote, with the model beside it: the fitted value, the model or its path, the settings."""
    place = Path(folder)
    data = _read_main(place)
    reference = data["model"]
    model = reference["path"] if model is None else model
    if model is None:
        raise ExplainerError(
            f"The explainer in {place.name!r}", f"be loaded with its model, a {reference['class']}", "none",
            "write Explainer.load(folder, model)",
        )  # fmt: skip
    schema = Schema.from_json(read_text(place / _SCHEMA))
    circuit = Circuit.from_json(read_text(place / _CIRCUIT))
    with np.load(place / _TRAINING, allow_pickle=False) as arrays:
        training = Training.from_arrays({name: arrays[name] for name in arrays.files})
    asked = user_model(model, schema, encoder=encoder, classes=[plain(label) for label in reference["classes"]])
    if asked.fingerprint != reference["fingerprint"]:
        raise PredictorError(
            "The model of a saved explainer", f"be the one it was fitted with ({reference['class']})",
            f"a {type(asked.model).__name__} that computes something else", "fit a new Explainer with this model",
        )  # fmt: skip
    names = _RENAMED.get(data["version"], {})
    settings = {names.get(name, name): value for name, value in data["settings"].items()}
    return Fitted(schema, asked, circuit, training), model, settings


def _read_main(place: Path) -> dict[str, Any]:
    missing = [name for name in (_MAIN, _SCHEMA, _CIRCUIT, _TRAINING) if not (place / name).is_file()]
    if missing:
        raise ExplainerError(
            "A saved explainer", "be a folder that Explainer.save wrote", f"{place} without {missing[0]}", "check the path"
        )
    try:
        data: dict[str, Any] = json.loads(read_text(place / _MAIN))
    except ValueError as error:
        raise ExplainerError("A saved explainer", "be JSON", error, "save it again") from None
    version = data.get("version")
    if version not in (*_RENAMED, VERSION):
        raise ExplainerError("The version of a saved explainer", f"be {VERSION} or less", repr(version), "save it again")
    return data
