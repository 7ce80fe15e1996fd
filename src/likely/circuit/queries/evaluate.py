"""One bottom-up sweep, many algebras: likelihoods, approximations from both sides, bounds, derivatives, probabilities.

A circuit is a formula of sums and products over its leaves, the network polynomial (Darwiche 2003). What stands in the
leaves, and what a sum does with its children, decides what the root is:

    leaves at a row's values            sum          the likelihood
                                        max          the paper's approximation, from below: the best induced tree
                                        both maxima  its counterpart, from above
    leaves at 1 for unknown values      sum          the marginal likelihood of the evidence
    leaves at extremes over a box       sum          bounds for every row of the box
    leaves at their mass in a box       sum          the probability of the box

A sweep back down gives the derivative by every leaf. Batches of rows run in the compiled core. All results are natural
logarithms; densities are per unit of raw features.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import pandas as pd

from likely._jobs import thread_count
from likely.circuit.model.blocks import GaussianBlock
from likely.circuit.model.box import Box, leaf_logs, mass_logs, points_of, regions_of
from likely.circuit.model.cells import Algebra
from likely.circuit.model.circuit import Circuit
from likely.circuit.queries.block_bounds import bounds_of_blocks, known_bounds
from likely.errors import CircuitError
from likely.schema.region import Region, below
from likely.schema.values import Name, Numbers


def log_likelihood(
    circuit: Circuit, rows: pd.DataFrame | Numbers, *, marginal: bool = False, n_jobs: int | None = None
) -> Numbers:
    """log p(row) of each row, exactly; what is unknown (`circuit.encode` says what is) is summed over.

    Args:
        circuit: The distribution.
        rows: A table with its columns, or encoded rows (`circuit.encode`).
        marginal: Whether columns may be left out of the table, to be summed over.
        n_jobs: Threads to work on; None or -1 for one per core. The same bits on any number.

    Returns:
        A number per row.
    """
    return circuit.log_likelihood(rows, marginal=marginal, n_jobs=n_jobs)


def max_log_likelihood(
    circuit: Circuit,
    rows: pd.DataFrame | Numbers,
    *,
    side: Literal["under", "over"] = "under",
    n_jobs: int | None = None,
) -> Numbers:
    """An approximation of log p(row) that has no sums, from below or from above.

    With t_a = w_a o_a the weighted children of a sum, there are n of them:
      "under": max_a t_a <= sum_a t_a, what the paper puts into its programme (the maximiser circuit);
      "over": min(n max_a t_a, max_a o_a) >= sum_a t_a, since no term exceeds the largest, and a sum is a weighted mean.

    Args:
        circuit: The distribution.
        rows: A table with its columns, or encoded rows (`circuit.encode`).
        side: "under" for a lower bound, "over" for an upper bound.
        n_jobs: Threads to work on; None or -1 for one per core. The same bits on any number.

    Returns:
        A number per row.
    """
    if side not in ("under", "over"):
        raise CircuitError("side", "be 'under' or 'over'", repr(side), "'under' is the paper's")
    algebra = Algebra.UNDER if side == "under" else Algebra.OVER
    return circuit.core.evaluate(circuit.encode(rows), algebra, thread_count(n_jobs, CircuitError))


@dataclass(frozen=True)
class LogLikelihoodBounds:
    """lower <= log p(row) <= upper for every row of a box."""

    lower: float
    upper: float


def bounds(circuit: Circuit, box: Box) -> LogLikelihoodBounds:
    """Bounds of the log-likelihood over all rows of a box: every leaf at its least and at its greatest there.

    Exact where the box is one row; loose where different leaves of one variable are greatest at different values. Blocks
    are bounded by tangents (`queries.block_bounds`), exact over any box for one without warps or without correlations.

    Args:
        circuit: The distribution.
        box: The allowed values of some variables by name; every other variable is free.

    Raises:
        CircuitError: If the box holds no row.
    """
    logs = np.zeros((2, len(circuit.nodes)))
    regions = regions_of(circuit, box)
    for cells, region in zip(circuit.cells, regions, strict=True):
        logs[:, cells.leaves] = cells.log_extremes(region, circuit.floor)
    for place, of_block in bounds_of_blocks(circuit, regions).items():
        logs[:, place] = of_block.lower, of_block.upper
    lower, upper = circuit.core.sweep(logs)[:, -1]
    return LogLikelihoodBounds(float(lower), float(upper))


def log_probability(circuit: Circuit, box: Box) -> float:
    """log P(the row lies in a box). Exact for normalised circuits; the floor is not counted.

    A block of which the box names several correlated variables is integrated numerically, always at the same points, with an
    error of some 1e-5 of its share of the box (`model.block_mass`).

    Args:
        circuit: The distribution.
        box: The allowed values of some variables by name, as the user writes them (`{"colour": "red"}`,
            `{"colour": ["red", "blue"]}`) or as a `Region` (`{"age": Region.between(18, 25)}`); every other variable is free.

    Raises:
        CircuitError: If the box holds no row.
    """
    regions = regions_of(circuit, box)
    logs = mass_logs(circuit, {j: regions[j] for j in map(circuit.index, box)})
    return float(circuit.core.sweep(logs[None, :])[0, -1])


@dataclass(frozen=True)
class Derivatives:
    """The derivative of a circuit by each of its leaves, which answers for every single value at once.

    A circuit is linear in the leaves and blocks of one variable. So with D the derivatives, the sum over those of variable j of
    D_leaf * p_leaf(v) is the likelihood with x_j = v and all else as it was (Darwiche 2003: the partial derivatives of
    the network polynomial). Over a box it bounds, from above, the likelihood of every row of the box with x_j = v.
    """

    circuit: Circuit
    #: log of the root: of the row, or the upper bound over the box
    value: float
    #: log of the derivative by each node
    log_derivative: Numbers
    #: what each variable was: its value, or the values of the box; None where it was summed over
    regions: tuple[Region | None, ...]
    #: the row, if it was one
    row: Numbers | None = None

    def at(self, name: Name, values: Numbers) -> Numbers:
        """The log-likelihood (or its upper bound) with a variable at each of these values and all else as it was.

        Args:
            name: The variable.
            values: Doubles, as `circuit.encode` makes them.
        """
        j, values = self.circuit.index(name), np.asarray(values, dtype=np.float64)
        cells = self.circuit.cells[j]
        blocks = {place: self._block_logs(block, j, values) for place, block in self._blocks(j).items()}
        return self._combined(cells.leaves, cells.log_densities(values, self.circuit.floor), blocks)

    def _blocks(self, variable: int) -> dict[int, GaussianBlock]:
        """The blocks over a variable, by their places."""
        nodes = enumerate(self.circuit.nodes)
        return {place: node for place, node in nodes if isinstance(node, GaussianBlock) and variable in node.variables}

    def _block_logs(self, block: GaussianBlock, variable: int, values: Numbers) -> Numbers:
        """The log density of a block, or its bound, with a variable at each of these values and all else as it was."""
        if self.row is None:
            return np.array([self._block_bound(block, variable, Region.points([value])) for value in values.tolist()])
        rows = np.repeat(self.row[None, :], len(values), axis=0)
        rows[:, variable] = values
        return block.log_density(rows[:, block.variables], self.circuit.floor)

    def _block_bound(self, block: GaussianBlock, variable: int, region: Region) -> float:
        regions = [region if j == variable else other for j, other in enumerate(self.regions)]
        return known_bounds(block, regions, self.circuit.floor).upper

    def cells(self, name: Name) -> tuple[Numbers, Numbers]:
        """Breaks of a variable, and the log-likelihood (or bound) in every cell between, below and above them.

        Exact where no leaf of the variable is parametric and no block has it; those are bounded by their largest value in
        the cell.

        Args:
            name: The variable.
        """
        j = self.circuit.index(name)
        cells = self.circuit.cells[j]
        edges = np.concatenate([[-np.inf], cells.breaks, [np.inf]])
        parts = [Region.between(low, below(high)) for low, high in pairwise(edges)]
        largest = np.array([cells.log_extremes(part, self.circuit.floor)[1] for part in parts]).T
        blocks = {
            place: np.array([self._block_bound(block, j, part) for part in parts]) for place, block in self._blocks(j).items()
        }
        return cells.breaks, self._combined(cells.leaves, largest, blocks)

    def _combined(self, leaves: tuple[int, ...], logs: Numbers, blocks: Mapping[int, Numbers]) -> Numbers:
        places, values = [*leaves, *blocks], np.vstack([logs, *blocks.values()])
        return np.asarray(np.logaddexp.reduce(self.log_derivative[places][:, None] + values, axis=0))


def derivatives(circuit: Circuit, at: pd.DataFrame | Numbers | Box) -> Derivatives:
    """The derivatives at a row, or those of the upper bound over a box.

    Args:
        circuit: The distribution.
        at: A table of one row, one encoded row (NaN for unknown), or a box.

    Raises:
        CircuitError: If there are several rows, or the box holds none.
    """
    if not isinstance(at, Mapping):
        row = circuit.encode(at)
        if len(row) != 1:
            raise CircuitError("Where to differentiate", "be one row or a box", f"{len(row)} rows", "ask row by row")
        logs = leaf_logs(circuit, row)
        regions = points_of(row[0])
    else:
        logs, row = np.zeros((1, len(circuit.nodes))), None
        boxed = regions_of(circuit, at)
        for cells, region in zip(circuit.cells, boxed, strict=True):
            logs[0, cells.leaves] = cells.log_extremes(region, circuit.floor)[1]
        regions = tuple(boxed)
        for place, of_block in bounds_of_blocks(circuit, regions).items():
            logs[0, place] = of_block.upper
    values = circuit.core.sweep(logs)
    log_derivative = circuit.core.differentiate(values)[0]
    return Derivatives(circuit, float(values[0, -1]), log_derivative, regions, None if row is None else row[0])
