"""Bayesian networks that rows are sampled from: the distribution is known, so it can be told how likely an answer truly is.

The eight networks of the paper are text files in the package pgmpy (sprinkler is written down below). They are read from where
it is installed; pgmpy itself is not imported.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likely.bench.sources import folder_of
from likely.errors import DatasetError
from likely.schema import Binary, Categorical, Schema
from likely.schema.values import Numbers

#: Rows as places of states.
Places = NDArray[np.int64]

#: nodes, edges and parameters, the paper's Table "Size comparison of BNs": what was read is what they read.
SIZES = {
    "sprinkler": (4, 4, 9),
    "asia": (8, 8, 18),
    "sachs": (11, 17, 178),
    "child": (20, 25, 230),
    "water": (32, 66, 10083),
    "alarm": (37, 46, 509),
    "win95pts": (76, 112, 574),
    "andes": (223, 338, 1157),
}
#: Sum over all rows up to this many.
WHOLE = 200_000
#: Where pgmpy has the files.
MODELS = Path("pgmpy", "utils", "example_models")
SPRINKLER = """
variable Cloudy { type discrete [ 2 ] { no, yes }; }
variable Sprinkler { type discrete [ 2 ] { no, yes }; }
variable Rain { type discrete [ 2 ] { no, yes }; }
variable Wet { type discrete [ 2 ] { no, yes }; }
probability ( Cloudy ) { table 0.5, 0.5; }
probability ( Sprinkler | Cloudy ) { (no) 0.5, 0.5; (yes) 0.9, 0.1; }
probability ( Rain | Cloudy ) { (no) 0.8, 0.2; (yes) 0.2, 0.8; }
probability ( Wet | Sprinkler, Rain ) { (no, no) 1, 0; (no, yes) 0.1, 0.9; (yes, no) 0.1, 0.9; (yes, yes) 0.01, 0.99; }
"""


@dataclass(frozen=True, eq=False)
class Variable:
    """A variable of a network: its states, its parents' places, and its probabilities, one axis per parent and its own last."""

    name: str
    states: tuple[str, ...]
    parents: tuple[int, ...]
    table: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Network:
    """A Bayesian network: p(row) = product over variables of p(variable | its parents)."""

    variables: tuple[Variable, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the variables, in the order of the columns."""
        return tuple(variable.name for variable in self.variables)

    @property
    def size(self) -> tuple[int, int, int]:
        """Nodes, edges, free parameters."""
        parameters = sum(v.table.size - v.table.size // len(v.states) for v in self.variables)
        return len(self.variables), sum(len(v.parents) for v in self.variables), parameters

    def ordered(self) -> Iterator[int]:
        """Every variable after its parents."""
        done: set[int] = set()
        while len(done) < len(self.variables):
            ready = [j for j, v in enumerate(self.variables) if j not in done and done.issuperset(v.parents)]
            done.update(ready)
            yield from ready

    def sample(self, count: int, random: np.random.Generator) -> Places:
        """Rows as places of states.

        Args:
            count: How many.
            random: Where chance comes from.
        """
        rows = np.zeros((count, len(self.variables)), dtype=np.int64)
        for j in self.ordered():
            variable = self.variables[j]
            upto = variable.table.cumsum(axis=-1)[tuple(rows[:, variable.parents].T)]
            rows[:, j] = (random.random((count, 1)) * upto[..., -1:] >= upto[..., :-1]).sum(axis=-1)
        return rows

    def log_probability(self, rows: Places) -> Numbers:
        """log p of each row.

        Args:
            rows: Places of states.
        """
        with np.errstate(divide="ignore"):
            logs = [np.log(v.table)[tuple(rows[:, [*v.parents, j]].T)] for j, v in enumerate(self.variables)]
        return np.asarray(np.sum(logs, axis=0), dtype=np.float64)

    def all_rows(self) -> Places | None:
        """Every row there is, if there are few enough."""
        counts = [len(v.states) for v in self.variables]
        if np.prod(np.array(counts, dtype=np.float64)) > WHOLE:
            return None
        return np.array(list(product(*map(range, counts))))

    @property
    def schema(self) -> Schema:
        """The states as numbered categories."""
        return Schema(
            tuple(
                Binary(v.name, (0, 1)) if len(v.states) == 2 else Categorical(v.name, tuple(range(len(v.states))))
                for v in self.variables
            )
        )


def parse(text: str) -> Network:
    """The network in a BIF text.

    Args:
        text: All of the file.
    """
    states = {
        name: tuple(part.strip() for part in listed.split(","))
        for name, listed in re.findall(r"variable\s+(\S+)\s*\{\s*type\s+discrete\s*\[\s*\d+\s*\]\s*\{([^}]*)\}", text)
    }
    places = {name: j for j, name in enumerate(states)}
    variables: dict[str, Variable] = {}
    for head, body in re.findall(r"probability\s*\(([^)]*)\)\s*\{([^}]*)\}", text):
        name, _, given = (part.strip() for part in head.partition("|"))
        parents = [part.strip() for part in given.split(",")] if given else []
        table = np.full([len(states[variable]) for variable in (*parents, name)], np.nan)
        for entry in filter(str.strip, body.split(";")):
            case, numbers = _entry(entry)
            place = tuple(states[parent].index(value) for parent, value in zip(parents, case, strict=True))
            table[place] = np.array(numbers).reshape(table[place].shape)
        if np.isnan(table).any():
            raise DatasetError("A table of a Bayesian network", "say every probability", f"holes in {name!r}", "mend the file")
        table /= table.sum(axis=-1, keepdims=True)
        variables[name] = Variable(name, states[name], tuple(places[parent] for parent in parents), table)
    return Network(tuple(variables[name] for name in states))


def _entry(text: str) -> tuple[list[str], list[float]]:
    """The parents' values (none: all of them) and the probabilities of one line of a table."""
    found = re.fullmatch(r"\s*(?:table|\((.*)\))\s*([^()]*)", text)
    if found is None:
        raise DatasetError("A line of a Bayesian network's table", "be 'table' or values and numbers", text, "mend the file")
    case, numbers = found.groups()
    return [part.strip() for part in case.split(",")] if case else [], [float(number) for number in numbers.split(",")]


def read_network(name: str, open_model: Callable[[str], bytes] | None = None) -> Network:
    """One of the paper's networks, checked against its table of their sizes.

    Args:
        name: One of `SIZES`.
        open_model: What reads a file among pgmpy's example models; left out, those of the installed package are read.
    """
    if name not in SIZES:
        raise DatasetError("The name of a Bayesian network", f"be one of {', '.join(SIZES)}", repr(name), "choose one of them")
    text = SPRINKLER if name == "sprinkler" else gzip.decompress((open_model or _installed)(f"{name}.bif.gz")).decode()
    network = parse(text)
    if network.size != SIZES[name]:
        raise DatasetError(
            f"Network {name!r}", f"have {SIZES[name]} nodes, edges and parameters", network.size, "install pgmpy 1.1.2"
        )
    return network


def _installed(file: str) -> bytes:
    return (folder_of("pgmpy", "pgmpy==1.1.2").parent / MODELS / file).read_bytes()
