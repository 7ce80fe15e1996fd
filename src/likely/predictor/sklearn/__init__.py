"""Readers of scikit-learn's models and transformers; importing this registers them."""

from likely.predictor.sklearn import linear, pipeline, preprocessing

__all__ = ["linear", "pipeline", "preprocessing"]
