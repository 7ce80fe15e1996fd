"""Strategies of circuits (`features` -> `leaves` -> `circuits`), of rows to ask them about, and of boxes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st

from likely.circuit import (
    FLOOR,
    Bernoulli,
    Categories,
    Circuit,
    Coded,
    Histogram,
    Leaf,
    Node,
    Parametric,
    Product,
    Sum,
)
from likely.schema import Binary, Feature
from likely.schema.grid import snap
from likely.schema.region import Region
from tests.oracles.circuits import breaks_of, step_of, values_of, width_of
from tests.strategies.finite import small_features
from tests.strategies.schema import Strategy, features, names, numbers
from tests.strategies.sources import simplexes

FLOORS = (FLOOR, 0.0, 1e-3)

#: What a circuit may have at most before it only closes what is open.
MOST_NODES = 30


def _bins(draw: st.DrawFn, feature: Any, aligned: bool) -> list[float]:
    """Breaks of a histogram: anywhere, or multiples of the step."""
    step = step_of(feature)
    low, high = (feature.lower, feature.upper) if feature.numeric else (0.0, len(feature.atoms) - 1.0)
    if step is None:
        inner = st.one_of(st.floats(low - 1, high + 1), st.integers(math.floor(low), math.ceil(high)).map(float))
        breaks = sorted({low, high + draw(st.sampled_from([0.1, 1.0])), *draw(st.lists(inner, max_size=4))})
        return [breaks[0], *(b for a, b in pairwise(breaks) if b - a > 1e-6 * max(1.0, abs(b)))]
    first, last = math.floor(low / step) - 1, math.ceil(high / step) + 2
    halves = st.integers(2 * first, 2 * last).map(lambda k: k / 2)
    places = draw(st.lists(st.integers(first, last) if aligned else halves, min_size=2, max_size=5, unique=True))
    return sorted({float(snap(np.array([place * step]), step / 2)[0]) for place in places})


@st.composite
def histograms(draw: st.DrawFn, feature: Any, variable: int, *, normalised: bool = True, aligned: bool = True) -> Histogram:
    """A histogram of a feature; a normalised one has mass 1 over the room of its bins."""
    breaks = _bins(draw, feature, aligned or normalised)
    if normalised and feature.numeric and step_of(feature) is not None:
        breaks = [b for b in breaks if feature.lower <= b + 1e-9 and b <= feature.upper + 1e-9]
        step = step_of(feature)
        ends = [math.ceil(feature.lower / step - 1e-9), math.floor(feature.upper / step + 1e-9) + 1]
        breaks = sorted({*breaks, *(float(snap(np.array([end * step]), step)[0]) for end in ends)})
    if normalised and not feature.numeric:
        breaks = sorted({0.0, float(len(feature.atoms)), *(b for b in breaks if 0 < b < len(feature.atoms))})
    widths = [float(width_of(feature, low, high)) for low, high in pairwise(breaks)]
    if not normalised:
        density = st.one_of(st.just(0.0), st.floats(1e-6, 5))
        return Histogram(variable, breaks, draw(st.lists(density, min_size=len(widths), max_size=len(widths))))
    able = [i for i, width in enumerate(widths) if width > 0]
    shares = dict(zip(able, draw(simplexes(len(able))), strict=True))
    return Histogram(variable, breaks, [shares.get(i, 0.0) / width if width > 0 else 0.0 for i, width in enumerate(widths)])


@st.composite
def parametrics(draw: st.DrawFn, feature: Any, variable: int) -> Parametric:
    """A parametric density with most of its mass somewhere near the feature's values."""
    families = ["gaussian", "lognormal", "exponential", "gamma"] + (["poisson"] if feature.grid == 1.0 else [])
    family = draw(st.sampled_from(families))
    size = max(feature.upper - feature.lower, feature.grid or 1.0)
    if family == "gaussian":
        return Parametric(variable, family, feature.lower + draw(st.floats(0, 1)) * size, size * draw(st.floats(0.05, 2)))
    if family == "lognormal":
        return Parametric(variable, family, draw(st.floats(-2, 5)), draw(st.floats(0.1, 2)))
    if family == "gamma":
        return Parametric(variable, family, draw(st.one_of(st.just(1.0), st.floats(1, 20))), draw(st.floats(0.01, 10)))
    return Parametric(variable, family, draw(st.floats(0.01, 30)))


@st.composite
def leaves(
    draw: st.DrawFn, feature: Any, variable: int, *, normalised: bool = True, parametric: bool = True, aligned: bool = True
) -> Leaf:
    """A leaf of any kind that a feature can have."""
    steps = histograms(feature, variable, normalised=normalised, aligned=aligned)
    if feature.numeric:
        numbers = st.one_of(steps, parametrics(feature, variable)) if parametric else steps
        if not feature.atoms or (not normalised and draw(st.integers(0, 4)) == 0):
            return draw(numbers)
        codes = draw(simplexes(len(feature.atoms) + 1))
        bare = draw(st.integers(0, 4)) == 0
        if bare:
            return Coded(variable, draw(simplexes(len(feature.atoms))))
        return Coded(variable, codes[:-1], draw(numbers))
    made = [simplexes(len(feature.atoms)).map(lambda shares: Categories(variable, shares)), steps]
    if isinstance(feature, Binary):
        made.append(st.floats(0, 1).map(lambda p: Bernoulli(variable, p)))
    return draw(st.one_of(made))


class _Grown:
    """The nodes of a circuit while it grows; what has been made for a scope may be used again."""

    def __init__(self, draw: st.DrawFn, variables: Sequence[Any], leaf: Callable[[Any, int], Strategy[Leaf]]) -> None:
        self.draw, self.variables, self.leaf = draw, variables, leaf
        self.nodes: list[Node] = []
        self.made: dict[frozenset[int], list[int]] = {}

    def grow(self, scope: frozenset[int], depth: int) -> int:
        """The place of a node over these variables."""
        known = self.made.get(scope, [])
        if known and (self.draw(st.integers(0, 2)) == 0 or len(self.nodes) > 2 * MOST_NODES):
            return self.draw(st.sampled_from(known))
        node = self._node(scope, depth if len(self.nodes) < MOST_NODES else 0)
        self.nodes.append(node)
        self.made.setdefault(scope, []).append(len(self.nodes) - 1)
        return len(self.nodes) - 1

    def _node(self, scope: frozenset[int], depth: int) -> Node:
        if len(scope) == 1 and (depth == 0 or self.draw(st.booleans())):
            (variable,) = scope
            return self.draw(self.leaf(self.variables[variable], variable))
        if depth > 0 and (len(scope) == 1 or self.draw(st.integers(0, 2)) > 0):
            children = [self.grow(scope, depth - 1) for _ in range(self.draw(st.integers(1, 3)))]
            return Sum(children, self.draw(simplexes(len(children))))
        return Product([self.grow(part, depth - 1 if depth else 0) for part in self._parts(scope, depth)])

    def _parts(self, scope: frozenset[int], depth: int) -> list[frozenset[int]]:
        ordered = sorted(scope)
        if depth == 0 or len(ordered) < 3 or self.draw(st.booleans()):
            return [frozenset([variable]) for variable in ordered]
        first = self.draw(st.sets(st.sampled_from(ordered), min_size=1, max_size=len(ordered) - 1))
        return [frozenset(first), scope - first]


@st.composite
def circuits(
    draw: st.DrawFn,
    *,
    small: bool = False,
    normalised: bool | None = None,
    parametric: bool = True,
    aligned: bool = True,
    most: int = 3,
    depth: int = 3,
    floors: Sequence[float] = FLOORS,
) -> Circuit:
    """A circuit over a few features of any kind: deep or flat, nodes shared or not, with a target or without.

    `small`: every feature has a few values. `normalised`: whether leaves have mass 1, None for either. `aligned`: the
    breaks of histograms are multiples of a feature's step.
    """
    named = draw(st.lists(names(), min_size=1, max_size=most, unique=True))
    variables = [draw(small_features(name) if small else features(name)) for name in named]
    proper = draw(st.booleans()) if normalised is None else normalised

    def leaf(feature: Any, variable: int) -> Strategy[Leaf]:
        return leaves(feature, variable, normalised=proper, parametric=parametric, aligned=aligned)

    grown = _Grown(draw, variables, leaf)
    grown.grow(frozenset(range(len(variables))), draw(st.integers(0, depth)))
    with_target = draw(st.booleans())
    floor = draw(st.sampled_from(floors))
    if any(isinstance(node, Leaf) and node.parametric is not None for node in grown.nodes):
        floor = max(floor, 1e-300)  # below, a double has fewer digits, and no two computations agree
    return Circuit(
        tuple(variables[:-1]) if with_target else tuple(variables),
        tuple(grown.nodes),
        variables[-1] if with_target else None,
        floor,
    )


@st.composite
def _cells_of_rows(draw: st.DrawFn, circuit: Circuit, variable: int) -> float:
    """A double that a row may have: a value, unknown, at a break or beside it, far outside."""
    feature = circuit.variables[variable]
    kind = draw(st.integers(0, 5))
    if kind == 0:
        return math.nan
    if kind == 1:
        return draw(st.sampled_from([-1.0, 1e30, -1e30, 2.0**998, -(2.0**998), math.inf, -(2.0**1000), len(feature.atoms) + 0.0]))
    breaks = [b for n in circuit.nodes if isinstance(n, Leaf) and n.variable == variable for b in breaks_of(n)]
    if kind == 2 and breaks and feature.numeric:
        place = draw(st.sampled_from(breaks))
        return draw(st.sampled_from([place, math.nextafter(place, math.inf), math.nextafter(place, -math.inf)]))
    return draw(numbers(feature))


def circuit_rows(circuit: Circuit, *, least: int = 1, most: int = 5) -> Strategy[np.ndarray]:
    """Rows that a circuit may be asked about: values, unknown ones, ones outside all that it knows."""
    row = st.tuples(*(_cells_of_rows(circuit, j) for j in range(len(circuit.variables))))
    return st.lists(row, min_size=least, max_size=most).map(lambda drawn: np.array(drawn).reshape(-1, len(circuit.variables)))


def value_rows(circuit: Circuit, *, least: int = 1, most: int = 5) -> Strategy[np.ndarray]:
    """Rows of values of a circuit's variables."""
    row = st.tuples(*(numbers(variable) for variable in circuit.variables))
    return st.lists(row, min_size=least, max_size=most).map(lambda drawn: np.array(drawn).reshape(-1, len(circuit.variables)))


@st.composite
def boxes(draw: st.DrawFn, circuit: Circuit) -> dict[Any, Region]:
    """For some variables an interval or two between values, or a few values."""
    regions: dict[Any, Region] = {}
    for variable in circuit.variables:
        if draw(st.integers(0, 2)) > 0:
            ends = draw(st.lists(numbers(variable), min_size=1, max_size=4))
            pairs = zip(ends[::2], ends[1::2], strict=False)
            wide = Region(tuple((min(pair), max(pair)) for pair in pairs))
            regions[variable.name] = (wide if draw(st.booleans()) else Region(())) | Region.points(ends)
    return regions


@st.composite
def rows_inside(draw: st.DrawFn, circuit: Circuit, box: Mapping[Any, Region]) -> np.ndarray:
    """A row of values in a box."""
    row = []
    for variable in circuit.variables:
        value = draw(numbers(variable))
        region = box.get(variable.name, variable.region)
        if value not in region:
            ends = [end for interval in region.intervals for end in interval]
            value = draw(st.sampled_from([end for end in ends if variable.fits(np.array([end]))[0]]))
        row.append(value)
    return np.array(row)


@st.composite
def circuits_over(
    draw: st.DrawFn, observed: Sequence[Any], target: Feature | None = None, *, parametric: bool = True, depth: int = 3
) -> Circuit:
    """A circuit over these features and the target."""
    variables = [*observed] if target is None else [*observed, target]
    normalised, aligned = draw(st.booleans()), draw(st.booleans())
    small = draw(st.booleans()) or not parametric

    def leaf(feature: Any, variable: int) -> Strategy[Leaf]:
        return leaves(feature, variable, normalised=normalised, parametric=not small, aligned=aligned)

    grown = _Grown(draw, variables, leaf)
    grown.grow(frozenset(range(len(variables))), draw(st.integers(0, depth)))
    floor = draw(st.sampled_from(FLOORS))
    if any(isinstance(node, Leaf) and node.parametric is not None for node in grown.nodes):
        floor = max(floor, 1e-300)
    return Circuit(tuple(observed), tuple(grown.nodes), target, floor)


def some_mixture(rng: np.random.Generator, observed: Sequence[Any], target: Feature | None, components: int) -> Circuit:
    """A sum of products of histograms that share no leaf, each with values of its own that it finds likely."""
    variables = [*observed, *([] if target is None else [target])]
    nodes: list[Node] = []
    products = []
    for _ in range(components):
        children = []
        for j, variable in enumerate(variables):
            values = sorted(values_of(variable))
            numbers = [v for v in values if v > -(2.0**999)]
            shares = rng.dirichlet(np.full(len(values), 0.5))
            if variable.numeric:
                step = variable.grid
                breaks = [*numbers, numbers[-1] + step]
                densities = shares[len(values) - len(numbers) :] / step
                histogram = Histogram(j, breaks, densities)
                codes = tuple(shares[: len(values) - len(numbers)])
                nodes.append(Coded(j, codes, histogram) if variable.atoms else histogram)
            else:
                nodes.append(Categories(j, shares))
            children.append(len(nodes) - 1)
        nodes.append(Product(children))
        products.append(len(nodes) - 1)
    nodes.append(Sum(products, rng.dirichlet(np.ones(components))))
    return Circuit(tuple(observed), tuple(nodes), target, float(rng.choice([0.0, 1e-6])))
