"""How time grows with the number of features, values per feature, circuit nodes, network width and trees.

    python benchmarks/growth.py [--axes features trees] [--rows 20] [--limit-seconds 60] [--json OUT] [--picture OUT.png]

Synthetic tables with fixed seeds: rows of six kinds, half of the columns whole numbers, half categories, and a class that
depends on them. One size is varied at a time, the others stay at their default. A ReLU network (n-n/2), or for the last
axis a random forest of depth 6, is trained on it, and a circuit learned. Each query asks for the nearest row of the
other class that is at least as likely as the median row. Time is all that a caller pays per query, on one thread;
the processor's seconds are what is left of it on a busy machine, and what the picture shows.
"""

from __future__ import annotations

import argparse
import json
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from large_models import Pool, Setting, asked, factuals_of, summed
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder
from summary import Column, head, line, one_thread

import likely
from likely.problem import Limits

ROWS, KINDS = 4000, 6
AXES = {
    "features": (5, 10, 20, 40, 80),
    "levels": (2, 5, 10, 20, 50, 100),
    "nodes": (100, 300, 1000, 3000),
    "width": (10, 20, 50, 100, 200),
    "trees": (10, 30, 100, 300, 1000),
}
TITLES = {
    "features": "features",
    "levels": "values per feature",
    "nodes": "nodes of the circuit",
    "width": "network width",
    "trees": "trees",
}


@dataclass(frozen=True)
class Size:
    """A synthetic problem; no trees means a network."""

    features: int = 12
    levels: int = 10
    nodes: int = 300
    width: int = 20
    trees: int = 0


def table(size: Size) -> tuple[pd.DataFrame, pd.Series]:
    """Rows of several kinds, and a class that depends on the columns."""
    random = np.random.default_rng([size.features, size.levels])
    kind = random.integers(0, KINDS, ROWS)
    columns: dict[str, Any] = {}
    signal = np.zeros(ROWS)
    for j in range(size.features):
        centre = random.uniform(0, size.levels - 1, KINDS)
        spread = 0.2 * size.levels * random.uniform(0.5, 1.5)
        value = np.clip(np.rint(random.normal(centre[kind], spread)), 0, size.levels - 1).astype(int)
        weight = random.normal(size=size.levels) if j % 2 else np.linspace(-1, 1, size.levels) * random.normal()
        signal += weight[value] * np.where(kind % 2, 1.0, 0.5)
        columns[f"x{j}"] = np.char.add("v", value.astype(str)) if j % 2 else value
    return pd.DataFrame(columns), pd.Series((signal > np.median(signal)).astype(int), name="class")


def model_of(size: Size, X: pd.DataFrame, y: pd.Series) -> Any:
    """A network, or a forest if there are trees, behind its encoder."""
    texts = [column for column in X if X[column].dtype != int]
    numbers = [column for column in X if column not in texts]
    encoder = make_column_transformer(
        (MinMaxScaler(), numbers), (OneHotEncoder(handle_unknown="ignore", sparse_output=False), texts)
    )
    network = MLPClassifier((size.width, size.width // 2), batch_size=64, max_iter=20, random_state=0)
    forest = RandomForestClassifier(max(size.trees, 1), max_depth=6, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # twenty epochs, whether they converged or not
        return make_pipeline(encoder, forest if size.trees else network).fit(X, y)


def setting_of(axis: str, size: Size, count: int) -> Setting:
    """The synthetic problem, trained and learned."""
    X, y = table(size)
    train = ROWS - 1000
    schema = likely.Schema.infer(X)
    form = likely.predictor.read(model_of(size, X[:train], y[:train]), schema)
    circuit = likely.circuit.learn(X[:train], y[:train], schema, nodes=size.nodes, progress=False).circuit
    rows = schema.encode(X)
    labels = form.predict(rows)
    pool = Pool(rows[:train], labels[:train], circuit.log_likelihood(rows[:train], labels[:train]))
    median = float(np.median(circuit.log_likelihood(X[:train], y[:train])))
    return Setting("synthetic", axis, schema, form, circuit, median, pool, factuals_of(form, rows[train:], count))


def measured(axis: str, value: int, options: argparse.Namespace) -> dict[str, Any]:
    """One point of one axis."""
    base = Size(trees=100) if axis == "trees" else Size()
    setting = setting_of(axis, replace(base, **{axis: value}), options.rows)
    with one_thread():
        records = [
            asked(setting, row, True, Limits(seconds=options.limit_seconds), options.starts) for row in setting.factuals
        ]  # fmt: skip
    # A circuit has as many nodes as are of use, and not always as many as allowed.
    return {"axis": axis, "value": len(setting.circuit) if axis == "nodes" else value, **summed(setting, "likely", "", records)}


COLUMNS: list[Column] = [
    ("axis", -20, lambda record: TITLES[record["axis"]]),
    ("value", 6, lambda record: str(record["value"])),
    ("certified", 9, lambda record: f"{record['certified']:.0%}"),
    ("s: median", 9, lambda record: f"{record['seconds']['median']:.3f}"),
    ("p99", 7, lambda record: f"{record['seconds']['p99']:.3f}"),
    ("processor: median", 17, lambda record: f"{record['processor_seconds']['median']:.3f}"),
    ("p99", 7, lambda record: f"{record['processor_seconds']['p99']:.3f}"),
    ("search nodes: median", 20, lambda record: f"{record['search_nodes']['median']:.0f}"),
    ("max", 7, lambda record: f"{record['search_nodes']['max']:.0f}"),
    ("score", 5, lambda record: f"{record['score_share']:.0%}"),
    ("likelihood", 10, lambda record: f"{record['likelihood_share']:.0%}"),
    ("rest", 4, lambda record: f"{record['search_share']:.0%}"),
    ("outside", 7, lambda record: f"{record['outside_share']:.0%}"),
]


def draw(results: list[dict[str, Any]], path: Path) -> None:
    """One panel per axis: the median, and up to the 99th percentile; hollow where not all were certified."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    axes = list(dict.fromkeys(record["axis"] for record in results))
    figure, panels = plt.subplots(1, len(axes), figsize=(2.6 * len(axes), 2.8), sharey=True, squeeze=False, layout="constrained")
    for axis, panel in zip(axes, panels[0], strict=True):
        points = [record for record in results if record["axis"] == axis]
        x = [record["value"] for record in points]
        middle, top = ([record["processor_seconds"][key] for record in points] for key in ("median", "p99"))
        panel.fill_between(x, middle, top, alpha=0.2, linewidth=0)
        panel.plot(x, middle)
        for record, place, height in zip(points, x, middle, strict=True):
            panel.plot(place, height, "o", color="C0", markerfacecolor="C0" if record["certified"] == 1 else "white")
        panel.set(xscale="log", yscale="log", xlabel=TITLES[axis])
        panel.set_xticks(x, [str(value) for value in x])
        panel.set_xticks([], minor=True)
        panel.grid(alpha=0.3)
    panels[0][0].set_ylabel("processor seconds per query")
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--axes", nargs="*", default=list(AXES), choices=list(AXES))
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("--limit-seconds", type=float, default=60.0)
    parser.add_argument("--starts", type=int, default=50, help="training rows given to each search (50)")
    parser.add_argument("--json", type=Path, metavar="OUT")
    parser.add_argument("--picture", type=Path, metavar="OUT", help="needs matplotlib")
    options = parser.parse_args()
    results = []
    print(head(COLUMNS))
    for axis in options.axes:
        for value in AXES[axis]:
            results.append(measured(axis, value, options))
            print(line(COLUMNS, results[-1]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if options.picture:
        draw(results, options.picture)


if __name__ == "__main__":
    main()
