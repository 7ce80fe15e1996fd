"""`LinearTrees`: a sum of trees whose leaves are linear functions of columns, as LightGBM's `linear_tree` makes them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from likely import _core
from likely._jobs import thread_count
from likely.errors import PredictorError
from likely.predictor.forms import FORMS, ROUNDINGS_OF_CURVE, ROUNDOFF, ColumnForm, Form, TreeEnsemble, form_from_dict, frozen
from likely.schema.values import Numbers


@dataclass(frozen=True, eq=False)
class LinearTrees(ColumnForm):
    """score = base + the sum, over the trees, of value + weights @ columns of the leaf that the row reaches.

    `trees` are the trees with the values of their leaves; of their link and classes nothing is used. A leaf whose value is number
    v of `trees.values` has the terms from `starts[v]` up to `starts[v + 1]`: a column (`terms`, its place in `columns`) and its
    weight (`weights`).
    """

    form: ClassVar[str] = "linear_trees"
    trees: TreeEnsemble
    starts: NDArray[np.int64]
    terms: NDArray[np.int32]
    weights: NDArray[np.float64]

    def __post_init__(self) -> None:
        dtypes = {"starts": np.int64, "terms": np.int32, "weights": np.float64}
        for name, dtype in dtypes.items():
            object.__setattr__(self, name, frozen(getattr(self, name), dtype))
        if self.trees.average or (self.trees.output_of < 0).any():
            rule = "add each to one output, and not be averaged"
            raise PredictorError("Trees with linear leaves", rule, "others", "divide the values of their leaves instead")
        ordered = len(self.starts) == len(self.trees.values) + 1 and self.starts[0] == 0 and (np.diff(self.starts) >= 0).all()
        if not ordered or self.starts[-1] != len(self.terms) or len(self.terms) != len(self.weights):
            rule, hint = "have terms that start in order", "give one start per value, and the number of terms as the last"
            raise PredictorError("The leaves of linear trees", rule, f"starts {self.starts.tolist()}", hint)
        if len(self.terms) and not (self.terms.min() >= 0 and self.terms.max() < len(self.columns)):
            raise PredictorError("The leaves of linear trees", "weigh columns", self.terms.max(), "count the columns from 0")
        if not np.isfinite(self.weights).all():
            raise PredictorError("The leaves of linear trees", "have finite weights", "NaN or infinity", "train the model again")
        super().__post_init__()

    @property
    def outputs(self) -> int:
        return self.trees.outputs

    @cached_property
    def _finder(self) -> _core.Trees:
        """The trees with the places of their leaves' values instead of the values, one output per tree."""
        trees, count = self.trees, len(self.trees.roots)
        places = np.arange(len(trees.values), dtype=np.float64)
        return _core.Trees(trees.nodes.view(np.uint8), trees.roots, np.arange(count, dtype=np.int32), places, count)

    @cached_property
    def _table(self) -> tuple[NDArray[np.int32], Numbers]:
        """Columns and weights of every leaf, as many as the longest has; those that it has not weigh 0."""
        lengths = np.diff(self.starts)
        place = np.arange(len(self.terms)) - np.repeat(self.starts[:-1], lengths)
        columns = np.zeros((len(lengths), lengths.max(initial=0)), dtype=np.int32)
        weights = np.zeros(columns.shape)
        owner = np.repeat(np.arange(len(lengths)), lengths)
        columns[owner, place], weights[owner, place] = self.terms, self.weights
        return columns, weights

    def columns_of_trees(self) -> list[set[int]]:
        """Per tree, the places of the columns that its leaves weigh."""
        found = []
        for root in self.trees.roots.tolist():
            waiting, seen, columns = [root], {root}, set()
            while waiting:
                node = self.trees.nodes[waiting.pop()]
                inside = int(node["inside"])
                if node["feature"] >= 0:  # several nodes may lead to one
                    waiting += [each for each in dict.fromkeys((inside, int(node["outside"]))) if each not in seen]
                    seen.update(waiting)
                else:
                    columns |= set(self.terms[self.starts[inside] : self.starts[inside + 1]].tolist())
            found.append(columns)
        return found

    def score(self, rows: Numbers, *, n_jobs: int | None = None) -> Numbers:
        return self._added_up(rows, self.trees.base, self.trees.values, self._table[1], n_jobs, lambda inputs: inputs)

    def rounding(self, rows: Numbers) -> Numbers:
        base, values, weights = np.abs(self.trees.base), np.abs(self.trees.values), np.abs(self._table[1])
        sizes = self._added_up(rows, base, values, weights, 1, np.abs)
        roundings = len(self.trees.roots) + weights.shape[1] + 6 + ROUNDINGS_OF_CURVE * self.curved
        return np.asarray(ROUNDOFF * roundings * sizes)

    def _added_up(self, rows: Numbers, base: Numbers, values: Numbers, weights: Numbers, n_jobs: int | None, of: Any) -> Numbers:
        """The scores with other numbers in the leaves: term by term, tree by tree, as LightGBM adds them up."""
        inputs = of(self.inputs(rows, n_jobs=n_jobs))
        count, columns = len(self.trees.roots), self._table[0]
        threads = thread_count(n_jobs, PredictorError)
        places = self._finder.score(np.ascontiguousarray(rows, dtype=np.float64), np.zeros(count), threads).astype(np.intp)
        scores, every = np.tile(base, (len(inputs), 1)), np.arange(len(inputs))
        for t, output in enumerate(self.trees.output_of):
            leaf = places[:, t]
            total = values[leaf]
            for k in range(columns.shape[1]):
                total = total + weights[leaf, k] * inputs[every, columns[leaf, k]]
            scores[:, output] += total
        return scores

    def _parts(self) -> dict[str, Any]:
        arrays = {name: getattr(self, name).tolist() for name in ("starts", "terms", "weights")}
        return {"columns": [column.to_dict() for column in self.columns], "trees": self.trees.to_dict(), **arrays}

    @classmethod
    def _from_parts(cls, parts: dict[str, Any]) -> Form:
        return super()._from_parts({**parts, "trees": form_from_dict(parts["trees"])})

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name not in ("_finder", "_table")}


FORMS[LinearTrees.form] = LinearTrees
