"""Many queries on several threads: the same answers on any number of them, and Ctrl-C keeps what there is."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from threading import Event

from likely._display.progress import progress_bar
from likely.errors import LikelyWarning
from likely.explain.engines import engine_of
from likely.explain.explanation import Explanation
from likely.explain.fitted import Fitted
from likely.explain.query import Query
from likely.explain.solving import Draft, concluded, drafted, labels_of
from likely.problem import Progress


def answered(fitted: Fitted, queries: Sequence[Query], *, margin: float, threads: int, progress: bool) -> list[Explanation]:
    """The explanation of every query, in order.

    The model itself is asked once for all, because asking costs more than searching. After Ctrl-C, what was not searched
    has status "unknown".
    """
    stop = Event()

    def going(moment: Progress) -> bool:
        return not stop.is_set()

    threads = threads if all(engine_of(query.engine).threads for query in queries) else 1
    workers = min(threads or os.cpu_count() or 1, max(1, len(queries)))
    with ThreadPoolExecutor(workers) as pool, progress_bar(progress, "Explaining") as move:
        tasks = [pool.submit(drafted, fitted, query, margin, going) for query in queries]
        try:
            _watch(tasks, move)
        except BaseException as error:
            stop.set()
            if not isinstance(error, KeyboardInterrupt):
                raise
        drafts = [task.result() for task in tasks]
    said = labels_of(fitted, drafts)
    found = [concluded(fitted, draft, own) for draft, own in zip(drafts, said, strict=True)]
    if stop.is_set():
        finished = sum(not own.interrupted for own in found)
        warnings.warn(
            f"Explaining was interrupted; {finished} of {len(found)} rows were finished, the others have what was found.",
            LikelyWarning,
            stacklevel=3,
        )
    return found


def _watch(tasks: Sequence[Future[Draft]], move: Callable[[float, str], None]) -> None:
    """Wait for all, moving the bar; the first error of a task is raised at once."""
    open_tasks = set(tasks)
    while open_tasks:
        done, open_tasks = wait(open_tasks, timeout=0.2, return_when=FIRST_COMPLETED)
        for task in done:
            task.result()
        finished = len(tasks) - len(open_tasks)
        move(finished / len(tasks), f"{finished} of {len(tasks)} rows")
