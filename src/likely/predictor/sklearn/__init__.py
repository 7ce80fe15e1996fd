"""Readers of scikit-learn's models and transformers; importing this registers them."""

from likely.predictor.sklearn import (
    boosting,
    centroids,
    composites,
    ensembles,
    functions,
    hist,
    linear,
    mixing,
    naive_bayes,
    network,
    pipeline,
    preprocessing,
    selecting,
    svm,
    trees,
    wrapping,
)

__all__ = [
    "boosting",
    "centroids",
    "composites",
    "ensembles",
    "functions",
    "hist",
    "linear",
    "mixing",
    "naive_bayes",
    "network",
    "pipeline",
    "preprocessing",
    "selecting",
    "svm",
    "trees",
    "wrapping",
]
