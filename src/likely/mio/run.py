"""`Run`: one programme, solved again and again with no-good cuts, until its answers are proved."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from likely.circuit import Leaf
from likely.mio.incumbents import Incumbents
from likely.mio.inputs import Scale, cell_holds
from likely.mio.modelling import columns_of
from likely.mio.programme import Programme
from likely.mio.solvers import Effort, Report, Solver
from likely.mio.target import add_tangent
from likely.mio.tolerances import CUT
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

    def go(self) -> None:
        """Until nothing better is left, or a limit comes."""
        incumbents = self.incumbents
        self.cells = self.programme.cells()
        self.valued = self.claims and (not incumbents.counts or self._approximate)
        if self.start is not None:
            incumbents.put(self._key(self.start.row), self.start)
        while not incumbents.done and incumbents.within_limits and incumbents.seconds < self.seconds and incumbents.going():
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
        if solution is None and not self._single(row):
            solution = self._polished(report.objective)
        if solution is not None:
            self.incumbents.put(self._key(solution.row), solution)
            row, self.answered = solution.row, True
        if self.once and solution is not None:
            return
        if solution is None:
            if not self._constant(row):
                self.doubt = min(self.doubt, report.bound)
            programme.add_no_good_cut(row, self.cells if self._too_unlikely(row) else self._around(row), alternative)
        elif self.incumbents.limits.other_features and self.valued:
            programme.add_changes_cut(row)
        else:
            programme.add_no_good_cut(row, self._around(row), None if self.valued else alternative)

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
            if self._left <= 0:
                return None
            effort = Effort(self._left, 1000, 1e-9, 0.0, tolerances.exact)
            for column, value in columns:
                column.set_value(value, skip_validation=True)
            with self.programme.tightened(inward):
                report = self._report(effort, start=False)
                row = None if report.objective is None else self.programme.get()[0]
            solution = None if row is None or np.isnan(row).any() else self._judged(row)
            if solution is not None and report.objective is not None:
                if report.objective > objective + self.incumbents.limits.absolute_gap:
                    self.doubt = min(self.doubt, solution.objective - (report.objective - objective))
                return solution
        return None

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
        if plausibility is None or any(
            isinstance(node, Leaf) and node.parametric is not None for node in plausibility.circuit.nodes
        ):
            return False
        return _unlikely(self.incumbents.problem, row)


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
