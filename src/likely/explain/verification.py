"""`verify`: every claim of an explanation checked again, without the engine that made it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from likely.circuit import Circuit
from likely.errors import LikelyError
from likely.explain.counterfactual import Counterfactual
from likely.explain.explanation import Explanation
from likely.explain.fitted import log_likelihood_of
from likely.explain.model import UserModel, fingerprint, user_model
from likely.explain.solving import allowed_gap
from likely.problem.tolerances import PROBABILITY_ROUNDING, close, rounding
from likely.schema.values import Value, show_value


@dataclass(frozen=True)
class Check:
    """One claim: whether it holds, and what is true instead; `holds` is None if it could not be checked."""

    claim: str
    holds: bool | None
    detail: str = ""
    #: The number of the answer it is about, from 0; None for the explanation as a whole.
    answer: int | None = None

    def __str__(self) -> str:
        mark = {True: "holds", False: "FAILS", None: "not checked"}[self.holds]
        of = "" if self.answer is None else f"answer {self.answer + 1}: "
        return f"{mark}: {of}{self.claim}" + (f" ({self.detail})" if self.detail else "")


@dataclass(frozen=True)
class Verification:
    """What was checked; true if nothing fails."""

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether no claim fails (one that could not be checked does not fail)."""
        return not self.failed

    @property
    def failed(self) -> tuple[Check, ...]:
        """The claims that do not hold."""
        return tuple(check for check in self.checks if check.holds is False)

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        counts = [sum(check.holds is state for check in self.checks) for state in (True, False, None)]
        head = f"{counts[0]} claims hold, {counts[1]} fail, {counts[2]} could not be checked"
        return "\n".join([head, *(f"  {check}" for check in sorted(self.checks, key=_order))])

    def to_dict(self) -> dict[str, Any]:
        """Plain data for machines."""
        return {"ok": self.ok, "checks": [vars(check) for check in self.checks]}


def _order(check: Check) -> int:
    """What fails first."""
    return {False: 0, None: 1, True: 2}[check.holds]


def verify(
    explanation: Explanation,
    model: Any,
    circuit: Circuit | None = None,
    *,
    encoder: Any = None,
    classes: Sequence[Any] | None = None,
) -> Verification:
    """Every claim of an explanation, checked with the model's own predict, the schema's rules and costs, and the circuit.

    What cannot be checked this way is listed as not checked: that nothing better exists is the engine's proof, and
    likelihoods need the circuit.

    Args:
        explanation: What to check.
        model: The model that was explained, or the path of its file.
        circuit: The circuit that was used; left out, likelihoods are not checked.
        encoder: The explainer's encoder, if it had one.
        classes: The explainer's names of classes, if it had some.
    """
    return verify_all([explanation], model, circuit, encoder=encoder, classes=classes)[0]


def verify_all(
    explanations: Iterable[Explanation],
    model: Any,
    circuit: Circuit | None = None,
    *,
    encoder: Any = None,
    classes: Sequence[Any] | None = None,
) -> list[Verification]:
    """`verify` of many explanations; the model is read once for all that have the same schema.

    Args:
        explanations: What to check.
        model: The model that was explained, or the path of its file.
        circuit: The circuit that was used; left out, likelihoods are not checked.
        encoder: The explainer's encoder, if it had one.
        classes: The explainer's names of classes, if it had some.
    """
    mark = None if circuit is None else fingerprint(circuit.to_dict())
    read: list[UserModel] = []
    verifications = []
    for explanation in explanations:
        schema = explanation.query.schema
        asked = next((known for known in read if known.schema == schema), None)
        if asked is None:
            asked = user_model(model, schema, encoder=encoder, classes=classes)
            read.append(asked)
        verifications.append(_verified(explanation, asked, circuit, mark))
    return verifications


def _verified(explanation: Explanation, model: UserModel, circuit: Circuit | None, mark: str | None) -> Verification:
    """Every claim checked; `mark` is the circuit's fingerprint."""
    checks = [*_whole(explanation, model, mark)]
    answers = explanation.counterfactuals
    rows = np.array([answer.numbers for answer in answers]).reshape(len(answers), len(explanation.query.schema))
    labels, shares = model.labels(rows), model.probabilities(rows) if len(rows) else None
    for i, answer in enumerate(answers):
        share = None if shares is None else float(shares[i, model.form.classes.index(answer.label)])
        made = [*_row(answer), *_class(answer, labels[i], share), *_likelihood(explanation, answer, circuit)]
        checks += [Check(check.claim, check.holds, check.detail, i) for check in made]
    return Verification(tuple(checks))


# -- the explanation as a whole ----------------------------------------------------------------------------------------


def _whole(explanation: Explanation, model: UserModel, mark: str | None) -> Iterator[Check]:
    query, evidence = explanation.query, explanation.evidence
    yield Check("the model is the one that was explained", model.fingerprint == evidence.model)
    if mark is not None:
        yield Check("the circuit is the one that was used", mark == evidence.circuit)
    if query.label is not None:
        label = model.labels(query.factual[None])[0]
        yield Check(
            f"the model decides {show_value(query.label)} for the row", label == query.label, f"it says {show_value(label)}"
        )
    if explanation.counterfactuals:
        yield from _bounds(explanation)
        rows = {answer.values for answer in explanation.counterfactuals}
        yield Check("the answers differ", len(rows) == len(explanation.counterfactuals))
    proof = {"optimal": "nothing better exists", "infeasible": "no answer exists"}.get(explanation.status)
    if proof:
        yield Check(proof, None, "that is the engine's proof")


def _bounds(explanation: Explanation) -> Iterator[Check]:
    objectives = [answer.objective for answer in explanation.counterfactuals]
    bounds, limits = explanation.bounds, explanation.query.limits
    yield Check("the best answer comes first", objectives == sorted(objectives))
    yield Check("the upper bound is the last answer's objective", close(objectives[-1], bounds.upper))
    if explanation.status == "optimal":
        near = bounds.gap <= allowed_gap(limits, bounds.upper)
        yield Check("the bounds are as close as was asked for", near, f"gap {bounds.gap:.3g}")


# -- one answer --------------------------------------------------------------------------------------------------------


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
    yield Check("every rule is kept", not broken, "; ".join(map(str, broken)))
    cost = query.schema.cost(list(query.values), list(answer.values))
    yield Check("the cost is the schema's", close(cost, answer.cost), f"{cost:.6g}")
    objective = answer.cost - (query.total_weight * (answer.log_likelihood or 0.0) if query.total_weight else 0.0)
    yield Check("the objective is cost - weight * log-likelihood", close(objective, answer.objective))


def _class(answer: Counterfactual, label: Value, share: float | None) -> Iterator[Check]:
    """By the model itself: what it says of the row, and its probability of the answer's class."""
    query = answer.query
    yield Check(f"the model decides {show_value(answer.label)}", label == answer.label, f"it says {show_value(label)}")
    reached = answer.label != query.label if query.target is None else answer.label == query.target
    yield Check("that is what was asked for", reached)
    if answer.probability_after is not None:
        holds = None if share is None else abs(share - answer.probability_after) <= PROBABILITY_ROUNDING
        yield Check("its probability is the model's", holds, "the model gives none" if share is None else f"{share:.4g}")


def _likelihood(explanation: Explanation, answer: Counterfactual, circuit: Circuit | None) -> Iterator[Check]:
    """By the circuit."""
    threshold = dict(explanation.thresholds).get(answer.label)
    if circuit is None:
        yield Check("it is as likely as claimed", None, "give the circuit")
        return
    log = log_likelihood_of(circuit, answer.query, answer.numbers, answer.label)
    yield Check(
        "it is as likely as claimed", answer.log_likelihood is not None and close(log, answer.log_likelihood), f"{log:.6g}"
    )
    if threshold is not None:
        enough = log >= threshold - rounding(threshold)
        yield Check("it is as likely as was asked for", enough, f"{log:.6g} >= {threshold:.6g}")
