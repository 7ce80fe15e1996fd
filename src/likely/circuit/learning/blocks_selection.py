"""Which columns share a block, and how many components with how much shrinkage: what is best on held-out rows.

    1. A column of numbers may join if it has enough values, besides a few atoms and its special codes; it surely does if no value
       is frequent and no row has a code. In between, it joins if held-out rows are not likelier with a leaf for it.
    2. Each gets the kind of warp that suits it (`likely.circuit.learning.blocks_warps`).
    3. With one component per class the shrinkage is chosen, one of its two parts after the other; then more and more components
       are tried, until twice in a row they gain nothing; then the shrinkage adapts to them. What gains nothing in the first folds
       is not tried in the others. If some warps are bent, the same begins again with none of them bent, from what was chosen.
    4. Of all that was the best for a while, the one with the fewest parameters is taken that is not worse than the best by more
       than a standard error of their difference.
    5. Scale mixtures are tried, if they are ahead at first: warps that leave heavy tails as they are, and a few widths per class.
       A warp draws in the tail of each column by itself; but where rows are far out in all columns at once, as those of a
       multivariate t are, no warps of single columns make them Gaussian. One is taken if it gains two standard errors.

The rows held out are those that other methods are judged by (`likely.circuit.learning.model_selection`), so that mixtures with
and without blocks can be compared row by row; columns that are recorded to a step count by the mean density of their cells, as
they do in histograms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from likely._display.progress import Move
from likely.circuit.learning import blocks, blocks_start, blocks_warps
from likely.circuit.learning.binned import Binned
from likely.circuit.learning.bins import Indices
from likely.circuit.learning.blocks import BlockMixture, BlockTable, Settings, Start
from likely.circuit.learning.blocks_warps import Column, Curve
from likely.circuit.learning.model_selection import FEWEST_ROWS, Judged, clearly_better, plainest, splits, steadily_better
from likely.circuit.learning.splits import copies
from likely.circuit.learning.table import Table
from likely.circuit.model.blocks import GaussianBlock
from likely.circuit.model.builder import Builder
from likely.circuit.model.measure import taken_places
from likely.circuit.model.nodes import Node
from likely.circuit.model.warps import Warp
from likely.schema.values import Numbers, is_code

#: A column may join a block with at least so many values, none of which more than this share of the rows has.
FEWEST_VALUES, MOST_SHARED = 10, 0.3
#: It surely does if no value has more than this share. With more, and so many times as many rows as any other value, one is an
#: atom; a column has a few at most, and this share of the rows elsewhere.
RARE, PROMINENT, MOST_ATOMS, LEAST_REST = 0.05, 4.0, 3, 0.05
#: No column leaves a block for a leaf if fewer stay: one alone has no relation to others.
LEAST_COLUMNS = 2
#: The most components, and the fewest rows for each.
MOST_COMPONENTS, ROWS_OF_A_COMPONENT = 64, 15
#: Shares of the diagonal, and rows of all components, that covariances are shrunk by.
INDEPENDENT = (1e-4, 1e-3, 5e-3, 0.02, 0.1, 0.3, 0.6, 1.0)
POOLED = (1.0, 5.0, 20.0, 100.0, 500.0)
#: Where the search for them begins.
FIRST_INDEPENDENT, FIRST_POOLED = 0.02, 20.0
#: Sizes in a row that gain nothing before the search ends, for the first time, and how often it begins anew with other shrinkage.
PATIENCE, TURNS = 2, 2
#: What does not gain in the first folds is not tried in the others, and what does is if they have fewer rows than are enough to
#: judge by; rounds of a trial.
FIRST_FOLDS, ENOUGH_JUDGED, ROUNDS = 2, 1_000, 30
#: Components per class, where columns have atoms, with which it is tried which columns join.
PARTS_OF_A_CLASS = 3
#: With more rows, or products of two columns in them, trials learn from a sample, but not from fewer, and are judged by a sample
#: of the rows that all methods are judged by; and what was chosen learns from one at first, then with fewer rounds from a larger
#: one, before a few with all.
MOST_TRAINING, MOST_PRODUCTS, LEAST_TRAINING, MOST_JUDGED = 10_000, 2_000_000, 2_000, 3_000
MOST_AT_FIRST, PRODUCTS_AT_FIRST, LATER_ROUNDS, LAST_ROUNDS = 50_000, 20_000_000, 15, 3
#: Warps are learned from at most as many rows.
MOST_WARPED = 20_000
#: If there are so many components per class, and warps that are not bent are clearly worse, no more is tried with them.
ENOUGH_PARTS = 3
#: Widths per class that a scale mixture begins with, with how many of them it is seen whether there is any hope for it, and by
#: how many standard errors it must be better than other mixtures.
FIRST_WIDTHS, ENOUGH_WIDTHS, WIDTHS_ERRORS = 2, 4, 2.0


@dataclass(frozen=True)
class Plan:
    """What to learn: the kind of warp of each column in the block, the atoms of those that have some, and the settings."""

    curves: dict[int, Curve]
    atoms: dict[int, tuple[float, ...]]
    settings: Settings

    def size(self, table: Table) -> int:
        """The size of the circuit of a table."""
        return size_of(len(self.curves), len(table.variables), self.settings.components)


@dataclass(frozen=True)
class BlockChoice:
    """The plan chosen, and how it did on held-out rows; nothing is known of it if there were too few."""

    plan: Plan
    judged: Judged | None
    interrupted: bool = False


@dataclass(frozen=True)
class Candidate:
    """A column of numbers that may join a block."""

    atoms: tuple[float, ...]
    share: float  # of the other rows, those that have their most frequent value
    coded: float  # of all rows, those that have a code

    @property
    def divided(self) -> bool:
        """Whether it is in the block of some components, and a leaf of others."""
        return bool(self.atoms) or self.coded > 0

    @property
    def surely(self) -> bool:
        """Whether there is nothing to be said against it."""
        return not self.divided and self.share <= RARE


def suits(table: Table) -> tuple[int, ...]:
    """The variables that may join a block."""
    return tuple(candidates_of(table))


def candidates_of(table: Table) -> dict[int, Candidate]:
    """The variables that may join a block."""
    each = (
        (j, _candidate(table, j)) for j, feature in enumerate(table.features) if feature.numeric and not taken_places(feature)
    )
    return {j: candidate for j, candidate in each if candidate is not None}


def _candidate(table: Table, variable: int) -> Candidate | None:
    codes = is_code(table.rows[:, variable])
    known = ~np.isnan(table.rows[:, variable]) & ~codes
    values, place = np.unique(table.rows[known, variable], return_inverse=True)
    if len(values) < FEWEST_VALUES:
        return None
    rows = np.bincount(place, weights=table.weights[known])
    order = np.argsort(-rows, kind="stable")
    shares = rows[order] / rows.sum()
    count = max((many for many in range(1, MOST_ATOMS + 1) if shares[many - 1] >= max(RARE, PROMINENT * shares[many])), default=0)
    rest = float(shares[count:].sum())
    share = float(shares[count] / rest)
    if len(values) - count < FEWEST_VALUES or rest < LEAST_REST or share > MOST_SHARED:
        return None
    return Candidate(tuple(values[order[:count]].tolist()), share, float(np.average(codes, weights=table.weights)))


def groups_of(table: Table) -> Indices:
    """The class of each row, or one class for all; rows of unknown class are one more."""
    if table.target is None or table.target.numeric:
        return np.zeros(len(table.rows), dtype=np.intp)
    classes = table.rows[:, -1]
    _, place = np.unique(np.where(np.isnan(classes), len(table.target.atoms), classes), return_inverse=True)
    return np.asarray(place, dtype=np.intp)


def column_of(table: Table, groups: Indices, variable: int, atoms: tuple[float, ...], which: Indices | None = None) -> Column:
    """A column without its atoms and codes, in some of the rows."""
    rows = slice(None) if which is None else which
    values = table.rows[rows, variable]
    values = np.where(np.isin(values, atoms) | is_code(values), np.nan, values)
    return Column.of(table.features[variable], values, table.weights[rows], groups[rows])


def warps_of(table: Table, groups: Indices, plan: Plan, which: Indices | None = None) -> dict[int, Warp]:
    """The warp of each column in the block, learned from some of the rows, or a sample of them if they are many."""
    which = _drawn(np.arange(len(table.rows)) if which is None else which, MOST_WARPED, np.random.default_rng(0))
    return {
        j: blocks_warps.warp_of(curve, column_of(table, groups, j, plan.atoms.get(j, ()), which))
        for j, curve in plan.curves.items()
    }


@dataclass
class _Folds:
    """Rows to learn from and rows to judge by, warped once for all trials."""

    table: Table
    binned: Binned
    groups: Indices
    splits: Sequence[tuple[Indices, Indices]]
    plan: Plan
    random_state: int
    threads: int
    #: Per columns in the block, settings and fold: held-out log-likelihoods, and the parameters.
    tried: dict[tuple[tuple[int, ...], Settings, int], tuple[Numbers, int]] = field(default_factory=dict)
    #: Per fold, number of components and kind of start, what the trial before ended with: the next one begins there.
    starts: dict[tuple[int, int, Start], Numbers] = field(default_factory=dict)
    #: The columns of the last trial, and per fold its rows, warped.
    warped: tuple[tuple[int, ...], list[tuple[BlockTable, BlockTable]]] = ((), [])

    @cached_property
    def whole(self) -> list[tuple[BlockTable, BlockTable]]:
        """Per fold the rows to learn from and those to judge by, with all columns of the plan in the block."""
        tables = []
        for learned, judged in self.splits:
            warps = warps_of(self.table, self.groups, self.plan, learned)
            training, unseen = self.binned.some(learned).alone(), self.binned.some(judged)
            tables.append((self._warped(learned, training, warps), self._warped(judged, unseen, warps)))
        return tables

    def judge(self, columns: tuple[int, ...], settings: Settings, folds: int | None = None) -> Judged:
        """Held-out log-likelihoods with these columns in the block, in the first folds or all."""
        done = [self._judged(columns, settings, fold) for fold in range(len(self.splits[:folds]))]
        weights = np.concatenate([self.table.weights[judged] for _, judged in self.splits[:folds]])
        return Judged(np.concatenate([logs for logs, _ in done]), weights, max(parameters for _, parameters in done))

    def better(self, columns: tuple[int, ...], settings: Settings, other: Settings) -> bool:
        """Whether settings gain on others: in the first folds, or nothing else is tried, and in all if those have few rows."""
        few = sum(len(judged) for _, judged in self.splits[:FIRST_FOLDS]) < ENOUGH_JUDGED
        return all(
            self.judge(columns, settings, folds).mean > self.judge(columns, other, folds).mean
            for folds in (FIRST_FOLDS, *([None] if few else []))
        )

    def divides(self, columns: tuple[int, ...], settings: Settings) -> bool:
        """Whether it matters where components begin."""
        return blocks_start.divides(self._tables(columns)[0][0], settings)

    def _judged(self, columns: tuple[int, ...], settings: Settings, fold: int) -> tuple[Numbers, int]:
        """Held-out log-likelihoods of one fold, and the parameters."""
        key = columns, settings, fold
        if key not in self.tried:
            rows, unseen = self._tables(columns)[fold]
            begin = fold, settings.components, settings.start
            if begin not in self.starts:
                self.starts[begin] = blocks_start.start(rows, settings, self.random_state)
            fitted = blocks.fit(rows, settings, self.starts[begin], rounds=ROUNDS)
            if fitted.interrupted:
                raise KeyboardInterrupt
            self.starts[begin] = blocks.responsibilities(fitted, rows)[:, : settings.components]
            self.tried[key] = blocks.log_densities(fitted.by_cells(rows.rounding), unseen), fitted.parameters
        return self.tried[key]

    def _tables(self, columns: tuple[int, ...]) -> list[tuple[BlockTable, BlockTable]]:
        """Per fold the rows to learn from and those to judge by, with these columns in the block."""
        if self.warped[0] != columns:
            self.warped = columns, [(rows.only(columns), unseen.only(columns)) for rows, unseen in self.whole]
        return self.warped[1]

    def _warped(self, which: Indices, binned: Binned, warps: dict[int, Warp]) -> BlockTable:
        return BlockTable.of(self.table.rows[which], binned, warps, self.groups[which], self.plan.atoms, threads=self.threads)


def select(table: Table, binned: Binned, most: int | None, random_state: int, *, threads: int, progress: Move) -> BlockChoice:
    """What to learn from a table that has columns for a block; `most` is the largest circuit, counted as `size_of` does."""
    rng = np.random.default_rng(random_state)
    groups = groups_of(table)
    candidates = candidates_of(table)
    plan = Plan(
        {}, {j: each.atoms for j, each in candidates.items()}, Settings(int(groups.max()) + 1, FIRST_POOLED, FIRST_INDEPENDENT)
    )

    def column(j: int) -> Column:
        return column_of(table, groups, j, plan.atoms[j])

    try:
        for done, j in enumerate(candidates):
            progress(0.2 * done / len(candidates), "warping columns")
            plan.curves[j] = blocks_warps.choose(column(j), rng)
        if len(table.rows) < FEWEST_ROWS:
            return BlockChoice(replace(plan, settings=replace(plan.settings, components=1)), None)
        parts = _parts(table, len(candidates), random_state, rng)
        fewer = [(learned, _drawn(judged, MOST_JUDGED, rng)) for learned, judged in parts]
        trials: list[_Trial] = []
        columns, first = tuple(candidates), plan.settings
        for curves in _kinds(plan.curves):
            folds = _Folds(table, binned, groups, fewer, replace(plan, curves=curves), random_state, threads)
            columns = columns if trials else _joined(folds, candidates, progress)
            if trials and _hopeless(folds, columns, trials, plan.settings):
                break
            trials += _trials(_Search(folds, columns, first, most, 1 if trials else PATIENCE), progress)
            first = trials[plainest([trial.judged for trial in trials])].plan.settings  # of other warps not far from there
        chosen = trials[plainest([trial.judged for trial in trials])]
        calm = {j: blocks_warps.choose(column(j), rng, blocks_warps.SKEWED) for j in columns}
        folds = _Folds(table, binned, groups, fewer, replace(plan, curves=calm), random_state, threads)
        chosen = _scaled(folds, columns, chosen, most, progress) or chosen
        if sum(len(judged) for _, judged in parts) == len(chosen.judged.logs):
            return BlockChoice(chosen.plan, chosen.judged)
        folds = _Folds(table, binned, groups, parts, chosen.plan, random_state, threads)
        return BlockChoice(chosen.plan, folds.judge(tuple(chosen.plan.curves), chosen.plan.settings))
    except KeyboardInterrupt:
        plan.curves.update({j: Curve() for j in candidates if j not in plan.curves})
        return BlockChoice(plan, None, interrupted=True)


def _parts(table: Table, columns: int, random_state: int, rng: np.random.Generator) -> list[tuple[Indices, Indices]]:
    """Rows to learn from, a sample if they are many, and rows to judge by: those that other methods are judged by."""
    parts = splits(copies(table.rows), len(table.variables), np.random.default_rng(random_state))
    most = _sampled(columns, LEAST_TRAINING, MOST_TRAINING, MOST_PRODUCTS)
    return [(_drawn(learned, most, rng), judged) for learned, judged in parts]


def _sampled(columns: int, least: int, most: int, products: int) -> int:
    """How many rows have about so many products of two of their columns."""
    return min(most, max(least, 2 * products // (columns * (columns + 1))))


def _drawn(rows: Indices, most: int, rng: np.random.Generator) -> Indices:
    """At most so many of the rows, drawn at random."""
    return rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))


@dataclass(frozen=True)
class _Trial:
    """What was tried, and how it did on held-out rows."""

    plan: Plan
    judged: Judged


def _trials(search: _Search, progress: Move) -> list[_Trial]:
    """All that a search tried and that was the best for a while."""
    search.run(progress)
    folds, columns = search.folds, search.columns
    inside = {j: folds.plan.curves[j] for j in columns}
    return [_Trial(replace(folds.plan, curves=inside, settings=each), folds.judge(columns, each)) for each in search.tried]


def _hopeless(folds: _Folds, columns: tuple[int, ...], trials: Sequence[_Trial], first: Settings) -> bool:
    """Whether the warps of these folds are clearly worse than the best so far, which has components enough for any clusters."""
    best = max(trials, key=lambda trial: trial.judged.mean)
    settings = best.plan.settings
    many = settings.components >= ENOUGH_PARTS * first.components
    return many and clearly_better(best.judged, folds.judge(columns, settings))


def _kinds(curves: dict[int, Curve]) -> Iterator[dict[int, Curve]]:
    """The kinds of warps as chosen; and if some are bent, none bent.

    What looks like a bent curve may be two clusters: several components do better then, each with a mean of its own.
    """
    yield curves
    if any(curve.deviation for curve in curves.values()):
        yield {j: replace(curve, deviation=0.0) for j, curve in curves.items()}


def _scaled(folds: _Folds, columns: tuple[int, ...], rival: _Trial, most: int | None, progress: Move) -> _Trial | None:
    """The best scale mixture with the warps of these folds; None if it is not clearly better than what was chosen without."""
    settings, classes = replace(folds.plan.settings, start="widths"), folds.plan.settings.components
    enough = replace(settings, components=ENOUGH_WIDTHS * classes)
    hopeful = replace(folds, splits=folds.splits[:FIRST_FOLDS]).judge(columns, enough)
    if not steadily_better(hopeful, rival.judged.first(len(hopeful.logs)), 0.0):
        return None
    trials = _trials(_Search(folds, columns, replace(settings, components=FIRST_WIDTHS * classes), most, 1), progress)
    best = trials[plainest([trial.judged for trial in trials])]
    return best if steadily_better(best.judged, rival.judged, WIDTHS_ERRORS) else None


def _joined(folds: _Folds, candidates: dict[int, Candidate], progress: Move) -> tuple[int, ...]:
    """The columns of the block: those without frequent values, and of the others those that are worth it."""
    columns = tuple(candidates)
    settings = folds.plan.settings
    if any(candidate.divided for candidate in candidates.values()):
        settings = replace(settings, components=PARTS_OF_A_CLASS * settings.components)
    for j in sorted(candidates, key=lambda j: -candidates[j].share):
        rest = tuple(k for k in columns if k != j)
        if not candidates[j].surely and len(rest) >= LEAST_COLUMNS:
            progress(0.2, "choosing columns")
            without, within = (folds.judge(each, settings, FIRST_FOLDS).mean for each in (rest, columns))
            columns = rest if without > within else columns
    return columns


@dataclass
class _Search:
    """The settings tried so far, from one component per class upwards."""

    folds: _Folds
    columns: tuple[int, ...]
    first: Settings
    most: int | None
    patience: int
    tried: list[Settings] = field(default_factory=list)

    def run(self, progress: Move) -> None:
        """Try settings: the shrinkage adapts, then the number of components, and once more."""
        best = self._adapted(self._fits(self.first))
        self.tried = self.tried or [best]
        for _ in range(TURNS):
            grown = self._grown(best, progress)
            if grown == best:
                return
            best, self.patience = self._adapted(grown), 1

    def _grown(self, best: Settings, progress: Move) -> Settings:
        """With more components, as long as they gain."""
        failed = 0
        sizes = [size for size in self._sizes() if size > best.components]
        for step, components in enumerate(sizes):
            progress(0.2 + 0.7 * step / len(sizes), f"trying {components} blocks")
            better = [here for here in self._begun(replace(best, components=components)) if self._gains(here, best)]
            failed = 0 if better else failed + 1
            best = max(better, key=self._mean, default=best)
            if failed == self.patience:
                break
        return best

    def _begun(self, settings: Settings) -> Iterator[Settings]:
        """With clusters or shells to start with, if it matters; a scale mixture stays one."""
        yield settings
        if settings.start != "widths" and self.folds.divides(self.columns, settings):
            yield replace(settings, start="clusters" if settings.start == "shells" else "shells")

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
            while 0 <= place < len(values) and self._gains(near := changed(best, values[place]), best):
                best, place = near, place + direction
        return best

    def _gains(self, settings: Settings, best: Settings) -> bool:
        """Whether settings are better than the best so far; both, if so, are among those to choose from."""
        gains = self.folds.better(self.columns, settings, best)
        self.tried += [each for each in (best, *([settings] if gains else [])) if each not in self.tried]
        return gains

    def _mean(self, settings: Settings) -> float:
        return self.folds.judge(self.columns, settings).mean


def size_of(columns: int, variables: int, components: int) -> int:
    """The size of a circuit: its nodes, a block counting as many as it has numbers for mean and covariance."""
    return 1 + components * (1 + columns + columns * (columns + 1) // 2 + variables - columns)


def learned(
    table: Table, binned: Binned, choice: BlockChoice, random_state: int, *, threads: int, progress: Move
) -> tuple[BlockMixture, dict[int, Warp]]:
    """What was chosen, learned from all rows; of very many, from a sample at first."""
    groups = groups_of(table)
    warps = warps_of(table, groups, choice.plan)
    settings = choice.plan.settings

    def moved(done: float) -> None:
        progress(done, f"{settings.components} blocks")

    def warped(which: Indices) -> BlockTable:
        return BlockTable.of(table.rows[which], binned.some(which), warps, groups[which], choice.plan.atoms, threads=threads)

    whole, rng = np.arange(len(table.rows)), np.random.default_rng(random_state)
    count = min(len(whole), _sampled(len(warps), LEAST_TRAINING, MOST_TRAINING, MOST_PRODUCTS))
    rows = warped(_drawn(whole, count, rng))
    mixture = blocks.fit(rows, settings, blocks_start.start(rows, settings, random_state), progress=moved)
    later = _sampled(len(warps), MOST_TRAINING, MOST_AT_FIRST, PRODUCTS_AT_FIRST)
    for most, rounds in ((later, LATER_ROUNDS), (len(whole), LAST_ROUNDS)):
        if count < min(most, len(whole)) and not mixture.interrupted:
            count = min(most, len(whole))
            rows = warped(_drawn(whole, count, rng))
            mixture = blocks.fit(rows, settings, blocks.responsibilities(mixture, rows)[:, : settings.components], rounds=rounds)
    return replace(mixture, interrupted=mixture.interrupted or choice.interrupted), warps


def circuit_nodes(mixture: BlockMixture, warps: dict[int, Warp], binned: Binned) -> tuple[Node, ...]:
    """The nodes of the circuit: a sum of products of a block and leaves."""
    builder = Builder()
    return builder.below(builder.mixture(products(mixture, warps, binned, builder), mixture.weights))


def products(mixture: BlockMixture, warps: dict[int, Warp], binned: Binned, builder: Builder) -> list[int]:
    """The components as nodes: products of a block, of columns that are in it, and leaves."""
    tables = list(zip(mixture.leaves, mixture.tables(), strict=True))
    made = []
    for k in range(mixture.components):
        parts = [builder.add(binned.bins[j].leaf(j, table[k])) for j, table in tables if mixture.uses(j)[k]]
        inside = np.flatnonzero(mixture.inside[k])
        if len(inside):
            factor = np.linalg.cholesky(mixture.covariances[k][np.ix_(inside, inside)])
            variables = tuple(mixture.columns[place] for place in inside)
            block = GaussianBlock(
                variables,
                tuple(warps[j] for j in variables),
                tuple(mixture.means[k, inside].tolist()),
                tuple(tuple(row[: i + 1].tolist()) for i, row in enumerate(factor)),
            )
            parts.insert(0, builder.add(block))
        made.append(builder.product(parts))
    return made
