"""Judges of plausibility that no method optimises: local outlier factor, isolation forest, and a normalising flow.

They read rows as the network does: numbers scaled to [0, 1], a column of 0 and 1 per category.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

from likely.bench.classifier import encoder_of
from likely.schema import Schema
from likely.schema.values import Numbers

#: A judge learns from a sample of at most so many rows.
MOST_ROWS = 10_000
#: Neighbours that a local outlier factor looks at; fewer where there are fewer rows.
NEIGHBOURS = 20


class Densities:
    """What three judges say of rows, each learned from the training rows of one class.

    Args:
        schema: Of the rows.
        X: Training rows of one class.
        seed: Of what is drawn.
    """

    def __init__(self, schema: Schema, X: pd.DataFrame, seed: int = 0) -> None:
        from sklearn.ensemble import IsolationForest
        from sklearn.neighbors import LocalOutlierFactor

        if len(X) > MOST_ROWS:
            X = X.iloc[np.sort(np.random.default_rng(seed).choice(len(X), MOST_ROWS, replace=False))]
        self._schema = schema
        self._encoder: Any = encoder_of(schema).fit(X)
        points = self._encoder.transform(X)
        neighbours = max(1, min(NEIGHBOURS, len(points) - 1))
        self._factor = LocalOutlierFactor(n_neighbors=neighbours, novelty=True).fit(points)
        self._forest = IsolationForest(random_state=seed).fit(points)
        self._flow: Any = None
        if find_spec("torch") is not None:
            from likely.bench.flow import Flow

            self._flow = Flow(seed).fit(points)

    def scores(self, X: pd.DataFrame) -> dict[str, Numbers]:
        """What each judge says of each row.

        Args:
            X: The rows.

        Returns:
            "lof" (1 is as dense as its neighbours, more is an outlier), "isolation" (from 0 to 1, more is an outlier), and
            "flow", a log-density, where torch is installed.
        """
        points = self._encoder.transform(X)
        said = {"lof": -self._factor.score_samples(points), "isolation": -self._forest.score_samples(points)}
        return said if self._flow is None else {**said, "flow": self._flow.log_density(points)}
