"""`Decision`: what the model says of a row as it is, and how likely the row is; nothing is searched."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likely.circuit import log_likelihood
from likely.explain.fitted import Fitted
from likely.explain.plausibility import Peers
from likely.schema.values import Numbers, Value


@dataclass(frozen=True)
class Decision:
    """What the model says of one row."""

    #: The class that the model gives it, or a regressor's prediction; None if a value is unknown.
    label: Value
    #: class -> its probability by the model itself; None if it gives none, or a value is unknown.
    probabilities: tuple[tuple[Value, float], ...] | None
    #: The natural logarithm of its likelihood together with its class; unknown values are summed over.
    log_likelihood: float
    #: How many percent of new rows of its class (of all, if it has none) are no likelier; None if a value is unknown.
    percentile: float | None


def decision_of(fitted: Fitted, row: Numbers) -> Decision:
    """What the model says of a row.

    Args:
        fitted: What the explainer knows.
        row: The row, as doubles; NaN where a value is unknown.
    """
    complete = not np.isnan(row).any()
    label = fitted.user_model.labels(row[None])[0] if complete else None
    log = _log_likelihood(fitted, row, label)
    if not complete:
        return Decision(None, None, log, None)
    classes = fitted.form.classes
    shares = fitted.user_model.probabilities(row[None]) if fitted.form.link.classifies else None
    named = None if shares is None else tuple(zip(classes, shares[0].tolist(), strict=True))
    number = classes.index(label) if fitted.form.link.classifies else None
    peers = Peers(fitted.training.rows_for(None), (), number)
    return Decision(label, named, log, fitted.training.percentile(log, peers))


def _log_likelihood(fitted: Fitted, row: Numbers, label: Value) -> float:
    target = fitted.circuit.target
    number = np.nan if target is None or label is None else target.number(label)
    return float(log_likelihood(fitted.circuit, (row if target is None else np.append(row, number))[None])[0])
