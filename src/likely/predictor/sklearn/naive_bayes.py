"""Gaussian naive Bayes of scikit-learn: the log of each class's probability is a sum of squares, each of one feature."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from likely.predictor.columns import Column
from likely.predictor.curves import CurveStep
from likely.predictor.forms import Form, LinearModel
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
    columns: list[Column] = []
    weights = np.zeros((count, count * width))
    for k in range(count):
        for j, column in enumerate(raw):
            spread = float(np.sqrt(model.var_[k, j]))
            weights[k, len(columns)] = -0.5
            columns.append(
                curved(column, CurveStep("affine", 1 / spread, -float(model.theta_[k, j]) / spread), CurveStep("square"))
            )
    bias = np.log(model.class_prior_) - 0.5 * np.log(2 * np.pi * model.var_).sum(axis=1)
    return LinearModel(Link("softmax"), tuple(model.classes_), tuple(columns), weights, bias)


def _score(model: Any, X: Any) -> Numbers:
    return np.asarray(model.predict_joint_log_proba(as_fitted(model, X)), dtype=np.float64)


register("sklearn.GaussianNB", Reader(_gaussian, _score))
