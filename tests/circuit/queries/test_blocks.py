"""Queries of circuits with Gaussian blocks: bounds over boxes, derivatives, probabilities, moments, samples, completions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from likely.circuit import (
    Circuit,
    GaussianBlock,
    Histogram,
    Product,
    Sum,
    Warp,
    bounds,
    complete,
    conditional,
    derivatives,
    log_likelihood,
    log_probability,
    marginal,
    merged,
    moments,
    refine,
    sample,
)
from likely.circuit.queries.block_bounds import block_bounds
from likely.circuit.queries.sample import sample_rows
from likely.schema import Continuous, Integer
from likely.schema.region import Region
from likely.schema.values import LARGEST, code_number
from tests import strategies
from tests.strategies.schema import plain_numbers

PLAIN = Warp.identity()
REALS = (Continuous("a", -5, 5), Continuous("b", -5, 5))


def pair(correlation: float, warps: tuple[Warp, Warp] = (PLAIN, PLAIN)) -> GaussianBlock:
    return GaussianBlock((0, 1), warps, (0.0, 0.0), ((1.0,), (correlation, math.sqrt(1 - correlation**2))))


def box_of(data: st.DataObject, circuit: Circuit) -> dict[Any, Region]:
    """Intervals of some variables of numbers."""
    box = {}
    for feature in circuit.features:
        ends = sorted(data.draw(st.lists(plain_numbers(feature), min_size=2, max_size=2)))
        if data.draw(st.booleans()):
            coded = [code_number(k) for k in range(len(feature.atoms)) if data.draw(st.booleans())]
            box[feature.name] = Region.between(*ends) | Region.points(coded)
    return box


def rows_in(circuit: Circuit, box: dict[Any, Region], rng: np.random.Generator, count: int) -> np.ndarray:
    """Rows of a box, its corners and knots among them."""
    rows = np.empty((count, len(circuit.variables)))
    for j, feature in enumerate(circuit.variables):
        if not feature.numeric:
            rows[:, j] = rng.integers(0, len(feature.atoms), count)
            continue
        region = box.get(feature.name, feature.region)
        coded = [low for low, _ in region.intervals if low < -LARGEST]
        region = region & Region.between(-LARGEST, LARGEST)
        marks = [x for node in circuit.nodes if isinstance(node, GaussianBlock) for w in node.warps for x in w.knots]
        marks = [region.low, region.high, *(x for knot in marks for x in (knot, math.nextafter(knot, -math.inf)))]
        rows[:, j] = rng.uniform(region.low, region.high, count)
        near = rng.random(count) < 0.3
        rows[near, j] = np.clip(rng.choice(marks, near.sum()), region.low, region.high)
        if feature.grid is not None:
            rows[:, j] = np.clip(np.round(rows[:, j] / feature.grid) * feature.grid, region.low, region.high)
        at = (rng.random(count) < 0.2) & bool(coded)
        rows[at, j] = rng.choice(coded or [0.0], at.sum())
    return rows


# -- bounds -----------------------------------------------------------------------------------------------------------


@given(st.data())
def test_no_row_of_a_box_is_beyond_its_bounds(data: st.DataObject) -> None:
    circuit = data.draw(strategies.block_circuits(codes=True))
    box = box_of(data, circuit)
    limits = bounds(circuit, box)
    rows = rows_in(circuit, box, data.draw(strategies.generators()), 2000)
    logs = log_likelihood(circuit, rows)
    assert logs.max() <= limits.upper + 1e-9
    assert logs.min() >= limits.lower - 1e-9
    assert limits.upper < math.inf


@given(st.data())
def test_bounds_of_one_row_are_its_likelihood(data: st.DataObject) -> None:
    circuit = data.draw(strategies.block_circuits(codes=True, closed=False))
    row = rows_in(circuit, {}, data.draw(strategies.generators()), 1)
    knots = {x for node in circuit.nodes if isinstance(node, GaussianBlock) for warp in node.warps for x in warp.knots}
    limits = bounds(circuit, {name: Region.points([value]) for name, value in zip(circuit.names, row[0], strict=True)})
    if not knots & set(row[0]):  # where the density jumps, the bounds hold both of its values
        assert (limits.lower, limits.upper) == pytest.approx((log_likelihood(circuit, row)[0],) * 2, rel=1e-9, abs=1e-9)


@given(st.data())
def test_without_warps_the_upper_bound_is_attained(data: st.DataObject) -> None:
    """The tangent at the maximiser of a concave function over a box is exact."""
    block = data.draw(strategies.blocks([Continuous(f"x{j}", -2, 7) for j in range(3)], (0, 1, 2)))
    block = GaussianBlock(block.variables, (PLAIN,) * 3, block.mean, block.factor)
    ends = [sorted(data.draw(st.tuples(st.floats(-3, 3), st.floats(-3, 3)))) for _ in range(3)]
    limits = block_bounds(block, [Region.between(*pair) for pair in ends], 0.0)
    assert limits.best is not None
    assert limits.upper == pytest.approx(float(block.log_density(limits.best[None, :])[0]), abs=1e-3)


@pytest.mark.parametrize("low", [0.0, 1.0, -3e9])
def test_a_domain_that_ends_at_the_outermost_knots(low: float) -> None:
    """As learned where values lie at the bounds of a feature: a tail has no double inside, and a steepness that may be none."""
    high = low + 16
    warp = Warp((low, low + 4, high), (-2.3, 0.1, 0.7), math.nextafter(low, -math.inf), math.nextafter(high, math.inf))
    circuit = Circuit(
        (Continuous("a", low, high), Continuous("b", low, high)),
        (GaussianBlock((0, 1), (warp, warp), (0.2, 0), ((0.5,), (0.4, 0.3))),),
    )
    ends = np.array([[a, b] for a in (low, low + 3, high) for b in (low, low + 3, high)])
    logs = circuit.log_likelihood(ends)
    for row, log in zip(ends, logs, strict=True):
        limits = bounds(circuit, {name: Region.points([value]) for name, value in zip("ab", row, strict=True)})
        assert (limits.lower, limits.upper) == pytest.approx((log, log), abs=1e-6)
    likeliest = complete(circuit, pd.DataFrame({"a": [high, np.nan], "b": [np.nan, np.nan]}))
    assert likeliest.log_likelihood[1] >= logs.max() - 1e-9
    assert sample(circuit, 50, random_state=0)["a"].between(low, high).all()


@given(st.data())
def test_derivatives_answer_for_every_value(data: st.DataObject) -> None:
    circuit = data.draw(strategies.block_circuits(codes=True))
    row = data.draw(strategies.block_rows(circuit, count=1))
    slopes = derivatives(circuit, row)
    for j, name in enumerate(circuit.names):
        values = rows_in(circuit, {}, np.random.default_rng(0), 20)[:, j]
        rows = np.repeat(row, len(values), axis=0)
        rows[:, j] = values
        expected = log_likelihood(circuit, rows)
        np.testing.assert_allclose(slopes.at(name, values), expected, rtol=1e-9, atol=1e-9)
        breaks, logs = slopes.cells(name)
        assert (logs[np.searchsorted(breaks, values, side="right")] >= expected - 1e-9).all()


@given(st.data())
def test_derivatives_over_a_box_bound_every_value(data: st.DataObject) -> None:
    circuit = data.draw(strategies.block_circuits(codes=True, most=3))
    box = box_of(data, circuit)
    slopes = derivatives(circuit, box)
    assert slopes.value == bounds(circuit, box).upper
    rows = rows_in(circuit, box, data.draw(strategies.generators()), 30)
    for j, name in enumerate(circuit.names):
        assert (slopes.at(name, rows[:, j]) >= log_likelihood(circuit, rows) - 1e-9).all()


# -- probabilities ----------------------------------------------------------------------------------------------------


def test_probability_of_one_variable_is_exact() -> None:
    circuit = Circuit(REALS, (pair(0.9),))
    expected = stats.norm.cdf(1.5) - stats.norm.cdf(-0.5)
    assert log_probability(circuit, {"a": Region.between(-0.5, 1.5)}) == pytest.approx(math.log(expected), abs=1e-12)


@pytest.mark.parametrize("correlation", [0.0, 0.3, -0.95])
def test_probability_of_two_variables(correlation: float) -> None:
    circuit = Circuit(REALS, (pair(correlation),))
    law = stats.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]])
    expected = float(law.cdf([1.0, 2.0], lower_limit=[-1.0, 0.5]))
    box = {"a": Region.between(-1, 1), "b": Region.between(0.5, 2)}
    assert math.exp(log_probability(circuit, box)) == pytest.approx(expected, rel=1e-4)
    # unions add up
    halves = {"a": Region.between(-1, -0.25) | Region.between(0.125, 1), "b": box["b"]}
    parts = [{"a": Region.between(*ends), "b": box["b"]} for ends in ((-1, -0.25), (0.125, 1))]
    total = sum(math.exp(log_probability(circuit, part)) for part in parts)
    assert math.exp(log_probability(circuit, halves)) == pytest.approx(total, rel=1e-4)


def test_probability_of_whole_numbers_is_half_a_step_on_either_side() -> None:
    circuit = Circuit((Integer("n", 0, 9),), (GaussianBlock((0,), (Warp.identity(-0.5, 9.5),), (4.0,), ((1.5,),)),))
    logs = [log_probability(circuit, {"n": Region.points([float(n)])}) for n in range(10)]
    assert math.fsum(np.exp(logs)) == pytest.approx(1, abs=1e-12)
    assert circuit.check().inside == pytest.approx(1, abs=1e-12)


# -- moments, samples -------------------------------------------------------------------------------------------------


def test_moments_without_warps_are_the_parameters() -> None:
    block = GaussianBlock((0, 1), (PLAIN, PLAIN), (0.5, -1.0), ((1.0,), (0.8, 0.6)))
    of = moments(Circuit(REALS, (block,)))
    np.testing.assert_allclose(of.mean, block.mean, atol=1e-12)
    np.testing.assert_allclose(of.covariance, block.covariance, atol=1e-12)


@settings(deadline=None, max_examples=20)
@given(st.data())
def test_moments_are_those_of_samples(data: st.DataObject) -> None:
    circuit = data.draw(strategies.block_circuits(real=True, closed=True, discrete=False, floors=(1e-300,)))
    count = 40_000
    rows = sample_rows(_unbounded(circuit), count, np.random.default_rng(1))
    of = moments(circuit)
    deviation = np.maximum(np.sqrt(np.diag(of.covariance)), 1e-12)
    away = (rows - of.mean) / deviation
    assert np.abs(away.mean(axis=0)).max() < 6 / math.sqrt(count)
    products = away[:, :, None] * away[:, None, :] - of.correlation
    assert (np.abs(products.mean(axis=0)) < 6 * products.std(axis=0) / math.sqrt(count) + 1e-3).all()


def _unbounded(circuit: Circuit) -> Circuit:
    """The same densities over features without bounds to be clipped to."""
    features = [Continuous(feature.name, -1e6, 1e6) for feature in circuit.features]
    return Circuit(tuple(features), circuit.nodes, None, circuit.floor)


@given(st.data())
def test_samples_of_blocks_are_values(data: st.DataObject) -> None:
    features = [data.draw(strategies.number_features(f"x{j}", codes=True)) for j in range(3)]
    circuit = Circuit(tuple(features), (data.draw(strategies.blocks(features, (0, 1, 2))),))
    rows = circuit.encode(sample(circuit, 50))
    for j, feature in enumerate(circuit.variables):
        assert feature.fits(rows[:, j]).all()


# -- circuits made of circuits ----------------------------------------------------------------------------------------


@given(st.data())
def test_marginals_and_conditionals(data: st.DataObject) -> None:
    circuit = data.draw(strategies.block_circuits(codes=True, least=2, floors=(1e-300,)))
    rows = sample_rows(circuit, 5, np.random.default_rng(0))
    kept = circuit.names[1:]
    unknown = rows.copy()
    unknown[:, 0] = np.nan
    whole = log_likelihood(circuit, unknown)
    np.testing.assert_allclose(log_likelihood(marginal(circuit, kept), rows[:, 1:]), whole, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(log_likelihood(merged(circuit), rows), log_likelihood(circuit, rows), rtol=1e-9, atol=1e-9)
    given_first = np.full_like(rows[:1], np.nan)
    given_first[0, 0] = rows[0, 0]
    if log_likelihood(circuit, given_first)[0] > -100:  # far outside, the floor is no density
        rest = conditional(circuit, {circuit.names[0]: circuit.variables[0].value(rows[0, 0])})
        quotient = log_likelihood(circuit, rows[:1]) - log_likelihood(circuit, given_first)
        if quotient[0] > -100:
            np.testing.assert_allclose(log_likelihood(rest, rows[:1, 1:]), quotient, rtol=1e-6, atol=1e-6)


@settings(deadline=None)
@given(st.data())
def test_completions_are_values_and_no_sampled_one_is_above_the_bound(data: st.DataObject) -> None:
    circuit = data.draw(strategies.block_circuits(codes=True))
    row = rows_in(circuit, {}, np.random.default_rng(2), 1)
    row[0, :: data.draw(st.integers(1, 2))] = np.nan
    done = complete(circuit, row)
    assert not np.isnan(done.rows).any()
    assert all(feature.fits(done.rows[:, j]).all() for j, feature in enumerate(circuit.variables))
    others = np.where(np.isnan(row), rows_in(circuit, {}, np.random.default_rng(3), 500), row)
    assert log_likelihood(circuit, others).max() <= done.upper[0] + 1e-9
    assert done.log_likelihood[0] <= done.upper[0] + 1e-9


def test_the_completion_of_a_gaussian_is_its_conditional_mean() -> None:
    done = complete(Circuit(REALS, (pair(0.8),)), np.array([[1.5, np.nan]]))
    assert done.rows[0, 1] == pytest.approx(0.8 * 1.5, abs=1e-9)
    assert done.upper[0] == pytest.approx(done.log_likelihood[0], abs=1e-6)


def test_refining_moves_weights_and_keeps_blocks() -> None:
    wide = (Histogram(0, (-5.0, 5.0), (0.1,)), Histogram(1, (-5.0, 5.0), (0.1,)))
    circuit = Circuit(REALS, (pair(0.9), *wide, Product((1, 2)), Sum((0, 3), (0.1, 0.9))))
    rows = sample_rows(Circuit(REALS, (pair(0.9),)), 500, np.random.default_rng(0))
    refined = refine(circuit, rows, rounds=10)
    assert refined.nodes[0] == circuit.nodes[0]
    assert log_likelihood(refined, rows).mean() > log_likelihood(circuit, rows).mean() + 0.3
