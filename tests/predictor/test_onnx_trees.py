"""Tree ensembles of ONNX: every mode of comparison, missing values, and how two or more classes are decided."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likely.predictor import TreeEnsemble, read
from likely.predictor.reading import random_rows
from likely.schema import Continuous, Mixed, Schema
from tests.predictor.onnx_graphs import SMALL, TensorProto, classifier, floats, graph_of, node, run, stump

MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
VALUES = [-1, 0, 0.3, 1.7]
MISSING = Schema((Continuous("a", -2, 2), Mixed("b", -2, 2, codes=(None,)), Mixed("c", -3, 3, codes=(None,), integer=True)))


def random_forest(random, trees, double):
    """Nodes of random trees on three inputs, in all modes, with splits at few values so that equality happens."""
    attributes = {key: [] for key in (*stump(), "nodes_missing_value_tracks_true")}
    leaves = []

    def grow(tree, numbers, depth):
        number, place = next(numbers), len(attributes["nodes_treeids"])
        leaf = depth == 0 or random.random() < 0.2
        mode, value = "LEAF" if leaf else str(random.choice(MODES)), float(random.choice(VALUES))
        row = [tree, number, int(random.integers(3)), mode, value, 0, 0, int(random.integers(2))]
        for key, entry in zip(attributes, row, strict=True):
            attributes[key].append(entry)
        if leaf:
            leaves.append((tree, number))
        else:
            attributes["nodes_truenodeids"][place] = grow(tree, numbers, depth - 1)
            attributes["nodes_falsenodeids"][place] = grow(tree, numbers, depth - 1)
        return number

    for tree in range(trees):
        grow(tree + 10, itertools.count(), 4)
    values, weights = attributes.pop("nodes_values"), random.normal(size=len(leaves))
    return {**attributes, **floats("nodes_values", values, double), **floats("target_weights", weights, double)}, leaves


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.booleans(), st.booleans(), st.booleans())
def test_random_trees_in_all_modes(seed, trees, double, average, base):
    random = np.random.default_rng(seed)
    attributes, leaves = random_forest(random, trees, double)
    attributes |= {
        "target_treeids": [t for t, _ in leaves],
        "target_nodeids": [n for _, n in leaves],
        "target_ids": [0] * len(leaves),
    }
    attributes |= {"n_targets": 1, "aggregate_function": "AVERAGE" if average else "SUM"}
    attributes |= floats("base_values", [0.75], double) if base else {}
    kind = TensorProto.DOUBLE if double else TensorProto.FLOAT
    graph = graph_of([node("TreeEnsembleRegressor", "X", "y", **attributes)], ["y"], inputs=(("X", kind, [None, 3]),))
    form = read(graph, MISSING)
    rows = random_rows(MISSING, 300, random_state=seed)
    exact = np.float64 if double else np.float32
    for value in VALUES:
        at = random.integers(300, size=60), random.integers(2, size=60)
        rows[at] = random.choice(
            [exact(value), np.nextafter(exact(value), exact(3)), np.nextafter(exact(value), exact(-3)), value], size=60
        )
    np.testing.assert_allclose(form.score(rows), run(graph, MISSING.decode(rows))[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("tree", "kind"),
    [
        (classifier([[0.2], [0.9]], [0], [3, 7]), "shares"),
        (classifier([[0.2], [0.6]], [0], [3, 7], base_values=[0.1]), "shares"),
        (classifier([[-0.2], [0.9]], [0], [3, 7]), "sign"),
        (classifier([[-0.2], [0.9]], [0], [3, 7], base_values=[-0.5]), "sign"),
        (classifier([[-0.2], [0.9]], [0], [3, 7], "LOGISTIC", base_values=[0.1]), "logistic"),
        (classifier([[0.2, 0.8, 0], [0.6, 0.3, 0.1]], [0, 1, 2], [3, 7, 9]), "shares"),
        (classifier([[0.2, 0.8, 0], [0.6, 0.3, 0.2]], [0, 1, 2], [3, 7, 9]), "argmax"),
        (classifier([[-0.2, 0.8, 0.4], [0.6, 0.3, 0.1]], [0, 1, 2], [3, 7, 9], base_values=[0.5, 0.0, 0.1]), "argmax"),
        (classifier([[0.2, 0.8, -1], [0.6, 0.4, 2]], [0, 1, 2], [3, 7, 9], "SOFTMAX", base_values=[0.1, 0.3, 0.0]), "softmax"),
        (classifier([[0.2, 0.8, -1], [0.6, 0.4, 2]], [0, 1, 2], [3, 7, 9], "LOGISTIC"), "logistic_shares"),
    ],
)
def test_tree_classifiers_decide_as_onnxruntime(tree, kind):
    graph = graph_of([tree], ["k", "p"])
    form, rows = read(graph, SMALL), random_rows(SMALL, 100)
    labels, theirs = run(graph, SMALL.decode(rows))
    assert isinstance(form, TreeEnsemble)
    assert form.link.kind == kind
    assert (form.predict(rows) == labels).all()
    if kind == "logistic_shares":
        theirs = theirs / theirs.sum(axis=1, keepdims=True)
    ours = {"sign": lambda: form.score(rows), "argmax": lambda: form.score(rows)}.get(kind, lambda: form.probabilities(rows))()
    np.testing.assert_allclose(ours, theirs[:, 1:] if kind == "sign" else theirs, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float64", "Int64", "object"])
def test_missing_values_of_every_dtype(dtype):
    schema = Schema((Mixed("a", -3, 3, codes=(None,), integer=True, dtype=dtype),))
    tree = classifier([[0.2], [0.9]], [0], [3, 7], nodes=stump(value=1.0, nodes_missing_value_tracks_true=[1, 0, 0]))
    form = read(graph_of([tree], ["k", "p"], inputs=(("X", TensorProto.FLOAT, [None, 1]),)), schema)
    assert form.predict(np.array([[schema["a"].atom_number(0)], [1.0], [2.0]])).tolist() == [3, 3, 7]
