"""Sweeps against recursions in exact fractions: likelihoods, approximations from both sides, bounds, derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likely.circuit import (
    Bernoulli,
    Categories,
    Circuit,
    Coded,
    Histogram,
    Leaf,
    LogLikelihoodBounds,
    Parametric,
    Product,
    Sum,
    bounds,
    derivatives,
    log_likelihood,
    log_probability,
    max_log_likelihood,
)
from likely.errors import CircuitError, SchemaError
from likely.schema import Binary, Categorical, Continuous, Integer, Mixed
from likely.schema.region import EVERYTHING, Region, below
from likely.schema.values import code_number
from tests import strategies
from tests.circuit.learning.learned import SMALL, drawn, quiet
from tests.oracles import circuits as oracle
from tests.oracles.circuits import ROUNDING, assert_close


def data_of(draw: Any, **settings_: Any) -> tuple[Circuit, np.ndarray]:
    circuit = draw(strategies.circuits(**settings_))
    return circuit, draw(strategies.circuit_rows(circuit))


# -- likelihood -------------------------------------------------------------------------------------------------------


@given(st.data())
def test_log_likelihood_is_the_recursion(data: st.DataObject) -> None:
    circuit, rows = data_of(data.draw, aligned=False)
    assert_close(log_likelihood(circuit, rows), oracle.log_likelihoods(circuit, rows))


@given(st.data())
def test_every_row_is_possible_with_a_floor(data: st.DataObject) -> None:
    circuit, rows = data_of(data.draw, floors=(strategies.FLOOR, 1e-3))
    assert np.isfinite(log_likelihood(circuit, rows)).all()


@given(st.data())
def test_probabilities_sum_to_one(data: st.DataObject) -> None:
    circuit = data.draw(strategies.circuits(small=True, normalised=True, parametric=False, floors=(0.0,)))
    rows = oracle.product_space(circuit)
    measures = [float(oracle.measure_of_row(circuit, row)) for row in rows]
    total = math.fsum(np.exp(log_likelihood(circuit, np.array(rows))) * measures)
    assert total == pytest.approx(1, abs=1e-12)
    assert circuit.check().normalised


@given(st.data())
def test_an_unknown_value_is_summed_over(data: st.DataObject) -> None:
    """The marginal that a NaN stands for is the sum over the values of its variable."""
    circuit = data.draw(strategies.circuits(small=True, normalised=True, parametric=False, floors=(0.0,)))
    row = data.draw(strategies.value_rows(circuit, most=1))
    j = data.draw(st.integers(0, len(circuit.variables) - 1))
    feature, unknown = circuit.variables[j], row.copy()
    unknown[0, j] = np.nan
    values = oracle.values_of(feature)
    filled = np.repeat(row, len(values), axis=0)
    filled[:, j] = values
    measures = [float(oracle.measure_of(feature, v)) for v in values]
    expected = math.fsum(np.exp(log_likelihood(circuit, filled)) * measures)
    assert math.exp(log_likelihood(circuit, unknown)[0]) == pytest.approx(expected, abs=1e-12)


def test_a_row_of_unknowns_has_likelihood_one() -> None:
    circuit = mixture(FLOORED)
    assert_close(log_likelihood(circuit, np.full((1, 3), np.nan)), 0)


FLOORED, FLOORLESS = 1e-12, 0.0


def mixture(floor: float) -> Circuit:
    """Every kind of leaf, two products under one sum."""
    x, n, c = Continuous("x", -5, 5), Mixed("n", 0, 10, [-1, None], integer=True, dtype="float64"), Binary("c")
    nodes = (
        Histogram(0, (-5, 0, 1, 5), (0.1, 0.4, 0.025)),
        Coded(1, (0.2, 0.0), Parametric(1, "poisson", 3.5)),
        Bernoulli(2, 0.3),
        Parametric(0, "gaussian", 1.0, 0.5),
        Coded(1, (0.25, 0.5), Histogram(1, (0, 4, 11), (0.25, 0.0))),
        Categories(2, (1.0, 0.0)),
        Product((0, 1, 2)),
        Product((3, 4, 5)),
        Sum((6, 7), (0.375, 0.625)),
    )
    return Circuit((x, n, c), nodes, floor=floor)


MIXTURE_ROWS = np.array(
    [
        [0.5, 3.0, 0.0], [0.5, 3.0, 1.0], [below(0.0), 4.0, 0.0], [0.0, 4.0, 1.0], [5.0, 10.0, 0.0], [-7.0, 3.0, 0.0],
        [1e30, 3.0, 1.0], [0.5, code_number(0), 0.0], [0.5, code_number(1), 1.0], [0.5, code_number(2), 0.0],
        [0.5, 2.5, 0.0], [np.nan, 3.0, 0.0], [0.5, np.nan, 1.0], [0.5, 3.0, np.nan], [np.nan] * 3, [0.5, 3.0, 7.0],
        [math.inf, -math.inf, 0.0],
    ]
)  # fmt: skip


@pytest.mark.parametrize("floor", [FLOORED, FLOORLESS])
def test_every_kind_of_leaf(floor: float) -> None:
    circuit = mixture(floor)
    logs = log_likelihood(circuit, MIXTURE_ROWS)
    assert_close(logs, oracle.log_likelihoods(circuit, MIXTURE_ROWS))
    assert (logs == -math.inf).any() == (floor == 0)


@pytest.mark.parametrize("floor", [FLOORED, FLOORLESS])
def test_the_value_by_hand(floor: float) -> None:
    poisson = math.exp(-3.5) * 3.5**3 / 6
    gaussian = math.exp(-0.5 * (0.5 / 0.5) ** 2) / (0.5 * math.sqrt(2 * math.pi))
    left = 0.4 * (0.8 * poisson) * 0.7
    right = gaussian * (0.25 * 0.25) * 1.0
    logs = log_likelihood(mixture(floor), np.array([[0.5, 3.0, 0.0]]))
    assert_close(logs, math.log(0.375 * left + 0.625 * right))


def test_the_unknown_is_one_even_where_the_floor_is_higher() -> None:
    for leaf in (Parametric(0, "gaussian", 0, 1), Histogram(0, (0, 1), (1,))):
        circuit = Circuit((Continuous("x", 0, 1),), (leaf,), floor=2.0)
        assert log_likelihood(circuit, np.array([[np.nan]])) == [0.0]


@pytest.mark.parametrize(
    ("breaks", "value"),
    [
        ((-1, 0, 1), -1e-17),  # -1e-17 - (-1) rounds to 1
        ((-1, 0, 1, 2), below(1.0)),
        ((0.3, 1.3, 2.3, 3.3), 2.3),  # 2.3 - 0.3 rounds to less than 2
        ((0.1, 1.1, 2.1), below(1.1)),
        ((-0.7, 0.3, 1.3), below(0.3)),
        ((0, 1, 2, 3), below(2.0)),
        ((-3, -2, -1, 0), below(-1.0)),
        ((2.0**52, 2.0**52 + 1, 2.0**52 + 2), 2.0**52 + 1),
    ],
)
def test_a_value_beside_a_break_at_equal_distances_is_in_its_own_bin(breaks: tuple[float, ...], value: float) -> None:
    densities = [0.5 + i for i in range(len(breaks) - 1)]
    circuit = Circuit((Continuous("x", -1e17, 1e17),), (Histogram(0, breaks, densities),))
    assert_close(log_likelihood(circuit, np.array([[value]])), oracle.log_likelihoods(circuit, [[value]]))


# -- many variables, many rows ----------------------------------------------------------------------------------------


def wide(count: int, floor: float) -> Circuit:
    """Two product components over many variables, none of which is best everywhere."""
    random = np.random.default_rng(3)
    nodes: list[Any] = []
    for _ in range(3):
        for j in range(count):
            shares = random.dirichlet(np.full(4, 0.3))
            nodes.append(Histogram(j, (0, 1, 2, 3, 4), shares) if j % 3 else Parametric(j, "gaussian", 4 * random.random(), 0.2))
    products = [Product(tuple(range(k * count, (k + 1) * count))) for k in range(3)]
    nodes += [*products, Sum((3 * count, 3 * count + 1, 3 * count + 2), (0.5, 0.25, 0.25))]
    return Circuit(tuple(Continuous(f"x{j}", 0, 4) for j in range(count)), tuple(nodes), floor=floor)


@pytest.mark.parametrize("floor", [2.0**-52, 0.0])
@pytest.mark.parametrize("algebra", [oracle.total, oracle.largest, oracle.at_most])
def test_products_far_below_the_smallest_double(floor: float, algebra: oracle.Algebra) -> None:
    """200 variables: the product of a component is far below 1e-308, also relative to the best value of each variable."""
    circuit = wide(200, floor)
    rows = np.random.default_rng(4).uniform(0, 4, size=(7, 200))
    rows[1, ::2] = np.nan
    rows[2] = 1e9
    rows[3, 5] = np.nan
    expected = oracle.log_likelihoods(circuit, rows, algebra)
    assert expected[0] < -1000
    if algebra is oracle.total:
        logs = log_likelihood(circuit, rows)
    else:
        logs = max_log_likelihood(circuit, rows, side="under" if algebra is oracle.largest else "over")
    np.testing.assert_allclose(logs, expected, rtol=1e-12)


@pytest.mark.parametrize("count", [0, 1, 2, 31, 32, 33, 63, 64, 65, 100])
def test_blocks_of_every_remainder(count: int) -> None:
    circuit = mixture(FLOORED)
    rows = np.resize(MIXTURE_ROWS, (count, 3))
    expected = np.resize(oracle.log_likelihoods(circuit, MIXTURE_ROWS), count)
    logs = log_likelihood(circuit, rows)
    assert logs.shape == (count,)
    assert_close(logs, expected)


@pytest.mark.parametrize("n_jobs", [None, -1, 1, 2, 3, 5])
@pytest.mark.parametrize("side", [None, "under", "over"])
def test_any_number_of_threads_gives_the_same_bits(n_jobs: int | None, side: Any) -> None:
    rows = np.resize(MIXTURE_ROWS, (6 * 2048 + 19, 3))
    circuit = mixture(FLOORLESS)

    def logs(n_jobs: int | None) -> np.ndarray:
        if side is None:
            return log_likelihood(circuit, rows, n_jobs=n_jobs)
        return max_log_likelihood(circuit, rows, side=side, n_jobs=n_jobs)

    np.testing.assert_array_equal(logs(n_jobs), logs(1))
    np.testing.assert_array_equal(logs(n_jobs)[:17], logs(n_jobs)[17:34])


def test_a_row_scores_the_same_alone_and_among_others() -> None:
    circuit = mixture(FLOORED)
    together = log_likelihood(circuit, MIXTURE_ROWS)
    for row, expected in zip(MIXTURE_ROWS, together, strict=True):
        assert log_likelihood(circuit, row[None, :])[0] == expected


# -- approximations ---------------------------------------------------------------------------------------------------


@given(st.data())
def test_approximations_are_their_recursions(data: st.DataObject) -> None:
    circuit, rows = data_of(data.draw, aligned=False)
    under = max_log_likelihood(circuit, rows)
    over = max_log_likelihood(circuit, rows, side="over")
    assert_close(under, oracle.log_likelihoods(circuit, rows, oracle.largest))
    assert_close(over, oracle.log_likelihoods(circuit, rows, oracle.at_most))


@given(st.data())
def test_approximations_enclose_the_likelihood(data: st.DataObject) -> None:
    circuit, rows = data_of(data.draw, aligned=False)
    exact = log_likelihood(circuit, rows)
    assert (max_log_likelihood(circuit, rows, side="under") <= exact + ROUNDING).all()
    assert (max_log_likelihood(circuit, rows, side="over") >= exact - ROUNDING).all()


def test_the_upper_approximation_is_valid_for_weights_that_sum_to_a_little_more() -> None:
    """Weights may sum to 1 within 1e-6; a mean with such weights can exceed every child."""
    leaf = Histogram(0, (0, 1), (1.0,))
    circuit = Circuit((Continuous("x", 0, 1),), (leaf, leaf, Sum((0, 1), (0.5, 0.5 + 9e-7))))
    row = np.array([[0.5]])
    assert max_log_likelihood(circuit, row, side="over")[0] >= log_likelihood(circuit, row)[0]


def test_sides_have_names() -> None:
    with pytest.raises(CircuitError, match=r"^side must be 'under' or 'over'; got 'above'\. Hint: 'under' is the paper's\.$"):
        max_log_likelihood(mixture(0), MIXTURE_ROWS, side="above")  # type: ignore[arg-type]


# -- bounds over boxes ------------------------------------------------------------------------------------------------


@given(st.data())
def test_bounds_hold_for_every_row_of_a_box(data: st.DataObject) -> None:
    circuit = data.draw(strategies.circuits(aligned=False))
    box = data.draw(strategies.boxes(circuit))
    interval = bounds(circuit, box)
    rows = np.array([data.draw(strategies.rows_inside(circuit, box)) for _ in range(3)])
    exact = log_likelihood(circuit, rows)
    assert (interval.lower <= exact + ROUNDING).all()
    assert (exact <= interval.upper + ROUNDING).all()


@given(st.data())
def test_bounds_hold_for_every_row_of_a_small_box(data: st.DataObject) -> None:
    """All rows there are, not only some."""
    circuit = data.draw(strategies.circuits(small=True, aligned=False))
    box = data.draw(strategies.boxes(circuit))
    interval = bounds(circuit, box)
    regions = [box.get(variable.name, EVERYTHING) for variable in circuit.variables]
    rows = [row for row in oracle.product_space(circuit) if all(v in r for v, r in zip(row, regions, strict=True))]
    exact = log_likelihood(circuit, np.array(rows))
    assert interval.lower <= exact.min() + ROUNDING
    assert exact.max() <= interval.upper + ROUNDING


@given(st.data())
def test_bounds_are_the_sweep_over_extremes_of_leaves(data: st.DataObject) -> None:
    circuit = data.draw(strategies.circuits())
    box = data.draw(strategies.boxes(circuit))
    lower, upper = oracle.box_bounds(circuit, box)
    interval = bounds(circuit, box)
    assert_close([interval.lower, interval.upper], [oracle.log(lower), oracle.log(upper)])


@given(st.data())
def test_bounds_of_one_row_are_its_likelihood(data: st.DataObject) -> None:
    circuit = data.draw(strategies.circuits(aligned=False))
    row = data.draw(strategies.value_rows(circuit, most=1))
    box = {name: Region.points([v]) for name, v in zip(circuit.names, row[0], strict=True)}
    exact = float(log_likelihood(circuit, row)[0])
    interval = bounds(circuit, box)
    assert_close([interval.lower, interval.upper], [exact, exact])


def test_a_step_that_is_no_binary_fraction_loses_no_value() -> None:
    """0.07 / 0.01 is a little more than 7, 0.29 / 0.01 a little less than 29."""
    x = Continuous("x", 0, 1, step=0.01)
    low = Circuit((x,), (Histogram(0, (0, 0.075, 2), (10, 0)),), floor=0)
    assert bounds(low, {"x": Region.between(0.07, 0.1)}).upper == pytest.approx(math.log(10))
    high = Circuit((x,), (Histogram(0, (0, 0.285, 2), (0, 10)),), floor=0)
    assert bounds(high, {"x": Region.between(0.2, 0.29)}).upper == pytest.approx(math.log(10))


def test_a_box_of_whole_numbers_is_cut_to_them() -> None:
    circuit = Circuit((Integer("n", 0, 9),), (Histogram(0, (0, 3, 4, 10), (0.1, 0.5, 0.03)),))
    interval = bounds(circuit, {"n": Region.between(2.5, 3.7)})
    assert (interval.lower, interval.upper) == pytest.approx((math.log(0.5), math.log(0.5)))


def test_free_whole_numbers_are_whole() -> None:
    """The bounds of a feature need not be values of it."""
    circuit = Circuit((Integer("n", 0.5, 9.5),), (Parametric(0, "poisson", 0.3),), floor=0)
    interval = bounds(circuit, {})
    values = log_likelihood(circuit, np.arange(1.0, 10)[:, None])
    assert (interval.lower, interval.upper) == pytest.approx((values.min(), values.max()))


@pytest.mark.parametrize(
    ("name", "region", "message"),
    [
        (
            "n", Region.between(3.2, 3.8),
            r"^The box's values of feature 'n' must hold a value of the feature; got \(\(3\.2, 3\.8\),\)\. Hint: it has .*\.$",
        ),
        (
            "x", Region.between(6, 7),
            r"^The box's values of feature 'x' must hold a value of the feature; got \(\(6\.0, .*\. Hint: it has -5 to 5\.$",
        ),
        ("x", Region(()), r"^The box's values of feature 'x' must hold a value of the feature; got \(\)\. Hint: .*\.$"),
        ("q", Region.points([0.0]), r"^A variable must be in the circuit; got 'q'\. Hint: it has 'x', 'n', 'c'\.$"),
    ],
)  # fmt: skip
def test_boxes_without_a_row_are_refused(name: str, region: Region, message: str) -> None:
    for ask in (bounds, derivatives):
        with pytest.raises(CircuitError, match=message) as caught:
            ask(mixture(0), {name: region})
        assert caught.value.feature == name


def test_bounds_are_a_value() -> None:
    assert LogLikelihoodBounds(-1.0, 0.0) == LogLikelihoodBounds(-1.0, 0.0)


# -- derivatives ------------------------------------------------------------------------------------------------------


@given(st.data())
def test_derivatives_answer_for_every_single_value(data: st.DataObject) -> None:
    circuit = data.draw(strategies.circuits(aligned=False))
    row = data.draw(strategies.circuit_rows(circuit, most=1))
    j = data.draw(st.integers(0, len(circuit.variables) - 1))
    values = data.draw(strategies.circuit_rows(circuit))[:, j]
    changed = np.repeat(row, len(values), axis=0)
    changed[:, j] = values
    slopes = derivatives(circuit, row[0])
    assert_close(slopes.value, log_likelihood(circuit, row)[0])
    assert_close(slopes.at(circuit.names[j], values), oracle.log_likelihoods(circuit, changed))


@given(st.data())
def test_derivatives_are_those_of_the_formula(data: st.DataObject) -> None:
    """A circuit is linear in each leaf: its derivative is the difference that the leaf makes between 0 and 1."""
    circuit, rows = data_of(data.draw)
    slopes = derivatives(circuit, rows[0])
    at = oracle.leaf_values(circuit, [float(v) for v in rows[0]])
    for place in at:
        ends = [oracle.swept(circuit, {**at, place: oracle.Fraction(k)})[-1] for k in (0, 1)]
        assert_close(slopes.log_derivative[place], oracle.log(ends[1] - ends[0]))


@given(st.data())
def test_derivatives_over_a_box_bound_every_row(data: st.DataObject) -> None:
    circuit = data.draw(strategies.circuits(aligned=False))
    box = data.draw(strategies.boxes(circuit))
    row = data.draw(strategies.rows_inside(circuit, box))
    slopes = derivatives(circuit, box)
    assert_close(slopes.value, bounds(circuit, box).upper)
    for name, v in zip(circuit.names, row, strict=True):
        assert slopes.at(name, np.array([v]))[0] >= log_likelihood(circuit, row[None, :])[0] - ROUNDING


@given(st.data())
def test_derivatives_by_cells_bound_every_value(data: st.DataObject) -> None:
    circuit = data.draw(strategies.circuits(aligned=False))
    row = data.draw(strategies.circuit_rows(circuit, most=1))
    j = data.draw(st.integers(0, len(circuit.variables) - 1))
    slopes = derivatives(circuit, row[0])
    breaks, largest = slopes.cells(circuit.names[j])
    assert len(largest) == len(breaks) + 1
    values = data.draw(strategies.circuit_rows(circuit))[:, j]
    values = values[~np.isnan(values)]
    exact = slopes.at(circuit.names[j], values)
    in_cells = largest[np.searchsorted(breaks, values, side="right")]
    assert (exact <= in_cells + ROUNDING).all()
    leaves = [node for node in circuit.nodes if isinstance(node, Leaf) and node.variable == j]
    if all(oracle.peak(leaf) is None for leaf in leaves):
        assert_close(in_cells, exact)


def test_derivatives_of_cells_with_a_peak_of_whole_numbers() -> None:
    """The greatest probability of a cell that ends beside a whole number is inside it."""
    nodes = (Parametric(0, "poisson", 10.0), Histogram(0, (3, 7, 20), (0.1, 0.1)), Sum((0, 1), (0.5, 0.5)))
    circuit = Circuit((Integer("n", 0, 30),), nodes)
    slopes = derivatives(circuit, np.array([5.0]))
    breaks, largest = slopes.cells("n")
    values = np.arange(31.0)
    assert (largest[np.searchsorted(breaks, values, side="right")] >= slopes.at("n", values) - ROUNDING).all()


def test_derivatives_without_the_class() -> None:
    """A row without the target's value is a row where it is unknown."""
    circuit = Circuit(
        (Continuous("x", -5, 5),), (Histogram(0, (-5, 5), (0.1,)), Bernoulli(1, 0.25), Product((0, 1))), Binary("y")
    )
    assert_close(derivatives(circuit, np.array([1.0])).at("y", np.array([0.0, 1.0, np.nan])), np.log([0.075, 0.025, 0.1]))


def test_derivatives_of_a_table() -> None:
    circuit = mixture(0)
    table = pd.DataFrame({"x": [0.5], "n": [3.0], "c": [False]})
    assert derivatives(circuit, table).value == derivatives(circuit, np.array([0.5, 3.0, 0.0])).value
    with pytest.raises(
        CircuitError, match=r"^Where to differentiate must be one row or a box; got 17 rows\. Hint: ask row by row\.$"
    ):
        derivatives(circuit, MIXTURE_ROWS)


def test_derivatives_of_an_unknown_variable_are_refused() -> None:
    with pytest.raises(CircuitError, match=r"^A variable must be in the circuit; got 'z'\. Hint: it has 'x', 'n', 'c'\.$"):
        derivatives(mixture(0), MIXTURE_ROWS[0]).at("z", np.zeros(1))


# -- impossible rows --------------------------------------------------------------------------------------------------


def test_zeros_without_a_floor() -> None:
    """One zero in a product leaves one derivative; two leave none."""
    nodes = (Categories(0, (1, 0)), Categories(1, (0.5, 0.5)), Categories(2, (1, 0)), Product((0, 1, 2)))
    circuit = Circuit(tuple(Categorical(name, ("a", "b")) for name in "abc"), nodes, floor=0)
    one, two = derivatives(circuit, np.array([1.0, 0, 0])), derivatives(circuit, np.array([1.0, 0, 1.0]))
    assert one.value == two.value == -math.inf
    assert one.log_derivative.tolist() == [math.log(0.5), -math.inf, -math.inf, 0]
    assert two.log_derivative.tolist() == [-math.inf, -math.inf, -math.inf, 0]
    assert one.at("a", np.array([0.0, 1.0])).tolist() == [math.log(0.5), -math.inf]
    assert bounds(circuit, {"b": Region.points([0.0])}) == LogLikelihoodBounds(-math.inf, math.log(0.5))


@settings(max_examples=30)
@given(st.integers(0, 10**9))
def test_deep_chains(seed: int) -> None:
    """A thousand sums, one above the other: no recursion, no loss."""
    random = np.random.default_rng(seed)
    nodes: list[Any] = [Categories(0, tuple(random.dirichlet(np.ones(3)))) for _ in range(2)]
    for _ in range(1000):
        w = float(random.random())
        nodes.append(Sum((len(nodes) - 1, int(random.integers(len(nodes)))), (w, 1 - w)))
    used = {child for node in nodes if isinstance(node, Sum) for child in node.children}
    unused = [place for place in range(len(nodes) - 1) if place not in used]
    nodes.append(Sum((len(nodes) - 1, *unused), (1.0, *(0.0 for _ in unused))))
    circuit = Circuit((Categorical("c", ("a", "b", "c")),), tuple(nodes))
    assert math.fsum(np.exp(log_likelihood(circuit, np.arange(3.0)[:, None]))) == pytest.approx(1, abs=1e-12)


def test_a_box_of_plain_values() -> None:
    X, y = drawn(0, 200)
    circuit = quiet(X, y, **SMALL).circuit
    red, blue = (log_probability(circuit, {"colour": value}) for value in ("red", "blue"))
    assert_close([red], circuit.log_likelihood(pd.DataFrame({"colour": ["red"]}), marginal=True))
    assert_close([log_probability(circuit, {"colour": ["red", "blue"]})], [np.logaddexp(red, blue)])
    assert bounds(circuit, {"colour": "red", "visits": [1, 2]}).upper >= bounds(circuit, {"colour": "red", "visits": 1}).upper
    with pytest.raises(CircuitError, match=r"^The box's values of feature 'visits' must be known; got a missing one\."):
        log_probability(circuit, {"visits": None})
    with pytest.raises(SchemaError, match=r"^Feature 'colour' must have a known value; got 'violet'\."):
        log_probability(circuit, {"colour": "violet"})
