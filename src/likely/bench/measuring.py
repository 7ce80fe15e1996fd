"""Rows explained one after the other by one engine, timed, and compared with the nearest row of a table."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from likely.bench.nearest import Nearest, Pool, nearest_row
from likely.errors import LikelyWarning
from likely.explain import Explainer, Explanation
from likely.explain.plausibility import Variant
from likely.problem import Limits
from likely.problem.tolerances import SAME_OBJECTIVE, rounding


@dataclass(frozen=True)
class Trial:
    """The answers of one engine to one kind of question, in the order of the rows."""

    engine: str
    explanations: tuple[Explanation, ...]
    #: What a caller of `explain` waited for each.
    seconds: tuple[float, ...]
    #: The nearest row of the table that answers the same question, where there is one.
    nearest: tuple[Nearest | None, ...]
    #: Whether Ctrl-C came before the last row.
    interrupted: bool = False

    def __len__(self) -> int:
        return len(self.explanations)

    def refuted(self, others: Sequence[Trial] = ()) -> int:
        """How many rows have an answer, in the table or of another engine, that is better than was proved possible.

        Args:
            others: Trials of other engines on the same rows.
        """
        count = 0
        for i, explanation in enumerate(self.explanations):
            nearest = self.nearest[i]
            known = [] if nearest is None else [nearest.objective]
            rivals = [trial.explanations[i] for trial in others if i < len(trial)]
            known += [rival.best.objective for rival in rivals if rival]
            count += any(objective < explanation.bounds.lower - rounding(objective, SAME_OBJECTIVE) for objective in known)
        return count


@dataclass(frozen=True)
class Measurement:
    """A trial in numbers; means are over the rows that have an answer, and None where there is nothing to count."""

    engine: str
    plausibility: str
    rows: int
    answered: int
    certified: int
    median_seconds: float
    slowest_seconds: float
    cost: float | None
    changes: float | None
    percentile: float | None
    #: For how many of the answered rows a row of the table answers too, and the sum of its objectives over that of ours.
    nearest: int
    nearest_over_ours: float | None
    #: How many rows have a better answer than was proved possible: 0, unless something is wrong.
    refuted: int
    #: The median time over that of the first engine, on the rows that both explained.
    times_as_long: float | None = None

    @classmethod
    def of(cls, trial: Trial, plausibility: str, others: Sequence[Trial] = (), first: Trial | None = None) -> Measurement:
        """What a trial comes to.

        Args:
            trial: The answers of one engine.
            plausibility: The kind of question, in words.
            others: Trials of other engines on the same rows.
            first: The trial that times are compared with.
        """
        best = [explanation.best for explanation in trial.explanations if explanation]
        both = zip(trial.explanations, trial.nearest, strict=True)
        pairs = [(near.objective, answer.best.objective) for answer, near in both if answer and near is not None]
        return cls(
            engine=trial.engine,
            plausibility=plausibility,
            rows=len(trial),
            answered=len(best),
            certified=sum(answer.status in ("optimal", "infeasible") for answer in trial.explanations),
            median_seconds=float(np.median(trial.seconds)),
            slowest_seconds=max(trial.seconds),
            cost=_mean([answer.cost for answer in best]),
            changes=_mean([answer.number_of_changes for answer in best]),
            percentile=_mean([answer.percentile for answer in best if answer.percentile is not None]),
            nearest=len(pairs),
            nearest_over_ours=_times(pairs),
            refuted=trial.refuted(others),
            times_as_long=None if first is None else _times_as_long(trial, first),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for machines."""
        return asdict(self)


def _mean(numbers: Sequence[float]) -> float | None:
    return float(np.mean(numbers)) if numbers else None


def _times(pairs: Sequence[tuple[float, float]]) -> float | None:
    """How many times the second ones the first ones are together; None where that says nothing."""
    theirs, ours = (sum(pair[k] for pair in pairs) for k in (0, 1))
    return theirs / ours if ours > 0 else None


def _times_as_long(trial: Trial, first: Trial) -> float | None:
    shared = min(len(trial), len(first))
    return float(np.median(trial.seconds[:shared]) / np.median(first.seconds[:shared])) if shared else None


def measure(
    explainer: Explainer,
    X: pd.DataFrame,
    pool: Pool,
    plausibility: Variant | None,
    limits: Limits,
    *,
    after_each: Callable[[], None] = lambda: None,
) -> Trial:
    """Explain every row of a table towards any other class, one at a time; Ctrl-C keeps the rows that are finished.

    Args:
        explainer: A fitted one; its engine is measured.
        X: The rows, in the user's columns.
        pool: The table in which the nearest row is looked for.
        plausibility: How likely an answer must be; None if that does not matter.
        limits: How hard to try, for each row.
        after_each: Called after every row.
    """
    finished: list[tuple[Explanation, float, Nearest | None]] = []
    ended = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikelyWarning)  # a row may lie outside of the domains; that it ended is in the trial
        for i in range(len(X)):
            try:
                clock = time.perf_counter()
                explanation = explainer.explain(X.iloc[i], plausibility=plausibility, limits=limits)
                seconds = time.perf_counter() - clock
                ended = explanation.interrupted
                if ended:
                    break
                finished.append((explanation, seconds, nearest_row(explanation, pool)))
                after_each()
            except KeyboardInterrupt:
                ended = True
                break
    explanations, times, nearest = zip(*finished, strict=True) if finished else ((), (), ())
    return Trial(explainer.engine, explanations, times, nearest, ended)
