"""Pictures: a circuit as a drawing, and what it knows of two features as a heat map.

A picture is two functions: one that computes its numbers (`density_map`, `circuit_layout`), one that draws them
(`plot_density`, `plot_circuit`). Only the second needs matplotlib.
"""

from likely.show.axis import Axis
from likely.show.density import Density, density_map, plot_density
from likely.show.drawing import plot_circuit
from likely.show.layout import Edge, Layout, circuit_layout

__all__ = ["Axis", "Density", "Edge", "Layout", "circuit_layout", "density_map", "plot_circuit", "plot_density"]
