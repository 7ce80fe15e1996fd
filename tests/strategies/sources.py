"""Sources of numbers: random generators where there are too many to draw one by one, quarters, probabilities."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st


@st.composite
def simplexes(draw: st.DrawFn, count: int) -> tuple[float, ...]:
    """Probabilities that sum to 1, some of them 0."""
    shares = draw(st.lists(st.integers(0, 9), min_size=count, max_size=count).filter(any))
    return tuple(share / sum(shares) for share in shares)


#: Prices, thresholds and weights of scores are multiples of a quarter: sums of them are exact, and ties do occur.
QUARTERS = st.integers(-8, 8).map(lambda k: k / 4)


def generators() -> st.SearchStrategy[np.random.Generator]:
    """A source of numbers where there are too many to draw one by one."""
    return st.integers(0, 2**32 - 1).map(np.random.default_rng)


def some_quarters(rng: np.random.Generator, *shape: int, zeros: float = 0.2) -> np.ndarray:
    """Multiples of a quarter between -2 and 2, some of them 0."""
    return rng.integers(-8, 9, shape) / 4 * (rng.random(shape) >= zeros)
