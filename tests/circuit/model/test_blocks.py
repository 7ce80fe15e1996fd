"""Gaussian blocks against scipy and quadrature: densities, marginals, conditionals, the core, files, refusals."""

from __future__ import annotations

import math
import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.circuit import Circuit, GaussianBlock, Histogram, Product, Sum, Warp, log_likelihood, max_log_likelihood
from likely.circuit.model.box import leaf_logs
from likely.errors import CircuitError
from likely.schema import Binary, Continuous, Feature, Mixed
from tests import strategies
from tests.oracles import blocks as oracle
from tests.oracles.circuits import assert_close, at_most, largest

PLAIN = Warp.identity()
PAIR = GaussianBlock((0, 1), (PLAIN, PLAIN), (0.0, 0.0), ((1.0,), (0.5, 1.0)))
REALS = (Continuous("a", -5, 5), Continuous("b", -5, 5))


def quadrature(warp: Warp) -> tuple[np.ndarray, np.ndarray]:
    """Points of a warp's domain and their weights: Gauss and Legendre's on each piece, in z, where all is smooth."""
    marks = np.array([-14.0, *(z for z in warp.values if -14 < z < 14), 14.0])
    marks = np.unique(np.concatenate([np.linspace(low, high, 2 + int(high - low)) for low, high in pairwise(marks)]))
    at, weight = np.polynomial.legendre.leggauss(12)
    z = ((marks[1:] + marks[:-1]) / 2 + np.outer(at, np.diff(marks) / 2)).T.ravel()
    x = warp.inverse(z)
    return x, np.outer(np.diff(marks) / 2, weight).ravel() / np.exp(warp.log_slope(x))


# -- densities --------------------------------------------------------------------------------------------------------


@given(st.data())
def test_log_likelihood_is_the_recursion(data: st.DataObject) -> None:
    circuit = data.draw(strategies.block_circuits(codes=True))
    rows = data.draw(strategies.block_rows(circuit))
    assert_close(log_likelihood(circuit, rows), oracle.log_likelihoods(circuit, rows))
    assert_close(max_log_likelihood(circuit, rows), oracle.log_likelihoods(circuit, rows, largest))
    assert_close(max_log_likelihood(circuit, rows, side="over"), oracle.log_likelihoods(circuit, rows, at_most))


@given(st.data())
def test_the_core_and_the_sweep_agree_on_any_number_of_threads(data: st.DataObject) -> None:
    circuit = data.draw(strategies.block_circuits(codes=True))
    rows = np.tile(data.draw(strategies.block_rows(circuit, count=100)), (60, 1))
    for algebra in range(3):
        alone = circuit.core.evaluate(rows, algebra, 1)
        np.testing.assert_array_equal(alone, circuit.core.evaluate(rows, algebra, 4))
        assert_close(alone[:100], circuit.core.sweep(leaf_logs(circuit, rows[:100]), algebra)[:, -1])


@given(st.data())
def test_expected_counts_of_edges_are_posteriors(data: st.DataObject) -> None:
    """The flow through the components of a mixture: each one's share of the likelihood."""
    circuit = data.draw(strategies.block_circuits(codes=True))
    rows = data.draw(strategies.block_rows(circuit))
    logs, edges, _ = circuit.core.expect(rows, np.ones(len(rows)), 1)
    root = circuit.nodes[-1]
    assert isinstance(root, Sum)
    values = circuit.core.sweep(leaf_logs(circuit, rows))
    with np.errstate(divide="ignore"):
        shares = np.exp(np.log(root.weights) + values[:, root.children] - values[:, -1:])
    assert_close(logs, values[:, -1])
    np.testing.assert_allclose(edges[-len(root.children) :], shares.sum(axis=0), atol=1e-9)


@given(strategies.blocks([Continuous("x", -2, 7)], (0,)))
def test_a_density_of_one_variable_integrates_to_one(block: GaussianBlock) -> None:
    x, weight = quadrature(block.warps[0])
    assert weight @ np.exp(block.log_density(x[:, None])) == pytest.approx(1, abs=1e-6)


@given(strategies.blocks([Continuous("x", -2, 7), Continuous("y", 0, 3)], (0, 1)))
def test_a_density_of_two_variables_integrates_to_one_and_to_its_marginal(block: GaussianBlock) -> None:
    (first, of_first), (second, of_second) = (quadrature(warp) for warp in block.warps)
    grid = np.stack([part.ravel() for part in np.meshgrid(first, second, indexing="ij")], axis=1)
    densities = np.exp(block.log_density(grid)).reshape(len(first), -1)
    assert of_first @ densities @ of_second == pytest.approx(1, abs=1e-6)
    summed = np.exp(block.log_density(np.column_stack([first, np.full(len(first), np.nan)])))
    np.testing.assert_allclose(densities @ of_second, summed, rtol=1e-6, atol=1e-9)


# -- parts ------------------------------------------------------------------------------------------------------------


@given(st.data())
def test_conditionals_are_quotients(data: st.DataObject) -> None:
    features = [Continuous(f"x{j}", -2, 7) for j in range(3)]
    block = data.draw(strategies.blocks(features, (0, 1, 2)))
    row = np.array(data.draw(st.tuples(*[st.floats(-1.9, 6.9)] * 3)))
    given_first = row.copy()
    given_first[1:] = np.nan
    rest = block.conditional(given_first)
    assert rest.variables == (1, 2)
    quotient = block.log_density(row[None]) - block.log_density(given_first[None])
    np.testing.assert_allclose(rest.log_density(row[None, 1:]), quotient, rtol=1e-6, atol=1e-6)
    pair = block.marginal([0, 2])
    np.testing.assert_allclose(
        pair.log_density(row[None, [0, 2]]), block.log_density(np.array([[row[0], np.nan, row[2]]])), rtol=1e-9, atol=1e-9
    )


def test_a_value_without_density_says_nothing() -> None:
    block = GaussianBlock((0, 1), (Warp.identity(0, 10), PLAIN), (5.0, 0.0), ((1.0,), (0.5, 1.0)))
    assert block.conditional(np.array([-1.0, np.nan])) == block.marginal([1])


# -- files, looking ---------------------------------------------------------------------------------------------------


@given(st.data())
def test_files_to_the_last_bit(data: st.DataObject) -> None:
    circuit = data.draw(strategies.block_circuits(codes=True))
    again = Circuit.from_json(circuit.to_json())
    assert again == circuit
    assert pickle.loads(pickle.dumps(circuit)) == circuit
    rows = data.draw(strategies.block_rows(circuit))
    np.testing.assert_array_equal(log_likelihood(again, rows), log_likelihood(circuit, rows))


def test_parameters_and_report() -> None:
    twin = GaussianBlock((0, 1), (PLAIN, PLAIN), (1.0, 0.0), ((1.0,), (0.0, 2.0)))
    leaves = (Histogram(0, (-5.0, 0.0, 5.0), (0.1, 0.1)), Histogram(1, (-5.0, 5.0), (0.1,)))
    circuit = Circuit(REALS, (PAIR, twin, *leaves, Product((2, 3)), Sum((0, 1, 4), (0.5, 0.25, 0.25))))
    # two blocks of 2 + 3, two shared warps of 2 knots, a histogram of two bins, three weights
    assert circuit.parameters == 10 + 4 + 1 + 2
    report = circuit.check()
    assert (report.blocks, report.leaves, report.parameters) == (2, 2, 17)
    assert "2 leaves, 2 blocks" in str(report)
    assert repr(circuit) == "Circuit of 6 nodes (1 sums, 1 products, 2 leaves, 2 blocks) and 5 edges over 2 variables"


def test_what_no_block_covers_is_reported() -> None:
    block = GaussianBlock((0,), (Warp.identity(-1, 1),), (0.0,), ((1.0,),))
    ((name, region),) = Circuit((Continuous("a", -5, 5),), (block,)).check().uncovered
    assert name == "a"
    assert region.intervals == ((-5.0, -1.0), (1.0, 5.0))


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"variables": ()}, "The variables of a block must increase, at least one; got ()"),
        ({"variables": (1, 0)}, "The variables of a block must increase, at least one; got (1, 0)"),
        ({"variables": 3}, "The variables of a block must be places among the variables; got 3"),
        ({"warps": (PLAIN,)}, "A block must have a warp per variable (2); got 1"),
        ({"warps": (PLAIN, None)}, "The warps of a block must be Warps"),
        ({"mean": (0.0,)}, "A block must have a mean per variable (2); got 1"),
        ({"mean": (0.0, math.nan)}, "The mean of a block must be finite; got nan"),
        ({"factor": 1.0}, "The factor of a block must be rows of numbers; got 1.0"),
        ({"factor": ((1.0,),)}, "A block must have a row of the factor per variable (2); got 1"),
        ({"factor": ((1.0, 0.0), (0.5, 1.0))}, "The factor of a block must be lower triangular"),
        ({"factor": ((1.0,), (0.5, 0.0))}, "The factor of a block must be lower triangular"),
    ],
)
def test_blocks_that_are_none(changes: dict[str, Any], message: str) -> None:
    parts = {"variables": (0, 1), "warps": (PLAIN, PLAIN), "mean": (0.0, 0.0), "factor": ((1.0,), (0.5, 1.0))} | changes
    with pytest.raises(CircuitError) as caught:
        GaussianBlock(**parts)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("features", "nodes", "message"),
    [
        (REALS[:1], (PAIR,), "The variables of block 0 must be from 0 to 0; got (0, 1)"),
        ((REALS[0], Binary("b", values=(0, 1))), (PAIR,), "Block 0 must be over features of numbers, none of which is a code"),
        (
            (REALS[0], Mixed("b", -9, 9, codes=(-7,), step=1)),
            (PAIR,),
            "Block 0 must be over features of numbers, none of which is",
        ),
        (REALS, (PAIR, Histogram(1, (0.0, 1.0), (1.0,)), Product((0, 1))), "Product 2 must have children with no variable in"),
        (REALS, (PAIR, Histogram(1, (0.0, 1.0), (1.0,)), Sum((0, 1), (0.5, 0.5))), "Sum 2 must have children with the same"),
    ],
)
def test_circuits_that_are_none(features: tuple[Feature, ...], nodes: Any, message: str) -> None:
    with pytest.raises(CircuitError) as caught:
        Circuit(features, nodes)
    assert str(caught.value).startswith(message)


def test_data_of_a_block_that_is_none() -> None:
    data = Circuit(REALS, (PAIR,)).to_dict()
    del data["nodes"][0]["mean"]
    with pytest.raises(CircuitError, match="A block node must have variables, warps, mean, factor"):
        Circuit.from_dict(data)
