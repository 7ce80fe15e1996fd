"""How well a learned circuit knows the distribution it was sampled from: the paper's eight Bayesian networks.

    python benchmarks/bayesian_networks.py [--seeds 5] [--networks asia sachs] [--learners learnspn auto] [--wheel WHEEL]
                                           [--json OUT]

The paper's protocol: draw 10,000 rows from a network, learn a circuit, draw 1,000 more, and compare what the circuit says of
them with their true log-probability - by the correlation coefficients of Pearson, Kendall (tau-b) and Spearman, and by the
total variation between the two distributions. The paper reports the best of five circuits; so the best of five (by Pearson)
stands below it here, and the mean of all five beside it. Where there are too many rows to sum over, the total variation is
estimated on 20,000 rows of the network: TV(p, q) = E_p max(0, 1 - q / p), since both sum to 1. `learnspn` is the paper's
learner, `auto` is what a user gets.

The networks are text files in the wheel of pgmpy 1.1.2 (sprinkler is written down below). They are read from an installed
pgmpy, from --wheel, or from a wheel that pip downloads; pgmpy itself is not imported.
"""

from __future__ import annotations

import argparse
import gzip
import json
import platform
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

import likely
from likely.circuit import Categories, Circuit, Product, log_likelihood

TRAIN, TEST, ESTIMATE = 10_000, 1_000, 20_000
#: Sum over all rows up to this many.
WHOLE = 200_000
#: nodes, edges and parameters, the paper's Table "Size comparison of BNs": what was read is what they read.
SIZES = {
    "sprinkler": (4, 4, 9),
    "asia": (8, 8, 18),
    "sachs": (11, 17, 178),
    "child": (20, 25, 230),
    "water": (32, 66, 10083),
    "alarm": (37, 46, 509),
    "win95pts": (76, 112, 574),
    "andes": (223, 338, 1157),
}
MEASURES = ("pearson", "kendall", "spearman", "variation")
#: The paper's Table "Evaluation of the fit": best of five circuits.
PAPER = {
    "sprinkler": (0.9956, 1.0000, 1.0000, 0.0168),
    "asia": (0.9905, 0.9923, 0.9995, 0.0730),
    "sachs": (0.9642, 0.8604, 0.9722, 0.2599),
    "child": (0.9537, 0.8533, 0.9658, None),
    "water": (0.9545, 0.8277, 0.9611, None),
    "alarm": (0.9586, 0.8917, 0.9777, None),
    "win95pts": (0.9587, 0.8910, 0.9767, None),
    "andes": (0.7928, 0.5995, 0.7881, None),
}
SPRINKLER = """
variable Cloudy { type discrete [ 2 ] { no, yes }; }
variable Sprinkler { type discrete [ 2 ] { no, yes }; }
variable Rain { type discrete [ 2 ] { no, yes }; }
variable Wet { type discrete [ 2 ] { no, yes }; }
probability ( Cloudy ) { table 0.5, 0.5; }
probability ( Sprinkler | Cloudy ) { (no) 0.5, 0.5; (yes) 0.9, 0.1; }
probability ( Rain | Cloudy ) { (no) 0.8, 0.2; (yes) 0.2, 0.8; }
probability ( Wet | Sprinkler, Rain ) { (no, no) 1, 0; (no, yes) 0.1, 0.9; (yes, no) 0.1, 0.9; (yes, yes) 0.01, 0.99; }
"""


# -- networks ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Variable:
    """A variable of a network: its states, its parents' places, and its probabilities, one axis per parent and its own last."""

    name: str
    states: tuple[str, ...]
    parents: tuple[int, ...]
    table: np.ndarray


@dataclass(frozen=True)
class Network:
    """A Bayesian network: p(row) = product over variables of p(variable | its parents)."""

    variables: tuple[Variable, ...]

    @property
    def size(self) -> tuple[int, int, int]:
        """Nodes, edges, free parameters."""
        parameters = sum(v.table.size - v.table.size // len(v.states) for v in self.variables)
        return len(self.variables), sum(len(v.parents) for v in self.variables), parameters

    def ordered(self) -> Iterator[int]:
        """Every variable after its parents."""
        done: set[int] = set()
        while len(done) < len(self.variables):
            ready = [j for j, v in enumerate(self.variables) if j not in done and done.issuperset(v.parents)]
            done.update(ready)
            yield from ready

    def sample(self, count: int, random: np.random.Generator) -> np.ndarray:
        """Rows as places of states."""
        rows = np.zeros((count, len(self.variables)), dtype=np.int64)
        for j in self.ordered():
            variable = self.variables[j]
            upto = variable.table.cumsum(axis=-1)[tuple(rows[:, variable.parents].T)]
            rows[:, j] = (random.random((count, 1)) * upto[..., -1:] >= upto[..., :-1]).sum(axis=-1)
        return rows

    def log_probability(self, rows: np.ndarray) -> np.ndarray:
        """log p of each row."""
        with np.errstate(divide="ignore"):
            logs = [np.log(v.table)[tuple(rows[:, [*v.parents, j]].T)] for j, v in enumerate(self.variables)]
        return np.sum(logs, axis=0)

    def all_rows(self) -> np.ndarray | None:
        """Every row there is, if there are few enough."""
        counts = [len(v.states) for v in self.variables]
        if np.prod(np.array(counts, dtype=np.float64)) > WHOLE:
            return None
        return np.array(list(product(*map(range, counts))))

    @property
    def schema(self) -> likely.Schema:
        """The states as numbered categories."""
        return likely.Schema(
            tuple(
                likely.Binary(v.name, (0, 1)) if len(v.states) == 2 else likely.Categorical(v.name, tuple(range(len(v.states))))
                for v in self.variables
            )
        )


def parse(text: str) -> Network:
    """The network in a BIF text."""
    states = {
        name: tuple(part.strip() for part in listed.split(","))
        for name, listed in re.findall(r"variable\s+(\S+)\s*\{\s*type\s+discrete\s*\[\s*\d+\s*\]\s*\{([^}]*)\}", text)
    }
    places = {name: j for j, name in enumerate(states)}
    variables: dict[str, Variable] = {}
    for head, body in re.findall(r"probability\s*\(([^)]*)\)\s*\{([^}]*)\}", text):
        name, _, given = (part.strip() for part in head.partition("|"))
        parents = [part.strip() for part in given.split(",")] if given else []
        table = np.full([len(states[variable]) for variable in (*parents, name)], np.nan)
        for entry in filter(str.strip, body.split(";")):
            case, numbers = re.fullmatch(r"\s*(?:table|\((.*)\))\s*([^()]*)", entry).groups()  # type: ignore[union-attr]
            values = [part.strip() for part in case.split(",")] if case else []
            place = tuple(states[parent].index(value) for parent, value in zip(parents, values, strict=True))
            table[place] = np.array([float(number) for number in numbers.split(",")]).reshape(table[place].shape)
        if np.isnan(table).any():
            raise ValueError(f"The table of {name} has holes")
        table /= table.sum(axis=-1, keepdims=True)
        variables[name] = Variable(name, states[name], tuple(places[parent] for parent in parents), table)
    return Network(tuple(variables[name] for name in states))


def read_networks(names: list[str], wheel: Path | None) -> dict[str, Network]:
    """The networks by name, checked against the paper's table of their sizes."""
    open_model = models_of(wheel) if set(names) - {"sprinkler"} else None
    networks = {}
    for name in names:
        text = SPRINKLER if open_model is None or name == "sprinkler" else gzip.decompress(open_model(f"{name}.bif.gz")).decode()
        networks[name] = parse(text)
        if networks[name].size != SIZES[name]:
            raise ValueError(f"{name} has {networks[name].size} nodes, edges and parameters, the paper's has {SIZES[name]}")
    return networks


def models_of(wheel: Path | None) -> Callable[[str], bytes]:
    """What reads a file among pgmpy's example models."""
    inside = Path("pgmpy", "utils", "example_models")
    spec = find_spec("pgmpy")
    if wheel is None and spec is not None and spec.origin is not None:
        return lambda name: (Path(spec.origin).parents[1] / inside / name).read_bytes()  # type: ignore[arg-type]
    if wheel is None:
        folder = Path(tempfile.mkdtemp())
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "pgmpy==1.1.2", "-d", str(folder)], check=True
        )
        wheel = next(folder.glob("*.whl"))
    archive = zipfile.ZipFile(wheel)
    return lambda name: archive.read((inside / name).as_posix())


# -- learners ---------------------------------------------------------------------------------------------------------


def independent(rows: np.ndarray, network: Network, seed: int) -> Circuit:
    """The product of the variables' shares: what a circuit has to beat."""
    counts = [np.bincount(rows[:, j], minlength=len(v.states)) + 1.0 for j, v in enumerate(network.variables)]
    leaves = [Categories(j, tuple(count / count.sum())) for j, count in enumerate(counts)]
    return Circuit(network.schema.features, (*leaves, Product(tuple(range(len(leaves))))))


def learned(method: str) -> Callable[[np.ndarray, Network, int], Circuit]:
    """What a user gets from `likely.circuit.learn` by one of its methods."""

    def learn(rows: np.ndarray, network: Network, seed: int) -> Circuit:
        table = pd.DataFrame(rows, columns=[v.name for v in network.variables])
        return likely.circuit.learn(table, None, network.schema, method=method, random_state=seed, progress=False).circuit

    return learn


LEARNERS = {"independent": independent, **{method: learned(method) for method in ("learnspn", "mixture", "tree", "auto")}}


# -- measuring --------------------------------------------------------------------------------------------------------


def variation(network: Network, circuit: Circuit, random: np.random.Generator) -> tuple[float, bool]:
    """The total variation between a network and a circuit, and whether it is exact."""
    rows = network.all_rows()
    if rows is not None:
        p, q = np.exp(network.log_probability(rows)), np.exp(log_likelihood(circuit, rows.astype(np.float64)))
        return float(np.abs(p - q).sum() / 2), True
    rows = network.sample(ESTIMATE, random)
    ratio = np.exp(np.minimum(log_likelihood(circuit, rows.astype(np.float64)) - network.log_probability(rows), 0.0))
    return float(1 - ratio.mean()), False


def measure(network: Network, learner: str, seed: int) -> dict[str, Any]:
    """One circuit: drawn for, learned, compared."""
    random = np.random.default_rng(seed)
    train, test = network.sample(TRAIN, random), network.sample(TEST, random)
    start = time.perf_counter()
    circuit = LEARNERS[learner](train, network, seed)
    seconds = time.perf_counter() - start
    true, learned = network.log_probability(test), log_likelihood(circuit, test.astype(np.float64))
    distance, exact = variation(network, circuit, random)
    return {
        "seed": seed,
        "pearson": float(stats.pearsonr(true, learned)[0]),
        "kendall": float(stats.kendalltau(true, learned)[0]),
        "spearman": float(stats.spearmanr(true, learned)[0]),
        "variation": distance,
        "exact": exact,
        "log_likelihood": float(learned.mean()),
        "true_log_likelihood": float(true.mean()),
        "nodes": len(circuit),
        "seconds": seconds,
    }


HEAD = (
    f"{'':22}" + "".join(f"{measure:>16}" for measure in MEASURES) + f"{'log-likelihood':>20}{'nodes':>8}{'seconds':>9}\n"
    f"{'':22}" + f"{'best':>9}{'mean':>7}" * len(MEASURES) + f"{'mean':>11}{'true':>9}{'best':>8}{'mean':>9}"
)


def paper_line(name: str) -> str:
    """What the paper reports of a network."""
    cells = "".join(f"{'-' if value is None else format(value, '.3f'):>8}{'':8}" for value in PAPER[name])
    return f"{name:11}{'paper':11}{cells}"


def line(name: str, learner: str, runs: list[dict[str, Any]]) -> str:
    """A learner's best circuit (by Pearson) and the mean of all; "~": an estimate, "+": no worse than the paper's."""
    best = max(runs, key=lambda run: run["pearson"])
    mean = {key: np.mean([run[key] for run in runs]) for key in runs[0]}
    cells = ""
    for key, paper in zip(MEASURES, PAPER[name], strict=True):
        about = "~" if key == "variation" and not best["exact"] else ""
        sign = -1 if key == "variation" else 1
        better = paper is not None and round(sign * (best[key] - paper), 4) >= 0
        cells += f"{about + format(best[key], '.3f') + ('+' if better else ' '):>9}{mean[key]:>7.3f}"
    likelihoods = f"{mean['log_likelihood']:>11.3f}{mean['true_log_likelihood']:>9.3f}"
    return f"{'':11}{learner:11}{cells}{likelihoods}{best['nodes']:>8}{mean['seconds']:>9.1f}"


def main() -> None:
    """Parse, measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--networks", nargs="+", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--learners", nargs="+", default=["learnspn", "auto"], choices=list(LEARNERS))
    parser.add_argument("--wheel", type=Path)
    parser.add_argument("--json", type=Path, default=Path(__file__).parent / "results" / "bayesian_networks.json")
    options = parser.parse_args()
    print(HEAD)
    results: dict[str, dict[str, Any]] = {}
    for name, network in read_networks(options.networks, options.wheel).items():
        print(paper_line(name))
        results[name] = {}
        for learner in options.learners:
            results[name][learner] = [measure(network, learner, seed) for seed in range(options.seeds)]
            print(line(name, learner, results[name][learner]), flush=True)
    machine = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "likely": likely.__version__,
        "machine": platform.machine(),
    }
    settings = {"train": TRAIN, "test": TEST, "seeds": options.seeds}
    paper = {name: dict(zip(MEASURES, PAPER[name], strict=True)) for name in results}
    text = json.dumps({**machine, **settings, "paper": paper, "results": results}, indent=1)
    options.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
