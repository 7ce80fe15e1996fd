"""Feature selectors of scikit-learn: some of the columns, and models that are fitted on them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn import get_config

from likely.predictor.forms import Form
from likely.predictor.registry import Reader, reader_of, register, register_transformer
from likely.predictor.sklearn.common import as_array, as_fitted, bind, name_of
from likely.predictor.wires import ModelInputs
from likely.schema.values import Numbers

_SELECTORS = (
    "VarianceThreshold", "SelectKBest", "SelectPercentile", "SelectFpr", "SelectFdr", "SelectFwe", "GenericUnivariateSelect",
    "SelectFromModel", "SequentialFeatureSelector", "RFE", "RFECV",
)  # fmt: skip


def _selected(selector: Any, inputs: ModelInputs) -> ModelInputs:
    bound = bind(selector, inputs)
    output = getattr(selector, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
    if output == "default" and not bound.sparse:
        bound = as_array(bound, name_of(selector))
    return replace(bound, wires=tuple(bound.wires[c] for c in selector.get_support(indices=True)), untouched=False)


def _read_within(model: Any, inputs: ModelInputs) -> Form:
    """What a selector's own model makes of the columns that are left."""
    return reader_of(model.estimator_).read(model.estimator_, _selected(model, inputs))


def _score_within(model: Any, X: Any) -> Numbers:
    return reader_of(model.estimator_).score(model.estimator_, model.transform(as_fitted(model, X)))


for _name in _SELECTORS:
    register_transformer(f"sklearn.{_name}", _selected)
for _name in ("RFE", "RFECV"):
    register(f"sklearn.{_name}", Reader(_read_within, _score_within))
