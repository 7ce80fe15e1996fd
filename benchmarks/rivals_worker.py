"""What the benchmarks ask of treecf, dtai-veritas and OCEAN, run by an interpreter that has some of them.

    python rivals_worker.py FOLDER/question.json

`pip install treecf dtai-veritas`; OCEAN needs Python 3.12: `pip install oceanpy` there.
The question is what `rivals.py` writes; the answer is answer.json in the same folder: per rival that is wanted and can be
imported, and per query, status, cost and seconds.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

os.environ["RAYON_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

#: What talks to treecf and OCEAN for the benchmark of methods, too.
ADAPTERS = Path(__file__).parents[1] / "src" / "likely" / "bench" / "workers"


def treecf_answers(question: dict[str, Any]) -> list[dict[str, Any]]:
    """treecf's exact backend, with our cost as its distance."""
    sys.path.insert(0, str(ADAPTERS))
    import with_treecf
    from treecf import Target

    columns = question["columns"]
    ends = ([column[end] for column in columns] for end in ("low", "high"))
    explainer = with_treecf.explainer_of(with_treecf.fit(question), *ends)
    least = question["least"]
    targets = {True: Target.raw(op=">=", value=least), False: Target.raw(op="<=", value=-least)}

    def explain(query: dict[str, Any]) -> Any:
        return explainer.explain(
            np.array(query["row"]), targets[query["up"]], backend="exact", time_budget_s=question["limit"], seed=0,
            node_budget=2**60,
        )  # fmt: skip

    explain(question["queries"][0])  # what it prepares once per model
    answers = []
    for query in question["queries"]:
        times, answer = timed(lambda query=query: explain(query))
        row = getattr(answer, "x_cf", None)
        proved = answer.proof in ("optimal", "certified")
        cost = None if row is None else cost_of(columns, query["row"], row)
        bound = answer.solver_stats.get("lower_bound")
        answers.append({
            **times,
            "status": ("feasible", "optimal")[proved] if row is not None else ("unknown", "infeasible")[proved],
            "upper": cost,
            "lower": float(bound) if bound is not None and math.isfinite(bound) else None,
            "search_nodes": answer.solver_stats.get("nodes_expanded", 0),
        })  # fmt: skip
    return answers


def veritas_answers(question: dict[str, Any]) -> list[dict[str, Any]]:
    """veritas' search for the nearest adversarial row, near as its largest weighted change: nothing else is on offer.

    It knows no whole numbers and no one-hot columns; with the latter, its rows would be none of the table's.
    """
    from veritas import AddTree, AddTreeType, Interval, VeritasRobustnessSearch

    columns = question["columns"]
    if any(column["group"] is not None for column in columns):
        return []
    forest = AddTree(1, AddTreeType.REGR)
    for nodes in question["trees"]:
        _veritas_tree(forest, nodes)
    weights = np.array([column["weight"] for column in columns])
    low, high = (np.array([column[end] for column in columns]) for end in ("low", "high"))
    widest = float(np.max(weights * (high - low)))

    class Weighted(VeritasRobustnessSearch):
        def get_search(self, delta: float) -> Any:
            box = [
                Interval(max(a, x - delta / w), math.nextafter(min(b, x + delta / w), math.inf))
                for x, w, a, b in zip(self.example, weights, low, high, strict=True)
            ]
            return _config(self.mem_capacity).get_search(self.at, box)

        def _calc_example_delta(self, generated_example: Any) -> float:
            return float(np.max(weights * np.abs(np.array(generated_example) - self.example)))

    answers = []
    for query in question["queries"]:
        turned = forest.copy() if query["up"] else forest.negate_leaf_values()
        turned.set_base_score(0, (1 if query["up"] else -1) * question["base"] - question["least"])

        def search(turned: Any = turned, query: Any = query) -> Any:
            made = Weighted(
                np.array(query["row"]), math.inf, None, turned, num_steps=40, max_time=question["limit"], silent=True,
                stop_condition=close, search_guard=1e-9,
            )  # fmt: skip
            made.start_delta = widest
            return made, made.search()

        times, (made, (_, lower, upper)) = timed(search)
        rows = made.generated_examples
        cost = min((cost_of(columns, query["row"], row) for row in rows), default=None)
        answers.append({**times, "status": "optimal" if close(lower, upper) else "feasible", "upper": cost, "lower": lower})
    return answers


def ocean_answers(question: dict[str, Any]) -> list[dict[str, Any]]:
    """OCEAN's constraint programme, with our cost as its distance."""
    sys.path.insert(0, str(ADAPTERS))
    import with_ocean

    columns = question["columns"]
    fitted = with_ocean.fit(question)
    ends = {end: [column[end] for column in columns] for end in ("low", "high")}
    answers = []
    for query in question["queries"]:
        asked = {"row": query["row"], **ends, "target": int(query["up"]), "seconds": question["limit"]}
        times, reply = timed(lambda asked=asked: with_ocean.generate(fitted, asked))
        status = ("feasible", "optimal") if reply["rows"] else ("unknown", "infeasible")
        answers.append({
            **times,
            "status": status[reply["proved"]],
            "upper": cost_of(columns, query["row"], reply["rows"][0]) if reply["rows"] else None,
            "lower": reply["bound"],
            "search_nodes": reply["nodes"],
        })  # fmt: skip
    return answers


def close(lower: float, upper: float) -> bool:
    """Whether veritas' interval is small enough to be called an answer."""
    return upper - lower <= 1e-4 * upper


def _config(memory: int) -> Any:
    from veritas import Config, HeuristicType

    config = Config(HeuristicType.MAX_OUTPUT)
    config.stop_when_optimal = True
    config.ignore_state_when_worse_than = 0.0
    config.stop_when_num_solutions_exceeds = 1
    config.max_focal_size = 1000
    config.focal_eps = 0.2
    config.max_memory = memory
    return config


def _veritas_tree(forest: Any, nodes: list[Any]) -> None:
    tree = forest.add_tree()

    def grow(place: int, at: int) -> None:
        node = nodes[place]
        if len(node) == 1:
            tree.set_leaf_value(at, 0, node[0])
            return
        column, threshold, strict, left, right = node
        tree.split(at, column, threshold if strict else math.nextafter(threshold, math.inf))
        grow(left, tree.left(at))
        grow(right, tree.right(at))

    grow(0, tree.root())


def timed(work: Any) -> tuple[dict[str, float], Any]:
    clock, processor = time.perf_counter(), time.process_time()
    result = work()
    return {"seconds": time.perf_counter() - clock, "processor_seconds": time.process_time() - processor}, result


def cost_of(columns: list[dict[str, Any]], before: list[float], after: Any) -> float:
    return float(sum(column["weight"] * abs(a - b) for column, a, b in zip(columns, before, after, strict=True)))


def main() -> None:
    path = Path(sys.argv[1])
    question = json.loads(path.read_text(encoding="utf-8"))
    answers = {}
    asks = {"treecf": treecf_answers, "veritas": veritas_answers, "ocean": ocean_answers}
    for name, ask in asks.items():
        if name not in question["wanted"]:
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                rows = ask(question)
        except ImportError:
            continue
        if rows:
            answers[name] = rows
    path.with_name("answer.json").write_text(json.dumps(answers), encoding="utf-8")


if __name__ == "__main__":
    main()
