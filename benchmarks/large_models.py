"""Beyond the paper's size: wide networks, large forests and large circuits, with and without a likelihood threshold.

    python benchmarks/large_models.py DATA [--names gmsc] [--families "network 64-32"] [--rows 20] [--limit-seconds 60]
                                           [--rivals PYTHON] [--keep FOLDER] [--json OUT]
    python benchmarks/large_models.py --table OUT [--names credit] [--families "catboost 500"]    # of what was measured

With --json, results of the same data, family, engine and question that the file has are replaced, and all others stay.

DATA holds credit.csv.gz, adult.csv.gz and gmsc.csv.gz. Every model is trained on the first of five folds, with both classes
weighing the same, and read by `likely.predictor.read`: networks behind min-max scaling and one-hot, forests behind
one-hot; CatBoost; calibrated forests (five of them, each with its sigmoid), votes and stacks of boosting and logistic regression.
The circuit is learned from the same rows. Each query asks for the nearest row of the other class, for as many
test rows of each predicted class; "likely" asks for at least the median log-likelihood of the training rows too. A search
starts from the nearest training rows that are answers. Time is all that a caller pays per query, on one thread.
"gap" is (found - proven) / found, at the limit, of the queries that were not certified and have an answer. The last columns say
where the time goes: bounds of the score, bounds of the likelihood, the rest of the search, and all outside of it.

With --rivals, the interpreter that has them answers the same queries on the same forests (see rivals_worker.py): `treecf`
with its exact backend and our cost, domains and whole numbers; `dtai-veritas`, which knows neither our cost nor one-hot
columns, on the data without such columns: it finds the least *largest* weighted change. --keep stores what was trained.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import rivals
from joblib import Memory
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder
from sklearn.utils.class_weight import compute_sample_weight
from summary import Column, head, line, one_thread, share, spread

import likely
from likely.circuit import Circuit
from likely.errors import LikelyWarning
from likely.predictor import Form, TreeEnsemble
from likely.problem import Limits, Plausibility, Problem, not_class
from likely.problem.tolerances import SUM_ROUNDING
from likely.search import solve

Numbers = NDArray[np.float64]

TARGETS = {"credit": "class", "adult": "income", "gmsc": "SeriousDlqin2yrs"}
#: Nodes of the circuits at most: about the paper's, and large ones.
NODES = {"credit": 130, "adult": 1800, "gmsc": 1000}
LARGE_NODES = {"credit": 1300, "adult": 7000, "gmsc": 7000}
LARGE_CIRCUIT = ", large circuit"
FAMILIES = (
    "network 64-32",
    "network 128-64",
    "forest 100",
    "forest 500",
    "boosting 100",
    "boosting 500",
    "catboost 500",
    "calibrated 100",
    "voting 100",
    "stacking 100",
    f"network 20-10{LARGE_CIRCUIT}",
)
#: Training rows among which starts are looked for.
POOL = 5000


# -- data, models, circuits -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Data:
    """A data set: the rows to learn from, and those to ask about."""

    name: str
    train: pd.DataFrame
    labels: pd.Series
    test: pd.DataFrame


def data_of(folder: Path, name: str) -> Data:
    """The first of five folds."""
    table = pd.read_csv(folder / f"{name}.csv.gz", index_col="id")
    labels = table.pop(TARGETS[name])
    train, test = next(KFold(5, shuffle=True, random_state=0).split(table))
    return Data(name, table.iloc[train], labels.iloc[train], table.iloc[test])


def model_of(family: str) -> Any:
    """An unfitted model by name, e.g. "network 64-32" or "forest 500"."""
    kind, size = family.removesuffix(LARGE_CIRCUIT).split()
    if kind == "network":
        return MLPClassifier(tuple(int(width) for width in size.split("-")), batch_size=64, max_iter=50, random_state=0)
    if kind == "forest":
        return RandomForestClassifier(int(size), max_depth=6, random_state=0, n_jobs=-1)
    if kind == "catboost":
        from catboost import CatBoostClassifier

        return CatBoostClassifier(int(size), depth=6, random_seed=0, verbose=0, allow_writing_files=False, thread_count=2)
    if kind == "calibrated":  # five forests, each with a sigmoid of its own
        return CalibratedClassifierCV(model_of(f"forest {size}"), cv=5)
    if kind in ("voting", "stacking"):
        members = [("boosting", model_of(f"boosting {size}")), ("logistic", LogisticRegression(max_iter=1000))]
        return VotingClassifier(members, voting="soft") if kind == "voting" else StackingClassifier(members, cv=3)
    return HistGradientBoostingClassifier(
        max_iter=int(size), max_depth=6, max_leaf_nodes=None, early_stopping=False, random_state=0
    )


def pipeline_of(data: Data, family: str) -> Any:
    """An unfitted model behind its encoder."""
    numbers = list(data.train.select_dtypes("number"))
    texts = [column for column in data.train if column not in numbers]
    one_hot = OneHotEncoder(sparse_output=False, handle_unknown="ignore")
    scaler = MinMaxScaler() if family.startswith(("network", "voting", "stacking")) else "passthrough"
    return make_pipeline(make_column_transformer((scaler, numbers), (one_hot, texts)), model_of(family))


def fitted(folder: Path, name: str, model: Any) -> Any:
    """The model, fitted to the training rows of a data set."""
    data = data_of(folder, name)
    weights = {f"{model.steps[-1][0]}__sample_weight": compute_sample_weight("balanced", data.labels)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fifty epochs, as in the paper, whether they converged or not
        return model.fit(data.train, data.labels, **weights)


def circuit_of(folder: Path, name: str, nodes: int) -> str:
    """A learned circuit as JSON."""
    data = data_of(folder, name)
    learned = likely.circuit.learn(data.train, data.labels, likely.Schema.infer(data.train), nodes=nodes, progress=False)
    return learned.circuit.to_json()


# -- questions --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Pool:
    """Training rows with their predicted classes and how likely they are with them."""

    rows: Numbers
    labels: NDArray[Any]
    log_likelihoods: Numbers

    def starts(self, problem: Problem, count: int) -> Numbers:
        """The nearest rows that answer a problem of two classes."""
        label = problem.form.predict(problem.factual[None])[0]
        least = -np.inf if problem.plausibility is None else problem.plausibility.lower
        rows = self.rows[(self.labels != label) & (self.log_likelihoods >= least)]
        return rows[np.argsort(problem.schema.prices(problem.factual, rows), kind="stable")[:count]]


@dataclass(frozen=True, eq=False)
class Setting:
    """Everything that the queries of one data set and family share."""

    name: str
    family: str
    schema: likely.Schema
    form: Form
    circuit: Circuit
    median: float
    pool: Pool
    factuals: Numbers


def setting_of(folder: Path, name: str, family: str, count: int, memory: Memory) -> Setting:
    """Trains, learns, reads, and picks the rows to ask about."""
    data = data_of(folder, name)
    schema = likely.Schema.infer(data.train)
    with one_thread():  # on a busy machine, small products of matrices wait for each other
        model = memory.cache(fitted)(folder, name, pipeline_of(data, family))
    nodes = (LARGE_NODES if family.endswith(LARGE_CIRCUIT) else NODES)[name]
    circuit = Circuit.from_json(memory.cache(circuit_of)(folder, name, nodes))
    form = likely.predictor.read(model, schema)
    rows = schema.encode(data.train)[:POOL]
    labels = form.predict(rows)
    pool = Pool(rows, labels, circuit.log_likelihood(rows, labels))
    median = float(np.median(circuit.log_likelihood(data.train, data.labels)))
    return Setting(name, family, schema, form, circuit, median, pool, factuals_of(form, schema.encode(data.test), count))


def factuals_of(form: Form, rows: Numbers, count: int) -> Numbers:
    """As many rows of each predicted class, as far as there are."""
    labels = form.predict(rows)
    random = np.random.default_rng(0)
    picked = []
    for label in form.classes:
        members = np.flatnonzero(labels == label)
        picked += list(random.permutation(members)[: count // 2])
    return rows[picked]


def problem_of(setting: Setting, factual: Numbers, likely_enough: bool) -> Problem:
    """The question about one row."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LikelyWarning)
        schema = setting.schema.widened(factual)
    goal = not_class(setting.form, setting.form.predict(factual[None])[0])
    plausibility = Plausibility(setting.circuit, setting.median) if likely_enough else None
    return Problem(schema, factual, setting.form, goal, plausibility)


def asked(setting: Setting, factual: Numbers, likely_enough: bool, limits: Limits, starts: int) -> dict[str, Any]:
    """One query, answered and judged."""
    clock, processor = time.perf_counter(), time.process_time()
    problem = problem_of(setting, factual, likely_enough)
    result = solve(problem, limits, starts=setting.pool.starts(problem, starts))
    seconds, processor_seconds = time.perf_counter() - clock, time.process_time() - processor
    rows = result.solutions[0].row[None] if result.solutions else np.empty((0, len(factual)))
    statistics = result.statistics
    return {
        "status": result.status,
        "upper": result.bounds.upper if result.solutions else None,
        "lower": result.bounds.lower if math.isfinite(result.bounds.lower) else None,
        "wrong": not problem.admits(rows, slack=SUM_ROUNDING).all(),
        "seconds": seconds,
        "processor_seconds": processor_seconds,
        "search_nodes": statistics.nodes,
        "score_share": statistics.seconds_score / seconds,
        "likelihood_share": statistics.seconds_likelihood / seconds,
        "search_share": (statistics.seconds - statistics.seconds_score - statistics.seconds_likelihood) / seconds,
        "outside_share": 1 - statistics.seconds / seconds,
    }


def summed(setting: Setting, engine: str, asks: str, records: list[dict[str, Any]]) -> dict[str, Any]:
    """All queries of one setting to one engine."""
    certified = [record["status"] in ("optimal", "infeasible") for record in records]
    gaps = [
        (record["upper"] - (record["lower"] or 0.0)) / record["upper"]
        for record, proved in zip(records, certified, strict=True)
        if not proved and record["upper"]
    ]
    shares = [key for key in ("score_share", "likelihood_share", "search_share", "outside_share") if key in records[0]]
    return {
        "data": setting.name,
        "family": setting.family,
        "engine": engine,
        "asks": asks,
        "queries": len(records),
        "circuit_nodes": len(setting.circuit),
        "certified": share(certified),
        "infeasible": share(record["status"] == "infeasible" for record in records),
        "unknown": share(record["status"] == "unknown" for record in records),
        "wrong": sum(record.get("wrong", False) for record in records),
        **{
            key: spread(record[key] for record in records)
            for key in ("seconds", "processor_seconds", "search_nodes")
            if key in records[0]
        },
        "gap": {"median": float(np.median(gaps)), "max": max(gaps)} if gaps else None,
        **{
            key: float(np.average([record[key] for record in records], weights=[record["seconds"] for record in records]))
            for key in shares
        },
        "costs": [record["upper"] for record in records],
        "statuses": [record["status"] for record in records],
    }


def compared(setting: Setting, python: Path, limit: float, ours: dict[str, Any]) -> list[dict[str, Any]]:
    """The rivals on the same forest and rows, with how their costs compare with ours where both are certified."""
    results = []
    for engine, records in rivals.asked(setting.schema, setting.form, setting.factuals, limit, python).items():
        summary = summed(setting, engine, rivals.ASKS[engine], records)
        pairs = [
            (theirs["upper"], cost)
            for theirs, cost, status in zip(records, ours["costs"], ours["statuses"], strict=True)
            if theirs["upper"] is not None and cost is not None and status == "optimal"
        ]
        summary["cost_over_ours"] = spread(theirs / cost for theirs, cost in pairs) if pairs else None
        summary["cheaper_than_ours"] = sum(theirs < cost * (1 - 1e-6) for theirs, cost in pairs)
        results.append(summary)
    return results


# -- the table --------------------------------------------------------------------------------------------------------


def _percent(key: str) -> Any:
    return lambda record: f"{record[key]:.0%}" if record.get(key) is not None else "-"


def _gap(record: dict[str, Any]) -> str:
    return "-" if record["gap"] is None else f"{record['gap']['median']:.0%} {record['gap']['max']:.0%}"


def _search_nodes(which: str) -> Any:
    return lambda record: f"{record['search_nodes'][which]:.0f}" if "search_nodes" in record else "-"


COLUMNS: list[Column] = [
    ("data", -6, lambda record: record["data"]),
    ("family", -28, lambda record: record["family"]),
    ("engine", -8, lambda record: record["engine"]),
    ("asks for", -12, lambda record: record["asks"]),
    ("circuit", 7, lambda record: str(record["circuit_nodes"])),
    ("queries", 7, lambda record: str(record["queries"])),
    ("certified", 9, _percent("certified")),
    ("none", 4, _percent("infeasible")),
    ("unknown", 7, _percent("unknown")),
    ("wrong", 5, lambda record: str(record["wrong"])),
    ("s: median", 9, lambda record: f"{record['seconds']['median']:.3f}"),
    ("p99", 7, lambda record: f"{record['seconds']['p99']:.3f}"),
    ("max", 7, lambda record: f"{record['seconds']['max']:.3f}"),
    ("search nodes: median", 20, _search_nodes("median")),
    ("max", 7, _search_nodes("max")),
    ("gap: median max", 15, _gap),
    ("score", 5, _percent("score_share")),
    ("likelihood", 10, _percent("likelihood_share")),
    ("rest", 4, _percent("search_share")),
    ("outside", 7, _percent("outside_share")),
    ("cost / ours", 11, lambda record: f"{record['cost_over_ours']['median']:.3f}" if record.get("cost_over_ours") else "-"),
]


def measured(setting: Setting, options: argparse.Namespace) -> list[dict[str, Any]]:
    """All that is asked of one setting, printed as it comes."""
    limits = Limits(seconds=options.limit_seconds)
    results = []
    for asks, likely_enough in (("near", False), ("near, likely", True)):
        if not likely_enough and setting.family.endswith(LARGE_CIRCUIT):
            continue
        with one_thread():
            records = [asked(setting, row, likely_enough, limits, options.starts) for row in setting.factuals]
        results.append(summed(setting, "likely", asks, records))
        print(line(COLUMNS, results[-1]), flush=True)
    if options.rivals and isinstance(setting.form, TreeEnsemble):
        for summary in compared(setting, options.rivals, options.limit_seconds, results[0]):
            results.append(summary)
            print(line(COLUMNS, summary), flush=True)
    return results


def ratios(results: list[dict[str, Any]]) -> list[str]:
    """How many times as fast as treecf we are without a likelihood, by the median and by the slowest query."""
    ours = {
        (record["data"], record["family"]): record["seconds"]
        for record in results
        if (record["engine"], record["asks"]) == ("likely", "near")
    }
    lines = []
    for record in results:
        if record["engine"] == "treecf":
            faster = [record["seconds"][key] / ours[record["data"], record["family"]][key] for key in ("median", "max")]
            lines.append(
                f"{record['data']:8}{record['family']:14} treecf / likely: median {faster[0]:6.1f}   slowest {faster[1]:6.1f}"
            )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--names", nargs="*", default=list(TARGETS), choices=list(TARGETS))
    parser.add_argument("--families", nargs="*", default=list(FAMILIES), choices=FAMILIES, metavar="FAMILY")
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("--limit-seconds", type=float, default=60.0)
    parser.add_argument("--starts", type=int, default=50, help="training rows given to each search (50)")
    parser.add_argument("--rivals", type=Path, metavar="PYTHON")
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="where trained models and circuits are kept; delete it when learning changes"
    )
    parser.add_argument("--json", type=Path, metavar="OUT")
    parser.add_argument("--table", type=Path, metavar="OUT", help="print what a file of results has, and measure nothing")
    options = parser.parse_args()
    if options.table:
        print(*table(stored(options.table), options.names, options.families), sep="\n")
        return
    if options.data is None:
        parser.error("give DATA, or --table")
    memory = Memory(options.keep, verbose=0)
    results = []
    print(head(COLUMNS))
    for name in options.names:
        for family in options.families:
            results += measured(setting_of(options.data, name, family, options.rows, memory), options)
    print(*ratios(results), sep="\n")
    if options.json:
        options.json.write_text(json.dumps(merged(stored(options.json), results), indent=1) + "\n", encoding="utf-8")


def stored(path: Path) -> list[dict[str, Any]]:
    """The results in a file; none if there is no file."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def merged(before: list[dict[str, Any]], now: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What was measured before, with what was measured again in its place, and after it what is new."""

    def key(record: dict[str, Any]) -> tuple[str, ...]:
        return tuple(record[name] for name in ("data", "family", "engine", "asks"))

    made = {key(record): record for record in before}
    return list({**made, **{key(record): record for record in now}}.values())


def table(results: list[dict[str, Any]], names: list[str], families: list[str]) -> list[str]:
    """The lines of stored results."""
    kept = [record for record in results if record["data"] in names and record["family"] in families]
    return [head(COLUMNS), *(line(COLUMNS, record) for record in kept)]


if __name__ == "__main__":
    main()
