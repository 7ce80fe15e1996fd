"""Goals: which scores reach them, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from likely.errors import ProblemError
from likely.predictor import Column, LinearModel, Link
from likely.problem import between, not_class, prediction, probability, to_class
from likely.problem.tolerances import SINGLES_ROUNDING
from tests.strategies import generators

CLASSES = ("x", "y", "z")


def form_of(kind: str, outputs: int = 1, classes: tuple[str, ...] = (), scale: float = 1.0) -> LinearModel:
    """A model whose scores are its features."""
    columns = tuple(Column(j, 1.0) for j in range(outputs))
    return LinearModel(Link(kind, scale), classes, columns, np.eye(outputs), np.zeros(outputs))


FORMS = [
    *(form_of("softmax", 3, CLASSES, scale) for scale in (1.0, 0.25)),
    form_of("softmax", 2, CLASSES[:2], 2.0),
    form_of("shares", 3, CLASSES),
    form_of("logistic", 1, CLASSES[:2], 2.0),
    form_of("huber", 1, CLASSES[:2]),
]


def scores_of(form: LinearModel, rng: np.random.Generator, count: int = 200) -> np.ndarray:
    if form.link.kind == "shares":
        return rng.dirichlet(np.ones(form.outputs), count)
    return rng.normal(scale=rng.choice([0.3, 1.0, 5.0, 200.0]), size=(count, form.outputs))


@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.link.kind}-{form.outputs}-{form.link.scale}")
@given(rng=generators(), one=st.sampled_from([0.0, 0.1, 0.5, 0.8, 1.0]), other=st.floats(0, 1))
def test_probability_says_what_the_model_says(form: LinearModel, rng: np.random.Generator, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assume((low, high) != (0, 1))
    scores = scores_of(form, rng)
    number = int(rng.integers(len(form.classes)))
    shares = form.link.probabilities(scores)[:, number]
    goal = probability(form, form.classes[number], low, high)
    met = goal.met(scores)
    off = 2 * SINGLES_ROUNDING
    inside, outside = (low <= shares) & (shares <= high), (shares < low - off) | (shares > high + off)
    assert met[inside].all(), "a probability that is an end is reached"
    assert not met[outside].any()
    for alternative in goal.alternatives:
        if alternative.class_index is not None:
            assert (form.link.decide(scores[alternative.met(scores)]) == alternative.class_index).all()


def test_what_the_goals_say() -> None:
    form = form_of("softmax", 3, CLASSES)
    assert probability(form, "y", 0.8).sentence == "the probability of 'y' lies between 0.8 and 1"
    assert to_class(form, "y").sentence == "the class is 'y'"
    assert not_class(form, "y").sentence == "the class is not 'y'"
    assert prediction(form_of("identity"), 1, 2).sentence == "the prediction lies between 1 and 2"


def test_prediction_is_after_the_link() -> None:
    scores = np.array([[-1.0], [0.0], [1.0], [2.0]])
    for kind, predicted in (("identity", scores[:, 0]), ("exponential", np.exp(scores[:, 0]))):
        form = form_of(kind)
        for low, high in ((0.5, 2.0), (-1.0, 1.0), (1.0, np.inf), (-np.inf, 3.0)):
            assert prediction(form, low, high).met(scores).tolist() == ((low <= predicted) & (predicted <= high)).tolist()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: probability(FORMS[0], "w", 0.5), r"The class to reach must be one of the model's; got 'w'\."),
        (lambda: probability(FORMS[0], "x", 0.6, 0.4), r"A probability to reach must have 0 <= low <= high <= 1"),
        (lambda: probability(FORMS[0], "x"), r"A probability to reach must .*, not all of it; got \(0\.0, 1\.0\)"),
        (lambda: probability(form_of("argmax", 3, CLASSES), "x", 0.5), r"must be a softmax, .* got link 'argmax'\."),
        (lambda: prediction(FORMS[0], 0.5), r"A goal for a prediction must be asked of a regressor"),
        (lambda: prediction(form_of("exponential"), -2, -1), r"A goal for a prediction must be above 0"),
        (lambda: between(FORMS[0], 1, 0), r"A goal must have low <= high"),
        (lambda: between(FORMS[0], 1, output=3), r"The output of a goal must be below 3; got 3\."),
    ],
)  # fmt: skip
def test_refused(make, says: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ProblemError, match=says):
        make()
