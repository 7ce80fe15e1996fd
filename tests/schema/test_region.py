"""Sets of doubles: their algebra against membership, point by point."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.errors import SchemaError
from likely.schema.region import EVERYTHING, NOTHING, Region, above, below

ENDS = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(allow_nan=False),
    st.sampled_from([math.inf, -math.inf, 0.0, -0.0, 5e-324, -5e-324, 1.7976931348623157e308]),
)
REGIONS = st.lists(st.tuples(ENDS, ENDS), max_size=9).map(lambda pairs: Region(tuple(pairs)))


def witnesses(*regions: Region) -> np.ndarray:
    """Every end of every interval, and its neighbours."""
    ends = [end for region in regions for interval in region.intervals for end in interval]
    ends += [0.0, -0.0, math.inf, -math.inf, 1.5]
    return np.array([point for end in ends for point in (end, above(end), below(end))])


def inside(region: Region, points: np.ndarray) -> list[bool]:
    return [point in region for point in points.tolist()]


@given(REGIONS, REGIONS)
def test_algebra_is_that_of_sets(a: Region, b: Region) -> None:
    points = witnesses(a, b)
    in_a, in_b = inside(a, points), inside(b, points)
    assert inside(~a, points) == [not x for x in in_a]
    assert inside(a | b, points) == [x or y for x, y in zip(in_a, in_b, strict=True)]
    assert inside(a & b, points) == [x and y for x, y in zip(in_a, in_b, strict=True)]
    assert inside(a - b, points) == [x and not y for x, y in zip(in_a, in_b, strict=True)]


@given(REGIONS)
def test_one_set_is_written_in_one_way(a: Region) -> None:
    assert ~~a == a
    assert a | a == a & a == a
    assert a | ~a == EVERYTHING
    assert a & ~a == a - a == NOTHING
    assert Region(tuple(reversed(a.intervals))) == a
    assert hash(Region(a.intervals)) == hash(a)
    for (_, high), (low, _) in zip(a.intervals, a.intervals[1:], strict=False):
        assert above(high) < low


@given(REGIONS)
def test_contains_is_membership_of_many(a: Region) -> None:
    points = witnesses(a)
    assert a.contains(points).tolist() == inside(a, points)
    assert not a.contains(np.array([math.nan])).any()


@given(st.lists(ENDS, max_size=4))
def test_points_hold_just_these(points: list[float]) -> None:
    region = Region.points(points)
    assert all((point in region) == (point in points) for point in witnesses(region).tolist())


@given(REGIONS)
def test_lowest_and_highest(a: Region) -> None:
    if a.empty:
        assert (a.low, a.high) == (math.inf, -math.inf)
    else:
        assert a.low in a
        assert a.high in a
        assert a.low == a.intervals[0][0]
        assert a.high == a.intervals[-1][1]


def test_both_zeros_are_one_value() -> None:
    assert -0.0 in Region.points([0.0])
    assert Region.points([-0.0]) == Region.points([0.0])
    assert -0.0 not in ~Region.points([0.0])


def test_an_interval_the_wrong_way_round_is_empty() -> None:
    assert Region.between(2, 1) == NOTHING
    assert NOTHING.empty
    assert not EVERYTHING.empty


def test_neighbouring_doubles_join() -> None:
    assert Region(((0.0, 1.0), (above(1.0), 2.0))) == Region.between(0.0, 2.0)


@pytest.mark.parametrize("interval", [(math.nan, 1.0), (0.0, math.nan)])
def test_nan_is_no_end(interval: tuple[float, float]) -> None:
    with pytest.raises(
        SchemaError, match=r"An interval of a region must have two numbers as ends; got .*nan.*\. Hint: drop the NaN\."
    ):
        Region((interval,))
