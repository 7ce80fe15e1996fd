"""treecf's exact backend, with our cost as its distance (`pip install treecf`)."""

from __future__ import annotations

from typing import Any

import numpy as np
from treecf import Explainer, OneHot, Range, Target
from treecf.ir.model import EnsembleIR, Link, Node, SplitOp, Tree


def fit(task: dict[str, Any]) -> dict[str, Any]:
    """The forest, as the package has it.

    Args:
        task: Columns, and the trees of one score.
    """
    columns = task["columns"]
    names = tuple(column["name"] for column in columns)
    forest = EnsembleIR(tuple(map(_tree, task["trees"])), task["base"], Link.IDENTITY, len(names), names, {})
    return {"forest": forest, "columns": columns, "least": task["least"]}


def generate(fitted: dict[str, Any], question: dict[str, Any]) -> dict[str, Any]:
    """The nearest row, with a proof if there was time for it.

    Args:
        fitted: What `fit` returned.
        question: A row, the ends of its columns, the class to reach, and the time.
    """
    explainer = explainer_of(fitted, question["low"], question["high"])
    up = question["target"] == 1
    target = Target.raw(op=">=" if up else "<=", value=fitted["least"] if up else -fitted["least"])
    answer = explainer.explain(
        np.array(question["row"]), target, backend="exact", time_budget_s=question["seconds"], seed=0, node_budget=2**60
    )
    row = getattr(answer, "x_cf", None)
    proved = answer.proof in ("optimal", "certified")
    return {"rows": [] if row is None else [np.asarray(row, dtype=float).tolist()], "proved": proved}


def explainer_of(fitted: dict[str, Any], low: list[float], high: list[float]) -> Any:
    """The package's explainer, for columns within these ends.

    Args:
        fitted: What `fit` returned.
        low: The lower end of each column.
        high: The upper end of each column.
    """
    columns = fitted["columns"]
    groups: dict[int, list[str]] = {}
    for column in columns:
        if column["group"] is not None:
            groups.setdefault(column["group"], []).append(column["name"])
    bound = [i for i, column in enumerate(columns) if column["group"] is None or (low[i], high[i]) != (0.0, 1.0)]
    return Explainer(
        fitted["forest"],
        constraints=[Range(columns[i]["name"], low[i], high[i]) for i in bound]
        + [OneHot(tuple(group)) for group in groups.values()],
        normalizers={column["name"]: 1 / max(column["weight"], 1e-9) for column in columns},
        value_policy={column["name"]: "integer" for column in columns if column["whole"] and column["group"] is None},
    )


def _tree(nodes: list[Any]) -> Any:
    made = []
    for place, node in enumerate(nodes):
        if len(node) == 1:
            made.append(Node(place, None, None, None, None, None, None, node[0]))
        else:
            column, threshold, strict, left, right = node
            made.append(Node(place, column, threshold, SplitOp.LT if strict else SplitOp.LE, True, left, right, None))
    return Tree(tuple(made))
