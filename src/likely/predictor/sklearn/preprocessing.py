"""Transformers of scikit-learn, column by column: what each makes of the wires it is given."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from numpy.typing import NDArray

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor.registry import TransformerReader, register_transformer
from likely.predictor.sklearn.common import as_block, as_numbers, bind, cast, dtype_of, name_of
from likely.predictor.tables import dense
from likely.predictor.wires import CASTS, ModelInputs, Step, Wire, refuse_numbers
from likely.schema.values import plain

# -- scalers ----------------------------------------------------------------------------------------------------------

#: From this version on, StandardScaler casts its parameters to the data's precision first.
_CASTS_PARAMETERS = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) >= (1, 8)


def _scaler(steps: Callable[[Any, int, ModelInputs], list[Step]]) -> TransformerReader:
    """A reader of a scaler, from its steps for column c of a block."""

    def read(scaler: Any, inputs: ModelInputs) -> ModelInputs:
        by = name_of(scaler)
        block = as_block(bind(scaler, inputs), by)
        return replace(block, wires=tuple(wire.then(*steps(scaler, c, block), by=by) for c, wire in enumerate(block.wires)))

    return read


def _divide(scale: Any, block: ModelInputs) -> Step:
    """Scalers divide the numbers of an array, and multiply those of a sparse matrix by the reciprocal."""
    return Step("multiply", float(1.0 / scale)) if block.sparse else Step("divide", float(scale))


def standard_steps(scaler: Any, c: int, block: ModelInputs) -> list[Step]:
    """What a StandardScaler does to column c.

    Args:
        scaler: It is fitted.
        c: The place of the column.
        block: All columns, as one array.
    """
    dtype = np.dtype(dtype_of(block) if _CASTS_PARAMETERS and not block.sparse else "float64")
    shift = [Step("subtract", float(dtype.type(scaler.mean_[c])))] if scaler.with_mean else []
    return shift + ([_divide(dtype.type(scaler.scale_[c]), block)] if scaler.with_std else [])


def _min_max(scaler: Any, c: int, block: ModelInputs) -> list[Step]:
    low, high = scaler.feature_range
    clip = [Step("at_least", float(low)), Step("at_most", float(high))] if scaler.clip else []
    return [Step("multiply", float(scaler.scale_[c])), Step("add", float(scaler.min_[c])), *clip]


def _robust(scaler: Any, c: int, block: ModelInputs) -> list[Step]:
    shift = [Step("subtract", float(scaler.center_[c]))] if scaler.with_centering else []
    return shift + ([_divide(scaler.scale_[c], block)] if scaler.with_scaling else [])


def _max_abs(scaler: Any, c: int, block: ModelInputs) -> list[Step]:
    clip = [Step("at_least", -1.0), Step("at_most", 1.0)] if getattr(scaler, "clip", False) else []
    return [_divide(scaler.scale_[c], block), *clip]


# -- encoders ---------------------------------------------------------------------------------------------------------


def _one_hot(encoder: Any, inputs: ModelInputs) -> ModelInputs:
    bound, table = _encoded(encoder, inputs)
    wires: list[Wire] = []
    start = 0
    for c, wire in enumerate(bound.wires):
        stop = start + _width(encoder, c)
        wires += [wire.coded(table[: len(wire.atoms), k], np.dtype(encoder.dtype).name) for k in range(start, stop)]
        start = stop
    return ModelInputs(inputs.schema, tuple(wires), sparse=encoder.sparse_output)


def _width(encoder: Any, c: int) -> int:
    """How many indicators a OneHotEncoder makes of column c: infrequent categories share one, one may be dropped."""
    rare = getattr(encoder, "infrequent_categories_", [None] * (c + 1))[c]
    dropped = encoder.drop_idx_ is not None and encoder.drop_idx_[c] is not None
    return len(encoder.categories_[c]) - (0 if rare is None else len(rare) - 1) - dropped


def _ordinal(encoder: Any, inputs: ModelInputs) -> ModelInputs:
    bound, table = _encoded(encoder, inputs)
    dtype = np.dtype(encoder.dtype).name
    return ModelInputs(inputs.schema, tuple(wire.coded(table[: len(wire.atoms), c], dtype) for c, wire in enumerate(bound.wires)))


def _target(encoder: Any, inputs: ModelInputs) -> ModelInputs:
    """The mean of the target per value, or one per value and class."""
    bound, table = _encoded(encoder, inputs)
    width = table.shape[1] // len(bound)
    return ModelInputs(
        inputs.schema,
        tuple(wire.coded(table[: len(wire.atoms), c * width + k]) for c, wire in enumerate(bound.wires) for k in range(width)),
    )


def _encoded(encoder: Any, inputs: ModelInputs) -> tuple[ModelInputs, NDArray[Any]]:
    """The inputs, and what the encoder itself makes of a table whose rows are their first atoms, second atoms, ..."""
    bound = bind(encoder, inputs)
    for c, wire in enumerate(bound.wires):
        refuse_numbers(wire, name_of(encoder))
        if getattr(encoder, "handle_unknown", None) == "error":
            _refuse_unknown(encoder, wire, encoder.categories_[c])
    asked = np.empty((max(len(wire.atoms) for wire in bound.wires), len(bound)), dtype=object)
    for c, wire in enumerate(bound.wires):
        asked[:, c] = wire.atoms + wire.atoms[-1:] * (len(asked) - len(wire.atoms))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = dense(encoder.transform(asked))
    return bound, np.asarray(made, dtype=np.float64)


def _refuse_unknown(encoder: Any, wire: Wire, categories: Sequence[Any]) -> None:
    for atom in wire.atoms:
        if not any(category is atom or category == atom or (_is_nan(category) and _is_nan(atom)) for category in categories):
            known = [plain(category) for category in categories]
            raise PredictorError(
                f"Feature {wire.name!r}", f"have only values that {name_of(encoder)} knows", repr(atom),
                f"it knows {known}; drop the value from the schema, or fit it with another handle_unknown", feature=wire.name,
            )  # fmt: skip


def _is_nan(value: Any) -> bool:
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


# -- imputer ----------------------------------------------------------------------------------------------------------


def _imputer(imputer: Any, inputs: ModelInputs) -> ModelInputs:
    """Fills missing values; on complete rows, nothing. An indicator is 1 where the value was missing."""
    by = name_of(imputer)
    bound = bind(imputer, inputs)
    block = cast(bound, dtype_of(bound), by) if imputer.strategy in ("most_frequent", "constant") else as_block(bound, by)
    marks = [_marks(imputer, wire, inputs) for wire in block.wires]
    wires = [
        _filled(wire, marks[c], imputer.statistics_[c])
        for c, wire in enumerate(block.wires)
        if imputer.keep_empty_features or not _is_nan(imputer.statistics_[c])
    ]
    if imputer.add_indicator:
        wires += [block.wires[c].coded(marks[c], block.wires[c].dtype) for c in imputer.indicator_.features_]
    return replace(block, wires=tuple(wires))


def _filled(wire: Wire, marks: Sequence[bool], statistic: Any) -> Wire:
    if not any(marks):
        return wire
    fill = np.asarray(statistic).astype(wire.dtype).item()
    return replace(wire, atoms=tuple(fill if mark else atom for atom, mark in zip(wire.atoms, marks, strict=True)))


def _marks(imputer: Any, wire: Wire, inputs: ModelInputs) -> list[bool]:
    """Which atoms an imputer takes for missing; refuses a marker among the numbers, and missing values it leaves."""
    marker = imputer.missing_values
    if marker is pd.NA:
        return [plain(atom) is None for atom in wire.atoms]
    if _is_nan(marker):
        return [_is_nan(atom) for atom in wire.atoms]
    if any(_is_nan(atom) for atom in wire.atoms):
        raise PredictorError(
            f"Feature {wire.name!r}", f"have its missing values marked as SimpleImputer expects, by {marker!r}", "NaN",
            "fit the imputer with missing_values=np.nan, or put one that is before it", feature=wire.name,
        )  # fmt: skip
    if isinstance(marker, numbers.Real) and wire.numeric and _among_numbers(float(marker), wire, inputs):
        raise PredictorError(
            f"Feature {wire.name!r}", f"not have the number {marker}, which SimpleImputer takes for missing",
            "a range that holds it",
            f"declare it a code of a Mixed feature: features={{{wire.name!r}: {{'codes': [{marker}]}}}}", feature=wire.name,
        )  # fmt: skip
    return [atom is marker or atom == marker for atom in wire.atoms]


def _among_numbers(marker: float, wire: Wire, inputs: ModelInputs) -> bool:
    """Whether a number of the feature may have become the marker."""
    feature: Any = inputs.schema.features[wire.feature]
    if all(step.op in CASTS for step in wire.steps):
        return bool(feature.fits(np.array([marker]))[0])
    ends = wire.apply(np.array([feature.lower, feature.upper]))
    return bool(ends.min() <= marker <= ends.max())


def _indicator(transformer: Any, inputs: ModelInputs) -> ModelInputs:
    """1 where a value is missing."""
    by = name_of(transformer)
    bound = as_numbers(bind(transformer, inputs), by)
    marks = [_marks(transformer, wire, inputs) for wire in bound.wires]
    chosen = transformer.features_ if transformer.features == "missing-only" else range(len(bound))
    fresh = [c for c, of_wire in enumerate(marks) if any(of_wire) and c not in chosen]
    if fresh and transformer.error_on_new:
        name = bound.wires[fresh[0]].name
        raise PredictorError(
            f"Feature {name!r}", f"not be missing where {by} has not seen it missing", "a missing value",
            "fit it with error_on_new=False, or drop the missing value from the schema", feature=name,
        )  # fmt: skip
    return ModelInputs(inputs.schema, tuple(bound.wires[c].coded(marks[c], "bool") for c in chosen))


def _imputer_by_rows(imputer: Any, inputs: ModelInputs) -> ModelInputs:
    """An imputer that looks at other columns: it does nothing to rows that are complete."""
    by = name_of(imputer)
    block = as_block(bind(imputer, inputs), by)
    for wire in block.wires:
        if any(_marks(imputer, wire, inputs)):
            raise UnsupportedModelError(
                f"Feature {wire.name!r}", f"not be missing where {by} fills it in", "a missing value",
                f"{by} fills a value from all columns of a row, which is no function of one feature: use SimpleImputer, or keep"
                " missing values out of the schema and fill them in first", feature=wire.name,
            )  # fmt: skip
    if imputer.add_indicator:
        shown = [block.wires[c].coded([False] * len(block.wires[c].atoms)) for c in imputer.indicator_.features_]
        return replace(block, wires=(*block.wires, *shown))
    return block


for _name, _steps in {
    "StandardScaler": standard_steps,
    "MinMaxScaler": _min_max,
    "RobustScaler": _robust,
    "MaxAbsScaler": _max_abs,
}.items():
    register_transformer(f"sklearn.{_name}", _scaler(_steps))
register_transformer("sklearn.OneHotEncoder", _one_hot)
register_transformer("sklearn.OrdinalEncoder", _ordinal)
register_transformer("sklearn.SimpleImputer", _imputer)
register_transformer("sklearn.TargetEncoder", _target)
register_transformer("sklearn.MissingIndicator", _indicator)
register_transformer("sklearn.KNNImputer", _imputer_by_rows)
register_transformer("sklearn.IterativeImputer", _imputer_by_rows)
