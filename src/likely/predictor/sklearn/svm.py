"""Support vectors of scikit-learn with a linear kernel: linear functions, and votes of them for three classes or more."""

from __future__ import annotations

import copy
from itertools import combinations
from typing import Any

import numpy as np

from likely.errors import UnsupportedModelError
from likely.predictor.forms import Form
from likely.predictor.links import Link
from likely.predictor.registry import Reader, register
from likely.predictor.sklearn.common import decision, name_of, prediction, refuse_unfitted
from likely.predictor.sklearn.composites import by_confidence, counted_pairs
from likely.predictor.sklearn.linear import linear_form
from likely.predictor.tables import dense
from likely.predictor.wires import ModelInputs
from likely.schema.values import Numbers


def _refuse_kernel(model: Any) -> None:
    if model.kernel != "linear":
        raise UnsupportedModelError(
            f"An {name_of(model)}", "have kernel='linear'", f"kernel={model.kernel!r}",
            "a kernel compares a row with every support vector, which is no linear function, ReLU network or sum of trees: fit it"
            " with kernel='linear', or train a model that can be read on what it predicts, and explain that",
        )  # fmt: skip


def _read_svc(model: Any, inputs: ModelInputs) -> Form:
    _refuse_kernel(model)
    refuse_unfitted(model)
    if len(model.classes_) > 2:
        return _read_votes(model, inputs)
    return linear_form(model, inputs, dense(model.coef_), model.intercept_, Link("sign"), tuple(model.classes_))


def _read_svr(model: Any, inputs: ModelInputs) -> Form:
    _refuse_kernel(model)
    refuse_unfitted(model)
    return linear_form(model, inputs, dense(model.coef_), model.intercept_, Link("identity"), ())


def _breaks_ties(model: Any) -> bool:
    """Whether classes with equal votes are told apart by how sure the pairs are; else the first of them is chosen."""
    return bool(model.break_ties) and model.decision_function_shape == "ovr"


def _read_votes(model: Any, inputs: ModelInputs) -> Form:
    """Every pair of classes votes: above 0 for its first, below for its second; at 0 too, or with `break_ties` for its first."""
    classes = tuple(model.classes_)
    sure = linear_form(model, inputs, -dense(model.coef_), -model.intercept_, Link("identity"), ())
    if not _breaks_ties(model):
        return counted_pairs(sure, "at_least", classes)
    return by_confidence(counted_pairs(sure, "above", classes), sure, classes)


def _score_svc(model: Any, X: Any) -> Numbers:
    if len(model.classes_) == 2 or _breaks_ties(model):
        return decision(model, X)
    pairs = copy.copy(model)
    pairs.decision_function_shape = "ovo"
    votes = np.zeros((len(X), len(model.classes_)))
    for (i, j), first in zip(combinations(range(len(model.classes_)), 2), decision(pairs, X).T > 0, strict=True):
        votes[:, i] += first
        votes[:, j] += ~first
    return votes


for _name in ("SVC", "NuSVC"):
    register(f"sklearn.{_name}", Reader(_read_svc, _score_svc))
for _name in ("SVR", "NuSVR"):
    register(f"sklearn.{_name}", Reader(_read_svr, prediction))
