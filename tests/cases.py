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
from likely.datasets import credit, gmsc
from likely.predictor import Form, Indicator, Link, NetworkBuilder, Scaled
from likely.predictor.encoding import encoded
from likely.schema import Constraint, Feature
from likely.schema.costs import Cost, MoveCost, SwitchCost

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


def feature_of(item: dict[str, Any]) -> Feature:
    name, kind = item["name"], item["kind"]
    if kind == "continuous":
        return likely.Continuous(name, *item["bounds"])
    if kind == "integer":
        return likely.Integer(name, *item["bounds"])
    return {"categorical": likely.Categorical, "ordinal": likely.Ordinal, "binary": likely.Binary}[kind](name, item["values"])


def cost_of(item: dict[str, Any]) -> Cost:
    if "unit_cost" in item:
        return MoveCost(item["unit_cost"], item["unit_cost"])
    if "flip_cost" in item:
        return SwitchCost((item["flip_cost"] / 2,) * 2)
    return SwitchCost(tuple(item["switch_cost"]))


def rules_of(case: dict[str, Any]) -> list[Constraint]:
    rules: list[Constraint] = [likely.Immutable(f["name"]) for f in case["features"] if f["immutable"]]
    rules += [likely.Increasing(f["name"]) for f in case["features"] if f["monotone"] == "increasing"]
    rules += [likely.Decreasing(f["name"]) for f in case["features"] if f["monotone"] == "decreasing"]
    rules += [likely.Implies(likely.when.increases(a), likely.when.increases(b)) for a, b in case["increase_implies_increase"]]
    return rules


def schema_of(case: dict[str, Any]) -> likely.Schema:
    """The case's features, costs and rules."""
    features = case["features"]
    return likely.Schema(tuple(map(feature_of, features)), tuple(rules_of(case)), tuple(map(cost_of, features)))


def network_of(case: dict[str, Any], schema: likely.Schema) -> Form:
    """The case's network over the schema's columns."""
    inputs = [
        Indicator(item["feature"], item["equals"]) if "equals" in item else Scaled(item["feature"], item["shift"], item["scale"])
        for item in case["network"]["inputs"]
    ]
    builder = NetworkBuilder(encoded(schema, inputs), "network of the case")
    for i, layer in enumerate(case["network"]["layers"]):
        if i:
            builder.relu()
        builder.affine(layer["weights"], layer["bias"])
    return builder.finish(Link("logistic", tie=True), case["target"]["values"])


def row_of(case: dict[str, Any], values: list[Any]) -> dict[str, Any]:
    """A row of the file in the user's values; the networks' files number the values of discrete features."""
    row = {}
    for item, value in zip(case["features"], values, strict=True):
        discrete = "values" in item
        row[item["name"]] = item["values"][int(value)] if discrete and not isinstance(value, str) else value
    return row
