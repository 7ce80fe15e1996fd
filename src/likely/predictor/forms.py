"""Neutral forms: what a model computes, whatever framework it came from.

A neutral form is a model as mathematics, without its framework: a linear function, a ReLU network, a sum of trees, one of
trees with linear leaves (`likely.predictor.linear_trees`), or a composite of these (`likely.predictor.composite`). It
maps rows of the schema (arrays of doubles, one per feature; see `likely.schema.values`) to scores, n x outputs, and by
its `link` to probabilities and classes. `LinearModel` and `ReluNetwork` read `columns`, each a function of one feature;
`TreeEnsemble` tests the features themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from likely import _core
from likely._jobs import thread_count
from likely.errors import PredictorError
from likely.predictor.columns import Column, column_from_dict
from likely.predictor.links import Link
from likely.schema.values import Numbers, Value, is_code, plain

#: Weights and bias of each layer.
Layers: TypeAlias = tuple[tuple[NDArray[np.float64], NDArray[np.float64]], ...]
#: Unit roundoff of doubles: what one operation loses, relative to its result.
ROUNDOFF = 2.0**-53


@dataclass(frozen=True, eq=False)
class Form(ABC):
    """What a model computes. `classes` are the user's labels; none for a regressor."""

    link: Link
    classes: tuple[Value, ...]
    form: ClassVar[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", tuple(plain(label) for label in self.classes))
        wanted = (self.outputs if self.link.one_score_per_class else 2) if self.link.classifies else 0
        thing = f"A {self.form} form with {self.outputs} outputs and link '{self.link.kind}'"
        if self.link.classifies and not self.link.one_score_per_class and self.outputs != 1:
            raise PredictorError(thing, "have one output", self.outputs, "use a link with one score per class")
        if len(self.classes) != wanted:
            hint = "give classes=[...] in the order of the outputs"
            raise PredictorError(thing, f"have {wanted} classes", list(self.classes), hint)
        if len(set(self.classes)) < wanted:
            raise PredictorError(thing, "have different classes", list(self.classes), "rename one")

    @property
    @abstractmethod
    def outputs(self) -> int:
        """The number of scores per row."""

    @abstractmethod
    def score(self, rows: Numbers, *, n_jobs: int | None = None) -> Numbers:
        """Scores, n x outputs, of n rows.

        Args:
            rows: Rows of doubles, one column per feature of the schema: `schema.encode(X)`.
            n_jobs: Threads to work on; None or -1 for one per core. The scores do not depend on it.
        """

    @abstractmethod
    def rounding(self, rows: Numbers) -> Numbers:
        """By how much each score may differ between two ways of adding up its terms, n x outputs.

        Args:
            rows: Rows of doubles, one column per feature of the schema: `schema.encode(X)`.
        """

    def probabilities(self, rows: Numbers) -> Numbers:
        """Probabilities, n x classes.

        Args:
            rows: Rows of doubles, one column per feature of the schema: `schema.encode(X)`.
        """
        return self.link.probabilities(self.score(rows))

    def predict(self, rows: Numbers) -> NDArray[Any]:
        """Each row's class label, or a regressor's prediction.

        Args:
            rows: Rows of doubles, one column per feature of the schema: `schema.encode(X)`.
        """
        scores = self.score(rows)
        if not self.link.classifies:
            return self.link.predict(scores)
        return np.array(self.classes)[self.link.decide(scores)]

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `form_from_dict` reads back without loss."""
        return {"form": self.form, "link": self.link.to_dict(), "classes": list(self.classes), **self._parts()}

    @abstractmethod
    def _parts(self) -> dict[str, Any]:
        """What `to_dict` says of this form beyond link and classes."""

    @classmethod
    def _from_parts(cls, parts: dict[str, Any]) -> Form:
        """The form of what `_parts` gave, with link and classes."""
        if "columns" in parts:
            parts["columns"] = tuple(column_from_dict(column) for column in parts["columns"])
        if "layers" in parts:
            parts["layers"] = tuple((layer["weights"], layer["bias"]) for layer in parts["layers"])
        if "nodes" in parts:
            parts["nodes"] = _read_nodes(parts["nodes"])
        return cls(**parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Form) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.form, self.link, self.classes))


def _complete(rows: Numbers) -> Numbers:
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    if rows.ndim != 2:
        raise PredictorError("Rows to score", "be an array of rows x features", f"shape {rows.shape}", "use schema.encode(X)")
    # NaN * 0 is NaN: one quick pass tells whether it is worth to look closer.
    if np.isnan(np.dot(rows.ravel(), np.zeros(rows.size))) and np.isnan(rows).any():
        j = int(np.argmax(np.isnan(rows).any(axis=0)))
        raise PredictorError("Rows to score", "have no missing value", f"one in feature number {j}", "fill it in", feature=j)
    return rows


@contextmanager
def _refusing(rows: Numbers) -> Iterator[None]:
    """The core's complaint about rows that are not of the form's schema, in our words."""
    try:
        yield
    except IndexError as error:
        raise PredictorError(
            "Rows to score", "have the columns of the schema that the model was read with", f"shape {rows.shape}", f"{error}"
        ) from None


def frozen(array: Any, dtype: Any = np.float64) -> NDArray[Any]:
    """A copy that cannot be written to."""
    copy = np.array(array, dtype=dtype, order="C")
    copy.setflags(write=False)
    return copy


@dataclass(frozen=True, eq=False)
class ColumnForm(Form):
    """A form that reads columns."""

    columns: tuple[Column, ...]

    @cached_property
    def _expander(self) -> _core.Columns:
        tables = [entry for column in self.columns for entry in column.table]
        starts = np.cumsum([0, *(len(column.table) for column in self.columns)])[:-1]
        return _core.Columns(
            np.array([c.feature for c in self.columns], dtype=np.int32),
            np.array([c.discrete for c in self.columns], dtype=np.bool_),
            np.array([c.slope for c in self.columns], dtype=np.float64),
            np.array([c.center for c in self.columns], dtype=np.float64),
            np.array([c.intercept for c in self.columns], dtype=np.float64),
            starts.astype(np.int64),
            np.array(tables, dtype=np.float64),
        )

    @cached_property
    def _as_they_are(self) -> bool:
        """Whether the columns are the features themselves, in order."""
        return self.columns == tuple(Column(j, 1.0, 0.0) for j in range(len(self.columns)))

    def inputs(self, rows: Numbers, *, n_jobs: int | None = None) -> Numbers:
        """What the model reads, n x columns.

        Args:
            rows: Rows of doubles, one column per feature of the schema: `schema.encode(X)`.
            n_jobs: Threads to work on; None or -1 for one per core. The scores do not depend on it.
        """
        rows = _complete(rows)
        if self._as_they_are and rows.shape[1] == len(self.columns):
            return rows
        with _refusing(rows):
            inputs = self._expander.expand(rows, thread_count(n_jobs, PredictorError))
        for c, column in enumerate(self.columns):
            if column.curve:
                numbers = rows[:, column.feature]
                inputs[:, c] = np.where(is_code(numbers), inputs[:, c], column.at(numbers))
        return inputs

    @property
    def curved(self) -> bool:
        """Whether some column is no linear function of its feature's numbers."""
        return any(column.curve for column in self.columns)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_expander", "_as_they_are")}


#: Roundings of a curve: a few operations, of which libraries compute some to within a few units in the last place.
ROUNDINGS_OF_CURVE = 16


def _rounding(inputs: Numbers, layers: Layers, *, curved: bool) -> Numbers:
    """What rounding may do to the outputs: the same network, with absolute values, adds up the sizes of all their terms."""
    sizes, terms = np.abs(inputs), ROUNDINGS_OF_CURVE * curved
    for weights, bias in layers:
        sizes = sizes @ np.abs(weights.T) + np.abs(bias)
        terms += weights.shape[1] + 2
    return np.asarray(ROUNDOFF * terms * sizes)


def _check_layer(weights: NDArray[Any], bias: NDArray[Any], width: int) -> None:
    if weights.ndim != 2 or weights.shape[1] != width or bias.shape != weights.shape[:1]:
        got = f"shapes {weights.shape} and {bias.shape}"
        raise PredictorError(
            "A layer", f"have weights of shape (outputs, {width}) and one bias per output", got, "transpose the weights"
        )
    if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
        raise PredictorError("A layer", "have finite weights", "NaN or infinity", "train the model again")


@dataclass(frozen=True, eq=False)
class LinearModel(ColumnForm):
    """score = weights @ columns + bias."""

    form: ClassVar[str] = "linear"
    weights: NDArray[np.float64]
    bias: NDArray[np.float64]

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", frozen(self.weights))
        object.__setattr__(self, "bias", frozen(self.bias))
        _check_layer(self.weights, self.bias, len(self.columns))
        super().__post_init__()

    @property
    def outputs(self) -> int:
        return len(self.bias)

    @property
    def layers(self) -> Layers:
        """Weights and bias, as the one layer of a network."""
        return ((self.weights, self.bias),)

    def rounding(self, rows: Numbers) -> Numbers:
        return _rounding(self.inputs(rows, n_jobs=1), self.layers, curved=self.curved)

    def score(self, rows: Numbers, *, n_jobs: int | None = None) -> Numbers:
        scores = self.inputs(rows, n_jobs=n_jobs) @ self.weights.T
        scores += self.bias
        return np.asarray(scores)

    def _parts(self) -> dict[str, Any]:
        return {
            "columns": [c.to_dict() for c in self.columns],
            "weights": self.weights.tolist(),
            "bias": self.bias.tolist(),
        }


#: Rows that pass through a network together, so that its hidden layers stay in the cache.
_BLOCK = 2048


@dataclass(frozen=True, eq=False)
class ReluNetwork(ColumnForm):
    """h_0 = columns; h_i = max(0, W_i @ h_{i-1} + b_i); score = W_L @ h_{L-1} + b_L (no max on the last layer)."""

    form: ClassVar[str] = "relu_network"
    layers: Layers

    def __post_init__(self) -> None:
        layers = tuple((frozen(weights), frozen(bias)) for weights, bias in self.layers)
        if not layers:
            raise PredictorError("A ReluNetwork", "have a layer", "none", "give weights and bias of each")
        object.__setattr__(self, "layers", layers)
        width = len(self.columns)
        for weights, bias in layers:
            _check_layer(weights, bias, width)
            width = len(bias)
        super().__post_init__()

    @property
    def outputs(self) -> int:
        return len(self.layers[-1][1])

    def score(self, rows: Numbers, *, n_jobs: int | None = None) -> Numbers:
        inputs = self.inputs(rows, n_jobs=n_jobs)
        scores = np.empty((len(inputs), self.outputs))
        for start in range(0, len(inputs), _BLOCK):
            scores[start : start + _BLOCK] = self._score_block(inputs[start : start + _BLOCK])
        return scores

    def rounding(self, rows: Numbers) -> Numbers:
        return _rounding(self.inputs(rows, n_jobs=1), self.layers, curved=self.curved)

    def _score_block(self, hidden: Numbers) -> Numbers:
        for i, (weights, bias) in enumerate(self.layers):
            if i:
                np.maximum(hidden, 0.0, out=hidden)
            hidden = hidden @ weights.T
            hidden += bias
        return hidden

    def _parts(self) -> dict[str, Any]:
        layers = [{"weights": w.tolist(), "bias": b.tolist()} for w, b in self.layers]
        return {"columns": [c.to_dict() for c in self.columns], "layers": layers}


#: A test "low <= x[feature] <= high", then on to `inside` or `outside`; a leaf has feature -1, and `inside` says where
#: its values start. Nodes may share successors: a test for a union of intervals is a chain. The layout is the core's.
NODE = np.dtype([("low", "f8"), ("high", "f8"), ("feature", "i4"), ("inside", "i4"), ("outside", "i4"), ("unused", "i4")])


@dataclass(frozen=True, eq=False)
class TreeEnsemble(Form):
    """score = base + the sum of the trees' leaf values; divided by the number of trees if `average`.

    `nodes` (dtype `NODE`) holds all trees; tree t starts at `roots[t]` and adds to output `output_of[t]`, or, where
    that is -1, to every output, its leaves holding one value for each. Tests are on the features' doubles themselves,
    exactly as the model decides: no rounding of a scaler or a cast to float32 is left between the two.
    """

    form: ClassVar[str] = "tree_ensemble"
    nodes: NDArray[np.void]
    roots: NDArray[np.int32]
    output_of: NDArray[np.int32]
    values: NDArray[np.float64]
    base: NDArray[np.float64]
    average: bool = False

    def __post_init__(self) -> None:
        dtypes = {"nodes": NODE, "roots": np.int32, "output_of": np.int32, "values": np.float64, "base": np.float64}
        for name, dtype in dtypes.items():
            object.__setattr__(self, name, frozen(getattr(self, name), dtype))
        self._check_nodes()
        super().__post_init__()

    def _check_nodes(self) -> None:
        count = len(self.nodes)
        inner = self.nodes["feature"] >= 0
        successors = np.concatenate([self.nodes["inside"][inner], self.nodes["outside"][inner], self.roots])
        if count == 0 or not _within(successors, 0, count):
            raise PredictorError("Every branch of a tree", "lead to a node", "a number without a node", "number the nodes from 0")
        if len(self.output_of) != len(self.roots) or not _within(self.output_of, -1, self.outputs):
            raise PredictorError(
                "Each tree", "name the output that it adds to, or -1 for all", self.output_of.tolist(), "give one per root"
            )
        width = self.outputs if (self.output_of < 0).any() else 1
        if not _within(self.nodes["inside"][~inner], 0, len(self.values) - width + 1):
            raise PredictorError(
                "Every leaf of a tree", "have values", "a place after the last value", "give it a place in values"
            )
        if not (np.isfinite(self.values).all() and np.isfinite(self.base).all()):
            raise PredictorError("The leaves of trees", "have finite values", "NaN or infinity", "train the model again")
        if np.isnan([self.nodes["low"][inner], self.nodes["high"][inner]]).any():
            raise PredictorError("Every test of a tree", "have two ends", "NaN", "use infinity where there is no end")
        self._refuse_cycles()

    def _refuse_cycles(self) -> None:
        try:
            self._trees  # noqa: B018 - the core reads the nodes, and refuses those that lead back to themselves
        except ValueError as error:
            raise PredictorError("The nodes of a tree", "end in leaves", f"a cycle: {error}", "number the nodes anew") from None

    @property
    def divisor(self) -> float:
        """What the sum of the trees is divided by."""
        return float(len(self.roots)) if self.average else 1.0

    @property
    def outputs(self) -> int:
        return len(self.base)

    @cached_property
    def _trees(self) -> _core.Trees:
        return _core.Trees(self.nodes.view(np.uint8), self.roots, self.output_of, self.values, self.outputs)

    def score(self, rows: Numbers, *, n_jobs: int | None = None) -> Numbers:
        rows = _complete(rows)
        with _refusing(rows):
            scores = self._trees.score(rows, self.base, thread_count(n_jobs, PredictorError))
        return scores / len(self.roots) if self.average else scores

    def rounding(self, rows: Numbers) -> Numbers:
        return np.asarray(ROUNDOFF * (len(self.roots) + 2) * self._absolute.score(rows, n_jobs=1))

    @cached_property
    def _absolute(self) -> Self:
        """The same trees with the sizes of their leaves: every answer is judged by them, and a forest is not built in no time."""
        return replace(self, values=np.abs(self.values), base=np.abs(self.base))

    def _parts(self) -> dict[str, Any]:
        nodes = {name: self.nodes[name].tolist() for name in ("feature", "inside", "outside")}
        ends = {name: [_end(x) for x in self.nodes[name].tolist()] for name in ("low", "high")}
        arrays = {name: getattr(self, name).tolist() for name in ("roots", "output_of", "values", "base")}
        return {"nodes": {**nodes, **ends}, **arrays, "average": self.average}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_trees", "_absolute")}


def _within(numbers: NDArray[Any], low: int, high: int) -> bool:
    """Whether all numbers are at least `low` and below `high`."""
    return bool((numbers >= low).all() and (numbers < high).all())


def _end(x: float) -> float | str:
    """The end of an interval for JSON, which has no infinity."""
    return x if abs(x) < np.inf else "inf" if x > 0 else "-inf"


def _read_nodes(data: Mapping[str, Sequence[Any]]) -> NDArray[np.void]:
    nodes = np.zeros(len(data["feature"]), dtype=NODE)
    for name in data:
        nodes[name] = [float(x) for x in data[name]] if name in ("low", "high") else data[name]
    return nodes


def form_from_dict(data: Mapping[str, Any]) -> Form:
    """The form that `Form.to_dict` described; refuses an unknown kind, and parts that are missing or not known.

    Args:
        data: What `Form.to_dict` gave.
    """
    parts = dict(data)
    kind = parts.pop("form", None)
    if kind not in FORMS:
        raise PredictorError("A form", "have a known kind", repr(kind), f"use {', '.join(FORMS)}")
    try:
        parts["link"], parts["classes"] = Link(**parts["link"]), tuple(parts["classes"])
        return FORMS[kind]._from_parts(parts)
    except (KeyError, TypeError) as error:
        raise PredictorError(f"A {kind} form", "have all its parts and no others", str(error), "write it with to_dict") from None


#: Every kind of form by its name in files.
FORMS: dict[str, type[Form]] = {form.form: form for form in (LinearModel, ReluNetwork, TreeEnsemble)}
