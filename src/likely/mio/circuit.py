"""`encode_circuit`: the log-likelihood of the row, in the paper's formulation or as a flow."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from likely.circuit import Circuit, GaussianBlock, Sum
from likely.errors import CircuitError
from likely.mio.inputs import Cells, RowVariables
from likely.mio.leaves import Side, VariableLeaves
from likely.mio.modelling import Block, Expression, Variable
from likely.mio.refining import Refinement
from likely.schema.values import Numbers

Formulation: TypeAlias = Literal["paper", "hull"]


@dataclass(eq=False)
class Likelihood:
    """A circuit in a programme: `block` to put into a model; `log_likelihood` is a variable that the row bounds from above."""

    circuit: Circuit
    block: Block
    log_likelihood: Variable
    set: Callable[[Numbers], None]
    #: What `log_likelihood` can be at most, at each row (with its class, NaN for any): what the formulation promises; of blocks,
    #: where it is refined.
    value: Callable[[Numbers], float]
    #: The cells of features of numbers that the block has 0-1 variables for.
    cells: Mapping[int, Cells] = field(default_factory=dict)
    #: Cut off the variables' values where they have more nats than blocks have, by more than so many; whether they had.
    refine: Callable[[Refinement, float], bool] = field(default_factory=lambda: _nothing_to_refine)


def _nothing_to_refine(refinement: Refinement, above: float) -> bool:
    """What `refine` is of a circuit without blocks."""
    return False


def encode_circuit(
    circuit: Circuit,
    inputs: RowVariables,
    *,
    target: Sequence[Expression] | None = None,
    formulation: Formulation = "hull",
    side: Side = "under",
    big_m: float | None = None,
) -> Likelihood:
    """The logarithm of the circuit's density of the row, from below (`side="under"`) or from above ("over").

    `log_likelihood` can be raised up to an approximation of log p(row) and no further, so it is to be bounded from below or
    maximised. With w_a the weights of a sum's n children and o_a their values, a sum is

        under   max_a (o_a + log w_a)                                       <= log sum_a w_a exp(o_a)
        over    min( max_a (o_a + log w_a) + log n, max_a o_a + log sum w ) >= log sum_a w_a exp(o_a)

    "under" is the paper's. `formulation="paper"`: see `likely.mio.circuit_paper`; its big-M are computed from bounds of
    every node, unless `big_m` says otherwise (100, "hoping it is enough", is the published code). `formulation="hull"`: see
    `likely.mio.circuit_hull`; there is no big-M, and "over" is the smaller of two maxima at the root instead of at every
    sum. `target` are 0-1 expressions for the values of the circuit's target, and a last one for "any"; without it, the
    target is summed over. A density that is no histogram is cut into pieces, and taken at its least or greatest on each.

    A Gaussian block, which "paper" refuses, is bounded from above by tangents on both sides (`likely.mio.circuit_blocks`), so
    that `log_likelihood` may exceed what is said above until `Likelihood.refine` has nothing to add.

    Args:
        circuit: The density.
        inputs: The row.
        target: The class of the row.
        formulation: "hull" or "paper".
        side: "under" or "over".
        big_m: For "paper": one constant for all nodes, instead of bounds of each.
    """
    from likely.mio.circuit_hull import encode_hull
    from likely.mio.circuit_paper import encode_paper

    if side not in ("under", "over") or formulation not in ("paper", "hull"):
        rule = "be 'paper' or 'hull', and its side 'under' or 'over'"
        raise CircuitError("The formulation of a circuit", rule, repr((formulation, side)), "leave both out")
    blocks = [node for node in circuit.nodes if isinstance(node, GaussianBlock)]
    coded = [circuit.variables[j] for block in blocks for j in block.variables if circuit.variables[j].atoms]
    if coded:
        raise CircuitError(
            "A Gaussian block in a mixed-integer programme", "be over features without special codes", f"{coded[0].name!r}",
            "ask the exact engine, or learn with method='histograms'", feature=coded[0].name,
        )  # fmt: skip
    if formulation == "hull":
        return encode_hull(circuit, inputs, target, side)
    if blocks:
        raise CircuitError(
            "A circuit in the paper's formulation", "have leaves of one variable each", f"{len(blocks)} Gaussian block(s)",
            "use formulation='hull', which bounds blocks by tangents",
        )  # fmt: skip
    return encode_paper(circuit, inputs, target, side, big_m)


def edge_logs(node: Sum, side: Side) -> list[Numbers]:
    """What is added to the children of a sum: one maximum for "under", two for "over" (-inf for a weight of 0).

    Args:
        node: The sum.
        side: "under" or "over".
    """
    weights = np.array(node.weights)
    with np.errstate(divide="ignore"):
        logs = np.log(weights)
    if side == "under":
        return [logs]
    flat = np.where(weights > 0, math.log(max(weights.sum(), 5e-324)), -np.inf)
    return [logs + math.log((weights > 0).sum()), flat]


def leaf_values(parts: Sequence[VariableLeaves], row: Numbers) -> dict[int, tuple[VariableLeaves, int, tuple[str, int], float]]:
    """For every leaf: its variable, its number there, where it has the row's value, and its logarithm there.

    Args:
        parts: The leaves of every variable.
        row: A row with its class, as doubles.
    """
    leaves = {}
    for part, value in zip(parts, row, strict=True):
        for i, leaf in enumerate(part.leaves):
            place = part.place(i, float(value))
            leaves[leaf] = part, i, place, part.log(i, place)
    return leaves
