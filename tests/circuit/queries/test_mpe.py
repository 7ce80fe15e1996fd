"""Most probable completions: against the best of all completions, and what is said of them."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.circuit import (
    Bernoulli,
    Categories,
    Circuit,
    Coded,
    GaussianBlock,
    Histogram,
    Leaf,
    Parametric,
    Product,
    Sum,
    Warp,
    complete,
    derivatives,
    log_likelihood,
)
from likely.circuit.queries import mpe
from likely.circuit.queries.mpe import candidates
from likely.schema import Binary, Categorical, Continuous, Integer, Mixed
from likely.schema.region import EVERYTHING
from likely.schema.values import code_number
from tests import strategies
from tests.circuit.learning.learned import SMALL, drawn, quiet
from tests.oracles import circuits as oracle

ROUNDING = 1e-9


def with_unknowns(draw: Any, circuit: Circuit, count: int | None = None) -> np.ndarray:
    """A row of values with some of them unknown."""
    row = draw(strategies.value_rows(circuit, most=1))[0]
    size = {"min_size": 1} if count is None else {"min_size": count, "max_size": count}
    row[draw(st.lists(st.integers(0, len(row) - 1), unique=True, **size))] = np.nan
    return row  # type: ignore[no-any-return]


def best_of(circuit: Circuit, row: np.ndarray, choices: list[list[float]]) -> float:
    """The greatest log-likelihood of all ways to fill in the unknown values."""
    places = np.flatnonzero(np.isnan(row))
    filled = []
    for values in itertools.product(*(choices[j] for j in places)):
        filled.append(row.copy())
        filled[-1][places] = values
    return float(log_likelihood(circuit, np.array(filled)).max())


@given(st.data())
def test_what_every_completion_is(data: st.DataObject) -> None:
    """Known values are kept, the others are values; the likelihood is that of the row, and below what is proven."""
    circuit = data.draw(strategies.circuits(aligned=False))
    row = with_unknowns(data.draw, circuit)
    completion = complete(circuit, row[None, :])
    known = ~np.isnan(row)
    np.testing.assert_array_equal(completion.rows[0, known], row[known])
    for j in np.flatnonzero(~known):
        assert circuit.variables[j].fits(completion.rows[:, j])[0]
    np.testing.assert_allclose(
        completion.log_likelihood, oracle.log_likelihoods(circuit, completion.rows), rtol=ROUNDING, atol=ROUNDING
    )
    assert completion.log_likelihood[0] <= completion.upper[0]


@given(st.data())
def test_no_completion_exceeds_the_upper_bound_and_no_single_change_helps(data: st.DataObject) -> None:
    circuit = data.draw(strategies.circuits(small=True, parametric=False, aligned=False))
    row = with_unknowns(data.draw, circuit)
    completion = complete(circuit, row[None, :])
    values = [oracle.values_of(feature) for feature in circuit.variables]
    best = best_of(circuit, row, values)
    assert completion.log_likelihood[0] <= best + ROUNDING
    assert best <= completion.upper[0] + ROUNDING
    assert (completion.log_likelihood[0] > -math.inf) == (best > -math.inf)
    for j in np.flatnonzero(np.isnan(row)):
        single = completion.rows[0].copy()
        single[j] = np.nan
        assert best_of(circuit, single, values) <= completion.log_likelihood[0] + ROUNDING


@given(st.data())
def test_the_upper_bound_holds_with_parametric_leaves(data: st.DataObject) -> None:
    circuit = data.draw(strategies.circuits(aligned=False))
    row = with_unknowns(data.draw, circuit)
    completion = complete(circuit, row[None, :])
    for _ in range(5):
        other = data.draw(strategies.value_rows(circuit, most=1))
        other[0, ~np.isnan(row)] = row[~np.isnan(row)]
        assert log_likelihood(circuit, other)[0] <= completion.upper[0] + ROUNDING


@given(st.data())
def test_one_unknown_value_is_filled_in_by_the_best(data: st.DataObject) -> None:
    """Reals too: between breaks nothing changes."""
    circuit = data.draw(strategies.circuits(parametric=False, aligned=False))
    row = with_unknowns(data.draw, circuit, 1)
    (j,) = np.flatnonzero(np.isnan(row))
    leaves = [leaf for leaf in oracle.leaves_of(circuit).values() if leaf.variable == j]
    feature = circuit.variables[j]
    choices: list[list[float]] = [[]] * len(row)
    choices[j] = [v for leaf in leaves for v in oracle.witnesses(leaf, feature, feature.region)]
    assert complete(circuit, row[None, :]).log_likelihood[0] >= best_of(circuit, row, choices) - ROUNDING


@given(st.data())
def test_a_single_branch_is_completed_exactly(data: st.DataObject) -> None:
    """One product of leaves, whole numbers and parametric ones too: each at its mode, and proven to be."""
    variables = [data.draw(strategies.features(f"f{j}")) for j in range(3)]
    leaves = [data.draw(strategies.leaves(feature, j)) for j, feature in enumerate(variables)]
    circuit = Circuit(tuple(variables), (*leaves, Product((0, 1, 2))))
    row = with_unknowns(data.draw, circuit)
    completion = complete(circuit, row[None, :])
    modes = []
    for leaf, feature, v in zip(leaves, variables, row.tolist(), strict=True):
        points = [v] if not math.isnan(v) else oracle.witnesses(leaf, feature, feature.region)
        values = [p for p in points if not math.isnan(v) or feature.fits(np.array([p]))[0]]
        modes.append(max(max(oracle.density(leaf, p), circuit.floor) for p in values))
    assert completion.log_likelihood[0] == pytest.approx(math.fsum(map(math.log, modes)), rel=1e-9, abs=1e-6)
    if all(oracle.peak(leaf) is None or oracle.step_of(f) is None for leaf, f in zip(leaves, variables, strict=True)):
        assert completion.upper[0] == pytest.approx(completion.log_likelihood[0], rel=1e-9, abs=1e-9)


def test_climbing_beats_the_best_branch() -> None:
    """The heaviest branch peaks at "a"; but two lighter ones agree on "b", which is more probable."""
    nodes = (
        Categories(0, (1.0, 0.0)), Categories(0, (0.0, 1.0)), Categories(0, (0.1, 0.9)), Sum((0, 1, 2), (0.4, 0.3, 0.3)),
    )  # fmt: skip
    circuit = Circuit((Categorical("c", ("a", "b")),), nodes)
    completion = complete(circuit, np.array([[np.nan]]))
    assert completion.rows.tolist() == [[1.0]]
    assert completion.log_likelihood == pytest.approx([math.log(0.57)])
    assert completion.upper[0] >= completion.log_likelihood[0]


def test_many_rows_and_none() -> None:
    nodes = (Histogram(0, (0, 1, 3), (0.8, 0.1)), Bernoulli(1, 0.75), Product((0, 1)))
    circuit = Circuit((Continuous("x", 0, 3),), nodes, Binary("y"))
    rows = np.array([[np.nan, np.nan], [2.0, np.nan], [np.nan, 0.0], [2.0, 0.0]])
    completion = complete(circuit, rows)
    np.testing.assert_allclose(completion.rows, [[0.5, 1.0], [2.0, 1.0], [0.5, 0.0], [2.0, 0.0]])
    np.testing.assert_allclose(completion.log_likelihood, np.log([0.6, 0.075, 0.2, 0.025]))
    np.testing.assert_allclose(completion.upper, completion.log_likelihood)
    empty = complete(circuit, np.empty((0, 2)))
    assert (empty.rows.shape, empty.log_likelihood.shape, empty.upper.shape) == ((0, 2), (0,), (0,))
    short = complete(circuit, np.array([[2.0]]))  # the class left out is unknown
    assert short.rows.tolist() == [[2.0, 1.0]]


def test_impossible_rows_stay_impossible() -> None:
    nodes = (Categories(0, (1.0, 0.0)), Bernoulli(1, 0.75), Product((0, 1)))
    circuit = Circuit((Categorical("c", ("a", "b")),), nodes, Binary("y"), 0.0)
    completion = complete(circuit, np.array([[1.0, np.nan]]))
    assert completion.log_likelihood.tolist() == completion.upper.tolist() == [-math.inf]
    assert not np.isnan(completion.rows).any()


@pytest.mark.parametrize(
    ("feature", "leaf", "expected"),
    [
        (Continuous("x", 0, 9), Parametric(0, "gaussian", 3.3, 1.0), 3.3),
        (Continuous("x", 5, 9), Parametric(0, "gaussian", 3.3, 1.0), 5.0),
        (Integer("n", 0, 9), Parametric(0, "gaussian", 3.3, 1.0), 3.0),
        (Integer("n", 3.5, 9.5), Parametric(0, "gaussian", 3.3, 1.0), 4.0),
        (Integer("n", 0, 9), Parametric(0, "poisson", 3.9), 3.0),
        (Continuous("x", 0.005, 9, step=0.01), Parametric(0, "exponential", 2.0), 0.01),
        (Continuous("x", 0, 9, step=0.01), Parametric(0, "gaussian", 0.0701, 1.0), 0.07),
        (Continuous("x", 0, 9, step=0.01), Histogram(0, (0.285, 0.295), (1.0,)), 0.29),
        (Mixed("m", 0, 9, [3], integer=True), Coded(0, (0.1,), Parametric(0, "gaussian", 3.3, 1.0)), 4.0),
        (Mixed("m", 0, 9, [-1]), Coded(0, (0.9,), Histogram(0, (0, 10), (0.1,))), code_number(0)),
        (Mixed("m", 0, 9, [-1]), Coded(0, (0.01,), Histogram(0, (0, 1), (1.0,))), 0.5),
    ],
)  # fmt: skip
def test_modes_of_single_leaves(feature: Any, leaf: Leaf, expected: float) -> None:
    circuit = Circuit((feature,), (leaf,))
    assert complete(circuit, np.array([[np.nan]])).rows[0, 0] == pytest.approx(expected, rel=1e-12)


@given(st.data())
def test_candidates_are_values_and_reach_every_cell(data: st.DataObject) -> None:
    circuit = data.draw(strategies.circuits(aligned=False))
    for j, feature in enumerate(circuit.variables):
        choices = candidates(circuit, j)
        assert feature.fits(choices).all()
        assert EVERYTHING.contains(choices).all()
        values = data.draw(strategies.value_rows(circuit))[:, j]
        reached = set(circuit.cells[j].cell(choices).tolist())
        if oracle.step_of(feature) is None or oracle.step_of(feature) == 1.0:
            assert set(circuit.cells[j].cell(values).tolist()) <= reached


def test_ties_end() -> None:
    """Equal choices are no improvement: the climb stops."""
    nodes = (Categories(0, (0.5, 0.5)), Categories(1, (0.5, 0.5)), Product((0, 1)), Sum((2, 2), (0.5, 0.5)))
    circuit = Circuit((Categorical("a", ("x", "y")), Categorical("b", ("x", "y"))), nodes)
    assert complete(circuit, np.full((1, 2), np.nan)).log_likelihood == pytest.approx([math.log(0.25)])


def test_a_multiple_beside_a_break_is_itself() -> None:
    """0.04 is where the bin ends: no double below it is a value of its own."""
    circuit = Circuit((Continuous("x", 0.01, 0.04, step=0.01),), (Histogram(0, (0.035, 0.04), (1.0,)),))
    assert candidates(circuit, 0).tolist() == [0.02, 0.03, 0.04]
    assert complete(circuit, np.array([[np.nan]])).log_likelihood.tolist() == [math.log(circuit.floor)]


def test_a_table_comes_back_as_a_table() -> None:
    X, y = drawn(0, 200)
    circuit = quiet(X, y, **SMALL).circuit
    table = X.drop(columns="visits").head(3).set_axis([7, 8, 9]).assign(granted=[True, False, None])
    table.loc[8, "colour"] = "violet"
    completed = complete(circuit, table).rows
    assert list(completed) == ["size", "visits", "colour", "granted"]
    assert completed.index.tolist() == [7, 8, 9]
    assert completed["size"].equals(table["size"])
    assert completed["colour"].tolist() == table["colour"].tolist()
    assert completed["granted"].tolist()[:2] == [True, False]
    assert completed["visits"].dtype == X["visits"].dtype
    assert not completed.isna().any(axis=None)


@pytest.mark.parametrize("seed", range(3))
def test_with_everything_hidden_no_row_of_the_table_is_likelier(seed: int) -> None:
    X, y = drawn(seed, 400)
    circuit = quiet(X, y, method="mixture", nodes=80).circuit
    best = complete(circuit, np.full((1, 4), np.nan))
    assert best.log_likelihood[0] >= circuit.log_likelihood(X, y).max() - ROUNDING


def test_what_many_components_agree_on_is_found() -> None:
    """Each component is greatest at a row of its own, from which no single change helps; all of them agree on another row."""
    many, places = 30, range(1, 31)
    tables = [tuple(0.49 if c == 0 else 0.51 if c == k else 0.0 for c in range(many + 1)) for k in places]
    leaves = tuple(Categories(j, table) for table in tables for j in (0, 1))
    pairs = tuple(Product((2 * k, 2 * k + 1)) for k in range(many))
    root = Sum(tuple(range(2 * many, 3 * many)), (1 / many,) * many)
    names = tuple(map(str, range(many + 1)))
    circuit = Circuit((Categorical("a", names), Categorical("b", names)), (*leaves, *pairs, root))
    completion = complete(circuit, np.full((1, 2), np.nan))
    assert completion.rows.tolist() == [[0.0, 0.0]]
    assert completion.log_likelihood == pytest.approx([2 * math.log(0.49)])


def test_where_many_blocks_cross_is_found() -> None:
    """Thin blocks along the diagonals of a cube, two on each: no change of one value leads along one of them to the centre."""
    spokes = []
    for signs in itertools.product((1.0, -1.0), repeat=3):
        along = np.array(signs) / math.sqrt(3)
        factor = np.linalg.cholesky(np.outer(along, along) + 0.05**2 * np.eye(3))
        lower = tuple(tuple(row[: i + 1].tolist()) for i, row in enumerate(factor))
        spokes.append(GaussianBlock((0, 1, 2), (Warp.identity(),) * 3, tuple(along.tolist()), lower))
    variables = tuple(Continuous(name, -9, 9) for name in "abc")
    circuit = Circuit(variables, (*spokes, Sum(tuple(range(8)), (1 / 8,) * 8)))
    completion = complete(circuit, np.full((1, 3), np.nan))
    assert completion.log_likelihood[0] >= log_likelihood(circuit, np.zeros((1, 3)))[0] - 0.01


def test_columns_that_move_together_do_not_hold_an_ascent_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Single changes zigzag along a thin block in ever smaller steps: thousands of them from a row that was drawn to its mean."""
    calls = []
    monkeypatch.setattr(mpe, "derivatives", lambda *given: (calls.append(given), derivatives(*given))[1])
    factors = [((1.0,), (0.9999, 0.01)), ((2.0,), (0.0, 2.0))]
    blocks = [GaussianBlock((0, 1), (Warp.identity(),) * 2, (0.0, 0.0), factor) for factor in factors]
    circuit = Circuit((Continuous("a", -9, 9), Continuous("b", -9, 9)), (*blocks, Sum((0, 1), (0.9, 0.1))))
    completion = complete(circuit, np.full((1, 2), np.nan))
    assert completion.log_likelihood == pytest.approx(log_likelihood(circuit, np.zeros((1, 2))), abs=1e-6)
    assert len(calls) < 1_000
