"""Decision trees of scikit-learn, alone and in forests: x goes left where float32(x) <= threshold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.errors import PredictorError
from likely.predictor.forms import Form
from likely.predictor.links import Link
from likely.predictor.registry import Reader, register
from likely.predictor.sklearn.common import bind, name_of, prediction, refuse_several_targets, shares
from likely.predictor.trees import Splits, tree_ensemble
from likely.predictor.wires import FLOAT32, ModelInputs
from likely.schema.values import Numbers

_CLASSIFIERS = ("DecisionTreeClassifier", "ExtraTreeClassifier", "RandomForestClassifier", "ExtraTreesClassifier")
_REGRESSORS = ("DecisionTreeRegressor", "ExtraTreeRegressor", "RandomForestRegressor", "ExtraTreesRegressor")


def refuse_missing(inputs: ModelInputs, by: str) -> None:
    """Refuse missing values where the model refuses them."""
    for wire in inputs.wires:
        if np.isnan(wire.numbers(by)).any():
            raise PredictorError(
                f"Feature {wire.name!r}", f"not be missing where {by} reads it", "a missing value",
                "put a SimpleImputer before it", feature=wire.name,
            )  # fmt: skip


def stacked(trees: Sequence[Any], values: Sequence[Numbers]) -> tuple[Splits, NDArray[np.int64]]:
    """All nodes of scikit-learn's low-level trees, one tree after the other, and where each tree starts."""
    sizes = np.array([tree.node_count for tree in trees])
    roots = np.cumsum(sizes) - sizes
    first = np.repeat(roots, sizes)

    def all_of(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(tree, name) for tree in trees])

    left = all_of("children_left")
    splits = Splits(
        wire=np.where(left < 0, -1, all_of("feature")).astype(np.int32),
        threshold=all_of("threshold"),
        left=(left + first).astype(np.int32),
        right=(all_of("children_right") + first).astype(np.int32),
        value=np.concatenate(values),
        missing_left=all_of("missing_go_to_left").astype(bool),
    )
    return splits, roots


def _read(model: Any, inputs: ModelInputs, link: Link, classes: Callable[[Any], Sequence[Any]]) -> Form:
    by = name_of(model)
    inputs = bind(model, inputs).then(FLOAT32, by=by)
    refuse_several_targets(model, model.n_outputs_)
    trees = getattr(model, "estimators_", [model])
    if inputs.sparse or not trees[0]._support_missing_values(None):
        refuse_missing(inputs, by)
    values = [tree.tree_.value[:, 0, :] for tree in trees]
    splits, roots = stacked([tree.tree_ for tree in trees], values)
    return tree_ensemble(
        inputs, splits, roots, np.full(len(roots), -1), link=link, classes=classes(model), base=np.zeros(values[0].shape[1]),
        average=len(roots) > 1, by=by,
    )  # fmt: skip


def _read_classifier(model: Any, inputs: ModelInputs) -> Form:
    return _read(model, inputs, Link("shares"), lambda model: model.classes_)


def _read_regressor(model: Any, inputs: ModelInputs) -> Form:
    return _read(model, inputs, Link("identity"), lambda model: ())


for _name in _CLASSIFIERS:
    register(f"sklearn.{_name}", Reader(_read_classifier, shares))
for _name in _REGRESSORS:
    register(f"sklearn.{_name}", Reader(_read_regressor, prediction))
