"""Bounds on every unit of a linear model or network over all rows of a schema: what the big-M are made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from likely.mio.reach import Reach
from likely.predictor import Column, LinearModel, ReluNetwork
from likely.schema.values import Numbers

Layers = Sequence[tuple[Numbers, Numbers]]


def layers_of(form: LinearModel | ReluNetwork) -> Layers:
    """Weights and biases, layer by layer.

    Args:
        form: A linear model is a network of one layer.
    """
    return [(form.weights, form.bias)] if isinstance(form, LinearModel) else form.layers


def points_of(columns: Sequence[Column], reach: Sequence[Reach]) -> list[Numbers]:
    """Per feature the extreme points of what the model reads of it: a row for every atom and for both ends of its numbers.

    A feature that can have no value, so that there is no row at all, has a point like any other.

    Args:
        columns: What the model reads.
        reach: Which values each feature can have.
    """
    extreme_points = []
    for j, values in enumerate(reach):
        points = np.zeros((len(values.atoms) + len(values.ends), len(columns)))
        for c, column in enumerate(columns):
            if column.feature == j:
                table = column.table or (0.0,) * len(values.atoms)
                points[:, c] = [*table[: len(values.atoms)], *column.at(values.ends)]
        kept = points[np.append(values.atoms, np.ones(len(values.ends), dtype=np.bool_))]
        extreme_points.append(kept if len(kept) else np.zeros((1, len(columns))))
    return extreme_points


def unit_bounds(layers: Layers, points: Sequence[Numbers]) -> list[tuple[Numbers, Numbers]]:
    """The least and the greatest value of every unit before its ReLU, layer by layer, from below and from above.

    Each bound is linear in the inputs: going backwards from a unit, a ReLU that may be on or off (l < 0 < u) is replaced by
    the line u (a - l) / (u - l) above it, or by 0 or a below it, whichever is nearer; and the best point of each feature is
    taken. Never worse than intervals for the first layer, where it is exact. (CROWN: Zhang et al., "Efficient neural network
    robustness certification with general activation functions", NeurIPS 2018.)

    Args:
        layers: Weights and biases.
        points: Per feature the extreme points of what the first layer reads (`points_of`).
    """
    bounds: list[tuple[Numbers, Numbers]] = []
    for depth in range(len(layers)):
        above = _greatest(layers, bounds, points, depth, 1.0)
        below = -_greatest(layers, bounds, points, depth, -1.0)
        bounds.append((below, above))
    return bounds


def _greatest(
    layers: Layers, known: Sequence[tuple[Numbers, Numbers]], points: Sequence[Numbers], depth: int, sign: float
) -> Numbers:
    """An upper bound of sign * (the units of a layer)."""
    weights, constant = sign * layers[depth][0], sign * layers[depth][1]
    for i in range(depth - 1, -1, -1):
        low, high = known[i]
        positive, negative = np.maximum(weights, 0.0), np.minimum(weights, 0.0)
        unstable = (low < 0) & (high > 0)
        slope = np.where(unstable, high / np.where(unstable, high - low, 1.0), (low >= 0).astype(float))
        lift = np.where(unstable, -slope * low, 0.0)
        under = np.where(unstable, (high > -low).astype(float), slope)
        constant = constant + positive @ lift
        weights = positive * slope + negative * under
        constant = constant + weights @ layers[i][1]
        weights = weights @ layers[i][0]
    return np.asarray(constant + sum((weights @ vertices.T).max(axis=1) for vertices in points))
