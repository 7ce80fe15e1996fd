"""`Question`: one value for everything that can be asked, given as such or as keyword arguments."""

from __future__ import annotations

import json
import math
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likely
from likely.errors import ProblemError
from likely.explain import QuestionOptions
from likely.problem import Limits
from tests.explain.examples import explainer_of, rejected, schema_of

RULES = [likely.MaxChanges(2), likely.Range("age", upper=60), likely.LinearConstraint.ordered("debt", "income")]
questions = st.builds(
    likely.Question,
    target=st.sampled_from([None, "yes", 1, True]),
    k=st.integers(1, 9),
    diversity=st.sampled_from(["features", "values"]),
    plausibility=st.sampled_from([None, likely.Quantile(0.25, of="all"), likely.Threshold(-math.inf), likely.Weight(0.1)]),
    constraints=st.lists(st.sampled_from(RULES)),
    locked=st.lists(st.sampled_from(["age", "income", 7])),
    limits=st.builds(Limits, seconds=st.floats(0.1, 99), nodes=st.integers(1, 99), pool_gap=st.sampled_from([0.1, math.inf])),
    margin=st.floats(0, 2),
    unread=st.sampled_from(["keep", "free"]),
    may_become_missing=st.sampled_from([True, False, (), ["age", 7]]),
    rounding=st.floats(0, 1),
)


@given(questions)
def test_json_there_and_back(question: likely.Question) -> None:
    again = likely.Question.from_dict(json.loads(json.dumps(question.to_dict(), allow_nan=False)))
    assert again == question
    assert hash(again) == hash(question)
    assert again.to_dict() == question.to_dict()


def test_every_field_may_be_given_as_an_option() -> None:
    assert list(QuestionOptions.__annotations__) == [field.name for field in fields(likely.Question)]


def test_a_question_and_options_say_the_same() -> None:
    row = rejected().iloc[0]
    question = likely.Question(k=3, locked=["housing"], plausibility=likely.Quantile(0.25))
    answer = explainer_of().explain(row, k=3, locked=["housing"], plausibility=likely.Quantile(0.25))
    assert explainer_of().explain(row, question) == answer
    assert explainer_of().explain_many(rejected(1), question) == [answer]
    assert (
        explainer_of().explain(row, question, k=1).counterfactuals
        == explainer_of().explain(row, locked="housing", plausibility=likely.Quantile(0.25)).counterfactuals
    )
    assert answer.query.question == likely.Question(target="yes", k=3, locked="housing", plausibility=likely.Quantile(0.25))


def test_a_front_and_why_not_take_the_question_of_an_explanation() -> None:
    row = rejected().iloc[0]
    front = explainer_of().front(row, likely.Question(k=3, weight=0.1, locked=["housing"]), quantiles=[0.5])
    assert front == explainer_of().front(row, locked=["housing"], quantiles=[0.5])
    nothing = likely.Question(k=3, weight=0.1, locked=[name for name in row.index if name != "debt"])
    assert str(explainer_of().why_not(row, nothing)) == str(explainer_of().why_not(row, locked=nothing.locked))


def test_limits_only_say_when_to_stop() -> None:
    """How many answers of which kind is the question's: limits do not change it."""
    row = rejected().iloc[0]
    free = explainer_of().explain(row, k=3)
    limited = explainer_of().explain(row, k=3, limits=Limits(seconds=50))
    assert limited.counterfactuals != ()
    assert [answer.values for answer in limited.counterfactuals] == [answer.values for answer in free.counterfactuals]
    assert likely.Question(limits=None) == likely.Question()  # type: ignore[arg-type]
    assert likely.Question(k=4, limits=Limits(solutions=4, other_features=True)) == likely.Question(k=4)


def test_one_rule_or_name_is_enough() -> None:
    rule = likely.MaxChanges(2)
    assert likely.Question(constraints=rule, locked="age") == likely.Question(constraints=[rule], locked=["age"])  # type: ignore[arg-type]
    row = schema_of().encode_row(rejected().iloc[0])
    asked = likely.Question(constraints=[rule], locked=["age"]).schema_with_rules(schema_of(), row)
    assert asked.constraints == (*schema_of().constraints, rule, likely.Immutable("age"))
    assert likely.Question().schema_with_rules(schema_of(), row) is schema_of()
    assert likely.Question(limits=5) == likely.Question(limits=Limits(seconds=5))  # type: ignore[arg-type]
    assert explainer_of().explain(rejected().iloc[0], limits=5, constraints=rule).best.number_of_changes <= 2  # type: ignore[typeddict-item]
    missing = likely.Question(may_become_missing="age")
    assert missing == likely.Question(may_become_missing=["age"]) != likely.Question(may_become_missing=False)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"k": 0}, "k, the number of answers, must be a whole number of at least 1; got 0. Hint: leave it out for one answer"),
        ({"k": True}, "k, the number of answers, must be a whole number of at least 1; got True"),
        ({"diversity": "rows"}, "The diversity of answers must be 'features' or 'values'; got 'rows'"),
        (
            {"limits": "5"},
            r"The limits of a question must be Limits, or a number of seconds; got '5'. Hint: write limits=5 for five seconds",
        ),
        ({"limits": True}, "The limits of a question must be Limits, or a number of seconds; got True"),
        ({"limits": 0}, "Limits must be positive"),
        ({"limits": math.nan}, "Limits must be positive"),
        ({"unread": "lock"}, r"What is done with unread features \(unread\) must be 'keep' or 'free'; got 'lock'"),
        ({"rounding": -1e-4}, r"What round numbers may cost \(rounding\) must be a number of at least 0; got -0.0001"),
        ({"rounding": math.nan}, r"What round numbers may cost \(rounding\) must be a number of at least 0; got nan"),
        ({"margin": math.inf}, "The margin of score must be a number of at least 0; got inf"),
        ({"weight": math.nan}, "The weight of likelihood must be a number of at least 0; got nan"),
        ({"limits": Limits(solutions=3)}, "leave the number of answers to the question; got .* Hint: ask with k=3"),
        ({"limits": Limits(other_features=True), "diversity": "values"}, "leave the diversity of answers to the question"),
        ({"constraints": "age"}, r"The constraints of a question must be rules; got 'age'. Hint: write constraints=\["),
        ({"constraints": ["age"]}, "The constraints of a question must be rules"),
        ({"margin": math.nan}, "The margin of score must be a number of at least 0; got nan"),
        ({"margin": -1}, "The margin of score must be a number of at least 0; got -1"),
        ({"weight": math.inf}, "The weight of likelihood must be a number of at least 0; got inf"),
    ],
)
def test_fields_that_make_no_sense(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        likely.Question(**fields)


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"seconds": 10}, "got seconds=. Hint: write limits=10, a number of seconds"),
        ({"timeout": 10}, "write limits=10, a number of seconds"),
        ({"tagret": "yes"}, "got tagret=. Hint: write target="),
        ({"plausability": None}, "write plausibility="),
        ({"features_to_vary": ["age"]}, r"write only=\["),
        ({"zebra": 1}, "got zebra=. Hint: it has coherence, constraints, diversity, gap, k, limits"),
    ],
)
def test_options_that_there_are_not(options: Any, hint: str) -> None:
    row = rejected().iloc[0]
    explainer = explainer_of()
    for ask in (explainer.explain, explainer.why_not, explainer.front):
        with pytest.raises(ProblemError, match=f"A question must have known options; .*{hint}"):
            ask(row, **options)
    with pytest.raises(ProblemError, match=hint):
        explainer.explain_many(rejected(), **options)


def test_numbers_of_numpy() -> None:
    assert likely.Question(probability=np.float32(0.5)) == likely.Question(probability=0.5)
    assert likely.Question(probability=np.array([0.25, 0.5])) == likely.Question(probability=(0.25, 0.5))
    assert likely.Question(prediction=(np.int64(4), None)) == likely.Question(prediction=(4, None))
    assert likely.Question(prediction=np.array([4, np.inf])) == likely.Question(prediction=(4, None))


def test_a_class_in_the_place_of_a_question() -> None:
    with pytest.raises(
        ProblemError, match=r"A question must be a Question; got 'yes'. Hint: write target='yes', if it is a class"
    ):
        explainer_of().explain(rejected().iloc[0], "yes")  # type: ignore[arg-type]
