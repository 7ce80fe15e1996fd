"""XGBoost: `XGBClassifier`, `XGBRegressor`, their random forests, and `Booster`, from the model's own JSON.

What XGBoost computes: every input is cast to float32; at a split, x < threshold goes left, and a category goes right if
it is in the split's set; a missing value goes where the split says. The margin is the base score (through the
objective's inverse link) plus the leaves' values, or, with `gblinear`, plus weights @ x, where a missing value adds
nothing. A scikit-learn wrapper predicts with the rounds up to its best iteration, a `Booster` with all of them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, pairwise
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
from likely.predictor.forms import Form, LinearModel
from likely.predictor.links import Link
from likely.predictor.registry import Reader, register
from likely.predictor.trees import Splits, tree_ensemble
from likely.predictor.wires import FLOAT32, ModelInputs, Step, Wire
from likely.schema.features import Feature
from likely.schema.values import Numbers, Value

_LINKS = {
    "binary:logistic": Link("logistic"),
    "reg:logistic": Link("logistic"),
    "binary:logitraw": Link("logistic"),
    "binary:hinge": Link("sign"),
    "multi:softmax": Link("softmax"),
    "multi:softprob": Link("softmax"),
    "reg:squarederror": Link("identity"),
    "reg:squaredlogerror": Link("identity"),
    "reg:absoluteerror": Link("identity"),
    "reg:pseudohubererror": Link("identity"),
    "reg:quantileerror": Link("identity"),
    "count:poisson": Link("exponential"),
    "reg:gamma": Link("exponential"),
    "reg:tweedie": Link("exponential"),
}


def load(path: str | Path) -> Any:
    """The `Booster` in a `.json` or `.ubj` file. Like every Booster it predicts with all its rounds."""
    try:
        import xgboost
    except ImportError:
        raise MissingExtraError("xgboost", "xgboost", "read an XGBoost model file") from None
    path = Path(path)
    booster = xgboost.Booster()
    try:
        booster.load_model(path)
    except (xgboost.core.XGBoostError, ValueError):  # the error's own text is a stack trace
        raise PredictorError(
            f"Model file {path.name!r}", "be a model of XGBoost", "a file it cannot read", "write it with save_model"
        ) from None
    return booster


@dataclass(frozen=True)
class _Use:
    """A booster, and how its owner predicts with it."""

    booster: Any
    by: str
    role: Role = "booster"
    classes: tuple[Value, ...] = ()
    rounds: int | None = None  # None: all of them
    missing: float = math.nan  # a number that counts as missing, beside NaN


def _wrapped(model: Any, role: Role) -> _Use:
    booster = fitted_booster(model, lambda wrapper: wrapper.get_booster())
    classes = tuple(model.classes_) if role == "classifier" else ()
    try:
        rounds = model.best_iteration + 1
    except AttributeError:  # trained without early stopping
        rounds = None
    missing = math.nan if model.missing is None else float(np.float32(model.missing))
    return _Use(booster, type(model).__name__, role, classes, rounds, missing)


def _form(use: _Use, inputs: ModelInputs) -> Form:
    learner = json.loads(use.booster.save_raw("json"))["learner"]
    link = _link(learner["objective"]["name"], use)
    shape = learner["learner_model_param"]
    outputs = max(int(shape["num_class"]), int(shape["num_target"]))
    refuse_several_outputs(link, outputs, use.by)
    classes = (use.classes or range(max(outputs, 2))) if link.classifies else ()
    bound = bind(inputs, learner["feature_names"], int(shape["num_feature"]), use.by, str)
    wires = [_prepared(wire, c, learner, bound, use) for c, wire in enumerate(bound.wires)]
    read = _linear if learner["gradient_booster"]["name"] == "gblinear" else _trees
    return read(use, learner, replace(bound, wires=tuple(wires)), link, tuple(classes), _base(learner, outputs))


def _link(objective: str, use: _Use) -> Link:
    if objective == "binary:logitraw" and use.role == "classifier":
        raise UnsupportedModelError(
            f"The objective of a {use.by}", "choose class 1 at a margin above 0",
            "'binary:logitraw', which asks for more than 0.5",
            "train with binary:logistic, or read its booster",
        )  # fmt: skip
    return link_of(objective, _LINKS, use.role, use.by)


def _base(learner: Mapping[str, Any], outputs: int) -> Numbers:
    """The base score as a margin: the model keeps it as a prediction, one for all outputs or one for each."""
    score = np.array(json.loads(learner["learner_model_param"]["base_score"]), dtype=np.float32)
    base = np.broadcast_to(score, (outputs,)).astype(np.float64)
    objective = learner["objective"]["name"]
    if objective in ("binary:logistic", "reg:logistic"):
        return np.asarray(np.log(base) - np.log1p(-base))
    return np.log(base) if _LINKS[objective].kind == "exponential" else base


def _prepared(wire: Wire, c: int, learner: Mapping[str, Any], bound: ModelInputs, use: _Use) -> Wire:
    """Input c as the booster reads it: categories as codes, in float32, NaN for a code that counts as missing."""
    if bound.untouched and learner["feature_types"] and learner["feature_types"][c] == "c":
        wire = _coded(wire, bound.schema.features[wire.feature], _categories(learner, c), use.by)
    wire = wire.then(FLOAT32, by=use.by)
    return replace(wire, atoms=tuple(math.nan if atom == use.missing else atom for atom in wire.atoms))


def _categories(learner: Mapping[str, Any], c: int) -> list[Any]:
    """The categories of input c that the model keeps, in the order of their codes: bytes or numbers; none before 3.1."""
    booster = learner["gradient_booster"]
    kept = booster.get("gbtree", booster)["model"].get("cats", {}).get("enc", ())
    if c >= len(kept):
        return []
    values = kept[c]["values"]
    if "offsets" not in kept[c]:
        return list(values)
    text = np.array(values, dtype=np.int8).tobytes()
    return [text[start:end] for start, end in pairwise(kept[c]["offsets"])]


def _coded(wire: Wire, feature: Feature, known: Sequence[Any], by: str) -> Wire:
    """A categorical input: a number is its own code, a category's code is its place among the model's categories."""
    if not holds_categories(feature):
        if holds_text(feature) != bool(known):
            raise PredictorError(
                f"Feature {feature.name!r}", f"be a pandas category, as when {by} was trained", "another dtype",
                "infer the schema from the table after .astype('category')", feature=feature.name,
            )  # fmt: skip
        if not known:
            return wire
    values = [value for value in feature.atoms if value is not None]
    codes: dict[Value, float] = dict(zip(values, _places(values, known, feature, by), strict=True))
    return wire.coded([codes.get(value, math.nan) for value in feature.atoms])


def _places(values: Sequence[Value], known: Sequence[Any], feature: Feature, by: str) -> Sequence[float]:
    """The codes of a column's categories; without categories in the model, codes are places in the column's own list."""
    if not known:
        return [float(k) for k in range(len(values))]
    place = {category: float(k) for k, category in enumerate(known)}
    for keys in (_as_bytes(values), _as_cut(values) if holds_categories(feature) else ()):
        if keys and all(key in place for key in keys):
            return [place[key] for key in keys]
    stranger = next(value for value, key in zip(values, _as_bytes(values), strict=True) if key not in place)
    shown = [category.decode(errors="replace") if isinstance(category, bytes) else category for category in known]
    raise PredictorError(
        f"Feature {feature.name!r}", f"have only categories that {by} knows", repr(stranger), f"it knows {shown}",
        feature=feature.name,
    )  # fmt: skip


def _as_bytes(values: Sequence[Value]) -> list[Any]:
    return [value.encode() if isinstance(value, str) else value for value in values]


def _as_cut(values: Sequence[Value]) -> list[Any]:
    """Categories as XGBoost 3.1 and 3.2 key them: all the text as bytes, cut by counts of characters.

    The two differ where a letter takes more than one byte. The keys are as good as any while the order is the model's.
    """
    words = [str(value) for value in values]
    text = "".join(words).encode()
    return [text[start:end] for start, end in pairwise(accumulate(map(len, words), initial=0))]


def _trees(
    use: _Use, learner: Mapping[str, Any], inputs: ModelInputs, link: Link, classes: tuple[Value, ...], base: Numbers
) -> Form:
    booster = learner["gradient_booster"]
    model = booster.get("gbtree", booster)["model"]
    count = model["iteration_indptr"][: None if use.rounds is None else use.rounds + 1][-1]
    trees = model["trees"][:count]
    refuse_no_trees(len(trees), use.by)
    if any(int(tree["tree_param"]["size_leaf_vector"]) > 1 for tree in trees):
        raise UnsupportedModelError(
            f"A {use.by}", "grow a tree per output", "multi_strategy='multi_output_tree'",
            "train with multi_strategy='one_output_per_tree'",
        )  # fmt: skip
    sizes = np.array([len(tree["left_children"]) for tree in trees])
    roots = np.cumsum(sizes) - sizes
    weights = np.repeat(np.array(booster.get("weight_drop", [1.0] * count), dtype=np.float64)[:count], sizes)
    splits = replace(_splits(trees, np.repeat(roots, sizes), weights), hole=_hole(use, inputs))
    _refuse_odd_categories(inputs, splits, use)
    return tree_ensemble(inputs, splits, roots, model["tree_info"][:count], link=link, classes=classes, base=base, by=use.by)


def _splits(trees: Sequence[Mapping[str, Any]], root: NDArray[Any], weights: Numbers) -> Splits:
    """All nodes of all trees; `root` and `weights` are of each node's tree."""
    left, right = _flat(trees, "left_children", np.int32), _flat(trees, "right_children", np.int32)
    condition = _flat(trees, "split_conditions", np.float32).astype(np.float64)  # of a leaf: its value
    missing_left = _flat(trees, "default_left", np.bool_)
    leaf = left < 0
    left, right = (left + root).astype(np.int32), (right + root).astype(np.int32)
    roots = np.unique(root)
    sets = {int(start) + node: members for start, tree in zip(roots, trees, strict=True) for node, members in _sets(tree)}
    # XGBoost sends a set right, `Splits` left.
    by_set = np.array(list(sets), dtype=np.intp)
    left[by_set], right[by_set] = right[by_set], left[by_set]
    missing_left[by_set] = ~missing_left[by_set]
    return Splits(
        np.where(leaf, -1, _flat(trees, "split_indices", np.int32)), condition, left, right,
        np.where(leaf, condition * weights, 0.0)[:, None], missing_left, sets, strict=True,
    )  # fmt: skip


def _flat(trees: Sequence[Mapping[str, Any]], key: str, dtype: Any) -> NDArray[Any]:
    return np.fromiter(chain.from_iterable(tree[key] for tree in trees), dtype=dtype)


def _sets(tree: Mapping[str, Any]) -> list[tuple[int, frozenset[float]]]:
    """The categorical splits of a tree: a node and the categories that go right there."""
    places = zip(tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True)
    return [(node, frozenset(map(float, tree["categories"][start : start + size]))) for node, start, size in places]


def _hole(use: _Use, inputs: ModelInputs) -> tuple[float, float] | None:
    """The number that counts as missing: `missing`, and 0 of a sparse array, which XGBoost never sees."""
    marks = {mark for mark in (use.missing, 0.0 if inputs.sparse else math.nan) if not math.isnan(mark)}
    if len(marks) > 1:
        raise UnsupportedModelError(
            f"A {use.by} that reads a sparse array", "have missing=nan or missing=0", f"missing={use.missing:g}",
            "use ColumnTransformer(sparse_threshold=0)",
        )  # fmt: skip
    return next(((mark, mark) for mark in marks), None)


def _refuse_odd_categories(inputs: ModelInputs, splits: Splits, use: _Use) -> None:
    """Refuse categories that are numbers with fractions, or of which one counts as missing."""
    for c in np.unique(splits.wire[list(splits.categories or ())]):
        wire = inputs.wires[c]
        if wire.numeric and getattr(inputs.schema.features[wire.feature], "grid", None) != 1.0:
            raise PredictorError(
                f"Feature {wire.name!r}", f"be whole numbers where {use.by} takes it for categories", "fractions",
                "declare it Integer or Categorical", feature=wire.name,
            )  # fmt: skip
        if wire.numeric:
            _refuse_missing_number(wire, inputs, use)


def _refuse_missing_number(wire: Wire, inputs: ModelInputs, use: _Use) -> None:
    feature: Any = inputs.schema.features[wire.feature]
    reads = wire.apply(np.array([feature.lower, feature.upper]))
    if reads.min() <= use.missing <= reads.max():
        raise PredictorError(
            f"Feature {wire.name!r}", f"not have numbers that {use.by} takes for missing", f"{use.missing:g} within its bounds",
            "make it a code of a Mixed feature", feature=wire.name,
        )  # fmt: skip


def _linear(
    use: _Use, learner: Mapping[str, Any], inputs: ModelInputs, link: Link, classes: tuple[Value, ...], base: Numbers
) -> Form:
    weights = np.array(learner["gradient_booster"]["model"]["weights"], dtype=np.float64).reshape(-1, len(base))[:-1].T
    for wire in inputs.wires:
        if wire.numeric:
            _refuse_missing_number(wire, inputs, use)
    columns = inputs.then(Step("fill", 0.0), by=use.by).columns(use.by)  # a missing value adds nothing
    # So the margin of an empty row is the bias; versions differ in which base scores they add to it.
    bias = _score_booster(use.booster, np.full((1, len(inputs)), math.nan))[0]
    return LinearModel(link, classes, columns, weights, bias)


def _score_wrapper(model: Any, X: Any) -> Numbers:
    table = arranged(X, model.get_booster().feature_names, str)
    return _rows(model.predict(table, output_margin=True, validate_features=False))


def _score_booster(booster: Any, X: Any) -> Numbers:
    from xgboost import DMatrix

    data = DMatrix(arranged(X, booster.feature_names, str), enable_categorical=True)
    return _rows(booster.predict(data, output_margin=True, validate_features=False))


def _rows(margins: Any) -> Numbers:
    return np.asarray(margins, dtype=np.float64).reshape(len(margins), -1)


for _name in ("XGBClassifier", "XGBRFClassifier"):
    register(f"xgboost.{_name}", Reader(lambda model, inputs: _form(_wrapped(model, "classifier"), inputs), _score_wrapper))
for _name in ("XGBRegressor", "XGBRFRegressor"):
    register(f"xgboost.{_name}", Reader(lambda model, inputs: _form(_wrapped(model, "regressor"), inputs), _score_wrapper))
register("xgboost.Booster", Reader(lambda booster, inputs: _form(_Use(booster, "Booster"), inputs), _score_booster))
