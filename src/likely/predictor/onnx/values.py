"""What the tensors of an ONNX graph hold, as operators see it.

A tensor is one of four things: an array of constants; a `Chain`, the columns of a table on their way through scalers
and layers; a `Head`, the scores, probabilities or labels that a model ends in; or nothing, an optional input left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from likely.errors import PredictorError
from likely.predictor.forms import Form
from likely.predictor.links import Link
from likely.predictor.network_graph import ACTIVATIONS, NetworkGraph
from likely.predictor.onnx.trees import Forest
from likely.predictor.trees import tree_ensemble
from likely.predictor.wires import ModelInputs, Step, Wire, refuse_numbers

#: The class of ONNX models, as errors name it.
BY = "ModelProto"
Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Node:
    """One operator of a graph, in plain Python values."""

    op: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]

    @property
    def place(self) -> str:
        """The node's name for errors."""
        return f"Node {self.name or self.outputs[0]!r} ({self.op})"


@dataclass(frozen=True)
class Port:
    """An input of a graph: n x width of float32, float64 or text; width is None where the graph leaves it open."""

    name: str
    dtype: str
    width: int | None


@dataclass(frozen=True)
class Graph:
    """A graph in plain Python values; its nodes stand after those they read."""

    ports: tuple[Port, ...]
    constants: Mapping[str, Array]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]

    def bind(self, inputs: ModelInputs) -> ModelInputs:
        """The inputs in the order of the graph's columns: by name where it has several ports, else by place."""
        if len(self.ports) == 1:
            return inputs.counted(self.ports[0].width or len(inputs), BY)
        names = [port.name for port in self.ports]
        if not inputs.untouched:
            raise PredictorError(
                "An ONNX graph with an input per feature",
                "be read without encoder=",
                f"inputs {', '.join(names)}",
                "leave it out",
            )
        return inputs.named(names, BY)


@dataclass(frozen=True)
class Category:
    """1 where the text is `categories[k]`, 0 elsewhere; text that is no category is refused if `strict`."""

    categories: tuple[str, ...]
    k: int
    strict: bool

    def wire(self, wire: Wire) -> Wire:
        """The indicator, from the feature's own column."""
        refuse_numbers(wire, "OneHotEncoder")
        for atom in wire.atoms:
            if not isinstance(atom, str) or (self.strict and atom not in self.categories):
                raise PredictorError(
                    f"Feature {wire.name!r}", "have only texts that OneHotEncoder knows", repr(atom),
                    f"it knows {list(self.categories)}", feature=wire.name,
                )  # fmt: skip
        return wire.coded([float(atom == self.categories[self.k]) for atom in wire.atoms], "float32")


@dataclass(frozen=True)
class Track:
    """One column of a table: which input it comes from, and the steps it took."""

    source: int
    steps: tuple[Step | Category, ...] = ()

    def then(self, *steps: Step | Category) -> Track:
        """This column after further steps."""
        return replace(self, steps=(*self.steps, *steps))

    def wire(self, inputs: ModelInputs) -> Wire:
        """The column as a wire."""
        wire = inputs.wires[self.source]
        for step in self.steps:
            wire = wire.then(step, by=BY) if isinstance(step, Step) else step.wire(wire)
        return wire


def _wired(tracks: Sequence[Track], inputs: ModelInputs) -> ModelInputs:
    return replace(inputs, wires=tuple(track.wire(inputs) for track in tracks), untouched=False)


@dataclass(frozen=True, eq=False)
class Chain:
    """n x width numbers: columns of the table, then layers: "affine", "scale" or one of `ACTIVATIONS`, each with its arrays."""

    tracks: tuple[Track, ...]
    width: int
    layers: tuple[tuple[str, tuple[Any, ...]], ...] = ()

    @classmethod
    def of(cls, tracks: Sequence[Track]) -> Chain:
        """Columns without layers."""
        return cls(tuple(tracks), len(tracks))

    def then(self, *steps: tuple[str, Array]) -> Chain:
        """After x `op` value for each step, one value per column: exact steps of the columns while they are alone."""
        if not self.layers:
            return self._stepped([[Step(op, float(values[c])) for op, values in steps] for c in range(self.width)])
        factor, shift = np.ones(self.width), np.zeros(self.width)
        for op, values in steps:
            if op in ("add", "subtract"):
                shift = shift + (values if op == "add" else -values)
            else:
                by = values if op == "multiply" else 1 / values
                factor, shift = factor * by, shift * by
        return self.layer("scale", factor, shift)

    def cast(self, step: Step) -> Chain:
        """In another precision: it matters to columns only, for layers are read in double precision."""
        return self if self.layers else self._stepped([[step]] * self.width)

    def _stepped(self, steps: Sequence[Sequence[Step]]) -> Chain:
        return replace(self, tracks=tuple(track.then(*more) for track, more in zip(self.tracks, steps, strict=True)))

    def layer(self, name: str, *arrays: Any) -> Chain:
        """After a layer; an "affine" one sets the width."""
        return replace(self, width=len(arrays[0]) if name == "affine" else self.width, layers=(*self.layers, (name, arrays)))

    def form(self, inputs: ModelInputs, link: Link, classes: Sequence[Any]) -> Form:
        """The neutral form of the layers."""
        graph = NetworkGraph(_wired(self.tracks, inputs), BY)
        value = graph.input()
        for name, arrays in self.layers:
            if name == "affine":
                value = value.map(*arrays)
            else:
                value = value.scaled(*arrays) if name == "scale" else ACTIVATIONS[name](graph, value, *arrays)
        return graph.finish(value, link, classes)


@dataclass(frozen=True, eq=False)
class Trees:
    """The trees of one node, on columns of the table."""

    tracks: tuple[Track, ...]
    forest: Forest

    @property
    def width(self) -> int:
        """The number of scores."""
        return len(self.forest.base)

    def form(self, inputs: ModelInputs, link: Link, classes: Sequence[Any]) -> Form:
        """The neutral form of the trees."""
        forest = self.forest
        return tree_ensemble(
            _wired(self.tracks, inputs), forest.splits, forest.roots, forest.output_of, link=link, classes=classes,
            base=forest.base, average=forest.average, by=BY,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Head:
    """What a model ends in.

    `part` says what the tensor holds: "classes" (n x classes), "one" (n x 1: of class 1, or a prediction), "other" (1
    minus that), or "label". The form's scores are tensor `scores` of the graph, with the post_transform of the node
    that makes it, if it has one, left off; of its columns just `column`, where that is given.
    """

    body: Chain | Trees
    link: Link
    scores: str
    part: str
    column: int | None = None
    classes: tuple[Any, ...] | None = None
    #: What the tensor is if more layers follow: of a sigmoid.
    hidden: Chain | None = None

    @property
    def width(self) -> int:
        """The number of columns of the tensor."""
        return max(self.body.width, 2) if self.part == "classes" else 1

    def form(self, inputs: ModelInputs) -> Form:
        """The neutral form; classes without a name are numbered."""
        numbered = range(max(self.body.width, 2) if self.link.classifies else 0)
        return self.body.form(inputs, self.link, tuple(numbered) if self.classes is None else self.classes)


Value: TypeAlias = Array | Chain | Head | None


def describe(value: Value) -> str:
    """What a value is, for errors."""
    if isinstance(value, Head):
        return "labels" if value.part == "label" else "scores or probabilities"
    if isinstance(value, Chain):
        return "layers" if value.layers else "columns"
    return "nothing" if value is None else "a constant"
