"""Wires: how a value of a feature travels through the user's preprocessing into the model, step by step.

A wire follows one feature through scalers and encoders to one input of the model. It keeps the very operations that
the model's own code performs, in order, so that `apply` gives the model's input to the last bit, and from that the two
things forms need: `column`, the affine map (or table) of a linear model or network, and `cut`, for a tree, the exact
double at which a split's decision flips.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor.columns import Column
from likely.predictor.curves import CurveStep, jumps
from likely.schema import Schema
from likely.schema.features import Continuous, Feature, Integer, Mixed
from likely.schema.intervals import holds_intervals
from likely.schema.times import DATE, holds_times
from likely.schema.values import LARGEST, Name, Numbers, code_number, is_code

#: Steps that change the precision of what follows.
CASTS = ("float16", "float32", "float64")
_OPERATIONS: dict[str, Callable[..., Any]] = {
    "subtract": np.subtract,
    "add": np.add,
    "multiply": np.multiply,
    "divide": np.divide,
    "at_least": np.maximum,
    "at_most": np.minimum,
}
_INVERSES = {"subtract": "add", "add": "subtract", "multiply": "divide", "divide": "multiply"}


@dataclass(frozen=True)
class Step:
    """One operation on numbers: x -> x `op` value, a cast to float16, float32 or float64, or NaN -> value ("fill")."""

    op: str
    value: float = math.nan

    def apply(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """The operation as numpy performs it in place: in the array's own precision.

        Args:
            numbers: An array of floats.
        """
        if self.op in CASTS:
            with np.errstate(over="ignore"):
                return numbers.astype(self.op)
        if self.op == "fill":
            return np.where(np.isnan(numbers), np.array(self.value, dtype=numbers.dtype), numbers)
        result = np.empty_like(numbers)
        with np.errstate(over="ignore", invalid="ignore"):
            _OPERATIONS[self.op](numbers, np.array([self.value]), out=result, casting="same_kind")
        return result


@dataclass(frozen=True)
class Map(Step):
    """A function of one number, computed by whoever computes it in the user's pipeline.

    It is monotone, up to the rounding of its own arithmetic; or it is constant between `edges`, from each one up to the next.
    """

    op: str = "map"
    #: From an array of numbers to what becomes of each.
    function: Callable[[NDArray[Any]], NDArray[Any]] = np.asarray
    #: What it is, for error messages.
    called: str = "a function"
    falling: bool = False
    edges: tuple[float, ...] | None = None
    #: The function as data, for linear models and networks; empty if it is known by its arithmetic alone.
    curve: tuple[CurveStep, ...] = ()

    def apply(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """What the function makes of the numbers, in the precision that it gives.

        Args:
            numbers: An array of floats.
        """
        if not numbers.size:
            return numbers
        with np.errstate(all="ignore"):
            return np.asarray(self.function(numbers.ravel())).reshape(numbers.shape)


FLOAT32 = Step("float32")
FLOAT64 = Step("float64")


@dataclass(frozen=True)
class Wire:
    """One input of the model, as a function of one feature's value.

    `atoms` are what the feature's discrete values (or codes) have become so far: text until an encoder made them
    numbers, None or NaN for missing. `steps` are what its numbers go through; where there is a `constant`, every number
    becomes that instead (the indicator of a missing value). `dtype` names what the column of a table is here; an
    array of several columns takes its precision from them.
    """

    feature: int
    name: Name
    numeric: bool
    atoms: tuple[Any, ...]
    steps: tuple[Step, ...] = ()
    dtype: str = "float64"
    constant: float | None = None

    def then(self, *steps: Step, by: str) -> Wire:
        """This wire after further steps.

        Args:
            steps: In the order in which they are taken.
            by: Who takes them, for the error if a value is text.
        """
        wire = self
        for step in steps:
            held = wire.dtype if wire.dtype in CASTS else "float64"
            atoms = step.apply(np.array(wire.numbers(by), dtype=held)).tolist()
            constant = None
            if wire.constant is not None:
                constant = float(step.apply(np.array([wire.constant], dtype=held))[0])
            dtype = step.op if step.op in CASTS else held
            if isinstance(step, Map):
                dtype = step.apply(np.zeros(1, dtype=held)).dtype.name
            wire = replace(wire, atoms=tuple(atoms), steps=(*wire.steps, step), dtype=dtype, constant=constant)
        return wire

    def coded(self, codes: Iterable[float], dtype: str = "float64") -> Wire:
        """This wire with a number for each atom; numbers of the feature, if it has any, become 0.

        Args:
            codes: One per atom.
            dtype: Of the encoded column.
        """
        constant = 0.0 if self.numeric else None
        return replace(self, atoms=tuple(float(code) for code in codes), steps=(), dtype=dtype, constant=constant)

    def numbers(self, by: str) -> list[float]:
        """The atoms as numbers; refuses text, and dates.

        Args:
            by: The class of the model, for error messages.
        """
        if self.dtype == DATE:
            raise PredictorError(
                f"Feature {self.name!r}", f"be a number where {by} reads it", "a date or time",
                "make a number of it in the table, or in the pipeline with a FunctionTransformer", feature=self.name,
            )  # fmt: skip
        numbers = []
        for atom in self.atoms:
            if isinstance(atom, (str, pd.Interval)):
                raise PredictorError(
                    f"Feature {self.name!r}", f"be numbers where {by} reads it", repr(atom),
                    "read the Pipeline that encodes it, or pass encoder=", feature=self.name,
                )  # fmt: skip
            numbers.append(math.nan if atom is None else float(atom))
        return numbers

    def apply(self, numbers: Numbers) -> NDArray[Any]:
        """What the model reads for numbers of the feature, to the last bit.

        Args:
            numbers: Numbers of the feature, no codes.
        """
        if self.constant is not None:
            return np.full(numbers.shape, self.constant)
        reads: NDArray[Any] = np.asarray(numbers, dtype=np.float64)
        for step in self.steps:
            reads = step.apply(reads)
        return reads

    def read(self, numbers: Numbers, by: str) -> Numbers:
        """What the model reads for any doubles of the feature, numbers or not, to the last bit.

        Args:
            numbers: Doubles that stand for values of the feature.
            by: The class of the model, for error messages.
        """
        reads = np.full(len(numbers), math.nan)
        if self.numeric:
            plain = ~is_code(numbers)
            reads[plain] = self.apply(numbers[plain])
        for k, atom in enumerate(self.numbers(by)):
            reads[numbers == (code_number(k) if self.numeric else k)] = atom
        return reads

    def column(self, by: str, feature: Feature | None = None) -> Column:
        """The input of a linear model or a network; refuses missing values, and functions that are no data.

        Args:
            by: The class of the model, for error messages.
            feature: The feature, whose bounds tell whether a clipping changes anything.
        """
        table = self.numbers(by)
        if any(math.isnan(entry) for entry in table):
            raise PredictorError(
                f"Feature {self.name!r}", f"not be missing where {by} reads it", "a missing value",
                "put a SimpleImputer before it", feature=self.name,
            )  # fmt: skip
        if not self.numeric or self.constant is not None:
            return Column(self.feature, 0.0, self.constant or 0.0, tuple(table), not self.numeric)
        if (curve := self._jumps()) is not None:
            return Column(self.feature, 1.0, 0.0, tuple(table), False, 0.0, curve)
        bends = next((k for k, step in enumerate(self.steps) if self._bends(k, feature)), len(self.steps))
        slope, center, intercept = self._affine(self.steps[:bends])
        curve = tuple(part for step in self.steps[bends:] for part in self._curve(step, by))
        return Column(self.feature, slope, intercept, tuple(table), False, center, curve)

    def _jumps(self) -> tuple[CurveStep, ...] | None:
        """The whole way from numbers as a curve, if some function on it is constant between edges."""
        if (before := self.before_edges()) is None:
            return None
        wire, edges = before
        ends = wire.cut(edges, strict=True)  # the last number before each edge; if the wire falls, the first one after it
        starts = np.unique(np.nextafter(ends, np.inf) if wire.rising else ends)
        starts = starts[np.abs(starts) <= LARGEST]
        return jumps(starts, self.apply(np.append(-LARGEST, starts)).astype(np.float64))

    def _bends(self, k: int, feature: Feature | None) -> bool:
        """Whether step k is no linear function of the numbers that it is given."""
        step = self.steps[k]
        return isinstance(step, Map) or (step.op in ("at_least", "at_most") and self._clips(k, feature))

    def _curve(self, step: Step, by: str) -> tuple[CurveStep, ...]:
        """A step as one of a curve."""
        if isinstance(step, Map):
            if not step.curve:
                raise UnsupportedModelError(
                    f"Feature {self.name!r}", f"be read by {by} as a function that likely has as data", f"{step.called} of it",
                    "use a model of trees behind it, for which that is another threshold; or compute the column before the"
                    " pipeline, and give it to the schema", feature=self.name,
                )  # fmt: skip
            return step.curve
        if step.op in ("at_least", "at_most"):
            return (CurveStep(step.op, intercept=step.value),)
        if step.op in _INVERSES:
            slope, center, intercept = self._affine((step,))
            return (CurveStep("affine", slope, intercept - slope * center),)
        return ()  # a cast, or a missing value that is filled: of numbers, nothing

    @staticmethod
    def _affine(steps: Iterable[Step]) -> tuple[float, float, float]:
        """Slope, center and intercept: what is subtracted before anything else is done is the center."""
        slope, center, intercept = 1.0, 0.0, 0.0
        for step in steps:
            if step.op in ("subtract", "add"):
                shift = step.value if step.op == "add" else -step.value
                untouched = slope == 1.0 and center == intercept == 0.0
                center, intercept = (-shift, 0.0) if untouched else (center, intercept + shift)
            elif step.op == "multiply":
                slope, intercept = slope * step.value, intercept * step.value
            elif step.op == "divide":
                slope, intercept = slope / step.value, intercept / step.value
        return slope, center, intercept

    def _clips(self, k: int, feature: Feature | None) -> bool:
        """Whether step k changes a number within the feature's bounds, by more than rounding."""
        if not isinstance(feature, Continuous | Integer | Mixed):
            return True
        before = replace(self, steps=self.steps[:k]).apply(np.array([feature.lower, feature.upper]))
        rounding = max(1e-9, 8 * float(np.finfo(before.dtype).eps))
        return not np.allclose(self.steps[k].apply(before), before, rtol=rounding, atol=rounding)

    @property
    def rising(self) -> bool:
        """Whether what the model reads never falls as the feature's number rises (else it never rises)."""
        flips = sum(
            step.falling if isinstance(step, Map) else step.op in ("multiply", "divide") and step.value < 0 for step in self.steps
        )
        return flips % 2 == 0

    def before_edges(self) -> tuple[Wire, Numbers] | None:
        """The wire up to the first function that is constant between edges, and these; None if there is none."""
        for k, step in enumerate(self.steps):
            if isinstance(step, Map) and step.edges is not None:
                return replace(self, steps=self.steps[:k]), np.array(step.edges)
        return None

    def cut(self, thresholds: Numbers, *, strict: bool = False) -> Numbers:
        """For each t, the end of the numbers x with apply(x) <= t (or < t): the largest, or if falling the smallest.

        Where no number has that, the result lies beyond the numbers: -inf, or if falling +inf.

        Args:
            thresholds: The t of each split.
            strict: Whether t itself is on the other side.
        """
        sign = 1.0 if self.rising else -1.0

        def passes(numbers: Numbers) -> NDArray[np.bool_]:
            reads = self.apply(sign * numbers).astype(np.float64)
            return np.asarray(reads < thresholds if strict else reads <= thresholds)

        return sign * _last_true(passes, sign * self._undone(thresholds))

    def _undone(self, reads: Numbers) -> Numbers:
        """About the numbers that become `reads`: each step undone, up to rounding."""
        with np.errstate(all="ignore"):
            for step in reversed(self.steps):
                if step.op == "float32":  # halfway to the next single: what is below rounds down
                    single = reads.astype(np.float32)
                    single = np.where(single > reads, np.nextafter(single, np.float32(-np.inf)), single)
                    reads = (single.astype(np.float64) + np.nextafter(single, np.float32(np.inf))) / 2
                elif step.op in _INVERSES:
                    reads = _OPERATIONS[_INVERSES[step.op]](reads, step.value)
        return reads


#: How many doubles around a good hint are searched first.
_NEAR = 64


def _last_true(passes: Callable[[Numbers], NDArray[np.bool_]], hints: Numbers) -> Numbers:
    """The largest double within +-LARGEST at which a falling predicate is true, elementwise; -inf where it never is.

    Bisection over the doubles in their order, exact whatever the hints are: at most 64 steps, a few where all are good.
    """
    lowest, highest = _rank(np.array([-LARGEST, LARGEST]))
    never = ~passes(np.full(len(hints), -LARGEST))
    always = passes(np.full(len(hints), LARGEST))
    near = np.clip(_rank(hints), lowest + _NEAR, highest - _NEAR)
    low = np.where(passes(_from_rank(near - _NEAR)), near - _NEAR, lowest)
    high = np.where(passes(_from_rank(near + _NEAR)), highest, near + _NEAR)
    low, high = np.where(never | always, near, low), np.where(never | always, near, high)
    while (low < high - 1).any():
        middle = (low >> 1) + (high >> 1) + (low & high & 1)
        true = passes(_from_rank(middle))
        low, high = np.where(true, middle, low), np.where(true, high, middle)
    last = np.where(always, LARGEST, _from_rank(low))
    return np.where(never, -math.inf, last)


def _rank(numbers: Numbers) -> NDArray[np.int64]:
    """Integers in the order of the doubles."""
    bits = numbers.view(np.int64)
    return np.where(bits < 0, np.int64(-(2**63)) - bits, bits)


def _from_rank(ranks: NDArray[np.int64]) -> Numbers:
    return np.where(ranks < 0, np.int64(-(2**63)) - ranks, ranks).view(np.float64)


@dataclass(frozen=True)
class ModelInputs:
    """The inputs of a model in order, and the schema they come from. What a reader is given."""

    schema: Schema
    wires: tuple[Wire, ...]
    untouched: bool = False  # whether these are the schema's own columns, which a model may know by name
    sparse: bool = False  # whether the model is given a sparse matrix, which some transformers scale differently

    def __len__(self) -> int:
        return len(self.wires)

    @classmethod
    def raw(cls, schema: Schema, *, none: bool = False) -> ModelInputs:
        """The schema's own columns.

        Args:
            schema: The columns.
            none: Whether a missing value is None where a column holds that, and not NaN.
        """
        wires = (raw_wire(j, feature, none=none) for j, feature in enumerate(schema.features))
        return cls(schema, tuple(wires), untouched=True)

    def named(self, names: Sequence[Any], by: str) -> ModelInputs:
        """The raw columns with these names, in this order; refuses a name that the schema does not have.

        Args:
            names: The names that the model knows its inputs by.
            by: The class of the model, for error messages.
        """
        places = {wire.name: wire for wire in self.wires}
        for name in names:
            if name not in places:
                known = ", ".join(repr(known) for known in self.schema.names)
                raise PredictorError(
                    f"The schema of a {by}", f"have the column {name!r} that it was trained on", f"columns {known}",
                    "add the feature to the schema",
                    feature=name,
                )  # fmt: skip
        return replace(self, wires=tuple(places[name] for name in names))

    def counted(self, count: int, by: str) -> ModelInputs:
        """These inputs; refuses another number of them than the model reads.

        Args:
            count: How many inputs the model reads.
            by: The class of the model, for error messages.
        """
        if len(self.wires) != count:
            raise PredictorError(
                f"A {by}", f"be given the {count} inputs it was trained on", f"{len(self.wires)} from the schema",
                "pass the transformer that makes its inputs as encoder=, or read the whole Pipeline",
            )  # fmt: skip
        return self

    def then(self, *steps: Step, by: str) -> ModelInputs:
        """Every wire after further steps.

        Args:
            steps: In the order in which they are taken.
            by: The class of the model, for error messages.
        """
        return replace(self, wires=tuple(wire.then(*steps, by=by) for wire in self.wires))

    def columns(self, by: str) -> tuple[Column, ...]:
        """The columns of a linear model or a network.

        Args:
            by: The class of the model, for error messages.
        """
        return tuple(wire.column(by, self.schema.features[wire.feature]) for wire in self.wires)

    def read(self, rows: Numbers, by: str) -> Numbers:
        """What the model reads for rows of doubles, n x inputs, to the last bit.

        Args:
            rows: Rows of doubles, one column per feature of the schema: `schema.encode(X)`.
            by: The class of the model, for error messages.
        """
        reads = np.empty((len(rows), len(self.wires)))
        for c, wire in enumerate(self.wires):
            reads[:, c] = wire.read(rows[:, wire.feature], by)
        return reads


def raw_wire(place: int, feature: Feature, *, none: bool = False) -> Wire:
    """A feature as the user's table holds it, with NaN for None unless `none`."""
    numbers = [feature.atom_number(k) for k in range(len(feature.atoms))]
    if isinstance(feature, Continuous | Integer | Mixed):
        numbers.append(feature.lower)
    column = feature.decode(np.array(numbers))
    missing = None if none and any(cell is None for cell in column) else math.nan
    cells = list(column) if holds_intervals(feature.dtype) or holds_times(feature.dtype) else feature.atoms
    atoms = tuple(missing if atom is None else cell for atom, cell in zip(feature.atoms, cells, strict=False))
    dtype = DATE if holds_times(feature.dtype) else str(column.dtype)
    precision = dtype.lower()  # of pandas' own Float32, too
    steps = (Step(precision),) if precision in ("float16", "float32") else ()
    return Wire(place, feature.name, feature.numeric, atoms, steps, dtype)


def refuse_numbers(wire: Wire, by: str) -> None:
    """Refuse an encoder of values on a feature of numbers."""
    if wire.numeric:
        kind = "a Mixed" if wire.atoms else "a numeric"
        raise PredictorError(
            f"Feature {wire.name!r}", f"have a list of values where {by} encodes it", f"{kind} feature",
            f"declare it Ordinal or Categorical: features={{{wire.name!r}: 'ordinal'}}", feature=wire.name,
        )  # fmt: skip
