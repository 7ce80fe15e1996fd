"""Processes that answer questions, watched: one that takes too long is ended, and nothing else with it."""

from __future__ import annotations

import json
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from likely._jobs import one_thread
from likely.bench.cell import Order
from likely.bench.method import Method

#: A process is ended so many seconds after its limit, and this share of the limit: what it holds to itself is more exact.
GRACE, GRACE_SHARE = 5.0, 0.25


@dataclass(frozen=True)
class Patience:
    """How long is waited for a method."""

    #: For one answer; the method is told.
    seconds: float = 60.0
    #: For `fit`.
    fit_seconds: float = 1800.0
    #: After so many processes that had to be ended, or died, the rest of a fold is not tried.
    ends: int = 3


class EndedError(Exception):
    """A process that did not answer in time, or died."""

    def __init__(self, status: str, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


def answers(order: Order, patience: Patience, log: Path, stop: threading.Event) -> Iterator[dict[str, Any]]:
    """The answers to all questions of an order, as they come; of a process that has to be ended, another takes the rest.

    Args:
        order: What to do.
        patience: How long to wait.
        log: Where what methods print goes.
        stop: Set by who wants no more answers.

    Yields:
        The lines of the process, or of what became of it: every place has one.
    """
    left, ends = order.places, 0
    while left and not stop.is_set():
        if ends == patience.ends:
            yield from _all(left, "overtime", f"not tried: {ends} processes before had to be ended")
            return
        with _process(replace(order, places=left), log, stop) as line:
            try:
                first = line(patience.fit_seconds)
            except EndedError as end:
                yield from _all(left, end.status, f"while it was fitted: {end.why}")
                return
            if "error" in first:
                yield from _all(left, "failed", first["error"])
                return
            yield first
            for place in left:
                left = left[1:]
                try:
                    yield line(patience.seconds * (1 + GRACE_SHARE) + GRACE)
                except EndedError as end:
                    if stop.is_set():
                        return
                    ends += 1
                    yield from _all([place], end.status, end.why)
                    break


def _all(places: Sequence[int], status: str, why: str) -> list[dict[str, Any]]:
    return [{"place": place, "status": status, "error": why} for place in places]


@contextmanager
def _process(order: Order, log: Path, stop: threading.Event) -> Iterator[Callable[[float], dict[str, Any]]]:
    """A process at work: what yields its next line, or raises `EndedError`. It is gone, with all that it started, in the end."""
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, **one_thread(), "PYTHONPATH": paths}  # times are compared
    with log.open("ab") as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", "from likely.bench.cell import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment,
            start_new_session=True,
        )
    lines: queue.Queue[bytes] = queue.Queue()
    reader = threading.Thread(target=_read, args=(process, lines), daemon=True)
    reader.start()

    def line(seconds: float) -> dict[str, Any]:
        waited = 0.0
        while waited < seconds and not stop.is_set():
            with suppress(queue.Empty):
                text = lines.get(timeout=min(0.25, seconds - waited))
                if not text:
                    raise EndedError("failed", f"its process died with code {process.wait()}")
                event: dict[str, Any] = json.loads(text)
                return event
            waited += 0.25
        raise EndedError("overtime", f"no answer after {seconds:.0f} s")

    try:
        with suppress(BrokenPipeError):
            _send(process, pickle.dumps(order))
        yield line
    finally:
        _end(process)
        reader.join(timeout=5)


def _send(process: subprocess.Popen[bytes], order: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(order)
    process.stdin.close()


def _read(process: subprocess.Popen[bytes], lines: queue.Queue[bytes]) -> None:
    """Every line, and an empty one at the end."""
    assert process.stdout is not None
    for text in process.stdout:
        lines.put(text)
    lines.put(b"")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and what it started."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def packed(factory: Callable[[], Method]) -> bytes:
    """What makes a method, for another process: also a class that a notebook or a script has.

    Args:
        factory: Called without arguments, it makes the method.
    """
    from joblib import wrap_non_picklable_objects

    def make() -> Method:  # a function of a function is pickled by value, whatever makes the method
        return factory()

    return pickle.dumps(wrap_non_picklable_objects(make, keep_wrapper=False))
