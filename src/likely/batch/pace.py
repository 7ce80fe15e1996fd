"""How fast a batch goes, and how long it will take."""

from __future__ import annotations

import time
from collections.abc import Callable

from likely.batch.sources import Source
from likely.batch.tasks import Task


class Pace:
    """Says after each task how much is done, how many rows a second that is, and how long the rest takes at this pace.

    Args:
        source: The rows; where nobody knows how many they are, it may know how much of it was read.
        rows: Those that are wanted.
        before: How many were finished before.
        clock: The time in seconds.
    """

    def __init__(self, source: Source, rows: slice, before: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self._source, self._clock = source, clock
        self._begin = rows.start or 0
        ends = [end for end in (rows.stop, source.rows) if end is not None]
        self._all = max(0, min(ends) - self._begin) if source.rows is not None or rows.stop is not None else None
        self._before = before
        self._started = clock()

    def __call__(self, task: Task) -> tuple[float, str]:
        """How much is done, from 0 to 1, and in words.

        Args:
            task: The last one that is done.
        """
        count = task.first + len(task.rows) - self._begin
        share = self._share(count)
        seconds = self._clock() - self._started
        rate = max(0, count - self._before) / seconds if seconds > 0 else 0.0
        words = [f"{count:,} rows" if self._all is None else f"{count:,} of {self._all:,} rows"]
        if rate > 0:
            words.append(f"{rate:,.1f} rows/s")
            left = count / share - count if share > 0 else 0.0
            if left > 0:
                words.append(f"{_span(left / rate)} left")
        return share, ", ".join(words)

    def _share(self, count: int) -> float:
        if self._all is not None:
            return min(1.0, count / self._all) if self._all else 1.0
        return 0.0 if self._source.share is None else self._source.share()


def _span(seconds: float) -> str:
    """A time that is left, as people say it."""
    if seconds < 90:
        return f"about {seconds:.0f} s"
    minutes = seconds / 60
    return f"about {minutes:.0f} min" if minutes < 90 else f"about {minutes / 60:.1f} h"
