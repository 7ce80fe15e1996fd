"""`Scores`: what a form computes, as expressions over the inputs of a programme."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from likely.mio.inputs import RowVariables
from likely.mio.modelling import Block, Expression, total
from likely.mio.reach import Reach
from likely.predictor import Form, LinearModel, ReluNetwork
from likely.schema.values import Numbers


@dataclass(eq=False)
class Scores:
    """The scores of a form: `block` to put into a model, an expression per output, and its bounds over all rows."""

    form: Form
    block: Block
    outputs: list[Expression]
    low: Numbers
    high: Numbers
    set: Callable[[Numbers], None]
    #: Adds to a block what holds besides where no feature leaves its reach, and returns what bounds the outputs then.
    tighten: Callable[[Block, Sequence[Reach]], tuple[Numbers, Numbers]]


def encode_columns(form: LinearModel | ReluNetwork, inputs: RowVariables) -> list[Expression]:
    """What the model reads: sum_k table_k d_k + slope (x - base n) + at_base n for each column; no rows of its own.

    `base` is the number from which the feature's variable counts: large numbers that vary little lose no digits so.

    Args:
        form: It says what each column reads.
        inputs: The row.
    """
    columns = []
    for column in form.columns:
        part = inputs.features[column.feature]
        terms = [entry * atom for entry, atom in zip(column.table, part.atoms, strict=False) if entry]
        if part.scale is not None:
            at_base = float(column.at(part.scale.base))
            terms += [column.slope * part.scale.unit * part.variable, at_base * part.is_number]
        columns.append(total(terms))
    return columns


def affine(weights: Numbers, bias: Numbers, inputs: list[Expression]) -> list[Expression]:
    """weights @ inputs + bias.

    Args:
        weights: Output x input.
        bias: Of every output.
        inputs: Expressions.
    """
    return [
        total([float(b), *(float(w) * x for w, x in zip(row, inputs, strict=True) if w)])
        for row, b in zip(weights, bias, strict=True)
    ]
