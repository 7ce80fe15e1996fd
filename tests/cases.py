"""The paper's own queries (`../shared/cases`), where they are there: a case file as our schema and network."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import likely
from likely.predictor import Form, Indicator, Link, NetworkBuilder, Scaled
from likely.predictor.encoding import encoded
from likely.schema import Constraint, Feature
from likely.schema.costs import Cost, MoveCost, SwitchCost

SHARED = Path(__file__).parents[2] / "shared"
FILES = sorted((SHARED / "cases").glob("*.json.gz"))
DATA_SETS = ("credit", "adult", "gmsc")


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
