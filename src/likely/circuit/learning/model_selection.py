"""Which circuit to learn, and how large: the smallest of a few that is not worse on rows it has not seen.

Every node is paid again in every explanation. Of mixtures (`learning.mixture`), three sizes are tried and the
smallest circuit there is, a product of independent variables; of trees (`learning.grow`), three sizes. With few rows
all of them are held out once, by cross-validation in five folds (some of them, in fewer folds, if the rows are wide); with
many, a tenth of them is, and the trials learn from a sample of the others. A smaller circuit is preferred if the largest
mean log-likelihood exceeds its own by no more than one standard error of their difference, row by row (the one-standard-error
rule of Breiman et al. 1984), or by nothing that matters. The bins are those of all rows; all else is learned without those
held out, and without their copies.

Mixtures take longer than trees, and gain less and less with each component. So the largest is not tried when the one before
it was worse than a smaller one, or when a tree is ahead of it by more than it has gained on the product of independent
variables; and no larger one is tried when a mixture of blocks (`learning.blocks_selection`) is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np

from likely._display.progress import Move
from likely.circuit.learning import grow, mixture
from likely.circuit.learning.binned import Binned
from likely.circuit.learning.bins import Indices
from likely.circuit.learning.grow import Grown
from likely.circuit.learning.mixture import Mixture
from likely.schema.values import Numbers

Method: TypeAlias = Literal["mixture", "tree"]

#: With at most as many rows, a fifth of them is held out in each of five folds, or fewer for want of time: about as many
#: cells are looked at in all, where less than a thousand rows take as long as a thousand.
FEW_ROWS = 5_000
FOLDS, CELLS_OF_FOLDS, ROWS_OF_A_FOLD = 5, 500_000, 1_000
#: With more: the share held out, and the most rows that a trial learns from (also cells of them) and is judged by.
HELD_OUT, MOST_TRAINING, MOST_CELLS, MOST_JUDGED = 0.1, 50_000, 2_000_000, 20_000
#: With fewer rows there is nothing to choose with.
FEWEST_ROWS = 20
#: The sizes that are tried, as parts of the largest.
PARTS = (1, 2, 4)
#: A mean log-likelihood higher by less is not worth a node.
NO_MATTER = 1e-3
#: The share of the rows, on either side, that do not decide alone which of two is better.
OUTERMOST = 0.01
#: The largest mixture: nodes per row, but enough per variable for some components; and no more than so many nodes, or per
#: variable.
PER_ROW, ENOUGH_PER_VARIABLE, MOST_NODES, PER_VARIABLE = 0.15, 5, 700, 8
#: The largest tree: as many nodes, or as many per variable.
TREE_PER_VARIABLE = 16


@dataclass(frozen=True)
class Judged:
    """Something learned, judged: the log-likelihood of each held-out row, the rows' weights, and its size."""

    logs: Numbers
    weights: Numbers
    size: int

    @property
    def mean(self) -> float:
        """The mean log-likelihood of held-out rows."""
        return float(np.average(self.logs, weights=self.weights))

    def first(self, count: int) -> Judged:
        """Judged by the first rows only."""
        return Judged(self.logs[:count], self.weights[:count], self.size)


def clearly_better(judged: Judged, other: Judged, matters: float = NO_MATTER, errors: float = 1.0) -> bool:
    """Whether something is better than another: by more than so many standard errors of their difference, and as matters."""
    ahead = judged.mean - other.mean
    spread = np.average((judged.logs - other.logs - ahead) ** 2, weights=judged.weights)
    return ahead > max(errors * float(np.sqrt(spread / len(judged.logs))), matters)


def steadily_better(judged: Judged, other: Judged, errors: float) -> bool:
    """Whether something is better than another, and would be so without the few rows in which they differ most.

    In a heavy tail one row may decide what the mean of all is, and how uncertain: its difference is most of the standard error
    too. So the differences of the outermost hundredth of the rows on either side are no larger than those of the next
    (winsorised), and their mean must exceed so many standard errors; and that of all rows must not be less than 0.
    """
    ahead = judged.logs - other.logs
    kept = np.clip(ahead, *np.quantile(ahead, [OUTERMOST, 1 - OUTERMOST]))
    mean = float(np.average(kept, weights=judged.weights))
    spread = np.average((kept - mean) ** 2, weights=judged.weights)
    return judged.mean > other.mean and mean > errors * float(np.sqrt(spread / len(kept)))


def plainest(candidates: Sequence[Judged]) -> int:
    """The place of the smallest that the best is not clearly better than; of equally large ones, of the best."""
    best = max(candidates, key=lambda judged: judged.mean)
    places = [place for place, judged in enumerate(candidates) if not clearly_better(best, judged)]
    return min(places, key=lambda place: (candidates[place].size, -candidates[place].mean))


@dataclass(frozen=True)
class Choice:
    """The size and method chosen, how it did on held-out rows, and what to keep if Ctrl-C ended the trials."""

    nodes: int
    validation: float
    kept: Mixture | Grown | None = None
    method: Method = "mixture"
    judged: Judged | None = None


def largest(rows: int, variables: int, method: Method = "mixture") -> int:
    """The most nodes that a circuit of so many rows and variables may have by default."""
    if method == "tree":
        return max(MOST_NODES, TREE_PER_VARIABLE * variables)
    return int(min(max(PER_ROW * rows, ENOUGH_PER_VARIABLE * variables), max(MOST_NODES, PER_VARIABLE * variables)))


def fitted(
    method: Method,
    table: Binned,
    sizes: Sequence[int],
    random_state: int,
    *,
    threads: int,
    progress: Callable[[float], None] = lambda _: None,
) -> Iterator[Mixture | Grown]:
    """What a method learns, one of each size."""
    if method == "tree":
        yield from grow.fit(table, sizes, random_state, progress=progress)
    else:
        yield from (mixture.fit(table, nodes, random_state, threads=threads, progress=progress) for nodes in sizes)


def select(
    table: Binned,
    nodes: int | None,
    random_state: int,
    *,
    methods: Sequence[Method] = ("mixture",),
    rival: float = -math.inf,
    groups: Indices | None = None,
    threads: int,
    progress: Move,
) -> Choice:
    """The method and size to learn with; `nodes`, if given, and then only which method is better on held-out rows.

    Rows of a group (`learning.splits.copies`) are held out together; left out, each row is alone. `rival` is the mean
    log-likelihood of the same rows under something else that there is to choose from.
    """
    rows, variables = table.places.shape
    if rows < FEWEST_ROWS:
        return Choice(_untried(rows, variables, methods[0]) if nodes is None else nodes, math.nan, None, methods[0])
    groups = np.arange(rows) if groups is None else groups
    parts = list(splits(groups, variables, np.random.default_rng(random_state)))
    folds = [(table.some(learned).alone(), table.some(judged)) for learned, judged in parts]
    weights = table.weights[np.concatenate([judged for _, judged in parts])]
    plan = list(_plan(methods, rows, variables, nodes))
    tried: list[_Trial] = []
    last: Mixture | Grown | None = None
    try:
        for step, (method, sizes) in enumerate(plan):
            trials = [_Trial(method, most) for most in sizes]
            for fold, (training, unseen) in enumerate(folds):
                progress((step + fold / len(folds)) / len(plan), f"trying a {method} of {max(sizes)} nodes")
                for trial, last in zip(trials, fitted(method, training, sizes, random_state, threads=threads), strict=True):
                    trial.add(last, unseen, threads)
            tried += trials
            if _hopeless(tried, max(plan[-1][1]), weights, rival):
                break
    except KeyboardInterrupt:
        return _kept(last or mixture.fit(table, variables + 1, random_state, threads=threads))
    return _smallest(tried, weights)


def _kept(last: Mixture | Grown) -> Choice:
    """What was learned last, for want of better."""
    return Choice(last.nodes, math.nan, replace(last, interrupted=True), "mixture" if isinstance(last, Mixture) else "tree")


def _plan(methods: Sequence[Method], rows: int, variables: int, nodes: int | None) -> Iterator[tuple[Method, list[int]]]:
    """What to try: trees of all sizes, which grow out of each other; then mixtures one by one, the smallest first."""
    least = variables + 1
    for method in sorted(methods, key=("tree", "mixture").index):
        most = largest(rows, variables, method) if nodes is None else nodes
        sizes = sorted({max(least, most // part) for part in PARTS}) if nodes is None else [nodes]
        if method == "tree":
            yield method, sizes
        else:
            yield from ((method, [size]) for size in sorted({*sizes, *([least] if nodes is None else [])}))


@dataclass
class _Trial:
    """A method and a size at most: nodes of what was learned, and held-out log-likelihoods, fold by fold."""

    method: Method
    most: int
    nodes: list[int] = field(default_factory=list)
    logs: list[Numbers] = field(default_factory=list)

    def add(self, learned: Mixture | Grown, unseen: Binned, threads: int) -> None:
        """Judge what was learned in one fold; an interrupt if Ctrl-C had ended it."""
        if learned.interrupted:
            raise KeyboardInterrupt
        self.nodes.append(learned.nodes)
        if isinstance(learned, Mixture):
            self.logs.append(mixture.log_densities(learned, unseen, threads))
        else:
            self.logs.append(grow.log_densities(learned, unseen, threads))

    def mean(self, weights: Numbers) -> float:
        """The mean log-likelihood of held-out rows."""
        return float(np.average(np.concatenate(self.logs), weights=weights))


def splits(groups: Indices, variables: int, rng: np.random.Generator) -> Iterator[tuple[Indices, Indices]]:
    """Rows to learn from and rows to judge by, none of one group on both sides."""
    rows = int(groups.max()) + 1  # a group counts as a row
    order = rng.permutation(rows)

    def of(chosen: Indices) -> Indices:
        return np.flatnonzero(np.isin(groups, chosen))

    if rows <= FEW_ROWS:
        for fold in range(min(FOLDS, max(1, CELLS_OF_FOLDS // (max(rows, ROWS_OF_A_FOLD) * variables)))):
            judged = order[fold::FOLDS]
            yield of(np.setdiff1d(order, judged)), of(judged)
        return
    count = min(MOST_JUDGED, round(HELD_OUT * rows))
    training = min(MOST_TRAINING, max(FEW_ROWS, MOST_CELLS // variables))
    yield of(order[count : count + training]), of(order[:count])


def _hopeless(trials: Sequence[_Trial], most: int, weights: Numbers, rival: float = -math.inf) -> bool:
    """Whether a mixture of at most so many nodes will not catch up with a smaller one, the best tree or a rival."""
    trees = [trial.mean(weights) for trial in trials if trial.method == "tree"]
    mixtures = [trial.mean(weights) for trial in trials if trial.method == "mixture"]
    if len(mixtures) < 2:
        return False
    gained = mixtures[-1] - mixtures[0]
    if 2 * trials[-1].most < most:
        return 0 < gained < rival - mixtures[-1]
    return mixtures[-1] < mixtures[-2] or 0 < gained < max([rival, *trees]) - mixtures[-1]


def unjudged(table: Binned, nodes: int | None) -> Choice:
    """A small mixture, where there is no time to try any."""
    rows, variables = table.places.shape
    return Choice(max(variables + 1, largest(rows, variables) // max(PARTS)) if nodes is None else nodes, math.nan)


def _untried(rows: int, variables: int, method: Method) -> int:
    """The nodes to learn with where no rows can be held out: a mixture would be of their noise."""
    return variables + 1 if method == "mixture" else largest(rows, variables, method)


def _smallest(trials: Sequence[_Trial], weights: Numbers) -> Choice:
    """The one with the fewest nodes that is not worse than the best."""
    judged = [Judged(np.concatenate(trial.logs), weights, sum(trial.nodes)) for trial in trials]
    place = plainest(judged)
    return Choice(trials[place].most, judged[place].mean, None, trials[place].method, judged[place])
