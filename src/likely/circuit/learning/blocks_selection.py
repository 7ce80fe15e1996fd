"""Which columns share a block, and how many components with how much shrinkage: what is best on held-out rows.

    1. A column of numbers may join if it has enough values and none that very many rows share; it surely does if no value is
       frequent. In between, it joins if held-out rows are not likelier with a leaf for it.
    2. Each gets the kind of warp that suits it (`likely.circuit.learning.blocks_warps`).
    3. For warps as chosen, and if some are bent, for none of them bent: with one component per class the shrinkage is chosen,
       one of its two parts after the other; then more and more components are tried, the shrinkage adapting, until twice in a
       row they gain nothing.
    4. Of all that was tried, the one with the fewest parameters is taken that is not worse than the best by more than a standard
       error of their difference.

The rows held out are those that other methods are judged by (`likely.circuit.learning.model_selection`), so that mixtures with
and without blocks can be compared row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from likely._display.progress import Move
from likely.circuit.learning import blocks, blocks_warps
from likely.circuit.learning.binned import Binned
from likely.circuit.learning.bins import Indices
from likely.circuit.learning.blocks import BlockMixture, BlockTable, Settings
from likely.circuit.learning.blocks_warps import Column, Curve
from likely.circuit.learning.model_selection import FEWEST_ROWS, Judged, plainest, splits
from likely.circuit.learning.splits import copies
from likely.circuit.learning.table import Table
from likely.circuit.model.blocks import GaussianBlock
from likely.circuit.model.builder import Builder
from likely.circuit.model.nodes import Node
from likely.circuit.model.warps import Warp
from likely.schema.values import Numbers

#: A column may join a block with at least so many values, none of which more than this share of the rows has.
FEWEST_VALUES, MOST_SHARED = 10, 0.3
#: It surely does if no value has more than this share.
RARE = 0.05
#: The most components, and the fewest rows for each.
MOST_COMPONENTS, ROWS_OF_A_COMPONENT = 64, 15
#: Shares of the diagonal, and rows of all components, that covariances are shrunk by.
INDEPENDENT = (1e-4, 1e-3, 5e-3, 0.02, 0.1, 0.3, 0.6, 1.0)
POOLED = (1.0, 5.0, 20.0, 100.0, 500.0)
#: Where the search for them begins.
FIRST_INDEPENDENT, FIRST_POOLED = 0.02, 20.0
#: Sizes in a row that gain nothing before the search ends.
PATIENCE = 2
#: With more rows, trials learn from a sample.
MOST_TRAINING = 10_000


@dataclass(frozen=True)
class Plan:
    """What to learn: the kind of warp of each column in the block, and the settings of the mixture."""

    curves: dict[int, Curve]
    settings: Settings


@dataclass(frozen=True)
class BlockChoice:
    """The plan chosen, and how it did on held-out rows; nothing is known of it if there were too few."""

    plan: Plan
    judged: Judged | None
    interrupted: bool = False


def suits(table: Table) -> tuple[int, ...]:
    """The variables that may join a block."""
    return tuple(j for j, _ in _candidates(table))


def _candidates(table: Table) -> Iterator[tuple[int, float]]:
    """Variables that may join a block, and the share of the rows that have their most frequent value."""
    for j, feature in enumerate(table.features):
        if feature.numeric and not feature.atoms:
            known = ~np.isnan(table.rows[:, j])
            values, place = np.unique(table.rows[known, j], return_inverse=True)
            if len(values) >= FEWEST_VALUES:
                share = float(np.bincount(place, weights=table.weights[known]).max() / table.weights[known].sum())
                if share <= MOST_SHARED:
                    yield j, share


def groups_of(table: Table) -> Indices:
    """The class of each row, or one class for all; rows of unknown class are one more."""
    if table.target is None or table.target.numeric:
        return np.zeros(len(table.rows), dtype=np.intp)
    classes = table.rows[:, -1]
    _, place = np.unique(np.where(np.isnan(classes), len(table.target.atoms), classes), return_inverse=True)
    return np.asarray(place, dtype=np.intp)


def warps_of(table: Table, groups: Indices, curves: dict[int, Curve], which: Indices | None = None) -> dict[int, Warp]:
    """The warp of each column in the block, learned from some of the rows."""
    rows = slice(None) if which is None else which
    return {
        j: blocks_warps.warp_of(curve, Column.of(table.features[j], table.rows[rows, j], table.weights[rows], groups[rows]))
        for j, curve in curves.items()
    }


@dataclass
class _Folds:
    """Rows to learn from and rows to judge by, warped once for all trials."""

    table: Table
    binned: Binned
    groups: Indices
    splits: Sequence[tuple[Indices, Indices]]
    curves: dict[int, Curve]
    random_state: int
    tried: dict[tuple[tuple[int, ...], Settings], Judged] = field(default_factory=dict)
    #: Per fold and number of components, what the trial before ended with: the next one begins there.
    starts: dict[tuple[int, int], Numbers] = field(default_factory=dict)

    @cached_property
    def parts(self) -> list[tuple[Binned, Binned, dict[int, Warp]]]:
        """Per fold the rows to learn from, those to judge by, and the warps."""
        return [
            (
                self.binned.some(learned).alone(),
                self.binned.some(judged),
                warps_of(self.table, self.groups, self.curves, learned),
            )
            for learned, judged in self.splits
        ]

    def judge(self, columns: tuple[int, ...], settings: Settings) -> Judged:
        """Held-out log-likelihoods with these columns in the block."""
        key = columns, settings
        if key not in self.tried:
            logs, parameters = [], 0
            for fold, ((learned, judged), (training, unseen, warps)) in enumerate(zip(self.splits, self.parts, strict=True)):
                inside = {j: warps[j] for j in columns}
                rows = self._warped(learned, training, inside)
                begin = fold, settings.components
                if begin not in self.starts:
                    self.starts[begin] = blocks.start(rows, settings.components, self.random_state)
                fitted = blocks.fit(rows, settings, self.starts[begin])
                if fitted.interrupted:
                    raise KeyboardInterrupt
                self.starts[begin] = blocks.responsibilities(fitted, rows)[:, : settings.components]
                logs.append(blocks.log_densities(fitted, self._warped(judged, unseen, inside)))
                parameters = max(parameters, fitted.parameters)
            self.tried[key] = Judged(np.concatenate(logs), self.weights, parameters, parameters)
        return self.tried[key]

    @cached_property
    def weights(self) -> Numbers:
        """Of the rows that are judged by."""
        return np.concatenate([self.table.weights[judged] for _, judged in self.splits])

    def _warped(self, which: Indices, binned: Binned, warps: dict[int, Warp]) -> BlockTable:
        return BlockTable.of(self.table.rows[which], binned, warps, self.groups[which])


def select(table: Table, binned: Binned, most: int | None, random_state: int, *, progress: Move) -> BlockChoice:
    """What to learn from a table that has columns for a block; `most` is the largest circuit, counted as `size_of` does."""
    rng = np.random.default_rng(random_state)
    groups = groups_of(table)
    classes = int(groups.max()) + 1
    candidates = dict(_candidates(table))
    curves: dict[int, Curve] = {}
    settings = Settings(classes, FIRST_POOLED, FIRST_INDEPENDENT)
    try:
        for done, j in enumerate(candidates):
            progress(0.2 * done / len(candidates), "warping columns")
            curves[j] = blocks_warps.choose(Column.of(table.features[j], table.rows[:, j], table.weights, groups), rng)
        rows = len(table.rows)
        if rows < FEWEST_ROWS:
            return BlockChoice(Plan(curves, replace(settings, components=1)), None)
        parts = [
            (
                learned[:MOST_TRAINING]
                if len(learned) <= MOST_TRAINING
                else np.sort(rng.choice(learned, MOST_TRAINING, replace=False)),
                judged,
            )
            for learned, judged in splits(copies(table.rows), len(table.variables), np.random.default_rng(random_state))
        ]
        trials: list[_Trial] = []
        columns = tuple(candidates)
        for part, kinds in enumerate(_kinds(curves)):
            folds = _Folds(table, binned, groups, parts, kinds, random_state)
            columns = _joined(folds, candidates, settings, progress) if not part else columns
            search = _Search(folds, columns, settings, most)
            search.run(progress)
            inside = {j: kinds[j] for j in columns}
            trials += [_Trial(inside, each, folds.tried[columns, each]) for each in search.tried]
    except KeyboardInterrupt:
        curves.update({j: Curve() for j in candidates if j not in curves})
        return BlockChoice(Plan(curves, settings), None, interrupted=True)
    chosen = trials[plainest([trial.judged for trial in trials])]
    return BlockChoice(Plan(chosen.curves, chosen.settings), chosen.judged)


@dataclass(frozen=True)
class _Trial:
    """What was tried, and how it did on held-out rows."""

    curves: dict[int, Curve]
    settings: Settings
    judged: Judged


def _kinds(curves: dict[int, Curve]) -> Iterator[dict[int, Curve]]:
    """The kinds of warps as chosen; and if some are bent, none bent.

    What looks like a bent curve may be two clusters: several components do better then, each with a mean of its own.
    """
    yield curves
    if any(curve.deviation for curve in curves.values()):
        yield {j: replace(curve, deviation=0.0) for j, curve in curves.items()}


def _joined(folds: _Folds, candidates: dict[int, float], settings: Settings, progress: Move) -> tuple[int, ...]:
    """The columns of the block: those without frequent values, and of the others those that are worth it."""
    columns = tuple(candidates)
    for j in sorted(candidates, key=lambda j: -candidates[j]):
        rest = tuple(k for k in columns if k != j)
        if candidates[j] > RARE and rest:
            progress(0.2, "choosing columns")
            if folds.judge(rest, settings).mean > folds.judge(columns, settings).mean:
                columns = rest
    return columns


@dataclass
class _Search:
    """The settings tried so far, from one component per class upwards."""

    folds: _Folds
    columns: tuple[int, ...]
    first: Settings
    most: int | None
    tried: list[Settings] = field(default_factory=list)

    def run(self, progress: Move) -> None:
        best, failed = self._fits(self.first), 0
        sizes = list(self._sizes())
        for step, components in enumerate(sizes):
            progress(0.2 + 0.7 * step / len(sizes), f"trying {components} blocks")
            here = self._adapted(replace(best, components=components))
            failed = 0 if not step or self._mean(here) > self._mean(best) else failed + 1
            best = max(best, here, key=self._mean) if step else here
            if failed == PATIENCE:
                return

    def _sizes(self) -> Iterator[int]:
        """One component per class, and so much more each time that it may matter."""
        rows = min(len(learned) for learned, _ in self.folds.splits)
        least = self._fits(self.first).components
        size = least
        while size == least or (
            size <= min(MOST_COMPONENTS, rows // ROWS_OF_A_COMPONENT)
            and self._fits(replace(self.first, components=size)).components == size
        ):
            yield size
            size += max(1, size // 2)

    def _fits(self, settings: Settings) -> Settings:
        """With as many components as the largest circuit may have, but one at least."""
        if self.most is None:
            return settings
        each = size_of(len(self.columns), len(self.folds.table.variables), 1) - 1
        return replace(settings, components=max(1, min(settings.components, (self.most - 1) // each)))

    def _adapted(self, settings: Settings) -> Settings:
        """The best shrinkage near this one: steps up or down of one part, then of the other, as long as they gain."""
        best = self._climbed(settings, INDEPENDENT, lambda at, value: replace(at, independent=value), settings.independent)
        return self._climbed(best, POOLED, lambda at, value: replace(at, pooled=value), best.pooled)

    def _climbed(
        self, best: Settings, values: Sequence[float], changed: Callable[[Settings, float], Settings], first: float
    ) -> Settings:
        """The best of the settings with one number changed, step by step from the first."""
        for direction in (1, -1):
            place = values.index(first) + direction
            while 0 <= place < len(values) and self._mean(near := changed(best, values[place])) > self._mean(best):
                best, place = near, place + direction
        return best

    def _mean(self, settings: Settings) -> float:
        judged = self.folds.judge(self.columns, settings)
        if settings not in self.tried:
            self.tried.append(settings)
        return judged.mean


def size_of(columns: int, variables: int, components: int) -> int:
    """The size of a circuit: its nodes, a block counting as many as it has numbers for mean and covariance."""
    return 1 + components * (1 + columns + columns * (columns + 1) // 2 + variables - columns)


def learned(
    table: Table, binned: Binned, choice: BlockChoice, random_state: int, *, progress: Move
) -> tuple[BlockMixture, dict[int, Warp]]:
    """What was chosen, learned from all rows."""
    groups = groups_of(table)
    warps = warps_of(table, groups, choice.plan.curves)
    rows = BlockTable.of(table.rows, binned, warps, groups)
    settings = choice.plan.settings
    first = blocks.start(rows, settings.components, random_state)
    mixture = blocks.fit(rows, settings, first, progress=lambda done: progress(done, f"{settings.components} blocks"))
    return replace(mixture, interrupted=mixture.interrupted or choice.interrupted), warps


def circuit_nodes(mixture: BlockMixture, warps: dict[int, Warp], binned: Binned) -> tuple[Node, ...]:
    """The nodes of the circuit: a sum of products of a block and leaves."""
    builder = Builder()
    leaves = [
        [builder.add(binned.bins[j].leaf(j, probabilities)) for probabilities in table]
        for j, table in zip(mixture.leaves, mixture.tables(), strict=True)
    ]
    products = []
    for k in range(mixture.components):
        factor = np.linalg.cholesky(mixture.covariances[k])
        block = GaussianBlock(
            mixture.columns,
            tuple(warps[j] for j in mixture.columns),
            tuple(mixture.means[k].tolist()),
            tuple(tuple(row[: i + 1].tolist()) for i, row in enumerate(factor)),
        )
        products.append(builder.product([builder.add(block), *(of_variable[k] for of_variable in leaves)]))
    return builder.below(builder.mixture(products, mixture.weights))
