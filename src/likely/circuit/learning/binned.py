"""A table by its bins: what the learners of mixtures and trees count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from likely.circuit.learning.bins import Bins, Indices
from likely.circuit.learning.smoothing import Shrinkage
from likely.errors import CircuitError
from likely.schema.values import Numbers

#: As many bins, and one for the unknown, are counted in 16 bits.
MOST_BINS = 2**16 - 1


@dataclass(frozen=True)
class Binned:
    """Rows by their bins, and what they say about each variable alone."""

    bins: tuple[Bins, ...]
    places: NDArray[np.uint16]  # the bin, row x variable; one past the last where unknown
    weights: Numbers
    shrinkage: tuple[Shrinkage, ...]

    @classmethod
    def of(cls, rows: Numbers, weights: Numbers, bins: Sequence[Bins]) -> Binned:
        """Encoded rows, binned."""
        places = np.empty(rows.shape, dtype=np.uint16)
        for j, variable in enumerate(bins):
            if len(variable) > MOST_BINS:
                name, hint = variable.feature.name, "drop it if it is an identifier, or join rare values"
                raise CircuitError(
                    f"Feature {name!r}", f"have at most {MOST_BINS} values to learn from", len(variable), hint, feature=name
                )
            index = variable.index(rows[:, j])
            places[:, j] = np.where(index < 0, len(variable), index)
        return cls(tuple(bins), places, weights, ()).alone()

    def alone(self) -> Binned:
        """With what these rows say, and no others that they were taken from."""
        shrinkage = []
        for bins, places in zip(self.bins, self.places.T, strict=True):
            counts = np.bincount(places, weights=self.weights, minlength=len(bins) + 1)[:-1]
            shrinkage.append(Shrinkage.of(bins, np.asarray(counts, dtype=np.float64)))
        return replace(self, shrinkage=tuple(shrinkage))

    def __len__(self) -> int:
        return len(self.places)

    @property
    def sizes(self) -> list[int]:
        """How many bins each variable has."""
        return [len(bins) for bins in self.bins]

    @property
    def offset(self) -> NDArray[np.int64]:
        """Where the bins of each variable begin, each followed by one for the unknown; and in the end their number."""
        return np.cumsum([0, *(size + 1 for size in self.sizes)]).astype(np.int64)

    def some(self, which: Indices) -> Binned:
        """Some of the rows, still with what all of them say."""
        return replace(self, places=np.ascontiguousarray(self.places[which]), weights=self.weights[which])

    def drawn(self, count: int, rng: np.random.Generator) -> Binned:
        """At most `count` rows, drawn at random."""
        return self if len(self) <= count else self.some(np.sort(rng.choice(len(self), count, replace=False)))
