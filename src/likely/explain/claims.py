"""The claims of an explanation, each computed anew: by the model, the schema, the circuit and the training rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version

import numpy as np

from likely.circuit import Circuit
from likely.errors import LikelyError, LikelyWarning
from likely.explain.answer_claims import Judge, answer_checks, to_give
from likely.explain.check import Check
from likely.explain.concluding import RAISE, RAISES, allowed_gap
from likely.explain.engines import ENGINES
from likely.explain.explanation import Explanation
from likely.explain.fitted import Fitted
from likely.explain.model import UserModel, fingerprint
from likely.explain.outcomes import outcomes, refuse_outcome, said_of
from likely.explain.plain import same_values
from likely.explain.plausibility import AtLeastFactual, Quantile, Threshold
from likely.explain.query import Query, rows_named
from likely.explain.solving import coherences_of, problems_of, starts_for, thresholds_of
from likely.explain.training import Training, given_names
from likely.explain.unread import unread_features
from likely.problem.tolerances import SINGLES_ROUNDING, close, rounding
from likely.schema import Schema
from likely.schema.values import Value, show_value

_STATUSES_WITH_ANSWERS = ("optimal", "feasible")


@dataclass(frozen=True, eq=False)
class Material:
    """What claims are checked against; what is None was not given."""

    model: UserModel
    circuit: Circuit | None
    #: The schema without the question's rules: as the explainer has it, or else as the explanation says.
    schema: Schema
    training: Training | None
    schema_given: bool

    def fitted_for(self, query: Query) -> Fitted | None:
        """All of it as an explainer knows it; None if something was not given that the query needs.

        Args:
            query: What was asked.
        """
        if self.circuit is None or self.training is None or not self.training.knows(query.rows):
            return None
        return Fitted(self.schema, self.model, self.circuit, self.training)


def claims_of(explanation: Explanation, material: Material, circuit_mark: str | None) -> Iterator[Check]:
    """Every claim, checked.

    Args:
        explanation: What to check.
        material: What to check it against.
        circuit_mark: The fingerprint of the circuit, if there is one.
    """
    yield from _file(explanation)
    if explanation.status == "refused":
        yield Check("the question could not be asked of the row", None, explanation.reason)
        return
    if explanation.reason:
        yield Check("only a row that was refused has a reason", False, explanation.reason)
    yield Check("the model is the one that was explained", material.model.fingerprint == explanation.evidence.model)
    if circuit_mark is None:
        yield Check("the circuit is the one that was used", None, "give the circuit")
    else:
        yield Check("the circuit is the one that was used", circuit_mark == explanation.evidence.circuit)
    yield from _schema(explanation, material)
    yield from _question(explanation, material)
    query = explanation.query
    try:
        refuse_outcome(material.model.form, query.question)
    except LikelyError as error:
        yield Check("the question is one to the model", False, str(error))
        return
    classes = (None, *outcomes(material.model.form, query.question))
    if query.schema.names != material.model.schema.names or query.target not in classes[query.question.ends is not None :]:
        return  # its rows are none of the model's, or its question is none
    yield from _thresholds(explanation, material)
    yield from _status(explanation)
    if explanation.counterfactuals:
        yield from _list_of_answers(explanation)
    yield from _proof(explanation, material)
    yield from answer_checks(explanation, Judge(material.model, material.circuit, material.training))
    yield from _circumstances(explanation)


# -- what it was made of -----------------------------------------------------------------------------------------------


def _file(explanation: Explanation) -> Iterator[Check]:
    reading = explanation.reading
    if reading is None:
        return
    detail = "its version has no digest" if reading.as_written is None else "" if reading.as_written else "it was changed since"
    yield Check("the explanation is as it was written", reading.as_written, detail)
    yield Check("the changes that it lists are those of its answers", reading.changes_follow)
    made_by = explanation.evidence.versions.get("likely")
    if reading.sentences_follow or made_by == version("likely"):
        yield Check("the sentences say what the answers are", reading.sentences_follow)
    else:
        yield Check("the sentences say what the answers are", None, f"they are in the words of likely {made_by}")


def _schema(explanation: Explanation, material: Material) -> Iterator[Check]:
    query, base = explanation.query, material.schema
    claim = "features, rules and costs are those of the schema and the question"
    rules = query.rules
    if not material.schema_given:
        asked = set(rules) <= set(query.schema.constraints)
        yield Check(claim, None if asked else False, "give the schema" if asked else "a rule of the question is missing")
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LikelyWarning)  # that a domain is widened was said when the row was explained
            widened = base.widened(query.factual).with_constraints(*rules)
    except LikelyError as error:
        yield Check(claim, False, str(error))
        return
    yield Check(claim, widened == query.schema, _difference(widened, query.schema))
    mark = explanation.evidence.schema
    same = fingerprint(base.to_dict()) == mark if mark else None
    yield Check("the schema is the one that was used", same, "" if mark else "it was written without a hash of the schema")


def _difference(wanted: Schema, got: Schema) -> str:
    """The first thing in which two schemas differ."""
    for one, other in zip(wanted.features, got.features, strict=False):
        if one != other:
            return f"feature {one.name!r} differs"
    for word, there, here in (("without", wanted, got), ("with", got, wanted)):
        for rule in there.constraints:
            if rule not in here.constraints:
                return f"{word} the rule: {rule.sentence(there)}"
    return "" if wanted == got else "the costs or the order differ"


def _question(explanation: Explanation, material: Material) -> Iterator[Check]:
    query, model = explanation.query, material.model
    if query.schema.names == model.schema.names and not np.isnan(query.factual).any():
        label = model.labels(query.factual[None])[0]
        detail = f"it says {show_value(label)}"
        yield Check(f"the model decides {_shown_class(query.label)} for the row", _same_label(label, query.label), detail)
    elif query.label is not None:
        yield Check("the row has a class", False, "a value of it is unknown")
    classes = outcomes(material.model.form, query.question)
    another = query.target != query.label or query.question.probability is not None
    reachable = query.label is not None if query.target is None else query.target in classes and another
    yield Check("what to reach is another outcome of the model's", reachable)
    yield Check("the engine is known", query.engine in ENGINES)
    variant = query.plausibility
    claim = "likelihoods are given what the question says"
    if variant is None or not variant.given:
        yield Check(claim, not query.given)
    elif material.circuit is None:
        yield Check(claim, None, "give the circuit")
    else:
        yield Check(claim, given_names(variant.given, material.schema, material.circuit) == query.given)
    yield _peers(query, material)
    if query.question.unread == "keep":
        unread = unread_features(model.form, model.schema)
        claim = "what the model does not read is what it says"
        yield Check(claim, query.unread == unread and set(query.kept) <= set(unread), ", ".join(map(str, unread)))
    raised = [query.question.margin * RAISE**i for i in range(RAISES + 1)]
    yield Check("the margin is the one that was asked for, or raised", any(close(m, explanation.margin, 1e-12) for m in raised))


def _peers(query: Query, material: Material) -> Check:
    """Whether answers are compared with the rows that the question names; with the training rows for want of others."""
    claim, variant = f"likelihoods are compared with {rows_named(query.rows)}, as was asked for", query.plausibility
    if variant is None or variant.rows == query.rows:
        return Check(claim, True)
    others = material.training is not None and material.training.knows("unseen")
    return Check(claim, variant.rows == "unseen" and not others, "no others are known")


def _same_label(label: Value, other: Value) -> bool:
    """Whether the model says the same: the same class, or the same number but for rounding of singles."""
    if isinstance(label, float) and isinstance(other, float):
        return close(label, other, SINGLES_ROUNDING)
    return bool(label == other)


def _shown_class(label: Value) -> str:
    return "nothing" if label is None else show_value(label)


def _thresholds(explanation: Explanation, material: Material) -> Iterator[Check]:
    """The log-likelihoods and coherences that were asked for."""
    claim = "the log-likelihood that was asked for is the question's"
    query, claimed = explanation.query, dict(explanation.thresholds)
    if isinstance(query.plausibility, (Quantile, AtLeastFactual)) and material.fitted_for(query) is None:
        yield _classes_asked_for(claim, query, claimed, material)
    else:
        yield _same_thresholds(claim, _true_thresholds(query, material), claimed)
    claim = "the coherence that was asked for is the question's"
    claimed, fitted = dict(explanation.coherence_thresholds), material.fitted_for(query)
    if query.question.coherence is None:
        yield Check(claim, not claimed, "none was asked for")
    elif fitted is None or not fitted.training.knows(query.rows, "coherence"):
        yield _classes_asked_for(claim, query, claimed, material)
    else:
        true = {label: lower for label, lower in coherences_of(fitted, query).items() if lower > -math.inf}
        yield _same_thresholds(claim, true, claimed)


def _classes_asked_for(claim: str, query: Query, claimed: dict[Value, float], material: Material) -> Check:
    """That there is a threshold for every class is all that can be said without the rows that it is of."""
    whole = set(claimed) == set(query.reachable(outcomes(material.model.form, query.question)))
    return Check(claim, None if whole else False, to_give(query.rows) if whole else "a class is missing")


def _same_thresholds(claim: str, true: dict[Value, float], claimed: dict[Value, float]) -> Check:
    same = true.keys() == claimed.keys() and all(close(lower, claimed[label], 4e-9) for label, lower in true.items())
    return Check(claim, same, ", ".join(f"{show_value(label)} {lower:.6g}" for label, lower in true.items()))


def _true_thresholds(query: Query, material: Material) -> dict[Value, float]:
    fitted = material.fitted_for(query)
    if fitted is not None:
        return {label: lower for label, lower in thresholds_of(fitted, query).items() if lower > -math.inf}
    if not isinstance(query.plausibility, Threshold) or query.plausibility.log_likelihood == -math.inf:
        return {}
    lower = float(query.plausibility.log_likelihood)
    return dict.fromkeys(query.reachable(outcomes(material.model.form, query.question)), lower - rounding(lower))


# -- the answers together ----------------------------------------------------------------------------------------------


def _status(explanation: Explanation) -> Iterator[Check]:
    """Whether the status, the answers and the bounds say the same."""
    bounds, status = explanation.bounds, explanation.status
    has_answers = status in _STATUSES_WITH_ANSWERS
    detail = f"'{status}' with {len(explanation)} answers"
    yield Check("there are answers where the status says so", has_answers == bool(explanation), detail)
    objectives = [answer.objective for answer in explanation.counterfactuals]
    upper = objectives[-1] if objectives else math.inf
    yield Check("the upper bound is the last answer's objective", close(upper, bounds.upper), f"{upper:.6g}")
    known = not math.isnan(bounds.lower) and (bounds.lower < math.inf or status in ("optimal", "infeasible"))
    yield Check("the lower bound is one that the status allows", known, f"{bounds.lower:.6g}")
    if status == "optimal":
        near = bounds.gap <= allowed_gap(explanation.query, bounds.upper)
        yield Check("the bounds are as close as was asked for", near, f"gap {bounds.gap:.3g}")


def _list_of_answers(explanation: Explanation) -> Iterator[Check]:
    query, answers = explanation.query, explanation.counterfactuals
    objectives = [answer.objective for answer in answers]
    yield Check("no more answers than asked for", len(answers) <= query.question.k)
    yield Check("the best answer comes first", objectives == sorted(objectives))
    yield Check("the answers differ", len({answer.values for answer in answers}) == len(answers))
    costliest = objectives[0] + query.limits.pool_gap * abs(objectives[0]) if query.limits.pool_gap < math.inf else math.inf
    yield Check("none is costlier than was allowed", objectives[-1] <= query.worst_polished(costliest))
    if query.several_ways:
        changed = [set(answer.changed) for answer in answers]
        more = [j for j in range(len(answers)) if any(changed[i] <= changed[j] for i in range(j))]
        detail = f"answer {more[0] + 1} does" if more else ""
        yield Check("none changes all that a better one changes", not more, detail)


def _proof(explanation: Explanation, material: Material) -> Iterator[Check]:
    """What the engine proved cannot be proved again without it; but a training row may refute it."""
    proof = {"optimal": "nothing better exists", "infeasible": "no answer exists"}.get(
        explanation.status, f"no answer is below {explanation.bounds.lower:.6g}"
    )
    yield Check(proof, None, "that is the engine's proof")
    fitted = material.fitted_for(explanation.query)
    if fitted is None:
        yield Check("no training row is a better answer", None, to_give(explanation.query.rows))
        return
    best = _best_training_row(explanation, fitted)
    limit = explanation.bounds.lower if explanation.query.several_ways or not explanation else _least(explanation)
    yield Check("no training row is a better answer", best >= limit - rounding(limit, SINGLES_ROUNDING), f"one has {best:.6g}")


def _least(explanation: Explanation) -> float:
    """What no row at all may be below: a row in the cell of an answer counts as that answer."""
    return min(explanation.bounds.lower, explanation.best.objective)


def _best_training_row(explanation: Explanation, fitted: Fitted) -> float:
    """The least objective of a training row that answers the question otherwise than the answers do."""
    query = explanation.query
    try:
        thresholds = thresholds_of(fitted, query)
        problems = problems_of(fitted, query, max(explanation.margin, query.question.margin), thresholds)
        rows = starts_for(fitted, query, list(thresholds))
    except LikelyError:
        return math.inf  # said elsewhere
    solutions = [answer for problem in problems for answer in problem.solutions(rows) if answer is not None]
    found = np.array([answer.row for answer in solutions])
    labels = said_of(fitted.user_model, query.question, found, [query.target] * len(found)) if solutions else []
    changed = (
        [~same_values(answer.numbers, query.factual) for answer in explanation.counterfactuals] if query.several_ways else []
    )
    best = math.inf
    for answer, label in zip(solutions, labels, strict=True):
        here = ~same_values(answer.row, query.factual)
        same_way = any(bool((here | ~features).all()) for features in changed)
        wanted = query.target if answer.class_index is None else fitted.form.classes[answer.class_index]
        if label is not None and label == wanted and not same_way:
            best = min(best, answer.objective)
    return best


def _circumstances(explanation: Explanation) -> Iterator[Check]:
    """What nobody can compute again."""
    ended = "was interrupted" if explanation.interrupted else "was not interrupted"
    what = f"{explanation.nodes:,} nodes in {explanation.seconds:.3g} s and {ended}"
    yield Check(f"the search took {what}", None, "only whoever searched knows")
    limits, count = explanation.query.limits, explanation.query.question.k
    gaps = f"gaps of {limits.absolute_gap:g} and {100 * limits.relative_gap:g} %"
    share = explanation.query.question.coherence
    demands = f"{explanation.query.plausibility}" + ("" if share is None else f", coherence {share:g}")
    asked = f"{count} answer{'s' if count > 1 else ''} within {limits.seconds:g} s, {gaps}, {demands}"
    yield Check(f"the question was: {asked}", None, "only whoever asked knows")
    here = {name: version(name) for name in ("likely", "numpy", "pandas")}
    other = [f"{name} {there}" for name, there in explanation.evidence.versions.items() if here.get(name, there) != there]
    made_with = ", ".join(f"{name} {there}" for name, there in explanation.evidence.versions.items())
    yield Check(
        f"it was made with {made_with}", None, f"here is another {other[0].split()[0]}" if other else "as far as is known"
    )


def base_schema(query: Query) -> Schema:
    """The schema of a query without the rules of its question: what it was made from, but for widened domains.

    Args:
        query: The query.
    """
    rules, constraints = query.rules, query.schema.constraints
    if rules and constraints[-len(rules) :] == rules:
        constraints = constraints[: -len(rules)]
    return replace(query.schema, constraints=constraints)
