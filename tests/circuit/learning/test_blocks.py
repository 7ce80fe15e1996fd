"""Mixtures of warped Gaussian blocks: they recover what rows were drawn from, and no odd table breaks them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import load_wine

from likely import Schema
from likely.circuit import Circuit, GaussianBlock, learn
from likely.circuit.learning import blocks, blocks_selection, blocks_start, model_selection
from likely.circuit.learning.binned import Binned
from likely.circuit.learning.bins import bins_of
from likely.circuit.learning.blocks import BlockTable, Settings
from likely.circuit.learning.blocks_selection import Plan
from likely.circuit.learning.blocks_warps import Curve
from likely.circuit.learning.model_selection import Judged, clearly_better, steadily_better
from likely.circuit.learning.table import Table, table_of
from likely.errors import CircuitError, LikelyWarning
from likely.schema import Categorical, Continuous, Mixed
from likely.schema.values import Numbers

#: Every example learns a few dozen mixtures.
SLOW = 8

Gaussian = tuple[float, Numbers, Numbers]  # weight, mean, factor


def gaussian_logs(z: Numbers, mean: Numbers, factor: Numbers) -> Numbers:
    away = np.linalg.solve(factor, (z - mean).T)
    return -(away**2).sum(axis=0) / 2 - np.log(np.diag(factor)).sum() - len(factor) / 2 * math.log(2 * math.pi)


def drawn(parts: list[Gaussian], count: int, seed: int) -> tuple[pd.DataFrame, Numbers, Numbers]:
    """Rows of a mixture, the part of each, and its true log-density."""
    rng = np.random.default_rng(seed)
    part = rng.choice(len(parts), count, p=[weight for weight, _, _ in parts])
    z = np.stack([parts[k][1] + parts[k][2] @ rng.normal(size=len(parts[k][1])) for k in part])
    logs = np.logaddexp.reduce([math.log(weight) + gaussian_logs(z, mean, factor) for weight, mean, factor in parts], axis=0)
    return pd.DataFrame(z, columns=[f"x{j}" for j in range(z.shape[1])]), part, logs


def wide(X: pd.DataFrame) -> Schema:
    """A schema whose bounds are far from all rows."""
    return Schema(tuple(Continuous(name, -1e6, 1e6) for name in X.columns))


def bounded(X: pd.DataFrame) -> Schema:
    """A schema of numbers, in which an unknown cell is one that is summed over, and no code."""
    return Schema(tuple(Continuous(name, X[name].min() - 1e-3, X[name].max() + 1e-3) for name in X.columns))


def quietly(X: pd.DataFrame, y: Any = None, schema: Schema | None = None, **options: Any) -> Circuit:
    return learn(X, y, schema, method="blocks", progress=False, n_jobs=1, **options).circuit


ONE: list[Gaussian] = [(1.0, np.array([1.0, -2.0, 3.0]), np.array([[1.0, 0, 0], [0.9, 0.3, 0], [-0.5, 0.2, 0.5]]))]
TWO: list[Gaussian] = [
    (0.6, np.array([0.0, 0.0]), np.array([[1.0, 0.0], [0.9, 0.3]])),
    (0.4, np.array([5.0, 0.0]), np.array([[0.5, 0.0], [-0.6, 0.4]])),
]


@pytest.mark.parametrize("parts", [ONE, TWO], ids=["one", "two"])
def test_known_gaussians_are_recovered(parts: list[Gaussian]) -> None:
    X, _, _ = drawn(parts, 1_000, 0)
    unseen, _, true = drawn(parts, 2_000, 1)
    circuit = quietly(X, schema=wide(X))
    gap = true - circuit.log_likelihood(unseen)
    assert -0.02 <= gap.mean() <= 0.06


def test_a_lognormal_column_is_warped() -> None:
    X, _, _ = drawn(TWO, 1_000, 0)
    unseen, _, true = drawn(TWO, 2_000, 1)
    warped, unseen_warped = np.exp(X), np.exp(unseen)
    schema = Schema(tuple(Continuous(name, 0, 1e6) for name in X.columns))
    circuit = quietly(warped, schema=schema)
    gap = (true - unseen.sum(axis=1)) - circuit.log_likelihood(unseen_warped)
    assert gap.mean() <= 0.25


def test_components_start_in_the_classes_and_know_them() -> None:
    X, part, _ = drawn(TWO, 600, 0)
    y = np.where(part == 0, "a", "b")
    unseen, there, _ = drawn(TWO, 1_000, 1)
    circuit = quietly(X, y, wide(X))
    with_class = circuit.log_likelihood(unseen, np.where(there == 0, "a", "b"))
    true = np.array(
        [math.log(TWO[k][0]) + gaussian_logs(row[None], *TWO[k][1:])[0] for k, row in zip(there, unseen.to_numpy(), strict=True)]
    )
    assert (true - with_class).mean() <= 0.1
    assert circuit.check().normalised


@settings(max_examples=SLOW)
@given(st.integers(0, 2**31))
def test_never_worse_than_independent_columns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(400, 3)) @ rng.normal(size=(3, 3))
    z[:, 0] = np.exp(z[:, 0] / 2)
    X = pd.DataFrame(z, columns=list("abc"))
    schema = Schema.infer(X)
    train, test = X.iloc[:300], X.iloc[300:]
    alone = learn(train, None, schema, method="mixture", nodes=1, progress=False).circuit
    assert quietly(train, None, schema).log_likelihood(test).mean() >= alone.log_likelihood(test).mean() - 0.05


# -- odd tables -------------------------------------------------------------------------------------------------------


def odd(kind: str) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    z = rng.normal(size=(120, 4)) @ np.array([[1, 0.8, 0, 0], [0, 0.6, 0, 0], [0, 0, 1, 0.5], [0, 0, 0, 1.0]])
    X = pd.DataFrame(z, columns=list("abcd"))
    if kind == "constant":
        X["e"] = 3.25
    elif kind == "copy":
        X["e"], X["f"] = X["a"], 2 * X["a"] - 1
    elif kind == "tiny and huge units":
        X["a"], X["b"] = X["a"] * 1e-12, X["b"] * 1e12
    elif kind == "offset":
        X["a"] += 1e9
    elif kind == "fewer rows than columns":
        X = pd.DataFrame(rng.normal(size=(25, 40)), columns=[f"x{j}" for j in range(40)])
    elif kind == "few rows":
        X = X.iloc[:12]
    elif kind == "unknown cells":
        X = X.mask(rng.random(X.shape) < 0.2)
    elif kind == "an unknown row":
        X.iloc[3] = np.nan
    elif kind == "heavy tails":
        X["a"] = rng.standard_cauchy(120)
    return X


def test_bounds_that_are_the_least_and_greatest_values_hold_all_mass() -> None:
    """On a step or beside it: half a step beyond them the density ends, and a hundredth of the mass may be at that end."""
    X = load_wine(as_frame=True).data.iloc[:, :7]
    circuit = quietly(X, schema=Schema.infer(X))
    assert any(isinstance(node, GaussianBlock) for node in circuit.nodes)
    report = circuit.check()
    assert report.inside == pytest.approx(1, abs=1e-12)
    assert not report.outside


@pytest.mark.parametrize(
    "kind",
    [
        "plain", "constant", "copy", "tiny and huge units", "offset", "fewer rows than columns", "few rows", "unknown cells",
        "an unknown row", "heavy tails",
    ],
)  # fmt: skip
def test_odd_tables(kind: str) -> None:
    X = odd(kind)
    circuit = quietly(X, schema=bounded(X) if "unknown" in kind else None)
    report = circuit.check()
    assert report.normalised
    assert report.inside == pytest.approx(1, abs=0.01)
    logs = circuit.log_likelihood(X)
    assert np.isfinite(logs).all()
    scales = np.log(np.nanstd(X.to_numpy()[:, : min(4, X.shape[1])], axis=0)).sum()
    assert logs.mean() + scales > -12 * max(1, X.shape[1] / 5)


def test_units_do_not_matter() -> None:
    X, _, _ = drawn(TWO, 200, 0)
    scaled = pd.DataFrame({"x0": X["x0"] * 2.0**40, "x1": X["x1"] * 2.0**-40})
    assert quietly(scaled, schema=Schema.infer(scaled)).log_likelihood(scaled).mean() == pytest.approx(
        quietly(X, schema=Schema.infer(X)).log_likelihood(X).mean(), abs=0.05
    )


@settings(max_examples=SLOW)
@given(st.integers(0, 2**31), st.integers(10, 60), st.integers(1, 4))
def test_any_table_of_numbers(seed: int, rows: int, columns: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.choice([rng.normal(size=(rows, columns)), rng.integers(0, 30, (rows, columns)) / 10])
    values = values * 10.0 ** rng.integers(-9, 9, columns) + rng.choice([0.0, 1e6], columns)
    X = pd.DataFrame(values, columns=[f"x{j}" for j in range(columns)])
    table = table_of(X, None, None, None)
    if not blocks_selection.suits(table):
        with pytest.raises(CircuitError, match="numbers"):
            quietly(X)
        return
    circuit = quietly(X)
    assert circuit.check().normalised
    assert np.isfinite(circuit.log_likelihood(X)).all()


def test_unknown_cells_are_expected_given_the_rest() -> None:
    X, _, _ = drawn(ONE, 800, 0)
    rng = np.random.default_rng(0)
    holed = X.mask(rng.random(X.shape) < 0.3)
    unseen, _, true = drawn(ONE, 1_000, 1)
    circuit = quietly(holed, schema=wide(X))
    assert (true - circuit.log_likelihood(unseen)).mean() <= 0.1


# -- parts ------------------------------------------------------------------------------------------------------------


def block_table(X: pd.DataFrame, y: Any = None, schema: Schema | None = None) -> BlockTable:
    table = table_of(X, y, schema, None)
    groups = blocks_selection.groups_of(table)
    plan = straight(table)
    warps = blocks_selection.warps_of(table, groups, plan)
    bins = bins_of(table.rows, table.variables)
    return BlockTable.of(table.rows, Binned.of(table.rows, table.weights, bins), warps, groups, plan.atoms)


def straight(table: Table) -> Plan:
    """No column is warped."""
    candidates = blocks_selection.candidates_of(table)
    return Plan({j: Curve() for j in candidates}, {j: each.atoms for j, each in candidates.items()}, Settings(1, 1.0, 0.1))


def test_the_circuit_gives_what_the_learner_computed() -> None:
    X, part, _ = drawn(TWO, 300, 0)
    X = X.mask(np.random.default_rng(2).random(X.shape) < 0.1)
    schema = Schema((*bounded(X).features, Categorical("kind", ("u", "v"))))
    X["kind"] = np.random.default_rng(1).choice(["u", "v"], 300)
    table = table_of(X, part, schema, None)
    rows = block_table(X, part, schema)
    settings_of = Settings(3, 5.0, 0.02)
    mixture = blocks.fit(rows, settings_of, blocks_start.start(rows, settings_of, 0))
    warps = blocks_selection.warps_of(table, rows.groups, straight(table))
    circuit = Circuit(table.features, blocks_selection.circuit_nodes(mixture, warps, rows.others), table.target, 1e-300)
    assert circuit.log_likelihood(table.rows) == pytest.approx(blocks.log_densities(mixture, rows), abs=1e-6)
    assert sum(isinstance(node, GaussianBlock) for node in circuit.nodes) == 4


def test_em_does_not_lose_likelihood_without_shrinkage() -> None:
    rows = block_table(drawn(TWO, 400, 0)[0])
    free = Settings(2, 1e-9, 1e-9, background=False)
    first = blocks_start.start(rows, free, 0)
    before = -math.inf
    for _ in range(8):
        mixture = blocks.maximised(rows, first, free, None)
        now = blocks.log_densities(mixture, rows).mean()
        assert now >= before - 1e-3  # the means have a tenth of a row of prior
        before, first = now, blocks.responsibilities(mixture, rows)


def test_starts_stay_within_classes() -> None:
    X, part, _ = drawn(TWO, 200, 0)
    rows = block_table(X, part)
    first = blocks_start.start(rows, Settings(5, 1.0, 0.1), 0)
    assert (first.sum(axis=1) == 1).all()
    owner = first.argmax(axis=1)
    assert not set(owner[part == 0]) & set(owner[part == 1])


def zero_inflated(count: int, seed: int) -> tuple[pd.DataFrame, Numbers]:
    """Two correlated lognormals, one of which is 0 in many rows, and the true log-density (of the mass at 0, per unit)."""
    rng = np.random.default_rng(seed)
    z = rng.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], count)
    zero = rng.random(count) < 0.4
    X = pd.DataFrame({"a": np.where(zero, 0.0, np.exp(z[:, 0])), "b": z[:, 1]})
    alone = -(z[:, 1] ** 2) / 2 - math.log(2 * math.pi) / 2
    given_other = -((z[:, 0] - 0.9 * z[:, 1]) ** 2) / (2 * 0.19) - math.log(2 * math.pi * 0.19) / 2 - z[:, 0]
    return X, alone + np.where(zero, math.log(0.4), math.log(0.6) + given_other)


def test_columns_with_atoms_are_in_the_blocks_of_some_components_and_leaves_of_others() -> None:
    X, _ = zero_inflated(800, 0)
    unseen, true = zero_inflated(2_000, 1)
    X["whole"], unseen["whole"] = 0, 0
    X.loc[X.index % 2 == 0, "whole"] = 1
    table = table_of(X, None, None, None)
    assert blocks_selection.candidates_of(table)[0].atoms == (0.0,)
    assert blocks_selection.suits(table) == (0, 1)
    learned = learn(X, None, Schema.infer(X), method="blocks", progress=False)
    assert learned.method == "blocks"
    sizes = {len(node.variables) for node in learned.circuit.nodes if isinstance(node, GaussianBlock)}
    assert sizes == {1, 2}
    elsewhere = unseen["a"] > 0
    inside = (unseen["a"] < X["a"].max()) & unseen["b"].between(X["b"].min(), X["b"].max())
    gap = true + math.log(0.5) - learned.circuit.log_likelihood(unseen)
    assert gap[elsewhere & inside].mean() <= 0.25


def test_atoms_are_few_values_that_many_rows_have() -> None:
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=500)
    numbers[:100], numbers[100:180] = 1.0, -1.0
    X = pd.DataFrame({"atoms": numbers, "none": rng.normal(size=500), "whole": rng.poisson(3.0, 500) * 1.0})
    X["whole"] += rng.integers(0, 8, 500)
    table = table_of(X, None, None, None)
    assert {j: each.atoms for j, each in blocks_selection.candidates_of(table).items()} == {0: (1.0, -1.0), 1: (), 2: ()}


def test_the_circuit_of_components_with_different_columns_gives_what_the_learner_computed() -> None:
    X, _ = zero_inflated(400, 0)
    X["c"] = np.random.default_rng(1).normal(size=400) + X["b"]
    X.loc[::7, "c"] = np.nan
    schema = bounded(X)
    table, rows = table_of(X, None, schema, None), block_table(X, None, schema)
    settings_of = Settings(4, 5.0, 0.02)
    mixture = blocks.fit(rows, settings_of, blocks_start.start(rows, settings_of, 0))
    assert 0 < mixture.inside[:, 0].sum() < len(mixture.inside)
    warps = blocks_selection.warps_of(table, rows.groups, straight(table))
    circuit = Circuit(table.features, blocks_selection.circuit_nodes(mixture, warps, rows.others), table.target, 1e-300)
    assert circuit.log_likelihood(table.rows) == pytest.approx(blocks.log_densities(mixture, rows), abs=1e-6)
    assert mixture.parameters == circuit.parameters - sum(len(warp.knots) for warp in warps.values())


def test_values_recorded_to_a_step_make_no_component_narrower_than_a_cell() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.choice([1.0, 5.0, 9.0], 300) + np.arange(300) % 5 % 2, "b": rng.normal(size=300).round(1)})
    X["a"] += np.arange(300) // 30
    schema = Schema.infer(X)
    assert schema["a"].grid == 1.0
    rows = block_table(X, None, schema)
    settings_of = Settings(6, 1e-6, 1e-6, background=False)
    mixture = blocks.fit(rows, settings_of, blocks_start.start(rows, settings_of, 0))
    slopes = np.exp(rows.log_slopes).mean(axis=0)
    steps = np.array([schema[name].grid for name in X.columns])
    deviations = np.sqrt(np.einsum("kii->ki", mixture.covariances)) / slopes
    assert (deviations >= 0.99 * steps / math.sqrt(12)).all()


def test_heavy_tails_start_in_shells() -> None:
    rng = np.random.default_rng(0)
    z = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], 900) * rng.choice([1.0, 6.0], (900, 1), p=[0.8, 0.2])
    rows = block_table(pd.DataFrame(z, columns=["a", "b"]))
    settings_of = Settings(2, 1.0, 1e-3, background=False)
    in_shells, in_clusters = (
        blocks.log_densities(blocks.fit(rows, each, blocks_start.start(rows, each, 0), rounds=5), rows).mean()
        for each in (replace(settings_of, start="shells"), settings_of)
    )
    assert in_shells > in_clusters


def student(freedom: float, size: int, count: int, seed: int) -> tuple[pd.DataFrame, Numbers]:
    """Rows of a multivariate t, and their true log-densities."""
    shape = 0.6 + 0.4 * np.eye(size)
    true = stats.multivariate_t(np.zeros(size), shape, df=freedom, seed=seed)
    z = true.rvs(count)
    return pd.DataFrame(z, columns=[f"x{j}" for j in range(size)]), true.logpdf(z)


@pytest.mark.parametrize(("freedom", "size"), [(2.0, 3), (4.0, 5)])
def test_a_multivariate_t_is_learned_as_a_scale_mixture(freedom: float, size: int) -> None:
    """No warp of single columns makes it Gaussian, and rows far out are no surprise."""
    X, true = student(freedom, size, 1_600, 0)
    schema = wide(X)
    circuit = quietly(X[:800], None, schema)
    assert circuit.log_likelihood(X[800:]).mean() > true[800:].mean() - 0.15
    assert sum(isinstance(node, GaussianBlock) for node in circuit.nodes) <= 12
    beyond = pd.DataFrame([10 * X.abs().max()])
    assert circuit.log_likelihood(beyond)[0] > -100  # of one Gaussian: thousands less


@settings(max_examples=SLOW, deadline=None)
@given(st.lists(st.floats(0.05, 20), min_size=2, max_size=4, unique=True), st.integers(2, 4), st.integers(0, 99))
def test_covariances_of_one_shape_are_told_apart_as_widths_and_shape(widths: list[float], size: int, seed: int) -> None:
    factor = np.tril(np.random.default_rng(seed).normal(size=(size, size))) + 3 * np.eye(size)
    shape, rows = factor @ factor.T, np.arange(100.0, 100.0 + len(widths))
    found, common = blocks._widths(rows, np.array([n * w * shape for n, w in zip(rows, widths, strict=True)]))
    products = np.einsum("k,ij->kij", found, common)
    assert products == pytest.approx(np.einsum("k,ij->kij", widths, shape), rel=0.05, abs=0.05 * max(widths) * shape.max())
    shrunk = blocks._shrunk(rows, products * rows[:, None, None], found, common, Settings(len(rows), 1e9, 0.0, start="widths"))
    assert shrunk == pytest.approx(products)  # however strongly: to its own width, not to that of all


@settings(max_examples=SLOW, deadline=None)
@given(st.integers(1, 9), st.integers(20, 300), st.integers(0, 99))
def test_widths_begin_in_shells_with_the_fewer_rows_the_farther_out(count: int, rows: int, seed: int) -> None:
    z = np.random.default_rng(seed).standard_t(2, (rows, 2))
    table = block_table(pd.DataFrame(z, columns=["a", "b"]))
    first = blocks_start.start(table, Settings(count, 1.0, 1e-3, start="widths"), 0)
    assert (first.sum(axis=1) == 1).all()
    shells = first.argmax(axis=1)
    far = blocks_start._distances(table.warped)
    assert all(far[shells < k].max() <= far[shells == k].min() for k in range(1, count) if (shells == k).any())
    sizes = first.sum(axis=0)
    assert (sizes[:-2] >= sizes[1:-1] - 1).all()


def test_a_row_that_is_far_out_does_not_decide_alone_which_is_better() -> None:
    rng = np.random.default_rng(0)
    ones = np.ones(500)
    first, gain = rng.normal(size=500), rng.normal(0.1, 0.2, 500)
    gain[7] = 3_000.0
    better, other = Judged(first + gain, ones, 1), Judged(first, ones, 1)
    assert not clearly_better(better, other, errors=2.0)
    assert steadily_better(better, other, 2.0)
    assert not steadily_better(other, better, 0.0)
    worse = np.where(gain > 1_000, -3_000.0, gain)
    assert not steadily_better(Judged(first + worse, ones, 1), other, 2.0)  # steady, but not better in all


@pytest.mark.parametrize("room", [0.0, 0.7, 5.0, 1e3, 1e9])
def test_a_row_at_a_bound_is_no_likelier_than_those_before_it(room: float) -> None:
    """Whatever lies past the bound: mass that is drawn in must not make a needle there."""
    X, _ = student(2.0, 2, 400, 1)
    low, high = X.to_numpy().min() - room, X.to_numpy().max() + room
    circuit = quietly(X, None, Schema(tuple(Continuous(name, low, high) for name in X.columns)))
    for before, bound in ((high - 1e-3, high), (low + 1e-3, low)):
        logs = circuit.log_likelihood(pd.DataFrame({"x0": [before, bound]}), marginal=True)
        assert logs[1] <= logs[0] + 1e-3


def test_the_same_circuit_for_the_same_number() -> None:
    X, part, _ = drawn(TWO, 150, 0)
    first, second = (quietly(X, part, random_state=3) for _ in range(2))
    assert first.nodes == second.nodes


def test_weights_count_as_rows() -> None:
    X, _, _ = drawn(TWO, 100, 0)
    weights = np.where(np.arange(100) < 50, 3.0, 0.0)
    heavy, repeated = quietly(X, weights=weights), quietly(X.iloc[:50])
    assert heavy.log_likelihood(X.iloc[:50]).mean() == pytest.approx(repeated.log_likelihood(X.iloc[:50]).mean(), abs=0.5)


def test_a_limit_on_nodes_counts_parameters_of_blocks() -> None:
    X, _, _ = drawn(TWO, 400, 0)
    small = quietly(X, schema=wide(X), nodes=8)
    assert sum(isinstance(node, GaussianBlock) for node in small.nodes) == 2  # one, and the background


def test_ctrl_c_keeps_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _, _ = drawn(TWO, 100, 0)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(blocks_selection._Folds, "judge", interrupted)
    with pytest.warns(LikelyWarning, match="interrupted"):
        outcome = learn(X, None, method="blocks", progress=False)
    assert outcome.interrupted
    assert outcome.method == "mixture"
    assert outcome.circuit.check().normalised


def test_auto_takes_blocks_where_columns_move_together() -> None:
    X, _, _ = drawn(ONE, 300, 0)
    assert learn(X, None, progress=False).method == "blocks"
    rng = np.random.default_rng(0)
    uniform = pd.DataFrame({"a": rng.integers(0, 3, 300), "b": rng.random(300).round(1)})
    assert learn(uniform, None, progress=False).method in ("mixture", "tree")


def test_auto_takes_no_blocks_where_there_is_nothing_to_gain() -> None:
    rng = np.random.default_rng(0)
    squares = rng.integers(0, 4, 800)[:, None] * 12 + rng.integers(0, 6, (800, 2))
    X = pd.DataFrame(squares, columns=["a", "b"])
    assert blocks_selection.suits(table_of(X, None, None, None)) == (0, 1)
    assert learn(X, None, progress=False).method in ("mixture", "tree")


def test_auto_considers_no_blocks_in_a_table_that_is_mostly_discrete(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _, _ = drawn(TWO, 200, 0)
    for j in range(7):
        X[f"c{j}"] = np.random.default_rng(j).choice(["u", "v"], 200)
    tried: list[int] = []

    def select(table: Table, *_: Any, **__: Any) -> blocks_selection.BlockChoice:
        tried.append(len(table.features))
        return blocks_selection.BlockChoice(straight(table), None)

    monkeypatch.setattr(blocks_selection, "select", select)
    learn(X, None, progress=False)
    assert not tried
    learn(X.drop(columns="c0"), None, progress=False)  # two columns of eight
    assert tried == [8]


def test_a_block_that_a_limit_on_nodes_has_no_room_for_is_not_taken() -> None:
    X, _, _ = drawn(ONE, 300, 0)
    assert learn(X, None, nodes=11, progress=False).method == "blocks"  # a sum, a product, and nine numbers of a block
    assert learn(X, None, nodes=10, progress=False).method == "mixture"


# -- codes ------------------------------------------------------------------------------------------------------------

COVARIANCE = np.array([[1, 0.9, 0.8], [0.9, 1, 0.85], [0.8, 0.85, 1]])


def coded(count: int, seed: int, at_random: float = 0.02) -> pd.DataFrame:
    """Correlated columns: two have a code together in many rows, all have one in some, and some cells at random."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.multivariate_normal([0, 0, 0], COVARIANCE, count), columns=list("abc")).clip(-4, 4)
    X.loc[rng.random(count) < 0.3, ["a", "b"]] = -7
    X = X.mask(rng.random(X.shape) < at_random, -8)
    X.loc[rng.random(count) < 0.05] = -9
    return X


CODED = Schema(tuple(Mixed(name, -4, 4, codes=(-9, -8, -7)) for name in "abc"))


def test_columns_with_codes_are_in_the_blocks_of_rows_that_have_none() -> None:
    X, unseen = coded(1_000, 0), coded(2_000, 1)
    histograms = learn(X, None, CODED, method="mixture", progress=False).circuit
    learned = learn(X, None, CODED, progress=False)
    assert "blocks" in learned.method
    sizes = {len(node.variables) for node in learned.circuit.nodes if isinstance(node, GaussianBlock)}
    assert 3 in sizes
    gain = learned.circuit.log_likelihood(unseen) - histograms.log_likelihood(unseen)
    assert gain.mean() > 0.2
    report = learned.circuit.check()
    assert report.normalised
    assert report.inside == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("pattern", [(-8, -8, -8), (-9, 0.5, -7), (0.0, 0.0, -9), (-7, -7, -7)])
def test_no_pattern_of_codes_is_impossible(pattern: tuple[float, ...]) -> None:
    circuit = quietly(coded(500, 0, at_random=0.0), schema=CODED)
    logs = circuit.log_likelihood(pd.DataFrame([pattern], columns=list("abc")))
    assert logs[0] > 6 * math.log(1e-4)


def test_a_row_with_a_code_is_of_no_component_that_has_the_column_in_its_block() -> None:
    X = coded(600, 0)
    table, rows = table_of(X, None, CODED, None), block_table(X, None, CODED)
    settings_of = Settings(5, 5.0, 0.02)
    mixture = blocks.fit(rows, settings_of, blocks_start.start(rows, settings_of, 0))
    shares = blocks.responsibilities(mixture, rows)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert (shares[rows.coded @ mixture.inside.T] == 0).all()
    assert not mixture.inside[-1].any()  # the background
    assert mixture.inside[:-1].all(axis=1).any()
    warps = blocks_selection.warps_of(table, rows.groups, straight(table))
    circuit = Circuit(table.features, blocks_selection.circuit_nodes(mixture, warps, rows.others), table.target, 1e-300)
    assert circuit.log_likelihood(table.rows) == pytest.approx(blocks.log_densities(mixture, rows), abs=1e-6)


@pytest.mark.parametrize("missing", ["a code", "summed over"])
def test_missing_cells_are_what_the_schema_says(missing: str) -> None:
    X = coded(600, 0, at_random=0.1)
    X = X.mask(X < -4)
    features = [Mixed(name, -4, 4, codes=(None,)) if missing == "a code" else Continuous(name, -4, 4) for name in "abc"]
    circuit = quietly(X, schema=Schema(tuple(features)))
    assert circuit.check().normalised
    alone = pd.DataFrame([[np.nan, np.nan, np.nan]], columns=list("abc"))
    expected = 0.0 if missing == "summed over" else math.log((X.isna().all(axis=1)).mean())
    assert circuit.log_likelihood(alone)[0] == pytest.approx(expected, abs=0.3)
    assert np.isfinite(circuit.log_likelihood(X)).all()


def test_codes_are_no_values_of_a_column() -> None:
    X = coded(400, 0)
    X["d"] = np.where(np.arange(400) % 2, -7, np.random.default_rng(0).integers(-9, 9, 400))
    features = (*CODED.features, Mixed("d", -9, 9, codes=(-7,), step=1))
    candidates = blocks_selection.candidates_of(table_of(X, None, Schema(features), None))
    assert list(candidates) == [0, 1, 2]  # a number of the last one is a code
    assert not any(candidate.atoms for candidate in candidates.values())
    assert candidates[0].coded == pytest.approx((X["a"] < -4).mean())
    assert candidates[0].divided
    assert not candidates[0].surely


def test_the_plainest_is_the_smallest_within_an_error() -> None:
    rng = np.random.default_rng(0)
    logs, ones = rng.normal(size=100), np.ones(100)
    good = model_selection.Judged(logs, ones, 9)
    as_good = model_selection.Judged(logs + rng.normal(0, 0.01, 100) - 1e-4, ones, 5)
    worse = model_selection.Judged(logs - 1, ones, 1)
    assert model_selection.plainest([good, as_good, worse]) == 1
    assert model_selection.clearly_better(good, worse)
    assert not model_selection.clearly_better(good, as_good)
    assert not model_selection.clearly_better(good, worse, matters=1.5)


def test_tables_without_numbers_are_refused() -> None:
    X = pd.DataFrame({"a": ["x", "y"] * 30})
    with pytest.raises(CircuitError, match="numbers"):
        learn(X, None, method="blocks", progress=False)
