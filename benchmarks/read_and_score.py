"""How long it takes to read a model, and to score rows through its form against the library's own `predict`.

    python benchmarks/read_and_score.py [--rows 100000] [--trees 500] [--json OUT]

Everything is measured in one run on the same rows; each time is the best of three. A ratio above 1 means that the form
is faster. "encode" is the price of turning the DataFrame into an array first, which an engine pays once.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import likely


def table(rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Ten numeric columns and three of text, with a label that depends on them."""
    random = np.random.default_rng(0)
    X = pd.DataFrame({f"x{i}": random.normal(size=rows) for i in range(10)})
    for i, values in enumerate((3, 6, 12)):
        X[f"c{i}"] = random.choice([f"v{k}" for k in range(values)], rows)
    signal = X["x0"] * X["x1"] + np.sin(3 * X["x2"]) + X["x3"] + (X["c1"] == "v1") + 0.3 * random.normal(size=rows)
    return X, (signal > signal.median()).astype(int).to_numpy()


def models(trees: int) -> dict[str, Any]:
    """Unfitted models by name."""
    classifiers: dict[str, Any] = {
        "LogisticRegression": LogisticRegression(),
        "MLPClassifier 64-32": MLPClassifier((64, 32), max_iter=5),
        f"RandomForest {trees} x depth 6": RandomForestClassifier(trees, max_depth=6, n_jobs=-1),
        f"RandomForest {trees} x any depth": RandomForestClassifier(trees, n_jobs=-1),
        f"ExtraTrees {trees} x depth 6": ExtraTreesClassifier(trees, max_depth=6, n_jobs=-1),
        f"GradientBoosting {trees} x depth 6": GradientBoostingClassifier(n_estimators=trees, max_depth=6),
        f"HistGradientBoosting {trees}": HistGradientBoostingClassifier(max_iter=trees, early_stopping=False),
    }
    if find_spec("xgboost"):
        from xgboost import XGBClassifier

        classifiers[f"XGBoost {trees} x depth 6"] = XGBClassifier(n_estimators=trees, max_depth=6)
    if find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        classifiers[f"LightGBM {trees}"] = LGBMClassifier(n_estimators=trees, verbose=-1)
    return classifiers


def best_of(count: int, work: Callable[[], Any]) -> float:
    times = []
    for _ in range(count):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def measure(name: str, model: Any, X: pd.DataFrame, schema: likely.Schema) -> dict[str, Any]:
    read = best_of(3, lambda: likely.predictor.read(model, schema, check=False))
    form = likely.predictor.read(model, schema)
    rows = schema.encode(X)
    form.score(rows[:10])
    encode, score = best_of(3, lambda: schema.encode(X)), best_of(3, lambda: form.score(rows))
    predict = best_of(3, lambda: model.predict(X))
    agree = float((form.predict(rows) == model.predict(X)).mean())
    return {
        "model": name, "read_seconds": read, "score_seconds": score, "encode_seconds": encode, "predict_seconds": predict,
        "predict_over_score": predict / score, "predict_over_encode_and_score": predict / (encode + score), "agree": agree,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--trees", type=int, default=500)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    X, y = table(options.rows)
    train = slice(0, 10_000)
    results = []
    print(f"{options.rows} rows; times in seconds, best of three")
    heads = ("read", 7), ("score", 7), ("encode", 7), ("predict", 8), ("ratio", 6), ("with encode", 11), ("agree", 8)
    print(f"{'model':36} {'behind':8}", *(f"{head:>{width}}" for head, width in heads))
    for behind in ("nothing", "encoder"):
        columns = [c for c in X if behind == "encoder" or c.startswith("x")]
        part = X[columns]
        schema = likely.Schema.infer(part)
        for name, model in models(options.trees).items():
            texts = [c for c in columns if c.startswith("c")]
            numbers = [c for c in columns if c.startswith("x")]
            encoder = make_column_transformer((OneHotEncoder(sparse_output=False), texts), (StandardScaler(), numbers))
            fitted = (make_pipeline(encoder, model) if texts else model).fit(part[train], y[train])
            result = {"behind": behind, **measure(name, fitted, part, schema)}
            results.append(result)
            seconds = [result[f"{part}_seconds"] for part in ("read", "score", "encode", "predict")]
            ratios = result["predict_over_score"], result["predict_over_encode_and_score"], result["agree"]
            print(f"{name:36} {behind:8}", "{:7.3f} {:7.3f} {:7.3f} {:8.3f}".format(*seconds), end=" ")
            print("{:6.1f} {:11.1f} {:8.2%}".format(*ratios), flush=True)
    if options.json:
        options.json.write_text(json.dumps({"rows": options.rows, "trees": options.trees, "results": results}, indent=1))


if __name__ == "__main__":
    main()
