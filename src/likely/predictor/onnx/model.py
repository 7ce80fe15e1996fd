"""`ModelProto` of the `onnx` package -> our plain `Graph`; reading it, and asking it what it says itself.

The model is run by onnxruntime where that is installed, and else by the reference evaluator of the `onnx` package,
which is slow on trees, and rounds a Scaler otherwise.
"""

from __future__ import annotations

import contextlib
import importlib
from pathlib import Path
from typing import Any

import numpy as np

from likely.errors import MissingExtraError, PredictorError
from likely.predictor.forms import Form
from likely.predictor.onnx.operators import walk
from likely.predictor.onnx.values import Graph, Head, Node, Port
from likely.predictor.tables import dense
from likely.predictor.wires import ModelInputs
from likely.schema.values import Numbers

try:
    import onnx
    import onnx.reference
except ImportError:
    raise MissingExtraError("onnx", "onnx", "read ONNX models") from None

_DTYPES = {onnx.TensorProto.FLOAT: "float32", onnx.TensorProto.DOUBLE: "float64", onnx.TensorProto.STRING: "text"}
_DOMAINS = ("", "ai.onnx", "ai.onnx.ml")


def load(path: str | Path) -> Any:
    """The model in an `.onnx` file."""
    try:
        model = onnx.load(str(path))
    except Exception as error:  # whatever the parser meets in a file that is no model
        raise _broken(path, f"{type(error).__name__} on reading it") from None
    if not model.graph.output:
        raise _broken(path, "one without outputs")
    return model


def _broken(path: str | Path, got: str) -> PredictorError:
    return PredictorError(f"File {Path(path).name!r}", "hold an ONNX model", got, "export it again")


def read(model: Any, inputs: ModelInputs) -> Form:
    """The form of an ONNX model."""
    graph = _graph(model)
    bound = graph.bind(inputs)
    return walk(graph, len(bound)).form(bound)


def score(model: Any, X: Any) -> Numbers:
    """What the graph itself gives for rows as it takes them, in the shape of its form's scores."""
    graph = _graph(model)
    head = walk(graph, X.shape[1])
    feeds = {port.name: _feed(port, X[[port.name]] if len(graph.ports) > 1 else X) for port in graph.ports}
    scores = _run(_ending_in_scores(model, head), feeds).reshape(len(X), -1)
    return scores if head.column is None else scores[:, [head.column]]


def _graph(model: Any) -> Graph:
    """The graph in plain Python values."""
    graph = model.graph
    constants = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    return Graph(
        tuple(_port(entry) for entry in graph.input if entry.name not in constants),
        constants,
        tuple(_node(node) for node in graph.node),
        tuple(entry.name for entry in graph.output),
    )


def _port(entry: Any) -> Port:
    tensor = entry.type.tensor_type
    dims = [dim.dim_value for dim in tensor.shape.dim]
    if tensor.elem_type not in _DTYPES or (dims and len(dims) != 2):
        kind = onnx.TensorProto.DataType.Name(tensor.elem_type)
        raise PredictorError(
            f"Input {entry.name!r} of an ONNX graph", "be a table of float, double or text", f"{len(dims)} dimensions of {kind}",
            "export it with FloatTensorType([None, columns])",
        )  # fmt: skip
    return Port(entry.name, _DTYPES[tensor.elem_type], (dims[1] or None) if dims else None)


def _node(node: Any) -> Node:
    op = node.op_type if node.domain in _DOMAINS else f"{node.domain}.{node.op_type}"
    attributes = {entry.name: _plain(onnx.helper.get_attribute_value(entry)) for entry in node.attribute}
    return Node(op, node.name, tuple(node.input), tuple(node.output), attributes)


def _plain(value: Any) -> Any:
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, list) and value and isinstance(value[0], bytes):
        return [text.decode() for text in value]
    return value


def _feed(port: Port, X: Any) -> Any:
    """A table as the graph's input takes it."""
    if port.dtype == "text":
        return np.asarray(X, dtype=object)
    numbers = X.to_numpy(dtype=np.float64, na_value=np.nan) if hasattr(X, "columns") else np.asarray(dense(X), dtype=np.float64)
    return numbers.astype(port.dtype)


def _ending_in_scores(model: Any, head: Head) -> Any:
    """A copy of the model that ends in its scores, before they are made probabilities."""
    cut = onnx.ModelProto()
    cut.CopyFrom(model)
    last = next((i for i, node in enumerate(cut.graph.node) if head.scores in node.output), -1)
    del cut.graph.node[last + 1 :]
    for attribute in cut.graph.node[last].attribute if last >= 0 else ():
        if attribute.name == "post_transform":
            attribute.s = b"NONE"
    del cut.graph.output[:], cut.graph.value_info[:]  # skl2onnx notes wrong types of doubles
    cut.graph.output.append(onnx.helper.make_empty_tensor_value_info(head.scores))
    return cut


def _run(model: Any, feeds: dict[str, Any]) -> Numbers:
    """The model's one output."""
    with contextlib.suppress(Exception):  # not installed, or older than the model: onnxruntime has errors of many kinds
        return _run_by_onnxruntime(model, feeds)
    try:
        outputs: Any = onnx.reference.ReferenceEvaluator(model).run(None, feeds)
        return np.asarray(outputs[0], dtype=np.float64)
    except Exception as error:
        raise PredictorError(
            "An ONNX model", "run here, to be compared with what was read", f"{type(error).__name__} of the reference evaluator",
            "install onnxruntime, or pass check=False",
        ) from error  # fmt: skip


def _run_by_onnxruntime(model: Any, feeds: dict[str, Any]) -> Numbers:
    runtime: Any = importlib.import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 3  # errors only
    session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, feeds)[0], dtype=np.float64)
