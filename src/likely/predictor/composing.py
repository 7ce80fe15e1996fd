"""What ensembles do to the forms of their members: probabilities, votes, sums, and one form after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor.composite import Composite, Layer
from likely.predictor.forms import Form, LinearModel, ReluNetwork, TreeEnsemble
from likely.predictor.functions import Function
from likely.predictor.links import Link
from likely.schema.values import Numbers, Value

IDENTITY = Function("identity")


def through(form: Form, functions: Sequence[Function], weights: Any, bias: Any, link: Link, classes: Sequence[Value]) -> Form:
    """A form with one more layer.

    Args:
        form: Whose scores go into it.
        functions: Of the layer.
        weights: Of the layer, outputs x inputs.
        bias: One per output.
        link: How the results decide.
        classes: The labels.
    """
    layer = Layer(tuple(functions), weights, bias)
    if isinstance(form, Composite):
        return Composite(link, tuple(classes), form.members, (*form.layers, layer))
    return Composite(link, tuple(classes), (form,), (layer,))


def affine(form: Form, scale: float, shift: float, link: Link, classes: Sequence[Value]) -> Form:
    """scale * score + shift of a form with one score.

    Args:
        form: The form.
        scale: Not 0.
        shift: In units of the result.
        link: How it decides.
        classes: The labels.
    """
    labels = tuple(classes)
    if isinstance(form, LinearModel):
        return replace(form, link=link, classes=labels, weights=scale * form.weights, bias=scale * form.bias + shift)
    if isinstance(form, ReluNetwork):
        *first, (weights, bias) = form.layers
        return replace(form, link=link, classes=labels, layers=(*first, (scale * weights, scale * bias + shift)))
    if isinstance(form, TreeEnsemble):
        base = scale * form.base + shift * form.divisor
        return replace(form, link=link, classes=labels, values=scale * form.values, base=base)
    return through(form, [IDENTITY], [[scale]], [shift], link, classes)


def probabilities_of(form: Form) -> Form:
    """A form whose scores are the probabilities of the classes.

    Args:
        form: A classifier that has probabilities.
    """
    link, count, shares = form.link, len(form.classes), Link("shares")
    if link.kind == "shares":
        return form
    if link.kind in ("logistic", "huber"):
        return through(form, [_probability(link)], [[-1.0], [1.0]], [1.0, 0.0], shares, form.classes)
    if link.kind == "softmax" and count == 2:
        return probabilities_of(through(form, [IDENTITY] * 2, [[-1.0, 1.0]], [0.0], Link("logistic", link.scale), form.classes))
    if link.kind == "softmax":
        return through(form, [Function("softmax", link.scale, width=count)], np.eye(count), np.zeros(count), shares, form.classes)
    if link.kind in ("logistic_shares", "huber_shares"):
        parts = through(form, [_probability(link)] * count, np.eye(count), np.zeros(count), shares, form.classes)
        return shared(parts)
    hint = "use a model whose probabilities follow from its scores: SVC(probability=True) fits them apart"
    raise PredictorError("A model", "have probabilities where they are combined", f"link {link.kind!r}", hint)


def _probability(link: Link) -> Function:
    if link.kind.startswith("logistic"):
        return Function("logistic", link.scale, link.scale * link.offset)
    return Function("clip", 0.5, 0.5 + 0.5 * link.offset)


def shared(form: Form) -> Form:
    """The scores of a form, one per class, divided by their sum.

    Args:
        form: Its scores are not below 0.
    """
    count = len(form.classes)
    return through(form, [Function("shares", width=count)], np.eye(count), np.zeros(count), Link("shares"), form.classes)


def votes_of(form: Form) -> Form:
    """A form whose scores are 1 for the class that a classifier decides for, and 0 for the others.

    Args:
        form: The classifier.
    """
    count, argmax = len(form.classes), Link("argmax")
    if count == 2 and form.link.one_score_per_class:  # of equals, the first wins
        form = affine(second_minus_first(form), 1.0, 0.0, Link("sign"), form.classes)
    if form.link.one_score_per_class:
        return through(form, [Function("largest", width=count)], np.eye(count), np.zeros(count), argmax, form.classes)
    step = Function("at_least" if form.link.tie else "above")
    return through(form, [step], [[-1.0], [1.0]], [1.0, 0.0], argmax, form.classes)


def second_minus_first(form: Form) -> Form:
    """By how much the second of two scores exceeds the first, as one score.

    Args:
        form: With two scores.
    """
    return through(form, [IDENTITY] * 2, [[-1.0, 1.0]], [0.0], Link("sign"), form.classes)


def score_of(form: Form, output: int) -> Form:
    """One score of a form, as a form that decides nothing.

    Args:
        form: The form.
        output: Which score.
    """
    link = Link("identity")
    if isinstance(form, LinearModel):
        return replace(form, link=link, classes=(), weights=form.weights[[output]], bias=form.bias[[output]])
    if isinstance(form, TreeEnsemble) and (form.output_of < 0).all():  # a leaf has a value per output: take that of this one
        nodes = form.nodes.copy()
        nodes["inside"][nodes["feature"] < 0] += output
        return replace(form, link=link, classes=(), nodes=nodes, base=form.base[[output]])
    return through(form, [IDENTITY] * form.outputs, np.eye(form.outputs)[[output]], [0.0], link, ())


def summed(forms: Sequence[Form], weights: Sequence[float], link: Link, classes: Sequence[Value]) -> Form:
    """The weighted sum of the scores of several forms, output by output.

    Args:
        forms: Each with the same outputs.
        weights: One per form.
        link: How the sum decides.
        classes: The labels.
    """
    count = forms[0].outputs
    mixing = np.hstack([float(weight) * np.eye(count) for weight in weights])
    layer = Layer((IDENTITY,) * (count * len(forms)), mixing, np.zeros(count))
    return Composite(link, tuple(classes), tuple(forms), (layer,))


def among(form: Form, places: Sequence[int], classes: Sequence[Value]) -> Form:
    """A form with a score for each of several classes, of which it knows some; the others have 0.

    Args:
        form: With one score per class that it knows.
        places: Of these among all.
        classes: All of them.
    """
    if list(places) == list(range(len(classes))):
        return form
    wide = np.eye(len(classes))[:, list(places)]
    return through(form, [IDENTITY] * form.outputs, wide, np.zeros(len(classes)), form.link, classes)


# -- one form after another ---------------------------------------------------------------------------------------------


def side_by_side(forms: Sequence[Form]) -> Form:
    """The scores of several forms, one after the other.

    Args:
        forms: At least one.
    """
    width = sum(form.outputs for form in forms)
    return Composite(Link("identity"), (), tuple(forms), (Layer((IDENTITY,) * width, np.eye(width), np.zeros(width)),))


def after(first: Form, second: Form) -> Form:
    """A form of the scores of another: feature j of `second` is score j of `first`.

    Args:
        first: What is computed of the row.
        second: What is computed of its scores, which are all numbers.
    """
    if isinstance(second, Composite):
        members = tuple(after(first, member) for member in second.members)
        return Composite(second.link, second.classes, members, second.layers)
    if isinstance(second, LinearModel | ReluNetwork):
        weights, bias = _first_layer(second, first.outputs)
        form = through(first, [IDENTITY] * first.outputs, weights, bias, Link("identity"), ())
        for weights, bias in second.layers[1:]:
            form = through(form, [Function("relu")] * form.outputs, weights, bias, Link("identity"), ())
        return replace(form, link=second.link, classes=second.classes)
    if not isinstance(second, TreeEnsemble):
        raise UnsupportedModelError(
            "A model of other models' scores", "be linear, a network or trees with a number in each leaf",
            f"a form of kind {second.form!r}", "train the final estimator with linear_tree=False",
        )  # fmt: skip
    return _after_trees(first, second)


def _first_layer(form: LinearModel | ReluNetwork, features: int) -> tuple[Numbers, Numbers]:
    """The first layer, over features instead of columns."""
    weights, bias = form.layers[0]
    columns = form.columns
    slopes = np.zeros((len(columns), features))
    slopes[np.arange(len(columns)), [column.feature for column in columns]] = [column.slope for column in columns]
    offsets = np.array([column.intercept - column.slope * column.center for column in columns])
    return weights @ slopes, weights @ offsets + bias


def _after_trees(first: Form, trees: TreeEnsemble) -> Form:
    """Trees over scores: a test is a step, a leaf is reached where all steps on its path are taken."""
    tests: dict[tuple[int, float, float], int] = {}
    leaves: list[tuple[dict[int, bool], Numbers]] = []
    for root, output in zip(trees.roots, trees.output_of, strict=True):
        _collect(trees, int(root), int(output), {}, tests, leaves)
    steps = Layer((IDENTITY,) * first.outputs, *_steps(tests, first.outputs))
    inside = np.zeros((len(tests), 2 * len(tests)))  # low <= x and x <= high
    for t in range(len(tests)):
        inside[t, 2 * t : 2 * t + 2] = 1.0
    both = Layer((Function("at_least"),) * (2 * len(tests)), inside, np.full(len(tests), -1.5))
    paths = np.zeros((len(leaves), len(tests)))
    needed = np.zeros(len(leaves))
    for i, (path, _) in enumerate(leaves):
        for test, taken in path.items():
            paths[i, test] = 1.0 if taken else -1.0
            needed[i] += taken
    reached = Layer((Function("above"),) * len(tests), paths, 0.5 - needed)
    values = np.stack([value for _, value in leaves], axis=1) / trees.divisor
    total = Layer((Function("above"),) * len(leaves), values, trees.base / trees.divisor)
    members, layers = (first.members, first.layers) if isinstance(first, Composite) else ((first,), ())
    return Composite(trees.link, trees.classes, members, (*layers, steps, both, reached, total))


def _steps(tests: dict[tuple[int, float, float], int], features: int) -> tuple[Numbers, Numbers]:
    """x - low and high - x of every test; an end that is infinite is always kept."""
    weights, bias = np.zeros((2 * len(tests), features)), np.ones(2 * len(tests))
    for (feature, low, high), t in tests.items():
        for place, sign, end in ((2 * t, 1.0, low), (2 * t + 1, -1.0, high)):
            if np.isfinite(end):
                weights[place, feature], bias[place] = sign, -sign * end
    return weights, bias


def _collect(
    trees: TreeEnsemble,
    at: int,
    output: int,
    path: dict[int, bool],
    tests: dict[tuple[int, float, float], int],
    leaves: list[tuple[dict[int, bool], Numbers]],
) -> None:
    node = trees.nodes[at]
    if node["feature"] < 0:
        value, start = np.zeros(trees.outputs), int(node["inside"])
        if output < 0:
            value[:] = trees.values[start : start + trees.outputs]
        else:
            value[output] = trees.values[start]
        leaves.append((path, value))
        return
    test = tests.setdefault((int(node["feature"]), float(node["low"]), float(node["high"])), len(tests))
    for taken, child in ((True, int(node["inside"])), (False, int(node["outside"]))):
        if path.get(test, taken) == taken:
            _collect(trees, child, output, {**path, test: taken}, tests, leaves)
