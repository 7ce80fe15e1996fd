"""Whether methods differ: ranks, the test of Friedman, and that of Nemenyi.

J. Demšar, Statistical comparisons of classifiers over multiple data sets, Journal of Machine Learning Research 7, 2006.

A table of scores has a row per factual and a column per method; less is better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from likely.errors import ProblemError
from likely.schema.values import Numbers


@dataclass(frozen=True)
class Comparison:
    """What the tests say of methods on the same factuals."""

    methods: tuple[str, ...]
    #: The mean rank of each method, 1 for the best.
    ranks: tuple[float, ...]
    factuals: int
    #: The statistic of Friedman, chi-squared with one degree less than methods, and how probable a greater one is by chance.
    statistic: float
    p_value: float
    #: Mean ranks that are further apart than this differ, by the test of Nemenyi at `level`.
    critical_difference: float
    level: float = 0.05

    def groups(self) -> list[tuple[str, ...]]:
        """Methods that cannot be told apart, best first: every largest group whose ranks lie within the critical difference."""
        order = np.argsort(self.ranks, kind="stable")
        ranks = np.array(self.ranks)[order]
        found: list[tuple[str, ...]] = []
        reached = 0
        for first in range(len(order)):
            last = int(np.searchsorted(ranks, ranks[first] + self.critical_difference, side="right"))
            if last > reached and last - first > 1:
                found.append(tuple(self.methods[place] for place in order[first:last]))
            reached = max(reached, last)
        return found


def ranks_of(scores: Numbers) -> Numbers:
    """The rank of each method for each factual, 1 for the least score; equal ones share the mean of their ranks.

    Args:
        scores: A row per factual, a column per method; NaN, for no answer, is worse than any number.
    """
    from scipy.stats import rankdata

    return np.asarray(rankdata(np.where(np.isnan(scores), np.inf, scores), axis=1), dtype=np.float64)


def friedman(scores: Numbers) -> tuple[float, float]:
    """The statistic of Friedman's test, corrected for ties, and its p-value: do methods differ at all?

    Args:
        scores: A row per factual, a column per method.
    """
    from scipy.stats import chi2

    ranks = ranks_of(scores)
    rows, columns = ranks.shape
    spread = ((ranks - (columns + 1) / 2) ** 2).sum()
    if spread == 0:  # nothing differs anywhere
        return 0.0, 1.0
    between = rows * ((ranks.mean(axis=0) - (columns + 1) / 2) ** 2).sum()
    statistic = float(rows * (columns - 1) * between / spread)
    return statistic, float(chi2.sf(statistic, columns - 1))


def critical_difference(methods: int, factuals: int, level: float = 0.05) -> float:
    """How far mean ranks must be apart to differ, by the test of Nemenyi: q * sqrt(k * (k + 1) / (6 * N)).

    Args:
        methods: k, at least two.
        factuals: N.
        level: The probability that any two of equal methods are told apart.
    """
    return critical_value(methods, level) * float(np.sqrt(methods * (methods + 1) / (6 * factuals)))


def critical_value(methods: int, level: float = 0.05) -> float:
    """q: the quantile of the studentized range over infinitely many degrees of freedom, divided by the root of 2.

    Args:
        methods: How many are compared, at least two.
        level: The probability that any two of equal methods are told apart.
    """
    from scipy.stats import studentized_range

    return float(studentized_range.ppf(1 - level, methods, np.inf) / np.sqrt(2))


def compare(scores: pd.DataFrame, level: float = 0.05) -> Comparison:
    """Ranks and tests of methods; where a method has no answer, it is last.

    Args:
        scores: A row per factual, a column per method; less is better, NaN is no answer.
        level: Of the test of Nemenyi.
    """
    if len(scores) < 1 or scores.shape[1] < 2:
        hint = "compare more methods, or on more factuals"
        raise ProblemError("A comparison", "have a factual and two methods", f"{scores.shape[0]} and {scores.shape[1]}", hint)
    numbers = scores.to_numpy(dtype=np.float64)
    statistic, p_value = friedman(numbers)
    return Comparison(
        methods=tuple(map(str, scores.columns)),
        ranks=tuple(ranks_of(numbers).mean(axis=0).tolist()),
        factuals=len(scores),
        statistic=statistic,
        p_value=p_value,
        critical_difference=critical_difference(scores.shape[1], len(scores), level),
        level=level,
    )


def common(scores: pd.DataFrame, least: float = 0.05) -> pd.DataFrame:
    """The factuals for which every method has an answer; methods that leave too few are dropped, the poorest first.

    Args:
        scores: A row per factual, a column per method; NaN is no answer.
        least: This share of the factuals should stay, and one at least, unless only two methods are left.
    """
    kept: list[str] = list(scores.columns)
    while True:
        shared = scores[kept].dropna()
        if len(shared) >= max(1.0, least * len(scores)) or len(kept) <= 2:
            return shared
        kept = _without_poorest(scores, kept)


def _without_poorest(scores: pd.DataFrame, kept: Sequence[str]) -> list[str]:
    counts = scores[list(kept)].notna().sum()
    poorest = counts.idxmin()
    return [name for name in kept if name != poorest]
