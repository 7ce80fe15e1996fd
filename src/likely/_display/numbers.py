"""Numbers for people: the digits that matter, thousands apart."""

from __future__ import annotations

import math

#: So many digits tell values of a measurement apart.
DIGITS = 6
#: So many digits tell costs apart, which are sums of guesses.
_COST_DIGITS = 4
#: From here on thousands are set apart: a year is 2026, an amount 10,000.
_GROUPED = 10_000
#: Outside of these, powers of ten are shorter.
_LEAST, _MOST = 1e-5, 1e15
#: More decimals than a double has.
_DECIMALS = 15


def number_text(number: float, step: float | None = None, digits: int = DIGITS) -> str:
    """A number as people write it: 12,500 or 0.0423.

    Args:
        number: A finite number.
        step: The distance between neighbouring numbers, which says how many decimals there are; None if every real may be.
        digits: Without a step: how many digits are shown at least, zeros at the end aside.
    """
    size = abs(number)
    if number and not _LEAST <= size < _MOST:
        return f"{number:.{digits}g}"
    decimals = decimals_of(step) if step else digits - 1 - (math.floor(math.log10(size)) if size else 0)
    comma = "," if size >= _GROUPED else ""
    text = f"{number:{comma}.{min(max(decimals, 0), 2 * _DECIMALS)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def cost_text(number: float) -> str:
    """A cost, or another number that was computed of answers, as people read it: the same text wherever it stands.

    Args:
        number: A finite number.
    """
    return number_text(number, digits=_COST_DIGITS)


def decimals_of(step: float) -> int:
    """How many decimals the multiples of a step have.

    Args:
        step: The distance between neighbouring numbers.
    """
    return next((d for d in range(_DECIMALS) if math.isclose(step * 10**d, round(step * 10**d), rel_tol=1e-6)), _DECIMALS)
