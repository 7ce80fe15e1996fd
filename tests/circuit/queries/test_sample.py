"""Rows drawn from circuits: they fit their laws (at fixed seeds), and they are values of the features."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from likely.circuit import (
    Bernoulli,
    Categories,
    Circuit,
    Coded,
    Histogram,
    Parametric,
    Product,
    Sum,
    conditional,
    log_likelihood,
    sample,
)
from likely.circuit.queries.sample import draw, sample_rows
from likely.errors import CircuitError
from likely.schema import Binary, Categorical, Continuous, Feature, Integer, Mixed, Ordinal, Schema
from likely.schema.values import LARGEST, code_number
from tests import strategies
from tests.circuit.queries.test_transform import two_groups
from tests.oracles import circuits as oracle

COUNT = 20_000
#: With a fixed seed a test passes or fails for ever; that a right sampler fails at the chosen seed has this chance.
DOUBT = 1e-3


def assert_fits(drawn_values: Any, chances: dict[Any, float]) -> None:
    """Pearson's chi-square test of draws against probabilities; rare cells are put together."""
    counts = Counter(drawn_values)
    assert set(counts) <= {key for key, chance in chances.items() if chance > 0}, "drawn, though impossible"
    total = len(drawn_values)
    ordered = sorted(chances, key=chances.__getitem__)
    rare = [key for key in ordered if chances[key] * total < 8]
    often = [key for key in ordered if chances[key] * total >= 8]
    observed = [counts[key] for key in often] + [sum(counts[key] for key in rare)]
    expected = [chances[key] * total for key in often] + [math.fsum(chances[key] for key in rare) * total]
    pairs = [(o, e) for o, e in zip(observed, expected, strict=True) if e > 0]
    if len(pairs) > 1:
        scale = total / math.fsum(e for _, e in pairs)
        assert stats.chisquare([o for o, _ in pairs], [e * scale for _, e in pairs]).pvalue > DOUBT


# -- whole rows -------------------------------------------------------------------------------------------------------


@given(st.data())
def test_rows_of_small_circuits_fit_their_likelihoods(data: st.DataObject) -> None:
    """All rows there are, with the probabilities that the recursion gives them."""
    circuit = data.draw(strategies.circuits(small=True, normalised=True, parametric=False, most=2, floors=(0.0,)))
    rows = sample_rows(circuit, 2000, np.random.default_rng(7))
    space = oracle.product_space(circuit)
    chances = {row: min(1.0, float(oracle.likelihood(circuit, row) * oracle.measure_of_row(circuit, row))) for row in space}
    tuples = [tuple(row) for row in rows.tolist()]
    assert set(tuples) <= set(space)
    counts = Counter(tuples)
    for row, chance in chances.items():
        # 60 circuits of up to 36 rows each: five deviations
        assert abs(counts[row] - 2000 * chance) <= 5 * math.sqrt(2000 * chance * (1 - chance)) + 3


def test_rows_of_one_circuit_pass_a_chi_square_test() -> None:
    nodes = (
        Categories(0, (0.5, 0.3, 0.2)), Histogram(1, (0, 2, 5), (0.3, 0.4 / 3)), Bernoulli(2, 0.1), Product((0, 1, 2)),
        Categories(0, (0.1, 0.0, 0.9)), Histogram(1, (1, 2, 5), (0.7, 0.1)), Bernoulli(2, 0.8), Product((4, 1, 6)),
        Product((0, 5, 6)), Sum((3, 7, 8), (0.5, 0.3, 0.2)),
    )  # fmt: skip
    circuit = Circuit((Categorical("c", ("a", "b", "c")), Integer("n", 0, 4)), nodes, Binary("y"))
    rows = sample_rows(circuit, COUNT, np.random.default_rng(8))
    bare = Circuit(circuit.features, circuit.nodes, circuit.target, 0.0)
    chances = {row: float(oracle.likelihood(bare, row)) for row in oracle.product_space(bare)}
    assert math.fsum(chances.values()) == pytest.approx(1)
    assert_fits([tuple(row) for row in rows.tolist()], chances)


def test_values_of_reals_pass_a_kolmogorov_smirnov_test() -> None:
    """The mixture's distribution function, by hand."""
    nodes = (Histogram(0, (-1, 0, 4), (0.25, 0.1875)), Parametric(0, "gaussian", 3.0, 0.5), Sum((0, 1), (0.4, 0.6)))
    circuit = Circuit((Continuous("x", -10, 10),), nodes)
    rows = sample_rows(circuit, COUNT, np.random.default_rng(9))

    def cdf(v: np.ndarray) -> np.ndarray:
        return 0.4 * np.interp(v, [-1, 0, 4], [0, 0.25, 1]) + 0.6 * stats.norm(3.0, 0.5).cdf(v)

    assert stats.kstest(rows[:, 0], cdf).pvalue > DOUBT


def test_draws_given_evidence_come_from_the_conditional() -> None:
    circuit = conditional(two_groups(), {"y": "yes"})
    rows = sample_rows(circuit, COUNT, np.random.default_rng(10))
    law = {n: (0.625 * stats.poisson(2).pmf(n) + 0.375 * stats.poisson(6).pmf(n)) for n in range(60)}
    assert_fits(rows[:, 1].tolist(), {float(n): chance for n, chance in law.items()})


# -- leaves -----------------------------------------------------------------------------------------------------------

REAL, WHOLE, TENTHS = Continuous("x", 0, 30), Integer("n", 0, 30), Continuous("t", 0, 30, step=0.1)
ABC, MIXED = Categorical("c", ("a", "b", "c")), Mixed("m", 0, 10, [-1, None], dtype="float64")
INSIDE = Mixed("m", 0, 6, [2, 5, 99], integer=True)


def drawn(leaf: Any, feature: Feature, seed: int = 11) -> np.ndarray:
    return draw(leaf, feature, np.random.default_rng(seed).random((COUNT, 2)))


@pytest.mark.parametrize(
    ("leaf", "feature"),
    [
        (Categories(0, (0.25, 0.0, 0.75)), ABC),
        (Categories(0, (1.0, 2.0, 5.0)), ABC),
        (Histogram(0, (-5, 0.5, 9), (0.25, 0.375)), ABC),
        (Bernoulli(0, 0.125), Binary("b")),
        (Bernoulli(0, 1.0), Binary("b")),
        (Categories(0, (0.5, 0.5)), Ordinal("o", (1, 2))),
        (Histogram(0, (0, 3, 5), (0.1, 0.35)), WHOLE),
        (Histogram(0, (0.5, 3.5, 5.2), (0.1, 0.35)), WHOLE),
        (Histogram(0, (0, 0.3, 0.7), (1.0, 1.75)), TENTHS),
        (Coded(0, (0.25, 0.125, 0.0), Histogram(0, (0, 4, 7), (0.1, 0.35))), INSIDE),
        (Coded(0, (0.25, 0.25, 0.5)), INSIDE),
    ],
)
def test_leaves_with_few_values(leaf: Any, feature: Feature) -> None:
    values = oracle.values_of(feature)
    weights = {v: float(oracle.Fraction(oracle.density(leaf, v)) * oracle.measure_of(feature, v)) for v in values}
    total = math.fsum(weights.values())
    assert_fits(drawn(leaf, feature).tolist(), {v: weight / total for v, weight in weights.items()})


@pytest.mark.parametrize("family", ["gaussian", "lognormal", "exponential", "gamma"])
def test_parametric_leaves(family: str) -> None:
    leaf = Parametric(0, family, 1.5, 0.7)
    law = oracle.law(leaf)
    assert stats.kstest(drawn(leaf, REAL), law.cdf).pvalue > DOUBT
    rounded = {float(v): law.cdf(v + 0.5) - law.cdf(v - 0.5) for v in range(-20, 400)}
    assert_fits(drawn(leaf, WHOLE).tolist(), rounded)


def test_parametric_leaves_of_whole_numbers() -> None:
    leaf = Parametric(0, "poisson", 3.5)
    assert_fits(drawn(leaf, WHOLE).tolist(), {float(v): oracle.density(leaf, v) for v in range(60)})


def test_leaves_over_codes_and_numbers() -> None:
    leaf = Coded(0, (0.25, 0.125), Parametric(0, "gamma", 2.0, 1.0))
    values = drawn(leaf, MIXED)
    numbers = values[values > -LARGEST]
    chances = {code_number(0): 0.25, code_number(1): 0.125, "number": 0.625}
    assert_fits([v if v < -LARGEST else "number" for v in values.tolist()], chances)
    assert stats.kstest(numbers, stats.gamma(2.0).cdf).pvalue > DOUBT


def test_reals_stay_within_their_bin() -> None:
    ends = np.array([[0.0, 0.0], [0.0, np.nextafter(1, 0)], [0.5, 0.5]])
    values = draw(Histogram(0, (1.0, 2.0), (1.0,)), REAL, ends)
    assert values.tolist() == [1.0, np.nextafter(2, 1), 1.5]


@given(st.data())
def test_draws_are_values_that_the_leaf_knows(data: st.DataObject) -> None:
    feature = data.draw(strategies.features("f"))
    leaf = data.draw(strategies.leaves(feature, 0, parametric=False))
    values = draw(leaf, feature, np.random.default_rng(data.draw(st.integers(0, 99))).random((50, 2)))
    assert all(oracle.density(leaf, v) > 0 for v in values.tolist())
    step = oracle.step_of(feature)
    if step is not None and feature.numeric:
        numbers = values[values > -LARGEST] / step
        np.testing.assert_allclose(numbers, np.round(numbers), atol=1e-6)


# -- tables -----------------------------------------------------------------------------------------------------------


@given(st.data())
def test_tables_have_the_users_columns_and_values(data: st.DataObject) -> None:
    circuit = data.draw(strategies.circuits(parametric=False, normalised=True))
    table = sample(circuit, 20, random_state=data.draw(st.integers(0, 99)))
    assert list(table.columns) == list(circuit.names)
    assert len(table) == 20
    schema = Schema(circuit.variables)
    np.testing.assert_array_equal(schema.encode(table), schema.encode(schema.decode(schema.encode(table))))


def test_the_same_seed_gives_the_same_rows() -> None:
    circuit = two_groups()
    pd.testing.assert_frame_equal(sample(circuit, 50, random_state=3), sample(circuit, 50, random_state=3))
    assert not sample(circuit, 50, random_state=3).equals(sample(circuit, 50, random_state=4))
    pd.testing.assert_frame_equal(sample(circuit, 50), sample(circuit, 50, random_state=0))


def test_no_rows() -> None:
    table = sample(two_groups(), 0)
    assert (list(table.columns), len(table)) == (["x", "n", "y"], 0)
    with pytest.raises(CircuitError) as caught:
        sample(two_groups(), -1)
    assert str(caught.value) == "The number of rows must not be negative; got -1. Hint: ask for 0 or more."


def test_rows_are_possible() -> None:
    circuit = two_groups()
    bare = Circuit(circuit.features, circuit.nodes, circuit.target, 0.0)
    rows = sample_rows(bare, 1000, np.random.default_rng(12))
    assert (log_likelihood(bare, rows) > -math.inf).all()


def test_a_leaf_without_mass_is_refused() -> None:
    circuit = Circuit((ABC,), (Categories(0, (0.0, 0.0, 0.0)),))
    with pytest.raises(CircuitError) as caught:
        sample(circuit, 1)
    assert str(caught.value) == (
        "Every leaf of feature 'c' must have a density above 0 somewhere; got one without. Hint: drop the leaf."
    )
    assert caught.value.feature == "c"
