"""`Bagging`, `Voting` and `OneVsRest` of scikit-learn, of any readable models.

Where the result is a simpler form, it is that one: the average of the shares of trees and forests is one forest; the average of
linear regressors is one linear function; and the scores of linear models or trees, one per class, are the outputs of one.
Everything else is a composite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from likely.errors import UnsupportedModelError
from likely.predictor.combining import leaf_table, side_by_side, summed_linear, summed_trees
from likely.predictor.composing import among, probabilities_of, score_of, summed, votes_of
from likely.predictor.composing import side_by_side as composed_side_by_side
from likely.predictor.forms import Form, LinearModel, TreeEnsemble
from likely.predictor.links import Link
from likely.predictor.registry import Reader, reader_of, register
from likely.predictor.sklearn.common import as_array, as_fitted, bind, name_of, prediction, refuse_unfitted, shares
from likely.predictor.sklearn.composites import refuse_links, responses
from likely.predictor.wires import ModelInputs
from likely.schema.values import Numbers, Value


def _places(form: Form) -> list[int]:
    """The places of the classes that a part knows: it was fitted on these."""
    return [int(label) for label in form.classes]  # type: ignore[arg-type]


def _averaged(forms: Sequence[Form], weights: Numbers, classes: Sequence[Value]) -> Form:
    """The average of the shares of classifiers, each of which knows some of the classes by their places."""
    trees = [form for form in forms if isinstance(form, TreeEnsemble) and form.link.kind == "shares"]
    if len(trees) < len(forms):
        said = [among(probabilities_of(form), _places(form), classes) for form in forms]
        return summed(said, (weights / weights.sum()).tolist(), Link("shares"), classes)
    tables, base = [], np.zeros(len(classes))
    for form, weight in zip(trees, weights / weights.sum(), strict=True):
        places = _places(form)
        table = leaf_table(form)[1]
        wide = np.zeros((len(table), len(classes)))
        wide[:, places] = table * (weight / form.divisor)
        tables.append(wide)
        base[places] += form.base * (weight / form.divisor)
    return summed_trees(trees, tables, base, Link("shares"), classes)


def _counted(forms: Sequence[Form], weights: Numbers, link: Link, classes: Sequence[Value]) -> Form:
    """The votes for every class, each times the weight of its voter."""
    return summed([among(votes_of(form), _places(form), classes) for form in forms], weights.tolist(), link, classes)


def _averaged_numbers(model: Any, forms: Sequence[Form], weights: Numbers) -> Form:
    """The average of regressors."""
    refuse_links(model, forms)
    weights = weights / weights.sum()
    trees = [form for form in forms if isinstance(form, TreeEnsemble)]
    linear = [form for form in forms if isinstance(form, LinearModel)]
    if len(linear) == len(forms):
        return summed_linear(linear, weights.tolist(), Link("identity"), ())
    if len(trees) == len(forms):
        tables = [leaf_table(form)[1] * (weight / form.divisor) for form, weight in zip(trees, weights, strict=True)]
        base = sum(form.base * (weight / form.divisor) for form, weight in zip(trees, weights, strict=True))
        return summed_trees(trees, tables, np.asarray(base), Link("identity"), ())
    return summed(forms, weights.tolist(), Link("identity"), ())


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
    forms, classes = _bagged(model, inputs), tuple(model.classes_)
    if hasattr(model.estimators_[0], "predict_proba"):
        return _averaged(forms, np.ones(len(forms)), classes)
    return _counted(forms, np.full(len(forms), 1 / len(forms)), Link("shares"), classes)


def _read_bagging_regressor(model: Any, inputs: ModelInputs) -> Form:
    forms = _bagged(model, inputs)
    return _averaged_numbers(model, forms, np.ones(len(forms)))


# -- voting ------------------------------------------------------------------------------------------------------------


def _weights(model: Any) -> Numbers:
    return np.ones(len(model.estimators_)) if model.weights is None else np.asarray(model._weights_not_none, dtype=np.float64)


def _parts(model: Any, inputs: ModelInputs) -> list[Form]:
    refuse_unfitted(model)
    return [reader_of(part).read(part, inputs) for part in model.estimators_]


def _read_voting(model: Any, inputs: ModelInputs) -> Form:
    forms = _parts(model, inputs)
    if model.voting == "soft":
        return _averaged(forms, _weights(model), tuple(model.classes_))
    trees = [form for form in forms if isinstance(form, TreeEnsemble) and form.link.kind == "shares" and len(form.roots) == 1]
    if len(trees) < len(forms):
        return _counted(forms, _weights(model), Link("argmax"), tuple(model.classes_))
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
    return _averaged_numbers(model, _parts(model, inputs), _weights(model))


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
    single = [score_of(form, 1) if kind == "argmax" and form.outputs == 2 else form for form in forms]
    whole = side_by_side(single, Link(kind, scale=scales.pop()), tuple(model.classes_)) if kind else None
    if whole is not None:
        return whole
    said = [responses(part, form) for part, form in zip(model.estimators_, forms, strict=True)]
    return replace(composed_side_by_side(said), link=Link("argmax"), classes=tuple(model.classes_))


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
