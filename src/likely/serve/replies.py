"""What a reply holds, as JSON Schema: the other half of `/openapi.json`."""

from __future__ import annotations

from typing import Any

from likely.explain import Explainer
from likely.serve.bodies import JsonSchema

_TEXT: JsonSchema = {"type": "string"}
_TEXTS: JsonSchema = {"type": "array", "items": _TEXT}
_NUMBER: JsonSchema = {"type": "number"}
_COUNT: JsonSchema = {"type": "integer", "minimum": 0}
_FLAG: JsonSchema = {"type": "boolean"}
_VALUE: JsonSchema = {"type": ["string", "number", "boolean", "null"]}
_MAYBE: JsonSchema = {"type": ["number", "null"]}
_NUMBERS: JsonSchema = {"type": "array", "items": _NUMBER}

ERROR: JsonSchema = {
    "type": "object",
    "properties": {"error": {"type": "string", "description": "What is wrong, and what to do."}},
    "required": ["error"],
}


def replies_of(explainer: Explainer) -> dict[str, JsonSchema]:
    """path -> what a reply with status 200 holds; `/report` has a page instead."""
    row = _object({str(name): _VALUE for name in explainer.schema_.names}, "A value for every feature; null if it is unknown.")
    label = {"enum": [*explainer.classes_, None]} if explainer.classes_ else _VALUE
    return {
        "/about": _about(row),
        "/decide": _decision(label, len(explainer.classes_)),
        "/explain": _explanation(row, label),
        "/front": _front(row, label),
        "/why": _why(row),
        "/verify": _verification(),
        "/density": _density(),
    }


def _about(row: JsonSchema) -> JsonSchema:
    feature = _object(
        {
            "name": _TEXT, "title": _TEXT, "unit": _TEXT,
            "kind": {"enum": ["continuous", "integer", "ordinal", "categorical", "binary", "mixed"]},
            "values": {"type": ["array", "null"], "items": _VALUE}, "labels": _TEXTS,
            "lower": {"type": ["number", "string", "null"]}, "upper": {"type": ["number", "string", "null"]},
            "step": _MAYBE, "time": _FLAG, "ordered": _FLAG, "immutable": _FLAG,
            "direction": {"enum": ["increase", "decrease", None]}, "missing": _FLAG, "read": _FLAG,
        }
    )  # fmt: skip
    return _object(
        {
            "title": _TEXT, "version": _TEXT, "regressor": _FLAG, "classes": {"type": "array", "items": _VALUE},
            "features": {"type": "array", "items": feature}, "rules": _TEXTS, "examples": {"type": "array", "items": row},
            "plausibilities": _NUMBERS, "limits": _object({"seconds": _NUMBER, "k": _COUNT, "body": _COUNT}),
        }
    )  # fmt: skip


def _decision(label: JsonSchema, classes: int) -> JsonSchema:
    shares = {"type": ["array", "null"], "items": _MAYBE, "minItems": classes, "maxItems": classes}
    return _object(
        {
            "label": _VALUE if not classes else label,
            "probability": {**shares, "description": "Of each class, in the order of /about."},
            "log_likelihood": {**_MAYBE, "description": "With its class; null if the density excludes the row."},
            "percentile": {**_MAYBE, "description": "How many percent of new rows of its class are no likelier."},
            "notes": _TEXTS,
        }
    )


def _explanation(row: JsonSchema, label: JsonSchema) -> JsonSchema:
    change = _object({"feature": _TEXT, "title": _TEXT, "from": _VALUE, "to": _VALUE, "from_text": _TEXT, "to_text": _TEXT})
    answer = _object(
        {
            "row": row, "label": _VALUE, "cost": _NUMBER, "log_likelihood": _MAYBE, "percentile": _MAYBE,
            "coherence_percentile": _MAYBE, "probability_before": _MAYBE, "probability_after": _MAYBE,
            "prediction": {**_MAYBE, "description": "A regressor's, for this row."}, "sentence": _TEXT,
            "changes": {"type": "array", "items": change},
        }
    )  # fmt: skip
    gap = {**_MAYBE, "description": "How much cheaper another answer could be, as a share of the last one's cost."}
    return _object(
        {
            "status": {"enum": ["optimal", "feasible", "infeasible", "unknown", "disputed"]},
            "proof": {"enum": ["exact", "solver"]}, "interrupted": _FLAG, "goal": _TEXT, "claim": _TEXTS, "label": label,
            "bounds": _object({"upper": _MAYBE, "lower": _MAYBE}), "gap": gap, "nodes": _COUNT, "seconds": _NUMBER,
            "answers": {"type": "array", "items": answer}, "notes": _TEXTS,
            "explanation": {"type": "object", "description": "All of it: what /verify and `likely verify` read."},
        }
    )  # fmt: skip


def _front(row: JsonSchema, label: JsonSchema) -> JsonSchema:
    demand = {"type": ["number", "string", "null"], "description": "As likely as this share of new rows, or 'any'."}
    point = _object(
        {
            "demand": demand, "cost": _NUMBER, "changes": _COUNT, "log_likelihood": _MAYBE, "percentile": _MAYBE,
            "status": _TEXT, "bound": _MAYBE, "row": row, "label": _VALUE, "sentence": _TEXT,
        }
    )  # fmt: skip
    beyond = {**_object({"demand": demand, "status": _TEXT}), "type": ["object", "null"]}
    return _object(
        {
            "by": {"enum": ["likelihood", "changes"]}, "points": {"type": "array", "items": point}, "beyond": beyond,
            "ending": _TEXT, "notes": _TEXTS,
        }
    )  # fmt: skip


def _why(row: JsonSchema) -> JsonSchema:
    reason = _object({"demand": _TEXT, "without": _MAYBE, "reachable": _MAYBE, "decided": _FLAG, "text": _TEXT})
    way = {**_object({"give_up": _TEXTS, "cost": _NUMBER, "proved": _FLAG, "row": row}), "type": ["object", "null"]}
    reasons = {"type": "array", "items": reason}
    return _object({"sentence": _TEXT, "reasons": reasons, "smallest": _FLAG, "way_out": way, "notes": _TEXTS})


def _verification() -> JsonSchema:
    claim = _object(
        {"claim": _TEXT, "holds": {"type": ["boolean", "null"]}, "detail": _TEXT, "answer": {"type": ["integer", "null"]}}
    )
    return _object({"ok": _FLAG, "checks": {"type": "array", "items": claim}})


def _density() -> JsonSchema:
    tick: JsonSchema = {"type": "array", "items": {"type": ["number", "string"]}, "minItems": 2, "maxItems": 2}
    return _object(
        {
            "feature": _TEXT, "title": _TEXT, "unit": _TEXT, "numeric": _FLAG, "edges": _NUMBERS,
            "ticks": {"type": "array", "items": tick}, "marginal": _NUMBERS,
            "given_row": {"type": ["array", "null"], "items": _NUMBER}, "row": _MAYBE, "answer": _MAYBE,
        }
    )  # fmt: skip


def _object(properties: dict[str, JsonSchema], description: str = "") -> JsonSchema:
    """An object that has all of its properties, and no others."""
    made: dict[str, Any] = {"type": "object", "properties": properties, "required": list(properties)}
    return {**made, "additionalProperties": False, **({"description": description} if description else {})}
