"""Readers of scikit-learn's models and transformers; importing this registers them."""

from likely.predictor.sklearn import (
    boosting,
    ensembles,
    functions,
    hist,
    linear,
    mixing,
    network,
    pipeline,
    preprocessing,
    selecting,
    trees,
    wrapping,
)

__all__ = [
    "boosting",
    "ensembles",
    "functions",
    "hist",
    "linear",
    "mixing",
    "network",
    "pipeline",
    "preprocessing",
    "selecting",
    "trees",
    "wrapping",
]
