"""The paper's queries: a case file as our schema and network, and the tables that they were made from.

All factuals if the whole files lie beside the checkout (`../shared/cases`), else the tenth of them in `tests/data/cases`.
"""

from __future__ import annotations

import gzip
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

import likely
from benchmarks.cases import network_of, row_of, rules_of, schema_of
from likely.datasets import credit, gmsc

__all__ = ["network_of", "row_of", "rules_of", "schema_of"]

SHARED = Path(__file__).parents[2] / "shared"
FIXTURES = Path(__file__).parent / "data" / "cases"
FOLDER = SHARED / "cases" if (SHARED / "cases").is_dir() else FIXTURES
FILES = sorted(FOLDER.glob("*.json.gz"))
DATA_SETS = ("credit", "adult", "gmsc")

#: a copy of *Give Me Some Credit*, as the paper's authors or as Kaggle have it, where there is one: nobody may embed it
GMSC = next((path for path in (SHARED / "data" / "gmsc.csv.gz", Path(os.environ.get(gmsc.VARIABLE, ""))) if path.is_file()), None)
#: the data sets of the paper whose tables are here
TABLES = DATA_SETS if GMSC else DATA_SETS[:2]

#: their value -> ours, per column, where they differ
VALUES: dict[str, dict[str, dict[Any, str]]] = {
    "credit": {**credit.CODEBOOK, "class": {"Good": "good", "Bad": "bad"}},
    "adult": {"workclass": {"?": "Unknown"}, "occupation": {"?": "Unknown"}},
    "gmsc": {},
}


def path_of(name: str) -> Path:
    """The file of a case, "credit-0" say."""
    return FOLDER / f"{name}.json.gz"


def name_of(path: Path) -> str:
    """The name of a case file: "credit-0" of "credit-0.json.gz"."""
    return path.name.partition(".")[0]


@cache
def data_set(name: str) -> likely.datasets.Dataset:
    """One of `TABLES`, in our names and values."""
    return likely.datasets.load(name, GMSC if name == "gmsc" else None)


def paper_table(name: str) -> pd.DataFrame:
    """One of `TABLES` as the paper's code reads it: our data set with its names and values, the class last."""
    data = data_set(name)
    table = pd.concat([data.X, data.y], axis="columns")
    for column in table:
        theirs = {ours: value for value, ours in VALUES[name].get(str(column), {}).items()}
        if theirs:
            table[column] = table[column].astype(object).map(lambda value, theirs=theirs: theirs.get(value, value))
    return table.rename(columns=credit.COLUMNS) if name == "credit" else table


@cache
def load(path: Path) -> dict[str, Any]:
    """The case file's JSON."""
    with gzip.open(path) as file:
        return json.load(file)
