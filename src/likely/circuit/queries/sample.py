"""Ancestral sampling: from the root down, a sum chooses a child, a product takes all, a leaf draws a value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from likely.circuit.model.blocks import GaussianBlock
from likely.circuit.model.circuit import Circuit
from likely.circuit.model.families import FAMILIES
from likely.circuit.model.measure import ends, massless, measure, places, taken_places
from likely.circuit.model.nodes import Leaf, ParametricPart, Product, Sum
from likely.errors import CircuitError
from likely.schema import Feature
from likely.schema.grid import snap
from likely.schema.region import above
from likely.schema.values import LARGEST, Numbers


def sample(circuit: Circuit, count: int, *, random_state: int = 0) -> pd.DataFrame:
    """Independent rows with the user's columns and dtypes, the class included.

    To draw given some values, draw from `conditional(circuit, evidence)`.

    Args:
        circuit: The distribution.
        count: How many rows.
        random_state: The same rows for the same number.

    Raises:
        CircuitError: If the count is negative, or a leaf that is drawn from has density 0 everywhere.
    """
    rows = sample_rows(circuit, count, np.random.default_rng(random_state))
    return pd.DataFrame({variable.name: variable.decode(rows[:, j]) for j, variable in enumerate(circuit.variables)})


def sample_rows(circuit: Circuit, count: int, rng: np.random.Generator) -> Numbers:
    """`count` independent rows as doubles."""
    if count < 0:
        raise CircuitError("The number of rows", "not be negative", count, "ask for 0 or more")
    rows = np.empty((count, len(circuit.variables)))
    waiting: dict[int, list[NDArray[np.intp]]] = defaultdict(list, {len(circuit.nodes) - 1: [np.arange(count)]})
    for place in range(len(circuit.nodes) - 1, -1, -1):
        node, which = circuit.nodes[place], np.concatenate([np.empty(0, dtype=np.intp), *waiting.pop(place, [])])
        if isinstance(node, Leaf):
            rows[which, node.variable] = draw(node, circuit.variables[node.variable], rng.random((len(which), 2)))
        elif isinstance(node, GaussianBlock):
            normal = rng.standard_normal((len(which), len(node.mean)))
            rows[which[:, None], node.variables] = draw_block(node, circuit.variables, normal)
        elif isinstance(node, Product):
            for child in node.children:
                waiting[child].append(which)
        elif isinstance(node, Sum):
            chosen = _chosen(np.array(node.weights), rng.random(len(which)))
            for k, child in enumerate(node.children):
                waiting[child].append(which[chosen == k])
    return rows


def _chosen(masses: Numbers, uniform: Numbers) -> NDArray[np.intp]:
    """For each uniform number, the place that its share of the masses falls to (never one of mass 0)."""
    ends = np.cumsum(masses)
    return np.asarray(np.searchsorted(ends, uniform * ends[-1], side="right").clip(0, np.flatnonzero(masses)[-1]))


def draw(leaf: Leaf, feature: Feature, uniform: Numbers) -> Numbers:
    """A value of a leaf for each pair of uniform numbers: the first chooses the bin, the second a value in it."""
    breaks, densities = leaf.steps
    masses = densities * measure(feature, breaks[:-1], breaks[1:]) if len(densities) else np.empty(0)
    parametric = leaf.parametric
    parts = np.append(masses, parametric.share if parametric is not None else 0.0)
    if not parts.any():
        raise massless(feature)
    part = _chosen(parts, uniform[:, 0])
    stepped = part < len(masses)
    values = np.empty(len(uniform))
    inner = part[stepped]
    values[stepped] = _within(feature, breaks[inner], breaks[inner + 1], uniform[stepped, 1])
    if parametric is not None:
        values[~stepped] = _from_family(parametric, feature, uniform[~stepped, 1])
    return values


def draw_block(block: GaussianBlock, features: Sequence[Feature], normal: Numbers) -> Numbers:
    """A value of each of a block's variables for each row of independent standard normal numbers."""
    z = block.mean + normal @ block.lower_factor.T
    values = np.column_stack([warp.inverse(z[:, i]) for i, warp in enumerate(block.warps)])
    for i, j in enumerate(block.variables):
        feature = features[j]
        drawn = values[:, i] if feature.grid is None else snap(values[:, i], feature.grid)
        values[:, i] = np.clip(drawn, feature.lower, feature.upper)
    return values


def _within(feature: Feature, low: Numbers, high: Numbers, uniform: Numbers) -> Numbers:
    """A value of the feature in each range low <= v < high, all equally likely."""
    grid = feature.grid
    if grid is None:
        inside = np.minimum(low + uniform * (high - low), np.nextafter(high, low))
        if ends(feature)[1] > above(feature.upper):  # bounds without room between them count as one number
            inside = np.clip(inside, feature.lower, feature.upper)
    else:
        start, end = places(feature, low, high)
        taken = taken_places(feature)
        free = end - start - sum((start <= place) & (place < end) for place in taken)
        position = start + np.floor(uniform * free)
        for place in taken:  # in order: a number that is a code is passed over
            position = position + ((start <= place) & (place <= position))
        inside = np.clip(snap(position * grid, grid), feature.lower, feature.upper)  # a bound of singles is next to its multiple
    return np.where(low < -LARGEST, low, inside)


def _from_family(parametric: ParametricPart, feature: Feature, uniform: Numbers) -> Numbers:
    from scipy import stats

    values = np.asarray(FAMILIES[parametric.family].scipy(stats, parametric.a, parametric.b).ppf(uniform))
    return values if feature.grid is None else snap(values, feature.grid)
