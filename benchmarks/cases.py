"""Case files (the paper's queries with known answers) as problems: shared by the benchmarks and the tests.

A case file is gzipped JSON: features with costs and rules, a trained network, a learned circuit, factuals, and per factual
one query per variant, with what the authors' runs returned and the best answer known.
"""

from __future__ import annotations

import gzip
import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import likely
from likely.circuit import Circuit, from_case
from likely.errors import LikelyWarning
from likely.predictor import Form, Indicator, Link, NetworkBuilder, Scaled
from likely.predictor.encoding import encoded
from likely.problem import Plausibility, Problem, not_class
from likely.schema import Constraint, Feature
from likely.schema.costs import Cost, MoveCost, SwitchCost


@dataclass(frozen=True, eq=False)
class Query:
    """One question of a case, and what is known of its answer."""

    factual: Mapping[str, Any]
    threshold: float | None
    alpha: float
    best: float | None  # the best objective known
    proof: str | None  # "optimal", "infeasible" or none
    paper_rows: tuple[Mapping[str, Any], ...]
    paper_seconds: float | None


@dataclass(frozen=True, eq=False)
class Case:
    """A case file, read."""

    name: str
    schema: likely.Schema
    form: Form
    circuit: Circuit
    queries: Mapping[str, tuple[Query, ...]]  # by variant


def files(folder: Path) -> list[Path]:
    """The case files of a folder."""
    return sorted(folder.glob("*.json.gz"))


def read(path: Path) -> Case:
    """One case file."""
    with gzip.open(path) as file:
        data = json.load(file)
    schema = schema_of(data)
    return Case(path.name.removesuffix(".json.gz"), schema, network_of(data, schema), from_case(data, schema), _queries(data))


def problem(case: Case, query: Query) -> Problem:
    """The query as an engine takes it: the nearest row of the other class."""
    factual = case.schema.encode_row(query.factual)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikelyWarning)  # some factuals lie outside the bounds, and that is meant
        schema = case.schema.widened(factual)
    goal = not_class(case.form, case.form.predict(factual[None])[0])
    if query.threshold is None and not query.alpha:
        return Problem(schema, factual, case.form, goal)
    lower = -np.inf if query.threshold is None else query.threshold
    return Problem(schema, factual, case.form, goal, Plausibility(case.circuit, lower, query.alpha))


# -- what a file says, as ours ----------------------------------------------------------------------------------------


def schema_of(data: Mapping[str, Any]) -> likely.Schema:
    features = data["features"]
    return likely.Schema(tuple(map(_feature, features)), tuple(rules_of(data)), tuple(map(_cost, features)))


def _feature(item: Mapping[str, Any]) -> Feature:
    name, kind = item["name"], item["kind"]
    if kind == "continuous":
        return likely.Continuous(name, *item["bounds"])
    if kind == "integer":
        return likely.Integer(name, *item["bounds"])
    return {"categorical": likely.Categorical, "ordinal": likely.Ordinal, "binary": likely.Binary}[kind](name, item["values"])


def _cost(item: Mapping[str, Any]) -> Cost:
    if "unit_cost" in item:
        return MoveCost(item["unit_cost"], item["unit_cost"])
    if "flip_cost" in item:
        return SwitchCost((item["flip_cost"] / 2,) * 2)
    return SwitchCost(tuple(item["switch_cost"]))


def rules_of(data: Mapping[str, Any]) -> list[Constraint]:
    moves = {"increasing": likely.Increasing, "decreasing": likely.Decreasing}
    rules: list[Constraint] = [likely.Immutable(item["name"]) for item in data["features"] if item["immutable"]]
    rules += [moves[item["monotone"]](item["name"]) for item in data["features"] if item["monotone"]]
    rules += [likely.Implies(likely.when.increases(a), likely.when.increases(b)) for a, b in data["increase_implies_increase"]]
    return rules


def network_of(data: Mapping[str, Any], schema: likely.Schema) -> Form:
    inputs = [
        Indicator(item["feature"], item["equals"]) if "equals" in item else Scaled(item["feature"], item["shift"], item["scale"])
        for item in data["network"]["inputs"]
    ]
    builder = NetworkBuilder(encoded(schema, inputs), "network of the case")
    for place, layer in enumerate(data["network"]["layers"]):
        if place:
            builder.relu()
        builder.affine(layer["weights"], layer["bias"])
    return builder.finish(Link("logistic", tie=True), data["target"]["values"])


def _queries(data: Mapping[str, Any]) -> dict[str, tuple[Query, ...]]:
    by_variant: dict[str, list[Query]] = {}
    for factual in data["factuals"]:
        for variant, item in factual["queries"].items():
            by_variant.setdefault(variant, []).append(_query(data, factual["row"], item))
    return {variant: tuple(queries) for variant, queries in by_variant.items()}


def _query(data: Mapping[str, Any], factual: list[Any], item: Mapping[str, Any]) -> Query:
    known, paper = item.get("best_known") or {}, item.get("paper") or {}
    return Query(
        row_of(data, factual), item["threshold"], item["alpha"] or 0.0, known.get("objective"), known.get("proof"),
        tuple(row_of(data, row) for row in paper.get("rows") or ()), paper.get("seconds"),
    )  # fmt: skip


def row_of(data: Mapping[str, Any], values: list[Any]) -> dict[str, Any]:
    """A row of the file in the user's values.

    Files of Bayesian networks give a discrete value by its number; a solver's whole number may be off by its tolerance.
    """
    row = {}
    for item, value in zip(data["features"], values, strict=True):
        by_number = "values" in item and value not in item["values"]
        whole = round(value) if item["kind"] == "integer" else value
        row[item["name"]] = item["values"][int(value)] if by_number else whole
    return row
