"""Encoders of the package `category_encoders`: tables, found out by asking the encoder itself for every value of every column.

A column that it makes is the table of the one column that it changes with. One that changes with several is refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor.registry import register_transformer
from likely.predictor.wires import ModelInputs, Wire, refuse_numbers
from likely.schema.features import Continuous, Integer, Mixed

_ENCODERS = (
    "BackwardDifferenceEncoder", "BaseNEncoder", "BinaryEncoder", "CatBoostEncoder", "CountEncoder", "GLMMEncoder", "GrayEncoder",
    "HelmertEncoder", "JamesSteinEncoder", "LeaveOneOutEncoder", "MEstimateEncoder", "OneHotEncoder", "OrdinalEncoder",
    "PolynomialEncoder", "QuantileEncoder", "RankHotEncoder", "SumEncoder", "SummaryEncoder", "TargetEncoder", "WOEEncoder",
)  # fmt: skip


def _read(encoder: Any, inputs: ModelInputs) -> ModelInputs:
    by = type(encoder).__name__
    names = list(getattr(encoder, "feature_names_in_", None) or ())
    if not names:
        raise PredictorError(f"A {by}", "be fitted", "one that is not", "call fit first")
    bound = inputs.named(names, by) if inputs.untouched else inputs
    bound = bound.counted(len(names), by)
    usual = [_usual(bound, wire) for wire in bound.wires]
    tables, made = _tables(encoder, names, bound, usual)
    wires = []
    for k, name in enumerate(made):
        changing = [c for c, table in tables.items() if (table[:, k] != table[0, k]).any()]
        if len(changing) > 1:
            raise UnsupportedModelError(
                f"A {by}", "make each column of one column", f"{name!r}, which depends on {len(changing)} columns",
                "encode one column at a time",
            )  # fmt: skip
        if not changing and name in names and names.index(name) not in tables:
            wires.append(bound.wires[names.index(name)])
        else:
            place = changing[0] if changing else next(iter(tables))
            wires.append(bound.wires[place].coded(tables[place][:, k]))
    return ModelInputs(inputs.schema, tuple(wires))


def _usual(inputs: ModelInputs, wire: Wire) -> Any:
    """Some value of a column."""
    feature = inputs.schema.features[wire.feature]
    return feature.lower if isinstance(feature, Continuous | Integer | Mixed) else wire.atoms[0]


def _tables(
    encoder: Any, names: Sequence[Any], bound: ModelInputs, usual: Sequence[Any]
) -> tuple[dict[int, NDArray[np.float64]], list[Any]]:
    """For each column that is encoded, what the encoder makes of each of its values, beside usual ones; and the names of that."""
    tables: dict[int, NDArray[np.float64]] = {}
    made: list[Any] = []
    for c, wire in enumerate(bound.wires):
        if names[c] not in list(encoder.cols):
            continue
        refuse_numbers(wire, type(encoder).__name__)
        columns = {name: [value] * len(wire.atoms) for name, value in zip(names, usual, strict=True)}
        columns[names[c]] = list(wire.atoms)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            encoded = encoder.transform(pd.DataFrame(columns))
        made = list(encoder.get_feature_names_out())
        tables[c] = np.asarray(encoded, dtype=np.float64)
    if not tables:
        made = list(names)
    return tables, made


for _name in _ENCODERS:
    register_transformer(f"category_encoders.{_name}", _read)
