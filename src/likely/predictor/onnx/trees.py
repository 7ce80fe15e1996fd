"""The attributes of ONNX's tree ensembles -> `Splits`.

Nodes are listed by tree and number, and so are the weights that their leaves add to classes or targets. A branch
compares x with a value t in one of six modes, which are all written as "at most": x < t is x <= the double below t;
x >= t is not that; and x == t is both x <= t and not x < t, which takes a second node. A missing value fails every
comparison but "not equal", unless `nodes_missing_value_tracks_true` lets it pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor.links import Link
from likely.predictor.trees import Splits
from likely.schema.values import Numbers

Places: TypeAlias = NDArray[np.intp]
_MODES = ("LEAF", "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")


@dataclass(frozen=True, eq=False)
class Forest:
    """What `tree_ensemble` takes."""

    splits: Splits
    roots: Places
    output_of: Places
    base: Numbers
    average: bool = False


class _Table:
    """The attributes of a node of trees, as arrays; `place` names it in errors."""

    def __init__(self, attributes: Mapping[str, Any], place: str) -> None:
        self.attributes, self.place = attributes, place
        self.trees, self.roots, self.tree = np.unique(self.ints("nodes_treeids"), return_index=True, return_inverse=True)
        self.modes = np.asarray(attributes.get("nodes_modes", ()))
        unknown = sorted(set(self.modes.tolist()) - set(_MODES))
        if unknown:
            raise UnsupportedModelError(place, "compare by a known mode", unknown[0], f"there are {', '.join(_MODES)}")

    def ints(self, name: str) -> Places:
        """Whole numbers; none where the attribute is left out."""
        return np.asarray(self.attributes.get(name, ()), dtype=np.intp)

    def floats(self, name: str) -> Numbers:
        """Numbers, from a list of float32 or a tensor of double precision."""
        values = self.attributes.get(name)
        return np.asarray(self.attributes.get(f"{name}_as_tensor", ()) if values is None else values, dtype=np.float64).ravel()

    def find(self, trees: Places, numbers: Places) -> Places:
        """Where the nodes with these numbers in these trees stand; refuses one that is not there."""
        known = self.ints("nodes_treeids"), self.ints("nodes_nodeids")
        size = max(int(part.max(initial=0)) for part in (*known, trees, numbers)) + 1
        keys, wanted = known[0] * size + known[1], trees * size + numbers
        order = np.argsort(keys, kind="stable")
        places = np.append(order, -1)[np.searchsorted(keys, wanted, sorter=order)]
        astray = np.append(keys, -1)[places] != wanted
        if astray.any():
            i = int(np.argmax(astray))
            got = f"node {numbers[i]} of tree {trees[i]}"
            raise PredictorError(self.place, "lead only to nodes that exist", got, "export it again")
        return places


@dataclass(frozen=True, eq=False)
class _Weights:
    """What leaves add: `weight[i]` to output `output[i]`, at node `node[i]`; and to every row `base`."""

    node: Places
    output: Places
    weight: Numbers
    base: Numbers


def _weights(table: _Table, kind: str) -> _Weights:
    """The weights for a "class" or "target"."""
    node = table.find(table.ints(f"{kind}_treeids"), table.ints(f"{kind}_nodeids"))
    return _Weights(node, table.ints(f"{kind}_ids"), table.floats(f"{kind}_weights"), table.floats("base_values"))


def _forest(table: _Table, weights: _Weights, base: Numbers, average: bool = False) -> Forest:
    """Trees that add to as many outputs as there are in `base`; each to one, if its leaves all name the same one."""
    lowest, highest = np.full(len(table.trees), len(base)), np.full(len(table.trees), -1)
    np.minimum.at(lowest, table.tree[weights.node], weights.output)
    np.maximum.at(highest, table.tree[weights.node], weights.output)
    single = bool((lowest == highest).all())
    width = 1 if single else len(base)
    value = np.zeros(len(table.modes) * width)
    np.add.at(value, weights.node * width + (0 if single else weights.output), weights.weight)
    output_of = lowest if single else np.full(len(table.trees), -1)
    return Forest(_splits(table, value.reshape(-1, width)), table.roots, output_of, base, average)


def _splits(table: _Table, value: Numbers) -> Splits:
    """All nodes; for equality, they ask only whether x is at most t."""
    modes, inner = table.modes, table.modes != "LEAF"
    trees = table.ints("nodes_treeids")[inner]
    yes, no = np.zeros((2, len(modes)), dtype=np.int32)
    yes[inner] = table.find(trees, table.ints("nodes_truenodeids")[inner])
    no[inner] = table.find(trees, table.ints("nodes_falsenodeids")[inner])
    passes = np.zeros(len(modes), dtype=np.bool_)
    if "nodes_missing_value_tracks_true" in table.attributes:
        passes = table.ints("nodes_missing_value_tracks_true") == 1
    turned = np.isin(modes, ("BRANCH_GTE", "BRANCH_GT", "BRANCH_NEQ"))  # asked the other way round
    threshold = table.floats("nodes_values")
    splits = Splits(
        wire=np.where(inner, table.ints("nodes_featureids"), -1).astype(np.int32),
        threshold=np.where(np.isin(modes, ("BRANCH_LT", "BRANCH_GTE")), np.nextafter(threshold, -np.inf), threshold),
        left=np.where(turned, no, yes),
        right=np.where(turned, yes, no),
        value=value,
        missing_left=np.where(modes == "BRANCH_NEQ", False, passes ^ turned),
    )
    return _with_equality(splits, np.flatnonzero(np.isin(modes, ("BRANCH_EQ", "BRANCH_NEQ"))))


def _with_equality(splits: Splits, at: Places) -> Splits:
    """A second question at these nodes, of what is at most t: whether it is below t, and so not equal.

    A missing value comes here only if it is to count as equal.
    """
    left = splits.left.copy()
    left[at] = len(left) + np.arange(len(at))
    return replace(
        splits,
        wire=np.append(splits.wire, splits.wire[at]),
        threshold=np.append(splits.threshold, np.nextafter(splits.threshold[at], -np.inf)),
        left=np.append(left, splits.right[at]),
        right=np.append(splits.right, splits.left[at]),
        value=np.append(splits.value, np.zeros((len(at), splits.value.shape[1])), axis=0),
        missing_left=np.append(splits.missing_left, np.zeros(len(at), dtype=np.bool_)),
    )


def classifier_of(attributes: Mapping[str, Any], classes: int, place: str) -> tuple[Forest, Link]:
    """The trees of a TreeEnsembleClassifier, and how their scores become probabilities."""
    table, post = _Table(attributes, place), attributes.get("post_transform", "NONE")
    weights = _weights(table, "class")
    if post not in ("NONE", "LOGISTIC", "SOFTMAX"):
        raise UnsupportedModelError(place, "have post_transform NONE, LOGISTIC or SOFTMAX", post, "export it with one of these")
    if classes == 2:
        return _of_two(table, weights, post)
    if weights.base.size not in (0, classes):
        rule = f"have no base value, or one for each of {classes} classes"
        raise PredictorError(place, rule, weights.base.size, "export it again")
    kinds = {"NONE": "shares" if _sum_to_one(table, weights) else "argmax", "LOGISTIC": "logistic_shares", "SOFTMAX": "softmax"}
    return _forest(table, weights, weights.base if weights.base.size else np.zeros(classes)), Link(kinds[post])


def _of_two(table: _Table, weights: _Weights, post: str) -> tuple[Forest, Link]:
    """Two classes: all weights are given to class 0, and their sum s is the score of class 1.

    So skl2onnx writes it, and onnxruntime reads it: where no weight is negative, s is a probability; else class 1 is
    chosen where s > 0. In other ways to write two classes, onnxruntime's labels contradict its probabilities.
    """
    base = weights.base.sum()
    outputs = sorted(set(weights.output.tolist()))
    if outputs != [0] or weights.base.size > 1 or post == "SOFTMAX":
        raise UnsupportedModelError(
            table.place, "give two classes one score: weights of class 0, at most one base value, no SOFTMAX",
            f"weights of classes {outputs}, {weights.base.size} base values, {post}", "export it with skl2onnx",
        )  # fmt: skip
    if (weights.weight < 0).any():
        return _forest(table, weights, np.array([base])), Link("sign" if post == "NONE" else "logistic")
    if post == "LOGISTIC":
        raise UnsupportedModelError(
            table.place, "have a negative weight under post_transform LOGISTIC", "none, and labels that runtimes disagree on",
            "move the mean of the weights to base_values",
        )  # fmt: skip
    node, output = np.tile(weights.node, 2), np.repeat([0, 1], len(weights.node))
    both = _Weights(node, output, np.append(-weights.weight, weights.weight), weights.base)
    return _forest(table, both, np.array([1 - base, base])), Link("shares")


def _sum_to_one(table: _Table, weights: _Weights) -> bool:
    """Whether scores are probabilities: no weight is negative, and those of one leaf per tree always sum to 1."""
    leaves, place = np.unique(weights.node, return_inverse=True)
    sums, tree = np.bincount(place, weights.weight), table.tree[leaves]
    low, high = np.full(len(table.trees), np.inf), np.full(len(table.trees), -np.inf)
    np.minimum.at(low, tree, sums)
    np.maximum.at(high, tree, sums)
    total = np.array([low.sum(), high.sum()]) + weights.base.sum()
    return bool((weights.weight >= 0).all() and np.allclose(total, 1.0, rtol=0, atol=1e-4))


def regressor_of(attributes: Mapping[str, Any], place: str) -> Forest:
    """The trees of a TreeEnsembleRegressor of one target."""
    table, aggregate = _Table(attributes, place), attributes.get("aggregate_function", "SUM")
    if aggregate not in ("SUM", "AVERAGE"):
        raise UnsupportedModelError(place, "have aggregate_function SUM or AVERAGE", aggregate, "export it with SUM")
    weights, average = _weights(table, "target"), aggregate == "AVERAGE"
    base = np.array([weights.base.sum()])
    # A form divides its base by the number of trees as well; ONNX adds it afterwards.
    return _forest(table, weights, base * len(table.trees) if average else base, average)
