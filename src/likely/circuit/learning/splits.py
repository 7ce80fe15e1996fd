"""Which rows are held out: of every class its share, and a row with all its copies.

A row that was copied into a table must not be learned from and held out at once: its copies would be known already, as no
new row is. Equal rows of a discrete table are something else: new rows of it equal known ones as often, and holding out
all of them together would make what is common look rare. So equal rows are taken for copies only where chance does not
make any: where most different rows have a value of their own in one of the columns.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from likely.circuit.learning.bins import Indices
from likely.schema.values import Numbers

#: The share of the different rows that have a value of their own in a column where equal rows are copies.
MOSTLY_OWN = 0.5
#: How many folds there are, and how many of them are held out in turn, with at most so many rows. The fewer rows, the more a
#: circuit gains with each, and the quicker it is learned: so the more folds, lest circuits of a part of the rows find new ones
#: less likely than the circuit of all does (the bias of cross-validation; Hastie, Tibshirani and Friedman 2009, 7.10).
FOLDS = ((1_000, 16, 16), (5_000, 8, 8), (50_000, 10, 2))
#: With more, one of ten is, or less: no more rows than are needed to know a share to half a percent.
FOLDS_OF_MANY, MOST_HELD_OUT = 10, 20_000


def copies(rows: Numbers) -> Indices:
    """The group of each row, numbered as they come: copies of a row are one group, every other row is alone.

    Args:
        rows: Encoded rows, with or without their classes.
    """
    alone = np.arange(len(rows))
    marks = pd.util.hash_pandas_object(pd.DataFrame(rows + 0.0), index=False).to_numpy()
    _, first, group = np.unique(marks, return_index=True, return_inverse=True)
    if len(first) == len(rows):
        return alone
    different = rows[first]
    counts = (np.unique(column, return_counts=True)[1] for column in different.T)
    if not any((often == 1).sum() > MOSTLY_OWN * len(different) for often in counts):
        return alone
    place = np.empty(len(first), dtype=np.intp)
    place[np.argsort(first)] = np.arange(len(first))
    return place[group]


def held_out(groups: Indices, classes: Numbers, rng: np.random.Generator) -> Iterator[Indices]:
    """The rows to hold out, one part after the other: each a like share of every class, and none in two parts.

    The first part has a row of every class, however rare.

    Args:
        groups: The group of each row (`copies`); groups stay together.
        classes: The class of each row; a group is of the class of its first row.
        rng: Draws the order.
    """
    _, first = np.unique(groups, return_index=True)
    many = max(FOLDS_OF_MANY, -(-len(first) // MOST_HELD_OUT)), 1
    folds, used = next(((folds, used) for most, folds, used in FOLDS if len(first) <= most), many)
    order = rng.permutation(len(first))
    _, kind = np.unique(classes[first][order], return_inverse=True)
    fold = pd.Series(kind).groupby(kind).cumcount().to_numpy() % folds
    for number in range(used if len(first) > 1 else 0):
        chosen = order[fold == number]
        if 0 < len(chosen) < len(first):
            yield np.flatnonzero(np.isin(groups, chosen))
