"""Tables by their bins."""

from __future__ import annotations

import numpy as np
import pytest

from likely.circuit.learning import binned
from likely.circuit.learning.binned import Binned
from likely.circuit.learning.bins import bins_of
from likely.circuit.learning.smoothing import Shrinkage
from likely.errors import CircuitError
from likely.schema import Categorical
from tests.circuit.learning.tables import clusters, table


def test_binned_rows() -> None:
    rows, features = clusters(0, 50)
    weights = np.random.default_rng(0).random(50)
    bins = bins_of(rows, features)
    table = Binned.of(rows, weights, bins)
    assert len(table) == 50
    assert table.offset.tolist() == [0, *np.cumsum([len(variable) + 1 for variable in bins])]
    for j, variable in enumerate(bins):
        place = variable.index(rows[:, j])
        assert table.places[:, j].tolist() == np.where(np.isnan(rows[:, j]), len(variable), place).tolist()
        known = place >= 0
        counts = np.bincount(place[known], weights[known], len(variable))
        np.testing.assert_allclose(table.shrinkage[j].marginal, Shrinkage.of(variable, counts).marginal)


def test_some_rows_keep_what_all_say_until_they_are_alone() -> None:
    whole = table(0, 60)
    part = whole.some(np.arange(0, 60, 2))
    assert part.places.tolist() == whole.places[::2].tolist()
    assert part.shrinkage is whole.shrinkage
    rows, features = clusters(0, 60)
    anew = Binned.of(rows[::2], np.ones(30), bins_of(rows, features))
    for one, other in zip(part.alone().shrinkage, anew.shrinkage, strict=True):
        assert one.marginal.tolist() == other.marginal.tolist()


def test_drawn_rows() -> None:
    whole = table(0, 60)
    assert whole.drawn(60, np.random.default_rng(0)) is whole
    part = whole.drawn(20, np.random.default_rng(0))
    assert len(part) == 20
    assert len({row.tobytes() for row in part.places} - {row.tobytes() for row in whole.places}) == 0


def test_more_values_than_can_be_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert np.iinfo(np.uint16).max == binned.MOST_BINS  # and that is the unknown
    monkeypatch.setattr(binned, "MOST_BINS", 3)
    rows = np.array([[np.nan], [2.0]])
    few = Binned.of(rows, np.ones(2), bins_of(rows, [Categorical("id", tuple("abc"))]))
    assert few.places.ravel().tolist() == [3, 2]
    message = (
        r"^Feature 'id' must have at most 3 values to learn from; got 4\. "
        r"Hint: drop it if it is an identifier, or join rare values\.$"
    )
    with pytest.raises(CircuitError, match=message):
        Binned.of(rows, np.ones(2), bins_of(rows, [Categorical("id", tuple("abcd"))]))
