"""What goes into a learner: rows, classes and weights, encoded and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

import numpy as np
import pandas as pd

from likely.circuit.learning.bins import Indices
from likely.errors import CircuitError
from likely.schema import Binary, Categorical, Feature, Schema
from likely.schema.frames import as_pandas
from likely.schema.infer import infer_feature
from likely.schema.times import EXACT_INTEGER, UNITS, clock_of, holds_moments
from likely.schema.values import LARGEST, Name, Numbers

#: The weights of rows sum up to no more: rows are counted in doubles, and log-likelihoods of more would lose their nats.
MOST_ROWS = 1e12
#: How far beyond what was seen numbers may lie where nobody gave bounds, as a share of its range.
ROOM = 1.25
#: Days of datetime64[ns]: the years 1678 to 2261.
_DAYS = 106_000.0
#: A class column with at most as many different values is a list of classes; with more, it is a column of numbers.
MOST_CLASSES = 50


@dataclass(frozen=True)
class Table:
    """What to learn from: encoded rows, the class last, and their weights."""

    features: tuple[Feature, ...]
    target: Feature | None
    rows: Numbers
    weights: Numbers
    #: Which rows of the table that was given these are.
    places: Indices

    @property
    def variables(self) -> tuple[Feature, ...]:
        """The features, then the target."""
        return self.features if self.target is None else (*self.features, self.target)

    def without(self, rows: Indices) -> Table:
        """The table without the rows at some places of it."""
        kept = np.delete(np.arange(len(self.rows)), rows)
        return replace(self, rows=self.rows[kept], weights=self.weights[kept], places=self.places[kept])


def table_of(X: pd.DataFrame | Numbers, y: Any, schema: Schema | None, weights: Any) -> Table:
    """The table that `learn` was given, encoded; refuses what is none."""
    X, y = as_pandas(X), as_pandas(y)
    if not isinstance(X, pd.DataFrame) and not _is_encoded(X, schema):
        raise CircuitError("A table to learn from", "be a DataFrame", type(X).__name__, "use pd.DataFrame(X, columns=[...])")
    if 0 in X.shape:
        raise CircuitError(
            "A table to learn from", "have rows and columns", f"{X.shape[0]} x {X.shape[1]}", "check how it was read"
        )
    if not isinstance(schema, (Schema, type(None))):
        raise CircuitError("schema", "be a Schema", type(schema).__name__, "use likely.Schema.infer(X)")
    if isinstance(X, pd.DataFrame):
        schema = open_schema(X) if schema is None else schema
        columns = [schema.encode(X)]
    else:
        columns = [X]
    assert schema is not None, "rows that are encoded come with a schema"
    target = None
    if y is not None:
        column = _class_column(y, len(X))
        target = _target(column, _free_name(column.name, schema.names))
        columns.append(target.encode(column)[:, None])
    counted = row_weights(weights, len(X))
    kept = np.flatnonzero(counted > 0)  # a row that does not count must not make a bin either
    return Table(schema.features, target, np.concatenate(columns, axis=1)[kept], counted[kept], kept)


def open_schema(X: pd.DataFrame) -> Schema:
    """What the columns are, where nobody said it: as `Schema.infer` does, with room for numbers beyond those seen.

    The least and the greatest of some rows are no bounds of what rows can be. What was never negative stays so.
    """
    return Schema(tuple(_with_room(feature) for feature in Schema.infer(X).features))


def _with_room(feature: Feature) -> Feature:
    if not feature.numeric or feature.lower == feature.upper:
        return feature
    room = ROOM * (feature.upper - feature.lower)
    if feature.grid is not None:
        room = float(np.ceil(room / feature.grid) * feature.grid)
    least, most = _limits(feature)
    if not holds_moments(feature.dtype):
        least, most = 0.0 if feature.lower >= 0 else least, 0.0 if feature.upper <= 0 else most
    low, high = max(feature.lower - room, least), min(feature.upper + room, most)
    return feature.widened(low).widened(high)


def _limits(feature: Feature) -> tuple[float, float]:
    """The least and the greatest number that the column's dtype can hold."""
    if (clock := clock_of(feature)) is not None:
        most = np.floor(_DAYS * (UNITS["days"] / clock.size))
        return max(clock.limits[0], -most), min(clock.limits[1], most)
    if "int" in feature.dtype.lower():
        kind = np.iinfo(feature.dtype.lower())
        return max(float(kind.min), -float(EXACT_INTEGER)), min(float(kind.max), float(EXACT_INTEGER))
    widest = float(np.finfo(np.float32).max) if feature.dtype.lower() == "float32" else LARGEST / 2
    return -widest, widest


def _is_encoded(X: Any, schema: Any) -> TypeGuard[Numbers]:
    """Whether these are rows as the schema encodes them."""
    return isinstance(X, np.ndarray) and isinstance(schema, Schema) and X.ndim == 2 and X.shape[1] == len(schema)


def _class_column(y: Any, count: int) -> pd.Series[Any]:
    try:
        column = pd.Series(y)
    except (TypeError, ValueError):
        what = f"shape {np.shape(y)}" if hasattr(y, "shape") else type(y).__name__
        raise CircuitError("y", "be one column", what, "give a Series, a list or an array of one dimension") from None
    if len(column) != count:
        raise CircuitError("y", f"have one class per row ({count})", len(column), "give as many")
    return column


def _free_name(name: Any, taken: Sequence[Name]) -> str:
    """The name of the class: the column's own, or "class", and no feature's."""
    free = name if isinstance(name, str) and name else "class"
    while free in taken:
        free += "'"
    return free


def _target(column: pd.Series[Any], name: str) -> Feature:
    """The class as a feature: a list of classes in order, or a number if it has very many values."""
    feature = infer_feature(column, name)
    classes = column.dropna().unique()
    if not feature.numeric or len(classes) > MOST_CLASSES:
        return feature
    ordered = sorted(classes, key=lambda value: (isinstance(value, str), value))  # numbers first, where there are texts too
    values = [value.item() if isinstance(value, np.generic) else value for value in ordered]
    return (Binary if len(values) == 2 else Categorical)(name, tuple(values), dtype=str(column.dtype))


def row_weights(weights: Any, count: int) -> Numbers:
    """The weights of rows as numbers, 1 each if there are none; refuses what cannot be counts of rows.

    A weight is how many rows a row stands for. So all together stand for one row at least, or there is nothing to learn
    from, and for `MOST_ROWS` at most.
    """
    if weights is None:
        return np.ones(count)
    rule = f"be {count} numbers of at least 0, not all 0"
    try:
        numbers = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise CircuitError("The weights of rows", rule, type(weights).__name__, "leave them out") from None
    if numbers.shape != (count,):
        raise CircuitError("The weights of rows", rule, f"shape {numbers.shape}", "leave them out")
    wrong = numbers[~(np.isfinite(numbers) & (numbers >= 0))]
    if len(wrong) or not numbers.any():
        raise CircuitError("The weights of rows", rule, wrong[0] if len(wrong) else "only zeros", "leave them out")
    with np.errstate(over="ignore"):
        total = float(numbers.sum())
    if not 1 <= total <= MOST_ROWS:
        hint = "scale them: a weight is how many rows a row stands for"
        raise CircuitError("The weights of rows", f"sum to a number of rows, from 1 to {MOST_ROWS:g}", f"{total:g}", hint)
    return numbers
