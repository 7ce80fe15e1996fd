"""Boxes: for some variables the set of values still allowed; every other variable is free."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from likely.circuit.model.block_mass import block_mass
from likely.circuit.model.blocks import GaussianBlock
from likely.circuit.model.measure import mass
from likely.circuit.model.nodes import Leaf
from likely.errors import CircuitError
from likely.schema import Feature
from likely.schema.region import Region
from likely.schema.values import LARGEST, Name, Numbers, Value

if TYPE_CHECKING:
    from likely.circuit.model.circuit import Circuit

#: The allowed values of variables by name: a value or several as the user writes them, or a set of doubles.
Box: TypeAlias = Mapping[Name, Region | Value | Collection[Value]]


def regions_of(circuit: Circuit, box: Box) -> list[Region]:
    """The values of every variable in a box, a free one's whole domain; refuses a box that holds no row."""
    regions = [on_values(variable, variable.region) for variable in circuit.variables]
    for name, allowed in box.items():
        j = circuit.index(name)
        region = _region(circuit.variables[j], allowed)
        regions[j] = on_values(circuit.variables[j], region)
        if regions[j].empty:
            raise CircuitError(
                f"The box's values of feature {name!r}", "hold a value of the feature", region.intervals,
                f"it has {circuit.variables[j].describe()}", feature=name,
            )  # fmt: skip
    return regions


def _region(variable: Feature, allowed: Region | Value | Collection[Value]) -> Region:
    """The doubles of the values that a box allows."""
    if isinstance(allowed, Region):
        return allowed
    values = allowed if isinstance(allowed, Collection) and not isinstance(allowed, str) else [allowed]
    numbers = [variable.number(value) for value in values]
    if any(math.isnan(number) for number in numbers):
        raise CircuitError(
            f"The box's values of feature {variable.name!r}", "be known", "a missing one", "leave the feature out to free it",
            feature=variable.name,
        )  # fmt: skip
    return Region.points(numbers)


def points_of(row: Numbers) -> tuple[Region | None, ...]:
    """The values of a row as regions of one each; None for an unknown one."""
    return tuple(None if math.isnan(value) else Region.points([value]) for value in row.tolist())


def on_values(feature: Feature, region: Region) -> Region:
    """A region cut to a feature's values; where those are whole numbers, its intervals are from value to value."""
    reached = feature.reachable(region)
    if feature.grid != 1.0:
        return reached
    return Region(tuple(pair if pair[1] < -LARGEST else (math.ceil(pair[0]), math.floor(pair[1])) for pair in reached.intervals))


def leaf_logs(circuit: Circuit, rows: Numbers) -> Numbers:
    """The log density of every leaf and block (its node's column) at every row."""
    logs = np.zeros((len(rows), len(circuit.nodes)))
    for j, cells in enumerate(circuit.cells):
        logs[:, cells.leaves] = cells.log_densities(rows[:, j], circuit.floor).T
    for place, node in enumerate(circuit.nodes):
        if isinstance(node, GaussianBlock):
            logs[:, place] = node.log_density(rows[:, node.variables], circuit.floor)
    return logs


def mass_logs(circuit: Circuit, regions: Mapping[int, Region]) -> Numbers:
    """The log of the share of every leaf's and block's mass (its node's entry) in the regions; 0 where there is none."""
    logs = np.zeros(len(circuit.nodes))
    with np.errstate(divide="ignore"):
        for place, node in enumerate(circuit.nodes):
            if isinstance(node, Leaf) and node.variable in regions:
                feature = circuit.variables[node.variable]
                whole = mass(node, feature)
                logs[place] = np.log(mass(node, feature, regions[node.variable]) / whole) if whole > 0 else -np.inf
            elif isinstance(node, GaussianBlock):
                logs[place] = np.log(block_mass(node, circuit.variables, regions))
    return logs
