"""A small table of loans with a bit of everything, models of it, and explainers that are fitted once."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import likely
from likely.circuit import Circuit

ROWS = 300
HOUSING = ("for free", "own", "rent")


def loans(rows: int = ROWS, seed: int = 0) -> pd.DataFrame:
    """Ages, incomes, debts (at most the income), months, housing, a telephone; and whether the loan was granted."""
    rng = np.random.default_rng(seed)
    income = np.round(rng.gamma(4, 700, rows), 2)
    table = pd.DataFrame(
        {
            "age": rng.integers(19, 75, rows),
            "income": income,
            "debt": np.round(income * rng.beta(1, 3, rows), 2),
            "months": rng.integers(1, 13, rows) * 6,
            "housing": rng.choice(HOUSING, rows, p=[0.1, 0.5, 0.4]),
            "telephone": rng.random(rows) < 0.4,
        }
    )
    merit = 0.02 * table.age + 0.001 * table.income - 0.002 * table.debt - 0.05 * table.months + (table.housing == "own")
    table["granted"] = np.where(merit + rng.normal(0, 0.7, rows) > np.median(merit), "yes", "no")
    return table


def table_of() -> tuple[pd.DataFrame, pd.Series[Any]]:
    table = loans()
    return table.drop(columns="granted"), table["granted"]


@cache
def schema_of() -> likely.Schema:
    return likely.Schema.infer(
        table_of()[0],
        features={"income": {"step": 0.01}, "debt": {"step": 0.01}},
        immutable=["telephone"],
        increasing=["age"],
        rules=[likely.LinearConstraint.ordered("debt", "income")],
    )


def pipeline(last: Any, text: tuple[str, ...] = ("housing",)) -> Any:
    return make_pipeline(make_column_transformer((OneHotEncoder(), list(text)), remainder=StandardScaler()), last)


@cache
def model_of() -> Any:
    return pipeline(LogisticRegression()).fit(*table_of())


@cache
def circuit_of() -> Circuit:
    X, y = table_of()
    return likely.circuit.learn(X, y, schema_of(), method="histograms", nodes=40, progress=False).circuit


@cache
def explainer_of() -> likely.Explainer:
    return likely.Explainer(model_of(), schema_of(), circuit_of(), progress=False).fit(*table_of())


def rejected(count: int = ROWS) -> pd.DataFrame:
    """Rows that the model refuses."""
    X = table_of()[0]
    return X[model_of().predict(X) == "no"].head(count)


def fitted(model: Any, X: pd.DataFrame, y: Any, schema: likely.Schema | None = None, **settings: Any) -> likely.Explainer:
    """An explainer with a small circuit."""
    schema = schema or likely.Schema.infer(X)
    circuit = likely.circuit.learn(X, y, schema, method="histograms", nodes=20, progress=False).circuit
    return likely.Explainer(model, schema, circuit, progress=False, **settings).fit(X, y)
