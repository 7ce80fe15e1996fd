"""The nearest row of the training table that is an answer already: what can be said without any search."""

from __future__ import annotations

from likely.bench.methods.rival import Question, Rival
from likely.schema.values import Numbers


class NearestRow(Rival):
    """The cheapest training rows of the wanted class, by the schema's cost; those that keep all rules first."""

    name = "nearest-row"

    def search(self, question: Question) -> Numbers:
        """Training rows of the wanted class, cheapest first.

        Args:
            question: What is asked.
        """
        return question.by_cost(self.known.rows[self.known.decided == question.target])
