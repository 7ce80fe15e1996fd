"""Gaussian blocks: nodes over several numeric variables at once.

    log p(x) = log N(z; mean, Sigma) + sum_j log T_j'(x_j),    z_j = T_j(x_j),    Sigma = L L'

with a warp T_j per variable (`likely.circuit.model.warps`): a Gaussian copula whose marginals are warped Gaussians. Marginals
(a part of Sigma) and conditionals (its Schur complement) are blocks again.

The floor of a circuit is the least density of a leaf of one variable; a block of d variables stands for d leaves, so that its
density is at least floor ** d, and at least floor ** m where m of its variables are known.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from likely.circuit.model.numbers import finite
from likely.circuit.model.warps import Warp
from likely.errors import CircuitError
from likely.schema.values import Numbers

_LOG_ROOT_2PI = 0.5 * math.log(2 * math.pi)


@dataclass(frozen=True)
class GaussianBlock:
    """A density of several numeric variables: a Gaussian in warped coordinates.

    Args:
        variables: Their places among the circuit's variables, increasing, at least one.
        warps: One per variable.
        mean: Of the warped values, one number per variable.
        factor: The lower-triangular Cholesky factor L of their covariance L L'; row i has i + 1 numbers, the last positive.

    Raises:
        CircuitError: If the parts do not fit each other.
    """

    kind: ClassVar[str] = "block"
    variables: tuple[int, ...]
    warps: tuple[Warp, ...]
    mean: tuple[float, ...]
    factor: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "variables", _variables(self.variables))
        object.__setattr__(self, "warps", tuple(self.warps))
        object.__setattr__(self, "mean", finite(self.mean, "The mean of a block"))
        object.__setattr__(self, "factor", tuple(finite(row, "The factor of a block") for row in _rows(self.factor)))
        count = len(self.variables)
        for thing, size in (("warp", len(self.warps)), ("mean", len(self.mean)), ("row of the factor", len(self.factor))):
            if size != count:
                raise CircuitError("A block", f"have a {thing} per variable ({count})", size, "give as many")
        if not all(isinstance(warp, Warp) for warp in self.warps):
            raise CircuitError("The warps of a block", "be Warps", self.warps, "use Warp.identity() to change nothing")
        if [len(row) for row in self.factor] != list(range(1, count + 1)) or any(row[-1] <= 0 for row in self.factor):
            raise CircuitError(
                "The factor of a block", "be lower triangular (row i has i + 1 numbers) with a positive diagonal",
                self.factor, "take the rows of numpy.linalg.cholesky(covariance) up to the diagonal",
            )  # fmt: skip

    @cached_property
    def lower_factor(self) -> Numbers:
        """The factor L as a square matrix."""
        matrix = np.zeros((len(self.factor), len(self.factor)))
        for i, row in enumerate(self.factor):
            matrix[i, : i + 1] = row
        return matrix

    @cached_property
    def covariance(self) -> Numbers:
        """The covariance L L' of the warped values."""
        return np.asarray(self.lower_factor @ self.lower_factor.T)

    @cached_property
    def precision(self) -> Numbers:
        """The inverse of the covariance."""
        root = np.linalg.solve(self.lower_factor, np.eye(len(self.mean)))
        return np.asarray(root.T @ root)

    def warped(self, rows: Numbers) -> Numbers:
        """The warped coordinates z of rows.

        Args:
            rows: A column per variable of the block.
        """
        return np.column_stack([warp(rows[:, i]) for i, warp in enumerate(self.warps)])

    def log_density(self, rows: Numbers, floor: float = 0.0) -> Numbers:
        """log p of each row; a NaN is summed over.

        Args:
            rows: A column per variable of the block (not of the circuit: `rows[:, block.variables]`).
            floor: The floor of the circuit: the density is at least its m-th power, with m values known.
        """
        rows = np.asarray(rows, dtype=np.float64)
        unknown = np.isnan(rows)
        logs = np.zeros(len(rows))
        for pattern in np.unique(unknown, axis=0) if unknown.any() else unknown[:1]:
            which = np.flatnonzero((unknown == pattern).all(axis=1))
            known = np.flatnonzero(~pattern)
            if known.size:
                logs[which] = self.marginal(known.tolist())._log_density(rows[np.ix_(which, known)])
        with np.errstate(divide="ignore", invalid="ignore"):
            least = (~unknown).sum(axis=1) * np.log(floor) if floor > 0 else -np.inf
        return np.asarray(np.maximum(logs, least))

    def _log_density(self, rows: Numbers) -> Numbers:
        """log p of rows without unknowns, no floor."""
        slopes = np.column_stack([warp.log_slope(rows[:, i]) for i, warp in enumerate(self.warps)]).sum(axis=1)
        away = np.where(np.isneginf(slopes)[:, None], 0.0, self.warped(rows) - self.mean)
        whitened = np.linalg.solve(self.lower_factor, away.T)
        with np.errstate(over="ignore", invalid="ignore"):
            logs = slopes - 0.5 * (whitened**2).sum(axis=0) - self.log_normaliser
        return np.asarray(np.nan_to_num(logs, nan=-np.inf, neginf=-np.inf))

    @cached_property
    def log_normaliser(self) -> float:
        """log of (2 pi)^(d/2) det L, which the Gaussian density is divided by."""
        return float(np.log(np.diag(self.lower_factor)).sum() + len(self.mean) * _LOG_ROOT_2PI)

    def marginal(self, kept: Sequence[int]) -> GaussianBlock:
        """The marginal density of some of the block's variables: a block of their part of the covariance.

        Args:
            kept: Places within the block, increasing, at least one.
        """
        if list(kept) == list(range(len(self.variables))):
            return self
        return self._part(kept, np.array(self.mean)[kept], self.covariance[np.ix_(kept, kept)])

    def conditional(self, row: Numbers) -> GaussianBlock:
        """The density of the variables that are NaN in a row, given the others: a block of the Schur complement.

        A value where the block has no density says nothing about the others.

        Args:
            row: A number per variable of the block, at least one of them NaN.
        """
        z = self.warped(np.asarray(row, dtype=np.float64)[None, :])[0]
        given, kept = np.flatnonzero(np.isfinite(z)), np.flatnonzero(np.isnan(z))
        gain = np.linalg.solve(self.covariance[np.ix_(given, given)], self.covariance[np.ix_(given, kept)]).T
        mean = np.array(self.mean)[kept] + gain @ (z - self.mean)[given]
        return self._part(kept.tolist(), mean, self.covariance[np.ix_(kept, kept)] - gain @ self.covariance[np.ix_(given, kept)])

    def _part(self, kept: Sequence[int], mean: Numbers, covariance: Numbers) -> GaussianBlock:
        factor = np.linalg.cholesky(covariance)
        return GaussianBlock(
            tuple(self.variables[i] for i in kept),
            tuple(self.warps[i] for i in kept),
            tuple(mean),
            tuple(tuple(row[: i + 1]) for i, row in enumerate(factor)),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back without loss."""
        return {
            "kind": self.kind,
            "variables": list(self.variables),
            "warps": [warp.to_dict() for warp in self.warps],
            "mean": list(self.mean),
            "factor": [list(row) for row in self.factor],
        }


def _variables(places: Any) -> tuple[int, ...]:
    try:
        indices = tuple(operator.index(place) for place in places)
    except TypeError:
        raise CircuitError(
            "The variables of a block", "be places among the variables", repr(places), "give a list of integers"
        ) from None
    if not indices or any(a >= b for a, b in pairwise(indices)):
        raise CircuitError("The variables of a block", "increase, at least one", indices, "sort them")
    return indices


def _rows(factor: Any) -> list[Any]:
    try:
        return list(factor)
    except TypeError:
        raise CircuitError("The factor of a block", "be rows of numbers", repr(factor), "give a list of lists") from None
