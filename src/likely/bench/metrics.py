"""What an answer is worth, as plain functions of arrays: rows are encoded by the schema, a row per answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.schema import Schema
from likely.schema.grid import snap
from likely.schema.values import Numbers, is_code

#: A number counts as changed if it moved by more than this share of the range of its feature: less is rounding.
STILL = 1e-9


def changed(schema: Schema, factual: Numbers, rows: Numbers) -> NDArray[np.intp]:
    """How many features each row changes.

    Args:
        schema: Of the rows.
        factual: The row that is explained.
        rows: The answers.
    """
    count = np.zeros(len(rows), dtype=np.intp)
    for j, feature in enumerate(schema.features):
        moved = rows[:, j] != factual[j]
        if feature.numeric:
            near = np.abs(rows[:, j] - factual[j]) <= STILL * (feature.upper - feature.lower)
            moved &= ~near | is_code(rows[:, j]) | bool(is_code(factual[j : j + 1])[0])
        count += moved
    return count


def diversity(schema: Schema, rows: Numbers) -> float:
    """The mean cost from one answer to another; NaN if there are fewer than two.

    Args:
        schema: Of the rows; it has the costs.
        rows: The answers to one question.
    """
    if len(rows) < 2:
        return float("nan")
    costs = [schema.prices(rows[i], np.delete(rows, i, axis=0)).mean() for i in range(len(rows))]
    return float(np.mean(costs))


def nearest_distance(schema: Schema, row: Numbers, pool: Numbers) -> float:
    """The cost from a row to the nearest one of a table.

    Args:
        schema: Of the rows; it has the costs.
        row: An answer.
        pool: The rows of the table; if there is none, the distance is infinite.
    """
    return float(schema.prices(row, pool).min()) if len(pool) else float("inf")


def rounded(schema: Schema, rows: Numbers) -> Numbers:
    """Rows with every number at the nearest multiple of the step that its feature was recorded to, within its bounds.

    Args:
        schema: It knows the steps.
        rows: The answers.
    """
    made = rows.copy()
    for j, feature in enumerate(schema.features):
        if feature.numeric and feature.grid is not None:
            plain = ~is_code(rows[:, j]) & ~np.isin(rows[:, j], feature.off_grid)
            made[plain, j] = np.clip(snap(rows[plain, j], feature.grid), feature.lower, feature.upper)
    return made


def noisy(schema: Schema, row: Numbers, spread: Numbers, count: int, random: np.random.Generator) -> Numbers:
    """A row many times, with Gaussian noise on its numbers, within the bounds of features.

    Args:
        schema: Of the row.
        row: An answer.
        spread: The standard deviation of the noise of each feature; that of discrete ones is not used.
        count: How many.
        random: Where chance comes from.
    """
    made = np.repeat(row[None, :], count, axis=0)
    for j, feature in enumerate(schema.features):
        if feature.numeric and not is_code(row[j : j + 1])[0]:
            low, high = min(feature.lower, row[j]), max(feature.upper, row[j])
            made[:, j] = np.clip(row[j] + spread[j] * random.standard_normal(count), low, high)
    return made


def share(labels: Sequence[Any] | NDArray[Any], target: Any) -> float:
    """The share of classes that are the wanted one.

    Args:
        labels: What models decide.
        target: The wanted class.
    """
    return float(np.mean([label == target for label in labels])) if len(labels) else float("nan")


def likeliest(log_likelihoods: Numbers, valid: NDArray[np.bool_]) -> int | None:
    """The place of the likeliest of the valid answers; None if none is valid.

    Args:
        log_likelihoods: Of each answer.
        valid: Which answers the model decides as wanted.
    """
    places = np.flatnonzero(valid)
    return int(places[np.argmax(log_likelihoods[places])]) if len(places) else None


def approximation_error(claimed: float, true: float) -> float:
    """By how much a method's own idea of a log-likelihood is off.

    Args:
        claimed: What the method believed.
        true: What the circuit says.
    """
    return abs(claimed - true)
