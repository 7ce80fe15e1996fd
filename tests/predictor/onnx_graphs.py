"""Small ONNX graphs for tests, and onnxruntime to run them."""

from __future__ import annotations

import numpy as np
import pytest

from likely.predictor import read
from likely.predictor.reading import feed, random_rows
from likely.schema import Continuous, Integer, Schema

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

SMALL = Schema((Continuous("a", -2, 2), Continuous("b", -2, 2), Integer("c", -3, 3)))
ML = {
    "ArrayFeatureExtractor", "FeatureVectorizer", "LinearClassifier", "LinearRegressor", "Normalizer", "OneHotEncoder", "Scaler",
    "TreeEnsembleClassifier", "TreeEnsembleRegressor", "ZipMap",
}  # fmt: skip
RANDOM = np.random.default_rng(0)
W34, W43, B4 = (RANDOM.normal(size=shape).astype(np.float32) for shape in ((3, 4), (4, 3), 4))
LINEAR = {"coefficients": [1.0, 2.0, -1.0, 0.5, -0.5, 0.25], "intercepts": [0.1, -0.2], "classlabels_ints": [3, 4]}
ONE_ROW = {"coefficients": [1.0, 2.0, -1.0], "intercepts": [0.1], "classlabels_strings": ["no", "yes"]}


def run(model, table, outputs=None):
    """What onnxruntime makes of a table, one array per output."""
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    dtypes = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(string)": object}
    ports = session.get_inputs()
    if len(ports) == 1:
        feeds = {ports[0].name: np.asarray(table, dtype=np.float64).astype(dtypes[ports[0].type])}
    else:
        feeds = {port.name: table[[port.name]].to_numpy().astype(dtypes[port.type]) for port in ports}
    return session.run(outputs, feeds)


def graph_of(nodes, outputs, constants=None, inputs=(("X", TensorProto.FLOAT, [None, 3]),), opset=17):
    """A model of nodes; outputs by name, constants as arrays."""
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info(*entry) for entry in inputs],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in (constants or {}).items()],
    )
    versions = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=versions, ir_version=8)


def node(op, inputs, outputs, **attributes):
    domain = "ai.onnx.ml" if op in ML else ""
    inputs, outputs = ([text] if isinstance(text, str) else text for text in (inputs, outputs))
    return helper.make_node(op, inputs, outputs, name=f"{op}_{outputs[0]}", domain=domain, **attributes)


def same_scores(model, schema=SMALL, output=0, tolerance=1e-5, **options):
    """Read a model and compare its form with one of its outputs; returns the form."""
    form = read(model, schema, **options)
    rows = random_rows(schema, 200, random_state=5)
    theirs = np.asarray(run(model, feed(schema, rows, options.get("encoder")))[output], dtype=float).reshape(len(rows), -1)
    np.testing.assert_allclose(form.score(rows), theirs, rtol=tolerance, atol=tolerance)
    return form


def floats(name, values, double):
    """An attribute of numbers: a list of float32, or a tensor of doubles."""
    if double:
        return {f"{name}_as_tensor": numpy_helper.from_array(np.asarray(values, dtype=np.float64))}
    return {name: [float(value) for value in values]}


def stump(mode="BRANCH_LEQ", value=0.0, **changes):
    """The nodes of one split."""
    nodes = {"nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0, 0, 0]}
    nodes |= {"nodes_modes": [mode, "LEAF", "LEAF"], "nodes_values": [value, 0.0, 0.0]}
    return {**nodes, "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0], **changes}


def classifier(weights, ids, labels, post="NONE", nodes=None, **more):
    """A tree of one split: weights of the true and the false leaf, for each of the classes in ids."""
    count = len(ids)
    return node(
        "TreeEnsembleClassifier", "X", ["k", "p"], post_transform=post, classlabels_int64s=labels, **(nodes or stump()),
        class_treeids=[0] * 2 * count, class_nodeids=[1] * count + [2] * count, class_ids=[*ids, *ids],
        class_weights=[float(w) for leaf in weights for w in leaf], **more,
    )  # fmt: skip
