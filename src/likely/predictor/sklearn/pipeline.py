"""`Pipeline`, `ColumnTransformer`, `FeatureUnion`: transformers applied in a row and side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from likely.errors import PredictorError
from likely.predictor.forms import Form
from likely.predictor.registry import Reader, reader_of, register, register_transformer, transformer_reader_of
from likely.predictor.sklearn.common import as_fitted, bind
from likely.predictor.wires import Inputs
from likely.schema.values import Numbers


def transformed(transformer: Any, inputs: Inputs) -> Inputs:
    """What a fitted transformer, "passthrough" or "drop" makes of the inputs."""
    if transformer is None or transformer == "passthrough":
        return inputs
    if transformer == "drop":
        return Inputs(inputs.schema, ())
    return transformer_reader_of(transformer)(transformer, inputs)


def _through(steps: Any, inputs: Inputs) -> Inputs:
    for _, step in steps:
        inputs = transformed(step, inputs)
    return inputs


def _read_pipeline(model: Any, inputs: Inputs) -> Form:
    last = model.steps[-1][1]
    if last is None or isinstance(last, str):
        raise PredictorError("A Pipeline", "end in a classifier or regressor", repr(last), "pass it as encoder= instead")
    before = _through(model.steps[:-1], inputs)
    return reader_of(last).read(last, before)


def _score_pipeline(model: Any, X: Any) -> Numbers:
    last = model.steps[-1][1]
    if len(model.steps) == 1:
        return reader_of(last).score(last, X)
    made = model[:-1].transform(as_fitted(model, X))
    return reader_of(last).score(last, made.toarray() if hasattr(made, "toarray") else made)


def _transform_pipeline(model: Any, inputs: Inputs) -> Inputs:
    return _through(model.steps, inputs)


def _column_transformer(model: Any, inputs: Inputs) -> Inputs:
    bound = bind(model, inputs)
    names = list(getattr(model, "feature_names_in_", range(len(bound))))
    wires = []
    for _, transformer, columns in model.transformers_:
        places = _places(columns, names)
        if places:
            part = Inputs(inputs.schema, tuple(bound.wires[i] for i in places))
            wires += transformed(transformer, part).wires
    return Inputs(inputs.schema, tuple(wires))


def _places(columns: Any, names: list[Any]) -> list[int]:
    """Column names, numbers, a slice or a mask as places."""
    if isinstance(columns, (str, int, np.integer)):
        columns = [columns]
    if isinstance(columns, slice):
        ends = [names.index(end) if isinstance(end, str) else end for end in (columns.start, columns.stop)]
        if isinstance(columns.stop, str):
            ends[1] += 1  # a slice by name includes its end
        return list(range(len(names)))[slice(*ends, columns.step)]
    found = list(columns)
    if found and all(isinstance(c, (bool, np.bool_)) for c in found):
        return [i for i, chosen in enumerate(found) if chosen]
    return [names.index(c) if isinstance(c, str) else int(c) % len(names) for c in found]


def _union(model: Any, inputs: Inputs) -> Inputs:
    wires = []
    for name, transformer in model.transformer_list:
        if (model.transformer_weights or {}).get(name, 1.0) != 1.0:
            raise PredictorError("A FeatureUnion", "have no weights", f"{name!r}", "leave transformer_weights out")
        wires += transformed(transformer, inputs).wires
    return replace(inputs, wires=tuple(wires), untouched=False)


register("sklearn.Pipeline", Reader(_read_pipeline, _score_pipeline))
register_transformer("sklearn.Pipeline", _transform_pipeline)
register_transformer("sklearn.ColumnTransformer", _column_transformer)
register_transformer("sklearn.FeatureUnion", _union)
