"""`Pipeline`, `ColumnTransformer`, `FeatureUnion`, and searches over them: estimators in a row and side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn import get_config

from likely.errors import PredictorError
from likely.predictor.forms import Form
from likely.predictor.mixing import MixedInputs, side_by_side
from likely.predictor.registry import Reader, reader_of, register, register_transformer, transformer_reader_of
from likely.predictor.sklearn.common import (
    as_array,
    as_fitted,
    as_numbers,
    bind,
    cast,
    common_dtype,
    dtype_of,
    name_of,
    refuse_unfitted,
)
from likely.predictor.sklearn.mixing import remixed
from likely.predictor.wires import CASTS, ModelInputs, Step, Wire
from likely.schema.values import Numbers


def transformed(transformer: Any, inputs: ModelInputs) -> ModelInputs:
    """What a fitted transformer or "passthrough" makes of the inputs."""
    if transformer is None or isinstance(transformer, str):
        return inputs
    if isinstance(inputs, MixedInputs) and not hasattr(transformer, "steps"):
        return remixed(transformer, inputs)
    return transformer_reader_of(transformer)(transformer, inputs)


# -- in a row ---------------------------------------------------------------------------------------------------------


def _through(steps: Any, inputs: ModelInputs) -> ModelInputs:
    for _, step in steps:
        inputs = transformed(step, inputs)
    return inputs


def _read_pipeline(model: Any, inputs: ModelInputs) -> Form:
    last = model.steps[-1][1]
    if last is None or isinstance(last, str):
        raise PredictorError("A Pipeline", "end in a classifier or regressor", repr(last), "pass it as encoder= instead")
    reader = reader_of(last)  # first: a model without a reader is the greater news than a transformer without
    return reader.read(last, _through(model.steps[:-1], inputs))


def _score_pipeline(model: Any, X: Any) -> Numbers:
    last = model.steps[-1][1]
    if len(model.steps) > 1:
        X = as_fitted(model, X)
    for _, step in model.steps[:-1]:
        X = X if step is None or isinstance(step, str) else step.transform(X)
    return reader_of(last).score(last, X)


def _transform_pipeline(model: Any, inputs: ModelInputs) -> ModelInputs:
    return _through(model.steps, inputs)


def _read_search(model: Any, inputs: ModelInputs) -> Form:
    refuse_unfitted(model)
    return reader_of(model.best_estimator_).read(model.best_estimator_, inputs)


def _score_search(model: Any, X: Any) -> Numbers:
    return reader_of(model.best_estimator_).score(model.best_estimator_, X)


# -- side by side -----------------------------------------------------------------------------------------------------


def _column_transformer(model: Any, inputs: ModelInputs) -> ModelInputs:
    refuse_unfitted(model)
    names = list(getattr(model, "feature_names_in_", range(model.n_features_in_)))
    chosen = [
        (name, transformer, places)
        for name, transformer, columns in model.transformers_
        if (places := _places(columns, names)) and not _drops(transformer)
    ]
    wires = _wires_at(model, inputs, names, sorted({place for *_, places in chosen for place in places}))
    parts = []
    for name, transformer, places in chosen:
        part = ModelInputs(inputs.schema, tuple(wires[place] for place in places), sparse=inputs.sparse)
        parts.append(_weighted(transformed(transformer, part), (model.transformer_weights or {}).get(name), name_of(model)))
    return _side_by_side(model, inputs, parts, sparse=getattr(model, "sparse_output_", False))  # not there if all is dropped


def _drops(transformer: Any) -> bool:
    return isinstance(transformer, str) and transformer == "drop"


def _wires_at(model: Any, inputs: ModelInputs, names: list[Any], places: list[int]) -> dict[int, Wire]:
    """The wires of the columns that a ColumnTransformer uses; the schema need not have those that it drops."""
    if inputs.untouched and hasattr(model, "feature_names_in_"):
        used = inputs.named([names[place] for place in places], name_of(model)).wires
        return dict(zip(places, used, strict=True))
    bound = bind(model, inputs).wires
    return {place: bound[place] for place in places}


def _places(columns: Any, names: list[Any]) -> list[int]:
    """Column names, numbers, a slice or a mask as places."""
    if isinstance(columns, (str, int, np.integer)):
        columns = [columns]
    if isinstance(columns, slice):
        start = names.index(columns.start) if isinstance(columns.start, str) else columns.start
        # A slice by name includes its end.
        stop = names.index(columns.stop) + 1 if isinstance(columns.stop, str) else columns.stop
        return list(range(len(names)))[start : stop : columns.step]
    chosen_columns = list(columns)
    if chosen_columns and all(isinstance(c, (bool, np.bool_)) for c in chosen_columns):
        return [i for i, chosen in enumerate(chosen_columns) if chosen]
    return [names.index(c) if isinstance(c, str) else int(c) % len(names) for c in chosen_columns]


def _union(model: Any, inputs: ModelInputs) -> ModelInputs:
    parts = [
        _weighted(transformed(transformer, inputs), (model.transformer_weights or {}).get(name), name_of(model))
        for name, transformer in model.transformer_list
        if not _drops(transformer)
    ]
    return _side_by_side(model, inputs, parts, sparse=any(part.sparse for part in parts))


def _weighted(inputs: ModelInputs, weight: float | None, by: str) -> ModelInputs:
    """The inputs times a weight, which numpy first rounds to the precision of the array."""
    if weight is None:
        return inputs
    if isinstance(inputs, MixedInputs):
        return MixedInputs.of(inputs, [(weight * np.eye(len(inputs)), np.zeros(len(inputs)))], by)
    wires = []
    for wire in inputs.wires:
        dtype = wire.dtype.lower() if wire.dtype.lower() in CASTS else "float64"
        factor = Step("multiply", float(np.dtype(dtype).type(weight)))
        wires.append(wire.then(Step(dtype), factor, by=by))
    return ModelInputs(inputs.schema, tuple(wires), sparse=inputs.sparse)


def _side_by_side(model: Any, inputs: ModelInputs, parts: Sequence[ModelInputs], *, sparse: bool) -> ModelInputs:
    """The parts as one table: a DataFrame, whose columns keep their dtypes, or an array, which has one."""
    by = name_of(model)
    if any(isinstance(part, MixedInputs) for part in parts):
        return side_by_side(parts)
    output = getattr(model, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
    if sparse or output == "default":
        parts = [as_numbers(part, by) if sparse else as_array(part, by) for part in parts]
        dtype = common_dtype([dtype_of(part) for part in parts if len(part)])
        parts = [cast(part, "float32" if sparse and dtype == "float16" else dtype, by) for part in parts]
    return ModelInputs(inputs.schema, tuple(wire for part in parts for wire in part.wires), sparse=sparse)


register("sklearn.Pipeline", Reader(_read_pipeline, _score_pipeline))
for _name in ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV"):
    register(f"sklearn.{_name}", Reader(_read_search, _score_search))
register_transformer("sklearn.Pipeline", _transform_pipeline)
register_transformer("sklearn.ColumnTransformer", _column_transformer)
register_transformer("sklearn.FeatureUnion", _union)
