"""Ray: a dataset of it to one of answers; or the tasks of `likely.batch.run` on its cluster."""

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

#: How often a task is tried again whose worker died, before its rows are suspected.
_RETRIES = 3


def explain(
    dataset: Any,
    folder: str | Path,
    question: Question | None = None,
    *,
    model: str | Path | None = None,
    encoder: str | Path | None = None,
    key: str,
    **options: Unpack[QuestionOptions],
) -> Any:
    """A Ray dataset of rows to one of answers (`map_batches`); nothing is computed yet.

    Args:
        dataset: A `ray.data.Dataset`.
        folder: What `Explainer.save` wrote, where every worker can read it.
        question: What is asked about each row.
        model: As in `likely.cluster.explain_frame`, as the rest is.
        encoder: That of the explainer.
        key: A column that tells rows apart: a dataset has no index.
        options: Fields of the `Question`.
    """
    frames = Frames(*whole_names(folder, model, encoder), as_plain(asked_question(question, options)), key)
    return dataset.map_batches(frames.__call__, batch_format="pandas")  # Ray Data does a task again whose worker died


def workers(address: str | None = None, **settings: Any) -> Hire:
    """Who does the tasks of `likely.batch.run`: the workers of a Ray cluster.

    Answers come back as they are made. A task whose worker dies is done again by another, a few times, and a row of which
    workers die is refused.

    Args:
        address: Of the cluster, "auto" for the one of this machine; left out, one that runs already, or a new one here.
        settings: Others of `ray.init`, if Ray is not yet initialised.
    """
    try:
        import ray
    except ImportError:
        raise MissingExtraError("ray", "ray", "work on a Ray cluster") from None
    if not ray.is_initialized():
        ray.init(address=address, **settings)
    return lambda job: ClusterWorkers(_Ray(ray, job))


class _Ray:
    """A Ray cluster."""

    def __init__(self, ray: Any, job: Job) -> None:
        self._ray, self._job = ray, job
        self._remote = ray.remote(max_retries=_RETRIES)(done)
        self._died = (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError, ray.exceptions.NodeDiedError)
        self.cores = int(ray.cluster_resources().get("CPU", 1))
        self.records = job.records

    def submit(self, task: Task) -> Any:
        return self._remote.remote(self._job, task)

    def wait(self, begun: Any) -> Done | None:
        try:
            made: Done = self._ray.get(begun)
            return made
        except self._died:
            return None

    def cancel(self, begun: Any) -> None:
        self._ray.cancel(begun)
