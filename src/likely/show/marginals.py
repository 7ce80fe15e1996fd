"""The marginals of a circuit, one picture per variable."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from likely.circuit import Circuit, log_likelihood
from likely.errors import CircuitError
from likely.schema.values import Name, Numbers
from likely.show.axis import Axis, axis_of

if TYPE_CHECKING:
    from likely.show.canvas import Figure

#: In inches: the picture of one variable.
SIZE = (3.2, 2.2)
#: Narrower than this part of the axis no bar is drawn: what many rows have alone would be a needle that dwarfs all else.
MOST_BARS = 128


def marginal_heights(circuit: Circuit, axis: Axis) -> tuple[Numbers, Numbers]:
    """Edges of cells that are wide enough to be seen, and the height of each: its probability over its width."""
    return _heights(axis, _masses(circuit, axis, np.full(len(circuit.variables), np.nan)))


def conditional_heights(circuit: Circuit, axis: Axis, row: Numbers) -> tuple[Numbers, Numbers] | None:
    """The same with the other values of a row given; None if they are impossible together with whatever the axis shows.

    Args:
        circuit: The circuit.
        axis: That of one variable.
        row: A double per variable; NaN for what is summed over.
    """
    mass = _masses(circuit, axis, row)
    total = float(mass.sum())
    return _heights(axis, mass / total) if total > 0 else None


def _masses(circuit: Circuit, axis: Axis, row: Numbers) -> Numbers:
    """The mass of every cell of an axis together with the other values of a row, but for a common factor."""
    rows = np.tile(row, (len(axis.values), 1))
    rows[:, circuit.index(axis.feature.name)] = axis.values
    logs = np.where(np.isnan(axis.values), -np.inf, log_likelihood(circuit, rows))
    most = logs.max() if not np.isnan(row).all() else 0.0  # of many values given, a likelihood may be too small for a double
    return np.exp(logs - (most if np.isfinite(most) else 0.0)) * axis.room


def _heights(axis: Axis, mass: Numbers) -> tuple[Numbers, Numbers]:
    below = np.concatenate([[0.0], np.cumsum(mass)])
    kept = _apart(axis.edges, (axis.edges[-1] - axis.edges[0]) / MOST_BARS) if axis.feature.numeric else slice(None)
    return axis.edges[kept], np.diff(below[kept]) / np.diff(axis.edges[kept])


def _apart(edges: Numbers, least: float) -> list[int]:
    """The places of edges that are not nearer to each other than this, the first and the last among them."""
    kept = [0]
    for place, edge in enumerate(edges):
        if edge - edges[kept[-1]] >= least:
            kept.append(place)
    last = len(edges) - 1
    return kept if kept[-1] == last else [*(kept[:-1] if len(kept) > 1 else kept), last]


def plot_marginals(circuit: Circuit, names: Collection[Name] | None = None) -> Figure:
    """The marginal density of each variable, all others summed over; areas are probabilities.

    Args:
        circuit: The circuit.
        names: Which variables; all of them if left out.
    """
    from likely.show import canvas

    shown = list(circuit.names if names is None else names)
    if not shown:
        raise CircuitError("A picture of marginals", "show a variable", "none", f"name some of {list(circuit.names)}")
    figure, panels = canvas.panels(len(shown), SIZE)
    for ax, name in zip(panels, shown, strict=True):
        axis = axis_of(circuit, name)
        canvas.steps(ax, *marginal_heights(circuit, axis), 0.0)
        canvas.name_axis(ax, axis, "x")
        ax.set_ylim(bottom=0)
        ax.set_yticks([])
    return figure
