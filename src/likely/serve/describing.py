"""What a page must know of an explainer before it asks: features, classes, rules, and rows to begin with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import likely
from likely.circuit import sample
from likely.explain import Explainer
from likely.explain.front import QUANTILES
from likely.schema import Decreasing, Feature, Immutable, Increasing, Schema
from likely.schema.times import clock_of
from likely.serve.bodies import Bounds
from likely.serve.telling import row_told

#: How many rows are drawn to choose examples from, and how many are shown.
_DRAWN, _SHOWN = 200, 6


def about(explainer: Explainer, bounds: Bounds, title: str, examples: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Everything that is known before a row is."""
    schema = explainer.schema_
    unread = explainer.unread_
    return {
        "title": title,
        "version": likely.__version__,
        "regressor": not explainer.form_.link.classifies,
        "classes": list(explainer.classes_),
        "features": [_feature(feature, schema, read=feature.name not in unread) for feature in schema.features],
        "rules": [rule.sentence(schema) for rule in schema.constraints],
        "examples": list(examples),
        "plausibilities": list(QUANTILES),
        "limits": {"seconds": bounds.seconds, "k": bounds.k, "body": bounds.body},
    }


def _feature(feature: Feature, schema: Schema, *, read: bool) -> dict[str, Any]:
    plain = feature.to_dict()
    rules = [type(rule) for rule in schema.constraints if rule.features == (feature.name,)]
    direction = "increase" if Increasing in rules else "decrease" if Decreasing in rules else None
    return {
        "name": str(feature.name),
        "title": feature.title,
        "unit": feature.unit,
        "kind": feature.kind,
        "values": list(feature.atoms) or None,
        "labels": list(plain.get("labels", [])),
        "lower": plain.get("lower"),
        "upper": plain.get("upper"),
        "step": feature.grid if feature.numeric else None,
        "time": feature.numeric and clock_of(feature) is not None,
        "ordered": feature.ordered,
        "immutable": Immutable in rules,
        "direction": direction,
        "missing": None in feature.atoms,
        "read": read,
    }


def made_up_rows(explainer: Explainer) -> list[dict[str, Any]]:
    """A few rows to begin with, drawn from the density: nobody's data. Rows of every class that the model decides, in turn."""
    schema = explainer.schema_
    drawn = schema.encode(sample(explainer.circuit_, _DRAWN, random_state=0))
    rows = drawn[[not np.isnan(row).any() and bool(schema.admits(row, row[None])[0]) for row in drawn]]
    labels = explainer.form_.predict(rows) if explainer.classes_ else np.zeros(len(rows))
    of_class: dict[Any, list[dict[str, Any]]] = {}
    for row, label in zip(rows, labels, strict=True):
        of_class.setdefault(label, []).append(row_told(schema, row))
    turns = max(map(len, of_class.values()), default=0)
    return [told[i] for i in range(turns) for told in of_class.values() if i < len(told)][:_SHOWN]
