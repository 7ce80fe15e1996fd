"""The context of every variable in every row of a table, for a tree whose variables remember.

Unknown cells: a row counts for a variable where its value and its context are known; the context is, if all that the
unknown cells could be lead to the same. So where cells are unknown at random, nothing is distorted.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from likely.circuit.learning.binned import Binned
from likely.circuit.learning.bins import Indices
from likely.circuit.learning.tree import Tree
from likely.schema.values import Numbers

#: Rows whose contexts are found at a time.
AT_A_TIME = 65_536


def counted(tree: Tree, table: Binned) -> list[Numbers]:
    """Per variable, the rows in each context and bin (context x bin)."""
    counts = [np.zeros((tree.contexts[j], size)) for j, size in enumerate(table.sizes)]
    for start in range(0, len(table), AT_A_TIME):
        rows = slice(start, start + AT_A_TIME)
        part = replace(table, places=table.places[rows], weights=table.weights[rows])
        contexts: dict[int, Indices] = {}
        for variable in tree.order:
            contexts[variable] = context_of(tree, variable, part, contexts)
            width = len(table.bins[variable]) + 1
            places = (contexts[variable] + 1) * width + part.places[:, variable]
            sums = np.bincount(places, weights=part.weights, minlength=(tree.contexts[variable] + 1) * width)
            counts[variable] += sums.reshape(-1, width)[1:, :-1]
    return counts


def context_of(tree: Tree, variable: int, table: Binned, contexts: dict[int, Indices]) -> Indices:
    """The context of a variable in each row, given its parent's; -1 where it is not known."""
    above = tree.parent[variable]
    if above < 0:
        return np.zeros(len(table), dtype=np.intp)
    return _with_unknown(tree.route[variable])[contexts[above], table.places[:, above]]


def _with_unknown(route: Indices) -> Indices:
    """A route with a last row and column for a context and a value not known: where they lead, if all lead to the same."""

    def common(places: Indices, axis: int) -> Indices:
        first = places.min(axis=axis, keepdims=True)
        return np.where(first == places.max(axis=axis, keepdims=True), first, -1)

    wide = np.concatenate([route, common(route, 1)], axis=1)
    last = np.concatenate([common(route, 0), common(route.reshape(1, -1), 1)], axis=1)
    return np.concatenate([wide, last])
