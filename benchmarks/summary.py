"""How the benchmarks sum up and print what they measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits


def spread(values: Iterable[float]) -> dict[str, float]:
    """Median, 99th percentile and maximum."""
    numbers = np.fromiter(values, dtype=np.float64)
    return {"median": float(np.median(numbers)), "p99": float(np.quantile(numbers, 0.99)), "max": float(numbers.max())}


def share(flags: Iterable[bool]) -> float:
    """How many are true, of 1."""
    return float(np.mean(list(flags)))


@contextmanager
def one_thread() -> Iterator[None]:
    """No library multiplies matrices on more than one core."""
    with threadpool_limits(1):
        yield


Column = tuple[str, int, Callable[[dict[str, Any]], str]]  # head, width, text of a cell


def head(columns: Sequence[Column]) -> str:
    """The first line of a table; text columns (the first ones, of negative width) are flush left."""
    return "  ".join(_cell(name, width) for name, width, _ in columns)


def line(columns: Sequence[Column], item: dict[str, Any]) -> str:
    """One line of a table."""
    return "  ".join(_cell(text(item), width) for _, width, text in columns)


def _cell(text: str, width: int) -> str:
    return f"{text:<{-width}}" if width < 0 else f"{text:>{width}}"
