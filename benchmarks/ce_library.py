"""Our PPCEF beside that of ce-library 0.1.1, on the same network and the same rows of breast cancer (30 reals).

    python benchmarks/ce_library.py PYTHON [--rows 50] [--json OUT]

PYTHON is an interpreter that has ce-library (see `ce_library_worker.py`). Both are judged by the same judges, of which neither
knows: the share of answers that the model decides as wanted, their mean |change| over columns scaled to 0 to 1, and their
local outlier factor among training rows of the class (1 is as dense as its neighbours).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.neighbors import LocalOutlierFactor

import likely
from likely.bench.classifier import trained
from likely.bench.method import Asked, Data
from likely.bench.methods import METHODS
from likely.predictor import read

WORKER = Path(__file__).with_name("ce_library_worker.py")


def judged(
    method: Any, name: str, points: np.ndarray, rows: np.ndarray, asked: np.ndarray, targets: np.ndarray
) -> dict[str, Any]:
    """What answers are worth; a row of NaN is none."""
    there = ~np.isnan(points).any(axis=1)
    valid = there.copy()
    form = method.known.form
    valid[there] = form.link.decide(form.score(rows[there])) == targets[there]
    factors = []
    for target in np.unique(targets):
        near = LocalOutlierFactor(novelty=True).fit(method.known.points[method.known.decided == target])
        here = valid & (targets == target)
        factors += (-near.score_samples(points[here])).tolist() if here.any() else []
    return {
        "method": name,
        "rows": len(points),
        "valid": float(valid.mean()),
        "distance": float(np.abs(points - asked)[valid].mean()),
        "outlier_factor": float(np.median(factors)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python", type=Path)
    parser.add_argument("--rows", type=int, default=50)
    parser.add_argument("--json", type=Path, metavar="OUT")
    options = parser.parse_args()
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    train, test, classes, _ = train_test_split(X, y, random_state=0)
    schema = likely.Schema.infer(X, steps=None)
    model = trained(schema, train, classes)
    circuit = likely.circuit.learn(train, classes, schema, method="histograms", nodes=40, progress=False).circuit
    method: Any = METHODS["ppcef"]()
    clock = time.perf_counter()
    method.fit(Data("breast_cancer", schema, train, classes, circuit), model, read(model, schema))
    fit_seconds = time.perf_counter() - clock
    test = test.iloc[: options.rows]
    rows = schema.encode(test)
    known = method.known
    asked, own = known.encoding.encode(rows), known.form.link.decide(known.form.score(rows))
    answers = np.full(rows.shape, np.nan)
    seconds = []
    for i in range(len(test)):
        found = method.generate(Asked(test.iloc[[i]], known.form.classes[1 - own[i]]))
        answers[i] = schema.encode(found.rows)[0] if len(found.rows) else np.nan
        seconds.append(found.seconds)
    points = np.array([known.encoding.encode(row[None])[0] if not np.isnan(row).any() else row for row in answers])
    ours = judged(method, "likely", points, answers, asked, 1 - own)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "question.json"
        layers = [[weights.tolist(), bias.tolist()] for weights, bias in known.encoding.layers(known.form)]
        question = {"points": known.points.tolist(), "classes": known.decided.tolist(), "layers": layers}
        path.write_text(json.dumps({**question, "asked": asked.tolist(), "asked_classes": own.tolist()}), encoding="utf-8")
        subprocess.run([str(options.python), str(WORKER), str(path)], check=True, stderr=subprocess.DEVNULL)
        theirs = json.loads(path.with_name("answer.json").read_text(encoding="utf-8"))
    points = np.array(theirs["points"])
    decoded = np.array([known.encoding.decode(point[None], row)[0] for point, row in zip(points, rows, strict=True)])
    other = judged(method, "ce-library 0.1.1", points, decoded, asked, 1 - own)
    results = [
        {**ours, "fit_seconds": fit_seconds, "seconds": float(np.median(seconds))},
        {**other, "fit_seconds": theirs["fit_seconds"], "seconds": theirs["seconds"]},
    ]
    print(pd.DataFrame(results).to_string(index=False))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
