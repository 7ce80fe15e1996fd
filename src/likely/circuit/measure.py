"""How much room a range of doubles has in a feature: the width of an interval of reals, the count of values elsewhere.

A density of a number is per unit of the raw feature. So a whole number `v` has the room of [v, v + 1), a multiple of a
step the room of one step, a category, a rank and a special code have room 1, and

    mass of a leaf = sum over bins of density * room = 1.
"""

from __future__ import annotations

import numpy as np

from likely.circuit.nodes import Leaf
from likely.schema import Feature, Mixed
from likely.schema.region import Region, above
from likely.schema.values import LARGEST, Numbers, code_number


def room(feature: Feature, low: Numbers, high: Numbers) -> Numbers:
    """The room of each range low <= v < high."""
    low, high = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    if not feature.numeric:
        last = len(feature.atoms)
        return np.asarray(np.clip(np.ceil(high), 0, last) - np.clip(np.ceil(low), 0, last))
    grid = getattr(feature, "grid", None)
    start, end = np.clip(low, -LARGEST, LARGEST), np.clip(high, -LARGEST, LARGEST)
    found = end - start if grid is None else (steps_below(end, grid) - steps_below(start, grid)) * grid
    if isinstance(feature, Mixed):
        for k in range(len(feature.codes)):
            found = found + ((low <= code_number(k)) & (high > code_number(k)))
    return np.asarray(found)


def steps_below(numbers: Numbers, grid: float) -> Numbers:
    """How many multiples of the step (from 0 on) lie below each number; a multiple written in decimals counts as itself."""
    places = numbers / grid
    near = np.round(places)
    return np.where(np.abs(places - near) <= 1e-9 * np.maximum(1.0, np.abs(near)), near, np.ceil(places))


def half_open(region: Region) -> tuple[Numbers, Numbers]:
    """The closed intervals of a region as low <= v < high."""
    ends = np.array(region.intervals, dtype=np.float64).reshape(-1, 2)
    return ends[:, 0], np.array([above(high) for high in ends[:, 1]])


def mass(leaf: Leaf, feature: Feature, region: Region | None = None) -> float:
    """The probability that a leaf gives to a region (None: to everything)."""
    breaks, densities = leaf.steps
    total = 0.0
    low, high = (np.array([-np.inf]), np.array([np.inf])) if region is None else half_open(region)
    for start, end in zip(low, high, strict=True):
        if len(densities):
            inner = room(feature, np.clip(breaks[:-1], start, end), np.clip(breaks[1:], start, end))
            total += float(densities @ inner)
        if leaf.peaked is not None:
            total += leaf.peaked.share * _peaked_mass(leaf, feature, float(start), float(end))
    return total


def _peaked_mass(leaf: Leaf, feature: Feature, low: float, high: float) -> float:
    """The mass of the parametric part in low <= v < high. On a feature with a step, a value stands for one step."""
    from scipy import stats

    from likely.circuit.families import FAMILIES

    assert leaf.peaked is not None
    low, high = max(low, -LARGEST), min(high, LARGEST)
    if low >= high:
        return 0.0
    family = FAMILIES[leaf.peaked.family]
    law = family.scipy(stats, leaf.peaked.a, leaf.peaked.b)
    if family.discrete:
        return float(law.cdf(np.ceil(high) - 1) - law.cdf(np.ceil(low) - 1))
    grid = getattr(feature, "grid", None)
    if grid is not None:
        low, high = (float((steps_below(np.array(end), grid) - 0.5) * grid) for end in (low, high))
    return float(law.cdf(high) - law.cdf(low))
