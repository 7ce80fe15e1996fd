"""Calibration, stacking and one against one, of any readable models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor.composing import (
    IDENTITY,
    affine,
    after,
    probabilities_of,
    score_of,
    shared,
    side_by_side,
    summed,
    through,
    votes_of,
)
from likely.predictor.composite import Composite, Layer
from likely.predictor.forms import Form, LinearModel
from likely.predictor.functions import Function
from likely.predictor.links import Link
from likely.predictor.registry import Reader, reader_of, register
from likely.predictor.sklearn.common import as_fitted, bind, decision, name_of, prediction, refuse_unfitted, shares
from likely.predictor.wires import ModelInputs
from likely.schema import Schema
from likely.schema.features import Continuous
from likely.schema.values import LARGEST, Numbers


def _read_member(member: Any, inputs: ModelInputs) -> Form:
    return reader_of(member).read(member, inputs)


def _refuse_missing_classes(model: Any, forms: Sequence[Form], count: int) -> None:
    """Refuse members that know other classes than the ensemble: what they say of the rest is for nobody to tell."""
    for form in forms:
        if len(form.classes) != count:
            raise PredictorError(
                f"Every member of a {name_of(model)}", f"know all {count} classes", f"one that knows {list(form.classes)}",
                "fit it again on a table in which every fold or sample has each class",
            )  # fmt: skip


# -- calibration --------------------------------------------------------------------------------------------------------


def responses(estimator: Any, form: Form) -> Form:
    """What is calibrated: the decision function where there is one, else probabilities; of two classes, that of the second."""
    _refuse_other_decisions(estimator)
    if not hasattr(estimator, "decision_function"):
        form = probabilities_of(form)
    elif form.link.offset:
        form = affine(form, 1.0, form.link.offset, replace(form.link, offset=0.0), form.classes)
    return score_of(form, 1) if form.outputs == 2 else form


def _refuse_other_decisions(estimator: Any) -> None:
    """Refuse a model whose `predict` follows other scores than its `decision_function` where that is what goes on."""
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    if getattr(last, "break_ties", True) is False and len(last.classes_) > 2:
        raise UnsupportedModelError(
            f"An {name_of(last)} of {len(last.classes_)} classes within another model", "predict by its decision_function",
            "break_ties=False", "fit it with break_ties=True, or use LinearSVC",
        )  # fmt: skip


def _calibration(calibrator: Any) -> Function:
    if hasattr(calibrator, "a_"):
        return Function("logistic", -float(calibrator.a_), -float(calibrator.b_))
    if hasattr(calibrator, "X_thresholds_"):
        knots, first = np.unique(np.asarray(calibrator.X_thresholds_, dtype=np.float64), return_index=True)
        values = np.asarray(calibrator.y_thresholds_, dtype=np.float64)[first]
        return Function("interpolate", knots=tuple(knots), values=tuple(values))
    raise UnsupportedModelError(
        "A calibration", "be a sigmoid or isotonic", type(calibrator).__name__, "use method='sigmoid' or 'isotonic'"
    )


def _read_calibrated(model: Any, inputs: ModelInputs) -> Form:
    refuse_unfitted(model)
    classes = tuple(model.classes_)
    fitted = model.calibrated_classifiers_
    forms = [_read_member(part.estimator, inputs) for part in fitted]
    _refuse_missing_classes(model, forms, len(classes))
    raw = [responses(part.estimator, form) for part, form in zip(fitted, forms, strict=True)]
    functions = [[_calibration(calibrator) for calibrator in part.calibrators] for part in fitted]
    if len(raw) == 1 and len(classes) == 2 and functions[0][0].kind == "logistic" and functions[0][0].scale != 0:
        return affine(raw[0], functions[0][0].scale, functions[0][0].shift, Link("logistic"), classes)
    calibrated = [_calibrated(form, own, classes) for form, own in zip(raw, functions, strict=True)]
    return summed(calibrated, [1 / len(calibrated)] * len(calibrated), Link("shares"), classes)


def _calibrated(form: Form, functions: Sequence[Function], classes: Sequence[Any]) -> Form:
    if len(classes) == 2:
        return through(form, functions, [[-1.0], [1.0]], [1.0, 0.0], Link("shares"), classes)
    count = len(classes)
    return shared(through(form, functions, np.eye(count), np.zeros(count), Link("shares"), classes))


def _score_calibrated(model: Any, X: Any) -> Numbers:
    fitted = model.calibrated_classifiers_
    if len(fitted) == 1 and len(model.classes_) == 2 and getattr(fitted[0].calibrators[0], "a_", 0.0) != 0:
        estimator, calibrator = fitted[0].estimator, fitted[0].calibrators[0]
        table = as_fitted(model, X)
        raw = estimator.decision_function(table) if hasattr(estimator, "decision_function") else estimator.predict_proba(table)
        response = np.asarray(raw, dtype=np.float64).reshape(len(raw), -1)[:, -1:]
        return np.asarray(-(calibrator.a_ * response + calibrator.b_))
    return shares(model, X)


# -- stacking -----------------------------------------------------------------------------------------------------------


def _stacked_columns(estimator: Any, method: str, form: Form, count: int) -> Form | None:
    """What a member gives to the final estimator; None if it was dropped."""
    if method == "decision_function":
        _refuse_other_decisions(estimator)
        return form
    if method == "predict":
        votes = votes_of(form)  # the class by its number
        return through(votes, [IDENTITY] * count, [list(range(count))], [0.0], Link("identity"), ())
    said = probabilities_of(form)
    return score_of(said, 1) if count == 2 else said


def _read_stacking(model: Any, inputs: ModelInputs) -> Form:
    refuse_unfitted(model)
    count = len(model.classes_)
    forms = [_read_member(member, inputs) for member in model.estimators_]
    _refuse_missing_classes(model, forms, count)
    methods = model.stack_method_
    columns = [
        _stacked_columns(member, method, form, count)
        for member, method, form in zip(model.estimators_, methods, forms, strict=True)
    ]
    return replace(_finished(model, inputs, [form for form in columns if form is not None]), classes=tuple(model.classes_))


def _finished(model: Any, inputs: ModelInputs, columns: list[Form]) -> Form:
    """The final estimator, read over a schema of the members' columns, after the members."""
    if model.passthrough:
        raw = bind(model, inputs).columns(name_of(model))
        columns = [*columns, LinearModel(Link("identity"), (), raw, np.eye(len(raw)), np.zeros(len(raw)))]
    first = side_by_side(columns)
    wide = LARGEST / 2**20  # no end of a feature is near a number that is read
    schema = Schema(tuple(Continuous(f"column {j}", -wide, wide) for j in range(first.outputs)))
    stacked = replace(ModelInputs.raw(schema), untouched=False)
    return after(first, _read_member(model.final_estimator_, stacked))


def _score_stacking(model: Any, X: Any) -> Numbers:
    final = model.final_estimator_
    return reader_of(final).score(final, model.transform(as_fitted(model, X)))


def _read_stacking_regressor(model: Any, inputs: ModelInputs) -> Form:
    refuse_unfitted(model)
    forms = [_read_member(member, inputs) for member in model.estimators_]
    refuse_links(model, forms)
    return _finished(model, inputs, forms)


def refuse_links(model: Any, forms: Sequence[Form]) -> None:
    """Refuse regressors that predict more than a score, where their predictions are added up."""
    for form in forms:
        if form.link.kind != "identity":
            raise UnsupportedModelError(
                f"A member of a {name_of(model)}", "predict a sum", f"one that predicts by link {form.link.kind!r}",
                "use a member with a squared loss",
            )  # fmt: skip


# -- one against one ----------------------------------------------------------------------------------------------------


def _read_one_vs_one(model: Any, inputs: ModelInputs) -> Form:
    """Votes of all pairs of classes, and of those with equal votes, by the sum of how sure the members are."""
    refuse_unfitted(model)
    classes = tuple(model.classes_)
    inputs = replace(bind(model, inputs), untouched=False)
    forms = [_read_member(member, inputs) for member in model.estimators_]
    sure = [responses(member, form) for member, form in zip(model.estimators_, forms, strict=True)]
    if len(classes) == 2:
        shift = 0.0 if hasattr(model.estimators_[0], "decision_function") else -0.5
        return affine(sure[0], 1.0, shift, Link("sign"), classes)
    voted = Composite(Link("argmax"), classes, tuple(votes_of(form) for form in forms), (_counting(len(classes)),))
    return by_confidence(voted, side_by_side(sure), classes)


def _counting(count: int) -> Layer:
    """The votes for each class, of all pairs of classes: each pair gives two numbers, the votes for its first and its second."""
    pairs = list(combinations(range(count), 2))
    votes = np.zeros((count, 2 * len(pairs)))
    for p, (i, j) in enumerate(pairs):
        votes[i, 2 * p] = votes[j, 2 * p + 1] = 1.0
    return Layer((IDENTITY,) * (2 * len(pairs)), votes, np.zeros(count))


def counted_pairs(sure: Form, step: str, classes: Sequence[Any]) -> Form:
    """The votes for each class: a pair votes for its second class where its score is above 0.

    Args:
        sure: A score per pair of classes.
        step: "above", or "at_least": then it does at 0, too.
        classes: The labels.
    """
    counting = _counting(len(classes)).weights
    first, second = counting[:, 0::2], counting[:, 1::2]
    steps = [Function(step)] * sure.outputs
    return through(sure, steps, second - first, first.sum(axis=1), Link("argmax"), classes)


def by_confidence(voted: Form, sure: Form, classes: Sequence[Any]) -> Form:
    """Votes, and of those with equal ones, the sum of how sure the pairs are: it adds less than half a vote.

    Args:
        voted: The votes for each class.
        sure: A score per pair of classes, above 0 for its second.
        classes: The labels.
    """
    count = len(classes)
    sums = np.zeros((count, sure.outputs))
    for p, (i, j) in enumerate(combinations(range(count), 2)):
        sums[i, p], sums[j, p] = -1.0, 1.0
    total = through(sure, [IDENTITY] * sure.outputs, sums, np.zeros(count), Link("argmax"), classes)
    both = Layer((IDENTITY,) * count + (Function("confidence"),) * count, np.hstack([np.eye(count)] * 2), np.zeros(count))
    return Composite(Link("argmax"), tuple(classes), (voted, total), (both,))


def _score_one_vs_one(model: Any, X: Any) -> Numbers:
    if len(model.classes_) > 2:
        return decision(model, X)
    member = model.estimators_[0]
    table = as_fitted(model, X)
    table = table.to_numpy() if isinstance(table, pd.DataFrame) else table
    if hasattr(member, "decision_function"):
        return np.asarray(member.decision_function(table), dtype=np.float64).reshape(-1, 1)
    return np.asarray(member.predict_proba(table), dtype=np.float64)[:, 1:] - 0.5


register("sklearn.CalibratedClassifierCV", Reader(_read_calibrated, _score_calibrated))
register("sklearn.StackingClassifier", Reader(_read_stacking, _score_stacking))
register("sklearn.StackingRegressor", Reader(_read_stacking_regressor, prediction))
register("sklearn.OneVsOneClassifier", Reader(_read_one_vs_one, _score_one_vs_one))
