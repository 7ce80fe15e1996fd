"""Multi-layer perceptrons of scikit-learn."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from likely.errors import PredictorError
from likely.predictor.forms import Form
from likely.predictor.links import Link
from likely.predictor.network import NetworkBuilder
from likely.predictor.registry import Reader, register
from likely.predictor.sklearn.common import as_fitted, bind, name_of, prediction, refuse_several_targets
from likely.predictor.wires import ModelInputs
from likely.schema.values import Numbers

#: what follows a regressor's last layer -> link
_REGRESSORS = {"identity": "identity", "exp": "exponential"}


def _layers(model: Any, inputs: ModelInputs) -> NetworkBuilder:
    by = name_of(model)
    bound = bind(model, inputs)
    builder = NetworkBuilder(bound, by)
    for i, (weights, bias) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        if i > 0 and model.activation != "identity":
            builder.activate(model.activation)  # relu, tanh or logistic
        builder.affine(weights.T, bias)
    return builder


def _read_classifier(model: Any, inputs: ModelInputs) -> Form:
    builder = _layers(model, inputs)
    if model.out_activation_ == "softmax":
        return builder.finish(Link("softmax"), tuple(model.classes_))
    if model.n_outputs_ > 1:
        raise PredictorError(
            f"An {name_of(model)}", "give each row one class", f"{model.n_outputs_} labels per row", "fit one model per label"
        )
    return builder.finish(Link("logistic"), tuple(model.classes_))


def _read_regressor(model: Any, inputs: ModelInputs) -> Form:
    builder = _layers(model, inputs)
    refuse_several_targets(model, model.n_outputs_)
    return builder.finish(Link(_REGRESSORS[model.out_activation_]), ())


def _before_activation(model: Any) -> Any:
    """The model without its last step, so that its own methods give what goes into that step."""
    bare = copy(model)
    bare.out_activation_ = "identity"
    return bare


def _score_classifier(model: Any, X: Any) -> Numbers:
    scores = np.asarray(_before_activation(model).predict_proba(as_fitted(model, X)), dtype=np.float64)
    return scores[:, 1:] if model.n_outputs_ == 1 else scores  # of one output z, predict_proba makes (1 - z, z)


def _score_regressor(model: Any, X: Any) -> Numbers:
    return prediction(_before_activation(model), X)


register("sklearn.MLPClassifier", Reader(_read_classifier, _score_classifier))
register("sklearn.MLPRegressor", Reader(_read_regressor, _score_regressor))
