"""Chow-Liu trees: of all trees over the variables of a table, the one under which its rows are most probable.

It is the spanning tree with the most mutual information (Chow and Liu 1968). Bins of a pair of variables are counted in
the rows where both are known.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likely.circuit.learning.binned import Binned
from likely.schema.values import Numbers

#: Rows whose bins are counted at a time.
AT_A_TIME = 8_192


def chow_liu(table: Binned) -> tuple[int, ...]:
    """The parent of each variable, -1 of the root: the variable that says the most about the others."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

    shared = mutual_information(pair_counts(table), [len(above) for above in table.bins])
    root = int(shared.sum(axis=0).argmax())
    # An entry of 0 would be no edge: all lengths are at least 1.
    tree = minimum_spanning_tree(csr_matrix(np.triu(shared.max() + 1 - shared, 1)))
    _, parent = breadth_first_order(tree, root, directed=False)
    return tuple(int(above) if place != root else -1 for place, above in enumerate(parent))


def one_hot(table: Binned, rows: slice) -> NDArray[np.float32]:
    """A column per bin of each variable (row x bin): 1 where a row is in it."""
    columns = [places[rows, None] == np.arange(size) for places, size in zip(table.places.T, table.sizes, strict=True)]
    return np.concatenate(columns, axis=1).astype(np.float32)


def pair_counts(table: Binned) -> Numbers:
    """How many rows are in each pair of bins (bin x bin)."""
    count = sum(table.sizes)
    counts = np.zeros((count, count))
    for start in range(0, len(table), AT_A_TIME):
        rows = slice(start, start + AT_A_TIME)
        hot = one_hot(table, rows)
        counts += (hot * table.weights[rows, None].astype(np.float32)).T @ hot
    return counts


def mutual_information(counts: Numbers, sizes: list[int]) -> Numbers:
    """The mutual information of each pair of variables times its rows, in nats; 0 on the diagonal."""
    start = np.cumsum([0, *sizes[:-1]])

    def summed(values: Numbers, axis: int) -> Numbers:
        return np.asarray(np.add.reduceat(values, start, axis=axis))

    marginal_counts = summed(counts, 1)  # bin x variable: rows in the bin where the other variable is known
    rows = summed(marginal_counts, 0)
    entropies = summed(x_log_x(marginal_counts), 0)
    information = summed(summed(x_log_x(counts), 0), 1) - entropies - entropies.T + x_log_x(rows)
    np.fill_diagonal(information, 0.0)
    return np.maximum(information, 0.0)


def x_log_x(values: Numbers) -> Numbers:
    """x log x, and 0 where x is."""
    return np.asarray(values * np.log(np.where(values > 0, values, 1.0)))
