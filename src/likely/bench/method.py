"""What a method of the benchmark is: it is fitted once, and then asked for one row after the other.

Every method gets the same table, the same rules, the same model and the same seed. What it returns is measured by somebody
else: a method does not say whether its rows are valid. One of twenty lines is in the documentation (`bench.md`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import pandas as pd

from likely.circuit import Circuit
from likely.predictor import Form
from likely.schema import Schema


@dataclass(frozen=True, eq=False)
class Data:
    """A training table with its rules, as every method gets it."""

    name: str
    #: Features, what they may be, rules between them, and what a change costs.
    schema: Schema
    #: The training rows: the columns of the schema, complete.
    X: pd.DataFrame
    #: Their classes.
    y: pd.Series
    #: Learned on the training rows together with their classes.
    circuit: Circuit
    #: Of everything that a method draws.
    seed: int = 0


class Model(Protocol):
    """The fitted classifier, as scikit-learn has it: tables in, classes and probabilities out."""

    classes_: object

    def predict(self, X: pd.DataFrame) -> object:
        """The class of each row.

        Args:
            X: A table in the columns of the schema.
        """

    def predict_proba(self, X: pd.DataFrame) -> object:
        """A column per class, in the order of `classes_`.

        Args:
            X: A table in the columns of the schema.
        """


@dataclass(frozen=True, eq=False)
class Asked:
    """One question: a row, how many answers, and how long it may take."""

    #: A table of one row, in the columns of the schema.
    factual: pd.DataFrame
    #: The class that the answers should have.
    target: object
    k: int = 1
    seconds: float = 60.0


@dataclass(frozen=True, eq=False)
class Generated:
    """The answers to one question, best first; an empty table if there are none."""

    rows: pd.DataFrame
    #: What the method needed for it, without what `fit` had prepared.
    seconds: float
    #: Whether it is proved that nothing closer exists, or, without rows, that there is no answer at all.
    proved: bool = False
    #: The likelihood that the method itself believed its rows to have, where it has one (for errors of approximation).
    claimed: tuple[float, ...] = ()


class Method(Protocol):
    """A way to find counterfactuals.

    What it needs, it learns in `fit`; `generate` is called once per row, in the order of the rows. An exception in either is
    recorded as a failure of the method and ends nothing else.
    """

    name: str

    def fit(self, data: Data, model: Model, form: Form) -> None:
        """Prepare for one table and one model.

        Args:
            data: The training table with its rules.
            model: The user's classifier.
            form: What it computes, as a linear function, a network or a sum of trees: for methods that look inside.
        """

    def generate(self, asked: Asked) -> Generated:
        """Answers to one question, best first.

        Args:
            asked: The row to explain, and what is wanted.
        """
