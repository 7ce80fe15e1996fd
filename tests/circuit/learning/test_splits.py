"""Who is held out: a share of every class, rows with their copies, nobody twice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.circuit.learning.splits import FOLDS_OF_MANY, MOST_HELD_OUT, copies, held_out


def rows_of(count: int, seed: int = 0) -> np.ndarray:
    """A real and a category, some of both unknown."""
    random = np.random.default_rng(seed)
    rows = np.column_stack([random.normal(size=count), random.integers(0, 3, count).astype(float)])
    rows[:: max(count // 5, 1), 1] = np.nan
    return rows


@given(st.integers(2, 60), st.integers(1, 3), st.integers(0, 99))
def test_copies_are_one_group_numbered_as_they_come(count: int, times: int, seed: int) -> None:
    rows = rows_of(count, seed)
    order = np.random.default_rng(seed).permutation(np.repeat(np.arange(count), times))
    groups = copies(rows[order])
    for one, group in zip(order, groups, strict=True):
        assert np.array_equal(order[groups == group], np.full(times, one))
    firsts = np.unique(groups, return_index=True)[1]
    assert firsts.tolist() == sorted(firsts.tolist())
    if times == 1:
        assert groups.tolist() == list(range(count))


def test_equal_rows_of_a_discrete_table_are_no_copies() -> None:
    """New rows of it repeat known ones as well."""
    rows = np.random.default_rng(0).integers(0, 2, (400, 3)).astype(float)
    assert copies(rows).tolist() == list(range(400))


def test_zero_has_no_sign() -> None:
    rows = np.column_stack([[0.0, -0.0, 1.0, 2.0, 3.0], [7.0, 7.0, 8.0, 9.0, 9.5]])
    assert copies(rows).tolist() == [0, 0, 1, 2, 3]


@given(st.integers(2, 200), st.integers(0, 99))
def test_few_rows_are_held_out_once_each(count: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    classes = random.choice([0.0, 1.0, np.nan], count, p=[0.7, 0.2, 0.1])
    groups = np.arange(count)
    parts = list(held_out(groups, classes, random))
    every = np.concatenate([np.empty(0, dtype=int), *parts])
    assert len(set(every.tolist())) == len(every)
    if len(parts) > 1:
        assert sorted(every.tolist()) == list(range(count))
    assert all(0 < len(part) < count for part in parts)


@pytest.mark.parametrize(("count", "parts"), [(5_001, 2), (50_001, 1), (300_000, 1)])
def test_of_many_rows_a_part_is_held_out_with_every_class(count: int, parts: int) -> None:
    classes = np.zeros(count)
    classes[5::1000], classes[7] = 1, 2
    drawn = list(held_out(np.arange(count), classes, np.random.default_rng(0)))
    assert len(drawn) == parts
    assert set(classes[drawn[0]]) == {0, 1, 2}
    for part in drawn:
        assert len(part) == pytest.approx(min(count / FOLDS_OF_MANY, MOST_HELD_OUT), abs=3)
        assert np.mean(classes[part] == 1) == pytest.approx(0.001, abs=1.5 / len(part))


def test_groups_stay_together() -> None:
    groups = np.tile(np.arange(40), 3)
    parts = list(held_out(groups, np.zeros(120), np.random.default_rng(0)))
    assert sum(map(len, parts)) == 120
    for part in parts:
        assert len(part) == 3 * len(set(groups[part]))


@pytest.mark.parametrize("count", [1, 3])
def test_one_row_with_its_copies_is_not_held_out(count: int) -> None:
    assert list(held_out(np.zeros(count, dtype=np.intp), np.zeros(count), np.random.default_rng(0))) == []
