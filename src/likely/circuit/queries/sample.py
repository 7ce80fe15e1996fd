"""Rows drawn from a circuit: from the root down, a sum chooses a child, a product takes all, a leaf draws a value."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from likely.circuit.model.circuit import Circuit
from likely.circuit.model.families import FAMILIES
from likely.circuit.model.measure import massless, places, room, taken_places
from likely.circuit.model.nodes import Leaf, Peaked, Product, Sum
from likely.errors import CircuitError
from likely.schema import Feature
from likely.schema.grid import snap
from likely.schema.values import LARGEST, Numbers


def sample(circuit: Circuit, count: int, *, random_state: int = 0) -> pd.DataFrame:
    """`count` independent rows with the user's columns and dtypes, the class included; the same for the same seed.

    To draw given some values, draw from `conditional(circuit, evidence)`.
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
    masses = densities * room(feature, breaks[:-1], breaks[1:]) if len(densities) else np.empty(0)
    peaked = leaf.peaked
    parts = np.append(masses, peaked.share if peaked is not None else 0.0)
    if not parts.any():
        raise massless(feature)
    part = _chosen(parts, uniform[:, 0])
    stepped = part < len(masses)
    found = np.empty(len(uniform))
    inner = part[stepped]
    found[stepped] = _within(feature, breaks[inner], breaks[inner + 1], uniform[stepped, 1])
    if peaked is not None:
        found[~stepped] = _from_family(peaked, feature, uniform[~stepped, 1])
    return found


def _within(feature: Feature, low: Numbers, high: Numbers, uniform: Numbers) -> Numbers:
    """A value of the feature in each range low <= v < high, all equally likely."""
    grid = getattr(feature, "grid", None) if feature.numeric else 1.0
    if grid is None:
        inside = np.minimum(low + uniform * (high - low), np.nextafter(high, low))
    else:
        start, end = places(feature, low, high)
        taken = taken_places(feature)
        free = end - start - sum((start <= place) & (place < end) for place in taken)
        found = start + np.floor(uniform * free)
        for place in taken:  # in order: a number that is a code is passed over
            found = found + ((start <= place) & (place <= found))
        inside = snap(found * grid, grid)
    return np.where(low < -LARGEST, low, inside)


def _from_family(peaked: Peaked, feature: Feature, uniform: Numbers) -> Numbers:
    from scipy import stats

    values = np.asarray(FAMILIES[peaked.family].scipy(stats, peaked.a, peaked.b).ppf(uniform))
    grid = getattr(feature, "grid", None)
    return values if grid is None else snap(values, grid)
