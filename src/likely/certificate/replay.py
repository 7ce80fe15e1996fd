"""`replay`: a certificate, node by node, with bounds that are derived here from model, circuit and rules, without the engine.

What a step removed from a box is a box itself, one per feature: it must be closed by the bound that the step names. The children
of a node must hold every row that is left. Every part that is closed has a bound of its own, infinite if it has no row; the least
of them all is what is proved. Nothing that is recorded is trusted: multipliers may be any numbers, boxes and cut-offs only
decide what there is to show.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from likely.certificate.domain import ROUNDOFF, Box, Domain
from likely.certificate.likelihood import Likelihood
from likely.certificate.network import Above, Network, Split, Units
from likely.certificate.relaxation import Dual, Multipliers, Relaxation
from likely.certificate.rules import Rules
from likely.certificate.trees import Trees
from likely.errors import CertificateError, UnknownBoundError
from likely.predictor import LinearModel, ReluNetwork, TreeEnsemble
from likely.predictor.composite import is_plain
from likely.problem import Problem

#: Whether unstable ReLUs are bounded from below as it is recorded, or as it seems best here: one is tried after the other.
RECORDED = (True, False)
#: Steps whose bounds are of single values.
PIECEWISE = frozenset({"rules", "score", "likelihood", "reduced-cost fixing", "joint bound"})
#: Steps whose bounds may be better if the score is relaxed over a part alone.
ALONE = frozenset({"score", "reduced-cost fixing"})
#: A bound is proved up to this much, relative to 1 + its size: engines claim no more either.
TOLERANCE = 1e-9


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


@dataclass(eq=False)
class _Node:
    """A node while its steps are gone through: its rows, and what is known of them."""

    box: Box
    alternative: int
    splits: tuple[Split, ...]
    bound: float
    budget: float = math.inf
    #: The box for which the score was last relaxed, and the relaxations, with lower bounds of ReLUs as recorded or not.
    relaxed: Box | None = None
    above: Above = None
    relaxations: dict[bool, list[Relaxation] | None] = field(default_factory=dict)
    #: Of the last bound of the cost, of goals or of hidden units: multipliers as they are recorded, and the box.
    multipliers: tuple[str, Any, Box] | None = None
    duals: dict[bool, list[tuple[Relaxation | None, Multipliers]] | None] = field(default_factory=dict)


class Checker:
    """Bounds of boxes of one problem.

    Args:
        problem: What was asked.
        target: The bound that is to be shown: rows that cost more are of no interest.
    """

    def __init__(self, problem: Problem, target: float) -> None:
        self.problem, self.target = problem, target
        self.domain = Domain(problem)
        self.rules = Rules(self.domain, problem.rules)
        form = problem.form
        if not is_plain(form):
            raise refusal("the graph of a composite form or of curved inputs")
        self._network = Network(self.domain, form) if isinstance(form, (LinearModel, ReluNetwork)) else None
        self._trees = Trees(self.domain, form) if isinstance(form, TreeEnsemble) else None
        asked = problem.plausibility
        self._likelihood = Likelihood(problem, asked, self.domain) if asked is not None and asked.counts else None
        self._threshold = -math.inf if asked is None else asked.lower
        self._weight = 0.0 if asked is None else asked.weight
        if problem.coherence is not None:
            raise refusal("a demand on coherence")
        if self._likelihood is not None and self._likelihood.has_blocks:
            raise refusal("the likelihood of Gaussian blocks")
        self._kinds: dict[str, Callable[[_Node, Box], float]] = {
            "rules": self._by_rules,
            "score": self._by_score,
            "likelihood": self._by_likelihood,
            "cost bound": self._by_cost,
            "reduced-cost fixing": self._by_cost,
            "units": self._by_cost,
        }

    # -- steps ----------------------------------------------------------------------------------------------------------

    def bound(self, step: str, node: _Node, part: Box) -> float:
        """What the kind of bound of a step says of a part of a node: infinite if it has no row that is of interest."""
        if step not in self._kinds:
            raise refusal(f"the step {step!r}")
        return self._kinds[step](node, part)

    def bound_alone(self, step: str, node: _Node, part: Box) -> float:
        """The same with the score relaxed over the part alone, with the node's multipliers."""
        if self._network is None or not self._network.hidden:
            return -math.inf
        alone = _Node(part, node.alternative, node.splits, node.bound, node.budget, part, node.above)
        if node.multipliers is not None:
            alone.multipliers = (*node.multipliers[:2], part)
        return self.bound(step, alone, part)

    def fixing(self, node: _Node) -> list[Dual]:
        """The duals of the last bound of the cost over the node's box, for values that they remove one by one."""
        corners = self.domain.corners(node.box)
        duals = self._duals(node, recorded=True)
        if corners is None or duals is None or self._weight > 0:
            return []
        return [Dual(self.domain, self.rules, node.box, corners, relaxation, at) for relaxation, at in duals]

    def every_bound(self, node: _Node, part: Box) -> float:
        """The greatest of all kinds of bounds, the score relaxed anew."""
        renewed = _Node(part, node.alternative, node.splits, node.bound, node.budget)
        self.relax(renewed)
        kinds = (self._by_rules, self._by_score, self._by_likelihood, self._by_cost, self._by_share)
        return max(kind(renewed, part) for kind in kinds)

    def relax(self, node: _Node, above: Above = None) -> None:
        """The score is relaxed over the node as it is, when that is needed."""
        node.relaxed, node.above, node.relaxations = node.box, above, {}

    def take_multipliers(self, step: str, node: _Node, values: Any) -> None:
        """Multipliers that a step used."""
        node.multipliers, node.duals = (step, values, node.box), {}

    def _relaxations(self, node: _Node, recorded: bool) -> list[Relaxation] | None:
        """Of every goal; None if no row is possible."""
        if recorded not in node.relaxations:
            assert self._network is not None
            assert node.relaxed is not None
            units = self._units(node, node.relaxed, node.above if recorded else None)
            alternative = self.problem.goal.alternatives[node.alternative]
            node.relaxations[recorded] = None if units is None else self._network.relax(units, alternative)
        return node.relaxations[recorded]

    def _units(self, node: _Node, box: Box, above: Above) -> Units | None:
        assert self._network is not None
        corners = self.domain.corners(box)
        if corners is None:
            return None
        budget = math.inf if self._weight > 0 else max(node.budget, self.target)
        units = self._network.units(box, corners, budget, node.splits, above)
        return units if units.possible else None

    def _duals(self, node: _Node, recorded: bool) -> list[tuple[Relaxation | None, Multipliers]] | None:
        """Relaxations with their multipliers; None if no row is possible."""
        if recorded not in node.duals:
            node.duals[recorded] = self._new_duals(node, recorded)
        return node.duals[recorded]

    def _new_duals(self, node: _Node, recorded: bool) -> list[tuple[Relaxation | None, Multipliers]] | None:
        if node.multipliers is None:
            return []
        step, values, box = node.multipliers
        if step == "cost bound":
            if self._network is None:
                return [(None, Multipliers.read(at)) for at in values]
            relaxations = self._relaxations(node, recorded)
            if relaxations is None:
                return None
            return [(each, Multipliers.read(at)) for each, at in zip(relaxations, values, strict=True)]
        assert self._network is not None
        units = self._units(node, box, values["above"] if recorded else None)
        if units is None or not values["units"]:
            return None if units is None else []
        aggregate = self._network.aggregate(units, self.problem.goal.alternatives[node.alternative], values)
        return [(aggregate, Multipliers.read(values["dual"]))]

    # -- kinds of bounds ------------------------------------------------------------------------------------------------

    def _by_rules(self, node: _Node, part: Box) -> float:
        return math.inf if self.rules.refute(part) else -math.inf

    def _by_score(self, node: _Node, part: Box) -> float:
        alternative = self.problem.goal.alternatives[node.alternative]
        if self._trees is not None:
            return math.inf if self._trees.missed(part, node.alternative, alternative) else -math.inf
        corners = self.domain.corners(part)
        if corners is None:
            return math.inf
        for recorded in RECORDED:
            relaxations = self._relaxations(node, recorded)
            if relaxations is None or any(each.missed(corners) for each in relaxations):
                return math.inf
        return -math.inf

    def _by_share(self, node: _Node, part: Box) -> float:
        """Of a single row: whether it misses the share of a softmax that is asked for."""
        share = self.problem.goal.alternatives[node.alternative].share
        corners = self.domain.corners(part)
        if share is None or corners is None or not self.domain.single(part):
            return -math.inf
        if self._network is not None:
            scores, off = self._network.scores(corners)
        else:
            assert self._trees is not None
            scores, off = self._trees.scores(part)
        terms = share.scale * (scores - scores.max())
        log_share = float(terms[share.output] - np.log(np.exp(terms).sum()))
        slack = 2 * abs(share.scale) * float(off.max()) + 32 * ROUNDOFF * (1 + abs(log_share))
        low, high = share.log_ends
        return -math.inf if low - slack <= log_share <= high + slack else math.inf

    def _by_likelihood(self, node: _Node, part: Box) -> float:
        if self._likelihood is None or self._threshold == -math.inf:
            return -math.inf
        return math.inf if self._likelihood.upper(part, node.alternative) < self._threshold else -math.inf

    def _by_cost(self, node: _Node, part: Box) -> float:
        """The duals with the multipliers of the last bound of the cost, and what likelihood can take off."""
        corners = self.domain.corners(part)
        if corners is None:
            return math.inf
        taken = 0.0
        if self._weight > 0:
            assert self._likelihood is not None
            taken = self._weight * self._likelihood.upper(part, node.alternative)
        most = float(corners.greatest(corners.cost).sum())
        best = Dual(self.domain, self.rules, part, corners, None, Multipliers(0.0, 0.0, 0)).bound - taken
        for recorded in RECORDED if self._network is not None and self._network.hidden else RECORDED[:1]:
            duals = self._duals(node, recorded)
            if duals is None or any(each is not None and each.missed(corners) for each, _ in duals):
                return math.inf
            for relaxation, at in duals:
                bound = Dual(self.domain, self.rules, part, corners, relaxation, at).bound
                if bound > most + TOLERANCE * (1 + abs(most)):
                    return math.inf  # whatever costs so much is not in the part
                best = max(best, bound - taken)
            if best >= self.target:
                break
        return best


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
        waiting = [(place, _Node(self.domain.whole(), alternative, (), -math.inf)) for alternative, place in enumerate(roots)]
        if len(roots) != len(self.checker.problem.goal.alternatives):
            raise malformed("have a root per alternative of the goal", len(roots))
        while waiting:
            place, node = waiting.pop()
            record = records.pop(place, None)
            if record is None:
                self.close(node.bound, place)
            else:
                waiting += self._look_at(place, node, record)

    def _look_at(self, place: int, node: _Node, record: dict[str, Any]) -> list[tuple[int, _Node]]:
        self.nodes += 1
        node.budget = max(float(record["cutoff"]), self.target)
        before = ""
        for step, left, changes, *multipliers in record["steps"]:
            self.steps += 1
            if step == "score" and before != "score":
                self.checker.relax(node, *multipliers)
            elif multipliers and before != step:
                self.checker.take_multipliers(step, node, multipliers[0])
                node.bound = max(node.bound, self.checker.bound(step, node, node.box))
            before = step
            self._remove(place, step, node, changes)
            if not left and node.bound < self.target and self.domain.corners(node.box) is not None:
                self.close(max(node.bound, self.checker.bound(step, node, node.box)), place)
                return []
        return self._end(place, node, record)

    def _remove(self, place: int, step: str, node: _Node, changes: Sequence[Any]) -> None:
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

    def _bound_in_pieces(self, step: str, node: _Node, j: int, part: Box) -> float:
        """The bound of a part; if that is too low, over the part alone, and then the least over pieces of it.

        A network's relaxation over a part is tighter than over the node's box, and a bound that is no sum over features the
        better the fewer values feature j has.
        """
        bound = self.checker.bound(step, node, part)
        if bound < self.target and step in ALONE:
            bound = max(bound, self.checker.bound_alone(step, node, part))
        if bound >= self.target or step not in PIECEWISE:
            return bound
        return max(
            bound, min((self._bound_in_pieces(step, node, j, piece) for piece in self.domain.halves(part, j)), default=bound)
        )

    def _end(self, place: int, node: _Node, record: dict[str, Any]) -> list[tuple[int, _Node]]:
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
            (child, _Node(box, node.alternative, node.splits + tuple(_split(each) for each in splits), node.bound))
            for child, box, splits in parts
        ]

    def _uncovered(self, node: _Node, parts: Sequence[tuple[int, Box, Sequence[Any]]]) -> list[Box]:
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


def refusal(what: str) -> UnknownBoundError:
    """A certificate whose bounds cannot be derived again."""
    return UnknownBoundError("A certificate", "rest on bounds that the checker knows", what, "nothing is said of this proof")


def malformed(rule: str, got: object) -> CertificateError:
    """A certificate that is none."""
    return CertificateError("A certificate", rule, got, "write it again with certificate=")
