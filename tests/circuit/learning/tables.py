"""Binned tables and mixtures that the tests of learners share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from likely.circuit.learning.binned import Binned
from likely.circuit.learning.bins import bins_of
from likely.circuit.learning.mixture import Mixture
from likely.schema import Binary, Categorical, Continuous, Feature, Integer, Mixed, Ordinal
from likely.schema.values import code_number

FEATURES: tuple[Feature, ...] = (
    Continuous("x", -9, 19),
    Integer("n", -9, 19),
    Categorical("c", ("a", "b", "c", "never")),
    Ordinal("o", (1, 2, 3)),
    Binary("b"),
    Mixed("m", -9, 19, (-99, None)),
)


def clusters(seed: int, count: int, width: int = 6, unknown: float = 0.05) -> tuple[np.ndarray, tuple[Feature, ...]]:
    """Three clusters of rows in columns of all kinds, independent within a cluster, with unknown cells."""
    rng = np.random.default_rng(seed)
    group = rng.choice(3, count, p=[0.5, 0.3, 0.2])
    columns = []
    for j in range(width):
        centre = rng.permutation([0.0, 4.0, 8.0])[group] + rng.normal(size=count)
        low = np.digitize(centre, [2.0, 6.0]).astype(float)
        code = np.where(rng.random(count) < 0.2, code_number(0), centre)
        columns.append([centre, np.round(centre), low, low, (centre > 4).astype(float), code][j % 6])
    rows = np.stack(columns, axis=1)
    rows[rng.random(rows.shape) < unknown] = np.nan
    return rows, tuple(replace(FEATURES[j % 6], name=f"f{j}") for j in range(width))


def table(seed: int, count: int, width: int = 6, weights: np.ndarray | None = None) -> Binned:
    rows, features = clusters(seed, count, width)
    return Binned.of(rows, np.ones(count) if weights is None else weights, bins_of(rows, features))


def some_mixture(data: Binned, block: int, seed: int, *, sharing: bool) -> Mixture:
    """Random components, each with its own leaves or with leaves that any may share."""
    rng = np.random.default_rng(seed)
    count = 2 * block
    weights = np.concatenate([rng.dirichlet(np.ones(block)) for _ in range(2)])
    unshared = np.arange(count)
    leaf = tuple(np.unique(rng.integers(0, count, count), return_inverse=True)[1] if sharing else unshared for _ in data.bins)
    counts = tuple(rng.gamma(0.3, 5.0, (count, len(bins))) for bins in data.bins)
    return Mixture(weights, leaf, counts, data.shrinkage)


def block_densities(state: Mixture, data: Binned, factor: float) -> np.ndarray:
    """log p(row) under each block (row x block), over that of the marginals, in doubles."""
    total = np.log(state.weights) + np.zeros((len(data), 1))
    for j, probabilities in enumerate(state.tables(factor)):
        ratio = np.log(probabilities / state.shrinkage[j].marginal)
        total += np.hstack([ratio, np.zeros((len(ratio), 1))])[state.leaf[j]].T[data.places[:, j]]
    return np.logaddexp.reduce(total.reshape(len(data), state.blocks, -1), axis=2)
