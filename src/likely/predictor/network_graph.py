"""Graphs of layers -> `LinearModel`, `ReluNetwork` or `Composite`: additions, concatenations, slices, and functions of numbers.

Every value is an affine function of *units*: the inputs, and functions (max(0, x), tanh, ...) of affine functions of earlier
units. A unit's layer is one more than the deepest of those that it reads, and what a later layer reads of an earlier one is
handed through the layers between. Where all functions are max(0, x), a unit is handed on as itself, since it is never negative,
and an input x as max(0, x) - max(0, -x).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likely.errors import PredictorError
from likely.predictor.forms import Form
from likely.predictor.functions import RISE
from likely.predictor.links import Link
from likely.predictor.network import NetworkBuilder
from likely.predictor.wires import ModelInputs
from likely.schema.values import Value

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Affine:
    """weights @ units + bias; units that came later than the value do not matter to it."""

    weights: Matrix
    bias: Matrix

    @property
    def width(self) -> int:
        """The number of its entries."""
        return len(self.bias)

    def map(self, weights: ArrayLike, bias: ArrayLike = 0.0) -> Affine:
        """weights @ this + bias.

        Args:
            weights: Outputs x width.
            bias: One per output, or one number for all.
        """
        matrix = np.asarray(weights, dtype=np.float64)
        shift = np.broadcast_to(np.asarray(bias, dtype=np.float64), (len(matrix),))
        return Affine(matrix @ self.weights, matrix @ self.bias + shift)

    def scaled(self, factor: ArrayLike, shift: ArrayLike = 0.0) -> Affine:
        """factor * this + shift, entry by entry.

        Args:
            factor: One per entry, or one number for all.
            shift: One per entry, or one number for all.
        """
        column = np.broadcast_to(np.asarray(factor, dtype=np.float64), (self.width,))
        offset = np.broadcast_to(np.asarray(shift, dtype=np.float64), (self.width,))
        return Affine(column[:, None] * self.weights, column * self.bias + offset)

    def entries(self, places: Any) -> Affine:
        """Some of its entries.

        Args:
            places: An index of numpy.
        """
        return Affine(self.weights[places], self.bias[places])


class NetworkGraph:
    """A graph of values over the inputs of a model.

    Args:
        inputs: What the model reads.
        by: The class of the model, for error messages.
    """

    def __init__(self, inputs: ModelInputs, by: str) -> None:
        self.inputs, self.by = inputs, by
        self._depths = [0] * len(inputs)
        self._units: list[tuple[Matrix, float, str]] = []

    def input(self) -> Affine:
        """The inputs themselves."""
        return Affine(np.eye(len(self.inputs)), np.zeros(len(self.inputs)))

    def unit(self, value: Affine, kind: str) -> Affine:
        """A function of the value, entry by entry.

        Args:
            value: Of this graph.
            kind: A `Function` of one number.
        """
        first = len(self._depths)
        for row, bias in zip(value.weights, value.bias, strict=True):
            used = np.flatnonzero(row)
            self._depths.append(1 + max((self._depths[j] for j in used), default=0))
            self._units.append((row, float(bias), kind))
        weights = np.zeros((value.width, len(self._depths)))
        weights[np.arange(value.width), first + np.arange(value.width)] = 1.0
        return Affine(weights, np.zeros(value.width))

    def relu(self, value: Affine) -> Affine:
        """max(0, value), entry by entry.

        Args:
            value: Of this graph.
        """
        return self.unit(value, "relu")

    def add(self, one: Affine, other: Affine, factor: float = 1.0) -> Affine:
        """one + factor * other.

        Args:
            one: Of this graph.
            other: Of this graph, as wide.
            factor: What the second is multiplied by.
        """
        if one.width != other.width and 1 not in (one.width, other.width):
            raise PredictorError(f"A sum in a {self.by}", f"have {one.width} values twice", other.width, "check the model")
        return Affine(self._wide(one) + factor * self._wide(other), one.bias + factor * other.bias)

    def join(self, values: Sequence[Affine]) -> Affine:
        """The entries of several values, one after the other.

        Args:
            values: Of this graph.
        """
        return Affine(np.vstack([self._wide(value) for value in values]), np.concatenate([value.bias for value in values]))

    def leaky(self, value: Affine, slope: ArrayLike) -> Affine:
        """The value where it is positive, slope * value elsewhere: max(0, x) - slope * max(0, -x).

        Args:
            value: Of this graph.
            slope: One per entry, or one number for all.
        """
        return self.add(self.relu(value), self.relu(value.scaled(-1.0)).scaled(np.negative(slope)))

    def clipped(self, value: Affine, low: float | None, high: float | None) -> Affine:
        """The value, no less than `low` and no more than `high`: low + max(0, x - low) - max(0, x - high).

        Args:
            value: Of this graph.
            low: The lower end; None if there is none.
            high: The upper end; None if there is none.
        """
        if low is not None:
            raised = self.relu(value.scaled(1.0, -low))
            return (raised if high is None else self.add(raised, self.relu(value.scaled(1.0, -high)), -1.0)).scaled(1.0, low)
        if high is None:
            return value
        return self.relu(value.scaled(-1.0, high)).scaled(-1.0, high)

    def _wide(self, value: Affine) -> Matrix:
        """Its weights over all units there are now."""
        return np.pad(value.weights, ((0, 0), (0, len(self._depths) - value.weights.shape[1])))

    def finish(self, value: Affine, link: Link, classes: Sequence[Value]) -> Form:
        """The form of a value: its layers one after the other.

        Args:
            value: What the model gives.
            link: How it decides.
            classes: The labels, in the order of the entries; none for a regressor.
        """
        depths = np.array(self._depths)
        rows = np.zeros((len(self._units), len(depths)))
        for i, (row, _, _) in enumerate(self._units):
            rows[i, : len(row)] = row
        biases = np.array([bias for _, bias, _ in self._units])
        kinds = np.array([kind for _, _, kind in self._units])
        handing = "relu" if set(kinds) <= {"relu"} else "identity"
        last = self._wide(value)
        builder = NetworkBuilder(self.inputs, self.by)
        # What each entry of the layer is: an affine function of units, as columns of `state`.
        state = np.eye(len(self.inputs), len(depths))
        for depth in range(1, self._deepest(last) + 1):
            new = np.flatnonzero(depths[len(self.inputs) :] == depth)
            later = np.vstack([rows[depths[len(self.inputs) :] > depth], last])
            kept = [int(j) for j in np.flatnonzero(np.abs(later).sum(axis=0)) if depths[j] < depth]
            weights, entries = self._layer(rows[new], kept, state, both_signs=handing == "relu")
            builder.affine(weights, np.concatenate([biases[new], np.zeros(len(weights) - len(new))]))
            builder.activate([*kinds[new].tolist(), *[handing] * len(entries)])
            state = np.zeros((len(weights), len(depths)))
            state[np.arange(len(new)), len(self.inputs) + new] = 1.0
            for place, j, sign in entries:
                state[len(new) + place, j] = sign
        builder.affine(_read_from(last, state), value.bias)
        return builder.finish(link, classes)

    def _deepest(self, last: Matrix) -> int:
        """The deepest layer that the value needs."""
        used = np.flatnonzero(np.abs(last).sum(axis=0))
        return max((self._depths[j] for j in used), default=0)

    def _layer(
        self, new: Matrix, kept: Sequence[int], state: Matrix, *, both_signs: bool
    ) -> tuple[Matrix, list[tuple[int, int, float]]]:
        """The weights of new units and of what is handed on; of the latter also (place, unit, sign)."""
        handed: list[Matrix] = []
        entries: list[tuple[int, int, float]] = []
        for j in kept:
            for sign in (1.0, -1.0) if both_signs and j < len(self.inputs) else (1.0,):
                unit = np.zeros(state.shape[1])
                unit[j] = sign
                entries.append((len(handed), j, sign))
                handed.append(unit)
        return _read_from(np.vstack([new, *handed]), state), entries


def _read_from(rows: Matrix, state: Matrix) -> Matrix:
    """Affine functions of units as functions of the entries of a layer, each of which is a unit or a part of one."""
    return rows @ state.T


# -- activations --------------------------------------------------------------------------------------------------------


def _softplus(graph: NetworkGraph, x: Affine, beta: float = 1.0) -> Affine:
    """log(1 + exp(beta x)) / beta."""
    return graph.unit(x.scaled(beta), "softplus").scaled(1 / beta)


def _elu(graph: NetworkGraph, x: Affine, alpha: float = 1.0, scale: float = 1.0) -> Affine:
    """scale * x, or scale * alpha * (exp(x) - 1) below 0."""
    bent = graph.unit(x, "elu").scaled(scale * alpha)
    return bent if alpha == 1 else graph.add(bent, graph.relu(x), scale * (1 - alpha))


def _celu(graph: NetworkGraph, x: Affine, alpha: float = 1.0) -> Affine:
    """x, or alpha * (exp(x / alpha) - 1) below 0."""
    return graph.unit(x.scaled(1 / alpha), "elu").scaled(alpha)


def _soft_shrink(graph: NetworkGraph, x: Affine, by: float = 0.5) -> Affine:
    """x, nearer to 0 by a number, or 0."""
    return graph.add(graph.relu(x.scaled(1.0, -by)), graph.relu(x.scaled(-1.0, -by)), -1.0)


_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805

#: Functions of each number by the names that frameworks have for them: of a graph, a value, and parameters.
ACTIVATIONS: Mapping[str, Callable[..., Affine]] = {
    "relu": NetworkGraph.relu,
    "relu6": lambda graph, x: graph.clipped(x, 0.0, 6.0),
    "leaky_relu": NetworkGraph.leaky,  # the slope below 0
    "clip": NetworkGraph.clipped,  # the least and the greatest
    "hard_tanh": lambda graph, x, low=-1.0, high=1.0: graph.clipped(x, low, high),
    "hard_sigmoid": lambda graph, x, slope=1 / 6, shift=0.5: graph.clipped(x.scaled(slope, shift), 0.0, 1.0),
    "soft_shrink": _soft_shrink,
    "tanh": lambda graph, x: graph.unit(x, "tanh"),
    "sigmoid": lambda graph, x: graph.unit(x, "logistic"),
    "log_sigmoid": lambda graph, x: graph.unit(x.scaled(-1.0), "softplus").scaled(-1.0),
    "softplus": _softplus,
    "softsign": lambda graph, x: graph.unit(x, "confidence").scaled(3.0),
    "tanh_shrink": lambda graph, x: graph.add(x, graph.unit(x, "tanh"), -1.0),
    "elu": _elu,
    "selu": lambda graph, x, alpha=_SELU_ALPHA, scale=_SELU_SCALE: _elu(graph, x, alpha, scale),
    "celu": _celu,
    "silu": lambda graph, x: graph.add(graph.unit(x, "rising_silu"), x, -RISE),
    "gelu": lambda graph, x: graph.add(graph.unit(x, "rising_gelu"), x, -RISE),
}
