"""Pictures and pages: circuits, densities, what answers change, what plausibility costs, and reports for people.

A picture is two functions: one that computes its numbers (`density_map`, `circuit_layout`, `changes_of`, `Front.to_frame`),
one that draws them (`plot_density`, `plot_marginals`, `plot_circuit`, `plot_changes`, `plot_front`). Only the second needs
matplotlib; a `report` needs nothing.
"""

from likely.show.axis import Axis
from likely.show.changes import Move, Track, changes_of, plot_changes
from likely.show.density import Density, density_map, plot_density
from likely.show.drawing import plot_circuit
from likely.show.front import plot_front
from likely.show.layout import Edge, Layout, circuit_layout
from likely.show.marginals import plot_marginals
from likely.show.pages import audit_report, report

__all__ = [
    "Axis",
    "Density",
    "Edge",
    "Layout",
    "Move",
    "Track",
    "audit_report",
    "changes_of",
    "circuit_layout",
    "density_map",
    "plot_changes",
    "plot_circuit",
    "plot_density",
    "plot_front",
    "plot_marginals",
    "report",
]
