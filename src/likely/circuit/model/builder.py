"""Circuits under construction: equal nodes are one, products in products and sums in sums are flat."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from likely.circuit.model.nodes import Node, Product, Sum


@dataclass
class Builder:
    """The nodes made so far, children first; an equal node is the same node."""

    nodes: list[Node] = field(default_factory=list)
    place: dict[Node, int] = field(default_factory=dict)

    def add(self, node: Node) -> int:
        """The place of a node."""
        if node not in self.place:
            self.place[node] = len(self.nodes)
            self.nodes.append(node)
        return self.place[node]

    def product(self, children: Sequence[int]) -> int:
        """A product; its children that are products give it theirs."""
        flat: list[int] = []
        for child in children:
            node = self.nodes[child]
            flat += node.children if isinstance(node, Product) else (child,)
        return flat[0] if len(flat) == 1 else self.add(Product(tuple(flat)))

    def sum(self, children: Sequence[int], weights: Sequence[float]) -> int:
        """A sum; its children that are sums give it theirs, with their share."""
        flat: list[int] = []
        shares: list[float] = []
        for child, weight in zip(children, weights, strict=True):
            node = self.nodes[child]
            inner = (node.children, node.weights) if isinstance(node, Sum) else ((child,), (1.0,))
            flat += inner[0]
            shares += [weight * share for share in inner[1]]
        return self.mixture(flat, shares)

    def mixture(self, children: Iterable[int], shares: Iterable[float]) -> int:
        """A sum of children with weights in proportion to their shares, or the only child that has one."""
        node = mixed(children, shares)
        return node if isinstance(node, int) else self.add(node)

    def below(self, root: int) -> tuple[Node, ...]:
        """The nodes of the circuit with this root, in order."""
        return reachable(self.nodes, root)


def mixed(children: Iterable[int], shares: Iterable[float]) -> Node | int:
    """A sum with the weights of equal children added and those of weight 0 dropped; the child itself if one is left."""
    total: dict[int, float] = {}
    for child, share in zip(children, shares, strict=True):
        if share > 0:
            total[child] = total.get(child, 0.0) + float(share)
    if len(total) == 1:
        return next(iter(total))
    scale = sum(total.values())
    return Sum(tuple(total), tuple(share / scale for share in total.values()))


def reachable(nodes: Sequence[Node], root: int) -> tuple[Node, ...]:
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
