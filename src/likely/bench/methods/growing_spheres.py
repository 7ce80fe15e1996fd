"""Growing Spheres (Laugel et al. 2018): uniform samples of ever larger spheres until one has the other class, then sparser.

The radius is halved until a ball around the row holds no answer; then layers of that thickness are searched outwards, and of the
nearest answer, changes are taken back as long as it stays one, smallest first. Distance is Euclidean, on points of [0, 1]^n.

It gets the rules about one feature: samples are moved into the box.
"""

from __future__ import annotations

import numpy as np

from likely.bench.methods.rival import Question, Rival
from likely.schema.values import Numbers


class GrowingSpheres(Rival):
    """Balls, layers, and changes taken back.

    Args:
        samples: How many points are drawn per layer.
    """

    name = "growing-spheres"

    def __init__(self, samples: int = 1000) -> None:
        self.samples = samples

    def search(self, question: Question) -> Numbers:
        """The nearest answers of the first layer that has some, made sparser.

        Args:
            question: What is asked.
        """
        radius = self._empty_radius(question)
        largest, inner = float(np.sqrt(self.known.encoding.width)), 0.0
        while inner < largest and question.left > 0:
            found = self._answers(question, inner, inner + radius)
            if len(found):
                return np.array([sparser(question, row) for row in found[: question.asked.k]])
            inner += radius
        return np.empty((0, len(question.row)))

    def _empty_radius(self, question: Question) -> float:
        """Halved until a ball of that radius holds no answer; from a quarter of what is possible."""
        radius = float(np.sqrt(self.known.encoding.width)) / 4
        while radius > 1e-3 and question.left > 0 and len(self._answers(question, 0.0, radius)):
            radius /= 2
        return radius

    def _answers(self, question: Question, inner: float, outer: float) -> Numbers:
        """Answers among samples of a layer, nearest first."""
        low, high = question.box
        free = np.flatnonzero(low < high)
        size, rng = len(free), question.rng
        ways = rng.standard_normal((self.samples, size))
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        shares = rng.uniform((inner / outer) ** size, 1.0, (self.samples, 1)) ** (1 / max(size, 1))
        points = np.repeat(question.point[None], self.samples, axis=0)
        points[:, free] += outer * shares * ways
        rows = question.decode(points)
        rows = rows[question.reached(rows)]
        far = np.linalg.norm(self.known.encoding.encode(rows) - question.point, axis=1)
        return rows[np.argsort(far, kind="stable")]


def sparser(question: Question, row: Numbers) -> Numbers:
    """An answer with changes taken back as long as it stays one, smallest first.

    Args:
        question: What is asked.
        row: An answer, as doubles.
    """
    row = row.copy()
    prices = [question.costs(_back(row, question.row, j, invert=True)[None])[0] for j in range(len(row))]
    for j in np.argsort(prices, kind="stable"):
        if row[j] != question.row[j]:
            less = _back(row, question.row, int(j))
            if question.reached(less[None])[0]:
                row = less
    return row


def _back(row: Numbers, factual: Numbers, j: int, *, invert: bool = False) -> Numbers:
    """The row with the factual's value in one place; inverted, the factual with the row's."""
    base, other = (factual, row) if invert else (row, factual)
    made = base.copy()
    made[j] = other[j]
    return made
