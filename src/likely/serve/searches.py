"""Questions in threads: so many at a time, some that wait, and none that goes on when nobody waits for it.

The compiled search lets other threads run, so a thread per question uses the cores.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class BusyError(Exception):
    """More questions wait than may."""


class Searches:
    """Runs work in threads, from one event loop.

    Args:
        at_once: How much work is done at a time.
        waiting: How much more may wait.
        patience: The seconds that work may wait.
    """

    def __init__(self, at_once: int, waiting: int, patience: float) -> None:
        self._at_once, self._most, self._patience = at_once, waiting, patience
        self.open()

    def open(self) -> None:
        """Begin, or begin anew after `close`, perhaps in another event loop."""
        self._pool = ThreadPoolExecutor(self._at_once, thread_name_prefix="likely")  # makes its threads when they are needed
        self._slots = asyncio.Semaphore(self._at_once)
        self._stops: set[threading.Event] = set()
        #: How much waits, and how much is done now.
        self.waiting = 0
        self.running = 0

    @property
    def full(self) -> bool:
        """Whether one more would be refused."""
        return self._slots.locked() and self.waiting >= self._most

    async def run(self, work: Callable[[], T], stop: threading.Event) -> T:
        """What the work returns; `BusyError` if too much waits, or it waited too long.

        Args:
            work: Runs in a thread; ends soon after `stop` is set.
            stop: Set if the caller is cancelled, and by `end_all`.
        """
        if self.full:
            raise BusyError
        self.waiting += 1
        try:
            async with asyncio.timeout(self._patience):
                await self._slots.acquire()
        except TimeoutError:
            raise BusyError from None
        finally:
            self.waiting -= 1
        return await self._started(work, stop)

    async def _started(self, work: Callable[[], T], stop: threading.Event) -> T:
        loop = asyncio.get_running_loop()

        def left(_: Future[T]) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._left, stop)

        self.running += 1
        self._stops.add(stop)
        future = self._pool.submit(work)
        future.add_done_callback(left)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            stop.set()
            raise

    def _left(self, stop: threading.Event) -> None:
        self.running -= 1
        self._stops.discard(stop)
        self._slots.release()

    def end_all(self) -> None:
        """End every search: each returns what it knows."""
        for stop in self._stops:
            stop.set()

    def close(self) -> None:
        """End every search, and wait until the threads have ended."""
        self.end_all()
        self._pool.shutdown(cancel_futures=True)
