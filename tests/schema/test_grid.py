"""Grid arithmetic: a multiple of a step is itself, however it was computed, and nothing else is."""

from __future__ import annotations

import numpy as np
import pytest

from likely.schema.grid import DOUBLES, SINGLES, first_place, holds_multiple, is_multiple, multiples, slack, snap, steps_below
from likely.schema.region import above, below
from likely.schema.values import LARGEST
from tests.oracles import circuits as oracle

GRIDS = [1.0, 0.01, 0.1, 0.25, 1 / 3, 2.5, 3.0]
PLACES = [*range(-40, 41), 12345, 10**7]


@pytest.mark.parametrize("grid", GRIDS)
def test_steps_below_a_multiple_written_in_any_way(grid: float) -> None:
    for k in [*range(-40, 41), 12345, 10**7]:
        ways = np.array([k * grid, oracle.multiple(k, grid), float(f"{k * grid:.15g}") if grid != 1 / 3 else k * grid])
        assert steps_below(ways, grid).tolist() == [k] * 3
        between = np.array([(k - 0.5) * grid, (k - 0.1) * grid])
        assert steps_below(between, grid).tolist() == [k] * 2


def test_steps_below_whole_numbers_is_exact_however_large() -> None:
    numbers = np.array([2.0**51 + 0.5, 2.0**51, above(2.0**51), 1e300, -1e300, -np.inf, np.inf])
    assert steps_below(numbers, 1.0).tolist() == [2.0**51 + 1, 2.0**51, 2.0**51 + 1, 1e300, -1e300, -LARGEST, LARGEST]


@pytest.mark.parametrize("grid", GRIDS)
def test_multiples_are_written_in_one_way(grid: float) -> None:
    written = multiples(np.array(PLACES, dtype=np.float64), grid)
    assert written.tolist() == [oracle.multiple(k, grid) for k in PLACES]
    assert snap(written, grid).tolist() == written.tolist()


@pytest.mark.parametrize("grid", GRIDS)
def test_the_first_place_is_exact(grid: float) -> None:
    for k in PLACES:
        value = oracle.multiple(k, grid)
        assert first_place(np.array([below(value), value, above(value)]), grid).tolist() == [k, k, k + 1]


@pytest.mark.parametrize("grid", [0.01, 0.1, 1 / 3, 2.5])
@pytest.mark.parametrize("relative", [DOUBLES, SINGLES])
def test_what_counts_as_a_multiple(grid: float, relative: float) -> None:
    for k in (1, 7, 12345):
        near, far = (np.array([k * grid * (1 + sign * share * relative) for sign in (-1, 1)]) for share in (0.9, 1.2))
        assert is_multiple(near, grid, relative).all()
        assert not is_multiple(far, grid, relative).any()
        assert holds_multiple(near[1], (k + 0.4) * grid, grid, relative)
        assert not holds_multiple(far[1], (k + 0.4) * grid, grid, relative)


def test_singles_are_multiples_of_their_step() -> None:
    cents = np.arange(-20_000, 20_000) / 100
    assert is_multiple(cents.astype(np.float32).astype(np.float64), 0.01, SINGLES).all()
    assert not is_multiple(cents.astype(np.float32).astype(np.float64), 0.01, DOUBLES).all()


def test_the_slack_grows_with_the_place_up_to_a_quarter_of_a_step() -> None:
    assert slack([0, 1, -1000, 1e12], 0.01, SINGLES).tolist() == [1e-6, 1e-6, 1e-3, 0.25]
    assert slack([0, 1, -1000, 1e12], 1.0, SINGLES).tolist() == [0, 0, 0, 0], "whole numbers are exact"
