"""`Run`: one programme, solved again and again with no-good cuts, until its answers are proved."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from likely.circuit import GaussianBlock, Leaf, Node
from likely.mio.incumbents import Incumbents
from likely.mio.inputs import Scale, cell_holds
from likely.mio.modelling import columns_of
from likely.mio.programme import Programme
from likely.mio.solvers import Effort, Report, Solver
from likely.mio.target import add_tangent
from likely.mio.tolerances import ABOVE_BLOCK, ABOVE_RELAXED, CUT, LEAST_RISE, MOST_TANGENTS, RELAXED_SHARE, RISES
from likely.problem import Problem, Share, Solution
from likely.problem.domain import Partition
from likely.schema.values import Numbers


@dataclass(eq=False)
class Run:
    """One programme, solved again and again with cuts."""

    incumbents: Incumbents
    programme: Programme
    engine: Solver
    claims: bool  # whether its bounds are bounds of the problem
    once: bool
    start: Solution | None = None
    seconds: float = math.inf  # of the search, until it ends
    answered: bool = False  # whether the solver found an answer
    doubt: float = math.inf  # the least objective that was cut off without a proof that it is no answer
    excluded: set[Any] = field(default_factory=set)  # the kinds of answers that are cut off

    def go(self) -> None:
        """Until nothing better is left, or a limit comes."""
        incumbents = self.incumbents
        self.cells = self.programme.cells()
        self.valued = self.claims and (not incumbents.counts or self._approximate)
        if self.start is not None:
            incumbents.put(self._key(self.start.row), self.start)
        if self.programme.blocks and self._goes_on:
            self._relax()
        while not incumbents.interrupted and self._goes_on and incumbents.going():
            report = self._solve()
            if self.claims:
                bound = min(report.bound, self.doubt)
                incumbents.lower = max(incumbents.lower, bound)
                incumbents.exhausted = report.outcome == "infeasible" and self.doubt == math.inf
            if report.objective is None or report.outcome == "failed":
                return
            self._take(report)
            if report.outcome != "optimal" or (self.once and self.answered) or self._hopeless:
                return

    def _relax(self) -> None:
        """Cut off the optima of the linear relaxation that are above blocks, as long as that raises it: that is cheap."""
        ends = (1 - RELAXED_SHARE) * self._left
        optima: list[float] = []
        with self.programme.relaxed():
            while self._left > ends and self.incumbents.going():
                report = self._report(Effort(self._left - ends, 1, 0.0, 0.0), start=False)
                if report.outcome != "optimal" or report.objective is None or not self.programme.refine(ABOVE_RELAXED):
                    return
                optima = [*optima[-RISES:], report.objective]
                if len(optima) > RISES and optima[-1] - optima[0] < LEAST_RISE * (1 + abs(optima[-1])):
                    return

    @property
    def _goes_on(self) -> bool:
        """Whether something is left to prove, and time to do it."""
        return not self.incumbents.done and self.incumbents.within_limits and self._left > 0

    @property
    def _hopeless(self) -> bool:
        """Whether what is in doubt keeps the answers from being proved the best."""
        cutoff = self.incumbents.cutoff
        return self.answered and cutoff < math.inf and self.doubt < cutoff - self.incumbents.gap(cutoff)

    @property
    def _approximate(self) -> bool:
        plausibility = self.incumbents.problem.plausibility
        return plausibility is not None and plausibility.approximate

    def _solve(self) -> Report:
        """Once, from the best row known that is not excluded."""
        incumbents, limits = self.incumbents, self.incumbents.limits
        started = self.start is not None
        if self.start is not None:
            self.programme.set(self.start.row, _alternative(incumbents.problem, self.start))
            self.start = None
        gaps = 0.5 * limits.absolute_gap, limits.relative_gap
        report = self._report(
            Effort(self._left, limits.nodes - incumbents.nodes, *gaps, self.programme.tolerances.feasibility), started
        )
        if report.outcome == "interrupted" and self._left <= 0:  # by us
            report = replace(report, outcome="stopped")
        incumbents.interrupted |= report.outcome == "interrupted"
        incumbents.nodes += report.nodes
        incumbents.solves += 1
        return report

    @property
    def _left(self) -> float:
        """How many seconds are left for this run."""
        return min(self.incumbents.left, self.seconds - self.incumbents.seconds)

    def _going(self) -> bool:
        """Whether the caller wants it to go on and there is time: what a solver does before it minimises counts, too."""
        return self.incumbents.going() and self._left > 0

    def _report(self, effort: Effort, start: bool) -> Report:
        """Solve, with the objective in the problem's unit."""
        unit = self.programme.objective_unit
        effort = replace(effort, absolute_gap=effort.absolute_gap / unit)
        report = self.engine.solve(effort, start=start, going=self._going)
        return replace(report, objective=None if report.objective is None else report.objective * unit, bound=report.bound * unit)

    def _take(self, report: Report) -> None:
        """Judge what the solver found, keep it, and exclude it."""
        programme = self.programme
        assert report.objective is not None
        row, alternative = programme.get()
        if np.isnan(row).any():
            programme.add_contradiction_cut(int(np.isnan(row).argmax()))
            return
        solution = self._judged(row)
        if solution is None and self._cut_share(row, alternative):
            return
        refined = self._refined(solution, report.objective)
        if (solution is None or refined) and not self._single(row):
            polished = self._polished(math.inf if refined else report.objective)
            solution = min((each for each in (solution, polished) if each is not None), key=_objective, default=None)
        if solution is not None:
            self.incumbents.put(self._key(solution.row), solution)
            row, self.answered = solution.row, True
        if refined:
            self.start = self._open()
            return
        if self.once and solution is not None:
            return
        if solution is None:
            if not self._constant(row):
                self.doubt = min(self.doubt, report.bound)
            programme.add_no_good_cut(row, self.cells if self._too_unlikely(row) else self._around(row), alternative)
            return
        self.excluded.add(self._key(row))
        if self.incumbents.limits.other_features and self.valued:
            programme.add_changes_cut(row)
        else:
            programme.add_no_good_cut(row, self._around(row), None if self.valued else alternative)

    def _refined(self, solution: Solution | None, objective: float) -> bool:
        """Whether what the solver found is no answer, or a worse one, because it is above a block; then it is cut off."""
        return self._worse(solution, objective) and self.programme.refine(ABOVE_BLOCK[0])

    def _worse(self, solution: Solution | None, objective: float) -> bool:
        """Whether a row is no answer, or a worse one than the programme says."""
        return solution is None or solution.objective > objective + self.incumbents.gap(objective)

    def _open(self) -> Solution | None:
        """The best answer that is not excluded."""
        answers = [solution for key, solution in self.incumbents.pool.items() if key not in self.excluded]
        return min(answers, key=_objective, default=None)

    def _judged(self, row: Numbers) -> Solution | None:
        return self.incumbents.problem.solutions(row[None])[0]

    def _cut_share(self, row: Numbers, alternative: int) -> bool:
        """Cut off a row whose softmax is too small, if that is what it lacks."""
        problem = self.incumbents.problem
        share = problem.goal.alternatives[alternative].share
        if share is None or share.low <= 0:
            return False
        scores = problem.form.score(row[None], n_jobs=1)
        if share.scale <= 0 or share.met(scores)[0] or not _too_small(share, scores):
            return False
        add_tangent(self.programme.target, alternative, scores[0])
        return True

    def _polished(self, objective: float) -> Solution | None:
        """The best row with the same 0-1 values that has something to spare; what that costs is in doubt."""
        columns = [(column, column.value) for column in columns_of(self.programme.model)]
        tolerances = self.programme.tolerances
        for inward in tolerances.inward:
            for column, value in columns:
                column.set_value(value, skip_validation=True)
            with self.programme.tightened(inward):
                solution, found = self._touched(tolerances.exact)
            if solution is not None:
                if found > objective + self.incumbents.limits.absolute_gap:
                    self.doubt = min(self.doubt, solution.objective - (found - objective))
                return solution
        return None

    def _touched(self, feasibility: float) -> tuple[Solution | None, float]:
        """The best row of the programme as it is, and its objective there; what is above a block is cut off until none is."""
        best: Solution | None = None
        found = math.inf
        for _ in range(MOST_TANGENTS):
            if self._left <= 0 or self.incumbents.interrupted:
                break
            report = self._report(Effort(self._left, 1000, 1e-9, 0.0, feasibility), start=False)
            if report.objective is None:
                break
            row = self.programme.get()[0]
            solution = None if np.isnan(row).any() else self._judged(row)
            if solution is not None and (best is None or solution.objective < best.objective):
                best, found = solution, report.objective
            if not self._worse(solution, report.objective) or not self.programme.refine(ABOVE_BLOCK[1]):
                break
        return best, found

    def _cell(self, row: Numbers) -> list[int]:
        """The atom (negative) or cell of each value."""
        cells = []
        for inputs, part, value in zip(self.programme.inputs.features, self.cells, row, strict=True):
            atom = inputs.atom(float(value))
            cells.append(-1 - atom if atom is not None else int(cell_holds(inputs, part.low, part.high, float(value)).argmax()))
        return cells

    def _key(self, row: Numbers) -> tuple[Any, ...]:
        """What tells a row from others in a list of answers."""
        if self.incumbents.limits.other_features:
            return tuple(row != self.incumbents.problem.factual)
        return tuple(value if part.grid else c for value, c, part in zip(row, self._cell(row), self.cells, strict=True))

    def _single(self, row: Numbers) -> bool:
        """Whether no other row lies in the same cells."""
        return all(c < 0 or part.low[c] == part.high[c] for c, part in zip(self._cell(row), self.cells, strict=True))

    def _around(self, row: Numbers) -> list[Partition]:
        """What is the same answer as a row: the number of a feature with a step alone, of a real its cell."""
        parts = []
        for inputs, part, value in zip(self.programme.inputs.features, self.cells, row, strict=True):
            stepped = inputs.scale is not None and inputs.scale.grid and inputs.atom(float(value)) is None
            parts.append(_alone(inputs.scale, part, float(value)) if inputs.scale is not None and stepped else part)
        return parts

    def _constant(self, row: Numbers) -> bool:
        """Whether a row that is no answer proves that what is excluded with it holds none."""
        reals = [inputs.scale is not None and not inputs.scale.grid for inputs in self.programme.inputs.features]
        places = zip(reals, self._cell(row), self.cells, strict=True)
        return self._too_unlikely(row) or all(not real or c < 0 or part.low[c] == part.high[c] for real, c, part in places)

    def _too_unlikely(self, row: Numbers) -> bool:
        """Whether every row in the same cells is too unlikely, as this one is."""
        plausibility = self.incumbents.problem.plausibility
        if plausibility is None or any(map(_varies, plausibility.circuit.nodes)):
            return False
        return _unlikely(self.incumbents.problem, row)


def _objective(solution: Solution) -> float:
    return solution.objective


def _varies(node: Node) -> bool:
    """Whether a node is a density that is not constant on cells."""
    return isinstance(node, GaussianBlock) or (isinstance(node, Leaf) and node.parametric is not None)


def _alone(scale: Scale, part: Partition, value: float) -> Partition:
    """The numbers of a feature as those below a value, the value, and those above it."""
    place = float(scale.units(np.array([value]))[0])
    ends = [(0.0, place - 1), (place, place), (place + 1, scale.length)]
    low, high = np.array([(scale.number(a), scale.number(b)) for a, b in ends if a <= b]).T
    return replace(part, low=low, high=high)


def _unlikely(problem: Problem, row: Numbers) -> bool:
    """Whether a row is too unlikely by more than rounding, whatever its class."""
    assert problem.plausibility is not None
    logs = [float(problem.log_likelihoods(row[None], alternative)[0]) for alternative in problem.goal.alternatives]
    return max(logs) < problem.plausibility.lower


def _too_small(share: Share, scores: Numbers) -> bool:
    """Whether a softmax is below its share by so much that a tangent, eased as all rows are, cuts it off."""
    z = share.scale * scores[0]
    top = z.max()
    least = share.log_ends[0]
    return bool(z[share.output] - top - math.log(np.exp(z - top).sum()) < least - CUT * (1 + abs(least) + abs(z).max()))


def _alternative(problem: Problem, solution: Solution) -> int:
    """The alternative of the goal, of an answer's class, that it reaches by most."""
    scores = problem.form.score(solution.row[None], n_jobs=1)[0]
    alternatives = [(a, part) for a, part in enumerate(problem.goal.alternatives) if part.class_index == solution.class_index]
    return max(alternatives, key=lambda part: float((part[1].coefficients @ scores - part[1].lower).min(initial=math.inf)))[0]
