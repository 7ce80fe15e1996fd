"""Means and covariances of a circuit's ordered variables, exactly, in one sweep."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from likely.circuit.circuit import Circuit
from likely.circuit.families import FAMILIES
from likely.circuit.measure import room, steps_below
from likely.circuit.nodes import Leaf, Peaked, Product, Sum
from likely.schema import Feature, Mixed
from likely.schema.values import Name, Numbers


@dataclass(frozen=True)
class Moments:
    """The mean of each variable and the covariance of each pair; ranks and places count as numbers from 0 on."""

    names: tuple[Name, ...]
    mean: Numbers
    covariance: Numbers

    @property
    def correlation(self) -> Numbers:
        """Pearson's correlation of each pair; 0 beside a constant."""
        deviation = np.sqrt(np.diag(self.covariance))
        with np.errstate(divide="ignore", invalid="ignore"):
            found = self.covariance / np.outer(deviation, deviation)
        return np.asarray(np.where(np.isfinite(found), found, 0.0))

    def to_frame(self) -> pd.DataFrame:
        """Mean and standard deviation per variable."""
        return pd.DataFrame({"mean": self.mean, "deviation": np.sqrt(np.diag(self.covariance))}, index=list(self.names))


def moments(circuit: Circuit) -> Moments:
    """Means and covariances of the ordered variables without special codes.

    Bottom-up, every node keeps E[x] and E[x x'] over its own variables: a sum mixes them with its weights; in a product
    the children are independent, so a pair from two of them has the product of the means.
    """
    wanted = [j for j, variable in enumerate(circuit.variables) if variable.ordered and not isinstance(variable, Mixed)]
    column = {variable: c for c, variable in enumerate(wanted)}
    width = len(wanted)
    first = np.zeros((len(circuit.nodes), width))
    second = np.zeros((len(circuit.nodes), width, width))
    for place, node in enumerate(circuit.nodes):
        if isinstance(node, Leaf):
            if node.variable in column:
                c = column[node.variable]
                first[place, c], second[place, c, c] = leaf_moments(node, circuit.variables[node.variable])
        elif isinstance(node, Sum):
            weights, children = np.array(node.weights), list(node.children)
            first[place] = weights @ first[children]
            second[place] = np.tensordot(weights, second[children], axes=1)
        elif isinstance(node, Product):
            _multiply(node, place, first, second)
    mean = first[-1]
    covariance = second[-1] - np.outer(mean, mean)
    return Moments(tuple(circuit.variables[j].name for j in wanted), mean, covariance)


def _multiply(node: Product, place: int, first: Numbers, second: Numbers) -> None:
    children = list(node.children)
    own = first[children]
    first[place] = own.sum(axis=0)
    # All pairs of means, less the pairs within one child, for which the child has its own second moments.
    second[place] = np.outer(first[place], first[place]) - own.T @ own + second[children].sum(axis=0)


def leaf_moments(leaf: Leaf, feature: Feature) -> tuple[float, float]:
    """E[v] and E[v^2] of a leaf."""
    breaks, densities = leaf.steps
    mean, square, total = 0.0, 0.0, 0.0
    if len(densities):
        centre, spread = _bin_moments(feature, breaks[:-1], breaks[1:])
        masses = densities * room(feature, breaks[:-1], breaks[1:])
        total = float(masses.sum())
        mean, square = float(masses @ centre), float(masses @ (centre**2 + spread))
    if leaf.peaked is not None:
        centre_, spread_ = _family_moments(leaf.peaked)
        total += leaf.peaked.share
        mean, square = mean + leaf.peaked.share * centre_, square + leaf.peaked.share * (centre_**2 + spread_)
    return mean / total, square / total


def _bin_moments(feature: Feature, low: Numbers, high: Numbers) -> tuple[Numbers, Numbers]:
    """Mean and variance of a value spread evenly over low <= v < high."""
    grid = getattr(feature, "grid", None) if feature.numeric else 1.0
    if grid is None:
        return (low + high) / 2, (high - low) ** 2 / 12
    start, end = steps_below(low, grid), steps_below(high, grid)
    return (start + end - 1) / 2 * grid, ((end - start) ** 2 - 1) / 12 * grid**2


def _family_moments(peaked: Peaked) -> tuple[float, float]:
    from scipy import stats

    law = FAMILIES[peaked.family].scipy(stats, peaked.a, peaked.b)
    return float(law.mean()), float(law.var())
