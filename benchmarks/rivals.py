"""Forests and rows for the rivals, as plain data: one-hot columns, trees of one score, and what must be reached.

The cost of leaving one value of a discrete feature for another is the sum of both values' weights. Over one-hot columns
that is the sum of |change| times weight, as it is for numbers: the rivals' distance can be our cost.
"""

from __future__ import annotations

import json
import math
import subprocess
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import likely
from likely.errors import LikelyWarning
from likely.predictor import TreeEnsemble
from likely.problem import to_class
from likely.schema.costs import MoveCost, SwitchCost

WORKER = Path(__file__).with_name("rivals_worker.py")
#: What each rival minimises.
ASKS = {"treecf": "near", "veritas": "least change"}


@dataclass(frozen=True)
class Columns:
    """The schema's features as columns of numbers: a number's own, or one per discrete value."""

    schema: likely.Schema

    @property
    def first(self) -> list[int]:
        """The first column of each feature."""
        return [0, *np.cumsum([max(1, len(feature.atoms)) for feature in self.schema.features]).tolist()]

    def expanded(self, row: NDArray[np.float64]) -> list[float]:
        """A row of the schema as columns."""
        numbers: list[float] = []
        for feature, number in zip(self.schema.features, row, strict=True):
            numbers += [float(k == number) for k in range(len(feature.atoms))] or [float(number)]
        return numbers

    def described(self) -> list[dict[str, Any]]:
        """Each column: its name, weight, bounds, whether it is whole, and its one-hot group."""
        columns: list[dict[str, Any]] = []
        for j, (feature, cost) in enumerate(zip(self.schema.features, self.schema.costs, strict=True)):
            if isinstance(cost, SwitchCost):
                columns += [
                    {"name": f"{j}={k}", "weight": weight, "low": 0.0, "high": 1.0, "whole": True, "group": j}
                    for k, weight in enumerate(cost.weights)
                ]
                continue
            assert isinstance(cost, MoveCost)
            assert cost.up == cost.down
            assert not cost.fee
            low, high = feature.region.intervals[0][0], feature.region.intervals[-1][1]
            whole = isinstance(feature, likely.Integer)
            columns.append({"name": str(j), "weight": cost.up, "low": low, "high": high, "whole": whole, "group": None})
        return columns


def asked(
    schema: likely.Schema, form: Any, rows: NDArray[np.float64], limit: float, python: Path
) -> dict[str, list[dict[str, Any]]]:
    """Per rival that the interpreter has: one answer per row."""
    assert isinstance(form, TreeEnsemble)
    wide = _wide(schema, rows)
    columns, goal = Columns(wide), to_class(form, form.classes[1])
    labels = form.predict(rows)
    question = {
        "columns": columns.described(),
        "trees": [_tree(form, columns, int(root), goal.alternatives[0].coefficients[0], t) for t, root in enumerate(form.roots)],
        "base": float(goal.alternatives[0].coefficients[0] @ form.base) / _divisor(form),
        "least": float(goal.alternatives[0].lower[0]),
        "limit": limit,
        "queries": [
            {"row": columns.expanded(row), "up": bool(label == form.classes[0])} for row, label in zip(rows, labels, strict=True)
        ],
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "question.json"
        path.write_text(json.dumps(question), encoding="utf-8")
        subprocess.run([str(python), str(WORKER), str(path)], check=True)
        return json.loads(path.with_name("answer.json").read_text(encoding="utf-8"))


def _wide(schema: likely.Schema, rows: NDArray[np.float64]) -> likely.Schema:
    """Domains that hold every row: a rival is told one domain for all of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikelyWarning)
        for row in rows:
            schema = schema.widened(row)
    return schema


def _divisor(form: TreeEnsemble) -> float:
    return float(len(form.roots)) if form.average else 1.0


def _tree(form: TreeEnsemble, columns: Columns, root: int, coefficient: NDArray[np.float64], number: int) -> list[Any]:
    """A tree as nodes [column, threshold, strict, left, right] and leaves [value]: left is < (strict) or <= threshold."""
    made: list[Any] = []

    def grow(at: int) -> int:
        node = form.nodes[at]
        place = len(made)
        made.append(None)
        if node["feature"] < 0:
            made[place] = [_value(form, int(node["inside"]), coefficient, int(form.output_of[number]))]
            return place
        column, threshold, strict, inside_left = _test(columns, node)
        left, right = (node["inside"], node["outside"]) if inside_left else (node["outside"], node["inside"])
        made[place] = [column, threshold, strict, grow(int(left)), grow(int(right))]
        return place

    grow(root)
    return made


def _value(form: TreeEnsemble, start: int, coefficient: NDArray[np.float64], output: int) -> float:
    if output >= 0:
        return float(coefficient[output] * form.values[start]) / _divisor(form)
    return float(coefficient @ form.values[start : start + len(coefficient)]) / _divisor(form)


def _test(columns: Columns, node: Any) -> tuple[int, float, bool, bool]:
    """Column, threshold, whether strict, and whether the node's inside is on the left."""
    j = int(node["feature"])
    first, atoms = columns.first[j], len(columns.schema.features[j].atoms)
    low, high = float(node["low"]), float(node["high"])
    if not atoms:
        if low == -math.inf:
            return first, high, False, True
        assert high == math.inf, "a test of a number has one end"
        return first, low, True, False
    inside = [k for k in range(atoms) if low <= k <= high]
    outside = [k for k in range(atoms) if k not in inside]
    if len(inside) == 1:
        return first + inside[0], 0.5, False, False
    assert len(outside) == 1, "a test of a category tells one from the rest"
    return first + outside[0], 0.5, False, True
