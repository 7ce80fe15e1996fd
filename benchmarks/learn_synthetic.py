"""Learning a mixture whose density is known: `likely.circuit.learn` and SPFlow, against the truth.

    python benchmarks/learn_synthetic.py [--rows 10000 40000] [--spflow PYTHON] [--json OUT]

Rows are drawn from a mixture of eight products over ten columns: reals, counts, categories. Both learn from the same rows,
with their defaults (SPFlow as the paper's authors use it: slices of n / 20), and score the same 20,000 others. No density
can beat the truth on average. SPFlow's leaves are not quite densities (it smooths densities as if they were counts), so its
circuit is also scored with every leaf divided by its mass. PYTHON is an interpreter that has SPFlow
(tests/circuit/data/make_spflow.py says how to install it).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import special, stats

import likely
from likely.circuit import Circuit, Histogram, Leaf
from likely.circuit.model.measure import mass
from likely.circuit.readers.spflow import from_spflow

PARTS = 8
CATEGORIES = (2, 3, 5, 8)


@dataclass(frozen=True)
class Mixture:
    """Products of four Gaussians, a lognormal, a Poisson and four lists of categories, mixed."""

    weights: np.ndarray
    means: np.ndarray
    deviations: np.ndarray
    logs: np.ndarray
    rates: np.ndarray
    shares: tuple[np.ndarray, ...]

    @classmethod
    def drawn(cls, seed: int) -> Mixture:
        random = np.random.default_rng(seed)
        return cls(
            random.dirichlet(np.full(PARTS, 3.0)), random.normal(0, 4, (PARTS, 4)), random.uniform(0.5, 2, (PARTS, 4)),
            random.normal(0, 1, PARTS), random.uniform(0.5, 12, PARTS),
            tuple(random.dirichlet(np.full(count, 0.7), PARTS) for count in CATEGORIES),
        )  # fmt: skip

    def rows(self, count: int, seed: int) -> np.ndarray:
        random = np.random.default_rng(seed)
        part = random.choice(PARTS, count, p=self.weights)
        columns = [*random.normal(self.means[part], self.deviations[part]).T, random.lognormal(self.logs[part], 0.6)]
        columns.append(random.poisson(self.rates[part]))
        columns += [(random.random((count, 1)) > share.cumsum(axis=1)[part, :-1]).sum(axis=1) for share in self.shares]
        return np.column_stack(columns).astype(np.float64)

    def log_density(self, rows: np.ndarray) -> np.ndarray:
        logs = np.log(self.weights) + stats.norm.logpdf(rows[:, None, :4], self.means, self.deviations).sum(axis=2)
        logs += stats.lognorm.logpdf(rows[:, [4]], 0.6, scale=np.exp(self.logs))
        logs += stats.poisson.logpmf(rows[:, [5]], self.rates)
        for column, share in zip(rows[:, 6:].T.astype(int), self.shares, strict=True):
            logs += np.log(share.T[column])
        return np.asarray(special.logsumexp(logs, axis=1))


def table(rows: np.ndarray) -> pd.DataFrame:
    """The rows as a user has them."""
    frame = pd.DataFrame(rows[:, :5], columns=[f"x{i}" for i in range(5)])
    frame["count"] = rows[:, 5].astype(int)
    for i, column in enumerate(rows[:, 6:].T.astype(int)):
        frame[f"c{i}"] = np.array(list("abcdefgh"))[column]
    return frame


def schema_of(X: pd.DataFrame) -> likely.Schema:
    """Columns of text in the order of their letters, which SPFlow's numbers follow."""
    values = {f"c{i}": {"values": list("abcdefgh"[:count])} for i, count in enumerate(CATEGORIES)}
    return likely.Schema.infer(X, features={"count": {"kind": "integer"}, **values})


def ours(train: np.ndarray, test: np.ndarray) -> list[dict[str, Any]]:
    X = table(train)
    schema = schema_of(X)
    clock, processor = time.perf_counter(), time.process_time()
    circuit = likely.circuit.learn(X, None, schema, random_state=0).circuit
    times = {"seconds": time.perf_counter() - clock, "processor_seconds": time.process_time() - processor}
    return [{"learner": "likely", **times, **_scored(circuit.log_likelihood(table(test)), circuit)}]


def spflow(python: Path, train: np.ndarray, test: np.ndarray) -> list[dict[str, Any]]:
    kinds = ["REAL"] * 5 + ["DISCRETE"] + ["BINARY" if count == 2 else "DISCRETE" for count in CATEGORIES]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "train.npy", train)
        np.save(folder / "test.npy", test)
        (folder / "kinds.json").write_text(json.dumps(kinds))
        subprocess.run([python, Path(__file__).with_name("spflow_worker.py"), "learn", folder], check=True)
        answer = json.loads((folder / "answer.json").read_text())
    circuit = from_spflow(_standing_in(answer["circuit"]), schema_of(table(train)).features)
    assert np.allclose(circuit.log_likelihood(test), answer["log_likelihoods"], rtol=1e-9)
    times = {key: answer[key] for key in ("seconds", "processor_seconds")}
    even = normalised(circuit)
    return [
        {"learner": "SPFlow", **times, **_scored(np.array(answer["log_likelihoods"]), circuit)},
        {"learner": "SPFlow, leaves normalised", **times, **_scored(even.log_likelihood(test), even)},
    ]


def _scored(logs: np.ndarray, circuit: Circuit) -> dict[str, float]:
    return {"held_out": float(logs.mean()), "nodes": len(circuit), "edges": circuit.edges}


def _standing_in(items: list[dict[str, Any]]) -> Any:
    """Objects of SPFlow's shape, which is all that the reader asks for."""
    nodes: list[Any] = []
    for item in items:
        node = type(item["kind"].title(), (), {})()
        vars(node).update({key: value for key, value in item.items() if key != "kind"})
        node.children = [nodes[child] for child in item.get("children", [])]
        node.scope = [item["variable"]] if "variable" in item else []
        nodes.append(node)
    return nodes[-1]


def normalised(circuit: Circuit) -> Circuit:
    """The circuit with every histogram divided by its mass."""

    def scaled(leaf: Leaf) -> Leaf:
        total = mass(leaf, circuit.variables[leaf.variable])
        assert isinstance(leaf, Histogram)
        return replace(leaf, densities=tuple(density / total for density in leaf.densities))

    return replace(circuit, nodes=tuple(scaled(node) if isinstance(node, Leaf) else node for node in circuit.nodes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 40_000])
    parser.add_argument("--spflow", type=Path, metavar="PYTHON")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    mixture = Mixture.drawn(0)
    test = mixture.rows(20_000, 2)
    truth = float(mixture.log_density(test).mean())
    results: list[dict[str, Any]] = []
    print(f"mean log-likelihood of held-out rows; the truth has {truth:.3f}")
    heads = ("held out", 9), ("to truth", 9), ("nodes", 6), ("edges", 6), ("seconds", 8), ("processor", 9)
    print(f"{'rows':>6} {'learner':26}", *(f"{head:>{width}}" for head, width in heads))
    for count in options.rows:
        train = mixture.rows(count, 1)
        for result in ours(train, test) + (spflow(options.spflow, train, test) if options.spflow else []):
            results.append({"rows": count, **result})
            print(f"{count:6} {result['learner']:26} {result['held_out']:9.3f} {truth - result['held_out']:9.3f}", end=" ")
            print(
                f"{result['nodes']:6} {result['edges']:6} {result['seconds']:8.1f} {result['processor_seconds']:9.1f}", flush=True
            )
    if options.json:
        options.json.write_text(json.dumps({"truth": truth, "results": results}, indent=1))


if __name__ == "__main__":
    main()
