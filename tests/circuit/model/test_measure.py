"""Room, mass, probabilities of boxes and cells, against counting."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.circuit import Bernoulli, Categories, Circuit, Coded, Histogram, Parametric, Product, Sum, log_probability
from likely.circuit.model.families import FAMILIES
from likely.circuit.model.measure import half_open, mass, measure
from likely.errors import CircuitError
from likely.schema import Binary, Categorical, Continuous, Feature, Integer, Mixed
from likely.schema.region import EVERYTHING, Region, above, below
from likely.schema.values import LARGEST, code_number
from tests import strategies
from tests.oracles import circuits as oracle

CENTS = Continuous("x", 0, 10, step=0.01)
REAL, WHOLE, ABC = Continuous("x", 0, 10), Integer("n", 0, 10), Categorical("c", ("a", "b", "c"))
MIXED = Mixed("m", 0, 10, [-1, None], dtype="float64")
INSIDE = Mixed("m", 0, 10, [5, 99], integer=True)


# -- measure -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("feature", "low", "high", "expected"),
    [
        (REAL, 1.0, 3.5, 2.5),
        (REAL, 1.0, 1.0, 0.0),
        (REAL, -math.inf, math.inf, 2 * LARGEST),
        (WHOLE, 1.0, 4.0, 3.0),
        (WHOLE, 1.5, 4.0, 2.0),
        (WHOLE, 1.5, 4.5, 3.0),
        (WHOLE, 3.0, above(3.0), 1.0),
        (WHOLE, below(3.0), 3.0, 0.0),
        (WHOLE, above(3.0), 4.0, 0.0),
        (Integer("n", 0, 2**52), 2.0**40, 2.0**40 + 0.5, 1.0),
        (Integer("n", 0, 2**52), 2.0**40 + 0.5, 2.0**40 + 1, 0.0),
        (CENTS, 0.07, 0.29, 0.22),
        (CENTS, 7 * 0.01, 0.29, 0.22),
        (CENTS, 0.065, 0.075, 0.01),
        (CENTS, 0.071, 0.079, 0.0),
        (ABC, 0.0, 3.0, 3.0),
        (ABC, -7.0, 9.0, 3.0),
        (ABC, 0.5, 1.5, 1.0),
        (ABC, -math.inf, math.inf, 3.0),
        (MIXED, code_number(0), above(code_number(0)), 1.0),
        (MIXED, code_number(1), above(code_number(0)), 2.0),
        (MIXED, above(code_number(1)), code_number(0), 0.0),
        (MIXED, 0.0, 2.5, 2.5),
        (INSIDE, 0.0, 11.0, 10.0),
        (INSIDE, 5.0, 6.0, 0.0),
        (INSIDE, 4.0, 5.0, 1.0),
        (INSIDE, 5.5, 99.5, 94.0),
    ],
)
def test_room(feature: Feature, low: float, high: float, expected: float) -> None:
    assert measure(feature, np.array([low]), np.array([high])) == pytest.approx([expected], abs=1e-12)


@given(st.data())
def test_room_counts_values(data: st.DataObject) -> None:
    feature = data.draw(strategies.small_features("f"))
    values = oracle.values_of(feature)
    ends = st.one_of(
        st.sampled_from([v + d for v in values for d in (0.0, 0.05, -0.05)]), st.integers(-100, 100).map(lambda k: k / 20)
    )
    low, high = sorted((data.draw(ends), data.draw(ends)))
    if feature.numeric and high > -LARGEST:  # numbers beyond the bounds have measure too: only those within are counted here
        step = float(oracle.step_of(feature) or 0)
        first, last = math.ceil(feature.lower / step - 1e-9), math.floor(feature.upper / step + 1e-9)
        low, high = (min(max(end, (first - 0.5) * step), (last + 0.5) * step) for end in (low, high))

    def before(a: float, b: float) -> bool:
        """Whether a lies before b; what differs by rounding is the same."""
        return a < b and not math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)

    expected = float(sum(oracle.measure_of(feature, v) for v in values if not before(v, low) and before(v, high)))
    assert measure(feature, np.array([low]), np.array([high]))[0] == pytest.approx(expected, abs=1e-9)


def test_room_is_of_many_ranges_at_once() -> None:
    assert measure(WHOLE, np.array([0.0, 1.0, 7.0]), np.array([1.0, 7.0, 7.0])).tolist() == [1, 6, 0]
    assert measure(WHOLE, np.empty(0), np.empty(0)).shape == (0,)


def test_half_open() -> None:
    low, high = half_open(REAL, Region(((1.0, 2.0), (3.0, 3.0))))
    assert (low.tolist(), high.tolist()) == ([1.0, 3.0], [above(2.0), above(3.0)])
    low, high = half_open(WHOLE, Region(((1.0, 2.7), (3.0, 3.0))))
    assert (low.tolist(), high.tolist()) == ([1.0, 3.0], [2.5, 3.5])
    low, high = half_open(INSIDE, Region(((code_number(1), code_number(1)), (3.0, 4.0))))
    assert (low.tolist(), high.tolist()) == ([code_number(1), 3.0], [above(code_number(1)), 4.5])


# -- mass -------------------------------------------------------------------------------------------------------------


@given(st.data())
def test_mass_in_a_region_is_a_sum_over_values(data: st.DataObject) -> None:
    circuit = data.draw(strategies.circuits(small=True, parametric=False))
    box = data.draw(strategies.boxes(circuit))
    for leaf in oracle.leaves_of(circuit).values():
        feature = circuit.variables[leaf.variable]
        region = box.get(feature.name, feature.region)
        computed = mass(leaf, feature, feature.reachable(region))
        assert computed == pytest.approx(float(oracle.leaf_mass(leaf, feature, region)), abs=1e-9)


@given(st.data())
def test_mass_in_a_region_is_an_integral(data: st.DataObject) -> None:
    """Of reals: exact for steps, against quadrature for parametric leaves."""
    feature = data.draw(st.sampled_from([Continuous("x", -3, 7), Mixed("x", 0.5, 9, [-1, None], dtype="float64")]))
    leaf = data.draw(strategies.leaves(feature, 0, normalised=False))
    ends = sorted(data.draw(st.lists(strategies.numbers(feature), min_size=2, max_size=2)))
    codes = [v for v in ends if v < -LARGEST]
    region = Region.points(codes) | (Region.between(*ends) & Region.between(-LARGEST, LARGEST))
    computed = mass(leaf, feature, feature.reachable(region))
    assert computed == pytest.approx(float(oracle.leaf_mass(leaf, feature, region)), abs=1e-6)


@pytest.mark.parametrize(
    ("leaf", "feature", "expected"),
    [
        (Histogram(0, (0, 4, 10), (0.2, 1 / 30)), REAL, 1.0),
        (Histogram(0, (0, 4, 11), (0.2, 0.2 / 7)), WHOLE, 1.0),
        (Histogram(0, (0, 0.07, 0.29), (10.0, 0.3 / 0.22)), CENTS, 1.0),
        (Histogram(0, (-5, 5), (1 / 3,)), ABC, 1.0),
        (Categories(0, (0.5, 0.25, 0.25)), ABC, 1.0),
        (Bernoulli(0, 0.25), Binary("b"), 1.0),
        (Coded(0, (0.5, 0.25), Histogram(0, (0, 10), (0.1,))), MIXED, 1.0),
        (Coded(0, (0.5, 0.25)), MIXED, 0.75),
        (Coded(0, (0.5, 0.25), Parametric(0, "gaussian", 5, 2)), MIXED, 1.0),
        (Coded(0, (0.5, 0.25), Histogram(0, (0, 11), (0.1,))), INSIDE, 1.0),
        (Coded(0, (0.5,), Histogram(0, (0, 1), (1.0,))), Mixed("m", 0, 1, [-1], step=1e-9), 1.0),
        (Coded(0, (0.5,), Histogram(0, (0, 1e12), (1e-12,))), Mixed("m", 0, 1e12, [-1], step=1e10), 1.0),
        *((Parametric(0, family, 2.5, 1.5), WHOLE, 1.0) for family in FAMILIES),
        *((Parametric(0, family, 2.5, 1.5), REAL, 1.0) for family in FAMILIES if family != "poisson"),
        (Histogram(0, (0, 1), (0.0,)), REAL, 0.0),
    ],
)  # fmt: skip
def test_mass_of_everything(leaf: Any, feature: Feature, expected: float) -> None:
    assert mass(leaf, feature) == pytest.approx(expected, abs=1e-12)


def test_values_of_a_parametric_leaf_over_whole_numbers_stand_for_one_step_each() -> None:
    """The mass of all values is that of the whole, and each has that of the reals that round to it."""
    leaf = Parametric(0, "gaussian", 4.2, 2.0)
    law = oracle.law(leaf)
    parts = [mass(leaf, WHOLE, Region.points([float(v)])) for v in range(11)]
    np.testing.assert_allclose(parts, [law.cdf(v + 0.5) - law.cdf(v - 0.5) for v in range(11)], atol=1e-12)
    assert mass(leaf, WHOLE, Region.between(0, 10)) == pytest.approx(math.fsum(parts))


# -- probabilities of boxes -------------------------------------------------------------------------------------------


@given(st.data())
def test_the_probability_of_a_box_is_a_sum_over_its_rows(data: st.DataObject) -> None:
    circuit = data.draw(strategies.circuits(small=True, normalised=True, parametric=False))
    box = data.draw(strategies.boxes(circuit))
    computed = log_probability(circuit, box)
    assert math.exp(computed) == pytest.approx(float(oracle.probability(circuit, box)), abs=1e-9)


@given(st.data())
def test_probabilities_of_parts_add_up(data: st.DataObject) -> None:
    circuit = data.draw(strategies.circuits(aligned=False))
    feature = data.draw(st.sampled_from(circuit.variables))
    cut = data.draw(strategies.numbers(feature))
    step = getattr(feature, "grid", None)
    if step in (None, 1.0) or cut < -LARGEST:
        under, over = below(cut), above(cut)
    else:  # nearer than that, a number counts as the multiple itself
        under, over = cut - step / 2, cut + step / 2
    parts = [Region.between(-math.inf, under), Region.points([cut]), Region.between(over, math.inf)]
    inside = [part for part in parts if not feature.reachable(part).empty]
    total = math.fsum(math.exp(log_probability(circuit, {feature.name: part})) for part in inside)
    assert total == pytest.approx(math.exp(log_probability(circuit, {feature.name: EVERYTHING})), abs=1e-9)


@given(st.data())
def test_the_probability_of_reals_is_an_integral(data: st.DataObject) -> None:
    """Steps on the line, in a mixture with a class: exact fractions."""
    x = Continuous("x", -2, 5)
    leaves = [data.draw(strategies.histograms(x, 0)) for _ in range(2)]
    w, p, q = (data.draw(st.integers(0, 8)) / 8 for _ in range(3))
    nodes = (*leaves, Bernoulli(1, p), Bernoulli(1, q), Product((0, 2)), Product((1, 3)), Sum((4, 5), (w, 1 - w)))
    circuit = Circuit((x,), nodes, Binary("y"))
    low, high = sorted(data.draw(st.lists(st.floats(-2, 5), min_size=2, max_size=2)))
    box = {"x": Region.between(low, high), "y": Region.points([1.0])}
    # the leaves may reach a little beyond the bounds: what a box is a part of is the whole leaf
    whole = [
        float(sum((oracle.Fraction(b) - oracle.Fraction(a)) * oracle.Fraction(d) for a, b, d in bins(leaf))) for leaf in leaves
    ]
    parts = [float(oracle.leaf_mass(leaf, x, box["x"])) / total for leaf, total in zip(leaves, whole, strict=True)]
    assert math.exp(log_probability(circuit, box)) == pytest.approx(w * p * parts[0] + (1 - w) * q * parts[1], abs=1e-9)


def bins(leaf: Histogram) -> Any:
    return zip(leaf.breaks, leaf.breaks[1:], leaf.densities, strict=False)


def test_single_whole_numbers() -> None:
    circuit = Circuit((Integer("n", 0, 9),), (Histogram(0, range(11), [0.1] * 10),))
    assert math.exp(log_probability(circuit, {"n": Region.points([3.0])})) == pytest.approx(0.1)
    assert math.exp(log_probability(circuit, {"n": Region.between(0, 3)})) == pytest.approx(0.4)
    assert math.exp(log_probability(circuit, {"n": Region.between(2.5, 3.5)})) == pytest.approx(0.1)


def test_no_box_is_everything() -> None:
    circuit = Circuit((REAL,), (Parametric(0, "gaussian", 5, 1),))
    assert log_probability(circuit, {}) == 0.0
    assert log_probability(circuit, {"x": EVERYTHING}) == pytest.approx(0, abs=1e-5)


def test_leaves_that_are_not_normalised_count_by_their_shares() -> None:
    circuit = Circuit((ABC,), (Categories(0, (1.0, 2.0, 5.0)),))
    assert math.exp(log_probability(circuit, {"c": Region.points([1.0])})) == pytest.approx(0.25)


def test_a_leaf_without_mass_gives_none() -> None:
    circuit = Circuit((ABC,), (Categories(0, (0.0, 0.0, 0.0)),))
    assert log_probability(circuit, {"c": Region.points([1.0])}) == -math.inf


def test_what_is_not_there_has_no_probability() -> None:
    circuit = Circuit((ABC,), (Categories(0, (0.5, 0.5, 0.0)),))
    assert log_probability(circuit, {"c": Region.points([2.0])}) == -math.inf
    with pytest.raises(
        CircuitError, match=r"^The box's values of feature 'c' must hold a value of the feature; got \(\(3\.0, 3\.0\),\)"
    ):
        log_probability(circuit, {"c": Region.points([3.0])})


# -- cells ------------------------------------------------------------------------------------------------------------


@given(st.data())
def test_cells_are_cut_by_all_breaks_and_leaves_are_constant_on_them(data: st.DataObject) -> None:
    circuit = data.draw(strategies.circuits(aligned=False))
    leaves = oracle.leaves_of(circuit)
    assert len(circuit.cells) == len(circuit.variables)
    for j, cells in enumerate(circuit.cells):
        of_variable = {place: leaf for place, leaf in leaves.items() if leaf.variable == j}
        assert cells.leaves == tuple(of_variable)
        assert cells.breaks.tolist() == sorted({b for leaf in of_variable.values() for b in oracle.breaks_of(leaf)})
        assert cells.densities.shape == (len(of_variable), len(cells.breaks) + 1)
        row = data.draw(strategies.circuit_rows(circuit))[:, j]
        logs = cells.log_densities(row, circuit.floor)
        expected = [
            [oracle.log(oracle.leaf_values(circuit, [v] * len(circuit.variables))[p]) for v in row.tolist()] for p in of_variable
        ]
        np.testing.assert_allclose(logs, expected, rtol=1e-9, atol=1e-9)


def test_cells_of_values() -> None:
    circuit = Circuit((REAL,), (Histogram(0, (0, 1, 4), (0.25, 0.25)),))
    cells = circuit.cells[0]
    assert cells.cell(np.array([-1.0, 0.0, below(1.0), 1.0, 4.0, 9.0])).tolist() == [0, 1, 1, 2, 3, 3]
    assert cells.densities.tolist() == [[0.0, 0.25, 0.25, 0.0]]
    smallest, largest = cells.log_extremes(Region(((0.5, 2.0), (3.9, 5.0))), 0.0)
    assert (smallest.tolist(), largest.tolist()) == ([-math.inf], [math.log(0.25)])
