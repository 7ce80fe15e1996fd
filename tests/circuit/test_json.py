"""Files: a circuit comes back to the last bit, through JSON, a file and pickle; data that is none is refused."""

from __future__ import annotations

import copy
import json
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.circuit import Bernoulli, Circuit, Coded, Histogram, Parametric, Product, Sum, log_likelihood
from likely.errors import CircuitError, SchemaError
from likely.schema import Binary, Continuous, Mixed
from tests import strategies


def bits(numbers: Any) -> bytes:
    return np.asarray(numbers, dtype=np.float64).tobytes()


def assert_same(again: Circuit, circuit: Circuit, rows: np.ndarray) -> None:
    """Equal, down to the types and the bits of every number; and so are the likelihoods."""
    assert again == circuit
    assert repr(again.nodes) == repr(circuit.nodes)
    assert repr(again.variables) == repr(circuit.variables)
    assert bits(again.floor) == bits(circuit.floor)
    assert bits(log_likelihood(again, rows)) == bits(log_likelihood(circuit, rows))


@given(st.data())
def test_json_is_bit_exact(data: st.DataObject) -> None:
    circuit = data.draw(strategies.circuits(aligned=False))
    rows = data.draw(strategies.circuit_rows(circuit))
    text = circuit.to_json()
    assert_same(Circuit.from_json(text), circuit, rows)
    assert Circuit.from_json(text).to_json() == text
    assert_same(Circuit.from_dict(circuit.to_dict()), circuit, rows)


@given(st.data())
def test_pickles_and_copies_are_bit_exact(data: st.DataObject) -> None:
    circuit = data.draw(strategies.circuits(aligned=False))
    rows = data.draw(strategies.circuit_rows(circuit))
    log_likelihood(circuit, rows)  # what was compiled is not part of the value
    for again in (pickle.loads(pickle.dumps(circuit)), copy.deepcopy(circuit), copy.copy(circuit)):
        assert_same(again, circuit, rows)


def awkward() -> Circuit:
    """Numbers that a format would round: the smallest, the largest, those without a short decimal."""
    x, m = Continuous("né", -1e300, 1e300), Mixed("m", 0, 1, {-1: 'no "record"', None: "日本"}, dtype="float64")
    nodes = (
        Histogram(0, (-1e300, -5e-324, 0.1 + 0.2, 1e300), (5e-324, 1 / 3, 2.2250738585072014e-308)),
        Coded(1, (0.1 + 0.2, 1 / 3), Parametric(1, "gaussian", math.pi, math.e)),
        Bernoulli(2, 1 - 2**-53),
        Product((0, 1, 2)),
        Sum((3, 3), (1 / 3, 2 / 3)),
    )
    return Circuit((x, m), nodes, Binary("y"), 5e-324)


def test_files(tmp_path: Path) -> None:
    circuit, path = awkward(), tmp_path / "circuit.json"
    circuit.save(path)
    rows = np.array([[0.1, 0.5, 1.0], [0.1 + 0.2, -(2.0**1000), 0.0], [np.nan, 0.25, np.nan]])
    assert_same(Circuit.load(path), circuit, rows)
    assert_same(Circuit.load(str(path)), circuit, rows)
    assert json.loads(path.read_text(encoding="utf-8"))["version"] == 1
    assert "日本" in path.read_text(encoding="utf-8")


def changed(**changes: Any) -> dict[str, Any]:
    data = awkward().to_dict()
    data.update(changes)
    return {key: value for key, value in data.items() if value is not ...}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            [], "A circuit's data must have features, floor, nodes, target, version; got list. Hint: use circuit.to_json().",
        ),
        (
            changed(floor=...),
            "A circuit's data must have features, floor, nodes, target, version; "
            "got ['features', 'nodes', 'target', 'version']. Hint: use circuit.to_json().",
        ),
        (
            changed(more=1),
            "A circuit's data must have features, floor, nodes, target, version; "
            "got ['features', 'floor', 'more', 'nodes', 'target', 'version']. Hint: use circuit.to_json().",
        ),
        (
            changed(version=2),
            "The version of a circuit must be 1; got 2. Hint: write it with this version of likely.",
        ),
        (changed(nodes={}), "The nodes of a circuit must be a list; got dict. Hint: use circuit.to_json()."),
        (changed(features="x"), "The features of a circuit must be a list; got str. Hint: use circuit.to_json()."),
        (changed(nodes=[]), "A circuit must have nodes; got none. Hint: learn one with likely.circuit.learn(X, y, schema)."),
        (changed(floor=[]), "The floor of a circuit must be a number of at least 0; got []. Hint: leave it out."),
        (
            changed(nodes=[1]),
            "The kind of a node must be one of sum, product, histogram, categories, bernoulli, parametric, coded, block; "
            "got int. Hint: use circuit.to_json().",
        ),
    ],
)  # fmt: skip
def test_data_that_is_no_circuit(data: Any, message: str) -> None:
    with pytest.raises(CircuitError) as caught:
        Circuit.from_dict(data)
    assert str(caught.value) == message


def test_features_that_are_none() -> None:
    with pytest.raises(SchemaError):
        Circuit.from_dict(changed(features=[{"name": "x"}]))
    with pytest.raises(SchemaError):
        Circuit.from_dict(changed(target={"name": "y", "kind": "mystery"}))


@pytest.mark.parametrize("text", ["", "{", "[1,]"])
def test_text_that_is_no_json(text: str) -> None:
    with pytest.raises(CircuitError, match=r"^A circuit's text must be JSON; got .*\. Hint: use circuit\.to_json\(\)\.$"):
        Circuit.from_json(text)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_numbers_in_a_text_are_finite(number: str) -> None:
    text = awkward().to_json().replace(repr(1 / 3), number)
    assert number in text
    with pytest.raises(CircuitError, match=r"must be finite; got (nan|inf)\."):
        Circuit.from_json(text)


def test_no_code_is_run_by_reading() -> None:
    """What is written is plain data: text, numbers, lists and mappings."""

    def plain(value: Any) -> bool:
        if isinstance(value, dict):
            return all(isinstance(key, str) and plain(item) for key, item in value.items())
        if isinstance(value, list):
            return all(plain(item) for item in value)
        return value is None or type(value) in (str, int, float, bool)

    assert plain(awkward().to_dict())
