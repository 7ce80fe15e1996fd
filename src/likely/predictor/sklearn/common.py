"""What every scikit-learn reader needs: the inputs an estimator was fitted on, and what it says itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from likely.errors import PredictorError
from likely.predictor.tables import as_fitted, takes_array
from likely.predictor.wires import CASTS, ModelInputs, Step, Wire
from likely.schema.times import DATE
from likely.schema.values import Numbers

__all__ = ["as_fitted", "bind", "decision", "name_of", "prediction", "refuse_several_targets", "refuse_unfitted", "shares"]


def name_of(model: Any) -> str:
    """The class of a model, for error messages."""
    return type(model).__name__


def refuse_unfitted(model: Any) -> None:
    """Refuse an estimator that was not fitted."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise PredictorError(f"A {name_of(model)}", "be fitted", "one that is not", "call fit first") from None


def bind(model: Any, inputs: ModelInputs) -> ModelInputs:
    """The inputs that a fitted estimator reads, by the names it was fitted with, or else by their number."""
    by = name_of(model)
    refuse_unfitted(model)
    names = getattr(model, "feature_names_in_", None)
    if inputs.untouched and names is not None:
        inputs = inputs.named(list(names), by)
    elif inputs.untouched and takes_array(model, inputs.schema.names):
        inputs = as_array(inputs, by)
    count = getattr(model, "n_features_in_", len(inputs))
    return inputs.counted(int(count), by)


# -- precision: what dtype a block of columns has when scikit-learn makes an array of it ------------------------------


def cast(inputs: ModelInputs, dtype: str, by: str) -> ModelInputs:
    """The inputs in an array of this dtype. Only a float dtype changes what follows."""

    def changed(wire: Wire) -> Wire:
        if wire.dtype in (dtype, DATE):  # a date is refused where a model reads it
            return wire
        return wire.then(Step(dtype), by=by) if dtype in CASTS else replace(wire, dtype=dtype)

    return replace(inputs, wires=tuple(changed(wire) for wire in inputs.wires), untouched=False)


def common_dtype(dtypes: Sequence[str]) -> str:
    """The dtype of an array that holds all of these; "object" if one of them is no number."""
    kinds = [np.dtype(dtype) if dtype in _NUMBERS else np.dtype(object) for dtype in dtypes]
    return np.result_type(*kinds).name if kinds else "float64"


_NUMBERS = {np.dtype(code).name for code in "?bhilqBHILQefd"}


def dtype_of(inputs: ModelInputs) -> str:
    """The dtype of the inputs as one array, made by numpy."""
    return common_dtype([wire.dtype for wire in inputs.wires])


def as_array(inputs: ModelInputs, by: str) -> ModelInputs:
    """The inputs as `DataFrame.to_numpy` gives them: as numpy does, except that truth values and numbers are objects."""
    kinds = {wire.dtype == "bool" for wire in inputs.wires}
    return cast(inputs, dtype_of(inputs) if len(kinds) < 2 else "object", by)


def as_numbers(inputs: ModelInputs, by: str) -> ModelInputs:
    """The inputs as `check_array` gives them: objects become float64."""
    dtype = dtype_of(inputs)
    return cast(inputs, "float64" if dtype == "object" else dtype, by)


def as_block(inputs: ModelInputs, by: str) -> ModelInputs:
    """The inputs as the float array that scalers work on: in their own precision if that is one, else float64."""
    dtype = dtype_of(inputs)
    return cast(inputs, dtype if dtype in CASTS else "float64", by)


# -- what the model says ------------------------------------------------------------------------------------------------


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
