"""Does a table fit a schema? Counted, not raised: a report of everything that does not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from likely.errors import SchemaError
from likely.schema.features import Feature
from likely.schema.rules import all_satisfied
from likely.schema.values import Name, Numbers, plain

if TYPE_CHECKING:
    from likely.schema.constraint import Constraint
    from likely.schema.schema import Schema


@dataclass(frozen=True)
class Misfit:
    """Cells of one feature that do not fit: how many, what is wrong, and the first of them."""

    feature: Name
    count: int
    what: str
    example: str

    def __str__(self) -> str:
        return f"'{self.feature}': {self.count} {'row' if self.count == 1 else 'rows'} {self.what}, first {self.example}"


@dataclass(frozen=True)
class ValidationReport:
    """What `schema.validate` found; `ok` if nothing."""

    rows: int
    problems: tuple[Misfit, ...]
    broken: tuple[tuple[Constraint, int], ...]
    missing: tuple[Name, ...]
    extra: tuple[Name, ...]

    @property
    def ok(self) -> bool:
        """Whether every cell fits and every row keeps every rule (columns the schema does not name are no fault)."""
        return not (self.problems or self.broken or self.missing)

    def __bool__(self) -> bool:
        return self.ok

    def to_dict(self) -> dict[str, Any]:
        """Plain data for machines."""
        return {
            "ok": self.ok,
            "rows": self.rows,
            "problems": [vars(problem) for problem in self.problems],
            "broken": [{"rule": str(rule), "rows": count} for rule, count in self.broken],
            "missing": list(self.missing),
            "extra": list(self.extra),
        }

    def __str__(self) -> str:
        lines = [f"'{name}': the column is missing" for name in self.missing]
        lines += [str(problem) for problem in self.problems]
        lines += [f"{count} of {self.rows} rows break the rule: {rule}" for rule, count in self.broken]
        faults = f"{len(lines)} {'kind' if len(lines) == 1 else 'kinds'} of fault"
        verdict = f"{self.rows} rows fit the schema" if self.ok else f"{self.rows} rows, {faults}"
        if self.extra:
            lines.append(f"not in the schema: {', '.join(repr(name) for name in self.extra)}")
        return "\n".join([verdict, *("  " + line for line in lines)])


def validate(schema: Schema, data: pd.DataFrame) -> ValidationReport:
    """Everything in `data` that does not fit `schema`.

    Args:
        schema: The features, rules and costs.
        data: A table with the user's columns.
    """
    numbers = np.full((len(data), len(schema.features)), math.nan)
    problems: list[Misfit] = []
    for j, feature in enumerate(schema.features):
        column: Any = data.get(feature.name)
        if isinstance(column, pd.DataFrame):
            problems.append(Misfit(feature.name, len(data), "stand in several columns of this name", str(column.shape[1])))
        elif column is not None:
            numbers[:, j], misfits = _read(feature, column)
            problems += misfits
    broken = [(c, _count_broken(schema, c, numbers)) for c in schema.constraints if c.row_wise]
    return ValidationReport(
        rows=len(data),
        problems=tuple(problems),
        broken=tuple((constraint, count) for constraint, count in broken if count),
        missing=tuple(name for name in schema.names if name not in data.columns),
        extra=tuple(name for name in data.columns if name not in schema.names),
    )


def _count_broken(schema: Schema, constraint: Constraint, numbers: Numbers) -> int:
    """How many rows break a row-wise rule, among those where all that it names is known."""
    named = [schema.index(name) for name in constraint.features]
    complete = numbers[~np.isnan(numbers[:, named]).any(axis=1)]
    nobody = np.full(len(schema.features), math.nan)
    return int((~all_satisfied(constraint.compile(schema, nobody), complete)).sum())


def _read(feature: Feature, column: pd.Series[Any]) -> tuple[Numbers, list[Misfit]]:
    """The column's doubles, NaN where a cell does not fit, and what does not."""
    try:
        numbers, misfits = feature.encode(column), np.zeros(len(column), dtype=bool)
    except SchemaError:
        numbers, misfits = _read_values(feature, column)
    problems = []
    missing = np.isnan(numbers) & ~misfits
    known = ~np.isnan(numbers)
    outside = known.copy()
    outside[known] = ~feature.region.contains(numbers[known])
    astray = known & ~outside
    astray[astray] = ~feature.fits(numbers[astray])
    for rows, what in (
        (misfits, "without a value of the feature"),
        (missing, "missing (add a code None, or fill them)"),
        (outside, f"outside {feature.describe()}"),
        (astray, f"between the steps of {feature.describe()}"),
    ):
        if rows.any():
            problems.append(Misfit(feature.name, int(rows.sum()), what, _example(column[rows].iloc[0])))
    return numbers, problems


def _example(cell: Any) -> str:
    try:
        return repr(plain(cell))
    except SchemaError:
        return repr(cell)


def _read_values(feature: Feature, column: pd.Series[Any]) -> tuple[Numbers, np.ndarray[Any, np.dtype[np.bool_]]]:
    """Cell by cell, for a column that cannot be read at once."""
    numbers, misfits = np.full(len(column), math.nan), np.zeros(len(column), dtype=bool)
    for i, cell in enumerate(column):
        try:
            numbers[i] = feature.number(cell)
        except SchemaError:
            misfits[i] = True
    return numbers, misfits
