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

from likely._display.progress import Progress, progress_bar
from likely._jobs import thread_count
from likely.circuit.learning import grow, mixture, model_selection
from likely.circuit.learning.bins import FINEST, Bins, bins_of
from likely.circuit.learning.grow import Grown
from likely.circuit.learning.learnspn import learn_structure, one_blas_thread
from likely.circuit.model.circuit import FLOOR, Circuit
from likely.circuit.model.nodes import Leaf, Node
from likely.circuit.queries.evaluate import log_likelihood
from likely.errors import CircuitError, LikelyWarning
from likely.schema import Binary, Categorical, Feature, Schema
from likely.schema.infer import infer_feature
from likely.schema.values import Name, Numbers

#: The weights of rows sum up to no more: rows are counted in doubles, and log-likelihoods of more would lose their nats.
MOST_ROWS = 1e12
#: A class column with at most as many different values is a list of classes; with more, it is a column of numbers.
MOST_CLASSES = 50


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

    def __str__(self) -> str:
        held_out = "" if math.isnan(self.validation) else f", {self.validation:.3f} held out"
        chosen = ", ".join(f"{key} {value:g}" for key, value in self.settings.items())
        return (
            f"{self.circuit!r}\n"
            f"mean log-likelihood per row: {self.train:.3f} in training{held_out}\n"
            f"learned from {self.rows} rows in {self.seconds:.1f} s by {self.method} ({chosen})"
        )


def learn(
    X: pd.DataFrame,
    y: Any = None,
    schema: Schema | None = None,
    *,
    method: Literal["auto", "mixture", "tree", "learnspn"] = "auto",
    nodes: int | None = None,
    min_slice: float = 1 / 20,
    threshold: float = 0.3,
    finest: float = FINEST,
    weights: Any = None,
    random_state: int = 0,
    floor: float | None = None,
    progress: bool = True,
    n_jobs: int | None = None,
) -> Learned:
    """A circuit of the rows of a table and, if `y` is given, of their classes.

    `method` is "mixture" (`learning.mixture`: small and likely for any table), "tree" (`learning.grow`: for discrete tables,
    where each variable has at most 32 bins), "learnspn" (`learning.learnspn`: the paper's learner, with `min_slice`,
    the share of the rows below which a slice is not divided, and `threshold` of dependence), or "auto": a tree, if the table
    is discrete and the tree is better on held-out rows, else a mixture. `nodes` is the size of a mixture or
    tree at most, if it is more than the number of variables; left out, a few sizes are tried, and the smallest is taken that
    is not worse on held-out rows (`learning.model_selection`).

    Unknown cells (NaN) are summed over. `finest` is the width of the narrowest bins of numbers (`likely.circuit.learning.bins`).
    A row of weight 2 counts as two. `floor` is the circuit's; left out, it is `FLOOR`, or less if a density that was
    learned is. The same seed gives the same circuit on any number of threads. Ctrl-C ends a mixture or a tree early,
    with what it has.
    """
    started, threads = time.perf_counter(), thread_count(n_jobs, CircuitError)
    _check_settings(method, nodes, weights, min_slice, finest)
    table = _table(X, y, schema, weights)
    with progress_bar(progress, "Learning") as move, one_blas_thread():
        if method == "learnspn":
            found = _learnspn(table, min_slice, threshold, finest, random_state, move)
        else:
            found = _chosen(table, method, nodes, finest, random_state, threads, move)
    if found.interrupted:
        warnings.warn("Learning was interrupted; the circuit is what was learned until then.", LikelyWarning, stacklevel=2)
    circuit = Circuit(table.features, found.nodes, table.target, _floor(found.nodes) if floor is None else floor)
    train = float(np.average(log_likelihood(circuit, table.rows, n_jobs=threads), weights=table.weights))
    seconds = time.perf_counter() - started
    return Learned(circuit, train, found.validation, len(table.rows), seconds, found.method, found.settings, found.interrupted)


@dataclass(frozen=True)
class _Found:
    nodes: tuple[Node, ...]
    method: str
    validation: float
    settings: dict[str, float]
    interrupted: bool = False


def _chosen(
    table: _Table,
    method: Literal["auto", "mixture", "tree"],
    nodes: int | None,
    finest: float,
    random_state: int,
    threads: int,
    move: Progress,
) -> _Found:
    """What is best on held-out rows, learned from all."""
    bins = bins_of(table.rows, table.variables, finest)
    methods = _methods(method, bins)
    binned = mixture.Binned.of(table.rows, table.weights, bins)
    choice = model_selection.size(
        binned, nodes, random_state, methods=methods, threads=threads, progress=lambda done, what: move(0.5 * done, what)
    )
    last = f"{choice.nodes} nodes"
    fitted = choice.kept or next(
        model_selection.fitted(
            choice.method,
            binned,
            [choice.nodes],
            random_state,
            threads=threads,
            progress=lambda done: move(0.5 + 0.5 * done, last),
        )
    )
    made = fitted.circuit_nodes if isinstance(fitted, Grown) else mixture.circuit_nodes(fitted, bins)
    return _Found(made, choice.method, choice.validation, {"nodes at most": float(choice.nodes)}, fitted.interrupted)


def _methods(method: Literal["auto", "mixture", "tree"], bins: Sequence[Bins]) -> tuple[model_selection.Method, ...]:
    """The methods to choose from."""
    if method == "auto":
        return ("mixture", "tree") if grow.suits(bins) else ("mixture",)
    if method == "tree" and not grow.suits(bins):
        widest = max(bins, key=len)
        rule = f"have at most {grow.MOST_BINS} bins, and all together {grow.MOST_BINS_IN_ALL}"
        got = f"{len(widest)}, and {sum(map(len, bins))}"
        raise CircuitError("A feature to learn a tree of", rule, got, "use method='mixture'", feature=widest.feature.name)
    return (method,)


def _learnspn(table: _Table, min_slice: float, threshold: float, finest: float, random_state: int, move: Progress) -> _Found:
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
    return _Found(made, "learnspn", math.nan, {"smallest slice": float(least), "threshold": threshold})


def _floor(nodes: tuple[Node, ...]) -> float:
    """The usual floor, or half of the least density: of a number in the trillions, every density per unit is tiny."""
    densities = np.concatenate([node.steps[1] for node in nodes if isinstance(node, Leaf)])
    return min(FLOOR, float(densities[densities > 0].min()) / 2)


# -- what goes in -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Table:
    """What to learn from: encoded rows, the class last, and their weights."""

    features: tuple[Feature, ...]
    target: Feature | None
    rows: Numbers
    weights: Numbers

    @property
    def variables(self) -> tuple[Feature, ...]:
        return self.features if self.target is None else (*self.features, self.target)


def _check_settings(method: str, nodes: Any, weights: Any, min_slice: float, finest: float) -> None:
    if method not in ("auto", "mixture", "tree", "learnspn"):
        raise CircuitError("method", "be 'auto', 'mixture', 'tree' or 'learnspn'", repr(method), "'auto' is the default")
    if nodes is not None and not (isinstance(nodes, (int, np.integer)) and nodes >= 1):
        raise CircuitError("nodes", "be a whole number of at least 1", repr(nodes), "leave it out")
    for name, value in (("nodes", nodes), ("weights", weights)):
        if method == "learnspn" and value is not None:
            raise CircuitError(name, "be left out for 'learnspn'", "some", "use method='mixture'")
    for name, share in (("min_slice", min_slice), ("finest", finest)):
        if not 0 < share <= 1:
            raise CircuitError(name, "be a share between 0 and 1", share, "leave it out")


def _table(X: pd.DataFrame, y: Any, schema: Schema | None, weights: Any) -> _Table:
    if not isinstance(X, pd.DataFrame):
        raise CircuitError("A table to learn from", "be a DataFrame", type(X).__name__, "use pd.DataFrame(X, columns=[...])")
    if 0 in X.shape:
        raise CircuitError(
            "A table to learn from", "have rows and columns", f"{len(X)} x {len(X.columns)}", "check how it was read"
        )
    if not isinstance(schema, (Schema, type(None))):
        raise CircuitError("schema", "be a Schema", type(schema).__name__, "use likely.Schema.infer(X)")
    found = Schema.infer(X) if schema is None else schema
    columns, target = [found.encode(X)], None
    if y is not None:
        column = _class_column(y, len(X))
        target = _target(column, _free_name(column.name, found.names))
        columns.append(target.encode(column)[:, None])
    counted = row_weights(weights, len(X))
    kept = counted > 0  # a row that does not count must not make a bin either
    return _Table(found.features, target, np.concatenate(columns, axis=1)[kept], counted[kept])


def _class_column(y: Any, count: int) -> pd.Series[Any]:
    try:
        column = pd.Series(y)
    except (TypeError, ValueError):
        what = f"shape {np.shape(y)}" if hasattr(y, "shape") else type(y).__name__
        raise CircuitError("y", "be one column", what, "give a Series, a list or an array of one dimension") from None
    if len(column) != count:
        raise CircuitError("y", f"have one class per row ({count})", len(column), "give as many")
    return column


def _free_name(name: Any, taken: Sequence[Name]) -> str:
    """The name of the class: the column's own, or "class", and no feature's."""
    found = name if isinstance(name, str) and name else "class"
    while found in taken:
        found += "'"
    return found


def _target(column: pd.Series[Any], name: str) -> Feature:
    """The class as a feature: a list of classes in order, or a number if it has very many values."""
    found = infer_feature(column, name)
    classes = column.dropna().unique()
    if not found.numeric or len(classes) > MOST_CLASSES:
        return found
    ordered = sorted(classes, key=lambda value: (isinstance(value, str), value))  # numbers first, where there are texts too
    values = [value.item() if isinstance(value, np.generic) else value for value in ordered]
    return (Binary if len(values) == 2 else Categorical)(name, tuple(values), dtype=str(column.dtype))


def row_weights(weights: Any, count: int) -> Numbers:
    """The weights of rows as numbers, 1 each if there are none; refuses what cannot be counts of rows.

    A weight is how many rows a row stands for. So all together stand for one row at least, or there is nothing to learn
    from, and for `MOST_ROWS` at most.
    """
    if weights is None:
        return np.ones(count)
    rule = f"be {count} numbers of at least 0, not all 0"
    try:
        found = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise CircuitError("The weights of rows", rule, type(weights).__name__, "leave them out") from None
    if found.shape != (count,):
        raise CircuitError("The weights of rows", rule, f"shape {found.shape}", "leave them out")
    wrong = found[~(np.isfinite(found) & (found >= 0))]
    if len(wrong) or not found.any():
        raise CircuitError("The weights of rows", rule, wrong[0] if len(wrong) else "only 0", "leave them out")
    with np.errstate(over="ignore"):
        total = float(found.sum())
    if not 1 <= total <= MOST_ROWS:
        hint = "scale them: a weight is how many rows a row stands for"
        raise CircuitError("The weights of rows", f"sum to a number of rows, from 1 to {MOST_ROWS:g}", f"{total:g}", hint)
    return found
