"""Warps: increasing, onto the reals, with the slope they say, and monotone pieces."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.circuit import Warp
from likely.errors import CircuitError
from tests import strategies
from tests.oracles.blocks import warp_at
from tests.oracles.circuits import assert_close

WARPS = strategies.warps(-2.0, 7.0)


def inside(warp: Warp, shares: np.ndarray) -> np.ndarray:
    """Numbers of the domain, by their share of it or of a wide part of it."""
    low, high = (end if math.isfinite(end) else far for end, far in ((warp.lower, -30.0), (warp.upper, 30.0)))
    return low + shares * (high - low)


@given(WARPS, strategies.generators())
def test_values_and_slopes_are_the_formulas(warp: Warp, rng: np.random.Generator) -> None:
    x = np.concatenate([inside(warp, rng.uniform(-0.2, 1.2, 50)), warp.knots])
    expected = np.array([warp_at(warp, float(v)) for v in x])
    within = expected[:, 1] > 0
    assert_close(warp(x)[within], expected[within, 0])
    assert_close(np.exp(warp.log_slope(x)), expected[:, 1])
    assert np.isinf(warp(x)[~within]).all()


@given(WARPS, strategies.generators())
def test_the_inverse_takes_back(warp: Warp, rng: np.random.Generator) -> None:
    x = inside(warp, rng.uniform(1e-6, 1 - 1e-6, 100))
    np.testing.assert_allclose(warp.inverse(warp(x)), x, rtol=1e-9, atol=1e-9)
    z = rng.normal(0, 5, 100)
    back = warp.inverse(z)
    assert ((warp.lower < back) & (back < warp.upper)).all()
    ends = (warp.lower, warp.upper)
    apart = np.min([np.abs(back - end) for end in ends], axis=0) > 1e-6  # nearer, a double has too few digits
    np.testing.assert_allclose(warp(back)[apart], z[apart], rtol=1e-6, atol=1e-6)


@given(WARPS, strategies.generators())
def test_a_warp_increases(warp: Warp, rng: np.random.Generator) -> None:
    x = np.sort(inside(warp, rng.uniform(1e-6, 1 - 1e-6, 200)))
    assert (np.diff(warp(x)) >= 0).all()


@given(WARPS, st.floats(-5, 5))
def test_pieces_are_monotone(warp: Warp, price: float) -> None:
    """g T(x) + log T'(x) goes one way between neighbouring knots and in the tails, so that its extremes are at ends."""
    low, high = inside(warp, np.array([1e-9, 1 - 1e-9]))
    marks = [low, *warp.knots, high]
    for first, last in pairwise(marks):
        x = np.linspace(first, last, 50)[1:-1]
        steps = np.diff(price * warp(x) + warp.log_slope(x))
        assert (steps >= -1e-9).all() or (steps <= 1e-9).all()


@given(WARPS)
def test_plain_data_and_back(warp: Warp) -> None:
    assert Warp.from_dict(warp.to_dict()) == warp


@pytest.mark.parametrize(
    ("lower", "upper"), [(-math.inf, math.inf), (3.0, math.inf), (-math.inf, -3.0), (2.0, 4.0)]
)  # fmt: skip
def test_identity_changes_nothing_between_its_knots(lower: float, upper: float) -> None:
    warp = Warp.identity(lower, upper)
    x = np.linspace(*warp.knots, 11)
    assert_close(warp(x), x)
    if math.isinf(lower) and math.isinf(upper):
        assert_close(warp([-1e6, 1e6]), [-1e6, 1e6])


@pytest.mark.parametrize(
    ("knots", "values", "ends", "message"),
    [
        ((0,), (0,), {}, "A warp must have at least two knots and a value for each; got 1 knots and 1 values"),
        ((0, 1), (0, 1, 2), {}, "A warp must have at least two knots and a value for each; got 2 knots and 3 values"),
        ((0, 0), (0, 1), {}, "The knots and values of a warp must increase, with slopes that are positive doubles"),
        ((0, 1), (1, 0), {}, "The knots and values of a warp must increase, with slopes that are positive doubles"),
        ((0, 5e-324), (0, 1e300), {}, "The knots and values of a warp must increase, with slopes that are positive doubles"),
        ((0, 1), (0, 1), {"lower": 0}, "The knots of a warp must lie inside its domain"),
        ((0, 1), (0, 1), {"upper": math.nan}, "The knots of a warp must lie inside its domain"),
        ((0, math.inf), (0, 1), {}, "The knots of a warp must be finite"),
        (("a", 1), (0, 1), {}, "The knots of a warp must be numbers"),
    ],
)
def test_refusals(knots: Any, values: Any, ends: Any, message: str) -> None:
    with pytest.raises(CircuitError) as caught:
        Warp(knots, values, **ends)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("data", [None, {}, {"knots": [0, 1], "values": [0, 1], "lower": None}])
def test_data_that_is_no_warp(data: Any) -> None:
    with pytest.raises(CircuitError, match="A warp's data must have knots, lower, upper, values"):
        Warp.from_dict(data)
