"""The bins that learners see, and the leaves that they make: a bin holds the values that it has room for."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.circuit.bins import bins_of
from likely.circuit.measure import mass
from likely.schema import Continuous, Integer, Mixed
from likely.schema.values import LARGEST, code_number
from tests import strategies
from tests.oracles import circuits as oracle


@given(st.data())
def test_leaves_of_bins_have_mass_one_over_all_values(data: st.DataObject) -> None:
    """What lies within the bounds, and what a tail has beyond them."""
    feature = data.draw(strategies.features("f"))
    values = np.array(data.draw(st.lists(st.one_of(strategies.numbers(feature), st.just(np.nan)), min_size=1, max_size=30)))
    (found,) = bins_of(values[:, None], [feature])
    assert (found.room > 0).all()
    shares = np.array(data.draw(st.lists(st.integers(1, 9), min_size=len(found), max_size=len(found))), dtype=np.float64)
    leaf = found.leaf(0, shares)
    assert mass(leaf, feature) == pytest.approx(1, abs=1e-9)
    known = values[~np.isnan(values)]
    expected = shares[found.index(known)] / shares.sum() / found.room[found.index(known)]
    np.testing.assert_allclose([oracle.density(leaf, v) for v in known.tolist()], expected, rtol=1e-9)
    assert (found.index(np.array([np.nan])) == [-1]).all()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("step", [0.01, 0.05, 0.1, 1 / 3, 2.5])
def test_every_multiple_of_a_step_has_its_own_bin_however_it_was_computed(step: float, dtype: Any) -> None:
    feature = Continuous("x", 0, float(np.dtype(dtype).type(100 * step)), step=step, dtype=dtype)
    for values in (np.arange(101) * step, np.array([oracle.multiple(k, step) for k in range(101)])):
        column = values.astype(dtype).astype(np.float64)
        (found,) = bins_of(column[:, None], [feature])
        counts = Counter(found.index(column).tolist())
        assert set(counts.values()) == {1}
        assert np.allclose(found.room[sorted(counts)], step)


@given(st.data())
def test_small_features_sum_to_one(data: st.DataObject) -> None:
    """Over the values within the bounds, with the tails, which lie beyond, left empty."""
    feature = data.draw(strategies.small_features("f"))
    values = np.array(oracle.values_of(feature))
    (found,) = bins_of(values[:, None], [feature])
    shares = np.bincount(found.index(values), minlength=len(found)).astype(np.float64)
    leaf = found.leaf(0, shares)
    total = sum(oracle.Fraction(oracle.density(leaf, v)) * oracle.room_of(feature, v) for v in values.tolist())
    assert float(total) == pytest.approx(1, abs=1e-9)


def test_codes_come_first_and_their_numbers_have_no_bin() -> None:
    feature = Mixed("m", 0, 9, [-1, 4], integer=True)
    values = np.array([code_number(0), code_number(1), 3.0, 5.0])
    (found,) = bins_of(values[:, None], [feature])
    assert found.codes == 2
    assert found.index(values)[:2].tolist() == [0, 1]
    assert len(set(found.index(values).tolist())) == 4
    numbers = [v for v in oracle.values_of(feature) if v > -LARGEST]
    assert 4.0 not in numbers
    inside = set(found.index(np.array(numbers)).tolist())
    assert all(found.room[k] >= 1 for k in inside)


def test_one_value_has_room() -> None:
    for feature in (Continuous("x", 5, 5), Continuous("x", 0, 0), Integer("n", 5, 5)):
        value = np.array([feature.lower])
        (found,) = bins_of(value[:, None], [feature])
        assert 0 < mass(found.leaf(0, np.ones(len(found))), feature) < np.inf
        assert np.isfinite(1 / found.room).all()
