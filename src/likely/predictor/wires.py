"""Wires: how a value of a feature travels through the user's preprocessing into the model, step by step.

A wire follows one feature through scalers and encoders to one input of the model. It keeps the very operations that
the model's own code performs, in order, so that `apply` gives the model's input to the last bit, and from that the two
things forms need: `column`, the affine map (or table) of a linear model or network, and `cut`, for a tree, the exact
double at which a split's decision flips.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.errors import PredictorError
from likely.predictor.forms import Column
from likely.schema import Schema
from likely.schema.features import Feature
from likely.schema.values import LARGEST, Name, Numbers, Value, holds_dates

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "subtract": np.subtract,
    "add": np.add,
    "multiply": np.multiply,
    "divide": np.divide,
    "at_least": np.maximum,
    "at_most": np.minimum,
}


@dataclass(frozen=True)
class Step:
    """One operation on numbers: x -> x `op` value, x cast to float32, or NaN -> value ("fill")."""

    op: str
    value: float = math.nan

    def apply(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """The operation as numpy performs it in place: in the array's own precision."""
        if self.op == "float32":
            with np.errstate(over="ignore"):
                return numbers.astype(np.float32)
        if self.op == "float64":
            return numbers.astype(np.float64)
        if self.op == "fill":
            return np.where(np.isnan(numbers), np.array(self.value, dtype=numbers.dtype), numbers)
        result = np.empty_like(numbers)
        with np.errstate(over="ignore", invalid="ignore"):
            _OPERATIONS[self.op](numbers, np.array([self.value]), out=result, casting="same_kind")
        return result


FLOAT32 = Step("float32")
FLOAT64 = Step("float64")


@dataclass(frozen=True)
class Wire:
    """One input of the model, as a function of one feature's value.

    `atoms` are what the feature's discrete values (or codes) have become so far: text until an encoder made them
    numbers, NaN for missing. `steps` are what its numbers go through. A wire made by `constant_on_numbers` gives
    `constant` for every number (the indicator of a missing value).
    """

    feature: int
    name: Name
    numeric: bool
    atoms: tuple[Any, ...]
    steps: tuple[Step, ...] = ()
    dtype: str = "float64"
    constant: float | None = None

    def then(self, *steps: Step, by: str) -> Wire:
        """This wire after further steps; `by` names who takes them, for the error if a value is text."""
        wire = self
        for step in steps:
            atoms = step.apply(np.array(wire.numbers(by), dtype=wire.dtype)).tolist() if wire.atoms else ()
            constant = None
            if wire.constant is not None:
                constant = float(step.apply(np.array([wire.constant], dtype=wire.dtype))[0])
            dtype = step.op if step.op in ("float32", "float64") else wire.dtype
            wire = replace(wire, atoms=tuple(atoms), steps=(*wire.steps, step), dtype=dtype, constant=constant)
        return wire

    def numbers(self, by: str) -> list[float]:
        """The atoms as numbers; refuses text."""
        found = []
        for atom in self.atoms:
            if isinstance(atom, str):
                raise PredictorError(
                    f"Feature {self.name!r}", f"be numbers where {by} reads it", repr(atom),
                    "read the Pipeline that encodes it, or pass encoder=", feature=self.name,
                )  # fmt: skip
            found.append(math.nan if atom is None else float(atom))
        return found

    def apply(self, numbers: Numbers) -> NDArray[Any]:
        """What the model reads for numbers of the feature, to the last bit."""
        if self.constant is not None:
            return np.full(numbers.shape, self.constant)
        found: NDArray[Any] = np.asarray(numbers, dtype=np.float64)
        for step in self.steps:
            found = step.apply(found)
        return found

    def column(self, by: str) -> Column:
        """The input of a linear model or a network; refuses missing values and clipping, which are not affine."""
        table = self.numbers(by)
        if any(math.isnan(entry) for entry in table):
            raise PredictorError(
                f"Feature {self.name!r}", f"not be missing where {by} reads it", "a missing value", "put a SimpleImputer before it",
                feature=self.name,
            )  # fmt: skip
        slope, intercept = self._affine(by) if self.numeric else (0.0, 0.0)
        return Column(self.feature, slope, intercept, tuple(table), not self.numeric)

    def _affine(self, by: str) -> tuple[float, float]:
        if self.constant is not None:
            return 0.0, self.constant
        slope, intercept = 1.0, 0.0
        for step in self.steps:
            if step.op == "subtract":
                intercept -= step.value
            elif step.op == "add":
                intercept += step.value
            elif step.op == "multiply":
                slope, intercept = slope * step.value, intercept * step.value
            elif step.op == "divide":
                slope, intercept = slope / step.value, intercept / step.value
            elif step.op in ("at_least", "at_most"):
                raise PredictorError(
                    f"Feature {self.name!r}", f"not be clipped before {by}", f"{step.op.replace('_', ' ')} {step.value}",
                    "use MinMaxScaler(clip=False)", feature=self.name,
                )  # fmt: skip
        return slope, intercept

    @property
    def rising(self) -> bool:
        """Whether what the model reads never falls as the feature's number rises (else it never rises)."""
        flips = sum(step.op in ("multiply", "divide") and step.value < 0 for step in self.steps)
        return flips % 2 == 0

    def cut(self, thresholds: Numbers, *, strict: bool = False) -> Numbers:
        """For each t, the end of the numbers x with apply(x) <= t (or < t): the largest, or if falling the smallest.

        Where no number has that, the result lies beyond the numbers: -inf, or if falling +inf.
        """
        sign = 1.0 if self.rising else -1.0

        def passes(numbers: Numbers) -> NDArray[np.bool_]:
            reads = self.apply(sign * numbers).astype(np.float64)
            return np.asarray(reads < thresholds if strict else reads <= thresholds)

        return sign * _last_true(passes, len(thresholds))


def _last_true(passes: Callable[[Numbers], NDArray[np.bool_]], count: int) -> Numbers:
    """The largest double within +-LARGEST at which a falling predicate is true, elementwise; -inf where it never is.

    Bisection over the doubles in their order: at most 64 steps, exact.
    """
    low = np.full(count, _rank(np.array([-LARGEST]))[0])
    high = np.full(count, _rank(np.array([LARGEST]))[0])
    never = ~passes(np.full(count, -LARGEST))
    always = passes(np.full(count, LARGEST))
    while (high - low > 1).any():
        middle = (low >> 1) + (high >> 1) + (low & high & 1)
        true = passes(_from_rank(middle))
        low, high = np.where(true, middle, low), np.where(true, high, middle)
    found = np.where(always, LARGEST, _from_rank(low))
    return np.where(never, -math.inf, found)


def _rank(numbers: Numbers) -> NDArray[np.int64]:
    """Integers in the order of the doubles."""
    bits = numbers.view(np.int64)
    return np.where(bits < 0, np.int64(-(2**63)) - bits, bits)


def _from_rank(ranks: NDArray[np.int64]) -> Numbers:
    return np.where(ranks < 0, np.int64(-(2**63)) - ranks, ranks).view(np.float64)


@dataclass(frozen=True)
class Inputs:
    """The inputs of a model in order, and the schema they come from. What a reader is given."""

    schema: Schema
    wires: tuple[Wire, ...]
    untouched: bool = False  # whether these are the schema's own columns, which a model may know by name

    def __len__(self) -> int:
        return len(self.wires)

    @classmethod
    def raw(cls, schema: Schema) -> Inputs:
        """The schema's own columns."""
        return cls(schema, tuple(raw_wire(j, feature) for j, feature in enumerate(schema.features)), untouched=True)

    def named(self, names: Sequence[Any], by: str) -> Inputs:
        """The raw columns with these names, in this order; refuses a name that the schema does not have."""
        places = {wire.name: wire for wire in self.wires}
        for name in names:
            if name not in places:
                known = ", ".join(repr(known) for known in self.schema.names)
                raise PredictorError(
                    f"The schema of a {by}", f"have its column {name!r}", f"columns {known}", "add the feature to the schema", feature=name
                )
        return replace(self, wires=tuple(places[name] for name in names))

    def counted(self, count: int, by: str) -> Inputs:
        """These inputs, if there are `count` of them; refuses another number."""
        if len(self.wires) != count:
            raise PredictorError(
                f"A {by}", f"be given the {count} inputs it was trained on", f"{len(self.wires)} from the schema",
                "give encoder= the transformer that makes its inputs, or read the whole Pipeline",
            )  # fmt: skip
        return self

    def then(self, *steps: Step, by: str) -> Inputs:
        """Every wire after further steps."""
        return replace(self, wires=tuple(wire.then(*steps, by=by) for wire in self.wires))

    def columns(self, by: str) -> tuple[Column, ...]:
        """The columns of a linear model or a network."""
        return tuple(wire.column(by) for wire in self.wires)


def raw_wire(place: int, feature: Feature) -> Wire:
    """A feature as the user's table holds it."""
    dtype = "float32" if getattr(feature, "dtype", "") in ("float32", "float16") else "float64"
    if holds_dates(str(getattr(feature, "dtype", ""))):
        raise PredictorError(
            f"Feature {feature.name!r}", "be a number for a model", "a date", "give the model days, as an Integer feature", feature=feature.name
        )
    atoms: tuple[Value, ...] = feature.atoms
    return Wire(place, feature.name, feature.numeric, atoms, (FLOAT32,) if dtype == "float32" else (), dtype)


def one_hot(wire: Wire, categories: Sequence[Any], by: str) -> list[Wire]:
    """An indicator per category of a wire with atoms."""
    refuse_numbers(wire, by)
    return [replace(wire, atoms=tuple(float(_same(atom, category)) for atom in wire.atoms), steps=(), dtype="float64") for category in categories]


def ordinal(wire: Wire, codes: Callable[[Any], float], by: str) -> Wire:
    """A code per atom."""
    refuse_numbers(wire, by)
    return replace(wire, atoms=tuple(codes(atom) for atom in wire.atoms), steps=(), dtype="float64")


def refuse_numbers(wire: Wire, by: str) -> None:
    """Refuse an encoder of values on a feature of numbers."""
    if wire.numeric:
        kind = "a Mixed" if wire.atoms else "a numeric"
        raise PredictorError(
            f"Feature {wire.name!r}", f"have a list of values where {by} encodes it", f"{kind} feature",
            f"declare it Ordinal or Categorical: features={{{wire.name!r}: 'ordinal'}}", feature=wire.name,
        )  # fmt: skip


def _same(atom: Any, category: Any) -> bool:
    gone = [value is None or (isinstance(value, float) and math.isnan(value)) for value in (atom, category)]
    if any(gone):
        return all(gone)
    return bool(atom == category)
