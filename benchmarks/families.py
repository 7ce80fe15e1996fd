"""500 applicants of the German Credit test folds, explained for six families of models: is every answer what it says?

    python benchmarks/families.py [--families "logistic regression" XGBoost] [--rows 100] [--limit-seconds 60] [--json OUT]

Of each of five stratified folds, every family is fitted to the training rows; costs and a circuit are taken from the same
rows, the circuit once for all families. The first 100 test rows of each fold are explained towards the other class:
"median" asks for at least the median log-likelihood of the training rows of that class, "none" for any row. Time is all
that a caller of `explain` pays per row, on one thread; "search" leaves out what the model's own `predict` takes, which is
asked about the row and about the answer.

Answers are judged without the package where that is possible: "valid" by the model's own `predict` on the decoded row,
"rules" by the paper's rules written out below on the two rows of the DataFrame (and by the schema), "likely" by the
circuit's log-likelihood against the median taken here, "verified" by `likely.verify_all`. Each counts answers that fail;
so does "beaten": rows of the training data that are better than an answer proved to be the best, or that answer where it
is proved that nothing does. The script exits with 1 if any of them is not 0.
"nearest" is the alternative measured in the same run: the cheapest training row that is an answer to the same question. How
often there is one, and the median of its cost over ours.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from summary import Column, head, line, one_thread, share, spread
from xgboost import XGBClassifier

import likely
from likely.bench import Nearest, Pool, nearest_row
from likely.circuit import Circuit
from likely.errors import LikelyWarning
from likely.explain import verify_all
from likely.problem import Limits

CLASSES = ("bad", "good")
IMMUTABLE = ("dependents", "personal_status", "foreign_worker")
FAILURES = ("invalid", "breaking_rules", "unlikely", "not_verified", "beaten")
#: Log-likelihoods and costs this close are the same.
SAME = 1e-6


# -- data and models --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Fold:
    """What all families share: rows to learn from, rows to explain, the schema and the circuit."""

    X: pd.DataFrame
    y: pd.Series
    test: pd.DataFrame
    truth: pd.Series
    schema: likely.Schema
    circuit: Circuit

    def median(self, label: str) -> float:
        """The median log-likelihood of the training rows of a class."""
        of_class = self.y == label
        return float(np.median(self.circuit.log_likelihood(self.X[of_class], self.y[of_class])))


def folds() -> Iterator[Fold]:
    """The five folds of German Credit; kinds and domains are the data set's, costs those of the training rows."""
    data = likely.datasets.load("credit")
    features = {feature.name: feature for feature in data.schema.features}
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(data.X, data.y):
        X, y = data.X.iloc[train], data.y.iloc[train]
        schema = likely.Schema.infer(X, features=features, rules=data.schema.constraints)
        circuit = likely.circuit.learn(X, y, schema, progress=False).circuit
        yield Fold(X, y, data.X.iloc[test], data.y.iloc[test], schema, circuit)


def encoded(model: Any, fold: Fold, numbers: Any = "passthrough") -> Any:
    """A model behind one-hot columns."""
    discrete = [feature.name for feature in fold.schema.features if not feature.numeric]
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(make_column_transformer((one_hot, discrete), remainder=numbers), model)


FAMILIES = {
    "logistic regression": lambda fold: encoded(LogisticRegression(max_iter=1000), fold, StandardScaler()),
    "network 20-10": lambda fold: encoded(MLPClassifier((20, 10), max_iter=100, random_state=0), fold, StandardScaler()),
    "random forest": lambda fold: encoded(RandomForestClassifier(100, max_depth=6, random_state=0), fold),
    "gradient boosting": lambda fold: encoded(GradientBoostingClassifier(random_state=0), fold),
    "XGBoost": lambda fold: XGBClassifier(n_estimators=100, max_depth=3, enable_categorical=True, n_jobs=1),
    "LightGBM": lambda fold: LGBMClassifier(n_estimators=100, num_leaves=8, n_jobs=1, verbose=-1),
}


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted model; XGBoost knows classes by their numbers only."""

    model: Any
    numbered: bool

    @classmethod
    def of(cls, family: str, fold: Fold) -> Model:
        model, numbered = FAMILIES[family](fold), family == "XGBoost"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a hundred epochs, whether they converged or not
            return cls(model.fit(fold.X, fold.y.map(CLASSES.index) if numbered else fold.y), numbered)

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        """What the model itself says, by the names of the classes."""
        said = self.model.predict(X)
        return np.array(CLASSES)[said] if self.numbered else np.asarray(said)

    @property
    def classes(self) -> tuple[str, ...] | None:
        return CLASSES if self.numbered else None


# -- asking and judging -----------------------------------------------------------------------------------------------

VARIANTS = {"median": likely.Quantile(0.5, rows="training"), "none": None}


def asked(fold: Fold, model: Model, variant: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """The test rows of a fold, explained and judged."""
    explainer = likely.Explainer(model.model, fold.schema, fold.circuit, classes=model.classes, progress=False)
    explainer.fit(fold.X, fold.y)
    pool = Pool.of(explainer, fold.X)
    rows = fold.test.head(options.rows)
    decided = model.predict(rows)
    explanations, seconds = [], []
    for i in range(len(rows)):
        clock = time.perf_counter()
        other = CLASSES[1 - CLASSES.index(decided[i])]
        limits = Limits(seconds=options.limit_seconds)
        explanations.append(explainer.explain(rows.iloc[i], target=other, plausibility=VARIANTS[variant], limits=limits))
        seconds.append(time.perf_counter() - clock)
    checked = verify_all(explanations, model.model, fold.circuit, classes=model.classes)
    medians = {label: fold.median(label) for label in CLASSES} if variant == "median" else {}
    return [
        {
            "status": explanation.status,
            "seconds": seconds[i],
            "search_seconds": explanation.seconds,
            "search_nodes": explanation.nodes,
            "not_verified": not checked[i],
            **against(explanation, nearest_row(explanation, pool)),
            **(judged(rows.iloc[[i]], explanation, model, fold, medians) if explanation else {}),
        }
        for i, explanation in enumerate(explanations)
    ]


def judged(
    factual: pd.DataFrame, answer: likely.Explanation, model: Model, fold: Fold, medians: dict[str, float]
) -> dict[str, Any]:
    """What is wrong with an answer, without asking the package what it claims."""
    row, target = answer.to_frame(), answer.query.target
    log = fold.circuit.log_likelihood(row, [target])[0]
    broken = breaks_rules(factual.iloc[0], row.iloc[0]) or bool(fold.schema.violations(factual, row))
    return {
        "invalid": bool(model.predict(row)[0] != target),
        "breaking_rules": broken,
        "unlikely": bool(log < medians.get(target, -np.inf) - SAME),
        "changes": sum(bool(factual[name].iloc[0] != row[name].iloc[0]) for name in row.columns),
    }


def breaks_rules(before: pd.Series, after: pd.Series) -> bool:
    """The paper's rules for this data set, written out."""
    ranks = {value: rank for rank, value in enumerate(likely.datasets.credit.CODEBOOK["employment"].values())}
    older = after["age"] > before["age"]
    settled = after["residence"] > before["residence"] or ranks[after["employment"]] > ranks[before["employment"]]
    frozen = any(after[name] != before[name] for name in IMMUTABLE)
    return bool(frozen or after["age"] < before["age"] or (settled and not older))


def against(answer: likely.Explanation, nearest: Nearest | None) -> dict[str, Any]:
    """An answer beside the nearest training row that is one."""
    if nearest is None:
        return {"nearest": None, "beaten": False}
    best = answer.best.cost if answer else np.inf
    proved = answer.status in ("optimal", "infeasible")
    return {"nearest": nearest.cost / best if answer else None, "beaten": bool(proved and nearest.cost < best - SAME)}


# -- summing up -------------------------------------------------------------------------------------------------------


def summed(family: str, variant: str, right: float, records: list[dict[str, Any]]) -> dict[str, Any]:
    """All factuals of a family."""
    answers = [record for record in records if "invalid" in record]
    ratios = [record["nearest"] for record in records if record["nearest"] is not None]
    return {
        "family": family,
        "asks": variant,
        "right": right,
        "factuals": len(records),
        "answered": len(answers),
        "infeasible": sum(record["status"] == "infeasible" for record in records),
        "certified": share(record["status"] in ("optimal", "infeasible") for record in records),
        **{key: sum(record.get(key, False) for record in records) for key in FAILURES},
        **{key: spread(record[key] for record in records) for key in ("seconds", "search_seconds", "search_nodes")},
        "changes": float(np.mean([record["changes"] for record in answers])),
        "with_nearest": len(ratios),
        "nearest_over_ours": float(np.median(ratios)) if ratios else None,
    }


def _ms(which: str, title: str) -> Column:
    return title, max(7, len(title)), lambda record: f"{1e3 * record['seconds'][which]:.1f}"


COLUMNS: list[Column] = [
    ("family", -19, lambda record: record["family"]),
    ("asks", -6, lambda record: record["asks"]),
    ("right", 5, lambda record: f"{record['right']:.0%}"),
    ("factuals", 8, lambda record: str(record["factuals"])),
    ("answered", 8, lambda record: str(record["answered"])),
    ("certified", 9, lambda record: f"{record['certified']:.1%}"),
    ("not: valid", 10, lambda record: str(record["invalid"])),
    ("rules", 5, lambda record: str(record["breaking_rules"])),
    ("likely", 6, lambda record: str(record["unlikely"])),
    ("verified", 8, lambda record: str(record["not_verified"])),
    ("beaten", 6, lambda record: str(record["beaten"])),
    _ms("median", "ms: median"),
    _ms("p99", "p99"),
    _ms("max", "max"),
    ("search", 6, lambda record: f"{1e3 * record['search_seconds']['median']:.1f}"),
    ("changes", 7, lambda record: f"{record['changes']:.1f}"),
    ("nearest: rows", 13, lambda record: str(record["with_nearest"])),
    ("times ours", 10, lambda record: "-" if record["nearest_over_ours"] is None else f"{record['nearest_over_ours']:.1f}"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", nargs="*", default=list(FAMILIES), choices=list(FAMILIES))
    parser.add_argument("--rows", type=int, default=100, help="test rows of each fold, at most (100)")
    parser.add_argument("--limit-seconds", type=float, default=60.0, help="per row (60)")
    parser.add_argument("--json", type=Path, metavar="OUT")
    options = parser.parse_args()
    results = []
    print(head(COLUMNS))
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", LikelyWarning)  # a test row may lie outside of what was seen in training
        known = list(folds())
        for family in options.families:
            models = [Model.of(family, fold) for fold in known]
            pairs = list(zip(known, models, strict=True))
            right = float(np.mean([np.mean(model.predict(fold.test) == fold.truth) for fold, model in pairs]))
            for variant in VARIANTS:
                records = [record for fold, model in pairs for record in asked(fold, model, variant, options)]
                results.append(summed(family, variant, right, records))
                print(line(COLUMNS, results[-1]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    sys.exit(any(record[key] for record in results for key in FAILURES))


if __name__ == "__main__":
    main()
