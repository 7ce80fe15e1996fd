"""Tables and forests as other packages read them: numbers as they are, a column of 0 and 1 per value, trees of one score.

The cost of leaving one value of a discrete feature for another is the sum of both values' weights. Over one-hot columns that is
the sum of |change| times weight, as it is for numbers: a rival's distance can be our cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from likely.errors import PredictorError, SchemaError
from likely.predictor import Form, TreeEnsemble
from likely.problem import to_class
from likely.schema import Integer, Schema
from likely.schema.costs import MoveCost, SwitchCost
from likely.schema.values import Numbers


@dataclass(frozen=True)
class Columns:
    """The schema's features as columns of numbers: a number's own, or one per discrete value."""

    schema: Schema

    @property
    def first(self) -> list[int]:
        """The first column of each feature, and the end."""
        return [0, *np.cumsum([max(1, len(feature.atoms)) for feature in self.schema.features]).tolist()]

    def expanded(self, row: Numbers) -> list[float]:
        """A row of the schema as columns.

        Args:
            row: The row, as doubles.
        """
        numbers: list[float] = []
        for feature, number in zip(self.schema.features, row, strict=True):
            numbers += [float(k == number) for k in range(len(feature.atoms))] or [float(number)]
        return numbers

    def contracted(self, numbers: Numbers) -> Numbers:
        """The row of columns: the largest of those of a discrete feature.

        Args:
            numbers: One per column.
        """
        parts = np.split(np.asarray(numbers, dtype=np.float64), self.first[1:-1])
        pairs = zip(self.schema.features, parts, strict=True)
        return np.array([float(np.argmax(part)) if feature.atoms else part[0] for feature, part in pairs])

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
            if not isinstance(cost, MoveCost) or cost.up != cost.down or cost.fee:
                raise SchemaError(
                    f"Feature {feature.name!r}, for a rival,", "have numbers without codes, at one price in both directions",
                    cost.describe(), "leave the method out for this table", feature=feature.name,
                )  # fmt: skip
            low, high = feature.region.intervals[0][0], feature.region.intervals[-1][1]
            whole = isinstance(feature, Integer)
            columns.append({"name": str(j), "weight": cost.up, "low": low, "high": high, "whole": whole, "group": None})
        return columns


def forest_of(form: Form, columns: Columns) -> dict[str, Any]:
    """A forest as plain trees: a row is of the second class by the margin where base + their sum is at least `least`.

    Args:
        form: The classifier: a sum of trees for two classes.
        columns: What the trees test.
    """
    if not isinstance(form, TreeEnsemble) or len(form.classes) != 2:
        raise PredictorError(
            "The model of a rival for trees", "be a sum of trees for two classes", f"a {form.form} form", "leave the method out"
        )
    (alternative,) = to_class(form, form.classes[1]).alternatives
    coefficients = alternative.coefficients[0]
    return {
        "trees": [_tree(form, columns, int(root), coefficients, t) for t, root in enumerate(form.roots)],
        "base": float(coefficients @ form.base) / form.divisor,
        "least": float(alternative.lower[0]),
    }


def _tree(form: TreeEnsemble, columns: Columns, root: int, coefficients: Numbers, number: int) -> list[Any]:
    """A tree as nodes [column, threshold, strict, left, right] and leaves [value]: left is < (strict) or <= threshold."""
    made: list[Any] = []

    def grow(at: int) -> int:
        node = form.nodes[at]
        place = len(made)
        made.append(None)
        if node["feature"] < 0:
            made[place] = [_value(form, int(node["inside"]), coefficients, int(form.output_of[number]))]
            return place
        column, threshold, strict, inside_left = _test(columns, node)
        left, right = (node["inside"], node["outside"]) if inside_left else (node["outside"], node["inside"])
        made[place] = [column, threshold, strict, grow(int(left)), grow(int(right))]
        return place

    grow(root)
    return made


def _value(form: TreeEnsemble, start: int, coefficients: Numbers, output: int) -> float:
    if output >= 0:
        return float(coefficients[output] * form.values[start]) / form.divisor
    return float(coefficients @ form.values[start : start + len(coefficients)]) / form.divisor


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
