"""Answers as plain data that JSON can hold: what the page, the notebook and other programs read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from likely.explain import Counterfactual, Decision, Explanation, Front, Quantile
from likely.explain.text import claim, front_ending, goal, told_apart
from likely.problem import Conflict, Progress
from likely.schema import Schema
from likely.schema.values import Numbers, Value


def finite(number: float | None) -> float | None:
    """A number that JSON has; None for infinities and NaN."""
    return number if number is not None and math.isfinite(number) else None


def row_told(schema: Schema, numbers: Numbers) -> dict[str, Value]:
    """A row as an object of names and values."""
    pairs = zip(schema.features, numbers, strict=True)
    return {str(feature.name): feature.value(float(number)) for feature, number in pairs}


def relative_gap(upper: float, lower: float) -> float | None:
    """How much cheaper another answer could be, as a share of what this one costs; None if that says nothing."""
    if not (math.isfinite(upper) and math.isfinite(lower)):
        return None
    return max(0.0, upper - lower) / upper if upper > 0 else 0.0


def progress_told(progress: Progress) -> dict[str, Any]:
    """How far a search is."""
    return {
        "best": finite(progress.upper),
        "bound": finite(progress.lower),
        "gap": relative_gap(progress.upper, progress.lower),
        "seconds": progress.seconds,
        "nodes": progress.nodes,
    }


def decision_told(decision: Decision) -> dict[str, Any]:
    """What the model says of a row."""
    shares = decision.probabilities
    return {
        "label": decision.label,
        "probability": None if shares is None else [finite(share) for _, share in shares],
        "log_likelihood": finite(decision.log_likelihood),
        "percentile": decision.percentile,
    }


def explanation_told(explanation: Explanation) -> dict[str, Any]:
    """An explanation in words and numbers, and all of it as `Explanation.from_dict` reads it."""
    bounds, query, whole = explanation.bounds, explanation.query, explanation.to_dict()
    sentences = [answer["sentence"] for answer in whole["counterfactuals"]]
    return {
        "status": explanation.status,
        "proof": "exact" if query.claimed_by is None else "solver",
        "interrupted": explanation.interrupted,
        "goal": goal(explanation),
        "claim": list(claim(explanation)),
        "label": query.label,
        "bounds": {"upper": finite(bounds.upper), "lower": finite(bounds.lower)},
        "gap": relative_gap(bounds.upper, bounds.lower),
        "nodes": explanation.nodes,
        "seconds": explanation.seconds,
        "answers": [_answer(*each) for each in zip(explanation.counterfactuals, sentences, strict=True)],
        "explanation": whole,
    }


def _answer(answer: Counterfactual, sentence: str) -> dict[str, Any]:
    return {
        "row": row_told(answer.query.schema, answer.numbers),
        "label": answer.label,
        "cost": answer.cost,
        "log_likelihood": None if answer.log_likelihood is None else finite(answer.log_likelihood),
        "percentile": answer.percentile,
        "coherence_percentile": answer.coherence_percentile,
        "probability_before": answer.probability_before,
        "probability_after": answer.probability_after,
        "prediction": answer.prediction,
        "sentence": sentence,
        "changes": _changes(answer),
    }


def _changes(answer: Counterfactual) -> list[dict[str, Any]]:
    """Each feature with a new value, with both values as people write them."""
    told = []
    for j, feature in enumerate(answer.query.schema.features):
        if feature.name in answer.changes:
            before, after = float(answer.query.factual[j]), float(answer.numbers[j])
            words, [new_words] = told_apart(feature, before, [after])
            ends = {"from": feature.value(before), "to": feature.value(after), "from_text": words, "to_text": new_words}
            told.append({"feature": str(feature.name), "title": feature.title, **ends})
    return told


def front_told(front: Front) -> dict[str, Any]:
    """A trade-off, point by point."""
    beyond = None if front.beyond is None else {"demand": _demand(front, front.beyond), "status": front.beyond.status}
    points = [_point(front, point) for point in front.points]
    return {"by": front.by, "points": points, "beyond": beyond, "ending": front_ending(front)}


def _point(front: Front, point: Explanation) -> dict[str, Any]:
    best = point.best
    return {
        "demand": _demand(front, point),
        "cost": best.cost,
        "changes": best.number_of_changes,
        "log_likelihood": None if best.log_likelihood is None else finite(best.log_likelihood),
        "percentile": best.percentile,
        "status": point.status,
        "bound": finite(point.bounds.lower),
        "row": row_told(point.query.schema, best.numbers),
        "label": best.label,
        "sentence": best.sentence,
    }


def _demand(front: Front, point: Explanation) -> float | str | None:
    """What a point of a front by likelihood was asked to be: as likely as a share of rows, or just any."""
    if front.by == "changes":
        return None
    return point.query.plausibility.q if isinstance(point.query.plausibility, Quantile) else "any"


def conflict_told(conflict: Conflict, schema: Schema) -> dict[str, Any]:
    """Why there is no answer, and the way out."""
    out = conflict.way_out
    way = None
    if out is not None:
        row = row_told(schema, out.row)
        way = {"give_up": list(out.demands), "cost": out.cost, "proved": out.proved, "row": row}
    reasons = [
        {
            "demand": reason.demand,
            "without": reason.without,
            "reachable": None if reason.reachable is None else finite(reason.reachable),
            "decided": reason.decided,
            "text": str(reason),
        }
        for reason in conflict.reasons
    ]
    return {"sentence": str(conflict), "reasons": reasons, "smallest": conflict.smallest, "way_out": way}


def heights_told(heights: tuple[Numbers, Numbers] | None) -> Sequence[float] | None:
    """The heights of bars."""
    return None if heights is None else heights[1].tolist()
