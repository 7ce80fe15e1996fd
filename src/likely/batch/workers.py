"""Who does the tasks of a batch: this process, or several on this machine. The answers come in the order of the tasks."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from likely._jobs import one_thread
from likely.batch.entries import Entry
from likely.batch.tasks import Asked, Done, Job, Task, done_of, explained
from likely.batch.worker import send
from likely.explain import Explainer

#: So many tasks per worker are under way or wait to be written: a task that takes long does not stop the others, and memory
#: does not grow.
AHEAD = 4
#: What another process of this Python is started with.
COMMAND = ["-c", "from likely.batch.worker import main; main()"]
#: What is said of a row that nobody survived.
_DIED = "Whoever explained this row died, more than once: of too little memory, perhaps, or an error in the model."


class Workers(Protocol):
    """Whoever does tasks."""

    def work(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Done]]:
        """Each task with what became of it, in order, while later ones are under way."""


class Here:
    """This process, on the explainer's own threads.

    Args:
        explainer: It answers.
        asked: What is asked.
    """

    def __init__(self, explainer: Explainer, asked: Asked) -> None:
        self._explainer, self._asked = explainer, asked

    def work(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Done]]:
        for task in tasks:
            yield task, explained(self._explainer, self._asked, task)


class Processes:
    """Several processes on this machine, which read the explainer from its folder.

    Where a row is answered in milliseconds, most of them are Python's, and one process does that on one core at a time however
    many threads it has. A process that dies is replaced and its task done again; a row that kills it twice, alone, is
    refused.

    Args:
        job: What to do.
        count: How many processes.
    """

    def __init__(self, job: Job, count: int) -> None:
        self._job, self._count = job, count

    def work(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, Done]]:
        crew = [_Process(self._job) for _ in range(self._count)]
        free: queue.SimpleQueue[_Process] = queue.SimpleQueue()
        for process in crew:
            free.put(process)

        def done(task: Task) -> Done:
            process = free.get()
            try:
                return process.done(task)
            finally:
                free.put(process)

        pool = ThreadPoolExecutor(self._count)
        try:
            yield from in_order(lambda task: pool.submit(done, task), tasks, AHEAD * self._count)
        finally:
            for process in crew:
                process.end()
            pool.shutdown(cancel_futures=True)


class Begun(Protocol):
    """A task that is under way, with a thread, a process or a cluster."""

    def result(self) -> Done:
        """What became of it, once it is done."""

    def cancel(self) -> Any:
        """Nobody waits for it any more."""


def in_order(submit: Callable[[Task], Begun], tasks: Iterable[Task], ahead: int) -> Iterator[tuple[Task, Done]]:
    """Tasks with what became of them, in order, with some of them under way.

    Args:
        submit: Begins a task.
        tasks: Taken as there is room.
        ahead: So many are under way, or done and waiting for an earlier one.
    """
    begun: deque[tuple[Task, Begun]] = deque()
    try:
        for task in tasks:
            begun.append((task, submit(task)))
            if len(begun) >= ahead:
                yield begun[0][0], begun[0][1].result()
                begun.popleft()
        while begun:
            yield begun[0][0], begun[0][1].result()
            begun.popleft()
    finally:
        for _, left in begun:
            left.cancel()


def halved(task: Task, ask: Callable[[Task], Done | None], *, records: bool) -> Done:
    """A task of which workers die, in halves, until the row is found that kills them; that row is refused.

    Args:
        task: It was tried as a whole already.
        ask: What becomes of a task; None if the worker died.
        records: Whether lines of a table are made instead of JSON.
    """
    if len(task.rows) == 1:
        return done_of([Entry(task.first, None, _DIED)], records=records)
    half, done = len(task.rows) // 2, Done()
    for part in (task.part(0, half), task.part(half, len(task.rows))):
        known = ask(part)
        done += halved(part, ask, records=records) if known is None else known
    return done


class _Process:
    """One of the processes, and another one in its place when it dies.

    Args:
        job: What to do.
    """

    def __init__(self, job: Job) -> None:
        self._job, self._ended = job, False
        self._begin()

    def _begin(self) -> None:
        paths = os.pathsep.join(filter(None, sys.path))  # the user's own modules, too
        found = {**os.environ, **one_thread(), "PYTHONPATH": paths}  # there is a process per core
        self._process = subprocess.Popen([sys.executable, *COMMAND], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=found)
        send(self._process.stdin, self._job)

    def done(self, task: Task) -> Done:
        """A task; if it kills the process twice, its halves."""
        known = self._tried(task)
        return halved(task, self._tried, records=self._job.records) if known is None else known

    def _tried(self, task: Task) -> Done | None:
        """What became of a task; None if two processes died of it."""
        return self._asked(task) or self._asked(task)

    def _asked(self, task: Task) -> Done | None:
        try:
            send(self._process.stdin, task)
            answer: Done = pickle.load(self._process.stdout)  # type: ignore[arg-type]
            return answer
        except (EOFError, OSError, pickle.UnpicklingError):
            self.end(again=not self._ended)
            return Done(interrupted=True) if self._ended else None

    def end(self, *, again: bool = False) -> None:
        """No more tasks.

        Args:
            again: Whether another process takes its place.
        """
        self._ended = not again
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):  # what could not be written any more
                pipe.close()  # type: ignore[union-attr]
        if again:
            self._begin()
