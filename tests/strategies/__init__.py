"""Hypothesis strategies by room: features, rules, rows and schemas; circuits; predictors; whole problems.

They compose: `features` -> `schemas` -> `rows`, `factuals`, `conditions`, `constraints`, `costs`; and `features` ->
`leaves` -> `circuits` -> `circuit_rows`, `boxes`; and `finite_schemas`, `forms`, `goals`, `plausibilities` ->
`problems`. All are small by default (a few features of a few values), because what is wrong with a large schema is wrong
with a small one.
"""

from __future__ import annotations

from likely.circuit import FLOOR
from tests.strategies.blocks import block_circuits, block_rows, blocks, number_features, warps
from tests.strategies.circuit import (
    boxes,
    circuit_rows,
    circuits,
    circuits_over,
    histograms,
    leaves,
    rows_inside,
    some_mixture,
    value_rows,
)
from tests.strategies.finite import finite_schemas, real_schemas, small_features
from tests.strategies.predictor import forms
from tests.strategies.problem import hard_problems, problems, problems_over
from tests.strategies.schema import (
    AWKWARD,
    DATES,
    STEPS,
    columns,
    conditions,
    constraints,
    costs,
    factuals,
    features,
    numbers,
    prices,
    row_numbers,
    rows,
    schemas,
    tables,
    texts,
    user_row,
)
from tests.strategies.sources import generators

__all__ = [
    "AWKWARD",
    "DATES",
    "FLOOR",
    "STEPS",
    "block_circuits",
    "block_rows",
    "blocks",
    "boxes",
    "circuit_rows",
    "circuits",
    "circuits_over",
    "columns",
    "conditions",
    "constraints",
    "costs",
    "factuals",
    "features",
    "finite_schemas",
    "forms",
    "generators",
    "hard_problems",
    "histograms",
    "leaves",
    "number_features",
    "numbers",
    "prices",
    "problems",
    "problems_over",
    "real_schemas",
    "row_numbers",
    "rows",
    "rows_inside",
    "schemas",
    "small_features",
    "some_mixture",
    "tables",
    "texts",
    "user_row",
    "value_rows",
    "warps",
]
