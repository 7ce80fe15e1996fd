"""Means and covariances, against sums over all rows and the textbook."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.circuit import Bernoulli, Categories, Circuit, Coded, Histogram, Parametric, Product, Sum, moments
from likely.circuit.queries.moments import leaf_moments
from likely.errors import CircuitError
from likely.schema import Binary, Categorical, Continuous, Integer, Mixed, Ordinal
from tests import strategies
from tests.oracles import circuits as oracle


@given(st.data())
def test_moments_are_sums_over_all_rows(data: st.DataObject) -> None:
    circuit = data.draw(strategies.circuits(small=True, normalised=True, parametric=False, floors=(0.0,)))
    computed = moments(circuit)
    wanted = [j for j, f in enumerate(circuit.variables) if f.ordered and not isinstance(f, Mixed)]
    assert computed.names == tuple(circuit.variables[j].name for j in wanted)
    rows = oracle.product_space(circuit)
    chances = np.array([float(oracle.likelihood(circuit, row) * oracle.measure_of_row(circuit, row)) for row in rows])
    values = np.array(rows)[:, wanted]
    mean = chances @ values
    covariance = (values - mean).T @ ((values - mean) * chances[:, None])
    np.testing.assert_allclose(computed.mean, mean, atol=1e-9)
    np.testing.assert_allclose(computed.covariance, covariance, atol=1e-9)


@pytest.mark.parametrize("family", ["gaussian", "lognormal", "exponential", "gamma", "poisson"])
def test_moments_of_families(family: str) -> None:
    leaf = Parametric(0, family, 2.5, 0.5)
    law = oracle.law(leaf)
    feature = Integer("n", 0, 99) if family == "poisson" else Continuous("x", 0, 99)
    assert leaf_moments(leaf, feature) == pytest.approx((law.mean(), law.var()))
    assert leaf_moments(Coded(0, (), leaf), feature) == pytest.approx((law.mean(), law.var()))


@given(st.data())
def test_moments_of_histograms_are_integrals(data: st.DataObject) -> None:
    leaf = data.draw(strategies.histograms(Continuous("x", -4, 9), 0, normalised=False).filter(lambda h: max(h.densities) > 0))
    bins = list(zip(leaf.breaks, leaf.breaks[1:], leaf.densities, strict=False))
    total = math.fsum(d * (b - a) for a, b, d in bins)
    mean = math.fsum(d * (b**2 - a**2) / 2 for a, b, d in bins) / total
    variance = math.fsum(d * ((b - mean) ** 3 - (a - mean) ** 3) / 3 for a, b, d in bins) / total
    assert leaf_moments(leaf, Continuous("x", -4, 9)) == pytest.approx((mean, variance), abs=1e-9)


def test_bins_of_a_list_beyond_its_values() -> None:
    """A bin from -5 to 9 over three ranks is the three ranks."""
    assert leaf_moments(Histogram(0, (-5, 9), (1 / 3,)), Ordinal("o", ("a", "b", "c"))) == pytest.approx((1.0, 2 / 3))


def test_a_mixture_by_hand() -> None:
    """Two groups: the variance is the mean of variances and the variance of means; the covariance that of the means."""
    nodes = (
        Parametric(0, "gaussian", 0.0, 1.0), Bernoulli(1, 0.5), Product((0, 1)),
        Parametric(0, "gaussian", 4.0, 2.0), Bernoulli(1, 0.9), Product((3, 4)),
        Sum((2, 5), (0.25, 0.75)),
    )  # fmt: skip
    computed = moments(Circuit((Continuous("x", -20, 20),), nodes, Binary("y")))
    assert computed.mean == pytest.approx([3.0, 0.8])
    assert computed.covariance == pytest.approx(np.array([[0.25 + 3.0 + 0.1875 * 16, 0.1875 * 4 * 0.4], [0.3, 0.16]]))
    assert computed.correlation == pytest.approx(np.array([[1, 0.3 / math.sqrt(6.25 * 0.16)], [0.3 / math.sqrt(6.25 * 0.16), 1]]))
    frame = computed.to_frame()
    assert list(frame.index) == ["x", "y"]
    assert frame["deviation"].tolist() == pytest.approx([2.5, 0.4])
    assert frame["mean"].tolist() == pytest.approx([3.0, 0.8])


def test_large_numbers_lose_nothing() -> None:
    """The variance of numbers around 1e12 is not the small difference of two large squares."""
    base = 1e12
    nodes = (Histogram(0, (base, base + 2), (0.5,)), Histogram(0, (base + 2, base + 3), (1.0,)), Sum((0, 1), (0.5, 0.5)))
    computed = moments(Circuit((Integer("n", 0, 2e12),), nodes))
    values = np.array([0.0, 1.0, 2.0])
    chances = np.array([0.25, 0.25, 0.5])
    mean = chances @ values
    assert computed.mean == pytest.approx([base + mean])
    assert computed.covariance == pytest.approx(np.array([[chances @ (values - mean) ** 2]]))


def test_constants_have_no_correlation() -> None:
    nodes = (Categories(0, (1.0, 0.0)), Bernoulli(1, 0.5), Product((0, 1)))
    computed = moments(Circuit((Ordinal("o", ("a", "b")), Binary("b")), nodes))
    assert computed.correlation.tolist() == [[0, 0], [0, 1]]


def test_only_ordered_variables_without_codes() -> None:
    nodes = (Categories(0, (0.5, 0.5)), Coded(1, (0.5,), Histogram(1, (0, 1), (1,))), Product((0, 1)))
    computed = moments(Circuit((Categorical("c", ("a", "b")), Mixed("m", 0, 1, [-1])), nodes))
    assert (computed.names, computed.mean.shape, computed.covariance.shape) == ((), (0,), (0, 0))
    assert len(computed.to_frame()) == 0


def test_a_leaf_without_mass_is_refused() -> None:
    with pytest.raises(
        CircuitError, match=r"^Every leaf of feature 'o' must have a density above 0 somewhere; got one without\."
    ):
        moments(Circuit((Ordinal("o", ("a", "b")),), (Categories(0, (0.0, 0.0)),)))
