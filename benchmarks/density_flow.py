"""The normalising flow of `likely.bench` beside other densities."""

from __future__ import annotations

from typing import Any

import numpy as np
from density_rivals import Density

from likely.bench import flow

Numbers = np.ndarray[Any, np.dtype[np.float64]]


class Flow(Density):
    """Couplings, one after another, onto a Gaussian."""

    def fit(self, rows: Numbers) -> Density:
        self.flow = flow.Flow().fit(rows)
        self.parameters = float(self.flow.parameters)
        return self

    def logs(self, rows: Numbers) -> Numbers:
        return self.flow.log_density(rows)
