"""Expectation-maximisation of any circuit: the same structure, better weights and leaves.

A round asks the compiled core how many rows pass each edge of a sum and fall into each cell of each leaf, given the
parameters so far: one sweep up, one down. The new parameters are the most probable ones for these counts, where every
leaf has `strength` pseudo-rows more, spread as its variable is in the whole table. The likelihood of the training rows,
so penalised, never falls from round to round.
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
from likely.circuit.learning.learn import row_weights
from likely.circuit.model.circuit import Circuit
from likely.circuit.model.measure import massless, room
from likely.circuit.model.nodes import Leaf, Node, Sum
from likely.errors import CircuitError, LikelyWarning
from likely.schema.values import LARGEST, Numbers

#: Pseudo-rows of every child of a sum, and of every variable in the whole table.
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
    """
    rows = circuit.encode(X, y)
    if not len(rows):
        raise CircuitError("A table to learn from", "have rows", "none", "check how it was read")
    if rounds < 0:
        raise CircuitError("rounds", "be at least 0", rounds, "leave it out")
    if not 0 < strength < np.inf:
        raise CircuitError("strength", "be a positive number", strength, "10 is ten pseudo-rows per leaf")
    counted, threads = row_weights(weights, len(rows)), thread_count(n_jobs, CircuitError)
    with progress_bar(progress, "Refining") as move:
        try:
            for done in range(rounds):
                circuit = _round(circuit, rows, counted, strength, threads)
                move((done + 1) / rounds, f"round {done + 1} of {rounds}")
        except KeyboardInterrupt:
            warnings.warn("Refining was interrupted; the circuit is what was learned until then.", LikelyWarning, stacklevel=2)
    return circuit


def _round(circuit: Circuit, rows: Numbers, weights: Numbers, strength: float, threads: int) -> Circuit:
    """One round of expectation-maximisation."""
    _, edges, flat = circuit.core.expect(rows, weights, threads)
    nodes: list[Node] = list(circuit.nodes)
    start = 0
    for place, node in enumerate(nodes):
        count = len(getattr(node, "children", ()))
        if isinstance(node, Sum):
            own = edges[start : start + count] + LEAST_ROWS  # a child that lost all its rows may come back
            nodes[place] = replace(node, weights=tuple(own / own.sum()))
        start += count
    offset = 0
    for variable, cells in enumerate(circuit.cells):
        width = len(cells.breaks) + 2  # a cell below, one above, one for the unknown
        counts = flat[offset : offset + len(cells.leaves) * width].reshape(len(cells.leaves), width)
        offset += counts.size
        if all(peaked is None for peaked in cells.peaked):
            for place, leaf in zip(cells.leaves, _leaves(circuit, variable, counts, strength), strict=True):
                nodes[place] = leaf
    return replace(circuit, nodes=tuple(nodes))


def _leaves(circuit: Circuit, variable: int, counts: Numbers, strength: float) -> list[Leaf]:
    """New leaves of one variable from the expected counts in its cells."""
    feature, breaks = circuit.variables[variable], circuit.cells[variable].breaks
    atoms = np.array([feature.atom_number(k) for k in range(len(feature.atoms))])
    numbers = breaks[breaks >= -LARGEST] if feature.numeric else np.empty(0)
    if feature.numeric:
        bins = Bins(feature, len(atoms), numbers, np.append(np.ones(len(atoms)), room(feature, numbers[:-1], numbers[1:])))
    else:
        bins = Bins(feature, 0, np.arange(len(atoms) + 1.0), np.ones(len(atoms)))
    if not bins.room.any():
        raise massless(feature)
    cells = np.searchsorted(breaks, np.append(atoms, numbers[:-1]), side="right")
    _, place, sharing = np.unique(cells, return_inverse=True, return_counts=True)
    inside = counts[:, cells] / sharing[place] * (bins.room > 0)  # no leaf can tell the values of one cell apart
    whole = inside.sum(axis=0) + LEAST_ROWS * bins.room / bins.room.sum()
    prior = strength * whole / whole.sum()
    return [bins.leaf(variable, own + prior) for own in inside]
