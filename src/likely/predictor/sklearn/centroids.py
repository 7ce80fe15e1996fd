"""`NearestCentroid` of scikit-learn.

Of squared distances |x - c|^2 = |x|^2 - 2 c x + |c|^2 the first term is the same for all classes, so that the nearest centroid is
that of the greatest linear function; of Manhattan distances, it is that of the least sum of |x_j - c_j|. Scores are taken less
their mean over the classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import pairwise_distances

from likely.errors import UnsupportedModelError
from likely.predictor.forms import Form
from likely.predictor.links import Link
from likely.predictor.network_graph import NetworkGraph
from likely.predictor.registry import Reader, register
from likely.predictor.sklearn.common import as_fitted, bind, name_of, refuse_unfitted
from likely.predictor.sklearn.linear import linear_form
from likely.predictor.tables import dense
from likely.predictor.wires import ModelInputs
from likely.schema.values import Numbers


def _has_priors(model: Any) -> bool:
    """Whether some classes are more probable beforehand: then distances are scaled, and probabilities decide."""
    priors = getattr(model, "class_prior_", None)
    return priors is not None and not np.isclose(priors, 1 / len(model.classes_)).all()


def _scales(model: Any) -> Numbers:
    """What every column is divided by before distances are taken."""
    if not _has_priors(model):
        return np.ones(model.centroids_.shape[1])
    return np.where(model.within_class_std_dev_ != 0, model.within_class_std_dev_, 1.0)


def _centred(scores: Numbers) -> Numbers:
    return np.asarray(scores - scores.mean(axis=-1, keepdims=True))


def _read(model: Any, inputs: ModelInputs) -> Form:
    refuse_unfitted(model)
    classes, scales = tuple(model.classes_), _scales(model)
    centroids = model.centroids_ / scales
    if model.metric == "manhattan":
        return _read_manhattan(model, inputs)
    prior = 2 * np.log(model.class_prior_) if _has_priors(model) else 0.0
    bias = _centred(prior - (centroids**2).sum(axis=1))
    link = Link("softmax" if _has_priors(model) else "argmax")
    return linear_form(model, inputs, _centred(2 * centroids.T / scales[:, None]).T, bias, link, classes)


def _read_manhattan(model: Any, inputs: ModelInputs) -> Form:
    if _has_priors(model):
        raise UnsupportedModelError(
            f"A {name_of(model)}", "add distances up", "metric='manhattan' with priors, which squares them",
            "use priors='uniform', or metric='euclidean'",
        )  # fmt: skip
    graph = NetworkGraph(bind(model, inputs), name_of(model))
    x = graph.input()
    distances = [graph.leaky(x.scaled(1.0, -centroid), -1.0).map(np.ones((1, len(centroid)))) for centroid in model.centroids_]
    count = len(distances)
    return graph.finish(graph.join(distances).map(1 / count - np.eye(count)), Link("argmax"), tuple(model.classes_))


def _score(model: Any, X: Any) -> Numbers:
    """What the model compares: distances, or what it makes of them and of the priors; less their mean."""
    rows = as_fitted(model, X)
    if _has_priors(model):
        return _centred(model._decision_function(rows))
    distances = pairwise_distances(np.asarray(dense(rows), dtype=np.float64), model.centroids_, metric=model.metric)
    return _centred(-(distances**2) if model.metric == "euclidean" else -distances)


register("sklearn.NearestCentroid", Reader(_read, _score))
