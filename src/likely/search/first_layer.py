"""The first layer of a linear model or a network, as the core reads it: what every value of a feature adds to its units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from likely.predictor import LinearModel, ReluNetwork
from likely.schema import Feature
from likely.schema.values import Numbers

#: Of every atom (discrete value or code); and of a feature's numbers: per unit of offset from the anchor, and at the anchor.
Parts: TypeAlias = tuple[Numbers, Numbers, Numbers]

#: Roundings that one input goes through before it is a term of a sum: x - center, times slope, plus intercept, times weight.
_ROUNDINGS_OF_INPUT = 4


@dataclass(frozen=True, eq=False)
class FirstLayer:
    """What values add to the units before their ReLU, in offsets from the features' anchors.

    `sizes` has the sizes of the terms that each entry of `values` is the sum of. Computing an output, in any order, loses at
    most `terms` units of roundoff of the sizes of all its terms, layer by layer.
    """

    values: Parts
    sizes: Parts
    bias: Numbers
    terms: int


def first_layer(form: LinearModel | ReluNetwork, features: Sequence[Feature], anchors: Sequence[float]) -> FirstLayer:
    """The first layer of a form.

    Args:
        form: The model.
        features: Those of the schema.
        anchors: A number of each.
    """
    weights, bias = form.layers[0]
    counts = [len(feature.atoms) for feature in features]
    first = np.cumsum([0, *counts])
    atoms = np.zeros((int(first[-1]), len(form.columns)))
    slopes, at_anchors = np.zeros((2, len(features), len(form.columns)))
    lost = np.zeros_like(at_anchors)  # the sizes of what is subtracted and added on the way to an input
    for c, column in enumerate(form.columns):
        j = column.feature
        if counts[j]:
            atoms[first[j] : first[j + 1], c] = column.table or [0.0] * counts[j]
        far = column.slope * (anchors[j] - column.center)
        slopes[j, c], at_anchors[j, c] = column.slope, far + column.intercept
        lost[j, c] = abs(far) + abs(column.intercept)
    terms = _terms(form, atoms, slopes, at_anchors, first)
    sizes = np.abs(atoms), np.abs(slopes), np.abs(at_anchors) + _ROUNDINGS_OF_INPUT / terms * lost
    return FirstLayer(
        (atoms @ weights.T, slopes @ weights.T, at_anchors @ weights.T),
        (sizes[0] @ np.abs(weights.T), sizes[1] @ np.abs(weights.T), sizes[2] @ np.abs(weights.T)),
        bias,
        terms,
    )


def _terms(form: LinearModel | ReluNetwork, atoms: Numbers, slopes: Numbers, at_anchors: Numbers, first: Numbers) -> int:
    """How many roundings an output has, all layers together. Inputs that are 0 (of one-hot columns, most are) cause none."""
    inputs = 0
    for j, numbers in enumerate((slopes != 0) | (at_anchors != 0)):
        of_atoms = np.count_nonzero(atoms[int(first[j]) : int(first[j + 1])], axis=1)
        inputs += max(int(np.count_nonzero(numbers)), int(of_atoms.max(initial=0)))
    later = sum(int(weights.shape[1]) + 2 for weights, _ in form.layers[1:])
    return inputs + len(slopes) + _ROUNDINGS_OF_INPUT + 2 + later
