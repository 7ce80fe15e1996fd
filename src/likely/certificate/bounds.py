"""`Checker`: what the kinds of bounds say of a box, derived here from model, circuit, rules and costs, without the engine."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from likely.certificate.domain import ROUNDOFF, Box, Corners, Domain
from likely.certificate.likelihood import Likelihood
from likely.certificate.network import Above, Network, Split, Units
from likely.certificate.prices import Lines, Priced, Prices, Pricing, lines
from likely.certificate.relaxation import Dual, Multipliers, Relaxation
from likely.certificate.rules import Rules
from likely.certificate.trees import Trees
from likely.errors import UnknownBoundError
from likely.predictor import LinearModel, ReluNetwork, TreeEnsemble
from likely.predictor.composite import is_plain
from likely.problem import Problem

#: Whether unstable ReLUs are bounded from below as it is recorded, or as it seems best here: one is tried after the other.
RECORDED = (True, False)
#: A bound is proved up to this much, relative to 1 + its size: engines claim no more either.
TOLERANCE = 1e-9
#: A row whose log-likelihood is at the threshold up to this much, relative to 1 + its size, may go either way: doubles that were
#: added up in another order decide otherwise.
TIE = 1e-10


@dataclass(frozen=True, eq=False)
class _Demand:
    """What is asked of the likelihood, or of the coherence, of rows."""

    likelihood: Likelihood
    pricing: Pricing
    threshold: float
    weight: float


@dataclass(frozen=True, eq=False)
class _Joint:
    """Prices and all that they are of."""

    priced: Priced
    prices: Prices
    relaxations: list[Relaxation]


@dataclass(eq=False)
class Node:
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
    #: Points of tangents of Gaussian blocks for the likelihood alone, and the parts of the circuit with these.
    points: Any = None
    unpriced: Priced | None = None
    #: Prices of likelihood and of coherence as they are recorded, the box, and what was made of them.
    prices: dict[str, tuple[Any, Box]] = field(default_factory=dict)
    priced: dict[tuple[str, bool], _Joint | None] = field(default_factory=dict)


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
        asked, fit = problem.plausibility, problem.coherence
        self._demands: dict[str, _Demand] = {}
        if asked is not None and asked.counts:
            likelihood = Likelihood(problem, asked, self.domain)
            self._demands["joint bound"] = _Demand(likelihood, Pricing(likelihood, self.domain), asked.lower, asked.weight)
        if fit is not None:
            if fit.circuit.has_blocks:
                raise refusal("the coherence of Gaussian blocks")
            coherence = Likelihood(problem, fit, self.domain)
            self._demands["joint coherence"] = _Demand(coherence, Pricing(coherence, self.domain), fit.lower, 0.0)
        self._weight = 0.0 if asked is None else asked.weight
        self._kinds: dict[str, Callable[[Node, Box], float]] = {
            "rules": self._by_rules,
            "score": self._by_score,
            "likelihood": partial(self._by_likelihood, "joint bound"),
            "coherence": partial(self._by_likelihood, "joint coherence"),
            "cost bound": self._by_cost,
            "reduced-cost fixing": self._by_cost,
            "units": self._by_cost,
            "joint bound": partial(self._by_prices, "joint bound"),
            "joint coherence": partial(self._by_prices, "joint coherence"),
        }

    # -- steps ----------------------------------------------------------------------------------------------------------

    def bound(self, step: str, node: Node, part: Box) -> float:
        """What the kind of bound of a step says of a part of a node: infinite if it has no row that is of interest."""
        if step not in self._kinds:
            raise refusal(f"the step {step!r}")
        return self._kinds[step](node, part)

    def bound_alone(self, step: str, node: Node, part: Box) -> float:
        """The same with the score relaxed over the part alone, with the node's multipliers."""
        if self._network is None or not self._network.hidden:
            return -math.inf
        alone = Node(part, node.alternative, node.splits, node.bound, node.budget, part, node.above)
        if node.multipliers is not None:
            alone.multipliers = (*node.multipliers[:2], part)
        return self.bound(step, alone, part)

    def fixing(self, node: Node) -> list[Dual]:
        """The duals of the last bound of the cost over the node's box, for values that they remove one by one."""
        corners = self.domain.corners(node.box)
        duals = self._duals(node, recorded=True)
        if corners is None or duals is None or self._weight > 0:
            return []
        return [Dual(self.domain, self.rules, node.box, corners, relaxation, at) for relaxation, at in duals]

    def every_bound(self, node: Node, part: Box) -> float:
        """The greatest of all kinds of bounds, the score relaxed anew."""
        renewed = Node(part, node.alternative, node.splits, node.bound, node.budget)
        self.relax(renewed)
        kinds = ("rules", "score", "likelihood", "coherence", "cost bound")
        return max(*(self.bound(kind, renewed, part) for kind in kinds), self._by_share(renewed, part))

    def relax(self, node: Node, above: Above = None) -> None:
        """The score is relaxed over the node as it is, when that is needed."""
        node.relaxed, node.above, node.relaxations = node.box, above, {}

    def take_multipliers(self, step: str, node: Node, values: Any) -> None:
        """Multipliers, prices or points that a step used."""
        if step == "likelihood":
            node.points, node.unpriced = values, None
        elif step in self._demands:
            node.prices[step] = values, node.box
            for recorded in RECORDED:
                node.priced.pop((step, recorded), None)
        else:
            node.multipliers, node.duals = (step, values, node.box), {}

    def _relaxations(self, node: Node, recorded: bool) -> list[Relaxation] | None:
        """Of every goal; None if no row is possible."""
        if recorded not in node.relaxations:
            assert self._network is not None
            units = self._units(node, node.box if node.relaxed is None else node.relaxed, node.above if recorded else None)
            alternative = self.problem.goal.alternatives[node.alternative]
            node.relaxations[recorded] = None if units is None else self._network.relax(units, alternative)
        return node.relaxations[recorded]

    def _units(self, node: Node, box: Box, above: Above) -> Units | None:
        assert self._network is not None
        corners = self.domain.corners(box)
        if corners is None:
            return None
        budget = math.inf if self._weight > 0 else max(node.budget, self.target)
        units = self._network.units(box, corners, budget, node.splits, above)
        return units if units.possible else None

    def _duals(self, node: Node, recorded: bool) -> list[tuple[Relaxation | None, Multipliers]] | None:
        """Relaxations with their multipliers; None if no row is possible."""
        if recorded not in node.duals:
            node.duals[recorded] = self._new_duals(node, recorded)
        return node.duals[recorded]

    def _new_duals(self, node: Node, recorded: bool) -> list[tuple[Relaxation | None, Multipliers]] | None:
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

    def _by_rules(self, node: Node, part: Box) -> float:
        return math.inf if self.rules.refute(part) else -math.inf

    def _by_score(self, node: Node, part: Box) -> float:
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
        # Hidden units are bounded for rows within a budget: the others may be seen to cost too much only.
        return -math.inf if self._weight > 0 else self._cheapest(part, corners)

    def _cheapest(self, part: Box, corners: Corners) -> float:
        """No row of a part costs less."""
        return Dual(self.domain, self.rules, part, corners, None, Multipliers(0.0, 0.0, 0)).bound

    def _by_share(self, node: Node, part: Box) -> float:
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

    def _by_likelihood(self, of: str, node: Node, part: Box) -> float:
        demand = self._demands.get(of)
        if demand is None or demand.threshold == -math.inf:
            return -math.inf
        tie = TIE * (1 + abs(demand.threshold)) if self.domain.single_cells(part) else 0.0
        return math.inf if self._upper(demand, node, part) < demand.threshold + tie else -math.inf

    def _upper(self, demand: _Demand, node: Node, part: Box) -> float:
        """No row of a part of a node has a greater log-likelihood, or coherence."""
        if not demand.likelihood.has_blocks:
            return demand.likelihood.upper(part, node.alternative)
        priced = node.unpriced if node.points is not None else demand.pricing.unpriced(part, None)
        if priced is None:
            priced = node.unpriced = demand.pricing.unpriced(part, node.points)
        values = priced.log_values(part, node.alternative)
        return Lines(values, np.zeros(len(values))).log_sum(0.0)

    def _by_prices(self, of: str, node: Node, part: Box) -> float:
        """From the lines of recorded prices: what a row must cost that is likely enough, or how small the objective can be."""
        demand, corners = self._demands.get(of), self.domain.corners(part)
        if corners is None:
            return math.inf
        if demand is None or of not in node.prices:
            return -math.inf
        cheapest, most = (float(ends(corners.cost).sum()) for ends in (corners.least, corners.greatest))
        off = 4 * ROUNDOFF * (self.domain.size + 8) * most
        best = -math.inf
        for recorded in RECORDED if self._network is not None and self._network.hidden else RECORDED[:1]:
            joint = self._joint(of, node, recorded)
            if joint is None or any(each.missed(corners) for each in joint.relaxations):
                return math.inf
            made = lines(joint.priced, joint.prices, joint.relaxations, self.rules.linear, part, node.alternative)
            if demand.weight > 0:
                taken = demand.weight * made.log_sum(0.0)
                best = max(best, -taken - 4 * ROUNDOFF * abs(taken) - off if math.isfinite(taken) else -taken)
            else:
                best = max(best, made.least_cost(demand.threshold, cheapest - off, self.target, most + off))
            if best >= self.target:
                break
        return best

    def _joint(self, of: str, node: Node, recorded: bool) -> _Joint | None:
        """Recorded prices with the relaxations that they are of; None if no row is possible."""
        if (of, recorded) not in node.priced:
            node.priced[of, recorded] = self._new_joint(of, node, recorded)
        return node.priced[of, recorded]

    def _new_joint(self, of: str, node: Node, recorded: bool) -> _Joint | None:
        demand, (values, box) = self._demands[of], node.prices[of]
        relaxations: list[Relaxation] = []
        if self._network is not None:
            goals = self._relaxations(node, recorded)
            if goals is None:
                return None
            relaxations = [*goals]
            if node.multipliers is not None and node.multipliers[0] == "units":
                duals = self._duals(node, recorded)
                if duals is None:
                    return None
                relaxations += [each for each, _ in duals if each is not None]
        prices = Prices.read(values, len(relaxations), len(self.rules.linear))
        applies = np.array([rule.applies(self.domain, box) for rule in self.rules.linear], dtype=np.bool_)
        prices = replace(prices, rules=np.where(applies, prices.rules, 0.0))
        if demand.weight > 0:
            prices = replace(prices, cost=np.full(len(prices.cost), 1 / demand.weight))
        return _Joint(demand.pricing.priced(prices, relaxations, self.rules.linear), prices, relaxations)

    def _by_cost(self, node: Node, part: Box) -> float:
        """The duals with the multipliers of the last bound of the cost, and what likelihood can take off."""
        corners = self.domain.corners(part)
        if corners is None:
            return math.inf
        taken = self._weight * self._upper(self._demands["joint bound"], node, part) if self._weight > 0 else 0.0
        most = float(corners.greatest(corners.cost).sum())
        best = self._cheapest(part, corners) - taken
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


def refusal(what: str) -> UnknownBoundError:
    """A certificate whose bounds cannot be derived again."""
    return UnknownBoundError("A certificate", "rest on bounds that the checker knows", what, "nothing is said of this proof")
