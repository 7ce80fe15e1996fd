"""Rows to start from: solvers often find no first solution of such programmes by themselves."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from likely.circuit.sample import sample_rows
from likely.errors import CircuitError
from likely.mio.verify import verified
from likely.problem import Problem, Solution
from likely.schema.rules import Clause
from likely.schema.values import Numbers

#: How many rows are drawn from the circuit, or from the domains if there is none.
DRAWN = 500
#: How many of the answers among them are brought nearer to the factual.
IMPROVED = 3


def best_start(problem: Problem, starts: Numbers | None) -> Solution | None:
    """The best answer that is found quickly: among rows brought and drawn, moved to the factual feature by feature."""
    found = [own for own in verified(problem, candidates(problem, starts)) if own is not None]
    found.sort(key=lambda own: own.objective)
    nearer = [_nearer(problem, own) for own in found[:IMPROVED]]
    return min(nearer, key=lambda own: own.objective, default=None)


def candidates(problem: Problem, starts: Numbers | None) -> Numbers:
    """Rows brought, the factual, and rows drawn, with what they must keep as the factual has it."""
    rng = np.random.default_rng(0)
    rows = [np.empty((0, len(problem.schema))), _drawn(problem, rng)]
    if starts is not None and len(starts):
        rows.append(np.asarray(starts, dtype=np.float64))
    found = np.concatenate(rows)
    known = ~np.isnan(problem.factual)
    kept = known & _fixed(problem)
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
    features = problem.schema.features
    columns = []
    for feature in features:
        atoms = [feature.atom_number(k) for k in range(len(feature.atoms))]
        if feature.numeric:
            ends = feature.lower, feature.upper  # type: ignore[attr-defined]
            drawn = rng.uniform(*ends, DRAWN)
            grid = feature.grid  # type: ignore[attr-defined]
            drawn = np.clip(np.round(drawn / grid) * grid, *ends) if grid else drawn
            if atoms:
                drawn = np.where(rng.random(DRAWN) < 0.5, rng.choice(atoms, DRAWN), drawn)
        else:
            drawn = rng.choice(atoms, DRAWN)
        columns.append(drawn)
    found = np.stack(columns, axis=1)
    if problem.plausibility is not None:
        with suppress(CircuitError):  # not every circuit can be drawn from
            likely = sample_rows(problem.plausibility.circuit, DRAWN, rng)
            found = np.concatenate([found, likely[:, : len(features)]])
    return found


def _nearer(problem: Problem, start: Solution) -> Solution:
    """The answer with as many features as possible as the factual has them, the dearest changes first."""
    best = start
    while True:
        changed = np.flatnonzero((best.row != problem.factual) & ~np.isnan(problem.factual))
        if not len(changed):
            return best
        rows = np.repeat(best.row[None], len(changed), axis=0)
        rows[np.arange(len(changed)), changed] = problem.factual[changed]
        better = [own for own in verified(problem, rows) if own is not None and own.objective < best.objective]
        if not better:
            return best
        best = min(better, key=lambda own: own.objective)
