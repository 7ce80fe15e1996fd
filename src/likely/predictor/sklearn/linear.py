"""Linear models of scikit-learn: score = coef @ x + intercept."""

from __future__ import annotations

from typing import Any

import numpy as np

from likely.predictor.forms import Form
from likely.predictor.links import Link
from likely.predictor.network import NetworkBuilder
from likely.predictor.registry import Reader, register
from likely.predictor.sklearn.common import (
    as_fitted,
    bind,
    decision,
    name_of,
    prediction,
    refuse_several_targets,
    refuse_unfitted,
)
from likely.predictor.wires import Map, ModelInputs, refuse_numbers
from likely.schema.values import Numbers, Value

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
    "HuberRegressor", "ARDRegression", "BayesianRidge", "Lars", "LarsCV", "LassoLars", "LassoLarsCV", "LassoLarsIC",
    "OrthogonalMatchingPursuit", "OrthogonalMatchingPursuitCV", "PassiveAggressiveRegressor", "QuantileRegressor",
    "TheilSenRegressor",
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


def linear_form(model: Any, inputs: ModelInputs, weights: Any, bias: Any, link: Link, classes: tuple[Value, ...]) -> Form:
    """The form of weights @ x + bias.

    Args:
        model: The estimator, which knows its inputs.
        inputs: What it reads.
        weights: Outputs x inputs.
        bias: One per output, or one for all.
        link: How scores decide.
        classes: The labels.
    """
    builder = NetworkBuilder(bind(model, inputs), name_of(model))
    builder.affine(weights, bias)
    return builder.finish(link, classes)


def _read_classifier(model: Any, inputs: ModelInputs) -> Form:
    refuse_unfitted(model)
    weights = np.atleast_2d(model.coef_)
    return linear_form(model, inputs, weights, model.intercept_, _link(model, len(weights) > 1), tuple(model.classes_))


def _read_regressor(model: Any, inputs: ModelInputs) -> Form:
    refuse_unfitted(model)
    weights = np.atleast_2d(model.coef_)
    refuse_several_targets(model, len(weights))
    return linear_form(model, inputs, weights, model.intercept_, Link("identity"), ())


def _read_pls(model: Any, inputs: ModelInputs) -> Form:
    """Partial least squares: coef @ (x - mean) + intercept."""
    refuse_unfitted(model)
    weights = np.atleast_2d(model.coef_)
    refuse_several_targets(model, len(weights))
    return linear_form(model, inputs, weights, model.intercept_ - weights @ model._x_mean, Link("identity"), ())


def _read_log_linear(model: Any, inputs: ModelInputs) -> Form:
    refuse_unfitted(model)
    return linear_form(model, inputs, np.atleast_2d(model.coef_), model.intercept_, Link("exponential"), ())


def _score_log_linear(model: Any, X: Any) -> Numbers:
    return np.asarray(np.log(prediction(model, X)))


# -- naive Bayes with a sum of logarithms ------------------------------------------------------------------------------


def _joint(model: Any, X: Any) -> Numbers:
    return np.asarray(model.predict_joint_log_proba(as_fitted(model, X)), dtype=np.float64)


def _read_counts(model: Any, inputs: ModelInputs) -> Form:
    """The log-probabilities of counts, added up: linear. `ComplementNB` has no prior where there are several classes."""
    refuse_unfitted(model)
    prior = model.class_log_prior_ if name_of(model) == "MultinomialNB" or len(model.classes_) == 1 else 0.0
    return linear_form(model, inputs, model.feature_log_prob_, prior, Link("softmax"), tuple(model.classes_))


def _read_bernoulli(model: Any, inputs: ModelInputs) -> Form:
    by = name_of(model)
    bound = bind(model, inputs)
    if model.binarize is not None:
        step = Map(
            function=lambda numbers: (numbers > model.binarize).astype(numbers.dtype), called="whether it is above a number"
        )
        bound = bound.then(step, by=by)
    absent = np.log1p(-np.exp(model.feature_log_prob_))
    builder = NetworkBuilder(bound, by)
    builder.affine(model.feature_log_prob_ - absent, model.class_log_prior_ + absent.sum(axis=1))
    return builder.finish(Link("softmax"), tuple(model.classes_))


def _read_categories(model: Any, inputs: ModelInputs) -> Form:
    """A table per feature and class."""
    by = name_of(model)
    wires, weights = [], []
    for wire, logs in zip(bind(model, inputs).wires, model.feature_log_prob_, strict=True):
        refuse_numbers(wire, by)
        codes = [int(code) for code in wire.numbers(by)]
        wires += [wire.coded(logs[k, codes].tolist()) for k in range(len(model.classes_))]
        weights.append(np.eye(len(model.classes_)))
    builder = NetworkBuilder(ModelInputs(inputs.schema, tuple(wires)), by)
    builder.affine(np.hstack(weights), model.class_log_prior_)
    return builder.finish(Link("softmax"), tuple(model.classes_))


for _name in ("MultinomialNB", "ComplementNB"):
    register(f"sklearn.{_name}", Reader(_read_counts, _joint))
register("sklearn.BernoulliNB", Reader(_read_bernoulli, _joint))
register("sklearn.CategoricalNB", Reader(_read_categories, _joint))
for _name in ("PoissonRegressor", "GammaRegressor"):
    register(f"sklearn.{_name}", Reader(_read_log_linear, _score_log_linear))
for _name in ("PLSRegression", "PLSCanonical", "CCA"):
    register(f"sklearn.{_name}", Reader(_read_pls, prediction))
for _name in _CLASSIFIERS:
    register(f"sklearn.{_name}", Reader(_read_classifier, decision))
for _name in _REGRESSORS:
    register(f"sklearn.{_name}", Reader(_read_regressor, prediction))
