"""`load`: a data set by its name."""

from __future__ import annotations

from pathlib import Path

from likely.datasets import adult, credit, gmsc
from likely.datasets.dataset import Dataset
from likely.errors import DatasetError

_EMBEDDED = {"credit": credit.load, "adult": adult.load}


def load(name: str, path: str | Path | None = None) -> Dataset:
    """A data set of the paper, with its schema.

    Args:
        name: "credit" (German Credit) or "adult", which are part of the package, or "gmsc" (Give Me Some Credit).
        path: Your copy of Kaggle's `cs-training.csv`, for "gmsc" only; without it, the environment variable LIKELY_GMSC
            says where it is.
    """
    if name == "gmsc":
        return gmsc.load(path)
    if name not in _EMBEDDED:
        known = ", ".join(repr(one) for one in (*_EMBEDDED, "gmsc"))
        raise DatasetError("The name of a data set", "be one of those that likely knows", repr(name), f"use one of {known}")
    if path is not None:
        raise DatasetError(f"The path of data set {name!r}", "be left out", str(path), "it is part of the package")
    return _EMBEDDED[name]()
