"""Coherence and conditionals against sums over all values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.circuit import Categories, Circuit, Product, Sum, coherence, log_conditionals, log_likelihood, marginal
from likely.schema import Categorical
from tests import strategies
from tests.oracles.circuits import assert_close

A, B = Categorical("a", ("x", "y")), Categorical("b", ("x", "y"))
AGREEING = Circuit(
    (A, B),
    (
        Categories(0, (1.0, 0.0)), Categories(1, (0.8, 0.2)), Product((0, 1)),
        Categories(0, (0.0, 1.0)), Categories(1, (0.2, 0.8)), Product((3, 4)),
        Sum((2, 5), (0.5, 0.5)),
    ),
    floor=0.0,
)  # fmt: skip


def test_two_variables_have_their_pointwise_mutual_information() -> None:
    rows = np.array([[0.0, 0.0], [0.0, 1.0], [math.nan, 1.0]])
    assert_close(coherence(AGREEING, rows), [math.log(0.4 / 0.25), math.log(0.1 / 0.25), 0.0])
    assert_close(log_conditionals(AGREEING, rows[:2], [("b",), ("a", "b")]), np.log([[0.8, 0.4], [0.2, 0.1]]))


@given(st.data())
def test_coherence_is_what_the_marginals_leave(data: st.DataObject) -> None:
    circuit = data.draw(strategies.circuits())
    rows = data.draw(strategies.circuit_rows(circuit))
    alone = [log_likelihood(marginal(circuit, [name]), rows[:, [j]]) for j, name in enumerate(circuit.names)]
    total = log_likelihood(circuit, rows)
    if np.isfinite(total).all():
        np.testing.assert_allclose(coherence(circuit, rows), total - np.sum(alone, axis=0), rtol=1e-9, atol=1e-9)


def test_independent_variables_cohere_neither_well_nor_badly() -> None:
    circuit = Circuit((A, B), (Categories(0, (0.3, 0.7)), Categories(1, (0.9, 0.1)), Product((0, 1))))
    rows = np.array([[a, b] for a in (0.0, 1.0) for b in (0.0, 1.0)])
    assert coherence(circuit, rows) == pytest.approx(np.zeros(4), abs=1e-12)
