"""Smoothing: marginals and shrunk leaves against naive loops, strengths against a likelihood computed otherwise."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from likely.circuit.learning.bins import Bins, bins_of
from likely.circuit.learning.smoothing import FIRST_STRENGTH, GROWTH, MANY_LEAVES, STRENGTHS, Shrinkage, marginal
from likely.schema import Categorical, Continuous, Feature, Integer, Mixed, Ordinal
from likely.schema.values import code_number
from tests import strategies


def counted(variable_bins: Bins, values: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """How many of the values are in each bin."""
    place = variable_bins.index(values)
    known = place >= 0
    return np.bincount(place[known], None if weights is None else weights[known], len(variable_bins)).astype(np.float64)


def binned(values: Any, feature: Feature) -> tuple[Bins, np.ndarray]:
    numbers = np.asarray(values, dtype=np.float64)
    (variable_bins,) = bins_of(numbers[:, None], [feature])
    return variable_bins, counted(variable_bins, numbers)


@st.composite
def any_counts(draw: st.DrawFn) -> tuple[Bins, np.ndarray]:
    """The bins of a column of any kind, and its counts."""
    feature = draw(strategies.features("f", extremes=True))
    values = draw(st.lists(st.one_of(strategies.numbers(feature), st.just(math.nan)), max_size=40))
    return binned(values, feature)


@st.composite
def leaf_counts(draw: st.DrawFn, bins: int) -> np.ndarray:
    """The rows of a few leaves in each bin: none, few, very many, fractions."""
    leaves = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    size = rng.choice([0.0, 1.0, 30.0, 1e6], (leaves, 1))
    return np.where(rng.random((leaves, bins)) < 0.5, 0.0, rng.gamma(0.5, 1.0, (leaves, bins))) * size


# -- the marginal -----------------------------------------------------------------------------------------------------


def naive_ranges(counts: list[float], width: list[float], tails: tuple[int, int]) -> list[float]:
    """What the module's first paragraph says of ranges, bin by bin."""
    rows, count = sum(counts), len(counts)
    inner = range(tails[0], count - tails[1])
    alone = sum(counts[i] == 1 for i in inner)
    unseen = min(0.5, (alone + 1) / (rows + 1))
    scale = max(1.0, len(inner) / 20)
    mass = {i: (1 - unseen) * counts[i] / rows if rows else width[i] / sum(width[k] for k in inner) for i in inner}
    for i in inner if rows else ():
        near = {k: math.exp(-(((i - k) / scale) ** 2) / 2) * width[k] for k in inner}
        for k in inner:
            mass[k] += unseen * counts[i] / rows * near[k] / sum(near.values())
    beyond = min(0.5, 1 / (rows + 1))
    halves = {**{tails[0] - 1 - i: 0.5**i for i in range(tails[0])}, **{inner[-1] + 1 + i: 0.5**i for i in range(tails[1])}}
    return [
        mass[i] * (1 - beyond * bool(halves)) if i in inner else beyond * halves[i] / sum(halves.values()) for i in range(count)
    ]


@given(any_counts())
def test_marginals_are_probabilities_and_none_is_0(column: tuple[Bins, np.ndarray]) -> None:
    bins, counts = column
    mass = marginal(bins, counts)
    assert (mass > 0).all()
    assert math.fsum(mass) == pytest.approx(1, abs=1e-9)


@given(any_counts())
def test_marginals_against_loops(column: tuple[Bins, np.ndarray]) -> None:
    bins, counts = column
    if not bins.feature.numeric:
        expected = [(n + 0.5) / (counts.sum() + 0.5 * len(counts)) for n in counts]
    else:
        codes, numbers = counts[: bins.codes].tolist(), counts[bins.codes :].tolist()
        total = sum(codes) + 0.5 * len(codes) + sum(numbers) + 0.5
        share = (sum(numbers) + 0.5) / total if codes else 1.0
        ranges = naive_ranges(numbers, bins.measure[bins.codes :].tolist(), bins.tails)
        expected = [(n + 0.5) / total for n in codes] + [share * p for p in ranges]
    np.testing.assert_allclose(marginal(bins, counts), expected, rtol=1e-9, atol=1e-9)


def test_without_rows_the_mass_is_spread_evenly_within_the_bounds() -> None:
    bins, counts = binned([math.nan] * 5, Continuous("x", -2, 8))
    mass = marginal(bins, counts)
    assert bins.tails == (0, 0)
    assert mass.sum() == pytest.approx(1)
    assert mass / bins.measure == pytest.approx(1 / bins.measure.sum())


def test_a_tail_has_one_row_in_all() -> None:
    bins, counts = binned(np.linspace(0, 1, 99), Continuous("x", -9, 9))
    mass = marginal(bins, counts)
    assert bins.tails == (3, 3)
    assert mass[:3].sum() + mass[-3:].sum() == pytest.approx(1 / 100)
    assert mass[:3] == pytest.approx(mass[2] * np.array([0.25, 0.5, 1]))


def test_many_rows_have_their_frequencies() -> None:
    for feature, values in (
        (Integer("n", 0, 9), np.repeat(np.arange(10.0), np.arange(1, 11))),
        (Categorical("c", tuple("abcd")), np.repeat(np.arange(4.0), [5, 1, 3, 1])),
        (Mixed("m", 0, 9, [None], integer=True), np.repeat([code_number(0), 1.0, 2.0], [3, 2, 1])),
    ):
        bins, counts = binned(values, feature)
        assert marginal(bins, counts * 1e9) == pytest.approx(counts / counts.sum(), abs=1e-6)


@pytest.mark.parametrize("far", [150, 199])
def test_a_gap_between_two_values_is_unlikely_not_impossible(far: int) -> None:
    """The mass that reaches the middle of the gap is far below the spacing of doubles at 1."""
    bins, counts = binned(np.repeat([0.0, far], 100), Integer("n", 0, far))
    mass = marginal(bins, counts)
    assert 0 < mass.min() < 1e-9
    shrinkage = Shrinkage.of(bins, counts)
    assert (shrinkage.share > 0).all()
    fitted = shrinkage.fitted(np.vstack([counts, 0 * counts, counts / 3]))
    assert np.isfinite(fitted.strength).all()
    assert (fitted.probabilities(counts[None]) > 0).all()


def test_bins_of_widths_that_no_double_can_compare() -> None:
    bins, counts = binned(np.append(np.linspace(0, 1e-3, 400), 5e300), Continuous("x", 0, 5e300))
    mass = marginal(bins, counts)
    assert (mass > 0).all()
    assert np.isfinite(Shrinkage.of(bins, counts).fitted(counts[None]).probabilities(counts[None])).all()


# -- the tree ---------------------------------------------------------------------------------------------------------


def children_of(shrinkage: Shrinkage) -> dict[int, list[int]]:
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(shrinkage.parent, start=1):
        children.setdefault(int(parent), []).append(node)
    return children


@given(any_counts())
def test_the_tree_halves_the_mass_or_is_a_star(column: tuple[Bins, np.ndarray]) -> None:
    bins, counts = column
    tree = Shrinkage.of(bins, counts)
    spans = list(zip(tree.low.tolist(), tree.high.tolist(), strict=True))
    assert spans[0] == (0, len(bins))
    below = children_of(tree)
    depth = {0: 0}
    for node, span in enumerate(spans):
        inner = [spans[child] for child in below.get(node, [])]
        depth.update(dict.fromkeys(below.get(node, []), depth[node] + 1))
        assert bool(inner) == (span[1] - span[0] > 1)
        if inner:
            assert (inner[0][0], inner[-1][1]) == span
            assert all(a[1] == b[0] for a, b in pairwise(inner))
        if inner and bins.feature.numeric:
            mass = tree.marginal
            (_, cut), whole = inner[0], mass[span[0] : span[1]].sum()
            uneven = [abs(mass[span[0] : k].sum() - whole / 2) for k in range(span[0] + 1, span[1])]
            assert len(inner) == 2
            assert abs(mass[span[0] : cut].sum() - whole / 2) <= min(uneven) + 1e-12
        elif inner:
            assert [b - a for a, b in inner] == [1] * len(bins)
    assert tree.depth.tolist() == [depth[node] - 1 for node in range(1, len(spans))]
    growth = GROWTH if bins.feature.numeric else 1.0
    assert tree.strength.tolist() == pytest.approx([FIRST_STRENGTH * growth**d for d in tree.depth])


@given(st.data())
def test_totals_are_sums(data: st.DataObject) -> None:
    bins, counts = data.draw(any_counts())
    tree = Shrinkage.of(bins, counts)
    leaves = data.draw(leaf_counts(len(bins)))
    expected = [[math.fsum(leaf[low:high]) for low, high in zip(tree.low, tree.high, strict=True)] for leaf in leaves]
    np.testing.assert_allclose(tree.totals(leaves), expected, rtol=1e-12)


def test_totals_keep_what_is_small_beside_what_is_large() -> None:
    bins, counts = binned(np.arange(6.0), Integer("n", 0, 5))
    tree = Shrinkage.of(bins, counts)
    leaf = np.full((1, len(bins)), 1e-20)
    leaf[0, 0] = 1.0
    ends = tree.high - tree.low == 1
    assert sorted(tree.totals(leaf)[0, ends].tolist()) == [1e-20] * (len(bins) - 1) + [1.0]


# -- probabilities of leaves ------------------------------------------------------------------------------------------


def naive_probabilities(shrinkage: Shrinkage, counts: np.ndarray, factor: float) -> list[float]:
    """The formula of the module, by recursion from the root."""
    below = children_of(shrinkage)
    probabilities = [0.0] * len(counts)

    def walk(node: int, probability: float) -> None:
        low, high = int(shrinkage.low[node]), int(shrinkage.high[node])
        if node not in below:
            probabilities[low] = probability
        for child in below.get(node, []):
            a = factor * float(shrinkage.strength[child - 1])
            inside = slice(int(shrinkage.low[child]), int(shrinkage.high[child]))
            share = math.fsum(shrinkage.marginal[inside]) / math.fsum(shrinkage.marginal[low:high])
            walk(child, probability * (math.fsum(counts[inside]) + a * share) / (math.fsum(counts[low:high]) + a))

    walk(0, 1.0)
    return probabilities


@given(st.data(), st.sampled_from([1.0, 2.0, 0.3]))
def test_probabilities_against_a_recursion(data: st.DataObject, factor: float) -> None:
    bins, counts = data.draw(any_counts())
    shrinkage = Shrinkage.of(bins, counts)
    leaves = data.draw(leaf_counts(len(bins)))
    probabilities = shrinkage.probabilities(leaves, factor)
    assert probabilities.shape == leaves.shape
    assert (probabilities > 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(probabilities, [naive_probabilities(shrinkage, leaf, factor) for leaf in leaves], rtol=1e-9)


@given(any_counts())
def test_without_rows_a_leaf_is_the_marginal(column: tuple[Bins, np.ndarray]) -> None:
    bins, counts = column
    probabilities = Shrinkage.of(bins, counts).probabilities(np.zeros((2, len(bins))))
    np.testing.assert_allclose(probabilities, np.tile(marginal(bins, counts), (2, 1)), rtol=1e-9)


@given(any_counts())
def test_a_leaf_with_the_rows_of_the_marginal_is_the_marginal(column: tuple[Bins, np.ndarray]) -> None:
    bins, counts = column
    shrinkage = Shrinkage.of(bins, counts)
    probabilities = shrinkage.probabilities(np.array([[3.0], [1e5]]) * shrinkage.marginal)
    np.testing.assert_allclose(probabilities, np.tile(shrinkage.marginal, (2, 1)), rtol=1e-9)


def test_with_very_many_rows_a_leaf_has_its_frequencies() -> None:
    rng = np.random.default_rng(0)
    for feature, values in ((Continuous("x", -9, 9), rng.normal(size=500)), (Ordinal("o", (1, 2, 3)), np.repeat([0.0, 1, 2], 5))):
        bins, counts = binned(values, feature)
        frequencies = rng.random((3, len(bins))) + 0.1
        probabilities = Shrinkage.of(bins, counts).probabilities(frequencies * 1e12)
        np.testing.assert_allclose(probabilities, frequencies / frequencies.sum(axis=1, keepdims=True), rtol=1e-9)


def test_strong_smoothing_is_the_marginal() -> None:
    bins, counts = binned(np.random.default_rng(0).normal(size=500), Continuous("x", -9, 9))
    shrinkage = Shrinkage.of(bins, counts)
    leaf = np.zeros((1, len(bins)))
    leaf[0, 10] = 100.0
    np.testing.assert_allclose(shrinkage.probabilities(leaf, 1e12)[0], shrinkage.marginal, rtol=1e-6)
    assert shrinkage.probabilities(leaf, 1e-12)[0, 10] == pytest.approx(1)


# -- strengths --------------------------------------------------------------------------------------------------------


def likelihood(shrinkage: Shrinkage, leaves: np.ndarray, depth: int, a: float) -> float:
    """log P(counts of the nodes at a depth | strength a): at each branching of each leaf a Dirichlet-multinomial."""
    total = 0.0
    for parent, children in children_of(shrinkage).items():
        if shrinkage.depth[children[0] - 1] != depth:
            continue
        for leaf in leaves:
            inner = [leaf[shrinkage.low[child] : shrinkage.high[child]].sum() for child in children]
            total += gammaln(a) - gammaln(leaf[shrinkage.low[parent] : shrinkage.high[parent]].sum() + a)
            for n, child in zip(inner, children, strict=True):
                total += gammaln(n + a * shrinkage.share[child - 1]) - gammaln(a * shrinkage.share[child - 1])
    return float(total)


def drawn_leaves(shrinkage: Shrinkage, strength: float, leaves: int, rows: int, seed: int) -> np.ndarray:
    """Leaves whose probabilities vary around the marginal as a Dirichlet distribution of this strength."""
    rng = np.random.default_rng(seed)
    shape = np.maximum(strength * shrinkage.marginal, 1e-3)
    return np.array([rng.multinomial(rows, p) for p in rng.dirichlet(shape, leaves)], dtype=np.float64)


@given(st.integers(0, 2**32), st.sampled_from([0.5, 4.0, 60.0, 1e4]), st.integers(1, 20), st.booleans())
def test_strengths_make_the_counts_most_probable(seed: int, strength: float, leaves: int, numeric: bool) -> None:
    feature: Feature = Integer("n", 0, 9) if numeric else Categorical("c", tuple("abcde"))
    values = np.random.default_rng(seed).binomial(len(feature.atoms) - 1 if not numeric else 9, 0.4, 300)
    bins, counts = binned(values, feature)
    shrinkage = Shrinkage.of(bins, counts)
    leaf_counts = drawn_leaves(shrinkage, strength, leaves, 40, seed)
    fitted = shrinkage.fitted(leaf_counts)
    least = 0.0
    for depth in range(int(shrinkage.depth.max()) + 1):
        (chosen,) = set(fitted.strength[shrinkage.depth == depth].tolist())
        scores = {a: likelihood(shrinkage, leaf_counts, depth, a) for a in STRENGTHS.tolist()}
        assert chosen in scores
        if chosen > least:
            assert scores[chosen] >= max(scores.values()) - 0.02  # of strengths that are as good, the greatest
        else:
            assert chosen == least
            assert max(scores, key=lambda a: scores[a]) <= least
        least = chosen


def test_strengths_are_found_again() -> None:
    bins, counts = binned(np.repeat(np.arange(8.0), 200), Ordinal("o", tuple(range(8))))
    shrinkage = Shrinkage.of(bins, counts)
    star = Shrinkage.of(*binned(np.repeat(np.arange(8.0), 200), Categorical("c", tuple(range(8)))))
    for strength in (1.0, 16.0, 256.0):
        leaf_counts = drawn_leaves(star, strength, 60, 300, seed=1)
        assert star.fitted(leaf_counts).strength[0] == pytest.approx(strength, rel=1.01)
    assert shrinkage.fitted(np.tile(counts, (9, 1))).strength[0] == STRENGTHS[-1]


@given(st.data())
def test_strengths_never_fall_with_depth(data: st.DataObject) -> None:
    bins, counts = data.draw(any_counts())
    shrinkage = Shrinkage.of(bins, counts).fitted(data.draw(leaf_counts(len(bins))))
    by_depth = dict(zip(shrinkage.depth.tolist(), shrinkage.strength.tolist(), strict=True))
    strengths = [by_depth[depth] for depth in sorted(by_depth)]
    assert strengths == sorted(strengths)
    assert set(strengths) <= set(STRENGTHS.tolist())


def test_strengths_of_many_leaves_are_those_of_a_part() -> None:
    bins, counts = binned(np.repeat(np.arange(8.0), 200), Categorical("c", tuple(range(8))))
    shrinkage = Shrinkage.of(bins, counts)
    leaf_counts = drawn_leaves(shrinkage, 16.0, 3 * MANY_LEAVES, 300, seed=0)
    assert shrinkage.fitted(leaf_counts).strength.tolist() == shrinkage.fitted(leaf_counts[::3]).strength.tolist()


def test_one_bin_has_nothing_to_choose() -> None:
    bins, counts = binned([0.0, 0.0], Categorical("c", ("only",)))
    shrinkage = Shrinkage.of(bins, counts)
    assert shrinkage.fitted(counts[None]) is shrinkage
    assert shrinkage.probabilities(np.array([[0.0], [5.0]])).tolist() == [[1.0], [1.0]]
