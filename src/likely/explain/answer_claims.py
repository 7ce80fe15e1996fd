"""The claims of one answer, each computed anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from likely.circuit import Circuit
from likely.errors import LikelyError
from likely.explain.check import Check
from likely.explain.counterfactual import Counterfactual
from likely.explain.explanation import Explanation
from likely.explain.fitted import coherence_of, log_likelihood_of
from likely.explain.model import UserModel
from likely.explain.outcomes import goal_of, outcomes, range_in_words, said_of
from likely.explain.plausibility import Measure, Rows
from likely.explain.training import Training
from likely.problem.tolerances import MARGIN_ROUNDING, PROBABILITY_ROUNDING, SINGLES_ROUNDING, close, rounding
from likely.schema.values import Numbers, Value, show_value


@dataclass(frozen=True, eq=False)
class Judge:
    """What answers are held against; what is None was not given."""

    model: UserModel
    circuit: Circuit | None
    training: Training | None


def to_give(rows: Rows) -> str:
    """What to give to `verify` to have claims checked that compare with rows.

    Args:
        rows: Which.
    """
    return "give the training rows, or the explainer" if rows == "training" else "give the explainer: it has held rows out"


def answer_checks(explanation: Explanation, judge: Judge) -> Iterator[Check]:
    """Every claim of every answer; the model is asked once for all.

    Args:
        explanation: Whose answers.
        judge: The model, and what else was given.
    """
    answers, query = explanation.counterfactuals, explanation.query
    rows = np.array([query.factual, *(answer.numbers for answer in answers)])
    complete = ~np.isnan(rows).any(axis=1)
    labels: list[Value] = [None] * len(rows)
    said = said_of(judge.model, query.question, rows[complete], [query.target] * int(complete.sum()))
    for j, label in zip(np.flatnonzero(complete), said, strict=True):
        labels[j] = label
    shares = _shares(judge.model, rows, complete)
    for i, answer in enumerate(answers):
        made = [*_row(answer)]
        if complete[i + 1] and answer.label in outcomes(judge.model.form, query.question):
            made += _class(answer, labels[i + 1], judge.model, explanation.margin)
            made += _probability("before", answer, answer.probability_before, query.factual, shares[0], judge.model)
            made += _probability("after", answer, answer.probability_after, answer.numbers, shares[i + 1], judge.model)
            made += _prediction(answer, judge.model)
            made += _likelihood(explanation, answer, judge)
            made += _coherence(explanation, answer, judge)
        else:
            made.append(Check("it is a row with a class of the model's", False))
        yield from (replace(check, answer=i) for check in made)


def _shares(model: UserModel, rows: Numbers, complete: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[Numbers | None]:
    """The model's own probabilities of each row; None of one that is not complete, and if it gives none."""
    shares: list[Numbers | None] = [None] * len(rows)
    probabilities = model.probabilities(rows[complete]) if complete.any() else None
    if probabilities is not None:
        for i, of_row in zip(np.flatnonzero(complete), probabilities, strict=True):
            shares[i] = of_row
    return shares


def _row(answer: Counterfactual) -> Iterator[Check]:
    """By the schema, from the values as the user has them."""
    query = answer.query
    try:
        row = query.schema.encode_row(list(answer.values), complete=True)
    except LikelyError as error:
        yield Check("the values are those of the features", False, str(error))
        return
    pairs = zip(query.schema.features, row, query.factual, strict=True)
    stray = [str(f.name) for f, number, before in pairs if number != before and not f.fits(np.array([number]))[0]]
    yield Check("the values are those of the features", not stray, ", ".join(stray))
    broken = query.schema.violations(list(query.values), list(answer.values))
    yield Check("every rule is kept", not broken, "; ".join(rule.sentence(answer.query.schema) for rule in broken))
    cost = query.schema.cost(list(query.values), list(answer.values))
    yield Check("the cost is the schema's", close(cost, answer.cost), f"{cost:.6g}")
    objective = answer.cost - (query.total_weight * (answer.log_likelihood or 0.0) if query.total_weight else 0.0)
    yield Check("the objective is cost - weight * log-likelihood", close(objective, answer.objective), f"{objective:.6g}")


def _class(answer: Counterfactual, label: Value, model: UserModel, margin: float) -> Iterator[Check]:
    """By the model itself: what it says of the row; and by its form, how clearly."""
    query = answer.query
    detail = f"it says {show_value(label)}" if query.question.ends is None else range_in_words(query.question)
    yield Check(f"the model decides {show_value(answer.label)}", label == answer.label, detail)
    reached = answer.label != query.label if query.target is None else answer.label == query.target
    yield Check("that is what was asked for", reached)
    goal = goal_of(model.form, query.question, answer.label, margin * (1 - MARGIN_ROUNDING))
    yield Check(f"its score is on that side by {margin:g}", bool(goal.met(model.form.score(answer.numbers[None]))[0]))


def _probability(
    when: str, answer: Counterfactual, claimed: float | None, row: Numbers, share: Numbers | None, model: UserModel
) -> Iterator[Check]:
    """By the model's form, and by the model itself, which may compute in singles."""
    claim = f"the probability of {show_value(answer.label)} {when} is the model's"
    if not (model.form.link.classifies and model.form.link.has_probabilities) or np.isnan(row).any():
        yield Check(claim, claimed is None, "there is none")
        return
    index = model.form.classes.index(answer.label)
    true = float(model.form.probabilities(row[None])[0, index])
    holds = claimed is not None and close(true, claimed)
    holds &= share is None or claimed is None or abs(float(share[index]) - claimed) <= PROBABILITY_ROUNDING
    yield Check(claim, holds, f"{true:.6g}")


def _prediction(answer: Counterfactual, model: UserModel) -> Iterator[Check]:
    """By the model's form, and by the model itself, which may compute in singles; earlier versions did not say it."""
    claim = "the prediction is the model's"
    if model.form.link.classifies:
        if answer.prediction is not None:
            yield Check(claim, False, "there is none")
        return
    true, said = float(model.form.predict(answer.numbers[None])[0]), float(model.predictions(answer.numbers[None])[0])
    if answer.prediction is None:
        yield Check(claim, None, f"it is {true:.6g}, and was not written")
        return
    yield Check(claim, close(true, answer.prediction) and close(said, answer.prediction, SINGLES_ROUNDING), f"{true:.6g}")


def _likelihood(explanation: Explanation, answer: Counterfactual, judge: Judge) -> Iterator[Check]:
    """By the circuit; and beside the rows that it is compared with."""
    threshold = dict(explanation.thresholds).get(answer.label)
    if judge.circuit is None:
        yield Check("it is as likely as claimed", None, "give the circuit")
    else:
        log = log_likelihood_of(judge.circuit, answer.query, answer.numbers, answer.label)
        same = answer.log_likelihood is not None and close(log, answer.log_likelihood)
        yield Check("it is as likely as claimed", same, f"{log:.6g}")
        if threshold is not None:
            enough = log >= threshold - rounding(threshold)
            yield Check("it is as likely as was asked for", enough, f"{log:.6g} >= {threshold:.6g}")
        claim = "it is likelier than as many rows as claimed"
        yield from _percentile(claim, answer, (log, answer.percentile), judge)


def _coherence(explanation: Explanation, answer: Counterfactual, judge: Judge) -> Iterator[Check]:
    """By the circuit; and beside the rows that it is compared with. Earlier versions claimed nothing of it."""
    threshold = dict(explanation.coherence_thresholds).get(answer.label)
    if answer.coherence is None:
        if threshold is not None:
            yield Check("its values fit together as claimed", False, "it does not say how well")
        return
    if judge.circuit is None:
        yield Check("its values fit together as claimed", None, "give the circuit")
        return
    fit = coherence_of(judge.circuit, answer.numbers, answer.label)
    slack = rounding(max(abs(fit), abs(answer.log_likelihood or 0.0)))  # of sums of the size of a log-likelihood
    same = fit == answer.coherence or abs(fit - answer.coherence) <= slack
    yield Check("its values fit together as claimed", same, f"{fit:.6g}")
    if threshold is not None:
        yield Check("its values fit together as was asked for", fit >= threshold - slack, f"{fit:.6g} >= {threshold:.6g}")
    claim = "its values fit together better than in as many rows as claimed"
    yield from _percentile(claim, answer, (fit, answer.coherence_percentile), judge, "coherence")


def _percentile(
    claim: str, answer: Counterfactual, claimed: tuple[float, float | None], judge: Judge, measure: Measure = "likelihood"
) -> Iterator[Check]:
    """Beside the rows that it is compared with: by how many percent of them a log, computed anew, is no less."""
    query, (log, percent) = answer.query, claimed
    if judge.training is None or not judge.training.knows(query.rows):
        yield Check(claim, None, to_give(query.rows))
        return
    peers = query.peers(outcomes(judge.model.form, query.question).index(answer.label), measure)
    slack = 2 * rounding(log)  # a row that is as likely may count or not
    least, true, most = (judge.training.percentile(log + off, peers) for off in (-slack, 0.0, slack))
    if least is None or most is None or percent is None:
        yield Check(claim, percent is None and true is None)
    else:
        yield Check(claim, least <= percent <= most, f"{true:.4g} %")
