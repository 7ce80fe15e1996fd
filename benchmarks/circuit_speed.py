"""How many rows a second a circuit scores on one core: the compiled sweep, a recursion in numpy, and SPFlow.

    python benchmarks/circuit_speed.py [--rows 200000] [--spflow PYTHON] [--json OUT]

Everything is measured in one run on the same circuits and rows, in seconds of the processor; each time is the best of five
taken in turn (numpy on 20,000 rows at a time, which suits it; SPFlow on 2,000, of two: it loops over them in Python).
Circuits of about 100, 700 and 2000 nodes are drawn at random over ten variables, half of them numbers in twenty bins and
half of them categories: once with bins that all leaves of a variable share, as `likely` learns them, and once with bins of
their own, as SPFlow learns them. Where the paper's cases are beside the checkout, three of its circuits are measured too.
PYTHON is an interpreter that has SPFlow (tests/circuit/data/make_spflow.py says how to install it).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

import likely
from likely.circuit import Circuit, Histogram, Leaf, Node, Product, Sum, log_likelihood

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests import cases

SIZES = 100, 700, 2000
BINS = 20
NUMBERS = tuple(likely.Continuous(f"x{i}", -5, 5) for i in range(5))
CATEGORIES = tuple(likely.Categorical(f"c{i}", tuple("abcdef")) for i in range(5))
VARIABLES = NUMBERS + CATEGORIES


class Grower:
    """A random circuit of about so many nodes: sums of a few and products of two in turn, products of leaves at the end."""

    def __init__(self, seed: int, common: bool) -> None:
        self.random = np.random.default_rng(seed)
        self.common = [np.sort(self.random.normal(0, 2, BINS + 1)) if common else None for _ in VARIABLES]
        self.nodes: list[Node] = []

    def add(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def leaf(self, variable: int) -> int:
        if variable >= len(NUMBERS):
            return self.add(Histogram(variable, tuple(range(7)), tuple(self.random.dirichlet(np.ones(6)))))
        breaks = self.common[variable]
        breaks = np.sort(self.random.normal(0, 2, BINS + 1)) if breaks is None else breaks
        return self.add(Histogram(variable, tuple(breaks), tuple(self.random.dirichlet(np.ones(BINS)) / np.diff(breaks))))

    def product(self, scope: list[int], budget: float) -> int:
        if len(scope) == 1:
            return self.leaf(scope[0])
        if budget < 3 * len(scope):
            return self.add(Product(tuple(self.leaf(variable) for variable in scope)))
        order = self.random.permutation(scope).tolist()
        cut = int(self.random.integers(1, len(scope)))
        parts = order[:cut], order[cut:]
        return self.add(Product(tuple(self.sum(part, budget * len(part) / len(scope)) for part in parts)))

    def sum(self, scope: list[int], budget: float) -> int:
        if budget < 3 * len(scope):
            return self.product(scope, budget)
        count = int(self.random.integers(2, 5))
        children = tuple(self.product(scope, budget / count) for _ in range(count))
        return self.add(Sum(children, tuple(self.random.dirichlet(np.full(count, 3.0)))))


def grown(size: int, common: bool) -> Circuit:
    """The random circuit whose size is nearest to the wanted one."""
    candidates: list[list[Node]] = []
    for seed, budget in product(range(10), (size, 1.5 * size, 2 * size)):
        grower = Grower(seed, common)
        grower.sum(list(range(len(VARIABLES))), budget)
        candidates.append(grower.nodes)
    return Circuit(VARIABLES, tuple(min(candidates, key=lambda nodes: abs(len(nodes) - size))))


def circuits(count: int) -> Iterator[tuple[str, Circuit, np.ndarray]]:
    """Circuits by name, with rows to score."""
    random = np.random.default_rng(0)
    rows = np.column_stack([*random.uniform(-5, 5, (len(NUMBERS), count)), *random.integers(0, 6, (len(CATEGORIES), count))])
    for common in (True, False):
        for size in SIZES:
            yield f"random, {'common' if common else 'own'} bins", grown(size, common), rows
    for path in cases.FILES:
        if path.name.partition(".")[0] in ("credit-0", "adult-0", "gmsc-0"):
            from likely.circuit.readers.cases import from_case

            case = cases.load(path)
            circuit = from_case(case, cases.schema_of(case))
            factuals = [cases.row_of(case, factual["row"]) for factual in case["factuals"]]
            encoded = np.stack([cases.schema_of(case).encode_row(factual) for factual in factuals])
            picked = np.column_stack([column[random.integers(0, len(column), count)] for column in encoded.T])
            yield f"the paper's {path.name.partition('.')[0]}", circuit, np.column_stack([picked, random.integers(0, 2, count)])


def recursion(circuit: Circuit, rows: np.ndarray) -> np.ndarray:
    """The log-likelihood in plain numpy: every node once, for all rows together."""
    values: list[np.ndarray] = []
    for node in circuit.nodes:
        if isinstance(node, Leaf):
            values.append(_leaf(node, rows[:, node.variable], circuit.floor))
            continue
        children = np.stack([values[child] for child in node.children])
        if isinstance(node, Product):
            values.append(children.sum(axis=0))
        else:
            top = children.max(axis=0)
            values.append(np.log(np.asarray(node.weights) @ np.exp(children - top)) + top)
    return values[-1]


def _leaf(leaf: Leaf, column: np.ndarray, floor: float) -> np.ndarray:
    breaks, densities = leaf.steps
    logs = np.log(np.maximum(np.concatenate([[0.0], densities, [0.0]]), floor))
    return logs[np.searchsorted(breaks, column, side="right")]


def best_of(count: int, *works: Callable[[], Any]) -> list[float]:
    """The least seconds that each work took, all of them in turn: what else the machine does then hits them alike."""
    times = np.full((count, len(works)), np.inf)
    for i, (j, work) in product(range(count), enumerate(works)):
        start = time.process_time()
        work()
        times[i, j] = time.process_time() - start
    return times.min(axis=0).tolist()


def spflow(python: Path, circuit: Circuit, rows: np.ndarray) -> tuple[float, np.ndarray]:
    """Seconds and log-likelihoods of SPFlow, in its own interpreter."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "circuit.json").write_text(json.dumps(circuit.to_dict()["nodes"]))
        np.save(folder / "rows.npy", rows)
        subprocess.run([python, Path(__file__).with_name("spflow_worker.py"), "score", folder], check=True)
        answer = json.loads((folder / "answer.json").read_text())
    return answer["processor_seconds"], np.array(answer["log_likelihoods"])


def measure(name: str, circuit: Circuit, rows: np.ndarray, python: Path | None) -> dict[str, Any]:
    ours, few = log_likelihood(circuit, rows, n_jobs=1), rows[:20_000]
    seconds, numpy_seconds = best_of(5, lambda: log_likelihood(circuit, rows, n_jobs=1), lambda: recursion(circuit, few))
    speed, plain = len(rows) / seconds, len(few) / numpy_seconds
    result = {
        "circuit": name, "nodes": len(circuit), "edges": circuit.edges, "rows_per_second": speed,
        "numpy_rows_per_second": plain, "over_numpy": speed / plain,
        "difference": float(np.abs(ours[: len(few)] - recursion(circuit, few)).max()),
    }  # fmt: skip
    if python is not None:
        some = rows[:2000]
        spflow_seconds, theirs = spflow(python, circuit, some)
        result["spflow_rows_per_second"] = len(some) / spflow_seconds
        result["over_spflow"] = result["rows_per_second"] / result["spflow_rows_per_second"]
        result["spflow_difference"] = float(np.abs(ours[: len(some)] - theirs).max())
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--spflow", type=Path, metavar="PYTHON")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results = []
    print("rows a second on one core")
    heads = [("nodes", 6), ("edges", 6), ("likely", 11)]
    heads += [("numpy", 9), ("ratio", 7), ("SPFlow", 8), ("ratio", 7)]
    print(f"{'circuit':24}", *(f"{head:>{width}}" for head, width in heads), "  largest difference")
    for name, circuit, rows in circuits(options.rows):
        result = measure(name, circuit, rows, options.spflow)
        results.append(result)
        print(f"{name:24} {result['nodes']:6} {result['edges']:6} {result['rows_per_second']:11,.0f}", end=" ")
        for rival, width in ("numpy", 9), ("spflow", 8):
            speed, ratio = result.get(f"{rival}_rows_per_second", np.nan), result.get(f"over_{rival}", np.nan)
            print(f"{speed:{width},.0f} {ratio:6.1f}x", end=" ")
        print(f"  {max(result['difference'], result.get('spflow_difference', 0.0)):.1e}", flush=True)
    if options.json:
        options.json.write_text(json.dumps({"rows": options.rows, "results": results}, indent=1))


if __name__ == "__main__":
    main()
