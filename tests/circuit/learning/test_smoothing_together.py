"""Variables that are smoothed together have the probabilities and strengths that each has alone."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from likely.circuit.learning.smoothing import Shrinkage
from likely.circuit.learning.smoothing_together import JointShrinkage
from tests.circuit.learning.test_smoothing import any_counts


@st.composite
def variables_with_leaves(draw: st.DrawFn) -> tuple[tuple[Shrinkage, ...], list[np.ndarray]]:
    """The trees of some variables, and the counts of their leaves; some leaves have no rows."""
    drawn = draw(st.lists(any_counts(), min_size=1, max_size=5))
    leaves = draw(st.integers(1, 6))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shares = random.dirichlet(np.full(leaves, 0.5)) * (random.random(leaves) < 0.8)
    counts = [np.outer(shares, of_all) * random.gamma(1.0, size=(leaves, len(of_all))) for _, of_all in drawn]
    return tuple(Shrinkage.of(bins, of_all) for bins, of_all in drawn), counts


@given(variables_with_leaves())
def test_probabilities_are_those_of_each_alone(drawn: tuple[tuple[Shrinkage, ...], list[np.ndarray]]) -> None:
    trees, counts = drawn
    together = JointShrinkage(trees).probabilities(np.concatenate(counts, axis=1))
    alone = [tree.probabilities(each) for tree, each in zip(trees, counts, strict=True)]
    np.testing.assert_allclose(together, np.concatenate(alone, axis=1), rtol=1e-12)


@given(variables_with_leaves())
def test_strengths_are_those_of_each_alone(drawn: tuple[tuple[Shrinkage, ...], list[np.ndarray]]) -> None:
    trees, counts = drawn
    joint = JointShrinkage(trees)
    for _ in range(2):  # from the first strengths, and from those that were found
        alone = [tree.fitted(each) for tree, each in zip(joint.trees, counts, strict=True)]
        joint = joint.fitted(np.concatenate(counts, axis=1))
        for one, other in zip(joint.trees, alone, strict=True):
            np.testing.assert_array_equal(one.strength, other.strength)


@given(variables_with_leaves())
def test_leaves_without_rows_have_no_say(drawn: tuple[tuple[Shrinkage, ...], list[np.ndarray]]) -> None:
    trees, counts = drawn
    whole = np.concatenate(counts, axis=1)
    more = np.concatenate([whole, np.zeros((3, whole.shape[1]))])
    for one, other in zip(JointShrinkage(trees).fitted(whole).trees, JointShrinkage(trees).fitted(more).trees, strict=True):
        np.testing.assert_array_equal(one.strength, other.strength)
