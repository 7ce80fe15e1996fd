"""The numbers of heat maps, against recursions in exact fractions."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from likely.circuit import Categories, Circuit, GaussianBlock, Histogram, Parametric, Product, Sum, Warp
from likely.errors import CircuitError
from likely.schema import Categorical, Continuous, Integer, Mixed
from likely.schema.values import code_number
from likely.show import density_map
from likely.show.axis import MOST_CELLS, axis_of
from tests import cases, strategies
from tests.oracles import circuits as oracle
from tests.show.examples import DAYS, every_kind, simple


def marginals(circuit: Circuit, density_x: float, density_y: float, x: int, y: int) -> float:
    row = [math.nan] * len(circuit.variables)
    row[x], row[y] = density_x, density_y
    return oracle.log(oracle.likelihood(circuit, row))


def test_blocks_are_drawn_by_their_density() -> None:
    warp = Warp((2.0, 5.0, 8.0), (-1.0, 0.0, 2.0), 0.0, 10.0)
    block = GaussianBlock((0, 1), (warp, Warp.identity(-0.5, 9.5)), (0.0, 4.0), ((1.0,), (1.2, 0.9)))
    circuit = Circuit((Continuous("x", 0, 10), Integer("n", 0, 9)), (block,))
    density = density_map(circuit, "x", "n")
    assert density.mass.sum() == pytest.approx(1, abs=0.02)
    row = np.array([[density.x.values[20], density.y.values[4]]])
    assert density.log_likelihood[4, 20] == pytest.approx(block.log_density(row)[0])


# -- by value ---------------------------------------------------------------------------------------------------------


def test_cells_of_a_simple_circuit() -> None:
    density = density_map(simple(), "amount", "months")
    assert density.x.edges.tolist() == [0, 200, 500, 1000]
    assert density.y.edges.tolist() == [0.5, 1.5, 3.5, 4.5]  # 2 and 3 months are equally likely
    assert density.y.room.tolist() == [1, 2, 1]
    first = 0.75 * 0.004 * 0.4 + 0.25 * 0.0004 * 0.1
    last = 0.75 * 0.00025 * 0.2 + 0.25 * 0.0016 * 0.7
    assert density.log_likelihood[0, 0] == pytest.approx(math.log(first))
    assert density.log_likelihood[2, 2] == pytest.approx(math.log(last))
    assert density.mass.sum() == pytest.approx(1)


def test_given_the_class() -> None:
    density = density_map(simple(), "amount", "months", given={"good": False})
    joint = 0.75 * 0.25 * 0.004 * 0.4 + 0.25 * 0.5 * 0.0004 * 0.1
    assert density.log_likelihood[0, 0] == pytest.approx(math.log(joint / (0.75 * 0.25 + 0.25 * 0.5)))
    assert density.mass.sum() == pytest.approx(1)
    assert density.given == (("good", "False"),)


def test_the_class_may_be_an_axis() -> None:
    density = density_map(simple(), "good", "amount")
    assert density.log_likelihood.shape == (3, 2)
    assert density.log_likelihood[0, 1] == pytest.approx(math.log(0.75 * 0.75 * 0.004 + 0.25 * 0.5 * 0.0004))
    assert [text for _, text in density.x.ticks] == ["False", "True"]


def test_codes_have_bands_of_their_own() -> None:
    density = density_map(every_kind(), "since default", "branch")
    assert density.x.values[:2].tolist() == [code_number(0), code_number(1)]
    assert np.isnan(density.x.values[2])
    assert np.isnan(density.log_likelihood[:, 2]).all()
    assert density.x.ticks[:2] == (
        (pytest.approx((density.x.edges[0] + density.x.edges[1]) / 2), "no record"),
        (pytest.approx((density.x.edges[1] + density.x.edges[2]) / 2), "not asked"),
    )
    assert density.log_likelihood[0, 0] == pytest.approx(math.log(0.65 * 0.5 * 0.1 + 0.35 * 0.1 * 0.7))
    places = density.x.places(np.array([code_number(1), 30.0, math.nan]))
    assert places[0] == pytest.approx(density.x.ticks[1][0])
    assert places[1] == 30
    assert np.isnan(places[2])
    assert density.mass.sum() == pytest.approx(1, abs=0.003)


def test_days_are_told_as_dates() -> None:
    density = density_map(every_kind(), "opened", "since default", given={"branch": "north"})
    assert (density.x.edges[0], density.x.edges[-1]) == (DAYS[0] - 0.5, DAYS[1] + 0.5)
    assert [text for _, text in density.x.ticks] == ["2016", "2018", "2020", "2022", "2024", "2026"]


def test_long_names_are_cut() -> None:
    density = density_map(every_kind(), "opened", "branch")
    assert [text for _, text in density.y.ticks] == ["north", "south", "a branch with a rathe…", "west"]


def test_a_number_that_is_a_code_has_no_cell() -> None:
    """Between 0 and 4, the 2 is a code: its place among the numbers stays empty."""
    feature = Mixed("m", 0, 4, (2,), integer=True, dtype="float64")
    leaves = [Histogram(0, (0, 2, 3, 5), (0.25, 0.0, 0.25)), Categories(1, (0.5, 0.5)), Product((0, 1))]
    density = density_map(Circuit((feature, Categorical("c", ("a", "b"))), tuple(leaves)), "m", "c")
    assert density.x.edges[2:].tolist() == [-0.5, 1.5, 2.5, 4.5]
    assert np.isnan(density.x.values).tolist() == [False, True, False, True, False]
    assert density.x.room.tolist() == [1, 0, 2, 0, 2]


def test_far_tails_are_left_out_but_not_rows() -> None:
    feature = Continuous("wealth", 0, 1e9)
    leaves = [Histogram(0, (0, 1000, 1e9), (0.9999 / 1000, 1e-4 / (1e9 - 1000))), Categories(1, (0.5, 0.5)), Product((0, 1))]
    circuit = Circuit((feature, Categorical("c", ("a", "b"))), tuple(leaves))
    density = density_map(circuit, "wealth", "c")
    assert density.x.edges[0] == 0
    assert 999 < density.x.edges[-1] < 1000
    np.testing.assert_array_equal(density.x.places(np.array([-1.0, 500.0, 1e6])), [np.nan, 500, np.nan])
    shown = pd.DataFrame({"wealth": [5.0, 1e6], "c": ["a", "b"]})
    wider = density_map(circuit, "wealth", "c", shown=shown)
    assert 1e6 < wider.x.edges[-1] < 1.1e6


def test_colours_end_where_no_mass_is_left() -> None:
    """The rare corner of probability 0.0004 is below the colours, the cell of 0.0196 is not."""
    features = (Categorical("a", ("x", "y")), Categorical("b", ("x", "y")))
    circuit = Circuit(features, (Categories(0, (0.98, 0.02)), Categories(1, (0.98, 0.02)), Product((0, 1))))
    assert density_map(circuit, "a", "b").lowest == pytest.approx(math.log(0.98 * 0.02))


def test_the_last_whole_number_has_a_cell() -> None:
    circuit = Circuit((Integer("n", 0, 1),), (Histogram(0, (0, 1, 2), (0.25, 0.75)),))
    assert axis_of(circuit, "n").edges.tolist() == [-0.5, 0.5, 1.5]


def test_a_constant_feature_has_an_axis() -> None:
    features = (Continuous("same", 3, 3), Integer("n", 2, 2))
    circuit = Circuit(features, (Histogram(0, (2, 4), (0.5,)), Histogram(1, (2, 3), (1.0,)), Product((0, 1))))
    density = density_map(circuit, "same", "n")
    assert density.x.edges[0] < 3 < density.x.edges[-1]
    assert density.y.edges.tolist() == [1.5, 2.5]
    assert density.log_likelihood.tolist() == [[pytest.approx(math.log(0.5))]]


# -- by property ------------------------------------------------------------------------------------------------------


@given(st.data())
def test_every_cell_is_the_marginal(data: st.DataObject) -> None:
    circuit = data.draw(strategies.circuits(small=True, floors=(strategies.FLOOR, 1e-3)))
    assume(len(circuit.variables) > 1)
    x, y = data.draw(st.permutations(range(len(circuit.variables))))[:2]
    density = density_map(circuit, circuit.names[x], circuit.names[y])
    for j, b in enumerate(density.y.values):
        for i, a in enumerate(density.x.values):
            expected = math.nan if math.isnan(a) or math.isnan(b) else marginals(circuit, a, b, x, y)
            assert density.log_likelihood[j, i] == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


@given(st.data())
def test_a_circuit_is_constant_on_a_cell(data: st.DataObject) -> None:
    """Every value of a feature lies in one cell, and is as likely as the value that stands for the cell."""
    circuit = data.draw(strategies.circuits(small=True, parametric=False))
    feature = data.draw(st.sampled_from(circuit.variables))
    axis = axis_of(circuit, feature.name)
    j = circuit.index(feature.name)
    for value in oracle.values_of(feature):
        place = axis.places(np.array([value]))[0]
        if not math.isnan(place):
            cell = int(np.searchsorted(axis.edges, place, side="right")) - 1
            rows = [[math.nan] * len(circuit.variables) for _ in range(2)]
            rows[0][j], rows[1][j] = value, float(axis.values[cell])
            first, second = (oracle.likelihood(circuit, row) for row in rows)
            assert first == second


@given(st.data())
def test_any_feature_has_an_axis(data: st.DataObject) -> None:
    """Of any size: edges increase, ticks lie within, values are values, and no tail is longer than said."""
    circuit = data.draw(strategies.circuits(normalised=True))
    for variable in circuit.variables:
        axis = axis_of(circuit, variable.name)
        assert (np.diff(axis.edges) > 0).all()
        assert len(axis.edges) - 1 == len(axis.values) == len(axis.room) <= MOST_CELLS + 1 + len(variable.atoms)
        slack = 1e-6 * (axis.edges[-1] - axis.edges[0])
        assert all(axis.edges[0] - slack <= place <= axis.edges[-1] + slack for place, _ in axis.ticks)
        known = axis.values[~np.isnan(axis.values)]
        assert ((known >= variable.region.low - slack) & (known <= variable.region.high + slack)).all()


@given(st.data())
def test_rows_that_are_shown_lie_on_the_axis(data: st.DataObject) -> None:
    circuit = data.draw(strategies.circuits())
    row = data.draw(strategies.value_rows(circuit, least=1, most=1))[0]
    for variable, value in zip(circuit.variables, row, strict=True):
        axis = axis_of(circuit, variable.name, [value, math.nan])
        assert axis.edges[0] <= axis.places(np.array([value]))[0] <= axis.edges[-1]


def test_parametric_leaves_are_sampled() -> None:
    features = (Continuous("a", -3, 3), Continuous("b", 0, 10))
    nodes = [
        Parametric(0, "gaussian", 0.0, 1.0), Parametric(1, "exponential", 1.0), Product((0, 1)),
        Parametric(0, "gaussian", 1.0, 0.5), Histogram(1, (0, 10), (0.1,)), Product((3, 4)), Sum((2, 5), (0.5, 0.5)),
    ]  # fmt: skip
    circuit = Circuit(features, tuple(nodes))
    density = density_map(circuit, "a", "b")
    assert density.log_likelihood.shape == (MOST_CELLS, MOST_CELLS)
    assert density.mass.sum() == pytest.approx(1, abs=0.005)
    i, j = 100, 300
    expected = marginals(circuit, density.x.values[i], density.y.values[j], 0, 1)
    assert density.log_likelihood[j, i] == pytest.approx(expected)


# -- refusals ---------------------------------------------------------------------------------------------------------


def test_refusals() -> None:
    circuit = simple()
    with pytest.raises(
        CircuitError, match=r"A variable must be in the circuit; got 'colour'\. Hint: it has 'amount', 'months', 'good'\."
    ):
        density_map(circuit, "colour", "months")
    with pytest.raises(CircuitError, match=r"x and y must be two variables; got 'months' twice\. Hint: name another one\."):
        density_map(circuit, "months", "months")
    expected = r"A variable of the picture must not be given; got 'months'\. Hint: leave it out of given=\."
    with pytest.raises(CircuitError, match=expected) as caught:
        density_map(circuit, "amount", "months", given={"months": 2})
    assert caught.value.feature == "months"


def test_the_figure_of_the_paper() -> None:
    """Amount and duration in a circuit of the paper: the cells are the circuit's own."""
    from likely.circuit.readers.cases import from_case

    case = cases.load(cases.path_of("credit-0"))
    circuit = from_case(case, cases.schema_of(case))
    density = density_map(circuit, "Credit amount", "Duration")
    x, y = circuit.index("Credit amount"), circuit.index("Duration")
    for j, i in ((0, 0), (10, 20), (40, 50)):
        expected = marginals(circuit, density.x.values[i], density.y.values[j], x, y)
        assert density.log_likelihood[j, i] == pytest.approx(expected)
