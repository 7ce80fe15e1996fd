"""`solve`: a problem's best rows by mixed-integer programming, in the contract of the exact engine."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from likely.circuit import Leaf
from likely.errors import ProblemError
from likely.mio.circuit import Formulation
from likely.mio.inputs import Scale, cell_holds
from likely.mio.modelling import columns_of
from likely.mio.programme import Programme
from likely.mio.solvers import Effort, Report, Solver, make_solver
from likely.mio.starts import best_start
from likely.mio.target import add_tangent
from likely.mio.verify import log_likelihoods, verified
from likely.problem import Bounds, Limits, Moment, Problem, Result, Share, Solution, Statistics, Status
from likely.problem.domain import FeatureCells
from likely.schema.values import Numbers

Callback = Callable[[Moment], bool]
#: Objectives this close, relative to their size, are the same: a solver's tolerances.
NOISE = 1e-6
#: A softmax that misses its share by less, relative to its size, is cut off as a row and not by a tangent.
CUT = 1e-6


def solve(
    problem: Problem,
    limits: Limits | None = None,
    *,
    solver: str = "highs",
    formulation: Formulation = "hull",
    side: Literal["under", "over", "both"] | None = None,
    big_m: float | None = None,
    options: Mapping[str, Any] | None = None,
    starts: Numbers | None = None,
    callback: Callback | None = None,
) -> Result:
    """The best rows of a problem.

    Every answer is decoded and tested with the form and the circuit themselves. What is proved depends on `side`:

    - `Plausibility(approximate=True)`, or no likelihood asked for: "under" (the default) is the problem itself; the answer is
      the optimum.
    - Otherwise likelihoods are exact. "under" finds answers and proves nothing. "over" bounds the optimum from below; its row
      is the optimum if it is an answer, and is cut off if it is none. "both" (the default) does the one for an answer and then
      the other for the proof: `bounds` bracket the exact optimum.

    `limits.boxes` are nodes of the solver. `starts` are rows that may be answers. `callback` is called before every solve, and
    by HiGHS and SCIP now and then during it; if it returns False, the search ends there, as it does at Ctrl-C, and what was
    found is returned. `big_m` is for `formulation="paper"`; `options` are the solver's own.
    """
    if side not in (None, "under", "over", "both"):
        raise ProblemError("side", "be 'under', 'over' or 'both'", repr(side), "leave it out")
    search = _Search(problem, limits or Limits(), callback)
    exact = search.counts and problem.plausibility is not None and not problem.plausibility.approximate
    wanted = (side or ("both" if exact else "under")) if search.counts else "under"
    settings = {"solver": solver, "formulation": formulation, "big_m": big_m, "options": options or {}}
    try:
        search.start = best_start(problem, starts)
        for own in ("under", "over") if wanted == "both" else (wanted,):
            proves = wanted != "both" or own == "over"
            _run(search, own, settings, claims=not exact or own == "over", once=not proves)
    except KeyboardInterrupt:
        search.interrupted = True
    return search.result()


def _run(search: _Search, side: str, settings: Mapping[str, Any], *, claims: bool, once: bool) -> None:
    """Solve the programme of one side, until it is proved; `once`: until there is an answer, in half of the time."""
    if search.interrupted:
        return
    programme, engine = _programme(search.problem, search.counts, side, settings)
    known = search.best or search.start
    programme.ask(search.problem, _most(search, known))
    run = _Run(search, programme, engine, claims=claims, once=once, start=known)
    run.seconds = search.limits.seconds * (0.5 if once else 1.0)
    run.go()


def _most(search: _Search, known: Solution | None) -> float:
    """What the best answer costs at most, if it alone is asked for and cost is all that counts."""
    own = search.problem.plausibility
    alone = search.limits.solutions == 1 and (own is None or not own.weight)
    return math.inf if known is None or not alone else known.objective


# -- one programme per schema, form and circuit -------------------------------------------------------------------------

_KEPT = 4
_made = threading.local()


def _programme(problem: Problem, counts: bool, side: str, settings: Mapping[str, Any]) -> tuple[Programme, Solver]:
    """The programme of a problem and a solver bound to it, made before for another factual, if it was."""
    made: OrderedDict[Any, Any] = _made.__dict__.setdefault("programmes", OrderedDict())
    circuit = problem.plausibility.circuit if problem.plausibility is not None and counts else None
    said = tuple((key, repr(value)) for key, value in settings.items())
    key = (problem.schema.features, id(problem.form), id(circuit), side, said)
    if key not in made:
        programme = Programme(
            problem.schema, problem.form, circuit,
            formulation=settings["formulation"], side="over" if side == "over" else "under", big_m=settings["big_m"],
        )  # fmt: skip
        engine = make_solver(settings["solver"], programme.model, settings["options"])
        made[key] = programme, engine, problem.form, circuit  # the last two, so that their ids stay theirs
    made.move_to_end(key)
    while len(made) > _KEPT:
        made.popitem(last=False)
    return made[key][0], made[key][1]


# -- what was found -----------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Search:
    """The answers so far, one of each kind, and what is proved."""

    problem: Problem
    limits: Limits
    callback: Callback | None
    began: float = field(default_factory=time.perf_counter)
    pool: dict[Any, Solution] = field(default_factory=dict)
    proven: float = -math.inf
    exhausted: bool = False
    interrupted: bool = False
    #: An answer to start from.
    start: Solution | None = None
    nodes: int = 0
    solves: int = 0
    trace: list[Moment] = field(default_factory=list)

    @property
    def counts(self) -> bool:
        """Whether likelihood matters to the question."""
        own = self.problem.plausibility
        return own is not None and (own.least > -math.inf or own.weight > 0)

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began

    @property
    def left(self) -> float:
        return self.limits.seconds - self.seconds

    @property
    def answers(self) -> list[Solution]:
        """The best of every kind, as many as were asked for, none much dearer than the best."""
        found = sorted(self.pool.values(), key=lambda own: own.objective)
        slack = NOISE * (1 + abs(self.near)) if self.near < math.inf else 0.0
        return [own for own in found if own.objective <= self.near + slack][: self.limits.solutions]

    @property
    def near(self) -> float:
        """What an answer may cost, given the best: the paper's rho."""
        best, within = self.best, self.limits.within
        return math.inf if best is None or within == math.inf else best.objective + within * abs(best.objective)

    @property
    def best(self) -> Solution | None:
        """The best answer."""
        return min(self.pool.values(), key=lambda own: own.objective, default=None)

    @property
    def most(self) -> float:
        """What another answer must be below: the last asked for, or what is near enough to the best."""
        found = self.answers
        return min(self.near, found[-1].objective if len(found) == self.limits.solutions else math.inf)

    def gap(self, found: float) -> float:
        """How far proof and answer may be apart."""
        return max(self.limits.absolute_gap, self.limits.relative_gap * abs(found)) + NOISE * (1 + abs(found))

    @property
    def done(self) -> bool:
        """Whether no row that is not among the answers can be better than the last of them, or near enough to the best."""
        if self.exhausted or (self.near < math.inf and self.proven > self.near + NOISE * (1 + abs(self.near))):
            return True
        found = self.answers
        return len(found) == self.limits.solutions and self.proven >= found[-1].objective - self.gap(found[-1].objective)

    def put(self, key: Any, solution: Solution) -> None:
        """Keep an answer, if it is the best of its kind."""
        if key not in self.pool or solution.objective < self.pool[key].objective:
            self.pool[key] = solution

    def going(self) -> bool:
        """Say how far it is; whether the caller wants it to go on."""
        best = self.best
        now = Moment(self.seconds, self.nodes, math.inf if best is None else best.objective, self.proven)
        self.trace.append(now)
        if self.callback is not None and not self.callback(now):
            self.interrupted = True
        return not self.interrupted

    @property
    def within_limits(self) -> bool:
        """Whether there is time left, and nodes."""
        return self.left > 0 and self.nodes < self.limits.boxes

    def result(self) -> Result:
        """What is claimed."""
        found = self.answers
        last = found[-1].objective if found else math.inf
        proven = self.near if self.exhausted else self.proven
        if len(found) == self.limits.solutions:
            proven = min(proven, last)
        status: Status = "unknown"
        if found:
            status = "optimal" if self.done else "feasible"
        elif self.exhausted:
            status = "infeasible"
        statistics = Statistics(self.nodes, self.solves, 0, self.seconds, trace=tuple(self.trace))
        return Result(status, tuple(found), Bounds(last, proven), statistics, self.interrupted)


# -- solving, until it is proved ------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Run:
    """One programme, solved again and again with cuts."""

    search: _Search
    programme: Programme
    engine: Solver
    claims: bool  # whether its bounds are bounds of the problem
    once: bool
    start: Solution | None = None
    seconds: float = math.inf  # of the search, until it ends
    found: bool = False  # an answer, by the solver
    doubt: float = math.inf  # the least objective that was cut off without a proof that it is no answer

    def go(self) -> None:
        """Until nothing better is left, or a limit comes."""
        search = self.search
        self.cells = self.programme.cells()
        self.valued = self.claims and (not search.counts or self._approximate)
        if self.start is not None:
            search.put(self._key(self.start.row), self.start)
        while not search.done and search.within_limits and search.seconds < self.seconds and search.going():
            report = self._solve()
            if self.claims:
                bound = min(report.proven, self.doubt)
                search.proven = max(search.proven, bound)
                search.exhausted = report.outcome == "infeasible" and self.doubt == math.inf
            if report.found is None or report.outcome == "failed":
                return
            self._take(report)
            if report.outcome != "optimal" or (self.once and self.found) or self._hopeless:
                return

    @property
    def _hopeless(self) -> bool:
        """Whether what is in doubt keeps the answers from being proved the best."""
        most = self.search.most
        return self.found and most < math.inf and self.doubt < most - self.search.gap(most)

    @property
    def _approximate(self) -> bool:
        own = self.search.problem.plausibility
        return own is not None and own.approximate

    def _solve(self) -> Report:
        """Once, from the best row known that is not excluded."""
        search, limits = self.search, self.search.limits
        started = self.start is not None
        if self.start is not None:
            self.programme.set(self.start.row, _alternative(search.problem, self.start))
            self.start = None
        gaps = 0.5 * limits.absolute_gap, limits.relative_gap
        left = max(0.01, min(search.left, self.seconds - search.seconds))
        effort = Effort(left, limits.boxes - search.nodes, *gaps, self.programme.tolerances.feasibility)
        report = self.engine.solve(effort, start=started, going=search.going)
        search.interrupted |= report.outcome == "interrupted"
        search.nodes += report.nodes
        search.solves += 1
        return report

    def _take(self, report: Report) -> None:
        """Judge what the solver found, keep it, and exclude it."""
        programme = self.programme
        assert report.found is not None
        row, alternative = programme.get()
        if np.isnan(row).any():
            programme.exclude_crossing(int(np.isnan(row).argmax()))
            return
        solution = self._judged(row)
        if solution is None and self._cut_share(row, alternative):
            return
        if solution is None and not self._single(row):
            solution = self._polished(report.found)
        if solution is not None:
            self.search.put(self._key(solution.row), solution)
            row, self.found = solution.row, True
        if self.once and solution is not None:
            return
        if solution is None:
            if not self._constant(row):
                self.doubt = min(self.doubt, report.proven)
            programme.exclude(row, self.cells if self._too_unlikely(row) else self._around(row), alternative)
        elif self.search.limits.other_features and self.valued:
            programme.exclude_changes(row)
        else:
            programme.exclude(row, self._around(row), None if self.valued else alternative)

    def _judged(self, row: Numbers) -> Solution | None:
        return verified(self.search.problem, row[None])[0]

    def _cut_share(self, row: Numbers, alternative: int) -> bool:
        """Cut off a row whose softmax is too small, if that is what it lacks."""
        problem = self.search.problem
        share = problem.goal.alternatives[alternative].share
        if share is None or share.low <= 0:
            return False
        scores = problem.form.score(row[None], threads=1)
        if share.scale <= 0 or share.met(scores)[0] or not _too_small(share, scores):
            return False
        add_tangent(self.programme.target, alternative, scores[0])
        return True

    def _polished(self, found: float) -> Solution | None:
        """The best row with the same 0-1 values that has something to spare; what that costs is in doubt."""
        columns = [(own, own.value) for own in columns_of(self.programme.model)]
        tolerances = self.programme.tolerances
        effort = Effort(max(0.1, self.search.left), 1000, 1e-9, 0.0, tolerances.exact)
        for inward in tolerances.inward:
            for own, value in columns:
                own.set_value(value, skip_validation=True)
            with self.programme.tightened(inward):
                report = self.engine.solve(effort, start=False)
                row = None if report.found is None else self.programme.get()[0]
            solution = None if row is None or np.isnan(row).any() else self._judged(row)
            if solution is not None and report.found is not None:
                if report.found > found + self.search.limits.absolute_gap:
                    self.doubt = min(self.doubt, solution.objective - (report.found - found))
                return solution
        return None

    def _cell(self, row: Numbers) -> list[int]:
        """The atom (negative) or cell of each value."""
        found = []
        for own, part, value in zip(self.programme.inputs.features, self.cells, row, strict=True):
            atom = own.atom(float(value))
            found.append(-1 - atom if atom is not None else int(cell_holds(own, part.low, part.high, float(value)).argmax()))
        return found

    def _key(self, row: Numbers) -> tuple[Any, ...]:
        """What tells a row from others in a list of answers."""
        if self.search.limits.other_features:
            return tuple(row != self.search.problem.factual)
        return tuple(value if part.grid else c for value, c, part in zip(row, self._cell(row), self.cells, strict=True))

    def _single(self, row: Numbers) -> bool:
        """Whether no other row lies in the same cells."""
        return all(c < 0 or part.low[c] == part.high[c] for c, part in zip(self._cell(row), self.cells, strict=True))

    def _around(self, row: Numbers) -> list[FeatureCells]:
        """What is the same answer as a row: the number of a feature with a step alone, of a real its cell."""
        found = []
        for own, part, value in zip(self.programme.inputs.features, self.cells, row, strict=True):
            stepped = own.scale is not None and own.scale.grid and own.atom(float(value)) is None
            found.append(_alone(own.scale, part, float(value)) if own.scale is not None and stepped else part)
        return found

    def _constant(self, row: Numbers) -> bool:
        """Whether a row that is no answer proves that what is excluded with it holds none."""
        reals = [own.scale is not None and not own.scale.grid for own in self.programme.inputs.features]
        places = zip(reals, self._cell(row), self.cells, strict=True)
        return self._too_unlikely(row) or all(not real or c < 0 or part.low[c] == part.high[c] for real, c, part in places)

    def _too_unlikely(self, row: Numbers) -> bool:
        """Whether every row in the same cells is too unlikely, as this one is."""
        own = self.search.problem.plausibility
        if own is None or any(isinstance(node, Leaf) and node.peaked is not None for node in own.circuit.nodes):
            return False
        return _unlikely(self.search.problem, row)


def _alone(scale: Scale, part: FeatureCells, value: float) -> FeatureCells:
    """The numbers of a feature as those below a value, the value, and those above it."""
    place = float(scale.units(np.array([value]))[0])
    ends = [(0.0, place - 1), (place, place), (place + 1, scale.length)]
    low, high = np.array([(scale.number(a), scale.number(b)) for a, b in ends if a <= b]).T
    return replace(part, low=low, high=high)


def _unlikely(problem: Problem, row: Numbers) -> bool:
    """Whether a row is too unlikely by more than rounding, whatever its class."""
    assert problem.plausibility is not None
    logs = [float(log_likelihoods(problem, row[None], a)[0]) for a in range(len(problem.goal.alternatives))]
    return max(logs) < problem.plausibility.least


def _too_small(share: Share, scores: Numbers) -> bool:
    """Whether a softmax is below its share by so much that a tangent, eased as all rows are, cuts it off."""
    z = share.scale * scores[0]
    top = z.max()
    least = share.log_ends[0]
    return bool(z[share.output] - top - math.log(np.exp(z - top).sum()) < least - CUT * (1 + abs(least) + abs(z).max()))


def _alternative(problem: Problem, solution: Solution) -> int:
    """The alternative of the goal, of an answer's class, that it reaches by most."""
    scores = problem.form.score(solution.row[None], threads=1)[0]
    own = [(a, part) for a, part in enumerate(problem.goal.alternatives) if part.number == solution.number]
    return max(own, key=lambda part: float((part[1].coefficients @ scores - part[1].least).min(initial=math.inf)))[0]
