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
from likely.schema.values import LARGEST, Name, Numbers, code_index, is_code, plain


@dataclass(frozen=True)
class Cost(ABC):
    """The price list of one feature."""

    def __post_init__(self) -> None:
        for item in fields(self):
            object.__setattr__(self, item.name, _tidy(getattr(self, item.name)))

    @abstractmethod
    def price(self, feature: Feature, factual: float, numbers: Numbers) -> Numbers:
        """What it costs to go from the factual's double to each of these doubles.

        Args:
            feature: Whose values.
            factual: The factual's value, as a double; NaN: every value is free.
            numbers: The values to go to.
        """

    @abstractmethod
    def describe(self) -> str:
        """The prices in a few words."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `cost_from_dict` reads back."""
        plain_fields: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, Cost):
                plain_fields[item.name] = value.to_dict()
            elif value != item.default or item.name in ("up", "down"):  # who edits the file sees what there is to edit
                plain_fields[item.name] = (
                    [list(v) if isinstance(v, tuple) else v for v in value] if isinstance(value, tuple) else value
                )
        return plain_fields


def _tidy(value: Any) -> Any:
    """Lists as tuples and numpy's numbers as Python's, which files can hold."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    return tuple(_tidy(item) for item in value) if isinstance(value, (list, tuple)) else value


def _span(weights: tuple[float, ...]) -> str:
    low, high = min(weights), max(weights)
    return f"{low:.3g}" if low == high else f"{low:.3g}-{high:.3g}"


def _with_fee(prices: str, fee: float) -> str:
    return f"{prices} + {fee:.6g} per change" if fee else prices


def _check_price(feature: Name, what: str, price: Any) -> float:
    if isinstance(price, bool) or not isinstance(price, (int, float, np.integer, np.floating)) or not 0 <= price < math.inf:
        raise SchemaError(
            f"The {what} of feature {feature!r}", "be a finite number of at least 0", repr(price),
            "use Immutable to forbid a change", feature=feature,
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
        prices: Numbers = np.where(move > 0, self.up * move, -self.down * move) + self.fee * (move != 0)
        return prices

    def describe(self) -> str:
        ways = f"{self.up:.6g}" if self.up == self.down else f"up {self.up:.6g}, down {self.down:.6g}"
        return _with_fee(f"{ways} per unit", self.fee)


@dataclass(frozen=True)
class SwitchCost(Cost):
    """Discrete values: weights[old] + weights[new] (or what `table` says of the pair), plus `fee`."""

    weights: tuple[float, ...]
    table: tuple[tuple[int, int, float], ...] = ()
    fee: float = 0.0

    def between(self, old: int) -> Numbers:
        """The price of going from value number `old` to each value.

        Args:
            old: The place of a value in the feature's list.
        """
        prices = np.array(self.weights, dtype=np.float64) + self.weights[old]
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

    def describe(self) -> str:
        return _with_fee(f"{_span(self.weights)} per value", self.fee)


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
            return np.where(to_code, np.array(self.weights, dtype=np.float64)[targets] + self.move.fee, moved)
        old = code_index(factual)
        switched = SwitchCost(self.weights, self.table, self.move.fee).between(old)[targets]
        from_anchor = MoveCost(self.move.up, self.move.down).price(feature, self.anchor, np.where(to_code, self.anchor, numbers))
        return np.where(to_code, switched, self.weights[old] + self.move.fee + from_anchor)

    def describe(self) -> str:
        return f"{self.move.describe()}; code {_span(self.weights)}"


def unit_cost(feature: Feature) -> Cost:
    """The cost without data: every weight is 1.

    Args:
        feature: The feature.
    """
    if isinstance(feature, Mixed):
        return MixedCost(MoveCost(), (1.0,) * len(feature.codes), (feature.lower + feature.upper) / 2)
    if feature.numeric:
        return MoveCost()
    return SwitchCost(_indicator_weights(feature, lambda k: 1.0))


def inverse_spread(numbers: Numbers) -> float:
    """1 / MAD of the numbers; 1 / (1.48 * standard deviation) where that is 0; 1 where that is 0 too.

    Args:
        numbers: The data's numbers.
    """
    if numbers.size == 0:
        return 1.0
    spread = float(np.median(np.abs(numbers - np.median(numbers))))
    if spread == 0 and numbers.min() < numbers.max():  # of equal numbers, rounding can make a tiny deviation
        with np.errstate(over="ignore"):
            spread = 1.48 * float(np.std(numbers))
    return 1 / spread if 1e-300 < spread < math.inf else 1.0


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

    Args:
        feature: The feature.
        numbers: The data's column, as doubles.
        weight: A factor, or {"up": a, "down": b} for numbers (codes, which have no direction, keep theirs).
        fee: What any change costs on top.
        table: {old value: {new value: price}}; pairs that it leaves out keep the default.
    """
    fee = _check_price(feature.name, "fee", fee)
    up, down, other = _directions(feature, weight)
    known = numbers[~np.isnan(numbers)]
    if feature.numeric and not isinstance(feature, Mixed):
        _refuse_table(feature, table)
        spread = inverse_spread(known)
        return MoveCost(up * spread, down * spread, fee)
    weights = _indicator_weights(feature, lambda k: other * inverse_spread((known == feature.atom_number(k)).astype(np.float64)))
    prices = _read_table(feature, table)
    if isinstance(feature, Mixed):
        plain_numbers = known[~is_code(known)]
        spread = inverse_spread(plain_numbers)
        anchor = float(np.median(plain_numbers)) if plain_numbers.size else (feature.lower + feature.upper) / 2
        return MixedCost(MoveCost(up * spread, down * spread, fee), weights, anchor, prices)
    return SwitchCost(weights, prices, fee)


def _directions(feature: Feature, weight: float | Mapping[str, float]) -> tuple[float, float, float]:
    """The factors of moves up, of moves down, and of everything that is neither."""
    if not isinstance(weight, Mapping):
        factor = _check_price(feature.name, "weight", weight)
        return factor, factor, factor
    if not feature.numeric or not set(weight) <= {"up", "down"}:
        raise SchemaError(
            f"The weight of feature {feature.name!r}", "be a number, or 'up' and 'down' of a numeric feature", dict(weight),
            "use a table for the prices between values", feature=feature.name,
        )  # fmt: skip
    up, down = (_check_price(feature.name, f"weight {way!r}", weight.get(way, 1.0)) for way in ("up", "down"))
    return up, down, 1.0


def _refuse_table(feature: Feature, table: Mapping[Any, Mapping[Any, float]] | None) -> None:
    if table is not None:
        raise SchemaError(
            f"Feature {feature.name!r}",
            "have values to have a cost table",
            f"a {feature.kind} feature",
            "use a weight",
            feature=feature.name,
        )


def _read_table(feature: Feature, table: Mapping[Any, Mapping[Any, float]] | None) -> tuple[tuple[int, int, float], ...]:
    priced = []
    for old, prices in (table or {}).items():
        if not isinstance(prices, Mapping):
            raise _table_error(feature, "be {old value: {new value: price}}", repr(prices), "give a dict for each old value")
        for new, price in prices.items():
            move = _place(feature, old), _place(feature, new)
            if move[0] == move[1]:
                raise _table_error(feature, "price moves between different values", f"{old!r} to itself", "staying is free")
            priced.append((*move, _check_price(feature.name, "cost table", price)))
    return tuple(priced)


def _table_error(feature: Feature, rule: str, got: str, hint: str) -> SchemaError:
    return SchemaError(f"The cost table of feature {feature.name!r}", rule, got, hint, feature=feature.name)


def _place(feature: Feature, value: Any) -> int:
    atom = plain(value, feature.name)
    if atom not in feature.atoms:
        raise _table_error(feature, "name known values", repr(atom), f"use {feature.describe()}")
    return feature.atoms.index(atom)


def _kind(feature: Feature) -> type[Cost]:
    return MixedCost if isinstance(feature, Mixed) else MoveCost if feature.numeric else SwitchCost


def cost_from_dict(feature: Feature, data: Any) -> Cost:
    """The cost that `Cost.to_dict` described (`check_cost` judges its numbers).

    Args:
        feature: The feature.
        data: As `Cost.to_dict` wrote it.
    """
    kind = _kind(feature)
    try:
        settings = dict(data)
        if "move" in settings:
            settings["move"] = MoveCost(**settings["move"])
        return kind(**settings)
    except (TypeError, ValueError):
        known = ", ".join(item.name for item in fields(kind))
        raise _cost_error(feature, f"have the settings {known}", repr(data), "correct the file") from None


def _cost_error(feature: Feature, rule: str, got: object, hint: str) -> SchemaError:
    return SchemaError(f"The cost of feature {feature.name!r}", rule, got, hint, feature=feature.name)


def check_cost(feature: Feature, cost: Any) -> None:
    """Refuse a cost of another kind of feature, and prices that are negative, too few, or of values that are not there.

    Args:
        feature: The feature.
        cost: What a change of it is said to cost.
    """
    kind = _kind(feature)
    if not isinstance(cost, kind):
        raise _cost_error(feature, f"be a {kind.__name__}", repr(cost), "leave costs out, or use Schema.infer")
    if isinstance(cost, MixedCost):
        if not isinstance(cost.anchor, (int, float)) or not abs(cost.anchor) < LARGEST:
            raise _cost_error(feature, "have a number as anchor", repr(cost.anchor), "give the median of the data")
        if not isinstance(cost.move, MoveCost):
            raise _cost_error(feature, "have a MoveCost as move", repr(cost.move), "give up, down and fee")
    move = cost.move if isinstance(cost, MixedCost) else cost
    for what in ("up", "down", "fee"):
        _check_price(feature.name, f"cost {what!r}", getattr(move, what, 0.0))
    if isinstance(cost, (SwitchCost, MixedCost)):
        _check_switch(feature, cost)


def _check_switch(feature: Feature, cost: SwitchCost | MixedCost) -> None:
    count = len(feature.atoms)
    if not isinstance(cost.weights, tuple) or len(cost.weights) != count:
        raise _cost_error(feature, f"have {count} weights", repr(cost.weights), "give one per value")
    for weight in cost.weights:
        _check_price(feature.name, "cost", weight)
    for row in cost.table if isinstance(cost.table, tuple) else (cost.table,):
        if not (isinstance(row, tuple) and len(row) == 3 and _are_places(row[:2], count)):
            raise _cost_error(
                feature, "have a table of [old place, new place, price]", repr(row), f"count the {count} values from 0"
            )
        _check_price(feature.name, "cost table", row[2])


def _are_places(places: tuple[Any, ...], count: int) -> bool:
    return places[0] != places[1] and all(isinstance(place, int) and 0 <= place < count for place in places)
