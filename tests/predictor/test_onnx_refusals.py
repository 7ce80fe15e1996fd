"""What is refused of ONNX graphs, and by which name."""

from __future__ import annotations

import numpy as np
import pytest

from likely.errors import PredictorError
from likely.predictor import read
from tests.predictor.onnx_graphs import LINEAR, ONE_ROW, SMALL, W34, TensorProto, classifier, graph_of, helper, node, stump

LOGIT, P = node("MatMul", ["X", "W"], "y"), node("Sigmoid", "y", "p")
NET = {"W": W34[:, :1], "c": np.float32(2), "one": np.float32(1), "W4": W34, "zero": np.float32(0), "i": np.array([0])}


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([LOGIT, node("Exp", "y", "z")], r"Node 'Exp_z' \(Exp\) must be of an operator that likely can read; got Exp. Hint:"),
        ([LOGIT, helper.make_node("Gelu", ["y"], ["z"], domain="com.microsoft")], r"Node 'z' \(com.microsoft.Gelu\) must be"),
        ([LOGIT, P, node("MatMul", ["p", "W"], "z")], r"Node 'MatMul_z' \(MatMul\) must have weights for 1 inputs"),
        ([node("LayerNormalization", ["X", "c"], "z")], r"\(LayerNormalization\) must be .*Hint: it divides each row by its own"),
        ([LOGIT, P, node("Mul", ["p", "c"], "z")], r"\(Mul\) must read columns or layers; got scores or probabilities"),
        ([LOGIT, P, node("Sub", ["c", "p"], "z")], r"\(Sub\) must be 1 minus a probability; got a constant minus scores or prob"),
        ([node("MatMul", ["c", "X"], "z")], r"\(MatMul\) must read columns or layers; got a constant"),
        ([LOGIT, node("Mul", ["y", "y"], "z")], r"\(Mul\) must have constants but for its first input; got layers"),
        ([node("Div", ["c", "X"], "z")], r"\(Div\) must read columns or layers; got a constant"),
        ([node("Div", ["X", "zero"], "z")], r"\(Div\) must not divide by zero; got a constant 0"),
        ([LOGIT, node("MatMul", ["y", "W"], "z")], r"\(MatMul\) must have weights for 1 inputs; got shape \(3, 1\)"),
        ([node("Add", ["X", "W4"], "z")], r"\(Add\) must have one constant, or one for each of 3 columns; got \(3, 4\)"),
        ([node("Gemm", ["X", "W"], "z", transA=1)], r"\(Gemm\) must read a row of the table in each row; got transA=1"),
        ([LOGIT, node("Softmax", "y", "z")], r"\(Softmax\) must have at least two classes; got one"),
        ([node("Softmax", "X", "z", axis=0)], r"\(Softmax\) must work along the columns; got axis=0. Hint: use axis=1"),
        ([node("Flatten", "X", "z", axis=0)], r"\(Flatten\) must work along the columns; got axis=0"),
        ([node("Reshape", ["X", "i"], "z")], r"\(Reshape\) must keep a row of 3 columns; got shape \[0\]"),
        ([node("Reshape", ["W", "i"], "z")], r"\(Reshape\) must read columns, layers or labels; got a constant"),
        ([node("Cast", "X", "z", to=7)], r"\(Cast\) must cast numbers to float or double, .*; got columns to type 7"),
        ([node("Dropout", ["X", "", "one"], "z")], r"\(Dropout\) must be switched off; got training_mode"),
        ([node("BatchNormalization", ["X"] + ["c"] * 4, "z", training_mode=1)], r"must use the statistics of the training"),
        ([LOGIT, P, node("Concat", ["p", "p"], "z", axis=1)], r"\(Concat\) must read columns of the table; got scores or prob"),
        ([LOGIT, P, node("ArgMax", "p", "z", axis=1)], r"\(ArgMax\) must read the scores or probabilities of all classes"),
        ([node("ArgMax", "X", "z", axis=1, select_last_index=1)], r"must choose the first of equal classes; got sel"),
        ([node("ArrayFeatureExtractor", ["W", "X"], "z")], r"must read the number of a class; got columns"),
        ([node("Softmax", "X", "p"), node("ArrayFeatureExtractor", ["p", "i"], "z")], r"must take the score of class 1 of two"),
        ([node("OneHotEncoder", "X", "z", cats_int64s=[1, 2])], r"\(OneHotEncoder\) must encode text; got cats_int64s"),
        ([node("Softmax", "X", "p"), node("Normalizer", "p", "z", norm="L2")], r"must make probabilities sum to 1; got norm L2"),
        (
            [node("LinearClassifier", "X", ["k", "p"], **LINEAR), node("Normalizer", "p", "z", norm="L1")],
            r"must make probabilities sum to 1; got norm L1 of scores",
        ),
        (
            [node("LinearClassifier", "X", ["k", "z"], post_transform="PROBIT", **LINEAR)],
            r"\(LinearClassifier\) must have post_transform NONE, LOGISTIC, or of a score per class SOFTMAX; got PROBIT",
        ),
        ([node("LinearClassifier", "X", ["k", "z"], post_transform="SOFTMAX", **ONE_ROW)], "got SOFTMAX of 1 scores"),
        (
            [node("LinearClassifier", "X", ["k", "z"], **{**LINEAR, "intercepts": [1.0, 2.0, 3.0]})],
            r"must have an intercept per output, and for each 3 coefficients; got 3 and 6",
        ),
        (
            [node("LinearRegressor", "X", "z", coefficients=[1.0] * 6, intercepts=[0.0, 0.0], targets=2)],
            r"\(LinearRegressor\) must predict one number, as it is; got 2 targets, post_transform NONE",
        ),
        ([node("Add", ["X", "nowhere"], "z")], r"\(Add\) must read only what earlier nodes compute; got 'nowhere'"),
        ([LOGIT, node("MatMul", ["X", "W4"], "z")], "An ONNX graph must have .* of one model as its outputs; got y, z"),
        ([LOGIT, P, node("Sub", ["one", "p"], "z")], "of one model as its outputs; got z"),
        ([node("Identity", "W", "z")], "must have the scores, probabilities and labels of one model as its outputs; got z"),
    ],
)  # fmt: skip
def test_refusals(nodes, message):
    outputs = ["y", "z"] if nodes[0] is LOGIT and message.endswith("y, z") else ["z"]
    with pytest.raises(PredictorError, match=message):
        read(graph_of(nodes, outputs, NET), SMALL)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([LOGIT, node("TreeEnsembleRegressor", "y", "z", **stump())], r"must read columns of the table; got layers"),
        (
            [classifier([[1], [2]], [0], [0, 1], nodes=stump("BRANCH_MEMBER"))],
            r"must compare by a known mode; got BRANCH_MEMBER",
        ),
        (
            [classifier([[1], [2]], [0], [0, 1], nodes=stump(nodes_truenodeids=[5, 0, 0]))],
            "must lead only to nodes that exist; got node 5 of",
        ),
        ([classifier([[1], [2]], [0], [0, 1], "PROBIT")], r"must have post_transform NONE, LOGISTIC or SOFTMAX; got PROBIT"),
        (
            [classifier([[1], [2]], [1], [0, 1])],
            r"must give two classes one score: .*; got weights of classes \[1\], 0 base values, NONE",
        ),
        (
            [classifier([[1, 0], [0, 1]], [0, 1], [0, 1])],
            r"got weights of classes \[0, 1\], 0 base values, NONE. Hint: export it with sk",
        ),
        ([classifier([[1], [2]], [0], [0, 1], base_values=[1.0, 2.0])], r"got weights of classes \[0\], 2 base values"),
        (
            [classifier([[1], [2]], [0], [0, 1], "LOGISTIC")],
            "must have a negative weight under post_transform LOGISTIC; got none",
        ),
        (
            [classifier([[1, 2, 3]] * 2, [0, 1, 2], [0, 1, 2], base_values=[1.0])],
            "must have no base value, or one for each of 3 classes; got 1",
        ),
        ([node("TreeEnsembleRegressor", "X", "z", n_targets=2, **stump())], "must predict one number, as it is; got 2 targets"),
        (
            [node("TreeEnsembleRegressor", "X", "z", aggregate_function="MIN", **stump())],
            r"Node 'TreeEnsembleRegressor_z' \(TreeEnsembleRegressor\) must have aggregate_function SUM or AVERAGE; got MIN",
        ),
    ],
)
def test_refusals_of_trees(nodes, message):
    with pytest.raises(PredictorError, match=message):
        read(graph_of(nodes, [nodes[-1].output[-1]], NET), SMALL)


@pytest.mark.parametrize(
    ("entry", "got"),
    [
        (("X", TensorProto.INT64, [None, 3]), "2 dimensions of INT64"),
        (("X", TensorProto.FLOAT, [None, 3, 3]), "3 dimensions of FLOAT"),
    ],
)
def test_inputs_of_another_kind_are_refused(entry, got):
    with pytest.raises(PredictorError, match=f"Input 'X' of an ONNX graph must be a table of float, double or text; got {got}"):
        read(graph_of([LOGIT], ["y"], NET, (entry,)), SMALL)


def test_constants_that_are_not_numbers_are_refused():
    with pytest.raises(PredictorError, match=r"\(Add\) must have finite constants; got NaN or infinity"):
        read(graph_of([node("Add", ["X", "c"], "y")], ["y"], {"c": np.float32("nan")}), SMALL)
    with pytest.raises(PredictorError, match="A layer must have finite weights; got NaN or infinity"):
        read(graph_of([LOGIT], ["y"], {"W": np.full((3, 1), np.nan, dtype=np.float32)}), SMALL)
