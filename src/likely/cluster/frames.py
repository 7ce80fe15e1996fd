"""`explain_frame`: a table of rows to a table of answers, by an explainer that every process reads from its folder once."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

import pandas as pd

from likely.batch.table import dtypes_of, table_of
from likely.batch.tasks import Job, Task, as_plain, done, refuse, whole_names
from likely.errors import ExplainerError
from likely.explain import Question, QuestionOptions
from likely.explain.question import asked_question
from likely.schema.frames import as_pandas, in_kind
from likely.schema.frames import dtypes_of as polars_dtypes


def explain_frame(
    frame: Any,
    folder: str | Path,
    question: Question | None = None,
    *,
    model: str | Path | None = None,
    encoder: str | Path | None = None,
    key: str | None = None,
    **options: Unpack[QuestionOptions],
) -> Any:
    """The answers to the rows of a table, as a table: a line per answer, and one per row that has none.

    The explainer is read from its folder the first time that a process needs it, and kept: what goes to another machine is the
    names of files, not a model. Whatever goes wrong with a row stands in its line.

    Args:
        frame: Of pandas, or of polars, and so is what is returned.
        folder: What `Explainer.save` wrote, where every worker can read it.
        question: What is asked about each row.
        model: The file of the model, if the folder does not know it. A pickle (`.joblib`, `.pkl`) may run any code when it is
            loaded: name only files that you trust.
        encoder: The file of the explainer's encoder (a pickle, too), if it had one.
        key: A column that tells rows apart, and stands in the answers, too; left out, their column `row` has the table's index.
        options: Fields of the `Question`, such as `k=3` or `target="good"`; those given here come first.
    """
    return Frames(*whole_names(folder, model, encoder), as_plain(asked_question(question, options)), key)(frame)


@dataclass(frozen=True)
class Frames:
    """`explain_frame` with all but the table: names and plain data, which any engine can send to its workers.

    Args:
        folder: That of the explainer.
        model: The file of the model; None if the folder knows it.
        encoder: The file of the encoder, if there is one.
        question: As plain data.
        key: A column that tells rows apart.
    """

    folder: str
    model: str | None
    encoder: str | None
    question: dict[str, Any] = field(hash=False)
    key: str | None = None

    @property
    def job(self) -> Job:
        """What a worker has to know."""
        return Job(self.folder, self.model, self.encoder, self.question, records=True)

    def __call__(self, frame: Any) -> Any:
        """The answers to the rows of a table.

        Args:
            frame: Of pandas or polars.
        """
        table = as_pandas(frame)
        self.refuse(table)
        keys = (table.index if self.key is None else table[self.key]).to_list()
        job = self.job
        made = done(job, Task(0, 0, table.reset_index(drop=True)))
        answers = table_of((line for of_row in made.records for line in of_row), job.explainer().schema_)
        whose = pd.Series([keys[place] for place in answers["row"]], dtype=self._key_dtype(table))
        named = answers.assign(row=whose) if self.key is None else _renamed(answers, self.key, whose)
        kinds = polars_dtypes(frame)
        return named if kinds is None else in_kind(named, {} if self.key is None else {self.key: kinds[self.key]})

    def refuse(self, table: pd.DataFrame) -> None:
        """Refuse what is wrong with every row.

        Args:
            table: Some rows, or none.
        """
        if self.key is not None and self.key not in table.columns:
            raise ExplainerError("The key of rows", "be a column of the table", repr(self.key), f"it has {list(table.columns)}")
        refuse(self.job.explainer(), self.job.asked, table)

    def empty(self, table: pd.DataFrame) -> pd.DataFrame:
        """A table of answers without rows: its columns and their dtypes.

        Args:
            table: Of rows, perhaps none.
        """
        made = table_of([], self.job.explainer().schema_)
        whose = pd.Series([], dtype=self._key_dtype(table))
        return made.assign(row=whose) if self.key is None else _renamed(made, self.key, whose)

    def dtypes(self) -> dict[str, str]:
        """The columns of answers but for the key, and their dtypes."""
        kinds = dtypes_of(self.job.explainer().schema_)
        return {name: kind for name, kind in kinds.items() if name != "row"}

    def _key_dtype(self, table: pd.DataFrame) -> Any:
        return table.index.dtype if self.key is None else table[self.key].dtype


def _renamed(answers: pd.DataFrame, key: str, whose: pd.Series[Any]) -> pd.DataFrame:
    """Answers with the key of the rows in the place of their numbers."""
    return pd.concat([whose.rename(key), answers.drop(columns="row")], axis=1)
