"""What is unusual about a row: conditionals of its parts given the rest, and how well the parts fit together."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from likely.circuit.model.circuit import Circuit
from likely.circuit.queries.evaluate import log_likelihood
from likely.schema.values import Name, Numbers


def log_conditionals(
    circuit: Circuit, rows: pd.DataFrame | Numbers, groups: Sequence[Collection[Name]], *, n_jobs: int | None = None
) -> Numbers:
    """log p(x_g | all other values of the row) of each row and each group g of variables, exactly.

    With x_-g the row without the group, it is log p(x) - log p(x_-g). What is unknown is summed over in both.

    Args:
        circuit: The distribution.
        rows: A table with its columns, or encoded rows (`circuit.encode`).
        groups: Names of variables, one or several each.
        n_jobs: Threads to work on; None or -1 for one per core. The same bits on any number.

    Returns:
        Row x group.
    """
    encoded = circuit.encode(rows)
    whole = log_likelihood(circuit, encoded, n_jobs=n_jobs)
    logs = np.empty((len(encoded), len(groups)))
    for g, group in enumerate(groups):
        rest = encoded.copy()
        rest[:, [circuit.index(name) for name in group]] = np.nan
        logs[:, g] = whole - log_likelihood(circuit, rest, n_jobs=n_jobs)
    return logs


def coherence(circuit: Circuit, rows: pd.DataFrame | Numbers, *, n_jobs: int | None = None) -> Numbers:
    """How well the values of each row fit together: log p(x) - sum_j log p(x_j), over the values that are known.

    The pointwise total correlation (Watanabe 1960; of two variables, their pointwise mutual information). It is 0 where the
    variables are independent, and negative where values that are common alone are rare together. It says nothing
    about values that are rare alone: look at the log-likelihood too. An impossible row has -inf.

    Args:
        circuit: The distribution.
        rows: A table with its columns, or encoded rows (`circuit.encode`).
        n_jobs: Threads to work on; None or -1 for one per core. The same bits on any number.

    Returns:
        A number per row, in nats.
    """
    encoded = circuit.encode(rows)
    if len(encoded) == 1:
        return _coherence_of_one(circuit, encoded, n_jobs)
    whole = log_likelihood(circuit, encoded, n_jobs=n_jobs)
    total = np.zeros(len(encoded))
    for j in range(len(circuit.variables)):
        values, which = np.unique(encoded[:, j], return_inverse=True)  # NaN, of likelihood 1, is one of them
        alone = np.full((len(values), len(circuit.variables)), np.nan)
        alone[:, j] = values
        total += log_likelihood(circuit, alone, n_jobs=n_jobs)[which]
    return np.where(whole > -np.inf, whole - np.where(whole > -np.inf, total, 0.0), -np.inf)


def _coherence_of_one(circuit: Circuit, row: Numbers, n_jobs: int | None) -> Numbers:
    """The same of a single row, which asks the circuit once: answers are judged one at a time."""
    alone = np.full((len(circuit.variables),) * 2, np.nan)
    np.fill_diagonal(alone, row)
    whole, *parts = log_likelihood(circuit, np.concatenate([row, alone]), n_jobs=n_jobs).tolist()
    total = 0.0
    for part in parts:  # in the order in which it is summed for many rows: to the same bit
        total += part
    return np.array([whole - total if whole > -np.inf else -np.inf])
