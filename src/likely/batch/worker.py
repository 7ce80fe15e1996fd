"""A process that explains rows for another one: it reads tasks and writes answers.

A task comes in on the standard input, its answer goes out where the standard output was; what the user's model prints goes to the
error stream. When the other process ends, however it ends, so does this one.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import sys
from threading import Thread
from typing import Any, BinaryIO


def main() -> None:
    """Work until the other process ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the other process
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
    Thread(target=_receive, args=(sys.stdin.buffer, waiting), daemon=True).start()
    from likely.batch.tasks import done

    job = waiting.get()
    while True:
        send(out, done(job, waiting.get()))


def _receive(stream: BinaryIO, waiting: queue.SimpleQueue[Any]) -> None:
    """Tasks as they come; without the other process there is nobody to work for."""
    try:
        while True:
            waiting.put(pickle.load(stream))
    except EOFError:
        os._exit(0)


def send(stream: Any, thing: Any) -> None:
    """Write a value for the process at the other end.

    Args:
        stream: A pipe.
        thing: Tables and plain data: models are not sent.
    """
    pickle.dump(thing, stream)
    stream.flush()
