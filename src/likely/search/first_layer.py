"""The first layer of a linear model or a network, as the core reads it: what every value of a feature adds to its units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

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
    #: The inputs that are linear in a feature's numbers: of which feature, (slope, center, intercept), and weight per unit.
    inputs: tuple[NDArray[np.int32], Numbers, Numbers]
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
    first = np.cumsum([0, *counts], dtype=np.intp)
    atoms = np.zeros((int(first[-1]), len(form.columns)))
    for c, column in enumerate(form.columns):
        if column.table:
            atoms[first[column.feature] : first[column.feature + 1], c] = column.table
    slopes, at_anchors, lost = np.zeros((3, len(features), len(form.columns)))
    place = np.array([column.feature for column in form.columns], dtype=np.intp), np.arange(len(form.columns))
    slope, center, intercept = np.array([(c.slope, c.center, c.intercept) for c in form.columns]).reshape(-1, 3).T
    far = slope * (np.asarray(anchors)[place[0]] - center)
    slopes[place], at_anchors[place] = slope, far + intercept
    lost[place] = np.abs(far) + np.abs(intercept)  # the sizes of what is added up on the way to an input
    terms = _terms(form, atoms, slopes, at_anchors, first)
    sizes = np.abs(atoms), np.abs(slopes), np.abs(at_anchors) + _ROUNDINGS_OF_INPUT / terms * lost
    size = np.abs(weights.T)
    return FirstLayer(
        (atoms @ weights.T, slopes @ weights.T, at_anchors @ weights.T),
        (sizes[0] @ size, sizes[1] @ size, sizes[2] @ size),
        _inputs(form, weights),
        bias,
        terms,
    )


def _inputs(form: LinearModel | ReluNetwork, weights: Numbers) -> tuple[NDArray[np.int32], Numbers, Numbers]:
    places = [c for c, column in enumerate(form.columns) if not column.discrete]
    places.sort(key=lambda c: form.columns[c].feature)
    columns = [form.columns[c] for c in places]
    numbers = np.array([(column.slope, column.center, column.intercept) for column in columns]).reshape(-1, 3)
    return np.array([column.feature for column in columns], dtype=np.int32), numbers, np.ascontiguousarray(weights[:, places].T)


def _terms(form: LinearModel | ReluNetwork, atoms: Numbers, slopes: Numbers, at_anchors: Numbers, first: NDArray[np.intp]) -> int:
    """How many roundings an output has, all layers together. Inputs that are 0 (of one-hot columns, most are) cause none."""
    most = np.count_nonzero((slopes != 0) | (at_anchors != 0), axis=1)
    owner = np.repeat(np.arange(len(slopes)), np.diff(first))
    np.maximum.at(most, owner, np.count_nonzero(atoms, axis=1))
    inputs = int(most.sum())
    later = sum(int(weights.shape[1]) + 2 for weights, _ in form.layers[1:])
    return inputs + len(slopes) + _ROUNDINGS_OF_INPUT + 2 + later
