"""From a request to a row and a `Question`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from likely.errors import RequestError
from likely.explain import AtLeastFactual, Explainer, Quantile, Question
from likely.explain.plausibility import Variant
from likely.schema import AllowedValues, Constraint, MaxChanges, Range, Schema
from likely.schema.values import Name
from likely.serve.bodies import Bounds

#: Fields of a request that are those of a question, as they are.
_SAME = ("target", "coherence", "diversity", "unread")


def names_of(schema: Schema) -> dict[str, Name]:
    """text in a request -> the name of the feature; refuses two names that are the same text."""
    names = {str(name): name for name in schema.names}
    if len(names) < len(schema):
        rule, hint = "have features whose names differ as texts, to be served", "rename a column"
        raise RequestError("A schema", rule, ", ".join(map(repr, schema.names)), hint)
    return names


def row_of(row: Mapping[str, Any], explainer: Explainer) -> dict[Name, Any]:
    """The row of a request, by the names of its features."""
    names = names_of(explainer.schema_)
    return {names[text]: value for text, value in row.items()}


def question_of(body: Mapping[str, Any], explainer: Explainer, bounds: Bounds) -> Question:
    """The question of a request that is as its description says."""
    names = names_of(explainer.schema_)
    given: dict[str, Any] = {field: body[field] for field in _SAME if field in body}
    for field in ("probability", "prediction"):
        ends = body.get(field)
        given[field] = tuple(ends) if isinstance(ends, list) else ends
    only = body.get("only")
    most = body.get("max_changes")
    rules = [rule for text, domain in body.get("ranges", {}).items() for rule in _domain(names[text], domain)]
    return Question(
        **given,
        k=int(body.get("k", 1)),
        plausibility=_plausibility(body.get("plausibility", 0.5)),
        locked=[names[text] for text in body.get("locked", [])],
        only=None if only is None else [names[text] for text in only],
        constraints=[*([] if most is None else [MaxChanges(int(most))]), *rules],
        limits=body.get("seconds", bounds.seconds),
    )


def _plausibility(said: Any) -> Variant | None:
    if said is None:
        return None
    return AtLeastFactual() if said == "factual" else Quantile(said)


def _domain(name: Name, domain: Mapping[str, Any]) -> list[Constraint]:
    """The rules that a feature of an answer lies where a request says."""
    rules: list[Constraint] = []
    if "at_least" in domain or "at_most" in domain:
        rules.append(Range(name, domain.get("at_least"), domain.get("at_most")))
    if "one_of" in domain:
        rules.append(AllowedValues(name, domain["one_of"]))
    return rules
