"""How well a learned circuit knows the Bayesian network that its rows were sampled from: the paper's table of fit.

The protocol is the paper's: 10,000 rows to learn from, 1,000 more to compare log-likelihood and true log-probability on.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from likely._display.progress import progress_bar
from likely._files import replacing
from likely.bench.networks import SIZES, Network, read_network
from likely.bench.paper import figure
from likely.bench.tables import Table
from likely.circuit import Circuit, learn, log_likelihood
from likely.schema.values import Numbers

TRAIN, TEST, ESTIMATE = 10_000, 1_000, 20_000
MEASURES = ("pearson", "kendall", "spearman", "variation")
#: From rows, their network and a seed to a circuit.
Learner = Callable[[Any, Network, int], Circuit]


def learned_by(method: Any = "auto") -> Learner:
    """What a user gets from `likely.circuit.learn`.

    Args:
        method: One of its methods.
    """

    def learner(rows: Any, network: Network, seed: int) -> Circuit:
        table = pd.DataFrame(rows, columns=list(network.names))
        return learn(table, None, network.schema, method=method, random_state=seed, progress=False).circuit

    return learner


def variation(network: Network, circuit: Circuit, random: np.random.Generator) -> tuple[float, bool]:
    """The total variation between a network and a circuit, and whether it is exact.

    Where there are too many rows to sum over, it is estimated on rows of the network: TV(p, q) = E_p max(0, 1 - q / p).

    Args:
        network: What rows were sampled from.
        circuit: What was learned.
        random: Where chance comes from.
    """
    rows = network.all_rows()
    if rows is not None:
        p, q = np.exp(network.log_probability(rows)), np.exp(log_likelihood(circuit, rows.astype(np.float64)))
        return float(np.abs(p - q).sum() / 2), True
    rows = network.sample(ESTIMATE, random)
    ratio = np.exp(np.minimum(log_likelihood(circuit, rows.astype(np.float64)) - network.log_probability(rows), 0.0))
    return float(1 - ratio.mean()), False


@dataclass(frozen=True, eq=False)
class Fit:
    """What a circuit says of new rows, beside the truth."""

    network: str
    #: Of each new row: the true log-probability, and the circuit's log-likelihood.
    true: Numbers
    logs: Numbers
    #: Numbers by name; those of `MEASURES` are among them.
    measures: dict[str, Any]


def fitted(name: str, network: Network, learner: Learner, seed: int) -> Fit:
    """One circuit: drawn for, learned, compared.

    Args:
        name: Of the network.
        network: What rows are sampled from.
        learner: What makes a circuit.
        seed: Of the sample and of learning.
    """
    from scipy import stats

    random = np.random.default_rng(seed)
    train, test = network.sample(TRAIN, random), network.sample(TEST, random)
    start = time.perf_counter()
    circuit = learner(train, network, seed)
    seconds = time.perf_counter() - start
    true, logs = network.log_probability(test), log_likelihood(circuit, test.astype(np.float64))
    distance, exact = variation(network, circuit, random)
    measures = {
        "seed": seed,
        "pearson": float(stats.pearsonr(true, logs)[0]),
        "kendall": float(stats.kendalltau(true, logs)[0]),
        "spearman": float(stats.spearmanr(true, logs)[0]),
        "variation": distance,
        "exact": exact,
        "log_likelihood": float(logs.mean()),
        "true_log_likelihood": float(true.mean()),
        "nodes": len(circuit),
        "seconds": seconds,
    }
    return Fit(name, true, logs, measures)


def best_fits(
    names: Sequence[str] = tuple(SIZES), seeds: int = 5, *, cache: str | Path | None = None, progress: bool = True
) -> list[Fit]:
    """Of several circuits per network the best by Pearson's coefficient, as in the paper.

    Args:
        names: Of the networks.
        seeds: How many circuits per network.
        cache: A folder in which what was computed is kept for later sittings; it may be deleted.
        progress: Whether to show a bar.
    """
    found = []
    with progress_bar(progress, "Fitting") as move:
        for place, name in enumerate(names):
            made = []
            for seed in range(seeds):
                move((place + seed / seeds) / len(names), name)
                made.append(_kept_fit(name, seed, None if cache is None else Path(cache)))
            best = max(made, key=lambda fit: float(fit.measures["pearson"]))
            found.append(replace(best, measures={**best.measures, "of": seeds}))
    return found


def _kept_fit(name: str, seed: int, cache: Path | None) -> Fit:
    """One circuit, as it is kept, or learned now."""
    file = None if cache is None else cache / f"fit-{name}-{seed}.pickle"
    if file is not None and file.exists():
        kept: Fit = pickle.loads(file.read_bytes())
        return kept
    made = fitted(name, read_network(name), learned_by(), seed)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as out:
            out.write(pickle.dumps(made))
    return made


def fit_table(fits: Sequence[Fit]) -> Table:
    """The paper's table of fit, with its numbers beside ours.

    Args:
        fits: One per network.
    """
    lines = [(fit.network, *(cell for measure in MEASURES for cell in _cells(fit, measure))) for fit in fits]
    head = ("network", *(text for measure in MEASURES for text in (measure, f"{measure}, paper")))
    circuits = " or ".join(sorted({str(fit.measures.get("of", 1)) for fit in fits}))
    caption = (
        f"Circuit and true log-probability on {TEST:,} new rows; by Pearson the best of {circuits} (the paper: 5) circuits per "
        "network. ~: an estimate."
    )
    return Table("fit", "How well circuits know Bayesian networks", head, tuple(lines), caption)


def _cells(fit: Fit, measure: str) -> tuple[str, str]:
    known = figure("fit", fit.network, "LearnSPN", measure)
    about = "~" if measure == "variation" and not fit.measures["exact"] else ""
    return f"{about}{fit.measures[measure]:.3f}", "\N{EN DASH}" if known is None else f"{known.mean:.3f}"
