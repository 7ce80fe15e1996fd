"""What a mixture of Gaussians needs of rows: their density in every component, and the sums that it is made of.

Both are loops over rows and components, and run in the core (`src/core/gaussian_mixture.hpp`):

    logs = constant - |root z - shift|^2 / 2           (row x component)
    sums = shares' (1, z)' (1, z)                      (component x column x column)

A column that is unknown in a row, or no part of a component's block, is *hidden* from the component. What is expected of it
is linear in the rest; so sums over rows with the same hidden columns are completed all together (`Moments.completed`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from likely._core import gaussian_logs, gaussian_sums
from likely.circuit.learning.bins import Indices
from likely.schema.values import Numbers

Flags: TypeAlias = NDArray[np.bool_]

_LOG_2PI = float(np.log(2 * np.pi))


def log_densities(z: Numbers, means: Numbers, covariances: Numbers, seen: Flags, threads: int) -> Numbers:
    """The log-density of the columns of each row (NaN nowhere) that each component sees (row x component)."""
    count, size = means.shape
    roots, shifts, constants = np.zeros((count, size, size)), np.zeros((count, size)), np.zeros(count)
    for kind, which in _alike(seen):
        columns = np.flatnonzero(kind)
        across = which[:, None, None], columns[:, None], columns
        factor = np.linalg.cholesky(covariances[across])
        roots[across] = np.tril(np.linalg.inv(factor))
        shifts[which] = np.einsum("kij,kj->ki", roots[which], means[which])
        constants[which] = -np.log(np.einsum("kii->ki", factor)).sum(axis=1) - len(columns) * _LOG_2PI / 2
    return gaussian_logs(z, roots.reshape(-1, size), shifts, constants, threads)


def _alike(seen: Flags) -> Iterator[tuple[Flags, Indices]]:
    """The components that see the same columns."""
    places: dict[bytes, list[int]] = {}
    for k, row in enumerate(seen):
        places.setdefault(row.tobytes(), []).append(k)
    return ((seen[which[0]], np.array(which)) for which in places.values())


@dataclass(frozen=True)
class Moments:
    """Per component: how many rows it has, and the sums of their columns and of the products of two columns."""

    rows: Numbers
    firsts: Numbers
    seconds: Numbers

    @classmethod
    def of(cls, z: Numbers, shares: Numbers, threads: int) -> Moments:
        """Of rows (NaN nowhere), of which each component has a share (row x component)."""
        wide = z.shape[1] + 1
        sums = gaussian_sums(z, np.ascontiguousarray(shares), threads).reshape(-1, wide, wide)
        return cls(sums[:, 0, 0], sums[:, 0, 1:], sums[:, 1:, 1:])

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.rows + other.rows, self.firsts + other.firsts, self.seconds + other.seconds)

    def completed(self, seen: Flags, means: Numbers, covariances: Numbers) -> Moments:
        """With what is expected of the columns that a component does not see (component x column), given those it does."""
        firsts, seconds = np.array(self.firsts), np.array(self.seconds)
        for k in np.flatnonzero(~seen.all(axis=1)):
            known, hidden = np.flatnonzero(seen[k]), np.flatnonzero(~seen[k])
            both, within, apart = (known[:, None], known), (hidden[:, None], hidden), (hidden[:, None], known)
            covariance, mean, rows = covariances[k], means[k], self.rows[k]
            slope = np.linalg.solve(covariance[both], covariance[apart].T).T
            start = mean[hidden] - slope @ mean[known]
            first, second = self.firsts[k, known], self.seconds[k][both]
            expected = rows * start + slope @ first
            across = start[:, None] * first + slope @ second
            firsts[k, hidden] = expected
            seconds[k][apart], seconds[k].T[apart] = across, across
            rest = covariance[within] - slope @ covariance[apart].T
            seconds[k][within] = rows * rest + expected[:, None] * start + across @ slope.T
        return Moments(self.rows, firsts, seconds)

    def means(self, prior: float) -> Numbers:
        """The mean of each component, with so many rows at 0 beside its own."""
        return np.asarray(self.firsts / (self.rows + prior)[:, None])

    def scatters(self, means: Numbers) -> Numbers:
        """The scatter of each component's rows about a mean."""
        cross = np.einsum("ki,kj->kij", means, self.firsts)
        square = np.einsum("k,ki,kj->kij", self.rows, means, means)
        return np.asarray(self.seconds - cross - cross.transpose(0, 2, 1) + square)
