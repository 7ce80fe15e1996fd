"""The most probable explanation (MPE): what the unknown values of a row most likely are, given the known ones.

To find the very best one is NP-hard for circuits in general (Peharz et al. 2017; Conaty, Maua and de Campos
2017). The maximiser circuit - every sum takes its largest child - gives the best single induced tree; from its modes,
coordinate ascent by the circuit's derivatives goes up.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from likely.circuit.model.box import leaf_logs, on_values
from likely.circuit.model.cells import Algebra
from likely.circuit.model.circuit import Circuit
from likely.circuit.model.families import FAMILIES
from likely.circuit.model.nodes import Leaf, Product, Sum
from likely.circuit.queries.evaluate import derivatives, log_likelihood
from likely.schema import Feature
from likely.schema.grid import multiples, steps_below
from likely.schema.region import EVERYTHING, Region, below
from likely.schema.values import LARGEST, Numbers


@dataclass(frozen=True)
class Completion:
    """Rows without unknowns, how likely they are, and what no completion of the same row can exceed: see `complete`."""

    #: rows x variables, as `circuit.encode` makes them
    rows: Numbers
    #: of each row
    log_likelihood: Numbers
    #: An upper bound of the log-likelihood of every completion; where it equals `log_likelihood`, there is no better one.
    upper: Numbers


def complete(circuit: Circuit, rows: pd.DataFrame | Numbers) -> Completion:
    """Every row with its unknown values (NaN) filled in by the most probable ones (MPE), as far as they are known.

    The search starts from the best single induced tree (every sum takes its largest child: exact where one of them
    dominates) and then changes one value at a time, to the best given all others, until none helps. `upper` says how far
    from the most probable explanation it can be at most.

    Args:
        circuit: The distribution.
        rows: The evidence: a table with some of the circuit's columns, or encoded rows; NaN is unknown.
    """
    given = circuit.encode(rows)
    largest = np.array([_largest_logs(circuit, row) for row in given]).reshape(len(given), len(circuit.nodes))
    maximised = circuit.core.sweep(largest, Algebra.UNDER)
    done = [_ascended(circuit, row, _induced(circuit, row, values)) for row, values in zip(given, maximised, strict=True)]
    filled = np.array(done).reshape(given.shape)
    likelihood = log_likelihood(circuit, filled)
    return Completion(filled, likelihood, np.maximum(circuit.core.sweep(largest)[:, -1], likelihood))


def _largest_logs(circuit: Circuit, row: Numbers) -> Numbers:
    """Leaves at the known values of a row, and at their largest where it is unknown."""
    logs = leaf_logs(circuit, row[None, :])[0]
    for j in np.flatnonzero(np.isnan(row)):
        cells = circuit.cells[j]
        logs[list(cells.leaves)] = cells.log_extremes(on_values(circuit.variables[j], EVERYTHING), circuit.floor)[1]
    return np.asarray(logs)


def _induced(circuit: Circuit, row: Numbers, values: Numbers) -> Numbers:
    """The completion of the best induced tree: sums at their largest child, unknown leaves at their mode."""
    completed, waiting = row.copy(), [len(circuit.nodes) - 1]
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
            completed[node.variable] = choices[int(np.argmax(densities))]
    return completed


def _ascended(circuit: Circuit, row: Numbers, start: Numbers) -> Numbers:
    """Coordinate ascent: one unknown value at a time at its best given all others, until nothing changes."""
    completed, best = start.copy(), -np.inf
    unknown = np.flatnonzero(np.isnan(row))
    while unknown.size:
        slopes = derivatives(circuit, completed)
        if slopes.value <= best:
            break
        best = slopes.value
        for j in unknown:
            slopes = derivatives(circuit, completed)
            choices = candidates(circuit, int(j))
            values = slopes.at(circuit.names[j], choices)
            if values.max() > slopes.value:
                completed[j] = choices[int(np.argmax(values))]
    return completed


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
