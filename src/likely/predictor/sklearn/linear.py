"""Linear models of scikit-learn: score = coef @ x + intercept."""

from __future__ import annotations

from typing import Any

import numpy as np

from likely.predictor.forms import Form, LinearModel
from likely.predictor.links import Link
from likely.predictor.registry import Reader, register
from likely.predictor.sklearn.common import bind, decision, name_of, prediction, refuse_several_targets
from likely.predictor.wires import ModelInputs

#: class -> link of two classes, link of several
_CLASSIFIERS = {
    "LinearSVC": ("sign", "argmax"),
    "RidgeClassifier": ("sign", "argmax"),
    "RidgeClassifierCV": ("sign", "argmax"),
    "Perceptron": ("sign", "argmax"),
    "PassiveAggressiveClassifier": ("sign", "argmax"),
    "LinearDiscriminantAnalysis": ("logistic", "softmax"),
    "LogisticRegression": ("logistic", "softmax"),
    "LogisticRegressionCV": ("logistic", "softmax"),
    "SGDClassifier": ("sign", "argmax"),
}
_SGD_LINKS = {"log_loss": ("logistic", "logistic_shares"), "modified_huber": ("huber", "huber_shares")}
_REGRESSORS = (
    "LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNet", "ElasticNetCV", "SGDRegressor", "LinearSVR",
    "HuberRegressor",
)  # fmt: skip


def _link(model: Any, several: bool) -> Link:
    two, many = next(links for cls in type(model).__mro__ if (links := _CLASSIFIERS.get(cls.__name__)))
    if name_of(model) == "SGDClassifier":
        two, many = _SGD_LINKS.get(model.loss, (two, many))
    if many == "softmax" and (getattr(model, "solver", "") == "liblinear" or getattr(model, "multi_class", "") == "ovr"):
        many = "logistic_shares"
    if not several and getattr(model, "multi_class", None) == "multinomial":
        return Link("logistic", scale=2.0)  # softmax of (-score, score)
    return Link(many if several else two)


def _read_classifier(model: Any, inputs: ModelInputs) -> Form:
    by = name_of(model)
    columns = bind(model, inputs).columns(by)
    weights, bias = np.atleast_2d(model.coef_), np.broadcast_to(model.intercept_, (len(np.atleast_2d(model.coef_)),))
    return LinearModel(_link(model, len(weights) > 1), tuple(model.classes_), columns, weights, bias)


def _read_regressor(model: Any, inputs: ModelInputs) -> Form:
    columns = bind(model, inputs).columns(name_of(model))
    weights = np.atleast_2d(model.coef_)
    refuse_several_targets(model, len(weights))
    return LinearModel(Link("identity"), (), columns, weights, np.broadcast_to(model.intercept_, (1,)))


for _name in _CLASSIFIERS:
    register(f"sklearn.{_name}", Reader(_read_classifier, decision))
for _name in _REGRESSORS:
    register(f"sklearn.{_name}", Reader(_read_regressor, prediction))
