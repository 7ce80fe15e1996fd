"""Expectation-maximisation (EM) of any circuit: the same structure, better weights and leaves.

A round asks the compiled core how many rows pass each edge of a sum and fall into each cell of each leaf, given the
parameters so far: one sweep up, one down, since the counts are derivatives of the network polynomial (Darwiche 2003;
Peharz et al. 2017). The new parameters are the most probable ones for these counts, where every leaf has `strength`
pseudo-rows more, spread as its variable is in the whole table. The likelihood of the training rows, so penalised, never
falls from round to round.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from likely._display.progress import progress_bar
from likely._jobs import thread_count
from likely.circuit.learning.bins import Bins
from likely.circuit.learning.table import row_weights
from likely.circuit.model.circuit import Circuit
from likely.circuit.model.measure import massless, measure
from likely.circuit.model.nodes import Leaf, Node, Product, Sum
from likely.errors import CircuitError, LikelyWarning
from likely.schema.values import LARGEST, Numbers

#: Pseudo-rows of every child of a sum, and of every variable in the whole table: one that lost all its rows may come back.
LEAST_ROWS = 1e-3


def refine(
    circuit: Circuit,
    X: pd.DataFrame | Numbers,
    y: Any = None,
    *,
    rounds: int = 20,
    strength: float = 10.0,
    weights: Any = None,
    progress: bool = True,
    n_jobs: int | None = None,
) -> Circuit:
    """The circuit with weights and leaves that suit the rows better; as many nodes, and normalised.

    Leaves keep the breaks that the leaves of their variable have together. Where one of them is parametric, all leaves
    of the variable stay as they are. Ctrl-C ends it, and keeps what the rounds before have made.

    Args:
        circuit: Where to start.
        X: A table, or encoded rows; unknown cells (NaN) are summed over.
        y: The classes of the rows, if they are not a column of the table.
        rounds: Of expectation-maximisation.
        strength: Pseudo-rows of every leaf, distributed as its variable in the whole table (a Dirichlet prior).
        weights: How many rows each row counts for; 1 each if left out.
        progress: Whether to show a bar on a terminal or in a notebook.
        n_jobs: Threads to work on; None or -1 for one per core. The same circuit on any number.

    Raises:
        CircuitError: If there are no rows, or a setting makes no sense.
    """
    rows = circuit.encode(X, y)
    if not len(rows):
        raise CircuitError("A table to learn from", "have rows", "none", "check how it was read")
    if rounds < 0:
        raise CircuitError("rounds", "be at least 0", rounds, "leave it out")
    if not 0 < strength < np.inf:
        raise CircuitError("strength", "be a positive number", strength, "10 is ten pseudo-rows per leaf")
    counted = row_weights(weights, len(rows))
    threads = thread_count(n_jobs, CircuitError)
    with progress_bar(progress, "Refining") as move:
        try:
            for done in range(rounds):
                circuit = _em_round(circuit, rows, counted, strength, threads)
                move((done + 1) / rounds, f"round {done + 1} of {rounds}")
        except KeyboardInterrupt:
            warnings.warn("Refining was interrupted; the circuit is what was learned until then.", LikelyWarning, stacklevel=2)
    return circuit


def _em_round(circuit: Circuit, rows: Numbers, weights: Numbers, strength: float, threads: int) -> Circuit:
    """One round of EM: expected counts of edges and cells (E), then the parameters they make most probable (M)."""
    _, edges, flat = circuit.core.expect(rows, weights, threads)
    nodes: list[Node] = list(circuit.nodes)
    start = 0
    for place, node in enumerate(nodes):
        count = len(node.children) if isinstance(node, (Sum, Product)) else 0
        if isinstance(node, Sum):
            rows_of_child = edges[start : start + count] + LEAST_ROWS
            nodes[place] = replace(node, weights=tuple(rows_of_child / rows_of_child.sum()))
        start += count
    offset = 0
    for variable, cells in enumerate(circuit.cells):
        width = len(cells.breaks) + 2  # a cell below, one above, one for the unknown
        counts = flat[offset : offset + len(cells.leaves) * width].reshape(len(cells.leaves), width)
        offset += counts.size
        if cells.leaves and all(parametric is None for parametric in cells.parametric):
            for place, leaf in zip(cells.leaves, _leaves(circuit, variable, counts, strength), strict=True):
                nodes[place] = leaf
    return replace(circuit, nodes=tuple(nodes))


def _leaves(circuit: Circuit, variable: int, counts: Numbers, strength: float) -> list[Leaf]:
    """New leaves of one variable from the expected counts in its cells."""
    feature, breaks = circuit.variables[variable], circuit.cells[variable].breaks
    atoms = np.array([feature.atom_number(k) for k in range(len(feature.atoms))])
    numbers = breaks[breaks >= -LARGEST] if feature.numeric else np.empty(0)
    if feature.numeric:
        bins = Bins(feature, len(atoms), numbers, np.append(np.ones(len(atoms)), measure(feature, numbers[:-1], numbers[1:])))
    else:
        bins = Bins(feature, 0, np.arange(len(atoms) + 1.0), np.ones(len(atoms)))
    if not bins.measure.any():
        raise massless(feature)
    cells = np.searchsorted(breaks, np.append(atoms, numbers[:-1]), side="right")
    _, place, sharing = np.unique(cells, return_inverse=True, return_counts=True)
    inside = counts[:, cells] / sharing[place] * (bins.measure > 0)  # no leaf can tell the values of one cell apart
    whole = inside.sum(axis=0) + LEAST_ROWS * bins.measure / bins.measure.sum()
    prior = strength * whole / whole.sum()
    return [bins.leaf(variable, counts_of_leaf + prior) for counts_of_leaf in inside]
