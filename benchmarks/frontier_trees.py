"""Forests on tables of many reals: how many questions are certified, and what treecf and veritas do with the same ones.

    python benchmarks/frontier_trees.py [--data wine sonar] [--models "XGBoost 100x3"] [--rows 6] [--limit-seconds 10]
                                        [--rivals PYTHON] [--json OUT]

A model tells the most frequent class of a table from the rest, so that rivals, which know one score, can be asked too; each
question asks for the nearest row (costs of 1 / MAD) that it decides otherwise than a test row. The search begins with training
rows. With --rivals, an interpreter that has them (it may be this one) answers the same questions on the same trees, one after
the other in one run and on one thread: `treecf` with its exact backend and our cost; `dtai-veritas`, which does not know our
cost, finds the least *largest* weighted change, an easier question. Seconds are the processor's; what a rival prepares once per
model is not in them, all that we do per question is. The last columns say how many times as long as ours treecf's answers took,
and what its answers cost beside ours, by the median.
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
import frontier
import numpy as np
import rivals
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from summary import Column, head, line, one_thread, share, spread
from xgboost import XGBClassifier

import likely
from likely import search
from likely.errors import LikelyWarning
from likely.predictor import Form
from likely.problem import Limits, Problem, not_class

MODELS: dict[str, Callable[[], Any]] = {
    "forest 100x6": lambda: RandomForestClassifier(100, max_depth=6, random_state=0, n_jobs=1),
    "XGBoost 100x3": lambda: XGBClassifier(n_estimators=100, max_depth=3, random_state=0, n_jobs=1),
    "XGBoost 300x6": lambda: XGBClassifier(n_estimators=300, max_depth=6, random_state=0, n_jobs=1),
}

Numbers = np.ndarray[Any, Any]


def questions(name: str, model_name: str, count: int) -> tuple[likely.Schema, Form, Numbers, list[tuple[Problem, Numbers]]]:
    """A model trained on three quarters of a table; some test rows, and of each what is asked and where to begin."""
    data = density_data.DATA[name]()
    if data.y is None:
        raise ValueError(f"{name} has no classes")
    X = data.X.loc[:, data.X.nunique() > 2]
    most = (data.y == data.y.mode()[0]).astype(int)
    train, test, y, _ = train_test_split(X, most, random_state=0, stratify=data.y)
    model = MODELS[model_name]().fit(train, y)
    schema = likely.Schema.infer(train, steps=None)  # rivals know no steps
    rows = np.array([schema.encode_row(row) for _, row in test.iloc[:count].iterrows()])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikelyWarning)  # test rows may lie outside of what was seen
        for row in rows:
            schema = schema.widened(row)
    form = likely.predictor.read(model, schema)
    known, said = schema.encode(train), model.predict(train)
    asked = []
    for row, label in zip(rows, form.predict(rows), strict=True):
        others = known[said != label]
        nearest = np.argsort((np.abs(others - row) / train.std().to_numpy()).sum(axis=1))[: frontier.STARTS]
        asked.append((Problem(schema, row, form, not_class(form, label)), others[nearest]))
    return schema, form, rows, asked


def timed(problem: Problem, starts: Numbers, seconds: float) -> dict[str, Any]:
    """What our engine says of one question."""
    began = time.process_time()
    record = frontier.timed(search.solve, problem, starts, seconds)
    return {**record, "processor_seconds": time.process_time() - began}


def measured(name: str, model_name: str, options: argparse.Namespace) -> dict[str, Any]:
    """One table and one model."""
    with one_thread():
        schema, form, rows, asked = questions(name, model_name, options.rows)
        search.solve(asked[0][0], Limits(nodes=1))  # what is loaded once
        ours = [timed(problem, starts, options.limit_seconds) for problem, starts in asked]
    theirs = rivals.asked(schema, form, rows, options.limit_seconds, options.rivals) if options.rivals else {}
    return {
        "data": name, "reals": len(schema), "model": model_name, "questions": len(ours),
        "certified": share(a["certified"] for a in ours), "seconds": spread(a["processor_seconds"] for a in ours),
        "nodes": spread(a["nodes"] for a in ours),
        "gap": float(np.mean([0 if a["certified"] else (a["upper"] - a["lower"]) / a["upper"] for a in ours])),
        "rivals": {rival: compared(ours, answers) for rival, answers in theirs.items()},
        "records": {"search": ours, **theirs},
    }  # fmt: skip


def compared(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> dict[str, Any]:
    """A rival's share of certified answers, its time, and both beside ours."""
    pairs = list(zip(ours, theirs, strict=True))
    both = [(a, b) for a, b in pairs if b["upper"] is not None]
    return {
        "certified": share(b["status"] == "optimal" for b in theirs), "seconds": spread(b["processor_seconds"] for b in theirs),
        "time_ratio": float(np.median([b["processor_seconds"] / a["processor_seconds"] for a, b in pairs])),
        "cost_ratio": float(np.median([b["upper"] / a["upper"] for a, b in both])) if both else None,
        "wrong": sum(b["status"] == "optimal" and a["certified"] and abs(b["upper"] - a["upper"]) > 1e-4 * (1 + a["upper"])
                     for a, b in both),
    }  # fmt: skip


def of_rival(rival: str, text: Callable[[dict[str, Any]], str]) -> Callable[[dict[str, Any]], str]:
    """The text of a rival's cell; none if it was not asked."""
    return lambda record: text(record["rivals"][rival]) if rival in record["rivals"] else "-"


COLUMNS: list[Column] = [
    ("data", -14, lambda record: record["data"]),
    ("model", -14, lambda record: record["model"]),
    ("reals", 5, lambda record: str(record["reals"])),
    ("certified", 9, lambda record: f"{record['certified']:.0%}"),
    ("gap", 5, lambda record: f"{record['gap']:.0%}"),
    ("s: median", 9, lambda record: f"{record['seconds']['median']:.3f}"),
    ("max", 6, lambda record: f"{record['seconds']['max']:.2f}"),
    ("nodes", 6, lambda record: f"{record['nodes']['median']:.0f}"),
    ("veritas certified", 17, of_rival("veritas", lambda rival: f"{rival['certified']:.0%}")),
    ("s: median", 9, of_rival("veritas", lambda rival: f"{rival['seconds']['median']:.3f}")),
    ("treecf certified", 16, of_rival("treecf", lambda rival: f"{rival['certified']:.0%}")),
    ("s: median", 9, of_rival("treecf", lambda rival: f"{rival['seconds']['median']:.3f}")),
    ("times slower", 12, of_rival("treecf", lambda rival: f"{rival['time_ratio']:.1f}")),
    ("times dearer", 12, of_rival("treecf", lambda rival: "-" if rival["cost_ratio"] is None else f"{rival['cost_ratio']:.2f}")),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="*", default=frontier.DATA, choices=frontier.DATA, metavar="NAME")
    parser.add_argument("--models", nargs="*", default=tuple(MODELS), choices=tuple(MODELS), metavar="MODEL")
    parser.add_argument("--rows", type=int, default=6, help="test rows of each table (6)")
    parser.add_argument("--limit-seconds", type=float, default=10.0, help="per question (10)")
    parser.add_argument("--rivals", type=Path, metavar="PYTHON", help="an interpreter that has treecf and dtai-veritas")
    parser.add_argument("--json", type=Path, metavar="OUT")
    options = parser.parse_args()
    print(head(COLUMNS))
    results = []
    for model in options.models:
        for name in options.data:
            results.append(measured(name, model, options))
            print(line(COLUMNS, results[-1]), flush=True)
    if options.json:
        options.json.write_text(json.dumps({"limit_seconds": options.limit_seconds, "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
