"""Cross-fitting: how likely rows are under circuits that have not seen them.

A circuit makes the rows that it was learned from likelier than new ones, the more so the fewer they are. To know how likely
new rows are, rows are held out in turn (`learning.splits`), and a circuit is learned from the others with the method and the
size that were chosen: bins and all else anew. No circuit sees the rows that it is asked about.

References:
    V. Vovk, Cross-conformal predictors, Annals of Mathematics and Artificial Intelligence 74, 2015.
    R. F. Barber, E. J. Candès, A. Ramdas and R. J. Tibshirani, Predictive inference with the jackknife+, Annals of Statistics
    49(1), 2021.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from likely._display.progress import Move
from likely.circuit.learning.bins import Indices
from likely.circuit.learning.splits import copies, held_out
from likely.circuit.learning.table import Table
from likely.circuit.model.circuit import Circuit

#: Learns a circuit from a table with settings that are chosen; None if Ctrl-C ended it.
Learner: TypeAlias = Callable[[Table], Circuit | None]


@dataclass(frozen=True, eq=False)
class Fold:
    """A circuit, and the places of rows of the table that it has not seen."""

    circuit: Circuit
    rows: Indices


def cross_fitted(table: Table, learner: Learner, random_state: int, move: Move) -> tuple[Fold, ...]:
    """A circuit for each part of the table that is held out; those until then if Ctrl-C ends it.

    Args:
        table: What the circuit of all rows is learned from.
        learner: Learns as that one was.
        random_state: Says which rows are held out.
        move: Moves a progress bar.
    """
    classes = np.zeros(len(table.rows)) if table.target is None else table.rows[:, -1]
    parts = list(held_out(copies(table.rows), classes, np.random.default_rng(random_state)))
    folds: list[Fold] = []
    for done, unseen in enumerate(parts):
        move(done / len(parts), f"holding out rows, {done + 1} of {len(parts)}")
        circuit = learner(table.without(unseen))
        if circuit is None:
            break
        folds.append(Fold(circuit, table.places[unseen]))
    return tuple(folds)
