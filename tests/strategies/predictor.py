"""Strategies of classifiers: linear models, networks and forests over given features."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st

from likely.predictor import Column, Form, LinearModel, Link, ReluNetwork, TreeEnsemble
from likely.predictor.forms import NODE
from tests.strategies.schema import Strategy
from tests.strategies.sources import generators, some_quarters


@st.composite
def links(draw: st.DrawFn) -> tuple[Link, int, tuple[Any, ...]]:
    """How scores decide, how many there are, and the classes."""
    kind = draw(st.sampled_from(["logistic", "sign", "softmax", "argmax", "shares", "identity"]))
    if kind == "identity":
        return Link(kind), draw(st.integers(1, 3)), ()
    if kind in ("logistic", "sign"):
        return Link(kind, tie=draw(st.booleans())), 1, draw(st.sampled_from([(0, 1), ("no", "yes"), (False, True)]))
    classes = draw(st.sampled_from([("x", "y"), ("x", "y", "z"), (3, 1, 2)]))
    return Link(kind), len(classes), classes


def _inputs(draw: st.DrawFn, rng: np.random.Generator, features: Sequence[Any]) -> tuple[Column, ...]:
    """A column or two of each feature, as networks read them."""
    columns = []
    for j, feature in enumerate(features):
        for _ in range(draw(st.integers(0 if len(features) > 1 else 1, 2))):
            table = tuple(some_quarters(rng, len(feature.atoms)))
            slope, intercept = some_quarters(rng, 2) if feature.numeric else (0.0, 0.0)
            columns.append(Column(j, float(slope), float(intercept), table, not feature.numeric))
    return tuple(columns) or (Column(0, 1.0, 0.0, (1.0,) * len(features[0].atoms), not features[0].numeric),)


@st.composite
def linear_forms(draw: st.DrawFn, features: Sequence[Any]) -> Form:
    """A linear model of the features."""
    rng, (link, outputs, classes) = draw(generators()), draw(links())
    columns = _inputs(draw, rng, features)
    return LinearModel(link, classes, columns, some_quarters(rng, outputs, len(columns)), some_quarters(rng, outputs))


@st.composite
def networks(draw: st.DrawFn, features: Sequence[Any], *, depth: int = 3, width: int = 4) -> Form:
    """A ReLU network of a few layers and outputs."""
    rng, (link, outputs, classes) = draw(generators()), draw(links())
    columns = _inputs(draw, rng, features)
    widths = [*draw(st.lists(st.integers(1, width), min_size=1, max_size=depth)), outputs]
    before = [len(columns), *widths]
    layers = [
        (some_quarters(rng, after, inputs), some_quarters(rng, after)) for after, inputs in zip(widths, before, strict=False)
    ]
    return ReluNetwork(link, classes, columns, tuple(layers))


class _GrownTrees:
    """The nodes and values of trees while they grow."""

    def __init__(self, rng: np.random.Generator, features: Sequence[Any], outputs: int) -> None:
        self.rng, self.features, self.outputs = rng, features, outputs
        self.nodes: list[tuple[float, float, int, int, int, int]] = []
        self.values: list[float] = []

    def grow(self, depth: int) -> int:
        """The place of a node; its successors are there already."""
        if depth == 0 or self.rng.random() < 0.2:
            self.nodes.append((0.0, 0.0, -1, len(self.values), 0, 0))
            self.values += some_quarters(self.rng, self.outputs).tolist()
            return len(self.nodes) - 1
        inside, outside = self.grow(depth - 1), self.grow(depth - 1)
        j = int(self.rng.integers(len(self.features)))
        for _ in range(self.rng.integers(1, 4)):  # a union of intervals is a chain of tests
            low, high = self._interval(self.features[j])
            self.nodes.append((low, high, j, inside, outside, 0))
            outside = len(self.nodes) - 1
        return len(self.nodes) - 1

    def _interval(self, feature: Any) -> tuple[float, float]:
        if feature.numeric and self.rng.random() < 0.8:
            size = feature.upper - feature.lower
            ends = feature.lower + size * self.rng.integers(-2, 11, 2) / 8
        else:
            ends = self.rng.choice([feature.atom_number(k) for k in range(len(feature.atoms))] or [0.0], 2)
        low, high = sorted(ends.tolist())
        return [(-math.inf, high), (low, math.inf), (low, high)][self.rng.integers(3)]


@st.composite
def forests(draw: st.DrawFn, features: Sequence[Any], *, trees: int = 4, depth: int = 3) -> Form:
    """Trees that add to one output or to all, averaged or not."""
    rng, (link, outputs, classes) = draw(generators()), draw(links())
    grown = _GrownTrees(rng, features, outputs)
    roots = [grown.grow(draw(st.integers(0, depth))) for _ in range(draw(st.integers(1, trees)))]
    output_of = [draw(st.integers(-1, outputs - 1)) for _ in roots]
    nodes, base = np.array(grown.nodes, dtype=NODE), some_quarters(rng, outputs)
    return TreeEnsemble(link, classes, nodes, roots, output_of, grown.values, base, draw(st.booleans()))  # type: ignore[arg-type]


def forms(features: Sequence[Any], kinds: Sequence[str] = ("linear", "network", "forest")) -> Strategy[Form]:
    """A model of one of the kinds."""
    made = {"linear": linear_forms, "network": networks, "forest": forests}
    return st.one_of([made[kind](features) for kind in kinds])


def some_form(rng: np.random.Generator, features: Sequence[Any], kind: str) -> Form:
    """A model of two or three classes that reads every feature."""
    count = int(rng.integers(2, 4))
    link, outputs = (Link("logistic"), 1) if count == 2 else (Link("softmax"), 3)
    classes = ("x", "y", "z")[:count]
    if kind == "forest":
        grown = _GrownTrees(rng, features, outputs)
        roots = [grown.grow(4) for _ in range(8)]
        nodes, base = np.array(grown.nodes, dtype=NODE), np.zeros(outputs)
        return TreeEnsemble(link, classes, nodes, roots, np.full(8, -1), grown.values, base)  # type: ignore[arg-type]
    columns = tuple(
        Column(j, 1.0 if f.numeric else 0.0, 0.0, tuple(some_quarters(rng, len(f.atoms), zeros=0)), not f.numeric)
        for j, f in enumerate(features)
    )
    widths = [len(columns), *([] if kind == "linear" else rng.integers(3, 9, rng.integers(1, 4)).tolist()), outputs]
    layers = [(some_quarters(rng, after, before), some_quarters(rng, after)) for before, after in pairwise(widths)]
    if kind == "linear":
        return LinearModel(link, classes, columns, *layers[0])
    return ReluNetwork(link, classes, columns, tuple(layers))
