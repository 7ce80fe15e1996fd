"""What a request may hold, as JSON Schema: it is what `/openapi.json` shows, and what every request is checked against."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias, get_args

from likely.errors import RequestError
from likely.explain import Explainer
from likely.explain.front import QUANTILES, By
from likely.explain.question import Diversity, Unread
from likely.schema import Feature
from likely.schema.times import clock_of

JsonSchema: TypeAlias = dict[str, Any]

#: Numbers beyond these are no numbers of a table; every whole number within is exact as a double.
LARGEST = 2**53 - 1
#: A text in a request is at most so long, a list of names or values has at most so many.
LONGEST_TEXT, LONGEST_LIST = 1000, 10_000

_NUMBER: JsonSchema = {"type": "number", "minimum": -LARGEST, "maximum": LARGEST}
_TEXT: JsonSchema = {"type": "string", "maxLength": LONGEST_TEXT}
_SHARE: JsonSchema = {"type": "number", "minimum": 0, "maximum": 1}


@dataclass(frozen=True)
class Bounds:
    """What one question may take."""

    #: Seconds of search, at most, and if the question does not say.
    seconds: float = 10.0
    #: Answers, at most.
    k: int = 10
    #: The bytes of a request, at most.
    body: int = 1_000_000

    def __post_init__(self) -> None:
        if not 0 < self.seconds < math.inf:
            raise RequestError(
                "The seconds of a question", "be greater than 0, and a number", self.seconds, "leave them out for 10"
            )
        if self.k < 1:
            raise RequestError("The number of answers", "be at least 1", self.k, "leave it out for 10")
        if self.body < 1:
            raise RequestError("The bytes of a request", "be at least 1", self.body, "leave them out for a million")


def row_schema(explainer: Explainer) -> JsonSchema:
    """A row: a value for every feature, null where it is unknown."""
    features = explainer.schema_.features
    return {
        "type": "object",
        "description": "A value for every feature; null where it is unknown.",
        "properties": {str(feature.name): _value(feature) for feature in features},
        "required": [str(feature.name) for feature in features],
        "additionalProperties": False,
    }


def _value(feature: Feature) -> JsonSchema:
    """A value of a feature, or null."""
    described = {"description": f"{feature.title}: {feature.describe()}"}
    if not feature.numeric:
        return {"enum": [*feature.atoms, *([] if None in feature.atoms else [None])], **described}
    kinds = {"number" if clock_of(feature) is None else "string", "null"}
    texts = {"string" for code in feature.atoms if isinstance(code, str)}
    return {"type": sorted(kinds | texts), "minimum": -LARGEST, "maximum": LARGEST, "maxLength": LONGEST_TEXT, **described}


def question_schema(explainer: Explainer, bounds: Bounds) -> JsonSchema:
    """A question about a row: the fields of `likely.Question`, as the page and other programs write them."""
    names = [str(feature.name) for feature in explainer.schema_.features]
    classes = list(explainer.classes_)
    some_names = {"type": "array", "items": {"enum": names}, "maxItems": LONGEST_LIST}
    end = {"type": ["number", "string"], "minimum": -LARGEST, "maximum": LARGEST, "maxLength": LONGEST_TEXT}
    value = {"type": ["number", "string", "boolean", "null"], "minimum": -LARGEST, "maximum": LARGEST, "maxLength": LONGEST_TEXT}
    domain = {
        "type": "object",
        "properties": {"at_least": end, "at_most": end, "one_of": {"type": "array", "items": value, "maxItems": LONGEST_LIST}},
        "additionalProperties": False,
        "minProperties": 1,
    }
    properties: JsonSchema = {
        "row": row_schema(explainer),
        "k": {"type": "integer", "minimum": 1, "maximum": bounds.k, "default": 1, "description": "So many answers, at most."},
        "target": {"enum": [*classes, None], "description": "The class to reach; null for any other than the row's own."},
        "probability": {
            "anyOf": [{**_SHARE}, {"type": "array", "items": _SHARE, "minItems": 2, "maxItems": 2}, {"type": "null"}],
            "description": "How probable the model must find the target: at least so much, or between two numbers.",
        },
        "prediction": {
            "anyOf": [
                {"type": "array", "items": {**_NUMBER, "type": ["number", "null"]}, "minItems": 2, "maxItems": 2},
                {"type": "null"},
            ],
            "description": "Of a regressor: between which two numbers its prediction must lie; null for no end.",
        },
        "locked": {**some_names, "description": "The features that may not change."},
        "only": {
            "anyOf": [some_names, {"type": "null"}],
            "description": "The only features that may change; null for all that the schema lets change.",
        },
        "ranges": {
            "type": "object",
            "properties": dict.fromkeys(names, domain),
            "additionalProperties": False,
            "description": "Where a feature of an answer must lie: at_least, at_most, or one_of some values.",
        },
        "max_changes": {
            "type": ["integer", "null"], "minimum": 0, "maximum": LARGEST, "description": "So many features may change, at most.",
        },
        "plausibility": {
            "anyOf": [_SHARE, {"enum": ["factual", None]}],
            "default": 0.5,
            "description": "As likely as this share of new rows of the answer's class; 'factual': as the row; null: any.",
        },
        "coherence": {
            "anyOf": [_SHARE, {"type": "null"}],
            "description": "The values of an answer fit together as well as in this share of those rows; null: any way.",
        },
        "diversity": {"enum": list(get_args(Diversity)), "default": "features", "description": "In what several answers differ."},
        "unread": {
            "enum": list(get_args(Unread)), "default": "keep", "description": "Whether what the model does not read stays.",
        },
        "seconds": {
            "type": "number", "exclusiveMinimum": 0, "maximum": bounds.seconds, "default": bounds.seconds,
            "description": "When the search stops.",
        },
    }  # fmt: skip
    return {"type": "object", "properties": properties, "required": ["row"], "additionalProperties": False}


def front_schema(explainer: Explainer, bounds: Bounds) -> JsonSchema:
    """A question, and what cost is traded for."""
    quantiles = {"type": "array", "items": _SHARE, "minItems": 1, "maxItems": 20, "default": list(QUANTILES)}
    by = {"enum": list(get_args(By)), "default": "likelihood", "description": "What cost is traded for."}
    return _with(question_schema(explainer, bounds), by=by, quantiles=quantiles)


def report_schema(explainer: Explainer, bounds: Bounds) -> JsonSchema:
    """A question, and the heading of its page."""
    return _with(question_schema(explainer, bounds), title={**_TEXT, "description": "The heading of the page."})


def decide_schema(explainer: Explainer) -> JsonSchema:
    """A row."""
    return {
        "type": "object",
        "properties": {"row": row_schema(explainer)},
        "required": ["row"],
        "additionalProperties": False,
    }


def density_schema(explainer: Explainer) -> JsonSchema:
    """A row, an answer beside it, and the feature to show."""
    row = row_schema(explainer)
    return {
        "type": "object",
        "properties": {
            "row": row,
            "answer": {"anyOf": [row, {"type": "null"}]},
            "feature": {"enum": [str(name) for name in explainer.schema_.names]},
        },
        "required": ["row", "feature"],
        "additionalProperties": False,
    }


def verify_schema() -> JsonSchema:
    """An explanation, as `/explain` gave it."""
    return {
        "type": "object",
        "properties": {"explanation": {"type": "object", "description": "What /explain gave, or explanation.to_dict()."}},
        "required": ["explanation"],
        "additionalProperties": False,
    }


def _with(schema: JsonSchema, **more: JsonSchema) -> JsonSchema:
    return {**schema, "properties": {**schema["properties"], **more}}
