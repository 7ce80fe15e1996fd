"""Which measure tells real rows from rows whose values do not fit together: log-likelihood or coherence?

    python benchmarks/coherence.py [--data credit adult] [--folds 3] [--json OUT]

Per fold a circuit is learned from the other rows (features only). The fold's rows are then mixed with as many whose columns are
shuffled independently: they have the marginals of real rows, and nothing that holds their values together. Told is the area
under the ROC curve: the probability that a real row scores higher than a shuffled one, half for ties.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

import likely
from likely.circuit import Density

#: At most as many rows of a table are used, drawn at random.
MOST = 20_000


def auc(real: np.ndarray, other: np.ndarray) -> float:
    """The probability that a real row scores higher, half for ties."""
    ranks = rankdata(np.concatenate([real, other]))[: len(real)]
    return float((ranks.sum() - len(real) * (len(real) + 1) / 2) / (len(real) * len(other)))


def shuffled(X: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """The table with every column in an order of its own."""
    return pd.DataFrame({name: X[name].to_numpy()[rng.permutation(len(X))] for name in X}).astype(X.dtypes)


def measured(name: str, folds: int) -> dict[str, Any]:
    """The mean AUC of both measures over the folds of a data set."""
    data = likely.datasets.load(name)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(data.X))[:MOST]
    scores = []
    for fold in range(folds):
        held_out, rest = data.X.iloc[order[fold::folds]], data.X.iloc[np.setdiff1d(order, order[fold::folds])]
        model = Density(schema=data.schema).fit(rest)
        mixed = shuffled(held_out, rng)
        measures = (model.score_samples, model.score_coherence)
        scores.append([auc(measure(held_out), measure(mixed)) for measure in measures])
    likelihood, coherence = np.mean(scores, axis=0)
    return {"data": name, "rows": len(order), "folds": folds, "log-likelihood": likelihood, "coherence": coherence}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=["credit", "adult"])
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results = [measured(name, options.folds) for name in options.data]
    print(pd.DataFrame(results).to_string(index=False, float_format="{:.3f}".format))
    if options.json:
        options.json.write_text(json.dumps({"results": results}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
