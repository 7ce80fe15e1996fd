"""Strategies of classifiers: linear models, networks, forests and composites of them over given features."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st

from likely.predictor import Column, Composite, Form, Function, Layer, LinearModel, LinearTrees, Link, ReluNetwork, TreeEnsemble
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


@st.composite
def linear_trees(draw: st.DrawFn, features: Sequence[Any], *, trees: int = 3, depth: int = 3) -> Form:
    """Trees whose leaves weigh columns, each at random."""
    rng, (link, outputs, classes) = draw(generators()), draw(links())
    grown = _GrownTrees(rng, features, 1)
    roots = [grown.grow(draw(st.integers(0, depth))) for _ in range(draw(st.integers(1, trees)))]
    output_of = [draw(st.integers(0, outputs - 1)) for _ in roots]
    plain = TreeEnsemble(
        Link("identity"), (), np.array(grown.nodes, dtype=NODE), roots, output_of, grown.values, some_quarters(rng, outputs)  # type: ignore[arg-type]
    )  # fmt: skip
    return _with_linear_leaves(rng, link, classes, plain, _inputs(draw, rng, features))


def _with_linear_leaves(
    rng: np.random.Generator, link: Link, classes: tuple[Any, ...], trees: TreeEnsemble, columns: tuple[Column, ...]
) -> Form:
    """Trees with up to three terms in every leaf."""
    counts = rng.integers(0, min(3, len(columns)) + 1, len(trees.values))
    terms = np.concatenate([rng.permutation(len(columns))[:count] for count in counts])
    return LinearTrees(link, classes, columns, trees, np.cumsum([0, *counts]), terms, some_quarters(rng, len(terms)))


def _functions(rng: np.random.Generator, width: int, *, jumps: bool, groups: bool) -> tuple[Function, ...]:
    """Functions that cover so many numbers, some of them in groups, if wanted."""
    single = ["identity", "relu", "logistic", "tanh", "clip", "confidence", "interpolate"] + ["above", "at_least"] * jumps
    single += ["softplus", "elu", "rising_silu", "rising_gelu"]
    made: list[Function] = []
    while (left := width - sum(function.width for function in made)) > 0:
        scale, shift = float(rng.choice([1.0, 1.0, 0.5, -2.0])), float(rng.choice([0.0, 0.25, -1.0]))
        if groups and left > 1 and rng.random() < 0.3:
            made.append(Function("softmax", scale, shift, width=int(rng.integers(2, left + 1))))
            continue
        kind = str(rng.choice(single))
        shift += 0.01 * (kind in ("above", "at_least"))  # no score of few bits is where it jumps, and rounding decides
        knots = np.cumsum(rng.integers(1, 4, 4)) / 4 - 1 if kind == "interpolate" else ()
        values = np.cumsum(rng.integers(0, 3, 4)) / 4 if kind == "interpolate" else ()
        made.append(Function(kind, scale, shift, knots=tuple(knots), values=tuple(values)))
    return tuple(made)


def some_layers(rng: np.random.Generator, widths: Sequence[int], *, jumps: bool = True, groups: bool = True) -> tuple[Layer, ...]:
    """Layers from so many numbers to so many."""
    return tuple(
        Layer(_functions(rng, before, jumps=jumps, groups=groups), some_quarters(rng, after, before), some_quarters(rng, after))
        for before, after in pairwise(widths)
    )


@st.composite
def composites(draw: st.DrawFn, features: Sequence[Any], *, jumps: bool = True) -> Form:
    """Functions of the scores of two or three other models, one or two layers of them."""
    rng, (link, outputs, classes) = draw(generators()), draw(links())
    kinds = draw(st.sampled_from([("linear",), ("forest",), ("linear", "network", "forest", "linear trees")]))
    members = tuple(draw(st.lists(forms(features, kinds), min_size=1, max_size=3)))
    widths = [sum(member.outputs for member in members), *draw(st.lists(st.integers(1, 3), max_size=1)), outputs]
    return Composite(link, classes, members, some_layers(rng, widths, jumps=jumps))


@st.composite
def composites_of_trees(draw: st.DrawFn, features: Sequence[Any]) -> Form:
    """Functions of one number each of the scores of forests, as calibrated forests are."""
    rng, (link, outputs, classes) = draw(generators()), draw(links())
    members = tuple(draw(st.lists(forests(features), min_size=1, max_size=3)))
    widths = [sum(member.outputs for member in members), *draw(st.lists(st.integers(1, 3), max_size=1)), outputs]
    return Composite(link, classes, members, some_layers(rng, widths, groups=False))


def forms(features: Sequence[Any], kinds: Sequence[str] = ("linear", "network", "forest")) -> Strategy[Form]:
    """A model of one of the kinds."""
    made = {"linear": linear_forms, "network": networks, "forest": forests, "linear trees": linear_trees, "composite": composites}
    made["composite of trees"] = composites_of_trees
    return st.one_of([made[kind](features) for kind in kinds])


def some_form(rng: np.random.Generator, features: Sequence[Any], kind: str) -> Form:
    """A model of two or three classes that reads every feature."""
    count = int(rng.integers(2, 4))
    link, outputs = (Link("logistic"), 1) if count == 2 else (Link("softmax"), 3)
    classes = ("x", "y", "z")[:count]
    if kind == "composite of trees":
        members = [some_form(rng, features, "forest") for _ in range(rng.integers(1, 4))]
        width = sum(member.outputs for member in members)
        return Composite(link, classes, tuple(members), some_layers(rng, [width, outputs], groups=False))
    if kind == "composite":
        members = [some_form(rng, features, str(rng.choice(["linear", "network", "forest"]))) for _ in range(rng.integers(1, 4))]
        width = sum(member.outputs for member in members)
        widths = [width, *([3] if rng.random() < 0.5 else []), outputs]
        return Composite(link, classes, tuple(members), some_layers(rng, widths, jumps=bool(rng.random() < 0.5)))
    if kind == "forest":
        grown = _GrownTrees(rng, features, outputs)
        roots = [grown.grow(4) for _ in range(8)]
        nodes, base = np.array(grown.nodes, dtype=NODE), np.zeros(outputs)
        return TreeEnsemble(link, classes, nodes, roots, np.full(8, -1), grown.values, base)  # type: ignore[arg-type]
    columns = tuple(
        Column(j, 1.0 if f.numeric else 0.0, 0.0, tuple(some_quarters(rng, len(f.atoms), zeros=0)), not f.numeric)
        for j, f in enumerate(features)
    )
    if kind == "linear trees":
        grown = _GrownTrees(rng, features, 1)
        roots, nowhere = [grown.grow(3) for _ in range(4)], np.zeros(outputs)
        places = np.arange(4) % outputs
        trees = TreeEnsemble(Link("identity"), (), np.array(grown.nodes, dtype=NODE), roots, places, grown.values, nowhere)  # type: ignore[arg-type]
        return _with_linear_leaves(rng, link, classes, trees, columns)
    widths = [len(columns), *([] if kind == "linear" else rng.integers(3, 9, rng.integers(1, 4)).tolist()), outputs]
    layers = [(some_quarters(rng, after, before), some_quarters(rng, after)) for before, after in pairwise(widths)]
    if kind == "linear":
        return LinearModel(link, classes, columns, *layers[0])
    return ReluNetwork(link, classes, columns, tuple(layers))
