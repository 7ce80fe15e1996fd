"""How well a learned circuit knows the distribution it was sampled from: the paper's eight Bayesian networks.

    python benchmarks/bayesian_networks.py [--seeds 5] [--networks asia sachs] [--learners learnspn auto] [--wheel WHEEL]
                                           [--json OUT]

The paper's protocol: draw 10,000 rows from a network, learn a circuit, draw 1,000 more, and compare what the circuit says of
them with their true log-probability - by the correlation coefficients of Pearson, Kendall (tau-b) and Spearman, and by the
total variation between the two distributions. The paper reports the best of five circuits; so the best of five (by Pearson)
stands below it here, and the mean of all five beside it. Where there are too many rows to sum over, the total variation is
estimated on 20,000 rows of the network: TV(p, q) = E_p max(0, 1 - q / p), since both sum to 1. `learnspn` is the paper's
learner, `auto` is what a user gets.

The networks are text files in the wheel of pgmpy 1.1.2 (sprinkler is written down in `likely.bench.networks`). They are read
from an installed pgmpy, from --wheel, or from a wheel that pip downloads; pgmpy itself is not imported.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import likely
from likely.bench.fit import MEASURES, TEST, TRAIN, fitted, learned_by
from likely.bench.networks import MODELS, SIZES, Network, read_network
from likely.bench.paper import figure
from likely.circuit import Categories, Circuit, Product

# -- networks ---------------------------------------------------------------------------------------------------------


def read_networks(names: list[str], wheel: Path | None) -> dict[str, Network]:
    """The networks by name: from an installed pgmpy, or from a wheel, which pip downloads if there is neither."""
    if wheel is None and find_spec("pgmpy") is None and set(names) - {"sprinkler"}:
        folder = Path(tempfile.mkdtemp())
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "pgmpy==1.1.2", "-d", str(folder)], check=True
        )
        wheel = next(folder.glob("*.whl"))
    archive = None if wheel is None else zipfile.ZipFile(wheel)
    open_model = None if archive is None else (lambda name: archive.read((MODELS / name).as_posix()))
    return {name: read_network(name, open_model) for name in names}


# -- learners ---------------------------------------------------------------------------------------------------------


def independent(rows: np.ndarray, network: Network, seed: int) -> Circuit:
    """The product of the variables' shares: what a circuit has to beat."""
    counts = [np.bincount(rows[:, j], minlength=len(v.states)) + 1.0 for j, v in enumerate(network.variables)]
    leaves = [Categories(j, tuple(count / count.sum())) for j, count in enumerate(counts)]
    return Circuit(network.schema.features, (*leaves, Product(tuple(range(len(leaves))))))


LEARNERS = {"independent": independent, **{method: learned_by(method) for method in ("learnspn", "mixture", "tree", "auto")}}


# -- measuring --------------------------------------------------------------------------------------------------------


def paper_of(name: str) -> tuple[float | None, ...]:
    """The paper's Table "Evaluation of the fit": best of five circuits."""
    known = [figure("fit", name, "LearnSPN", measure) for measure in MEASURES]
    return tuple(None if one is None else round(one.mean, 4) for one in known)


HEAD = (
    f"{'':22}" + "".join(f"{measure:>16}" for measure in MEASURES) + f"{'log-likelihood':>20}{'nodes':>8}{'seconds':>9}\n"
    f"{'':22}" + f"{'best':>9}{'mean':>7}" * len(MEASURES) + f"{'mean':>11}{'true':>9}{'best':>8}{'mean':>9}"
)


def paper_line(name: str) -> str:
    """What the paper reports of a network."""
    cells = "".join(f"{'-' if value is None else format(value, '.3f'):>8}{'':8}" for value in paper_of(name))
    return f"{name:11}{'paper':11}{cells}"


def line(name: str, learner: str, runs: list[dict[str, Any]]) -> str:
    """A learner's best circuit (by Pearson) and the mean of all; "~": an estimate, "+": no worse than the paper's."""
    best = max(runs, key=lambda run: run["pearson"])
    mean = {key: np.mean([run[key] for run in runs]) for key in runs[0]}
    cells = ""
    for key, paper in zip(MEASURES, paper_of(name), strict=True):
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
            results[name][learner] = [fitted(name, network, LEARNERS[learner], seed).measures for seed in range(options.seeds)]
            print(line(name, learner, results[name][learner]), flush=True)
    machine = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "likely": likely.__version__,
        "machine": platform.machine(),
    }
    settings = {"train": TRAIN, "test": TEST, "seeds": options.seeds}
    paper = {name: dict(zip(MEASURES, paper_of(name), strict=True)) for name in results}
    text = json.dumps({**machine, **settings, "paper": paper, "results": results}, indent=1)
    options.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
