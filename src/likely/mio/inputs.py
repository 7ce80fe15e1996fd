"""`encode_schema`: the rows of a schema as variables of a mixed-integer programme."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from likely.mio.modelling import Block, Expression, Variable, add, binaries, block, blocks, numbers, rows, total, value_of
from likely.mio.tolerances import SMALLEST
from likely.problem.domain import Partition, partition
from likely.schema import Feature, Schema
from likely.schema.costs import MoveCost
from likely.schema.discrete import Binary
from likely.schema.grid import snap
from likely.schema.values import Numbers

_NONE = np.empty(0)


def cells_of(feature: Feature, starts: Numbers = _NONE, factual: float = math.nan) -> Partition:
    """The closed cells between these starts, from value to value."""
    return partition(feature, MoveCost(0.0, 0.0), factual, starts)


@dataclass(frozen=True)
class Scale:
    """A feature's numbers as a variable u between 0 and `length`: number = base + unit * u; whole if there is a grid."""

    base: float
    unit: float
    length: float
    grid: float

    def units(self, values: Numbers) -> Numbers:
        """The variable's value at each number."""
        found = (np.asarray(values, dtype=np.float64) - self.base) / self.unit
        if self.grid:
            return np.round(found)
        found = np.where(found > self.length - SMALLEST, self.length, found)
        return np.where(found < SMALLEST, 0.0, found)

    def number(self, unit: float) -> float:
        """The number at a value of the variable."""
        found = self.base + self.unit * (round(unit) if self.grid else unit)
        return float(snap(np.array([found]), self.grid)[0]) + 0.0 if self.grid else found


def scale_of(feature: Feature) -> Scale:
    """How the numbers of a feature are scaled: reals to [0, 1], multiples of a step to 0, 1, 2, ..."""
    cells = cells_of(feature)
    low, high = float(cells.low[0]), float(cells.high[-1])
    if cells.grid:
        first, last = round(low / cells.grid), round(high / cells.grid)
        return Scale(first * cells.grid, cells.grid, float(last - first), cells.grid)
    return Scale(low, high - low if high > low else 1.0, float(high > low), 0.0)


@dataclass(frozen=True, eq=False)
class Held:
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
    own_variables: list[Variable] = field(default_factory=list)
    holes: Cells | None = None
    #: What the programme says of the number, for good, and for the factual at hand.
    held: list[Held] = field(default_factory=list)
    held_now: list[Held] = field(default_factory=list)
    #: Values that are no multiples of the step, and stand for the multiple beside them.
    apart: Numbers = field(default_factory=lambda: _NONE)

    @property
    def number(self) -> Expression:
        """The number that the row has; 0 if it has a code."""
        assert self.scale is not None
        return self.scale.base * self.is_number + self.scale.unit * self.variable

    @property
    def variables(self) -> list[Variable]:
        """Its variables, none of them negative."""
        return [*self.own_variables, *([] if self.scale is None else [self.variable])]

    def atom(self, value: float) -> int | None:
        """The place of the atom that a double stands for, if it is one."""
        numbers = [self.feature.atom_number(k) for k in range(len(self.atoms))]
        return numbers.index(value) if value in numbers else None

    def set(self, value: float) -> None:
        """Give the variables the values that stand for this double."""
        atom = self.atom(value)
        first = len(self.atoms) - len(self.own_variables)  # of a binary feature, the second value has the only variable
        for k, own in enumerate(self.own_variables):
            own.set_value(int(k + first == atom))
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
            beside = self.apart[self.scale.units(self.apart) == round(self.variable.value)]
            return float(beside[0]) if len(beside) else number
        held = [own for own in (*self.held, *self.held_now) if own.active]
        low = max((own.low for own in held), default=self.feature.lower)
        high = min((own.high for own in held), default=self.feature.upper)
        return min(max(number, low), high) if low <= high else math.nan


@dataclass(eq=False)
class Cells:
    """Closed cells of a feature's numbers, each with a 0-1 variable."""

    inputs: FeatureInputs
    low: Numbers
    high: Numbers
    variables: list[Variable]

    @property
    def held(self) -> list[Held]:
        """What the variables say of the number."""
        return [Held(own, float(a), float(b)) for own, a, b in zip(self.variables, self.low, self.high, strict=True)]

    def set(self, value: float) -> None:
        """Give the variables the values that follow from the feature's double."""
        for variable, inside in zip(self.variables, cell_holds(self.inputs, self.low, self.high, value), strict=True):
            variable.set_value(int(inside))


def cell_holds(inputs: FeatureInputs, low: Numbers, high: Numbers, value: float) -> NDArray[np.bool_]:
    """Which of these cells a double lies in."""
    scale = inputs.scale
    if scale is None or inputs.atom(value) is not None:
        return np.zeros(len(low), dtype=np.bool_)
    if scale.grid:
        low, high, value = scale.units(low), scale.units(high), float(scale.units(np.array([value]))[0])
    return np.asarray((low <= value) & (value <= high))


@dataclass(eq=False)
class RowVariables:
    """The row of a programme: `block` to put into a model, and its parts per feature."""

    schema: Schema
    block: Block
    features: list[FeatureInputs]

    def set(self, row: Numbers) -> None:
        """Give the variables the values that stand for a row (the inverse of `get`)."""
        for own, value in zip(self.features, row, strict=True):
            own.set(float(value))

    def get(self) -> Numbers:
        """The row that the variables' values stand for; NaN where they contradict each other in the last bits."""
        return np.array([own.get() for own in self.features])


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
    """
    own = block()
    own.feature = blocks(len(schema))
    found = [_encode_feature(own.feature[j], feature) for j, feature in enumerate(schema.features)]
    return RowVariables(schema, own, found)


def _encode_feature(own: Block, feature: Feature) -> FeatureInputs:
    own.rows = rows()
    atoms: list[Expression] = []
    variables: list[Variable] = []
    if isinstance(feature, Binary):
        own.value = binaries(1)
        variables, atoms = [own.value[0]], [1 - own.value[0], own.value[0]]
    elif feature.atoms:
        own.value = binaries(len(feature.atoms))
        variables = atoms = [own.value[k] for k in range(len(feature.atoms))]
        add(own, total(atoms) <= 1 if feature.numeric else total(atoms) == 1)
    if not feature.numeric:
        return FeatureInputs(feature, atoms, 0, own_variables=variables)
    scale = scale_of(feature)
    own.number = numbers(1, 0.0, scale.length, whole=scale.grid > 0)
    found = FeatureInputs(feature, atoms, 1 - total(atoms) if atoms else 1, scale, own.number[0], own_variables=variables)
    if atoms:
        add(own, own.number[0] <= scale.length * found.is_number)
    cells = cells_of(feature)
    if len(cells.low) > 1 and feature.atoms:
        found.holes = encode_cells(own, found, cells.low, cells.high)
        found.held += found.holes.held
    return found


def encode_cells(own: Block, feature: FeatureInputs, low: Numbers, high: Numbers) -> Cells:
    """A 0-1 variable for each closed cell of a feature's numbers: 1 for the one that the number lies in.

        sum_c s_c = n,  sum_c low_c s_c <= u <= sum_c high_c s_c         C columns, 3 rows

    The convex hull of the cells; exact up to the solver's tolerance, and to the last bit after decoding.
    """
    assert feature.scale is not None
    own.cell = binaries(len(low))
    ends = feature.scale.units(low), feature.scale.units(high)
    cells = [own.cell[c] for c in range(len(low))]
    add(own, total(cells) == feature.is_number)
    add(own, total(float(end) * cell for end, cell in zip(ends[0], cells, strict=True)) <= feature.variable)
    add(own, total(float(end) * cell for end, cell in zip(ends[1], cells, strict=True)) >= feature.variable)
    return Cells(feature, low, high, cells)
