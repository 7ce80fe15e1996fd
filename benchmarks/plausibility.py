"""How well rows that are not real are told from real ones: our measures against isolation forest and local outlier factor.

    python benchmarks/plausibility.py [--names wine iris ...] [--circuits auto histograms] [--folds 0 1 2 3 4] [--json OUT]

Data and folds are those of `benchmarks/density.py`, of large tables `MOST_ROWS` rows. Per fold all methods learn the other rows,
features only; then the fold's rows are told from as many that are made of them:

- shuffled: every column in an order of its own, so that all values are real, and nothing holds them together;
- mixed: every value is that of one of two rows of different classes, at random (where there are classes).

A figure is the area under the ROC curve, the probability that a real row scores higher than one that is not, half for ties; the
mean over folds. Our measures, of circuits made by `method="auto"` and `method="histograms"`: the log-likelihood, the coherence
(log-likelihood less the logs of the marginals: how well the values fit together), and the smaller of the two percentiles among
rows of the training folds that were held out in turn, so that a row is as plausible as the worse of the two says. The others see
categories one-hot encoded, numbers standardised and unknown ones as the median, with scikit-learn's defaults.

OUT keeps what it has of other data and circuits.
"""

from __future__ import annotations

import argparse
import json
import math
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from density_data import DATA, Data
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import IsolationForest
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from summary import Column, head, line, one_thread

import likely

RESULTS = Path(__file__).parent / "results" / "plausibility.json"
#: At most as many rows of a table are used, drawn at random.
MOST_ROWS = 5_000
CIRCUITS = ("auto", "histograms")
RIVALS = ("isolation forest", "LOF")
FAKES = ("shuffled", "mixed")

Scores: TypeAlias = NDArray[np.float64]
#: How real a method holds rows for, by the name of the measure.
Measures: TypeAlias = dict[str, Callable[[pd.DataFrame], Scores]]


def auc(real: Scores, other: Scores) -> float:
    """The probability that a real row scores higher, half for ties."""
    ranks = rankdata(np.concatenate([real, other]))[: len(real)]
    return float((ranks.sum() - len(real) * (len(real) + 1) / 2) / (len(real) * len(other)))


def shuffled(X: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """The table with every column in an order of its own."""
    return pd.DataFrame({name: X[name].to_numpy()[rng.permutation(len(X))] for name in X}).astype(X.dtypes)


def mixed(X: pd.DataFrame, y: pd.Series[Any], rng: np.random.Generator) -> pd.DataFrame:
    """As many rows, each value of which is that of the row at its place or of a row of another class."""
    labels = y.to_numpy()
    others = np.array([rng.choice(np.flatnonzero(labels != label)) for label in labels])
    first = rng.random(X.shape) < 0.5
    columns = {name: np.where(first[:, j], X[name].to_numpy(), X[name].to_numpy()[others]) for j, name in enumerate(X)}
    return pd.DataFrame(columns).astype(X.dtypes)


def of_circuit(method: str, X: pd.DataFrame, schema: likely.Schema) -> Measures:
    """Likelihood, coherence and the worse of the two, by a circuit of the rows."""
    learned = likely.circuit.learn(X, None, schema, method=method, cross_fit=True, progress=False, n_jobs=1)
    circuit = learned.circuit

    def worse(rows: pd.DataFrame) -> Scores:
        percentiles = []
        for measure in (likely.circuit.log_likelihood, likely.circuit.coherence):
            unseen = np.sort(np.concatenate([measure(fold.circuit, X.iloc[fold.rows]) for fold in learned.folds]))
            percentiles.append(np.searchsorted(unseen, measure(circuit, rows), side="right") / len(unseen))
        return np.minimum(*percentiles)

    return {
        f"{method}: likelihood": lambda rows: likely.circuit.log_likelihood(circuit, rows),
        f"{method}: coherence": lambda rows: likely.circuit.coherence(circuit, rows),
        f"{method}: worse": worse,
    }


def of_rivals(X: pd.DataFrame, schema: likely.Schema) -> Measures:
    """The scores of scikit-learn's novelty detectors."""
    numbers = [feature.name for feature in schema.features if feature.numeric]
    categories = [feature.name for feature in schema.features if not feature.numeric]
    detectors = (IsolationForest(random_state=0), LocalOutlierFactor(novelty=True))
    measures: Measures = {}
    for name, detector in zip(RIVALS, detectors, strict=True):
        columns = ColumnTransformer(
            [
                ("numbers", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
                ("categories", OneHotEncoder(handle_unknown="ignore"), categories),
            ]
        )
        measures[name] = make_pipeline(columns, detector).fit(X).score_samples
    return measures


def measured(data: Data, wanted: list[int], circuits: list[str]) -> Iterator[dict[str, Any]]:
    """A record per fold, kind of row that is not real, and measure."""
    schema = likely.Schema.infer(data.X)
    splits = list(KFold(5, shuffle=True, random_state=0).split(data.X))
    for place in wanted:
        rng = np.random.default_rng(place)
        train, test = splits[place]
        known, real = data.X.iloc[train].reset_index(drop=True), data.X.iloc[test]
        fakes = {"shuffled": shuffled(real, rng)}
        if data.y is not None:
            fakes["mixed"] = mixed(real, data.y.iloc[test], rng)
        measures = of_rivals(known, schema)
        for method in circuits:
            measures |= of_circuit(method, known, schema)
        for measure, score in measures.items():
            scores = score(real)
            for kind, fake in fakes.items():
                yield {"fold": place, "rows": kind, "measure": measure, "auc": auc(scores, score(fake))}


def summed(data: Data, cells: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """A line per kind of row that is not real: the means over folds."""
    for kind in FAKES:
        chosen = pd.DataFrame([cell for cell in cells if cell["rows"] == kind])
        if len(chosen):
            means = chosen.groupby("measure", sort=False)["auc"].mean().to_dict()
            yield {"data": data.name, "count": len(data.X), "features": data.X.shape[1], "rows": kind, "auc": means}


def some(data: Data) -> Data:
    """At most `MOST_ROWS` of its rows."""
    if len(data.X) <= MOST_ROWS:
        return data
    places = np.sort(np.random.default_rng(0).choice(len(data.X), MOST_ROWS, replace=False))
    return Data(data.name, data.X.iloc[places], None if data.y is None else data.y.iloc[places])


def ahead(results: list[dict[str, Any]], measure: str) -> str:
    """A sentence: where a measure of ours is better than both others, and where it is not."""
    behind = [f"{r['data']} ({r['rows']})" for r in results if r["auc"][measure] <= max(r["auc"][rival] for rival in RIVALS)]
    count = f"{measure}: ahead of both others in {len(results) - len(behind)} of {len(results)} lines"
    return f"{count}; not on {', '.join(behind)}" if behind else count


def _figure(measure: str) -> Callable[[dict[str, Any]], str]:
    return lambda item: f"{item['auc'].get(measure, math.nan):.3f}"


MEASURES = ("likelihood", "coherence", "worse")
COLUMNS: list[Column] = [
    ("data", -13, lambda item: item["data"]),
    ("told from", -9, lambda item: item["rows"]),
    ("rows", 5, lambda item: str(item["count"])),
    ("features", 8, lambda item: str(item["features"])),
    *[(measure, 10, _figure(f"{method}: {measure}")) for method in CIRCUITS for measure in MEASURES],
    *[(rival, 16, _figure(rival)) for rival in RIVALS],
]
#: Above the heads of our columns: what made the circuit.
TOP = " " * 43 + "".join(f"{method:<36}" for method in CIRCUITS)


def kept(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """What was measured before, by data and kind of row."""
    before = json.loads(path.read_text(encoding="utf-8"))["results"] if path.exists() else []
    return {(each["data"], each["rows"]): each for each in before}


def show(results: list[dict[str, Any]]) -> None:
    """The table, and where each measure is ahead."""
    order = sorted(results, key=lambda result: (list(DATA).index(result["data"]), FAKES.index(result["rows"])))
    print(TOP.rstrip(), head(COLUMNS), *(line(COLUMNS, result) for result in order), "", sep="\n")
    for measure in (f"{method}: {measure}" for method in CIRCUITS for measure in MEASURES):
        print(ahead([result for result in order if measure in result["auc"]], measure))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", nargs="*", default=list(DATA), choices=list(DATA))
    parser.add_argument("--circuits", nargs="*", default=list(CIRCUITS), choices=list(CIRCUITS))
    parser.add_argument("--folds", type=int, nargs="*", default=[0, 1, 2, 3, 4])
    parser.add_argument("--json", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = kept(options.json)
    for name in options.names:
        try:
            data = some(DATA[name]())
        except (ImportError, likely.LikelyError) as error:
            print(f"{name}: left out ({error})")
            continue
        with one_thread():
            cells = list(measured(data, options.folds, options.circuits))
        for result in summed(data, cells):
            place = result["data"], result["rows"]
            results[place] = {**result, "auc": {**results.get(place, result)["auc"], **result["auc"]}}
            print(line(COLUMNS, results[place]), flush=True)
        options.json.write_text(json.dumps({"results": list(results.values())}, indent=1) + "\n", encoding="utf-8")
    show(list(results.values()))


if __name__ == "__main__":
    main()
