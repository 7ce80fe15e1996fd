"""What the benchmarks ask of SPFlow, run by the interpreter that has it (see tests/circuit/data/make_spflow.py).

    python spflow_worker.py score FOLDER    circuit.json, rows.npy -> seconds, log-likelihoods
    python spflow_worker.py learn FOLDER    train.npy, test.npy, kinds.json -> seconds, log-likelihoods, the circuit

The answer is answer.json in the same folder.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # with more, its learning is several times slower

import numpy as np
from spn.algorithms.Inference import log_likelihood
from spn.algorithms.LearningWrappers import learn_mspn
from spn.structure.Base import Context, Product, Sum, assign_ids, get_topological_order, rebuild_scopes_bottom_up
from spn.structure.leaves.histogram.Histograms import Histogram
from spn.structure.leaves.histogram.Inference import add_histogram_inference_support
from spn.structure.StatisticalTypes import MetaType


def timed(work: Callable[[], Any]) -> tuple[dict[str, float], Any]:
    """Seconds on the clock and of the processor, and what came of them."""
    clock, processor = time.perf_counter(), time.process_time()
    result = work()
    return {"seconds": time.perf_counter() - clock, "processor_seconds": time.process_time() - processor}, result


def built(nodes: list[dict[str, Any]]) -> Any:
    """SPFlow's circuit of sums, products and histograms, children before parents."""
    circuit_nodes: list[Any] = []
    for item in nodes:
        if item["kind"] == "histogram":
            points = item["breaks"][:-1]
            circuit_nodes.append(Histogram(item["breaks"], item["densities"], points, scope=item["variable"]))
            continue
        children = [circuit_nodes[child] for child in item["children"]]
        circuit_nodes.append(Sum(item["weights"], children) if item["kind"] == "sum" else Product(children))
    return rebuild_scopes_bottom_up(assign_ids(circuit_nodes[-1]))


def dumped(root: Any) -> list[dict[str, Any]]:
    """The inverse of `built`."""
    nodes = get_topological_order(root)
    place = {node: i for i, node in enumerate(nodes)}
    items: list[dict[str, Any]] = []
    for node in nodes:
        if isinstance(node, Histogram):
            breaks, densities = (np.asarray(values).tolist() for values in (node.breaks, node.densities))
            items.append({"kind": "histogram", "variable": node.scope[0], "breaks": breaks, "densities": densities})
            continue
        children = [place[child] for child in node.children]
        weights = {"weights": np.asarray(node.weights).tolist()} if isinstance(node, Sum) else {}
        items.append({"kind": type(node).__name__.lower(), "children": children, **weights})
    return items


def score(folder: Path) -> dict[str, Any]:
    root = built(json.loads((folder / "circuit.json").read_text()))
    rows = np.load(folder / "rows.npy")
    runs = [timed(lambda: log_likelihood(root, rows)[:, 0]) for _ in range(2)]
    best = min((times for times, _ in runs), key=lambda times: times["processor_seconds"])
    return {**best, "log_likelihoods": runs[0][1].tolist()}


def learn(folder: Path) -> dict[str, Any]:
    """As the paper's authors learn: independence by the randomised dependence coefficient, k-means, histograms, n / 20."""
    train, test = np.load(folder / "train.npy"), np.load(folder / "test.npy")
    types = [MetaType[kind] for kind in json.loads((folder / "kinds.json").read_text())]
    context = Context(meta_types=types).add_domains(train)
    times, root = timed(lambda: learn_mspn(train, context, min_instances_slice=len(train) // 20, cpus=1))
    return {**times, "log_likelihoods": log_likelihood(root, test)[:, 0].tolist(), "circuit": dumped(root)}


if __name__ == "__main__":
    add_histogram_inference_support()
    where = Path(sys.argv[2])
    (where / "answer.json").write_text(json.dumps({"score": score, "learn": learn}[sys.argv[1]](where)))
