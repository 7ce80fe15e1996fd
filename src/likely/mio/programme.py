"""`Programme`: one mixed-integer model per schema, form and circuit, asked about one factual after the other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from likely.circuit import Circuit, GaussianBlock
from likely.errors import ProblemError
from likely.mio.circuit import Formulation, Likelihood, encode_circuit
from likely.mio.classifier import encode_classifier
from likely.mio.inputs import IndicatorBounds, RowVariables, cell_holds, encode_schema
from likely.mio.leaves import Side
from likely.mio.modelling import (
    Block,
    Expression,
    Variable,
    add,
    columns_of,
    growing,
    new_block,
    numbers,
    objective,
    parameter,
    programme,
    reals,
    rows,
    size,
    total,
)
from likely.mio.moves import Moves, encode_constraints, encode_cost, encode_moves, largest_price, tie_cost
from likely.mio.reach import hold_within, reach_of
from likely.mio.refining import Refinement
from likely.mio.scaling import unit_of
from likely.mio.scores import Scores
from likely.mio.target import Target, encode_target
from likely.mio.tolerances import NOISE, TOLERANCES, Tolerances
from likely.predictor import Form
from likely.problem import Problem
from likely.problem.domain import Partition, partitions
from likely.problem.tolerances import rounding
from likely.schema import Schema
from likely.schema.grid import snap
from likely.schema.values import Numbers


class Programme:
    """The model of a schema, a form and a circuit: built once, then `ask`ed.

    `model` is a Pyomo model of your own to look at, add to or export: `model.inputs`, `model.scores`, `model.likelihood` stay;
    `model.question` (moves, constraints, goal, threshold, cuts) and `model.objective` are those of the last problem asked. It
    minimises the problem's objective divided by `objective_unit`, which is 1 unless prices are very large or very small.

    Args:
        schema: The features.
        form: The classifier.
        circuit: The density; None if no problem asks for likelihoods.
        formulation: Of the circuit: "hull" or "paper", see `encode_circuit`.
        side: Whether the log-likelihood is approximated from below ("under") or above ("over").
        big_m: For `formulation="paper"`: one constant for all nodes, instead of bounds of each.
        tolerances: How exactly the solver computes.
    """

    def __init__(
        self,
        schema: Schema,
        form: Form,
        circuit: Circuit | None = None,
        *,
        formulation: Formulation = "hull",
        side: Side = "under",
        big_m: float | None = None,
        tolerances: Tolerances = TOLERANCES,
    ) -> None:
        self.tolerances = tolerances
        self.objective_unit = 1.0
        self.model: Block = programme()
        self.inputs: RowVariables = encode_schema(schema)
        self.model.inputs = self.inputs.block
        self.scores: Scores = encode_classifier(form, self.inputs)
        self.model.scores = self.scores.block
        self.likelihood: Likelihood | None = None
        if circuit is not None:
            target = None
            if circuit.target is not None:
                self.model.target = numbers(len(circuit.target.atoms) + 1)
                target = list(self.model.target.values())
            self.likelihood = encode_circuit(circuit, self.inputs, target=target, formulation=formulation, side=side, big_m=big_m)
            self.model.likelihood = self.likelihood.block

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns of the model as it is."""
        return size(self.model)

    # -- asking -------------------------------------------------------------------------------------------------------

    def ask(self, problem: Problem, most: float = math.inf) -> None:
        """Make the model that of a problem (of the same schema, form and circuit): what went before is forgotten.

        Args:
            problem: What is asked.
            most: Answers that cost more need not be in it: the cut-off.
        """
        refuse_coherence(problem)
        self.problem = problem
        for name in ("objective", "question"):
            if hasattr(self.model, name):
                self.model.del_component(name)
        self.inputs.schema = problem.schema
        self.model.question = question = new_block()
        question.rows, question.tight = rows(), parameter()
        question.leave, question.refined = growing(0, 1, whole=True), new_block()
        self.refinement = Refinement(question.refined)
        self.moves: Moves = encode_moves(self.inputs, problem.factual)
        question.moves = self.moves.block
        question.constraints = encode_constraints(self.moves)
        reach = reach_of(self.moves, most)
        hold_within(self.inputs, {} if self.likelihood is None else self.likelihood.cells, reach)
        low, high = self.scores.tighten(question, reach)
        self.target: Target = encode_target(problem.goal, replace(self.scores, low=low, high=high), self.tolerances)
        question.target = self.target.block
        self._hold()
        # a row that says nothing, so that a solver knows every input, and gives it a value
        add(question, total(variable for part in self.inputs.features for variable in part.variables) >= 0)
        cost = encode_cost(self.moves)
        plausibility = problem.plausibility
        weight = 0.0 if plausibility is None else plausibility.weight
        self.objective_unit = unit_of(max(largest_price(self.moves), weight))
        if plausibility is None or self.likelihood is None:
            self.model.objective = objective(cost / self.objective_unit)
            return
        for j, cells in self.likelihood.cells.items():
            tie_cost(question, self.moves, j, cells)
        log = self._log_likelihood(problem)
        if plausibility.lower > -math.inf:
            relaxed = plausibility.lower - rounding(plausibility.lower, self.tolerances.outward)
            add(question, log >= relaxed + question.tight * (1 + abs(plausibility.lower)))
        self.model.objective = objective((cost - weight * log if weight else cost) / self.objective_unit)

    def _hold(self) -> None:
        """What decoding must respect for this factual."""
        self.leaves: list[Leave] = []
        for moves in self.moves.features:
            moves.inputs.question_bounds = moves.cells.indicator_bounds
            alone = moves.domain.low[moves.domain.low == moves.domain.high]
            scale = moves.inputs.scale
            multiples = np.array([scale.number(u) for u in scale.units(alone)]) if scale is not None else alone
            moves.inputs.off_grid = alone[multiples != alone]

    def _log_likelihood(self, problem: Problem) -> Expression:
        """The row's log-likelihood with its class, given what it is given; ties the circuit's target to the goal."""
        plausibility = problem.plausibility
        assert plausibility is not None
        assert self.likelihood is not None
        question, given = self.model.question, []
        classes: dict[int, list[Expression]] = {}
        for alternative, chosen in zip(problem.goal.alternatives, self.target.chosen, strict=True):
            number = plausibility.target_of(problem.form, alternative.class_index)
            if plausibility.circuit.target is not None:
                k = len(plausibility.circuit.target.atoms) if math.isnan(number) else round(number)
                classes.setdefault(k, []).append(chosen)
            log_given = plausibility.log_given(problem.factual, number)
            if log_given == math.inf:  # impossible: no row is likely then
                add(question, chosen <= 0)
            elif log_given:
                given.append(log_given * chosen)
        if plausibility.circuit.target is not None:
            for k in range(len(plausibility.circuit.target.atoms) + 1):
                add(question, self.model.target[k] == total(classes.get(k, [])))
        return self.likelihood.log_likelihood - total(given)

    # -- rows <-> variables ---------------------------------------------------------------------------------------------

    def set(self, row: Numbers, alternative: int = 0) -> None:
        """Give all variables the values that stand for a row and an alternative of the goal: a warm start.

        Args:
            row: A complete row, as doubles.
            alternative: The place of the alternative in the goal.
        """
        self.inputs.set(row)
        self.scores.set(row)
        self.moves.set(row)
        self.target.set(alternative)
        for leave in self.leaves:
            leave.bounds.variable.set_value(int(leave.bounds.low <= row[leave.feature] <= leave.bounds.high))
        if self.likelihood is not None:
            target, plausibility = self.likelihood.circuit.target, self.problem.plausibility
            assert plausibility is not None
            number = plausibility.target_of(self.problem.form, self.problem.goal.alternatives[alternative].class_index)
            if target is not None:
                for k, variable in self.model.target.items():
                    variable.set_value(int(k == (len(target.atoms) if math.isnan(number) else round(number))))
            self.likelihood.set(row if target is None else np.append(row, number))
            self.refinement.set()

    def get(self) -> tuple[Numbers, int]:
        """The row and the alternative that the variables' values stand for (the inverse of `set`)."""
        return self.inputs.get(), self.target.get()

    # -- cuts ---------------------------------------------------------------------------------------------------------

    def add_no_good_cut(self, row: Numbers, cells: Sequence[Partition], alternative: int | None = None) -> None:
        """A no-good cut: exclude all rows that lie in the same cells as a row.

        Some feature must leave: for a discrete value or code by 1 - d_k, for a number by two 0-1 variables of its own, b below
        its cell and a above it: u <= U + (below - U) b, u >= above * a, or by becoming a code. At most 2 columns and 2 rows per
        feature of numbers, and 1 row: sum of all ways to leave >= 1. Exact. (Balas and Jeroslow, "Canonical cuts on the unit
        hypercube", 1972, for 0-1 variables.)

        Args:
            row: The row to exclude, as doubles.
            cells: The partition of every feature.
            alternative: The place of the alternative in the goal for which it is excluded; None for all.
        """
        ways: list[Expression] = [] if alternative is None else [1 - self.target.chosen[alternative]]
        for j, (inputs, part) in enumerate(zip(self.inputs.features, cells, strict=True)):
            atom = inputs.atom(float(row[j]))
            if atom is not None:
                ways.append(1 - inputs.atoms[atom])
                continue
            off_grid = self._off_grid_cell(j, float(row[j]))
            if off_grid is not None and row[j] in inputs.off_grid:
                ways.append(1 - off_grid)
                continue
            here = np.flatnonzero(cell_holds(inputs, part.low, part.high, float(row[j])))
            ways += [*inputs.atoms, *self._leave(j, part, int(here[0])), *([] if off_grid is None else [off_grid])]
        add(self.model.question, total(ways) >= 1)

    def _off_grid_cell(self, j: int, value: float) -> Variable | None:
        """Whether the row has the value off the grid that has the place of a number: its 0-1 variable, if there is one."""
        moves = self.moves.features[j]
        if moves.inputs.scale is None or not moves.inputs.scale.grid:
            return None
        beside = moves.inputs.beside(value)
        if not len(beside):
            return None
        single = np.flatnonzero((moves.domain.low == beside[0]) & (moves.domain.high == beside[0]))
        return moves.cells.variables[int(single[0])]

    def _leave(self, j: int, part: Partition, cell: int) -> list[Expression]:
        """Below a cell of numbers, and above it, where there is anything."""
        inputs = self.inputs.features[j]
        assert inputs.scale is not None
        question, leaves = self.model.question, []
        low, high = inputs.scale.units(part.low), inputs.scale.units(part.high)
        below, above = np.flatnonzero(high < low[cell]), np.flatnonzero(low > high[cell])
        if len(below):
            way = question.leave.add()
            add(question, inputs.variable <= inputs.scale.length + (float(high[below[-1]]) - inputs.scale.length) * way)
            leaves.append(Leave(j, IndicatorBounds(way, float(part.low[0]), float(part.high[below[-1]]))))
        if len(above):
            way = question.leave.add()
            add(question, inputs.variable >= float(low[above[0]]) * way)
            leaves.append(Leave(j, IndicatorBounds(way, float(part.low[above[0]]), float(part.high[-1]))))
        inputs.question_bounds += [leave.bounds for leave in leaves]
        self.leaves += leaves
        return [leave.bounds.variable for leave in leaves]

    def add_changes_cut(self, row: Numbers) -> None:
        """A no-good cut on what changes: exclude all rows that change the same features as a row: 1 row.

        Args:
            row: The row, as doubles.
        """
        ways = []
        for moves, value in zip(self.moves.features, row, strict=True):
            if not np.isnan(moves.factual):  # an unknown value is always changed
                ways.append(moves.stays if value != moves.factual else 1 - moves.stays)
        add(self.model.question, total(ways) >= 1)

    def add_contradiction_cut(self, j: int) -> None:
        """Exclude what holds of a feature now and contradicts itself in the last bits of a number: 1 row.

        Args:
            j: The feature's place in the schema.
        """
        inputs = self.inputs.features[j]
        active = [part for part in (*inputs.indicator_bounds, *inputs.question_bounds) if part.active]
        lowest, highest = min(active, key=lambda part: part.high), max(active, key=lambda part: part.low)
        add(self.model.question, lowest.indicator + highest.indicator <= 1)

    @property
    def blocks(self) -> bool:
        """Whether the circuit has blocks, which tangents bound from above."""
        return self.likelihood is not None and any(isinstance(node, GaussianBlock) for node in self.likelihood.circuit.nodes)

    def refine(self, above: float) -> bool:
        """Cut off the variables' values where they have more than a block's density; whether they had.

        Args:
            above: By how much, in nats, they must have more.
        """
        return self.likelihood is not None and self.likelihood.refine(self.refinement, above)

    def cells(self) -> list[Partition]:
        """The cells in which two answers are the same one: on each, circuit, trees and rules are constant."""
        return partitions(self.problem)

    @contextmanager
    def relaxed(self) -> Iterator[None]:
        """While no variable need be whole."""
        whole = [(column, column.domain) for column in columns_of(self.model) if column.is_integer()]
        for column, _ in whole:
            column.setlb(column.lb)  # which may have been those of the domain
            column.setub(column.ub)
            column.domain = reals()
        try:
            yield
        finally:
            for column, domain in whole:
                column.domain = domain

    @contextmanager
    def tightened(self, inward: float) -> Iterator[None]:
        """While the 0-1 variables keep their values, and goal, threshold and sums are asked for with something to spare.

        Args:
            inward: How much.
        """
        fixed = [component for component in columns_of(self.model) if component.is_integer() and component.ub - component.lb <= 1]
        for component in fixed:
            component.fix(round(component.value))
        question = self.model.question
        spared = [question.tight, question.constraints.tight, self.target.block.tight]
        for component in spared:
            component.set_value(inward)
        try:
            yield
        finally:
            for component in fixed:
                component.unfix()
            for component in spared:
                component.set_value(0.0)


@dataclass(frozen=True, eq=False)
class Leave:
    """A way in which a feature leaves a cell."""

    feature: int
    bounds: IndicatorBounds


def refuse_coherence(problem: Problem) -> None:
    """Refuse a problem that demands how well values must fit together: there are no programmes of that.

    Args:
        problem: What is asked.
    """
    if problem.coherence is not None:
        rule, got = "leave open how well values fit together", "a demand on coherence"
        raise ProblemError("A problem for a solver of mixed-integer programmes", rule, got, "use engine='search'")


def beside_steps(problem: Problem) -> bool:
    """Whether the factual has a number in a block that is no multiple of its step: a programme has the multiple's density.

    Args:
        problem: What is asked.
    """
    if problem.plausibility is None or not problem.plausibility.counts:
        return False
    blocks = [node for node in problem.plausibility.circuit.nodes if isinstance(node, GaussianBlock)]
    for j in {j for block in blocks for j in block.variables}:
        grid, value = problem.schema.features[j].grid, problem.factual[j]
        if grid is not None and abs(value - snap(np.array([value]), grid)[0]) > NOISE * grid:
            return True
    return False
