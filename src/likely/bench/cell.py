"""One method on one fold, in a process of its own, as `likely.bench.supervising` starts it.

The process reads an order (pickled, on standard input), fits the method, and writes a line of JSON per question. What a method
prints goes to standard error, so that it cannot be taken for an answer.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import signal
import sys
import threading
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from likely.bench.method import Method
from likely.bench.tasks import Task


@dataclass(frozen=True)
class Order:
    """What a process is to do."""

    #: The pickled `Task`.
    task: str
    #: What makes the method: pickled by value, where it can only be.
    method: bytes
    #: Of the rows to explain, and how.
    places: tuple[int, ...]
    k: int
    seconds: float


def work(order: Order, out: TextIO) -> None:
    """Fit the method and ask it, a line per event.

    Args:
        order: What to do.
        out: Where lines go.
    """

    def say(event: dict[str, Any]) -> None:
        out.write(f"{json.dumps(event)}\n")
        out.flush()

    task: Task = pickle.loads(Path(order.task).read_bytes())
    clock = time.perf_counter()
    try:
        method: Method = pickle.loads(order.method)()
        method.fit(task.data, task.model, task.form)
    except Exception as error:
        say({"error": said(error)})
        return
    say({"fit_seconds": time.perf_counter() - clock})
    for place in order.places:
        say({"place": place, **answer(method, task, place, order)})


def answer(method: Method, task: Task, place: int, order: Order) -> dict[str, Any]:
    """What a method answers to one question, as plain data; an exception is an answer, too.

    Args:
        method: A fitted one.
        task: It has the question.
        place: Of the row to explain.
        order: How many answers, and how long.
    """
    clock = time.perf_counter()
    try:
        made = method.generate(task.question(place, order.k, order.seconds))
        rows: list[list[float]] = task.data.schema.encode(made.rows).tolist()[: order.k] if len(made.rows) else []
        if any(math.isnan(number) for row in rows for number in row):
            raise ValueError("a row has a value that the schema does not know")
        return {
            "status": "answered" if len(rows) else "none",
            "rows": rows,
            "seconds": float(made.seconds),
            "waited": time.perf_counter() - clock,
            "proved": bool(made.proved),
            "claimed": [float(number) for number in made.claimed[: order.k]],
        }
    except Exception as error:
        return {"status": "failed", "error": said(error), "waited": time.perf_counter() - clock}


def said(error: Exception) -> str:
    """An exception in one line.

    Args:
        error: The exception.
    """
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:500]


def _follow(parent: int) -> None:
    """End with the process that waits for the answers, however that ended, and take along what methods started."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    """Read the order, and write lines where standard output was."""
    if hasattr(os, "killpg"):
        threading.Thread(target=_follow, args=(os.getppid(),), daemon=True).start()
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    work(pickle.loads(sys.stdin.buffer.read()), out)
