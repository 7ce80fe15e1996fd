"""Boxes: for some variables the set of values still allowed; every other variable is free."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from likely.errors import CircuitError
from likely.schema import Feature
from likely.schema.region import Region
from likely.schema.values import LARGEST, Name, Numbers

if TYPE_CHECKING:
    from likely.circuit.circuit import Circuit

#: The allowed values of variables by name, as sets of doubles (`feature.number` says which double a value is).
Box: TypeAlias = Mapping[Name, Region]


def regions_of(circuit: Circuit, box: Box) -> list[Region]:
    """The values of every variable in a box, a free one's whole domain; refuses a box that holds no row."""
    found = [variable.region for variable in circuit.variables]
    for name, region in box.items():
        j = circuit.index(name)
        found[j] = on_values(circuit.variables[j], region)
        if found[j].empty:
            raise CircuitError(
                f"The box's values of feature {name!r}", "hold a value of the feature", region.intervals,
                f"it has {circuit.variables[j].describe()}", feature=name,
            )  # fmt: skip
    return found


def on_values(feature: Feature, region: Region) -> Region:
    """A region cut to a feature's values, its intervals from value to value where the feature has a step."""
    reached = feature.reachable(region)
    grid = getattr(feature, "grid", None)
    if grid is None:
        return reached
    return Region(tuple(_whole(low, high, grid) for low, high in reached.intervals))


def _whole(low: float, high: float, grid: float) -> tuple[float, float]:
    if high < -LARGEST:
        return low, high
    first, last = math.ceil(low / grid) * grid, math.floor(high / grid) * grid
    return (max(low, first), min(high, last)) if first <= last else (low, high)


def leaf_logs(circuit: Circuit, rows: Numbers) -> Numbers:
    """The log density of every leaf (its node's column) at every row."""
    logs = np.zeros((len(rows), len(circuit.nodes)))
    for j, cells in enumerate(circuit.cells):
        logs[:, cells.leaves] = cells.log_densities(rows[:, j], circuit.floor).T
    return logs
