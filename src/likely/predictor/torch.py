"""torch networks: a `Sequential`, or any module whose graph (`torch.fx`) is of layers that are read, as it computes in eval mode.

The last layer's outputs are the scores: one is the logit of class 1, which is chosen where the logit is at least 0;
several are one per class. A `Sigmoid`, `Softmax` or `LogSoftmax` at the end is left off, for it changes no decision.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import fx, nn

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor.coverage import way_out
from likely.predictor.forms import Form
from likely.predictor.network import NetworkBuilder, link_of_outputs
from likely.predictor.network_graph import ACTIVATIONS, Affine, NetworkGraph
from likely.predictor.registry import Reader, register
from likely.predictor.tables import dense
from likely.predictor.wires import ModelInputs
from likely.schema.values import Numbers

#: What leaves a row as it is, in eval mode.
_NEUTRAL = (nn.Identity, nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout)
#: What may follow the last layer -> the name `link_of_outputs` has for it.
_ACTIVATIONS = {nn.Sigmoid: "sigmoid", nn.Softmax: "softmax", nn.LogSoftmax: "softmax"}
#: Activations: module -> its name among `ACTIVATIONS`, and its parameters.
_LAYERS: dict[Any, tuple[str, Callable[[Any], tuple[Any, ...]]]] = {
    nn.CELU: ("celu", lambda layer: (layer.alpha,)),
    nn.ELU: ("elu", lambda layer: (layer.alpha,)),
    nn.GELU: ("gelu", lambda layer: ()),
    nn.Hardsigmoid: ("hard_sigmoid", lambda layer: ()),
    nn.ReLU6: ("relu6", lambda layer: ()),
    nn.Hardtanh: ("hard_tanh", lambda layer: (layer.min_val, layer.max_val)),
    nn.LeakyReLU: ("leaky_relu", lambda layer: (layer.negative_slope,)),
    nn.LogSigmoid: ("log_sigmoid", lambda layer: ()),
    nn.PReLU: ("leaky_relu", lambda layer: (_numbers(layer.weight, "A PReLU"),)),
    nn.ReLU: ("relu", lambda layer: ()),
    nn.SELU: ("selu", lambda layer: ()),
    nn.SiLU: ("silu", lambda layer: ()),
    nn.Sigmoid: ("sigmoid", lambda layer: ()),
    nn.Softplus: ("softplus", lambda layer: (layer.beta,)),
    nn.Softshrink: ("soft_shrink", lambda layer: (layer.lambd,)),
    nn.Softsign: ("softsign", lambda layer: ()),
    nn.Tanh: ("tanh", lambda layer: ()),
    nn.Tanhshrink: ("tanh_shrink", lambda layer: ()),
}
#: From this number on, torch takes a softplus for its argument, which it is then up to 2e-9.
_SOFTPLUS_THRESHOLD = 20.0
#: The same where they are functions: name -> name among `ACTIVATIONS`, and the parameters with their defaults.
_FUNCTIONS: dict[str, tuple[str, tuple[tuple[str, Any], ...]]] = {
    "celu": ("celu", (("alpha", 1.0),)),
    "clamp": ("clip", (("min", None), ("max", None))),
    "clip": ("clip", (("min", None), ("max", None))),
    "elu": ("elu", (("alpha", 1.0),)),
    "gelu": ("gelu", ()),
    "hardsigmoid": ("hard_sigmoid", ()),
    "hardtanh": ("hard_tanh", (("min_val", -1.0), ("max_val", 1.0))),
    "leaky_relu": ("leaky_relu", (("negative_slope", 0.01),)),
    "log_sigmoid": ("log_sigmoid", ()),
    "logsigmoid": ("log_sigmoid", ()),
    "relu": ("relu", ()),
    "relu_": ("relu", ()),
    "relu6": ("relu6", ()),
    "selu": ("selu", ()),
    "sigmoid": ("sigmoid", ()),
    "silu": ("silu", ()),
    "softplus": ("softplus", (("beta", 1.0), ("threshold", _SOFTPLUS_THRESHOLD))),
    "softshrink": ("soft_shrink", (("lambd", 0.5),)),
    "softsign": ("softsign", ()),
    "tanh": ("tanh", ()),
    "tanhshrink": ("tanh_shrink", ()),
}


def _unreadable(place: str, kind: str, got: str) -> UnsupportedModelError:
    """The refusal of a layer or an operation, with the reason; that of a function is its layer's."""
    named = next((name for name in dir(nn) if name.lower() == kind.lower().replace("_", "")), kind)
    return UnsupportedModelError(place, "be of a kind that likely can read", got, way_out(f"torch.{named}"))


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
    if not _is_plain(model):
        return _read_graph(model, inputs)
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
        raise _not_last(place)
    elif not (_is(layer, *_NEUTRAL) or (_is(layer, nn.Flatten) and layer.start_dim in (1, -1))):
        raise _unreadable(place, type(layer).__name__, repr(layer))


def _not_last(place: str) -> UnsupportedModelError:
    return UnsupportedModelError(
        place, "be the last layer", "layers after it", "it divides by a sum over all numbers: use Sigmoid or Tanh between layers"
    )


def _add_batch_norm(builder: NetworkBuilder, place: str, layer: Any) -> None:
    """Add a batch norm, as it computes after training."""
    _expect(builder, layer.num_features, place)
    builder.scale(*_batch_norm(place, layer))


def _batch_norm(place: str, layer: Any) -> tuple[Numbers, Numbers]:
    """Factor and shift of weight * (x - mean) / sqrt(var + eps) + bias, with the mean and var of the training."""
    if layer.running_mean is None:
        raise UnsupportedModelError(
            place, "keep running statistics, so that a row's score does not depend on its batch", "track_running_stats=False",
            "train it with track_running_stats=True",
        )  # fmt: skip
    factor = 1 / np.sqrt(_numbers(layer.running_var, place) + layer.eps)
    shift = -_numbers(layer.running_mean, place) * factor
    if layer.affine:
        weight = _numbers(layer.weight, place)
        factor, shift = weight * factor, weight * shift + _numbers(layer.bias, place)
    return factor, shift


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
    bare = copy.deepcopy(model).eval().to("cpu", dtype)
    rows = torch.as_tensor(np.asarray(dense(X), dtype=np.float64)).to(dtype)
    with torch.no_grad():
        if not _is_plain(model):
            return np.asarray(_before_activation(bare)(rows).numpy(), dtype=np.float64).reshape(len(rows), -1)
        for _, layer in _split(bare)[0]:
            rows = layer(rows)
    return np.asarray(rows.numpy(), dtype=np.float64)


# -- modules with a forward of their own ----------------------------------------------------------------------------------


def _is_plain(model: Any) -> bool:
    """Whether a model is a row of layers that need no graph."""
    if not _is(model, nn.Sequential, nn.Linear):
        return False
    layers = [layer for _, layer in _split(model)[0]]
    known = all(type(layer).__module__.startswith("torch.nn") for layer in layers)
    return known and all(_is(layer, nn.ReLU) or not _is(layer, *_LAYERS) for layer in layers)


def _traced(model: Any) -> Any:
    try:
        return fx.symbolic_trace(copy.deepcopy(model).eval())
    except Exception as error:
        raise UnsupportedModelError(
            f"A {type(model).__name__}", "compute the same layers for every row, so that its graph can be read (torch.fx)",
            f"{type(error).__name__}: {str(error).splitlines()[0]}",
            "take what depends on the values of a row (if, for) out of forward, or export it to ONNX and read the file",
        ) from None  # fmt: skip


def _end(graph: Any) -> tuple[Any, str | None]:
    """The node that makes the scores, and the activation that follows it."""
    node = next(iter(node for node in graph.graph.nodes if node.op == "output")).args[0]
    while isinstance(node, fx.Node) and _called(graph, node) in ("squeeze", "flatten", "dropout", "identity"):
        node = node.args[0]
    if not isinstance(node, fx.Node):
        raise UnsupportedModelError("A torch module", "give one tensor", type(node).__name__, "wrap it in one that does")
    kind = {"sigmoid": "sigmoid", "softmax": "softmax", "log_softmax": "softmax", "logsoftmax": "softmax"}.get(
        _called(graph, node)
    )
    if kind == "softmax":
        _refuse_other_dimension(graph, node)
    return (node.args[0], kind) if kind else (node, None)


def _refuse_other_dimension(graph: Any, node: Any) -> None:
    """Refuse a softmax over something else than the classes of a row."""
    dim = node.kwargs.get("dim", node.args[1] if len(node.args) > 1 else None)
    if node.op == "call_module":
        dim = graph.get_submodule(node.target).dim
    if dim not in (None, 1, -1):
        raise PredictorError("A last softmax", "normalise over the classes of each row", f"dim={dim}", "use dim=1")


def _called(graph: Any, node: Any) -> str:
    """What a node calls, in small letters: the class of a module, the name of a function or method."""
    if node.op == "call_module":
        layer = graph.get_submodule(node.target)
        return "identity" if _is(layer, *_NEUTRAL) else type(layer).__name__.lower()
    return str(getattr(node.target, "__name__", node.target)).lower()


def _before_activation(model: Any) -> Any:
    """The module's own computation up to the scores."""
    traced = _traced(model)
    end, _ = _end(traced)
    for node in traced.graph.nodes:
        if node.op == "output":
            node.args = (end,)
    traced.graph.eliminate_dead_code()
    traced.recompile()
    return traced


def _read_graph(model: Any, inputs: ModelInputs) -> Form:
    traced = _traced(model)
    end, activation = _end(traced)
    walk = _Walk(traced, NetworkGraph(inputs, type(model).__name__))
    scores = walk.value(end)
    if activation == "softmax" and scores.width == 1:
        raise PredictorError("A last softmax", "have at least two classes", "one, whose probability is always 1", "use Sigmoid")
    link, classes = link_of_outputs(scores.width, activation, None, tie=True)
    return walk.graph.finish(scores, link, classes)


class _Walk:
    """The values of a graph's nodes, each made once."""

    def __init__(self, traced: Any, graph: NetworkGraph) -> None:
        self.traced, self.graph = traced, graph
        self._known: dict[Any, Any] = {}

    def value(self, node: Any) -> Affine:
        """The value of a node; refuses a number in its place."""
        made = self.any(node)
        if not isinstance(made, Affine):
            raise UnsupportedModelError(f"A {self.graph.by}", "compute with what it reads", f"{node}", "check its forward")
        return made

    def any(self, node: Any) -> Any:
        """The value of a node, or a number or array that does not depend on the row."""
        if not isinstance(node, fx.Node):
            return node
        if node not in self._known:
            self._known[node] = self._made(node)
        return self._known[node]

    def _made(self, node: Any) -> Any:
        if node.op == "placeholder":
            return self._input(node)
        if node.op == "get_attr":
            thing: Any = self.traced
            for part in node.target.split("."):
                thing = getattr(thing, part)
            return _numbers(thing, f"Parameter {node.target}")
        if node.op == "call_module":
            return self._layer(node)
        return self._operation(node)

    def _input(self, node: Any) -> Affine:
        others = [other.name for other in self.traced.graph.nodes if other.op == "placeholder" and other is not node]
        if any(other.users for other in self.traced.graph.nodes if other.op == "placeholder" and other is not node):
            raise UnsupportedModelError(
                f"A {self.graph.by}", "read one tensor of rows", f"the arguments {', '.join([node.name, *others])}",
                "wrap it in a module that takes one tensor and slices it",
            )  # fmt: skip
        return self.graph.input()

    def _layer(self, node: Any) -> Affine:
        layer, x = self.traced.get_submodule(node.target), self.value(node.args[0])
        place = f"Layer {node.target} ({type(layer).__name__})"
        if _is(layer, nn.Linear):
            weights = _numbers(layer.weight, place)
            self._expect(x, weights.shape[1], place, node)
            return x.map(weights, 0.0 if layer.bias is None else _numbers(layer.bias, place))
        if _is(layer, nn.BatchNorm1d):
            self._expect(x, layer.num_features, place, node)
            return x.scaled(*_batch_norm(place, layer))
        for cls, (name, parameters) in _LAYERS.items():
            if _is(layer, cls):
                _refuse_variant(place, layer.__dict__)
                return ACTIVATIONS[name](self.graph, x, *parameters(layer))
        if _is(layer, *_NEUTRAL) or (_is(layer, nn.Flatten) and layer.start_dim in (1, -1)):
            return x
        if _is(layer, *_ACTIVATIONS):
            raise _not_last(place)
        raise _unreadable(place, type(layer).__name__, repr(layer))

    def _expect(self, x: Affine, width: int, place: str, node: Any) -> None:
        if x.width != width:
            if node.args[0].op == "placeholder":
                self.graph.inputs.counted(width, self.graph.by)
            raise PredictorError(place, f"have {x.width} inputs, as what comes before gives", width, "check the model")

    def _operation(self, node: Any) -> Any:
        name = _called(self.traced, node)
        args, options = [self.any(each) if not isinstance(each, (tuple, list)) else each for each in node.args], dict(node.kwargs)
        place = f"Operation {name}({', '.join(str(each) for each in node.args)}) of a {self.graph.by}"
        if "input" in options:
            args.insert(0, self.any(options.pop("input")))
        if name in _FUNCTIONS and isinstance(args[0], Affine):
            known, parameters = _FUNCTIONS[name]
            given = {key: args[i] if len(args) > i else default for i, (key, default) in enumerate(parameters, 1)} | options
            _refuse_variant(place, given)
            return ACTIVATIONS[known](self.graph, args[0], *(given[key] for key, _ in parameters if key != "threshold"))
        made = _OPERATIONS.get(name)
        result = None if made is None else made(self, args, options)
        if result is None:
            raise _unreadable(place, name, name)
        return result


def _refuse_variant(place: str, options: Mapping[str, Any]) -> None:
    """Refuse what makes another function of an activation."""
    if options.get("approximate", "none") != "none":
        raise UnsupportedModelError(
            place, "compute the function itself", f"approximate={options['approximate']!r}", "use approximate='none'"
        )
    if options.get("threshold", _SOFTPLUS_THRESHOLD) < _SOFTPLUS_THRESHOLD:
        raise UnsupportedModelError(
            place, f"have a threshold of at least {_SOFTPLUS_THRESHOLD}, beyond which it is linear to the last digit",
            f"threshold={options['threshold']}", "leave threshold out",
        )  # fmt: skip


def _sum(walk: _Walk, args: list[Any], options: dict[str, Any], sign: float = 1.0) -> Any:
    one, other = args[0], args[1]
    factor = sign * float(options.get("alpha", 1.0))
    if isinstance(one, Affine) and isinstance(other, Affine):
        return walk.graph.add(one, other, factor)
    if isinstance(one, Affine):
        return one.scaled(1.0, factor * np.asarray(other, dtype=np.float64))
    return other.scaled(factor, np.asarray(one, dtype=np.float64)) if isinstance(other, Affine) else None


def _product(walk: _Walk, args: list[Any], options: dict[str, Any]) -> Any:
    one, other = args if isinstance(args[0], Affine) else args[::-1]
    return None if isinstance(other, Affine) or not isinstance(one, Affine) else one.scaled(other)


def _quotient(walk: _Walk, args: list[Any], options: dict[str, Any]) -> Any:
    one, other = args
    return None if isinstance(other, Affine) else one.scaled(1.0 / np.asarray(other, dtype=np.float64))


def _joined(walk: _Walk, args: list[Any], options: dict[str, Any]) -> Any:
    dim = options.get("dim", args[1] if len(args) > 1 else 0)
    parts = options.get("tensors", args[0] if args else ())
    return walk.graph.join([walk.value(part) for part in parts]) if dim in (1, -1) else None


def _some(walk: _Walk, args: list[Any], options: dict[str, Any]) -> Any:
    """x[:, 3:], x[:, [0, 2]], x[..., 1:2]."""
    value, index = args
    if not isinstance(index, tuple) or len(index) != 2 or index[0] not in (slice(None), ...):
        return None
    chosen = index[1]
    if isinstance(chosen, int):
        return value.entries(slice(chosen, chosen + 1 if chosen != -1 else None))
    return value.entries(chosen if isinstance(chosen, slice) else list(chosen))


def _linear(walk: _Walk, args: list[Any], options: dict[str, Any]) -> Any:
    weights = args[1] if len(args) > 1 else walk.any(options["weight"])
    bias = args[2] if len(args) > 2 else walk.any(options.get("bias"))
    return args[0].map(weights, 0.0 if bias is None else bias)


def _same(walk: _Walk, args: list[Any], options: dict[str, Any]) -> Any:
    return args[0]


def _flat(walk: _Walk, args: list[Any], options: dict[str, Any]) -> Any:
    return args[0] if options.get("start_dim", args[1] if len(args) > 1 else 0) in (1, -1) else None


#: name of a function or method -> what it makes of its arguments; None if not of these
_OPERATIONS: dict[str, Callable[[_Walk, list[Any], dict[str, Any]], Any]] = {
    **dict.fromkeys(("add", "add_", "__add__", "iadd"), _sum),
    **dict.fromkeys(("sub", "sub_", "isub"), lambda walk, args, options: _sum(walk, args, options, -1.0)),
    **dict.fromkeys(("mul", "mul_", "imul"), _product),
    **dict.fromkeys(("truediv", "div", "div_", "itruediv"), _quotient),
    "neg": lambda walk, args, options: args[0].scaled(-1.0),
    "abs": lambda walk, args, options: walk.graph.leaky(args[0], -1.0),
    **dict.fromkeys(("cat", "concat"), _joined),
    "getitem": _some,
    "linear": _linear,
    "flatten": _flat,
    **dict.fromkeys(("dropout", "contiguous", "float", "double", "clone", "detach"), _same),
}


for _name in ("Sequential", "Linear", "Module"):
    register(f"torch.{_name}", Reader(_read, _score))
