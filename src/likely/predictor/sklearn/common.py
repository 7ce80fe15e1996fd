"""What every scikit-learn reader needs: the inputs an estimator was fitted on, and what it says itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from likely.errors import PredictorError
from likely.predictor.wires import FLOAT64, Inputs
from likely.schema.values import Numbers


def name_of(model: Any) -> str:
    """The class of a model, for error messages."""
    return type(model).__name__


def bind(model: Any, inputs: Inputs) -> Inputs:
    """The inputs that a fitted estimator reads, by the names it was fitted with, or else by their number."""
    by = name_of(model)
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise PredictorError(f"A {by}", "be fitted", "one that is not", "call fit first") from None
    names = getattr(model, "feature_names_in_", None)
    if inputs.untouched and names is not None:
        inputs = inputs.named(list(names), by)
    count = getattr(model, "n_features_in_", len(inputs))
    return inputs.counted(int(count), by)


def as_block(inputs: Inputs, by: str) -> Inputs:
    """The inputs as one numeric array: float32 if all of them are, else float64."""
    if all(wire.dtype == "float32" for wire in inputs.wires):
        return inputs
    return replace(inputs, wires=tuple(w.then(FLOAT64, by=by) if w.dtype == "float32" else w for w in inputs.wires))


def as_fitted(model: Any, X: Any) -> Any:
    """A table as the estimator was fitted: with column names if it knows them, else as an array."""
    names = getattr(model, "feature_names_in_", None)
    if not hasattr(X, "columns"):
        return X
    return X[list(names)] if names is not None else X.to_numpy()


def decision(model: Any, X: Any) -> Numbers:
    """What the model's `decision_function` says, n x outputs."""
    scores = np.asarray(model.decision_function(as_fitted(model, X)), dtype=np.float64)
    return scores.reshape(len(scores), -1)


def shares(model: Any, X: Any) -> Numbers:
    """What the model's `predict_proba` says."""
    return np.asarray(model.predict_proba(as_fitted(model, X)), dtype=np.float64)


def prediction(model: Any, X: Any) -> Numbers:
    """What a regressor's `predict` says, n x 1."""
    return np.asarray(model.predict(as_fitted(model, X)), dtype=np.float64).reshape(-1, 1)


def refuse_several_targets(model: Any, count: int) -> None:
    """Refuse a model that predicts several columns at once."""
    if count > 1:
        raise PredictorError(f"A {name_of(model)}", "predict one column", f"{count} columns", "fit one model per column")
