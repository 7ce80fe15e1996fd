"""The most probable completion: what the unknown values of a row most likely are."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from likely.circuit.model.box import leaf_logs, on_values
from likely.circuit.model.circuit import Circuit
from likely.circuit.model.families import FAMILIES
from likely.circuit.model.nodes import Leaf, Product, Sum
from likely.circuit.queries.evaluate import UNDER, derivatives, log_likelihood
from likely.schema.grid import snap, steps_below
from likely.schema.region import EVERYTHING, Region, below
from likely.schema.values import LARGEST, Numbers


@dataclass(frozen=True)
class Completion:
    """Rows without unknowns, how likely they are, and what no completion of the same row can exceed."""

    rows: Numbers
    log_likelihood: Numbers
    #: An upper bound of the log-likelihood of every completion; where it equals `log_likelihood`, there is no better one.
    upper: Numbers


def complete(circuit: Circuit, rows: pd.DataFrame | Numbers) -> Completion:
    """Every row with its unknown values (NaN) filled in by likely ones.

    To find the very best completion is NP-hard for circuits in general. This one starts from the best single branch
    (every sum takes its largest child: exact where one branch dominates) and then changes one value at a time, to the
    best given all others, until none helps. `upper` says how far from the best it can be at most.
    """
    given = circuit.encode(rows)
    peaks = np.array([_peak_logs(circuit, row) for row in given]).reshape(len(given), len(circuit.nodes))
    branches = circuit.core.sweep(peaks, UNDER)
    done = [_climbed(circuit, row, _branch(circuit, row, values)) for row, values in zip(given, branches, strict=True)]
    filled = np.array(done).reshape(given.shape)
    likelihood = log_likelihood(circuit, filled)
    return Completion(filled, likelihood, np.maximum(circuit.core.sweep(peaks)[:, -1], likelihood))


def _peak_logs(circuit: Circuit, row: Numbers) -> Numbers:
    """Leaves at the known values of a row, and at their largest where it is unknown."""
    logs = leaf_logs(circuit, row[None, :])[0]
    for j in np.flatnonzero(np.isnan(row)):
        cells = circuit.cells[j]
        logs[list(cells.leaves)] = cells.log_extremes(on_values(circuit.variables[j], EVERYTHING), circuit.floor)[1]
    return np.asarray(logs)


def _branch(circuit: Circuit, row: Numbers, values: Numbers) -> Numbers:
    """The completion along the likeliest branch: sums at their largest child, unknown leaves at their peak."""
    found, waiting = row.copy(), [len(circuit.nodes) - 1]
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
            choices, cells = candidates(circuit, node.variable), circuit.cells[node.variable]
            densities = cells.log_densities(choices, circuit.floor)[cells.leaves.index(place)]
            found[node.variable] = choices[int(np.argmax(densities))]
    return found


def _climbed(circuit: Circuit, row: Numbers, start: Numbers) -> Numbers:
    """One unknown value at a time at its best given all others, until nothing changes."""
    found, best = start.copy(), -np.inf
    unknown = np.flatnonzero(np.isnan(row))
    while unknown.size:
        slopes = derivatives(circuit, found)
        if slopes.value <= best:
            break
        best = slopes.value
        for j in unknown:
            slopes = derivatives(circuit, found)
            choices = candidates(circuit, int(j))
            values = slopes.at(circuit.names[j], choices)
            if values.max() > slopes.value:
                found[j] = choices[int(np.argmax(values))]
    return found


def candidates(circuit: Circuit, variable: int) -> Numbers:
    """A value of a variable in every cell that holds one, and those nearest to the peaks of its parametric leaves."""
    feature, cells = circuit.variables[variable], circuit.cells[variable]
    grid = getattr(feature, "grid", None)
    edges = [-np.inf, *cells.breaks, np.inf]
    parts = [on_values(feature, Region.between(low, below(high))) for low, high in pairwise(edges)]
    firsts = [part.intervals[0] for part in parts if not part.empty]
    peaks = [FAMILIES[peaked.family].peak(peaked.a, peaked.b) for peaked in cells.peaked if peaked is not None]
    found = [_nearest(0.5 * low + 0.5 * high, low, high, grid) for low, high in firsts]
    found += [_nearest(peak, low, high, grid) for peak in peaks for low, high in on_values(feature, EVERYTHING).intervals]
    return np.unique(np.concatenate(found))


def _nearest(wanted: float, low: float, high: float, grid: float | None) -> Numbers:
    """The values from low to high that are nearest to a number: it or an end, or the multiples of the step around it."""
    if grid is None or high < -LARGEST:
        return np.clip([wanted], low, high)
    first, last = steps_below(np.array([low, -high]), grid) * [1, -1]
    around = np.clip([np.floor(wanted / grid), np.ceil(wanted / grid)], first, last)
    return np.clip(snap(around * grid, grid), low, high)
