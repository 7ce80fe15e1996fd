"""Estimators of scikit-learn around another one: with a threshold of their own, or as it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import logit

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor.combining import shifted
from likely.predictor.composing import affine, score_of
from likely.predictor.forms import Form
from likely.predictor.links import Link
from likely.predictor.registry import Reader, reader_of, register
from likely.predictor.sklearn.common import as_fitted, name_of, refuse_unfitted
from likely.predictor.wires import ModelInputs
from likely.schema.values import Numbers

# -- thresholds --------------------------------------------------------------------------------------------------------


def _inner(model: Any) -> Any:
    return getattr(model, "estimator_", model.estimator)


def _threshold(model: Any) -> tuple[float, bool, bool]:
    """What the score of the positive class must reach; whether that score is a probability; whether that is the second class."""
    tuned = hasattr(model, "best_threshold_")
    positive = model._curve_scorer._get_pos_label() if tuned else model.pos_label
    methods = model._get_response_method()
    asked = [methods] if isinstance(methods, str) else list(methods)
    share = next(method for method in asked if hasattr(_inner(model), method)) == "predict_proba"
    chosen = model.best_threshold_ if tuned else model.threshold
    second = positive is None or bool(positive == model.classes_[1])
    return (0.5 if share else 0.0) if isinstance(chosen, str) else float(chosen), share, second


def _read_threshold(model: Any, inputs: ModelInputs) -> Form:
    refuse_unfitted(_inner(model))
    inner = _inner(model)
    form = reader_of(inner).read(inner, inputs)
    threshold, share, second = _threshold(model)
    sign = 1.0 if second else -1.0
    if form.link.kind == "shares" and share:
        # Of a share p, 2 p - 1 is the score of a link that clips it to -1 ... 1; less the threshold, it decides.
        link = Link("huber", tie=second, offset=sign * (2 * threshold - 1))
        return affine(score_of(form, int(second)), 2 * sign, -2 * sign * threshold, link, form.classes)
    if form.link.one_score_per_class:
        raise UnsupportedModelError(
            f"A {name_of(model)}", "have a threshold of one score", f"a model with link '{form.link.kind}'",
            "read the model without its threshold",
        )  # fmt: skip
    least = _score_at(form.link, threshold, name_of(model)) if share else threshold
    # The second class where score >= least; or, where the first is the positive one, where -score < least.
    return shifted(form, form.link.offset - sign * least, replace(form.link, tie=second, offset=sign * least))


def _score_at(link: Link, share: float, by: str) -> float:
    """The score at which the second class has this probability."""
    if not 0 < share < 1:
        raise PredictorError(
            f"The threshold of a {by}", "lie between 0 and 1", share, "with this one it decides the same for every row"
        )
    return 2 * share - 1 if link.kind == "huber" else float(logit(share)) / link.scale


def _score_threshold(model: Any, X: Any) -> Numbers:
    inner = _inner(model)
    scores = reader_of(inner).score(inner, X)
    threshold, share, second = _threshold(model)
    if scores.shape[1] == 2:
        return 2 * ((scores[:, 1:] - threshold) if second else (threshold - scores[:, :1]))
    least = _score_at(_link_between(scores, inner, X), threshold, name_of(model)) if share else threshold
    return scores - least if second else scores + least


def _link_between(scores: Numbers, model: Any, X: Any) -> Link:
    """The link between a model's own scores and its own probabilities."""
    second = np.asarray(model.predict_proba(as_fitted(model, X)), dtype=np.float64)[:, 1]
    links = (Link("logistic"), Link("logistic", scale=2.0), Link("huber"))
    return min(links, key=lambda link: float(np.abs(link.probabilities(scores)[:, 1] - second).max(initial=0.0)))


# -- as it is ----------------------------------------------------------------------------------------------------------


def _read_inner(model: Any, inputs: ModelInputs) -> Form:
    inner = _inner(model)
    return reader_of(inner).read(inner, inputs)


def _score_inner(model: Any, X: Any) -> Numbers:
    inner = _inner(model)
    return reader_of(inner).score(inner, X)


for _name in ("TunedThresholdClassifierCV", "FixedThresholdClassifier"):
    register(f"sklearn.{_name}", Reader(_read_threshold, _score_threshold))
for _name in ("SelfTrainingClassifier", "FrozenEstimator", "RANSACRegressor"):
    register(f"sklearn.{_name}", Reader(_read_inner, _score_inner))
