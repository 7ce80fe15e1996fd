"""A search that takes long says on a terminal how far its proof is."""

from __future__ import annotations

import math
import sys

import pytest

import likely
from likely._display import progress as display
from likely.explain import watching
from likely.explain.watching import so_far, watched
from likely.problem import Progress
from tests.circuit.learning.test_learn_progress import Terminal
from tests.explain.examples import explainer_of, rejected


@pytest.mark.parametrize(
    ("upper", "lower", "weighted", "words"),
    [
        (math.inf, 0.0, False, "no answer yet"),
        (4.0, -math.inf, False, "an answer that costs 4"),
        (4.0, 0.0, False, "an answer that costs 4"),
        (4.0, 3.0, False, "an answer that costs 4, another at most 25 % less"),
        (4.0, 3.999, False, "an answer that costs 4, another at most 0.025 % less"),
        (4.0, -math.inf, True, "an answer of 4"),
        (4.0, -1.0, True, "an answer of 4, at most 5 better"),
    ],
)
def test_how_far_a_search_is(upper: float, lower: float, weighted: bool, words: str) -> None:
    assert so_far(Progress(1.0, 10, upper, lower), weighted=weighted) == words


def test_the_gap_shrinks_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(watching, "_QUIET", 0.0)
    monkeypatch.setattr(watching.time, "perf_counter", iter([0.0, 20.0, 40.0]).__next__)
    asked: list[Progress] = []
    with watched(True, likely.Question(limits=60), lambda progress: asked.append(progress) or len(asked) < 2) as watch:
        first, second = Progress(20.0, 5, 4.0, 2.0), Progress(40.0, 9, 4.0, 3.9)
        assert watch(first)
        assert not watch(second), "the user's callback is asked, too"
    assert asked == [first, second]
    assert "Searching" in screen.getvalue()


def test_a_search_that_is_soon_over_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(display, "EVERY", 0.0)
    with watched(True, likely.Question(), None) as watch:
        assert watch(Progress(0.0, 1, 4.0, 2.0))
    assert "%" not in screen.getvalue()


def test_an_explainer_shows_it_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[bool] = []
    bar = watching.progress_bar
    monkeypatch.setattr(watching, "progress_bar", lambda wanted, *rest, **more: shown.append(wanted) or bar(False, *rest, **more))
    quiet = explainer_of()
    answer = quiet.explain(rejected().iloc[0])
    assert shown == [False]
    assert answer.status == "optimal"
