"""The choice of a size: what is held out from whom, and which size is taken."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likely.circuit.learning import model_selection
from likely.circuit.learning.binned import Binned
from likely.circuit.learning.bins import bins_of
from likely.circuit.learning.mixture import fit, log_densities
from likely.circuit.learning.model_selection import (
    FEW_ROWS,
    FEWEST_ROWS,
    FOLDS,
    HELD_OUT,
    MOST_JUDGED,
    MOST_TRAINING,
    NO_MATTER,
    largest,
)
from likely.schema import Binary, Categorical, Continuous


def table(seed: int, count: int, *, groups: int = 3, weights: np.ndarray | None = None) -> Binned:
    """Rows in clusters (independent variables, if there is one); a number, a category and a truth value."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, groups, count)
    rows = np.stack(
        [
            4.0 * group + rng.normal(size=count),
            (group + (rng.random(count) < 0.2)) % 3,
            rng.random(count) < np.array([0.2, 0.9, 0.5])[group],
        ],
        axis=1,
    ).astype(np.float64)
    features = (Continuous("x", -9, 19), Categorical("c", tuple("abc")), Binary("b"))
    return Binned.of(rows, np.ones(count) if weights is None else weights, bins_of(rows, features))


def chosen(
    data: Binned, nodes: int | None = None, *, threads: int = 1, progress: Any = lambda done, what: None
) -> model_selection.Choice:
    return model_selection.select(data, nodes, 0, threads=threads, progress=progress)


# -- how large at most ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "variables", "nodes"),
    [
        (800, 21, 120),  # 0.15 per row
        (38_300, 10, 700),
        (10**6, 11, 700),
        (10**6, 200, 1600),  # 8 per variable
        (2000, 200, 1000),  # 5 per variable, however few the rows
        (10, 5, 25),
    ],
)
def test_the_largest_circuit(rows: int, variables: int, nodes: int) -> None:
    assert largest(rows, variables) == nodes


def spied(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Binned, int, int]]:
    """What is learned in trials: the rows, the size and the threads, in order; the learning itself is cut short."""
    seen: list[tuple[Binned, int, int]] = []

    def spy(method: str, training: Binned, sizes: list[int], seed: int, *, threads: int) -> Any:
        assert method == "mixture"
        seen.extend((training, size, threads) for size in sizes)
        return (fit(training, 1, seed, threads=threads) for _ in sizes)

    monkeypatch.setattr(model_selection, "fitted", spy)
    return seen


@pytest.mark.parametrize(
    ("rows", "nodes", "sizes"),
    [
        (400, None, [4, 15, 30, 60]),
        (50, None, [4, 7, 15]),  # nothing below the smallest, nothing twice
        (400, 33, [33]),
        (FEW_ROWS, None, [4, 175, 350, 700]),
    ],
)
def test_the_sizes_that_are_tried(monkeypatch: pytest.MonkeyPatch, rows: int, nodes: int | None, sizes: list[int]) -> None:
    seen = spied(monkeypatch)
    chosen(table(0, rows), nodes)
    assert sorted(size for _, size, _ in seen) == sorted(sizes * FOLDS)


def test_many_rows_are_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = spied(monkeypatch)
    chosen(table(0, FEW_ROWS + 1))
    assert sorted(size for _, size, _ in seen) == [4, 175, 350, 700]


# -- who is held out --------------------------------------------------------------------------------------------------


@given(st.integers(FEWEST_ROWS, 200), st.integers(0, 9))
def test_few_rows_are_held_out_once_each(rows: int, seed: int) -> None:
    splits = list(model_selection.splits(np.arange(rows), 3, np.random.default_rng(seed)))
    assert len(splits) == FOLDS
    for learned, judged in splits:
        assert sorted([*learned, *judged]) == list(range(rows))
    assert sorted(np.concatenate([judged for _, judged in splits]).tolist()) == list(range(rows))


@pytest.mark.parametrize(
    ("rows", "variables", "folds"), [(5_000, 20, 5), (1_000, 100, 5), (100, 100, 5), (2_000, 100, 2), (100, 200, 2), (9, 900, 1)]
)
def test_of_few_but_wide_rows_some_are_held_out(rows: int, variables: int, folds: int) -> None:
    splits = list(model_selection.splits(np.arange(rows), variables, np.random.default_rng(0)))
    assert len(splits) == folds
    assert all(len(judged) == pytest.approx(rows / FOLDS, abs=1) for _, judged in splits)
    every = np.concatenate([judged for _, judged in splits])
    assert len(set(every.tolist())) == len(every)


@pytest.mark.parametrize("variables", [11, 200, 10_000])
@pytest.mark.parametrize("rows", [FEW_ROWS + 1, 40_000, 300_000])
def test_of_many_rows_a_part_is_held_out(rows: int, variables: int) -> None:
    ((learned, judged),) = model_selection.splits(np.arange(rows), variables, np.random.default_rng(0))
    assert len(judged) == min(MOST_JUDGED, round(HELD_OUT * rows))
    most = {11: MOST_TRAINING, 200: 10_000, 10_000: FEW_ROWS}[variables]  # two million cells
    assert len(learned) == min(most, rows - len(judged))
    assert len(set(learned.tolist()) | set(judged.tolist())) == len(learned) + len(judged)
    assert max(learned.max(), judged.max()) < rows


@pytest.mark.parametrize("rows", [60, 3 * FEW_ROWS + 6])
def test_rows_of_a_group_are_held_out_together(rows: int) -> None:
    groups = np.tile(np.arange(rows // 3), 3)
    for learned, judged in model_selection.splits(groups, 3, np.random.default_rng(0)):
        assert not set(groups[learned]) & set(groups[judged])
        assert len(judged) == 3 * len(set(groups[judged]))


def test_trials_know_nothing_of_the_rows_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither rows nor marginals: what they say is what the rows learned from say alone."""
    data = table(0, 100)
    seen = spied(monkeypatch)
    chosen(data, 20)
    splits = list(model_selection.splits(np.arange(100), 3, np.random.default_rng(0)))
    for (training, _, _), (learned, _) in zip(seen, splits, strict=True):
        assert training.places.tolist() == data.places[learned].tolist()
        for shrinkage, bins, places in zip(training.shrinkage, data.bins, training.places.T, strict=True):
            counts = np.bincount(places, minlength=len(bins) + 1)[:-1]
            assert shrinkage.marginal.tolist() == type(shrinkage).of(bins, counts.astype(float)).marginal.tolist()


def test_the_validation_is_the_mean_over_rows_held_out() -> None:
    data = table(0, 150, weights=np.random.default_rng(0).random(150))
    logs = np.zeros(150)
    for learned, judged in model_selection.splits(np.arange(150), 3, np.random.default_rng(0)):
        logs[judged] = log_densities(fit(data.some(learned).alone(), 25, 0), data.some(judged))
    assert chosen(data, 25).validation == pytest.approx(np.average(logs, weights=data.weights))


# -- which one --------------------------------------------------------------------------------------------------------


def trials(sizes: list[int], logs: Any) -> list[model_selection._Trial]:
    """Trials of these sizes that learned circuits as large, with these logs of held-out rows."""
    pairs = zip(sizes, logs, strict=True)
    return [model_selection._Trial("mixture", size, [size], [np.asarray(log)]) for size, log in pairs]


def naive_smallest(sizes: list[int], logs: np.ndarray, weights: np.ndarray) -> tuple[int, float]:
    """One standard error, said with loops."""
    count, total = logs.shape[1], weights.sum()
    means = [sum(w * v for w, v in zip(weights, log, strict=True)) / total for log in logs]
    best = max(range(len(sizes)), key=lambda i: means[i])
    for i, size in enumerate(sizes):
        gaps = [b - a for a, b in zip(logs[i], logs[best], strict=True)]
        mean = means[best] - means[i]
        variance = sum(w * (gap - mean) ** 2 for w, gap in zip(weights, gaps, strict=True)) / total
        if mean <= max(math.sqrt(variance / count), NO_MATTER):
            return size, means[i]
    raise AssertionError


@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(2, 30), st.sampled_from([0.0, 0.01, 0.5]), st.booleans())
def test_the_smallest_within_one_standard_error(seed: int, count: int, rows: int, gap: float, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    logs = rng.normal(size=(1, rows)) + 0.2 * rng.normal(size=(count, rows)) + gap * np.arange(count)[:, None]
    weights = rng.random(rows) + 0.1 if weighted else np.ones(rows)
    sizes = [10 * 2**i for i in range(count)]
    choice = model_selection._smallest(trials(sizes, logs)[::-1], weights)
    size, mean = naive_smallest(sizes, logs, weights)
    assert choice.nodes == size
    assert choice.validation == pytest.approx(mean)
    assert choice.kept is None


@pytest.mark.parametrize(
    ("ahead", "nodes"),
    [
        ([0, 0, 0], 1),
        ([0, 0.1, 0.1], 2),  # always better
        ([0, NO_MATTER / 2, 0], 1),  # by nothing
        ([1, 0, 0], 1),
        ([0, 0.05 + np.tile([1.0, -1.0], 50), 0], 1),  # an error is 0.1
        ([0, 0.2 + np.tile([1.0, -1.0], 50), 0], 2),
    ],
)
def test_examples_of_the_choice(ahead: list[Any], nodes: int) -> None:
    rows = np.linspace(-2, 2, 100)
    assert model_selection._smallest(trials([1, 2, 3], [rows + more for more in ahead]), np.ones(100)).nodes == nodes


def test_the_largest_mixture_is_not_tried_without_hope() -> None:
    rows, weights = np.linspace(-2, 2, 100), np.ones(100)

    def hopeless(means: list[float], tree: float | None = None, most: int = 60, rival: float = -math.inf) -> bool:
        tried = trials([4, 15, 30][: len(means)], [rows + mean for mean in means])
        trees = [] if tree is None else [model_selection._Trial("tree", 60, [60], [rows + tree])]
        return model_selection._hopeless([*trees, *tried], most, weights, rival)

    assert not hopeless([0, 1, 2])
    assert hopeless([0, 2, 1])  # worse than a smaller one
    assert not hopeless([0, 2, 1], most=99)  # far from the largest
    assert not hopeless([0, -1])
    assert not hopeless([0, 1, 2], tree=3)
    assert hopeless([0, 1, 2], tree=5)  # ahead by more than was gained
    assert not hopeless([0], tree=5)
    assert not hopeless([], tree=5)
    assert hopeless([0, 1], most=99, rival=3)  # far from the largest, and farther from something else
    assert not hopeless([0, 1], most=99, rival=1.5)
    assert not hopeless([0, 1], most=99, tree=5)
    assert not hopeless([0], rival=5)


def test_a_wide_table_is_given_a_chance() -> None:
    """The nodes that go with so few rows would be too few for two components."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 100)
    rows = (rng.random((100, 30)) < rng.choice([0.1, 0.9], (3, 30))[group]).astype(np.float64)
    data = Binned.of(rows, np.ones(100), bins_of(rows, [Binary(f"b{j}") for j in range(30)]))
    choice = chosen(data)
    assert choice.nodes > 2 * 30
    assert choice.validation > chosen(data, 31).validation + 5


def test_independent_variables_need_no_more_than_a_product() -> None:
    for count in (200, 2000):
        data = table(0, count, groups=1)
        assert chosen(data).nodes == 4


def test_clusters_need_more() -> None:
    choice = chosen(table(0, 600))
    assert choice.nodes > 4
    assert choice.validation > chosen(table(0, 600), 4).validation + 0.5


def test_too_few_rows_to_hold_any_out() -> None:
    choice = chosen(table(0, FEWEST_ROWS - 1))
    assert choice.nodes == 4
    assert math.isnan(choice.validation)
    assert chosen(table(0, FEWEST_ROWS - 1), 77).nodes == 77
    assert math.isfinite(chosen(table(0, FEWEST_ROWS)).validation)


def test_threads_are_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = spied(monkeypatch)
    judged: list[int] = []

    def spy(learned: Any, unseen: Binned, threads: int) -> np.ndarray:
        judged.append(threads)
        return np.zeros(len(unseen))

    monkeypatch.setattr(model_selection.mixture, "log_densities", spy)
    chosen(table(0, 50), 9, threads=3)
    assert [threads for _, _, threads in seen] == judged == [3] * FOLDS


def test_progress_grows_and_says_what_is_tried() -> None:
    seen: list[tuple[float, str]] = []
    chosen(table(0, 100), progress=lambda done, what: seen.append((done, what)))
    shares = [done for done, _ in seen]
    assert shares == sorted(set(shares))
    assert shares[0] == 0
    assert shares[-1] < 1
    assert seen[0][1] == "trying a mixture of 4 nodes"


# -- interrupts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("calls", [1, 2, 5])
def test_an_interrupt_between_trials_keeps_a_mixture(calls: int) -> None:
    seen: list[float] = []

    def interrupt(done: float, what: str) -> None:
        seen.append(done)
        if len(seen) == calls:
            raise KeyboardInterrupt

    choice = chosen(table(0, 100), progress=interrupt)
    assert len(seen) == calls
    assert choice.kept is not None
    assert choice.kept.interrupted
    assert math.isnan(choice.validation)


def test_an_interrupt_within_a_trial_keeps_its_mixture(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(method: str, training: Binned, sizes: list[int], seed: int, *, threads: int) -> Any:
        def stop(done: float) -> None:
            raise KeyboardInterrupt

        return (fit(training, size, seed, threads=threads, progress=stop) for size in sizes)

    monkeypatch.setattr(model_selection, "fitted", interrupted)
    choice = chosen(table(0, 100), 40)
    assert choice.kept is not None
    assert choice.kept.interrupted
    assert 4 < choice.kept.nodes <= 40
