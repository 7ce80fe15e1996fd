"""Rows as points of [0, 1]^n, as rivals read them, and back: numbers scaled, discrete values one-hot.

Every column of a point is linear in what the model reads, so a network of rows is a network of points (`Encoding.layers`). And
every point is near a row: `decode` takes the largest of one-hot columns and the nearest value of a number that the schema holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from likely.errors import PredictorError
from likely.explain.dtype_rounding import as_held
from likely.predictor import Form, LinearModel, ReluNetwork
from likely.predictor.forms import Layers
from likely.schema import Feature, Schema
from likely.schema.costs import MixedCost, MoveCost, SwitchCost
from likely.schema.grid import first_place, multiples
from likely.schema.region import EVERYTHING, Region
from likely.schema.rules import Clause
from likely.schema.values import LARGEST, Numbers, is_code

#: A number that moved by less than this share of its range did not move.
STILL = 1e-6


@dataclass(frozen=True)
class Part:
    """The columns of one feature."""

    feature: Feature
    #: The column of its numbers, from 0 for the least to 1 for the greatest; None for a discrete feature.
    number: int | None
    #: A column for each of these doubles, 1 where the row has it; NaN stands for "a number". Empty for a plain number.
    atoms: tuple[float, ...]
    #: The first of those columns.
    first: int

    @property
    def group(self) -> slice:
        """The one-hot columns."""
        return slice(self.first, self.first + len(self.atoms))

    @property
    def low(self) -> float:
        """The number that is 0."""
        return self.feature.lower

    @property
    def span(self) -> float:
        """How far the number that is 1 lies above the one that is 0."""
        return (self.feature.upper - self.feature.lower) or 1.0


@dataclass(frozen=True)
class Encoding:
    """The columns of a schema's features, in order."""

    schema: Schema

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The columns of each feature."""
        made, at = [], 0
        for feature in self.schema.features:
            number = at if feature.numeric else None
            at += feature.numeric
            atoms = tuple(feature.atom_number(k) for k in range(len(feature.atoms)))
            if feature.numeric and atoms:
                atoms = (np.nan, *atoms)
            made.append(Part(feature, number, atoms, at))
            at += len(atoms)
        return tuple(made)

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.parts[-1].first + len(self.parts[-1].atoms)

    @cached_property
    def groups(self) -> tuple[slice, ...]:
        """The one-hot columns of each feature that has some."""
        return tuple(part.group for part in self.parts if part.atoms)

    @cached_property
    def numbers(self) -> NDArray[np.intp]:
        """The columns of numbers."""
        return np.array([part.number for part in self.parts if part.number is not None], dtype=np.intp)

    @cached_property
    def feature_of(self) -> NDArray[np.intp]:
        """The place of each column's feature."""
        sizes = [(part.number is not None) + len(part.atoms) for part in self.parts]
        return np.repeat(np.arange(len(self.parts)), sizes)

    @cached_property
    def weights(self) -> Numbers:
        """What a whole unit of each column costs by the schema: its cost without fees, as the mean of both directions."""
        made = np.zeros(self.width)
        for part, cost in zip(self.parts, self.schema.costs, strict=True):
            if isinstance(cost, MoveCost | MixedCost):
                move = cost.move if isinstance(cost, MixedCost) else cost
                made[part.number] = (move.up + move.down) / 2 * part.span
            if isinstance(cost, SwitchCost | MixedCost):
                made[part.group] = cost.weights if isinstance(cost, SwitchCost) else (0.0, *cost.weights)
        return made

    def encode(self, rows: Numbers) -> Numbers:
        """Rows as points; a row with a number outside of its feature's bounds is outside of [0, 1].

        Args:
            rows: Complete rows, as doubles.
        """
        points = np.zeros((len(rows), self.width))
        for j, part in enumerate(self.parts):
            numbers, code = rows[:, j], is_code(rows[:, j])
            if part.number is not None:
                points[:, part.number] = np.where(code, 0.0, (np.where(code, part.low, numbers) - part.low) / part.span)
            for k, atom in enumerate(part.atoms, part.first):
                points[:, k] = ~code if np.isnan(atom) else numbers == atom
        return points

    def decode(self, points: Numbers, factual: Numbers) -> Numbers:
        """The rows that points are near: values of the features, or the factual's own where a point has not moved from it.

        Args:
            points: Any points; coordinates outside of [0, 1] count as the nearer end.
            factual: The row that is explained, as doubles.
        """
        origin = self.encode(factual[None])[0]
        rows = np.empty((len(points), len(self.parts)))
        for j, part in enumerate(self.parts):
            group = points[:, part.group]
            if part.number is not None:
                moved = np.abs(points[:, part.number] - origin[part.number]) > STILL
                inside = part.low + part.span * np.clip(points[:, part.number], 0.0, 1.0)
                stays = ~moved & ~is_code(factual[j : j + 1])
                rows[:, j] = np.where(stays, factual[j], nearest_values(part.feature, inside))
            if part.atoms:
                chosen = np.array(part.atoms)[np.argmax(group, axis=1)]
                rows[:, j] = np.where(np.isnan(chosen), rows[:, j], chosen)
        return rows

    def box(self, factual: Numbers) -> tuple[Numbers, Numbers]:
        """The least and the greatest coordinates of points that keep every rule about one feature.

        So what may not change is fixed, and what may only rise begins at the factual's value.

        Args:
            factual: The row that is explained, as doubles.
        """
        allowed = [EVERYTHING] * len(self.parts)
        for rule in self.schema.compile(factual):
            if isinstance(rule, Clause) and len(rule.literals) == 1:
                j, region = rule.literals[0]
                allowed[j] &= region
        low, high = np.zeros(self.width), np.ones(self.width)
        for j, part in enumerate(self.parts):
            region = allowed[j] & (part.feature.region | Region.points(factual[j : j + 1].tolist()))
            numbers = region & Region.between(-LARGEST, LARGEST)
            if part.number is not None:
                ends = (np.array([numbers.low, numbers.high]) - part.low) / part.span if not numbers.empty else (0.0, 0.0)
                low[part.number], high[part.number] = ends
            can = np.array([not numbers.empty if np.isnan(atom) else atom in region for atom in part.atoms])
            high[part.group] = can
            if can.sum() == 1:
                low[part.group] = can
        return low, high

    def layers(self, form: Form) -> Layers:
        """A linear function or a ReLU network of rows as one of points: the same scores for the point of every row.

        Args:
            form: What the model computes.
        """
        if not isinstance(form, LinearModel | ReluNetwork) or form.curved:
            raise PredictorError(
                "The model of a method that follows its gradient", "be a linear function or a ReLU network of scaled columns",
                f"a {form.form} form", "leave the method out for this model",
            )  # fmt: skip
        matrix, shift = np.zeros((len(form.columns), self.width)), np.zeros(len(form.columns))
        for c, column in enumerate(form.columns):
            part = self.parts[column.feature]
            if part.number is not None:
                shift[c] = column.slope * (part.low - column.center) + column.intercept
                matrix[c, part.number] = column.slope * part.span
            values = [read - shift[c] for read in column.table]
            for k, atom in enumerate(part.atoms, part.first):
                matrix[c, k] = 0.0 if np.isnan(atom) else values[k - part.first - np.isnan(part.atoms[0])]
        (weights, bias), *rest = form.layers
        return ((weights @ matrix, weights @ shift + bias), *rest)


def nearest_values(feature: Feature, numbers: Numbers) -> Numbers:
    """The values of a feature of numbers that are nearest to these, as its column holds them.

    Args:
        feature: It has bounds, and perhaps a step.
        numbers: Numbers between its bounds.
    """
    found = np.clip(numbers, feature.lower, feature.upper)
    if feature.grid is not None:
        found = _on_grid(feature, found)
    if feature.dtype.lower() in ("float16", "float32"):
        found = np.array([as_held(feature, float(number)) for number in found])
    misfit = np.flatnonzero(~feature.fits(found))
    if misfit.size:  # a number that is taken by a code, or that the column's dtype rounded out of its bounds
        found[misfit] = [_beside(feature, float(number)) for number in found[misfit]]
    return found


def _on_grid(feature: Feature, numbers: Numbers) -> Numbers:
    step = feature.grid or 1.0
    first, last = first_place(np.array([feature.lower, -feature.upper]), step) * (1, -1)
    exceptions = np.array([value for value in feature.off_grid if feature.lower <= value <= feature.upper])
    if first > last:
        choices = exceptions[None].repeat(len(numbers), axis=0)
    else:
        found = multiples(np.clip(np.round(numbers / step), first, last), step)
        choices = np.column_stack([found, np.broadcast_to(exceptions, (len(numbers), len(exceptions)))])
    return np.asarray(choices[np.arange(len(numbers)), np.argmin(np.abs(choices - numbers[:, None]), axis=1)])


def _beside(feature: Feature, number: float) -> float:
    """The first value of a feature beside a number that is none, on either side."""
    step = feature.grid or float(np.spacing(np.float32(max(abs(number), 1e-30))))
    for count in range(1, 1000):
        for way in (-count, count):
            near = as_held(feature, number + way * step)
            if feature.fits(np.array([near]))[0]:
                return near
    numbers = feature.region & Region.between(-LARGEST, LARGEST)
    return numbers.low
