"""Upper bounds of the score of linear models and ReLU networks over a box, as sums over features.

Hidden units are bounded layer by layer: by intervals, and where these do not tell the side of 0, by linear functions (an unstable
ReLU lies below its chord, and above 0 and its argument), whose greatest value is taken over the box and over what a better row
may cost. Units that were split on are on the side that they were decided for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from likely.certificate.domain import ROUNDOFF, Box, Corners, Domain
from likely.certificate.relaxation import Relaxation
from likely.predictor import LinearModel, ReluNetwork
from likely.problem.goal import Alternative
from likely.schema.values import Numbers

#: A hidden unit: layer, place, and whether it was decided to be on.
Split: TypeAlias = tuple[int, int, bool]
#: Units per layer; None: not known.
Above: TypeAlias = Sequence[Sequence[int]] | None
#: Of a unit's bounds, relative to their sizes: what tells a stable unit from an unstable one in doubt.
_HAIR = 1e-9
#: Gains per cost that differ by less, relative to their size, are of one line.
_SAME_RATIO = 1e-9


@dataclass(frozen=True, eq=False)
class Units:
    """What the hidden units can be before their ReLU, layer by layer, and the sizes of all terms of every layer's sums."""

    low: list[Numbers]
    high: list[Numbers]
    sizes: list[Numbers]
    #: False if some unit cannot be on the side that it was decided for.
    possible: bool
    above: Above


class Network:
    """A linear model, or a network.

    Args:
        domain: The features' values.
        form: The model.
    """

    def __init__(self, domain: Domain, form: LinearModel | ReluNetwork) -> None:
        self._domain = domain
        (weights, self._bias), *self._later = form.layers
        counts = np.diff(domain.first_atom)
        inputs = len(form.columns)
        atoms, slope, level, lost = np.zeros((int(counts.sum()), inputs)), *np.zeros((3, domain.size, inputs))
        for c, column in enumerate(form.columns):
            j = column.feature
            if column.table:
                atoms[domain.first_atom[j] : domain.first_atom[j + 1], c] = column.table
            far = column.slope * (domain.anchor[j] - column.center)
            slope[j, c], level[j, c], lost[j, c] = column.slope, far + column.intercept, abs(far) + abs(column.intercept)
        self._atoms, self._slope, self._level = atoms @ weights.T, slope @ weights.T, level @ weights.T
        size = np.abs(weights.T)
        self._atom_sizes, self._slope_sizes, self._level_sizes = np.abs(atoms) @ size, np.abs(slope) @ size, lost @ size
        self._terms = inputs + domain.size + 16 + sum(len(layer[0].T) + 2 for layer in self._later)

    @property
    def hidden(self) -> bool:
        """Whether there are hidden units."""
        return bool(self._later)

    # -- hidden units ---------------------------------------------------------------------------------------------------

    def units(self, box: Box, corners: Corners, budget: float, splits: Sequence[Split], above: Above = None) -> Units:
        """What the hidden units can be in rows of a box that cost no more than a budget.

        Args:
            box: The rows.
            corners: Its corners.
            budget: What they cost at most.
            splits: Units that were decided.
            above: Per layer the units whose ReLU, if it is unstable, is held to be above its argument, not above 0. Both are
                right; left out, the one that leaves less room is taken.
        """
        effects = self._effects(corners)
        sizes = [np.abs(self._bias) + corners.greatest(self._effect_sizes(corners)).sum(axis=0)]
        units = Units([], [], sizes, True, above)
        possible = True
        for at in range(len(self._later)):
            if at == 0:
                low = self._bias + corners.least(effects).sum(axis=0)
                high = self._bias + corners.greatest(effects).sum(axis=0)
            else:
                weights, bias = self._later[at - 1]
                sizes.append(np.abs(bias) + np.abs(weights) @ sizes[-1])
                least, most = np.maximum(units.low[-1], 0.0), np.maximum(units.high[-1], 0.0)
                up, down = np.maximum(weights, 0.0), np.minimum(weights, 0.0)
                low, high = bias + up @ least + down @ most, bias + up @ most + down @ least
            off = self._rounding(sizes[at])
            low, high = low - off, high + off
            unstable = np.flatnonzero((low < 0) & (high > 0))
            if len(unstable):
                self._tighten(units, at, unstable, corners, effects, budget, low, high, off)
            possible &= _decide(splits, at, low, high)
            units.low.append(low)
            units.high.append(high)
        for weights, bias in self._later[-1:]:
            sizes.append(np.abs(bias) + np.abs(weights) @ sizes[-1])
        return Units(units.low, units.high, sizes, possible, above)

    def _rounding(self, sizes: Numbers) -> Numbers:
        return 2 * ROUNDOFF * self._terms * sizes

    def _effects(self, corners: Corners) -> Numbers:
        """What every corner adds to the units of the first layer."""
        numbers = self._slope[corners.feature] * corners.offset[:, None] + self._level[corners.feature]
        return np.where((corners.atom >= 0)[:, None], self._atoms[corners.atom], numbers) if len(self._atoms) else numbers

    def _effect_sizes(self, corners: Corners) -> Numbers:
        numbers = self._slope_sizes[corners.feature] * np.abs(corners.offset)[:, None] + self._level_sizes[corners.feature]
        return np.where((corners.atom >= 0)[:, None], self._atom_sizes[corners.atom], numbers) if len(self._atoms) else numbers

    def _tighten(
        self, units: Units, at: int, unstable: Any, corners: Corners, effects: Numbers, budget: float,
        low: Numbers, high: Numbers, off: Numbers,
    ) -> None:  # fmt: skip
        """Bounds of unstable units from linear functions above them and above their negatives."""
        chosen = np.eye(len(low))[unstable] if at == 0 else self._later[at - 1][0][unstable]
        bias = np.zeros(len(unstable)) if at == 0 else self._later[at - 1][1][unstable]
        for sign in (1.0, -1.0):
            coefficient, constant = self._backward(sign * chosen, sign * bias, units, at - 1)
            values = effects @ coefficient.T
            bound = constant + coefficient @ self._bias + greatest_within(corners, values, budget) + off[unstable]
            if sign > 0:
                high[unstable] = np.minimum(high[unstable], bound)
            else:
                low[unstable] = np.maximum(low[unstable], -bound)

    def _backward(self, coefficient: Numbers, constant: Numbers, units: Units, layer: int) -> tuple[Numbers, Numbers]:
        """Functions (rows) of the ReLUs of a layer as functions of the first layer's units that are not below them."""
        for at in range(layer, -1, -1):
            low, high = units.low[at], units.high[at]
            unstable = (low < 0) & (high > 0)
            with np.errstate(divide="ignore", invalid="ignore"):
                chord = np.where(unstable, high / (high - low), 0.0)
            positive = np.maximum(coefficient, 0.0)
            constant = constant - positive @ np.where(unstable, chord * low, 0.0)
            below = np.where(high < -low, 0.0, 1.0)
            if units.above is not None:
                below = np.isin(np.arange(len(low)), units.above[at]).astype(np.float64)
            kept = np.where(unstable, np.where(coefficient > 0, chord, below), np.where(high <= 0, 0.0, 1.0))
            coefficient = coefficient * kept
            if at > 0:
                weights, bias = self._later[at - 1]
                constant, coefficient = constant + coefficient @ bias, coefficient @ weights
        return coefficient, constant

    # -- goals ----------------------------------------------------------------------------------------------------------

    def relax(self, units: Units, alternative: Alternative) -> list[Relaxation]:
        """Per goal of an alternative a sum over features that is above its score.

        Args:
            units: What hidden units can be.
            alternative: The goals.
        """
        made = []
        for coefficients, lower in zip(alternative.coefficients, alternative.lower, strict=True):
            off = float(np.abs(coefficients) @ self._rounding(units.sizes[-1])) + 2 * ROUNDOFF * abs(lower)
            coefficient, constant = np.asarray(coefficients, dtype=np.float64)[None, :], np.zeros(1)
            if self._later:
                weights, bias = self._later[-1]
                coefficient, constant = self._backward(coefficient @ weights, coefficient @ bias, units, len(self._later) - 1)
            made.append(self._by_feature(coefficient[0], float(constant[0]), float(lower), off))
        return made

    def scores(self, corners: Corners) -> tuple[Numbers, Numbers]:
        """The outputs of one row, whose values are the corners, and what computing them may lose."""
        values = self._bias + corners.greatest(self._effects(corners)).sum(axis=0)
        sizes = np.abs(self._bias) + corners.greatest(self._effect_sizes(corners)).sum(axis=0)
        for weights, bias in self._later:
            values, sizes = weights @ np.maximum(values, 0.0) + bias, np.abs(weights) @ sizes + np.abs(bias)
        return values, self._rounding(sizes)

    def _by_feature(self, coefficient: Numbers, constant: float, lower: float, off: float) -> Relaxation:
        return Relaxation(
            constant + float(coefficient @ self._bias), self._slope @ coefficient, self._level @ coefficient,
            self._atoms @ coefficient, lower, off,
        )  # fmt: skip

    def aggregate(self, units: Units, alternative: Alternative, prices: dict[str, Any]) -> Relaxation:
        """One inequality from all goals and all that is known of units: `prices` of goals, of ReLUs and chords, any numbers.

        Args:
            units: What hidden units can be.
            alternative: The goals.
            prices: As a certificate has them.
        """
        goals = np.maximum(np.asarray(prices["goals"], dtype=np.float64), 0.0)
        weights, bias = self._later[-1]
        weight = goals @ alternative.coefficients
        coefficient, constant = weight @ weights, float(weight @ bias - goals @ alternative.lower)
        size = float(goals @ np.abs(alternative.lower) + (goals @ np.abs(alternative.coefficients)) @ units.sizes[-1])
        for at in range(len(self._later) - 1, -1, -1):
            price, chord = (np.asarray(prices[name][at], dtype=np.float64) for name in ("units", "chords"))
            low, high, price, chord = _as_priced(coefficient, price, chord, units.low[at], units.high[at], prices["unstable"][at])
            size += float((np.abs(price) + np.abs(chord)) @ (units.sizes[at] + np.maximum(np.abs(low), np.abs(high))))
            coefficient, added = _through(coefficient, price, chord, low, high)
            constant += added
            if at > 0:
                weights, bias = self._later[at - 1]
                constant, coefficient = constant + float(coefficient @ bias), coefficient @ weights
        return self._by_feature(coefficient, constant, 0.0, 2 * ROUNDOFF * self._terms * size)


def _as_priced(
    coefficient: Numbers, price: Numbers, chord: Numbers, low: Numbers, high: Numbers, unstable: Sequence[int]
) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Bounds of units that fit to what their prices are of, and prices where there are none.

    A unit that was `unstable` to the engine has prices of an unstable ReLU: if it is stable here, its bounds are widened by a
    hair. One that is unstable only here has no such prices, and gets those of its chord, or of its argument.
    """
    there = np.zeros(len(low), dtype=np.bool_)
    there[np.asarray(unstable, dtype=np.intp)] = True
    hair = _HAIR * (np.abs(low) + np.abs(high)) + np.finfo(np.float64).tiny
    low, high = np.where(there, np.minimum(low, -hair), low), np.where(there, np.maximum(high, hair), high)
    only_here = ~there & (low < 0) & (high > 0)
    chord = np.where(only_here, np.maximum(coefficient, 0.0), chord)
    price = np.where(only_here, np.where(high > -low, np.maximum(-coefficient, 0.0), 0.0), price)
    return low, high, price, chord


def _through(coefficient: Numbers, price: Numbers, chord: Numbers, low: Numbers, high: Numbers) -> tuple[Numbers, float]:
    """Above coefficient . relu(z) plus what is known of z, each at its price: a linear function of z.

    Known are z >= low, z <= high; of unstable units relu(z) - z >= 0, up to -low, and chord(z) - relu(z) >= 0, up to its value at
    either side; a price of the wrong sign is paid for by these upper ends.
    """
    off, on = high <= 0, (low >= 0) & (high > 0)
    unstable = ~off & ~on
    with np.errstate(divide="ignore", invalid="ignore"):
        steepness = np.where(unstable, high / (high - low), 0.0)
    relu = coefficient + price - chord
    added = np.where(off, -np.maximum(0.0, price) * low, 0.0) + np.where(on, -np.minimum(0.0, price) * high, 0.0)
    paid = np.minimum(0.0, price) * low - np.maximum(0.0, chord) * steepness * low + np.maximum(0.0, relu) * high
    slope = np.where(off, price, np.where(on, coefficient + price, chord * steepness - price))
    return slope, float((added + np.where(unstable, paid, 0.0)).sum())


def _decide(splits: Sequence[Split], at: int, low: Numbers, high: Numbers) -> bool:
    """Puts the units of a layer on the sides that they were decided for; False if one cannot be there."""
    possible = True
    for layer, unit, on in splits:
        if layer != at:
            continue
        possible &= bool(high[unit] >= 0 if on else low[unit] <= 0)
        if on:
            low[unit] = max(low[unit], 0.0)
        else:
            high[unit] = min(high[unit], 0.0)
    return possible


def greatest_within(corners: Corners, values: Numbers, budget: float) -> Numbers:
    """The greatest sum over features of functions (columns) over rows that cost no more than a budget: not more than this.

    For any multiplier m >= 0: m (budget - cheapest) + sum_j max over v of [value_j(v) - m (cost_j(v) - cheapest_j)].

    Args:
        corners: Of the box.
        values: Corner x function.
        budget: What a row costs at most.
    """
    most = corners.greatest(values).sum(axis=0)
    cheapest = corners.least(corners.cost)
    extra = corners.cost - cheapest[corners.feature]
    spare = budget - float(cheapest.sum())
    spare += 4 * ROUNDOFF * (len(cheapest) + 8) * (abs(budget) + float(np.abs(cheapest).sum()) if budget < np.inf else 0.0)
    if not spare < float(corners.greatest(extra).sum()):
        return np.asarray(most)
    at = _multipliers(corners, values, extra, max(spare, 0.0))
    priced = values - at * extra[:, None]
    total = at * max(spare, 0.0) + corners.greatest(priced).sum(axis=0)
    sizes = corners.greatest(np.abs(values) + at * extra[:, None]).sum(axis=0) + at * abs(spare)
    return np.asarray(np.minimum(most, total + 4 * ROUNDOFF * (len(cheapest) + 16) * sizes))


def _multipliers(corners: Corners, values: Numbers, extra: Numbers, spare: float) -> Numbers:
    """Per function the gain per cost of what just does not fit, if every feature goes where it gains most per cost."""
    free = (extra <= 0)[:, None]
    base = corners.greatest(np.where(free, values, -np.inf))[corners.feature]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(free, 0.0, (values - base) / extra[:, None])
    best = corners.greatest(ratio)
    nearly = best - _SAME_RATIO * np.abs(best)  # of several on one line, the farthest
    costs = corners.greatest(np.where(ratio >= nearly[corners.feature], extra[:, None], 0.0))
    order = np.argsort(-best, axis=0)
    spent = np.cumsum(np.take_along_axis(np.where(best > 0, costs, 0.0), order, axis=0), axis=0)
    reached = spent >= spare
    place = np.where(reached.any(axis=0), reached.argmax(axis=0), len(best) - 1)
    found = np.take_along_axis(np.take_along_axis(best, order, axis=0), place[None, :], axis=0)[0]
    return np.asarray(np.where(reached.any(axis=0), np.maximum(found, 0.0), 0.0))
