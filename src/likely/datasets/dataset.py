"""`Dataset`: a table, its classes and its schema; and how the embedded ones are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import pandas as pd

from likely.schema import Schema

#: The index of every data set: where the row was in the original file.
ROW_NUMBER = "id"


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A data set of the paper: rows, classes, and a schema that holds the paper's constraints.

    The index of `X` and `y` is the row's number in the original file. Bounds and costs of the schema come from all
    rows; `Schema.infer(part, features={f.name: f for f in schema.features}, rules=schema.constraints)` takes the costs
    from a part of them.
    """

    #: "credit", "adult" or "gmsc"
    name: str
    #: one column per feature; values of discrete features are pandas categories, those of ordinal ones in rank order
    X: pd.DataFrame
    #: the classes, named as the target column
    y: pd.Series[Any]
    #: kinds, bounds and values of the features, the paper's constraints and costs
    schema: Schema
    #: who made the data, and where they were published
    source: str
    #: the terms under which the data may be used
    licence: str

    def __repr__(self) -> str:
        classes = ", ".join(f"{value!r} {count:,}" for value, count in self.y.value_counts().items())
        return f"Dataset {self.name!r}: {len(self.X):,} rows, {len(self.schema)} features, {self.y.name!r} is {classes}"


def read_embedded(name: str, dtypes: Mapping[str, Any]) -> pd.DataFrame:
    """The table of a data set that is part of the package, these columns in these dtypes."""
    with files("likely.datasets").joinpath("data", f"{name}.csv.gz").open("rb") as file:
        return pd.read_csv(file, compression="gzip", index_col=ROW_NUMBER, keep_default_na=False, dtype=dict(dtypes))
