"""Means and covariances of a circuit's ordered variables, exactly, in one sweep."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from likely.circuit.model.blocks import GaussianBlock
from likely.circuit.model.circuit import Circuit
from likely.circuit.model.families import FAMILIES
from likely.circuit.model.measure import massless, measure, places
from likely.circuit.model.nodes import Leaf, ParametricPart, Product, Sum
from likely.circuit.queries.block_moments import block_moments
from likely.schema import Feature, Mixed
from likely.schema.values import Name, Numbers


@dataclass(frozen=True)
class Moments:
    """The mean of each variable and the covariance of each pair; ranks and places count as numbers from 0 on."""

    #: the ordered variables without special codes
    names: tuple[Name, ...]
    #: of each variable
    mean: Numbers
    #: of each pair
    covariance: Numbers

    @property
    def correlation(self) -> Numbers:
        """Pearson's correlation of each pair; 0 beside a constant."""
        deviation = np.sqrt(np.diag(self.covariance))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = self.covariance / np.outer(deviation, deviation)
        return np.asarray(np.where(np.isfinite(ratio), ratio, 0.0))

    def to_frame(self) -> pd.DataFrame:
        """Mean and standard deviation per variable."""
        return pd.DataFrame({"mean": self.mean, "deviation": np.sqrt(np.diag(self.covariance))}, index=list(self.names))


def moments(circuit: Circuit) -> Moments:
    """Means and covariances of the ordered variables without special codes; the floor is not counted.

    Bottom-up, with m the mean and C the covariance of a node over its own variables:
      product: the children are independent, so both are those of the children side by side;
      sum:     m = sum_a w_a m_a,  C = sum_a w_a (C_a + (m_a - m)(m_a - m)'), the law of total covariance.

    Args:
        circuit: The distribution.

    Raises:
        CircuitError: If a leaf has density 0 everywhere.
    """
    wanted = [j for j, variable in enumerate(circuit.variables) if variable.ordered and not isinstance(variable, Mixed)]
    column = {variable: c for c, variable in enumerate(wanted)}
    mean = np.zeros((len(circuit.nodes), len(wanted)))
    covariance = np.zeros((len(circuit.nodes), len(wanted), len(wanted)))
    for place, node in enumerate(circuit.nodes):
        if isinstance(node, Leaf):
            if node.variable in column:
                c = column[node.variable]
                mean[place, c], covariance[place, c, c] = leaf_moments(node, circuit.variables[node.variable])
        elif isinstance(node, GaussianBlock):
            kept = [i for i, j in enumerate(node.variables) if j in column]
            if kept:
                here = [column[node.variables[i]] for i in kept]
                mean[place, here], covariance[place][np.ix_(here, here)] = block_moments(node.marginal(kept))
        elif isinstance(node, Sum):
            weights, children = np.array(node.weights) / sum(node.weights), list(node.children)
            mean[place] = weights @ mean[children]
            away = mean[children] - mean[place]
            covariance[place] = np.tensordot(weights, covariance[children], axes=1) + (away.T * weights) @ away
        elif isinstance(node, Product):
            mean[place], covariance[place] = mean[list(node.children)].sum(axis=0), covariance[list(node.children)].sum(axis=0)
    return Moments(tuple(circuit.variables[j].name for j in wanted), mean[-1], covariance[-1])


def leaf_moments(leaf: Leaf, feature: Feature) -> tuple[float, float]:
    """Mean and variance of a leaf."""
    breaks, densities = leaf.steps
    masses, centres, spreads = np.empty(0), np.empty(0), np.empty(0)
    if len(densities):
        masses = densities * measure(feature, breaks[:-1], breaks[1:])
        centres, spreads = _bin_moments(feature, breaks[:-1], breaks[1:])
    if leaf.parametric is not None:
        parts = (leaf.parametric.share, *_family_moments(leaf.parametric))
        masses, centres, spreads = (np.append(*pair) for pair in zip((masses, centres, spreads), parts, strict=True))
    if not masses.any():
        raise massless(feature)
    shares = masses / masses.sum()
    mean = float(shares @ centres)
    return mean, float(shares @ (spreads + (centres - mean) ** 2))


def _bin_moments(feature: Feature, low: Numbers, high: Numbers) -> tuple[Numbers, Numbers]:
    """Mean and variance of a value spread evenly over low <= v < high."""
    grid = feature.grid
    if grid is None:
        return (low + high) / 2, (high - low) ** 2 / 12
    start, end = places(feature, low, high)
    return (start + end - 1) / 2 * grid, ((end - start) ** 2 - 1) / 12 * grid**2


def _family_moments(parametric: ParametricPart) -> tuple[float, float]:
    from scipy import stats

    law = FAMILIES[parametric.family].scipy(stats, parametric.a, parametric.b)
    return float(law.mean()), float(law.var())
