"""Pictures of marginals: areas are probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from likely.circuit import Categories, Circuit, Coded, Density, Histogram, Product
from likely.errors import CircuitError
from likely.schema import Categorical, Continuous, Mixed
from likely.show import plot_marginals
from likely.show.axis import axis_of
from likely.show.marginals import marginal_heights

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
    areas = marginal_heights(CIRCUIT, axis) * np.diff(axis.edges)
    assert areas.sum() == pytest.approx(1)
    if name == "c":
        assert areas == pytest.approx([0.25, 0.75])
    if name == "m":
        assert areas[0] == pytest.approx(0.5), "the code in a band of its own"


def test_a_picture_per_variable() -> None:
    pytest.importorskip("matplotlib")
    assert [ax.get_xlabel() for ax in plot_marginals(CIRCUIT).axes] == ["x", "c", "m"]
    assert [ax.get_xlabel() for ax in plot_marginals(CIRCUIT, ["m"]).axes] == ["m"]
    numbers = np.random.default_rng(0).normal(size=(60, 4))
    assert len(Density(method="mixture", nodes=10).fit(numbers).plot_marginals().axes) == 4
    with pytest.raises(CircuitError, match=r"^A picture of marginals must show a variable; got none\."):
        plot_marginals(CIRCUIT, [])
