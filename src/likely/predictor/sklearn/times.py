"""Functions of a column of times in a pipeline: hours of the day, days of the week, years since a date.

A column of times has whole numbers of a unit, from its lower bound to its upper one: the function is asked for every one of
them. So it may be any function of the cell; what it makes of one may not depend on the others.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from likely.errors import PredictorError, UnsupportedModelError
from likely.predictor.wires import CASTS, Map, ModelInputs, Step, Wire
from likely.schema.features import Feature
from likely.schema.times import DATE
from likely.schema.values import Numbers

#: Of so many times a function is asked, and so often it may change between them.
MOST_TIMES, MOST_CHANGES = 200_000, 5_000


def reads_times(inputs: ModelInputs) -> bool:
    """Whether one of the inputs is a column of times.

    Args:
        inputs: What a transformer is given.
    """
    return any(wire.dtype == DATE for wire in inputs.wires)


def function_of_times(transformer: Any, inputs: ModelInputs, called: str) -> ModelInputs:
    """What a FunctionTransformer makes of a column of times, one input for each column that it makes.

    Args:
        transformer: It is fitted.
        inputs: A column of times.
        called: The name of the function, for errors.
    """
    wire = inputs.wires[0]
    feature = inputs.schema.features[wire.feature]
    if len(inputs) > 1:
        raise UnsupportedModelError(
            "A FunctionTransformer of times", "be given one column", f"{len(inputs)}",
            "give each column a FunctionTransformer of its own; or compute what depends on several in the table",
            feature=wire.name,
        )  # fmt: skip
    _refuse_many(feature, int(feature.upper - feature.lower) + 1 if feature.numeric else 0, MOST_TIMES, "a range of")
    numbers = np.arange(feature.lower, feature.upper + 1) if feature.numeric else np.empty(0)
    codes = [feature.atom_number(k) for k in range(len(feature.atoms))]
    cells = feature.decode(np.concatenate([codes, numbers]))
    made = list(_made(transformer, cells, called))
    wires = tuple(_tabulated(wire, feature, numbers, column, called) for column in made)
    return replace(inputs, wires=wires, untouched=False)


def _refuse_many(feature: Feature, count: int, most: int, what: str) -> None:
    if count > most:
        raise UnsupportedModelError(
            f"Feature {feature.name!r}", f"have at most {most} times that a function in the pipeline tells apart",
            f"{what} {count}", "count it in a longer unit, or compute the number in the table", feature=feature.name,
        )  # fmt: skip


def _made(transformer: Any, cells: pd.Series[Any], called: str) -> Iterator[NDArray[Any]]:
    """The columns that the transformer makes of cells; refuses what is no number, or depends on other cells."""
    asked = _asked(transformer, cells)
    some = slice(len(cells) // 2, 0, -1) if len(cells) > 1 else slice(1)  # another order, least, greatest and mean
    again = _asked(transformer, cells[some])
    for made, other in zip(asked, again, strict=True):
        if not (types.is_numeric_dtype(made.dtype) or types.is_bool_dtype(made.dtype)):
            raise _refusal(cells, "be made numbers", f"dtype {made.dtype} of {called}")
        numbers = made.to_numpy(dtype=np.float64, na_value=np.nan)
        if not np.array_equal(numbers[some], other.to_numpy(dtype=np.float64, na_value=np.nan), equal_nan=True):
            raise _refusal(cells, "be read cell by cell", f"{called}, which makes something else of a cell in another table")
        yield numbers.astype(str(made.dtype) if str(made.dtype) in CASTS else "float64")


def _refusal(cells: pd.Series[Any], rule: str, got: str) -> PredictorError:
    name: Any = cells.name
    return PredictorError(f"Feature {name!r}", rule, got, "compute the column in the table", feature=name)


def _asked(transformer: Any, cells: pd.Series[Any]) -> list[pd.Series[Any]]:
    """What the transformer makes of a table of one column, or where it takes none, of the column."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = transformer.transform(cells.to_frame())
        except (AttributeError, TypeError, ValueError, KeyError):
            made = transformer.transform(cells)  # as a ColumnTransformer gives a column that is named without a list
    table = pd.DataFrame(made)
    return [table.iloc[:, c] for c in range(table.shape[1])]


def _tabulated(wire: Wire, feature: Feature, numbers: Numbers, made: NDArray[Any], called: str) -> Wire:
    codes = len(feature.atoms)
    atoms, table = tuple(made[:codes].tolist()), made[codes:]
    dtype = made.dtype.name
    if not feature.numeric:
        return replace(wire, atoms=atoms, steps=(), dtype=dtype)
    if not np.isfinite(table).all():
        raise _refusal(pd.Series(name=feature.name, dtype=object), "be made finite numbers", f"{table.min()} by {called}")
    return replace(wire, atoms=atoms, steps=_steps(feature, numbers, table, called), dtype=dtype)


def _steps(feature: Feature, numbers: Numbers, table: NDArray[Any], called: str) -> tuple[Step, ...]:
    """A line through all times, if there is one to the last bit; else a function that is constant between times."""
    for steps in _lines(numbers, table):
        reads: NDArray[Any] = numbers
        for step in steps:
            reads = step.apply(reads)
        if np.array_equal(reads, table):
            return steps
    starts = numbers[1:][table[1:] != table[:-1]]
    _refuse_many(feature, len(starts), MOST_CHANGES, "as many as")

    def function(at: NDArray[Any]) -> NDArray[Any]:
        places = np.clip(np.floor(at) - numbers[0], 0, len(table) - 1)
        return np.asarray(table[places.astype(np.intp)])

    return (Map(function=function, called=called, edges=tuple(starts.tolist())),)


def _lines(numbers: Numbers, table: NDArray[Any]) -> Iterator[tuple[Step, ...]]:
    """Lines that may run through all times: from the first to the last one, counted from 1970 or from the first one."""
    if table.dtype != np.float64 or len(table) < 2 or table[0] == table[-1]:
        return
    slope = float((table[-1] - table[0]) / (numbers[-1] - numbers[0]))
    for scale in (Step("multiply", slope), Step("divide", 1 / slope), Step("divide", float(round(1 / slope)))):
        if scale.value:
            yield (scale,)
            for start in (numbers[0] - round(table[0] / slope), numbers[0]):
                value = float(table[0]) if start == numbers[0] else 0.0
                yield (Step("subtract", float(start)), scale, *((Step("add", value),) if value else ()))
