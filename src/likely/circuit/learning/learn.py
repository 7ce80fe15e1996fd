"""`learn`: from a table to a circuit of how likely its rows are."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from likely._display.progress import Move, progress_bar
from likely._jobs import thread_count
from likely.circuit.learning import blocks_selection, grow, mixture, model_selection
from likely.circuit.learning.binned import Binned
from likely.circuit.learning.bins import FINEST, Bins, bins_of
from likely.circuit.learning.blocks_selection import BlockChoice
from likely.circuit.learning.cross_fitting import Fold, cross_fitted
from likely.circuit.learning.grow import Grown
from likely.circuit.learning.learnspn import learn_structure, one_blas_thread
from likely.circuit.learning.splits import copies
from likely.circuit.learning.table import Table, table_of
from likely.circuit.model.blocks import GaussianBlock
from likely.circuit.model.circuit import Circuit
from likely.circuit.model.nodes import Leaf, Node
from likely.circuit.model.tolerances import FLOOR
from likely.errors import CircuitError, LikelyWarning
from likely.schema import Schema
from likely.schema.values import Numbers

Method: TypeAlias = Literal["mixture", "tree", "blocks"]
#: What "auto" chooses from, where it suits the table. Add "blocks" when the engines can bound them.
AUTO: tuple[Method, ...] = ("mixture", "tree")


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
    method: Literal["auto", "mixture", "tree", "blocks", "learnspn"] = "auto",
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

    Ctrl-C ends a mixture or a tree early, with what it has.

    Args:
        X: The table, or rows that the schema has encoded; unknown cells (NaN) are summed over.
        y: The classes of its rows: the last variable of the circuit.
        schema: What the columns are; inferred if left out, with room for numbers beyond those of the table. All of the
            circuit's mass lies within the bounds of the features.
        method: "mixture" (`learning.mixture`: small and likely for any table), "tree" (`learning.grow`: for discrete
            tables, where each variable has at most 32 bins), "blocks" (`learning.blocks`: for tables of reals; mixtures whose
            components are warped Gaussians of the columns of numbers), "learnspn" (`learning.learnspn`: the paper's learner),
            or "auto": a tree, if the table is discrete and the tree is better on held-out rows, else a mixture.
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
        progress: Whether to show a bar on a terminal or in a notebook.
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
        first = _part(move, 0.0, 0.5 if cross_fit else 1.0)
        if method == "learnspn":
            outcome = _learnspn(table, min_slice, threshold, finest, random_state, first)
        else:
            outcome = _chosen(table, method, nodes, finest, random_state, threads, first)

        def again(part: Table) -> Circuit | None:
            alike = outcome.again(part)
            return None if alike.interrupted else _circuit(part, alike.nodes, floor)

        folds: tuple[Fold, ...] = ()
        if cross_fit and not outcome.interrupted:
            folds = cross_fitted(table, again, random_state, _part(move, 0.5, 1.0))
    if outcome.interrupted:
        warnings.warn("Learning was interrupted; the circuit is what was learned until then.", LikelyWarning, stacklevel=2)
    circuit = _circuit(table, outcome.nodes, floor)
    train = float(np.average(circuit.log_likelihood(table.rows, n_jobs=threads), weights=table.weights))
    seconds, count = time.perf_counter() - started, len(table.rows)
    return Learned(
        circuit, train, outcome.validation, count, seconds, outcome.method, outcome.settings, outcome.interrupted, folds
    )


def _part(move: Move, low: float, high: float) -> Move:
    """Moves a bar through a part of it."""
    return lambda done, what: move(low + (high - low) * done, what)


def _nowhere(done: float, what: str) -> None:
    """Moves no bar."""


def _circuit(table: Table, nodes: tuple[Node, ...], floor: float | None) -> Circuit:
    return Circuit(table.features, nodes, table.target, _floor(nodes) if floor is None else floor)


@dataclass(frozen=True)
class _Outcome:
    """What a method learned, and how it learns another table with the settings that were chosen."""

    nodes: tuple[Node, ...]
    method: str
    validation: float
    settings: dict[str, float]
    again: Callable[[Table], _Outcome]
    interrupted: bool = False


def _chosen(table: Table, method: str, nodes: int | None, finest: float, random_state: int, threads: int, move: Move) -> _Outcome:
    """What is best on held-out rows, learned from all."""
    bins = bins_of(table.rows, table.variables, finest)
    methods = _methods(method, bins, table)
    binned = Binned.of(table.rows, table.weights, bins)
    histograms = tuple(each for each in methods if each != "blocks")
    part = 0.5 / max(1, len({"blocks"} & set(methods)) + bool(histograms))
    choice = blocks = None
    if histograms:
        choice = model_selection.select(
            binned,
            nodes,
            random_state,
            methods=histograms,
            groups=copies(table.rows),
            threads=threads,
            progress=_part(move, 0.0, part),
        )
    if "blocks" in methods and not (choice and choice.kept):
        blocks = blocks_selection.select(table, binned, nodes, random_state, progress=_part(move, 0.5 - part, 0.5))
    if blocks is not None and (choice is None or _are_better(blocks, choice)):
        return _with_blocks(table, binned, blocks, finest, random_state, _part(move, 0.5, 1.0))
    assert choice is not None, "there is a method"
    return _with_histograms(binned, choice, finest, random_state, threads, _part(move, 0.5, 1.0))


def _with_histograms(
    binned: Binned, choice: model_selection.Choice, finest: float, random_state: int, threads: int, move: Move
) -> _Outcome:
    """The mixture or tree that was chosen, learned from all rows."""

    def progress(done: float) -> None:
        move(done, f"{choice.nodes} nodes")

    def again(other: Table) -> _Outcome:
        cut = Binned.of(other.rows, other.weights, bins_of(other.rows, other.variables, finest))
        return _with_histograms(cut, replace(choice, kept=None), finest, random_state, threads, _nowhere)

    sizes = [choice.nodes]
    fitted = choice.kept or next(
        model_selection.fitted(choice.method, binned, sizes, random_state, threads=threads, progress=progress)
    )
    made = fitted.circuit_nodes if isinstance(fitted, Grown) else mixture.circuit_nodes(fitted, binned.bins)
    return _Outcome(made, choice.method, choice.validation, {"nodes at most": float(choice.nodes)}, again, fitted.interrupted)


def _are_better(blocks: BlockChoice, choice: model_selection.Choice) -> bool:
    """Whether blocks do better on held-out rows, or as well with fewer parameters."""
    if blocks.judged is None or choice.judged is None:
        return False
    return model_selection.plainest([choice.judged, blocks.judged], by="parameters") == 1


def _with_blocks(table: Table, binned: Binned, choice: BlockChoice, finest: float, random_state: int, move: Move) -> _Outcome:
    """The mixture of blocks that was chosen, learned from all rows."""

    def again(other: Table) -> _Outcome:
        cut = Binned.of(other.rows, other.weights, bins_of(other.rows, other.variables, finest))
        return _with_blocks(other, cut, choice, finest, random_state, _nowhere)

    fitted, warps = blocks_selection.learned(table, binned, choice, random_state, progress=move)
    settings = choice.plan.settings
    return _Outcome(
        blocks_selection.circuit_nodes(fitted, warps, binned),
        "blocks",
        choice.judged.mean if choice.judged else math.nan,
        {
            "components": float(settings.components),
            "columns in blocks": float(len(warps)),
            "pooled": settings.pooled,
            "independent": settings.independent,
        },
        again,
        fitted.interrupted,
    )


def _methods(method: str, bins: Sequence[Bins], table: Table) -> tuple[Method, ...]:
    """The methods to choose from."""
    suits = {"mixture": True, "tree": grow.suits(bins), "blocks": bool(blocks_selection.suits(table))}
    if method == "auto":
        return tuple(each for each in AUTO if suits[each])
    if method == "tree" and not suits["tree"]:
        widest = max(bins, key=len)
        rule = f"have at most {grow.MOST_BINS} bins, and all together {grow.MOST_BINS_IN_ALL}"
        got = f"{len(widest)}, and {sum(map(len, bins))}"
        raise CircuitError("A feature to learn a tree of", rule, got, "use method='mixture'", feature=widest.feature.name)
    if method == "blocks" and not suits["blocks"]:
        rule = f"have a column of numbers with {blocks_selection.FEWEST_VALUES} values, none of them in most rows"
        raise CircuitError("A table to learn blocks of", rule, "none", "use method='auto'")
    return tuple(each for each in ("mixture", "tree", "blocks") if each == method)


def _learnspn(table: Table, min_slice: float, threshold: float, finest: float, random_state: int, move: Move) -> _Outcome:
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
    return _Outcome(
        made,
        "learnspn",
        math.nan,
        settings,
        lambda other: _learnspn(other, min_slice, threshold, finest, random_state, _nowhere),
    )


def _floor(nodes: tuple[Node, ...]) -> float:
    """The usual floor, or less than the least density: of a number in the trillions, every density per unit is tiny."""
    leaves = [node.steps[1] for node in nodes if isinstance(node, Leaf)]
    warps = {warp for node in nodes if isinstance(node, GaussianBlock) for warp in node.warps}
    slopes = [warp.slopes * FLOOR for warp in warps]
    densities = np.concatenate([*leaves, *slopes])
    return min(FLOOR, float(densities[densities > 0].min()) / 2)


def _check_settings(method: str, nodes: Any, weights: Any, min_slice: float, finest: float) -> None:
    if method not in ("auto", "mixture", "tree", "blocks", "learnspn"):
        known = "be 'auto', 'mixture', 'tree', 'blocks' or 'learnspn'"
        raise CircuitError("method", known, repr(method), "'auto' is the default")
    if nodes is not None and not (isinstance(nodes, (int, np.integer)) and nodes >= 1):
        raise CircuitError("nodes", "be a whole number of at least 1", repr(nodes), "leave it out")
    for name, value in (("nodes", nodes), ("weights", weights)):
        if method == "learnspn" and value is not None:
            raise CircuitError(name, "be left out for 'learnspn'", "some", "use method='mixture'")
    for name, share in (("min_slice", min_slice), ("finest", finest)):
        if not 0 < share <= 1:
            raise CircuitError(name, "be a share between 0 and 1", share, "leave it out")
