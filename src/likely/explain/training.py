"""What an explainer keeps of the rows it was fitted on: how likely they are, and a few of them to start searches from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from likely.circuit import Circuit, log_likelihood
from likely.errors import ProblemError
from likely.explain.plausibility import GIVEN
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
class Training:
    """The log-likelihoods of the training rows, per density and class, in order; and rows to start from, per class."""

    #: (what the likelihood is given, number of the class) -> sorted log-likelihoods
    logs: Mapping[tuple[tuple[str, ...], int], Numbers]
    #: number of the class -> encoded rows that the model decides for it
    starts: Mapping[int, Numbers]
    #: The share of the complete rows that the model decides as their class says; NaN if there are none.
    accuracy: float = np.nan
    _all: dict[tuple[str, ...], Numbers] = field(default_factory=dict, repr=False)

    def logs_of(self, given: tuple[str, ...], number: int | None) -> Numbers:
        """The sorted log-likelihoods of the rows of a class, or of all rows (None)."""
        if number is not None:
            return self.logs.get((given, number), np.empty(0))
        if given not in self._all:
            self._all[given] = np.sort(np.concatenate([logs for (density, _), logs in self.logs.items() if density == given]))
        return self._all[given]

    def quantile(self, q: float, given: tuple[str, ...], number: int | None) -> float:
        """The log-likelihood that the share `q` of these rows is at most.

        Between two rows it is interpolated, as numpy does it; next to an impossible row, that of the less likely of the two.
        """
        logs = self.logs_of(given, number)
        if not len(logs):
            raise ProblemError(
                "A quantile of the rows of a class", "have rows of that class in training", "none", "use Quantile(q, of='all')"
            )
        below = float(np.quantile(logs, q, method="lower"))
        return float(np.quantile(logs, q)) if math.isfinite(below) else below

    def percentile(self, log: float, given: tuple[str, ...], number: int | None) -> float | None:
        """How many percent of these rows are no likelier; None if there are no such rows."""
        logs = self.logs_of(given, number)
        if not len(logs):
            return None
        at_most = log + rounding(log)  # equal rows count as equally likely
        return 100.0 * float(np.searchsorted(logs, at_most, side="right")) / len(logs)

    def to_arrays(self) -> dict[str, Numbers]:
        """Everything as named arrays, for a file."""
        logs = {f"logs {' '.join(given)}/{number}": array for (given, number), array in self.logs.items()}
        starts = {f"starts/{number}": rows for number, rows in self.starts.items()}
        return {**logs, **starts, "accuracy/0": np.array([self.accuracy])}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Numbers]) -> Training:
        """What `to_arrays` wrote."""
        logs, starts, accuracy = {}, {}, np.nan
        for key, array in arrays.items():
            what, number = key.rsplit("/", 1)
            if what == "starts":
                starts[int(number)] = array
            elif what == "accuracy":
                accuracy = float(array[0])
            else:
                logs[(tuple(what.split()[1:]), int(number))] = array
        return cls(logs, starts, accuracy)


def training_of(
    circuit: Circuit, schema: Schema, rows: Numbers, classes: Numbers, numbers: NDArray[np.intp], decided: NDArray[np.intp]
) -> Training:
    """What to keep of encoded rows.

    Args:
        circuit: How likely rows are.
        schema: What a row may be.
        rows: The rows, as doubles.
        classes: Their true classes, as the circuit's target encodes them.
        numbers: Their true classes, as the form counts them.
        decided: Their classes by the model, as the form counts them.
    """
    whole = rows if circuit.target is None else np.column_stack([rows, classes])
    words = GIVEN if circuit.target is not None else GIVEN[1:]
    logs: dict[tuple[tuple[str, ...], int], Numbers] = {}
    for given in (subset for size in range(len(words) + 1) for subset in combinations(words, size)):
        of_rows = _logs(circuit, whole, given_names(given, schema, circuit))
        for number in np.unique(numbers):
            logs[given, int(number)] = np.sort(of_rows[numbers == number])
    joint = _logs(circuit, whole, ())
    complete = ~np.isnan(rows).any(axis=1)
    starts = {int(k): _spread(rows, joint, complete & (decided == k)) for k in np.unique(decided)}
    accuracy = float(np.mean(decided[complete] == numbers[complete])) if complete.any() else np.nan
    return Training(logs, starts, accuracy)


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
