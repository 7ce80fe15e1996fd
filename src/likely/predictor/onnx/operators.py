"""What each ONNX operator makes of values, and the walk through a graph.

An operator is a function from values (see `values`) to a value, in the table `OPERATORS`. What is not in the table, or
meets a value that it cannot follow, is refused by the name of its node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor.coverage import way_out
from likely.predictor.links import Link
from likely.predictor.network import link_of_outputs
from likely.predictor.onnx.trees import classifier_of, regressor_of
from likely.predictor.onnx.values import Array, Category, Chain, Graph, Head, Node, Track, Trees, Value, describe
from likely.predictor.wires import FLOAT32, FLOAT64, Step

Operator: TypeAlias = Callable[[Node, list[Value]], Value | tuple[Value, ...]]

#: ONNX's numbers of types.
_CASTS: Mapping[Any, Step] = {1: FLOAT32, 11: FLOAT64}
_LABELS = (6, 7, 8)  # int32, int64, text


def walk(graph: Graph, width: int) -> Head:
    """What the graph ends in; `width` is the number of its columns, where it leaves that open."""
    values: dict[str, Value] = {**graph.constants, **_ports(graph, width)}
    for node in graph.nodes:
        if node.op not in OPERATORS:
            raise _cannot(
                node, "be of an operator that likely can read", node.op, way_out(f"onnx.{node.op}"),
            )  # fmt: skip
        missing = next((name for name in node.inputs if name and name not in values), None)
        if missing is not None:
            raise PredictorError(
                node.place, "read only what earlier nodes compute", repr(missing), "check the model with onnx.checker"
            )
        results = OPERATORS[node.op](node, [values[name] if name else None for name in node.inputs])
        values.update(zip(node.outputs, results if isinstance(results, tuple) else (results,), strict=False))
    return _ending(graph, values)


def _ports(graph: Graph, width: int) -> dict[str, Chain]:
    """The graph's inputs: one table, or a column each."""
    several = len(graph.ports) > 1
    chains = {}
    for i, port in enumerate(graph.ports):
        if several and port.width not in (1, None):
            raise PredictorError(
                f"Input {port.name!r} of an ONNX graph with several inputs",
                "be one column",
                port.width,
                "export it with one input",
            )
        places = [i] if several else range(port.width or width)
        steps = {"float32": (FLOAT32,), "float64": (FLOAT64,)}.get(port.dtype, ())
        chains[port.name] = Chain.of([Track(place, steps) for place in places])
    return chains


def _ending(graph: Graph, values: Mapping[str, Value]) -> Head:
    """The head that all outputs are of, with the classes that any of them names and the decision of a label."""
    ends = {name: values.get(name) for name in graph.outputs}
    heads = [value for value in ends.values() if isinstance(value, Head)]
    heads += [_network_head(value, name, None) for name, value in ends.items() if isinstance(value, Chain)]
    parts = {head.part for head in heads}
    if not parts - {"other"} or len(heads) < len(ends) or any(head.body is not heads[0].body for head in heads):
        raise PredictorError(
            "An ONNX graph", "have the scores, probabilities and labels of one model as its outputs", ", ".join(ends) or "none",
            "export one model",
        )  # fmt: skip
    classes = next((head.classes for head in heads if head.classes is not None), None)
    link = replace(heads[0].link, tie=heads[0].link.tie and "label" not in parts)
    return replace(heads[0], link=link, classes=classes)


def _network_head(chain: Chain, tensor: str, activation: str | None) -> Head:
    """The end of a network. Without a label, class 1 is chosen at a logit of 0 too, as of a torch network."""
    link, _ = link_of_outputs(chain.width, activation, None, tie=True)
    return Head(chain, link, tensor, "classes" if chain.width > 1 else "one")


def _cannot(node: Node, rule: str, got: object, hint: str) -> UnsupportedModelError:
    return UnsupportedModelError(node.place, rule, got, hint)


def _rows(node: Node, value: Value) -> Chain:
    if not isinstance(value, Chain):
        raise _cannot(node, "read columns or layers", describe(value), "nothing else can come after the end of a model")
    return value


def _layer_before(node: Node, value: Value) -> Chain:
    """What a layer with weights reads: also sigmoids, which are no probabilities then."""
    if isinstance(value, Head) and value.hidden is not None:
        return value.hidden
    return _rows(node, value)


def _columns(node: Node, value: Value) -> Chain:
    if not isinstance(value, Chain) or value.layers:
        raise _cannot(node, "read columns of the table", describe(value), "only scale or encode columns before it")
    return value


def _head(node: Node, value: Value, part: str) -> Head:
    if not isinstance(value, Head) or value.part != part:
        rule = "read the number of a class" if part == "label" else "read the scores or probabilities of all classes"
        raise _cannot(node, rule, describe(value), "end the graph as skl2onnx ends a classifier")
    return value


def _array(node: Node, value: Value) -> Array:
    if not isinstance(value, np.ndarray):
        raise _cannot(node, "have constants but for its first input", describe(value), "store its weights in the model")
    return value


def _vector(node: Node, value: Value, width: int) -> Array:
    """Constants as one number for each column."""
    constants = np.asarray(_array(node, value), dtype=np.float64)
    if constants.size not in (1, width) or (constants.size > 1 and constants.shape[-1] != width):
        raise PredictorError(
            node.place, f"have one constant, or one for each of {width} columns", constants.shape, "check the model"
        )
    if not np.isfinite(constants).all():
        raise PredictorError(node.place, "have finite constants", "NaN or infinity", "train the model again")
    return np.broadcast_to(constants.ravel(), (width,))


def _along_columns(node: Node, default: int) -> None:
    axis = node.attributes.get("axis", default)
    if axis not in (1, -1):
        raise _cannot(node, "work along the columns", f"axis={axis}", "use axis=1")


def _arithmetic(node: Node, args: list[Value]) -> Value:
    first, second = args
    if node.op == "Sub" and isinstance(second, Head):
        return _complement(node, first, second)
    if node.op == "Sub" and isinstance(first, np.ndarray):
        chain = _rows(node, second)
        return chain.then(("multiply", np.full(chain.width, -1.0)), ("add", _vector(node, first, chain.width)))
    if node.op in ("Add", "Mul") and isinstance(first, np.ndarray):
        first, second = second, first
    chain = _rows(node, first)
    values = _vector(node, second, chain.width)
    if node.op == "Div" and not values.all():
        raise PredictorError(node.place, "not divide by zero", "a constant 0", "drop the column")
    return chain.then(({"Add": "add", "Sub": "subtract", "Mul": "multiply", "Div": "divide"}[node.op], values))


def _complement(node: Node, first: Value, second: Head) -> Head:
    if second.part != "one" or not second.link.has_probabilities or not isinstance(first, np.ndarray) or not (first == 1).all():
        raise _cannot(node, "be 1 minus a probability", f"{describe(first)} minus {describe(second)}", "end the graph before it")
    return replace(second, part="other")


def _affine(node: Node, chain: Chain, weights: Array, bias: Value) -> Chain:
    """After weights @ x + bias, weights outputs x inputs."""
    if weights.ndim != 2 or weights.shape[1] != chain.width:
        raise PredictorError(
            node.place, f"have weights for {chain.width} inputs", f"shape {weights.shape[::-1]}", "check the model"
        )
    return chain.layer("affine", weights, np.zeros(len(weights)) if bias is None else _vector(node, bias, len(weights)))


def _gemm(node: Node, args: list[Value]) -> Value:
    chain, weights = _layer_before(node, args[0]), np.asarray(_array(node, args[1]), dtype=np.float64)
    get = node.attributes.get
    if get("transA", 0):
        raise _cannot(node, "read a row of the table in each row", "transA=1", "export it with transA=0")
    bias = None if len(args) < 3 or args[2] is None else np.asarray(get("beta", 1.0) * _array(node, args[2]).astype(np.float64))
    return _affine(node, chain, get("alpha", 1.0) * (weights if get("transB", 0) else weights.T), bias)


def _matmul(node: Node, args: list[Value]) -> Value:
    return _affine(node, _layer_before(node, args[0]), np.asarray(_array(node, args[1]), dtype=np.float64).T, None)


def _batch_norm(node: Node, args: list[Value]) -> Value:
    chain = _layer_before(node, args[0])
    if node.attributes.get("training_mode", 0):
        raise _cannot(node, "use the statistics of the training", "training_mode=1", "export the model in eval mode")
    scale, bias, mean, var = (_vector(node, value, chain.width) for value in args[1:5])
    factor = scale / np.sqrt(var + node.attributes.get("epsilon", 1e-5))
    return chain.layer("scale", factor, bias - mean * factor)


#: Operators that are functions of each number -> their names among `ACTIVATIONS`, and their attributes with defaults.
_FUNCTIONS: Mapping[str, tuple[str, tuple[tuple[str, float], ...]]] = {
    "Celu": ("celu", (("alpha", 1.0),)),
    "Elu": ("elu", (("alpha", 1.0),)),
    "Gelu": ("gelu", ()),
    "HardSigmoid": ("hard_sigmoid", (("alpha", 0.2), ("beta", 0.5))),
    "LeakyRelu": ("leaky_relu", (("alpha", 0.01),)),
    "Relu": ("relu", ()),
    "Selu": ("selu", (("alpha", 1.67326319217681884765625), ("gamma", 1.05070102214813232421875))),
    "Softplus": ("softplus", ()),
    "Softsign": ("softsign", ()),
    "Tanh": ("tanh", ()),
}


def _function(node: Node, args: list[Value]) -> Value:
    name, attributes = _FUNCTIONS[node.op]
    if node.attributes.get("approximate", "none") != "none":
        got = f"approximate={node.attributes['approximate']}"
        raise _cannot(node, "compute the function itself", got, "export it with approximate='none'")
    return _rows(node, args[0]).layer(name, *(node.attributes.get(key, default) for key, default in attributes))


def _prelu(node: Node, args: list[Value]) -> Value:
    chain = _rows(node, args[0])
    return chain.layer("leaky_relu", _vector(node, args[1], chain.width))


def _clip(node: Node, args: list[Value]) -> Value:
    """The ends are inputs, or, up to opset 10, attributes."""
    ends = [
        float(_array(node, args[i]).item()) if len(args) > i and args[i] is not None else node.attributes.get(key)
        for i, key in ((1, "min"), (2, "max"))
    ]
    return _rows(node, args[0]).layer("clip", *ends)


def _identity(node: Node, args: list[Value]) -> Value:
    return args[0]


def _dropout(node: Node, args: list[Value]) -> Value:
    training = args[2] if len(args) > 2 else None
    if training is not None and _array(node, training).any():
        raise _cannot(node, "be switched off", "training_mode", "export the model in eval mode")
    return args[0]


def _flatten(node: Node, args: list[Value]) -> Value:
    _along_columns(node, 1)
    return args[0]


def _reshape(node: Node, args: list[Value]) -> Value:
    value, shape = args[0], _array(node, args[1]).tolist()
    if not isinstance(value, Chain | Head):
        raise _cannot(node, "read columns, layers or labels", describe(value), "store the constant in its shape")
    flat = value.width == 1 and shape in ([-1], [0])
    if not flat and shape not in ([-1, value.width], [0, value.width], [0, -1]):
        raise _cannot(node, f"keep a row of {value.width} columns", f"shape {shape}", "leave it out")
    return value


def _cast(node: Node, args: list[Value]) -> Value:
    value, to = args[0], node.attributes.get("to")
    if isinstance(value, Head) and to in (_LABELS if value.part == "label" else _CASTS):
        return value
    if isinstance(value, Chain) and to in _CASTS:
        return value.cast(_CASTS[to])
    raise _cannot(
        node, "cast numbers to float or double, or labels to whole numbers", f"{describe(value)} to type {to}", "leave it out"
    )


def _constant(node: Node, args: list[Value]) -> Value:
    return np.asarray(next(iter(node.attributes.values())))


def _joined(node: Node, args: list[Value]) -> Chain:
    return Chain.of([track for value in args for track in _columns(node, value).tracks])


def _concat(node: Node, args: list[Value]) -> Value:
    _along_columns(node, 1)
    if len(args) == 2 and isinstance(args[0], Head) and isinstance(args[1], Head):
        first, second = args[0], args[1]
        if first.part == "other" and second.part == "one" and first.body is second.body:
            return replace(second, part="classes")
    return _joined(node, args)


def _vectorizer(node: Node, args: list[Value]) -> Value:
    return _joined(node, args).cast(FLOAT32)


def _scaler(node: Node, args: list[Value]) -> Value:
    chain, get = _rows(node, args[0]), node.attributes.get
    offset, scale = (
        _vector(node, np.array(get(key, [default])), chain.width) for key, default in (("offset", 0.0), ("scale", 1.0))
    )
    return chain.then(("subtract", offset), ("multiply", scale)).cast(FLOAT32)


def _one_hot(node: Node, args: list[Value]) -> Value:
    categories = tuple(node.attributes.get("cats_strings", ()))
    if not categories:
        raise _cannot(node, "encode text", "cats_int64s", "export the column as a StringTensorType")
    strict = not node.attributes.get("zeros", 1)
    indicators = [Category(categories, k, strict) for k in range(len(categories))]
    return Chain.of([track.then(indicator) for track in _columns(node, args[0]).tracks for indicator in indicators])


def _activation(node: Node, args: list[Value]) -> Value:
    chain = _rows(node, args[0])
    if node.op == "Sigmoid":
        return replace(_network_head(chain, node.inputs[0], "sigmoid"), hidden=chain.layer("sigmoid"))
    _along_columns(node, -1)
    if chain.width == 1:
        raise PredictorError(node.place, "have at least two classes", "one, whose probability is always 1", "use Sigmoid")
    return _network_head(chain, node.inputs[0], "softmax")


def _argmax(node: Node, args: list[Value]) -> Value:
    _along_columns(node, 0)
    if node.attributes.get("select_last_index", 0):
        raise _cannot(node, "choose the first of equal classes", "select_last_index=1", "use select_last_index=0")
    value = args[0]
    if isinstance(value, Chain) and value.width > 1:
        value = _network_head(value, node.inputs[0], None)
    return replace(_head(node, value, "classes"), part="label")


def _labels(node: Node) -> tuple[Any, ...]:
    keys = ("classlabels_strings", "classlabels_ints", "classlabels_int64s")
    return tuple(next((labels for key in keys if (labels := node.attributes.get(key))), ()))


def _zip_map(node: Node, args: list[Value]) -> Value:
    return replace(_head(node, args[0], "classes"), classes=_labels(node))


def _normalizer(node: Node, args: list[Value]) -> Value:
    head, norm = _head(node, args[0], "classes"), node.attributes.get("norm", "MAX")
    if norm != "L1" or not head.link.has_probabilities:
        got = f"norm {norm} of {'probabilities' if head.link.has_probabilities else 'scores'}"
        raise _cannot(node, "make probabilities sum to 1", got, "use norm L1 after a post_transform")
    return head


def _extract(node: Node, args: list[Value]) -> Value:
    """Either the name of a class by its number, or the score of class 1 of two."""
    values, places = args
    if isinstance(values, np.ndarray):
        return replace(_head(node, places, "label"), classes=tuple(values.ravel().tolist()))
    head = _head(node, values, "classes")
    if head.column is None or _array(node, places).ravel().tolist() != [head.column]:
        raise _cannot(node, "take the score of class 1 of two", describe(values), "end the graph before it")
    return replace(head, part="one")


def _coefficients(node: Node, width: int) -> tuple[Array, Array]:
    """Weights, outputs x inputs, and bias of a linear node; there are as many outputs as intercepts."""
    weights, bias = (np.array(node.attributes.get(key, ()), dtype=np.float64) for key in ("coefficients", "intercepts"))
    if not bias.size or weights.size != bias.size * width:
        rule = f"have an intercept per output, and for each {width} coefficients"
        raise PredictorError(node.place, rule, f"{bias.size} and {weights.size}", "check the model")
    return weights.reshape(-1, width), bias


#: post_transform -> links of one score for two classes, and of one score per class
_LINKS = {"NONE": ("sign", "argmax"), "LOGISTIC": ("logistic", "logistic_shares"), "SOFTMAX": (None, "softmax")}


def _linear_classifier(node: Node, args: list[Value]) -> Value | tuple[Value, ...]:
    chain, classes = _rows(node, args[0]), _labels(node)
    post = node.attributes.get("post_transform", "NONE")
    weights, bias = _coefficients(node, chain.width)
    # skl2onnx writes a score s of two classes as -s and s.
    mirrored = len(bias) == 2 and (weights[0] == -weights[1]).all() and bias[0] == -bias[1] and post != "SOFTMAX"
    single = len(classes) == 2 and (mirrored or len(bias) == 1)
    kind = _LINKS.get(post, (None, None))[0 if single else 1]
    if kind is None:
        got = f"{post} of {len(bias)} scores"
        raise _cannot(
            node, "have post_transform NONE, LOGISTIC, or of a score per class SOFTMAX", got, "export it with one of these"
        )
    body = _affine(node, chain, weights[-1:], bias[-1:]) if single else _affine(node, chain, weights, bias)
    head = Head(body, Link(kind), node.outputs[1], "classes", 1 if single else None, classes)
    return replace(head, part="label"), head


def _refuse_other_than_one(node: Node, targets: int) -> None:
    post = node.attributes.get("post_transform", "NONE")
    if targets != 1 or post != "NONE":
        got = f"{targets} targets, post_transform {post}"
        raise _cannot(node, "predict one number, as it is", got, "export one model per target, with post_transform NONE")


def _linear_regressor(node: Node, args: list[Value]) -> Value:
    chain = _rows(node, args[0])
    _refuse_other_than_one(node, node.attributes.get("targets", 1))
    return Head(_affine(node, chain, *_coefficients(node, chain.width)), Link("identity"), node.outputs[0], "one")


def _tree_classifier(node: Node, args: list[Value]) -> Value | tuple[Value, ...]:
    chain, classes = _columns(node, args[0]), _labels(node)
    forest, link = classifier_of(node.attributes, len(classes), node.place)
    column = None if link.one_score_per_class else 1
    head = Head(Trees(chain.tracks, forest), link, node.outputs[1], "classes", column, classes)
    return replace(head, part="label"), head


def _tree_regressor(node: Node, args: list[Value]) -> Value:
    chain = _columns(node, args[0])
    _refuse_other_than_one(node, node.attributes.get("n_targets", 1))
    return Head(Trees(chain.tracks, regressor_of(node.attributes, node.place)), Link("identity"), node.outputs[0], "one")


#: Operator -> what it makes of values.
OPERATORS: Mapping[str, Operator] = {
    "Add": _arithmetic,
    "ArgMax": _argmax,
    "ArrayFeatureExtractor": _extract,
    "BatchNormalization": _batch_norm,
    "Cast": _cast,
    "Clip": _clip,
    "Concat": _concat,
    "Constant": _constant,
    "Div": _arithmetic,
    "Dropout": _dropout,
    "FeatureVectorizer": _vectorizer,
    "Flatten": _flatten,
    "Gemm": _gemm,
    "Identity": _identity,
    "LinearClassifier": _linear_classifier,
    "LinearRegressor": _linear_regressor,
    "LogSoftmax": _activation,
    "MatMul": _matmul,
    "Mul": _arithmetic,
    "Normalizer": _normalizer,
    "OneHotEncoder": _one_hot,
    "PRelu": _prelu,
    "Reshape": _reshape,
    "Scaler": _scaler,
    "Sigmoid": _activation,
    "Softmax": _activation,
    "Sub": _arithmetic,
    "TreeEnsembleClassifier": _tree_classifier,
    "TreeEnsembleRegressor": _tree_regressor,
    "ZipMap": _zip_map,
    **dict.fromkeys(_FUNCTIONS, _function),
}
