"""The bins that learners see, and the leaves that they make: a bin holds the values that it has room for."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from likely.circuit.learning.bins import ASIDE, FEWEST_ROWS, FINEST, MOST_WHOLE, OFTEN, Bins, bins_of
from likely.circuit.model.measure import LEAST_WIDTH, ends, mass
from likely.circuit.model.nodes import Categories, Coded, Histogram
from likely.schema import Binary, Categorical, Continuous, Feature, Integer, Mixed, Ordinal
from likely.schema.values import LARGEST, code_number
from tests import strategies
from tests.oracles import circuits as oracle


def bins(values: Any, feature: Feature, finest: float = FINEST) -> Bins:
    (made,) = bins_of(np.asarray(values, dtype=np.float64)[:, None], [feature], finest)
    return made


def core(made: Bins) -> np.ndarray:
    """The breaks within what was seen."""
    return made.breaks[made.tails[0] : len(made.breaks) - made.tails[1]]


def spread_of(values: np.ndarray) -> float:
    low, high = np.quantile(values, [0.01, 0.99])
    return float(high - low or np.ptp(values))


def place_of(number: float, step: float) -> int:
    """The first multiple of a step that is not below a number, exactly."""
    return math.ceil(Fraction(number) / Fraction(step))


@st.composite
def any_columns(draw: st.DrawFn) -> tuple[Feature, np.ndarray]:
    """A feature of any kind and size, and values of it: few or many different ones, unknown here and there."""
    feature = draw(strategies.features("f", extremes=True))
    some = draw(st.lists(strategies.numbers(feature), min_size=1, max_size=30))
    repeated = draw(st.lists(st.sampled_from([*some, math.nan]), max_size=30))
    return feature, np.array(some + repeated)


# -- any feature, any values ------------------------------------------------------------------------------------------


@given(any_columns(), st.sampled_from([FINEST, 0.05, 1.0]))
def test_every_value_has_a_bin_and_every_bin_has_room(column: tuple[Feature, np.ndarray], finest: float) -> None:
    feature, values = column
    made = bins(values, feature, finest)
    assert (np.diff(made.breaks) > 0).all()
    assert (made.measure > 0).all()
    assert np.isfinite(1 / made.measure).all()
    assert len(made) == made.codes + len(made.breaks) - 1
    place = made.index(values)
    assert (place[np.isnan(values)] == -1).all()
    code = values < -LARGEST
    assert [feature.atom_number(k) for k in place[code]] == values[code].tolist()
    known = ~np.isnan(values) & ~code
    ranges = place[known] - made.codes
    assert (made.breaks[ranges] <= values[known]).all()
    assert (values[known] < made.breaks[ranges + 1]).all()


@given(any_columns())
def test_bins_end_at_the_bounds_and_only_tails_lie_beyond_what_was_seen(column: tuple[Feature, np.ndarray]) -> None:
    feature, values = column
    made = bins(values, feature)
    if not feature.numeric:
        assert made.breaks.tolist() == list(range(len(feature.atoms) + 1))
        assert made.tails == (0, 0)
        return
    first = next(low for low, _ in feature.region.intervals if low >= -LARGEST)
    last = feature.region.high
    assert made.breaks[0] <= first
    assert last < made.breaks[-1]
    assert (made.breaks[0], made.breaks[-1]) == ends(feature)
    place = made.index(values[values >= -LARGEST]) - made.codes
    assert ((place >= made.tails[0]) & (place < len(made.breaks) - 1 - made.tails[1])).all()


@given(any_columns())
def test_the_room_of_a_bin_is_what_can_be_in_it(column: tuple[Feature, np.ndarray]) -> None:
    feature, values = column
    made = bins(values, feature)
    step = oracle.step_of(feature)
    assert (made.measure[: made.codes] == 1).all()
    wide = made.measure[made.codes :]
    if step is None:
        np.testing.assert_array_equal(wide, np.diff(made.breaks))
    elif feature.numeric:
        places = [place_of(b, step) for b in made.breaks]
        inside = [code / step for code in oracle.codes_inside(feature) if feature.lower <= code <= feature.upper]
        taken = {round(code) for code in inside if abs(code - round(code)) < 1e-9}
        counts = [b - a - sum(a <= k < b for k in taken) for a, b in pairwise(places)]
        np.testing.assert_allclose(wide, np.array(counts) * step, rtol=1e-12)


@given(st.data())
def test_leaves_of_bins_have_mass_one_over_all_values(data: st.DataObject) -> None:
    """What lies within the bounds, and what a tail has beyond them."""
    feature, values = data.draw(any_columns())
    made = bins(values, feature)
    shares = np.array(data.draw(st.lists(st.integers(1, 9), min_size=len(made), max_size=len(made))), dtype=np.float64)
    leaf = made.leaf(0, shares)
    assert mass(leaf, feature) == pytest.approx(1, abs=1e-9)
    known = values[~np.isnan(values)]
    expected = shares[made.index(known)] / shares.sum() / made.measure[made.index(known)]
    np.testing.assert_allclose([oracle.density(leaf, v) for v in known.tolist()], expected, rtol=1e-9)


@given(st.data())
def test_small_features_sum_to_one(data: st.DataObject) -> None:
    """Over the values within the bounds, with the tails, which lie beyond, left empty."""
    feature = data.draw(strategies.small_features("f"))
    values = np.array(oracle.values_of(feature))
    made = bins(values, feature)
    leaf = made.leaf(0, np.bincount(made.index(values), minlength=len(made)).astype(np.float64))
    total = sum(Fraction(oracle.density(leaf, v)) * oracle.measure_of(feature, v) for v in values.tolist())
    assert float(total) == pytest.approx(1, abs=1e-9)


# -- reals ------------------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32), st.integers(1, 400), st.sampled_from([FINEST, 0.02, 0.3, 1.0]), st.integers(0, 3))
def test_no_bin_is_narrower_than_finest(seed: int, count: int, finest: float, tail: int) -> None:
    """However heavy the tails are, and however many values repeat how close to each other."""
    rng = np.random.default_rng(seed)
    values = rng.standard_cauchy(count) ** (2 * tail + 1)
    values = np.where(rng.random(count) < 0.5, np.round(values, 1), values)
    made = bins(values, Continuous("x", values.min(), values.max()), finest)
    assert np.diff(core(made)).min() >= finest * spread_of(values) * (1 - 2 * ASIDE)


def test_bins_have_rows_to_learn_from() -> None:
    values = np.random.default_rng(0).normal(size=3000)
    made = bins(values, Continuous("x", -9, 9))
    counts = np.bincount(made.index(values), minlength=len(made))[made.tails[0] : len(made) - made.tails[1]]
    assert counts.min() >= FEWEST_ROWS
    assert len(counts) > 100
    many = np.random.default_rng(0).normal(size=100_000)
    assert np.bincount(bins(many, Continuous("x", -9, 9)).index(many)).max() < 0.02 * len(many)
    assert len(bins(many, Continuous("x", -9, 9))) < 250


def test_finer_bins_on_demand() -> None:
    values = np.random.default_rng(0).normal(size=20_000)
    assert len(bins(values, Continuous("x", -9, 9), 1 / 2000)) > 2 * len(bins(values, Continuous("x", -9, 9), 1 / 50))


def test_a_value_that_repeats_has_a_bin_of_its_own() -> None:
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.random(1000), np.full(200, 0.5), np.full(100, 0.75)])
    assert OFTEN * len(values) < 100
    made = bins(values, Continuous("x", 0, 1))
    width = FINEST * spread_of(values)
    for value in (0.5, 0.75):
        low, high = made.breaks[made.index(np.array([value]))[0] + np.arange(2)]
        assert high - low == pytest.approx(width, rel=0.5)
        assert low <= value - width / 2
        assert value + width / 2 <= high


def test_of_two_close_values_the_more_frequent_has_the_bin() -> None:
    values = np.concatenate([np.linspace(0, 1, 100), np.full(30, 0.5), np.full(20, 0.501)])
    made = bins(values, Continuous("x", 0, 1))
    low, high = made.breaks[made.index(np.array([0.5]))[0] + np.arange(2)]
    assert (low + high) / 2 == pytest.approx(0.5, abs=1e-9)
    assert made.index(np.array([0.5])) == made.index(np.array([0.501]))


def test_tails_widen() -> None:
    made = bins(np.linspace(0, 1, 50), Continuous("x", -100, 50))
    widths = np.diff(made.breaks)
    assert made.tails == (3, 3)
    assert widths[-3:-1] == pytest.approx([0.05, 0.2], rel=0.01)
    assert widths[2:0:-1] == pytest.approx([0.05, 0.2], rel=0.01)


def test_tails_end_at_the_bounds() -> None:
    values = np.linspace(0, 1, 50)
    assert bins(values, Continuous("x", 0, 1)).tails == (0, 0)
    short = bins(values, Continuous("x", -0.1, 1.01))
    assert short.tails == (2, 0), "no bin for a hundredth: it joins what was seen"
    assert short.breaks[:3] == pytest.approx([-0.1, -0.05, 0], abs=0.005)
    beyond = bins(values + 5, Continuous("x", 0, 1))
    assert beyond.breaks.tolist() == [0, math.nextafter(1, math.inf)], "rows outside the bounds count at the bound"


def test_a_value_at_a_bound_that_repeats_has_a_bin_inside() -> None:
    values = np.concatenate([np.linspace(0, 1, 500), np.zeros(200), np.ones(100)])
    made = bins(values, Continuous("x", 0, 1))
    width = FINEST * spread_of(values)
    assert np.diff(made.breaks)[[0, -1]] == pytest.approx([width, width])


# -- whole numbers and steps ------------------------------------------------------------------------------------------


def test_whole_numbers_of_a_short_range_have_a_bin_each() -> None:
    values = np.array([3.0, 7.0, 3.0 + MOST_WHOLE - 1])
    made = bins(values, Integer("n", 0, 1000))
    assert core(made).tolist() == list(range(3, 3 + MOST_WHOLE + 1))


@example(69, 69, 300)  # many zeros: an atom, which has a bin to itself
@given(st.integers(0, 2**32), st.integers(2, 200), st.sampled_from([300, 10_000, 10**6, 2**40]))
def test_whole_numbers_of_a_long_range(seed: int, count: int, size: int) -> None:
    """The greatest one too lies in a bin of what was seen, breaks are whole numbers, and only atoms make bins narrow."""
    rng = np.random.default_rng(seed)
    values = np.append(np.round(rng.gamma(0.5, size, count)), [0.0, size, size])
    made = bins(values, Integer("n", 0, values.max()))
    assert (made.breaks == np.round(made.breaks)).all()
    assert core(made)[0] <= 0
    assert core(made)[-1] >= values.max() + 1
    first, width = core(made)[:-1], np.diff(core(made))
    atom = (width == 1) & ((values == first[:, None]).sum(axis=1) >= FEWEST_ROWS)
    near = atom | np.append(atom[1:], False) | np.append(False, atom[:-1])  # what is left beside the bin of an atom may be narrow
    assert (width[~near] >= max(1, FINEST * spread_of(values) * (1 - 1e-9))).all()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("step", [0.01, 0.05, 0.1, 1 / 3, 2.5])
def test_every_multiple_of_a_step_has_its_own_bin_however_it_was_computed(step: float, dtype: Any) -> None:
    feature = Continuous("x", 0, float(np.dtype(dtype).type(100 * step)), step=step, dtype=dtype)
    for values in (np.arange(101) * step, np.array([oracle.multiple(k, step) for k in range(101)])):
        column = values.astype(dtype).astype(np.float64)
        made = bins(column, feature)
        counts = Counter(made.index(column).tolist())
        assert set(counts.values()) == {1}
        assert np.allclose(made.measure[sorted(counts)], step)


def test_a_multiple_belongs_to_its_step_whatever_its_last_bit() -> None:
    made = bins(np.arange(11) * 0.1, Continuous("x", 0, 1, step=0.1))
    for value in (0.3, 0.1 + 0.2, math.nextafter(0.3, 0), 0.7, 0.1 * 7, 0.8 - 0.1):
        assert made.index(np.array([value])) == made.index(np.array([round(value, 1)]))


def test_a_long_range_of_steps() -> None:
    values = np.round(np.random.default_rng(0).gamma(2, 50, 2000), 2)
    made = bins(values, Continuous("x", 0, 1000, step=0.01))
    assert len(made) < MOST_WHOLE + 10
    assert np.allclose(made.measure / 0.01, np.round(made.measure / 0.01))
    assert np.allclose(made.breaks / 0.01 % 1, 0.5, atol=1e-6)


def test_days() -> None:
    days = np.arange(18_000.0, 20_000.0)
    made = bins(days, Integer("day", "2015-01-01", "2030-01-01", dtype="datetime64[ns]"))
    assert (made.breaks == np.round(made.breaks)).all()
    counts = np.bincount(made.index(days))
    assert counts.max() <= 2 * counts[counts > 0].min()


# -- codes, and lists of values ---------------------------------------------------------------------------------------


def test_codes_come_first_and_their_numbers_have_no_bin() -> None:
    feature = Mixed("m", 0, 9, [-1, 4], integer=True)
    values = np.array([code_number(0), code_number(1), 3.0, 5.0])
    made = bins(values, feature)
    assert made.codes == 2
    assert made.index(values)[:2].tolist() == [0, 1]
    assert len(set(made.index(values).tolist())) == 4
    numbers = [v for v in oracle.values_of(feature) if v > -LARGEST]
    assert 4.0 not in numbers
    inside = set(made.index(np.array(numbers)).tolist())
    assert all(made.measure[k] >= 1 for k in inside)


def test_lists_of_values_have_a_bin_each() -> None:
    for feature in (Binary("b"), Categorical("c", tuple("abcd")), Ordinal("o", (1, 2, 3))):
        made = bins([0.0, math.nan, 1.0], feature)
        assert len(made) == len(feature.atoms)
        assert made.index(np.array([0.0, 1.0, math.nan])).tolist() == [0, 1, -1]
        assert isinstance(made.leaf(0, np.ones(len(made))), Categories)


def test_no_rows_and_nothing_known() -> None:
    for feature in (Continuous("x", -2, 8), Integer("n", -2, 8), Mixed("m", -2, 8, [None]), Mixed("m", 3, 3, [None])):
        for values in ([], [math.nan] * 3, [code_number(0)] * 3 if feature.atoms else []):
            made = bins(values, feature)
            assert core(made)[0] <= feature.lower
            assert core(made)[-1] > feature.upper
            assert mass(made.leaf(0, np.ones(len(made))), feature) == pytest.approx(1)


def test_values_outside_all_bins_go_to_the_nearest() -> None:
    made = bins([1.0, 2.0, 3.0], Mixed("m", 0, 9, [None]))
    assert made.index(np.array([-1e30, 1e30])).tolist() == [1, len(made) - 1]


# -- numbers of awkward sizes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0.0, 5e-324, -3.25, 1e15, 1e17, -1e200, 5e300])
@pytest.mark.parametrize("count", [1, 2, 50])
def test_one_value(value: float, count: int) -> None:
    made = bins([value] * count, Continuous("x", value, value))
    (low, high) = core(made)
    assert low <= value < high
    assert high - low == pytest.approx(max(1.0, 4 * np.spacing(abs(value))), rel=0.5 * (abs(value) > 1e14))
    leaf = made.leaf(0, np.ones(len(made)))
    assert mass(leaf, Continuous("x", value, value)) == pytest.approx(1)


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize(
    "values",
    [
        np.linspace(0, 1e-310, 300),
        np.linspace(1e-300, 3e-300, 300),
        1e15 + np.linspace(0, 20, 300),
        1e15 + np.repeat([0, 0.125, 0.25, 7.5], 75),
        1e17 + 16.0 * np.arange(300),
        np.linspace(-5e300, 5e300, 300),
        np.append(np.linspace(0, 1e-3, 299), 5e300),
        10.0 ** np.linspace(-300, 300, 300),
        np.sign(np.linspace(-1, 1, 300)) * 10.0 ** np.linspace(-320, 299, 300),
    ],
    ids=["denormal", "tiny", "1e15", "1e15 repeated", "1e17", "5e300", "one outlier", "all sizes", "all sizes and signs"],
)
def test_awkward_sizes(values: np.ndarray, mixed: bool) -> None:
    low, high = float(values.min()), float(values.max())
    feature: Feature = Mixed("m", low, high, [None]) if mixed else Continuous("x", low, high)
    made = bins(values, feature)
    assert (np.diff(made.breaks) > 0).all()
    assert np.diff(core(made)).min() >= max(LEAST_WIDTH, FINEST * spread_of(values)) * (1 - 1e-9)
    assert np.abs(made.breaks).max() <= LARGEST
    places = made.index(values) - made.codes
    assert (made.breaks[places] <= values).all()
    assert (values < made.breaks[places + 1]).all()
    leaf = made.leaf(0, np.ones(len(made)))
    assert mass(leaf, feature) == pytest.approx(1)


# -- leaves -----------------------------------------------------------------------------------------------------------


def test_neighbours_of_one_density_are_joined() -> None:
    made = Bins(Continuous("x", 0, 4), 0, np.arange(5.0), np.ones(4))
    leaf = made.leaf(3, np.array([1.0, 1.0, 3.0, 3.0]))
    assert leaf == Histogram(3, (0.0, 2.0, 4.0), (0.125, 0.375))


def test_a_bin_without_room_has_no_density() -> None:
    made = Bins(Integer("n", 0, 2), 0, np.array([0.0, 0.2, 0.8, 3.0]), np.array([1.0, 0.0, 2.0]))
    assert made.leaf(0, np.array([1.0, 0.0, 3.0])) == Histogram(0, (0.0, 0.2, 0.8, 3.0), (0.25, 0.0, 0.375))


def test_codes_without_numbers() -> None:
    made = bins([code_number(0), code_number(1)], Mixed("m", 0, 1, [-1, None]))
    assert made.leaf(2, np.append([3.0, 1.0], np.zeros(len(made) - 2))) == Coded(2, (0.75, 0.25))


# -- between values, never on them ------------------------------------------------------------------------------------


@given(st.integers(0, 2**32), st.integers(1, 400), st.integers(0, 3), st.booleans())
def test_to_move_by_the_last_bit_gains_nothing(seed: int, count: int, digits: int, inflated: bool) -> None:
    rng = np.random.default_rng(seed)
    values = np.round(rng.normal(size=count), digits) if digits else rng.lognormal(size=count)
    values = np.where(rng.random(count) < 0.3, 0.0, values) if inflated else values
    feature = Continuous("x", values.min(), values.max())
    made = bins(values, feature)
    for aside in (np.nextafter(values, -np.inf), np.nextafter(values, np.inf)):
        inside = feature.fits(aside)
        np.testing.assert_array_equal(made.index(aside)[inside], made.index(values)[inside])


@given(st.integers(0, 2**32), st.sampled_from([0.01, 0.1, 0.125, 2.5]), st.sampled_from([20, 300, 100_000]))
def test_breaks_lie_midway_between_multiples(seed: int, step: float, size: int) -> None:
    places = np.random.default_rng(seed).integers(-size, size, 300).astype(np.float64)
    made = bins(places * step, Continuous("x", -size * step, size * step, step=step))
    np.testing.assert_allclose(np.abs(made.breaks / step % 1 - 0.5), 0, atol=1e-6)


def test_two_rows_that_agree_are_no_atom() -> None:
    values = np.random.default_rng(0).normal(size=142)
    doubled = np.concatenate([values, values[:20]])
    feature = Continuous("x", -9, 9)
    counts = np.bincount(bins(doubled, feature).index(doubled))
    assert counts[counts > 0].min() >= FEWEST_ROWS, "no bin around two rows"


def test_what_stands_out_no_more_than_its_neighbours_is_no_atom() -> None:
    """Where tenths are what was recorded, every value repeats; a bin around each would leave teeth between them."""
    rng = np.random.default_rng(0)
    column = np.round(rng.normal(size=4000), 2)
    values, counts = np.unique(column, return_counts=True)
    assert counts.max() >= OFTEN * len(column) * 0.4
    made = bins(column, Continuous("x", -9, 9))
    filled = np.bincount(made.index(column), minlength=len(made))[made.tails[0] : len(made) - made.tails[1]]
    assert (filled > 0).all()
    default = np.concatenate([column, np.full(400, values[len(values) // 2])])
    around = bins(default, Continuous("x", -9, 9))
    low, high = around.breaks[around.index(values[[len(values) // 2]])[0] + np.arange(2)]
    assert high - low <= 2 * FINEST * spread_of(default)


@pytest.mark.parametrize("step", [1.0, 0.01, 50.0])
def test_where_there_is_a_step_the_bin_of_an_atom_holds_nothing_else(step: float) -> None:
    """No debt, a default and a limit, in a range of thousands of steps: a row beside an atom is not as likely as one at it."""
    rng = np.random.default_rng(0)
    places = np.minimum(np.round(np.exp(rng.normal(7, 1, 1000))), 6000)
    places[rng.random(1000) < 0.4] = 0
    places[rng.random(1000) < 0.1] = 1500
    column = places * step
    made = bins(column, Integer("x", 0, 6000) if step == 1 else Continuous("x", 0, 6000 * step, step=step))
    atoms = made.index(np.array([0, 1500, 6000]) * step)
    np.testing.assert_allclose(made.measure[atoms], step)
    others = np.delete(made.measure, atoms)
    assert np.median(others) > 10 * step


def test_rows_at_zero_are_as_likely_as_they_are_many() -> None:
    rng = np.random.default_rng(0)
    debt = np.where(rng.random(400) < 0.4, 0, np.round(np.exp(rng.normal(6, 1, 400))))
    made = bins(debt, Integer("debt", 0, 20_000))
    leaf = made.leaf(0, np.bincount(made.index(debt), minlength=len(made)).astype(np.float64))
    assert oracle.density(leaf, 0.0) == pytest.approx((debt == 0).mean())
