"""`HistGradientBoosting` of scikit-learn: double thresholds, categories, missing values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.errors import UnsupportedModelError
from likely.predictor.forms import Form
from likely.predictor.links import Link
from likely.predictor.registry import Reader, register, transformer_reader_of
from likely.predictor.sklearn.common import bind, decision, name_of, prediction
from likely.predictor.trees import Splits, tree_ensemble
from likely.predictor.wires import ModelInputs
from likely.schema.values import Numbers, Value

#: loss -> link
_REGRESSORS = {
    "squared_error": "identity",
    "absolute_error": "identity",
    "quantile": "identity",
    "poisson": "exponential",
    "gamma": "exponential",
}


def _inputs(model: Any, inputs: ModelInputs) -> ModelInputs:
    """What the trees read: categorical columns first, as codes, a missing or unknown one NaN; then the other columns."""
    bound = bind(model, inputs)
    if model._preprocessor is None:
        return bound
    encoder = model._preprocessor.named_transformers_["encoder"]
    coded, others = (
        ModelInputs(
            bound.schema, tuple(wire for wire, chosen in zip(bound.wires, model.is_categorical_, strict=True) if chosen == wanted)
        )
        for wanted in (True, False)
    )
    return ModelInputs(bound.schema, transformer_reader_of(encoder)(encoder, coded).wires + others.wires)


def _stacked(trees: Sequence[Any]) -> tuple[Splits, NDArray[np.int64]]:
    """All nodes of all trees, one tree after the other, and where each tree starts."""
    sizes = np.array([len(tree.nodes) for tree in trees])
    roots = np.cumsum(sizes) - sizes
    first = np.repeat(roots, sizes)
    nodes = np.concatenate([tree.nodes for tree in trees])
    splits = Splits(
        wire=np.where(nodes["is_leaf"], -1, nodes["feature_idx"]).astype(np.int32),
        threshold=nodes["num_threshold"].astype(np.float64),
        left=(nodes["left"] + first).astype(np.int32),
        right=(nodes["right"] + first).astype(np.int32),
        value=nodes["value"].astype(np.float64)[:, None],
        missing_left=nodes["missing_go_to_left"].astype(bool),
        categories=_categories(trees, roots),
    )
    return splits, roots


def _categories(trees: Sequence[Any], roots: NDArray[np.int64]) -> dict[int, frozenset[float]]:
    """The categories that go left, for each node that splits by category."""
    categories = {}
    for tree, root in zip(trees, roots, strict=True):
        at = np.flatnonzero(tree.nodes["is_categorical"] & ~tree.nodes["is_leaf"])
        if at.size:
            words = tree.raw_left_cat_bitsets[tree.nodes["bitset_idx"][at]].astype("<u4")
            bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
            categories.update(
                {int(root + i): frozenset(np.flatnonzero(row).astype(float).tolist()) for i, row in zip(at, bits, strict=True)}
            )
    return categories


def _read(model: Any, inputs: ModelInputs, link: Link, classes: tuple[Value, ...]) -> Form:
    splits, roots = _stacked([tree for stage in model._predictors for tree in stage])
    base = np.asarray(model._baseline_prediction, dtype=np.float64).ravel()
    output_of = np.tile(np.arange(len(base)), len(model._predictors))
    return tree_ensemble(inputs, splits, roots, output_of, link=link, classes=classes, base=base, by=name_of(model))


def _read_classifier(model: Any, inputs: ModelInputs) -> Form:
    inputs = _inputs(model, inputs)
    link = Link("softmax" if model.n_trees_per_iteration_ > 1 else "logistic")
    return _read(model, inputs, link, tuple(model.classes_))


def _read_regressor(model: Any, inputs: ModelInputs) -> Form:
    inputs = _inputs(model, inputs)
    return _read(model, inputs, _link(model), ())


def _link(model: Any) -> Link:
    if model.loss not in _REGRESSORS:
        raise UnsupportedModelError(
            f"A {name_of(model)}", "have a known loss", f"loss={model.loss!r}", f"use one of {', '.join(_REGRESSORS)}"
        )
    return Link(_REGRESSORS[model.loss])


def _score_regressor(model: Any, X: Any) -> Numbers:
    predicted = prediction(model, X)
    return np.log(predicted) if _link(model).kind == "exponential" else predicted


register("sklearn.HistGradientBoostingClassifier", Reader(_read_classifier, decision))
register("sklearn.HistGradientBoostingRegressor", Reader(_read_regressor, _score_regressor))
