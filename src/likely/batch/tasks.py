"""The work on a few rows, wherever it is done: the explainer is read from its folder once per process, the answers are lines."""

from __future__ import annotations

import atexit
import json
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from likely.batch.entries import Entry
from likely.batch.table import records_of
from likely.errors import LikelyError, LikelyWarning
from likely.explain import Explainer, Explanation, Question
from likely.explain.named import load_encoder, load_model
from likely.problem import Statistics

#: Files are read once, but not every file that a long-lived process has ever seen is kept.
_KEPT = 4


@dataclass(frozen=True)
class Asked:
    """What is asked of every row."""

    question: Question
    #: Only rows that the model gives this class; any, if it is None.
    decided: Any = None
    #: Whether lines of a table are made instead of JSON.
    records: bool = False


@dataclass(frozen=True)
class Job:
    """What a process on this or another machine has to know: names of files and plain data, and no model."""

    folder: str
    #: The files of the model and of the encoder, if they are not in the folder.
    model: str | None
    encoder: str | None
    #: The question, as plain data.
    question: dict[str, Any]
    decided: Any = None
    records: bool = False

    def explainer(self) -> Explainer:
        """The explainer in the folder, on one thread; read once per process."""
        return loaded(self.folder, self.model, self.encoder)

    @property
    def asked(self) -> Asked:
        """What is asked of every row."""
        return Asked(Question.from_dict(self.question), self.decided, self.records)


@dataclass(frozen=True, eq=False)
class Task:
    """Some rows of a table, one after the other."""

    #: Which one it is, from 0.
    number: int
    #: The place of its first row in the table.
    first: int
    rows: pd.DataFrame
    #: What tells its cells apart from those of another table.
    cells: str = ""

    def part(self, begin: int, end: int) -> Task:
        """Some of its rows.

        Args:
            begin: The first, counted within the task.
            end: The one after the last.
        """
        return replace(self, first=self.first + begin, rows=self.rows.iloc[begin:end])


@dataclass(frozen=True)
class Done:
    """What became of a task."""

    #: A line of JSON per row that was chosen; or, if they were asked for, the lines of a table per row.
    lines: tuple[str, ...] = ()
    records: tuple[list[dict[str, Any]], ...] = ()
    #: status -> how many rows have it
    statuses: tuple[tuple[str, int], ...] = ()
    #: What each row took.
    seconds: tuple[float, ...] = ()
    interrupted: bool = False

    def __add__(self, other: Done) -> Done:
        counts = Counter(dict(self.statuses)) + Counter(dict(other.statuses))
        ended = self.interrupted or other.interrupted
        seconds = self.seconds + other.seconds
        return Done(self.lines + other.lines, self.records + other.records, tuple(sorted(counts.items())), seconds, ended)


def whole_names(folder: str | Path, model: str | Path | None, encoder: str | Path | None) -> tuple[str, str | None, str | None]:
    """The names of an explainer's files as any process knows them, wherever it works.

    Args:
        folder: What `Explainer.save` wrote.
        model: The file of the model; None if the folder knows it.
        encoder: The file of the encoder, if there is one.
    """
    files = [None if name is None else str(Path(name).resolve()) for name in (model, encoder)]
    return str(Path(folder).resolve()), files[0], files[1]


@atexit.register
def _forget() -> None:
    """Before Python ends: what the compiled core has made must not outlive it."""
    loaded.cache_clear()


@lru_cache(maxsize=_KEPT)
def loaded(folder: str, model: str | None, encoder: str | None) -> Explainer:
    """An explainer for one of several processes: on one thread, without a bar. A process reads the files once.

    Args:
        folder: What `Explainer.save` wrote.
        model: The file of the model; None if the folder knows it.
        encoder: The file of the encoder, if there is one.
    """
    explainer = Explainer.load(folder, load_model(model), encoder=load_encoder(encoder))
    return explainer.set_params(n_jobs=1, progress=False)


def done(job: Job, task: Task) -> Done:
    """A task, in a process that may have done others before.

    Args:
        job: What to do.
        task: With which rows.
    """
    return explained(job.explainer(), job.asked, task)


def explained(explainer: Explainer, asked: Asked, task: Task) -> Done:
    """The answers to a task; whatever goes wrong with a row stands in its line.

    The model is asked for all rows at a time: what it decides before, and whether it confirms the answers.

    Args:
        explainer: It answers.
        asked: What is asked.
        task: The rows.
    """
    places = range(len(task.rows)) if asked.decided is None else _decided(explainer, asked.decided, task.rows)
    table, numbers = task.rows.iloc[list(places)], [task.first + place for place in places]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikelyWarning)  # that it was interrupted is said once, at the end
        entries = list(_entries(explainer, asked.question, table, numbers))
    return done_of(entries, records=asked.records)


def done_of(entries: Sequence[Entry], *, records: bool) -> Done:
    """Rows with their answers as what became of a task: no line says how long it took, so that two runs write the same.

    Args:
        entries: Rows, in order.
        records: Whether lines of a table are made instead of JSON.
    """
    explanations = [entry.explanation for entry in entries]
    untimed = [
        entry if entry.explanation is None else replace(entry, explanation=_untimed(entry.explanation)) for entry in entries
    ]
    return Done(
        () if records else tuple(entry.to_json() for entry in untimed),
        tuple(records_of(entry, explanations=True) for entry in untimed) if records else (),
        tuple(sorted(Counter(entry.status for entry in entries).items())),
        tuple(0.0 if each is None else round(each.seconds, 4) for each in explanations),
        any(each is not None and each.interrupted for each in explanations),
    )


def _untimed(explanation: Explanation) -> Explanation:
    return replace(explanation, seconds=0.0, statistics=Statistics())


def _entries(explainer: Explainer, question: Question, table: pd.DataFrame, numbers: Sequence[int]) -> Iterator[Entry]:
    """The explanations of some rows; row by row, if something unforeseen happens with one of them."""
    try:
        explanations = explainer.explain_many(table, question)
    except Exception as error:  # of the user's model, say: one row must not end the work on millions
        if len(numbers) == 1:
            yield Entry(numbers[0], None, str(error) if isinstance(error, LikelyError) else f"{type(error).__name__}: {error}")
            return
        for i, number in enumerate(numbers):
            yield from _entries(explainer, question, table.iloc[[i]], [number])
    else:
        for number, each in zip(numbers, explanations, strict=True):
            yield Entry(number, None, each.reason.partition(": ")[2]) if each.status == "refused" else Entry(number, each)


def _decided(explainer: Explainer, label: Any, table: pd.DataFrame) -> list[int]:
    """The places of the rows that the model gives a class; not of those that are incomplete, or have a value nobody knows of."""
    try:
        rows = explainer.schema_.encode(table)
    except LikelyError:
        if len(table) == 1:
            return []
        half = len(table) // 2  # where the row is that cannot be read
        second = _decided(explainer, label, table.iloc[half:])
        return [*_decided(explainer, label, table.iloc[:half]), *(half + place for place in second)]
    known = np.flatnonzero(~np.isnan(rows).any(axis=1))
    labels = explainer.form_.predict(rows[known]).tolist()
    return [int(place) for place, said in zip(known, labels, strict=True) if said == label]


def refuse(explainer: Explainer, asked: Asked, rows: pd.DataFrame) -> None:
    """Refuse what is wrong with every row, before any work: a column that is not there, a target that is no class.

    Args:
        explainer: It would answer.
        asked: What would be asked.
        rows: The first ones.
    """
    explainer.explain_many(rows.iloc[:0], asked.question)


def as_plain(question: Question) -> dict[str, Any]:
    """A question as plain data that JSON leaves as they are.

    Args:
        question: What is asked.
    """
    plain: dict[str, Any] = json.loads(json.dumps(question.to_dict()))
    return plain
