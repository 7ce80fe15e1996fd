"""ReLU networks in a programme: big-M from bounds of every unit, tighter ones for every question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from likely.mio.bounds import layers_of, points_of, unit_bounds
from likely.mio.inputs import RowVariables
from likely.mio.modelling import Block, Expression, Variable, add, new_block, new_blocks, numbers, rows
from likely.mio.reach import Reach, all_of
from likely.mio.scores import Scores, affine, encode_columns
from likely.predictor import ReluNetwork
from likely.schema.values import Numbers


def encode_network(form: ReluNetwork, inputs: RowVariables) -> Scores:
    """Every unit h = max(0, a), a = weights @ h' + bias, by big-M with bounds l <= a <= u of its own (`unit_bounds`).

        what is read:  q = column's expression                       1 column,  1 row per column of the form
        u <= 0:        h = 0                                         nothing
        l >= 0:        h = a                                         1 column,  1 row
        else:          h >= a,  h <= a - l (1 - p),  h <= u p        2 columns, 3 rows      (h >= 0, p in {0, 1})

    (Tjeng, Xiao, Tedrake: "Evaluating robustness of neural networks with mixed integer programming", ICLR 2019.)
    The scores are expressions of the last hidden layer. Exact. `tighten` adds the last two rows again, with the bounds l and
    u of a question whose values reach less far: 2 rows for each such unit.

    Args:
        form: The network.
        inputs: The row.
    """
    return _Network(form, inputs).scores


@dataclass(eq=False)
class _Unit:
    """An unstable unit: it may be on or off."""

    before: Expression
    value: Variable
    on: Variable


class _Network:
    """A network in a programme."""

    def __init__(self, form: ReluNetwork, inputs: RowVariables) -> None:
        self.form, self.inputs, self.layers = form, inputs, layers_of(form)
        self.block = block = new_block()
        block.rows, block.read = rows(), numbers(len(form.columns), None, None)
        columns = encode_columns(form, inputs)
        for c, column in enumerate(columns):
            add(block, block.read[c] == column)
        self.bounds = self._bounds(all_of(inputs))
        block.layer = new_blocks(len(self.layers) - 1)
        self.unstable: list[dict[int, _Unit]] = []
        hidden: list[Expression] = [block.read[c] for c in range(len(columns))]
        for i, (weights, bias) in enumerate(self.layers[:-1]):
            hidden = self._encode_layer(block.layer[i], affine(weights, bias, hidden), *self.bounds[i])
        self.scores = Scores(form, block, affine(*self.layers[-1], hidden), *self.bounds[-1], self.set, self.tighten)

    def _bounds(self, reach: Sequence[Reach]) -> list[tuple[Numbers, Numbers]]:
        return unit_bounds(self.layers, points_of(self.form.columns, reach))

    def _encode_layer(self, block: Block, before: list[Expression], low: Numbers, high: Numbers) -> list[Expression]:
        alive = np.flatnonzero(high > 0)
        unstable = [int(i) for i in alive if low[i] < 0]
        block.rows = rows()
        block.unit = numbers(len(alive), 0.0, None)
        block.on = numbers(len(unstable), 0, 1, whole=True)
        values: list[Expression] = [0.0] * len(before)
        for k, i in enumerate(alive):
            values[i] = block.unit[k]
            block.unit[k].setub(float(high[i]))
        units = {i: _Unit(before[i], values[i], block.on[k]) for k, i in enumerate(unstable)}
        for i in alive:
            if i in units:
                add(block, values[i] >= before[i])
                _hold_below(block, units[int(i)], float(low[i]), float(high[i]))
            else:
                add(block, values[i] == before[i])
        self.unstable.append(units)
        return values

    def tighten(self, block: Block, reach: Sequence[Reach]) -> tuple[Numbers, Numbers]:
        """The big-M rows once more, with the bounds that hold within a reach; see `Scores`."""
        bounds = self._bounds(reach)
        for units, before, now in zip(self.unstable, self.bounds, bounds, strict=False):
            low, high = np.maximum(before[0], now[0]), np.minimum(before[1], now[1])
            for i, unit in units.items():
                _hold_below(block, unit, min(0.0, float(low[i])), max(0.0, float(high[i])))
        return np.maximum(self.bounds[-1][0], bounds[-1][0]), np.minimum(self.bounds[-1][1], bounds[-1][1])

    def set(self, row: Numbers) -> None:
        """Give all variables the values that follow from a row."""
        block, hidden = self.block, self.form.inputs(row[None])[0].copy()
        for c, value in enumerate(hidden):
            block.read[c].set_value(float(value))
        for i, (weights, bias) in enumerate(self.form.layers[:-1]):
            before = weights @ hidden + bias
            hidden = np.maximum(before, 0.0)
            low, high = self.bounds[i]
            alive = np.flatnonzero(high > 0)
            for k, unit in enumerate(alive):
                block.layer[i].unit[k].set_value(float(min(hidden[unit], high[unit])))
            for k, unit in enumerate(unit for unit in alive if low[unit] < 0):
                block.layer[i].on[k].set_value(int(before[unit] > 0))


def _hold_below(block: Block, unit: _Unit, low: float, high: float) -> None:
    """h <= a - l (1 - p) and h <= u p."""
    add(block, unit.value <= unit.before - low * (1 - unit.on))
    add(block, unit.value <= high * unit.on)
