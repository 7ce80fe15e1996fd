"""Expectation-maximisation of any circuit: the same structure, better weights and leaves.

A round asks the compiled core how many rows pass each edge of a sum and fall into each cell of each leaf, given the
parameters so far: one sweep up, one down. The new parameters are the most probable ones for these counts, where every
leaf has `strength` pseudo-rows more, spread as its variable is in the whole table. The likelihood of the training rows,
so penalised, never falls from round to round.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from likely.circuit.bins import Bins
from likely.circuit.circuit import Circuit
from likely.circuit.measure import room
from likely.circuit.nodes import Leaf, Node, Sum
from likely.circuit.progress import progress_bar
from likely.errors import CircuitError
from likely.schema.values import LARGEST, Numbers


def refine(
    circuit: Circuit,
    X: pd.DataFrame | Numbers,
    y: Any = None,
    *,
    rounds: int = 20,
    strength: float = 10.0,
    weights: Any = None,
    progress: bool = True,
    threads: int = 0,
) -> Circuit:
    """The circuit with weights and leaves that suit the rows better; as many nodes, and normalised.

    Parametric leaves stay as they are. Ctrl-C ends it after the round that runs, and keeps what it has.
    """
    rows = circuit.encode(X, y)
    if not len(rows):
        raise CircuitError("A table to learn from", "have rows", "none", "check how it was read")
    if rounds < 0 or not strength > 0:
        raise CircuitError("rounds and strength", "be positive", (rounds, strength), "leave them out")
    row_weights = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
    with progress_bar(progress, "Refining") as move:
        try:
            for done in range(rounds):
                circuit = _round(circuit, rows, row_weights, strength, threads)
                move((done + 1) / rounds, f"round {done + 1} of {rounds}")
        except KeyboardInterrupt:
            pass  # every round leaves a circuit that is no worse
    return circuit


def _round(circuit: Circuit, rows: Numbers, weights: Numbers, strength: float, threads: int) -> Circuit:
    _, edges, flat = circuit.core.expect(rows, weights, threads)
    nodes: list[Node] = list(circuit.nodes)
    start = 0
    for place, node in enumerate(nodes):
        count = len(getattr(node, "children", ()))
        if isinstance(node, Sum):
            own = edges[start : start + count] + 1e-3  # a child that lost all its rows may come back
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
    numbers = breaks[breaks > -LARGEST] if feature.numeric else breaks
    codes = len(feature.atoms) if feature.numeric else 0
    bins = Bins(feature, codes, numbers, np.append(np.ones(codes), room(feature, numbers[:-1], numbers[1:])))
    # The cell of code k begins at the k-th break but two from the last code on; a range's cell at its own break.
    first = [int(np.searchsorted(breaks, feature.atom_number(k), side="right")) for k in range(codes)]
    places = [*first, *(int(np.searchsorted(breaks, low, side="right")) for low in numbers[:-1])]
    inside = counts[:, places] * (bins.room > 0)
    whole = inside.sum(axis=0) + 1e-3 * bins.room / max(bins.room.sum(), 1e-300)
    prior = strength * whole / whole.sum()
    return [bins.leaf(variable, own + prior) for own in inside]
