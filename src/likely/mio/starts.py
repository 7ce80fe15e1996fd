"""Rows to start from: solvers often find no first solution of such programmes by themselves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
#: How many of the answers among them are brought nearer to the factual, and how many others are mended.
IMPROVED = 3
#: What a row of density 0 lacks.
FAR = 1e9
#: How many values of each feature are tried at most.
TRIED = 200


def best_start(problem: Problem, starts: Numbers | None) -> Solution | None:
    """The best answer that is found quickly.

    Rows brought and drawn; where none is an answer, the nearest to one are mended, one feature at a time; then the best are
    moved towards the factual in the same way.
    """
    rows = candidates(problem, starts)
    cells = partitions(problem, problem.schema.compile(problem.factual))
    tried = [_values(own, float(factual)) for own, factual in zip(cells, problem.factual, strict=True)]
    found = [own for own in problem.solutions(rows) if own is not None]
    if not found:
        found = [own for own in (_mended(problem, row, tried) for row in _nearest(problem, rows)) if own is not None]
    found.sort(key=lambda own: own.objective)
    nearer = [_nearer(problem, own, tried) for own in found[:IMPROVED]]
    return min(nearer, key=lambda own: own.objective, default=None)


# -- rows to begin with -------------------------------------------------------------------------------------------------


def candidates(problem: Problem, starts: Numbers | None) -> Numbers:
    """Rows brought, the factual, and rows drawn, with what they must keep as the factual has it."""
    rng = np.random.default_rng(0)
    known = ~np.isnan(problem.factual)
    kept = known & _fixed(problem)
    rows = [np.empty((0, len(problem.schema))), _drawn(problem, rng), _likely(problem, kept, rng)]
    if starts is not None and len(starts):
        rows.append(np.asarray(starts, dtype=np.float64))
    found = np.concatenate(rows)
    for j, feature in enumerate(problem.schema.features):
        if feature.grid is not None:
            numbers = found[:, j] > -LARGEST  # not the codes
            found[numbers, j] = snap(found[numbers, j], feature.grid)
    found[:, kept] = problem.factual[kept]
    complete = np.concatenate([problem.factual[None], found]) if known.all() else found
    return complete[~np.isnan(complete).any(axis=1)]


def _fixed(problem: Problem) -> NDArray[np.bool_]:
    """Which features a rule of its own restricts: immutable ones, mostly."""
    found = np.zeros(len(problem.schema), dtype=np.bool_)
    for rule in problem.schema.compile(problem.factual):
        if isinstance(rule, Clause) and len(rule.literals) == 1:
            found[rule.literals[0][0]] = True
    return found


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
    found = np.tile(given, (DRAWN, 1))
    try:
        found[:, np.isnan(given)] = sample_rows(conditional(circuit, evidence), DRAWN, rng)
    except CircuitError:  # nothing is open, what is kept is impossible, or the circuit cannot be drawn from
        return np.empty((0, len(features)))
    return found[:, : len(features)]


# -- rows made better ---------------------------------------------------------------------------------------------------


def _values(cells: Partition, factual: float) -> Numbers:
    """The atoms of a feature, and of each cell of its numbers the value nearest to the factual; some, if there are many."""
    nearest = cells.low if np.isnan(factual) else np.clip(factual, cells.low, cells.high)
    found = np.unique(np.concatenate([cells.atom, nearest]))
    if len(found) <= TRIED:
        return found
    spread = found[np.linspace(0, len(found) - 1, TRIED // 2).astype(int)]
    near = found[np.argsort(abs(found - (0.0 if np.isnan(factual) else factual)))[: TRIED // 2]]
    return np.unique(np.concatenate([spread, near]))


def _changed(row: Numbers, tried: list[Numbers]) -> Numbers:
    """The row with one feature at another value, for every value that is tried."""
    found = [row[None][:0]]
    for j, values in enumerate(tried):
        own = np.repeat(row[None], len(values), axis=0)
        own[:, j] = values
        found.append(own[values != row[j]])
    return np.concatenate(found)


def _lacking(problem: Problem, rows: Numbers) -> Numbers:
    """How far each row is from the goal and from being likely, both at once, by its best alternative: inequality x row."""
    scores = problem.form.score(rows, n_jobs=1)
    found = np.full((2, len(rows)), np.inf)
    for alternative in problem.goal.alternatives:
        goal = np.clip(alternative.lower - scores @ alternative.coefficients.T, 0.0, FAR).sum(axis=1)
        own = np.stack([goal, _unlikely(problem, rows, alternative)])
        better = own.sum(axis=0) < found.sum(axis=0)
        found[:, better] = own[:, better]
    return found


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


def _mended(problem: Problem, row: Numbers, tried: list[Numbers]) -> Solution | None:
    """An answer that is reached by exchanging one value after the other for the one that then lacks least."""
    first = np.maximum(_lacking(problem, row[None]), 1e-9)
    best = float(len(first))
    while True:
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


def _nearer(problem: Problem, start: Solution, tried: list[Numbers]) -> Solution:
    """The answer moved towards the factual, by the one exchange that saves most each time."""
    best = start
    while True:
        rows = _changed(best.row, tried)
        cheaper = rows[problem.schema.prices(problem.factual, rows) < best.cost]
        better = [own for own in problem.solutions(cheaper) if own is not None and own.objective < best.objective]
        if not better:
            return best
        best = min(better, key=lambda own: own.objective)
