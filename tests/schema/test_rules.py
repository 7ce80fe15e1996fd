"""Linear rules are tested as they are written: exactly over whole numbers, and up to rounding over others."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.schema import Integer, LinearConstraint, Schema
from likely.schema.rules import LinearRow


@given(
    st.lists(st.tuples(st.integers(-(10**4), 10**4), st.integers(-(2**52), 2**52)), min_size=1, max_size=6),
    st.integers(-1, 1),
)
def test_whole_numbers_are_exact(terms: list[tuple[int, int]], more: int) -> None:
    upper = sum(a * x for a, x in terms) + more
    rule = LinearRow(tuple(range(len(terms))), tuple(float(a) for a, _ in terms), float(upper))
    row = np.array([[float(x) for _, x in terms]])
    assert rule.satisfied(row)[0] == (sum(a * x for a, x in terms) <= int(float(upper)))


doubles = st.floats(-1e12, 1e12, allow_subnormal=False)


@given(st.lists(st.tuples(doubles, doubles), min_size=1, max_size=6), doubles)
def test_other_numbers_may_miss_by_rounding_alone(terms: list[tuple[float, float]], upper: float) -> None:
    rule = LinearRow(tuple(range(len(terms))), tuple(a for a, _ in terms), upper)
    row = np.array([[x for _, x in terms]])
    excess = sum((Fraction(a) * Fraction(x) for a, x in terms), Fraction(0)) - Fraction(upper)
    slack = Fraction(float(rule.slack(float(sum(abs(a * x) for a, x in terms)))))
    if excess <= 0:
        assert rule.satisfied(row)[0]
    if excess > slack * (1 + Fraction(1, 10**12)):
        assert not rule.satisfied(row)[0]


def test_decimals_keep_the_rule_that_they_keep_on_paper() -> None:
    rule = LinearRow((0, 1, 2), (1.0, 1.0, -1.0), 0.0)
    assert rule.satisfied(np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3 - 1e-12]])).tolist() == [True, False]


@pytest.mark.parametrize("origin", [0, 1_700_000_000, 1_700_000_000_000])
def test_two_seconds_too_late_is_too_late(origin: int) -> None:
    rule = LinearConstraint.ordered("start", "end")
    schema = Schema((Integer("start", origin, origin + 20), Integer("end", origin, origin + 20)), (rule,))
    factual = {"start": origin + 8, "end": origin + 11}
    for start in range(21):
        row = {"start": origin + start, "end": origin + 11}
        assert rule.holds(factual, row, schema) == (start <= 11)
        assert bool(schema.violations(factual, row)) == (start > 11)
