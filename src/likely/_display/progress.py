"""A progress bar for long work on a terminal or in a notebook; in a log a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

#: Called with how much of the work is done, from 0 to 1, and what is being done.
Move: TypeAlias = Callable[[float, str], None]
#: Seconds between two lines of a log: short work leaves none.
EVERY = 30.0


@contextmanager
def progress_bar(shown: bool, title: str) -> Iterator[Move]:
    """A bar that the yielded function moves; where the error stream is no terminal, a line of it every half a minute.

    Args:
        shown: Whether there is to be a bar at all.
        title: What the work is, in front of the bar.

    Yields:
        What to call while the work goes on; a bar never moves back.
    """
    if not shown:
        yield lambda done, what: None
        return
    from tqdm.auto import tqdm  # in a notebook without widgets, even importing it says so

    # disable=None: tqdm stays silent where the error stream is not a terminal.
    bar = tqdm(total=100, desc=title, bar_format="{desc} {percentage:3.0f}% {bar} {elapsed} {postfix}", disable=None)

    if bar.disable:
        yield _lines(title)
        return

    def move(done: float, what: str) -> None:
        bar.set_postfix_str(what, refresh=False)
        bar.update(max(0.0, min(100.0 * done, 100.0) - bar.n))

    with bar:
        yield move


def _lines(title: str) -> Move:
    """Writes how far the work is to the error stream, but not often."""
    started = said = time.monotonic()
    most = 0.0

    def move(done: float, what: str) -> None:
        nonlocal said, most
        now, most = time.monotonic(), max(most, min(done, 1.0))
        if now - said >= EVERY:
            said = now
            sys.stderr.write(f"{title} {most:4.0%} after {now - started:.0f} s: {what}\n")
            sys.stderr.flush()

    return move
