"""Measures of answers, counted again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likely
from likely.bench import metrics
from likely.schema.grid import is_multiple
from likely.schema.values import Numbers

SCHEMA = likely.Schema(
    (
        likely.Continuous("income", 0.0, 100.0, step=0.5),
        likely.Integer("age", 18, 90),
        likely.Categorical("job", ("a", "b", "c")),
        likely.Continuous("ratio", 0.0, 1.0),
    )
)
ROWS = st.lists(
    st.tuples(st.floats(0, 100), st.floats(18, 90), st.sampled_from([0.0, 1.0, 2.0]), st.floats(0, 1)), min_size=1, max_size=6
).map(np.array)


@given(ROWS)
def test_changes_are_counted_feature_by_feature(rows: Numbers) -> None:
    factual = rows[0]
    counts = metrics.changed(SCHEMA, factual, rows)
    spans = (100.0, 72.0, 0.0, 1.0)
    for row, count in zip(rows, counts, strict=True):
        assert count == sum(abs(a - b) > 1e-9 * span for a, b, span in zip(row, factual, spans, strict=True))
    assert counts[0] == 0


def test_rounding_errors_are_no_changes() -> None:
    factual = np.array([10.0, 30.0, 1.0, 0.3])
    rows = np.array([[10.0 + 1e-12, 30.0, 1.0, 0.1 + 0.2], [10.5, 30.0, 2.0, 0.3]])
    assert metrics.changed(SCHEMA, factual, rows).tolist() == [0, 2]


@given(ROWS)
def test_rounded_rows_are_values(rows: Numbers) -> None:
    made = metrics.rounded(SCHEMA, rows)
    assert is_multiple(made[:, 0], 0.5).all()
    assert (made[:, 1] % 1 == 0).all()
    assert (made[:, 2:] == rows[:, 2:]).all()
    assert (np.abs(made[:, :2] - rows[:, :2]) <= [0.25 + 1e-9, 0.5 + 1e-9]).all()
    assert (metrics.rounded(SCHEMA, made) == made).all()


@given(ROWS)
def test_diversity_is_the_mean_over_pairs(rows: Numbers) -> None:
    found = metrics.diversity(SCHEMA, rows)
    pairs = [SCHEMA.prices(one, other[None])[0] for i, one in enumerate(rows) for j, other in enumerate(rows) if i != j]
    assert found == pytest.approx(np.mean(pairs)) if pairs else np.isnan(found)


@given(ROWS)
def test_the_nearest_row(rows: Numbers) -> None:
    row = np.array([50.0, 40.0, 1.0, 0.5])
    assert metrics.nearest_distance(SCHEMA, row, rows) == min(float(SCHEMA.prices(row, one[None])[0]) for one in rows)
    assert metrics.nearest_distance(SCHEMA, row, np.vstack([rows, row])) == 0
    assert metrics.nearest_distance(SCHEMA, row, rows[:0]) == np.inf


def test_noise_leaves_categories_and_bounds() -> None:
    row = np.array([99.9, 18.0, 2.0, 0.5])
    made = metrics.noisy(SCHEMA, row, np.array([5.0, 3.0, 1.0, 0.1]), 500, np.random.default_rng(0))
    assert (made[:, 2] == 2.0).all()
    assert (made >= [0, 18, 2, 0]).all()
    assert (made <= [100, 90, 2, 1]).all()
    assert made[:, 3].std() == pytest.approx(0.1, rel=0.2)
    still = metrics.noisy(SCHEMA, row, np.zeros(4), 3, np.random.default_rng(0))
    assert (still == row).all()


def test_the_likeliest_valid_one() -> None:
    logs = np.array([-3.0, -1.0, -2.0])
    assert metrics.likeliest(logs, np.array([True, False, True])) == 2
    assert metrics.likeliest(logs, np.array([False, False, False])) is None


def test_shares_and_errors() -> None:
    assert metrics.share(["a", "b", "a", "a"], "a") == 0.75
    assert np.isnan(metrics.share([], "a"))
    assert metrics.approximation_error(-3.5, -3.0) == 0.5
