"""ONNX graphs of networks, operator by operator; their inputs; files."""

from __future__ import annotations

import io
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likely.errors import MissingExtraError, PredictorError, UnsupportedModelError
from likely.predictor import Composite, LinearModel, Raw, ReluNetwork, one_hot_of, read
from likely.predictor.reading import random_rows
from likely.schema import Categorical, Continuous, Integer, Schema
from tests.predictor.onnx_graphs import (
    B4,
    LINEAR,
    ONE_ROW,
    SMALL,
    W34,
    W43,
    TensorProto,
    floats,
    graph_of,
    node,
    numpy_helper,
    onnx,
    run,
    runtime,
    same_scores,
    stump,
)

COLUMNS = np.array([0.5, -1.25, 2.0], dtype=np.float32)


@pytest.mark.parametrize(
    ("inputs", "attributes", "constants"),
    [
        (["X", "W", "b"], {}, {"W": W34, "b": B4}),
        (["X", "W", "b"], {"transB": 1}, {"W": W43, "b": B4[None]}),
        (["X", "W", "b"], {"alpha": 2.5, "beta": -0.5, "transB": 1}, {"W": W43, "b": np.float32(3)}),
        (["X", "W"], {"alpha": 0.5}, {"W": W34}),
    ],
)
def test_gemm(inputs, attributes, constants):
    graph = graph_of([node("Gemm", inputs, "y", **attributes)], ["y"], constants)
    assert isinstance(same_scores(graph, link="identity"), LinearModel)


@pytest.mark.parametrize(
    "step",
    [
        ("Add", ["h", "c"]), ("Add", ["c", "h"]), ("Mul", ["h", "c"]), ("Mul", ["c", "h"]), ("Sub", ["h", "c"]),
        ("Sub", ["c", "h"]), ("Div", ["h", "c"]), ("Identity", "h"), ("Flatten", "h"), ("Relu", "h"),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("first", ["columns", "layers"])
def test_steps_on_columns_and_on_layers(step, first):
    op, names = step
    start = node("Identity", "X", "h") if first == "columns" else node("MatMul", ["X", "W33"], "h")
    graph = graph_of(
        [start, node(op, names, "g"), node("MatMul", ["g", "W"], "m"), node("Add", ["m", "b"], "y")],
        ["y"],
        {"c": COLUMNS, "W": W34, "b": B4, "W33": W34[:, :3]},
    )
    assert isinstance(same_scores(graph, link="identity"), ReluNetwork if op == "Relu" else LinearModel)


SMOOTH = {
    "Tanh": {}, "Softplus": {}, "Softsign": {}, "Elu": {"alpha": 0.5}, "Selu": {}, "Celu": {"alpha": 2.0}, "LeakyRelu": {},
    "HardSigmoid": {}, "Gelu": {}, "Sigmoid": {},
}  # fmt: skip


@pytest.mark.parametrize("op", SMOOTH)
def test_activations_between_layers(op):
    nodes = [
        node("MatMul", ["X", "W"], "h"),
        node(op, "h", "a", **SMOOTH[op]),
        node("Gemm", ["a", "V", "c"], "g"),
        node("Clip", ["g", "low", ""], "k"),
        node("PRelu", ["k", "slopes"], "y"),
    ]
    constants = {"W": W34, "V": W43, "c": COLUMNS, "low": np.float32(-1.5), "slopes": COLUMNS}
    graph = graph_of(nodes, ["y"], constants, opset=20)
    assert isinstance(same_scores(graph, link="identity"), ReluNetwork if op in ("LeakyRelu", "HardSigmoid") else Composite)


def test_clip_has_its_ends_where_the_opset_has_them():
    old = graph_of([node("Clip", "X", "y", min=-0.5, max=1.0)], ["y"], opset=10)
    new = graph_of([node("Clip", ["X", "", "high"], "y")], ["y"], {"high": np.float32(0.25)})
    for graph in (old, new):
        same_scores(graph, link="identity")


STEPS = {
    "matmul": lambda x, y: node("MatMul", [x, "W33"], y),
    "gemm": lambda x, y: node("Gemm", [x, "W33", "c"], y, alpha=0.5, transB=1),
    "add": lambda x, y: node("Add", [x, "c"], y),
    "sub": lambda x, y: node("Sub", ["c", x], y),
    "mul": lambda x, y: node("Mul", [x, "c"], y),
    "div": lambda x, y: node("Div", [x, "two"], y),
    "relu": lambda x, y: node("Relu", x, y),
    "tanh": lambda x, y: node("Tanh", x, y),
    "scaler": lambda x, y: node("Scaler", x, y, offset=[1.0, 0.0, -1.0], scale=[0.5, 2.0, 1.0]),
    "norm": lambda x, y: node("BatchNormalization", [x, "c", "c", "c", "positive"], y),
    "cast": lambda x, y: node("Cast", x, y, to=TensorProto.FLOAT),
}


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=7))
def test_steps_in_any_order(steps):
    nodes = [STEPS[step]("X" if i == 0 else f"t{i}", f"t{i + 1}") for i, step in enumerate(steps)]
    constants = {"W33": W34[:, :3], "c": COLUMNS, "two": np.float32(2), "positive": np.abs(COLUMNS)}
    same_scores(graph_of(nodes, [f"t{len(steps)}"], constants), link="identity", tolerance=1e-4)


@pytest.mark.parametrize("shape", [[-1, 3], [0, 3], [0, -1]])
def test_reshape_cast_dropout_and_constants_as_nodes(shape):
    graph = graph_of(
        [
            node("Constant", [], "shape", value_ints=shape),
            node("Constant", [], "scale", value=numpy_helper.from_array(COLUMNS)),
            node("Reshape", ["X", "shape"], "r"),
            node("Dropout", "r", ["d", "mask"]),
            node("Cast", "d", "f", to=TensorProto.FLOAT),
            node("Mul", ["f", "scale"], "s"),
            node("Scaler", "s", "t", offset=[1.0, 2.0, 3.0], scale=[0.5, 2.0, 1.0]),
            node("MatMul", ["t", "W"], "h"),
            node("Cast", "h", "y", to=TensorProto.DOUBLE),
        ],
        ["y"],
        {"W": W34},
    )
    same_scores(graph, link="identity")


@pytest.mark.parametrize("first", [True, False])
def test_batch_normalization(first):
    statistics = {"scale": B4[:3], "bias": B4[1:], "mean": B4[:3] * 2, "var": np.abs(B4[:3]) + 0.1}
    norm = node("BatchNormalization", ["X" if first else "h", *statistics], "n", epsilon=0.01)
    layer = node("MatMul", ["n" if first else "X", "W"], "y" if first else "h")
    order = [norm, layer] if first else [layer, norm]
    graph = graph_of(order, ["y" if first else "n"], {**statistics, "W": W34[:, :3]})
    same_scores(graph, link="identity")


@pytest.mark.parametrize(("op", "axis"), [("Softmax", {}), ("Softmax", {"axis": 1}), ("LogSoftmax", {"axis": -1})])
def test_softmax_keeps_the_logits_and_gives_the_shares(op, axis):
    graph = graph_of([node("MatMul", ["X", "W"], "logits"), node(op, "logits", "p", **axis)], ["logits", "p"], {"W": W34})
    form = same_scores(graph)
    rows = random_rows(SMALL, 100)
    theirs = run(graph, SMALL.decode(rows))[1]
    np.testing.assert_allclose(form.probabilities(rows), np.exp(theirs) if op == "LogSoftmax" else theirs, atol=1e-6)
    assert form.classes == (0, 1, 2, 3)


def test_sigmoid_of_one_logit():
    graph = graph_of([node("MatMul", ["X", "W"], "logit"), node("Sigmoid", "logit", "p")], ["p"], {"W": W34[:, :1]})
    form, rows = read(graph, SMALL), random_rows(SMALL, 100)
    np.testing.assert_allclose(form.probabilities(rows)[:, [1]], run(graph, SMALL.decode(rows))[0], atol=1e-6)
    assert (form.link.kind, form.link.tie, form.classes) == ("logistic", True, (0, 1))
    assert read(graph, SMALL, classes=["no", "yes"]).classes == ("no", "yes")


def test_labels_decide_a_tie():
    """Of p = 0.5, ArgMax says the first class; without labels, it is class 1 as of a torch network."""
    head = [
        node("MatMul", ["X", "W"], "logit"), node("Sigmoid", "logit", "p"), node("Sub", ["one", "p"], "q"),
        node("Concat", ["q", "p"], "both", axis=1), node("ArgMax", "both", "k", axis=1, keepdims=0),
        node("ArrayFeatureExtractor", ["names", "k"], "n"),
    ]  # fmt: skip
    constants = {"W": np.zeros((3, 1), dtype=np.float32), "one": np.float32(1), "names": np.array([7, 9])}
    form, rows = read(graph_of(head, ["n", "both"], constants), SMALL), random_rows(SMALL, 5)
    assert form.classes == (7, 9)
    assert set(form.predict(rows)) == {7} == set(np.ravel(run(graph_of(head, ["n"], constants), SMALL.decode(rows))[0]))
    assert set(read(graph_of(head[:2], ["p"], constants), SMALL).predict(rows)) == {1}


def test_argmax_of_logits():
    graph = graph_of([node("MatMul", ["X", "W"], "y"), node("ArgMax", "y", "k", axis=-1)], ["y", "k"], {"W": W34})
    form, rows = same_scores(graph), random_rows(SMALL, 100)
    assert (form.predict(rows) == run(graph, SMALL.decode(rows))[1].ravel()).all()


def test_the_number_of_columns_may_be_left_open():
    open_width = (("X", TensorProto.FLOAT, [None, None]),)
    same_scores(graph_of([node("MatMul", ["X", "W"], "y")], ["y"], {"W": W34}, open_width), link="identity")
    no_shape = (("X", TensorProto.FLOAT, None),)
    same_scores(graph_of([node("MatMul", ["X", "W"], "y")], ["y"], {"W": W34}, no_shape), link="identity")


@pytest.mark.parametrize("post", ["NONE", "LOGISTIC", "SOFTMAX"])
def test_linear_classifier_of_two_scores(post):
    graph = graph_of([node("LinearClassifier", "X", ["k", "p"], post_transform=post, **LINEAR)], ["k", "p"])
    form, rows = read(graph, SMALL), random_rows(SMALL, 200)
    labels, theirs = run(graph, SMALL.decode(rows))
    assert (form.predict(rows) == labels).all()
    if post == "SOFTMAX":
        np.testing.assert_allclose(form.probabilities(rows), theirs, atol=1e-6)
    if post == "LOGISTIC":
        np.testing.assert_allclose(form.probabilities(rows), theirs / theirs.sum(axis=1, keepdims=True), atol=1e-6)
    if post == "NONE":
        np.testing.assert_allclose(form.score(rows), theirs, atol=1e-5)


@pytest.mark.parametrize("post", ["NONE", "LOGISTIC"])
def test_linear_classifier_of_one_score(post):
    graph = graph_of([node("LinearClassifier", "X", ["k", "p"], post_transform=post, **ONE_ROW)], ["k", "p"])
    form, rows = read(graph, SMALL), random_rows(SMALL, 200)
    labels, theirs = run(graph, SMALL.decode(rows))
    assert (form.predict(rows) == labels).all()
    ours = form.probabilities(rows)[:, 1] if post == "LOGISTIC" else form.score(rows)[:, 0]
    np.testing.assert_allclose(ours, theirs[:, 1], atol=1e-5)


def test_a_network_from_torch():
    torch = pytest.importorskip("torch")
    nn = torch.nn
    torch.manual_seed(0)
    layers = [
        nn.Linear(3, 4),
        nn.BatchNorm1d(4),
        nn.ReLU(),
        nn.Dropout(),
        nn.Flatten(),
        nn.Linear(4, 4),
        nn.BatchNorm1d(4),
        nn.ReLU(),
    ]
    network = nn.Sequential(*layers, nn.Linear(4, 1), nn.Sigmoid()).eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        target = io.BytesIO()
        torch.onnx.export(
            network, (torch.zeros(1, 3),), target, dynamo=False, dynamic_axes={"input.1": {0: "n"}}, input_names=["input.1"]
        )
    form = read(onnx.load_from_string(target.getvalue()), SMALL)
    rows = random_rows(SMALL, 200)
    np.testing.assert_allclose(form.score(rows), read(network, SMALL).score(rows), rtol=1e-5, atol=1e-6)
    assert form.link == read(network, SMALL).link


def test_a_file_is_read(tmp_path):
    graph = graph_of([node("LinearClassifier", "X", ["k", "p"], **ONE_ROW)], ["k", "p"])
    onnx.save(graph, tmp_path / "model.onnx")
    assert read(tmp_path / "model.onnx", SMALL) == read(graph, SMALL)
    assert read(str(tmp_path / "model.onnx"), SMALL).classes == ("no", "yes")


@pytest.mark.parametrize(("content", "got"), [(b"no model", "DecodeError on reading it"), (b"", "one without outputs")])
def test_a_broken_file_is_refused(tmp_path, content, got):
    path = tmp_path / "broken.onnx"
    path.write_bytes(content)
    with pytest.raises(PredictorError) as caught:
        read(path, SMALL)
    assert str(caught.value) == f"File 'broken.onnx' must hold an ONNX model; got {got}. Hint: export it again."


def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch):
    (tmp_path / "model.onnx").write_bytes(b"")
    for name in [name for name in sys.modules if name.startswith("likely.predictor.onnx")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtraError, match=r"Package 'onnx' must be installed to read ONNX models;.*likely\[onnx\]"):
        read(tmp_path / "model.onnx", SMALL)


def test_a_graph_that_nothing_can_run_is_refused_unless_unchecked(monkeypatch):
    """The reference evaluator does not know doubles of trees."""
    nodes = stump(**floats("nodes_values", [0.1, 0, 0], True))
    del nodes["nodes_values"]
    tree = node(
        "TreeEnsembleRegressor", "X", "y", n_targets=1, target_treeids=[0, 0], target_nodeids=[1, 2], target_ids=[0, 0],
        **floats("target_weights", [1, 2], True), **nodes,
    )  # fmt: skip
    graph = graph_of([tree], ["y"], inputs=(("X", TensorProto.DOUBLE, [None, 3]),))
    read(graph, SMALL)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(
        PredictorError, match=r"An ONNX model must run here, to be compared with what was read; got TypeError of the reference"
    ):
        read(graph, SMALL)
    assert read(graph, SMALL, check=False).outputs == 1


def test_a_session_is_refused():
    graph = graph_of([node("MatMul", ["X", "W"], "y")], ["y"], {"W": W34})
    with pytest.raises(UnsupportedModelError, match="must be of a class that likely can read; got onnxruntime"):
        read(runtime.InferenceSession(graph.SerializeToString()), SMALL)


def test_text_is_refused_where_the_graph_reads_numbers():
    graph = graph_of([node("MatMul", ["X", "W"], "y")], ["y"], {"W": W34})
    schema = Schema((Continuous("a", 0, 1), Continuous("b", 0, 1), Categorical("job", ("clerk", "pilot"))))
    with pytest.raises(PredictorError, match="Feature 'job' must be numbers where ModelProto reads it; got 'clerk'"):
        read(graph, schema)


TEXT = (("a", TensorProto.FLOAT, [None, 1]), ("job", TensorProto.STRING, [None, 1]))


def by_name(zeros=0, inputs=TEXT):
    encode = node("OneHotEncoder", "job", "o", cats_strings=["clerk", "pilot"], zeros=zeros)
    last = [node("Reshape", ["o", "shape"], "r"), node("Concat", ["a", "r"], "h", axis=-1), node("MatMul", ["h", "W"], "y")]
    return graph_of([encode, *last], ["y"], {"W": W34, "shape": np.array([-1, 2])}, inputs)


def jobs(*values):
    return Schema((Categorical("job", values), Integer("a", 0, 9)))


def test_text_columns_are_encoded():
    same_scores(by_name(), jobs("pilot", "clerk"), link="identity")
    same_scores(by_name(zeros=1), jobs("pilot", "clerk", "nurse"), link="identity")


def test_names_and_text_that_do_not_fit_are_refused():
    with pytest.raises(
        PredictorError,
        match=r"Feature 'job' must have only texts that OneHotEncoder knows; got 'nurse'. Hint: it knows \['clerk'",
    ):
        read(by_name(), jobs("pilot", "nurse"))
    with pytest.raises(PredictorError, match="Feature 'job' must have only texts that OneHotEncoder knows; got 3"):
        read(by_name(zeros=1), jobs("pilot", 3))
    with pytest.raises(PredictorError, match="The schema of a ModelProto must have the column 'a'"):
        read(by_name(), Schema((Categorical("job", ("clerk", "pilot")),)))
    with pytest.raises(
        PredictorError, match="An ONNX graph with an input per feature must be read without encoder=; got inputs a, job"
    ):
        read(by_name(), jobs("clerk", "pilot"), encoder=[Raw("a"), *one_hot_of(jobs("clerk", "pilot"), "job")])
    two = (TEXT[1], ("a", TensorProto.FLOAT, [None, 2]))
    with pytest.raises(PredictorError, match="Input 'a' of an ONNX graph with several inputs must be one column; got 2"):
        read(by_name(inputs=two), jobs("clerk", "pilot"))


def test_another_number_of_inputs_is_refused():
    graph = graph_of([node("MatMul", ["X", "W"], "y")], ["y"], {"W": W34})
    with pytest.raises(PredictorError, match="A ModelProto must be given the 3 inputs it was trained on; got 2 from the schema"):
        read(graph, Schema(SMALL.features[:2]))
    with pytest.raises(PredictorError, match="A ModelProto must be given the 3 inputs it was trained on; got 1"):
        read(graph, SMALL, encoder=[Raw("a")])
