"""The numbers of drawings by value; the pictures by what stands in them, and by what does not lie on what."""

from __future__ import annotations

import sys
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likely
from likely.circuit import Categories, Circuit, GaussianBlock, Product, Sum, Warp
from likely.errors import CircuitError, MissingExtraError
from likely.schema import Binary, Categorical, Continuous, Integer
from likely.show import plot_circuit, plot_density
from likely.show.axis import axis_of
from likely.show.drawing import leaf_distances, leaf_masses, show_weight, tiny_histogram
from tests import cases, strategies
from tests.show.examples import every_kind, simple

# -- numbers ----------------------------------------------------------------------------------------------------------


def test_leaf_masses() -> None:
    circuit = simple()
    masses = leaf_masses(circuit, axis_of(circuit, "amount"))  # cells 0 - 200 - 500 - 1000
    np.testing.assert_allclose(masses, [[0.8, 0.075, 0.125], [0.08, 0.12, 0.8]])


def with_blocks() -> Circuit:
    """Two blocks of x and n, each beside a leaf of the class."""
    x, n = Warp((2.0, 5.0, 8.0), (-1.0, 0.0, 2.0), 0.0, 10.0), Warp.identity(-0.5, 9.5)
    blocks = [GaussianBlock((0, 1), (x, n), (mean, 4.0), ((1.0,), (0.5, 1.0))) for mean in (-1.0, 1.0)]
    leaves = [Categories(2, shares) for shares in ((0.9, 0.1), (0.2, 0.8))]
    nodes = (*blocks, *leaves, Product((0, 2)), Product((1, 3)), Sum((4, 5), (0.5, 0.5)))
    return Circuit((Continuous("x", 0, 10), Integer("n", 0, 9)), nodes, Binary("y", values=("no", "yes")))


def test_blocks_have_masses_and_distances() -> None:
    circuit = with_blocks()
    masses = leaf_masses(circuit, axis_of(circuit, "x"))
    np.testing.assert_allclose(masses.sum(axis=1), [1, 1])
    distances = leaf_distances(circuit)
    # two Gaussians, 2 deviations apart, in equal shares: half of their total variation, erf(1 / sqrt 2)
    assert distances[:2] == pytest.approx([0.3413, 0.3413], abs=0.01)


@pytest.mark.parametrize("detailed", [True, False])
def test_blocks_are_drawn(detailed: bool) -> None:
    pytest.importorskip("matplotlib")
    figure = plot_circuit(with_blocks(), detailed=detailed)
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts.count("N(2)") == (2 if detailed else 0)
    assert figure.axes[0].get_title(loc="left") == "7 nodes: 1 sum, 2 products, 2 leaves, 2 blocks"


def test_leaf_distances() -> None:
    distances = leaf_distances(simple())
    marginal = 0.75 * np.array([0.8, 0.075, 0.125]) + 0.25 * np.array([0.08, 0.12, 0.8])
    assert distances[0] == pytest.approx(np.abs(np.array([0.8, 0.075, 0.125]) - marginal).sum() / 2)
    assert np.isnan(distances[[3, 7, 8]]).all()


@given(strategies.circuits())
def test_distances_are_between_0_and_1(circuit: Circuit) -> None:
    distances = leaf_distances(circuit)
    distances = distances[~np.isnan(distances)]
    assert ((distances >= 0) & (distances <= 1 + 1e-9)).all()


def test_tiny_histograms() -> None:
    axis = axis_of(simple(), "amount")
    breaks, heights = tiny_histogram(axis, np.array([0.8, 0.075, 0.125]))
    np.testing.assert_allclose(breaks, [0, 0.2, 0.5, 1])
    np.testing.assert_allclose(heights, [1, 0.0625, 0.0625])
    many = axis_of(every_kind(), "opened")
    breaks, heights = tiny_histogram(many, many.room / many.room.sum())
    assert len(heights) == 20
    np.testing.assert_allclose(heights, 1, atol=0.01)


@pytest.mark.parametrize(
    ("weight", "text"),
    [(0.5, "0.50"), (0.004, "0.004"), (0.9971, "0.997"), (1e-9, "<0.001"), (1 - 1e-9, ">0.999"), (1.0, "1.00"), (0.0, "0.00")],
)
def test_weights(weight: float, text: str) -> None:
    assert show_weight(weight) == text


# -- pictures ---------------------------------------------------------------------------------------------------------


def texts_of(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_text()]


def boxes_of(figure: Any, texts: list[Any]) -> list[Any]:
    from matplotlib.text import Text

    figure.canvas.draw()
    return [Text.get_window_extent(text) for text in texts if text.get_text()]  # without the lines of annotations


def assert_apart(boxes: list[Any]) -> None:
    for a, b in combinations(boxes, 2):
        assert not a.overlaps(b), (a, b)


def test_a_small_circuit(pyplot: Any) -> None:
    figure = plot_circuit(simple())
    (ax,) = figure.axes
    assert texts_of(ax).count("+") == 1
    assert texts_of(ax).count("×") == 2  # noqa: RUF001
    assert {"0.75", "0.25"} <= set(texts_of(ax))
    assert [texts_of(ax).count(name) for name in ("amount", "months", "good")] == [2, 2, 2]
    assert ax.get_title(loc="left") == "9 nodes: 1 sum, 2 products, 6 leaves"
    assert_apart(boxes_of(figure, list(ax.texts)))


def test_a_large_circuit_is_an_overview(pyplot: Any) -> None:
    figure = plot_circuit(simple(), detailed=False)
    ax, bar = figure.axes
    assert [text.get_text() for text in ax.get_yticklabels()] == ["amount", "months", "good"]
    tiles = next(c for c in ax.collections if c.get_array() is not None)
    assert sorted(tiles.get_array()) == pytest.approx(sorted(leaf_distances(simple())[[0, 1, 2, 4, 5, 6]]))
    assert bar.get_ylabel() == "distance of a leaf from the marginal (total variation)"
    assert_apart(boxes_of(figure, [*ax.get_yticklabels(), ax.title]))


def test_one_leaf(pyplot: Any) -> None:
    circuit = Circuit((Binary("a"),), (Categories(0, (0.5, 0.5)),))
    for detailed in (True, False):
        assert plot_circuit(circuit, detailed=detailed).axes[0].get_title(loc="left") == "1 node: 0 sums, 0 products, 1 leaf"


@pytest.mark.filterwarnings("ignore:Glyph")
@settings(max_examples=15)
@given(strategies.circuits(most=4), st.booleans())
def test_any_circuit_can_be_drawn(circuit: Circuit, detailed: bool) -> None:
    figures = pytest.importorskip("matplotlib.figure")
    ax = figures.Figure().subplots()
    assert plot_circuit(circuit, detailed=detailed, ax=ax) is ax.figure
    ax.figure.draw_without_rendering()


def test_many_variables_are_not_named(pyplot: Any) -> None:
    features = tuple(Binary(f"v{j}") for j in range(100))
    leaves = tuple(Categories(j, (0.5, 0.5)) for j in range(100))
    ax = plot_circuit(Circuit(features, (*leaves, Product(tuple(range(100)))))).axes[0]
    assert [text.get_text() for text in ax.get_yticklabels()] == []


def test_density(pyplot: Any) -> None:
    data = pd.DataFrame({"amount": [100.0, 900.0, np.nan], "months": [1, 4, 2]})
    points = {
        "factual": {"amount": 900, "months": 4},
        "closest": {"amount": 900, "months": 4, "good": True},
        "other": {"amount": 80, "months": 1},
    }
    figure = plot_density(simple(), "amount", "months", data, points, {"good": True})
    ax, bar = figure.axes
    assert (ax.get_xlabel(), ax.get_ylabel(), bar.get_ylabel()) == ("amount", "months", "log-likelihood (nats)")
    assert ax.get_title(loc="left") == "given good = True"
    assert sorted(texts_of(ax)) == ["factual, closest", "other"]
    dots = ax.collections[1].get_offsets()
    assert dots[:, 0].tolist() == [100, 900]
    assert np.abs(dots[:, 1] - [1, 4]).max() < 0.4
    assert (ax.get_xlim(), ax.get_ylim()) == ((0, 1000), (0.5, 4.5))
    assert_apart(boxes_of(figure, list(ax.texts)))


def test_labels_of_near_points_do_not_overlap(pyplot: Any) -> None:
    random = np.random.default_rng(0)
    points = {f"method {i}": {"amount": 500 + 30 * a, "months": 2} for i, a in enumerate(random.normal(size=8))}
    figure = plot_density(simple(), "amount", "months", points=points)
    boxes = boxes_of(figure, list(figure.axes[0].texts))
    assert len(boxes) == 8
    assert_apart(boxes)


def test_discrete_cells_say_their_value(pyplot: Any) -> None:
    features = (Categorical("a", ("x", "y")), Binary("b"))
    circuit = Circuit(features, (Categories(0, (0.5, 0.5)), Categories(1, (0.5, 0.5)), Product((0, 1))))
    figure = plot_density(circuit, "a", "b")
    assert texts_of(figure.axes[0]) == ["−1.4"] * 4  # noqa: RUF001


def test_names_are_no_formulas(pyplot: Any) -> None:
    features = (Categorical("a $ and a $_", ("$x^$", "y")), Binary("b"))
    circuit = Circuit(features, (Categories(0, (0.5, 0.5)), Categories(1, (0.5, 0.5)), Product((0, 1))))
    for figure in (
        plot_density(circuit, "a $ and a $_", "b", given={}),
        plot_circuit(circuit),
        plot_circuit(circuit, detailed=False),
    ):
        figure.draw_without_rendering()


def test_many_rows_are_sampled(pyplot: Any) -> None:
    data = pd.DataFrame({"amount": np.linspace(0, 1000, 5000), "months": 2})
    ax = plot_density(simple(), "amount", "months", data).axes[0]
    assert len(ax.collections[1].get_offsets()) == 2000


def test_lowest_sets_the_colours(pyplot: Any) -> None:
    assert plot_density(simple(), "amount", "months", lowest=-12.5).axes[0].collections[0].get_clim()[0] == -12.5


def test_crowded_names_are_turned(pyplot: Any) -> None:
    figure = plot_density(every_kind(), "since default", "branch")
    turned = [text.get_rotation() for text in figure.axes[0].get_xticklabels()]
    assert turned[:2] == [40, 40]
    assert set(turned[2:]) == {0}


def test_a_picture_goes_where_it_is_told(pyplot: Any) -> None:
    figure, axes = pyplot.subplots(1, 2)
    assert (
        plot_density(
            every_kind(), "opened", "since default", ax=axes[0], points={"a": {"opened": "2020-01-01", "since default": -9}}
        )
        is figure
    )
    assert plot_circuit(every_kind(), ax=axes[1]) is figure
    parts = pyplot.figure().subfigures(1, 2)
    plot_density(simple(), "amount", "months", ax=parts[0].subplots(), points={"a": {"amount": 1, "months": 2}})


@pytest.mark.filterwarnings("ignore:Glyph")
@settings(max_examples=5)
@given(st.data())
def test_any_two_variables_can_be_drawn(data: st.DataObject) -> None:
    figures = pytest.importorskip("matplotlib.figure")
    circuit = data.draw(strategies.circuits().filter(lambda c: len(c.variables) > 1))
    rows = data.draw(strategies.value_rows(circuit, least=2, most=5))
    table = pd.DataFrame({variable.name: variable.decode(rows[:, j]) for j, variable in enumerate(circuit.variables)})
    x, y = circuit.names[:2]
    ax = figures.Figure(layout="constrained").subplots()
    plot_density(circuit, x, y, table, {"first": table.iloc[0], "second": table.iloc[[1]]}, ax=ax)
    ax.figure.draw_without_rendering()


@pytest.mark.parametrize("name", ["asia-0", "credit-0", "adult-0"])
def test_the_circuits_of_the_paper(pyplot: Any, name: str) -> None:
    from likely.circuit.readers.cases import from_case

    case = cases.load(cases.path_of(name))
    figure = plot_circuit(from_case(case, cases.schema_of(case)))
    ax = figure.axes[0]
    assert_apart(boxes_of(figure, [*ax.get_yticklabels(), ax.title, *ax.get_legend().get_texts()]))


# -- refusals ---------------------------------------------------------------------------------------------------------


def test_a_point_needs_both_values(pyplot: Any) -> None:
    expected = r"Point 'factual' must have a value of 'months'; got \['amount'\]\. Hint: add it\."
    with pytest.raises(CircuitError, match=expected) as caught:
        plot_density(simple(), "amount", "months", points={"factual": {"amount": 1}})
    assert caught.value.feature == "months"


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    expected = (
        r"Package 'matplotlib' must be installed to draw pictures; got no such package\. Hint: pip install 'likely\[plot\]'\."
    )
    for draw in (lambda: plot_circuit(simple()), lambda: plot_density(simple(), "amount", "months")):
        with pytest.raises(MissingExtraError, match=expected):
            draw()


def test_the_room_is_public() -> None:
    assert likely.show.plot_circuit is plot_circuit
    assert set(likely.show.__all__) <= set(dir(likely.show))


def test_sums_of_leaves_have_a_column_each(pyplot: Any) -> None:
    leaves = tuple(Categories(0, (p, 1 - p)) for p in (0.1, 0.5, 0.9))
    circuit = Circuit((Binary("a"),), (*leaves, Sum((0, 1, 2), (0.2, 0.3, 0.5))))
    ax = plot_circuit(circuit, detailed=False).axes[0]
    tiles = next(c for c in ax.collections if c.get_array() is not None)
    assert len(tiles.get_array()) == 3
