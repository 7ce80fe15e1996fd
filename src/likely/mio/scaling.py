"""Rows and objectives in units of their own size: a solver's tolerances are absolute."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from likely.mio.tolerances import EXTREME, TAME


def unit_of(size: float) -> float:
    """What a row or an objective is divided by: the power of 2 next to its largest coefficient.

    1 if that is neither large nor small, and if it is so extreme that a quotient could be infinite.

    Args:
        size: The largest coefficient, by its absolute value.
    """
    divides = EXTREME[0] < size < TAME[0] or TAME[1] < size < EXTREME[1]
    return 2.0 ** round(math.log2(size)) if divides else 1.0


def difference(number: float, products: Iterable[tuple[float, float]]) -> float:
    """number - sum of products, rounded once: offsets that are large beside what is left cancel.

    Args:
        number: A finite number.
        products: Pairs of finite factors.
    """
    return float(Fraction(number) - sum((Fraction(a) * Fraction(b) for a, b in products), Fraction(0)))
