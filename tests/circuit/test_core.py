"""The compiled circuit: expected counts against induced trees, and what it refuses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely import _core
from likely.circuit import Circuit, Sum, log_likelihood
from tests import strategies
from tests.circuit.queries.test_evaluate import FLOORED, FLOORLESS, MIXTURE_ROWS, mixture, wide
from tests.oracles import circuits as oracle

MOST_TREES = 400

# -- expected counts --------------------------------------------------------------------------------------------------


@given(st.data())
def test_expected_counts_are_posteriors_of_induced_trees(data: st.DataObject) -> None:
    drawn = strategies.circuits(aligned=False, depth=2).filter(lambda circuit: oracle.tree_count(circuit) <= MOST_TREES)
    circuit = data.draw(drawn)
    rows = data.draw(strategies.circuit_rows(circuit))
    weights = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=len(rows), max_size=len(rows))))
    logs, edges, leaves = circuit.core.expect(rows, weights)
    np.testing.assert_allclose(logs, oracle.log_likelihoods(circuit, rows), rtol=1e-9, atol=1e-9)
    expected_edges, expected_leaves = oracle.expected_counts(circuit, rows, weights)
    np.testing.assert_allclose(edges, expected_edges, atol=1e-9)
    np.testing.assert_allclose(leaves, expected_leaves, atol=1e-9)


@pytest.mark.parametrize("floor", [FLOORED, FLOORLESS])
@pytest.mark.parametrize("count", [1, 17, 31, 32, 33, 100])
def test_expected_counts_of_every_remainder(floor: float, count: int) -> None:
    circuit = mixture(floor)
    rows, weights = np.resize(MIXTURE_ROWS, (count, 3)), 0.25 + np.arange(count) % 5
    logs, edges, leaves = circuit.core.expect(rows, weights)
    np.testing.assert_allclose(logs, oracle.log_likelihoods(circuit, rows), rtol=1e-9)
    expected_edges, expected_leaves = oracle.expected_counts(circuit, rows, weights)
    np.testing.assert_allclose(edges, expected_edges, atol=1e-9)
    np.testing.assert_allclose(leaves, expected_leaves, atol=1e-9)


@pytest.mark.parametrize("floor", [2.0**-52, 0.0])
def test_expected_counts_far_below_the_smallest_double(floor: float) -> None:
    circuit = wide(200, floor)
    rows = np.random.default_rng(5).uniform(0, 4, size=(5, 200))
    rows[1, ::2] = np.nan
    rows[2] = 1e9
    logs, edges, leaves = circuit.core.expect(rows, np.ones(5))
    np.testing.assert_allclose(logs, oracle.log_likelihoods(circuit, rows), rtol=1e-12)
    expected_edges, expected_leaves = oracle.expected_counts(circuit, rows, np.ones(5))
    np.testing.assert_allclose(edges, expected_edges, atol=1e-9)
    np.testing.assert_allclose(leaves, expected_leaves, atol=1e-9)


@pytest.mark.parametrize("threads", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("count", [0, 1, 300, 5000])
def test_expected_counts_are_the_same_bits_on_any_number_of_threads(threads: int, count: int) -> None:
    random = np.random.default_rng(6)
    rows = MIXTURE_ROWS[random.integers(0, len(MIXTURE_ROWS), count)].reshape(count, 3)
    rows[:, 0] += random.normal(size=count)
    weights = random.random(count)
    core = mixture(FLOORED).core
    for counts, expected in zip(core.expect(rows, weights, threads), core.expect(rows, weights, 1), strict=True):
        assert counts.tobytes() == expected.tobytes()


@given(st.data())
def test_every_row_is_counted_once(data: st.DataObject) -> None:
    """The edges of a root sum together hold all rows, and the leaves of each variable too."""
    circuit = data.draw(strategies.circuits(floors=(1e-6,)))
    rows = data.draw(strategies.circuit_rows(circuit))
    _, edges, leaves = circuit.core.expect(rows, np.ones(len(rows)))
    if isinstance(circuit.nodes[-1], Sum):
        assert math.fsum(edges[-len(circuit.nodes[-1].children) :]) == pytest.approx(len(rows))
    offset = 0
    for cells in circuit.cells:
        size = len(cells.leaves) * (len(cells.breaks) + 2)
        assert math.fsum(leaves[offset : offset + size]) == pytest.approx(len(rows))
        offset += size
    assert offset == len(leaves)


def test_impossible_rows_are_not_counted() -> None:
    circuit = mixture(FLOORLESS)
    impossible = MIXTURE_ROWS[log_likelihood(circuit, MIXTURE_ROWS) == -math.inf]
    assert len(impossible) > 2
    logs, edges, leaves = circuit.core.expect(impossible, np.ones(len(impossible)))
    assert (logs == -math.inf).all()
    assert not edges.any()
    assert not leaves.any()


# -- sweeps -----------------------------------------------------------------------------------------------------------


@given(st.data(), st.sampled_from([(0, oracle.total), (1, oracle.largest), (2, oracle.at_most)]))
def test_the_sweep_of_given_leaves(data: st.DataObject, algebra: tuple[int, oracle.Algebra]) -> None:
    """Every node, from any logs of leaves."""
    circuit = data.draw(strategies.circuits())
    places = oracle.leaves_of(circuit)
    values = {place: oracle.Fraction(data.draw(st.sampled_from([0.0, 1e-300, 0.125, 0.7, 1.0, 40.0]))) for place in places}
    logs = np.full((1, len(circuit.nodes)), np.nan)
    logs[0, list(places)] = [oracle.log(values[place]) for place in places]
    swept = circuit.core.sweep(logs, algebra[0])[0]
    expected = [oracle.log(value) for value in oracle.swept(circuit, values, algebra[1])]
    np.testing.assert_allclose(swept, expected, rtol=1e-9, atol=1e-9)


def test_no_rows() -> None:
    circuit = mixture(FLOORED)
    nodes = len(circuit.nodes)
    assert circuit.core.evaluate(np.empty((0, 3))).shape == (0,)
    assert circuit.core.sweep(np.empty((0, nodes))).shape == (0, nodes)
    assert circuit.core.differentiate(np.empty((0, nodes))).shape == (0, nodes)


# -- refusals ---------------------------------------------------------------------------------------------------------

SUM, PRODUCT, LEAF = 0, 1, 2


def core(
    kind: Any = (LEAF, SUM), start: Any = (0, 0, 1), child: Any = (0,), weight: Any = (1.0,), floor: float = 0.0
) -> _core.Circuit:
    arrays = np.array(kind, np.int32), np.array(start, np.int64), np.array(child, np.int32), np.array(weight, np.float64)
    return _core.Circuit(*arrays, floor)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"kind": (), "start": (0,), "child": (), "weight": ()}, "a circuit needs a start per node, and a weight per child"),
        ({"start": (0, 1)}, "a circuit needs a start per node"),
        ({"start": (1, 1, 1)}, "a circuit needs a start per node"),
        ({"start": (0, 0, 2)}, "a circuit needs a start per node"),
        ({"weight": (0.5, 0.5)}, "a circuit needs a start per node, and a weight per child"),
        ({"start": (0, 1, 1)}, "sums and products have children, leaves and blocks have none"),
        ({"kind": (LEAF, SUM, SUM), "start": (0, 0, 1, 1)}, "sums and products have children, leaves and blocks have none"),
        ({"kind": (SUM, LEAF), "start": (0, 1, 1)}, "children come first"),
        ({"child": (1,)}, "children come first"),
        ({"child": (-1,)}, "children come first"),
    ],
)  # fmt: skip
def test_arrays_that_are_no_circuit(arrays: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        core(**arrays)


@pytest.mark.parametrize("kind", [(LEAF, 4), (LEAF, -1), (4, SUM), (LEAF, 3)])
def test_kinds_that_are_none(kind: Any) -> None:
    with pytest.raises(ValueError, match=r"have none|kind"):
        core(kind)


def test_starts_that_go_back() -> None:
    with pytest.raises(ValueError, match=r"have children|children come first|start per node"):
        core((LEAF, SUM, LEAF), (0, 0, 3, 1))


def add(
    breaks: Any = (0.0, 1.0), leaves: Any = (0,), steps: Any = ((0.0, 1.0, 0.0),), family: Any = (0,), parameters: Any = None
) -> None:
    given = np.zeros((len(family), 3)) if parameters is None else parameters
    arrays = np.array(breaks), np.array(leaves, np.int32), np.array(steps), np.array(family, np.int32), given
    core().add_variable(*arrays)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"breaks": (1.0, 0.0)}, "a variable needs sorted breaks, and a density per leaf and cell"),
        ({"steps": ((0.0, 1.0),)}, "a variable needs sorted breaks, and a density per leaf and cell"),
        ({"steps": ((0.0, 1.0, 0.0),) * 2}, "a variable needs sorted breaks, and a density per leaf and cell"),
        ({"family": (0, 0)}, "a variable needs sorted breaks, and a density per leaf and cell"),
        ({"leaves": (1,)}, "a variable's leaves must be leaves"),
        ({"leaves": (2,)}, "a variable's leaves must be leaves"),
        ({"leaves": (-1,)}, "a variable's leaves must be leaves"),
        ({"parameters": np.zeros((1, 2))}, r"parameters must have a row \(a, b, share\) per leaf"),
        ({"parameters": np.zeros((2, 3))}, r"parameters must have a row \(a, b, share\) per leaf"),
    ],
)
def test_arrays_that_are_no_variable(arrays: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        add(**arrays)


def test_rows_of_another_width() -> None:
    core = mixture(FLOORED).core
    nodes = len(mixture(FLOORED).nodes)
    for rows in (np.zeros((1, 2)), np.zeros((1, 4)), np.zeros((0, 0))):
        with pytest.raises(IndexError, match="rows must have a column per variable"):
            core.evaluate(rows)
        with pytest.raises(IndexError, match="rows must have a column per variable"):
            core.expect(rows, np.ones(len(rows)))
    with pytest.raises(ValueError, match="there must be a weight per row"):
        core.expect(np.zeros((2, 3)), np.ones(3))
    with pytest.raises(IndexError, match="leaf_logs must have a column per node"):
        core.sweep(np.zeros((1, nodes - 1)))
    with pytest.raises(IndexError, match="values must have a column per node"):
        core.differentiate(np.zeros((1, nodes + 1)))


def test_the_smallest_circuit() -> None:
    made = core((LEAF,), (0, 0), (), ())
    made.add_variable(
        np.array([0.0, 1.0]), np.array([0], np.int32), np.array([[0.0, 2.0, 0.0]]), np.zeros(1, np.int32), np.zeros((1, 3))
    )
    np.testing.assert_allclose(made.evaluate(np.array([[0.5], [np.nan], [-1.0]])), [math.log(2), 0, -math.inf])
    assert isinstance(made, type(Circuit.core.func(mixture(0.0))))
