"""CeFlow (Duong, Li and Xu 2023): the row moved, in the base space of a flow, along the line between two classes.

A normalising flow takes points to one Gaussian per class. The row is moved by a multiple of the difference of the classes'
means; the answer is the row of the least multiple that has the wanted class. It is found by widening steps and then halving.

It gets the rules about one feature: what comes back is moved into the box.
"""

from __future__ import annotations

import numpy as np

from likely.bench.flow import Flow
from likely.bench.methods.rival import Question, Rival
from likely.bench.tensors import alone, numbers, tensor, torch
from likely.schema.values import Numbers

#: The multiples that are tried, noise on the rows that the flow learns from, in deviations.
MULTIPLES, NOISE = np.linspace(0.0, 3.0, 121)[1:], 0.1


class CeFlow(Rival):
    """A flow onto one Gaussian per class, and the line between two of them."""

    name = "ceflow"

    def prepare(self) -> None:
        """Learn the flow, and where the rows of each class lie in its base space."""
        known = self.known
        self.flow = Flow(known.data.seed, tell="base", noise=NOISE).fit(known.points, known.decided)
        base = numbers(self.flow.to_base(tensor(known.points), self.flow.told(known.decided)))
        classes = range(len(known.form.classes))
        self.means = [base[known.decided == k].mean(axis=0) if (known.decided == k).any() else base[0] for k in classes]

    def search(self, question: Question) -> Numbers:
        """The rows of the wanted class on the line, those of the least multiple first.

        Args:
            question: What is asked.
        """
        form = self.known.form
        source = int(form.link.decide(form.score(question.row[None], n_jobs=1))[0])
        with alone(0), torch.no_grad():
            told = self.flow.told(np.full(len(MULTIPLES), source, dtype=np.intp))
            base = numbers(self.flow.to_base(tensor(question.point)[None], told[:1]))
            line = base + MULTIPLES[:, None] * (self.means[question.target] - self.means[source])
            rows = question.decode(np.nan_to_num(numbers(self.flow.from_base(tensor(line), told))))
        return rows[question.reached(rows)]
