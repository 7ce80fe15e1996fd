"""Readers of scikit-learn's models and transformers; importing this registers them."""

from likely.predictor.sklearn import boosting, ensembles, hist, linear, naive_bayes, network, pipeline, preprocessing, trees

__all__ = ["boosting", "ensembles", "hist", "linear", "naive_bayes", "network", "pipeline", "preprocessing", "trees"]
