"""Whether thresholds mean what they say: the share of new rows that are likelier than a quantile.

    python benchmarks/calibration.py [--sets iris wine ...] [--splits 3] [--json OUT]

A third of each table is put aside. From the rest a circuit is learned, and thresholds are taken, of all rows and of each class
of at least 20: quantiles of rows that were held out in turn ("unseen", the default of `likely.Quantile`), and of the rows
learned from ("training", the paper's). Then the share of the rows put aside that are at least as likely is counted, q = 0.1 to
0.9. It should be 1 - q.

How far it may be off by chance is known: of n exchangeable rows, the share of all new rows above the k-th is Beta(n + 1 - k, k),
and so the count among m new ones is beta-binomial, which has the noise of both samples in it. "outside" counts the shares beyond
its central 99 %; "low" and "high" are on which side. One in a hundred is expected; those of one split hang together. Rows as
likely as the threshold, of which a discrete table may have many, count for whichever side is right.

OUT keeps what it has of other sets.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import density_data
import numpy as np
import pandas as pd
from scipy.stats import betabinom
from sklearn import datasets as small
from summary import Column, head, line, one_thread

import likely

SHARES = tuple(np.arange(1, 10) / 10)
#: A class with fewer rows, on either side, has no threshold to speak of.
FEWEST = 20
#: Rows of a table that is drawn, or taken from a large one.
DRAWN, TAKEN = 1_500, 4_500
CONFIDENCE = 0.99

Table = tuple[pd.DataFrame, pd.Series, likely.Schema]


def _synthetic(columns: Callable[[np.random.Generator, np.ndarray], dict[str, np.ndarray]]) -> Callable[[], Table]:
    """A table of two classes, drawn."""

    def drawn() -> Table:
        random = np.random.default_rng(0)
        y = random.random(DRAWN) < 0.35
        X = pd.DataFrame(columns(random, y))
        return X, pd.Series(np.where(y, "yes", "no"), name="class"), likely.Schema.infer(X)

    return drawn


def _gaussian(random: np.random.Generator, y: np.ndarray) -> dict[str, np.ndarray]:
    """Ten correlated reals: an autoregression, shifted by the class."""
    correlation = 0.8 ** np.abs(np.subtract.outer(np.arange(10), np.arange(10)))
    rows = random.multivariate_normal(np.zeros(10), correlation, len(y)) + y[:, None]
    return {f"x{j}": rows[:, j] for j in range(10)}


def _skewed(random: np.random.Generator, y: np.ndarray) -> dict[str, np.ndarray]:
    """Heavy tails: lognormal and Student columns with a common scale."""
    scale = random.lognormal(0.5 * y, 0.5)
    return {
        **{f"log{j}": scale * random.lognormal(0, 0.7, len(y)) for j in range(3)},
        **{f"t{j}": scale * random.standard_t(3, len(y)) for j in range(2)},
    }


def _zero_inflated(random: np.random.Generator, y: np.ndarray) -> dict[str, np.ndarray]:
    """Amounts that are mostly 0, counts, and a category."""
    some = random.random((len(y), 3)) < np.where(y, 0.6, 0.3)[:, None]
    amounts = some * np.round(random.gamma(2, 100, (len(y), 3)), 2)
    return {
        **{f"amount{j}": amounts[:, j] for j in range(3)},
        "count": random.poisson(1 + 3 * y),
        "kind": random.choice(list("abcd"), len(y), p=[0.4, 0.3, 0.2, 0.1]),
    }


def _discrete(random: np.random.Generator, y: np.ndarray) -> dict[str, np.ndarray]:
    """Eight categories of a latent class: most rows repeat others."""
    latent = random.choice(3, len(y), p=[0.5, 0.3, 0.2])
    shares = random.dirichlet(np.full(3, 0.6), (8, 3, 2))
    pairs = list(zip(latent, y.astype(int), strict=True))
    return {f"c{j}": np.array([random.choice(3, p=shares[j][pair]) for pair in pairs]).astype(str) for j in range(8)}


def _small(load: Callable[..., Any]) -> Callable[[], Table]:
    def read() -> Table:
        data = load(as_frame=True)
        return data.data, data.target.astype(str), likely.Schema.infer(data.data)

    return read


def _embedded(name: str) -> Callable[[], Table]:
    def read() -> Table:
        data = likely.datasets.load(name)
        places = np.random.default_rng(0).permutation(len(data.X))[:TAKEN]
        return data.X.iloc[places], data.y.iloc[places], data.schema

    return read


def _keel(name: str) -> Callable[[], Table]:
    def read() -> Table:
        data = density_data.keel(name)
        places = np.random.default_rng(0).permutation(len(data.X))[:TAKEN]
        X, y = data.X.iloc[places], data.y.iloc[places]
        return X, y, likely.Schema.infer(X)

    return read


SETS: dict[str, Callable[[], Table]] = {
    "gaussian": _synthetic(_gaussian),
    "skewed": _synthetic(_skewed),
    "zero-inflated": _synthetic(_zero_inflated),
    "discrete": _synthetic(_discrete),
    "iris": _small(small.load_iris),
    "wine": _small(small.load_wine),
    "breast cancer": _small(small.load_breast_cancer),
    "credit": _embedded("credit"),
    "adult": _embedded("adult"),
    "gmsc": _embedded("gmsc"),
    **{name: _keel(name) for name in ("pima", "vehicle", "ionosphere", "sonar", "twonorm", "magic")},
}


def allowed(q: float, learned: int, new: int) -> tuple[float, float]:
    """The shares between which that of new rows above a quantile lies, but for one in a hundred."""
    place = 1 + q * (learned - 1)  # as numpy counts it
    low, high = betabinom.interval(CONFIDENCE, new, learned + 1 - place, place)
    return float(low) / new, float(high) / new


def measured(table: Table, seed: int) -> Iterator[dict[str, Any]]:
    """The shares of one split, by the rows that thresholds come from, the class, and q."""
    X, y, schema = table
    order = np.random.default_rng(seed).permutation(len(X))
    learned_from, aside = np.split(order, [2 * len(X) // 3])
    known, classes = X.iloc[learned_from].reset_index(drop=True), y.iloc[learned_from].reset_index(drop=True)
    learned = likely.circuit.learn(known, classes, schema, cross_fit=True, random_state=seed, progress=False, n_jobs=1)
    new = learned.circuit.log_likelihood(X.iloc[aside], y.iloc[aside])
    scores = {"training": (learned.circuit.log_likelihood(known, classes), classes)}
    places = np.concatenate([fold.rows for fold in learned.folds])
    parts = [fold.circuit.log_likelihood(known.iloc[fold.rows], classes.iloc[fold.rows]) for fold in learned.folds]
    scores["unseen"] = np.concatenate(parts), classes.iloc[places]
    for rows, (logs, labels) in scores.items():
        for label in (None, *sorted(y.unique())):
            mine = logs if label is None else logs[labels.to_numpy() == label]
            theirs = new if label is None else new[y.iloc[aside].to_numpy() == label]
            if min(len(mine), len(theirs)) < FEWEST:
                continue
            for q in SHARES:
                threshold = np.quantile(mine, q)
                share, likelier = float(np.mean(theirs >= threshold)), float(np.mean(theirs > threshold))
                low, high = allowed(q, len(mine), len(theirs))
                side = "low" if share < low else "high" if likelier > high else "within"
                yield {"rows": rows, "class": label, "q": float(q), "share": share, "side": side}


def summed(name: str, table: Table, cells: list[dict[str, Any]], rows: str) -> dict[str, Any]:
    """All splits of a table, with thresholds of some rows."""
    chosen = [cell for cell in cells if cell["rows"] == rows]
    means = {f"{q:.1f}": float(np.mean([c["share"] for c in chosen if c["q"] == q and c["class"] is None])) for q in SHARES}
    sides = {side: sum(cell["side"] == side for cell in chosen) for side in ("low", "high")}
    return {
        "set": name,
        "count": len(table[0]),
        "features": table[0].shape[1],
        "from": rows,
        "cells": len(chosen),
        **sides,
        **means,
    }


COLUMNS: list[Column] = [
    ("set", -13, lambda item: item["set"]),
    ("from", -8, lambda item: item["from"]),
    ("rows", 5, lambda item: str(item["count"])),
    ("features", 8, lambda item: str(item["features"])),
    *[(f"{1 - q:.1f}", 4, lambda item, q=q: f"{item[f'{q:.1f}']:.2f}") for q in SHARES],
    ("shares", 6, lambda item: str(item["cells"])),
    ("low", 4, lambda item: str(item["low"])),
    ("high", 4, lambda item: str(item["high"])),
    ("outside", 7, lambda item: f"{(item['low'] + item['high']) / item['cells']:.1%}"),
]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    print(head(COLUMNS))
    items = []
    with one_thread():
        for name in options.sets:
            try:
                table = SETS[name]()
            except (ImportError, likely.LikelyError) as error:
                print(f"{name}: left out. {error}")
                continue
            cells = [cell for seed in range(options.splits) for cell in measured(table, seed)]
            for rows in ("unseen", "training"):
                items.append(summed(name, table, cells, rows))
                print(line(COLUMNS, items[-1]), flush=True)
    if options.json:
        before = json.loads(options.json.read_text(encoding="utf-8")) if options.json.exists() else []
        results = {(item["set"], item["from"]): item for item in [*before, *items]}
        options.json.write_text(json.dumps(list(results.values()), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
