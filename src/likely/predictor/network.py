"""Layers of any framework -> `LinearModel`, `ReluNetwork` or, with other activations, `Composite`.

Affine steps are multiplied out until an activation separates them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from likely.errors import PredictorError
from likely.predictor.composite import Composite, Layer
from likely.predictor.forms import Form, LinearModel, ReluNetwork
from likely.predictor.functions import Function
from likely.predictor.links import Link
from likely.predictor.mixing import MixedInputs
from likely.predictor.wires import ModelInputs
from likely.schema.values import Value

Matrix = NDArray[np.float64]


class NetworkBuilder:
    """Takes layers in order: `affine` (x -> W x + b), `scale` (x -> s * x + t, elementwise), `relu`, `activate`; then `finish`.

    Args:
        inputs: What the network reads.
        by: The class of the model, for error messages.
    """

    def __init__(self, inputs: ModelInputs, by: str) -> None:
        self.inputs, self.by = inputs, by
        self.done: list[tuple[Matrix, Matrix]] = []
        self.activations: list[tuple[str, ...]] = []
        self.pending: tuple[Matrix, Matrix] | None = None
        self.width = len(inputs.wires)
        for i, (weights, bias) in enumerate(inputs.layers if isinstance(inputs, MixedInputs) else ()):
            if i:
                self.relu()
            self.affine(weights, bias)

    def affine(self, weights: ArrayLike, bias: ArrayLike) -> None:
        """x -> weights @ x + bias, weights outputs x inputs.

        Args:
            weights: Outputs x inputs.
            bias: One per output, or one number for all.
        """
        w, b = np.asarray(weights, dtype=np.float64), np.asarray(bias, dtype=np.float64)
        if w.shape[1] != self.width and self.pending is None and not self.done:
            self.inputs.counted(w.shape[1], self.by)
        if w.shape[1] != self.width:
            raise PredictorError(f"A layer of a {self.by}", f"have {self.width} inputs", w.shape[1], "check the model")
        if self.pending is not None:
            w, b = w @ self.pending[0], w @ self.pending[1] + b
        self.pending = (w, np.broadcast_to(b, (len(w),)))
        self.width = len(w)

    def scale(self, factor: ArrayLike, shift: ArrayLike) -> None:
        """x -> factor * x + shift, elementwise.

        Args:
            factor: One per value, or one number for all.
            shift: One per value, or one number for all.
        """
        diagonal = np.broadcast_to(np.asarray(factor, dtype=np.float64), (self.width,))
        self.affine(np.diag(diagonal), np.broadcast_to(np.asarray(shift, dtype=np.float64), (self.width,)))

    def relu(self) -> None:
        """x -> max(0, x)."""
        self.activate("relu")

    def activate(self, kinds: str | Sequence[str]) -> None:
        """A function of every number.

        Args:
            kinds: "relu", "tanh", "logistic" or another `Function` of one number; one for all numbers, or one for each.
        """
        self.done.append(self._take())
        self.activations.append((kinds,) * self.width if isinstance(kinds, str) else tuple(kinds))

    def _take(self) -> tuple[Matrix, Matrix]:
        layer = self.pending if self.pending is not None else (np.eye(self.width), np.zeros(self.width))
        self.pending = None
        return layer

    def finish(self, link: Link, classes: Sequence[Value]) -> Form:
        """The form: `LinearModel` if there was no activation, `ReluNetwork` if there was no other than ReLU.

        Args:
            link: How the last layer's outputs decide.
            classes: The labels, in the order of the outputs; none for a regressor.
        """
        last = self._take()
        columns = self.inputs.raw_columns(self.by) if isinstance(self.inputs, MixedInputs) else self.inputs.columns(self.by)
        if not self.done:
            return LinearModel(link, tuple(classes), columns, *last)
        if {kind for kinds in self.activations for kind in kinds} == {"relu"}:
            return ReluNetwork(link, tuple(classes), columns, (*self.done, last))
        member = LinearModel(Link("identity"), (), columns, *self.done[0])
        layers = tuple(
            Layer(tuple(Function(kind) for kind in kinds), weights, bias)
            for kinds, (weights, bias) in zip(self.activations, (*self.done[1:], last), strict=True)
        )
        return Composite(link, tuple(classes), (member,), layers)


def link_of_outputs(
    width: int, activation: str | None, classes: Sequence[Any] | None, *, tie: bool
) -> tuple[Link, tuple[Any, ...]]:
    """Link and classes of a bare network: one output is a logit of class 1, several are one per class.

    `activation` is what follows the last layer: None, "sigmoid" or "softmax" (whose logits the form keeps).
    """
    if width == 1:
        return Link("logistic", tie=tie), tuple(classes) if classes is not None else (0, 1)
    kind = "logistic_shares" if activation == "sigmoid" else "softmax"
    return Link(kind), tuple(classes) if classes is not None else tuple(range(width))
