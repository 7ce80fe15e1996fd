"""Trials and what they come to, counted again; and trials that end early or contradict each other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import likely
from likely.bench import Measurement, Pool, Trial, measure
from likely.problem import Bounds, Limits
from tests.explain.examples import explainer_of, rejected, table_of

ROWS = 6


def trial_of(**more: Any) -> Trial:
    pool = Pool.of(explainer_of(), table_of()[0])
    return measure(explainer_of(), rejected(ROWS), pool, likely.Quantile(0.5), Limits(), **more)


@pytest.fixture(scope="module")
def trial() -> Trial:
    return trial_of()


def test_a_trial_is_explain_row_by_row(trial: Trial) -> None:
    answers = explainer_of().explain_many(rejected(ROWS), limits=Limits())
    assert list(trial.explanations) == answers
    assert len(trial.seconds) == len(trial.nearest) == len(trial) == ROWS
    assert all(seconds >= explanation.seconds for seconds, explanation in zip(trial.seconds, trial.explanations, strict=True))
    assert not trial.interrupted


def test_numbers(trial: Trial) -> None:
    measured = Measurement.of(trial, "median")
    answers = [explanation.best for explanation in trial.explanations]
    assert (measured.engine, measured.plausibility, measured.rows, measured.answered, measured.certified) == (
        "search",
        "median",
        ROWS,
        ROWS,
        ROWS,
    )
    assert measured.cost == pytest.approx(np.mean([answer.cost for answer in answers]))
    assert measured.changes == np.mean([len(answer.changes) for answer in answers])
    assert measured.percentile == pytest.approx(np.mean([answer.percentile for answer in answers]))
    assert measured.percentile >= 50
    assert measured.slowest_seconds == max(trial.seconds)
    assert measured.median_seconds == np.median(trial.seconds)
    pairs = [(near.cost, answer.cost) for near, answer in zip(trial.nearest, answers, strict=True) if near is not None]
    assert measured.nearest == len(pairs) > 0
    assert measured.nearest_over_ours == pytest.approx(sum(near for near, _ in pairs) / sum(ours for _, ours in pairs))
    assert measured.nearest_over_ours >= 1
    assert (measured.refuted, measured.times_as_long) == (0, None)


def test_nothing_to_count(trial: Trial) -> None:
    nothing = {"status": "infeasible", "counterfactuals": (), "bounds": Bounds(np.inf, np.inf)}
    none = [replace(explanation, **nothing) for explanation in trial.explanations]
    measured = Measurement.of(Trial("search", tuple(none), trial.seconds, (None,) * ROWS), "median")
    assert (measured.answered, measured.certified, measured.nearest, measured.refuted) == (0, ROWS, 0, 0)
    assert (measured.cost, measured.changes, measured.percentile, measured.nearest_over_ours) == (None,) * 4


def test_two_engines(trial: Trial) -> None:
    slower = replace(trial, engine="other", seconds=tuple(3 * seconds for seconds in trial.seconds))
    assert Measurement.of(slower, "median", [trial], trial).times_as_long == pytest.approx(3)
    assert Measurement.of(slower, "median", [trial]).times_as_long is None
    fewer = replace(slower, explanations=slower.explanations[:2], seconds=slower.seconds[:2], nearest=slower.nearest[:2])
    ratio = np.median(fewer.seconds) / np.median(trial.seconds[:2])
    assert Measurement.of(fewer, "median", [trial], trial).times_as_long == pytest.approx(ratio)
    assert Measurement.of(fewer, "median", [trial]).refuted == Measurement.of(trial, "median", [fewer]).refuted == 0


def test_claims_that_cannot_both_hold(trial: Trial) -> None:
    """One says that nothing is below a cost that the other one, or a row of the table, is below."""
    first = trial.explanations[0]
    cost = first.best.cost
    boast = replace(first, bounds=Bounds(cost + 1, cost + 1))
    wrong = replace(trial, engine="other", explanations=(boast, *trial.explanations[1:]), nearest=(None,) * ROWS)
    assert wrong.refuted() == 0
    assert wrong.refuted([trial]) == 1
    assert trial.refuted([wrong]) == 0
    none = replace(first, status="infeasible", counterfactuals=(), bounds=Bounds(np.inf, np.inf))
    assert trial.nearest[0] is not None
    assert replace(trial, explanations=(none, *trial.explanations[1:])).refuted() == 1


@pytest.mark.parametrize("how", ["raised", "returned"])
def test_ctrl_c_keeps_what_is_finished(how: str, trial: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may come while Python works, or while the engine does."""
    explain, calls = likely.Explainer.explain, []

    def interrupted(self: likely.Explainer, row: Any, *more: Any, **options: Any) -> likely.Explanation:
        calls.append(row.name)
        if len(calls) == 4 and how == "raised":
            raise KeyboardInterrupt
        return replace(explain(self, row, *more, **options), interrupted=len(calls) == 4)

    monkeypatch.setattr(likely.Explainer, "explain", interrupted)
    moved: list[int] = []
    early = trial_of(after_each=lambda: moved.append(1))
    assert early.interrupted
    assert early.explanations == trial.explanations[:3]
    assert len(early.seconds) == len(early.nearest) == len(moved) == 3
    assert len(calls) == 4
