"""`load`: a data set by its name."""

from __future__ import annotations

from pathlib import Path

from likely.datasets import adult, credit, gmsc
from likely.datasets.dataset import Dataset
from likely.errors import DatasetError

_EMBEDDED = {"credit": credit.load, "adult": adult.load}


def load(name: str, path: str | Path | None = None) -> Dataset:
    """The data set of that name: "credit" and "adult", which are part of the package, or "gmsc".

    "gmsc" (Give Me Some Credit) is read from your own copy of Kaggle's `cs-training.csv`, at `path` or where the
    environment variable LIKELY_GMSC says.
    """
    if name == "gmsc":
        return gmsc.load(path)
    if name not in _EMBEDDED:
        known = ", ".join(repr(one) for one in (*_EMBEDDED, "gmsc"))
        raise DatasetError("The name of a data set", "be known", repr(name), f"use one of {known}")
    if path is not None:
        raise DatasetError(f"The path of data set {name!r}", "be left out", str(path), "it is part of the package")
    return _EMBEDDED[name]()
