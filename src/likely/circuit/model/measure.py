"""The measure of a range of doubles in a feature: the width of an interval of reals, the count of values elsewhere.

A density of a number is per unit of the raw feature. So a whole number `v` has the measure of [v, v + 1), a
multiple of a step the measure of one step, a category, a rank and a special code have measure 1, and

    mass of a leaf = sum over bins of density * measure = 1.
"""

from __future__ import annotations

import numpy as np

from likely.circuit.model.nodes import Leaf
from likely.errors import CircuitError
from likely.schema import Feature
from likely.schema.grid import slack, steps_below
from likely.schema.region import Region, above
from likely.schema.values import LARGEST, Numbers, code_number

#: No range of reals is narrower: a density, one over its width, stays within the doubles.
LEAST_WIDTH = 1e-290


def measure(feature: Feature, low: Numbers, high: Numbers) -> Numbers:
    """The measure of each range low <= v < high."""
    low, high = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    if feature.grid is None:
        sizes = np.clip(high, -LARGEST, LARGEST) - np.clip(low, -LARGEST, LARGEST)
    else:
        start, end = places(feature, low, high)
        taken = sum(((start <= place) & (place < end)).astype(np.float64) for place in taken_places(feature))
        sizes = (end - start - taken) * feature.grid
    if feature.numeric:
        for k in range(len(feature.atoms)):
            sizes = sizes + ((low <= code_number(k)) & (high > code_number(k)))
    return np.asarray(sizes)


def places(feature: Feature, low: Numbers, high: Numbers) -> tuple[Numbers, Numbers]:
    """The multiples of a feature's step, or the values in its list, in each range: the first place, and the first beyond."""
    assert feature.grid is not None
    if feature.numeric:
        return steps_below(low, feature.grid), steps_below(high, feature.grid)
    last = len(feature.atoms)
    return np.clip(np.ceil(low), 0, last), np.clip(np.ceil(high), 0, last)


def taken_places(feature: Feature) -> list[float]:
    """The places of numbers within the bounds of a mixed feature that are codes, in order: no value stands there."""
    grid = feature.grid
    if grid is None or not feature.numeric:
        return []
    gaps = Region.between(feature.lower, feature.upper) - feature.region
    return [round(low / grid) for low, _ in gaps.intervals if abs(low / grid - round(low / grid)) <= slack(low / grid, grid)]


def ends(feature: Feature) -> tuple[float, float]:
    """The numbers of a feature as one range low <= v < high: what lies in it counts as inside the domain.

    Where there is a step, the range holds the cells of the first and the last multiple: a whole number stands for the unit
    above it, another multiple for half a step on either side. Bounds with no room between them are one number, which
    has the measure 1 of a value.
    """
    grid = feature.grid
    if grid is not None:
        first, last = steps_below(np.array([feature.lower, -feature.upper]), grid) * [1, -1]
        aside = 0.0 if grid == 1.0 else 0.5
        return float((first - aside) * grid), float((last + 1 - aside) * grid)
    low, high = feature.lower, above(feature.upper)
    narrowest = max(LEAST_WIDTH, 4 * float(np.spacing(max(abs(low), abs(high)))))
    return low, high if high - low >= narrowest else low + max(1.0, narrowest)


def half_open(feature: Feature, region: Region) -> tuple[Numbers, Numbers]:
    """The closed intervals of a region as low <= v < high; where there is a step, half a step above the last value."""
    edges = np.array(region.intervals, dtype=np.float64).reshape(-1, 2)
    low, high = edges[:, 0], edges[:, 1]
    beyond, grid = np.nextafter(high, np.inf), feature.grid
    if grid is not None:
        return low, np.where(high < -LARGEST, beyond, (0.5 - steps_below(-high, grid)) * grid)
    return low, np.where(high == feature.upper, ends(feature)[1], beyond)


def massless(feature: Feature) -> CircuitError:
    """The refusal of a leaf that no value can be drawn from."""
    return CircuitError(
        f"Every leaf of feature {feature.name!r}", "have a density above 0 somewhere", "one without", "drop the leaf",
        feature=feature.name,
    )  # fmt: skip


def mass(leaf: Leaf, feature: Feature, region: Region | None = None) -> float:
    """The probability that a leaf gives to a region (None: to everything)."""
    breaks, densities = leaf.steps
    total = 0.0
    low, high = (np.array([-np.inf]), np.array([np.inf])) if region is None else half_open(feature, region)
    for start, end in zip(low, high, strict=True):
        if len(densities):
            inner = measure(feature, np.clip(breaks[:-1], start, end), np.clip(breaks[1:], start, end))
            total += float(densities @ inner)
        if leaf.parametric is not None:
            total += leaf.parametric.share * _parametric_mass(leaf, feature, float(start), float(end))
    return total


def _parametric_mass(leaf: Leaf, feature: Feature, low: float, high: float) -> float:
    """The mass of the parametric part in low <= v < high. On a feature with a step, a value stands for one step."""
    from scipy import stats

    from likely.circuit.model.families import FAMILIES

    assert leaf.parametric is not None
    low, high = max(low, -LARGEST), min(high, LARGEST)
    if low >= high:
        return 0.0
    family = FAMILIES[leaf.parametric.family]
    law = family.scipy(stats, leaf.parametric.a, leaf.parametric.b)
    if family.discrete:
        return float(law.cdf(np.ceil(high) - 1) - law.cdf(np.ceil(low) - 1))
    grid = feature.grid
    if grid is not None:
        low, high = (float((steps_below(np.array(end), grid) - 0.5) * grid) for end in (low, high))
    return float(law.cdf(high) - law.cdf(low))
