"""PPCEF (Wielopolski et al. 2024): gradient descent to a row that is near, has the class, and is dense under a flow.

A normalising flow that is told the class learns the density of points. Minimised is the distance (the schema's cost of each
column), plus a factor times what the probability of the class lacks to 0.5 and what the log-density lacks to the median of the
training rows of that class. The factor, and how far beyond the border the score shall be, grow until the nearest row of the point
has the class: a point may lie between two values of a category, a row may not.

It gets the rules about one feature: every step ends in the box.
"""

from __future__ import annotations

import numpy as np

from likely.bench.flow import Flow
from likely.bench.methods.gradient import Differentiable, within
from likely.bench.methods.rival import Question, Rival
from likely.bench.tensors import alone, numbers, tensor, torch
from likely.schema.values import Numbers

RATE, STEPS, FACTOR = 0.02, 60, 3.0
#: By how much more the score shall be beyond the border in each round; how dense an answer should be, as a quantile of rows of
#: its class; noise on the rows that the flow learns from, in deviations; how far beside the row other starts are.
BEYOND, DENSE, NOISE, BESIDE = 0.5, 0.5, 0.1, 0.05
#: How often the factor is doubled, if no row has the class.
ROUNDS = 8


class Ppcef(Rival):
    """Adam from the row, held to the class and to a density."""

    name = "ppcef"

    def prepare(self) -> None:
        """Learn the density of each class, and what is dense."""
        known = self.known
        self.model = Differentiable.of(known)
        self.flow = Flow(known.data.seed, noise=NOISE).fit(known.points, known.decided)
        logs = self.flow.log_density(known.points, known.decided)
        self.least = [_quantile(logs[known.decided == k]) for k in range(len(known.form.classes))]
        self._weights = tensor(known.encoding.weights / max(float(known.encoding.weights.mean()), 1e-9))

    def search(self, question: Question) -> Numbers:
        """The rows of the last points, with the wanted class, cheapest first.

        Args:
            question: What is asked.
        """
        starts = np.repeat(question.point[None], question.asked.k, axis=0)
        starts[1:] += BESIDE * question.rng.standard_normal(starts[1:].shape)
        target = question.target
        with alone(self.known.data.seed):
            told = self.flow.told(np.full(len(starts), target, dtype=np.intp))
            origin, points = tensor(question.point), within(tensor(starts), question).requires_grad_()
            for round_ in range(ROUNDS):
                optimiser = torch.optim.Adam([points], lr=RATE)
                for _ in range(STEPS):
                    unlike = torch.relu((1 + round_) * BEYOND - self.model.margins(points, target))
                    sparse = torch.relu(self.least[target] - self.flow.logs(points, told)) / len(origin)
                    distance = (self._weights * (points - origin).abs()).sum(dim=1)
                    optimiser.zero_grad()
                    (distance + FACTOR * 2**round_ * (unlike + sparse)).sum().backward()
                    optimiser.step()
                    points.data = within(points.data, question)
                rows = question.by_cost(question.decode(numbers(points)))
                if len(rows) or question.left <= 0:
                    break
        return rows


def _quantile(logs: Numbers) -> float:
    return float(np.quantile(logs, DENSE)) if len(logs) else -np.inf
