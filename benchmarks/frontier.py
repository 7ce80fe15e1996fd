"""Tables of many reals: how many questions are certified, and what HiGHS does with the same ones.

    python benchmarks/frontier.py [--data wine sonar] [--hidden 20-10 50-50] [--rows 6] [--limit-seconds 10] [--json OUT]

Logistic regressions and ReLU networks behind a scaler, on tables of 8 to 60 numbers (forests: frontier_trees.py); each question
asks for the nearest row (costs of 1 / MAD) that the model decides otherwise than a test row. The same problem is given to our
exact engine, from training rows, and to our mixed-integer programme with HiGHS, from the same rows, one after the other in one
run and on one thread.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import density_data
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from summary import Column, head, line, one_thread, share, spread

import likely
from likely import mio, search
from likely.problem import Limits, Problem, Result, not_class

DATA = ("pima", "wine", "vehicle", "twonorm", "breast_cancer", "ionosphere", "sonar")
HIDDEN = ("logistic", "20-10", "50-50", "64-32")
#: Training rows that a search begins with.
STARTS = 50


def questions(name: str, hidden: str, count: int) -> list[tuple[Problem, np.ndarray[Any, Any]]]:
    """A model trained on three quarters of a table; of some test rows, what is asked and where to begin."""
    data = density_data.DATA[name]()
    if data.y is None:
        raise ValueError(f"{name} has no classes")
    X = data.X.loc[:, data.X.nunique() > 2]
    train, test, y, _ = train_test_split(X, data.y.astype(str), random_state=0, stratify=data.y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whether it converged or not
        model = make_pipeline(StandardScaler(), classifier(hidden)).fit(train, y)
    return [asked(model, train, test.iloc[[place]]) for place in range(count)]


def classifier(hidden: str) -> Any:
    """A network with hidden layers of these widths, or a logistic regression."""
    if hidden == "logistic":
        return LogisticRegression(max_iter=1000)
    return MLPClassifier(tuple(int(width) for width in hidden.split("-")), max_iter=400, random_state=0)


def asked(model: Any, train: pd.DataFrame, row: pd.DataFrame) -> tuple[Problem, np.ndarray[Any, Any]]:
    """Any other class than a row has, and the training rows of another one that are nearest to it."""
    schema = likely.Schema.infer(train)
    factual = schema.encode_row(row.iloc[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # test rows may lie outside of what was seen
        schema = schema.widened(factual)
    form = likely.predictor.read(model, schema)
    label = model.predict(row)[0]
    others = schema.encode(train)[model.predict(train) != label]
    nearest = np.argsort((np.abs(others - factual) / train.std().to_numpy()).sum(axis=1))[:STARTS]
    return Problem(schema, factual, form, not_class(form, label)), others[nearest]


def timed(solve: Callable[..., Result], problem: Problem, starts: np.ndarray[Any, Any], seconds: float) -> dict[str, Any]:
    """What an engine says of one question, and how long it took."""
    began = time.perf_counter()
    result = solve(problem, Limits(seconds=seconds), starts=starts)
    took = time.perf_counter() - began
    return {
        "certified": result.status == "optimal", "seconds": took, "nodes": result.statistics.nodes,
        "upper": result.bounds.upper, "lower": result.bounds.lower,
    }  # fmt: skip


def measured(name: str, hidden: str, options: argparse.Namespace) -> dict[str, Any]:
    """One table and one size of network."""
    with one_thread():
        asked_of = questions(name, hidden, options.rows)
        ours = [timed(search.solve, problem, starts, options.limit_seconds) for problem, starts in asked_of]
        theirs = [timed(mio.solve, problem, starts, options.mio_seconds) for problem, starts in asked_of]
    both = [(a, b) for a, b in zip(ours, theirs, strict=True) if np.isfinite(a["upper"]) and np.isfinite(b["upper"])]
    return {
        "data": name, "reals": len(asked_of[0][0].schema), "hidden": hidden, "questions": len(ours),
        "certified": share(a["certified"] for a in ours), "seconds": spread(a["seconds"] for a in ours),
        "nodes": spread(a["nodes"] for a in ours),
        "gap": float(np.mean([(a["upper"] - a["lower"]) / a["upper"] for a in ours])),
        "mio_certified": share(b["certified"] for b in theirs), "mio_seconds": spread(b["seconds"] for b in theirs),
        "mio_answers": len(both),
        "cost_ratio": float(np.median([a["upper"] / b["upper"] for a, b in both])) if both else None,
        "time_ratio": float(np.median([b["seconds"] / a["seconds"] for a, b in zip(ours, theirs, strict=True)])),
        "records": {"search": ours, "mio": theirs},
    }  # fmt: skip


COLUMNS: list[Column] = [
    ("data", -14, lambda record: record["data"]),
    ("network", -8, lambda record: record["hidden"]),
    ("reals", 5, lambda record: str(record["reals"])),
    ("certified", 9, lambda record: f"{record['certified']:.0%}"),
    ("gap", 5, lambda record: f"{record['gap']:.0%}"),
    ("s: median", 9, lambda record: f"{record['seconds']['median']:.3f}"),
    ("max", 6, lambda record: f"{record['seconds']['max']:.2f}"),
    ("nodes", 6, lambda record: f"{record['nodes']['median']:.0f}"),
    ("HiGHS certified", 15, lambda record: f"{record['mio_certified']:.0%}"),
    ("s: median", 9, lambda record: f"{record['mio_seconds']['median']:.3f}"),
    ("times slower", 12, lambda record: f"{record['time_ratio']:.1f}"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="*", default=DATA, choices=DATA, metavar="NAME")
    parser.add_argument("--hidden", nargs="*", default=HIDDEN, metavar="WIDTHS", help="of hidden layers, e.g. 20-10; or logistic")
    parser.add_argument("--rows", type=int, default=6, help="test rows of each table (6)")
    parser.add_argument("--limit-seconds", type=float, default=10.0, help="per question (10)")
    parser.add_argument("--mio-seconds", type=float, default=10.0, help="per question, of HiGHS (10)")
    parser.add_argument("--json", type=Path, metavar="OUT")
    options = parser.parse_args()
    print(head(COLUMNS))
    results = []
    for hidden in options.hidden:
        for name in options.data:
            results.append(measured(name, hidden, options))
            print(line(COLUMNS, results[-1]), flush=True)
    if options.json:
        options.json.write_text(json.dumps({"limit_seconds": options.limit_seconds, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
