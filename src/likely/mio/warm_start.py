"""`warm_start`: a first incumbent by primal heuristics; solvers often find none of such programmes by themselves."""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import NDArray

from likely.circuit import GaussianBlock
from likely.circuit.queries.sample import sample_rows
from likely.circuit.queries.transform import conditional
from likely.errors import CircuitError
from likely.problem import Alternative, Problem, Solution
from likely.problem.domain import Partition, partitions
from likely.schema.grid import snap
from likely.schema.rules import Clause
from likely.schema.values import LARGEST, Numbers

#: How many rows are drawn from the circuit, and from the domains.
DRAWN = 500
#: How many of the answers among them are improved by local search, and how many others are repaired.
IMPROVED = 3
#: What a row of density 0 lacks.
FAR = 1e9
#: How many values of each feature are tried at most.
TRIED = 200
#: How many more, of a feature in a Gaussian block.
SPREAD = 100


def warm_start(problem: Problem, starts: Numbers | None, moment: float = math.inf) -> Solution | None:
    """The best answer that is found quickly; None if there is none.

    Rows brought and drawn; where none is an answer, those that lack least are repaired, one feature at a time; then the best
    are improved by local search: one feature at a time towards the factual.

    Args:
        problem: What is asked.
        starts: Rows that may be answers.
        moment: When it must end, by `time.perf_counter`, with what it has.
    """
    parts = partitions(problem)
    rows = candidates(problem, starts)
    rows = rows[_in_cells(rows, parts)]
    tried = [_values(part, float(factual)) for part, factual in zip(parts, problem.factual, strict=True)]
    for j in _in_blocks(problem):
        tried[j] = np.union1d(tried[j], _spread(parts[j]))
    solutions = [solution for solution in problem.solutions(rows) if solution is not None]
    if not solutions:
        repaired = (_repaired(problem, row, tried, moment) for row in _nearest(problem, rows))
        solutions = [solution for solution in repaired if solution is not None]
    solutions.sort(key=lambda solution: solution.objective)
    improved = [_local_search(problem, solution, tried, moment) for solution in solutions[:IMPROVED]]
    return min(improved, key=lambda solution: solution.objective, default=None)


# -- rows to begin with -------------------------------------------------------------------------------------------------


def candidates(problem: Problem, starts: Numbers | None) -> Numbers:
    """Rows brought, the factual, and rows drawn, with what they must keep as the factual has it.

    Args:
        problem: What is asked.
        starts: The rows brought, if any.
    """
    rng = np.random.default_rng(0)
    known = ~np.isnan(problem.factual)
    kept = known & _fixed(problem)
    parts = [np.empty((0, len(problem.schema))), _drawn(problem, rng), _likely(problem, kept, rng)]
    if starts is not None and len(starts):
        parts.append(np.asarray(starts, dtype=np.float64))
    rows = np.concatenate(parts)
    for j, feature in enumerate(problem.schema.features):
        if feature.grid is not None:
            numbers = rows[:, j] > -LARGEST  # not the codes
            rows[numbers, j] = snap(rows[numbers, j], feature.grid)
    rows[:, kept] = problem.factual[kept]
    complete = np.concatenate([problem.factual[None], rows]) if known.all() else rows
    return complete[~np.isnan(complete).any(axis=1)]


def _in_cells(rows: Numbers, parts: list[Partition]) -> NDArray[np.bool_]:
    """Which rows an engine may have: of a number written in two ways, one is a value."""
    inside = np.ones(len(rows), dtype=np.bool_)
    for j, part in enumerate(parts):
        place = np.searchsorted(part.low, rows[:, j], side="right") - 1
        within = (place >= 0) & (rows[:, j] <= np.append(part.high, -np.inf)[place])
        inside &= within | np.isin(rows[:, j], part.atom)
    return inside


def _fixed(problem: Problem) -> NDArray[np.bool_]:
    """Which features a rule of its own restricts: immutable ones, mostly."""
    fixed = np.zeros(len(problem.schema), dtype=np.bool_)
    for rule in problem.schema.compile(problem.factual):
        if isinstance(rule, Clause) and len(rule.literals) == 1:
            fixed[rule.literals[0][0]] = True
    return fixed


def _drawn(problem: Problem, rng: np.random.Generator) -> Numbers:
    """Rows from the domains alone."""
    columns = []
    for feature in problem.schema.features:
        atoms = [feature.atom_number(k) for k in range(len(feature.atoms))]
        if feature.numeric:
            drawn = rng.uniform(feature.lower, feature.upper, DRAWN)
            if atoms:
                drawn = np.where(rng.random(DRAWN) < 0.5, rng.choice(atoms, DRAWN), drawn)
        else:
            drawn = rng.choice(atoms, DRAWN)
        columns.append(drawn)
    return np.stack(columns, axis=1)


def _likely(problem: Problem, kept: NDArray[np.bool_], rng: np.random.Generator) -> Numbers:
    """Rows from the circuit, given what the factual must keep and the class that is asked for."""
    features = problem.schema.features
    if problem.plausibility is None:
        return np.empty((0, len(features)))
    circuit = problem.plausibility.circuit
    target = problem.plausibility.target_of(problem.form, problem.goal.alternatives[0].class_index)
    given = np.append(np.where(kept, problem.factual, np.nan), [] if circuit.target is None else [target])
    parts = zip(circuit.variables, given, strict=True)
    evidence = {variable.name: variable.value(float(value)) for variable, value in parts if not np.isnan(value)}
    rows = np.tile(given, (DRAWN, 1))
    try:
        rows[:, np.isnan(given)] = sample_rows(conditional(circuit, evidence), DRAWN, rng)
    except CircuitError:  # nothing is open, what is kept is impossible, or the circuit cannot be drawn from
        return np.empty((0, len(features)))
    return rows[:, : len(features)]


# -- rows made better ---------------------------------------------------------------------------------------------------


def _values(cells: Partition, factual: float) -> Numbers:
    """The atoms of a feature, and of each cell of its numbers the value nearest to the factual; some, if there are many."""
    nearest = cells.low if np.isnan(factual) else np.clip(factual, cells.low, cells.high)
    values = np.unique(np.concatenate([cells.atom, nearest]))
    if len(values) <= TRIED:
        return values
    spread = values[np.linspace(0, len(values) - 1, TRIED // 2).astype(int)]
    near = values[np.argsort(abs(values - (0.0 if np.isnan(factual) else factual)))[: TRIED // 2]]
    return np.unique(np.concatenate([spread, near]))


def _in_blocks(problem: Problem) -> set[int]:
    """The features of Gaussian blocks: their likelihood changes within cells, too."""
    nodes = () if problem.plausibility is None else problem.plausibility.circuit.nodes
    return {j for node in nodes if isinstance(node, GaussianBlock) for j in node.variables}


def _spread(cells: Partition) -> Numbers:
    """Numbers from all over a feature's domain."""
    numbers = np.linspace(cells.low[0], cells.high[-1], SPREAD) if len(cells.low) else np.empty(0)
    numbers = snap(numbers, cells.grid) if cells.grid else numbers
    return numbers[_in_cells(numbers[:, None], [cells])]


def _changed(row: Numbers, tried: list[Numbers]) -> Numbers:
    """The row with one feature at another value, for every value that is tried."""
    parts = [row[None][:0]]
    for j, values in enumerate(tried):
        changed = np.repeat(row[None], len(values), axis=0)
        changed[:, j] = values
        parts.append(changed[values != row[j]])
    return np.concatenate(parts)


def _lacking(problem: Problem, rows: Numbers) -> Numbers:
    """How far each row is from the goal and from being likely, both at once, by its best alternative: inequality x row."""
    scores = problem.form.score(rows, n_jobs=1)
    lacking = np.full((2, len(rows)), np.inf)
    for alternative in problem.goal.alternatives:
        goal = np.clip(alternative.lower - scores @ alternative.coefficients.T, 0.0, FAR).sum(axis=1)
        shortfall = np.stack([goal, _unlikely(problem, rows, alternative)])
        better = shortfall.sum(axis=0) < lacking.sum(axis=0)
        lacking[:, better] = shortfall[:, better]
    return lacking


def _unlikely(problem: Problem, rows: Numbers, alternative: Alternative) -> Numbers:
    if problem.plausibility is None or problem.plausibility.lower == -np.inf:
        return np.zeros(len(rows))
    return np.clip(problem.plausibility.lower - problem.log_likelihoods(rows, alternative), 0.0, FAR)


def _nearest(problem: Problem, rows: Numbers) -> Numbers:
    """The rows that keep all rules and lack least."""
    kept = rows[problem.schema.keeps(problem.factual, rows)]
    if not len(kept):
        return kept
    lacking = _lacking(problem, kept)
    scale = np.maximum(np.median(lacking, axis=1, keepdims=True), 1e-9)
    return kept[np.argsort((lacking / scale).sum(axis=0), kind="stable")[:IMPROVED]]


def _repaired(problem: Problem, row: Numbers, tried: list[Numbers], moment: float) -> Solution | None:
    """An answer that is reached by exchanging one value after the other for the one that then lacks least."""
    first = np.maximum(_lacking(problem, row[None]), 1e-9)
    best = float(len(first))
    while time.perf_counter() < moment:
        rows = _changed(row, tried)
        rows = rows[problem.schema.keeps(problem.factual, rows)]
        if not len(rows):
            return None
        lacking = (_lacking(problem, rows) / first).sum(axis=0)
        if not lacking.min() < best:
            return None
        best, row = float(lacking.min()), rows[int(lacking.argmin())]
        if best == 0.0:
            return problem.solutions(row[None])[0]
    return None


def _local_search(problem: Problem, start: Solution, tried: list[Numbers], moment: float) -> Solution:
    """The answer moved towards the factual, by the one exchange that saves most each time."""
    best = start
    while time.perf_counter() < moment:
        rows = _changed(best.row, tried)
        cheaper = rows[problem.schema.prices(problem.factual, rows) < best.cost]
        better = [
            solution for solution in problem.solutions(cheaper) if solution is not None and solution.objective < best.objective
        ]
        if not better:
            return best
        best = min(better, key=lambda solution: solution.objective)
    return best
