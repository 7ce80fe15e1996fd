"""The VAE of Mahajan, Tan and Sharma (2019): an auto-encoder that learns to decode rows of the other class.

It is told the class to reach, encodes the row, and decodes a row near it; beside its own loss it has a hinge loss on the score of
what it decodes, by a margin and with a factor. An answer is what it decodes from draws for the row, as the nearest row of the
schema; draws are repeated until one has the wanted class. Settings are those of the LiCE paper: sizes as the classifier's, margin
0.1, factor 10, rate 1e-3, batches of 64, weight decay 1e-4.

It gets the rules about one feature: what it decodes is moved into the box.
"""

from __future__ import annotations

import numpy as np

from likely.bench.autoencoder import AutoEncoder
from likely.bench.methods.gradient import Differentiable
from likely.bench.methods.rival import Question, Rival
from likely.bench.tensors import Tensor, alone, numbers, tensor, torch
from likely.schema.values import Numbers

MARGIN, FACTOR, ROUNDS = 0.1, 10.0, 200
#: Draws at a time, and how often they are repeated.
DRAWS, TRIES = 100, 10


class Vae(Rival):
    """An auto-encoder that is told the class to reach.

    Args:
        rounds: How often to go over the training rows; of a large table, fewer.
    """

    name = "vae"

    def __init__(self, rounds: int = ROUNDS) -> None:
        self.rounds = rounds

    def prepare(self) -> None:
        """Learn to decode, of every training row, one of another class than it has."""
        known = self.known
        model, count = Differentiable.of(known), len(known.form.classes)
        rng = np.random.default_rng(known.data.seed)
        wanted = (known.decided + rng.integers(1, count, len(known.decided))) % count

        def hinge(part: Tensor, made: Tensor) -> Tensor:
            ways = [model.margins(made, k) for k in range(count)]
            margins = torch.stack(ways, dim=1).gather(1, torch.as_tensor(wanted)[part][:, None])
            return FACTOR * torch.relu(MARGIN - margins).mean()

        with alone(known.data.seed):
            self.coder = AutoEncoder(known.encoding, count)
            self.coder.learn(tensor(known.points), tensor(np.eye(count)[wanted]), self.rounds, hinge)

    def search(self, question: Question) -> Numbers:
        """What is decoded from draws for the row, with the wanted class, cheapest first.

        Args:
            question: What is asked.
        """
        told = np.zeros((DRAWS, len(self.known.form.classes)))
        told[:, question.target] = 1.0
        with alone(int(question.rng.integers(2**31))), torch.no_grad():
            points, given = tensor(question.point).expand(DRAWS, -1), tensor(told)
            for _ in range(TRIES):
                rows = question.by_cost(question.decode(numbers(self.coder.decode(self.coder.drawn(points, given), given))))
                if len(rows) or question.left <= 0:
                    break
        return rows
