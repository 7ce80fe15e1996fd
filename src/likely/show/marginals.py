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


def marginal_heights(circuit: Circuit, axis: Axis) -> Numbers:
    """The height of each cell of a variable's axis: its probability over its width there, so that areas are probabilities."""
    rows = np.full((len(axis.values), len(circuit.variables)), np.nan)
    rows[:, circuit.index(axis.feature.name)] = axis.values
    mass = np.where(np.isnan(axis.values), 0.0, np.exp(log_likelihood(circuit, rows)) * axis.room)
    return np.asarray(mass / np.diff(axis.edges))


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
        canvas.steps(ax, axis.edges, marginal_heights(circuit, axis), 0.0)
        canvas.name_axis(ax, axis, "x")
        ax.set_ylim(bottom=0)
        ax.set_yticks([])
    return figure
