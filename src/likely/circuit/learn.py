"""`learn`: from a table to a circuit of how likely its rows are."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from likely.circuit import choose, mixture
from likely.circuit.bins import FINEST, bins_of
from likely.circuit.circuit import FLOOR, Circuit
from likely.circuit.evaluate import log_likelihood
from likely.circuit.learnspn import learn_structure, one_blas_thread
from likely.circuit.nodes import Node
from likely.circuit.progress import Progress, progress_bar
from likely.errors import CircuitError, LikelyWarning
from likely.schema import Binary, Categorical, Feature, Schema
from likely.schema.infer import infer_feature
from likely.schema.values import Numbers

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
        chosen = ", ".join(f"{key} {value:g}" for key, value in self.settings.items())
        return (
            f"{self.circuit!r}\n"
            f"mean log-likelihood per row: {self.train:.3f} in training, {self.validation:.3f} held out\n"
            f"learned from {self.rows} rows in {self.seconds:.1f} s by {self.method}" + (f" ({chosen})" if chosen else "")
        )


def learn(
    X: pd.DataFrame,
    y: Any = None,
    schema: Schema | None = None,
    *,
    method: Literal["mixture", "learnspn"] = "mixture",
    nodes: int | None = None,
    min_slice: float = 1 / 20,
    threshold: float = 0.3,
    finest: float = FINEST,
    weights: Any = None,
    seed: int = 0,
    floor: float = FLOOR,
    progress: bool = True,
    threads: int = 0,
) -> Learned:
    """A circuit of the rows of a table and, if `y` is given, of their classes.

    `method` is "mixture" (`likely.circuit.mixture`: small and likely) or "learnspn" (`likely.circuit.learnspn`: the
    paper's learner, with `min_slice`, the share of the rows below which a slice is not divided, and `threshold` of
    dependence). `nodes` is the size of a mixture at most; left out, three sizes are tried and the smallest is taken that
    is not worse on held-out rows (`likely.circuit.choose`).

    Unknown cells (NaN) are summed over. `finest` is the width of the narrowest bins of numbers (`likely.circuit.bins`);
    `weights` are those of rows. The same seed gives the same circuit on any number of threads. Ctrl-C ends it early, with
    what it has.
    """
    started = time.perf_counter()
    _check_settings(method, nodes, min_slice, finest)
    features, target = _variables(X, y, schema)
    variables = features if target is None else (*features, target)
    rows = np.column_stack([feature.encode(column) for feature, column in zip(variables, _columns(X, y, features), strict=True)])
    row_weights = _row_weights(weights, len(rows))
    with progress_bar(progress, "Learning") as move, one_blas_thread():
        if method == "mixture":
            found = _mixture(rows, row_weights, variables, nodes, finest, seed, threads, move)
        else:
            found = _learnspn(rows, variables, min_slice, threshold, finest, seed, move)
    circuit = Circuit(features, found.nodes, target, floor)
    if found.interrupted:
        warnings.warn("Learning was interrupted; the circuit is what was learned until then.", LikelyWarning, stacklevel=2)
    train = float(np.average(log_likelihood(circuit, rows, threads=threads), weights=row_weights))
    seconds = time.perf_counter() - started
    return Learned(circuit, train, found.validation, len(rows), seconds, method, found.settings, found.interrupted)


@dataclass(frozen=True)
class _Found:
    nodes: tuple[Node, ...]
    validation: float
    settings: dict[str, float]
    interrupted: bool = False


def _mixture(
    rows: Numbers, weights: Numbers, variables: tuple[Feature, ...], nodes: int | None, finest: float, seed: int, threads: int,
    move: Progress,
) -> _Found:  # fmt: skip
    bins = bins_of(rows, variables, finest)
    table = mixture.Binned.of(rows, weights, bins)
    choice = choose.size(table, nodes, seed, threads=threads, progress=lambda done, what: move(0.5 * done, what))
    fitted = choice.kept or mixture.fit(
        table, choice.nodes, seed, threads=threads, progress=lambda done: move(0.5 + 0.5 * done, f"{choice.nodes} nodes")
    )
    settings = {"nodes at most": float(choice.nodes)}
    return _Found(mixture.circuit_nodes(fitted, bins), choice.validation, settings, fitted.interrupted)


def _learnspn(
    rows: Numbers, variables: tuple[Feature, ...], min_slice: float, threshold: float, finest: float, seed: int, move: Progress
) -> _Found:
    least = max(1, round(min_slice * len(rows)))
    made = learn_structure(
        rows,
        variables,
        bins_of(rows, variables, finest),
        min_rows=least,
        threshold=threshold,
        seed=seed,
        progress=lambda done: move(done, "dividing rows and columns"),
    )
    return _Found(made, float("nan"), {"smallest slice": float(least), "threshold": threshold})


# -- what goes in -----------------------------------------------------------------------------------------------------


def _check_settings(method: str, nodes: int | None, min_slice: float, finest: float) -> None:
    if method not in ("mixture", "learnspn"):
        raise CircuitError("method", "be 'mixture' or 'learnspn'", repr(method), "'mixture' is the default")
    if nodes is not None and nodes < 1:
        raise CircuitError("nodes", "be at least 1", nodes, "leave it out")
    for name, share in (("min_slice", min_slice), ("finest", finest)):
        if not 0 < share <= 1:
            raise CircuitError(name, "be a share between 0 and 1", share, "leave it out")


def _variables(X: pd.DataFrame, y: Any, schema: Schema | None) -> tuple[tuple[Feature, ...], Feature | None]:
    if not isinstance(X, pd.DataFrame):
        raise CircuitError("A table to learn from", "be a DataFrame", type(X).__name__, "use pd.DataFrame(X, columns=[...])")
    if len(X) == 0 or len(X.columns) == 0:
        raise CircuitError("A table to learn from", "have rows and columns", f"{len(X)} x {len(X.columns)}", "check how it was read")
    features = (Schema.infer(X) if schema is None else schema).features
    if y is None:
        return features, None
    column = pd.Series(y)
    if len(column) != len(X):
        raise CircuitError("y", f"have one class per row ({len(X)})", len(column), "give as many")
    name = _free_name(column.name, [feature.name for feature in features])
    return features, _target(column, name)


def _free_name(name: Any, taken: list[Any]) -> Any:
    """The name of the class: the column's own, or "class", and no feature's."""
    found = name if isinstance(name, str) and name else "class"
    while found in taken:
        found += "'"
    return found


def _target(column: pd.Series[Any], name: Any) -> Feature:
    """The class as a feature: a list of classes in order, or a number if it has very many values."""
    found = infer_feature(column, name)
    classes = column.dropna().unique()
    if not found.numeric or len(classes) > MOST_CLASSES:
        return found
    values = [value.item() if isinstance(value, np.generic) else value for value in sorted(classes)]
    return (Binary if len(values) == 2 else Categorical)(name, tuple(values), dtype=str(column.dtype))


def _columns(X: pd.DataFrame, y: Any, features: tuple[Feature, ...]) -> list[pd.Series[Any]]:
    found = []
    for feature in features:
        if feature.name not in X.columns:
            known = ", ".join(repr(name) for name in X.columns)
            raise CircuitError(
                "A table to learn from", f"have the column {feature.name!r}", "none", f"it has {known}", feature=feature.name
            )
        found.append(X[feature.name])
    return found if y is None else [*found, pd.Series(y)]


def _row_weights(weights: Any, count: int) -> Numbers:
    found = np.ones(count) if weights is None else np.asarray(weights, dtype=np.float64)
    if found.shape != (count,) or not np.isfinite(found).all() or (found < 0).any() or not found.any():
        raise CircuitError("The weights of rows", f"be {count} numbers of at least 0, not all 0", weights, "leave them out")
    return found
