"""Mixtures whose components are products of a warped Gaussian block and leaves of the other variables.

Columns of numbers with many values share a block: warped (`likely.circuit.learning.blocks_warps`), they are Gaussian within
a component, with a covariance. All other variables, the class among them, have a leaf per component, shrunk towards the
marginals (`likely.circuit.learning.smoothing`). Components start from clusters within the classes and are learned by
expectation-maximisation (EM; Dempster, Laird and Rubin 1977); what is unknown in a row is expected, given the rest of it.

The covariance of a component is shrunk twice, as held-out rows advise (`likely.circuit.learning.blocks_selection`): towards
that of all components together, as if `pooled` more rows of theirs had been seen, and towards its diagonal, by the share
`independent`. The latter is never 0, so that columns that are copies of each other do no harm.

A last component, the background, is as wide as the whole table and wider: a row that breaks one of the relations between
columns is unlikely then, but no more than that, and does not decide alone what held-out rows seem to say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from likely.circuit.learning.binned import Binned
from likely.circuit.learning.bins import Indices
from likely.circuit.learning.kmeans import k_means
from likely.circuit.learning.smoothing import Shrinkage
from likely.circuit.model.warps import Warp
from likely.schema.values import Numbers

#: The most rounds of EM, the gain per row in nats that ends them, and how often leaves are smoothed anew.
ROUNDS, NO_GAIN, REFIT_EVERY = 60, 1e-3, 5
#: Pseudo-rows of every component, and of the mean of all rows in its mean.
LEAST_ROWS, MEAN_ROWS = 0.1, 0.1
#: The least variance of a warped column in a component: that of all rows is 1.
LEAST_VARIANCE = 1e-8
#: The background: its variance, that of all rows being 1, the share of its diagonal, and its pseudo-rows.
WIDE, LOOSE, BACKGROUND_ROWS = 2.0, 0.3, 1.0
#: Rows that the clusters of a start are found in.
FIRST_ROWS = 10_000


@dataclass(frozen=True)
class BlockTable:
    """Rows as the learner sees them: warped columns of the block, and the bins of the other variables."""

    columns: tuple[int, ...]  # which variables are in the block
    warped: Numbers  # row x column of the block; NaN where unknown
    log_slopes: Numbers  # the sum over the block's columns, in each row
    others: Binned  # all variables by their bins
    leaves: tuple[int, ...]  # which variables have leaves
    groups: Indices  # the class of each row, 0 where there is none

    @classmethod
    def of(cls, rows: Numbers, binned: Binned, warps: dict[int, Warp], groups: Indices) -> BlockTable:
        """Encoded rows, warped; the variables without a warp have leaves."""
        columns = tuple(warps)
        inside = {j: np.clip(rows[:, j], binned.bins[j].feature.lower, binned.bins[j].feature.upper) for j in columns}
        warped = np.column_stack([warps[j](inside[j]) for j in columns])
        slopes = np.column_stack([warps[j].log_slope(inside[j]) for j in columns])
        leaves = tuple(j for j in range(rows.shape[1]) if j not in warps)
        return cls(columns, warped, np.nansum(slopes, axis=1), binned, leaves, groups)

    @property
    def weights(self) -> Numbers:
        return self.others.weights

    def __len__(self) -> int:
        return len(self.warped)

    def patterns(self) -> list[tuple[Indices, Indices]]:
        """Rows with the same known columns of the block: their places, and those columns."""
        known = ~np.isnan(self.warped)
        if known.all():
            return [(np.arange(len(known)), np.arange(known.shape[1]))]
        kinds, which = np.unique(known, axis=0, return_inverse=True)
        return [(np.flatnonzero(which.ravel() == place), np.flatnonzero(kind)) for place, kind in enumerate(kinds)]


@dataclass(frozen=True)
class Settings:
    """How large and how free a mixture is."""

    components: int  # but for the background
    pooled: float
    independent: float
    background: bool = True


@dataclass(frozen=True)
class BlockMixture:
    """Components: their weights, the mean and covariance of each one's block, and the expected rows in bins of leaves."""

    columns: tuple[int, ...]
    leaves: tuple[int, ...]
    weights: Numbers
    means: Numbers  # component x column
    covariances: Numbers  # component x column x column
    counts: tuple[Numbers, ...]  # per variable with leaves, component x bin
    shrinkage: tuple[Shrinkage, ...]
    interrupted: bool = False

    @property
    def components(self) -> int:
        return len(self.weights)

    @property
    def parameters(self) -> int:
        """The numbers that were learned: of each component its weight, its mean and covariance, and its leaves' bins."""
        size = len(self.columns)
        leaves = sum(counts.shape[1] - 1 for counts in self.counts)
        return int(self.components * (1 + size + size * (size + 1) // 2 + leaves) - 1)

    def tables(self) -> list[Numbers]:
        """Per variable with leaves, the probability of each bin in each component."""
        return [shrinkage.probabilities(counts) for shrinkage, counts in zip(self.shrinkage, self.counts, strict=True)]

    def refitted(self) -> BlockMixture:
        """With the strengths of smoothing that suit the leaves as they are now."""
        fitted = (shrinkage.fitted(counts) for shrinkage, counts in zip(self.shrinkage, self.counts, strict=True))
        return replace(self, shrinkage=tuple(fitted))


def fit(
    table: BlockTable, settings: Settings, first: Numbers, *, progress: Callable[[float], None] = lambda _: None
) -> BlockMixture:
    """A mixture, from responsibilities to begin with (`start`). Ctrl-C ends it with what it has."""
    patterns = table.patterns()
    mixture = _maximised(table, first, settings, patterns, None)
    before = -np.inf
    try:
        for done in range(ROUNDS):
            if done % REFIT_EVERY == 1:
                mixture = mixture.refitted()
            logs = joint_logs(mixture, table, patterns)
            total = _log_sum(logs)
            now = float(np.average(total, weights=table.weights))
            if now - before < NO_GAIN and done > 2:
                break
            before = now
            mixture = _maximised(table, np.exp(logs - total[:, None]), settings, patterns, mixture)
            progress((done + 1) / ROUNDS)
    except KeyboardInterrupt:
        return replace(mixture, interrupted=True)
    return mixture


def responsibilities(mixture: BlockMixture, table: BlockTable) -> Numbers:
    """The probability of each component in each row (row x component)."""
    logs = joint_logs(mixture, table, table.patterns())
    return np.asarray(np.exp(logs - _log_sum(logs)[:, None]))


def log_densities(mixture: BlockMixture, table: BlockTable) -> Numbers:
    """The log-likelihood of each row, its density per unit of raw features."""
    logs = _log_sum(joint_logs(mixture, table, table.patterns())) + table.log_slopes
    for j in table.leaves:
        logs -= np.append(np.log(table.others.bins[j].measure), 0.0)[table.others.places[:, j]]
    return logs


# -- start ------------------------------------------------------------------------------------------------------------


def start(table: BlockTable, components: int, random_state: int) -> Numbers:
    """Responsibilities (row x component) to begin with: clusters within each class, more where there are more rows."""
    rng = np.random.default_rng(random_state)
    shares = _shares(np.bincount(table.groups, weights=table.weights).astype(np.float64), components)
    if shares is None:
        return _clusters(table, np.arange(len(table)), components, rng)
    first = np.zeros((len(table), components))
    ends = np.cumsum(shares)
    for group, (end, count) in enumerate(zip(ends, shares, strict=True)):
        inside = np.flatnonzero(table.groups == group)
        if len(inside):
            first[inside, end - count : end] = _clusters(table, inside, count, rng)
    return first


def _shares(rows: Numbers, components: int) -> Indices | None:
    """How many components start in each class: one at least; None if there are more classes than components."""
    present = rows > 0
    if components < present.sum():
        return None
    shares = present.astype(np.intp)
    for _ in range(components - int(shares.sum())):
        shares[int(np.argmax(np.where(present, rows / np.maximum(shares, 1), -1)))] += 1
    return shares


def _clusters(table: BlockTable, rows: Indices, count: int, rng: np.random.Generator) -> Numbers:
    """Rows (of those given) x cluster: 1 for a row's own."""
    if count == 1:
        return np.ones((len(rows), 1))
    places = table.others.places[rows].T.astype(np.intp)
    sizes = np.array(table.others.sizes)
    places = np.where(places == sizes[:, None], -1, places)
    ordered = [bins.feature.numeric for bins in table.others.bins]
    drawn = places if len(rows) <= FIRST_ROWS else places[:, rng.choice(len(rows), FIRST_ROWS, replace=False)]
    owner = k_means(drawn, sizes.tolist(), ordered, min(count, drawn.shape[1]), rng).nearest(places)
    return np.eye(count)[owner]


# -- expectation ------------------------------------------------------------------------------------------------------


def joint_logs(mixture: BlockMixture, table: BlockTable, patterns: Sequence[tuple[Indices, Indices]]) -> Numbers:
    """log of weight times density of each component in each row (row x component), in warped columns and bins."""
    logs = np.tile(np.log(mixture.weights), (len(table), 1))
    for j, probabilities in zip(mixture.leaves, mixture.tables(), strict=True):
        cells = np.vstack([np.log(np.maximum(probabilities, 1e-300)).T, np.zeros((1, mixture.components))])
        logs += cells[table.others.places[:, j]]
    for rows, known in patterns:
        if len(known):
            for k in range(mixture.components):
                logs[rows, k] += _gaussian_logs(
                    table.warped[np.ix_(rows, known)] - mixture.means[k, known], mixture.covariances[k][np.ix_(known, known)]
                )
    return logs


def _gaussian_logs(away: Numbers, covariance: Numbers) -> Numbers:
    from scipy.linalg import solve_triangular

    factor = np.linalg.cholesky(covariance)
    scaled = solve_triangular(factor, away.T, lower=True, check_finite=False)
    constant = float(np.log(np.diag(factor)).sum()) + len(factor) * np.log(2 * np.pi) / 2
    return np.asarray(-(scaled**2).sum(axis=0) / 2 - constant)


def _log_sum(logs: Numbers) -> Numbers:
    most = logs.max(axis=1)
    return np.asarray(most + np.log(np.exp(logs - most[:, None]).sum(axis=1)))


# -- maximisation -----------------------------------------------------------------------------------------------------


def _maximised(
    table: BlockTable,
    shares: Numbers,
    settings: Settings,
    patterns: Sequence[tuple[Indices, Indices]],
    before: BlockMixture | None,
) -> BlockMixture:
    """The mixture that the responsibilities (row x component) make; `before` says what to expect of unknown cells."""
    if settings.background and shares.shape[1] == settings.components:
        shares = np.column_stack([shares, np.zeros(len(shares))])
    counted = shares * table.weights[:, None]
    rows = counted.sum(axis=0)
    prior = np.where(np.arange(len(rows)) < settings.components, LEAST_ROWS, BACKGROUND_ROWS)
    weights = (rows + prior) / (rows + prior).sum()
    counts = []
    for j in table.leaves:
        size = len(table.others.bins[j]) + 1
        place = table.others.places[:, j].astype(np.intp)
        counts.append(np.array([np.bincount(place, weights=part, minlength=size)[:-1] for part in counted.T]))
    moments = [_moments(table, part, patterns, before, k) for k, part in enumerate(counted.T[: settings.components])]
    means, scatters = np.array([mean for mean, _ in moments]), np.array([scatter for _, scatter in moments])
    covariances = _shrunk(rows[: settings.components], scatters, settings)
    if settings.background:
        means = np.vstack([means, np.zeros(len(table.columns))])
        covariances = np.concatenate([covariances, _background(rows, means, scatters)[None]])
    shrinkage = tuple(table.others.shrinkage[j] for j in table.leaves) if before is None else before.shrinkage
    return BlockMixture(table.columns, table.leaves, weights, means, covariances, tuple(counts), shrinkage)


def _moments(
    table: BlockTable,
    counted: Numbers,
    patterns: Sequence[tuple[Indices, Indices]],
    before: BlockMixture | None,
    k: int,
) -> tuple[Numbers, Numbers]:
    """The mean of a component's rows and their scatter about it; unknown cells as expected given the known ones."""
    size = len(table.columns)
    filled, extra = table.warped, np.zeros((size, size))
    if len(patterns) > 1 or len(patterns[0][1]) < size:
        filled = np.array(table.warped)
        for rows, known in patterns:
            mean, covariance = (np.zeros(size), np.eye(size)) if before is None else (before.means[k], before.covariances[k])
            hidden = np.setdiff1d(np.arange(size), known)
            slope = np.linalg.solve(covariance[np.ix_(known, known)], covariance[np.ix_(known, hidden)])
            filled[np.ix_(rows, hidden)] = mean[hidden] + (table.warped[np.ix_(rows, known)] - mean[known]) @ slope
            rest = covariance[np.ix_(hidden, hidden)] - covariance[np.ix_(hidden, known)] @ slope
            extra[np.ix_(hidden, hidden)] += rest * counted[rows].sum()
    mean = counted @ filled / (counted.sum() + MEAN_ROWS)  # the mean of all rows is 0
    away = filled - mean
    return mean, (away * counted[:, None]).T @ away + extra


def _background(rows: Numbers, means: Numbers, scatters: Numbers) -> Numbers:
    """The covariance of the background: that of all rows about 0, loosened and widened."""
    count = len(scatters)
    between = (means[:count] * rows[:count, None]).T @ means[:count]
    whole = (scatters.sum(axis=0) + between) / max(float(rows[:count].sum()), 1e-300)
    diagonal = np.maximum(np.diag(whole), LEAST_VARIANCE)
    return np.asarray(WIDE * ((1 - LOOSE) * whole + LOOSE * np.diag(diagonal)))


def _shrunk(rows: Numbers, scatters: Numbers, settings: Settings) -> Numbers:
    """The covariance of every component from its scatter."""
    together = scatters.sum(axis=0) / max(float(rows.sum()), 1e-300)
    mixed = (scatters + settings.pooled * together) / (rows + settings.pooled)[:, None, None]
    diagonal = np.maximum(np.einsum("kii->ki", mixed), LEAST_VARIANCE)
    shrunk = (1 - settings.independent) * mixed
    place = np.arange(scatters.shape[1])
    shrunk[:, place, place] = diagonal
    return np.asarray(shrunk)
