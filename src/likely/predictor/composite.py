"""`Composite`: a form made of forms. Voting, calibration, stacking, bagging and smooth networks are of this kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from likely.errors import PredictorError
from likely.predictor.forms import FORMS, ROUNDOFF, Form, LinearModel, ReluNetwork, TreeEnsemble, form_from_dict, frozen
from likely.predictor.functions import Function
from likely.predictor.linear_trees import LinearTrees
from likely.schema.values import Numbers

#: Roundings of one function of scores: scaled, shifted, and what the library's own exponential loses.
_ROUNDINGS_OF_FUNCTION = 8


@dataclass(frozen=True, eq=False)
class Layer:
    """y = weights @ f(x) + bias, where the `functions` f cover the numbers of x in order."""

    functions: tuple[Function, ...]
    weights: NDArray[np.float64]
    bias: NDArray[np.float64]

    def __post_init__(self) -> None:
        object.__setattr__(self, "functions", tuple(self.functions))
        object.__setattr__(self, "weights", frozen(self.weights))
        object.__setattr__(self, "bias", frozen(self.bias))
        if self.weights.ndim != 2 or self.weights.shape[1] != self.inputs or self.bias.shape != self.weights.shape[:1]:
            got = f"shapes {self.weights.shape} and {self.bias.shape}"
            rule = f"have weights of shape (outputs, {self.inputs}) and one bias per output"
            raise PredictorError("A layer of a composite", rule, got, "give one function per number, or per group of them")
        if not (np.isfinite(self.weights).all() and np.isfinite(self.bias).all()):
            raise PredictorError("A layer of a composite", "have finite weights", "NaN or infinity", "train the model again")

    @property
    def inputs(self) -> int:
        """How many numbers it takes."""
        return sum(function.width for function in self.functions)

    def _slices(self) -> list[slice]:
        ends = np.cumsum([0, *(function.width for function in self.functions)])
        return [slice(int(a), int(b)) for a, b in pairwise(ends)]

    def at(self, x: Numbers) -> Numbers:
        """The layer's results, n x outputs.

        Args:
            x: Numbers, n x inputs.
        """
        y = np.empty_like(x)
        for function, place in zip(self.functions, self._slices(), strict=True):
            y[:, place] = function.at(x[:, place])
        return np.asarray(y @ self.weights.T + self.bias)

    def bounds(self, low: Numbers, high: Numbers) -> tuple[Numbers, Numbers]:
        """Between what the results lie where every number does between two others, however sums are rounded.

        Args:
            low: Lower ends, n x inputs.
            high: Upper ends.
        """
        lower, upper = np.empty_like(low), np.empty_like(high)
        for function, place in zip(self.functions, self._slices(), strict=True):
            lower[:, place], upper[:, place] = function.bounds(*_scaled_apart(function, low[:, place], high[:, place]))
        lower, upper = (end + sign * _ROUNDINGS_OF_FUNCTION * ROUNDOFF * np.abs(end) for sign, end in ((-1, lower), (1, upper)))
        rising, falling = np.maximum(self.weights, 0.0).T, np.minimum(self.weights, 0.0).T
        size = np.maximum(np.abs(lower), np.abs(upper)) @ np.abs(self.weights.T) + np.abs(self.bias)
        lost = ROUNDOFF * (self.inputs + 2) * size
        return lower @ rising + upper @ falling + self.bias - lost, upper @ rising + lower @ falling + self.bias + lost

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "functions": [function.to_dict() for function in self.functions],
            "weights": self.weights.tolist(),
            "bias": self.bias.tolist(),
        }


def _scaled_apart(function: Function, low: Numbers, high: Numbers) -> tuple[Numbers, Numbers]:
    """The ends, further apart by what scaling and shifting lose, in the numbers' own units."""
    if function.scale == 0 or (function.scale, function.shift) == (1.0, 0.0):
        return low, high
    lost = 3 * ROUNDOFF * (np.maximum(np.abs(low), np.abs(high)) + abs(function.shift / function.scale))
    return low - lost, high + lost


@dataclass(frozen=True, eq=False)
class Composite(Form):
    """The members' scores, side by side, through layers of functions and sums: score = layer_n(... layer_1(scores of members)).

    A member is any form, also another composite; of its link and classes nothing is used.
    """

    form: ClassVar[str] = "composite"
    members: tuple[Form, ...]
    layers: tuple[Layer, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", tuple(self.members))
        object.__setattr__(self, "layers", tuple(self.layers))
        if not self.members or not self.layers:
            raise PredictorError("A composite form", "have members and layers", "none", "give at least one of each")
        width = sum(member.outputs for member in self.members)
        for layer in self.layers:
            if layer.inputs != width:
                raise PredictorError("A layer of a composite", f"take {width} numbers", layer.inputs, "give a function for each")
            width = len(layer.bias)
        super().__post_init__()

    @property
    def outputs(self) -> int:
        return len(self.layers[-1].bias)

    def score(self, rows: Numbers, *, n_jobs: int | None = None) -> Numbers:
        scores = np.concatenate([member.score(rows, n_jobs=n_jobs) for member in self.members], axis=1)
        for layer in self.layers:
            scores = layer.at(scores)
        return scores

    def rounding(self, rows: Numbers) -> Numbers:
        scores = np.concatenate([member.score(rows, n_jobs=1) for member in self.members], axis=1)
        off = np.concatenate([member.rounding(rows) for member in self.members], axis=1)
        low, high = scores - off, scores + off
        for layer in self.layers:
            scores = layer.at(scores)
            low, high = layer.bounds(low, high)
        return np.asarray(np.maximum(high - scores, scores - low))

    def _parts(self) -> dict[str, Any]:
        return {
            "members": [member.to_dict() for member in self.members],
            "layers": [layer.to_dict() for layer in self.layers],
        }

    @classmethod
    def _from_parts(cls, parts: dict[str, Any]) -> Form:
        layers = tuple(
            Layer(tuple(Function(**function) for function in layer["functions"]), layer["weights"], layer["bias"])
            for layer in parts["layers"]
        )
        members = tuple(form_from_dict(member) for member in parts["members"])
        return cls(**{**parts, "members": members, "layers": layers})


FORMS[Composite.form] = Composite


def parts_of(form: Form) -> Iterator[Form]:
    """The forms that a composite is made of, down to those that are none; a form that is none itself.

    Args:
        form: Of any kind.
    """
    if not isinstance(form, Composite):
        yield form
        return
    for member in form.members:
        yield from parts_of(member)


def is_plain(form: Form) -> bool:
    """Whether a form is a linear model, a ReLU network or trees, over columns that are linear in their features' numbers.

    Args:
        form: Of any kind.
    """
    return isinstance(form, TreeEnsemble) or (isinstance(form, LinearModel | ReluNetwork) and not form.curved)


def trees_of(form: Form) -> list[TreeEnsemble]:
    """All ensembles of trees in a form, with numbers or linear functions in their leaves.

    Args:
        form: Of any kind.
    """
    parts = (part.trees if isinstance(part, LinearTrees) else part for part in parts_of(form))
    return [part for part in parts if isinstance(part, TreeEnsemble)]
