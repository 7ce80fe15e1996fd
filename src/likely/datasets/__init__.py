"""The paper's data sets, each with its schema and constraints: `load("credit")`, `load("adult")`, `load("gmsc")`."""

from likely.datasets.catalogue import load
from likely.datasets.dataset import Dataset

__all__ = ["Dataset", "load"]
