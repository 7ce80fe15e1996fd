"""Naive Bayes of scikit-learn: the log of each class's probability is a sum of functions of one feature each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from likely.errors import PredictorError
from likely.predictor.curves import CurveStep
from likely.predictor.forms import Column, Form, LinearModel
from likely.predictor.links import Link
from likely.predictor.registry import Reader, register
from likely.predictor.sklearn.common import as_fitted, bind, name_of
from likely.predictor.wires import ModelInputs
from likely.schema.values import Numbers


def curved(column: Column, *steps: CurveStep) -> Column:
    """A column after further steps, of its numbers and of its table.

    Args:
        column: The column.
        steps: In order.
    """
    table = np.array(column.table, dtype=np.float64)
    for step in steps:
        table = step.at(table)
    curve = () if column.discrete else (*column.curve, *steps)
    return replace(column, table=tuple(table.tolist()), curve=curve)


def _gaussian(model: Any, inputs: ModelInputs) -> Form:
    """-(x - mean)^2 / (2 variance) of every feature and class."""
    raw = bind(model, inputs).columns(name_of(model))
    count, width = model.theta_.shape
    columns, weights = [], np.zeros((count, count * width))
    for k in range(count):
        for j, column in enumerate(raw):
            spread = float(np.sqrt(model.var_[k, j]))
            weights[k, len(columns)] = -0.5
            columns.append(curved(column, CurveStep("affine", 1 / spread, -float(model.theta_[k, j]) / spread), CurveStep("square")))
    bias = np.log(model.class_prior_) - 0.5 * np.log(2 * np.pi * model.var_).sum(axis=1)
    return LinearModel(Link("softmax"), tuple(model.classes_), tuple(columns), weights, bias)


def _counts(model: Any, inputs: ModelInputs) -> Form:
    columns = bind(model, inputs).columns(name_of(model))
    bias = np.broadcast_to(model.class_log_prior_, (len(model.classes_),)) if hasattr(model, "class_log_prior_") else 0.0
    if name_of(model) == "ComplementNB" and len(model.classes_) > 1:
        bias = np.zeros(len(model.classes_))
    return LinearModel(Link("softmax"), tuple(model.classes_), columns, model.feature_log_prob_, np.asarray(bias))


def _bernoulli(model: Any, inputs: ModelInputs) -> Form:
    columns = bind(model, inputs).columns(name_of(model))
    if model.binarize is not None:
        columns = tuple(curved(column, CurveStep("above", intercept=float(model.binarize))) for column in columns)
    absent = np.log(1 - np.exp(model.feature_log_prob_))
    bias = model.class_log_prior_ + absent.sum(axis=1)
    return LinearModel(Link("softmax"), tuple(model.classes_), columns, model.feature_log_prob_ - absent, bias)


def _categorical(model: Any, inputs: ModelInputs) -> Form:
    by = name_of(model)
    bound = bind(model, inputs)
    columns, count = [], len(model.classes_)
    for j, column in enumerate(bound.columns(by)):
        known = model.feature_log_prob_[j]
        if not column.discrete:
            name = bound.wires[j].name
            raise PredictorError(
                f"Feature {name!r}", f"have a list of values where {by} reads it", "a numeric feature",
                f"declare it Ordinal or Categorical: features={{{name!r}: 'ordinal'}}", feature=name,
            )  # fmt: skip
        columns += [replace(column, table=tuple(known[k][int(code)] for code in column.table)) for k in range(count)]
    weights = np.tile(np.eye(count), len(model.feature_log_prob_))
    return LinearModel(Link("softmax"), tuple(model.classes_), tuple(columns), weights, model.class_log_prior_)


def _score(model: Any, X: Any) -> Numbers:
    return np.asarray(model.predict_joint_log_proba(as_fitted(model, X)), dtype=np.float64)


register("sklearn.GaussianNB", Reader(_gaussian, _score))
register("sklearn.MultinomialNB", Reader(_counts, _score))
register("sklearn.ComplementNB", Reader(_counts, _score))
register("sklearn.BernoulliNB", Reader(_bernoulli, _score))
register("sklearn.CategoricalNB", Reader(_categorical, _score))
