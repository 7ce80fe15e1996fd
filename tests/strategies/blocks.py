"""Strategies of warps, Gaussian blocks, and circuits with blocks among their leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from hypothesis import strategies as st

from likely.circuit import Circuit, GaussianBlock, Node, Product, Sum, Warp
from likely.schema import Binary, Continuous, Feature, Integer, Mixed
from likely.schema.values import code_number
from tests.strategies.circuit import FLOORS, leaves
from tests.strategies.schema import Strategy
from tests.strategies.sources import simplexes

#: Knots and slopes are quarters of a unit or tenths: far enough from each other that quadrature can be trusted.
QUARTERS = st.integers(1, 12).map(lambda k: k / 4)


@st.composite
def warps(draw: st.DrawFn, low: float, high: float, *, closed: bool | None = None) -> Warp:
    """A warp whose domain holds low and high inside; `closed`: whether it has two ends, None for any."""
    shares = sorted(draw(st.sets(st.integers(0, 10), min_size=2, max_size=5)))
    knots = [low + share / 10 * (high - low) for share in shares]
    rises = draw(st.lists(QUARTERS, min_size=len(knots) - 1, max_size=len(knots) - 1))
    values = accumulate(rises, initial=-sum(rises) * draw(st.sampled_from([0.3, 0.5, 0.8])))
    # An end where z is less than about half a deviation away from the last knot would be a needle that doubles cannot show.
    gaps = [st.just(math.inf), st.sampled_from([0.5, 1.0, 3.0])]
    below, above = (draw(gaps[closed] if closed is not None else st.one_of(gaps)) for _ in range(2))
    first, last = rises[0] / (knots[1] - knots[0]), rises[-1] / (knots[-1] - knots[-2])
    return Warp(tuple(knots), tuple(values), min(low, knots[0]) - below / first, max(high, knots[-1]) + above / last)


@st.composite
def blocks(draw: st.DrawFn, features: Sequence[Any], variables: Sequence[int], *, closed: bool | None = None) -> GaussianBlock:
    """A block over some variables."""
    entries = st.integers(-8, 8).map(lambda k: k / 8)
    rows = [
        (*draw(st.lists(entries, min_size=i, max_size=i)), draw(st.sampled_from([0.25, 0.5, 1.0, 1.5])))
        for i in range(len(variables))
    ]
    mean = draw(st.lists(st.integers(-6, 6).map(lambda k: k / 4), min_size=len(rows), max_size=len(rows)))
    made = [draw(warps(features[j].lower, features[j].upper, closed=closed)) for j in variables]
    return GaussianBlock(tuple(variables), tuple(made), tuple(mean), tuple(rows))


@st.composite
def number_features(draw: st.DrawFn, name: str, *, real: bool | None = None, codes: bool = False) -> Feature:
    """A feature of numbers, at most 20 units wide. `real`: whether it has no step, None for any; False: and few numbers.

    With `codes`, perhaps one that has special codes too.
    """
    kind = draw(st.integers(1, 2)) if real is False else 0 if real else draw(st.integers(0, 2))
    low, wide = draw(st.integers(-5, 5)), draw(st.integers(1, 20 if real is not False else 3 if kind == 1 else 12))
    step = (None, 0.25, 1.0)[kind]
    if codes and draw(st.booleans()):
        return Mixed(name, low, low + wide, codes=draw(st.sampled_from([(None,), (-99,), (-99, None)])), step=step)
    return Integer(name, low, low + wide) if step == 1.0 else Continuous(name, low, low + wide, step=step)


@st.composite
def block_circuits(
    draw: st.DrawFn,
    *,
    least: int = 1,
    most: int = 4,
    real: bool | None = None,
    discrete: bool = True,
    codes: bool = False,
    closed: bool | None = None,
    normalised: bool = True,
    floors: Sequence[float] = FLOORS,
) -> Circuit:
    """A mixture of products of blocks and leaves, over numbers and perhaps a class.

    `real`: whether features have no step, None for any. `codes`: some features may have special codes. `closed`: whether warps
    have two ends. `normalised`: leaves have mass 1.
    """
    features = [draw(number_features(f"x{j}", real=real, codes=codes)) for j in range(draw(st.integers(least, most)))]
    target = Binary("y", values=("no", "yes")) if discrete and draw(st.booleans()) else None
    nodes: list[Node] = []
    components: list[int] = []
    for component in range(draw(st.integers(1, 3))):
        parts: list[int] = []
        for scope in draw(_partitions(range(len(features)))):
            if len(scope) > 1 or component == 0 or draw(st.booleans()):
                nodes.append(draw(blocks(features, scope, closed=closed)))
            else:
                nodes.append(draw(leaves(features[scope[0]], scope[0], normalised=normalised, parametric=False)))
            parts.append(len(nodes) - 1)
        if target is not None:
            nodes.append(draw(leaves(target, len(features), normalised=normalised)))
            parts.append(len(nodes) - 1)
        nodes.append(Product(tuple(parts)))
        components.append(len(nodes) - 1)
    nodes.append(Sum(tuple(components), draw(simplexes(len(components)))))
    floor = max(draw(st.sampled_from(floors)), 1e-300)  # below, a double has fewer digits, and no two computations agree
    return Circuit(tuple(features), tuple(nodes), target, floor)


@st.composite
def _partitions(draw: st.DrawFn, places: Sequence[int]) -> list[tuple[int, ...]]:
    groups: dict[int, list[int]] = {}
    for place in places:
        groups.setdefault(draw(st.integers(0, 1)), []).append(place)
    return [tuple(group) for group in groups.values()]


def block_rows(circuit: Circuit, *, count: int = 20, unknown: float = 0.2, outside: float = 0.1) -> Strategy[np.ndarray]:
    """Rows of values, some unknown, some outside the bounds of the features."""
    return st.integers(0, 2**32 - 1).map(lambda seed: _rows(circuit, count, unknown, outside, np.random.default_rng(seed)))


def _rows(circuit: Circuit, count: int, unknown: float, outside: float, rng: np.random.Generator) -> np.ndarray:
    rows = np.empty((count, len(circuit.variables)))
    for j, feature in enumerate(circuit.variables):
        if not feature.numeric:
            rows[:, j] = rng.integers(0, len(feature.atoms), count)
            continue
        wide = feature.upper - feature.lower
        rows[:, j] = rng.uniform(feature.lower, feature.upper, count)
        rows[:, j] = rows[:, j] if feature.grid is None else np.round(rows[:, j] / feature.grid) * feature.grid
        far = rng.random(count) < outside
        rows[far, j] = rng.uniform(feature.lower - wide, feature.upper + wide, far.sum())
        knots = [x for node in circuit.nodes if isinstance(node, GaussianBlock) for x in _marks(node, j)]
        exactly = rng.random(count) < 0.1
        rows[exactly & bool(knots), j] = rng.choice(knots or [0.0], exactly.sum() if knots else 0)
        coded = (rng.random(count) < 0.2) & bool(feature.atoms)
        rows[coded, j] = [code_number(k) for k in rng.integers(0, max(1, len(feature.atoms)), coded.sum())]
    rows[rng.random(rows.shape) < unknown] = np.nan
    return rows


def _marks(block: GaussianBlock, variable: int) -> list[float]:
    """The knots and ends of a block's warp of a variable."""
    if variable not in block.variables:
        return []
    warp = block.warps[block.variables.index(variable)]
    return [*warp.knots, *(end for end in (warp.lower, warp.upper) if math.isfinite(end))]
