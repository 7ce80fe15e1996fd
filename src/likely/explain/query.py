"""`Query`: a question about one row, with all that an engine needs to know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from likely.explain.engines import engine_of
from likely.explain.plain import CELL, of_kinds, values_of
from likely.explain.plausibility import Measure, Peers, Rows, Variant
from likely.explain.question import Question
from likely.problem import Limits
from likely.problem.tolerances import SINGLES_ROUNDING, rounding
from likely.schema import Constraint, Immutable, Schema
from likely.schema.values import Name, Numbers, Value, show_value

#: Makes a schema of the plain data of one.
ReadSchema: TypeAlias = Callable[[Mapping[str, Any]], Schema]


@dataclass(frozen=True, eq=False)
class Query:
    """What was asked about which row, and with what."""

    #: The features, costs and rules, those of the question too; wide enough to hold the row.
    schema: Schema
    #: The row as doubles, in the order of the features; NaN where a value is unknown.
    factual: Numbers
    #: The class that the model gives the row; None if the row is not complete.
    label: Value
    #: The question; its target is the class to reach, also if there is only one other, and None for any other.
    question: Question
    #: The names of what likelihoods are given: features that may not change, the circuit's target.
    given: tuple[Name, ...] = ()
    engine: str = "search"
    #: The solver that the engine was told to drive.
    solver: str | None = None
    #: The names of the features that the model does not read, and of those that may not change for this reason.
    unread: tuple[Name, ...] = ()
    kept: tuple[Name, ...] = ()
    #: The rows that answers are compared with: those that the question names, or the training rows if no others are known.
    rows: Rows = "training"

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """The row's values in the order of the features; None where a value is unknown."""
        return values_of(self.schema, self.factual)

    @property
    def row(self) -> pd.Series[Any]:
        """The row in the user's own dtypes."""
        return self.schema.decode(self.factual).iloc[0]

    @property
    def target(self) -> Value:
        """The class to reach; None for any other."""
        target: Value = self.question.target
        return target

    @property
    def plausibility(self) -> Variant | None:
        """How likely an answer must be; None if that does not matter."""
        return self.question.plausibility

    @property
    def density(self) -> tuple[str, ...]:
        """What likelihoods are given, as the plausibility says it."""
        return () if self.plausibility is None else self.plausibility.given

    @property
    def of_class(self) -> bool:
        """Whether answers are compared with the rows of their class, not with all."""
        of_class = self.plausibility is None or self.plausibility.of == "class"
        return of_class and self.question.prediction is None  # a regressor has no classes

    def peers(self, number: int, measure: Measure = "likelihood") -> Peers:
        """What an answer of a class is compared with.

        Args:
            number: The place of the class among the model's.
            measure: By what.
        """
        given = self.density if measure == "likelihood" else ()
        return Peers(self.rows, given, number if self.of_class else None, measure)

    def peers_named(self, label: Value) -> str:
        """What an answer of a class is compared with, for people: `the training rows of 'good'`.

        Args:
            label: The class.
        """
        return f"{rows_named(self.rows)} of {show_value(label)}" if self.of_class else rows_named(self.rows)

    def reachable(self, classes: Sequence[Value]) -> list[Value]:
        """The classes that an answer may have.

        Args:
            classes: The model's.
        """
        return [label for label in classes if label != self.label] if self.target is None else [self.target]

    @property
    def total_weight(self) -> float:
        """The weight of likelihood in what is minimised."""
        return self.question.total_weight

    @property
    def claimed_by(self) -> str | None:
        """The solver whose claims status and bounds are (`likely.problem.Proof`); None: the exact engine proved them."""
        return self.solver or engine_of(self.engine).solver

    @property
    def limits(self) -> Limits:
        """What an engine is told: when to stop, and how many answers of which kind to look for."""
        return self.question.engine_limits

    @property
    def several_ways(self) -> bool:
        """Whether answers were asked for none of which changes all that a better one changes."""
        return self.question.k > 1 and self.question.diversity == "features"

    def changed(self, row: Numbers) -> NDArray[np.bool_]:
        """Which features a row changes: those that the factual has with another value.

        An unknown value that is filled in is no change: no rule counts it, and it costs nothing.

        Args:
            row: A complete row, as doubles.
        """
        return np.asarray(~np.isnan(self.factual) & (row != self.factual))

    def worst_polished(self, objective: float) -> float:
        """What the objective of an answer may rise to for round numbers, and by what a column of singles rounds.

        Args:
            objective: Of the answer as it was found.
        """
        return objective + rounding(objective, self.question.rounding) + rounding(objective, SINGLES_ROUNDING)

    def keeping_unread(self) -> Query:
        """The same query, in which what the model does not read may not change; itself if nothing more is kept then.

        What the rules of the question itself name is not kept: somebody has asked for it.
        """
        if self.question.unread == "free":
            return self
        named = {name for rule in self.question.constraints for name in rule.features}
        known = {name for name, number in zip(self.schema.names, self.factual, strict=True) if not np.isnan(number)}
        locked = {rule.feature for rule in self.schema.constraints if isinstance(rule, Immutable)}
        kept = tuple(name for name in self.unread if name in known - named - locked)
        return replace(self, schema=self.schema.with_constraints(*map(Immutable, kept)), kept=kept) if kept else self

    def freeing_unread(self) -> Query:
        """The same query, in which nothing is kept because the model does not read it: `keeping_unread` undone."""
        constraints = self.schema.constraints[: len(self.schema.constraints) - len(self.kept)]
        return replace(self, schema=replace(self.schema, constraints=constraints), kept=()) if self.kept else self

    @property
    def rules(self) -> tuple[Constraint, ...]:
        """What an answer must keep to beside the rules of the explainer's schema, in the order of the query's schema."""
        return (*self.question.rules(self.schema, self.factual), *map(Immutable, self.kept))

    def asking(self, **fields: Any) -> Query:
        """The same query with something else in its question.

        Args:
            fields: Fields of the `Question`.
        """
        return replace(self, question=replace(self.question, **fields))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Query) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[Any, ...]:
        """Everything, with values in the place of doubles: an unknown value equals itself."""
        asked = (self.schema, self.values, self.label, self.question, self.given, self.engine, self.solver)
        return (*asked, self.unread, self.kept, self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back without loss."""
        return {
            "schema": self.schema.to_dict(),
            "values": list(self.values),
            "label": self.label,
            "question": self.question.to_dict(),
            "given": list(self.given),
            "engine": self.engine,
            "solver": self.solver,
            "unread": list(self.unread),
            "kept": list(self.kept),
            "rows": self.rows,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], read_schema: ReadSchema = Schema.from_dict) -> Query:
        """The query that `to_dict` described.

        Args:
            data: What `to_dict` made.
            read_schema: How to read the schema: `SharedSchemas()` for the queries of a batch, which have few.
        """
        fields = dict(data)
        fields["schema"] = schema = read_schema(fields["schema"])
        fields["factual"] = schema.encode_row(fields.pop("values"))
        fields["question"] = Question.from_dict(fields["question"])
        if fields["rows"] not in get_args(Rows):
            raise ValueError(f"rows to compare with are {' or '.join(get_args(Rows))}, not {fields['rows']!r}")
        of_kinds(fields, {"label": CELL, "engine": str, "solver": (str, type(None))})
        for names in ("given", "unread", "kept"):
            fields[names] = tuple(fields[names])
        return cls(**fields)


class SharedSchemas:
    """Reads schemas, each different one once: building it takes longer than all the rest of a query."""

    #: So many are kept in mind.
    MOST = 16

    def __init__(self) -> None:
        self._known: list[tuple[Mapping[str, Any], Schema]] = []

    def __call__(self, data: Mapping[str, Any]) -> Schema:
        """The schema in plain data."""
        for known, schema in self._known:
            if known == data:
                return schema
        self._known = [(data, Schema.from_dict(data)), *self._known[: self.MOST - 1]]
        return self._known[0][1]


def unknown_feature(schema: Schema, row: Numbers) -> Name | None:
    """The first feature of which a row has no value; None if it is complete."""
    unknown = np.isnan(row)
    return schema.names[int(unknown.argmax())] if unknown.any() else None


def rows_named(rows: Rows) -> str:
    """The rows that answers are compared with, for people.

    Args:
        rows: Which.
    """
    return {"unseen": "new rows", "training": "the training rows"}[rows]
