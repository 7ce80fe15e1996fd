"""One verb over a table of readers.

A *reader* knows one class of models. It is a pair of functions: `read(model, inputs)` gives the neutral form, and
`score(model, X)` what the model itself says of rows as it takes them, in the shape of `form.score`, so that every
form can be checked against its model. A *transformer reader* turns `ModelInputs` into what a fitted transformer makes of
them. Register your own:

    def read(model, inputs):
        by = type(model).__name__
        return LinearModel(Link("logistic"), model.labels, inputs.columns(by), model.weights, model.bias)

    likely.predictor.register("mypackage.MyModel", Reader(read, score=lambda model, X: model.logits(X)))

A class is named by its top-level package and its own name, and found for subclasses too. The readers that come with
`likely` are imported only when a model of their framework turns up.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor.coverage import LINES
from likely.predictor.forms import Form
from likely.predictor.wires import ModelInputs
from likely.schema.values import Numbers

#: Top-level package of a model's class -> our module that reads it.
_FRAMEWORKS = {
    "sklearn": "likely.predictor.sklearn",
    "torch": "likely.predictor.torch",
    "onnx": "likely.predictor.onnx",
    "xgboost": "likely.predictor.xgboost",
    "lightgbm": "likely.predictor.lightgbm",
    "interpret": "likely.predictor.interpret",
    "catboost": "likely.predictor.catboost",
    "category_encoders": "likely.predictor.category_encoders",
    "keras": "likely.predictor.keras",
}

Key: TypeAlias = tuple[str, str]


@dataclass(frozen=True)
class Reader:
    """How a class of models is read (`read`) and asked (`score`)."""

    read: Callable[[Any, ModelInputs], Form]
    score: Callable[[Any, Any], Numbers]


TransformerReader: TypeAlias = Callable[[Any, ModelInputs], ModelInputs]

_readers: dict[Key, Reader] = {}
_transformers: dict[Key, TransformerReader] = {}


def _key(name: str) -> Key:
    package, _, rest = name.partition(".")
    if not package or not rest:
        raise PredictorError("The name of a class", "be 'package.Class'", repr(name), "write 'mypackage.MyModel'")
    return package, rest.rpartition(".")[2]


def register(name: str, reader: Reader) -> None:
    """Teach `read` a class of models, named "package.Class"; the newest registration of a name wins.

    Args:
        name: The class as "package.Class"; it is known by its top-level package, and subclasses are read as well.
        reader: How a model of the class is read, and how it scores rows itself.
    """
    _readers[_key(name)] = reader


def register_transformer(name: str, reader: TransformerReader) -> None:
    """Teach pipelines and `encoder=` a class of transformers, named "package.Class".

    Args:
        name: The class as "package.Class".
        reader: From the fitted transformer and its inputs to what it makes of them.
    """
    _transformers[_key(name)] = reader


def _keys_of(thing: Any) -> list[Key]:
    """The keys of a thing's class and its bases, nearest first; the readers of their frameworks are there afterwards."""
    keys = [(_package(cls), cls.__name__) for cls in type(thing).__mro__]
    for package, _ in keys:
        if package in _FRAMEWORKS:
            registered, registered_transformers = dict(_readers), dict(_transformers)
            importlib.import_module(_FRAMEWORKS[package])
            # What a user registered before our readers came is the newer one to the user.
            _readers.update(registered)
            _transformers.update(registered_transformers)
    return keys


def _package(cls: type) -> str:
    return cls.__module__.partition(".")[0]


def reader_of(model: Any) -> Reader:
    """The reader of a model's class; an `UnsupportedModelError` says what there is."""
    for key in _keys_of(model):
        if key in _readers:
            return _readers[key]
    raise _unsupported(model, "model", "register({name!r}, Reader(read, score))")


def transformer_reader_of(transformer: Any) -> TransformerReader:
    """The reader of a transformer's class; an `UnsupportedModelError` says what there is."""
    for key in _keys_of(transformer):
        if key in _transformers:
            return _transformers[key]
    raise _unsupported(transformer, "transformer", "register_transformer({name!r}, read)")


def _unsupported(thing: Any, what: str, call: str) -> UnsupportedModelError:
    if isinstance(thing, type):
        got = f"the class {thing.__name__} itself"
        return UnsupportedModelError(f"A {what}", "be a fitted object", got, "pass an instance that was fitted")
    package = _package(type(thing))
    name = f"{package}.{type(thing).__name__}"
    line = next((LINES[key] for cls in type(thing).__mro__ if (key := f"{_package(cls)}.{cls.__name__}") in LINES), None)
    teach = f"teach it with likely.predictor.{call.format(name=name)}"
    if line is not None and line.verdict == "refused":
        return UnsupportedModelError(f"A {what}", "be of a class that likely can read", name, f"{line.words}; {line.instead}")
    known = f"the page 'What is read' of the documentation lists the {what}s of {package}"
    there_are = known if package in _FRAMEWORKS else f"there are readers for {', '.join(sorted(_FRAMEWORKS))}"
    return UnsupportedModelError(f"A {what}", "be of a class that likely can read", name, f"{there_are}; {teach}")
