"""Densities and sums of Gaussians in the core, against the formulas written out row by row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from likely._core import gaussian_logs, gaussian_sums
from likely.circuit.learning.blocks_moments import Flags, Moments, log_densities
from likely.schema.values import Numbers

#: More rows than a piece that is summed alone, and no multiple of any tile.
MANY = 5_003


def problem(seed: int, rows: int, columns: int, components: int) -> tuple[Numbers, Numbers, Numbers, Flags, Numbers]:
    """Rows, means, covariances, which columns a component sees, and shares, most of them almost none."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(components, columns, columns)) + 2 * np.eye(columns)
    seen = rng.random((components, columns)) < 0.8
    shares = rng.dirichlet(np.full(components, 0.1), size=rows) * rng.choice([1e-9, 1.0, 7.0])
    z, means = 3 * rng.normal(size=(rows, columns)), rng.normal(size=(components, columns))
    return z, means, factors @ factors.transpose(0, 2, 1), seen, shares


@given(st.integers(0, 2**31), st.integers(0, 70), st.integers(1, 19), st.integers(1, 6))
def test_log_densities_are_those_of_the_columns_that_are_seen(seed: int, rows: int, columns: int, components: int) -> None:
    z, means, covariances, seen, _ = problem(seed, rows, columns, components)
    logs = log_densities(z, means, covariances, seen, 1)
    assert logs.shape == (rows, components)
    for k, kind in enumerate(seen):
        normal = multivariate_normal(means[k, kind], covariances[k][np.ix_(kind, kind)]) if kind.any() else None
        for row, log in zip(z, logs[:, k], strict=True):
            assert log == pytest.approx(0.0 if normal is None else normal.logpdf(row[kind]), rel=1e-7, abs=1e-7)


@given(st.integers(0, 2**31), st.integers(0, 70), st.integers(1, 19), st.integers(1, 6))
def test_sums_are_those_of_weighted_rows(seed: int, rows: int, columns: int, components: int) -> None:
    z, _, _, _, shares = problem(seed, rows, columns, components)
    moments = Moments.of(z, shares, 1)
    scale = shares.sum() * 100 + 1e-300
    np.testing.assert_allclose(moments.rows, shares.sum(axis=0), atol=1e-12 * scale)
    np.testing.assert_allclose(moments.firsts, shares.T @ z, atol=1e-12 * scale)
    np.testing.assert_allclose(moments.seconds, np.einsum("rk,ri,rj->kij", shares, z, z), atol=1e-12 * scale)
    np.testing.assert_array_equal(moments.seconds, moments.seconds.transpose(0, 2, 1))


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_the_same_on_any_number_of_threads(threads: int) -> None:
    z, means, covariances, seen, shares = problem(0, 4 * MANY, 9, 5)
    one, many = (log_densities(z, means, covariances, seen, each) for each in (1, threads))
    np.testing.assert_array_equal(one, many)
    np.testing.assert_array_equal(gaussian_sums(z, shares, 1), gaussian_sums(z, shares, threads))


def test_what_does_not_fit_is_refused() -> None:
    z = np.zeros((4, 3))
    with pytest.raises(ValueError, match="as wide as a row"):
        gaussian_logs(z, np.zeros((6, 3)), np.zeros((1, 3)), np.zeros(1))
    with pytest.raises(ValueError, match="as wide as a row"):
        gaussian_logs(z, np.zeros((6, 3)), np.zeros((2, 2)), np.zeros(2))
    with pytest.raises(ValueError, match="shares of every row"):
        gaussian_sums(z, np.zeros((3, 2)))
