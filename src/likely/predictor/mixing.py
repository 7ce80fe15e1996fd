"""Inputs that are made of several features at once: what PCA and other linear maps give to a linear model or a network.

A `Wire` is a function of one feature. `MixedInputs` are layers over wires, as the first layers of a network: a linear map is one
layer, and products of inputs that are 0 or 1 are two, for a * b = max(0, a + b - 1). Linear models and networks multiply their
own layers onto them; trees cannot be read behind them, since a split would test several features at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor.columns import Column
from likely.predictor.forms import Layers
from likely.predictor.wires import CASTS, ModelInputs, Step

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class MixedInputs(ModelInputs):
    """Layers over wires, with max(0, x) between one layer and the next."""

    layers: Layers = ()
    #: Who made them, for error messages.
    mixer: str = ""

    def __len__(self) -> int:
        return len(self.layers[-1][1])

    @classmethod
    def of(cls, inputs: ModelInputs, layers: Sequence[tuple[Matrix, Matrix]], mixer: str) -> MixedInputs:
        """Layers over inputs, which may be mixed themselves.

        Args:
            inputs: What the first layer reads.
            layers: Weights (outputs x inputs) and bias of each.
            mixer: Who made them.
        """
        first, *others = layers
        if isinstance(inputs, MixedInputs):
            *before, (weights, bias) = inputs.layers
            joined = (first[0] @ weights, first[0] @ bias + first[1])
            return replace(inputs, layers=(*before, joined, *others), mixer=mixer)
        return cls(inputs.schema, inputs.wires, layers=(first, *others), mixer=mixer)

    def counted(self, count: int, by: str) -> ModelInputs:
        if len(self) != count:
            got = f"{len(self)} from {self.mixer}"
            raise PredictorError(f"A {by}", f"be given the {count} inputs it was trained on", got, "read the whole Pipeline")
        return self

    def then(self, *steps: Step, by: str) -> ModelInputs:
        """These inputs after casts, which change a linear function by rounding only.

        Args:
            steps: Casts.
            by: The class of the model, for error messages.
        """
        if all(step.op in CASTS for step in steps):
            return self
        raise self._refusal(by)

    def columns(self, by: str) -> tuple[Column, ...]:
        raise self._refusal(by)

    def raw_columns(self, by: str) -> tuple[Column, ...]:
        """What the first layer reads.

        Args:
            by: The class of the model, for error messages.
        """
        return super().columns(by)

    def _refusal(self, by: str) -> UnsupportedModelError:
        return UnsupportedModelError(
            f"A {by}", "read functions of one feature each", f"inputs that {self.mixer} makes of several",
            f"leave {self.mixer} out, or use a linear model or a ReLU network behind it",
        )  # fmt: skip


def refuse_mixed(inputs: ModelInputs, by: str) -> None:
    """Refuse inputs that are made of several features, where a model tests them one at a time.

    Args:
        inputs: What the model reads.
        by: The class of the model.
    """
    if isinstance(inputs, MixedInputs):
        raise inputs._refusal(by)


def side_by_side(parts: Sequence[ModelInputs]) -> MixedInputs:
    """Inputs next to each other of which some are mixed.

    Args:
        parts: In order; at least one is mixed.
    """
    depth = max(len(part.layers) for part in parts if isinstance(part, MixedInputs))
    stacks = [_deepened(part, depth) for part in parts]
    layers = tuple(_diagonal([stack[i] for stack in stacks]) for i in range(depth))
    wires = tuple(wire for part in parts for wire in part.wires)
    mixer = next(part.mixer for part in parts if isinstance(part, MixedInputs))
    return MixedInputs(parts[0].schema, wires, layers=layers, mixer=mixer)


def _deepened(part: ModelInputs, depth: int) -> list[tuple[Matrix, Matrix]]:
    """The layers of a part, with layers before the last one that let everything through: x = max(0, x) - max(0, -x)."""
    width = len(part.wires)
    layers = list(part.layers) if isinstance(part, MixedInputs) else [(np.eye(width), np.zeros(width))]
    while len(layers) < depth:
        weights, bias = layers[-1]
        both = np.vstack([np.eye(len(bias)), -np.eye(len(bias))])
        layers[-1:] = [(both @ weights, both @ bias), (both.T, np.zeros(len(bias)))]
    return layers


def _diagonal(blocks: Sequence[tuple[Matrix, Matrix]]) -> tuple[Matrix, Matrix]:
    weights = np.zeros((sum(len(bias) for _, bias in blocks), sum(block.shape[1] for block, _ in blocks)))
    row = column = 0
    for block, _ in blocks:
        weights[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return weights, np.concatenate([bias for _, bias in blocks])
