"""Models that double precision cannot tell from noise are refused.

The engine's bounds and tests allow for the rounding of every term of a score. If that exceeds what the goal asks for at
*every* row of the domain, no answer of anybody's means anything: two ways of adding up the same terms decide differently. The
usual cause is a column that was constant when the model was fitted, whose coefficient is noise blown up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likely.errors import ProblemError
from likely.predictor import LinearModel, ReluNetwork, TreeEnsemble
from likely.predictor.forms import ROUNDOFF
from likely.problem import Alternative
from likely.schema import Feature
from likely.schema.values import LARGEST, Name, Numbers
from likely.search.first_layer import FirstLayer

#: A class that is to win by less is asked to win, by however little: then rounding is held against the scores themselves,
_LEAST_MARGIN = 1e-9
#: of which it may be this share.
_SHARE = 1e-3


@dataclass(frozen=True, eq=False)
class Sizes:
    """Of every score: the sizes of the terms that it is added up from, at the row where they are least; how far it varies."""

    least: Numbers
    spread: Numbers
    #: The feature with the largest terms; None if there are none but leaves of trees.
    feature: Name | None = None


def refuse_noise(alternatives: Sequence[Alternative], sizes: Sizes) -> None:
    """Raises ProblemError if, at every row, rounding of the scores is more than what some goal asks for.

    Args:
        alternatives: Those of the goal.
        sizes: Of the scores.
    """
    for alternative in alternatives:
        coefficients = np.abs(alternative.coefficients)
        noise = ROUNDOFF * (coefficients @ sizes.least)
        allowed = _allowed(alternative, coefficients @ sizes.spread)
        worst = int(np.argmax(noise / np.maximum(allowed, np.finfo(float).tiny)))
        if noise[worst] > allowed[worst]:
            raise _too_large(sizes.feature, float(noise[worst]), float(allowed[worst]))


def _allowed(alternative: Alternative, spread: Numbers) -> Numbers:
    """What each goal's rounding may be: the margin by which a class must win, or else a small part of what scores vary by."""
    lower = np.asarray(alternative.lower)
    wins = (lower >= _LEAST_MARGIN) & (alternative.class_index is not None)
    varies = np.where(spread > 0, spread * _SHARE, np.inf)  # a score that never varies is as good as exact
    return np.where(wins, lower, np.maximum(np.abs(lower) * _SHARE, varies))


def _too_large(feature: Name | None, noise: float, allowed: float) -> ProblemError:
    rule = f"let a score be computed to within {allowed:.2g}, which decides"
    got = f"terms so large that adding them up loses {noise:.2g}"
    if feature is None:
        return ProblemError("The leaves of the trees", rule, got, "train the model again on a target of ordinary size")
    hint = f"drop {feature!r} if it was constant when the model was fitted, or put a StandardScaler before the model"
    return ProblemError(f"The model's weight of feature {feature!r}", rule, got, hint, feature=feature)


def sizes_of_trees(form: TreeEnsemble, least: Sequence[float], spread: Sequence[float]) -> Sizes:
    """The sizes of the leaves that scores are added up from; refuses those that overflow.

    Args:
        form: The trees.
        least: Per score, the sizes at the smallest leaf of each tree.
        spread: Per score, how far it varies.
    """
    largest = float(np.abs([*form.values, *form.base]).max(initial=0.0))
    if not largest < LARGEST / (len(form.roots) + 1):
        hint = "train the model again on a target of ordinary size"
        raise ProblemError("The leaves of the trees", "add up to finite scores", f"a leaf of {largest:.2g}", hint)
    return Sizes(np.array(least), np.array(spread))


def sizes_of(form: LinearModel | ReluNetwork, first: FirstLayer, features: Sequence[Feature]) -> Sizes:
    """The sizes of the terms of a linear model's or a network's scores; refuses those that overflow.

    Args:
        form: The model.
        first: Its first layer.
        features: Those of the schema.
    """
    numeric = np.array([feature.numeric for feature in features], dtype=np.bool_)
    width = np.array([feature.upper - feature.lower if feature.numeric else 0.0 for feature in features])[:, None]
    owner = np.repeat(np.arange(len(features)), [len(feature.atoms) for feature in features])
    with np.errstate(over="ignore", invalid="ignore"):
        numbers = first.values[2], first.values[2] + first.values[1] * width
        low = _of_features(np.minimum, np.inf, first.values[0], np.minimum(*numbers), owner, numeric)
        high = _of_features(np.maximum, -np.inf, first.values[0], np.maximum(*numbers), owner, numeric)
        least = _of_features(np.minimum, np.inf, first.sizes[0], first.sizes[2], owner, numeric)
        most = _of_features(np.maximum, 0.0, first.sizes[0], first.sizes[2] + first.sizes[1] * width, owner, numeric)
        through = [np.abs(first.bias) + least.sum(axis=0), np.abs(first.bias) + most.sum(axis=0), (high - low).sum(axis=0)]
        for weights, bias in form.layers[1:]:
            through = [np.abs(weights) @ part + np.abs(bias) * (i < 2) for i, part in enumerate(through)]
    largest = features[int(np.argmax(most.max(axis=1, initial=0.0)))].name
    if not np.isfinite(through[1]).all():
        raise ProblemError(
            "The scores of a model", "be finite", f"terms that overflow, the largest of feature {largest!r}",
            "put a StandardScaler before the model", feature=largest,
        )  # fmt: skip
    name = features[int(np.argmax(least.max(axis=1, initial=0.0)))].name
    return Sizes(through[0], through[2], name)


def _of_features(
    choose: np.ufunc, start: float, atoms: Numbers, numbers: Numbers, owner: NDArray[np.intp], numeric: NDArray[np.bool_]
) -> Numbers:
    """The least or the greatest over the values of each feature: of its atoms, and of its numbers if it has any."""
    chosen = np.full(numbers.shape, start)
    choose.at(chosen, owner, atoms)
    chosen[numeric] = choose(chosen[numeric], numbers[numeric])
    return chosen
