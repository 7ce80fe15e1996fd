"""A model that is asked about the same row once: where one row is asked about again and again, that takes most of the time."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

from likely.explain.model import UserModel
from likely.schema.values import Numbers, Value

T = TypeVar("T")

#: What is said of so many rows is kept; what was not asked for longest is forgotten first.
MOST = 4096


class _Memory(Generic[T]):
    """What was said of rows, by a digest of each: the rows themselves are not kept. Threads may share it."""

    def __init__(self) -> None:
        self._said: OrderedDict[bytes, T] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, rows: Numbers, ask: Callable[[Numbers], Sequence[T]]) -> list[T]:
        """What is said of each row; those that are not known are asked for at once."""
        keys = [hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in np.ascontiguousarray(rows)]
        with self._lock:
            known = {key: self._said[key] for key in keys if key in self._said}
        new = {key: j for j, key in enumerate(keys) if key not in known}
        if new:
            known |= dict(zip(new, ask(rows[list(new.values())]), strict=True))
        with self._lock:
            for key in keys:
                self._said[key] = known[key]
                self._said.move_to_end(key)
            while len(self._said) > MOST:
                self._said.popitem(last=False)
        return [known[key] for key in keys]


@dataclass(frozen=True, eq=False)
class RememberingModel(UserModel):
    """A user's model that answers what it was asked before from memory."""

    _labels: _Memory[Value] = field(default_factory=_Memory, repr=False)
    _probabilities: _Memory[Any] = field(default_factory=_Memory, repr=False)

    def labels(self, rows: Numbers) -> list[Value]:
        return self._labels.of(rows, super().labels)

    def probabilities(self, rows: Numbers) -> Numbers | None:
        ask = super().probabilities
        said = self._probabilities.of(rows, lambda some: _each(ask(some), len(some)))
        return None if any(shares is None for shares in said) else np.reshape(said, (len(rows), -1))


def _each(shares: Numbers | None, count: int) -> Sequence[Any]:
    return [None] * count if shares is None else list(shares)
