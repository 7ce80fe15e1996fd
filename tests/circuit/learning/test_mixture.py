"""Mixtures with shared leaves: the compiled expectation step, its rounds and merges against naive ones in doubles."""

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
from likely.circuit.learning import binned, merging, mixture
from likely.circuit.learning.binned import Binned
from likely.circuit.learning.bins import bins_of
from likely.circuit.learning.mixture import LEAST_ROWS, Mixture, circuit_nodes, fit, log_densities, shared
from likely.circuit.learning.smoothing import Shrinkage
from likely.errors import CircuitError
from likely.schema import Binary, Categorical, Continuous, Feature, Integer, Mixed, Ordinal
from likely.schema.values import code_number

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


@pytest.mark.parametrize("shift", [-8.0, 0.0, 8.0])
def test_products_beyond_single_precision(shift: float) -> None:
    """Sixty variables with ratios around exp(+-8): products of exp(+-480), where single precision ends at exp(+-88)."""
    bins, row_weight, offset, ratio, weight, blocks = problem(1, 200, [5] * 60, 7, 2, spread=3.0)
    ratio[np.setdiff1d(np.arange(len(ratio)), offset[1:] - 1)] *= np.float32(np.exp(shift))
    computed, expected = (step(bins, row_weight, offset, ratio, weight, blocks) for step in (expect_mixture, naive))
    assert shift == 0 or abs(expected[0]).min() > 200
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


# -- tables -----------------------------------------------------------------------------------------------------------

FEATURES: tuple[Feature, ...] = (
    Continuous("x", -9, 19),
    Integer("n", -9, 19),
    Categorical("c", ("a", "b", "c", "never")),
    Ordinal("o", (1, 2, 3)),
    Binary("b"),
    Mixed("m", -9, 19, (-99, None)),
)


def clusters(seed: int, count: int, width: int = 6, unknown: float = 0.05) -> tuple[np.ndarray, tuple[Feature, ...]]:
    """Three clusters of rows in columns of all kinds, independent within a cluster, with unknown cells."""
    rng = np.random.default_rng(seed)
    group = rng.choice(3, count, p=[0.5, 0.3, 0.2])
    columns = []
    for j in range(width):
        centre = rng.permutation([0.0, 4.0, 8.0])[group] + rng.normal(size=count)
        low = np.digitize(centre, [2.0, 6.0]).astype(float)
        code = np.where(rng.random(count) < 0.2, code_number(0), centre)
        columns.append([centre, np.round(centre), low, low, (centre > 4).astype(float), code][j % 6])
    rows = np.stack(columns, axis=1)
    rows[rng.random(rows.shape) < unknown] = np.nan
    return rows, tuple(replace(FEATURES[j % 6], name=f"f{j}") for j in range(width))


def table(seed: int, count: int, width: int = 6, weights: np.ndarray | None = None) -> Binned:
    rows, features = clusters(seed, count, width)
    return Binned.of(rows, np.ones(count) if weights is None else weights, bins_of(rows, features))


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


# -- expectation-maximisation -----------------------------------------------------------------------------------------


def some_mixture(data: Binned, block: int, seed: int, *, sharing: bool) -> Mixture:
    """Random components, each with its own leaves or with leaves that any may share."""
    rng = np.random.default_rng(seed)
    count = 2 * block
    weights = np.concatenate([rng.dirichlet(np.ones(block)) for _ in range(2)])
    unshared = np.arange(count)
    leaf = tuple(np.unique(rng.integers(0, count, count), return_inverse=True)[1] if sharing else unshared for _ in data.bins)
    counts = tuple(rng.gamma(0.3, 5.0, (count, len(bins))) for bins in data.bins)
    return Mixture(weights, leaf, counts, data.shrinkage)


def block_densities(state: Mixture, data: Binned, factor: float) -> np.ndarray:
    """log p(row) under each block (row x block), over that of the marginals, in doubles."""
    total = np.log(state.weights) + np.zeros((len(data), 1))
    for j, probabilities in enumerate(state.tables(factor)):
        ratio = np.log(probabilities / state.shrinkage[j].marginal)
        total += np.hstack([ratio, np.zeros((len(ratio), 1))])[state.leaf[j]].T[data.places[:, j]]
    return np.logaddexp.reduce(total.reshape(len(data), state.blocks, -1), axis=2)


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


# -- sharing leaves ---------------------------------------------------------------------------------------------------


def leaf_likelihood(counts: np.ndarray, shrinkage: Shrinkage) -> float:
    """The log-likelihood of a leaf's rows under its own smoothed probabilities."""
    return float(counts @ np.log(shrinkage.probabilities(counts[None])[0]))


def naive_merges(counts: np.ndarray, shrinkage: Shrinkage) -> list[float]:
    """What each step loses when always the two leaves are merged whose union loses least, looked for among all pairs."""
    alive = dict(enumerate(counts))
    lost = []
    while len(alive) > 1:
        pairs = [(i, k) for i in alive for k in alive if k < i]
        each = {i: leaf_likelihood(leaf_counts, shrinkage) for i, leaf_counts in alive.items()}
        losses = [each[i] + each[k] - leaf_likelihood(alive[i] + alive[k], shrinkage) for i, k in pairs]
        best = int(np.argmin(losses))
        i, k = pairs[best]
        lost.append(losses[best])
        alive[k] = alive[k] + alive.pop(i)
    return lost


@given(st.integers(0, 2**32), st.integers(1, 8), st.integers(0, 5))
def test_merges_lose_the_least(seed: int, components: int, variable: int) -> None:
    data = table(2, 100)
    rng = np.random.default_rng(seed)
    counts = rng.gamma(0.3, 5.0, (components, len(data.bins[variable])))
    pairs, lost = merging.merges(counts, data.shrinkage[variable])
    assert len(pairs) == components - 1
    size = counts.sum()
    np.testing.assert_allclose(lost, naive_merges(counts, data.shrinkage[variable]), rtol=1e-3, atol=1e-5 * size)
    dropped = pairs[:, 1].tolist()
    assert len(set(dropped)) == len(dropped)
    assert all(kept not in dropped[:step] and kept != gone for step, (kept, gone) in enumerate(pairs.tolist()))


def test_of_many_branches_those_count_that_tell_leaves_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    data = table(2, 4000, 1)
    rng = np.random.default_rng(0)
    shrinkage = data.shrinkage[0]
    assert len(shrinkage.parent) > merging.MOST_BRANCHES
    shape = np.exp(rng.normal(size=(12, 1)) * np.linspace(-2, 2, len(data.bins[0])))  # leaves that lean to either side
    counts = rng.poisson(300 * shape * shrinkage.marginal).astype(np.float64)
    shrinkage = shrinkage.fitted(counts)
    some, lost = merging.merges(counts, shrinkage)
    monkeypatch.setattr(merging, "MOST_BRANCHES", 10**6)
    every, lost_by_every = merging.merges(counts, shrinkage)
    np.testing.assert_allclose(lost, lost_by_every, rtol=0.05, atol=1.0)
    assert merging.after(some[:8], 12).tolist() == merging.after(every[:8], 12).tolist()


def test_equal_leaves_are_merged_first_and_for_nothing() -> None:
    """Of leaves with many rows: pseudo-rows, which are paid once less, would make the union of others a gain too."""
    data = table(0, 300)
    base = some_mixture(data, 5, 0, sharing=False)
    slope = np.linspace(-3, 3, 10)[:, None]
    base = replace(base, counts=tuple(1e4 * np.exp(slope * np.linspace(-1, 1, len(bins))) for bins in data.bins))
    twice = replace(
        base,
        weights=np.tile(base.weights, 2) / 2,
        leaf=tuple(np.arange(20) for _ in data.bins),
        counts=tuple(np.vstack([leaf_counts, leaf_counts]) for leaf_counts in base.counts),
    )
    for counts, shrinkage in zip(twice.counts, twice.shrinkage, strict=True):
        pairs, lost = merging.merges(counts, shrinkage)
        assert (lost[:10] <= 1e-7 * counts.sum()).all()  # the rounding of logarithms of single precision
        assert sorted(tuple(sorted(pair)) for pair in pairs[:10].tolist()) == [(i, i + 10) for i in range(10)]
    merged = shared(twice, twice.nodes - 60)
    assert all(leaf.tolist() == np.tile(np.arange(10), 2).tolist() for leaf in merged.leaf)
    before, after = (block_densities(state, data, 1.0) for state in (twice, merged))
    np.testing.assert_allclose(after, before, atol=1e-2)


@given(st.integers(0, 200), st.integers(1, 6))
def test_merging_reaches_the_wanted_number_of_nodes(nodes: int, block: int) -> None:
    data = table(1, 80)
    state = some_mixture(data, block, 0, sharing=False)
    merged = shared(state, nodes)
    least = 1 + state.components + len(data.bins)
    assert merged.nodes == min(state.nodes, max(nodes, least))
    assert merged.counts is state.counts
    for leaf in merged.leaf:
        assert sorted(set(leaf.tolist())) == list(range(leaf.max() + 1))


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
    assert state.components == 1 or state.nodes <= nodes
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
