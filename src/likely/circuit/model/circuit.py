"""`Circuit`: how likely a row is, as a value."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from likely._core import Circuit as CoreCircuit
from likely._files import read_text, write_text
from likely._jobs import thread_count
from likely.circuit.model.blocks import GaussianBlock
from likely.circuit.model.cells import Algebra, Cells, cells_of, compiled, ratios
from likely.circuit.model.check import Report, report, scopes
from likely.circuit.model.nodes import Leaf, Node, Product, Sum, node_from_dict, node_to_dict, parameters
from likely.circuit.model.tabular import encoded_column, encoded_table
from likely.circuit.model.tolerances import FLOOR
from likely.errors import CircuitError
from likely.schema import Feature
from likely.schema.features import feature_from_dict
from likely.schema.frames import as_pandas
from likely.schema.values import Name, Numbers

#: Of the JSON form.
VERSION = 1


@dataclass(frozen=True, repr=False)
class Circuit:
    """A sum-product network over the features of a table and, if there is a `target`, the class.

    A frozen value: it is checked when it is made, and never changes.

    Args:
        features: The variables that are columns of the table.
        nodes: Sums, products, leaves and blocks in topological order: children before parents, the root last. A node may
            have several parents.
        target: The class, the last variable; None if there is none.
        floor: The least density of every leaf everywhere, so that a row outside all that was seen is unlikely, not
            impossible; 0 takes that away.

    Raises:
        CircuitError: If the nodes are not ordered, smooth and decomposable, or a leaf does not fit its variable.
    """

    features: tuple[Feature, ...]
    nodes: tuple[Node, ...]
    target: Feature | None = None
    floor: float = FLOOR

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", tuple(self.features))
        object.__setattr__(self, "nodes", tuple(self.nodes))
        if not (isinstance(self.floor, (int, float)) and 0 <= self.floor < math.inf):
            raise CircuitError("The floor of a circuit", "be a number of at least 0", repr(self.floor), "leave it out")
        names = [variable.name for variable in self.variables]
        if len(set(names)) < len(names):
            twice = next(name for i, name in enumerate(names) if name in names[:i])
            raise CircuitError("The names of variables", "differ", f"{twice!r} twice", "rename one", feature=twice)
        scopes(self)

    # -- looking --------------------------------------------------------------------------------------------------

    @property
    def variables(self) -> tuple[Feature, ...]:
        """The features, then the target: one column each in the rows that a circuit scores."""
        return self.features if self.target is None else (*self.features, self.target)

    @property
    def names(self) -> tuple[Name, ...]:
        """The names of the variables, in order."""
        return tuple(variable.name for variable in self.variables)

    def index(self, name: Name) -> int:
        """The place of a variable among `variables`.

        Args:
            name: The name of a feature or of the target.

        Raises:
            CircuitError: If there is no such variable.
        """
        try:
            return self.names.index(name)
        except ValueError:
            known = ", ".join(repr(n) for n in self.names)
            raise CircuitError("A variable", "be in the circuit", repr(name), f"it has {known}", feature=name) from None

    @property
    def edges(self) -> int:
        """How many edges there are: the work of one sweep."""
        return sum(len(node.children) for node in self.nodes if isinstance(node, (Sum, Product)))

    @property
    def parameters(self) -> int:
        """How many numbers were fitted, each counted once: what a circuit has to earn by likelihood.

        A sum has one less than its weights, a leaf of steps one less than its densities, codes or categories, a
        parametric leaf those of its family; a block its mean and factor; a warp its knots, once for all blocks that
        share it.
        """
        return parameters(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        kinds = [sum(isinstance(node, kind) for node in self.nodes) for kind in (Sum, Product, Leaf)]
        blocks = sum(isinstance(node, GaussianBlock) for node in self.nodes)
        ends = f"{kinds[2]} leaves" + (f", {blocks} blocks" if blocks else "")
        size = f"{len(self.nodes)} nodes ({kinds[0]} sums, {kinds[1]} products, {ends}) and {self.edges} edges"
        target = f", the class {self.target.name!r} among them" if self.target else ""
        return f"Circuit of {size} over {len(self.variables)} variables{target}"

    def check(self) -> Report:
        """What holds of this circuit: smooth, decomposable, weights and leaves that sum to 1, what no leaf covers.

        Returns:
            A report that prints as a few lines.
        """
        return report(self)

    # -- rows -----------------------------------------------------------------------------------------------------

    def encode(self, X: pd.DataFrame | Numbers, y: Any = None, *, marginal: bool = False) -> Numbers:
        """A table (and its classes) as the array of doubles that a circuit scores.

        A missing cell (NaN, None) is the value "missing", if the feature has it: `None` is among its values or codes,
        as `Schema.infer` makes it of a column with missing cells. Otherwise it is unknown. In an array that is encoded
        already, NaN is always unknown. What is unknown is summed over, and so is the class if it is not there.

        A category that the feature does not list is possible, but no leaf knows it: it has the floor density.

        Args:
            X: A table with the circuit's columns, the class perhaps among them (others are not looked at); or an array
                that is encoded already, with a column per variable, or all but the target.
            y: The classes of the rows, or one class for all of them.
            marginal: Whether columns may be left out, to be summed over. Then every column must be the circuit's: what
                looks like one too many may be one that is misspelt.

        Returns:
            Rows x variables.

        Raises:
            CircuitError: If a column is missing, or the shapes do not fit.
        """
        X = as_pandas(X)
        if isinstance(X, pd.DataFrame):
            rows = encoded_table(X, self.features, self.target, marginal=marginal)
        else:
            given = _array(X)
            widths = {len(self.variables), len(self.features)}
            if given.ndim != 2 or given.shape[1] not in widths:
                rule = f"have {' or '.join(str(width) for width in sorted(widths))} columns"
                raise CircuitError("An array of rows", rule, given.shape, "use circuit.encode(X, y)")
            rows = np.full((len(given), len(self.variables)), np.nan)
            rows[:, : given.shape[1]] = given
        if y is not None:
            rows[:, -1] = self._encode_class(y, len(rows))
        return rows

    def _encode_class(self, y: Any, count: int) -> Numbers:
        if self.target is None:
            raise CircuitError("y", "be left out", "classes", "this circuit was learned without a target")
        column = pd.Series([y] * count) if np.isscalar(y) else pd.Series(y)
        if len(column) != count:
            raise CircuitError("y", f"have one class per row ({count})", len(column), "give as many")
        return encoded_column(self.target, column)

    def log_likelihood(
        self, X: pd.DataFrame | Numbers, y: Any = None, *, marginal: bool = False, n_jobs: int | None = None
    ) -> Numbers:
        """log p(row) of each row, exactly: the natural logarithm of a density per unit of raw features.

        Args:
            X: A table or encoded rows; what is unknown is summed over (`encode` says what is).
            y: The classes of the rows, if they are not a column of the table.
            marginal: Whether columns may be left out of the table, to be summed over.
            n_jobs: Threads to work on; None or -1 for one per core. The same bits on any number.
        """
        return self.core.evaluate(self.encode(X, y, marginal=marginal), Algebra.SUM, thread_count(n_jobs, CircuitError))

    # -- files ----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back without loss."""
        return {
            "version": VERSION,
            "features": [feature.to_dict() for feature in self.features],
            "target": None if self.target is None else self.target.to_dict(),
            "floor": self.floor,
            "nodes": [node_to_dict(node) for node in self.nodes],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Circuit:
        """The circuit that `to_dict` described.

        Args:
            data: What `to_dict` returned.

        Raises:
            CircuitError: If it is something else.
        """
        keys = {"version", "features", "target", "floor", "nodes"}
        if not isinstance(data, Mapping) or set(data) != keys:
            got = sorted(map(str, data)) if isinstance(data, Mapping) else type(data).__name__
            raise CircuitError("A circuit's data", f"have {', '.join(sorted(keys))}", got, "use circuit.to_json()")
        if data["version"] != VERSION:
            raise CircuitError(
                "The version of a circuit", f"be {VERSION}", repr(data["version"]), "write it with this version of likely"
            )
        target = None if data["target"] is None else feature_from_dict(data["target"])
        features = tuple(feature_from_dict(item) for item in _listed(data, "features"))
        return cls(features, tuple(node_from_dict(item) for item in _listed(data, "nodes")), target, data["floor"])

    def to_json(self) -> str:
        """JSON text that `from_json` reads back without loss, to the last bit."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Circuit:
        """The circuit in a JSON text.

        Args:
            text: What `to_json` returned.

        Raises:
            CircuitError: If it is something else.
        """
        try:
            data = json.loads(text)
        except ValueError as error:
            raise CircuitError("A circuit's text", "be JSON", error, "use circuit.to_json()") from None
        return cls.from_dict(data)

    def save(self, path: str | Path) -> None:
        """Write a JSON file, all of it or nothing.

        Args:
            path: Of the file; one that is there is replaced once all is written.
        """
        write_text(path, self.to_json())

    @classmethod
    def load(cls, path: str | Path) -> Circuit:
        """Read a JSON file.

        Args:
            path: Of a file that `save` wrote.

        Raises:
            CircuitError: If it holds no circuit.
        """
        return cls.from_json(read_text(path))

    # -- computing ------------------------------------------------------------------------------------------------

    @cached_property
    def cells(self) -> tuple[Cells, ...]:
        """The leaves of every variable over its cells; what the sweeps and the engines compute with."""
        return cells_of(self)

    @cached_property
    def core(self) -> CoreCircuit:
        """This circuit in the compiled core."""
        return compiled(self, self.cells)

    @property
    def has_blocks(self) -> bool:
        """Whether a node is a Gaussian block."""
        return any(isinstance(node, GaussianBlock) for node in self.nodes)

    @cached_property
    def ratio_core(self) -> CoreCircuit:
        """In the compiled core, a circuit whose logarithm at a row is its coherence; for one without blocks and families."""
        return ratios(self, self.cells, self.core)

    def __getstate__(self) -> dict[str, Any]:
        """The value alone: what was compiled is compiled again where it is needed."""
        return {key: value for key, value in self.__dict__.items() if key not in ("cells", "core", "ratio_core")}


def _array(X: Any) -> Numbers:
    """Encoded rows; one row may be given as a list of numbers."""
    try:
        return np.atleast_2d(np.asarray(X, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise CircuitError("An array of rows", "hold numbers", error, "use circuit.encode(X, y) with a table") from None


def _listed(data: Mapping[str, Any], key: str) -> list[Any]:
    items = data[key]
    if not isinstance(items, list):
        raise CircuitError(f"The {key} of a circuit", "be a list", type(items).__name__, "use circuit.to_json()")
    return items
