"""LiCE as its paper has it: one mixed-integer programme, in the paper's own formulation of circuits, for a free solver.

Němeček, Pevný and Mareček (ICLR 2025) have sums of the circuit as the greatest of their terms, which is less than the sum: so
what the programme believes of its answers is not what is true of them, and the difference is the error of approximation in the
paper's tables. They solved it with Gurobi on 16 cores; here HiGHS has one, and no answers of the exact engine to begin with.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import pandas as pd

from likely.bench.method import Asked, Data, Generated, Model
from likely.errors import LikelyWarning
from likely.predictor import Form
from likely.problem import Limits, Plausibility, Problem, Result, to_class
from likely.schema.values import Numbers

#: Which log-likelihood an answer must have: that of half of the training rows.
SHARE = 0.5
#: How long the first programme of a fold may take: later ones differ from it in a few numbers.
BUILDING_SECONDS = 60.0


class PaperProgramme:
    """The question of `lice-median`, put to HiGHS; *proved* is what the solver claims."""

    name = "lice-median-milp"

    def fit(self, data: Data, model: Model, form: Form) -> None:
        """Measure how likely the training rows are, and put the programme together.

        Args:
            data: The training table with its rules.
            model: The user's classifier.
            form: What it computes.
        """
        self._data, self._form = data, form
        self._least = float(np.quantile(data.circuit.log_likelihood(data.X, data.y, n_jobs=1), SHARE))
        row = data.X.iloc[[0]]
        self._solved(self._problem(row, data.y.iloc[0]), Limits(seconds=BUILDING_SECONDS, nodes=1))

    def generate(self, asked: Asked) -> Generated:
        """What the solver finds.

        Args:
            asked: The row to explain, and what is wanted.
        """
        clock = time.perf_counter()
        problem = self._problem(asked.factual, asked.target)
        result = self._solved(problem, Limits(seconds=asked.seconds, solutions=asked.k))
        rows: Numbers = np.array([answer.row for answer in result.solutions]).reshape(-1, len(problem.schema))
        return Generated(
            problem.schema.decode(rows),
            time.perf_counter() - clock,
            proved=result.status in ("optimal", "infeasible"),
            claimed=tuple(float(answer.log_likelihood) for answer in result.solutions),
        )

    def _problem(self, factual: pd.DataFrame, target: Any) -> Problem:
        data = self._data
        numbers = data.schema.encode(factual)[0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LikelyWarning)  # a row may lie outside of the domains
            schema = data.schema.widened(numbers)
        plausibility = Plausibility(data.circuit, lower=self._least, approximate=True)
        return Problem(schema, numbers, self._form, to_class(self._form, target), plausibility)

    def _solved(self, problem: Problem, limits: Limits) -> Result:
        from likely import mio

        return mio.solve(problem, limits, formulation="paper", test=False)
