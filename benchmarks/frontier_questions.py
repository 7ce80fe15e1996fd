"""The questions of the frontier: tables of 8 to 60 numbers, models, and how likely an answer must be.

Logistic regressions and networks tell all classes of a table apart, and are asked for the class that they hold for second
likeliest. Forests tell the most frequent class from the rest, on a schema without steps, so that rivals, which know one score
and no steps, can be asked the same. An answer must be as likely as the median of new rows of its class: circuits are learned as
`Explainer.fit` learns them, and the median is that of rows which were held out in turn.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import density_data
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier

import likely
from likely.circuit import Circuit
from likely.errors import LikelyWarning
from likely.predictor import Form
from likely.problem import Plausibility, Problem, to_class

DATA = ("pima", "wine", "vehicle", "twonorm", "ring", "breast_cancer", "ionosphere", "sonar")
#: What an answer's likelihood is measured with; "none": any row is an answer. Weighted: there is no threshold, what is
#: minimised is the cost less `WEIGHT` (the paper's alpha) times its logarithm.
DENSITIES = ("none", "histograms", "blocks", "weighted histograms", "weighted blocks")
WEIGHT = 0.1
#: Training rows that a search begins with.
STARTS = 50

Numbers = np.ndarray[Any, Any]


def network(*widths: int) -> Any:
    """A ReLU network behind a scaler."""
    return make_pipeline(StandardScaler(), MLPClassifier(widths, max_iter=400, random_state=0))


def boosting(trees: int, depth: int) -> Any:
    """XGBoost."""
    return XGBClassifier(n_estimators=trees, max_depth=depth, random_state=0, n_jobs=1)


#: name -> family, and how it is made
MODELS: dict[str, tuple[str, Callable[[], Any]]] = {
    "logistic": ("logistic", lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))),
    "20-10": ("networks", lambda: network(20, 10)),
    "50-50": ("networks", lambda: network(50, 50)),
    "64-32": ("networks", lambda: network(64, 32)),
    "forest 100x6": ("forests", lambda: RandomForestClassifier(100, max_depth=6, random_state=0, n_jobs=1)),
    "XGBoost 100x3": ("forests", lambda: boosting(100, 3)),
    "XGBoost 300x6": ("forests", lambda: boosting(300, 6)),
}


@dataclass(frozen=True)
class Question:
    """One problem, where to begin, and which test row it is about."""

    row: int
    problem: Problem
    starts: Numbers


@dataclass(frozen=True)
class Table:
    """A table as a family of models sees it, divided into rows to learn from and rows to ask about."""

    name: str
    family: str
    count: int  # of the rows that are asked about

    @cached_property
    def _parts(self) -> tuple[pd.DataFrame, pd.DataFrame, pd.Series[Any]]:
        data = density_data.DATA[self.name]()
        if data.y is None:
            raise ValueError(f"{self.name} has no classes")
        X = data.X.loc[:, data.X.nunique() > 2]
        y = (data.y == data.y.mode()[0]).astype(int) if self.family == "forests" else data.y.astype("category").cat.codes
        train, test, y_train, _ = train_test_split(X, y, random_state=0, stratify=data.y)
        return train, test.iloc[: self.count], y_train.astype(int)

    @property
    def train(self) -> pd.DataFrame:
        """The rows to learn from."""
        return self._parts[0]

    @property
    def test(self) -> pd.DataFrame:
        """The rows that are asked about."""
        return self._parts[1]

    @property
    def y(self) -> pd.Series[Any]:
        """The classes of the rows to learn from."""
        return self._parts[2]

    @cached_property
    def schema(self) -> likely.Schema:
        """What a row may be, with room for all rows that are asked about."""
        schema = likely.Schema.infer(self.train, steps=None) if self.family == "forests" else likely.Schema.infer(self.train)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LikelyWarning)  # test rows may lie outside of what was seen
            for _, row in self.test.iterrows():
                schema = schema.widened(schema.encode_row(row))
        return schema

    @cached_property
    def rows(self) -> Numbers:
        """The rows that are asked about, encoded."""
        return np.array([self.schema.encode_row(row) for _, row in self.test.iterrows()])


def likelihood_of(table: Table, density_name: str, folder: Path | None) -> Callable[[int], Plausibility] | None:
    """How likely an answer must be, or how much that counts, by its class; None if it does not matter."""
    if density_name == "none":
        return None
    circuit, medians = density(table, density_name.rsplit(maxsplit=1)[-1], folder)
    if density_name.startswith("weighted"):
        return lambda label: Plausibility(circuit, weight=WEIGHT)
    return lambda label: Plausibility(circuit, lower=medians[label])


def density(table: Table, method: str, folder: Path | None) -> tuple[Circuit, dict[int, float]]:
    """A circuit and the median log-likelihood of new rows of each class; kept in a folder, if there is one."""
    kind = "two" if table.family == "forests" else "all"
    path = None if folder is None else folder / f"{table.name}-{kind}-{method}-{table.count}.json"
    if path is not None and path.exists():
        kept = json.loads(path.read_text())
        return Circuit.from_dict(kept["circuit"]), {int(label): lower for label, lower in kept["medians"].items()}
    train, y = table.train, table.y
    learned = likely.circuit.learn(train, y, table.schema, method=method, cross_fit=True, progress=False, n_jobs=1)  # type: ignore[arg-type]
    unseen = pd.concat([
        pd.DataFrame({"class": y.iloc[fold.rows], "log": fold.circuit.log_likelihood(train.iloc[fold.rows], y.iloc[fold.rows])})
        for fold in learned.folds
    ])  # fmt: skip
    medians = {int(label): float(group["log"].median()) for label, group in unseen.groupby("class")}
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"circuit": learned.circuit.to_dict(), "medians": medians}))
    return learned.circuit, medians


def fitted(table: Table, model_name: str) -> tuple[Any, Form]:
    """A model of the table, and what it computes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whether it converged or not
        model = MODELS[model_name][1]().fit(table.train, table.y)
    return model, likely.predictor.read(model, table.schema)


def asked(
    table: Table, model: Any, form: Form, likelihood: Callable[[int], Plausibility] | None, rows: int
) -> Iterator[Question]:
    """The question about each of the first rows."""
    known, said = table.schema.encode(table.train), model.predict(table.train)
    spread = table.train.std().to_numpy()
    for place, chances in enumerate(model.predict_proba(table.test.iloc[:rows])):
        factual, label = table.rows[place], model.classes_[np.argsort(chances)[-2]]
        plausibility = None if likelihood is None else likelihood(int(label))
        others = known[said == label]
        nearest = np.argsort((np.abs(others - factual) / spread).sum(axis=1))[:STARTS]
        yield Question(place, Problem(table.schema, factual, form, to_class(form, label), plausibility), others[nearest])
