"""What the rivals have in common: what they learn from, how a question looks in their columns, and how rows are returned.

A rival sees rows as points of [0, 1]^n (`likely.bench.encoding`). It gets every rule about one feature, as a box of points that
it may go to: what may not change is fixed, what may only rise begins at the factual's value. Of rules between features it knows
nothing, unless its own description says so; but where it has found several rows, those that keep all rules come first.
"""

from __future__ import annotations

import time
import zlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from likely.bench.encoding import Encoding
from likely.bench.method import Asked, Data, Generated, Model
from likely.predictor import Form
from likely.problem import Goal, to_class
from likely.schema.values import Numbers


@dataclass(frozen=True, eq=False)
class Known:
    """What a rival has after `fit`: the training table as rows and as points, and what the model decides of them."""

    data: Data
    form: Form
    encoding: Encoding
    #: The training rows, as doubles, and as points.
    rows: Numbers
    points: Numbers
    #: The places of the classes that the model decides, and of the true ones.
    decided: NDArray[np.intp]
    true: NDArray[np.intp]

    @classmethod
    def of(cls, data: Data, form: Form) -> Known:
        """The table of a method, seen by a form.

        Args:
            data: The training table with its rules.
            form: What the model computes.
        """
        rows, encoding = data.schema.encode(data.X), Encoding(data.schema)
        places = {label: k for k, label in enumerate(form.classes)}
        true = np.array([places.get(label, -1) for label in data.y.tolist()], dtype=np.intp)
        decided = form.link.decide(form.score(rows, n_jobs=1))
        return cls(data, form, encoding, rows, encoding.encode(rows), decided, true)

    def question(self, asked: Asked) -> Question:
        """A question in the columns of a rival.

        Args:
            asked: The row to explain, and what is wanted.
        """
        return Question(self, asked, self.data.schema.encode(asked.factual)[0], time.perf_counter())


@dataclass(frozen=True, eq=False)
class Question:
    """One row to explain, as a rival sees it."""

    known: Known
    asked: Asked
    #: The row, as doubles.
    row: Numbers
    #: When it was asked.
    clock: float

    @cached_property
    def point(self) -> Numbers:
        """The row as a point."""
        return np.asarray(self.known.encoding.encode(self.row[None])[0])

    @cached_property
    def box(self) -> tuple[Numbers, Numbers]:
        """The least and the greatest coordinates of points that keep every rule about one feature."""
        return self.known.encoding.box(self.row)

    @cached_property
    def target(self) -> int:
        """The place of the class to reach."""
        return self.known.form.classes.index(self.goal_label)

    @property
    def goal_label(self) -> object:
        """The class to reach, as the form names it."""
        label = self.asked.target
        return label.item() if isinstance(label, np.generic) else label

    @cached_property
    def _goal(self) -> Goal:
        return to_class(self.known.form, self.goal_label)

    @cached_property
    def rng(self) -> np.random.Generator:
        """Numbers that depend on the seed and the row alone: questions may come in any order."""
        return np.random.default_rng([self.known.data.seed, zlib.crc32(self.row.tobytes())])

    @property
    def left(self) -> float:
        """How many seconds are left."""
        return self.asked.seconds - self.spent

    @property
    def spent(self) -> float:
        """How many seconds it took until now."""
        return time.perf_counter() - self.clock

    def margins(self, rows: Numbers) -> Numbers:
        """By how much each row is within the wanted class, in units of the score; negative if it is not.

        Args:
            rows: Rows, as doubles.
        """
        (alternative,) = self._goal.alternatives
        scores = self.known.form.score(rows, n_jobs=1)
        return np.asarray((scores @ alternative.coefficients.T - alternative.lower).min(axis=1))

    def reached(self, rows: Numbers) -> NDArray[np.bool_]:
        """Which rows the model decides as wanted, by the same margin of score for all methods.

        Args:
            rows: Rows, as doubles.
        """
        return np.asarray(self.margins(rows) >= 0)

    def admitted(self, rows: Numbers) -> NDArray[np.bool_]:
        """Which rows keep all rules.

        Args:
            rows: Rows, as doubles.
        """
        return self.known.data.schema.admits(self.row, rows)

    def costs(self, rows: Numbers) -> Numbers:
        """What the changes to each row cost.

        Args:
            rows: Rows, as doubles.
        """
        return self.known.data.schema.prices(self.row, rows)

    def decode(self, points: Numbers) -> Numbers:
        """The rows of points, moved into the box first.

        Args:
            points: Any points.
        """
        return self.known.encoding.decode(np.clip(points, *self.box), self.row)

    def by_cost(self, rows: Numbers) -> Numbers:
        """The rows that reach the wanted class, cheapest first.

        Args:
            rows: Rows, as doubles.
        """
        rows = rows[self.reached(rows)] if len(rows) else rows
        return rows[np.argsort(self.costs(rows), kind="stable")]


class Rival(ABC):
    """A method that searches for rows with what it has learned; `fit` and `generate` are the same for all.

    What `search` finds is returned in its order, but rows of another class than the wanted one are dropped, and rows that keep
    all rules come before rows that do not.
    """

    name: str
    known: Known

    def fit(self, data: Data, model: Model, form: Form) -> None:
        """Learn from the training table what the method needs.

        Args:
            data: The training table with its rules.
            model: The user's classifier; rivals ask its form, which computes the same.
            form: What it computes.
        """
        self.known = Known.of(data, form)
        self.prepare()

    def prepare(self) -> None:  # noqa: B027 - most have nothing to learn
        """Learn what the method needs; `known` is there."""

    @abstractmethod
    def search(self, question: Question) -> Numbers:
        """Rows that may be answers, best first.

        Args:
            question: What is asked.
        """

    def generate(self, asked: Asked) -> Generated:
        """Answers to one question, best first.

        Args:
            asked: The row to explain, and what is wanted.
        """
        question = self.known.question(asked)
        rows = _chosen(question, self.search(question))
        return Generated(self.known.data.schema.decode(rows), question.spent)


def _chosen(question: Question, rows: Numbers) -> Numbers:
    """The first rows that reach the wanted class, each once; first those that keep all rules."""
    if not len(rows):
        return np.empty((0, len(question.row)))
    _, first = np.unique(rows, axis=0, return_index=True)
    rows = rows[np.sort(first)]
    rows = rows[question.reached(rows)]
    return rows[np.argsort(~question.admitted(rows), kind="stable")][: question.asked.k]
