"""What an explainer keeps of the rows it was fitted on: how likely they are, and a few of them to start searches from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from likely.circuit import Circuit, coherence, log_likelihood
from likely.errors import ProblemError
from likely.explain.plausibility import GIVEN, Measure, Peers, Rows, Variant
from likely.problem.tolerances import rounding
from likely.schema import Immutable, Schema
from likely.schema.values import Name, Numbers

#: How many rows of each class are kept to start searches from.
STARTS = 200
#: The index of a row's class where the model does not know that class.
UNKNOWN_CLASS = -1


def given_names(given: Sequence[str], schema: Schema, circuit: Circuit) -> tuple[Name, ...]:
    """What "class" and "immutable" stand for: names of the circuit's variables."""
    names: list[Name] = []
    if "immutable" in given:
        names += [rule.feature for rule in schema.constraints if isinstance(rule, Immutable)]
    if "class" in given:
        if circuit.target is None:
            raise ProblemError(
                "A likelihood given the class", "be that of a circuit with a target", "one without", "learn it with y"
            )
        names.append(circuit.target.name)
    return tuple(names)


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows with their true classes."""

    #: The rows, as doubles.
    rows: Numbers
    #: Their classes, as the circuit's target encodes them; empty if it has none.
    classes: Numbers
    #: Their classes, as the form counts them.
    numbers: NDArray[np.intp]

    @classmethod
    def of(cls, rows: Numbers, labels: pd.Series[Any], circuit: Circuit, numbers: NDArray[np.intp]) -> Sample:
        """Encoded rows with their labels.

        Args:
            rows: The rows, as doubles.
            labels: Their classes.
            circuit: How likely rows are; its target knows the labels.
            numbers: Their classes, as the form counts them.
        """
        return cls(rows, np.empty(0) if circuit.target is None else circuit.target.encode(labels), numbers)

    def some(self, places: NDArray[np.intp]) -> Sample:
        """The rows at some places."""
        classes = self.classes[places] if len(self.classes) else self.classes
        return Sample(self.rows[places], classes, self.numbers[places])

    def whole(self, circuit: Circuit) -> Numbers:
        """The rows as the circuit reads them: with their classes, if it has a target."""
        return self.rows if circuit.target is None else np.column_stack([self.rows, self.classes])


@dataclass(frozen=True, eq=False)
class Training:
    """The log-likelihoods and coherences of rows, those learned from and unseen ones; and rows to start from, per class.

    An unseen row has those that a circuit gives it which was not learned from it (`circuit.learning.cross_fitting`),
    or which is known to have been learned from others.
    """

    #: the rows of a class, by which measure, and what likelihood is given -> sorted log-likelihoods or coherences
    logs: Mapping[Peers, Numbers]
    #: number of the class -> encoded rows that the model decides for it
    starts: Mapping[int, Numbers]
    #: The share of the complete rows that the model decides as their class says; NaN if there are none.
    accuracy: float = np.nan
    _all: dict[Peers, Numbers] = field(default_factory=dict, repr=False)
    _quantiles: dict[tuple[float, Peers], float] = field(default_factory=dict, repr=False)

    def knows(self, rows: Rows, measure: Measure = "likelihood") -> bool:
        """Whether the log-likelihoods, or coherences, of such rows are known."""
        return any((peers.rows, peers.measure) == (rows, measure) for peers in self.logs)

    def rows_for(self, variant: Variant | None) -> Rows:
        """The rows to compare with: those that were asked for, or the training rows if no others are known."""
        wanted: Rows = "unseen" if variant is None else variant.rows
        return wanted if self.knows(wanted) else "training"

    def logs_of(self, peers: Peers) -> Numbers:
        """The sorted log-likelihoods, or coherences, of some rows."""
        if peers.number is not None:
            return self.logs.get(peers, np.empty(0))
        if peers not in self._all:
            parts = [logs for one, logs in self.logs.items() if replace(one, number=None) == peers]
            self._all[peers] = np.sort(np.concatenate([np.empty(0), *parts]))
        return self._all[peers]

    def quantile(self, q: float, peers: Peers) -> float:
        """The log-likelihood, or coherence, that the share `q` of these rows is at most.

        Between two rows it is interpolated, as numpy does it; next to an impossible row, that of the less likely of the two.
        """
        if (q, peers) not in self._quantiles:
            self._quantiles[q, peers] = self._quantile(q, peers)
        return self._quantiles[q, peers]

    def _quantile(self, q: float, peers: Peers) -> float:
        logs = self.logs_of(peers)
        if not len(logs):
            where = "training" if peers.rows == "training" else "what was held out"
            raise ProblemError(
                "A quantile of the rows of a class", f"have rows of that class in {where}", "none", "use Quantile(q, of='all')"
            )
        below = float(np.quantile(logs, q, method="lower"))
        return float(np.quantile(logs, q)) if math.isfinite(below) else below

    def percentile(self, log: float, peers: Peers) -> float | None:
        """How many percent of these rows are no likelier, or no more coherent; None if there are no such rows."""
        logs = self.logs_of(peers)
        if not len(logs):
            return None
        at_most = log + rounding(log)  # equal rows count as equally likely
        return 100.0 * float(np.searchsorted(logs, at_most, side="right")) / len(logs)

    def to_arrays(self) -> dict[str, Numbers]:
        """Everything as named arrays, for a file."""
        logs = {_key(peers): array for peers, array in self.logs.items()}
        starts = {f"starts/{number}": rows for number, rows in self.starts.items()}
        return {**logs, **starts, "accuracy/0": np.array([self.accuracy])}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Numbers]) -> Training:
        """What `to_arrays` wrote, in this version or an earlier one.

        Those of version 3 have no coherences; in those before, all rows were training rows, and called logs.
        """
        logs, starts, accuracy = {}, {}, np.nan
        for key, array in arrays.items():
            what, number = key.rsplit("/", 1)
            if what == "starts":
                starts[int(number)] = array
            elif what == "accuracy":
                accuracy = float(array[0])
            else:
                word, *words = what.split()
                rows: Rows = "unseen" if word == "unseen" else "training"
                measure: Measure = "coherence" if "coherence" in words else "likelihood"
                logs[Peers(rows, tuple(given for given in words if given != measure), int(number), measure)] = array
        return cls(logs, starts, accuracy)


def training_of(
    circuit: Circuit,
    schema: Schema,
    sample: Sample,
    decided: NDArray[np.intp],
    unseen: Sequence[tuple[Circuit, Sample]] = (),
) -> Training:
    """What to keep of encoded rows.

    Args:
        circuit: How likely rows are.
        schema: What a row may be.
        sample: The training rows.
        decided: Their classes by the model, as the form counts them.
        unseen: Circuits, each with rows that it has not seen.
    """
    logs = _logs_by_class("training", [(circuit, sample)], schema)
    if unseen:
        logs |= _logs_by_class("unseen", unseen, schema)
    joint = _logs(circuit, sample.whole(circuit), ())
    rows, complete = sample.rows, ~np.isnan(sample.rows).any(axis=1)
    starts = {int(k): _spread(rows, joint, complete & (decided == k)) for k in np.unique(decided)}
    accuracy = float(np.mean(decided[complete] == sample.numbers[complete])) if complete.any() else np.nan
    return Training(logs, starts, accuracy)


def _logs_by_class(kind: Rows, parts: Sequence[tuple[Circuit, Sample]], schema: Schema) -> dict[Peers, Numbers]:
    """The sorted log-likelihoods of the rows of each class, given everything that they may be given, and their coherences."""
    words = GIVEN if parts[0][0].target is not None else GIVEN[1:]
    numbers = np.concatenate([sample.numbers for _, sample in parts])
    every = {
        Peers(kind, given, None): [_logs(c, sample.whole(c), given_names(given, schema, c)) for c, sample in parts]
        for given in (subset for size in range(len(words) + 1) for subset in combinations(words, size))
    }
    every[Peers(kind, (), None, "coherence")] = [coherence(c, sample.whole(c)) for c, sample in parts]
    logs: dict[Peers, Numbers] = {}
    for peers, of_parts in every.items():
        of_rows = np.concatenate(of_parts)
        logs |= {replace(peers, number=int(number)): np.sort(of_rows[numbers == number]) for number in np.unique(numbers)}
    return logs


def _key(peers: Peers) -> str:
    """The name of an array in a file."""
    words = [peers.rows, *peers.given, *([peers.measure] if peers.measure == "coherence" else [])]
    return f"{' '.join(words)}/{peers.number}"


def _logs(circuit: Circuit, rows: Numbers, names: tuple[Name, ...]) -> Numbers:
    """The log-likelihood of each row, given these of its values."""
    joint = log_likelihood(circuit, rows)
    if not names:
        return joint
    known = np.array([name in names for name in circuit.names])
    given = log_likelihood(circuit, np.where(known, rows, np.nan))
    return np.where(joint > -np.inf, joint - given, -np.inf)


def _spread(rows: Numbers, logs: Numbers, wanted: NDArray[np.bool_]) -> Numbers:
    """At most `STARTS` of the wanted rows, from the likeliest to the least likely."""
    places = np.flatnonzero(wanted)
    ranked = places[np.argsort(-logs[places], kind="stable")]
    return rows[ranked[np.unique(np.linspace(0, len(ranked) - 1, min(STARTS, len(ranked))).round().astype(np.intp))]]
