"""The proofs of a hundred queries, derived again without the engine.

    python benchmarks/certificates.py [--rows 2] [--limit-nodes 500] [--data iris wine] [--models logistic] [--asked blocks]

Of every table (iris, wine and breast cancer of scikit-learn, all of them reals, and German Credit of likely.datasets) and model
(logistic regression, a network 20-10, boosting of 30 trees, a forest of 30 trees of depth 4), some rows are asked for the nearest
one of another class: without a likelihood, at the median of a circuit of histograms, at the median of one with Gaussian blocks,
and with a weight of the likelihood of histograms in the objective. A certificate is written, and checked: of an optimum, or,
where the search ended at its limit of nodes, of the bound that it had proved by then. "refused" are proofs that rest on a bound
which the checker does not know; "short" are those of which it proves less than is claimed.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import likely
from likely.certificate import load
from likely.errors import UnknownBoundError
from likely.problem import Limits, Plausibility, Problem, not_class
from likely.search import solve

MODELS = {
    "logistic": lambda: LogisticRegression(max_iter=2000),
    "network": lambda: MLPClassifier((20, 10), random_state=0, max_iter=600),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=30, random_state=0),
    "forest": lambda: RandomForestClassifier(30, max_depth=4, random_state=0),
}


def table(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """A table and its classes."""
    if name == "credit":
        data = likely.datasets.load("credit")
        return data.X, data.y
    read = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer}[name](as_frame=True)
    return read.data, read.target


def fitted(name: str, X: pd.DataFrame, y: pd.Series) -> Any:
    """A model of a table."""
    words = [column for column in X.columns if not pd.api.types.is_numeric_dtype(X[column])]
    encoder = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), words), remainder=StandardScaler())
    return make_pipeline(encoder, MODELS[name]()).fit(X, y)


def query(problem: Problem, path: Path, limits: Limits) -> dict[str, Any]:
    """One query: what the search and the check took, and what came of it."""
    started = time.process_time()
    result = solve(problem, limits, certificate=path)
    engine = time.process_time() - started
    started = time.process_time()
    certificate = load(path)[0]
    try:
        outcome = "replayed" if certificate.check(problem).holds else "short"
    except UnknownBoundError:
        outcome = "refused"
    check = time.process_time() - started
    kilobytes = path.stat().st_size / 1000
    return {
        "outcome": outcome, "optimal": result.status in ("optimal", "infeasible"), "nodes": result.statistics.nodes,
        "engine": engine, "check": check, "kilobytes": kilobytes,
    }  # fmt: skip


def demands(X: pd.DataFrame, y: pd.Series) -> dict[str, Plausibility | None]:
    """What may be asked of the likelihood of an answer."""
    schema = likely.Schema.infer(X)
    made: dict[str, Plausibility | None] = {"none": None}
    for method in ("histograms", "blocks"):
        circuit = likely.circuit.learn(X, y, schema, method=method, progress=False).circuit
        made[method] = Plausibility(circuit, lower=float(np.median(circuit.log_likelihood(X, y))))
        if method == "histograms":
            made["weight"] = Plausibility(circuit, weight=0.1)
    return made


def problems(model: Any, X: pd.DataFrame, rows: int, plausibility: Plausibility | None) -> list[Problem]:
    """The nearest row of another class, for some rows."""
    schema = likely.Schema.infer(X)
    form = likely.predictor.read(model, schema)
    made = []
    for i in np.linspace(0, len(X) - 1, rows).astype(int):
        factual = schema.encode_row(X.iloc[i])
        made.append(Problem(schema.widened(factual), factual, form, not_class(form, model.predict(X.iloc[[i]])[0]), plausibility))
    return made


def main() -> None:
    """Ask, check, and print a line per table and model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2)
    parser.add_argument("--limit-nodes", type=int, default=500)
    parser.add_argument("--data", nargs="+", default=["iris", "wine", "cancer", "credit"])
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--asked", nargs="+", default=["none", "histograms", "blocks", "weight"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    path = Path(tempfile.mkdtemp()) / "proof.jsonl.gz"
    print(f"{'table':8}{'model':10}{'likelihood':12}{'queries':>8}{'optimal':>8}{'replayed':>9}{'short':>6}{'refused':>8}"
          f"{'nodes':>8}{'kB':>8}{'engine s':>10}{'check s':>9}{'ratio':>7}")  # fmt: skip
    everything = []
    for name in options.data:
        X, y = table(name)
        known = demands(X, y)
        for kind in options.models:
            model = fitted(kind, X, y)
            for asked in options.asked:
                limits = Limits(nodes=options.limit_nodes)
                found = [query(problem, path, limits) for problem in problems(model, X, options.rows, known[asked])]
                everything += found
                count = {key: sum(each["outcome"] == key for each in found) for key in ("replayed", "short", "refused")}
                engine, check = (float(np.sum([each[key] for each in found])) for key in ("engine", "check"))
                print(f"{name:8}{kind:10}{asked:12}{len(found):8}{sum(each['optimal'] for each in found):8}{count['replayed']:9}"
                      f"{count['short']:6}{count['refused']:8}{np.median([each['nodes'] for each in found]):8.0f}"
                      f"{np.median([each['kilobytes'] for each in found]):8.1f}{engine:10.3f}{check:9.2f}{check / engine:7.0f}",
                      flush=True)  # fmt: skip
    replayed = sum(each["outcome"] == "replayed" for each in everything)
    print(f"{replayed} of {len(everything)} proofs were derived again")


if __name__ == "__main__":
    main()
