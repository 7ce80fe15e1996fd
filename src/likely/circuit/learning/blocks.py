"""Mixtures whose components are products of a warped Gaussian block and leaves of the other variables.

Columns of numbers with many values share a block: warped (`likely.circuit.learning.blocks_warps`), they are Gaussian within
a component, with a covariance. All other variables, the class among them, have a leaf per component, shrunk towards the
marginals (`likely.circuit.learning.smoothing`). Components are learned by expectation-maximisation (EM; Dempster, Laird and
Rubin 1977) from a start (`likely.circuit.learning.blocks_start`); what is unknown in a row is expected, given the rest of it.

A column with *atoms*, values that very many rows share (no debt, a default), is in the block of some components and has a leaf
in the others: in those whose rows are mostly at an atom. A special code has no place on a warp, so that a row with one cannot be
of a component with the column in its block; the background has leaves for all columns with atoms or codes, and every row can be
of it.

The covariance of a component is shrunk twice, as held-out rows advise (`likely.circuit.learning.blocks_selection`): towards
that of all components together, as if `pooled` more rows of theirs had been seen, and towards its diagonal, by the share
`independent`. The latter is never 0, so that columns that are copies of each other do no harm. A value that is recorded to a
step may be anything within its cell, which adds to the variance: no component is narrower than a cell.

A last component, the background, is as wide as the whole table and wider: a row that breaks one of the relations between
columns is unlikely then, but no more than that, and does not decide alone what held-out rows seem to say.

Components may differ in their *widths* before all: a scale mixture of Gaussians of about one shape, the way to a heavy tail
(Student's t is one; Andrews and Mallows 1974). Then their covariances are shrunk towards the common shape times a width of their
own, and the background is wider still than the widest, as the tail goes on beyond the rows seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from likely.circuit.learning import blocks_moments
from likely.circuit.learning.binned import Binned
from likely.circuit.learning.bins import Indices
from likely.circuit.learning.blocks_moments import Flags, Moments
from likely.circuit.learning.smoothing_together import JointShrinkage
from likely.circuit.model.warps import Warp
from likely.schema.values import Numbers, is_code

#: Where components begin within a class (`likely.circuit.learning.blocks_start`); with "widths" they are a scale mixture.
Start: TypeAlias = Literal["clusters", "shells", "widths"]

#: The most rounds of EM, the gain per row in nats that ends them, and how often leaves are smoothed anew.
ROUNDS, NO_GAIN, REFIT_EVERY = 60, 1e-3, 5
#: Pseudo-rows of every component, and of the mean of all rows in its mean.
LEAST_ROWS, MEAN_ROWS = 0.1, 0.1
#: The least variance of a warped column in a component: that of all rows is 1.
LEAST_VARIANCE = 1e-8
#: The background: its variance, that of all rows being 1, the share of its diagonal, and its pseudo-rows.
WIDE, LOOSE, BACKGROUND_ROWS = 2.0, 0.3, 1.0
#: Of a scale mixture: the variance of the background, that of the widest component being 1, and the rounds in which widths and
#: shape settle, with the share of the diagonal and the rows of width 1 that keep them from nonsense.
WIDER, SCALE_ROUNDS, SCALE_LOOSE, SCALE_ROWS = 100.0, 5, 0.02, 0.1
#: A component has a leaf for a column if at least this share of its rows is at an atom of it.
MOSTLY = 0.5


@dataclass(frozen=True, eq=False)
class BlockTable:
    """Rows as the learner sees them: warped columns of the block, and the bins of the other variables."""

    columns: tuple[int, ...]  # which variables are in the block
    warped: Numbers  # row x column of the block; NaN where unknown
    log_slopes: Numbers  # of the warps, row x column; 0 where unknown
    atoms: Flags  # whether a row is at an atom of the column, or has a code
    coded: Flags  # whether it has a code
    others: Binned  # all variables by their bins
    leaves: tuple[int, ...]  # which variables have leaves: those without a warp, and the columns with atoms or codes
    rounding: Numbers  # per column, the variance within the cells of its step (Sheppard's correction), in warped units
    groups: Indices  # the class of each row, 0 where there is none
    threads: int = 1  # that work on it

    @classmethod
    def of(
        cls,
        rows: Numbers,
        binned: Binned,
        warps: dict[int, Warp],
        groups: Indices,
        atoms: dict[int, tuple[float, ...]] | None = None,
        *,
        threads: int = 1,
    ) -> BlockTable:
        """Encoded rows, warped; the variables without a warp have leaves, and those with atoms or codes too."""
        columns, values = tuple(warps), atoms or {}
        inside = {j: np.clip(rows[:, j], binned.bins[j].feature.lower, binned.bins[j].feature.upper) for j in columns}
        coded = is_code(rows[:, list(columns)])
        warped = np.where(coded, 0.0, np.column_stack([warps[j](inside[j]) for j in columns]))
        slopes = np.where(coded, 0.0, np.nan_to_num(np.column_stack([warps[j].log_slope(inside[j]) for j in columns]), nan=0.0))
        at = coded | np.column_stack([np.isin(rows[:, j], values.get(j, ())) for j in columns])
        leaves = tuple(j for j in range(rows.shape[1]) if j not in warps or values.get(j) or binned.bins[j].codes)
        grids = np.array([binned.bins[j].feature.grid or 0.0 for j in columns])
        steps = np.where(np.isnan(warped) | at, np.nan, np.exp(slopes) * grids)
        rounding = np.nanmean(np.vstack([steps**2, np.zeros_like(grids)]), axis=0) / 12
        return cls(columns, warped, slopes, at, coded, binned, leaves, rounding, groups, threads)

    def only(self, columns: tuple[int, ...]) -> BlockTable:
        """With these columns in the block, some of its own; the others have leaves."""
        kept = [place for place, j in enumerate(self.columns) if j in columns]
        return replace(
            self,
            columns=columns,
            warped=self.warped[:, kept],
            log_slopes=self.log_slopes[:, kept],
            atoms=self.atoms[:, kept],
            coded=self.coded[:, kept],
            leaves=tuple(j for j in range(len(self.others.bins)) if j not in columns or j in self.leaves),
            rounding=self.rounding[kept],
        )

    @property
    def weights(self) -> Numbers:
        return self.others.weights

    def __len__(self) -> int:
        return len(self.warped)

    @cached_property
    def parts(self) -> list[tuple[Indices, Flags, Numbers]]:
        """Rows with the same known columns of the block: their places, which columns those are, and the rows, unknowns as 0."""
        known = ~np.isnan(self.warped)
        packed = np.ascontiguousarray(np.packbits(known, axis=1))
        _, first, which = np.unique(packed.view(f"V{packed.shape[1]}").ravel(), return_index=True, return_inverse=True)
        kinds, order = known[first], np.argsort(which, kind="stable")
        places = np.split(order, np.cumsum(np.bincount(which))[:-1])
        filled = np.ascontiguousarray(np.where(known, self.warped, 0.0))
        return [(rows, kind, filled[rows]) for rows, kind in zip(places, kinds, strict=True)]

    @cached_property
    def cells(self) -> Any:
        """A column per bin of each variable with leaves (a sparse matrix, row x bin): 1 where a row is in it."""
        from scipy.sparse import csr_matrix

        sizes = np.array([len(self.others.bins[j]) for j in self.leaves], dtype=np.intp)
        places = self.others.places[:, list(self.leaves)].astype(np.intp)
        known = places < sizes
        ends = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
        columns = (places + np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp) if len(sizes) else places)[known]
        return csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(self), int(sizes.sum())))

    @cached_property
    def ends(self) -> Indices:
        """Where the bins of each variable with leaves begin among the cells, but for the first."""
        return np.cumsum([len(self.others.bins[j]) for j in self.leaves])[:-1].astype(np.intp)

    @cached_property
    def measures(self) -> Numbers:
        """The log of the width of each cell where a row has a leaf for a column of the block; 0 for the other variables."""
        return np.concatenate([np.zeros(0)] + [np.log(self.others.bins[j].measure) * (j in self.columns) for j in self.leaves])


@dataclass(frozen=True)
class Settings:
    """How large and how free a mixture is, and where it begins."""

    components: int  # but for the background
    pooled: float
    independent: float
    background: bool = True
    start: Start = "clusters"


@dataclass(frozen=True)
class BlockMixture:
    """Components: their weights, the mean and covariance of each one's block, and the expected rows in bins of leaves."""

    columns: tuple[int, ...]
    leaves: tuple[int, ...]
    weights: Numbers
    means: Numbers  # component x column
    covariances: Numbers  # component x column x column
    inside: Flags  # component x column: whether the column is in the component's block; it has a leaf if not
    counts: tuple[Numbers, ...]  # per variable with leaves, component x bin
    shrinkage: JointShrinkage
    interrupted: bool = False

    @property
    def components(self) -> int:
        return len(self.weights)

    @property
    def parameters(self) -> int:
        """The numbers that were learned: of each component its weight, its mean and covariance, and its leaves' bins."""
        size = self.inside.sum(axis=1)
        blocks = (1 + size + size * (size + 1) // 2).sum()
        leaves = sum(int(self.uses(j).sum()) * (counts.shape[1] - 1) for j, counts in zip(self.leaves, self.counts, strict=True))
        return int(blocks + leaves - 1)

    def uses(self, variable: int) -> Flags:
        """Which components have a leaf of a variable."""
        if variable in self.columns:
            return ~self.inside[:, self.columns.index(variable)]
        return np.ones(self.components, dtype=np.bool_)

    def tables(self) -> list[Numbers]:
        """Per variable with leaves, the probability of each bin in each component; some have no such leaf (`uses`)."""
        if not self.leaves:
            return []
        ends = np.cumsum([counts.shape[1] for counts in self.counts])[:-1]
        return np.split(self.probabilities, ends, axis=1)

    @cached_property
    def probabilities(self) -> Numbers:
        """Of each bin of each variable with leaves, in each component."""
        return self.shrinkage.probabilities(np.concatenate(self.counts, axis=1))

    @cached_property
    def used(self) -> Flags:
        """Which components have a leaf of the variable of each bin (component x bin)."""
        used = np.column_stack([self.uses(j) for j in self.leaves])
        return np.repeat(used, [counts.shape[1] for counts in self.counts], axis=1)

    def by_cells(self, rounding: Numbers) -> BlockMixture:
        """What makes of a row, nearly, the mean density of the cells of its steps: with the variance within them added once more.

        Densities are compared by it: one that is narrower than a cell has more in the middle of it, and has learned nothing.
        """
        return replace(self, covariances=self.covariances + np.diag(rounding))

    def refitted(self) -> BlockMixture:
        """With the strengths of smoothing that suit the leaves as they are now."""
        if not self.leaves:
            return self
        return replace(self, shrinkage=self.shrinkage.fitted(np.where(self.used, np.concatenate(self.counts, axis=1), 0.0)))


def fit(
    table: BlockTable,
    settings: Settings,
    first: Numbers,
    *,
    rounds: int = ROUNDS,
    progress: Callable[[float], None] = lambda _: None,
) -> BlockMixture:
    """A mixture, from responsibilities to begin with (`blocks_start.start`). Ctrl-C ends it with what it has."""
    mixture = maximised(table, first, settings, None)
    before = -np.inf
    try:
        for done in range(rounds):
            if done % REFIT_EVERY == 1:
                mixture = mixture.refitted()
            logs = joint_logs(mixture, table)
            total = _log_sum(logs)
            now = float(np.average(total, weights=table.weights))
            if now - before < NO_GAIN and done > 2:
                break
            before = now
            mixture = maximised(table, np.exp(logs - total[:, None]), settings, mixture)
            progress((done + 1) / rounds)
    except KeyboardInterrupt:
        return replace(mixture, interrupted=True)
    return mixture


def responsibilities(mixture: BlockMixture, table: BlockTable) -> Numbers:
    """The probability of each component in each row (row x component)."""
    logs = joint_logs(mixture, table)
    return np.asarray(np.exp(logs - _log_sum(logs)[:, None]))


def log_densities(mixture: BlockMixture, table: BlockTable) -> Numbers:
    """The log-likelihood of each row, its density per unit of raw features."""
    logs = _log_sum(joint_logs(mixture, table)) + table.log_slopes.sum(axis=1)
    for j in table.leaves:
        if j not in table.columns:
            logs -= np.append(np.log(table.others.bins[j].measure), 0.0)[table.others.places[:, j]]
    return np.asarray(logs)


# -- expectation ------------------------------------------------------------------------------------------------------


def joint_logs(mixture: BlockMixture, table: BlockTable) -> Numbers:
    """log of weight times density of each component in each row (row x component), in warped columns and bins."""
    logs = np.tile(np.log(mixture.weights), (len(table), 1))
    if table.leaves:
        leaves = np.log(np.maximum(mixture.probabilities, 1e-300)) - table.measures
        logs += table.cells @ np.where(mixture.used, leaves, 0.0).T
        logs -= table.log_slopes @ (~mixture.inside).T
    for rows, known, z in table.parts:
        seen = mixture.inside & known
        logs[rows] += blocks_moments.log_densities(z, mixture.means, mixture.covariances, seen, table.threads)
    if table.coded.any():
        logs[table.coded @ mixture.inside.T] = -np.inf
    return logs


def _log_sum(logs: Numbers) -> Numbers:
    most = logs.max(axis=1)
    return np.asarray(most + np.log(np.exp(logs - most[:, None]).sum(axis=1)))


# -- maximisation -----------------------------------------------------------------------------------------------------


def maximised(table: BlockTable, shares: Numbers, settings: Settings, before: BlockMixture | None) -> BlockMixture:
    """The mixture that the responsibilities (row x component) make; `before` says what to expect of hidden columns."""
    if settings.background and shares.shape[1] == settings.components:
        shares = np.column_stack([shares, np.zeros(len(shares))])
    counted = shares * table.weights[:, None]
    rows = counted.sum(axis=0)
    inside = _inside(table, counted, rows, settings) if before is None else before.inside
    prior = np.where(np.arange(len(rows)) < settings.components, LEAST_ROWS, BACKGROUND_ROWS)
    counts = np.split((table.cells.T @ counted).T, table.ends, axis=1) if table.leaves else []
    moments = _moments(table, counted[:, : settings.components], inside[: settings.components], before)
    means = moments.means(MEAN_ROWS)  # the mean of all rows is 0
    scatters = moments.scatters(means)
    scaled = settings.start == "widths"
    widths, shape = _widths(moments.rows, scatters) if scaled else _one_width(moments.rows, scatters)
    covariances = _shrunk(moments.rows, scatters, widths, shape, settings) + np.diag(table.rounding)
    if settings.background:
        wide = WIDER * widths.max() * shape if scaled else WIDE * _whole(moments.rows, means, scatters)
        covariances = np.concatenate([covariances, _loosened(wide, LOOSE)[None]])
        means = np.vstack([means, np.zeros(len(table.columns))])
    shrinkage = JointShrinkage(tuple(table.others.shrinkage[j] for j in table.leaves)) if before is None else before.shrinkage
    weights = (rows + prior) / (rows + prior).sum()
    return BlockMixture(table.columns, table.leaves, weights, means, covariances, inside, tuple(counts), shrinkage)


def _inside(table: BlockTable, counted: Numbers, rows: Numbers, settings: Settings) -> Flags:
    """Which columns are in the block of each component: not those whose atoms or codes most of its rows have."""
    share = (counted.T @ table.atoms) / np.maximum(rows, 1e-300)[:, None]
    inside = share < MOSTLY
    inside[settings.components :] = [j not in table.leaves for j in table.columns]
    return np.asarray(inside)


def _moments(table: BlockTable, counted: Numbers, inside: Flags, before: BlockMixture | None) -> Moments:
    """What the rows of each component sum up to; hidden columns as expected given the others."""
    count, size = inside.shape
    means = np.zeros(inside.shape) if before is None else before.means[:count]
    covariances = np.broadcast_to(np.eye(size), (count, size, size)) if before is None else before.covariances[:count]
    whole: Moments | None = None
    for rows, known, z in table.parts:
        completed = Moments.of(z, counted[rows], table.threads).completed(inside & known, means, covariances)
        whole = completed if whole is None else whole + completed
    assert whole is not None, "there are rows"
    return whole


def _whole(rows: Numbers, means: Numbers, scatters: Numbers) -> Numbers:
    """The covariance of all rows about 0."""
    between = (means * rows[:, None]).T @ means
    return np.asarray((scatters.sum(axis=0) + between) / max(float(rows.sum()), 1e-300))


def _loosened(covariances: Numbers, share: float) -> Numbers:
    """Covariances (or one), shrunk towards their diagonal by a share."""
    diagonal = np.maximum(np.einsum("...ii->...i", covariances), LEAST_VARIANCE)
    loosened = (1 - share) * covariances
    place = np.arange(covariances.shape[-1])
    loosened[..., place, place] = diagonal
    return np.asarray(loosened)


def _one_width(rows: Numbers, scatters: Numbers) -> tuple[Numbers, Numbers]:
    """The widths 1 of all components, and the covariance within them all."""
    return np.ones(len(rows)), scatters.sum(axis=0) / max(float(rows.sum()), 1e-300)


def _widths(rows: Numbers, scatters: Numbers) -> tuple[Numbers, Numbers]:
    """The width of each component, and the shape that they have in common: covariances are about width times shape.

    In turn, a width is the mean distance of a component's rows in the shape, and the shape is the covariance of all rows, each
    divided by the width of its component: the maximum-likelihood estimates, but for `SCALE_ROWS`.
    """
    widths, shape = _one_width(rows, scatters)
    size = len(shape)
    for _ in range(SCALE_ROUNDS):
        inverse = np.linalg.inv(_loosened(shape, SCALE_LOOSE))
        distances = np.einsum("ij,kji->k", inverse, scatters) / size
        widths = np.maximum((distances + SCALE_ROWS) / (rows + SCALE_ROWS), LEAST_VARIANCE)
        shape = np.einsum("k,kij->ij", 1 / widths, scatters) / max(float(rows.sum()), 1e-300)
    return widths, shape


def _shrunk(rows: Numbers, scatters: Numbers, widths: Numbers, shape: Numbers, settings: Settings) -> Numbers:
    """The covariance of every component from its scatter, and from the shape of all times its own width."""
    usual = settings.pooled * widths[:, None, None] * shape
    return _loosened((scatters + usual) / (rows + settings.pooled)[:, None, None], settings.independent)
