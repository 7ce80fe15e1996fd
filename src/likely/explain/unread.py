"""Features that a model does not read: changing them changes no decision."""

from __future__ import annotations

import numpy as np

from likely.predictor import Form, LinearModel, LinearTrees, ReluNetwork, TreeEnsemble
from likely.predictor.columns import Column
from likely.predictor.composite import parts_of
from likely.schema import Schema
from likely.schema.values import Name


def unread_features(form: Form, schema: Schema) -> tuple[Name, ...]:
    """The names of the features on which no score depends.

    A linear model and a network read a feature if a column that varies with it has a weight; trees read what they test, and what
    their leaves weigh. One of
    which that is not seen - its effects cancel out, say - counts as read.

    Args:
        form: What the model computes.
        schema: The features, as the form counts them.
    """
    reads = [_read(part) for part in parts_of(form)]
    known = [read for read in reads if read is not None]
    if len(known) < len(reads):
        return ()
    return tuple(name for j, name in enumerate(schema.names) if not any(j in read for read in known))


def _read(form: Form) -> set[int] | None:
    """The places of the features that a form reads; None if that is not known."""
    if isinstance(form, TreeEnsemble):
        return {int(j) for j in np.unique(form.nodes["feature"]) if j >= 0}
    if isinstance(form, LinearTrees):
        tested = _read(form.trees)
        weighed = {form.columns[term].feature for term, weight in zip(form.terms, form.weights, strict=True) if weight}
        return tested and tested | weighed
    if isinstance(form, LinearModel):
        weights = form.weights
    elif isinstance(form, ReluNetwork):
        weights = form.layers[0][0]
    else:
        return None
    weighs = (weights != 0).any(axis=0)
    return {column.feature for column, counts in zip(form.columns, weighs, strict=True) if counts and _varies(column)}


def _varies(column: Column) -> bool:
    """Whether a column has more than one value."""
    if column.discrete:
        return len(set(column.table)) > 1
    return column.slope != 0 or any(entry != column.intercept for entry in column.table)
