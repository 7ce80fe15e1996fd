"""Many queries on several threads: the same answers on any number of them, and Ctrl-C keeps what there is."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from threading import Event

from likely._display.progress import progress_bar
from likely.errors import LikelyWarning
from likely.explain.concluding import concluded, labels_of
from likely.explain.engines import engine_of
from likely.explain.explanation import Explanation
from likely.explain.fitted import Fitted
from likely.explain.query import Query
from likely.explain.solving import Draft, drafted
from likely.problem import Progress


def explained_all(fitted: Fitted, queries: Sequence[Query], *, threads: int, progress: bool) -> list[Explanation]:
    """The explanation of every query, in order.

    The model itself is asked once for all, because asking costs more than searching. After Ctrl-C, what was not searched
    has status "unknown".

    Args:
        fitted: What the explainer knows.
        queries: What is asked.
        threads: How many searches may run at a time, if the engine allows it.
        progress: Whether to show a bar.
    """
    stop = Event()

    def going(progress: Progress) -> bool:
        return not stop.is_set()

    parallel = all(engine_of(query.engine).threads for query in queries)
    workers = min(threads if parallel else 1, max(1, len(queries)))
    with ThreadPoolExecutor(workers) as pool, progress_bar(progress, "Explaining") as move:
        tasks = [pool.submit(drafted, fitted, query, query.question.margin, going) for query in queries]
        try:
            _watch(tasks, move)
        except BaseException as error:
            stop.set()
            if not isinstance(error, KeyboardInterrupt):
                raise
        drafts = [task.result() for task in tasks]
    labels = labels_of(fitted, drafts)
    explanations = [concluded(fitted, draft, of_rows) for draft, of_rows in zip(drafts, labels, strict=True)]
    if stop.is_set():
        finished = sum(not explanation.interrupted for explanation in explanations)
        warnings.warn(
            f"Explaining was interrupted: {finished} of {len(explanations)} rows are finished, the others have what was known"
            " until then.",
            LikelyWarning,
            stacklevel=3,
        )
    return explanations


def _watch(tasks: Sequence[Future[Draft]], move: Callable[[float, str], None]) -> None:
    """Wait for all, moving the bar; the first error of a task is raised at once."""
    open_tasks = set(tasks)
    while open_tasks:
        done, open_tasks = wait(open_tasks, timeout=0.2, return_when=FIRST_COMPLETED)
        for task in done:
            task.result()
        finished = len(tasks) - len(open_tasks)
        move(finished / len(tasks), f"{finished} of {len(tasks)} rows")
