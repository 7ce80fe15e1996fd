"""Costs: what it takes to move one feature from the factual's value to another.

The cost of a row is the sum over its features (separable by construction). The default is the paper's: for a number
|change| / MAD, where MAD = median |x - median(x)| over the data, or 1.48 * standard deviation where that is 0, or 1
where that is 0 too. For a discrete value the same over its 0-1 indicator columns, so that leaving one value and
entering another costs the sum of their two weights; a binary feature is one such column.

An unknown value of the factual costs nothing to fill in.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from likely.errors import SchemaError
from likely.schema.features import Binary, Feature, Mixed
from likely.schema.values import Name, Numbers, Value, code_index, is_code, plain

Pair = tuple[Value, Value]


@dataclass(frozen=True)
class Cost(ABC):
    """The price list of one feature."""

    @abstractmethod
    def price(self, feature: Feature, factual: float, numbers: Numbers) -> Numbers:
        """What it costs to go from the factual's double to each of these doubles."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `cost_from_dict` reads back."""
        found: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, Cost):
                found[item.name] = value.to_dict()
            elif value != item.default:
                found[item.name] = [list(v) if isinstance(v, tuple) else v for v in value] if isinstance(value, tuple) else value
        return found


def _check_price(feature: Name, what: str, price: Any) -> float:
    if isinstance(price, bool) or not isinstance(price, (int, float, np.number)) or not 0 <= price < math.inf:
        raise SchemaError(
            f"The {what} of feature {feature!r}", "be a finite number of at least 0", repr(price), "use Immutable to forbid a change",
            feature=feature,
        )  # fmt: skip
    return float(price)


@dataclass(frozen=True)
class MoveCost(Cost):
    """Numbers: `up` or `down` per unit of the move, plus `fee` for any move at all."""

    up: float = 1.0
    down: float = 1.0
    fee: float = 0.0

    def price(self, feature: Feature, factual: float, numbers: Numbers) -> Numbers:
        if math.isnan(factual):
            return np.zeros_like(numbers)
        move = numbers - factual
        return np.where(move > 0, self.up * move, -self.down * move) + self.fee * (move != 0)


@dataclass(frozen=True)
class SwitchCost(Cost):
    """Discrete values: weights[old] + weights[new] (or what `table` says of the pair), plus `fee`."""

    weights: tuple[float, ...]
    table: tuple[tuple[int, int, float], ...] = ()
    fee: float = 0.0

    def between(self, old: int) -> Numbers:
        """The price of going from value number `old` to each value."""
        prices = np.array(self.weights) + self.weights[old]
        for source, target, price in self.table:
            if source == old:
                prices[target] = price
        prices += self.fee
        prices[old] = 0.0
        return prices

    def price(self, feature: Feature, factual: float, numbers: Numbers) -> Numbers:
        if math.isnan(factual):
            return np.zeros_like(numbers)
        return self.between(round(factual))[numbers.astype(np.intp)]


@dataclass(frozen=True)
class MixedCost(Cost):
    """Numbers and codes: a code has a weight like a discrete value; numbers are reached from a code at `anchor`.

    number -> number: `move`. number -> code k: weights[k]. code k -> number c: weights[k] + move from `anchor` (the
    median of the data's numbers) to c. code -> code: the sum of both weights, or what `table` says. Any change: the
    fee of `move`, once.
    """

    move: MoveCost
    weights: tuple[float, ...]
    anchor: float
    table: tuple[tuple[int, int, float], ...] = ()

    def price(self, feature: Feature, factual: float, numbers: Numbers) -> Numbers:
        if math.isnan(factual):
            return np.zeros_like(numbers)
        to_code = is_code(numbers)
        targets = np.where(to_code, -numbers / 2.0**1000 - 1, 0).round().astype(np.intp)
        if not is_code(np.array([factual]))[0]:
            moved = self.move.price(feature, factual, np.where(to_code, factual, numbers))
            return np.where(to_code, np.array(self.weights)[targets] + self.move.fee, moved)
        old = code_index(factual)
        switched = SwitchCost(self.weights, self.table, self.move.fee).between(old)[targets]
        from_anchor = MoveCost(self.move.up, self.move.down).price(feature, self.anchor, np.where(to_code, self.anchor, numbers))
        return np.where(to_code, switched, self.weights[old] + self.move.fee + from_anchor)


def unit_cost(feature: Feature) -> Cost:
    """The cost without data: every weight is 1."""
    if isinstance(feature, Mixed):
        return MixedCost(MoveCost(), (1.0,) * len(feature.codes), (feature.lower + feature.upper) / 2)
    if feature.numeric:
        return MoveCost()
    return SwitchCost(_indicator_weights(feature, lambda k: 1.0))


def inverse_spread(numbers: Numbers) -> float:
    """1 / MAD of the numbers; 1 / (1.48 * standard deviation) where that is 0; 1 where that is 0 too."""
    if numbers.size == 0:
        return 1.0
    spread = float(np.median(np.abs(numbers - np.median(numbers))))
    if spread == 0:
        spread = 1.48 * float(np.std(numbers))
    return 1 / spread if spread > 1e-300 and math.isfinite(1 / spread) else 1.0


def _indicator_weights(feature: Feature, weight: Any) -> tuple[float, ...]:
    if isinstance(feature, Binary):
        return (weight(1) / 2,) * 2  # one 0-1 column, so that both weights together are its price
    return tuple(weight(k) for k in range(len(feature.atoms)))


def fit_cost(
    feature: Feature,
    numbers: Numbers,
    weight: float | Mapping[str, float] = 1.0,
    fee: float = 0.0,
    table: Mapping[Any, Mapping[Any, float]] | None = None,
) -> Cost:
    """The paper's cost from the data's doubles, times the user's weight, plus the user's fee and table.

    `weight` is a factor, or {"up": a, "down": b} for numbers. `table` is {old value: {new value: price}}; pairs that
    it leaves out keep the default.
    """
    fee = _check_price(feature.name, "fee", fee)
    up, down = _directions(feature, weight)
    known = numbers[~np.isnan(numbers)]
    if feature.numeric and not isinstance(feature, Mixed):
        _refuse_table(feature, table)
        spread = inverse_spread(known)
        return MoveCost(up * spread, down * spread, fee)
    weights = _indicator_weights(feature, lambda k: up * inverse_spread((known == feature.atom_number(k)).astype(np.float64)))
    prices = _read_table(feature, table)
    if isinstance(feature, Mixed):
        plain_numbers = known[~is_code(known)]
        spread = inverse_spread(plain_numbers)
        anchor = float(np.median(plain_numbers)) if plain_numbers.size else (feature.lower + feature.upper) / 2
        return MixedCost(MoveCost(up * spread, down * spread, fee), weights, anchor, prices)
    return SwitchCost(weights, prices, fee)


def _directions(feature: Feature, weight: float | Mapping[str, float]) -> tuple[float, float]:
    if not isinstance(weight, Mapping):
        factor = _check_price(feature.name, "weight", weight)
        return factor, factor
    if not feature.numeric or not set(weight) <= {"up", "down"}:
        raise SchemaError(
            f"The weight of feature {feature.name!r}", "be a number, or 'up' and 'down' of a numeric feature", dict(weight),
            "use a table for the prices between values", feature=feature.name,
        )  # fmt: skip
    up, down = (_check_price(feature.name, f"weight {way!r}", weight.get(way, 1.0)) for way in ("up", "down"))
    return up, down


def _refuse_table(feature: Feature, table: Mapping[Any, Mapping[Any, float]] | None) -> None:
    if table is not None:
        raise SchemaError(
            f"Feature {feature.name!r}", "have values to have a cost table", f"a {feature.kind} feature", "use a weight", feature=feature.name
        )


def _read_table(feature: Feature, table: Mapping[Any, Mapping[Any, float]] | None) -> tuple[tuple[int, int, float], ...]:
    places = {value: k for k, value in enumerate(feature.atoms)}
    found = []
    for old, prices in (table or {}).items():
        for new, price in prices.items():
            for value in (plain(old), plain(new)):
                if value not in places:
                    raise SchemaError(
                        f"The cost table of feature {feature.name!r}", "name known values", repr(value), f"use {feature.describe()}",
                        feature=feature.name,
                    )  # fmt: skip
            found.append((places[plain(old)], places[plain(new)], _check_price(feature.name, "cost table", price)))
    return tuple(found)


def cost_from_dict(feature: Feature, data: Mapping[str, Any]) -> Cost:
    """The cost that `Cost.to_dict` described."""
    kind = MixedCost if isinstance(feature, Mixed) else MoveCost if feature.numeric else SwitchCost
    found = dict(data)
    try:
        if "move" in found:
            found["move"] = MoveCost(**found["move"])
        for name in ("weights", "table"):
            if name in found:
                found[name] = tuple(tuple(v) if isinstance(v, list) else v for v in found[name])
        cost = kind(**found)
    except TypeError:
        known = ", ".join(item.name for item in fields(kind))
        raise SchemaError(
            f"The cost of feature {feature.name!r}", f"have the settings {known}", dict(data), "correct the file", feature=feature.name
        ) from None
    _check_cost(feature, cost)
    return cost


def _check_cost(feature: Feature, cost: Cost) -> None:
    """Refuse prices that are negative or too few for the feature."""
    move = cost.move if isinstance(cost, MixedCost) else cost
    if isinstance(move, MoveCost):
        for what in ("up", "down", "fee"):
            _check_price(feature.name, f"cost {what!r}", getattr(move, what))
    if isinstance(cost, (SwitchCost, MixedCost)):
        for price in [*cost.weights, *(row[2] for row in cost.table)]:
            _check_price(feature.name, "cost", price)
        if len(cost.weights) != len(feature.atoms):
            raise SchemaError(
                f"The cost of feature {feature.name!r}", f"have {len(feature.atoms)} weights", len(cost.weights),
                "give one per value", feature=feature.name,
            )  # fmt: skip
