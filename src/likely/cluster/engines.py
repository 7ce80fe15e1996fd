"""The tasks of a batch on a cluster, whichever engine runs it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from likely.batch.tasks import Done, Task
from likely.batch.workers import AHEAD, halved, in_order


class Engine(Protocol):
    """What is asked of a cluster."""

    #: How many tasks it does at a time.
    cores: int
    #: Whether lines of a table are made instead of JSON.
    records: bool

    def submit(self, task: Task) -> Any:
        """Begin a task; what is returned stands for it."""

    def wait(self, begun: Any) -> Done | None:
        """What became of it; None if workers died of it, more often than an engine tries again."""

    def cancel(self, begun: Any) -> None:
        """Nobody waits for it any more."""


class ClusterWorkers:
    """The workers of a cluster.

    Args:
        engine: It runs the cluster.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def work(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Done]]:
        """Each task with what became of it, in order, while later ones are under way."""
        return in_order(lambda task: _Begun(self._engine, task), tasks, AHEAD * max(1, self._engine.cores))


class _Begun:
    """A task that is under way."""

    def __init__(self, engine: Engine, task: Task) -> None:
        self._engine, self._task = engine, task
        self._begun = engine.submit(task)

    def result(self) -> Done:
        """What became of it; in halves, if workers die of it."""
        known = self._engine.wait(self._begun)
        return halved(self._task, self._asked, records=self._engine.records) if known is None else known

    def _asked(self, task: Task) -> Done | None:
        return self._engine.wait(self._engine.submit(task))

    def cancel(self) -> None:
        """Nobody waits for it any more."""
        self._engine.cancel(self._begun)
