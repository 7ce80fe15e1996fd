"""One variable of a circuit as an axis of a picture: places for its values, cells on which the circuit is constant.

A number stands at itself, a time at its number of units, a category or rank at its place in the list. The special codes of
a mixed feature stand in bands of their own, left of the numbers. A value of a feature with a step (a whole number, say)
takes the room of one step around it, a category the room of 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from likely.circuit import Circuit, GaussianBlock, log_likelihood
from likely.circuit.model.measure import measure
from likely.schema import Feature
from likely.schema.grid import snap, steps_below
from likely.schema.times import clock_of
from likely.schema.values import LARGEST, Name, Numbers, code_number, is_code
from likely.show.ticks import Ticks, number_ticks, time_ticks

#: More cells than this on an axis are finer than a picture shows.
MOST_CELLS = 512
#: The mass on either side that an axis of numbers may leave out: a few far values would squeeze all others.
TAIL = 0.0005
#: An axis that would end this near to a feature's bound (as a share of its length) ends there.
NEAR = 0.05
#: How far an axis runs past a row that lies outside all else, as a share of its length.
MARGIN = 0.03
#: The width of the band of a special code, and of the gap before the numbers, as shares of the axis of numbers.
BAND, GAP = 0.07, 0.025


@dataclass(frozen=True)
class Axis:
    """The cells of one variable: cell `i` lies between edges[i] and edges[i + 1], and `values[i]` is a double in it."""

    feature: Feature
    edges: Numbers
    #: NaN where there is no value: in the gap between special codes and numbers, and where a number is a code
    values: Numbers
    #: in units of the feature: density times room is probability
    room: Numbers
    ticks: Ticks

    @property
    def label(self) -> str:
        """What the axis is called."""
        feature = self.feature
        clock = clock_of(feature)
        unit = feature.unit if clock is None else "" if clock.moments else clock.called
        return f"{feature.title} ({unit})" if unit else feature.title

    @property
    def spread(self) -> float:
        """How far from its place a value may be drawn and still be told: 0 where every real is a value."""
        return self.feature.grid or 0.0

    def places(self, numbers: Numbers) -> Numbers:
        """Where on the axis values stand; NaN for those that it leaves out.

        Args:
            numbers: The values, as doubles.
        """
        codes = len(self.feature.atoms) if self.feature.numeric else 0
        first = self.edges[codes + 1 if codes else 0]  # left of it are the codes
        places = np.where((numbers >= first) & (numbers <= self.edges[-1]), numbers, np.nan)
        for k in range(codes):
            places[numbers == code_number(k)] = (self.edges[k] + self.edges[k + 1]) / 2
        return places


def axis_of(circuit: Circuit, name: Name, shown: Iterable[float] = ()) -> Axis:
    """The axis of a variable. It leaves out what has next to no mass at its ends, but none of the doubles in `shown`."""
    feature = circuit.variables[circuit.index(name)]
    if not feature.numeric:
        count = len(feature.atoms)
        values = np.arange(float(count))
        ticks = tuple((float(k), told(feature, float(k))) for k in range(count))
        return Axis(feature, np.arange(count + 1.0) - 0.5, values, np.ones(count), ticks)
    wanted = np.array([number for number in shown if np.isfinite(number)], dtype=np.float64)
    edges, values = _numbers(circuit, feature, *_span(circuit, feature, wanted[~is_code(wanted)]))
    size = measure(feature, edges[:-1], edges[1:])
    axis = Axis(feature, edges, np.where(size > 0, values, np.nan), size, _ticks(feature, edges))
    return _with_codes(axis) if feature.atoms else axis


def _ticks(feature: Feature, edges: Numbers) -> Ticks:
    clock = clock_of(feature)
    if clock is not None:
        return time_ticks(edges[0], edges[-1], clock)
    return number_ticks(edges[0], edges[-1], feature.grid)


def _with_codes(axis: Axis) -> Axis:
    """An axis of numbers with the bands of special codes before it."""
    feature, count = axis.feature, len(axis.feature.atoms)
    bands = axis.edges[0] - (axis.edges[-1] - axis.edges[0]) * (GAP + BAND * np.arange(count, -1, -1))
    codes = [feature.atom_number(k) for k in range(count)]
    names = tuple((float(np.mean(bands[k : k + 2])), told(feature, code)) for k, code in enumerate(codes))
    return Axis(
        feature,
        np.concatenate([bands, axis.edges]),
        np.concatenate([codes, [np.nan], axis.values]),
        np.concatenate([np.ones(count), [0.0], axis.room]),
        (*names, *axis.ticks),
    )


def _span(circuit: Circuit, feature: Feature, wanted: Numbers) -> tuple[float, float]:
    """From where to where an axis of numbers runs: all but the tails of the circuit's mass, and what is wanted."""
    low, high = feature.lower, feature.upper
    edges, values = _numbers(circuit, feature, low, high)
    rows = np.full((len(values), len(circuit.variables)), np.nan)
    rows[:, circuit.index(feature.name)] = values
    mass = np.exp(log_likelihood(circuit, rows)) * measure(feature, edges[:-1], edges[1:])
    below = np.concatenate([[0.0], np.cumsum(mass)])
    if low < high and below[-1] > 0:
        ends = np.interp([TAIL, 1 - TAIL], below / below[-1], edges)
        near = NEAR * (ends[1] - ends[0])
        low, high = (bound if abs(end - bound) <= near else end for end, bound in zip(ends, (low, high), strict=True))
    if not len(wanted):
        return low, high
    margin = MARGIN * (max(high, wanted.max()) - min(low, wanted.min()))
    return (low if wanted.min() >= low else wanted.min() - margin), (high if wanted.max() <= high else wanted.max() + margin)


def _numbers(circuit: Circuit, feature: Feature, low: float, high: float) -> tuple[Numbers, Numbers]:
    """Edges of the cells between two numbers, and a value in each."""
    cells = circuit.cells[circuit.index(feature.name)]
    grid = feature.grid
    breaks = cells.breaks[(cells.breaks > low) & (cells.breaks < high + (grid or 0.0))]
    smooth = any(parametric is not None for parametric in cells.parametric) or any(
        isinstance(node, GaussianBlock) and circuit.index(feature.name) in node.variables for node in circuit.nodes
    )
    if low < high and (smooth or len(breaks) > MOST_CELLS):
        breaks = breaks if len(breaks) <= MOST_CELLS else breaks[:0]  # a leaf may have a narrow bin: an atom
        breaks = np.union1d(breaks, np.linspace(low, high, MOST_CELLS + 1 - len(breaks))[1:-1])
    if grid is None:
        apart = 0.0 if high > low else max(abs(low) / 20, 0.5)
        edges = _distinct(np.array([low - apart, *breaks, high + apart]))
        return edges, (edges[:-1] + edges[1:]) / 2
    # In steps: a break separates the values below it from those from it on.
    first, last = np.ceil(low / grid - 0.01), np.floor(high / grid + 0.01)  # bounds may be singles, and a little off
    inner = np.clip(steps_below(breaks, grid), first, last + 1)
    starts = np.unique([first, *inner, max(first, last) + 1])
    return (starts - 0.5) * grid, snap((starts[:-1] + starts[1:] - 1) // 2 * grid, grid)


def _distinct(edges: Numbers) -> Numbers:
    """Edges without those that are as good as equal to the one before: the neighbouring doubles of half-open ends."""
    least = (edges[-1] - edges[0]) * 1e-9
    kept = np.concatenate([[True], np.diff(edges) > least])
    return np.append(edges[kept][:-1], edges[-1])


def told(feature: Feature, number: float, most: int = 22) -> str:
    """A value as it stands beside an axis: a text without quotes, a special code by its label, nothing longer than `most`."""
    value = feature.value(number)
    labels = getattr(feature, "labels", ()) if number < -LARGEST else ()
    text = labels[feature.atoms.index(value)] if labels else value if isinstance(value, str) else feature.show_with_unit(number)
    return short(text, most)


def short(text: str, most: int) -> str:
    """A text cut to `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"
