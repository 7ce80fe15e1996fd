"""K-means over bins: against the same rows written out as coordinates, and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.cluster import KMeans

from likely.circuit.learning.kmeans import Centres, k_means

ORDERED = (True, False, True, False)
SIZES = (9, 4, 30, 6)


def table(seed: int, count: int) -> np.ndarray:
    """Bins in two groups of rows that differ in every column."""
    rng = np.random.default_rng(seed)
    group = rng.random(count) < 0.4
    return np.array([np.clip(rng.binomial(size - 1, np.where(group, 0.2, 0.6)), 0, size - 1) for size in SIZES])


def coordinates(places: np.ndarray) -> np.ndarray:
    """Middle ranks times sqrt(12), and a column of 0 and 1 per category."""
    columns = []
    for bins, size, ordered in zip(places, SIZES, ORDERED, strict=True):
        if ordered:
            columns.append(np.sqrt(12) * (stats.rankdata(bins) - 0.5) / len(bins))
        else:
            columns += [(bins == k).astype(float) for k in range(size)]
    return np.stack(columns, axis=1)


def distances(centres: Centres, places: np.ndarray) -> np.ndarray:
    return sum(cost[bins] for cost, bins in zip(centres.costs, places, strict=True))


@given(st.integers(0, 2**32), st.integers(5, 80), st.integers(2, 4))
@settings(max_examples=30)
def test_costs_are_squared_distances_to_means(seed: int, count: int, clusters: int) -> None:
    places = table(seed, count)
    centres = k_means(places, SIZES, ORDERED, clusters, np.random.default_rng(seed))
    nearest = centres.nearest(places)
    points, squared = coordinates(places), distances(centres, places)
    assert np.array_equal(squared.argmin(axis=1), nearest)
    for k in set(nearest):
        # where rounds ended, a centre is the mean of the rows nearest to it
        mean = points[nearest == k].mean(axis=0)
        assert squared[:, k] == pytest.approx(((points - mean) ** 2).sum(axis=1), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("clusters", [2, 3])
def test_as_good_as_scikit_learn(seed: int, clusters: int) -> None:
    places = table(seed, 500)
    mine = distances(k_means(places, SIZES, ORDERED, clusters, np.random.default_rng(seed)), places).min(axis=1).sum()
    theirs = KMeans(clusters, n_init=10, random_state=seed).fit(coordinates(places)).inertia_
    assert mine <= 1.02 * theirs


def test_unknown_cells_cost_nothing() -> None:
    places = table(0, 300)
    places[np.random.default_rng(1).random(places.shape) < 0.3] = -1
    places[:, 0] = -1
    centres = k_means(places, SIZES, ORDERED, 2, np.random.default_rng(0))
    assert distances(centres, places)[0].tolist() == [0.0, 0.0]
    assert np.bincount(centres.nearest(places), minlength=2).min() > 50


@pytest.mark.parametrize("value", [3, -1])
def test_rows_that_are_all_the_same(value: int) -> None:
    places = np.full((4, 20), value)
    assert not k_means(places, SIZES, ORDERED, 3, np.random.default_rng(0)).nearest(places).any()


def test_a_column_unknown_to_a_whole_cluster() -> None:
    places = np.array([[0] * 50 + [8] * 50, [-1] * 50 + [2] * 50, [3] * 50 + [25] * 50, [0] * 100])
    nearest = k_means(places, SIZES, ORDERED, 2, np.random.default_rng(0)).nearest(places)
    assert len(set(nearest[:50])) == len(set(nearest[50:])) == 1
    assert nearest[0] != nearest[-1]


def test_one_seed_one_answer() -> None:
    places = table(4, 200)
    first, again, other = (k_means(places, SIZES, ORDERED, 3, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(first.costs, again.costs, strict=True))
    assert [cost.shape for cost in other.costs] == [(size + 1, 3) for size in SIZES]
