"""Mixtures with shared leaves: the compiled expectation step and its rounds against naive ones in doubles."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely._core import expect_mixture
from likely.circuit import Circuit, Leaf, Product, Sum
from likely.circuit.learning import mixture
from likely.circuit.learning.binned import Binned
from likely.circuit.learning.bins import bins_of
from likely.circuit.learning.mixture import LEAST_ROWS, Mixture, circuit_nodes, fit, log_densities
from likely.schema import Binary
from tests.circuit.learning.tables import block_densities, clusters, some_mixture, table

#: Products are of single precision, which has 24 bits.
SINGLE = 1e-5


# -- the expectation step ---------------------------------------------------------------------------------------------


def problem(seed: int, rows: int, sizes: list[int], block: int, blocks: int, spread: float = 2.0) -> tuple[Any, ...]:
    """Rows by bins, the last of each variable being the unknown; ratios within exp(+-spread)."""
    rng = np.random.default_rng(seed)
    bins = np.stack([rng.integers(0, size + 1, rows) for size in sizes], axis=1).astype(np.uint16)
    offset = np.cumsum([0, *(size + 1 for size in sizes)]).astype(np.int64)
    ratio = np.exp(rng.uniform(-spread, spread, (offset[-1], block * blocks))).astype(np.float32)
    ratio[offset[1:] - 1] = 1
    weight = np.concatenate([rng.dirichlet(np.ones(block)) for _ in range(blocks)]).astype(np.float32)
    return bins, rng.uniform(0, 3, rows), offset, ratio, weight, blocks


def naive(bins: Any, row_weight: Any, offset: Any, ratio: Any, weight: Any, blocks: int) -> tuple[np.ndarray, ...]:
    """The same with logarithms of doubles, row by row."""
    logs = np.log(ratio.astype(np.float64))
    prior = np.log(weight.astype(np.float64))
    log_ratio = np.zeros(len(bins))
    counts, total = np.zeros(ratio.shape), np.zeros(len(weight))
    for r, row in enumerate(bins.astype(np.intp) + offset[:-1]):
        joint = (prior + logs[row].sum(axis=0)).reshape(blocks, -1)
        density = np.logaddexp.reduce(joint, axis=1)
        log_ratio[r] = np.logaddexp.reduce(density) - math.log(blocks)
        share = row_weight[r] * np.exp(joint - density[:, None]).ravel()
        total += share
        np.add.at(counts, row, share)
    return log_ratio, counts, total


@given(
    st.integers(0, 2**32),
    st.integers(1, 40),
    st.lists(st.integers(1, 6), min_size=1, max_size=8),
    st.integers(1, 19),
    st.integers(1, 3),
)
def test_expectations_against_loops(seed: int, rows: int, sizes: list[int], block: int, blocks: int) -> None:
    given_problem = problem(seed, rows, sizes, block, blocks)
    computed, expected = expect_mixture(*given_problem), naive(*given_problem)
    np.testing.assert_allclose(computed[0], expected[0], rtol=SINGLE, atol=SINGLE)
    np.testing.assert_allclose(computed[1], expected[1], rtol=10 * SINGLE, atol=SINGLE)
    np.testing.assert_allclose(computed[2], expected[2], rtol=10 * SINGLE, atol=SINGLE)


@pytest.mark.parametrize(("shift", "least"), [(-8.0, 200), (0.0, 0), (8.0, 200)])
def test_products_beyond_single_precision(shift: float, least: float) -> None:
    """Sixty variables with ratios around exp(+-8): products of exp(+-480), where single precision ends at exp(+-88)."""
    bins, row_weight, offset, ratio, weight, blocks = problem(1, 200, [5] * 60, 7, 2, spread=3.0)
    ratio[np.setdiff1d(np.arange(len(ratio)), offset[1:] - 1)] *= np.float32(np.exp(shift))
    computed, expected = (step(bins, row_weight, offset, ratio, weight, blocks) for step in (expect_mixture, naive))
    assert abs(expected[0]).min() >= least
    np.testing.assert_allclose(computed[0], expected[0], rtol=SINGLE, atol=1e-4)
    np.testing.assert_allclose(computed[1], expected[1], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(computed[2], expected[2], rtol=1e-3, atol=1e-3)


def test_sums_over_many_rows_are_sums_of_doubles() -> None:
    """Every row belongs to some component, in every variable: shares sum to the weight of the rows."""
    bins, row_weight, offset, ratio, weight, blocks = problem(2, 50_000, [3, 4], 5, 2)
    _, counts, total = expect_mixture(bins, row_weight, offset, ratio, weight, blocks)
    assert total.sum() == pytest.approx(blocks * row_weight.sum(), rel=1e-6)
    for j in range(2):
        rows_of_variable = counts[offset[j] : offset[j + 1]].sum(axis=1)
        np.testing.assert_allclose(
            rows_of_variable, blocks * np.bincount(bins[:, j], row_weight, offset[j + 1] - offset[j]), rtol=1e-5
        )
    np.testing.assert_allclose(total, naive(bins, row_weight, offset, ratio, weight, blocks)[2], rtol=1e-5)


def test_a_row_far_from_all_components_belongs_to_each_by_its_weight() -> None:
    bins, offset = np.zeros((1, 2), dtype=np.uint16), np.array([0, 2, 4])
    ratio = np.ones((4, 3), dtype=np.float32)
    ratio[[0, 2]] = 1e-30
    weight = np.array([0.5, 0.3, 0.2], dtype=np.float32)
    logs, counts, total = expect_mixture(bins, np.ones(1), offset, ratio, weight, 1)
    assert logs[0] < -80
    np.testing.assert_allclose(total, weight)
    np.testing.assert_allclose(counts, [weight, 0 * weight, weight, 0 * weight])


@pytest.mark.parametrize("rows", [0, 1, 5, 4095, 9000, 20_000])
@pytest.mark.parametrize("threads", [2, 3, 7, 0])
def test_the_same_bits_on_any_number_of_threads(rows: int, threads: int) -> None:
    given_problem = problem(3, rows, [3, 2, 9], 6, 2)
    for one, many in zip(expect_mixture(*given_problem, 1), expect_mixture(*given_problem, threads), strict=True):
        assert one.tobytes() == many.tobytes()


def test_refusals() -> None:
    bins, row_weight, offset, ratio, weight, blocks = problem(0, 4, [2, 3], 2, 2)
    entries = "offset must rise from 0, with an entry per variable, to the number of bins"
    unsorted = offset[[0, 2, 2]] * [1, 2, 1]
    for wrong in (offset[:-1], offset[1:], np.append(offset, offset[-1]), offset + 1, unsorted, offset - [1, 0, 0]):
        with pytest.raises(ValueError, match=entries):
            expect_mixture(bins, row_weight, wrong, ratio, weight, blocks)
    message = "there must be a weight per row and component, and blocks of equal size"
    for rows, components, parts in ((row_weight[1:], weight, 2), (row_weight, weight[1:], 1), (row_weight, weight, 3)):
        with pytest.raises(ValueError, match=message):
            expect_mixture(bins, rows, offset, ratio, components, parts)
    for components, parts in ((4, 0), (0, 1)):
        with pytest.raises(ValueError, match=message):
            expect_mixture(bins, row_weight, offset, ratio[:, :components].copy(), weight[:components], parts)
    for j, bin_ in ((0, 3), (1, 4), (1, 65535)):
        beyond = bins.copy()
        beyond[2, j] = bin_
        with pytest.raises(IndexError, match="a bin beyond those of its variable"):
            expect_mixture(beyond, row_weight, offset, ratio, weight, blocks)


# -- expectation-maximisation -----------------------------------------------------------------------------------------


def objective(state: Mixture, data: Binned, factor: float) -> float:
    """What a round may not lower: every block's log-likelihood, and the pseudo-rows of components and of leaves.

    A branching of a leaf with the probabilities p of children has `strength * share * log p` more: the maximum of
    n log p + a s log p under sum(p) = 1 is at (n + a s) / (sum(n) + a), which is what smoothing does.
    """
    total = float(data.weights @ block_densities(state, data, factor).sum(axis=1)) + LEAST_ROWS * np.log(state.weights).sum()
    for shrinkage, probabilities in zip(state.shrinkage, state.tables(factor), strict=True):
        nodes = shrinkage.totals(probabilities)
        branch = np.log(nodes[:, 1:] / nodes[:, shrinkage.parent])
        total += float((branch * (factor * shrinkage.strength * shrinkage.share)).sum())
    return total


@given(st.integers(0, 2**32), st.integers(1, 60), st.integers(1, 6), st.booleans(), st.sampled_from([1.0, 2.0]))
def test_no_round_lowers_the_penalised_likelihood(seed: int, rows: int, block: int, sharing: bool, factor: float) -> None:
    weights = np.random.default_rng(seed).choice([0.5, 1.0, 3.0], rows)
    data = table(seed % 7, rows, weights=weights)
    state = some_mixture(data, block, seed, sharing=sharing)
    values = [objective(state, data, factor)]
    for _ in range(6):
        state = mixture._em_round(state, data, factor, threads=1)
        values.append(objective(state, data, factor))
    # The expectation step is of single precision: a maximum may be missed by its rounding, once per row.
    assert (np.diff(values) >= -SINGLE * max(1.0, abs(values[0]))).all()
    assert values[-1] > values[0]


def test_rounds_against_a_naive_round() -> None:
    data = table(3, 200, weights=np.random.default_rng(0).random(200))
    state = some_mixture(data, 4, 1, sharing=True)
    new = mixture._em_round(state, data, 1.0, threads=2)
    offset = data.offset
    ratio = np.ones((offset[-1], state.components))
    for j, probabilities in enumerate(state.tables()):
        ratio[offset[j] : offset[j + 1] - 1] = (probabilities / state.shrinkage[j].marginal)[state.leaf[j]].T
    _, counts, total = naive(data.places, data.weights, offset, ratio, state.weights, 2)
    by_block = (total + LEAST_ROWS).reshape(2, -1)
    np.testing.assert_allclose(new.weights, (by_block / by_block.sum(axis=1, keepdims=True)).ravel(), rtol=1e-4)
    for j, of_components in enumerate(new.counts):
        np.testing.assert_allclose(of_components, counts[offset[j] : offset[j + 1] - 1].T, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(new.weights.reshape(2, -1).sum(axis=1), 1)
    assert new.leaf is state.leaf


# -- fit --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1, 2, 6, 13])
@pytest.mark.parametrize("more", [0, 1, 7, 20, 60])
def test_never_more_nodes_than_asked(width: int, more: int) -> None:
    data = table(0, 120, width)
    nodes = width + 1 + more
    state = fit(data, nodes, random_state=0, threads=1)
    made = circuit_nodes(state, data.bins)
    assert len(made) <= nodes
    assert not state.interrupted
    assert state.nodes <= max(nodes, width + 2)  # a mixture of one component counts a sum and a product that fall away
    np.testing.assert_allclose(state.weights.reshape(state.blocks, -1).sum(axis=1), 1)
    _, features = clusters(0, 1, width)
    assert Circuit(features, made).check().normalised


@pytest.mark.parametrize(
    ("nodes", "variables", "components"),
    [
        (700, 11, 338),  # half of what two leaves per variable leave
        (120, 21, 38),
        (800, 200, 59),  # of a wide table fewer, so that a variable has a leaf for every 16
        (1600, 200, 118),
        (401, 200, 0),
        (3, 5, 0),
    ],
)
def test_how_many_components(nodes: int, variables: int, components: int) -> None:
    assert mixture._components(nodes, variables) == components


def test_few_rows_make_few_components() -> None:
    data = table(0, 5)
    assert fit(data, 500, 0).components == 4
    assert fit(table(0, 1), 500, 0).components == 1


def test_the_same_seed_gives_the_same_mixture() -> None:
    data = table(0, 300)
    first = circuit_nodes(fit(data, 60, 5, threads=1), data.bins)
    assert circuit_nodes(fit(data, 60, 5, threads=3), data.bins) == first
    assert circuit_nodes(fit(data, 60, 6, threads=1), data.bins) != first


def test_clusters_are_found() -> None:
    """The three clusters are worth several nats over independence."""
    whole = table(0, 3000)
    seen, unseen = whole.some(np.arange(1500)).alone(), whole.some(np.arange(1500, 3000))
    alone, mixed = (log_densities(fit(seen, nodes, 0), unseen).mean() for nodes in (7, 80))
    assert mixed > alone + 2


def test_the_first_rounds_may_run_on_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    data = table(0, 900)
    whole = log_densities(fit(data, 60, 0), data).mean()
    for limit, value in (("FIRST_ROWS", 300), ("FIRST_CELLS", 6 * 300)):
        with monkeypatch.context() as patch:
            patch.setattr(mixture, limit, value)
            assert log_densities(fit(data, 60, 0), data).mean() == pytest.approx(whole, abs=0.2)


def test_of_many_rows_the_last_rounds_see_all(monkeypatch: pytest.MonkeyPatch) -> None:
    data = table(0, 900)
    whole = fit(data, 60, 0)
    monkeypatch.setattr(mixture, "MANY_ROWS", 300)
    some = fit(data, 60, 0)
    assert log_densities(some, data).mean() == pytest.approx(log_densities(whole, data).mean(), abs=0.2)
    for counts, of_all in zip(some.counts, whole.counts, strict=True):
        assert counts.sum() == pytest.approx(of_all.sum())


@pytest.mark.parametrize("width", [6, 10])
def test_rows_that_are_next_to_nothing_beside_the_others(width: int) -> None:
    """Values that only they have are each a billion times likelier in a component of theirs: no product overflows."""
    rows = np.repeat([[0.0], [1.0]], [100, 20], axis=0) * np.ones(width)
    features = [Binary(f"b{j}") for j in range(width)]
    data = Binned.of(rows, np.repeat([1e9, 1.0], [100, 20]), bins_of(rows, features))
    state = fit(data, 60, 0)
    assert state.components > 10
    assert all(np.isfinite(part).all() for part in (state.weights, *state.counts))
    logs = log_densities(state, data)
    assert np.isfinite(logs).all()
    assert logs[0] == pytest.approx(0, abs=0.1)


def test_progress_ends_at_1() -> None:
    shares: list[float] = []
    fit(table(0, 100), 40, 0, progress=shares.append)
    assert shares == sorted(shares)
    assert len(shares) == 2 * mixture.ROUNDS
    assert shares[-1] == 1.0


@pytest.mark.parametrize("calls", [1, 2, 8, 15, 16, 29])
def test_an_interrupt_leaves_a_mixture(calls: int) -> None:
    data = table(0, 200)
    seen: list[float] = []

    def interrupt(done: float) -> None:
        seen.append(done)
        if len(seen) == calls:
            raise KeyboardInterrupt

    state = fit(data, 50, 0, progress=interrupt)
    assert state.interrupted
    assert len(seen) == calls
    assert state.nodes <= 50
    _, features = clusters(0, 1)
    circuit = Circuit(features, circuit_nodes(state, data.bins))
    assert circuit.check().normalised
    assert np.isfinite(log_densities(state, data)).all()


# -- the circuit ------------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 5), st.booleans(), st.integers(1, 7))
def test_the_circuit_is_the_mixture(seed: int, rows: int, block: int, sharing: bool, width: int) -> None:
    values, features = clusters(seed % 11, rows, width)
    data = Binned.of(values, np.ones(rows), bins_of(values, features))
    state = some_mixture(data, block, seed, sharing=sharing)
    circuit = Circuit(features, circuit_nodes(state, data.bins), floor=0.0)
    assert circuit.check().normalised
    np.testing.assert_allclose(log_densities(state, data, 1), circuit.log_likelihood(values), rtol=SINGLE, atol=10 * SINGLE)
    expected = np.logaddexp.reduce(block_densities(state, data, 1.0), axis=1) - math.log(2)
    for j, bins in enumerate(data.bins):
        expected += np.append(np.log(state.shrinkage[j].marginal / bins.measure), 0.0)[data.places[:, j]]
    np.testing.assert_allclose(circuit.log_likelihood(values), expected, rtol=1e-9, atol=1e-9)


def test_equal_components_become_one() -> None:
    data = table(0, 50)
    base = some_mixture(data, 3, 0, sharing=False)
    alike = replace(base, leaf=tuple(leaf % 3 for leaf in base.leaf))
    nodes = circuit_nodes(alike, data.bins)
    assert sum(isinstance(node, Product) for node in nodes) == 3
    assert sum(isinstance(node, Leaf) for node in nodes) == 18
    (root,) = (node for node in nodes if isinstance(node, Sum))
    np.testing.assert_allclose(sorted(root.weights), sorted((base.weights[:3] + base.weights[3:]) / 2))


def test_one_component_is_a_product_and_one_variable_a_leaf() -> None:
    for width, kinds in ((3, [True, True, True, False]), (1, [True])):
        data = table(0, 30, width)
        assert [isinstance(node, Leaf) for node in circuit_nodes(fit(data, width + 1, 0), data.bins)] == kinds
