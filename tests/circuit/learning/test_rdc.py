"""The randomised dependence coefficient: against a direct computation, and for what it promises."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, stats

from likely.circuit.learning.rdc import SMALLEST, dependence
from likely.schema import Binary, Categorical, Continuous, Feature, Integer, Mixed, Ordinal
from likely.schema.values import code_number

Column = np.ndarray
NUMBER = Continuous("x", -1e9, 1e9)
LETTERS = Categorical("c", tuple("abcdefghijklmnopqrstuvwxyz"))


def coefficient(x: Column, y: Column, *features: Feature, seed: int = 0, **settings: object) -> float:
    given_features = features or (NUMBER, NUMBER)
    return float(dependence(np.stack([x, y], axis=1), given_features, np.random.default_rng(seed), **settings)[0, 1])  # type: ignore[arg-type]


def copula(values: Column, feature: Feature) -> Column:
    """Ranks row by row, as the paper has them: ties at the highest, a column per category, per code too, and ones."""
    atoms = np.unique(values) if not feature.ordered else np.unique(values[values < -1e300])
    columns = [values] if feature.ordered else []
    columns += [(values == atom).astype(float) for atom in atoms]
    ranks = [stats.rankdata(column, method="max") / len(column) for column in columns]
    return np.stack([*ranks, np.ones(len(values))], axis=1)


def directly(rows: Column, features: Sequence[Feature], seed: int, functions: int, scale: float) -> Column:
    """Pair by pair: the root of the largest eigenvalue of Sxx^-1 Sxy Syy^-1 Syx, all rows written out.

    What is below SMALLEST is projected away first, and the rest scaled, because a covariance of doubles could not hold it.
    """
    rng = np.random.default_rng(seed)
    phis = []
    for j, feature in enumerate(features):
        u = copula(rows[:, j], feature)
        phi = np.sin(scale / u.shape[1] * u @ rng.standard_normal((u.shape[1], functions)))
        left, sizes, _ = linalg.svd(phi - phi.mean(axis=0), full_matrices=False)
        phis.append((left * np.sqrt(sizes))[:, sizes > SMALLEST * sizes[0]])
    coefficients = np.eye(len(features))
    for i, x in enumerate(phis):
        for j, y in enumerate(phis[:i]):
            across = x.T @ y
            largest = linalg.eigh(across @ linalg.solve(y.T @ y, across.T), x.T @ x, eigvals_only=True)[-1]
            coefficients[i, j] = coefficients[j, i] = np.sqrt(largest)
    return coefficients


def mixed_table(rng: np.random.Generator, count: int) -> tuple[Column, list[Feature]]:
    x = rng.normal(size=count)
    coded = np.where(rng.random(count) < 0.2, code_number(0), np.round(x, 1))
    coded[rng.random(count) < 0.1] = code_number(1)
    columns = {
        NUMBER: x,
        Integer("n", -9, 9): np.round(2 * x + rng.normal(size=count)),
        Categorical("c", tuple("abcd")): (rng.integers(0, 2, count) + 2 * (x > 0)).astype(float),
        Ordinal("o", (1, 2, 3)): np.digitize(x * x, [0.3, 1.0]).astype(float),
        Binary("b"): (rng.random(count) < 0.3).astype(float),
        Mixed("m", -9, 9, (-99, -98)): coded,
    }
    return np.stack(list(columns.values()), axis=1), list(columns)


@pytest.mark.parametrize(("functions", "scale"), [(20, 1 / 6), (3, 6.0), (5, 2.0), (1, 1.0)])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_largest_canonical_correlation(functions: int, scale: float, seed: int) -> None:
    rows, features = mixed_table(np.random.default_rng(seed), 400)
    coefficients = dependence(rows, features, np.random.default_rng(seed), functions=functions, scale=scale)
    assert coefficients == pytest.approx(directly(rows, features, seed, functions, scale), abs=1e-6)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: 3 - 2 * x,
        lambda x: (x - 0.5) ** 2,
        lambda x: np.sin(2 * np.pi * x),
        lambda x: np.exp(20 * x),
        lambda x: np.abs(x - 0.3),
        lambda x: np.round(4 * x),
    ],
    ids=["linear", "quadratic", "sine", "exponential", "absolute", "steps"],
)
@pytest.mark.parametrize("seed", range(3))
def test_a_function_of_a_column_depends_on_it(function: Callable[[Column], Column], seed: int) -> None:
    x = np.random.default_rng(seed).random(2000)
    assert coefficient(x, function(x), seed=seed) > 0.93
    assert coefficient(x, function(x), seed=seed, adjusted=True) > 0.93


@pytest.mark.parametrize("seed", range(3))
def test_functions_of_categories(seed: int) -> None:
    rng = np.random.default_rng(seed)
    letters = rng.integers(0, 20, 2000).astype(float)
    image = rng.permutation(20)[letters.astype(int)] % 7
    assert coefficient(letters, image.astype(float), LETTERS, LETTERS, seed=seed) == pytest.approx(1, abs=1e-6)
    assert coefficient(letters, image + 0.1 * rng.normal(size=2000), LETTERS, NUMBER, seed=seed) > 0.95


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("count", [60, 300, 3000])
def test_independent_columns(seed: int, count: int) -> None:
    """Below what random matrices allow; nearly 0 when that is taken away."""
    rng = np.random.default_rng(seed)
    features = [Continuous(f"x{j}", -9, 9) for j in range(6)] + [Categorical(f"c{j}", tuple("abcd")) for j in range(6)]
    rows = np.hstack([rng.normal(size=(count, 6)), rng.integers(0, 4, (count, 6))])
    apart = ~np.eye(12, dtype=bool)
    assert dependence(rows, features, rng)[apart].max() < 1.6 * np.sqrt(16 / count)
    adjusted = dependence(rows, features, rng, adjusted=True)[apart]
    assert adjusted.max() < 0.3 if count == 300 else adjusted.mean() < 0.15


@given(st.integers(0, 2**32), st.integers(2, 60))
@settings(max_examples=40)
def test_only_ranks_matter(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    rows = np.round(rng.normal(size=(count, 3)), rng.integers(0, 3))
    features = [Continuous(f"x{j}", -9, 9) for j in range(3)]
    moved = np.stack([np.exp(rows[:, 0]), rows[:, 1] ** 3 - 5, 7 * rows[:, 2]], axis=1)
    before, after = (dependence(table, features, np.random.default_rng(seed)) for table in (rows, moved))
    assert np.array_equal(before, after)


@given(st.integers(0, 2**32), st.integers(1, 40), st.sampled_from([0.0, 0.3, 0.9, 1.0]), st.booleans())
@settings(max_examples=60)
def test_it_is_a_symmetric_matrix_between_0_and_1(seed: int, count: int, missing: float, adjusted: bool) -> None:
    rng = np.random.default_rng(seed)
    rows, features = mixed_table(rng, count)
    rows[rng.random(rows.shape) < missing] = np.nan
    coefficients = dependence(rows, features, np.random.default_rng(seed), adjusted=adjusted)
    assert np.array_equal(coefficients, coefficients.T)
    assert ((coefficients >= 0) & (coefficients <= 1)).all()
    varied = [len(np.unique(column[~np.isnan(column)])) > 1 for column in rows.T]
    assert np.diag(coefficients) == pytest.approx(np.array(varied, dtype=float), abs=1e-9)
    assert not coefficients[~np.array(varied)].any()
    assert np.array_equal(coefficients, dependence(rows, features, np.random.default_rng(seed), adjusted=adjusted))


def test_a_constant_column_depends_on_nothing() -> None:
    x = np.arange(50.0)
    assert coefficient(x, np.full(50, 3.0)) == 0
    assert coefficient(x, np.full(50, np.nan)) == 0
    assert coefficient(x, x) == pytest.approx(1)
    assert dependence(np.zeros((5, 1)), [NUMBER], np.random.default_rng(0)).tolist() == [[0.0]]


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_unknown_cells_say_nothing(share: float) -> None:
    """Those of one column cost the root of their share; the values that are there decide the rest."""
    rng = np.random.default_rng(0)
    x = rng.random(5000)
    y, noise = x.copy(), rng.random(5000)
    y[rng.random(5000) < share] = noise[rng.random(5000) < share] = np.nan
    assert coefficient(x, y) == pytest.approx(np.sqrt(1 - share), abs=0.03)
    assert coefficient(x, noise) < 0.1


def test_an_unknown_cell_is_the_mean_of_its_features() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 300))
    y += x
    y[:100] = np.nan
    draws = np.random.default_rng(0)
    phis = []
    for column in (x, y):
        known = ~np.isnan(column)
        u = copula(column[known], NUMBER)
        phi = np.sin(3.0 * u @ draws.standard_normal((2, 3)))
        filled = np.tile(phi.mean(axis=0), (300, 1))
        filled[known] = phi
        phis.append(filled - filled.mean(axis=0))
    angle = linalg.subspace_angles(*phis)[-1]
    assert coefficient(x, y, functions=3, scale=6.0) == pytest.approx(np.cos(angle), abs=1e-9)


def test_codes_are_no_small_numbers() -> None:
    """A mixed column where both codes mean the opposite of what their rank says."""
    rng = np.random.default_rng(0)
    which = rng.integers(0, 4, 4000)
    values = np.choose(which, [code_number(1), code_number(0), 1.0, 2.0])
    letters = np.array([0, 1, 0, 1])[which].astype(float)
    assert coefficient(values, letters, Mixed("m", 0, 9, (-9, -8)), Categorical("c", tuple("ab"))) == pytest.approx(1, abs=1e-6)


def test_many_rows_are_sampled() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3000, 2))
    rows[:, 1] += rows[:, 0]
    features = [NUMBER, Integer("y", -99, 99)]
    all_rows = dependence(rows, features, np.random.default_rng(1))[0, 1]
    some = [dependence(rows, features, np.random.default_rng(seed), most_rows=1000)[0, 1] for seed in (1, 1, 2)]
    assert some[0] == some[1] != some[2]
    assert some == pytest.approx([all_rows] * 3, abs=0.1)
