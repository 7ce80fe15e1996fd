"""How likely learned circuits find rows they have not seen, against the circuits of the paper's authors; and how learning grows.

    python benchmarks/learn_circuits.py DATA [--cases CASES] [--folds 0 1 2 3 4] [--names credit adult gmsc] [--finest 0.005]
                                             [--growth] [--json OUT]

DATA holds `credit.csv.gz`, `adult.csv.gz` and `gmsc.csv.gz`; CASES the authors' circuits (`credit-0.json.gz`, ...), which
are then scored on the same rows in the same run: as they are, and with every leaf scaled to mass 1. The folds are
`KFold(5, shuffle=True, random_state=0)` over the rows in file order; likelihoods are mean log-likelihoods of the test rows
with their class, densities per unit of the raw features. "cells" are the same by the mass of equal cells, for both circuits:
of a real feature a cell is a fiftieth of its range, or as wide as its values are apart where it has fewer. `--growth` learns
from 10^4, 10^5 and 10^6 synthetic rows of ten columns and from 10^5 of 62, each in a process of its own, on one thread, and
prints the processor's seconds and the peak of memory.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold

import likely
from likely.circuit.model.measure import mass
from likely.circuit.model.nodes import Histogram

#: The authors' circuits as published, folds 0 to 4, and their node counts (smallest, largest).
REFERENCE = {
    "credit": ((-29.223, -29.400, -29.187, -29.725, -29.171), (121, 143)),
    "adult": ((-14.532, -14.430, -14.482, -14.516, -14.442), (1577, 1966)),
    "gmsc": ((-18.765, -18.678, -18.755, -18.665, -18.642), (928, 1105)),
}
TARGETS = {"credit": "class", "adult": "income", "gmsc": "SeriousDlqin2yrs"}
#: The cells of a real feature that masses are compared in.
CELLS = 50
#: The authors take this whole number for a real one; so do we, to be comparable.
CONTINUOUS = ("Installment rate in percentage of disposable income",)
#: The features that one of the two circuits of a table takes for real ones.
REALS = (*CONTINUOUS, "Credit amount", "RevolvingUtilizationOfUnsecuredLines", "DebtRatio", "MonthlyIncome")


def fold_of(table: pd.DataFrame, fold: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training and test rows."""
    train, test = list(KFold(5, shuffle=True, random_state=0).split(table))[fold]
    return table.iloc[train], table.iloc[test]


def normalised(circuit: likely.circuit.Circuit) -> likely.circuit.Circuit:
    """The circuit with every histogram scaled to mass 1."""
    nodes = [
        replace(node, densities=tuple(np.array(node.densities) / mass(node, circuit.variables[node.variable])))
        if isinstance(node, Histogram)
        else node
        for node in circuit.nodes
    ]
    return replace(circuit, nodes=tuple(nodes))


def cells_of(values: pd.Series[Any]) -> np.ndarray[Any, Any]:
    """The ends of the cells of a real feature: of equal width, or midway between its values where they are few."""
    different = np.unique(values.to_numpy(dtype=np.float64))
    if len(different) > CELLS:
        wide = (different[-1] - different[0]) / CELLS
        return np.linspace(different[0], different[-1] + wide * 1e-9, CELLS + 1)
    apart = np.diff(different).min()
    return np.concatenate([[different[0] - apart / 2], (different[1:] + different[:-1]) / 2, [different[-1] + apart / 2]])


def in_cells(leaf: Histogram, ends: np.ndarray[Any, Any]) -> Histogram:
    """A leaf that has in every cell the mass of another; what that has beyond belongs to the outermost."""
    breaks, densities = np.array(leaf.breaks), np.array(leaf.densities)
    below = np.interp(ends, breaks, np.concatenate([[0.0], np.cumsum(densities * np.diff(breaks))]))
    below[0], below[-1] = 0.0, float((densities * np.diff(breaks)).sum())
    return replace(leaf, breaks=tuple(ends), densities=tuple(np.maximum(np.diff(below), 0.0) / np.diff(ends)))


def mass_of_cells(circuit: likely.circuit.Circuit, table: pd.DataFrame, test: pd.DataFrame, classes: pd.Series[Any]) -> float:
    """The mean log-mass of the cells of test rows under a circuit whose leaves have mass 1."""
    cells = {
        j: cells_of(table[feature.name])
        for j, feature in enumerate(circuit.features)
        if feature.name in REALS and feature.numeric
    }
    nodes = [
        in_cells(node, cells[node.variable]) if isinstance(node, Histogram) and node.variable in cells else node
        for node in circuit.nodes
    ]
    logs = replace(circuit, nodes=tuple(nodes)).log_likelihood(test, classes)
    for j, ends in cells.items():
        values = test[circuit.variables[j].name].to_numpy(dtype=np.float64)
        logs += np.log(np.diff(ends))[np.clip(np.searchsorted(ends, values, side="right") - 1, 0, len(ends) - 2)]
    return float(logs.mean())


def authors(path: Path, table: pd.DataFrame, train: pd.DataFrame, test: pd.DataFrame, target: str) -> dict[str, float]:
    """The authors' circuit of one fold, scored on the test rows as it is, with its leaves normalised, and by cells."""
    with gzip.open(path) as file:
        case = json.load(file)
    kinds: dict[str, Any] = {}
    for item in case["features"]:
        settings = {"values": item["values"]} if "values" in item else dict(zip(("lower", "upper"), item["bounds"], strict=True))
        kinds[item["name"]] = {"kind": item["kind"], **settings}
    schema = likely.Schema.infer(train.drop(columns=target), features=kinds)
    circuit = likely.circuit.from_case(case, schema)
    texts = dict(zip(sorted(train[target].unique()), case["target"]["values"], strict=True))
    rows, classes, proper = test.drop(columns=target), test[target].map(texts), normalised(circuit)
    return {
        "raw": float(circuit.log_likelihood(rows, classes).mean()),
        "normalised": float(proper.log_likelihood(rows, classes).mean()),
        "cells": mass_of_cells(proper, table, rows, classes),
        "nodes": len(circuit),
        "edges": circuit.edges,
        "parameters": circuit.parameters,
    }


def learned(name: str, table: pd.DataFrame, fold: int, finest: float, cases: Path | None) -> dict[str, Any]:
    """One fold of one data set."""
    target = TARGETS[name]
    train, test = fold_of(table, fold)
    X, y = train.drop(columns=target), train[target]
    schema = likely.Schema.infer(X, features={column: "continuous" for column in CONTINUOUS if column in X.columns})
    outcome = likely.circuit.learn(X, y, schema, finest=finest, progress=False)
    result: dict[str, Any] = {
        "data": name,
        "fold": fold,
        "test": float(outcome.circuit.log_likelihood(test.drop(columns=target), test[target]).mean()),
        "validation": outcome.validation,
        "train": outcome.train,
        "cells": mass_of_cells(outcome.circuit, table, test.drop(columns=target), test[target]),
        "nodes": len(outcome.circuit),
        "edges": outcome.circuit.edges,
        "parameters": outcome.circuit.parameters,
        "normalised": outcome.circuit.check().normalised,
        "seconds": outcome.seconds,
        "published": REFERENCE[name][0][fold],
    }
    path = cases / f"{name}-{fold}.json.gz" if cases is not None else None
    if path is not None and path.exists():
        result["authors"] = authors(path, table, train, test, target)
    return result


#: What stands for the authors' circuit where it is not at hand.
UNKNOWN = {"raw": math.nan, "normalised": math.nan, "cells": math.nan}


def show(results: list[dict[str, Any]]) -> None:
    """Two tables: likelihoods, and sizes."""
    print(
        "data    fold     test  published  authors' circuit  its leaves  |   cells  theirs  |  seconds\n"
        "                                     on these rows  normalised  |                  |"
    )
    for r in results:
        theirs = r.get("authors", UNKNOWN)
        print(
            f"{r['data']:7} {r['fold']:4d}  {r['test']:7.3f}  {r['published']:9.3f}  {theirs['raw']:16.3f}  "
            f"{theirs['normalised']:10.3f}  | {r['cells']:7.3f} {theirs['cells']:7.3f}  |  {r['seconds']:7.1f}"
        )
    print("\ndata    fold  nodes  theirs  edges  theirs  parameters  theirs")
    for r in results:
        if theirs := r.get("authors"):
            sizes = "  ".join(
                f"{r[key]:{width}d}  {theirs[key]:6d}" for key, width in (("nodes", 5), ("edges", 5), ("parameters", 10))
            )
            print(f"{r['data']:7} {r['fold']:4d}  {sizes}")


def narrow(rows: int) -> pd.DataFrame:
    """Five reals and five categories of six clusters."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 6, rows)
    X = pd.DataFrame({f"x{j}": rng.normal(kind * (j % 3), 1 + 0.2 * j) for j in range(5)})
    for j in range(5):
        X[f"c{j}"] = np.array(list("abcdef"))[(kind + rng.integers(0, 1 + j, rows)) % 6]
    return X


def wide(rows: int) -> pd.DataFrame:
    """Forty reals of eight factors and five clusters, some of them lognormal, twelve counts and ten categories."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 5, rows)
    factors = rng.normal(size=(rows, 8)) + 1.5 * rng.normal(size=(5, 8))[kind]
    reals = factors @ rng.normal(size=(8, 40)) + 0.7 * rng.normal(size=(rows, 40))
    reals[:, ::4] = np.exp(reals[:, ::4] / 4)
    X = pd.DataFrame(reals, columns=[f"x{j}" for j in range(40)])
    counts = {f"n{j}": rng.poisson(np.exp(0.3 * factors[:, j % 8] + 0.2 * j)) for j in range(12)}
    texts = {f"c{j}": np.array(list("abcdef"))[(kind + rng.integers(0, 1 + j % 4, rows)) % 6] for j in range(10)}
    return X.assign(**counts, **texts)


TABLES = {"narrow": narrow, "wide": wide}


def growth_row(kind: str, rows: int) -> dict[str, Any]:
    """Learn from synthetic rows in this process."""
    X = TABLES[kind](rows)
    before, started = peak_mb(), time.process_time()
    circuit = likely.circuit.learn(X, None, progress=False, n_jobs=1).circuit
    seconds = time.process_time() - started
    sizes = {"nodes": len(circuit), "parameters": circuit.parameters}
    return {"rows": rows, "columns": X.shape[1], "seconds": seconds, "table_mb": before, "peak_mb": peak_mb(), **sizes}


def peak_mb() -> float:
    """The most memory that this process has had (Linux; its parent's does not count, as it would in `getrusage`)."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(float(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024


def growth() -> list[dict[str, Any]]:
    """Processor's seconds and memory for some tables, each in a process of its own."""
    measured = []
    print("rows        columns  seconds  per 10^5 rows  peak MB (with the table alone)  nodes  parameters")
    for kind, rows in (("narrow", 10_000), ("narrow", 100_000), ("narrow", 1_000_000), ("wide", 100_000)):
        command = [sys.executable, __file__, "-", "--rows", str(rows), "--kind", kind]
        row = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        measured.append(row)
        print(
            f"{rows:9d}  {row['columns']:8d}  {row['seconds']:7.1f}  {row['seconds'] / rows * 1e5:13.1f}"
            f"  {row['peak_mb']:7.0f} ({row['table_mb']:.0f})  {row['nodes']:20d}  {row['parameters']:10d}",
            flush=True,
        )
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--cases", type=Path)
    parser.add_argument("--folds", type=int, nargs="*", default=[0, 1, 2, 3, 4])
    parser.add_argument("--names", nargs="*", default=list(REFERENCE))
    parser.add_argument("--finest", type=float, default=likely.circuit.learning.bins.FINEST)
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--rows", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--kind", choices=list(TABLES), help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.rows:
        print(json.dumps(growth_row(options.kind, options.rows)))
        return
    results = []
    for name in options.names:
        table = pd.read_csv(options.data / f"{name}.csv.gz", index_col="id")
        results += [learned(name, table, fold, options.finest, options.cases) for fold in options.folds]
    show(results)
    grown = growth() if options.growth else []
    if options.json:
        options.json.write_text(json.dumps({"folds": results, "growth": grown}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
