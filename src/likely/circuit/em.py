"""Expectation-maximisation of a circuit's weights and leaves, whatever its structure.

Rows are given by their bins. A round asks the compiled core for the expected counts: how many rows pass each edge of a
sum and fall into each bin of each leaf, given the parameters so far. The new parameters are the most probable ones for
these counts under a Dirichlet prior: `strength` pseudo-rows, spread over the bins of a leaf as `prior` is (the smoothed
marginal of its variable). The penalised likelihood of the training rows never falls from round to round.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from likely._core import Circuit as CoreCircuit
from likely.schema.values import Numbers

Places = NDArray[np.int32]


@dataclass(frozen=True)
class Table:
    """Rows as bins: what the learners learn from."""

    bins: Numbers  # row x variable; the bin's number, NaN where unknown
    weights: Numbers  # of rows
    room: tuple[Numbers, ...]  # per variable, the room of each bin
    prior: tuple[Numbers, ...]  # per variable, the smoothed marginal

    def rows(self, which: NDArray[np.bool_] | NDArray[np.intp]) -> Table:
        """Some of the rows."""
        return replace(self, bins=np.ascontiguousarray(self.bins[which]), weights=self.weights[which])

    def __len__(self) -> int:
        return len(self.bins)


@dataclass(frozen=True)
class Parameters:
    """A circuit as arrays: structure, weights, and per variable the leaves' probabilities of bins."""

    kind: Places
    start: NDArray[np.int64]
    child: Places
    weight: Numbers
    leaves: tuple[Places, ...]  # per variable, the places of its leaves
    tables: tuple[Numbers, ...]  # per variable, leaf x bin

    def core(self, table: Table) -> CoreCircuit:
        """The compiled circuit over bins; its densities are those of the raw values."""
        core = CoreCircuit(self.kind, self.start, self.child, self.weight, 0.0)
        for leaves, probabilities, room in zip(self.leaves, self.tables, table.room, strict=True):
            count, width = probabilities.shape
            steps = np.zeros((count, width + 2))
            steps[:, 1:-1] = probabilities / room
            core.add_variable(np.arange(width + 1.0), leaves, steps, np.zeros(count, dtype=np.int32), np.zeros((count, 3)))
        return core


@dataclass(frozen=True)
class Expected:
    """Expected counts of one round."""

    log_likelihood: Numbers  # per row
    edges: Numbers
    leaves: tuple[Numbers, ...]  # per variable, leaf x bin


def expect(parameters: Parameters, table: Table, threads: int = 0) -> Expected:
    """The expected counts under the parameters."""
    logs, edges, flat = parameters.core(table).expect(table.bins, table.weights, threads)
    counts, offset = [], 0
    for probabilities in parameters.tables:
        count, width = probabilities.shape
        size = count * (width + 3)  # a cell below, one above, one for the unknown
        counts.append(flat[offset : offset + size].reshape(count, width + 3)[:, 1 : width + 1])
        offset += size
    return Expected(logs, edges, tuple(counts))


def maximise(parameters: Parameters, expected: Expected, table: Table, strength: float) -> Parameters:
    """The parameters that are most probable given the expected counts."""
    weight = parameters.weight.copy()
    for node in np.flatnonzero(parameters.kind == 0):
        own = slice(parameters.start[node], parameters.start[node + 1])
        counts = expected.edges[own] + 1e-3  # a child that lost all its rows may come back
        weight[own] = counts / counts.sum()
    tables = tuple(smoothed(counts, prior, strength) for counts, prior in zip(expected.leaves, table.prior, strict=True))
    return replace(parameters, weight=weight, tables=tables)


def smoothed(counts: Numbers, prior: Numbers, strength: float) -> Numbers:
    """Probabilities of bins from counts and `strength` pseudo-rows of the prior."""
    found = counts + strength * prior
    return np.asarray(found / found.sum(axis=-1, keepdims=True))


def mean_log_likelihood(parameters: Parameters, table: Table, threads: int = 0) -> float:
    """The mean over rows, by their weights."""
    logs = parameters.core(table).evaluate(table.bins, 0, threads)
    return float(logs @ table.weights / table.weights.sum())
