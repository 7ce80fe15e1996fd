"""The nodes of a circuit while it is made: equal nodes are one, products in products and sums in sums are flat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from likely.circuit.model.nodes import Node, Product, Sum
from likely.circuit.queries.transform import mixed


@dataclass
class Builder:
    """The nodes made so far; an equal node is the same node."""

    made: list[Node] = field(default_factory=list)
    place: dict[Node, int] = field(default_factory=dict)

    def add(self, node: Node) -> int:
        """The place of a node."""
        if node not in self.place:
            self.place[node] = len(self.made)
            self.made.append(node)
        return self.place[node]

    def product(self, children: Sequence[int]) -> int:
        """A product; its children that are products give it theirs."""
        flat: list[int] = []
        for child in children:
            node = self.made[child]
            flat += node.children if isinstance(node, Product) else (child,)
        return flat[0] if len(flat) == 1 else self.add(Product(tuple(flat)))

    def sum(self, children: Sequence[int], weights: Sequence[float]) -> int:
        """A sum; its children that are sums give it theirs, with their share."""
        flat: list[int] = []
        shares: list[float] = []
        for child, weight in zip(children, weights, strict=True):
            node = self.made[child]
            inner = (node.children, node.weights) if isinstance(node, Sum) else ((child,), (1.0,))
            flat += inner[0]
            shares += [weight * own for own in inner[1]]
        found = mixed(flat, shares)
        return found if isinstance(found, int) else self.add(found)
