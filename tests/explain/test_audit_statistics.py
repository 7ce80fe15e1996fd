"""Intervals and tests of an audit against known values, scipy's own and enumeration."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2_contingency, fisher_exact, kruskal, mannwhitneyu

from likely.explain.audit_statistics import (
    Difference,
    Share,
    corrected,
    median_interval,
    number_difference,
    share_difference,
    wilson,
)


def test_wilson_at_known_values() -> None:
    """Those of Brown, Cai and DasGupta (2001) and of Newcombe (1998)."""
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(15, 148) == pytest.approx((0.0624, 0.1605), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert wilson(1, 29) == pytest.approx((0.0061, 0.1718), abs=5e-5)
    assert wilson(0, 0) == (0.0, 1.0)


@given(st.integers(1, 500).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_wilson_is_scipys(pair: tuple[int, int]) -> None:
    interval = binomtest(*pair).proportion_ci(method="wilson")
    assert wilson(*pair) == pytest.approx((interval.low, interval.high), abs=1e-12)


@given(st.integers(1, 60))
def test_the_interval_of_a_median_is_the_narrowest_that_is_sure_enough(count: int) -> None:
    """Its places by the definition: the probability that fewer than r of n coins show heads."""
    tail = [2 * sum(comb(count, i) for i in range(r)) / 2**count for r in range(count // 2 + 2)]
    fitting = [r for r in range(1, count // 2 + 1) if tail[r] <= 0.05]
    numbers = np.random.default_rng(count).permutation(count) + 1.0
    expected = (float(fitting[-1]), float(count + 1 - fitting[-1])) if fitting else None
    assert median_interval(list(numbers)) == expected


def test_the_interval_of_a_median_at_known_values() -> None:
    """The tables of order statistics: 2nd and 9th of 10, 6th and 15th of 20."""
    assert median_interval(list(range(1, 11))) == (2.0, 9.0)
    assert median_interval(list(range(1, 21))) == (6.0, 15.0)
    assert median_interval([1.0] * 5) is None


def shares(*pairs: tuple[int, int]) -> list[tuple[str, Share]]:
    return [(f"group {i}", Share.counted(*pair)) for i, pair in enumerate(pairs)]


def test_tests_of_shares() -> None:
    many = share_difference("x", shares((30, 60), (40, 60), (20, 60)))
    assert many is not None
    assert (many.test, many.p) == ("chi-square", pytest.approx(chi2_contingency([[30, 30], [40, 20], [20, 40]])[1]))
    assert (many.least, many.greatest) == (("group 2", pytest.approx(1 / 3)), ("group 1", pytest.approx(2 / 3)))
    few = share_difference("x", shares((1, 9), (7, 8)))
    assert few is not None
    assert (few.test, few.p) == ("Fisher", pytest.approx(fisher_exact([[1, 8], [7, 1]])[1]))
    alike = share_difference("x", shares((0, 9), (0, 8)))
    assert alike is not None
    assert alike.p == 1.0
    assert share_difference("x", shares((3, 9), (0, 0))) is None


def test_shuffled_rows_are_the_exact_test() -> None:
    """Of three small groups: every way in which so many of all rows may fall on them."""
    counts, sizes = (4, 0, 1), (5, 4, 6)
    found = share_difference("x", shares(*zip(counts, sizes, strict=True)))
    total, rows = sum(counts), sum(sizes)

    def far(drawn: tuple[int, ...]) -> float:
        expected = [size * total / rows for size in sizes]
        return sum((x - e) ** 2 * (1 / e + 1 / (s - e)) for x, e, s in zip(drawn, expected, sizes, strict=True))

    tables = [drawn for drawn in product(*(range(size + 1) for size in sizes)) if sum(drawn) == total]
    ways = {drawn: np.prod([comb(size, x) for size, x in zip(sizes, drawn, strict=True)]) for drawn in tables}
    exact = sum(count for drawn, count in ways.items() if far(drawn) >= far(counts) - 1e-12) / comb(rows, total)
    assert found is not None
    assert found.test == "chi-square of shuffled rows"
    assert found.p == pytest.approx(exact, abs=0.01)


def test_tests_of_numbers() -> None:
    a, b, c = [1.0, 2.0, 5.0, 4.0], [3.0, 7.0, 8.0, 9.0], [2.0, 2.0, 2.5]
    two, three = number_difference("x", [("a", a), ("b", b)]), number_difference("x", [("a", a), ("b", b), ("c", c), ("d", [])])
    assert two is not None
    assert (two.test, two.p) == ("Mann-Whitney", pytest.approx(mannwhitneyu(a, b).pvalue))
    assert three is not None
    assert (three.test, three.p) == ("Kruskal-Wallis", pytest.approx(kruskal(a, b, c).pvalue))
    assert (three.least[0], three.greatest[0]) == ("c", "b")
    alike = number_difference("x", [("a", [1.0, 1.0]), ("b", [1.0])])
    assert alike is not None
    assert alike.p == 1.0


def test_correction_at_known_values() -> None:
    """The example of Holm's procedure: 0.01, 0.04, 0.03, 0.005 become 0.03, 0.06, 0.06, 0.02."""
    tests = [Difference("x", "t", 0.0, p, p, ("a", 0.0), ("b", 1.0)) for p in (0.01, 0.04, 0.03, 0.005)]
    assert [test.corrected for test in corrected(tests)] == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert corrected([]) == ()
