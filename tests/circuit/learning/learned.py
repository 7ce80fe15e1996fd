"""What the tests of `learn` share: a known density, quiet learning, and what every learned circuit is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import logsumexp

from likely.circuit import learn
from likely.circuit.queries.sample import sample_rows

METHODS = ("mixture", "learnspn")
#: Where it does not matter what is learned: no trials of sizes.
SMALL: dict[str, Any] = {"method": "mixture", "nodes": 20}
SMALL_BY_METHOD: dict[str, dict[str, Any]] = {"mixture": SMALL, "learnspn": {"method": "learnspn"}}


def quiet(X: Any, y: Any = None, schema: Any = None, **settings_: Any) -> Any:
    return learn(X, y, schema, **{"progress": False, **settings_})


def check_sound(learned: Any, X: pd.DataFrame, y: Any = None) -> None:
    """A normalised circuit that covers its features and nothing else, and gives every row a density."""
    report = learned.circuit.check()
    assert report.normalised
    assert report.inside == pytest.approx(1, abs=1e-9)
    assert not report.outside
    draws = sample_rows(learned.circuit, 50, np.random.default_rng(0))
    assert all(variable.fits(draws[:, j]).all() for j, variable in enumerate(learned.circuit.variables))
    assert not report.uncovered
    logs = learned.circuit.log_likelihood(X, y)
    assert np.isfinite(logs).all()
    assert math.isfinite(learned.train)
    assert not learned.interrupted


SHARES = np.array([0.5, 0.3, 0.2])
CENTRES = np.array([[0.0, 5.0], [4.0, 1.0], [8.0, 9.0]])
COLOURS = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.1, 0.6]])
GRANTED = np.array([0.9, 0.2, 0.5])


def drawn(seed: int, count: int) -> tuple[pd.DataFrame, pd.Series]:
    """Three clusters: a real number, a whole one, a colour, and a class."""
    rng = np.random.default_rng(seed)
    group = rng.choice(3, count, p=SHARES)
    X = pd.DataFrame(
        {
            "size": rng.normal(CENTRES[group, 0], 1.0),
            "visits": rng.poisson(CENTRES[group, 1]),
            "colour": np.array(["blue", "green", "red"])[
                (rng.random((count, 1)) > COLOURS.cumsum(axis=1)[group, :-1]).sum(axis=1)
            ],
        }
    )
    return X, pd.Series(rng.random(count) < GRANTED[group], name="granted")


def true_logs(X: pd.DataFrame, y: pd.Series) -> np.ndarray:
    parts = [
        math.log(SHARES[g])
        + stats.norm(CENTRES[g, 0], 1.0).logpdf(X["size"])
        + stats.poisson(CENTRES[g, 1]).logpmf(X["visits"])
        + np.log(COLOURS[g, X["colour"].map({"blue": 0, "green": 1, "red": 2}).to_numpy(int)])
        + np.log(np.where(y, GRANTED[g], 1 - GRANTED[g]))
        for g in range(3)
    ]
    return np.asarray(logsumexp(parts, axis=0))
