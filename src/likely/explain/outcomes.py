"""What a question asks the model to say - a class, how probable one is, or a prediction - and whether the model says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from likely._display.numbers import number_text
from likely.errors import ProblemError
from likely.explain.dtype_rounding import held_row
from likely.explain.model import UserModel
from likely.explain.question import Question
from likely.predictor import Form
from likely.predictor.forms import ColumnForm
from likely.problem import Goal, prediction, probability, to_class
from likely.schema.values import Numbers, Value, show_value


def outcomes(form: Form, question: Question) -> tuple[Value, ...]:
    """What answers are labelled: the model's classes; of a regressor, the prediction that is asked for, in words.

    Args:
        form: Of the model.
        question: What is asked.
    """
    return (range_in_words(question),) if question.prediction is not None else form.classes


def range_in_words(question: Question) -> str:
    """`between 100 and 200`, `at least 100`: the prediction or the probability that is asked for.

    Args:
        question: It asks for one.
    """
    share = question.probability is not None
    ends: Any = question.probability if share else question.prediction
    low, high = ends
    words = [f"{number_text(100 * end)} %" if share else number_text(end) for end in (low, high) if end is not None]
    if low is None or (share and low == 0):
        return f"at most {words[-1]}"
    if high is None or (share and high == 1):
        return f"at least {words[0]}"
    return f"between {words[0]} and {words[1]}"


def goal_of(form: Form, question: Question, label: Value, margin: float) -> Goal:
    """What the scores of an answer must be.

    The margin is by how much the score of a class must win, and how far the score of a probability or a prediction must keep
    from its ends. Trees have few different scores, which may lie at an end: they need not keep away, unless the model itself,
    which may round otherwise, did not confirm that, and the margin was raised.

    Args:
        form: Of the model.
        question: What is asked.
        label: The outcome to reach.
        margin: That of the question, or more.
    """
    if question.ends is None:
        return to_class(form, label, margin=margin)
    smooth = isinstance(form, ColumnForm)
    away = margin if smooth or margin > question.margin else None
    if question.prediction is not None:
        return prediction(form, *question.ends, margin=away)
    goal, index = probability(form, label, *question.ends, margin=away), form.classes.index(label)
    return replace(goal, alternatives=tuple(replace(each, class_index=index) for each in goal.alternatives))


def said_of(model: UserModel, question: Question, rows: Numbers, targets: Sequence[Value]) -> list[Value]:
    """What the model itself says of rows, as outcomes; None where it does not say what is asked for.

    Args:
        model: The user's model.
        question: What is asked.
        rows: Complete rows.
        targets: The outcome that each row is to reach; only a probability is of one.
    """
    if question.ends is None:
        return model.labels(rows)
    low, high = question.ends
    if question.prediction is not None:
        wanted = range_in_words(question)
        return [wanted if low <= float(number) <= high else None for number in model.predictions(rows)]
    shares = model.probabilities(rows)
    assert shares is not None  # a model without probabilities was refused
    places = [model.form.classes.index(target) for target in targets]
    return [target if low <= shares[i, k] <= high else None for i, (target, k) in enumerate(zip(targets, places, strict=True))]


def refuse_outcome(form: Form, question: Question) -> None:
    """Refuse a question that a model of this kind cannot be asked.

    Args:
        form: Of the model.
        question: What is asked.
    """
    if not form.link.classifies and question.prediction is None:
        raise ProblemError(
            "A question to a regressor", "say which prediction is wanted",
            f"target={question.target!r}" if question.probability is None else f"probability={question.probability}",
            "write prediction=(low, high); None for no end",
        )  # fmt: skip
    if form.link.classifies and question.prediction is not None:
        known = ", ".join(repr(label) for label in form.classes)
        raise ProblemError("A prediction to reach", "be asked of a regressor", f"a model of classes {known}", "use target=")
    if question.probability is not None and not form.link.has_probabilities:
        raise ProblemError(
            "A probability to reach", "be asked of a model that has probabilities", f"one that decides by '{form.link.kind}'",
            "ask for target= alone, or calibrate the model",
        )  # fmt: skip
    if question.probability is not None and question.target is None and len(form.classes) > 2:
        known = ", ".join(repr(label) for label in form.classes)
        raise ProblemError("A probability to reach", "be that of a class", "no target", f"write target=, one of {known}")


def reached_rows(model: UserModel, question: Question, rows: Numbers, labels: Sequence[Value]) -> list[bool]:
    """Which rows have the probability or the prediction that is asked for already; the model is asked once for all.

    Args:
        model: The user's model.
        question: What is asked.
        rows: Complete rows.
        labels: The class of each.
    """
    if question.ends is None or not len(rows):
        return [False] * len(rows)
    held = np.stack([held_row(model.schema, row) for row in rows])
    sought = question.prediction is None
    targets = [target_of(model.form, label, question) if sought else None for label in labels]
    return [said is not None for said in said_of(model, question, held, targets)]


def refuse_reached(question: Question) -> None:
    """Refuse to ask for the probability or the prediction that a row has already.

    Args:
        question: What is asked; its target is known.
    """
    what = "prediction" if question.prediction is not None else f"probability of {show_value(question.target)}"
    rule, got = "be one that the row does not have", f"{range_in_words(question)}, which it has already"
    raise ProblemError(f"The {what} to reach", rule, got, "ask for another one")


def target_of(form: Form, label: Value, question: Question) -> Value:
    """What to reach: the class that was asked for, or the only other, None if there are several others; or the prediction.

    Args:
        form: Of the model.
        label: The class of the row.
        question: What is asked.
    """
    target: Value = question.target
    if question.prediction is not None:
        if target is not None:
            raise ProblemError("A question for a prediction", "have no target", repr(target), "leave it out")
        return range_in_words(question)
    if target is None:
        others = [other for other in form.classes if other != label]
        return others[0] if len(form.classes) == 2 else None
    refuse_target(form, target)
    if target == label and question.probability is None:
        raise ProblemError(
            "The target", "differ from the row's class", f"{target!r}, which the model decides already", "leave it out"
        )
    return target


def refuse_target(form: Form, target: Value) -> None:
    """Refuse a class that the model does not have.

    Args:
        form: Of the model.
        target: The class that was asked for; None for any.
    """
    if target is not None and target not in form.classes:
        known = ", ".join(repr(other) for other in form.classes)
        raise ProblemError("The target", "be one of the model's classes", repr(target), f"it has {known}")
