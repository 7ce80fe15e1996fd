"""Dask: a table of it to a table of answers; or the tasks of `likely.batch.run` on its cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Unpack

from likely.batch.running import Hire
from likely.batch.tasks import Done, Job, Task, as_plain, done, whole_names
from likely.cluster.engines import ClusterWorkers
from likely.cluster.frames import Frames
from likely.errors import MissingExtraError
from likely.explain import Question, QuestionOptions
from likely.explain.question import asked_question


def explain(
    table: Any,
    folder: str | Path,
    question: Question | None = None,
    *,
    model: str | Path | None = None,
    encoder: str | Path | None = None,
    key: str | None = None,
    **options: Unpack[QuestionOptions],
) -> Any:
    """A Dask DataFrame of rows to one of answers (`map_partitions`); nothing is computed yet.

    Args:
        table: A Dask DataFrame.
        folder: What `Explainer.save` wrote, where every worker can read it.
        question: What is asked about each row.
        model: As in `likely.cluster.explain_frame`, as the rest is.
        encoder: That of the explainer.
        key: A column that tells rows apart.
        options: Fields of the `Question`.
    """
    frames = Frames(*whole_names(folder, model, encoder), as_plain(asked_question(question, options)), key)
    empty = table._meta
    frames.refuse(empty)
    return table.map_partitions(frames, meta=frames.empty(empty))


def workers(client: Any) -> Hire:
    """Who does the tasks of `likely.batch.run`: the workers of a Dask cluster.

    Answers come back as they are made. A task whose worker dies is done again by another (Dask's setting
    `distributed.scheduler.allowed-failures` says how often), and a row of which workers die is refused. Workers of one thread
    each are the quickest.

    Args:
        client: A `distributed.Client`, or the address of a scheduler.
    """
    try:
        import distributed
    except ImportError:
        raise MissingExtraError("distributed", "dask", "work on a Dask cluster") from None
    connect: Any = distributed.Client  # has no types
    known = connect(client) if isinstance(client, str) else client
    return lambda job: ClusterWorkers(_Dask(known, job, distributed.KilledWorker))


class _Dask:
    """A Dask cluster."""

    def __init__(self, client: Any, job: Job, died: type[Exception]) -> None:
        self._client, self._job, self._died = client, job, died
        self.cores = sum(client.nthreads().values())
        self.records = job.records

    def submit(self, task: Task) -> Any:
        return self._client.submit(done, self._job, task, pure=False)

    def wait(self, begun: Any) -> Done | None:
        try:
            made: Done = begun.result()
            return made
        except self._died:
            return None

    def cancel(self, begun: Any) -> None:
        begun.cancel()
