"""Numbers with special codes: how likely held-out rows are with histograms, and with blocks that columns with codes may join.

    python benchmarks/coded_columns.py [--rows 3000] [--columns 23] [--at-random 0 0.01 0.05]

A synthetic table of the kind of a credit bureau's: correlated whole numbers of three factors, some of them skewed, and a class.
A few per cent of the rows have the code -9 ("no record") everywhere, three columns have -7 together in a quarter of the rows or
more, two others -8, and a share of all cells has -8 at random. Both circuits learn the same rows and score 5,000 others.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import pandas as pd
from summary import one_thread

import likely

CODES = (-9, -8, -7)


def table(rows: int, columns: int, at_random: float, seed: int) -> tuple[pd.DataFrame, pd.Series[Any]]:
    """Rows and their classes; the relations between columns are the same for every seed."""
    fixed, rng = np.random.default_rng(99), np.random.default_rng(seed)
    loadings = fixed.normal(size=(columns, 3))
    loadings *= 0.9 / np.linalg.norm(loadings, axis=1, keepdims=True)
    risk = rng.random(rows) < 0.5
    factors = rng.normal(size=(rows, 3)) + np.outer(risk - 0.5, [1.0, 0.5, 0.0])
    z = factors @ loadings.T + 0.43 * rng.normal(size=(rows, columns))
    skewed = np.arange(columns) % 3 == 0
    X = pd.DataFrame(
        np.where(skewed, np.exp(3 + 0.6 * z), 40 + 12 * z).clip(0).round(), columns=[f"x{j}" for j in range(columns)]
    )
    X.loc[rng.random(rows) < 0.25 + 0.1 * risk, ["x1", "x2", "x3"]] = -7
    X.loc[rng.random(rows) < 0.15, ["x4", "x5"]] = -8
    X = X.mask(rng.random(X.shape) < at_random, -8)
    X.loc[rng.random(rows) < 0.05] = -9
    return X, pd.Series(np.where(risk, "bad", "good"), name="risk")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=3_000)
    parser.add_argument("--columns", type=int, default=23)
    parser.add_argument("--at-random", type=float, nargs="*", default=[0.0, 0.01, 0.05])
    options = parser.parse_args()
    print("at random  method       chosen                   test    gain   (error)  parameters  seconds")
    for share in options.at_random:
        (X, y), (unseen, classes) = (table(rows, options.columns, share, seed) for seed, rows in enumerate((options.rows, 5_000)))
        most = pd.concat([X, unseen]).max()
        schema = likely.Schema(tuple(likely.Mixed(name, 0, float(most[name]), codes=CODES, step=1) for name in X))
        base = 0.0
        for method in ("histograms", "auto"):
            started = time.process_time()
            with one_thread():
                learned = likely.circuit.learn(X, y, schema, method=method, progress=False, n_jobs=1)
            seconds = time.process_time() - started
            logs = learned.circuit.log_likelihood(unseen, classes)
            base = logs if method == "histograms" else base
            gain = logs - base
            print(
                f"{share:9.2f}  {method:11}  {learned.method:19}  {logs.mean():8.3f}  {gain.mean():6.3f}"
                f"  {gain.std() / len(gain) ** 0.5:8.3f}  {learned.circuit.parameters:10}  {seconds:7.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
