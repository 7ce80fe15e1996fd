"""Trees of any framework -> tests on the features' own doubles.

A framework's split asks "is input w at most t?" (or below t; or is its category in a set). Input w is a function of
one feature, so the answer is a set of that feature's values: an interval of its numbers, whose end is found exactly
(`Wire.cut`), and a set of its discrete values or codes. That set, as few intervals as possible of the feature's
doubles, is the node's test; a union of several is a chain of nodes.

How the set is found: the feature's doubles are laid out in ascending *pieces* - each discrete value or code, and the
numbers between the places where the answer may change. On a piece all answers are alike, so one double of it is put
to the framework's own question; neighbours that answer alike are joined. All nodes of an input are done at once.
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
from likely.predictor.mixing import refuse_mixed
from likely.predictor.wires import ModelInputs, Wire
from likely.schema.region import above, below
from likely.schema.values import LARGEST, Numbers, Value, code_number


@dataclass(frozen=True)
class Splits:
    """All nodes of all trees of a model, in the framework's own terms.

    `wire[i]` is the input that node i tests, or -1 for a leaf. A value goes to `left[i]` if it is at most
    `threshold[i]` (below it, if `strict`), or, where `categories` has node i, if its category is in that set (the
    category of a number is its whole part); a missing value goes left where `missing_left[i]`, and right elsewhere.
    Numbers within `hole` count as missing at the nodes in `with_hole` (all of them, if that is None). `value` has a
    row per node; only the leaves' are used.
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
    inputs: ModelInputs,
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
    """The neutral form of a framework's trees.

    Args:
        inputs: What the trees read.
        splits: All nodes of all trees, as the framework has them.
        roots: The node that each tree starts at.
        output_of: The output that each tree adds to; -1: to all of them, and its leaves have a value for each.
        link: How scores decide.
        classes: The labels; none for a regressor.
        base: What the scores start from, one per output.
        average: Whether the sum of the trees is divided by their number.
        by: The class of the model, for error messages.
    """
    refuse_mixed(inputs, by)
    _refuse_bad_inputs(inputs, splits, by)
    nodes = _Nodes(inputs, splits)
    for w in np.unique(splits.wire[splits.wire >= 0]):
        nodes.translate(int(w), by)
    return TreeEnsemble(
        link,
        tuple(classes),
        nodes.finished(),
        np.asarray(roots),
        np.asarray(output_of),
        splits.value.ravel(),
        np.asarray(base),
        average,
    )


def _refuse_bad_inputs(inputs: ModelInputs, splits: Splits, by: str) -> None:
    if splits.wire.size and splits.wire.max() >= len(inputs):
        raise PredictorError(
            f"A {by}",
            f"be given at least {int(splits.wire.max()) + 1} inputs",
            len(inputs),
            "pass the transformer that makes its inputs as encoder=",
        )


class _Nodes:
    """The nodes being made: one per framework's node, and more where a test is a chain."""

    def __init__(self, inputs: ModelInputs, splits: Splits) -> None:
        self.inputs, self.splits = inputs, splits
        self.nodes = np.zeros(len(splits.wire), dtype=NODE)
        self.nodes["feature"] = -1
        self.nodes["inside"] = np.arange(len(splits.wire)) * splits.value.shape[1]
        self.extra: list[NDArray[np.void]] = []
        self.size = len(self.nodes)

    def translate(self, w: int, by: str) -> None:
        """All nodes that test input w."""
        wire, splits = self.inputs.wires[w], self.splits
        at = np.flatnonzero(splits.wire == w)
        atoms = np.array(wire.numbers(by))
        by_set = np.isin(at, list(splits.categories or ()))
        if by_set.any():
            self._by_set(wire, atoms, at[by_set])
        if not by_set.all():
            self._by_threshold(wire, atoms, at[~by_set])

    def _by_threshold(self, wire: Wire, atoms: Numbers, at: NDArray[np.intp]) -> None:
        splits = self.splits
        holed = np.full(len(at), splits.hole is not None)
        if splits.with_hole is not None:
            holed &= splits.with_hole[at]
        whole = wire.before_edges() is None
        if whole and wire.numeric and atoms.size == 0 and wire.constant is None and not holed.any():
            self._test_numbers(wire, at)
            return
        thresholds, place = np.unique(splits.threshold[at], return_inverse=True)
        keys, which = np.unique(4 * place + 2 * splits.missing_left[at] + holed, return_inverse=True)
        threshold, missing_left, holed = thresholds[keys // 4][:, None], (keys & 2 > 0)[:, None], (keys & 1 > 0)[:, None]
        breaks = _breaks(wire, threshold[:, 0], strict=splits.strict)
        if splits.hole is not None and whole:
            first, last = np.array(splits.hole)[:, None]
            breaks += [_last_before(wire, first, strict=True), _last_before(wire, last, strict=False)]
        pieces = _pieces(wire, atoms, breaks)
        low, high = splits.hole or (math.inf, -math.inf)
        gone = np.isnan(pieces.reads) | (holed & (pieces.reads >= low) & (pieces.reads <= high))
        small = pieces.reads < threshold if splits.strict else pieces.reads <= threshold
        self._test(at, wire, which, _runs(pieces, np.where(gone, missing_left, small)))

    def _by_set(self, wire: Wire, atoms: Numbers, at: NDArray[np.intp]) -> None:
        assert self.splits.categories is not None
        sets = [self.splits.categories[int(i)] for i in at]
        chosen = np.array([member for members in sets for member in members], dtype=np.float64)
        known, column = np.unique(chosen, return_inverse=True)
        holds = np.zeros((len(sets), len(known) + 1), dtype=bool)  # the last column is of what no set holds
        holds[np.repeat(np.arange(len(sets)), [len(members) for members in sets]), column] = True
        # The whole part of a number is m from m up to m + 1, but 0 from above -1.
        ends = np.unique(np.concatenate([np.where(known == 0, above(-1.0), known), known + 1]))
        whole = wire.before_edges() is None
        pieces = _pieces(wire, atoms, list(_last_before(wire, ends, strict=True)[:, None]) if whole else _breaks(wire, ends))
        whole = np.trunc(pieces.reads[0])
        left = holds[:, [int(np.argmax(known == m)) if m in known else -1 for m in whole]]
        left = np.where(np.isnan(whole), self.splits.missing_left[at][:, None], left)
        self._test(at, wire, np.arange(len(at)), _runs(pieces, left))

    def _test_numbers(self, wire: Wire, at: NDArray[np.intp]) -> None:
        """The tests of a feature of numbers only: left is one side of the cut."""
        ends = wire.cut(self.splits.threshold[at], strict=self.splits.strict)
        self.nodes["feature"][at] = wire.feature
        self.nodes["low"][at] = -math.inf if wire.rising else ends
        self.nodes["high"][at] = ends if wire.rising else math.inf
        self.nodes["inside"][at], self.nodes["outside"][at] = self.splits.left[at], self.splits.right[at]

    def _test(self, at: NDArray[np.intp], wire: Wire, which: NDArray[np.intp], runs: _Runs) -> None:
        """Node at[i] tests the intervals of row which[i], one after the other: a chain where they are several."""
        left, right, of_left = self.splits.left[at], self.splits.right[at], runs.of_left[which]
        count = runs.count[which]
        owner = np.repeat(np.arange(len(at)), count)
        place = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
        source = (np.cumsum(runs.count) - runs.count)[which][owner] + place
        later = place > 0
        chain = np.zeros(len(owner), dtype=NODE)
        chain["low"], chain["high"], chain["feature"] = runs.low[source], runs.high[source], wire.feature
        chain["inside"] = np.where(of_left, left, right)[owner]
        last = place == count[owner] - 1
        chain["outside"] = np.where(last, np.where(of_left, right, left)[owner], self.size + np.cumsum(later))
        self.nodes[at] = chain[~later]
        self.extra.append(chain[later])
        self.size += len(self.extra[-1])

    def finished(self) -> NDArray[np.void]:
        return np.concatenate([self.nodes, *self.extra])


def _breaks(wire: Wire, thresholds: Numbers, *, strict: bool = True) -> list[Numbers]:
    """Where the answers to tests against thresholds may change: per test, or wherever what the model reads changes at all."""
    steps = wire.before_edges()
    if steps is None:
        return [_last_before(wire, thresholds, strict=strict)]
    return list(_last_before(steps[0], steps[1], strict=True)[:, None])


def _last_before(wire: Wire, thresholds: Numbers, *, strict: bool) -> Numbers:
    """The number after which the answer to "at most t?" (or "below t?") changes; below -LARGEST if it never does."""
    if not wire.numeric or wire.constant is not None:
        return np.full(len(thresholds), LARGEST)
    ends = wire.cut(thresholds, strict=strict)
    return np.clip(ends if wire.rising else np.nextafter(ends, -np.inf), below(-LARGEST), LARGEST)


@dataclass(frozen=True)
class _Pieces:
    """A feature's doubles in ascending pieces [low, high], and what the model reads there; a row per test, or one for all."""

    low: Numbers
    high: Numbers
    reads: Numbers


def _pieces(wire: Wire, atoms: Numbers, breaks: Sequence[Numbers]) -> _Pieces:
    """The pieces between `breaks`, the last numbers before a change, each one number or one per test.

    All numbers of a piece answer as its last one does. Between equal breaks lies a piece without a number, which thus
    answers as the one before it and is joined to it.
    """
    if not wire.numeric:
        points = np.arange(len(atoms), dtype=np.float64)[None]
        return _Pieces(points, points, atoms[None])
    ends = np.sort(np.stack(np.broadcast_arrays(*breaks, np.array([LARGEST])), axis=1), axis=1)
    starts = np.nextafter(ends, np.inf)
    codes = np.array([code_number(k) for k in reversed(range(len(atoms)))])
    tests = len(ends)
    points = np.broadcast_to(codes, (tests, len(atoms)))
    return _Pieces(
        np.concatenate([points, np.full((tests, 1), -LARGEST), starts[:, :-1]], axis=1),
        np.concatenate([points, ends], axis=1),
        np.concatenate([np.broadcast_to(atoms[::-1], points.shape), wire.apply(ends).astype(np.float64)], axis=1),
    )


@dataclass(frozen=True)
class _Runs:
    """For each test, `count` intervals [low, high] that go left (or right, where `of_left` is False); nothing else does."""

    count: NDArray[np.intp]
    low: Numbers
    high: Numbers
    of_left: NDArray[np.bool_]


def _runs(pieces: _Pieces, left: NDArray[np.bool_]) -> _Runs:
    """Neighbouring pieces that go the same way, joined; of the two ways, the one that takes fewer intervals."""
    low, high = np.broadcast_to(pieces.low, left.shape), np.broadcast_to(pieces.high, left.shape)
    first = np.ones_like(left)
    first[:, 1:] = left[:, 1:] != left[:, :-1]
    last = np.ones_like(left)
    last[:, :-1] = first[:, 1:]
    lefts, rights = (first & left).sum(axis=1), (first & ~left).sum(axis=1)
    of_left = (rights == 0) | ((lefts > 0) & (lefts <= rights))
    chosen = left == of_left[:, None]
    return _Runs(np.where(of_left, lefts, rights), low[first & chosen], high[last & chosen], of_left)
