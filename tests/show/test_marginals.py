"""Pictures of marginals: areas are probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from likely.circuit import Categories, Circuit, Coded, Density, GaussianBlock, Histogram, Product, Sum, Warp
from likely.errors import CircuitError
from likely.schema import Categorical, Continuous, Integer, Mixed
from likely.show import plot_marginals
from likely.show.axis import axis_of
from likely.show.marginals import MOST_BARS, marginal_heights

CIRCUIT = Circuit(
    (Continuous("x", 0, 4), Categorical("c", ("a", "b")), Mixed("m", 0, 2, [None])),
    (
        Histogram(0, (0, 1, 4), (0.4, 0.2)), Categories(1, (0.25, 0.75)), Coded(2, (0.5,), Histogram(2, (0, 2), (0.5,))),
        Product((0, 1, 2)),
    ),
)  # fmt: skip


@pytest.mark.parametrize("name", CIRCUIT.names)
def test_areas_are_probabilities(name: str) -> None:
    axis = axis_of(CIRCUIT, name)
    edges, heights = marginal_heights(CIRCUIT, axis)
    areas = heights * np.diff(edges)
    assert areas.sum() == pytest.approx(1)
    if name == "c":
        assert areas == pytest.approx([0.25, 0.75])
    if name == "m":
        assert areas[0] == pytest.approx(0.5), "the code in a band of its own"


def test_an_atom_beside_a_block_has_its_area_and_does_not_dwarf_the_rest() -> None:
    """Four rows of ten have no debt: a bar of that area at 0, though 0 is one of thousands of values."""
    warp = Warp((500.0, 1500.0), (-1.0, 1.0), lower=-0.5, upper=5000.5)
    nodes = (
        Histogram(0, (0, 1, 5001), (0.999, 0.001 / 5000)),
        GaussianBlock((0,), (warp,), (0.0,), ((1.0,),)),
        Sum((0, 1), (0.4, 0.6)),
    )
    circuit = Circuit((Integer("debt", 0, 5000),), nodes)
    edges, heights = marginal_heights(circuit, axis_of(circuit, "debt"))
    areas = heights * np.diff(edges)
    assert areas.sum() == pytest.approx(1, abs=0.01)
    assert areas[0] == pytest.approx(0.4, abs=0.01)
    assert np.diff(edges).min() >= (edges[-1] - edges[0]) / (MOST_BARS + 1)


def test_a_picture_per_variable() -> None:
    pytest.importorskip("matplotlib")
    assert [ax.get_xlabel() for ax in plot_marginals(CIRCUIT).axes] == ["x", "c", "m"]
    assert [ax.get_xlabel() for ax in plot_marginals(CIRCUIT, ["m"]).axes] == ["m"]
    numbers = np.random.default_rng(0).normal(size=(60, 4))
    assert len(Density(method="mixture", nodes=10).fit(numbers).plot_marginals().axes) == 4
    with pytest.raises(CircuitError, match=r"^A picture of marginals must show a variable; got none\."):
        plot_marginals(CIRCUIT, [])
