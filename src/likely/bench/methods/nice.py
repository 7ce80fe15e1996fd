"""NICE (Brughmans, Leyman and Martens 2023): from the row to its nearest neighbour of the other class, feature by feature.

The neighbour is the nearest training row that the model rightly gives the wanted class. Then, one after the other, the feature
whose value of the neighbour is best rewarded is taken over, until the class is reached. Variants by their reward: "sparse" (what
the score gains), "proximity" (what it gains per unit of distance).

It gets the rules about one feature: a neighbour that breaks one is not taken, if there is another; and a feature that may not
become the neighbour's is left as it is.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from likely.bench.methods.rival import Question, Rival
from likely.schema.values import Numbers


class Nice(Rival):
    """The greedy walk to the nearest unlike neighbour.

    Args:
        reward: What a step is chosen by.
    """

    def __init__(self, reward: Literal["sparse", "proximity"]) -> None:
        self.name, self.reward = f"nice-{reward}", reward

    def search(self, question: Question) -> Numbers:
        """The end of one walk per neighbour, nearest neighbour first.

        Args:
            question: What is asked.
        """
        known = self.known
        right = (known.decided == question.target) & (known.true == known.decided)
        neighbours = known.rows[right] if right.any() else known.rows[known.decided == question.target]
        breaks = ~self._within(question, neighbours).all(axis=1)
        order = np.lexsort((self._distances(question.row, neighbours).sum(axis=1), breaks))
        walks = [self._walk(question, neighbours[i]) for i in order[: question.asked.k]]
        return np.array(walks).reshape(-1, len(question.row))

    def _walk(self, question: Question, neighbour: Numbers) -> Numbers:
        """The first row on the greedy walk that has the wanted class, or the last row of it."""
        row = question.row.copy()
        open_ = [j for j in np.flatnonzero(neighbour != row) if self._within(question, neighbour[None])[0, j]]
        margin = float(question.margins(row[None])[0])
        while open_ and margin < 0:
            tries = np.repeat(row[None], len(open_), axis=0)
            tries[np.arange(len(open_)), open_] = neighbour[open_]
            margins = question.margins(tries)
            rewards = margins - margin
            if self.reward == "proximity":
                far = self._distances(question.row, tries).sum(axis=1) - self._distances(question.row, row[None]).sum()
                rewards = rewards / np.maximum(far, 1e-12)
            best = int(np.argmax(rewards))
            row, margin = np.asarray(tries[best]), float(margins[best])
            del open_[best]
        return row

    def _within(self, question: Question, rows: Numbers) -> NDArray[np.bool_]:
        """Row x feature: whether the value keeps every rule about that feature alone."""
        low, high = question.box
        points = self.known.encoding.encode(rows)
        fits = (points >= low - 1e-12) & (points <= high + 1e-12)
        inside = np.ones(rows.shape, dtype=np.bool_)
        for column, j in enumerate(self.known.encoding.feature_of):
            inside[:, j] &= fits[:, column]
        return inside

    def _distances(self, row: Numbers, rows: Numbers) -> Numbers:
        """HEOM, feature by feature: the share of the range for numbers, 0 or 1 for other values."""
        far: Numbers = (rows != row).astype(np.float64)
        for j, part in enumerate(self.known.encoding.parts):
            if part.number is not None and not part.atoms:
                far[:, j] = np.abs(rows[:, j] - row[j]) / part.span
        return far
