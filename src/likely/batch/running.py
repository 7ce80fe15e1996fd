"""`run`: the rows of a table of any length to a file of answers, which can be killed at any moment and goes on."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias, Unpack

from likely._display.progress import progress_bar
from likely._jobs import thread_count
from likely.batch.journal import Journal
from likely.batch.outputs import Output, output_of
from likely.batch.pace import Pace
from likely.batch.sources import source_of, tasks_of
from likely.batch.tasks import Asked, Done, Job, Task, as_plain, refuse, whole_names
from likely.batch.workers import Here, Processes, Workers
from likely.errors import ExplainerError
from likely.explain import Explainer, Question, QuestionOptions
from likely.explain.question import asked_question

#: How many rows are searched, and their answers asked of the model, at a time.
CHUNK = 128
#: Makes the workers of a batch, on a cluster, say.
Hire: TypeAlias = Callable[[Job], Workers]


@dataclass(frozen=True)
class Summary:
    """What a batch has written."""

    output: Path
    #: status -> how many rows have it
    statuses: Mapping[str, int]
    #: How many of them are of this run, not of one that ended before.
    new: int
    #: Whether Ctrl-C ended it; the same call goes on.
    interrupted: bool

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(self.statuses.values())

    @property
    def refused(self) -> int:
        """How many of them could not be explained."""
        return self.statuses.get("refused", 0)

    @property
    def certified(self) -> int:
        """Of how many rows it is proved that nothing better exists, or nothing at all."""
        return self.statuses.get("optimal", 0) + self.statuses.get("infeasible", 0)

    def __str__(self) -> str:
        counts = ", ".join(f"{count:,} {status}" for status, count in self.statuses.items())
        return f"{self.output}: {self.rows:,} rows{f' ({counts})' if counts else ''}"


def run(
    explainer: Explainer | str | Path,
    data: Any,
    output: str | Path,
    question: Question | None = None,
    *,
    model: str | Path | None = None,
    encoder: str | Path | None = None,
    decided: Any = None,
    rows: slice = slice(None),
    chunk: int = CHUNK,
    n_jobs: int | None = None,
    workers: Hire | None = None,
    progress: bool = True,
    **options: Unpack[QuestionOptions],
) -> Summary:
    """Explain the rows of a table of any length, and write the answers as they come.

    Rows are read, searched and written some at a time, so that memory does not grow with their number. Whatever goes wrong
    with a row stands in its place in the output, and the others are explained. A batch that was killed goes on where it
    stopped when it is called again, and two runs write the same bytes, unless a limit of seconds comes first: what rows
    took is in the journal beside the output.

    Args:
        explainer: The folder that `Explainer.save` wrote, for which there is a process per core; or an explainer, which explains
            on its threads in this process.
        data: The path of a CSV or Parquet file, or of a folder of Parquet files; a DataFrame of pandas or polars; or an iterable
            of such tables.
        output: A file that ends in `.jsonl`, a line of JSON per row; or a folder that ends in `.parquet`, a table with a line per
            answer.
        question: What is asked about each row.
        model: The file of the model, beside a folder that does not know it. A pickle (`.joblib`, `.pkl`) may run any code when it
            is loaded: name only files that you trust.
        encoder: The file of the explainer's encoder (a pickle, too), beside a folder, if it had one.
        decided: Only rows to which the model gives this class.
        rows: Only these rows of the table, by their places.
        chunk: How many rows are searched at a time: the model is asked for so many at once, and so many may be searched again
            after a run was killed.
        n_jobs: How many processes, beside a folder; None or -1 for one per core.
        workers: Who does the work instead, on a cluster: `likely.cluster.dask.workers(client)`, `likely.cluster.ray.workers()`.
        progress: Whether to show a bar, or a line in a log now and then.
        options: Fields of the `Question`, such as `k=3` or `target="good"`; those given here come first.
    """
    asking = asked_question(question, options)
    made, job = _opened(explainer, model, encoder, asking, decided)
    _refuse(made, decided, rows, chunk)
    path = Path(output)
    identity = {
        "question": as_plain(asking), "explainer": made.fingerprint_, "decided": decided,
        "rows": [rows.start, rows.stop], "chunk": chunk,
    }  # fmt: skip
    target = output_of(path, made.schema_, {**identity["question"], "explainer": identity["explainer"]})
    asked = Asked(asking, decided, target.records)
    source = source_of(data, made.schema_, chunk)
    tasks = _checked(tasks_of(source, made.schema_, chunk, rows), made, asked)
    with closing(Journal(path, identity)) as journal:
        target.begin(journal.state)
        before = Counter(journal.statuses)
        todo = _left(tasks, journal, path)
        job = None if job is None else replace(job, records=target.records)
        crew, todo = _crew(made, asked, job, todo, n_jobs, workers)
        pace = Pace(source, rows, len(journal.cells) * chunk)
        with progress_bar(progress, "Explaining") as move:
            interrupted = _work(crew, todo, journal, target, lambda task: move(*pace(task)))
        statuses = dict(journal.statuses.most_common())
    return Summary(path, statuses, sum(statuses.values()) - sum(before.values()), interrupted)


def _opened(
    explainer: Explainer | str | Path, model: Any, encoder: Any, question: Question, decided: Any
) -> tuple[Explainer, Job | None]:
    """The explainer, and how other processes find it, if they can."""
    if isinstance(explainer, (str, Path)):
        job = Job(*whole_names(explainer, model, encoder), as_plain(question), decided)
        return job.explainer(), job
    if model is not None or encoder is not None:
        raise ExplainerError("The model of a batch", "be named beside a folder", "an explainer", "leave it out")
    return explainer, None


def _refuse(explainer: Explainer, decided: Any, rows: slice, chunk: int) -> None:
    """Refuse what makes no sense, before any work."""
    if decided is not None and decided not in explainer.classes_:
        known = ", ".join(repr(label) for label in explainer.classes_)
        raise ExplainerError("decided", "be one of the model's classes", repr(decided), f"it has {known}")
    if chunk < 1:
        raise ExplainerError("chunk", "be a number of rows", chunk, f"leave it out for {CHUNK}")
    if rows.step is not None or any(end is not None and end < 0 for end in (rows.start, rows.stop)):
        raise ExplainerError("rows", "be one slice from the first row on", rows, "slice(0, 100) are the first hundred")


def _checked(tasks: Iterator[Task], explainer: Explainer, asked: Asked) -> Iterator[Task]:
    """The tasks, after what is wrong with every row was refused by the first one."""
    first = next(tasks, None)
    if first is None:
        return iter(())
    refuse(explainer, asked, first.rows)
    return chain([first], tasks)


def _left(tasks: Iterable[Task], journal: Journal, output: Path) -> Iterator[Task]:
    """The tasks that are not finished; those that are must be of the same rows."""
    known = deque(journal.cells)
    ended = journal.finished
    for task in tasks:
        if known:
            if task.cells != known.popleft():
                raise _other_rows(task.first, output)
        elif ended:
            raise _other_rows(task.first, output)
        else:
            yield task
    if known:
        raise _other_rows(-1, output)


def _other_rows(first: int, output: Path) -> ExplainerError:
    got = f"others from row {first} on" if first >= 0 else "fewer"
    return ExplainerError(
        "A batch that goes on", f"have the rows that {output.name} was begun with", got, "choose another output"
    )


def _crew(
    explainer: Explainer, asked: Asked, job: Job | None, tasks: Iterator[Task], n_jobs: int | None, workers: Hire | None
) -> tuple[Workers, Iterator[Task]]:
    """Who works, and on what: several processes are worth their start only if there is more than one task."""
    count = thread_count(n_jobs, ExplainerError)
    if workers is not None:
        if job is None:
            rule, got = "be in a folder that every worker can read", "one in memory"
            raise ExplainerError("The explainer of a cluster", rule, got, "save it, and give the folder")
        return workers(job), tasks
    first = list(islice(tasks, count))
    if job is None or len(first) < 2 or count == 1:
        if job is not None:
            explainer.set_params(n_jobs=count)
        return Here(explainer, asked), chain(first, tasks)
    return Processes(job, len(first)), chain(first, tasks)


def _work(crew: Workers, tasks: Iterator[Task], journal: Journal, output: Output, show: Callable[[Task], None]) -> bool:
    """Write what becomes of tasks; whether somebody ended it."""
    working = crew.work(tasks)
    try:
        for task, done in working:
            if done.interrupted:
                return True
            _write(task, done, journal, output)
            show(task)
    except KeyboardInterrupt:
        return True
    finally:
        close = getattr(working, "close", None)
        if close is not None:
            close()
    if not journal.finished:
        journal.end(output.end())
    return False


def _write(task: Task, done: Done, journal: Journal, output: Output) -> None:
    """First the answers, then that they are there."""
    journal.add(task.cells, dict(done.statuses), done.seconds, output.append(done))
