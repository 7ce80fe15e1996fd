"""What the answers of all methods on one fold are worth: the same judges for all of them, asked for many rows at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from likely.bench import metrics
from likely.bench.densities import Densities
from likely.bench.tasks import Task
from likely.problem import to_class
from likely.schema.values import Numbers

#: Models that are trained anew: half of them on bootstrap samples, half with other seeds.
REFITS = 20
#: Each learns from at most so many rows: what twenty large ones would tell is not worth hours.
REFIT_ROWS = 10_000
#: Rows with noise per answer, and the noise as a share of each feature's standard deviation.
NOISY, NOISE = 50, 0.05
#: Which of its answers a method is judged by: the one that it holds best, or the likeliest of the valid ones.
CHOICES = ("first", "likeliest")


@dataclass(frozen=True, eq=False)
class _Chosen:
    """Answers to be judged: one row each."""

    rows: Numbers
    #: Of the rows that they explain.
    places: NDArray[np.intp]
    targets: NDArray[Any]


class Judge:
    """Measures answers to the questions of one fold.

    Args:
        task: The fold.
        refits: How many models are trained anew to see which answers hold.
        seed: Of the noise on answers.
    """

    def __init__(self, task: Task, refits: int = REFITS, seed: int = 0) -> None:
        self._task = task
        self._schema = task.data.schema
        self._count = refits
        self._seed = seed

    def measures(self, events: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
        """The measures of what methods returned: for each event, one for each of `CHOICES`.

        Args:
            events: Lines of the journal.
        """
        picked = [self._picked(event) for event in events]
        rows = [event["rows"][place] for event, places in zip(events, picked, strict=True) for place in places]
        asked = np.array([event["place"] for event, places in zip(events, picked, strict=True) for _ in places], dtype=np.intp)
        targets = np.array(self._task.targets, dtype=object)[asked]
        width = len(self._schema)
        judged = iter(self._judged(_Chosen(np.array(rows, dtype=np.float64).reshape(-1, width), asked, targets)))
        return [self._told(event, places, judged) for event, places in zip(events, picked, strict=True)]

    def _picked(self, event: dict[str, Any]) -> tuple[int, ...]:
        """The places of the answers that are judged, one for each choice; none if there is no answer."""
        if not event.get("rows"):
            return ()
        rows, target = np.array(event["rows"], dtype=np.float64), self._task.targets[event["place"]]
        if len(rows) == 1:
            return 0, 0
        logs = self._task.data.circuit.log_likelihood(rows, [target] * len(rows), n_jobs=1)
        best = metrics.likeliest(logs, self._labels(rows) == target)
        return 0, 0 if best is None else best

    def _told(self, event: dict[str, Any], places: tuple[int, ...], judged: Any) -> list[dict[str, Any]]:
        """What is said of one event: what the journal has, and what the judges say of each choice."""
        rows = np.array(event.get("rows") or (), dtype=np.float64).reshape(-1, len(self._schema))
        base = {name: event.get(name) for name in ("status", "seconds", "error")}
        base |= {"proved": bool(event.get("proved")), "answers": len(rows), "diversity": metrics.diversity(self._schema, rows)}
        if not places:
            return [{**base, "choice": choice, "valid": False, "actionable": False, "possible": False} for choice in CHOICES]
        told = []
        for choice, place in zip(CHOICES, places, strict=True):
            measured = next(judged)
            believed = event["claimed"][place] if place < len(event.get("claimed", ())) else None
            error = None if believed is None else metrics.approximation_error(believed, -measured["nll"])
            told.append({**base, **measured, "choice": choice, "claimed": believed, "approximation_error": error})
        return told

    def _judged(self, chosen: _Chosen) -> list[dict[str, Any]]:
        """All measures of each row."""
        if not len(chosen.rows):
            return []
        schema, table = self._schema, self._schema.decode(chosen.rows)
        columns: dict[str, Any] = {
            "valid": self._labels(chosen.rows) == chosen.targets,
            "rounded": self._labels(metrics.rounded(schema, chosen.rows)) == chosen.targets,
            "retraining": self._held(table, chosen.targets),
            "noise": self._noise(chosen),
            "by_margin": np.zeros(len(table), dtype=bool),
            "nll": np.empty(len(table)),
            "nearest": np.empty(len(table)),
        }
        for target in dict.fromkeys(chosen.targets.tolist()):
            these = np.flatnonzero([one == target for one in chosen.targets])
            rows = chosen.rows[these]
            columns["nll"][these] = -self._task.data.circuit.log_likelihood(rows, [target] * len(rows), n_jobs=1)
            pool = self._pools[target]
            columns["by_margin"][these] = to_class(self._task.form, target).met(self._task.form.score(rows, n_jobs=1))
            columns["nearest"][these] = [metrics.nearest_distance(schema, row, pool) for row in rows]
            for name, scores in self._densities[target].scores(table.iloc[these]).items():
                columns.setdefault(name, np.empty(len(table)))[these] = scores
            if self._task.truth is not None:
                columns.setdefault("probability", np.empty(len(table)))[these] = self._task.truth.probability(rows, target)
        plain = {name: np.asarray(column).tolist() for name, column in columns.items()}
        return [
            {**self._alone(row, place), **{name: column[i] for name, column in plain.items()}}
            for i, (row, place) in enumerate(zip(chosen.rows, chosen.places, strict=True))
        ]

    def _alone(self, row: Numbers, place: int) -> dict[str, Any]:
        """What can be said of a row and the one that it explains."""
        factual, rows = self._factuals[place], row[None, :]
        return {
            "actionable": bool(self._schema.keeps(factual, rows)[0]),
            "possible": bool(self._schema.admits(factual, rows)[0]),
            "distance": float(self._schema.prices(factual, rows)[0]),
            "changed": int(metrics.changed(self._schema, factual, rows)[0]),
            "row": row.tolist(),
        }

    def _labels(self, rows: Numbers) -> Any:
        """What the model itself decides."""
        return self._task.model.predict(self._schema.decode(rows)).astype(object)

    def _held(self, table: pd.DataFrame, targets: NDArray[Any]) -> Numbers:
        """The share of the models that were trained anew that decide each row as wanted."""
        if not self._models:
            return np.full(len(table), np.nan)
        return np.asarray(np.mean([model.predict(table).astype(object) == targets for model in self._models], axis=0))

    def _noise(self, chosen: _Chosen) -> Numbers:
        """The share of rows with noise around each that the model decides as wanted; the noise is the same for all methods."""
        shares = [
            metrics.share(
                self._labels(metrics.noisy(self._schema, row, self._spread, NOISY, np.random.default_rng([self._seed, place]))),
                target,
            )
            for row, place, target in zip(chosen.rows, chosen.places, chosen.targets, strict=True)
        ]
        return np.array(shares)

    @cached_property
    def _densities(self) -> dict[Any, Densities]:
        """The judges of each class."""
        data = self._task.data
        return {label: Densities(data.schema, data.X[(data.y == label).to_numpy()], data.seed) for label in data.y.unique()}

    @cached_property
    def _factuals(self) -> Numbers:
        return self._schema.encode(self._task.factuals)

    @cached_property
    def _pools(self) -> dict[Any, Numbers]:
        """The training rows of each class."""
        data = self._task.data
        rows = self._schema.encode(data.X)
        return {label: rows[(data.y == label).to_numpy()] for label in data.y.unique()}

    @cached_property
    def _spread(self) -> Numbers:
        rows = self._schema.encode(self._task.data.X)
        return NOISE * np.asarray(np.nanstd(np.where(np.isfinite(rows), rows, np.nan), axis=0))

    @cached_property
    def _models(self) -> list[Any]:
        """Models that could have been the one: even ones of bootstrap samples, odd ones of other seeds."""
        data = self._task.data
        models = []
        for number in range(self._count):
            random = np.random.default_rng([data.seed, number])
            places = random.choice(len(data.X), min(len(data.X), REFIT_ROWS), replace=number % 2 == 0)
            models.append(self._task.again(data.X.iloc[places], data.y.iloc[places], data.seed + 1 + number))
        return models
