"""Transformers of scikit-learn, column by column: what each makes of the wires it is given."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor.registry import TransformerReader, register_transformer
from likely.predictor.sklearn.common import as_block, bind, name_of
from likely.predictor.wires import Inputs, Step, Wire, ordinal, refuse_numbers
from likely.schema.values import plain


def _scaler(steps: Callable[[Any, int, str], list[Step]]) -> TransformerReader:
    """A reader of a scaler, from its steps for column c of a given precision."""

    def read(scaler: Any, inputs: Inputs) -> Inputs:
        by = name_of(scaler)
        wires = as_block(bind(scaler, inputs), by).wires
        return Inputs(inputs.schema, tuple(w.then(*steps(scaler, c, w.dtype), by=by) for c, w in enumerate(wires)))

    return read


def _standard(scaler: Any, c: int, dtype: str) -> list[Step]:
    # StandardScaler casts its parameters to the data's precision first.
    shift = [Step("subtract", float(np.dtype(dtype).type(scaler.mean_[c])))] if scaler.with_mean else []
    return shift + ([Step("divide", float(np.dtype(dtype).type(scaler.scale_[c])))] if scaler.with_std else [])


def _min_max(scaler: Any, c: int, dtype: str) -> list[Step]:
    low, high = scaler.feature_range
    clip = [Step("at_least", float(low)), Step("at_most", float(high))] if scaler.clip else []
    return [Step("multiply", float(scaler.scale_[c])), Step("add", float(scaler.min_[c])), *clip]


def _robust(scaler: Any, c: int, dtype: str) -> list[Step]:
    shift = [Step("subtract", float(scaler.center_[c]))] if scaler.with_centering else []
    return shift + ([Step("divide", float(scaler.scale_[c]))] if scaler.with_scaling else [])


def _max_abs(scaler: Any, c: int, dtype: str) -> list[Step]:
    clip = [Step("at_least", -1.0), Step("at_most", 1.0)] if getattr(scaler, "clip", False) else []
    return [Step("divide", float(scaler.scale_[c])), *clip]


def _one_hot(encoder: Any, inputs: Inputs) -> Inputs:
    by = name_of(encoder)
    wires: list[Wire] = []
    for c, wire in enumerate(bind(encoder, inputs).wires):
        refuse_numbers(wire, by)
        rows = np.stack([_one_hot_row(encoder, c, wire, atom) for atom in wire.atoms])
        kept = [k for k in range(rows.shape[1]) if encoder.drop_idx_ is None or encoder.drop_idx_[c] != k]
        wires += [replace(wire, atoms=tuple(rows[:, k].tolist()), steps=(), dtype="float64") for k in kept]
    return Inputs(inputs.schema, tuple(wires))


def _one_hot_row(encoder: Any, c: int, wire: Wire, atom: Any) -> Any:
    """The indicators of one value, before one of them is dropped; infrequent values share the last one."""
    categories = encoder.categories_[c]
    infrequent = getattr(encoder, "_infrequent_indices", [None] * len(encoder.categories_))[c] if _groups(encoder) else None
    rare = set() if infrequent is None else set(np.asarray(infrequent).tolist())
    columns = [k for k in range(len(categories)) if k not in rare]
    row = np.zeros(len(columns) + bool(rare))
    place = _place(atom, categories)
    if place is None:
        if encoder.handle_unknown in ("error", "warn") and not (encoder.handle_unknown == "warn" and rare):
            raise _unknown(encoder, wire, atom, categories)
        if rare and encoder.handle_unknown in ("infrequent_if_exist", "warn"):
            row[-1] = 1.0
    elif place in rare:
        row[-1] = 1.0
    else:
        row[columns.index(place)] = 1.0
    return row


def _groups(encoder: Any) -> bool:
    return bool(getattr(encoder, "_infrequent_enabled", False))


def _place(atom: Any, categories: Any) -> int | None:
    """Where a value stands among an encoder's categories; missing values are alike."""
    for k, category in enumerate(categories):
        known = plain(category)
        if (known is None and _gone(atom)) or (known is not None and not _gone(atom) and bool(known == atom)):
            return k
    return None


def _gone(atom: Any) -> bool:
    return atom is None or (isinstance(atom, float) and math.isnan(atom))


def _unknown(encoder: Any, wire: Wire, atom: Any, categories: Any) -> PredictorError:
    return PredictorError(
        f"Feature {wire.name!r}", f"have only values that {name_of(encoder)} knows", repr(atom),
        f"it knows {[plain(c) for c in categories]}; drop the value from the schema or use handle_unknown='ignore'", feature=wire.name,
    )  # fmt: skip


def _ordinal(encoder: Any, inputs: Inputs) -> Inputs:
    by = name_of(encoder)
    if _groups(encoder):
        raise UnsupportedModelError("An OrdinalEncoder", "keep every category", "min_frequency or max_categories", "leave them out")

    def code(c: int, wire: Wire, atom: Any) -> float:
        place = _place(atom, encoder.categories_[c])
        if place is not None:
            missing = plain(encoder.categories_[c][place]) is None
            return float(encoder.encoded_missing_value) if missing else float(place)
        if encoder.handle_unknown == "error":
            raise _unknown(encoder, wire, atom, encoder.categories_[c])
        return float(encoder.unknown_value)

    wires = []
    for c, wire in enumerate(bind(encoder, inputs).wires):
        wires.append(ordinal(wire, lambda atom, c=c, wire=wire: code(c, wire, atom), by))  # type: ignore[misc]
    return Inputs(inputs.schema, tuple(wires))


def _imputer(imputer: Any, inputs: Inputs) -> Inputs:
    """Fills missing values; on complete rows, nothing. An indicator is 1 where the value was missing."""
    bound = bind(imputer, inputs)
    gone = [_marks(imputer.missing_values, wire) for wire in bound.wires]
    filled = [
        replace(wire, atoms=tuple(plain(imputer.statistics_[c]) if mark else atom for atom, mark in zip(wire.atoms, gone[c], strict=True)))
        for c, wire in enumerate(bound.wires)
    ]
    for c, wire in enumerate(filled):
        if plain(imputer.statistics_[c]) is None and not imputer.keep_empty_features:
            raise PredictorError(
                f"Feature {wire.name!r}", "have had values when SimpleImputer was fitted", "only missing ones", "drop the column",
                feature=wire.name,
            )  # fmt: skip
    indicated = imputer.indicator_.features_ if imputer.add_indicator else ()
    marks = [
        replace(bound.wires[c], atoms=tuple(float(mark) for mark in gone[c]), steps=(), constant=0.0 if bound.wires[c].numeric else None)
        for c in indicated
    ]
    return Inputs(inputs.schema, (*filled, *marks))


def _marks(missing: Any, wire: Wire) -> list[bool]:
    """Which atoms an imputer takes for missing; refuses a marker that is among the feature's numbers."""
    marker = plain(missing)
    if marker is not None and wire.numeric and not isinstance(marker, str):
        raise UnsupportedModelError(
            "A SimpleImputer", "have NaN as missing_values on numbers", repr(missing), "declare that number a code of a Mixed feature"
        )
    return [_gone(atom) if marker is None else atom == marker for atom in wire.atoms]


def _function(transformer: Any, inputs: Inputs) -> Inputs:
    if transformer.func is not None:
        called = getattr(transformer.func, "__name__", repr(transformer.func))
        raise UnsupportedModelError("A FunctionTransformer", "be the identity (func=None)", called, "transform the columns before")
    return inputs


for _name, _steps in {
    "StandardScaler": _standard,
    "MinMaxScaler": _min_max,
    "RobustScaler": _robust,
    "MaxAbsScaler": _max_abs,
}.items():
    register_transformer(f"sklearn.{_name}", _scaler(_steps))
register_transformer("sklearn.OneHotEncoder", _one_hot)
register_transformer("sklearn.OrdinalEncoder", _ordinal)
register_transformer("sklearn.SimpleImputer", _imputer)
register_transformer("sklearn.FunctionTransformer", _function)
