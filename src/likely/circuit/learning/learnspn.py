"""LearnSPN (Gens and Domingos 2013) for mixed tables, as the paper uses it: the structure of a circuit from rows.

A slice of the table - some rows, some columns - becomes

    leaves     one per column, as if independent, if the slice has one column or few rows;
    a product  if its columns fall into groups that do not depend on each other (`likely.circuit.learning.rdc`);
    a sum      otherwise: its rows are clustered, and a row belongs to a cluster with the share that the cluster has;

and the parts of a product or a sum are slices again. The learner sees values by their bins: what happens within a bin no
leaf can tell. Work grows linearly with the rows, because dependence and clusters are found on a sample of a slice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from likely.circuit.learning.bins import Bins, Indices
from likely.circuit.learning.kmeans import BinIndices, k_means
from likely.circuit.learning.rdc import MOST_ROWS, dependence
from likely.circuit.model.builder import Builder
from likely.circuit.model.nodes import Node
from likely.errors import CircuitError
from likely.schema import Feature
from likely.schema.values import Numbers, code_number

#: A cluster with less than this share of `min_rows` is no cluster; its slice becomes leaves.
SMALLEST_CLUSTER = 0.05


def learn_structure(
    rows: Numbers,
    features: Sequence[Feature],
    bins: Sequence[Bins],
    *,
    min_rows: int,
    threshold: float = 0.3,
    clusters: int = 2,
    random_state: int = 0,
    alpha: float = 10.0,
    progress: Callable[[float], None] | None = None,
) -> tuple[Node, ...]:
    """The nodes of a circuit over the columns of a table, in order, the root last.

    Args:
        rows: Encoded rows; NaN is unknown.
        features: One per column.
        bins: How to see each column (`bins_of`).
        min_rows: Slices with fewer rows are not divided any more.
        threshold: Columns are held for independent if their coefficient is at most this.
        clusters: Rows are divided into as many.
        random_state: The same nodes for the same number.
        alpha: Pseudo-rows of every leaf, distributed as the whole table's (a Dirichlet prior).
        progress: Called with the share of the table that is done.
    """
    _check_table(rows, features, bins)
    _check_settings(min_rows, threshold, clusters, alpha)
    learner = _Learner(_table(rows, features, bins), min_rows, threshold, clusters, alpha, np.random.default_rng(random_state))
    with one_blas_thread():
        return learner.learn(progress)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep the linear algebra below this to one thread: on small matrices, waiting for each other costs ten times the work."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield


def _check_table(rows: Numbers, features: Sequence[Feature], bins: Sequence[Bins]) -> None:
    if rows.ndim != 2 or not rows.shape[0] or not rows.shape[1]:
        raise CircuitError("A table to learn from", "have rows and columns", f"shape {rows.shape}", "give at least one of each")
    if not rows.shape[1] == len(features) == len(bins):
        got = f"{rows.shape[1]} columns, {len(features)} features and bins of {len(bins)}"
        raise CircuitError("A table to learn from", "have a feature and bins per column", got, "use bins_of(rows, features)")


def _check_settings(min_rows: int, threshold: float, clusters: int, alpha: float) -> None:
    for name, value, least in (("min_rows", min_rows, 1), ("clusters", clusters, 2)):
        if not value >= least:
            raise CircuitError(name, f"be at least {least}", value, "leave it out or raise it")
    if not 0 <= threshold <= 1:
        raise CircuitError("threshold", "be between 0 and 1", threshold, "0.3 is the paper's")
    if not 0 < alpha < np.inf:
        raise CircuitError("alpha", "be a positive number", alpha, "10 is ten pseudo-rows per leaf")


# -- the table, by bins -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Table:
    """The rows as bins: `places[j, r]` is the bin of column j in row r, -1 if it is unknown."""

    places: BinIndices
    features: tuple[Feature, ...]
    bins: tuple[Bins, ...]
    #: Per column the probabilities of bins in the whole table, none of them 0.
    marginals: tuple[Numbers, ...]
    #: Per column a value for each bin, in order, and last the NaN that -1 finds.
    values: tuple[Numbers, ...]

    def counts(self, rows: Indices, column: int) -> Numbers:
        """How many of these rows are in each bin of a column."""
        bins = self.places[column, rows]
        return np.bincount(bins + 1, minlength=len(self.bins[column]) + 1)[1:].astype(np.float64)

    def part(self, rows: Indices, columns: Sequence[int]) -> BinIndices:
        """The bins of some columns and rows."""
        part: BinIndices = self.places[np.asarray(columns)[:, None], rows]
        return part

    def to_the_bin(self, rows: Indices, columns: Sequence[int]) -> Numbers:
        """The values of some rows and columns, those of one bin all the same."""
        return np.stack([self.values[j][self.places[j, rows]] for j in columns], axis=1)


def _table(rows: Numbers, features: Sequence[Feature], bins: Sequence[Bins]) -> _Table:
    fits = max(map(len, bins)) < np.iinfo(np.int16).max
    places: BinIndices = np.empty(rows.shape[::-1], dtype=np.int16 if fits else np.int32)
    counts = []
    for j, variable_bins in enumerate(bins):
        places[j] = variable_bins.index(rows[:, j])
        counts.append(np.bincount(places[j] + 1, minlength=len(variable_bins) + 1)[1:])
    # one more row, in equal parts in all bins: a category never seen is unlikely, not impossible
    marginals = tuple((count + 1 / len(count)) / (count.sum() + 1) for count in counts)
    return _Table(places, tuple(features), tuple(bins), marginals, tuple(map(_bin_values, bins)))


def _bin_values(bins: Bins) -> Numbers:
    values = np.append(np.arange(float(len(bins))), np.nan)
    values[: bins.codes] = [code_number(k) for k in range(bins.codes)]
    return values


# -- slices and how they are divided ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Slice:
    """Some rows and columns; `connected` if its columns are known to depend on each other."""

    rows: Indices
    columns: tuple[int, ...]
    connected: bool = False


@dataclass(frozen=True)
class _Join:
    """What to do when the last `count` slices have become nodes: a sum with weights, or a product without."""

    count: int
    weights: tuple[float, ...] = ()


@dataclass
class _Learner:
    table: _Table
    min_rows: int
    threshold: float
    clusters: int
    alpha: float
    rng: np.random.Generator
    nodes: Builder = field(default_factory=Builder)

    def learn(self, progress: Callable[[float], None] | None) -> tuple[Node, ...]:
        """The nodes of the whole table: slices wait on a stack, the places of finished ones on another."""
        width, height = self.table.places.shape
        waiting: list[_Slice | _Join] = [_Slice(np.arange(height), tuple(range(width)))]
        finished: list[int] = []
        cells = 0
        while waiting:
            task = waiting.pop()
            if isinstance(task, _Join):
                children = finished[-task.count :]
                del finished[-task.count :]
                finished.append(self.nodes.sum(children, task.weights) if task.weights else self.nodes.product(children))
                continue
            parts = self._parts(task)
            if not parts:
                finished.append(self.nodes.product([self._leaf(task.rows, column) for column in task.columns]))
                cells += len(task.rows) * len(task.columns)
                if progress is not None:
                    progress(cells / (width * height))
                continue
            waiting.append(_join(task, parts))
            waiting.extend(reversed(parts))
        return self.nodes.below(finished[0])

    def _leaf(self, rows: Indices, column: int) -> int:
        counts = self.table.counts(rows, column) + self.alpha * self.table.marginals[column]
        return self.nodes.add(self.table.bins[column].leaf(column, counts))

    def _parts(self, whole: _Slice) -> list[_Slice]:
        """The parts of a slice; none if it is to become leaves."""
        if len(whole.columns) == 1 or len(whole.rows) < self.min_rows:
            return []
        sample = whole.rows
        if len(sample) > MOST_ROWS:
            sample = np.sort(self.rng.choice(sample, MOST_ROWS, replace=False, shuffle=False))
        if not whole.connected:
            groups = self._groups(sample, whole.columns)
            if len(groups) > 1:
                return [_Slice(whole.rows, group, connected=True) for group in groups]
        return [_Slice(rows, whole.columns) for rows in self._row_parts(sample, whole)]

    def _groups(self, sample: Indices, columns: tuple[int, ...]) -> list[tuple[int, ...]]:
        """The columns in groups: those in different groups do not depend on each other."""
        from scipy.sparse.csgraph import connected_components

        features = [self.table.features[column] for column in columns]
        coefficients = dependence(self.table.to_the_bin(sample, columns), features, self.rng, adjusted=True)
        count, group = connected_components(coefficients > self.threshold, directed=False)
        return [tuple(column for column, number in zip(columns, group, strict=True) if number == k) for k in range(count)]

    def _row_parts(self, sample: Indices, whole: _Slice) -> list[Indices]:
        """The rows in clusters; none if there is no division into clusters large enough."""
        sizes = [len(self.table.bins[column]) for column in whole.columns]
        ordered = [self.table.features[column].ordered for column in whole.columns]
        centres = k_means(self.table.part(sample, whole.columns), sizes, ordered, self.clusters, self.rng)
        cluster = centres.nearest(self.table.part(whole.rows, whole.columns))
        parts = [whole.rows[cluster == k] for k in np.unique(cluster)]
        return parts if len(parts) > 1 and min(map(len, parts)) >= SMALLEST_CLUSTER * self.min_rows else []


def _join(whole: _Slice, parts: Sequence[_Slice]) -> _Join:
    if parts[0].columns != whole.columns:
        return _Join(len(parts))
    return _Join(len(parts), tuple(len(part.rows) / len(whole.rows) for part in parts))
