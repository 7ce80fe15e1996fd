"""What a circuit knows of two variables: a heat map of their log-likelihood, with rows on top."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from likely.circuit import Circuit, conditional, log_likelihood, marginal
from likely.errors import CircuitError
from likely.schema import Feature
from likely.schema.values import Name, Numbers
from likely.show.axis import Axis, axis_of, told

if TYPE_CHECKING:
    from likely.show.canvas import Axes, Figure

#: The colours of a heat map reach down to where the cells above hold all but this share of the mass.
DARK = 0.001
#: More rows than this on top of a heat map hide it.
MOST_ROWS = 2000
#: Up to this many cells say their log-likelihood.
FEW_CELLS = 64
NO_BREAK = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class Density:
    """log p(x, y | given), cell by cell, all other variables summed over. Exact: the circuit is constant on a cell.

    (Where there are parametric leaves, or more cells than a picture shows, it is the value at one point of each cell.)
    """

    x: Axis
    y: Axis
    #: a row per cell of y, a column per cell of x; NaN where there is no value
    log_likelihood: Numbers
    given: tuple[tuple[Name, str], ...] = ()

    @property
    def mass(self) -> Numbers:
        """The probability of each cell; their sum is 1 but for what the axes leave out."""
        return np.nan_to_num(np.exp(self.log_likelihood)) * np.outer(self.y.room, self.x.room)

    @property
    def lowest(self) -> float:
        """The log-likelihood below which lies next to no mass: where the colours end."""
        mass, logs = self.mass.ravel(), self.log_likelihood.ravel()
        order = np.argsort(-np.nan_to_num(logs, nan=-np.inf), kind="stable")
        held = np.cumsum(mass[order])
        return float(logs[order[np.searchsorted(held, (1 - DARK) * held[-1])]])


def density_map(
    circuit: Circuit, x: Name, y: Name, given: Mapping[Name, Any] | None = None, *, shown: pd.DataFrame | None = None
) -> Density:
    """The log-likelihood of two variables over both axes, all others summed over.

    Args:
        circuit: The circuit.
        x: The variable from left to right; it may be the class.
        y: The variable from bottom to top.
        given: Values of other variables to condition on, as the user writes them.
        shown: Rows that the picture must hold; otherwise an axis of numbers ends where next to no mass is left.
    """
    given = dict(given or {})
    for name in (x, y):
        circuit.index(name)
        if name in given:
            raise CircuitError("A variable of the picture", "not be given", repr(name), "leave it out of given=", feature=name)
    if x == y:
        raise CircuitError("x and y", "be two variables", f"{x!r} twice", "name another one", feature=x)
    both = marginal(conditional(circuit, given) if given else circuit, [x, y])
    axes = [axis_of(both, name, () if shown is None else _numbers(both, name, shown)) for name in (x, y)]
    pairs = np.meshgrid(axes[0].values, axes[1].values)
    rows = np.empty((pairs[0].size, 2))
    rows[:, both.index(x)], rows[:, both.index(y)] = (numbers.ravel() for numbers in pairs)
    logs = np.where(np.isnan(rows).any(axis=1), np.nan, log_likelihood(both, rows)).reshape(pairs[0].shape)
    evidence = tuple((name, _told(circuit.variables[circuit.index(name)], value)) for name, value in given.items())
    return Density(axes[0], axes[1], logs, evidence)


def _told(feature: Feature, value: Any) -> str:
    return told(feature, feature.number(value))


def _numbers(circuit: Circuit, name: Name, table: pd.DataFrame) -> Numbers:
    return circuit.variables[circuit.index(name)].encode(table[name])


def plot_density(
    circuit: Circuit,
    x: Name,
    y: Name,
    data: pd.DataFrame | None = None,
    points: Mapping[str, Any] | None = None,
    given: Mapping[Name, Any] | None = None,
    *,
    lowest: float | None = None,
    ax: Axes | None = None,
) -> Figure:
    """A heat map of the log-likelihood of two variables, all others summed over, with rows on top.

    Args:
        circuit: The circuit.
        x: The variable from left to right; it may be the class.
        y: The variable from bottom to top.
        data: Rows to draw as dots (a sample of them, if they are many); dots of discrete values are spread a little.
        points: Rows to draw with a label each, `{"factual": row}`; rows that fall together share their label.
        given: Values of other variables to condition on, as the user writes them.
        lowest: The log-likelihood at which the colours end; by default, 99.9 % of the mass lie above.
        ax: Where to draw; by default, in a new figure.
    """
    from likely.show import canvas

    named = _table(points or {}, (x, y))
    density = density_map(circuit, x, y, given, shown=named)
    figure, ax = canvas.figure_of(ax, _size(density))
    canvas.heat_map(ax, density, density.lowest if lowest is None else lowest)
    if data is not None and len(data):
        canvas.dots(ax, *_dots(density, data))
    elif density.log_likelihood.size <= FEW_CELLS and not (density.x.feature.numeric or density.y.feature.numeric):
        canvas.cell_texts(ax, density)
    if len(named):
        canvas.labelled_points(ax, *_gathered(density, named))
    return figure


def _size(density: Density) -> tuple[float, float]:
    """In inches: larger where there are many categories to name."""
    names = [0 if axis.feature.numeric else len(axis.ticks) for axis in (density.x, density.y)]
    return float(np.clip(2.2 + 0.25 * names[0], 7.2, 16)), float(np.clip(0.9 + 0.2 * names[1], 5.2, 16))


def _table(points: Mapping[str, Any], names: tuple[Name, Name]) -> pd.DataFrame:
    """The labelled rows (dicts, Series, one-row tables) as a table of two columns."""
    for label, row in points.items():
        for name in names:
            if name not in row:
                raise CircuitError(f"Point {label!r}", f"have a value of {name!r}", list(row), "add it", feature=name)
    cells = {name: [_cell(row[name]) for row in points.values()] for name in names}
    return pd.DataFrame(cells, index=list(points), dtype=object)


def _cell(value: Any) -> Any:
    return value.iloc[0] if isinstance(value, pd.Series) else value


def _dots(density: Density, data: pd.DataFrame) -> tuple[Numbers, Numbers]:
    """Where the rows of a table lie, at most MOST_ROWS of them, those of discrete values spread within their cell."""
    random = np.random.default_rng(0)
    if len(data) > MOST_ROWS:
        data = data.iloc[np.sort(random.choice(len(data), MOST_ROWS, replace=False))]
    places = []
    for axis in (density.x, density.y):
        numbers = axis.feature.encode(data[axis.feature.name])
        places.append(axis.places(numbers) + axis.spread * random.uniform(-0.32, 0.32, len(data)))
    known = ~np.isnan(places[0]) & ~np.isnan(places[1])
    return places[0][known], places[1][known]


def _gathered(density: Density, named: pd.DataFrame) -> tuple[Numbers, tuple[str, ...]]:
    """The different places of labelled rows, and the labels at each."""
    pairs = [axis.places(axis.feature.encode(named[axis.feature.name])) for axis in (density.x, density.y)]
    together: dict[tuple[float, float], list[str]] = {}
    for place, label in zip(zip(*pairs, strict=True), named.index, strict=True):
        if not np.isnan(place).any():
            together.setdefault((float(place[0]), float(place[1])), []).append(str(label))
    texts = (fill(", ".join(label.replace(" ", NO_BREAK) for label in labels), 32) for labels in together.values())
    return np.array(list(together)).reshape(-1, 2), tuple(texts)
