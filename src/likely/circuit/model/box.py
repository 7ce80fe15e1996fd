"""Boxes: for some variables the set of values still allowed; every other variable is free."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from likely.circuit.model.block_mass import block_mass
from likely.circuit.model.blocks import GaussianBlock
from likely.circuit.model.measure import mass
from likely.circuit.model.nodes import Leaf
from likely.errors import CircuitError
from likely.schema import Feature
from likely.schema.region import Region
from likely.schema.values import LARGEST, Name, Numbers

if TYPE_CHECKING:
    from likely.circuit.model.circuit import Circuit

#: The allowed values of variables by name, as sets of doubles (`feature.number` says which double a value is).
Box: TypeAlias = Mapping[Name, Region]


def regions_of(circuit: Circuit, box: Box) -> list[Region]:
    """The values of every variable in a box, a free one's whole domain; refuses a box that holds no row."""
    regions = [on_values(variable, variable.region) for variable in circuit.variables]
    for name, region in box.items():
        j = circuit.index(name)
        regions[j] = on_values(circuit.variables[j], region)
        if regions[j].empty:
            raise CircuitError(
                f"The box's values of feature {name!r}", "hold a value of the feature", region.intervals,
                f"it has {circuit.variables[j].describe()}", feature=name,
            )  # fmt: skip
    return regions


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
