"""Circuits made of circuits: marginals, conditionals, and the same circuit with fewer nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from likely.circuit.model.box import leaf_logs
from likely.circuit.model.circuit import Circuit
from likely.circuit.model.nodes import Leaf, Node, Product, Sum
from likely.errors import CircuitError
from likely.schema.values import Name, Numbers


def marginal(circuit: Circuit, names: Iterable[Name]) -> Circuit:
    """The circuit of some of the variables, all others summed over."""
    kept = {circuit.index(name) for name in names}
    if not kept:
        raise CircuitError("A marginal", "keep a variable", "none", f"name some of {list(circuit.names)}")
    return _restricted(circuit, kept, np.full(len(circuit.variables), np.nan))


def conditional(circuit: Circuit, evidence: Mapping[Name, Any]) -> Circuit:
    """The circuit of the other variables, given values of some (as the user writes values)."""
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


def _restricted(circuit: Circuit, kept: set[int], row: Numbers) -> Circuit:
    """The circuit over `kept`, the other variables being what `row` says (NaN: summed over).

    Each node becomes its own conditional: a sum's weights are multiplied by what the evidence makes of its children and
    normalised again; children without a variable left are constants and fall away.
    """
    logs = circuit.core.sweep(leaf_logs(circuit, row[None, :]))[0]
    if logs[-1] == -np.inf:
        raise CircuitError("Evidence", "be possible", "a row of likelihood 0", "use a circuit with a floor")
    place_of = {old: new for new, old in enumerate(sorted(kept))}
    made: list[Node] = []
    seen: dict[Node, int] = {}
    where: list[int | None] = []
    for node in circuit.nodes:
        new = _restricted_node(node, logs, where, place_of)
        if isinstance(new, int) or new is None:
            where.append(new)
            continue
        if new not in seen:
            seen[new] = len(made)
            made.append(new)
        where.append(seen[new])
    target = circuit.target if circuit.target and len(circuit.variables) - 1 in kept else None
    features = tuple(feature for j, feature in enumerate(circuit.features) if j in kept)
    root = where[-1]
    assert root is not None
    return Circuit(features, reachable(made, root), target, circuit.floor)


def _restricted_node(node: Node, logs: Numbers, where: list[int | None], place_of: dict[int, int]) -> Node | int | None:
    """The new node, the place of one that does as well, or None for a constant."""
    if isinstance(node, Leaf):
        return _moved(node, place_of[node.variable]) if node.variable in place_of else None
    if isinstance(node, Product):
        places = [found for child in node.children if (found := where[child]) is not None]
        return places[0] if len(places) == 1 else Product(tuple(places)) if places else None
    if where[node.children[0]] is None:
        return None
    with np.errstate(divide="ignore"):
        terms = np.log(node.weights) + logs[list(node.children)]
    shares = np.exp(terms - terms.max()) if terms.max() > -np.inf else np.asarray(node.weights)
    return mixed([where[child] for child in node.children], shares)


def _moved(leaf: Leaf, variable: int) -> Leaf:
    inner = getattr(leaf, "numbers", None)
    return replace(leaf, variable=variable, **({"numbers": replace(inner, variable=variable)} if inner is not None else {}))


def mixed(children: Iterable[int | None], shares: Iterable[float]) -> Node | int:
    """A sum with the weights of equal children added and those of weight 0 dropped; the child itself if one is left."""
    total: dict[int, float] = {}
    for child, share in zip(children, shares, strict=True):
        if share > 0 and child is not None:
            total[child] = total.get(child, 0.0) + float(share)
    if len(total) == 1:
        return next(iter(total))
    scale = sum(total.values())
    return Sum(tuple(total), tuple(share / scale for share in total.values()))


def reachable(nodes: list[Node], root: int) -> tuple[Node, ...]:
    """The nodes below a root, and itself, in order."""
    needed = {root}
    for place in range(root, -1, -1):
        node = nodes[place]
        if place in needed and isinstance(node, (Sum, Product)):
            needed |= set(node.children)
    place_of = {old: new for new, old in enumerate(sorted(needed))}
    return tuple(_renumbered(nodes[old], place_of) for old in place_of)


def _renumbered(node: Node, place_of: Mapping[int, int]) -> Node:
    if isinstance(node, (Sum, Product)):
        return replace(node, children=tuple(place_of[child] for child in node.children))
    return node


def merged(circuit: Circuit) -> Circuit:
    """The same circuit with equal nodes made one, sums and products of one child dropped."""
    return _restricted(circuit, set(range(len(circuit.variables))), np.full(len(circuit.variables), np.nan))
