"""What an audit may conclude from a sample: intervals of shares and medians, tests of whether groups differ, corrected.

Shares have Wilson's score interval ("Probable inference, the law of succession, and statistical inference", JASA 1927), medians
the interval between two order statistics, which holds for any distribution. Whether groups differ in a share is tested by
chi-square; where fewer than five are expected in some cell, by Fisher's exact test (two groups) or by shuffling the rows
(more). Whether they differ in a number is tested by ranks: Mann-Whitney (two groups), Kruskal-Wallis (more). Holm's correction
("A simple sequentially rejective multiple test procedure", 1979) makes up for testing several things at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: How sure an interval is, and the quantile of the normal distribution that belongs to it.
CONFIDENCE, _Z = 0.95, 1.959963984540054
#: The "test" of what is the same in all groups.
ALIKE = "all are the same"
#: With fewer expected in a cell than this, chi-square is not used.
_LEAST_EXPECTED = 5.0
#: How often rows are shuffled, and the seed of it.
_SHUFFLES, _SEED = 9_999, 0


@dataclass(frozen=True)
class Share:
    """A part of some rows, and between what the share of all rows like them lies (95 %, Wilson)."""

    count: int
    of: int
    low: float
    high: float

    @classmethod
    def counted(cls, count: int, of: int) -> Share:
        """The share of a count.

        Args:
            count: How many are so.
            of: Of how many.
        """
        return cls(count, of, *wilson(count, of))

    @property
    def value(self) -> float:
        """The share itself; NaN of no rows."""
        return self.count / self.of if self.of else math.nan

    def __str__(self) -> str:
        if not self.of:
            return "-"
        return f"{100 * self.value:.1f}% ({100 * self.low:.1f} to {100 * self.high:.1f})"


@dataclass(frozen=True)
class Difference:
    """Whether groups differ in one thing: the test, and how probable a difference as great is if they do not."""

    measure: str
    test: str
    statistic: float
    #: As the test gives it, and as Holm's correction leaves it for all the tests of an audit.
    p: float
    corrected: float
    #: The groups with the least and the greatest value, with these.
    least: tuple[str, float]
    greatest: tuple[str, float]


def wilson(count: int, of: int) -> tuple[float, float]:
    """Between what a share lies of which a sample is known: Wilson's score interval at 95 %.

    Args:
        count: How many of the sample are so.
        of: The size of the sample; of none, everything between 0 and 1.
    """
    if of == 0:
        return 0.0, 1.0
    share, z2 = count / of, _Z * _Z
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    half = _Z / (1 + z2 / of) * math.sqrt(share * (1 - share) / of + z2 / (4 * of * of))
    low = 0.0 if count == 0 else max(0.0, middle - half)  # exactly at the ends, where rounding would miss them
    high = 1.0 if count == of else min(1.0, middle + half)
    return low, high


def median_interval(numbers: Sequence[float]) -> tuple[float, float] | None:
    """Between what the median lies of which a sample is known, at 95 % at least; None of fewer than six numbers.

    The r-th least and the r-th greatest number, with the greatest r for which the median lies below the one or above the other
    with a probability of at most 5 %, whatever the distribution: 2 P(Binomial(n, 1/2) < r) <= 5 %.

    Args:
        numbers: The sample, in any order.
    """
    from scipy.special import bdtr

    count = len(numbers)
    places = np.arange(1, count // 2 + 1)
    fitting = places[2 * bdtr(places - 1, count, 0.5) <= 1 - CONFIDENCE]
    if not len(fitting):
        return None
    ordered = np.sort(np.asarray(numbers, dtype=np.float64))
    return float(ordered[fitting[-1] - 1]), float(ordered[-fitting[-1]])


def share_difference(measure: str, groups: Sequence[tuple[str, Share]]) -> Difference | None:
    """Whether groups differ in a share; None where there is nothing to compare.

    Args:
        measure: What is compared.
        groups: The name and the share of each.
    """
    known = [(name, share) for name, share in groups if share.of]
    if len(known) < 2:
        return None
    table = np.array([[share.count, share.of - share.count] for _, share in known])
    test, statistic, p = _share_test(table)
    return _difference(measure, test, statistic, p, [(name, share.value) for name, share in known])


def number_difference(measure: str, groups: Sequence[tuple[str, Sequence[float]]]) -> Difference | None:
    """Whether groups differ in a number, by ranks; None where there is nothing to compare.

    Args:
        measure: What is compared.
        groups: The name and the numbers of each.
    """
    from scipy.stats import kruskal, mannwhitneyu

    known = [(name, np.asarray(numbers, dtype=np.float64)) for name, numbers in groups if len(numbers)]
    if len(known) < 2:
        return None
    medians = [(name, float(np.median(numbers))) for name, numbers in known]
    samples = [numbers for _, numbers in known]
    if len(np.unique(np.concatenate(samples))) == 1:
        return _difference(measure, ALIKE, 0.0, 1.0, medians)
    two = len(samples) == 2
    result = mannwhitneyu(*samples, alternative="two-sided") if two else kruskal(*samples)
    return _difference(measure, "Mann-Whitney" if two else "Kruskal-Wallis", float(result[0]), float(result[1]), medians)


def corrected(differences: Sequence[Difference]) -> tuple[Difference, ...]:
    """The tests with Holm's correction for their number, in the same order.

    Args:
        differences: All tests that are looked at together.
    """
    order = sorted(range(len(differences)), key=lambda i: differences[i].p)
    most, by_place = 0.0, dict[int, float]()
    for rank, place in enumerate(order):
        most = max(most, min(1.0, (len(differences) - rank) * differences[place].p))
        by_place[place] = most
    return tuple(
        Difference(each.measure, each.test, each.statistic, each.p, by_place[i], each.least, each.greatest)
        for i, each in enumerate(differences)
    )


def _difference(measure: str, test: str, statistic: float, p: float, values: Sequence[tuple[str, float]]) -> Difference:
    least, greatest = min(values, key=lambda value: value[1]), max(values, key=lambda value: value[1])
    return Difference(measure, test, statistic, p, p, least, greatest)


def _share_test(table: NDArray[np.int_]) -> tuple[str, float, float]:
    """The test of a table of groups x (so, not so): its name, its statistic, its p-value."""
    from scipy.stats import chi2_contingency, fisher_exact

    if (table.sum(axis=0) == 0).any():
        return ALIKE, 0.0, 1.0
    expected = _expected(table)
    if expected.min() >= _LEAST_EXPECTED:
        result = chi2_contingency(table, correction=False)
        return "chi-square", float(result[0]), float(result[1])
    if len(table) == 2:
        odds, p = fisher_exact(table)
        return "Fisher", float(odds), float(p)
    return "chi-square of shuffled rows", *_shuffled(table)


def _expected(table: NDArray[np.int_]) -> NDArray[np.float64]:
    return np.asarray(np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum(), dtype=np.float64)


def _shuffled(table: NDArray[np.int_]) -> tuple[float, float]:
    """The chi-square of a table, and the share of tables with its margins, drawn at random, that are at least as far off."""
    sizes, count = table.sum(axis=1), int(table[:, 0].sum())
    expected = _expected(table)

    def far(so: NDArray[np.int_]) -> NDArray[np.float64]:
        off = (so - expected[:, 0]) ** 2
        return np.asarray((off / expected[:, 0] + off / expected[:, 1]).sum(axis=-1))

    here = float(far(table[:, 0]))
    drawn = np.random.default_rng(_SEED).multivariate_hypergeometric(sizes, count, size=_SHUFFLES)
    # tables that are as far off as this one differ from it by rounding at most
    beyond = int((far(drawn) >= here * (1 - 1e-9)).sum())
    return here, (1 + beyond) / (1 + _SHUFFLES)
