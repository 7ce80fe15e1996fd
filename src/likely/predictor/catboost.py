"""CatBoost: symmetric trees, and others of numbers, from the model's own JSON.

A split of a number asks whether float32(x) > border. A split by category - one value, or a counter of one column - is asked of
the model itself, value by value: a symmetric tree tells the answers to its splits by the leaf that a row falls into. A counter of
several columns together is no function of one feature, and refused.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from catboost import CatBoost, CatBoostClassifier, CatBoostError

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor.boosting import bind, refuse_no_trees
from likely.predictor.combining import shifted
from likely.predictor.forms import Form
from likely.predictor.links import Link
from likely.predictor.registry import Reader, register
from likely.predictor.trees import Splits, tree_ensemble
from likely.predictor.wires import FLOAT32, ModelInputs, Wire, refuse_numbers
from likely.schema.features import Continuous, Integer, Mixed
from likely.schema.values import Numbers, Value

#: loss -> link
_LINKS = {
    "Logloss": Link("logistic"), "CrossEntropy": Link("logistic"),
    "MultiClass": Link("softmax"), "MultiClassOneVsAll": Link("argmax"),
    **dict.fromkeys(("RMSE", "MAE", "Quantile", "MAPE", "Huber", "Expectile", "Lq"), Link("identity")),
    **dict.fromkeys(("Poisson", "Tweedie"), Link("exponential")),
}  # fmt: skip


@dataclass(frozen=True)
class _Model:
    """A model, its JSON, and the kinds of its columns by their places."""

    model: Any
    data: Mapping[str, Any]
    floats: Mapping[int, Mapping[str, Any]]
    categories: Mapping[int, int]
    by: str


def load(path: str | Path) -> Any:
    """The model in a CatBoost file.

    Args:
        path: Of a `.cbm` file.
    """
    model = CatBoost()
    try:
        model.load_model(str(path))
        if hasattr(model, "classes_") and len(model.classes_):
            model = CatBoostClassifier().load_model(str(path))
    except CatBoostError as error:
        raise PredictorError("A CatBoost file", "hold a model", f"{path}: {error}", "write it with save_model") from None
    return model


def _parsed(model: Any) -> _Model:
    by = type(model).__name__
    if not model.is_fitted():
        raise PredictorError(f"A {by}", "be fitted", "one that is not", "call fit first")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.json"
        model.save_model(str(file), format="json")
        data = json.loads(file.read_text(encoding="utf-8"))
    info = data["features_info"]
    for kind in ("text_features", "embedding_features"):
        if info.get(kind):
            raise UnsupportedModelError(
                f"A {by}", "read numbers and categories", kind.replace("_", " "), "make numbers of them before the model"
            )
    floats = {each["feature_index"]: each for each in info.get("float_features", [])}
    categories = {each["feature_index"]: each["flat_feature_index"] for each in info.get("categorical_features", [])}
    return _Model(model, data, floats, categories, by)


def _bound(parsed: _Model, inputs: ModelInputs) -> ModelInputs:
    """The inputs by the names that the model knows; by their number if it was fitted on an array, which has none."""
    names = list(parsed.model.feature_names_)
    known = {str(wire.name) for wire in inputs.wires}
    numbered = names == [str(i) for i in range(len(names))] and not set(names) <= known
    return bind(inputs, None if numbered else names, len(names), parsed.by, str)


# -- splits -------------------------------------------------------------------------------------------------------------


def _read(model: Any, inputs: ModelInputs) -> Form:
    parsed = _parsed(model)
    bound = _bound(parsed, inputs)
    _refuse_combinations(parsed, bound)
    link, classes = _link(parsed)
    scale, bias = parsed.data["scale_and_bias"]
    trees = parsed.data.get("oblivious_trees") or parsed.data.get("trees") or []
    refuse_no_trees(len(trees), parsed.by)
    splits, roots = _Nodes(parsed, bound, len(bias)).of(trees)
    splits = replace(splits, value=splits.value * scale)
    form = tree_ensemble(
        _prepared(parsed, bound), splits, roots, np.full(len(roots), -1), link=link, classes=classes, base=bias, by=parsed.by
    )
    return form if link.kind != "logistic" else _with_threshold(form, model)


def _with_threshold(form: Form, model: Any) -> Form:
    """The form with the threshold of probability that the model decides by, if it is not a half."""
    threshold = model.get_probability_threshold() if isinstance(model, CatBoostClassifier) else 0.5
    if threshold in (None, 0.5):
        return form
    return shifted(form, -float(np.log(threshold / (1 - threshold))), Link("sign"))


def _link(parsed: _Model) -> tuple[Link, tuple[Value, ...]]:
    params = parsed.data["model_info"]["params"]
    loss = params["loss_function"]["type"]
    if loss not in _LINKS:
        raise UnsupportedModelError(
            f"The loss of a {parsed.by}",
            "be one whose predictions likely knows",
            repr(loss),
            f"train with one of {', '.join(_LINKS)}",
        )
    link = _LINKS[loss]
    if not link.classifies:
        return link, ()
    classes = tuple(parsed.model.classes_)
    return link, classes or ((0, 1) if not link.one_score_per_class else tuple(range(len(parsed.data["scale_and_bias"][1]))))


def _prepared(parsed: _Model, bound: ModelInputs) -> ModelInputs:
    """Numbers as singles, categories as the places of their values."""
    chosen = set(parsed.categories.values())
    wires = [
        wire.coded(range(len(wire.atoms))) if c in chosen else wire.then(FLOAT32, by=parsed.by)
        for c, wire in enumerate(bound.wires)
    ]
    return replace(bound, wires=tuple(wires))


def _refuse_combinations(parsed: _Model, bound: ModelInputs) -> None:
    for counter in parsed.data["features_info"].get("ctrs") or []:
        elements = counter["elements"]
        if len(elements) > 1 or elements[0]["combination_element"] != "cat_feature_value":
            places = [parsed.categories[e["cat_feature_index"]] for e in elements if "cat_feature_index" in e]
            names = ", ".join(repr(bound.wires[c].name) for c in places)
            raise UnsupportedModelError(
                f"A {parsed.by}", "count categories of one column at a time", f"a counter of a combination with {names}",
                "train it with max_ctr_complexity=1, or with one_hot_max_size above the number of values",
            )  # fmt: skip


def _splits_of(tree: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The splits of a symmetric tree, none of another one; a tree that asks nothing has null for them."""
    return tree.get("splits") or ()


class _Nodes:
    """The nodes of all trees, one tree after the other."""

    def __init__(self, parsed: _Model, bound: ModelInputs, outputs: int) -> None:
        self.parsed, self.bound, self.outputs = parsed, bound, outputs
        self.wire: list[int] = []
        self.threshold: list[float] = []
        self.left: list[int] = []
        self.right: list[int] = []
        self.missing_left: list[bool] = []
        self.value: list[Sequence[float]] = []
        self.categories: dict[int, frozenset[float]] = {}

    def of(self, trees: Sequence[Mapping[str, Any]]) -> tuple[Splits, list[int]]:
        roots = []
        truths = self._truths(trees)
        for t, tree in enumerate(trees):
            roots.append(len(self.wire))
            if "leaf_values" in tree:
                self._symmetric(tree, [truths.get((t, i)) for i in range(len(_splits_of(tree)))])
            else:
                self._any(tree)
        splits = Splits(
            wire=np.array(self.wire, dtype=np.int32),
            threshold=np.array(self.threshold),
            left=np.array(self.left, dtype=np.int32),
            right=np.array(self.right, dtype=np.int32),
            value=np.array(self.value, dtype=np.float64),
            missing_left=np.array(self.missing_left, dtype=bool),
            categories=self.categories,
        )
        return splits, roots

    def _add(self, split: Mapping[str, Any] | None, truth: Any, left: int, right: int, value: Sequence[float]) -> None:
        """A test, left where its answer is no; or a leaf."""
        wire, threshold, missing_left = -1, 0.0, True
        if split is not None and split["split_type"] == "FloatFeature":
            feature = self.parsed.floats[split["float_feature_index"]]
            wire, threshold = feature["flat_feature_index"], split["border"]
            missing_left = feature.get("nan_value_treatment") != "AsTrue"
        elif split is not None:
            wire, answers = truth
            self.categories[len(self.wire)] = frozenset(np.flatnonzero(~answers).astype(float).tolist())
        self.wire.append(wire)
        self.threshold.append(threshold)
        self.missing_left.append(missing_left)
        self.left.append(left)
        self.right.append(right)
        self.value.append(value)

    def _symmetric(self, tree: Mapping[str, Any], truths: Sequence[Any]) -> None:
        """Level by level: split i is asked at level i, and its answer is bit i of the number of the leaf."""
        first, splits = len(self.wire), _splits_of(tree)
        nothing = [0.0] * self.outputs
        for level, split in enumerate(splits):
            below = first + 2 ** (level + 1) - 1
            for bits in range(2**level):
                self._add(split, truths[level], below + bits, below + bits + 2**level, nothing)
        values = np.reshape(tree["leaf_values"], (2 ** len(splits), self.outputs))
        for leaf in values.tolist():
            self._add(None, None, 0, 0, leaf)

    def _any(self, node: Mapping[str, Any]) -> int:
        """A node of a tree that is not symmetric, and those below it; its place."""
        here = len(self.wire)
        if "split" not in node:
            value = node["value"]
            self._add(None, None, 0, 0, value if isinstance(value, list) else [value])
            return here
        if node["split"]["split_type"] != "FloatFeature":
            raise UnsupportedModelError(
                f"A {self.parsed.by}", "split categories in symmetric trees", "another grow_policy with categorical features",
                "train it with grow_policy='SymmetricTree', the default, or encode the categories before the model",
            )  # fmt: skip
        self._add(node["split"], None, 0, 0, [0.0] * self.outputs)
        self.left[here] = self._any(node["left"])
        self.right[here] = self._any(node["right"])
        return here

    # -- what the model itself says of categories ---------------------------------------------------------------------------

    def _truths(self, trees: Sequence[Mapping[str, Any]]) -> dict[tuple[int, int], tuple[int, Any]]:
        """(tree, split) -> the column that a split by category tests, and its answer for each of the column's values."""
        asked = [
            (t, i, split)
            for t, tree in enumerate(trees)
            for i, split in enumerate(_splits_of(tree))
            if split["split_type"] != "FloatFeature"
        ]
        columns = {(t, i): self._column_of(split) for t, i, split in asked}
        leaves = {c: self._leaves(c) for c in set(columns.values())}
        return {(t, i): (c, (leaves[c][:, t] >> i) & 1 == 1) for (t, i), c in columns.items()}

    def _column_of(self, split: Mapping[str, Any]) -> int:
        if split["split_type"] == "OneHotFeature":
            return self.parsed.categories[split["cat_feature_index"]]
        place = split["split_index"]
        for counter in self._counters():
            if counter[0] <= place < counter[1]:
                return self.parsed.categories[counter[2]]
        raise UnsupportedModelError(
            f"A {self.parsed.by}",
            "have splits that likely knows",
            split["split_type"],
            "make numbers of the column before the model",
        )

    def _counters(self) -> list[tuple[int, int, int]]:
        """Of each counter: the number of its first split, the number after its last one, and its column among the categories."""
        info = self.parsed.data["features_info"]
        place = sum(len(each.get("borders") or ()) for each in info.get("float_features", []))
        place += sum(len(each.get("values") or ()) for each in info.get("categorical_features", []))
        counters = []
        for each in info.get("ctrs") or []:
            after = place + len(each["borders"])
            counters.append((place, after, each["elements"][0]["cat_feature_index"]))
            place = after
        return counters

    def _leaves(self, c: int) -> Any:
        """The leaf of every tree, value of column c by value; the other columns have any values."""
        wire = self.bound.wires[c]
        refuse_numbers(wire, self.parsed.by)
        columns = [_any_values(self.bound, other, len(wire.atoms)) for other in self.bound.wires]
        columns[c] = list(wire.atoms)
        table = pd.DataFrame({k: pd.Series(column, dtype=object) for k, column in enumerate(columns)})
        for k in {each["flat_feature_index"] for each in self.parsed.floats.values()}:
            table[k] = table[k].astype(float)
        table.columns = pd.Index(self.parsed.model.feature_names_)
        try:
            return np.asarray(self.parsed.model.calc_leaf_indexes(table)).reshape(len(table), -1)
        except CatBoostError as error:
            raise PredictorError(
                f"Feature {wire.name!r}", f"have values that a {self.parsed.by} takes for categories", str(error),
                "fill in missing categories with a text, and write whole numbers as text", feature=wire.name,
            ) from None  # fmt: skip


def _any_values(inputs: ModelInputs, wire: Wire, count: int) -> list[Any]:
    feature = inputs.schema.features[wire.feature]
    value = feature.lower if isinstance(feature, Continuous | Integer | Mixed) else wire.atoms[0]
    return [value] * count


# -- what the model says ------------------------------------------------------------------------------------------------


def _score(model: Any, X: Any) -> Numbers:
    names = list(model.feature_names_)
    if isinstance(X, pd.DataFrame) and set(names) <= {str(name) for name in X.columns}:
        X = X[[{str(name): name for name in X.columns}[name] for name in names]]
    raw = np.asarray(model.predict(X, prediction_type="RawFormulaVal"), dtype=np.float64).reshape(len(X), -1)
    threshold = model.get_probability_threshold() if isinstance(model, CatBoostClassifier) and raw.shape[1] == 1 else None
    return raw if threshold in (None, 0.5) else raw - np.log(threshold / (1 - threshold))


for _name in ("CatBoost", "CatBoostClassifier", "CatBoostRegressor"):
    register(f"catboost.{_name}", Reader(_read, _score))
