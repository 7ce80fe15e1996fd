"""Wachter, Mittelstadt and Russell (2018): gradient descent from the row, with ever more weight on the class.

Minimised is weight * (how far the score is from the wanted side)^2 + distance, the distance being the schema's cost of each
column (|change| / MAD). The weight, and how far beyond the border the score shall be, grow until the nearest row of the point
that was found has the wanted class: a point may lie between two values of a category, a row may not. Several answers are asked
for by several starts beside the row.

It gets the rules about one feature: every step ends in the box.
"""

from __future__ import annotations

import numpy as np

from likely.bench.methods.gradient import Differentiable, within
from likely.bench.methods.rival import Question, Rival
from likely.bench.tensors import alone, numbers, tensor, torch
from likely.schema.values import Numbers

RATE, STEPS, FIRST_WEIGHT, ROUNDS = 0.02, 60, 1.0, 12
#: By how much more the score shall be beyond the border in each round, and how far beside the row other starts are.
BEYOND, BESIDE = 0.5, 0.1


class Wachter(Rival):
    """Adam from the row."""

    name = "wachter"

    def prepare(self) -> None:
        """Make the model a module."""
        self.model = Differentiable.of(self.known)
        self._weights = tensor(self.known.encoding.weights / max(float(np.median(self.known.encoding.weights)), 1e-9))

    def search(self, question: Question) -> Numbers:
        """The rows of all points with the wanted class, of the least weight that has some; cheapest first.

        Args:
            question: What is asked.
        """
        starts = np.repeat(question.point[None], question.asked.k, axis=0)
        starts[1:] += BESIDE * question.rng.standard_normal(starts[1:].shape)
        with alone(self.known.data.seed):
            origin, points = tensor(question.point), within(tensor(starts), question).requires_grad_()
            for round_ in range(ROUNDS):
                optimiser = torch.optim.Adam([points], lr=RATE)
                for _ in range(STEPS):
                    lacking = torch.relu((1 + round_) * BEYOND - self.model.margins(points, question.target))
                    distance = (self._weights * (points - origin).abs()).sum(dim=1)
                    optimiser.zero_grad()
                    (FIRST_WEIGHT * 2**round_ * lacking**2 + distance).sum().backward()
                    optimiser.step()
                    points.data = within(points.data, question)
                rows = question.by_cost(question.decode(numbers(points)))
                if len(rows) or question.left <= 0:
                    return rows
        return rows
