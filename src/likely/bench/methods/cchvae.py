"""C-CHVAE (Pawelczyk, Broelemann and Kasneci 2020): the nearest row of the other class in the latent space of an auto-encoder.

The auto-encoder is given what may not change. From the row's place in the latent space, ever wider shells are sampled; of the
first that decodes to rows of the wanted class, the nearest is the answer. The model is only asked, so it may be any.

It gets what may not change, as what the auto-encoder is given; other rules about one feature by moving what it decodes into the
box.
"""

from __future__ import annotations

import numpy as np

from likely.bench.autoencoder import AutoEncoder
from likely.bench.methods.rival import Question, Rival
from likely.bench.tensors import alone, numbers, tensor, torch
from likely.schema import Immutable
from likely.schema.values import Numbers

#: Rounds over the training rows (that of the paper on Credit), samples per shell, how thick a shell is, and how many there are.
ROUNDS, SAMPLES, STEP, SHELLS = 50, 300, 0.1, 200


class Cchvae(Rival):
    """An auto-encoder that is given what may not change, and shells around the row.

    Args:
        rounds: How often to go over the training rows; of a large table, fewer.
    """

    name = "c-chvae"

    def __init__(self, rounds: int = ROUNDS) -> None:
        self.rounds = rounds

    def prepare(self) -> None:
        """Learn to encode and decode the training rows."""
        known = self.known
        fixed = {rule.feature for rule in known.data.schema.constraints if isinstance(rule, Immutable)}
        names = known.data.schema.names
        self.given = np.array([names[j] in fixed for j in known.encoding.feature_of])
        with alone(known.data.seed):
            self.coder = AutoEncoder(known.encoding, int(self.given.sum()))
            self.coder.learn(tensor(known.points), tensor(known.points[:, self.given]), self.rounds)

    def search(self, question: Question) -> Numbers:
        """Rows of the wanted class in the first shell that has some, nearest first.

        Args:
            question: What is asked.
        """
        rng, given = question.rng, tensor(question.point[self.given]).expand(SAMPLES, -1)
        with alone(0), torch.no_grad():
            centre = numbers(self.coder.encode(tensor(question.point)[None], given[:1])[0])
            for shell in range(SHELLS):
                ways = rng.standard_normal((SAMPLES, self.coder.latent))
                ways *= rng.uniform(shell, shell + 1, (SAMPLES, 1)) * STEP / np.linalg.norm(ways, axis=1, keepdims=True)
                rows = question.by_cost(question.decode(numbers(self.coder.decode(tensor(centre + ways), given))))
                if len(rows) or question.left <= 0:
                    break
        return rows
