"""Circuits of folds: what they have not seen, they have not seen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import likely
from likely.circuit import learn
from likely.circuit.learning import model_selection


def table(count: int = 120, seed: int = 0) -> tuple[pd.DataFrame, pd.Series[Any]]:
    random = np.random.default_rng(seed)
    y = random.random(count) < 0.4
    X = pd.DataFrame({"a": random.normal(y, 1), "b": random.integers(0, 4, count), "c": random.choice(["x", "y"], count)})
    return X, pd.Series(y, name="class")


@pytest.mark.parametrize("method", ["mixture", "learnspn"])
def test_every_row_is_unseen_by_one_circuit(method: Any) -> None:
    X, y = table()
    learned = learn(X, y, method=method, cross_fit=True, progress=False)
    assert sorted(np.concatenate([fold.rows for fold in learned.folds]).tolist()) == list(range(len(X)))
    assert learned.circuit == learn(X, y, method=method, progress=False).circuit


def test_a_circuit_of_a_fold_is_the_same_whatever_the_rows_held_out_are() -> None:
    """Neither their values nor bins that they would have made are known to it."""
    X, y = table()
    schema = likely.Schema((likely.Continuous("a", -20, 20), likely.Integer("b", 0, 9), likely.Categorical("c", ("x", "y"))))
    first = learn(X, y, schema, nodes=20, cross_fit=True, progress=False).folds[0]
    other = X.copy()
    other.loc[first.rows, "a"] += 5
    other.loc[first.rows, "b"] = 9
    again = learn(other, y, schema, nodes=20, cross_fit=True, progress=False).folds[0]
    assert again.rows.tolist() == first.rows.tolist()
    assert again.circuit == first.circuit


def test_rows_that_do_not_count_are_not_held_out() -> None:
    X, y = table()
    weights = np.tile([1.0, 0.0, 2.0], 40)
    folds = learn(X, y, nodes=20, weights=weights, cross_fit=True, progress=False).folds
    assert sorted(np.concatenate([fold.rows for fold in folds]).tolist()) == np.flatnonzero(weights).tolist()


def test_copies_are_held_out_together() -> None:
    X, y = table(60)
    twice = pd.concat([X, X], ignore_index=True), pd.concat([y, y], ignore_index=True)
    for fold in learn(*twice, nodes=20, cross_fit=True, progress=False).folds:
        assert set(fold.rows % 60) == set(fold.rows[fold.rows < 60])
        assert len(fold.rows) == 2 * len(set(fold.rows % 60))


def test_unasked_nothing_is_held_out() -> None:
    assert learn(*table(), nodes=20, progress=False).folds == ()


def test_an_interrupt_keeps_the_folds_until_then(monkeypatch: pytest.MonkeyPatch) -> None:
    fitted, fits = model_selection.mixture.fit, []

    def interrupted(*args: Any, **settings: Any) -> Any:
        fits.append(fitted(*args, **settings))
        return fits[-1] if len(fits) < 9 else replace(fits[-1], interrupted=True)

    monkeypatch.setattr(model_selection.mixture, "fit", interrupted)
    # Five trials, all rows, two folds, and a third.
    learned = learn(*table(), method="mixture", nodes=20, cross_fit=True, progress=False)
    assert not learned.interrupted
    assert len(learned.folds) == 2
