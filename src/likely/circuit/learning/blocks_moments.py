"""What a mixture of Gaussians needs of rows: products of their columns, in and out of which everything is linear.

The log-density of a Gaussian is linear in the *products* (1, z_i, z_i z_j) of a row, and its mean and covariance are made of
sums of them. So both steps of expectation-maximisation, for all components at once, are products of matrices:

    logs = products @ coefficients'                    (row x component)
    sums = responsibilities' @ products                (component x product)

A column that is unknown in a row, or no part of a component's block, is *hidden* from the component. What is expected of it
is linear in the rest; so sums over rows with the same hidden columns are completed all together (`Moments.completed`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from likely.circuit.learning.bins import Indices
from likely.schema.values import Numbers

Flags: TypeAlias = NDArray[np.bool_]

#: Products of at most so many cells are kept; of more, they are made part by part whenever they are needed.
MOST_CELLS = 2**23
_LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class Products:
    """The products of rows, part by part."""

    warped: Numbers  # row x column; 0 where unknown

    @cached_property
    def pairs(self) -> tuple[Indices, Indices]:
        """The columns of each product of two."""
        return np.triu_indices(self.warped.shape[1])

    @property
    def width(self) -> int:
        """How many products a row has."""
        return int(1 + self.warped.shape[1] + len(self.pairs[0]))

    @cached_property
    def _whole(self) -> Numbers:
        return self._made(self.warped)

    def _made(self, z: Numbers) -> Numbers:
        made = np.empty((len(z), self.width))
        made[:, 0] = 1.0
        made[:, 1 : 1 + z.shape[1]] = z
        np.multiply(z[:, self.pairs[0]], z[:, self.pairs[1]], out=made[:, 1 + z.shape[1] :])
        return made

    def parts(self) -> Iterator[tuple[slice, Numbers]]:
        """Which rows, and their products (row x product)."""
        if self.warped.shape[0] * self.width <= MOST_CELLS:
            yield slice(0, len(self.warped)), self._whole
            return
        step = max(1, MOST_CELLS // self.width)
        for start in range(0, len(self.warped), step):
            yield slice(start, start + step), self._made(self.warped[start : start + step])

    def coefficients(self, means: Numbers, covariances: Numbers, seen: Flags) -> Numbers:
        """Of the log-density of each component's columns that are seen (component x product)."""
        result = np.zeros((len(means), self.width))
        for kind, which in _alike(seen):
            columns = np.flatnonzero(kind)
            if not len(columns):
                continue
            across = which[:, None, None], columns[:, None], columns
            factor = np.linalg.cholesky(covariances[across])
            root = np.linalg.inv(factor)
            inverse = np.zeros((len(which), *covariances.shape[1:]))
            inverse[np.arange(len(which))[:, None, None], columns[:, None], columns] = root.transpose(0, 2, 1) @ root
            pull = np.einsum("kij,kj->ki", inverse, means[which])
            halves = np.log(np.einsum("kii->ki", factor)).sum(axis=1) + len(columns) * _LOG_2PI / 2
            result[which, 0] = -halves - (pull * means[which]).sum(axis=1) / 2
            result[which, 1 : 1 + len(kind)] = pull
            i, j = self.pairs
            result[which[:, None], 1 + len(kind) + np.arange(len(i))] = -inverse[:, i, j] * np.where(i == j, 0.5, 1.0)
        return result

    def moments(self, sums: Numbers) -> Moments:
        """Sums over rows (component x product) as rows, sums of columns and of products of two."""
        size = self.warped.shape[1]
        i, j = self.pairs
        seconds = np.empty((len(sums), size, size))
        seconds[:, i, j] = seconds[:, j, i] = sums[:, 1 + size :]
        return Moments(sums[:, 0], sums[:, 1 : 1 + size], seconds)


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
