"""The nearest row of a table that is an answer already: what can be said without any search.

It answers the same question: it keeps the same rules, reaches the same class, is as likely as was asked for, and its cost is the
same function. Where answers keep what the model does not read, it is taken with these values as the row that is explained has
them: no row of a table would have just those. So an answer can be compared with it number by number, and one that is proved to be
the best can never be costlier.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from likely.circuit import Circuit
from likely.explain import Explainer, Explanation
from likely.predictor import Form
from likely.problem import Coherence, Plausibility, to_class
from likely.schema.values import Numbers, Value


@dataclass(frozen=True, eq=False)
class Pool:
    """The complete rows of a table, as doubles, with what the model computes of them and how likely they are."""

    form: Form
    circuit: Circuit
    rows: Numbers
    scores: Numbers
    #: The log-likelihood of each row together with the class that the model gives it.
    log_likelihoods: Numbers
    #: Where each row is in the table, from 0.
    places: NDArray[np.intp]

    def keeping(self, factual: Numbers, columns: Sequence[int]) -> Pool:
        """The same rows, with what another row has in some columns; the model must not read these.

        Args:
            factual: The other row, as doubles.
            columns: Places of features.
        """
        if not columns:
            return self
        rows = self.rows.copy()
        rows[:, columns] = factual[list(columns)]
        return replace(self, rows=rows, log_likelihoods=_log_likelihoods(self.form, self.circuit, rows))

    @classmethod
    def of(cls, explainer: Explainer, X: pd.DataFrame) -> Pool:
        """The rows of a table, seen by a fitted explainer.

        Args:
            explainer: It has the schema, the model's form and the circuit.
            X: The table, in the user's columns.
        """
        rows = explainer.schema_.encode(X)
        places = np.flatnonzero(~np.isnan(rows).any(axis=1))
        rows, form, circuit = rows[places], explainer.form_, explainer.circuit_
        return cls(form, circuit, rows, form.score(rows), _log_likelihoods(form, circuit, rows), places)


def _log_likelihoods(form: Form, circuit: Circuit, rows: Numbers) -> Numbers:
    """Of each row together with the class that the model gives it."""
    return circuit.log_likelihood(rows, form.predict(rows) if circuit.target is not None else None)


@dataclass(frozen=True)
class Nearest:
    """A row of the table that answers a question, but for what the answers to it keep because the model does not read it."""

    #: Where it is in the table, from 0.
    place: int
    label: Value
    #: What was minimised: cost - weight * log-likelihood.
    objective: float
    cost: float


def nearest_row(explanation: Explanation, pool: Pool) -> Nearest | None:
    """The row of a table that answers the question of an explanation best; None if no row does.

    Args:
        explanation: Whose question is asked.
        pool: The rows of the table, seen by the explainer that was asked.
    """
    query, form = explanation.query, pool.form
    pool = pool.keeping(query.factual, [query.schema.index(name) for name in query.kept])
    admitted = query.schema.admits(query.factual, pool.rows)
    costs = query.schema.prices(query.factual, pool.rows)
    best: Nearest | None = None
    for label in form.classes if query.target is None else (query.target,):
        if label == query.label:
            continue
        lower = dict(explanation.thresholds).get(label, -math.inf)
        plausibility = Plausibility(pool.circuit, lower, query.total_weight, query.given)
        target = plausibility.target_of(form, form.classes.index(label))
        logs = pool.log_likelihoods - plausibility.log_given(query.factual, target)
        answers = admitted & to_class(form, label, margin=explanation.margin).met(pool.scores) & (logs >= lower)
        fit = dict(explanation.coherence_thresholds).get(label)
        if fit is not None:
            answers &= Coherence(pool.circuit, fit).coherences(pool.rows, target) >= fit
        if not answers.any():
            continue
        objectives = costs - plausibility.weight * logs if plausibility.weight else costs
        place = int(np.argmin(np.where(answers, objectives, np.inf)))
        if best is None or objectives[place] < best.objective:
            best = Nearest(int(pool.places[place]), label, float(objectives[place]), float(costs[place]))
    return best
