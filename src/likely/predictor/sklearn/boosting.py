"""Boosted trees of scikit-learn: `GradientBoosting` and `AdaBoost`."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.tree import DecisionTreeClassifier

from likely.errors import UnsupportedModelError
from likely.predictor.forms import Form
from likely.predictor.links import Link
from likely.predictor.registry import Reader, register
from likely.predictor.sklearn.common import bind, decision, name_of, prediction
from likely.predictor.sklearn.trees import refuse_missing, stacked
from likely.predictor.trees import tree_ensemble
from likely.predictor.wires import FLOAT32, ModelInputs
from likely.schema.values import Numbers, Value


def _inputs(model: Any, inputs: ModelInputs) -> ModelInputs:
    bound = bind(model, inputs).then(FLOAT32, by=name_of(model))
    refuse_missing(bound, name_of(model))
    return bound


def _base(model: Any) -> Numbers:
    """What a gradient boosting starts from: the raw score of its initial estimator, the same for every row."""
    init = model.init_
    if not isinstance(init, (str, DummyClassifier, DummyRegressor)) or getattr(init, "strategy", "") == "stratified":
        raise UnsupportedModelError(
            f"A {name_of(model)}",
            "start from a constant",
            f"init={init!r}",
            "leave init out, or use 'zero' or a constant Dummy estimator",
        )
    return np.asarray(model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32))[0], dtype=np.float64)


def _gradient_boosting(model: Any, inputs: ModelInputs, link: Link, classes: tuple[Value, ...]) -> Form:
    base = _base(model)
    trees = [tree.tree_ for tree in model.estimators_.ravel()]  # stage by stage, in each one tree per output
    splits, roots = stacked(trees, [model.learning_rate * tree.value[:, 0, :] for tree in trees])
    output_of = np.tile(np.arange(len(base)), len(model.estimators_))
    return tree_ensemble(inputs, splits, roots, output_of, link=link, classes=classes, base=base, by=name_of(model))


def _read_classifier(model: Any, inputs: ModelInputs) -> Form:
    inputs = _inputs(model, inputs)
    if model.estimators_.shape[1] > 1:
        link = Link("softmax")
    else:
        link = Link("logistic", scale=2.0 if model.loss == "exponential" else 1.0, tie=True)
    return _gradient_boosting(model, inputs, link, tuple(model.classes_))


def _read_regressor(model: Any, inputs: ModelInputs) -> Form:
    return _gradient_boosting(model, _inputs(model, inputs), Link("identity"), ())


def _votes(model: Any) -> list[Numbers]:
    """What each tree adds for each of its leaves: SAMME's vote for the leaf's class, in the units of decision_function."""
    several = len(model.classes_) > 2
    votes = []
    for tree, weight in zip(model.estimators_, model.estimator_weights_ / model.estimator_weights_.sum(), strict=False):
        chosen = np.argmax(tree.tree_.value[:, 0, :], axis=1)[:, None]
        if several:
            votes.append(np.where(chosen == np.arange(len(model.classes_)), weight, -weight / (len(model.classes_) - 1)))
        else:
            votes.append(np.where(chosen == 1, 2 * weight, -2 * weight))
    return votes


def _refuse_other_boosters(model: Any) -> None:
    for estimator in model.estimators_:
        if not isinstance(estimator, DecisionTreeClassifier):
            raise UnsupportedModelError(
                "An AdaBoostClassifier",
                "boost decision trees",
                f"estimator={estimator!r}",
                "use estimator=DecisionTreeClassifier(max_depth=1)",
            )
    if getattr(model, "algorithm", "SAMME") == "SAMME.R":
        raise UnsupportedModelError(
            "An AdaBoostClassifier", "have algorithm='SAMME'", "algorithm='SAMME.R'", "fit it again with 'SAMME'"
        )


def _read_adaboost(model: Any, inputs: ModelInputs) -> Form:
    inputs = _inputs(model, inputs)
    _refuse_other_boosters(model)
    splits, roots = stacked([tree.tree_ for tree in model.estimators_], _votes(model))
    several = len(model.classes_) > 2
    link = Link("softmax", scale=1 / (len(model.classes_) - 1)) if several else Link("logistic")
    return tree_ensemble(
        inputs, splits, roots, np.full(len(roots), -1), link=link, classes=tuple(model.classes_),
        base=np.zeros(splits.value.shape[1]), by=name_of(model),
    )  # fmt: skip


register("sklearn.GradientBoostingClassifier", Reader(_read_classifier, decision))
register("sklearn.GradientBoostingRegressor", Reader(_read_regressor, prediction))
register("sklearn.AdaBoostClassifier", Reader(_read_adaboost, decision))
