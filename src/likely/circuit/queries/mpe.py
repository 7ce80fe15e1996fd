"""The most probable explanation (MPE): what the unknown values of a row most likely are, given the known ones.

To find the very best one is NP-hard for circuits in general (Peharz et al. 2017; Conaty, Maua and de Campos
2017). The maximiser circuit - every sum takes its largest child - gives the best single induced tree below every child of
the root; from the modes of the best of them, coordinate ascent by the circuit's derivatives goes up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd

from likely.circuit.model.blocks import GaussianBlock
from likely.circuit.model.box import leaf_logs, on_values, points_of
from likely.circuit.model.cells import Algebra
from likely.circuit.model.circuit import Circuit
from likely.circuit.model.families import FAMILIES
from likely.circuit.model.nodes import Leaf, Product, Sum
from likely.circuit.model.tabular import unlisted_place
from likely.circuit.queries.block_bounds import Pieces, bounds_of_blocks, known_bounds, largest, pieces_of
from likely.circuit.queries.evaluate import derivatives, log_likelihood
from likely.circuit.queries.sample import sample_rows
from likely.errors import CircuitError
from likely.schema import Feature
from likely.schema.frames import as_pandas, dtypes_of, in_kind
from likely.schema.grid import multiples, steps_below
from likely.schema.region import EVERYTHING, Region, below
from likely.schema.values import LARGEST, Name, Numbers

#: A table or encoded rows: what was given comes back.
Rows = TypeVar("Rows", pd.DataFrame, Numbers)
#: So many children of the root are starts, and so many rows drawn at random; from the best of them so many ascents.
STARTS, DRAWN, ASCENTS = 64, 512, 8
#: An ascent ends where no value gains more nats than this, as reals could gain less and less for ever, or after so many rounds.
LEAST_GAIN, ROUNDS = 1e-9, 200
#: How far the way that a round of an ascent went is followed, in its lengths.
STRIDES = tuple(2.0**k for k in range(12))


@dataclass(frozen=True)
class Completion(Generic[Rows]):
    """Rows without unknowns, how likely they are, and what no completion of the same row can exceed: see `complete`."""

    #: A table with all of the circuit's columns, if a table was given; otherwise rows as `circuit.encode` makes them.
    rows: Rows
    #: of each row
    log_likelihood: Numbers
    #: An upper bound of the log-likelihood of every completion; where it equals `log_likelihood`, there is no better one.
    upper: Numbers


def complete(circuit: Circuit, rows: Rows) -> Completion[Rows]:
    """Every row with its unknown values filled in by the most probable ones (MPE), as far as they are known.

    The search starts from the best induced trees (every sum takes its largest child, the root each of its likeliest: exact
    where one of them dominates) and from rows drawn at random, as several components together may be the likeliest; then it
    changes one value at a time, to the best given all others, until none helps. `upper` says how far from the most probable
    explanation it can be at most. Of a single block without warps, the result is exact.

    Args:
        circuit: The distribution.
        rows: The evidence: a table with some of the circuit's columns, or encoded rows. Columns that are left out are
            unknown, and so are missing cells (`Circuit.encode` says when they are a value).

    Returns:
        The completed rows: a table with all columns and the same index if a table was given, otherwise encoded rows.
    """
    given = circuit.encode(rows, marginal=True)
    largest = np.array([_largest_logs(circuit, row) for row in given]).reshape(len(given), len(circuit.nodes))
    maximised = circuit.core.sweep(largest, Algebra.UNDER)
    choices = {int(j): _Choice.of(circuit, int(j)) for j in np.flatnonzero(np.isnan(given).any(axis=0))}
    modes = _modes(circuit, choices)
    drawn = _drawn(circuit) if choices else np.empty((0, len(circuit.variables)))
    done = [_likeliest(circuit, row, values, modes, drawn, choices) for row, values in zip(given, maximised, strict=True)]
    filled = np.array(done).reshape(given.shape)
    likelihood = log_likelihood(circuit, filled)
    upper = np.maximum(circuit.core.sweep(largest)[:, -1], likelihood)
    table = as_pandas(rows)
    made: Any = filled
    if isinstance(table, pd.DataFrame):
        made = in_kind(_table(circuit, table, given, filled), dtypes_of(rows))
    return Completion(made, likelihood, upper)


def _table(circuit: Circuit, X: pd.DataFrame, given: Numbers, filled: Numbers) -> pd.DataFrame:
    """The completed rows in the user's values: what was known is as it was."""
    columns: dict[Name, pd.Series[Any]] = {}
    for j, variable in enumerate(circuit.variables):
        numbers = filled[:, j]
        unlisted = numbers == unlisted_place(variable) if not variable.numeric else np.zeros(len(numbers), dtype=bool)
        column = variable.decode(np.where(unlisted, np.nan, numbers)).set_axis(X.index)
        if unlisted.any():
            column = column.astype(object).where(~unlisted, X[variable.name])
        columns[variable.name] = X[variable.name] if not np.isnan(given[:, j]).any() else column
    return pd.DataFrame(columns)


@dataclass(frozen=True)
class _Choice:
    """What an unknown variable can be: the values to try in every row, and the blocks that it is in, which add one each."""

    feature: Feature
    allowed: Region
    common: Numbers
    #: each with its place in the block and the pieces of its warp
    blocks: tuple[tuple[GaussianBlock, int, Pieces], ...]

    @classmethod
    def of(cls, circuit: Circuit, variable: int) -> _Choice:
        """A value in every cell, the modes of parametric leaves, and the values beside the knots of warps."""
        feature = circuit.variables[variable]
        blocks = [node for node in circuit.nodes if isinstance(node, GaussianBlock) and variable in node.variables]
        places = [block.variables.index(variable) for block in blocks]
        allowed = on_values(feature, EVERYTHING)
        pieces = {warp: pieces_of(warp, allowed) for warp in {b.warps[i] for b, i in zip(blocks, places, strict=True)}}
        knots = {knot for warp in pieces for knot in warp.knots}
        beside = [_nearest(feature, value, *pair) for k in knots for value in (k, below(k)) for pair in allowed.intervals]
        common = np.unique(np.concatenate([candidates(circuit, variable), *beside]))
        return cls(feature, allowed, common, tuple((b, i, pieces[b.warps[i]]) for b, i in zip(blocks, places, strict=True)))

    def given(self, row: Numbers) -> Numbers:
        """The values to try with all others as in a row: where each block is greatest, too."""
        modes = []
        for block, i, pieces in self.blocks:
            away = np.array(block.mean) - block.warped(row[None, list(block.variables)])[0]
            away[i] = 0.0
            if len(pieces) and np.isfinite(away).all():  # a special code has no place in a block
                z, _ = largest(pieces, float(block.precision[i] @ away), float(block.precision[i, i]), block.mean[i])
                modes.append(float(block.warps[i].inverse(z)))
        near = [_nearest(self.feature, mode, *pair) for mode in modes for pair in self.allowed.intervals]
        return np.concatenate([self.common, *near])


def _modes(circuit: Circuit, choices: Mapping[int, _Choice]) -> Numbers:
    """The value at which each leaf of an unknown variable (its node's entry) is largest."""
    modes = np.full(len(circuit.nodes), np.nan)
    for j, choice in choices.items():
        cells = circuit.cells[j]
        modes[list(cells.leaves)] = choice.common[np.argmax(cells.log_densities(choice.common, circuit.floor), axis=1)]
    return modes


def _drawn(circuit: Circuit) -> Numbers:
    """Rows of the circuit within the features' domains; none if it has a leaf of density 0, of which nothing can be drawn."""
    try:
        rows = sample_rows(circuit, DRAWN, np.random.default_rng(0))
    except CircuitError:
        return np.empty((0, len(circuit.variables)))
    fits = [variable.fits(rows[:, j]) for j, variable in enumerate(circuit.variables)]
    return np.asarray(rows[np.logical_and.reduce(fits)])


def _likeliest(
    circuit: Circuit, row: Numbers, values: Numbers, modes: Numbers, drawn: Numbers, choices: Mapping[int, _Choice]
) -> Numbers:
    """The likeliest completion that ascents from the best starts reach."""
    if not np.isnan(row).any():
        return row
    root, roots = circuit.nodes[-1], [len(circuit.nodes) - 1]
    if isinstance(root, Sum):
        with np.errstate(divide="ignore"):
            terms = np.log(root.weights) + values[list(root.children)]
        roots = [root.children[k] for k in np.argsort(-terms, kind="stable")[:STARTS]]
    induced = [_induced(circuit, row, values, modes, place) for place in roots]
    starts = np.concatenate([np.array(induced), np.where(np.isnan(row), drawn, row)])
    best = np.argsort(-log_likelihood(circuit, starts), kind="stable")[:ASCENTS]
    ascended = np.array([_ascended(circuit, row, start, choices) for start in starts[best]])
    return np.asarray(ascended[np.argmax(log_likelihood(circuit, ascended))])


def _largest_logs(circuit: Circuit, row: Numbers) -> Numbers:
    """Leaves at the known values of a row, and at their largest where it is unknown."""
    logs = leaf_logs(circuit, row[None, :])[0]
    for j in np.flatnonzero(np.isnan(row)):
        cells = circuit.cells[j]
        logs[list(cells.leaves)] = cells.log_extremes(on_values(circuit.variables[j], EVERYTHING), circuit.floor)[1]
    if np.isnan(row).any():
        for place, of_block in bounds_of_blocks(circuit, _open_regions(circuit, row)).items():
            logs[place] = of_block.upper
    return np.asarray(logs)


def _open_regions(circuit: Circuit, row: Numbers) -> list[Region]:
    """The known values of a row, and all values of a variable where it is unknown."""
    pairs = zip(circuit.variables, points_of(row), strict=True)
    return [on_values(variable, EVERYTHING) if point is None else point for variable, point in pairs]


def _induced(circuit: Circuit, row: Numbers, values: Numbers, modes: Numbers, root: int) -> Numbers:
    """The completion of the best induced tree below a node: sums at their largest child, unknown leaves at their mode."""
    completed, waiting = row.copy(), [root]
    while waiting:
        place = waiting.pop()
        node = circuit.nodes[place]
        if isinstance(node, Product):
            waiting += node.children
        elif isinstance(node, Sum):
            with np.errstate(divide="ignore"):
                best = int(np.argmax(np.log(node.weights) + values[list(node.children)]))
            waiting.append(node.children[best])
        elif isinstance(node, Leaf) and np.isnan(row[node.variable]):
            completed[node.variable] = modes[place]
        elif isinstance(node, GaussianBlock) and np.isnan(row[list(node.variables)]).any():
            _fill(completed, node, circuit)
    return completed


def _fill(row: Numbers, block: GaussianBlock, circuit: Circuit) -> None:
    """Put the unknown values of a block where it is greatest, given the known ones."""
    mode = known_bounds(block, _open_regions(circuit, row), circuit.floor).best
    for i, j in enumerate(block.variables):
        if np.isnan(row[j]):
            z = block.mean[i] if mode is None else float(mode[i])
            row[j] = _nearest_value(circuit.variables[j], float(block.warps[i].inverse(z)))


def _ascended(circuit: Circuit, row: Numbers, start: Numbers, choices: Mapping[int, _Choice]) -> Numbers:
    """Coordinate ascent: one unknown value at a time at its best given all others, until nothing changes.

    Where two columns of a block move together, single changes zigzag along it in ever smaller steps; so after every round the
    way that it went is tried once more, farther and farther (the pattern moves of Hooke and Jeeves 1961).
    """
    completed, unknown = start.copy(), [j for j in choices if np.isnan(row[j])]
    together = [j for j in unknown if choices[j].blocks]
    slopes = derivatives(circuit, completed)
    for _ in range(ROUNDS):
        before, value = completed.copy(), slopes.value
        for j in unknown:
            tried = choices[j].given(completed)
            values = slopes.at(circuit.names[j], tried)
            if values.max() > slopes.value + LEAST_GAIN:
                changed = completed.copy()
                changed[j] = tried[int(np.argmax(values))]
                moved = derivatives(circuit, changed)
                completed, slopes = (changed, moved) if moved.value > slopes.value + LEAST_GAIN else (completed, slopes)
        if slopes.value <= value + LEAST_GAIN:  # none helps
            break
        if len(together) > 1:
            further = _further(circuit, before, completed, together)
            logs = log_likelihood(circuit, further)
            if logs.max() > slopes.value + LEAST_GAIN:
                completed = further[int(np.argmax(logs))]
                slopes = derivatives(circuit, completed)
    return completed


def _further(circuit: Circuit, before: Numbers, after: Numbers, which: Sequence[int]) -> Numbers:
    """Rows on the way from one to another, and beyond it; a value that is or was a special code stays as it is."""
    rows = np.repeat(after[None, :], len(STRIDES), axis=0)
    for j in which:
        if min(before[j], after[j]) >= -LARGEST and before[j] != after[j]:
            rows[:, j] = [_nearest_value(circuit.variables[j], after[j] + far * (after[j] - before[j])) for far in STRIDES]
    return rows


def _nearest_value(feature: Feature, wanted: float) -> float:
    """The value of a feature that is nearest to a number."""
    near = np.concatenate([_nearest(feature, wanted, *pair) for pair in on_values(feature, EVERYTHING).intervals])
    return float(near[int(np.argmin(np.abs(near - wanted)))])


def candidates(circuit: Circuit, variable: int) -> Numbers:
    """A value of a variable in every cell that holds one, and those nearest to the modes of its parametric leaves."""
    feature, cells = circuit.variables[variable], circuit.cells[variable]
    edges = [-np.inf, *cells.breaks, np.inf]
    parts = [on_values(feature, Region.between(low, below(high))) for low, high in pairwise(edges)]
    firsts = [part.intervals[0] for part in parts if not part.empty]
    modes = [FAMILIES[part.family].mode(part.a, part.b) for part in cells.parametric if part is not None]
    values = [_nearest(feature, 0.5 * low + 0.5 * high, low, high) for low, high in firsts]
    values += [_nearest(feature, mode, low, high) for mode in modes for low, high in on_values(feature, EVERYTHING).intervals]
    return np.unique(np.concatenate(values))


def _nearest(feature: Feature, wanted: float, low: float, high: float) -> Numbers:
    """The values from low to high that are nearest to a number: it or an end, or the multiples of the step around it."""
    if feature.grid is None or high < -LARGEST:
        return np.clip([wanted], low, high)
    first, last = steps_below(np.array([low, -high]), feature.grid) * [1, -1]
    around = np.clip([np.floor(wanted / feature.grid), np.ceil(wanted / feature.grid)], first, last)
    # A multiple that is an end of the interval but for its last bit counts as what it is: it may lie in the next cell.
    values = np.clip(multiples(around, feature.grid), feature.lower, feature.upper)
    return np.asarray(values[feature.fits(values)])
