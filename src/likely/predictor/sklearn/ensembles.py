"""`Bagging`, `Voting` and `OneVsRest` of scikit-learn, where they are a sum of trees or a linear model again.

The average of the shares of trees and forests is one forest; the average of linear regressors is one linear function; and the
scores of linear models or trees, one per class, are the outputs of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from likely.errors import UnsupportedModelError
from likely.predictor.combining import leaf_table, side_by_side, summed_linear, summed_trees
from likely.predictor.forms import Form, LinearModel, TreeEnsemble
from likely.predictor.links import Link
from likely.predictor.registry import Reader, reader_of, register
from likely.predictor.sklearn.common import as_array, as_fitted, bind, name_of, prediction, refuse_unfitted, shares
from likely.predictor.wires import ModelInputs
from likely.schema.values import Numbers, Value


def _refusal(model: Any, parts: Sequence[Any], how: str, hint: str) -> UnsupportedModelError:
    got = ", ".join(sorted({name_of(part) for part in parts}))
    return UnsupportedModelError(f"A {name_of(model)}", f"be made of {how}", got, hint)


def _averaged(model: Any, forms: Sequence[Form], parts: Sequence[Any], weights: Numbers, classes: Sequence[Value]) -> Form:
    """The average of the shares of classifiers, each of which knows some of the classes by their places."""
    trees = [form for form in forms if isinstance(form, TreeEnsemble) and form.link.kind == "shares"]
    if len(trees) < len(forms):
        raise _refusal(
            model, parts, "decision trees, random forests or extra trees, whose averaged shares are one forest",
            "the average of other probabilities is no sum of trees: explain one of its parts, or use a forest",
        )  # fmt: skip
    tables, base = [], np.zeros(len(classes))
    for form, weight in zip(trees, weights / weights.sum(), strict=True):
        places = [int(label) for label in form.classes]  # type: ignore[arg-type]
        table = leaf_table(form)[1]
        wide = np.zeros((len(table), len(classes)))
        wide[:, places] = table * (weight / form.divisor)
        tables.append(wide)
        base[places] += form.base * (weight / form.divisor)
    return summed_trees(trees, tables, base, Link("shares"), classes)


def _averaged_numbers(model: Any, forms: Sequence[Form], parts: Sequence[Any], weights: Numbers) -> Form:
    """The average of regressors."""
    weights, identity = weights / weights.sum(), all(form.link.kind == "identity" for form in forms)
    trees = [form for form in forms if isinstance(form, TreeEnsemble)]
    linear = [form for form in forms if isinstance(form, LinearModel)]
    if identity and len(linear) == len(forms):
        return summed_linear(linear, weights.tolist(), Link("identity"), ())
    if identity and len(trees) == len(forms):
        tables = [leaf_table(form)[1] * (weight / form.divisor) for form, weight in zip(trees, weights, strict=True)]
        base = sum(form.base * (weight / form.divisor) for form, weight in zip(trees, weights, strict=True))
        return summed_trees(trees, tables, np.asarray(base), Link("identity"), ())
    raise _refusal(model, parts, "regressors that are all trees or all linear", "explain one of its parts")


# -- bagging -----------------------------------------------------------------------------------------------------------


def _bagged(model: Any, inputs: ModelInputs) -> list[Form]:
    """The forms of all parts; each reads some of the columns of one array."""
    whole = as_array(bind(model, inputs), name_of(model))
    forms = []
    for part, places in zip(model.estimators_, model.estimators_features_, strict=True):
        some = replace(whole, wires=tuple(whole.wires[c] for c in places), untouched=False)
        forms.append(reader_of(part).read(part, some))
    return forms


def _read_bagging(model: Any, inputs: ModelInputs) -> Form:
    forms = _bagged(model, inputs)
    return _averaged(model, forms, model.estimators_, np.ones(len(forms)), tuple(model.classes_))


def _read_bagging_regressor(model: Any, inputs: ModelInputs) -> Form:
    forms = _bagged(model, inputs)
    return _averaged_numbers(model, forms, model.estimators_, np.ones(len(forms)))


# -- voting ------------------------------------------------------------------------------------------------------------


def _weights(model: Any) -> Numbers:
    return np.ones(len(model.estimators_)) if model.weights is None else np.asarray(model._weights_not_none, dtype=np.float64)


def _parts(model: Any, inputs: ModelInputs) -> list[Form]:
    refuse_unfitted(model)
    return [reader_of(part).read(part, inputs) for part in model.estimators_]


def _read_voting(model: Any, inputs: ModelInputs) -> Form:
    forms = _parts(model, inputs)
    if model.voting == "soft":
        return _averaged(model, forms, model.estimators_, _weights(model), tuple(model.classes_))
    trees = [form for form in forms if isinstance(form, TreeEnsemble) and form.link.kind == "shares" and len(form.roots) == 1]
    if len(trees) < len(forms):
        raise _refusal(
            model, model.estimators_, "single decision trees, whose votes are trees again",
            "the vote of another model is no sum of trees: use voting='soft' with forests, or explain one of its parts",
        )  # fmt: skip
    tables = []
    for form, weight in zip(trees, _weights(model), strict=True):
        table = leaf_table(form)[1] + form.base
        tables.append(weight * np.eye(len(model.classes_))[np.argmax(table, axis=1)])
    return summed_trees(trees, tables, np.zeros(len(model.classes_)), Link("argmax"), tuple(model.classes_))


def _score_voting(model: Any, X: Any) -> Numbers:
    if model.voting == "soft":
        return shares(model, X)
    votes = np.asarray(model.transform(as_fitted(model, X)))
    return np.asarray(np.einsum("nmk,m->nk", votes[:, :, None] == np.arange(len(model.classes_)), _weights(model)))


def _read_voting_regressor(model: Any, inputs: ModelInputs) -> Form:
    return _averaged_numbers(model, _parts(model, inputs), model.estimators_, _weights(model))


# -- one against the rest ----------------------------------------------------------------------------------------------

#: link of a part -> link of all
_TOGETHER = {"logistic": "logistic_shares", "huber": "argmax", "sign": "argmax", "shares": "argmax"}


def _read_one_vs_rest(model: Any, inputs: ModelInputs) -> Form:
    refuse_unfitted(model)
    if model.multilabel_:
        raise UnsupportedModelError(
            f"A {name_of(model)}", "give each row one class", "several labels per row", "fit one model per label"
        )
    forms = [reader_of(part).read(part, inputs) for part in model.estimators_]
    if len(forms) == 1:
        return replace(forms[0], classes=tuple(model.classes_))
    kinds = {form.link.kind for form in forms}
    kind = _TOGETHER.get(kinds.pop(), "") if len(kinds) == 1 else ""
    scales = {form.link.scale for form in forms}
    single = [_second_share(form) if kind == "argmax" and form.outputs == 2 else form for form in forms]
    whole = side_by_side(single, Link(kind, scale=scales.pop()), tuple(model.classes_)) if kind else None
    if whole is None:
        raise _refusal(
            model, model.estimators_, "linear models or trees, whose scores are outputs of one form",
            "use a model that knows several classes itself",
        )  # fmt: skip
    return whole


def _second_share(form: Form) -> Form:
    """The share of the second class of trees, as one output."""
    assert isinstance(form, TreeEnsemble)
    nodes = form.nodes.copy()
    nodes["inside"][nodes["feature"] < 0] += 1
    return replace(form, nodes=nodes, base=form.base[1:], link=Link("identity"), classes=())


def _score_one_vs_rest(model: Any, X: Any) -> Numbers:
    scores = [reader_of(part).score(part, as_fitted(part, X)) for part in model.estimators_]
    if len(scores) == 1:
        return scores[0]
    return np.column_stack([each[:, -1] for each in scores])


register("sklearn.BaggingClassifier", Reader(_read_bagging, shares))
register("sklearn.BaggingRegressor", Reader(_read_bagging_regressor, prediction))
register("sklearn.VotingClassifier", Reader(_read_voting, _score_voting))
register("sklearn.VotingRegressor", Reader(_read_voting_regressor, prediction))
register("sklearn.OneVsRestClassifier", Reader(_read_one_vs_rest, _score_one_vs_rest))
