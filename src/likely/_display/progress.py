"""A progress bar for long work on a terminal or in a notebook; in a log a line now and then."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

#: Called with how much of the work is done, from 0 to 1, and what is being done.
Move: TypeAlias = Callable[[float, str], None]
#: Seconds between two lines of a log: short work leaves none.
EVERY = 30.0
LOGGER = logging.getLogger("likely")


@contextmanager
def progress_bar(shown: bool, title: str, *, after: float = 0.0) -> Iterator[Move]:
    """A bar that the yielded function moves; where the error stream is no terminal, a line of it every half a minute.

    Such a line is a record of the logger `likely` (level INFO) if that has somewhere to go, and else written to the error stream.

    Args:
        shown: Whether there is to be a bar at all.
        title: What the work is, in front of the bar.
        after: Work that takes no more seconds has no bar.

    Yields:
        What to call while the work goes on; a bar never moves back.
    """
    if not shown:
        yield lambda done, what: None
        return
    from tqdm.auto import tqdm  # in a notebook without widgets, even importing it says so

    # disable=None: tqdm stays silent where the error stream is not a terminal.
    form = "{desc} {percentage:3.0f}% {bar} {elapsed} {postfix}"
    bar = tqdm(total=100, desc=title, bar_format=form, disable=None, delay=after, leave=after == 0)

    if bar.disable:
        lines = _Lines(title)
        yield lines.move
        lines.end()
        return

    def move(done: float, what: str) -> None:
        bar.set_postfix_str(what, refresh=False)
        bar.update(max(0.0, min(100.0 * done, 100.0) - bar.n))

    with bar:
        yield move


class _Lines:
    """Says how far the work is, but not often, and in the end that it is done if it was worth a line before."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._started = self._said = time.monotonic()
        self._most = 0.0

    def move(self, done: float, what: str) -> None:
        """How much is done, and what is being done."""
        now = time.monotonic()
        self._most = max(self._most, min(done, 1.0))
        if now - self._said >= EVERY:
            self._said = now
            _say(f"{self._title} {self._most:4.0%} after {now - self._started:.0f} s: {what}")

    def end(self) -> None:
        """The work is done."""
        if self._said > self._started:
            _say(f"{self._title} 100% after {time.monotonic() - self._started:.0f} s")


def _say(line: str) -> None:
    """One line, where the program logs, or to the error stream if nobody listens to the logger."""
    if LOGGER.hasHandlers() and LOGGER.isEnabledFor(logging.INFO):
        LOGGER.info(line)
    else:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
