"""A table with every kind of column, and how a reader's wires are compared with a transformer."""

from __future__ import annotations

import warnings

import numpy as np

from likely.predictor import ModelInputs
from likely.predictor.reading import inputs_of, random_rows
from likely.schema import Schema
from tests.contracts.reader import mixed_schema, mixed_table

TABLE, TWO, _ = mixed_table()
SCHEMA = mixed_schema(TABLE)
NUMBERS, TEXTS = ["age", "amount", "rate"], ["job", "school", "owner"]


def dense(made) -> np.ndarray:
    return np.asarray(made.toarray() if hasattr(made, "toarray") else made, dtype=np.float64)


def wires_of(transformer, schema: Schema) -> ModelInputs:
    return inputs_of(None, schema, transformer)


def agree(transformer, schema: Schema, *, as_array: bool = False, count: int = 200) -> np.ndarray:
    """Compare wires and transformer on random rows, to the last bit; gives what both say."""
    rows = random_rows(schema, count, random_state=5)
    frame = schema.decode(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = dense(transformer.transform(frame.to_numpy() if as_array else frame))
    ours = wires_of(transformer, schema).read(rows, "the test")
    np.testing.assert_array_equal(ours, theirs)
    return theirs
