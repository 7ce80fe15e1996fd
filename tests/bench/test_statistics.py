"""Friedman and Nemenyi, against scipy and the published table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from likely.bench import statistics
from likely.errors import ProblemError

#: Demšar (2006), Table 5: critical values of the two-tailed Nemenyi test for 2 to 10 methods.
PUBLISHED = {
    0.05: (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164),
    0.10: (1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920),
}


@pytest.mark.parametrize("level", PUBLISHED)
def test_critical_values_are_the_published_ones(level: float) -> None:
    found = [statistics.critical_value(methods, level) for methods in range(2, 11)]
    assert found == pytest.approx(PUBLISHED[level], abs=0.0015)  # the table has three decimals, one of them off by one


def test_critical_difference_of_demsar() -> None:
    """His example: four classifiers on fourteen data sets."""
    assert statistics.critical_difference(4, 14) == pytest.approx(1.25, abs=0.01)


@given(st.integers(3, 12), st.integers(3, 6), st.integers(0, 2**32 - 1))
def test_friedman_is_that_of_scipy(rows: int, columns: int, seed: int) -> None:
    scores = np.random.default_rng(seed).integers(0, 4, (rows, columns)).astype(float)  # many ties
    assume((scores != scores[:, :1]).any())
    expected = stats.friedmanchisquare(*scores.T)
    assert statistics.friedman(scores) == pytest.approx((expected.statistic, expected.pvalue))


def test_nothing_differs() -> None:
    assert statistics.friedman(np.ones((4, 3))) == (0.0, 1.0)


def test_no_answer_is_last() -> None:
    ranks = statistics.ranks_of(np.array([[1.0, np.nan, 0.5], [np.nan, np.nan, 2.0]]))
    assert ranks.tolist() == [[2, 3, 1], [2.5, 2.5, 1]]


def test_groups_are_the_largest_that_cannot_be_told_apart() -> None:
    found = statistics.Comparison(("d", "a", "c", "b"), (4.0, 1.0, 2.6, 1.9), 20, 1.0, 0.01, 1.0)
    assert found.groups() == [("a", "b"), ("b", "c")]
    apart = statistics.Comparison(("a", "b"), (1.0, 2.0), 20, 1.0, 0.01, 0.5)
    assert apart.groups() == []


def test_comparison_and_common_factuals() -> None:
    scores = pd.DataFrame({"a": [1.0, 1, 1, 1], "b": [2.0, 2, np.nan, 2], "c": [np.nan, np.nan, np.nan, 3]})
    found = statistics.compare(scores)
    assert found.ranks == (1.0, pytest.approx((2 + 2 + 2.5 + 2) / 4), pytest.approx((3 + 3 + 2.5 + 3) / 4))
    shared = statistics.common(scores, least=0.5)
    assert list(shared.columns) == ["a", "b"]
    assert len(shared) == 3
    with pytest.raises(ProblemError, match="two methods"):
        statistics.compare(scores[["a"]])
