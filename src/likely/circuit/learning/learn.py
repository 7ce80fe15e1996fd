"""`learn`: from a table to a circuit of how likely its rows are."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from likely._display.progress import Move, progress_bar
from likely._jobs import thread_count
from likely.circuit.learning import blocks_selection, grow
from likely.circuit.learning.bins import FINEST, Bins, bins_of
from likely.circuit.learning.cross_fitting import Fold, cross_fitted
from likely.circuit.learning.learnspn import learn_structure, one_blas_thread
from likely.circuit.learning.outcomes import Learner, Method, Outcome, nowhere, part
from likely.circuit.learning.table import Table, table_of
from likely.circuit.model.blocks import GaussianBlock
from likely.circuit.model.circuit import Circuit
from likely.circuit.model.nodes import Leaf, Node
from likely.circuit.model.tolerances import FLOOR
from likely.errors import CircuitError, LikelyWarning
from likely.schema import Schema
from likely.schema.values import Numbers

#: What there is to choose from, where it suits the table.
METHODS: tuple[Method, ...] = ("mixture", "tree", "blocks")
#: "auto" considers blocks if so many columns may join one, and this share of all: in a table that is mostly discrete there is
#: little that they could tell, and a circuit without them is quicker to search.
FEWEST_IN_BLOCK, SHARE_IN_BLOCK = 2, 0.25


@dataclass(frozen=True)
class Learned:
    """A learned circuit, and how it was learned."""

    circuit: Circuit
    #: Mean log-likelihood (nats per row) of the rows learned from.
    train: float
    #: The same of held-out rows under a circuit that had not seen them; NaN if none were held out.
    validation: float
    rows: int
    seconds: float
    method: str
    #: What was chosen on held-out rows.
    settings: dict[str, float] = field(default_factory=dict)
    #: Whether Ctrl-C ended it early.
    interrupted: bool = False
    #: Circuits that were learned alike from parts of the rows, and the rows that each has not seen; empty if not asked for.
    folds: tuple[Fold, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        held_out = "" if math.isnan(self.validation) else f", {self.validation:.3f} held out"
        chosen = ", ".join(f"{key} {value:g}" for key, value in self.settings.items())
        return (
            f"{self.circuit!r}\n"
            f"mean log-likelihood per row: {self.train:.3f} in training{held_out}\n"
            f"learned from {self.rows} rows in {self.seconds:.1f} s by {self.method} ({chosen})"
        )


def learn(
    X: pd.DataFrame | Numbers,
    y: Any = None,
    schema: Schema | None = None,
    *,
    method: Literal["auto", "histograms", "mixture", "tree", "blocks", "learnspn"] = "auto",
    nodes: int | None = None,
    min_slice: float = 1 / 20,
    threshold: float = 0.3,
    finest: float = FINEST,
    weights: Any = None,
    random_state: int = 0,
    floor: float | None = None,
    cross_fit: bool = False,
    progress: bool = True,
    n_jobs: int | None = None,
) -> Learned:
    """A circuit of the rows of a table and, if `y` is given, of their classes.

    Of many rows a sample says what the circuit is made of: its method, size, shared leaves and warps are chosen on some ten
    thousand rows, and nearly all rounds of learning run on some hundred thousand; the last ones run on all, so that every number
    of the circuit is learned from all rows. Ctrl-C ends a mixture or a tree early, with what it has.

    Args:
        X: The table, or rows that the schema has encoded; unknown cells (NaN) are summed over.
        y: The classes of its rows: the last variable of the circuit.
        schema: What the columns are; inferred if left out, with room for numbers beyond those of the table. All of the
            circuit's mass lies within the bounds of the features.
        method: "mixture" (`learning.mixture`: small and likely for any table), "tree" (`learning.grow`: for discrete
            tables, where each variable has at most 32 bins), "histograms" (a tree, if the table is discrete and the tree is
            better on held-out rows, else a mixture), "blocks" (`learning.outcomes`: for tables with reals; whichever is best on
            held-out rows of a mixture of warped Gaussians of the columns of numbers, `learning.blocks`, of histograms, and of a
            mixture of both), "learnspn" (`learning.learnspn`: the paper's learner), or "auto": as "blocks", if a quarter of the
            columns or more, and two at least, may join a block; else as "histograms".
        nodes: The most nodes of a mixture or tree, which has at least a leaf per variable; a block counts as many as it has
            parameters. Left out, a few sizes are tried, and the smallest is taken that is not worse on held-out rows
            (`learning.model_selection`).
        min_slice: For "learnspn": the share of the rows below which a slice is not divided.
        threshold: For "learnspn": columns are held for independent if their coefficient is at most this.
        finest: The width of the narrowest bins of numbers, as a share of their range (`learning.bins`).
        weights: How many rows each row counts for; 1 each if left out.
        random_state: The same circuit for the same number.
        floor: The circuit's; left out, it is `FLOOR`, or less if a density that was learned is.
        cross_fit: Whether to learn from parts of the rows too, with what was chosen, so that it is known how likely rows are
            that a circuit has not seen (`learning.cross_fitting`).
        progress: Whether to show a bar on a terminal or in a notebook, and in a log a line every half a minute.
        n_jobs: Threads to work on; None or -1 for one per core. The same circuit on any number.

    Returns:
        The circuit, its mean log-likelihood in training and on held-out rows, what was chosen, and the folds.

    Raises:
        CircuitError: If the table has no rows, the classes or weights do not fit it, or a setting makes no sense.
        SchemaError: If the table does not fit the schema.
    """
    started = time.perf_counter()
    threads = thread_count(n_jobs, CircuitError)
    _check_settings(method, nodes, weights, min_slice, finest)
    table = table_of(X, y, schema, weights)
    with progress_bar(progress, "Learning") as move, one_blas_thread():
        first = part(move, 0.0, 0.5 if cross_fit else 1.0)
        if method == "learnspn":
            outcome = _learnspn(table, min_slice, threshold, finest, random_state, first)
        else:
            learner = Learner(finest, random_state, threads)
            binned = learner.binned(table)
            outcome = learner.chosen(table, binned, _methods(method, binned.bins, table), nodes, first)
        folds = _folds(table, outcome, floor, random_state, part(move, 0.5, 1.0)) if cross_fit else ()
    if outcome.interrupted:
        warnings.warn("Learning was interrupted; the circuit is what was learned until then.", LikelyWarning, stacklevel=2)
    return _learned(table, outcome, folds, floor, threads, started)


def _learned(
    table: Table, outcome: Outcome, folds: tuple[Fold, ...], floor: float | None, threads: int, started: float
) -> Learned:
    """The circuit, and what there is to say of it."""
    circuit = _circuit(table, outcome.nodes, floor)
    train = float(np.average(circuit.log_likelihood(table.rows, n_jobs=threads), weights=table.weights))
    seconds, count = time.perf_counter() - started, len(table.rows)
    return Learned(
        circuit, train, outcome.validation, count, seconds, outcome.method, outcome.settings, outcome.interrupted, folds
    )


def _folds(table: Table, outcome: Outcome, floor: float | None, random_state: int, move: Move) -> tuple[Fold, ...]:
    """Circuits of parts of the rows, learned with what was chosen; none if choosing was interrupted."""

    def again(part: Table) -> Circuit | None:
        alike = outcome.again(part)
        return None if alike.interrupted else _circuit(part, alike.nodes, floor)

    return () if outcome.interrupted else cross_fitted(table, again, random_state, move)


def _circuit(table: Table, nodes: tuple[Node, ...], floor: float | None) -> Circuit:
    return Circuit(table.features, nodes, table.target, _floor(nodes) if floor is None else floor)


def _methods(method: str, bins: Sequence[Bins], table: Table) -> tuple[Method, ...]:
    """The methods to choose from."""
    inside, least = len(blocks_selection.suits(table)), max(FEWEST_IN_BLOCK, SHARE_IN_BLOCK * len(table.features))
    suits = {"mixture": True, "tree": grow.suits(bins), "blocks": inside >= (1 if method == "blocks" else least)}
    if method == "tree" and not suits["tree"]:
        widest = max(bins, key=len)
        rule = f"have at most {grow.MOST_BINS} bins, and all together {grow.MOST_BINS_IN_ALL}"
        got = f"{len(widest)}, and {sum(map(len, bins))}"
        raise CircuitError("A feature to learn a tree of", rule, got, "use method='mixture'", feature=widest.feature.name)
    if method == "blocks" and not suits["blocks"]:
        rule = f"have a column of numbers with {blocks_selection.FEWEST_VALUES} values, none of them in most rows"
        raise CircuitError("A table to learn blocks of", rule, "none", "use method='auto'")
    suits["blocks"] &= method in ("auto", "blocks")
    return tuple(each for each in METHODS if (suits[each] if method in ("auto", "histograms", "blocks") else each == method))


def _learnspn(table: Table, min_slice: float, threshold: float, finest: float, random_state: int, move: Move) -> Outcome:
    """The paper's learner: nothing is chosen."""
    least = max(1, round(min_slice * len(table.rows)))
    made = learn_structure(
        table.rows,
        table.variables,
        bins_of(table.rows, table.variables, finest),
        min_rows=least,
        threshold=threshold,
        random_state=random_state,
        progress=lambda done: move(done, "dividing rows and columns"),
    )
    settings = {"smallest slice": float(least), "threshold": threshold}
    return Outcome(
        made,
        "learnspn",
        math.nan,
        settings,
        lambda other: _learnspn(other, min_slice, threshold, finest, random_state, nowhere),
    )


def _floor(nodes: tuple[Node, ...]) -> float:
    """The usual floor, or less than the least density: of a number in the trillions, every density per unit is tiny."""
    leaves = [node.steps[1] for node in nodes if isinstance(node, Leaf)]
    warps = {warp for node in nodes if isinstance(node, GaussianBlock) for warp in node.warps}
    slopes = [warp.slopes * FLOOR for warp in warps]
    densities = np.concatenate([*leaves, *slopes])
    return min(FLOOR, float(densities[densities > 0].min()) / 2)


def _check_settings(method: str, nodes: Any, weights: Any, min_slice: float, finest: float) -> None:
    if method not in ("auto", "histograms", "mixture", "tree", "blocks", "learnspn"):
        known = "be 'auto', 'histograms', 'mixture', 'tree', 'blocks' or 'learnspn'"
        raise CircuitError("method", known, repr(method), "'auto' is the default")
    if nodes is not None and not (isinstance(nodes, (int, np.integer)) and nodes >= 1):
        raise CircuitError("nodes", "be a whole number of at least 1", repr(nodes), "leave it out")
    for name, value in (("nodes", nodes), ("weights", weights)):
        if method == "learnspn" and value is not None:
            raise CircuitError(name, "be left out for 'learnspn'", "some", "use method='mixture'")
    for name, share in (("min_slice", min_slice), ("finest", finest)):
        if not 0 < share <= 1:
            raise CircuitError(name, "be a share between 0 and 1", share, "leave it out")
