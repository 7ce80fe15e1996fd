"""Everything that imports Pyomo: the modelling language, under the names that the other files use."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO, TypeAlias

import numpy as np

from likely.errors import MissingExtraError

#: Pyomo has no types of its own: a block, a variable, and anything linear in variables.
Block: TypeAlias = Any
Variable: TypeAlias = Any
Expression: TypeAlias = Any

__all__ = [
    "Block",
    "Expression",
    "OutOfTimeError",
    "Variable",
    "add",
    "binaries",
    "columns_of",
    "growing",
    "in_time",
    "new_block",
    "new_blocks",
    "numbers",
    "objective",
    "parameter",
    "programme",
    "reals",
    "require_pyomo",
    "rows",
    "rows_of",
    "seconds_left",
    "size",
    "solver_module",
    "total",
    "until",
    "value_of",
    "write",
    "write_for_solver",
]


@cache
def _pyomo() -> Any:
    """Pyomo, imported when the first block is made: who asks for none needs no extra."""
    try:
        import pyomo.environ
    except ImportError:
        raise MissingExtraError("pyomo", "mio", "write mixed-integer programmes") from None
    return pyomo.environ


class OutOfTimeError(Exception):
    """A model is not ready in time; whoever set the time catches it."""


_clock = threading.local()


@contextmanager
def until(moment: float) -> Iterator[None]:
    """While a model is built, or read by a solver, which ends by `OutOfTimeError` at a moment: a large one takes seconds.

    Args:
        moment: By `time.perf_counter`; where one is set already, the earlier one counts.
    """
    before: float = getattr(_clock, "moment", math.inf)
    _clock.moment = min(before, moment)
    try:
        yield
    finally:
        _clock.moment = before


def seconds_left() -> float:
    """What is left until the moment that is set; infinite if none is."""
    return float(getattr(_clock, "moment", math.inf)) - time.perf_counter()


def in_time() -> None:
    """Raise `OutOfTimeError` if the moment that is set has passed."""
    if seconds_left() < 0:
        raise OutOfTimeError


def require_pyomo() -> None:
    """Raise an error that names the extra if Pyomo is not installed."""
    _pyomo()


def programme() -> Block:
    """An empty model."""
    return _pyomo().ConcreteModel()


def new_block() -> Block:
    """An empty block."""
    return _pyomo().Block(concrete=True)


def new_blocks(count: int) -> Block:
    """So many empty blocks, counted from 0.

    Args:
        count: How many.
    """
    return _pyomo().Block(range(count))


def binaries(count: int) -> Variable:
    """So many 0-1 variables, counted from 0.

    Args:
        count: How many.
    """
    return _pyomo().Var(range(count), domain=_pyomo().Binary)


def numbers(count: int, low: float | None = 0.0, high: float | None = 1.0, *, whole: bool = False) -> Variable:
    """So many variables between two ends, counted from 0.

    Args:
        count: How many.
        low: The lower end.
        high: The upper end.
        whole: Whether they are integers.
    """
    return _pyomo().Var(range(count), domain=_pyomo().Integers if whole else _pyomo().Reals, bounds=(low, high))


def growing(low: float | None = 0.0, high: float | None = 1.0, *, whole: bool = False) -> Variable:
    """Variables between two ends, one more with every `add()`.

    Args:
        low: The lower end.
        high: The upper end.
        whole: Whether they are integers.
    """
    return _pyomo().VarList(domain=_pyomo().Integers if whole else _pyomo().Reals, bounds=(low, high))


def reals() -> Any:
    """What a variable is that need not be whole."""
    return _pyomo().Reals


def rows() -> Any:
    """A list of constraints to `add` to."""
    return _pyomo().ConstraintList()


def add(block: Block, relation: Any) -> None:
    """Add a row to the `rows` of a block; one that says nothing is left out, one that nothing fulfils stays infeasible.

    Args:
        block: Where rows go.
        relation: An inequality or equation of expressions.
    """
    in_time()
    if not isinstance(relation, (bool, np.bool_)):
        block.rows.add(relation)
    elif not relation:
        if not hasattr(block, "never"):
            block.never = _pyomo().Var(bounds=(0, 0))
        block.rows.add(block.never >= 1)


def parameter(value: float = 0.0) -> Any:
    """A number that may change between solves.

    Args:
        value: What it is at first.
    """
    return _pyomo().Param(initialize=value, mutable=True)


def objective(expression: Expression) -> Any:
    """To be minimised.

    Args:
        expression: Linear in the variables.
    """
    return _pyomo().Objective(expr=expression, sense=_pyomo().minimize)


def total(terms: Iterable[Expression]) -> Expression:
    """The sum of linear terms.

    Args:
        terms: Expressions and numbers.
    """
    return _pyomo().quicksum(terms)


def value_of(expression: Expression) -> float:
    """What an expression is at the variables' values.

    Args:
        expression: Linear in the variables.
    """
    return float(_pyomo().value(expression))


def columns_of(model: Block) -> list[Variable]:
    """Every variable of a model or block that is not fixed.

    Args:
        model: A model or block.
    """
    return [variable for variable in model.component_data_objects(_pyomo().Var, active=True) if not variable.fixed]


def rows_of(model: Block) -> list[Any]:
    """Every constraint of a model or block.

    Args:
        model: A model or block.
    """
    return list(model.component_data_objects(_pyomo().Constraint, active=True))


def size(model: Block) -> tuple[int, int]:
    """Rows and columns of a model or block.

    Args:
        model: A model or block.
    """
    return len(rows_of(model)), len(columns_of(model))


def write(model: Block, path: str) -> None:
    """Write a model to a file.

    Args:
        model: A model or block.
        path: The file; its ending says how.
    """
    model.write(path, io_options={"symbolic_solver_labels": False})


def write_for_solver(model: Block, path: Path) -> dict[str, Variable]:
    """Write a model to a file that a solver reads (`.lp`), in time; returns the variable of each name that the file uses.

    Args:
        model: A model or block.
        path: The file.
    """
    with path.open("w", encoding="utf-8") as file:
        written = import_module("pyomo.repn.plugins.lp_writer").LPWriter().write(model, _InTime(file))
    symbols = written.symbol_map
    return {name: symbols.getObject(name) for name in symbols.bySymbol if name.startswith("x")}


class _InTime:
    """A file that is written in time: every piece is asked for."""

    def __init__(self, file: TextIO) -> None:
        self.file = file

    def write(self, text: str) -> None:
        """Write a piece.

        Args:
            text: The piece.
        """
        in_time()
        self.file.write(text)


def solver_module(name: str) -> Any:
    """One of Pyomo's interfaces to a solver.

    Args:
        name: Of the module below `pyomo.contrib.appsi.solvers`.
    """
    return import_module(f"pyomo.contrib.appsi.solvers.{name}")
