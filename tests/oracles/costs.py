"""What a change costs, in plain Python on the user's own values: the paper's formulas, and the user's prices on top."""

from __future__ import annotations

import datetime
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from likely.schema import Binary, Feature
from tests.oracles.constraints import cell, is_code, named, unknown


def inverse_spread(numbers: Sequence[float]) -> float:
    """1 / MAD; 1 / (1.48 standard deviations) where that is 0; 1 where that is 0 too."""
    if not numbers:
        return 1.0
    middle = statistics.median(numbers)
    spread = statistics.median([abs(number - middle) for number in numbers])
    spread = spread or 1.48 * statistics.pstdev(numbers)
    return 1 / spread if spread else 1.0


def _number(value: Any) -> float:
    return float((value - datetime.date(1970, 1, 1)).days) if isinstance(value, datetime.date) else float(value)


def _shown(feature: Feature, value: Any) -> Any:
    """A cell as the feature's list names it."""
    return next(atom for atom in feature.atoms if named(feature, atom) == value)


def cost(
    feature: Feature,
    data: Sequence[Any],
    old: Any,
    new: Any,
    weight: float | Mapping[str, float] = 1.0,
    fee: float = 0.0,
    table: Mapping[Any, Mapping[Any, float]] | None = None,
) -> float:
    """The price of going from one cell to another, given the data's cells."""
    cells, old, new = [cell(value) for value in data], cell(old), cell(new)
    if unknown(feature, old) or old == new:
        return 0.0
    up, down, other = (weight.get("up", 1.0), weight.get("down", 1.0), 1.0) if isinstance(weight, Mapping) else (weight,) * 3
    known = [value for value in cells if not unknown(feature, value)]
    numbers = [_number(value) for value in known if feature.numeric and not is_code(feature, value)]

    def atom_weight(value: Any) -> float:
        if isinstance(feature, Binary):
            return other * inverse_spread([float(value == feature.values[1]) for value in known]) / 2
        return other * inverse_spread([float(each == value) for each in known])

    def move(a: float, b: float) -> float:
        return (up if b > a else down) * abs(b - a) * inverse_spread(numbers)

    def is_atom(value: Any) -> bool:
        return not feature.numeric or is_code(feature, value)

    if is_atom(old) and is_atom(new):
        priced = (table or {}).get(_shown(feature, old), {}).get(_shown(feature, new))
        return fee + (atom_weight(old) + atom_weight(new) if priced is None else priced)
    if is_atom(new):
        return fee + atom_weight(new)
    if is_atom(old):
        anchor = statistics.median(numbers) if numbers else (feature.lower + feature.upper) / 2
        return fee + atom_weight(old) + move(anchor, _number(new))
    return fee + move(_number(old), _number(new))
