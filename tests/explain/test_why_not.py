"""Why a row has no answer, for people: what is not decided is not claimed, likelihoods are said beside the training rows."""

from __future__ import annotations

import time

import pytest

import likely
from likely.errors import ProblemError
from likely.problem import Limits
from tests.explain.examples import explainer_of, rejected

ALL = ["age", "income", "debt", "months", "housing"]


def test_what_is_not_decided_is_refused() -> None:
    """With a limit that comes first, of problems that have an answer: no demands are blamed."""
    question = likely.Question(plausibility=likely.Quantile(0.9), limits=Limits(nodes=1), constraints=[likely.MaxChanges(2)])
    undecided = 0
    for i in range(len(rejected())):
        if explainer_of().explain(rejected().iloc[i], question).status == "unknown":
            undecided += 1
            with pytest.raises(ProblemError, match=r"be proved to have no answer; got status 'unknown'. Hint: raise the limits"):
                explainer_of().why_not(rejected().iloc[i], question)
        if undecided == 3:
            break
    assert undecided


def test_likelihoods_are_said_beside_the_training_rows() -> None:
    row = rejected().iloc[0]
    conflict = explainer_of().why_not(row, plausibility=likely.Quantile(1.0), locked=["months"])
    likely_enough = [reason for reason in conflict.reasons if reason.constraint is None]
    assert len(likely_enough) == 1
    text = str(likely_enough[0])
    assert text.startswith("an answer must be at least as likely as all of the training rows of 'yes'")
    assert "log-likelihood" not in str(conflict)
    if likely_enough[0].without is not None:
        assert "; the likeliest row that meets all the other demands is likelier than " in text
        assert text.endswith(" % of them")


def test_the_cheapest_combination_is_an_answer() -> None:
    """What is given up really brings the answer at the cost that was said."""
    row = rejected().iloc[0]
    conflict = explainer_of().why_not(row, locked=ALL)
    assert conflict.way_out is not None
    names = {rule.feature for rule in conflict.way_out.constraints if isinstance(rule, likely.Immutable)}
    left = [name for name in ALL if name not in names]
    plausibility = None if None in conflict.way_out.constraints else likely.Quantile(0.5)
    again = explainer_of().explain(row, locked=left, plausibility=plausibility)
    assert again.best.cost == pytest.approx(conflict.way_out.cost, abs=1e-5)


def test_the_limit_of_seconds_is_for_all_of_it() -> None:
    started = time.perf_counter()
    explainer_of().why_not(rejected().iloc[0], locked=ALL, limits=Limits(seconds=1))
    assert time.perf_counter() - started < 4
