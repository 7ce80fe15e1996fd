"""Explanations that earlier versions wrote, as this one writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from likely.problem import SCORE_MARGIN


def upgraded(data: Mapping[str, Any], version: int) -> Mapping[str, Any]:
    """The plain data of an explanation in a version; data of a later or unknown version as they are.

    Args:
        data: What `Explanation.to_dict` of this or an earlier version made.
        version: The version to bring it to.
    """
    while isinstance(data.get("version"), int) and data["version"] < version and data["version"] in _STEPS:
        data = _STEPS[data["version"]](data)
    return data


def _renamed(data: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(key, key): value for key, value in data.items()}


def _from_version_1(data: Mapping[str, Any]) -> dict[str, Any]:
    """Version 1 had the parts of the question in the query, how many answers in its limits, and other names of numbers.

    Rules of the question alone were written into the schema only; the margin that was asked for was the usual one, unless
    that of the explanation (which may have been raised) is less.
    """
    explanation = _renamed(data, {"boxes": "nodes"})
    query = dict(explanation["query"])
    limits = _renamed(query.pop("limits"), {"boxes": "nodes", "within": "pool_gap"})
    query["question"] = {
        "target": query.pop("target"),
        "k": limits.pop("solutions"),
        "diversity": "features" if limits.pop("other_features") else "values",
        "plausibility": query.pop("plausibility"),
        "weight": query.pop("weight"),
        "constraints": [],
        "locked": [],
        "limits": limits,
        "margin": min(explanation["margin"], SCORE_MARGIN),
    }
    bounds = _renamed(explanation["bounds"], {"found": "upper", "proven": "lower"})
    return {**explanation, "version": 2, "query": query, "bounds": bounds}


def _from_version_2(data: Mapping[str, Any]) -> dict[str, Any]:
    """Version 2 had no hash of the schema, no digest and no statistics; answers were not polished, and might change anything."""
    question = {**data["query"]["question"], "unread": "free", "may_become_missing": True, "rounding": 0.0}
    query = {**data["query"], "question": question, "unread": [], "kept": []}
    evidence = {**data["evidence"], "schema": ""}
    return {**data, "version": 3, "query": query, "evidence": evidence, "statistics": {"trace": []}}


def _from_version_3(data: Mapping[str, Any]) -> dict[str, Any]:
    """Version 3 compared answers with the training rows, always."""
    question = dict(data["query"]["question"])
    if question["plausibility"] is not None:
        question["plausibility"] = {**question["plausibility"], "rows": "training"}
    return {**data, "version": 4, "query": {**data["query"], "question": question, "rows": "training"}}


def _from_version_4(data: Mapping[str, Any]) -> dict[str, Any]:
    """Version 4 did not say how well the values of an answer fit together, nor ask for it."""
    answers = [{**answer, "coherence": None, "coherence_percentile": None} for answer in data["counterfactuals"]]
    query = {**data["query"], "question": {**data["query"]["question"], "coherence": None}}
    return {**data, "version": 5, "query": query, "counterfactuals": answers, "coherence_thresholds": []}


def _from_version_5(data: Mapping[str, Any]) -> dict[str, Any]:
    """Version 5 searched until nothing but rounding was left, unless its limits had a gap."""
    query = {**data["query"], "question": {**data["query"]["question"], "gap": 0.0}}
    return {**data, "version": 6, "query": query}


def _from_version_6(data: Mapping[str, Any]) -> dict[str, Any]:
    """Version 6 did not say what a regressor predicts for an answer."""
    return {**data, "version": 7, "counterfactuals": [{**answer, "prediction": None} for answer in data["counterfactuals"]]}


#: version -> how its data become those of the next version
_STEPS: dict[int, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    1: _from_version_1,
    2: _from_version_2,
    3: _from_version_3,
    4: _from_version_4,
    5: _from_version_5,
    6: _from_version_6,
}
