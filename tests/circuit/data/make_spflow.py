"""Writes spflow.json: circuits learned by the real SPFlow, with rows and SPFlow's own log-likelihoods of them.

    python3.11 -m venv spflow
    spflow/bin/pip install --no-deps spflow==0.0.48
    spflow/bin/pip install "numpy<2.3" scipy scikit-learn networkx statsmodels mpmath
    spflow/bin/python tests/circuit/data/make_spflow.py

SPFlow declares tensorflow, torch, Qt and more; this is what its learning and its `log_likelihood` really import.
The features are written as `Feature.to_dict` writes them; a leaf as its class, its scope and its parameters.
"""

from __future__ import annotations

import json
import os
from enum import Enum
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from spn.algorithms.Inference import log_likelihood
from spn.algorithms.LearningWrappers import learn_mspn, learn_mspn_with_missing, learn_parametric
from spn.structure.Base import Context, Product, Sum, assign_ids, get_topological_order, rebuild_scopes_bottom_up
from spn.structure.leaves.histogram.Histograms import Histogram, create_histogram_leaf
from spn.structure.leaves.histogram.Inference import add_histogram_inference_support
from spn.structure.leaves.parametric import Parametric as Leaves
from spn.structure.leaves.parametric.Inference import add_parametric_inference_support
from spn.structure.StatisticalTypes import MetaType

MIXED: list[dict[str, Any]] = [
    {"name": "income", "kind": "continuous", "lower": -50.0, "upper": 200.0},
    {"name": "debt", "kind": "continuous", "lower": 0.0, "upper": 1000.0},
    {"name": "children", "kind": "integer", "lower": 0, "upper": 20},
    {"name": "job", "kind": "categorical", "values": ["none", "clerk", "cook", "nurse"]},
    {"name": "owner", "kind": "binary", "values": [False, True]},
    {"name": "class", "kind": "binary", "values": ["bad", "good"]},
]
TYPES = [MetaType.REAL, MetaType.REAL, MetaType.DISCRETE, MetaType.DISCRETE, MetaType.BINARY, MetaType.DISCRETE]

POSITIVE: list[dict[str, Any]] = [
    {"name": "height", "kind": "continuous", "lower": -100.0, "upper": 100.0},
    {"name": "wait", "kind": "continuous", "lower": 0.0, "upper": 500.0},
    {"name": "price", "kind": "continuous", "lower": 0.0, "upper": 500.0},
    {"name": "rain", "kind": "continuous", "lower": 0.0, "upper": 500.0},
    {"name": "calls", "kind": "integer", "lower": 0, "upper": 100},
    {"name": "colour", "kind": "categorical", "values": ["red", "green", "blue"]},
    {"name": "grade", "kind": "ordinal", "values": ["low", "mid", "high"]},
    {"name": "member", "kind": "binary", "values": [False, True]},
]
FAMILIES = ["Gaussian", "Exponential", "LogNormal", "Gamma", "Poisson", "Categorical", "CategoricalDictionary", "Bernoulli"]


def mixed(random: np.random.Generator, count: int) -> np.ndarray:
    """Rows of three groups of people."""
    group = random.integers(0, 3, count)
    job = np.where(random.random(count) < 0.7, group, random.integers(0, 4, count))
    columns = [
        random.normal(30 + 20 * group, 5 + 3 * group), random.exponential(10.0 * (1 + group)), random.poisson(1 + 2 * group),
        job, random.random(count) < 0.2 + 0.3 * group, random.random(count) < 0.9 - 0.4 * group,
    ]  # fmt: skip
    return np.column_stack(columns).astype(np.float64)


def positive(random: np.random.Generator, count: int) -> np.ndarray:
    """Rows of two groups, a column for each parametric family."""
    group = random.integers(0, 2, count)
    columns = [
        random.normal(5.0 * group, 1), random.exponential(1.0 + group, count), random.lognormal(group, 0.5),
        random.gamma(3 + 2 * group, 2.0), random.poisson(2 + 6 * group), (group + random.integers(0, 2, count)) % 3,
        group + random.integers(0, 2, count), random.random(count) < 0.2 + 0.6 * group,
    ]  # fmt: skip
    return np.column_stack(columns).astype(np.float64)


def positive_rows(random: np.random.Generator) -> np.ndarray:
    """Rows to score: ordinary ones, far ones, and unknown values where SPFlow sums over them (not in a Gamma or dictionary)."""
    rows = positive(random, 150)
    rows[:3, 0] = 20.0, -20.0, 25.0
    rows[3:6, 1] = 30.0, 60.0, 90.0
    rows[6:12, [0, 1, 2, 4, 5, 7]] = np.where(np.eye(6), np.nan, rows[6:12, [0, 1, 2, 4, 5, 7]])
    return rows


def shared() -> Any:
    """A graph that is not a tree: two mixtures with leaves and a product in common."""
    a, b = Histogram([0, 1, 3], [0.4, 0.3], [0.5, 2], scope=0), Histogram([1, 4], [1 / 3], [2], scope=0)
    c, d = Leaves.Uniform(density=0.25, start=0.0, end=4.0, scope=1), Histogram([0, 2, 4], [0.1, 0.4], [1, 3], scope=1)
    both = Product([a, c])
    root = Sum([0.2, 0.3, 0.5], [both, Product([b, c]), Sum([0.6, 0.4], [both, Product([a, d])])])
    return rebuild_scopes_bottom_up(assign_ids(root))


def plain(value: Any) -> Any:
    """A parameter as JSON holds it."""
    if isinstance(value, dict):
        return [[key, share] for key, share in value.items()]
    return value.name if isinstance(value, Enum) else np.asarray(value).tolist()


def dump(root: Any) -> list[dict[str, Any]]:
    """The nodes of a circuit, children before parents."""
    order = get_topological_order(root)
    place = {node: i for i, node in enumerate(order)}
    nodes = []
    for node in order:
        item = {"class": type(node).__name__}
        for key, value in vars(node).items():
            if key == "children":
                item[key] = [place[child] for child in value]
            elif not key.startswith("_") and key not in ("id", "type", "bin_repr_points"):
                item[key] = plain(value)
        nodes.append(item)
    return nodes


def edges(root: Any, rows: np.ndarray, lower: list[float], upper: list[float]) -> np.ndarray:
    """Rows with one value moved onto a break, out of the data's range, or unknown."""
    moved = []
    for k, node in enumerate(node for node in get_topological_order(root) if hasattr(node, "scope")):
        if len(node.scope) == 1 and hasattr(node, "breaks"):
            row = rows[k % len(rows)].copy()
            row[node.scope[0]] = node.breaks[(-1, 0, len(node.breaks) // 2)[k % 3]]
            moved.append(row)
    for j in range(rows.shape[1]):
        for value in (lower[j], upper[j], np.nan):
            row = rows[j].copy()
            row[j] = value
            moved.append(row)
    return np.array(moved)


def scored(root: Any, features: list[dict[str, Any]], rows: np.ndarray) -> dict[str, Any]:
    """A circuit, rows (None for an unknown value) and SPFlow's log-likelihoods."""
    with np.errstate(all="ignore"):
        likelihoods = log_likelihood(root, rows)[:, 0]
    table = [[None if np.isnan(value) else value for value in row] for row in rows.tolist()]
    return {"features": features, "nodes": dump(root), "rows": table, "log_likelihoods": likelihoods.tolist()}


def learned() -> dict[str, Any]:
    random = np.random.default_rng(0)
    data, rows = mixed(random, 2000), mixed(random, 150)
    context = Context(meta_types=TYPES).add_domains(data)
    settings = {"min_instances_slice": len(data) // 20, "cpus": 1}
    histograms = learn_mspn(data, context, **settings)
    # the learner for missing values fails on them (k-means refuses a NaN); of complete rows it makes the same kind of circuit
    coarse = learn_mspn_with_missing(data[:600], context, leaves=create_histogram_leaf, min_instances_slice=100, cpus=1)
    ends = [-40.0, 0.0, 0.0, 0.0, 0.0, 0.0], [190.0, 900.0, 20.0, 3.0, 1.0, 1.0]
    numbers = positive(random, 1000)
    types = [getattr(Leaves, name) for name in FAMILIES]
    parametric = learn_parametric(numbers, Context(parametric_types=types).add_domains(numbers), min_instances_slice=100, cpus=1)
    grid = np.array([[x, y] for x in (0.0, 0.5, 1.0, 2.5, 3.0, 3.5, np.nan) for y in (0.0, 1.0, 2.0, 3.9, 4.0, np.nan)])
    simple = [{"name": name, "kind": "continuous", "lower": 0.0, "upper": 5.0} for name in ("a", "b")]
    return {
        "histograms": scored(histograms, MIXED, np.vstack([rows, edges(histograms, rows, *ends)])),
        "coarse": scored(coarse, MIXED, np.vstack([rows[:50], edges(coarse, rows, *ends)])),
        "parametric": scored(parametric, POSITIVE, positive_rows(random)),
        "shared": scored(shared(), simple, grid),
    }


if __name__ == "__main__":
    add_histogram_inference_support()
    add_parametric_inference_support()
    path = Path(__file__).with_name("spflow.json")
    path.write_text(json.dumps(learned(), separators=(",", ":")).replace('},{"class', '},\n{"class') + "\n", encoding="utf-8")
