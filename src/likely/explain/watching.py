"""A search that takes long is shown on a terminal: the best answer so far, and how much cheaper another could still be."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

from likely._display.numbers import cost_text
from likely._display.progress import progress_bar
from likely.explain.question import Question
from likely.explain.solving import Callback
from likely.explain.text import percent_at_most
from likely.problem import Progress

#: A search that is over after so many seconds shows nothing.
_QUIET = 1.0


@contextmanager
def watched(shown: bool, question: Question, callback: Callback | None) -> Iterator[Callback]:
    """What an engine calls while it searches: it moves a bar, and asks the user's own callback.

    Args:
        shown: Whether there is to be a bar.
        question: What is asked.
        callback: Ends the search by returning False.

    Yields:
        The callback of the engine.
    """
    started, seconds = time.perf_counter(), question.limits.seconds
    with progress_bar(shown, "Searching", after=_QUIET) as move:

        def watch(progress: Progress) -> bool:
            move((time.perf_counter() - started) / seconds, so_far(progress, weighted=question.total_weight > 0))
            return callback is None or callback(progress)

        yield watch


def so_far(progress: Progress, *, weighted: bool) -> str:
    """How far a search is, in a few words.

    Args:
        progress: What it tells.
        weighted: Whether likelihood has a part in what is minimised, so that a share of it says nothing.
    """
    if progress.upper == math.inf:
        return "no answer yet"
    gap = max(0.0, progress.upper - progress.lower)
    if weighted:
        return f"an answer of {cost_text(progress.upper)}" + (f", at most {cost_text(gap)} better" if gap < math.inf else "")
    words = f"an answer that costs {cost_text(progress.upper)}"
    if progress.lower <= 0 or progress.upper <= 0:
        return words
    return f"{words}, another at most {percent_at_most(gap / progress.upper)} % less"
