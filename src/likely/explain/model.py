"""The user's model, and how to ask it: the last word on what a row's class is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from likely.errors import LikelyError, PredictorError, SchemaError
from likely.predictor import Form, read
from likely.predictor.reading import feed, load_file
from likely.predictor.registry import reader_of
from likely.predictor.tables import as_fitted
from likely.schema import Schema
from likely.schema.times import holds_times
from likely.schema.values import Numbers, Value, plain

#: Classes of models that know their classes, but predict scores.
_PREDICT_SCORES = ("CatBoost",)


@dataclass(frozen=True, eq=False)
class UserModel:
    """A model as its user calls it, beside the form that the engines search."""

    model: Any
    form: Form
    schema: Schema
    encoder: Any = None

    def labels(self, rows: Numbers) -> list[Value]:
        """The class of each row by the model's own `predict`, or by its own scores where it has none (torch, ONNX).

        Of a regressor, its predictions.
        """
        if not len(rows):
            return []
        if not self.form.link.classifies:
            return [float(number) for number in self.predictions(rows)]
        classes = getattr(self.model, "classes_", None)
        if classes is not None and hasattr(self.model, "predict") and type(self.model).__name__ not in _PREDICT_SCORES:
            names = [plain(label) for label in classes]
            predicted = np.asarray(self._asked(self.model.predict, rows)).reshape(len(rows))
            return [self.form.classes[names.index(plain(label))] for label in predicted]
        return [self.form.classes[k] for k in self.form.link.decide(self._scores(rows))]

    def predictions(self, rows: Numbers) -> Numbers:
        """What a regressor predicts, by its own `predict`, or by its own scores where it has none."""
        if hasattr(self.model, "predict") and hasattr(self.model, "fit"):
            return np.asarray(self._asked(self.model.predict, rows), dtype=np.float64).reshape(len(rows))
        return self.form.link.predict(self._scores(rows))

    def probabilities(self, rows: Numbers) -> Numbers | None:
        """The probability of each class by the model itself; None if it gives none."""
        if hasattr(self.model, "classes_") and hasattr(self.model, "predict_proba"):
            return np.asarray(self._asked(self.model.predict_proba, rows), dtype=np.float64)
        return self.form.link.probabilities(self._scores(rows)) if self.form.link.has_probabilities else None

    def refuse_outside(self, schema: Schema) -> None:
        """Refuse a schema in which a feature of times was widened beyond what a function in the model was read for.

        Args:
            schema: That of the model, with domains that hold one row.
        """
        for before, after in zip(self.schema.features, schema.features, strict=True):
            if before != after and holds_times(before.dtype):
                wide = user_model(self.model, schema, encoder=self.encoder, classes=self.form.classes or None)
                if wide.fingerprint != self.fingerprint:
                    raise SchemaError(
                        f"Feature {before.name!r} of a row", f"lie within {before.describe()}, for which the model was read",
                        after.describe(), "widen its bounds in the schema, and fit again", feature=before.name,
                    )  # fmt: skip

    def _scores(self, rows: Numbers) -> Numbers:
        score = reader_of(self.model).score
        scores = np.asarray(score(self.model, feed(self.schema, rows, self.encoder)), dtype=np.float64)
        return scores.reshape(len(rows), -1)

    def _asked(self, method: Any, rows: Numbers) -> Any:
        table = feed(self.schema, rows, self.encoder)
        try:
            return method(as_fitted(self.model, table) if self.encoder is None else table)
        except LikelyError:
            raise
        except Exception as error:
            got = f"{type(error).__name__}: {str(error).rstrip('.')}"
            raise PredictorError(
                f"A {type(self.model).__name__}", "predict rows of the schema", got,
                "give the schema the columns, dtypes and values of the table that the model was trained on",
            ) from error  # fmt: skip

    @cached_property
    def fingerprint(self) -> str:
        """A text that tells whether another model computes the same: a hash of its form."""
        return fingerprint(self.form.to_dict())


def user_model(model: Any, schema: Schema, *, encoder: Any = None, classes: Sequence[Any] | None = None) -> UserModel:
    """A model, or the file of one, read; refuses a classifier that knows one class only."""
    loaded = load_file(Path(model)) if isinstance(model, (str, Path)) else model
    form = read(loaded, schema, encoder=encoder, classes=classes)
    if form.link.classifies and len(form.classes) < 2:
        raise PredictorError(
            f"A model to explain ({type(loaded).__name__})", "have at least two classes", list(form.classes),
            "train it on rows of both classes",
        )  # fmt: skip
    return UserModel(loaded, form, schema, encoder)


def fingerprint(data: Any) -> str:
    """A short hash of plain data, as explanations and saved explainers have it since version 1.

    Args:
        data: What JSON can hold.
    """
    text = json.dumps(data, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]
