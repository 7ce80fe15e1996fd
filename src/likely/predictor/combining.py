"""Forms made of forms, where the result is a form again: sums of trees, sums of linear models, several outputs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from likely.predictor.composing import affine
from likely.predictor.forms import NODE, Form, LinearModel, ReluNetwork, TreeEnsemble
from likely.predictor.links import Link
from likely.schema.values import Numbers, Value


def leaf_table(form: TreeEnsemble) -> tuple[NDArray[np.intp], Numbers]:
    """The leaves of trees that add to every output: their nodes, and their values, leaf x output.

    Args:
        form: Its trees add to every output, or it has only one.
    """
    leaves = np.flatnonzero(form.nodes["feature"] < 0)
    return leaves, form.values[form.nodes["inside"][leaves][:, None] + np.arange(form.outputs)]


def summed_trees(
    forms: Sequence[TreeEnsemble], tables: Sequence[Numbers], base: Numbers, link: Link, classes: Sequence[Value]
) -> TreeEnsemble:
    """All trees of several forms, with other values of their leaves.

    Args:
        forms: The trees.
        tables: For each form, the values of its leaves in the order of `leaf_table`, leaf x output.
        base: What the scores start from.
        link: How scores decide.
        classes: The labels.
    """
    nodes, roots, values, count, size = [], [], [], 0, 0
    for form, table in zip(forms, tables, strict=True):
        moved = np.array(form.nodes, dtype=NODE)
        inner = moved["feature"] >= 0
        moved["inside"][inner] += count
        moved["outside"][inner] += count
        moved["inside"][~inner] = size + np.arange(len(table)) * table.shape[1]
        nodes.append(moved)
        roots.append(form.roots + count)
        values.append(table.ravel())
        count, size = count + len(moved), size + table.size
    starts = np.concatenate(roots)
    return TreeEnsemble(
        link, tuple(classes), np.concatenate(nodes), starts, np.full(len(starts), -1), np.concatenate(values), base, False
    )


def summed_linear(forms: Sequence[LinearModel], weights: Sequence[float], link: Link, classes: Sequence[Value]) -> LinearModel:
    """The weighted sum of linear models.

    Args:
        forms: The models, with as many outputs each.
        weights: One per model.
        link: How scores decide.
        classes: The labels.
    """
    columns = tuple(column for form in forms for column in form.columns)
    matrix = np.hstack([weight * form.weights for form, weight in zip(forms, weights, strict=True)])
    bias = np.sum([weight * form.bias for form, weight in zip(forms, weights, strict=True)], axis=0)
    return LinearModel(link, tuple(classes), columns, matrix, bias)


def side_by_side(forms: Sequence[Form], link: Link, classes: Sequence[Value]) -> Form | None:
    """Forms of one output each as the outputs of one form; None if no form holds them.

    Args:
        forms: One per output.
        link: How scores decide.
        classes: The labels.
    """
    linear = [form for form in forms if isinstance(form, LinearModel)]
    trees = [form for form in forms if isinstance(form, TreeEnsemble)]
    if len(linear) == len(forms):
        places = np.eye(len(forms))
        wide = [
            replace(form, weights=np.outer(unit, form.weights), bias=unit * form.bias, link=link, classes=tuple(classes))
            for form, unit in zip(linear, places, strict=True)
        ]
        return summed_linear(wide, [1.0] * len(wide), link, classes)
    if len(trees) == len(forms):
        tables = [leaf_table(form)[1] / form.divisor * unit for form, unit in zip(trees, np.eye(len(forms)), strict=True)]
        base = np.array([form.base[0] / form.divisor for form in trees])
        return summed_trees(trees, tables, base, link, classes)
    return None


def shifted(form: Form, shift: float, link: Link) -> Form:
    """A form of one output, with a number added to its score and another link.

    Args:
        form: The form.
        shift: What is added.
        link: How the score decides.
    """
    if isinstance(form, LinearModel):
        return replace(form, link=link, bias=form.bias + shift)
    if isinstance(form, ReluNetwork):
        *before, (weights, bias) = form.layers
        return replace(form, link=link, layers=(*before, (weights, bias + shift)))
    if isinstance(form, TreeEnsemble):
        return replace(form, link=link, base=form.base + shift * form.divisor)
    return affine(form, 1.0, shift, link, form.classes)
