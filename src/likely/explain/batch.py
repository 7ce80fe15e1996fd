"""Many queries on several threads: the same answers on any number of them, and Ctrl-C keeps what there is."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from threading import Event

from likely._display.progress import progress_bar
from likely.errors import LikelyWarning, ProblemError, SchemaError
from likely.explain.concluding import concluded, labels_of, refused
from likely.explain.engines import engine_of
from likely.explain.explanation import Explanation
from likely.explain.fitted import Fitted
from likely.explain.query import Query
from likely.explain.solving import Draft, drafted
from likely.problem import Progress


def explained_all(fitted: Fitted, queries: Sequence[Query | Explanation], *, threads: int, progress: bool) -> list[Explanation]:
    """The explanation of every query, in order.

    The model itself is asked once for all, because asking costs more than searching. After Ctrl-C, what was not searched
    has status "unknown".

    Args:
        fitted: What the explainer knows.
        queries: What is asked; an explanation (of a row that was refused) is passed on.
        threads: How many searches may run at a time, if the engine allows it.
        progress: Whether to show a bar.
    """
    stop = Event()

    def going(progress: Progress) -> bool:
        return not stop.is_set()

    def search(query: Query) -> Draft | Explanation:
        try:
            return drafted(fitted, query, query.question.margin, going)
        except (ProblemError, SchemaError) as error:
            return refused(fitted, query, str(error))

    asked = [query for query in queries if isinstance(query, Query)]
    parallel = all(engine_of(query.engine).threads for query in asked)
    workers = min(threads if parallel else 1, max(1, len(asked)))
    with ThreadPoolExecutor(workers) as pool, progress_bar(progress, "Explaining") as move:
        tasks = [pool.submit(search, query) for query in asked]
        try:
            _watch(tasks, move)
        except BaseException as error:
            stop.set()
            if not isinstance(error, KeyboardInterrupt):
                raise
        results = iter([task.result() for task in tasks])
    made = [next(results) if isinstance(query, Query) else query for query in queries]
    labels = iter(labels_of(fitted, [draft for draft in made if isinstance(draft, Draft)]))
    explanations = [concluded(fitted, each, next(labels)) if isinstance(each, Draft) else each for each in made]
    if stop.is_set():
        finished = sum(not explanation.interrupted for explanation in explanations)
        warnings.warn(
            f"Explaining was interrupted: {finished} of {len(explanations)} rows are finished, the others have what was known"
            " until then.",
            LikelyWarning,
            stacklevel=3,
        )
    return explanations


def _watch(tasks: Sequence[Future[Draft | Explanation]], move: Callable[[float, str], None]) -> None:
    """Wait for all, moving the bar; the first error of a task is raised at once."""
    open_tasks = set(tasks)
    while open_tasks:
        done, open_tasks = wait(open_tasks, timeout=0.2, return_when=FIRST_EXCEPTION)
        for task in done:
            task.result()
        finished = len(tasks) - len(open_tasks)
        move(finished / len(tasks), f"{finished} of {len(tasks)} rows")
