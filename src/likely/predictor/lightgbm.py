"""LightGBM: `LGBMClassifier`, `LGBMRegressor` and `Booster`, from the model's own text.

What LightGBM computes, in doubles: at a split, x <= threshold goes left, or a category that is in the split's set. Each
split says what it takes for missing: nothing (NaN is then 0), NaN, or zero (then NaN too), and where that goes; a
missing category goes right. The score is the sum of the leaves' values, or for boosting "rf" their mean over the
rounds (what the model calls its raw score is the sum), up to the best round where training stopped early.

With `linear_tree`, a leaf is a constant and weights of inputs; where one of these is NaN, it is the leaf's value instead.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.errors import MissingExtraError, PredictorError, UnsupportedModelError
from likely.predictor.boosting import (
    Role,
    arranged,
    bind,
    fitted_booster,
    holds_categories,
    holds_text,
    link_of,
    refuse_no_trees,
    refuse_several_outputs,
)
from likely.predictor.forms import Form
from likely.predictor.linear_leaves import LinearLeaf, linear_trees
from likely.predictor.links import Link
from likely.predictor.registry import Reader, register
from likely.predictor.trees import Splits, tree_ensemble
from likely.predictor.wires import ModelInputs, Wire
from likely.schema.values import Name, Numbers, Value, plain

_LINKS = {
    "binary": Link("logistic"),
    "cross_entropy": Link("logistic"),
    "multiclass": Link("softmax"),
    "multiclassova": Link("argmax"),  # its probabilities do not add up to 1, so they are none
    "regression": Link("identity"),
    "regression_l1": Link("identity"),
    "huber": Link("identity"),
    "fair": Link("identity"),
    "quantile": Link("identity"),
    "mape": Link("identity"),
    "custom": Link("identity"),
    "poisson": Link("exponential"),
    "gamma": Link("exponential"),
    "tweedie": Link("exponential"),
}
#: Numbers as small as this are zero; LightGBM writes it in single precision.
_ZERO = float(np.float32(1e-35))
#: What a split takes for missing, and the bits of its decision type.
_NOTHING, _ZEROS = 0, 1
_CATEGORICAL, _DEFAULT_LEFT = 1, 2


def load(path: str | Path) -> Any:
    """The `Booster` in a `.txt` file."""
    try:
        import lightgbm
    except ImportError:
        raise MissingExtraError("lightgbm", "lightgbm", "read a LightGBM model file") from None
    path = Path(path)
    error = PredictorError(
        f"Model file {path.name!r}", "be a model of LightGBM", "a file it cannot read", "write it with save_model"
    )
    if not _whole(path):
        raise error
    try:
        return lightgbm.Booster(model_file=path)
    except (lightgbm.basic.LightGBMError, ValueError):
        raise error from None


def _whole(path: Path) -> bool:
    """Whether a file looks like all of a model: LightGBM ends the process on one that was cut short."""
    text = path.read_bytes().decode(errors="replace")
    head, _, rest = text.partition("\nTree=")
    trees, mark, tail = rest.partition("\nend of trees")
    sizes = _fields(head).get("tree_sizes", "").split()
    length = len(f"Tree={trees}\n".encode())
    whole = text.startswith("tree") and bool(mark) and all(map(str.isdecimal, sizes)) and sum(map(int, sizes)) == length
    return whole and ("\nparameters:" not in tail or "\nend of parameters" in tail)


@dataclass(frozen=True)
class _Use:
    """A booster, and who predicts with it."""

    booster: Any
    by: str
    role: Role = "booster"
    classes: tuple[Value, ...] = ()


def _wrapped(model: Any, role: Role) -> _Use:
    booster = fitted_booster(model, lambda wrapper: wrapper.booster_)
    return _Use(booster, type(model).__name__, role, tuple(model.classes_) if role == "classifier" else ())


def _form(use: _Use, inputs: ModelInputs) -> Form:
    head, *blocks = use.booster.model_to_string().partition("\nend of trees")[0].split("\nTree=")
    header, trees = _fields(head), [_fields(block) for block in blocks]
    refuse_no_trees(len(trees), use.by)
    link = _link(header, use)
    outputs = int(header["num_tree_per_iteration"])
    refuse_several_outputs(link, outputs, use.by)
    classes = (use.classes or tuple(range(max(outputs, 2)))) if link.classifies else ()
    names = _names(use.booster, [wire.name for wire in inputs.wires])
    bound = _coded(bind(inputs, names, use.booster.num_feature(), use.by, _spelled), use)
    splits, roots = _splits(trees)
    splits = replace(splits, value=splits.value / _rounds_in_score(header))
    output_of = np.arange(len(trees)) % outputs
    if any(tree.get("is_linear") == "1" for tree in trees):
        leaves = _linear_leaves(trees, roots, _rounds_in_score(header))
        return linear_trees(bound, splits, leaves, roots, output_of, link=link, classes=classes, outputs=outputs, by=use.by)
    return tree_ensemble(bound, splits, roots, output_of, link=link, classes=classes, base=np.zeros(outputs), by=use.by)


def _linear_leaves(trees: Sequence[Mapping[str, str]], roots: NDArray[Any], rounds: int) -> dict[int, LinearLeaf]:
    """What the leaves of linear trees compute, by their nodes; of a tree with one leaf, too."""
    leaves = {}
    for tree, root in zip(trees, roots.tolist(), strict=True):
        if tree.get("is_linear") != "1":
            continue
        constants, counts = _flat([tree], "leaf_const", np.float64) / rounds, _flat([tree], "num_features", np.int64)
        inputs, weights = _flat([tree], "leaf_features", np.int64), _flat([tree], "leaf_coeff", np.float64) / rounds
        ends = np.cumsum(counts)
        first = root + int(tree["num_leaves"]) - 1
        for k, (start, end) in enumerate(zip(ends - counts, ends, strict=True)):
            terms = dict(zip(inputs[start:end].tolist(), weights[start:end].tolist(), strict=True))
            leaves[first + k] = LinearLeaf(float(constants[k]), terms)
    return leaves


def _rounds_in_score(header: Mapping[str, str]) -> int:
    """By what a sum of trees is divided before it is a score: of a forest, the number of rounds."""
    return len(header["tree_sizes"].split()) // int(header["num_tree_per_iteration"]) if "average_output" in header else 1


def _fields(text: str) -> dict[str, str]:
    """Lines of "key=value"; a flag is a line without value."""
    pairs = (line.partition("=") for line in text.replace("\r\n", "\n").split("\n"))
    return {key: value for key, _, value in pairs}


def _link(header: Mapping[str, str], use: _Use) -> Link:
    """The link of an objective as the model writes it: "binary sigmoid:1"."""
    objective, *settings = header.get("objective", "custom").split()
    if "sqrt" in settings:
        raise UnsupportedModelError(
            f"A {use.by}", "predict the sum of its trees", "reg_sqrt=True", "train on the target's square root instead"
        )
    link = link_of(objective, _LINKS, use.role, use.by)
    scale = next((float(item.partition(":")[2]) for item in settings if item.startswith("sigmoid:")), 1.0)
    return replace(link, scale=scale) if link.kind == "logistic" else link


def _spelled(name: Name) -> str:
    return str(name).replace(" ", "_")


def _names(booster: Any, columns: Sequence[Name]) -> list[str] | None:
    """The names a booster knows; None where it has made them up, for an array."""
    names: list[str] = booster.feature_name()
    made_up = names == [f"Column_{c}" for c in range(len(names))]
    return None if made_up and not set(names) <= {_spelled(name) for name in columns} else names


def _coded(inputs: ModelInputs, use: _Use) -> ModelInputs:
    """Columns of pandas categories as codes: the model keeps the categories of each such column, in the columns' order."""
    kept = use.booster.pandas_categorical or []
    if not inputs.untouched:
        return inputs
    features = [inputs.schema.features[wire.feature] for wire in inputs.wires]
    places = [c for c, feature in enumerate(features) if holds_categories(feature) or (kept and holds_text(feature))]
    if len(places) != len(kept):
        named = ", ".join(repr(features[c].name) for c in places) or "none"
        raise PredictorError(
            f"The schema of a {use.by}", f"have the {len(kept)} columns of categories it was trained on", named,
            "infer the schema from the table after .astype('category')",
        )  # fmt: skip
    wires = list(inputs.wires)
    for c, categories in zip(places, kept, strict=True):
        wires[c] = _with_codes(wires[c], [plain(category) for category in categories])
    return replace(inputs, wires=tuple(wires))


def _with_codes(wire: Wire, categories: Sequence[Value]) -> Wire:
    """A category's code is its place; one that the model does not know is missing."""
    return wire.coded([float(categories.index(atom)) if atom in categories else math.nan for atom in wire.atoms])


def _splits(trees: Sequence[Mapping[str, str]]) -> tuple[Splits, NDArray[Any]]:
    """All nodes of all trees, and where each tree starts: its inner nodes first, then its leaves."""
    leaves = np.array([int(tree["num_leaves"]) for tree in trees])
    inner = leaves - 1
    roots = np.cumsum(leaves + inner) - (leaves + inner)
    at, leaf_at = np.repeat(roots, inner) + _counted(inner), np.repeat(roots + inner, leaves) + _counted(leaves)
    decision, threshold = _flat(trees, "decision_type", np.int64), _around_zero(_flat(trees, "threshold", np.float64))
    kind, by_set = (decision >> 2) & 3, decision & _CATEGORICAL > 0
    default_left = np.where(kind == _NOTHING, threshold >= 0, decision & _DEFAULT_LEFT > 0)
    size = len(at) + len(leaf_at)

    def spread(part: NDArray[Any], dtype: Any, rest: Any = 0, places: NDArray[Any] = at) -> NDArray[Any]:
        whole = np.full(size, rest, dtype=dtype)
        whole[places] = part
        return whole

    def children(key: str) -> NDArray[Any]:  # a leaf k is written as -k - 1
        child = _flat(trees, key, np.int64)
        return spread(np.repeat(roots, inner) + np.where(child >= 0, child, np.repeat(inner, inner) - child - 1), np.int32)

    values = spread(_flat(trees, "leaf_value", np.float64), np.float64, places=leaf_at)[:, None]
    sets = dict(zip(at[by_set].tolist(), _sets(trees), strict=True))
    splits = Splits(
        spread(_flat(trees, "split_feature", np.int32), np.int32, -1), spread(threshold, np.float64),
        children("left_child"), children("right_child"), values, spread(default_left & ~by_set, np.bool_), sets,
        hole=(-_ZERO, _ZERO) if (kind == _ZEROS).any() else None, with_hole=spread((kind == _ZEROS) & ~by_set, np.bool_),
    )  # fmt: skip
    return splits, roots


def _around_zero(thresholds: Numbers) -> Numbers:
    """Thresholds that send all numbers near zero the way of zero itself: LightGBM reads them as that."""
    below = np.where((thresholds >= -_ZERO) & (thresholds < 0), np.nextafter(-_ZERO, -1), thresholds)
    return np.where((thresholds >= 0) & (thresholds < _ZERO), _ZERO, below)


def _counted(counts: NDArray[Any]) -> NDArray[Any]:
    """0, 1, ..., n - 1 for each n."""
    return np.asarray(np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts))


def _flat(trees: Sequence[Mapping[str, str]], key: str, dtype: Any) -> NDArray[Any]:
    return np.array(" ".join(tree.get(key, "") for tree in trees).split(), dtype=dtype)


def _sets(trees: Sequence[Mapping[str, str]]) -> list[frozenset[float]]:
    """The sets of all categorical splits in order, from their bits in words of 32."""
    sets = []
    for tree in trees:
        if tree["num_cat"] == "0":
            continue
        ends, words = ([int(word) for word in tree[key].split()] for key in ("cat_boundaries", "cat_threshold"))
        nodes = zip(tree["threshold"].split(), tree["decision_type"].split(), strict=True)
        places = [int(float(threshold)) for threshold, decision in nodes if int(decision) & _CATEGORICAL]
        sets += [_members(words[ends[k] : ends[k + 1]]) for k in places]
    return sets


def _members(words: Sequence[int]) -> frozenset[float]:
    return frozenset(float(32 * w + bit) for w, word in enumerate(words) for bit in range(32) if word >> bit & 1)


def _score_wrapper(model: Any, X: Any) -> Numbers:
    return _score(model, model.booster_, X)


def _score_booster(booster: Any, X: Any) -> Numbers:
    return _score(booster, booster, X)


def _score(asked: Any, booster: Any, X: Any) -> Numbers:
    names = _names(booster, list(getattr(X, "columns", ())))
    sums = np.asarray(asked.predict(arranged(X, names, _spelled), raw_score=True), dtype=np.float64)
    header = _fields(booster.model_to_string().partition("\nTree=")[0])
    return sums.reshape(len(sums), -1) / _rounds_in_score(header)


register("lightgbm.LGBMClassifier", Reader(lambda model, inputs: _form(_wrapped(model, "classifier"), inputs), _score_wrapper))
register("lightgbm.LGBMRegressor", Reader(lambda model, inputs: _form(_wrapped(model, "regressor"), inputs), _score_wrapper))
register("lightgbm.Booster", Reader(lambda booster, inputs: _form(_Use(booster, "Booster"), inputs), _score_booster))
