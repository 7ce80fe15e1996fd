"""How large a circuit should be: the smallest of a few sizes that is not worse on rows it has not seen.

Every node is paid again in every explanation. Three sizes are tried, and the smallest circuit there is, a product of
independent variables. With few rows all of them are held out once, in five turns; with many, a tenth of them is, and the
trials learn from a sample of the others. A smaller circuit is preferred if the largest mean log-likelihood exceeds its
own by no more than one standard error of their difference, row by row, or by nothing that matters. The bins are those of
all rows; all else is learned without those held out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from likely.circuit.mixture import Binned, Mixture, fit, log_densities
from likely.circuit.progress import Progress
from likely.schema.values import Numbers

Places = NDArray[np.intp]

#: With at most as many rows, each is held out once.
FEW_ROWS = 5_000
TURNS = 5
#: With more: the share held out, and the most rows that a trial learns from and is judged by.
HELD_OUT, MOST_TRAINING, MOST_JUDGED = 0.1, 50_000, 20_000
#: With fewer rows there is nothing to choose with.
FEWEST_ROWS = 20
#: The sizes that are tried, as parts of the largest.
PARTS = (1, 2, 4)
#: A mean log-likelihood higher by less is not worth a node.
NO_MATTER = 1e-3
#: The largest circuit: nodes per row, nodes, nodes per variable (the greater of the last two).
PER_ROW, MOST_NODES, PER_VARIABLE = 0.15, 700, 8


@dataclass(frozen=True)
class Choice:
    """The size chosen, the mean log-likelihood of held-out rows there, and a mixture to keep if Ctrl-C ended the trials."""

    nodes: int
    validation: float
    kept: Mixture | None = None


def largest(rows: int, variables: int) -> int:
    """The most nodes that a circuit of so many rows and variables may have by default."""
    return int(max(variables + 1, min(PER_ROW * rows, max(MOST_NODES, PER_VARIABLE * variables))))


def size(table: Binned, nodes: int | None, seed: int, *, threads: int, progress: Progress) -> Choice:
    """The size to learn with; `nodes`, if given, and then only how good it is on held-out rows."""
    least = len(table.bins) + 1
    most = largest(len(table), len(table.bins)) if nodes is None else nodes
    sizes = sorted({least, *(max(least, most // part) for part in PARTS)}) if nodes is None else [nodes]
    if len(table) < FEWEST_ROWS:
        return Choice(most, float("nan"))
    splits = list(_splits(len(table), np.random.default_rng(seed)))
    logs: list[list[Numbers]] = [[] for _ in sizes]
    own, found = least, None
    try:
        for turn, (learned, judged) in enumerate(splits):
            training, unseen = table.some(learned).alone(), table.some(judged)
            for place, own in enumerate(sizes):
                progress((turn * len(sizes) + place) / (len(splits) * len(sizes)), f"trying {own} nodes")
                found = fit(training, own, seed, threads=threads)
                if found.interrupted:
                    return Choice(own, float("nan"), found)
                logs[place].append(log_densities(found, unseen, threads))
    except KeyboardInterrupt:
        return Choice(own, float("nan"), replace(found or fit(table, least, seed, threads=threads), interrupted=True))
    judged_rows = np.concatenate([judged for _, judged in splits])
    return _smallest(sizes, np.array([np.concatenate(found) for found in logs]), table.weights[judged_rows])


def _splits(rows: int, rng: np.random.Generator) -> Iterator[tuple[Places, Places]]:
    """Rows to learn from and rows to judge by."""
    order = rng.permutation(rows)
    if rows <= FEW_ROWS:
        for turn in range(TURNS):
            judged = order[turn::TURNS]
            yield np.setdiff1d(order, judged), np.sort(judged)
        return
    count = min(MOST_JUDGED, round(HELD_OUT * rows))
    yield np.sort(order[count : count + MOST_TRAINING]), np.sort(order[:count])


def _smallest(sizes: list[int], logs: Numbers, weights: Numbers) -> Choice:
    """The first size that is not worse than the best."""
    means = np.average(logs, axis=1, weights=weights)
    best = int(np.argmax(means))
    behind = means[best] - means
    errors = np.sqrt(np.average((logs[best] - logs - behind[:, None]) ** 2, axis=1, weights=weights) / logs.shape[1])
    place = int(np.argmax(behind <= np.maximum(errors, NO_MATTER)))
    return Choice(sizes[place], float(means[place]))
