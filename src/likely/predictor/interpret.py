"""Explainable boosting machines of `interpret`: sums of tables over one or two features, which are trees.

A table over the bins of one feature is a tree that finds the bin by halving; one over two features has trees for leaves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor.forms import Form
from likely.predictor.links import Link
from likely.predictor.registry import Reader, register
from likely.predictor.tables import as_fitted
from likely.predictor.trees import Splits, tree_ensemble
from likely.predictor.wires import ModelInputs, Wire
from likely.schema.values import Numbers

_LINKS = {
    "logit": Link("logistic"),
    "mlogit": Link("softmax"),
    "identity": Link("identity"),
    "log": Link("exponential"),
}


@dataclass
class _Trees:
    """Nodes while tables become trees."""

    outputs: int
    wire: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    value: list[Numbers] = field(default_factory=list)

    def _node(self, wire: int, threshold: float, left: int, right: int, value: Numbers | None = None) -> int:
        self.wire.append(wire)
        self.threshold.append(threshold)
        self.left.append(left)
        self.right.append(right)
        self.value.append(np.zeros(self.outputs) if value is None else value)
        return len(self.wire) - 1

    def grow(self, table: Numbers, axes: Sequence[tuple[int, Numbers, bool]]) -> int:
        """The root of a table over bins, whose last axis is the outputs.

        Args:
            table: Scores, bins x ... x outputs; the first bin of every axis is that of missing values.
            axes: Of each, the wire, the first number of every bin but the lowest, and whether values may be missing.
        """
        if (table == table.reshape(-1, self.outputs)[0]).all():
            return self._node(-1, 0.0, 0, 0, np.asarray(table.reshape(-1, self.outputs)[0]))
        (wire, edges, missing), *rest = axes
        known = self._halved(table[1 : len(edges) + 2], wire, edges, rest)
        return self._node(wire, math.inf, known, self.grow(table[0], rest)) if missing else known

    def _halved(self, bins: Numbers, wire: int, edges: Numbers, rest: Sequence[tuple[int, Numbers, bool]]) -> int:
        if len(bins) == 1 or (bins == bins[0]).all():
            return self.grow(bins[0], rest)
        middle = len(bins) // 2
        below = self._halved(bins[:middle], wire, edges[: middle - 1], rest)
        above = self._halved(bins[middle:], wire, edges[middle:], rest)
        return self._node(wire, float(edges[middle - 1]), below, above)

    def splits(self) -> Splits:
        """All nodes; a number below its threshold goes left, and what is missing goes right."""
        count = len(self.wire)
        return Splits(
            np.array(self.wire, dtype=np.int32), np.array(self.threshold), np.array(self.left, dtype=np.int32),
            np.array(self.right, dtype=np.int32), np.array(self.value), np.zeros(count, dtype=bool), strict=True,
        )  # fmt: skip


def _read(model: Any, inputs: ModelInputs) -> Form:
    by = type(model).__name__
    if not hasattr(model, "term_scores_"):
        raise PredictorError(f"An {by}", "be fitted", "one that is not", "call fit first")
    if inputs.untouched:
        inputs = inputs.named(list(model.feature_names_in_), by)
    inputs = inputs.counted(len(model.bins_), by)
    if model.link_ not in _LINKS:
        raise UnsupportedModelError(f"An {by}", f"have link {', '.join(_LINKS)}", repr(model.link_), "fit it with one of them")
    wires = tuple(_binned(wire, bins, by) for wire, bins in zip(inputs.wires, model.bins_, strict=True))
    intercept = np.atleast_1d(np.asarray(model.intercept_, dtype=np.float64))
    trees = _Trees(len(intercept))
    roots = []
    for features, scores in zip(model.term_features_, model.term_scores_, strict=True):
        table = np.asarray(scores, dtype=np.float64).reshape(*np.shape(scores)[: len(features)], len(intercept))
        axes = [(f, _edges(model.bins_[f], len(features)), _may_be_missing(wires[f], by)) for f in features]
        roots.append(trees.grow(table, axes))
    classes = tuple(model.classes_) if _LINKS[model.link_].classifies else ()
    return tree_ensemble(
        replace(inputs, wires=wires), trees.splits(), roots, np.full(len(roots), -1), link=_LINKS[model.link_], classes=classes,
        base=intercept, by=by,
    )  # fmt: skip


def _edges(bins: Sequence[Any], order: int) -> Numbers:
    """The first number of every bin but the lowest; tables of two features may have coarser bins."""
    level = bins[min(len(bins), order) - 1]
    if isinstance(level, dict):
        return np.arange(1, max(level.values(), default=0) + 1) + 0.5  # the last one is of unknown values
    return np.asarray(level, dtype=np.float64)


def _binned(wire: Wire, bins: Sequence[Any], by: str) -> Wire:
    """A wire of numbers: of categories, those of their bins."""
    if not isinstance(bins[0], dict):
        return wire
    if wire.numeric:
        raise PredictorError(
            f"Feature {wire.name!r}", f"have a list of values where {by} takes it for categories", "a numeric feature",
            f"declare it Ordinal or Categorical: features={{{wire.name!r}: 'ordinal'}}", feature=wire.name,
        )  # fmt: skip
    unknown = max(bins[0].values(), default=0) + 1
    return wire.coded([math.nan if _is_missing(atom) else bins[0].get(str(atom), unknown) for atom in wire.atoms])


def _is_missing(atom: Any) -> bool:
    return atom is None or (isinstance(atom, float) and math.isnan(atom))


def _may_be_missing(wire: Wire, by: str) -> bool:
    return bool(np.isnan(wire.numbers(by)).any())


def _score_classifier(model: Any, X: Any) -> Numbers:
    scores = np.asarray(model.decision_function(as_fitted(model, X)), dtype=np.float64)
    return scores.reshape(len(scores), -1)


def _score_regressor(model: Any, X: Any) -> Numbers:
    predicted = np.asarray(model.predict(as_fitted(model, X)), dtype=np.float64).reshape(-1, 1)
    return np.log(predicted) if model.link_ == "log" else predicted


register("interpret.ExplainableBoostingClassifier", Reader(_read, _score_classifier))
register("interpret.ExplainableBoostingRegressor", Reader(_read, _score_regressor))
