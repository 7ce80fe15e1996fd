"""`replay`: a certificate, node by node, with bounds that are derived here from model, circuit and rules, without the engine.

What a step removed from a box is a box itself, one per feature: it must be closed by the bound that the step names. The children
of a node must hold every row that is left. Every part that is closed has a bound of its own, infinite if it has no row; the least
of them all is what is proved. Nothing that is recorded is trusted: multipliers may be any numbers, boxes and cut-offs only
decide what there is to show.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from likely.certificate.bounds import TOLERANCE, Checker, Node
from likely.certificate.domain import Box
from likely.certificate.network import Split
from likely.errors import CertificateError
from likely.problem import Problem

#: Steps with prices: the last ones, and those that gave the bound if these are others.
JOINT = frozenset({"joint bound", "joint coherence"})
#: Steps whose bounds are of single values.
PIECEWISE = frozenset({"rules", "score", "likelihood", "coherence", "reduced-cost fixing", "joint bound", "joint coherence"})
#: Steps whose bounds may be better if the score is relaxed over a part alone.
ALONE = frozenset({"score", "reduced-cost fixing"})
#: How often numbers of one cell are cut in two: on a grid in halves, elsewhere where one bound after the other holds, by this
#: much of them on the safe side.
MOST_CUTS, HAIR = 6, 1e-11


@dataclass(frozen=True)
class Replay:
    """What was derived again.

    Attributes:
        claimed: The bound that the certificate is of.
        proved: No row that answers the question has a lower objective. Never more than claimed.
        nodes: How many nodes were looked at.
        steps: How many steps on them.
        removed: How many parts of boxes were closed on the way.
        weakest: The node with the least bound.
    """

    claimed: float
    proved: float
    nodes: int
    steps: int
    removed: int
    weakest: int | None = None

    @property
    def holds(self) -> bool:
        """Whether all that is claimed is proved, up to `TOLERANCE`."""
        return self.proved >= floored(self.claimed)


def floored(claimed: float) -> float:
    """What must be proved of a claimed bound."""
    return claimed if math.isinf(claimed) else claimed - TOLERANCE * (1 + abs(claimed))


class _Replayer:
    """Goes through one tree."""

    def __init__(self, checker: Checker, target: float) -> None:
        self.checker, self.domain, self.target = checker, checker.domain, target
        self.proved = target
        self.weakest: int | None = None
        self.nodes = self.steps = self.removed = 0

    def close(self, bound: float, node: int) -> None:
        """A part of the tree that is not looked at further."""
        if bound < self.proved:
            self.proved, self.weakest = bound, node

    def run(self, roots: Sequence[int], records: dict[int, dict[str, Any]]) -> None:
        """The tree that begins with these nodes, one per alternative."""
        waiting = [(place, Node(self.domain.whole(), alternative, (), -math.inf)) for alternative, place in enumerate(roots)]
        if len(roots) != len(self.checker.problem.goal.alternatives):
            raise malformed("have a root per alternative of the goal", len(roots))
        while waiting:
            place, node = waiting.pop()
            record = records.pop(place, None)
            if record is None:
                self.close(node.bound, place)
            else:
                waiting += self._look_at(place, node, record)

    def _look_at(self, place: int, node: Node, record: dict[str, Any]) -> list[tuple[int, Node]]:
        self.nodes += 1
        node.budget = max(float(record["cutoff"]), self.target)
        before = ""
        for step, left, changes, *multipliers in record["steps"]:
            self.steps += 1
            if step == "score" and before != "score":
                self.checker.relax(node, *multipliers)
            elif multipliers and before != step:
                for values in reversed(multipliers[0]) if step in JOINT else multipliers:
                    self.checker.take_multipliers(step, node, values)
                    if step != "likelihood":
                        node.bound = max(node.bound, self.checker.bound(step, node, node.box))
            before = step
            self._remove(place, step, node, changes)
            if not left and node.bound < self.target and self.domain.corners(node.box) is not None:
                self.close(max(node.bound, self.checker.bound(step, node, node.box)), place)
                return []
        return self._end(place, node, record)

    def _remove(self, place: int, step: str, node: Node, changes: Sequence[Any]) -> None:
        """Every part that a step removed is closed by the step's bound."""
        if not changes:
            return
        after = self.domain.changed(node.box, changes)
        duals = self.checker.fixing(node) if step == "reduced-cost fixing" else []
        for j, part in self.domain.removed(node.box, after):
            self.removed += 1
            corners = self.domain.corners_of(part, j) if duals else None
            if corners is not None and any(dual.bound_of(j, corners) >= self.target for dual in duals):
                continue
            if node.bound < self.target:
                self.close(max(node.bound, self._bound_in_pieces(step, node, j, part)), place)
        node.box = after

    def _bound_in_pieces(self, step: str, node: Node, j: int, part: Box, depth: int = 0) -> float:
        """The bound of a part; if that is too low, over the part alone, and then the least over pieces of it.

        A network's relaxation over a part is tighter than over the node's box, and a bound that is no sum over features the
        better the fewer values feature j has.
        """
        bound = self.checker.bound(step, node, part)
        if bound < self.target and step in ALONE:
            bound = max(bound, self.checker.bound_alone(step, node, part))
        if bound >= self.target or step not in PIECEWISE:
            return bound
        pieces = self.domain.halves(part, j)
        if not pieces and depth < MOST_CUTS:
            by_duals = step == "reduced-cost fixing"
            pieces = self._cut_where_bounds_cross(node, j, part) if by_duals else self.domain.halves_on_grid(part, j)
            depth += 1
        return max(bound, min((self._bound_in_pieces(step, node, j, piece, depth) for piece in pieces), default=bound))

    def _cut_where_bounds_cross(self, node: Node, j: int, part: Box) -> list[Box]:
        """One dual may remove the numbers below some other, and another one those above it: where one of them ceases to.

        A reduced cost is linear on a cell, so that it is known from the cell's ends; none if no dual removes just one of these.
        """
        low, high = float(part.low[j]), float(part.high[j])
        if not low < high:
            return []
        for dual in self.checker.fixing(node):
            bounds = []
            for end in (low, high):
                corners = self.domain.corners_of(self.domain.restricted(part, j, end, end, None), j)
                bounds.append(-math.inf if corners is None else dual.bound_of(j, corners))
            if (bounds[0] >= self.target) == (bounds[1] >= self.target) or not math.isfinite(bounds[1] - bounds[0]):
                continue
            share = (self.target - bounds[0]) / (bounds[1] - bounds[0])
            share += HAIR if bounds[1] >= self.target else -HAIR
            at = low + min(max(share, 0.0), 1.0) * (high - low)
            if low < at < high:
                return self.domain.cut(part, j, at)
        return []

    def _end(self, place: int, node: Node, record: dict[str, Any]) -> list[tuple[int, Node]]:
        if self.domain.corners(node.box) is None:
            return []
        if not record["children"]:
            bound = node.bound if node.bound >= self.target else self.checker.every_bound(node, node.box)
            self.close(max(node.bound, bound), place)
            return []
        parts = [(int(child[0]), self.domain.changed(node.box, child[1]), child[2:]) for child in record["children"]]
        for rest in self._uncovered(node, parts):
            self.close(max(node.bound, self.checker.every_bound(node, rest)), place)
        return [
            (child, Node(box, node.alternative, node.splits + tuple(_split(each) for each in splits), node.bound))
            for child, box, splits in parts
        ]

    def _uncovered(self, node: Node, parts: Sequence[tuple[int, Box, Sequence[Any]]]) -> list[Box]:
        """Rows of a node that are in none of its children."""
        splits = [tuple(_split(each) for each in split) for _, _, split in parts]
        if not any(splits):
            return self.domain.uncovered(node.box, [box for _, box, _ in parts])
        both = len(splits) == 2 and all(len(each) == 1 for each in splits)
        if not both or splits[0][0][:2] != splits[1][0][:2] or splits[0][0][2] == splits[1][0][2]:
            return [node.box]
        return [rest for _, box, _ in parts for rest in self.domain.uncovered(node.box, [box])]


def replay(problem: Problem, claimed: float, lines: Sequence[dict[str, Any]]) -> Replay:
    """Derives the bound of a certificate again.

    Args:
        problem: What was asked.
        claimed: The bound that it is of.
        lines: The certificate's trees and nodes.

    Raises:
        CertificateError: If it is none, or rests on a kind of bound that cannot be derived here.
    """
    target = floored(claimed)
    checker = Checker(problem, target)
    trees: list[tuple[list[int], dict[int, dict[str, Any]]]] = []
    try:
        for line in lines:
            if "roots" in line:
                trees.append((list(line["roots"]), {}))
            else:
                trees[-1][1][int(line["node"])] = line
        runs = []
        for roots, records in trees:
            runs.append(_Replayer(checker, target))
            runs[-1].run(roots, records)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        if isinstance(error, CertificateError):
            raise
        raise malformed("have lines as docs/certificates.md says", f"{type(error).__name__}: {error}") from None
    if not runs:
        raise malformed("have a tree", "none")
    best = max(runs, key=lambda run: run.proved)
    nodes, steps, removed = (sum(getattr(run, name) for run in runs) for name in ("nodes", "steps", "removed"))
    return Replay(claimed, best.proved, nodes, steps, removed, best.weakest)


def _split(numbers: Sequence[Any]) -> Split:
    layer, unit, on = numbers
    return int(layer), int(unit), bool(on)


def malformed(rule: str, got: object) -> CertificateError:
    """A certificate that is none."""
    return CertificateError("A certificate", rule, got, "write it again with certificate=")
