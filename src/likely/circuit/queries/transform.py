"""Circuits made of circuits: marginals, conditionals, and the same circuit with fewer nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from likely.circuit.model.blocks import GaussianBlock
from likely.circuit.model.box import leaf_logs
from likely.circuit.model.builder import Builder, mixed
from likely.circuit.model.circuit import Circuit
from likely.circuit.model.nodes import Coded, Leaf, Node, Product
from likely.errors import CircuitError
from likely.schema.values import Name, Numbers


def marginal(circuit: Circuit, names: Iterable[Name]) -> Circuit:
    """The marginal distribution of some variables, all others summed over.

    Args:
        circuit: The joint distribution.
        names: The variables to keep, at least one.

    Returns:
        A circuit of these variables, in the order of `circuit`.

    Raises:
        CircuitError: If a variable is not in the circuit, or none is kept.
    """
    kept = {circuit.index(name) for name in names}
    if not kept:
        raise CircuitError("A marginal", "keep a variable", "none", f"name some of {list(circuit.names)}")
    return _restricted(circuit, kept, np.full(len(circuit.variables), np.nan))


def conditional(circuit: Circuit, evidence: Mapping[Name, Any]) -> Circuit:
    """The conditional distribution of the other variables, given values of some.

    Args:
        circuit: The joint distribution.
        evidence: Values by the name of their variable, as the user writes values.

    Returns:
        A circuit of the variables without evidence.

    Raises:
        CircuitError: If the evidence names no variable of the circuit, is unknown (NaN), impossible, or leaves nothing open.
    """
    row = np.full(len(circuit.variables), np.nan)
    for name, value in evidence.items():
        j = circuit.index(name)
        row[j] = circuit.variables[j].number(value)
        if np.isnan(row[j]):
            raise CircuitError(f"The evidence for {name!r}", "be a value", repr(value), "leave it out", feature=name)
    kept = {j for j, number in enumerate(row) if np.isnan(number)}
    if not kept:
        raise CircuitError("Evidence", "leave a variable open", "a value of each", "use log_likelihood")
    return _restricted(circuit, kept, row)


def merged(circuit: Circuit) -> Circuit:
    """The same distribution with fewer nodes: equal ones are made one, sums and products of one child are dropped.

    Args:
        circuit: Any circuit.
    """
    return _restricted(circuit, set(range(len(circuit.variables))), np.full(len(circuit.variables), np.nan))


def _restricted(circuit: Circuit, kept: set[int], row: Numbers) -> Circuit:
    """The circuit over `kept`, the other variables being what the evidence in `row` says (NaN: summed over).

    Each node becomes its own conditional: a sum's weights are multiplied by the likelihood that the evidence has under
    its children, and normalised again; children without a variable left are constants and fall away.
    """
    logs = circuit.core.sweep(leaf_logs(circuit, row[None, :]))[0]
    if logs[-1] == -np.inf:
        raise CircuitError("Evidence", "be possible", "a row of likelihood 0", "use a circuit with a floor")
    new_variable = {old: new for new, old in enumerate(sorted(kept))}
    builder = Builder()
    where: list[int | None] = []  # of each old node: the place of its conditional, None for a constant
    for node in circuit.nodes:
        new = _restricted_node(node, row, logs, where, new_variable)
        where.append(new if isinstance(new, int) or new is None else builder.add(new))
    target = circuit.target if circuit.target and len(circuit.variables) - 1 in kept else None
    features = tuple(feature for j, feature in enumerate(circuit.features) if j in kept)
    root = where[-1]
    assert root is not None
    return Circuit(features, builder.below(root), target, circuit.floor)


def _restricted_node(
    node: Node, row: Numbers, logs: Numbers, where: Sequence[int | None], new_variable: Mapping[int, int]
) -> Node | int | None:
    """The new node, the place of one that does as well, or None for a constant."""
    if isinstance(node, Leaf):
        return _moved(node, new_variable[node.variable]) if node.variable in new_variable else None
    if isinstance(node, GaussianBlock):
        return _restricted_block(node, row, new_variable)
    children = [place for child in node.children if (place := where[child]) is not None]
    if not children:
        return None
    if isinstance(node, Product):
        return children[0] if len(children) == 1 else Product(tuple(children))
    with np.errstate(divide="ignore"):
        terms = np.log(node.weights) + logs[list(node.children)]
    shares = np.exp(terms - terms.max()) if terms.max() > -np.inf else np.asarray(node.weights)
    return mixed(children, shares)  # smooth: what has a variable left in one child of a sum has it in all


def _restricted_block(block: GaussianBlock, row: Numbers, new_variable: Mapping[int, int]) -> GaussianBlock | None:
    """The block given what the evidence says of its other variables, or summed over them; None if none is left."""
    kept = [i for i, variable in enumerate(block.variables) if variable in new_variable]
    if not kept:
        return None
    given = row[list(block.variables)]
    block = block.marginal([i for i in range(len(given)) if i in kept or not np.isnan(given[i])])
    if len(kept) < len(block.variables):
        block = block.conditional(row[list(block.variables)])
    return replace(block, variables=tuple(new_variable[variable] for variable in block.variables))


def _moved(leaf: Leaf, variable: int) -> Leaf:
    """A leaf of another variable."""
    if isinstance(leaf, Coded) and leaf.numbers is not None:
        return replace(leaf, variable=variable, numbers=replace(leaf.numbers, variable=variable))
    return replace(leaf, variable=variable)
