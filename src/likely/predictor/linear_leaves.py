"""Trees of any framework whose leaves are linear -> `LinearTrees`.

A leaf computes a constant and weights of inputs, or, where one of these inputs is missing, another number: a test for that stands
before the leaf.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.errors import UnsupportedModelError
from likely.predictor.columns import Column
from likely.predictor.linear_trees import LinearTrees
from likely.predictor.links import Link
from likely.predictor.mixing import refuse_mixed
from likely.predictor.trees import Splits, tree_ensemble
from likely.predictor.wires import ModelInputs, Wire
from likely.schema.features import Continuous, Integer, Mixed
from likely.schema.values import Value


@dataclass(frozen=True)
class LinearLeaf:
    """constant + the sum of weight * input; `terms` has the weights by the inputs' places."""

    constant: float
    terms: Mapping[int, float]


def linear_trees(
    inputs: ModelInputs,
    splits: Splits,
    leaves: Mapping[int, LinearLeaf],
    roots: Sequence[int] | NDArray[Any],
    output_of: Sequence[int] | NDArray[Any],
    *,
    link: Link,
    classes: Sequence[Value],
    outputs: int,
    by: str,
) -> LinearTrees:
    """The neutral form of a framework's trees with linear leaves.

    Args:
        inputs: What the trees read.
        splits: All nodes of all trees; the value of a linear leaf is what it is where one of its inputs is missing.
        leaves: Those that are linear, by their nodes.
        roots: The node that each tree starts at.
        output_of: The output that each tree adds to.
        link: How scores decide.
        classes: The labels; none for a regressor.
        outputs: How many scores there are.
        by: The class of the model, for error messages.
    """
    refuse_mixed(inputs, by)
    missing = {w: any(map(math.isnan, wire.numbers(by))) for w, wire in enumerate(inputs.wires) if _weighed(w, leaves)}
    nodes, places = _with_tests(splits, leaves, {w for w, may_be in missing.items() if may_be})
    trees = tree_ensemble(inputs, nodes, roots, output_of, link=Link("identity"), classes=(), base=np.zeros(outputs), by=by)
    used = sorted(missing)
    columns = tuple(_column(inputs, inputs.wires[w], by) for w in used)
    terms = [places[i].terms if i in places else {} for i in range(len(nodes.wire))]
    starts = np.cumsum([0, *map(len, terms)])
    which = np.array([used.index(w) for own in terms for w in own], dtype=np.int32)
    weights = np.array([weight for own in terms for weight in own.values()])
    return LinearTrees(link, tuple(classes), columns, trees, starts, which, weights)


def _weighed(w: int, leaves: Mapping[int, LinearLeaf]) -> bool:
    return any(w in leaf.terms for leaf in leaves.values())


def _with_tests(
    splits: Splits, leaves: Mapping[int, LinearLeaf], may_be_missing: set[int]
) -> tuple[Splits, dict[int, LinearLeaf]]:
    """The nodes, with tests for missing inputs before linear leaves; and where the linear leaves are now."""
    size = len(splits.wire)
    wire, left, right, value = (array.tolist() for array in (splits.wire, splits.left, splits.right, splits.value[:, 0]))
    places = {}

    def add(tested: int, to_left: int, to_right: int, own: float) -> int:
        wire.append(tested)
        left.append(to_left)
        right.append(to_right)
        value.append(own)
        return len(wire) - 1

    for i, leaf in leaves.items():
        tested = [w for w in leaf.terms if w in may_be_missing]
        if not tested:
            places[i], value[i] = leaf, leaf.constant
            continue
        otherwise = add(-1, 0, 0, value[i])
        last = add(-1, 0, 0, leaf.constant)
        places[last] = leaf
        for w in tested[1:]:
            last = add(w, otherwise, last, 0.0)
        wire[i], left[i], right[i] = tested[0], otherwise, last
    more = len(wire) - size
    # Nothing but a missing value is at most minus infinity.
    threshold = np.append(splits.threshold, np.full(more, -np.inf))
    tests = [i for i in leaves if wire[i] >= 0]
    threshold[tests] = -np.inf
    missing_left = np.append(splits.missing_left, np.ones(more, dtype=np.bool_))
    missing_left[tests] = True
    everywhere = np.ones(size, dtype=np.bool_) if splits.with_hole is None else splits.with_hole
    with_hole = np.append(everywhere, np.zeros(more, dtype=np.bool_))
    with_hole[tests] = False
    made = replace(
        splits,
        wire=np.array(wire, dtype=np.int32),
        left=np.array(left, dtype=np.int32),
        right=np.array(right, dtype=np.int32),
        threshold=threshold,
        value=np.array(value)[:, None],
        missing_left=missing_left,
        with_hole=with_hole,
    )
    return made, places


def _column(inputs: ModelInputs, wire: Wire, by: str) -> Column:
    """An input as a column, whose missing values are 0: no leaf that weighs it is reached with them."""
    feature = inputs.schema.features[wire.feature]
    column = replace(wire, atoms=tuple(0.0 if math.isnan(atom) else atom for atom in wire.numbers(by))).column(by, feature)
    ends = np.array([feature.lower, feature.upper]) if isinstance(feature, Continuous | Integer | Mixed) else np.empty(0)
    if not np.isfinite(column.at(ends)).all():
        raise UnsupportedModelError(
            f"Feature {wire.name!r}", f"be finite where a linear leaf of {by} weighs it", "no number at one of its bounds",
            "narrow its bounds in the schema", feature=wire.name,
        )  # fmt: skip
    return column
