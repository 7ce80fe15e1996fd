"""torch networks: a `Sequential` of linear, batch-norm and ReLU layers, as it computes in eval mode.

The last layer's outputs are the scores: one is the logit of class 1, which is chosen where the logit is at least 0;
several are one per class. A `Sigmoid`, `Softmax` or `LogSoftmax` at the end is left off, for it changes no decision.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from torch import nn

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor.forms import Form
from likely.predictor.network import NetworkBuilder, link_of_outputs
from likely.predictor.registry import Reader, register
from likely.predictor.tables import dense
from likely.predictor.wires import ModelInputs
from likely.schema.values import Numbers

#: What leaves a row as it is, in eval mode.
_NEUTRAL = (nn.Identity, nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout)
#: What may follow the last layer -> the name `link_of_outputs` has for it.
_ACTIVATIONS = {nn.Sigmoid: "sigmoid", nn.Softmax: "softmax", nn.LogSoftmax: "softmax"}
_SUPPORTED = "there are Linear, ReLU, BatchNorm1d, Dropout, Flatten, Identity, and a last Sigmoid, Softmax or LogSoftmax"


def _is(layer: Any, *classes: Any) -> bool:
    """Whether a layer computes what one of the classes does: a subclass with a `forward` of its own does not."""
    return any(isinstance(layer, cls) and type(layer).forward is cls.forward for cls in classes)


def _layers(model: Any, path: tuple[int, ...] = ()) -> list[tuple[str, Any]]:
    """The layers of a Sequential in order, nested ones too, each with its name for errors."""
    if _is(model, nn.Sequential):
        return [named_layer for i, layer in enumerate(model) for named_layer in _layers(layer, (*path, i))]
    return [(f"Layer {'.'.join(map(str, path))} ({type(model).__name__})", model)]


def _split(model: Any) -> tuple[list[tuple[str, Any]], str | None]:
    """The layers that make the scores, and what follows them."""
    layers = _layers(model)
    while layers and _is(layers[-1][1], *_NEUTRAL):
        layers.pop()
    activation = next((kind for cls, kind in _ACTIVATIONS.items() if layers and _is(layers[-1][1], cls)), None)
    if activation is not None:
        place, last = layers.pop()
        if activation == "softmax" and last.dim not in (None, 1, -1):
            raise PredictorError(place, "normalise over the classes of each row", f"dim={last.dim}", "use dim=1")
    return layers, activation


def _read(model: Any, inputs: ModelInputs) -> Form:
    if not _is(model, nn.Sequential, nn.Linear):
        raise UnsupportedModelError(
            "A torch module", "be an nn.Sequential or nn.Linear, whose forward we know", type(model).__name__,
            "wrap its layers in nn.Sequential, or export it to ONNX with torch.onnx.export and read the file",
        )  # fmt: skip
    builder = NetworkBuilder(inputs, type(model).__name__)
    layers, activation = _split(model)
    for place, layer in layers:
        _add(builder, place, layer)
    if activation == "softmax" and builder.width == 1:
        raise PredictorError("A last softmax", "have at least two classes", "one, whose probability is always 1", "use Sigmoid")
    link, classes = link_of_outputs(builder.width, activation, None, tie=True)
    return builder.finish(link, classes)


def _add(builder: NetworkBuilder, place: str, layer: Any) -> None:
    """One layer more."""
    if _is(layer, nn.Linear):
        weights = _numbers(layer.weight, place)
        _expect(builder, weights.shape[1], place)
        builder.affine(weights, 0.0 if layer.bias is None else _numbers(layer.bias, place))
    elif _is(layer, nn.BatchNorm1d):
        _add_batch_norm(builder, place, layer)
    elif _is(layer, nn.ReLU):
        builder.relu()
    elif _is(layer, *_ACTIVATIONS):
        raise UnsupportedModelError(place, "be the last layer", "layers after it", "use ReLU between layers")
    elif not (_is(layer, *_NEUTRAL) or (_is(layer, nn.Flatten) and layer.start_dim in (1, -1))):
        raise UnsupportedModelError(place, "be of a kind that likely can read", repr(layer), _SUPPORTED)


def _add_batch_norm(builder: NetworkBuilder, place: str, layer: Any) -> None:
    """Add weight * (x - mean) / sqrt(var + eps) + bias, with the mean and var of the training."""
    if layer.running_mean is None:
        raise UnsupportedModelError(
            place, "keep running statistics, so that a row's score does not depend on its batch", "track_running_stats=False",
            "train it with track_running_stats=True",
        )  # fmt: skip
    _expect(builder, layer.num_features, place)
    factor = 1 / np.sqrt(_numbers(layer.running_var, place) + layer.eps)
    shift = -_numbers(layer.running_mean, place) * factor
    if layer.affine:
        weight = _numbers(layer.weight, place)
        factor, shift = weight * factor, weight * shift + _numbers(layer.bias, place)
    builder.scale(factor, shift)


def _expect(builder: NetworkBuilder, width: int, place: str) -> None:
    """Refuse a layer of another width: by what the schema gives, if it is the first one."""
    if builder.pending is None and not builder.done:
        builder.inputs.counted(width, builder.by)
    if builder.width != width:
        raise PredictorError(place, f"have {builder.width} inputs, as the layer before gives", width, "check the model")


def _numbers(tensor: Any, place: str) -> Numbers:
    """A parameter as doubles, exactly."""
    if isinstance(tensor, nn.UninitializedParameter) or tensor.is_meta or not tensor.is_floating_point():
        kind = "no values yet" if not tensor.is_complex() else str(tensor.dtype)
        raise PredictorError(place, "have real numbers as parameters", kind, "run the model once, or load its weights")
    return np.asarray(tensor.detach().to("cpu", torch.float64).numpy(), dtype=np.float64)


def _score(model: Any, X: Any) -> Numbers:
    """The model's own scores, in its own precision (float32 for half precision), from a copy in eval mode."""
    double = any(parameter.dtype == torch.float64 for parameter in model.parameters())
    dtype = torch.float64 if double else torch.float32
    layers, _ = _split(copy.deepcopy(model).eval().to("cpu", dtype))
    rows = torch.as_tensor(np.asarray(dense(X), dtype=np.float64)).to(dtype)
    with torch.no_grad():
        for _, layer in layers:
            rows = layer(rows)
    return np.asarray(rows.numpy(), dtype=np.float64)


for _name in ("Sequential", "Linear", "Module"):
    register(f"torch.{_name}", Reader(_read, _score))
