"""`encode_schema`: the rows of a schema as variables of a mixed-integer programme."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from likely.mio.modelling import Block, Expression, Variable, add, binaries, new_block, new_blocks, numbers, rows, total, value_of
from likely.mio.tolerances import SMALLEST
from likely.problem.domain import Partition, partition
from likely.schema import Feature, Schema
from likely.schema.costs import MoveCost
from likely.schema.discrete import Binary
from likely.schema.grid import snap
from likely.schema.values import Numbers

_NONE = np.empty(0)


def cells_of(feature: Feature, breakpoints: Numbers = _NONE) -> Partition:
    """The closed cells between breakpoints, from value to value.

    Args:
        feature: Whose numbers.
        breakpoints: The doubles at which a cell begins.
    """
    return partition(feature, MoveCost(0.0, 0.0), math.nan, breakpoints)


@dataclass(frozen=True)
class Scale:
    """A feature's numbers as a variable u between 0 and `length`: number = base + unit * u; whole if there is a grid."""

    base: float
    unit: float
    length: float
    grid: float

    def units(self, values: Numbers) -> Numbers:
        """The variable's value at each number.

        Args:
            values: Numbers of the feature.
        """
        units = (np.asarray(values, dtype=np.float64) - self.base) / self.unit
        if self.grid:
            return np.round(units)
        units = np.where(units > self.length - SMALLEST, self.length, units)
        return np.where(units < SMALLEST, 0.0, units)

    def number(self, unit: float) -> float:
        """The number at a value of the variable.

        Args:
            unit: A value of the variable.
        """
        number = self.base + self.unit * (round(unit) if self.grid else unit)
        return float(snap(np.array([number]), self.grid)[0]) + 0.0 if self.grid else number


def scale_of(feature: Feature) -> Scale:
    """How the numbers of a feature are scaled: reals to [0, 1], multiples of a step to 0, 1, 2, ...

    Args:
        feature: One of numbers.
    """
    cells = cells_of(feature)
    low, high = float(cells.low[0]), float(cells.high[-1])
    if cells.grid:
        first, last = round(low / cells.grid), round(high / cells.grid)
        return Scale(first * cells.grid, cells.grid, float(last - first), cells.grid)
    return Scale(low, high - low if high > low else 1.0, float(high > low), 0.0)


@dataclass(frozen=True, eq=False)
class IndicatorBounds:
    """While `variable` is 1 (or 0, if `negated`), the number of a feature lies between `low` and `high`."""

    variable: Variable
    low: float
    high: float
    negated: bool = False

    @property
    def active(self) -> bool:
        """Whether it is in force at the variables' values."""
        return bool(self.variable.value > 0.5) != self.negated

    @property
    def indicator(self) -> Expression:
        """1 while it is in force, else 0."""
        return 1 - self.variable if self.negated else self.variable


@dataclass(eq=False)
class FeatureInputs:
    """One feature in a programme."""

    feature: Feature
    #: 1 for the atom (discrete value or code) that the row has
    atoms: list[Expression]
    #: 1 if the row has a number there
    is_number: Expression
    scale: Scale | None = None
    variable: Variable = None
    atom_variables: list[Variable] = field(default_factory=list)
    holes: Cells | None = None
    #: What the programme says of the number, for good, and for the factual at hand.
    indicator_bounds: list[IndicatorBounds] = field(default_factory=list)
    question_bounds: list[IndicatorBounds] = field(default_factory=list)
    #: Values that are no multiples of the step; they have the place of the multiple beside them.
    off_grid: Numbers = field(default_factory=lambda: _NONE)

    @property
    def number(self) -> Expression:
        """The number that the row has; 0 if it has a code."""
        assert self.scale is not None
        return self.scale.base * self.is_number + self.scale.unit * self.variable

    @property
    def variables(self) -> list[Variable]:
        """Its variables, none of them negative."""
        return [*self.atom_variables, *([] if self.scale is None else [self.variable])]

    def atom(self, value: float) -> int | None:
        """The place of the atom that a double stands for, if it is one.

        Args:
            value: A double of the feature.
        """
        numbers = [self.feature.atom_number(k) for k in range(len(self.atoms))]
        return numbers.index(value) if value in numbers else None

    def set(self, value: float) -> None:
        """Give the variables the values that stand for this double.

        Args:
            value: A double of the feature.
        """
        atom = self.atom(value)
        first = len(self.atoms) - len(self.atom_variables)  # of a binary feature, the second value has the only variable
        for k, variable in enumerate(self.atom_variables):
            variable.set_value(int(k + first == atom))
        if self.scale is not None:
            self.variable.set_value(0.0 if atom is not None else float(self.scale.units(np.array([value]))[0]))
        if self.holes is not None:
            self.holes.set(value)

    def get(self) -> float:
        """The double that the variables' values stand for; NaN if what holds of it contradicts itself in the last bits."""
        for k, atom in enumerate(self.atoms):
            if value_of(atom) > 0.5:
                return self.feature.atom_number(k)
        assert self.scale is not None
        number = self.scale.number(self.variable.value)
        if self.scale.grid:
            return self._at_place(number)
        active = [bounds for bounds in (*self.indicator_bounds, *self.question_bounds) if bounds.active]
        low = max((bounds.low for bounds in active), default=self.feature.lower)
        high = min((bounds.high for bounds in active), default=self.feature.upper)
        return min(max(number, low), high) if low <= high else math.nan

    def beside(self, number: float) -> Numbers:
        """The values off the grid that have the place of a number.

        Args:
            number: A number of the feature.
        """
        assert self.scale is not None
        return np.asarray(self.off_grid[self.scale.units(self.off_grid) == self.scale.units(np.array([number]))[0]])

    def _at_place(self, multiple: float) -> float:
        """A multiple of the step, or the value off the grid that has its place, if that is what the factual's cells say."""
        beside = self.beside(multiple)
        if len(beside) and self.feature.fits(np.array([multiple]))[0]:
            active = [bounds for bounds in self.question_bounds if bounds.active]
            if all(bounds.low <= multiple <= bounds.high for bounds in active):
                return multiple
        return float(beside[0]) if len(beside) else multiple


@dataclass(eq=False)
class Cells:
    """Closed cells of a feature's numbers, each with a 0-1 variable."""

    inputs: FeatureInputs
    low: Numbers
    high: Numbers
    variables: list[Variable]

    @property
    def indicator_bounds(self) -> list[IndicatorBounds]:
        """What the variables say of the number."""
        return [
            IndicatorBounds(variable, float(a), float(b))
            for variable, a, b in zip(self.variables, self.low, self.high, strict=True)
        ]

    def set(self, value: float) -> None:
        """Give the variables the values that follow from the feature's double.

        Args:
            value: A double of the feature.
        """
        for variable, inside in zip(self.variables, cell_holds(self.inputs, self.low, self.high, value), strict=True):
            variable.set_value(int(inside))


def cell_holds(inputs: FeatureInputs, low: Numbers, high: Numbers, value: float) -> NDArray[np.bool_]:
    """Which of these cells a double lies in.

    Args:
        inputs: The feature's variables.
        low: The least value of each cell.
        high: The greatest value of each cell.
        value: A double of the feature.
    """
    scale = inputs.scale
    if scale is None or inputs.atom(value) is not None:
        return np.zeros(len(low), dtype=np.bool_)
    inside = np.asarray((low <= value) & (value <= high))
    if scale.grid and not inside.any():  # written otherwise, or off the grid
        value = float(scale.units(np.array([value]))[0])
        inside = np.asarray((scale.units(low) <= value) & (value <= scale.units(high)))
    return inside


@dataclass(eq=False)
class RowVariables:
    """The row of a programme: `block` to put into a model, and its parts per feature."""

    schema: Schema
    block: Block
    features: list[FeatureInputs]

    def set(self, row: Numbers) -> None:
        """Give the variables the values that stand for a row (the inverse of `get`).

        Args:
            row: A row, as doubles.
        """
        for feature, value in zip(self.features, row, strict=True):
            feature.set(float(value))

    def get(self) -> Numbers:
        """The row that the variables' values stand for; NaN where they contradict each other in the last bits."""
        return np.array([feature.get() for feature in self.features])


def encode_schema(schema: Schema) -> RowVariables:
    """The rows of a schema: every feature's variables, tied so that they stand for one value of its domain.

    With d_k = 1 for the k-th discrete value or code, n = 1 for a number and u its scaled value (the paper's mixed polytope,
    corrected: a purely discrete feature has no continuous part):

        binary                d_1 in {0, 1}, d_0 = 1 - d_1                     1 column,      0 rows
        categorical, ordinal  sum_k d_k = 1 (ordinals in the order of ranks)   K columns,     1 row
        continuous            0 <= u <= 1, number = lower + span * u           1 column,      0 rows
        integer, step         u in {0, 1, ..., U}, number = first + step * u   1 column,      0 rows
        mixed                 n = 1 - sum_k d_k >= 0,  u <= U n                K + 1 columns, 2 rows

    A feature whose numbers have holes (a mixed one with codes within its bounds) has, for its I intervals, I more columns
    and 3 more rows: sum_i s_i = n, sum_i low_i s_i <= u <= sum_i high_i s_i. Exact: the integer points are the rows.

    Args:
        schema: The features.
    """
    block = new_block()
    block.feature = new_blocks(len(schema))
    features = [_encode_feature(block.feature[j], feature) for j, feature in enumerate(schema.features)]
    return RowVariables(schema, block, features)


def _encode_feature(block: Block, feature: Feature) -> FeatureInputs:
    block.rows = rows()
    atoms: list[Expression] = []
    variables: list[Variable] = []
    if isinstance(feature, Binary):
        block.value = binaries(1)
        variables, atoms = [block.value[0]], [1 - block.value[0], block.value[0]]
    elif feature.atoms:
        block.value = binaries(len(feature.atoms))
        variables = atoms = [block.value[k] for k in range(len(feature.atoms))]
        add(block, total(atoms) <= 1 if feature.numeric else total(atoms) == 1)
    if not feature.numeric:
        return FeatureInputs(feature, atoms, 0, atom_variables=variables)
    scale = scale_of(feature)
    block.number = numbers(1, 0.0, scale.length, whole=scale.grid > 0)
    inputs = FeatureInputs(feature, atoms, 1 - total(atoms) if atoms else 1, scale, block.number[0], atom_variables=variables)
    if atoms:
        add(block, block.number[0] <= scale.length * inputs.is_number)
    cells = cells_of(feature)
    if len(cells.low) > 1 and feature.atoms:
        inputs.holes = encode_cells(block, inputs, cells.low, cells.high)
        inputs.indicator_bounds += inputs.holes.indicator_bounds
    return inputs


def encode_cells(block: Block, feature: FeatureInputs, low: Numbers, high: Numbers) -> Cells:
    """A 0-1 variable for each closed cell of a feature's numbers: 1 for the one that the number lies in.

        sum_c s_c = n,  sum_c low_c s_c <= u <= sum_c high_c s_c         C columns, 3 rows

    The convex hull of the cells (Balas, "Disjunctive programming", 1979); exact up to the solver's tolerance, and to the last bit
    after decoding.

    Args:
        block: Where the variables and rows go.
        feature: Whose numbers.
        low: The least value of each cell.
        high: The greatest value of each cell.
    """
    assert feature.scale is not None
    block.cell = binaries(len(low))
    ends = feature.scale.units(low), feature.scale.units(high)
    cells = [block.cell[c] for c in range(len(low))]
    add(block, total(cells) == feature.is_number)
    add(block, total(float(end) * cell for end, cell in zip(ends[0], cells, strict=True)) <= feature.variable)
    add(block, total(float(end) * cell for end, cell in zip(ends[1], cells, strict=True)) >= feature.variable)
    return Cells(feature, low, high, cells)
