"""The tables and classes that people give to an explainer, as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from likely.circuit import Circuit
from likely.errors import ExplainerError, SchemaError
from likely.explain.model import UserModel
from likely.explain.training import UNKNOWN_CLASS, Sample
from likely.predictor import Form
from likely.schema import Schema
from likely.schema.frames import as_pandas
from likely.schema.values import Numbers, Value, plain


def table_of(X: pd.DataFrame | Numbers, schema: Schema | None) -> pd.DataFrame:
    """A DataFrame as it is; an array with the schema's columns.

    Args:
        X: What was given for a table.
        schema: It names the columns of an array.
    """
    X = as_pandas(X)
    if isinstance(X, pd.DataFrame):
        return X
    if schema is None or np.ndim(X) != 2 or np.shape(X)[1] != len(schema):
        rule = "be a DataFrame, or an array with a schema of as many features"
        got = f"{type(X).__name__} of shape {np.shape(X)}"
        raise SchemaError("A table", rule, got, "use pd.DataFrame(X, columns=[...])")
    return pd.DataFrame(X, columns=list(schema.names))


def encoded(table: pd.DataFrame, schema: Schema) -> tuple[Numbers, dict[int, str]]:
    """A table as doubles, and why rows with a cell that cannot be read cannot be, by their places; such cells are NaN.

    Args:
        table: With the columns of the schema.
        schema: What a row may be.
    """
    schema.encode(table.iloc[:0])  # what is wrong with the columns is wrong with all rows
    rows, reasons = np.empty((len(table), len(schema))), dict[int, str]()
    for j, feature in enumerate(schema.features):
        column = table[feature.name]
        try:
            rows[:, j] = feature.encode(column)
        except SchemaError:
            for i, cell in enumerate(column):
                try:
                    rows[i, j] = feature.number(cell)
                except SchemaError as error:
                    rows[i, j] = np.nan
                    reasons.setdefault(i, str(error))
    return rows, reasons


def decided_places(model: UserModel, rows: Numbers) -> NDArray[np.intp]:
    """The places of the classes that the model decides; `UNKNOWN_CLASS` for a row that is not complete.

    A regressor decides for no class: all its rows are in one place.

    Args:
        model: The user's model.
        rows: As doubles.
    """
    if not model.form.link.classifies:
        return np.zeros(len(rows), dtype=np.intp)
    complete = ~np.isnan(rows).any(axis=1)
    decided = np.full(len(rows), UNKNOWN_CLASS, dtype=np.intp)
    decided[complete] = class_places(model.labels(rows[complete]), model.form)
    return decided


def calibration_sample(calibration: Any, schema: Schema, circuit: Circuit, model: UserModel) -> Sample:
    """The rows of `calibration=(X, y)`.

    Args:
        calibration: What was given for it.
        schema: What a row may be.
        circuit: How likely a row is.
        model: The user's model.
    """
    if not isinstance(calibration, tuple) or len(calibration) != 2 or not np.size(calibration[0]):
        got = f"{len(calibration)} parts" if isinstance(calibration, tuple) else type(calibration).__name__
        raise ExplainerError("calibration", "be a table with rows and their classes", got, "write calibration=(X, y)")
    table = table_of(calibration[0], schema)
    rows = schema.encode(table)
    labels = labels_of(calibration[1], decided_places(model, rows), model.form, table.index)
    return Sample.of(rows, labels, circuit, class_places(labels, model.form))


def labels_of(y: Any, decided: NDArray[np.intp], form: Form, index: pd.Index[Any]) -> pd.Series[Any]:
    """The classes of the training rows; what the model decides, where none are given. A regressor has none.

    Args:
        y: What was given for them.
        decided: The places of the classes that the model decides.
        form: Of the model.
        index: Of the table.
    """
    if not form.link.classifies:
        return pd.Series(0, index=index, name="class")
    if y is None:
        return pd.Series([form.classes[k] if k >= 0 else None for k in decided], index=index, name="class")
    y = as_pandas(y)
    column = pd.Series(y) if np.ndim(y) == 1 else None
    if column is None or len(column) != len(index):
        raise SchemaError("y", f"have one class per row ({len(index)})", f"shape {np.shape(y)}", "give a Series or a list")
    return column


def class_places(labels: Sequence[Value] | pd.Series[Any], form: Form) -> NDArray[np.intp]:
    """The places of labels among the model's classes; `UNKNOWN_CLASS` where the model does not know one.

    Args:
        labels: One per row.
        form: Of the model.
    """
    if not form.link.classifies:
        return np.zeros(len(labels), dtype=np.intp)
    places = {label: k for k, label in enumerate(form.classes)}
    return np.array([places.get(plain(label), UNKNOWN_CLASS) for label in labels], dtype=np.intp)
