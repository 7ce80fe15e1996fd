"""Keras 3 models, `Sequential` and functional: dense layers, activations, sums and concatenations.

As of torch, the last layer's outputs are the scores: one is the logit of class 1, which is chosen where the logit is at least 0;
several are one per class. A sigmoid or softmax at the end is left off, for it changes no decision.
"""

from __future__ import annotations

from typing import Any

import keras
import numpy as np

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor.forms import Form
from likely.predictor.network import link_of_outputs
from likely.predictor.network_graph import ACTIVATIONS, Affine, NetworkGraph
from likely.predictor.registry import Reader, register
from likely.predictor.tables import dense
from likely.predictor.wires import ModelInputs
from likely.schema.values import Numbers

#: What leaves a row as it is, once trained.
_NEUTRAL = (
    "ActivityRegularization", "AlphaDropout", "Dropout", "Flatten", "GaussianDropout", "GaussianNoise", "Identity", "InputLayer",
    "SpatialDropout1D",
)  # fmt: skip
_LAST = ("sigmoid", "softmax")
#: The name of an activation -> its name among `ACTIVATIONS`, and the parameters that it has in Keras.
_NAMES: dict[str, tuple[str, tuple[float, ...]]] = {
    **{name: (name, ()) for name in ("celu", "elu", "gelu", "hard_sigmoid", "hard_tanh", "log_sigmoid", "relu", "relu6", "selu")},
    **{name: (name, ()) for name in ("sigmoid", "silu", "soft_shrink", "softplus", "softsign", "tanh", "tanh_shrink")},
    "leaky_relu": ("leaky_relu", (0.2,)),
}
#: Why a layer or an activation is refused, where there is a reason of its own.
_REASONS = {
    "LayerNormalization": "it divides each row by its own spread, which is a function of all its numbers: use BatchNormalization",
    "softmax": "it divides by a sum over all numbers: use sigmoid or tanh between layers",
}


def _place(layer: Any) -> str:
    return f"Layer {layer.name!r} ({type(layer).__name__})"


def _source(tensor: Any) -> tuple[Any, list[Any]]:
    """The layer that makes a tensor, and the tensors that it reads."""
    layer, node, _ = tensor._keras_history
    return layer, list(layer._inbound_nodes[node].input_tensors)


def _end(model: Any) -> tuple[Any, str | None]:
    """The tensor that the model gives, and the activation at its end: of the last layer, or a layer of its own."""
    if not getattr(model, "outputs", None):
        raise PredictorError(f"A {type(model).__name__}", "be built", "one that is not", "give it an Input, or call it once")
    if len(model.outputs) != 1 or len(model.inputs) != 1:
        raise UnsupportedModelError(
            f"A {type(model).__name__}", "read one table and give one tensor", f"{len(model.inputs)} and {len(model.outputs)}",
            "use one Input of all columns, and a model per output",
        )  # fmt: skip
    tensor = model.outputs[0]
    layer, _ = _source(tensor)
    kind = _name_of(layer)
    return tensor, kind if kind in _LAST else None


def _name_of(layer: Any) -> str | None:
    """The name of a layer's activation; None if it has none."""
    if type(layer).__name__ == "Softmax":
        return "softmax"
    activation = getattr(layer, "activation", None)
    return None if activation is None else str(getattr(activation, "__name__", activation))


def _read(model: Any, inputs: ModelInputs) -> Form:
    tensor, activation = _end(model)
    graph = NetworkGraph(inputs, type(model).__name__)
    width = model.inputs[0].shape[-1]
    if width is not None:
        inputs.counted(int(width), graph.by)
    scores = _value(graph, tensor, model.inputs[0], {}, last=True)
    if activation == "softmax" and scores.width == 1:
        raise PredictorError("A last softmax", "have at least two classes", "one, whose probability is always 1", "use sigmoid")
    link, classes = link_of_outputs(scores.width, activation, None, tie=True)
    return graph.finish(scores, link, classes)


def _value(graph: NetworkGraph, tensor: Any, first: Any, known: dict[int, Affine], *, last: bool = False) -> Affine:
    """The value of a tensor, each made once."""
    if tensor is first:
        return graph.input()
    if id(tensor) not in known:
        layer, sources = _source(tensor)
        if type(layer).__name__ == "InputLayer":
            return graph.input()
        values = [_value(graph, source, first, known) for source in sources]
        known[id(tensor)] = _made(graph, layer, values, last=last)
    return known[id(tensor)]


def _made(graph: NetworkGraph, layer: Any, values: list[Affine], *, last: bool) -> Affine:
    """What a layer makes of values; the activation at the very end is left off."""
    kind, x = type(layer).__name__, values[0]
    if kind in _NEUTRAL:
        return x
    if kind == "Dense":
        weights = [np.asarray(each, dtype=np.float64) for each in layer.get_weights()]
        return _activated(graph, layer, x.map(weights[0].T, weights[1] if layer.use_bias else 0.0), last=last)
    if kind in ("Activation", "Softmax"):
        return _activated(graph, layer, x, last=last)
    if kind == "BatchNormalization":
        return x.scaled(*_batch_norm(layer))
    if kind == "ReLU" and float(layer.threshold) == 0.0:
        risen = graph.leaky(x, float(layer.negative_slope)) if layer.negative_slope else graph.relu(x)
        return risen if layer.max_value is None else graph.clipped(risen, None, float(layer.max_value))
    if kind == "ELU":
        return ACTIVATIONS["elu"](graph, x, float(layer.alpha))
    if kind == "LeakyReLU":
        return graph.leaky(x, float(layer.negative_slope))
    if kind == "PReLU":
        return graph.leaky(x, np.asarray(layer.get_weights()[0], dtype=np.float64))
    if kind == "Rescaling":
        return x.scaled(layer.scale, layer.offset)
    if kind in ("Add", "Subtract") and len(values) > 1:
        total = x
        for other in values[1:]:
            total = graph.add(total, other, 1.0 if kind == "Add" else -1.0)
        return total
    if kind == "Concatenate" and layer.axis in (-1, 1):
        return graph.join(values)
    hint = "use Dense, activations, BatchNormalization, Add and Concatenate; or export it to ONNX and read the file"
    raise UnsupportedModelError(_place(layer), "be of a kind that likely can read", kind, _REASONS.get(kind, hint))


def _activated(graph: NetworkGraph, layer: Any, x: Affine, *, last: bool) -> Affine:
    name = str(_name_of(layer))
    if name == "linear" or (name in _LAST and last):
        return x
    if name not in _NAMES:
        hint = _REASONS.get(name, f"use one of {', '.join(_NAMES)}")
        raise UnsupportedModelError(_place(layer), "have an activation that likely can read", repr(name), hint)
    known, parameters = _NAMES[name]
    return ACTIVATIONS[known](graph, x, *parameters)


def _batch_norm(layer: Any) -> tuple[Numbers, Numbers]:
    """Factor and shift of gamma * (x - mean) / sqrt(var + eps) + beta, with the mean and var of the training."""
    weights = [np.asarray(each, dtype=np.float64) for each in layer.get_weights()]
    gamma = weights.pop(0) if layer.scale else 1.0
    beta = weights.pop(0) if layer.center else 0.0
    mean, variance = weights
    factor = gamma / np.sqrt(variance + layer.epsilon)
    return np.asarray(factor), np.asarray(beta - mean * factor)


def _score(model: Any, X: Any) -> Numbers:
    """The model's own scores: what it makes of rows, up to the activation at its end."""
    rows = np.asarray(dense(X), dtype=np.float32)
    tensor, activation = _end(model)
    layer, sources = _source(tensor)
    whole = keras.Model(model.inputs, sources[0] if activation else tensor)
    made = np.asarray(keras.ops.convert_to_numpy(whole(rows, training=False)), dtype=np.float64)
    if activation and type(layer).__name__ == "Dense":
        weights = [np.asarray(each, dtype=np.float64) for each in layer.get_weights()]
        made = made @ weights[0] + (weights[1] if layer.use_bias else 0.0)
    return np.asarray(made).reshape(len(rows), -1)


for _class in ("Sequential", "Functional", "Model"):
    register(f"keras.{_class}", Reader(_read, _score))
