"""From the user's table to the doubles that a circuit scores: which columns there must be, and what their cells mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd

from likely.errors import CircuitError
from likely.schema import Feature
from likely.schema.values import Name, Numbers, distinct, plain


def encoded_table(X: pd.DataFrame, features: Sequence[Feature], target: Feature | None, *, marginal: bool) -> Numbers:
    """Rows x variables, the target last; NaN where a value is unknown or, if it is `marginal`, its column left out."""
    columns = list(X.columns)
    variables = [*features, target] if target is not None else list(features)
    names = [variable.name for variable in variables]
    _refuse_twice(columns, names)
    if marginal:
        _refuse_unknown(columns, names)
    else:
        _refuse_missing(columns, [feature.name for feature in features])
    rows = np.full((len(X), len(variables)), np.nan)
    for j, variable in enumerate(variables):
        if variable.name in columns:
            rows[:, j] = encoded_column(variable, X[variable.name])
    return rows


def encoded_column(variable: Feature, column: pd.Series[Any]) -> Numbers:
    """A column as doubles; a category that is not listed stands one place past the last, where no leaf has a density."""
    if variable.numeric:
        return variable.encode(column)
    places, cells = distinct(column, variable.name)
    listed = {str(value) for value in variable.atoms}  # a number that is listed as text is a mistake, and refused
    new = [plain(cell, variable.name) not in variable.atoms and str(cell) not in listed for cell in cells]
    unlisted = np.array([*new, False])[places]
    numbers = np.full(len(column), unlisted_place(variable))
    numbers[~unlisted] = variable.encode(column[~unlisted])
    return numbers


def unlisted_place(variable: Feature) -> float:
    """The double of a category that a discrete variable does not list."""
    return float(len(variable.atoms))


def _refuse_twice(columns: Sequence[Any], names: Sequence[Name]) -> None:
    twice = next((name for name in names if columns.count(name) > 1), None)
    if twice is not None:
        raise CircuitError("A table", f"have one column {twice!r}", "several", "rename all but one", feature=twice)


def _refuse_missing(columns: Sequence[Any], names: Sequence[Name]) -> None:
    missing = next((name for name in names if name not in columns), None)
    if missing is None:
        return
    twin = _nearest(missing, (column for column in columns if column not in names))
    got, rename = ("none", "") if twin is None else (f"none, but {twin!r}", f"rename {twin!r}, or ")
    hint = f"{rename}pass marginal=True to sum over what is not there"
    raise CircuitError("A table", f"have the column {missing!r}", got, hint, feature=missing)


def _refuse_unknown(columns: Sequence[Any], names: Sequence[Name]) -> None:
    unknown = next((column for column in columns if column not in names), None)
    if unknown is None:
        return
    twin = _nearest(unknown, names)
    hint = "drop it" if twin is None else f"rename it to {twin!r}, or drop it"
    raise CircuitError("Every column, where some are left out,", "be the circuit's", repr(unknown), hint, feature=unknown)


def _nearest(name: Any, names: Iterable[Any]) -> Any:
    """The name that is spelt most like another, if any is."""
    by_text = {str(other): other for other in names}
    close = get_close_matches(str(name), by_text, n=1)
    return by_text[close[0]] if close else None
