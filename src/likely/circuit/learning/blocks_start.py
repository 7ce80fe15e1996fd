"""Where the components of a mixture of blocks begin: clusters of rows within each class, shells around its mean, or widths.

Where columns have atoms or codes, rows with different columns at them start apart. Clusters are found by k-means over the bins
of all variables. Shells are rows about as far from the mean of their class, in deviations of their class: where tails are heavy,
a class is Gaussians of one mean and several widths. For a scale mixture shells have the fewer rows the farther out they are, as a
tail is told by few, and how far a row is, is told by an M-estimate of the covariance (that of Student's t; Maronna 1976): the
rows far out do not decide what is far.
"""

from __future__ import annotations

import numpy as np

from likely.circuit.learning.bins import Indices
from likely.circuit.learning.blocks import BlockTable, Settings
from likely.circuit.learning.kmeans import k_means
from likely.schema.values import Numbers

#: Rows that clusters are found in.
FIRST_ROWS = 2_000
#: A part of a class with other columns at atoms or codes starts alone with as many rows, and this share of all.
FEWEST_ROWS, FEWEST_SHARE = 30, 0.01
#: The share of the diagonal in the covariance by which rows are far from a mean.
LOOSE = 0.05
#: Of a scale mixture, a shell has this share of the rows that no inner one has, or more of them if there would be fewer than so
#: many rows in the outermost; the degrees of freedom of the covariance that says how far rows are, and rounds until it settles.
INNER, OUTERMOST, FREEDOM, ROUNDS = 0.5, 5, 3.0, 5


def start(table: BlockTable, settings: Settings, random_state: int) -> Numbers:
    """Responsibilities (row x component) to begin with, within each class, more components where there are more rows."""
    rng = np.random.default_rng(random_state)
    components = settings.components
    groups = _groups(table, components)
    shares = _shares(np.bincount(groups, weights=table.weights).astype(np.float64), components)
    divided = {"clusters": _clusters, "shells": _shells, "widths": _widths}[settings.start]
    if shares is None:
        return divided(table, np.arange(len(table)), components, rng)
    first = np.zeros((len(table), components))
    ends = np.cumsum(shares)
    for group, (end, count) in enumerate(zip(ends, shares, strict=True)):
        inside = np.flatnonzero(groups == group)
        if len(inside):
            first[inside, end - count : end] = divided(table, inside, count, rng)
    return first


def divides(table: BlockTable, settings: Settings) -> bool:
    """Whether some class, or part of one, has several components: only then it matters where they begin."""
    groups = _groups(table, settings.components)
    shares = _shares(np.bincount(groups, weights=table.weights).astype(np.float64), settings.components)
    return shares is None or bool(shares.max() > 1)


def _groups(table: BlockTable, most: int) -> Indices:
    """The classes of rows; where columns have atoms, parts of classes with the same columns at them, as many as may be.

    A rare part joins the one of its class that differs in the fewest columns.
    """
    if not table.atoms.any():
        return table.groups
    kinds, which = np.unique(np.column_stack([table.groups, table.atoms]), axis=0, return_inverse=True)
    which = which.ravel()
    rows = np.bincount(which, weights=table.weights)
    order = np.argsort(-rows, kind="stable")
    first = {int(kinds[place, 0]): int(place) for place in order[::-1]}  # the largest part of each class
    kept = list(first.values())
    enough = max(FEWEST_ROWS, FEWEST_SHARE * float(rows.sum()))
    kept += [int(place) for place in order if place not in kept and rows[place] >= enough][: max(0, most - len(kept))]
    away = (kinds[:, None, 1:] != kinds[None, kept, 1:]).sum(axis=2) + (kinds[:, None, 0] != kinds[None, kept, 0]) * kinds.shape[
        1
    ]
    return np.asarray(away.argmin(axis=1)[which], dtype=np.intp)


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


def _shells(table: BlockTable, rows: Indices, count: int, rng: np.random.Generator) -> Numbers:
    """Rows (of those given) x shell, the innermost first: 1 for a row's own."""
    z = np.nan_to_num(table.warped[rows])
    away = z - z.mean(axis=0)
    covariance = away.T @ away / len(rows) + 1e-8 * np.eye(z.shape[1])
    loose = (1 - LOOSE) * covariance + LOOSE * np.diag(np.diag(covariance))
    far = (away * np.linalg.solve(loose, away.T).T).sum(axis=1)
    order = np.argsort(np.argsort(far, kind="stable"), kind="stable")
    return np.eye(count)[order * count // len(rows)]


def _widths(table: BlockTable, rows: Indices, count: int, rng: np.random.Generator) -> Numbers:
    """Rows (of those given) x shell, the innermost first and with the most rows: 1 for a row's own."""
    if count == 1:
        return np.ones((len(rows), 1))
    order = np.argsort(np.argsort(_distances(np.nan_to_num(table.warped[rows])), kind="stable"), kind="stable")
    outside = 1 - order / len(rows)  # the share of the rows that are no nearer
    share = max(INNER, min(OUTERMOST / len(rows), 0.9) ** (1 / (count - 1)))
    return np.asarray(np.eye(count)[np.minimum(np.log(outside) / np.log(share), count - 1).astype(np.intp)])


def _distances(z: Numbers) -> Numbers:
    """The squared distance of each row from the median, in a covariance in which rows count the less the farther they are."""
    away, size = z - np.median(z, axis=0), z.shape[1]
    far = np.full(len(z), float(size))
    for _ in range(ROUNDS):
        counted = away * ((FREEDOM + size) / (FREEDOM + far))[:, None]
        covariance = counted.T @ away / len(z) + 1e-8 * np.eye(size)
        loose = (1 - LOOSE) * covariance + LOOSE * np.diag(np.diag(covariance))
        far = (away * np.linalg.solve(loose, away.T).T).sum(axis=1)
    return far
