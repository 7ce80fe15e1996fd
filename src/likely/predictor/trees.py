"""Trees of any framework -> tests on the features' own doubles.

A framework's split asks "is input w at most t?" (or below t; or is its category in a set). Input w is a function of
one feature, so the answer is a set of that feature's values: an interval of its numbers, whose end is found exactly
(`Wire.cut`), and a set of its discrete values or codes. That set, as few intervals as possible of the feature's
doubles, is the node's test; a union of several is a chain of nodes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.errors import PredictorError
from likely.predictor.forms import NODE, TreeEnsemble
from likely.predictor.links import Link
from likely.predictor.wires import Inputs, Wire
from likely.schema.region import Region, above, below
from likely.schema.values import LARGEST, Numbers, Value


@dataclass(frozen=True)
class Splits:
    """All nodes of all trees of a model, in the framework's own terms.

    `wire[i]` is the input that node i tests, or -1 for a leaf. A value goes to `left[i]` if it is at most
    `threshold[i]` (below it, if `strict`), or, where `categories` has node i, if its category is in that set; a
    missing value goes left where `missing_left[i]`, and right elsewhere. Numbers within `hole` count as missing at
    the nodes in `with_hole` (all of them, if that is None). `value` has a row per node; only the leaves' are used.
    """

    wire: NDArray[np.int32]
    threshold: Numbers
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: Numbers
    missing_left: NDArray[np.bool_]
    categories: Mapping[int, frozenset[float]] | None = None
    strict: bool = False
    hole: tuple[float, float] | None = None
    with_hole: NDArray[np.bool_] | None = None


def tree_ensemble(
    inputs: Inputs,
    splits: Splits,
    roots: Sequence[int] | NDArray[Any],
    output_of: Sequence[int] | NDArray[Any],
    *,
    link: Link,
    classes: Sequence[Value],
    base: Sequence[float] | Numbers,
    average: bool = False,
    by: str,
) -> TreeEnsemble:
    """The neutral form of a framework's trees; `by` names the model in errors."""
    _refuse_bad_inputs(inputs, splits, by)
    nodes = _Nodes(inputs, splits)
    for w in np.unique(splits.wire[splits.wire >= 0]):
        nodes.translate(int(w), by)
    return TreeEnsemble(
        link, tuple(classes), nodes.finished(), np.asarray(roots), np.asarray(output_of), splits.value.ravel(), np.asarray(base), average
    )


def _refuse_bad_inputs(inputs: Inputs, splits: Splits, by: str) -> None:
    if splits.wire.size and splits.wire.max() >= len(inputs):
        raise PredictorError(
            f"A {by}", f"be given at least {int(splits.wire.max()) + 1} inputs", len(inputs), "give encoder= what makes its inputs"
        )


class _Nodes:
    """The nodes being made: one per framework's node, and more where a test is a chain."""

    def __init__(self, inputs: Inputs, splits: Splits) -> None:
        self.inputs, self.splits = inputs, splits
        self.nodes = np.zeros(len(splits.wire), dtype=NODE)
        self.extra: list[tuple[float, float, int, int, int, int]] = []
        self.nodes["feature"] = -1
        self.nodes["inside"] = np.arange(len(splits.wire)) * splits.value.shape[1]

    def translate(self, w: int, by: str) -> None:
        """All nodes that test input w."""
        wire, splits = self.inputs.wires[w], self.splits
        at = np.flatnonzero(splits.wire == w)
        self.nodes["feature"][at] = wire.feature
        atoms = np.array(wire.numbers(by))
        by_set = np.array([i in splits.categories for i in at], dtype=bool) if splits.categories else np.zeros(len(at), dtype=bool)
        self._by_threshold(wire, atoms, at[~by_set])
        for i in at[by_set]:
            assert splits.categories is not None
            self._set(int(i), wire, _in_set(wire, atoms, splits.categories[int(i)], bool(splits.missing_left[i])))

    def _by_threshold(self, wire: Wire, atoms: Numbers, at: NDArray[np.intp]) -> None:
        splits = self.splits
        if at.size == 0:
            return
        holed = np.full(len(at), splits.hole is not None)
        if splits.with_hole is not None:
            holed &= splits.with_hole[at]
        if wire.numeric and atoms.size == 0 and not holed.any() and wire.constant is None:
            self._set_intervals(at, wire, splits.threshold[at])
            return
        keys = np.stack([splits.threshold[at], splits.missing_left[at].astype(float), holed.astype(float)], axis=1)
        unique, inverse = np.unique(keys, axis=0, return_inverse=True)
        for u, (threshold, missing_left, hole) in enumerate(unique):
            left = _below(wire, atoms, threshold, bool(missing_left), splits.hole if hole else None, splits.strict)
            for i in at[inverse.ravel() == u]:
                self._set(int(i), wire, left)

    def _set_intervals(self, at: NDArray[np.intp], wire: Wire, thresholds: Numbers) -> None:
        """Many nodes at once, for a feature of numbers only: left is one side of the cut."""
        unique, inverse = np.unique(thresholds, return_inverse=True)
        ends = wire.cut(unique, strict=self.splits.strict)[inverse.ravel()]
        self.nodes["low"][at] = -math.inf if wire.rising else ends
        self.nodes["high"][at] = ends if wire.rising else math.inf
        self.nodes["inside"][at], self.nodes["outside"][at] = self.splits.left[at], self.splits.right[at]

    def _set(self, i: int, wire: Wire, left: Region) -> None:
        """One node: inside the region it goes left, elsewhere right; whichever takes fewer intervals is tested."""
        first, second = int(self.splits.left[i]), int(self.splits.right[i])
        feature = self.inputs.schema.features[wire.feature]
        intervals, others = _between_atoms(feature.region, left), _between_atoms(feature.region, feature.region - left)
        if len(others) < len(intervals):
            intervals, first, second = others, second, first
        intervals = intervals or ((math.inf, -math.inf),)
        last = second
        for low, high in reversed(intervals[1:]):
            self.extra.append((low, high, wire.feature, first, last, 0))
            last = len(self.nodes) + len(self.extra) - 1
        self.nodes[i] = (*intervals[0], wire.feature, first, last, 0)

    def finished(self) -> NDArray[np.void]:
        return np.concatenate([self.nodes, np.array(self.extra, dtype=NODE)])


def _below(
    wire: Wire, atoms: Numbers, threshold: float, missing_left: bool, hole: tuple[float, float] | None, strict: bool
) -> Region:
    """The feature's doubles that go left at a threshold."""
    gone = np.isnan(atoms)
    if hole is not None:
        gone |= (atoms >= hole[0]) & (atoms <= hole[1])
    with np.errstate(invalid="ignore"):
        small = atoms < threshold if strict else atoms <= threshold
    left = _atoms_region(wire, np.where(gone, missing_left, small))
    if not wire.numeric:
        return left
    numbers = _numbers_upto(wire, threshold, strict)
    if hole is not None:
        missing = _numbers_upto(wire, hole[1], False) - _numbers_upto(wire, hole[0], True)
        numbers = numbers | missing if missing_left else numbers - missing
    return left | numbers


def _numbers_upto(wire: Wire, threshold: float, strict: bool) -> Region:
    if wire.constant is not None:
        passes = wire.constant < threshold if strict else wire.constant <= threshold
        return Region.between(-LARGEST, LARGEST) if passes else Region(())
    end = float(wire.cut(np.array([threshold]), strict=strict)[0])
    return Region.between(-LARGEST, end) if wire.rising else Region.between(end, LARGEST)


def _in_set(wire: Wire, atoms: Numbers, members: frozenset[float], missing_left: bool) -> Region:
    """The feature's doubles whose category is in a set; numbers of the feature are categories themselves."""
    left = _atoms_region(wire, np.array([missing_left if math.isnan(a) else a in members for a in atoms], dtype=bool))
    if not wire.numeric:
        return left
    found = left
    for member in sorted(members):
        found = found | (_numbers_upto(wire, above(member + 1) - 1, True) - _numbers_upto(wire, member, True))
    return found


def _atoms_region(wire: Wire, chosen: NDArray[Any]) -> Region:
    return Region.points(_atom_number(wire, k) for k in np.flatnonzero(chosen))


def _atom_number(wire: Wire, k: int) -> float:
    return -(2.0**1000) * (k + 1) if wire.numeric else float(k)


def _between_atoms(domain: Region, part: Region) -> tuple[tuple[float, float], ...]:
    """The part of a feature's domain as few intervals as the gaps between its values allow.

    Intervals of `part` that have no value of the domain between them become one.
    """
    merged: list[tuple[float, float]] = []
    for low, high in part.intervals:
        if merged and (domain & Region.between(above(merged[-1][1]), below(low))).empty:
            merged[-1] = (merged[-1][0], high)
        else:
            merged.append((low, high))
    return tuple(merged)
