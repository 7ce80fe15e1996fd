"""Links: scores to probabilities and classes, against the formulas written out."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from likely.errors import PredictorError
from likely.predictor import Link
from likely.predictor.links import KINDS

SCORES = st.floats(-30, 30)
ONE = [kind for kind, several in KINDS.items() if several is False]
SEVERAL = [kind for kind, several in KINDS.items() if several]
NONE = [kind for kind, several in KINDS.items() if several is None]


def logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def huber(x: float) -> float:
    return (min(max(x, -1), 1) + 1) / 2


def shares_of(parts: list[float]) -> list[float]:
    return [part / sum(parts) if sum(parts) else 1 / len(parts) for part in parts]


FORMULAS = {
    "logistic": lambda s, scale: [1 - logistic(scale * s[0]), logistic(scale * s[0])],
    "huber": lambda s, scale: [1 - huber(s[0]), huber(s[0])],
    "softmax": lambda s, scale: shares_of([math.exp(scale * x) for x in s]),
    "shares": lambda s, scale: list(s),
    "logistic_shares": lambda s, scale: shares_of([logistic(scale * x) for x in s]),
    "huber_shares": lambda s, scale: shares_of([huber(x) for x in s]),
}


@pytest.mark.parametrize("kind", KINDS)
@given(scores=hnp.arrays(np.float64, (7, 3), elements=SCORES), scale=st.sampled_from([0.5, 1.0, 2.0]))
def test_probabilities(kind, scores, scale):
    link = Link(kind, scale=scale)
    assert link.has_probabilities == (kind in FORMULAS)
    if kind not in FORMULAS:
        with pytest.raises(PredictorError, match=f"A model must have probabilities; got link '{kind}'. Hint: use its scores."):
            link.probabilities(scores)
        return
    scores = scores if link.one_score_per_class else scores[:, :1]
    expected = [FORMULAS[kind](row, scale) for row in scores]
    np.testing.assert_allclose(link.probabilities(scores), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", SEVERAL)
@given(scores=hnp.arrays(np.float64, (5, 3), elements=SCORES))
def test_the_class_of_several_is_the_first_with_the_largest_score(kind, scores):
    decided = Link(kind).decide(scores)
    assert decided.tolist() == [row.tolist().index(max(row)) for row in scores]
    assert Link(kind).decide(np.zeros((1, 3))).tolist() == [0]


@pytest.mark.parametrize("kind", ["softmax", "logistic_shares", "logistic"])
@given(scores=hnp.arrays(np.float64, (5, 3), elements=SCORES))
def test_the_class_is_a_most_probable_one(kind, scores):
    link = Link(kind)
    scores = scores if link.one_score_per_class else scores[:, :1]
    probabilities = link.probabilities(scores)
    chosen = probabilities[np.arange(len(scores)), link.decide(scores)]
    np.testing.assert_allclose(chosen, probabilities.max(axis=1))


@pytest.mark.parametrize("kind", ONE)
def test_ties_of_one_score(kind):
    scores = np.array([[-1.0], [math.nextafter(0, -1)], [-0.0], [0.0], [math.nextafter(0, 1)], [1.0]])
    assert Link(kind).decide(scores).tolist() == [0, 0, 0, 0, 1, 1]
    assert Link(kind, tie=True).decide(scores).tolist() == [0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize("kind", NONE)
def test_regressors_have_no_classes(kind):
    assert not Link(kind).classifies
    with pytest.raises(PredictorError, match=f"A model must have classes; got link '{kind}' of a regressor"):
        Link(kind).decide(np.zeros((1, 1)))
    expected = [2.0, -1.0] if kind == "identity" else [math.exp(2), math.exp(-1)]
    np.testing.assert_allclose(Link(kind).predict(np.array([[2.0], [-1.0]])), expected)


def test_extremes_are_finite():
    for kind in FORMULAS:
        scores = np.array([[1e300, -1e300], [-1e300, -1e300]]) if kind != "shares" else np.eye(2)
        scores = scores if Link(kind).one_score_per_class else scores[:, :1]
        probabilities = Link(kind).probabilities(scores)
        assert np.isfinite(probabilities).all()
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_json_and_hash(kind):
    link = Link(kind, scale=1 / 3, tie=True)
    again = Link(**json.loads(json.dumps(link.to_dict())))
    assert again == link
    assert hash(again) == hash(link)
    assert Link(kind) != link


def test_what_a_link_cannot_be():
    with pytest.raises(
        PredictorError, match=r"A link must have a known kind; got 'probit'. Hint: use one of identity, exponential"
    ):
        Link("probit")
    for scale in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(PredictorError, match="The scale of a link must be a positive number; got"):
            Link("logistic", scale=scale)


@given(st.sampled_from(ONE), SCORES, st.floats(-3, 3), st.booleans())
def test_an_offset_is_of_probabilities_alone(kind, score, offset, tie):
    plain, link = Link(kind, tie=tie), Link(kind, tie=tie, offset=offset)
    assert link.decide(np.array([[score]])) == plain.decide(np.array([[score]]))
    assert Link(**json.loads(json.dumps(link.to_dict()))) == link
    if link.has_probabilities:
        ours, theirs = link.probabilities(np.array([[score]])), plain.probabilities(np.array([[score + offset]]))
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(("kind", "offset"), [("softmax", 1.0), ("identity", 0.5), ("logistic", math.inf)])
def test_offsets_of_what_has_no_threshold_are_refused(kind, offset):
    with pytest.raises(PredictorError, match="The offset of a link must be a finite number, of one score for two classes"):
        Link(kind, offset=offset)
