"""The cells of a feature as the leaves of a binary tree, down which flows over intervals go to single cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from likely.mio.modelling import Block, Expression, Variable, add, total

#: First and last cell of a node of the tree.
Node: TypeAlias = tuple[int, int]


def pieces_of(node: Node, first: int, last: int) -> list[Node]:
    """The fewest nodes below a node that together are the cells from `first` to `last`.

    Args:
        node: A node of the tree.
        first: The first cell.
        last: The last cell.
    """
    low, high = node
    if last < low or high < first:
        return []
    if first <= low and high <= last:
        return [node]
    left, right = halves(node)
    return [*pieces_of(left, first, last), *pieces_of(right, first, last)]


def halves(node: Node) -> tuple[Node, Node]:
    """The two children of a node of more than one cell.

    Args:
        node: A node of the tree.
    """
    low, high = node
    middle = (low + high) // 2
    return (low, middle), (middle + 1, high)


class CellTree:
    """Flows over intervals of cells, tied to the 0-1 variables of the cells.

    An interval is the sum of at most 2 log2 C nodes of a binary tree over the C cells. With the flows z that `enter` at a
    node, and those that come down the tree:

        inner node:  sum of z there + from above = to the left + to the right       2 columns, 1 row
        cell c:      sum of z there + from above = s_c                              1 row

    Guarantee: the s_c that are allowed are those to which the flows can be distributed, each within its interval - the
    projection of a column per interval and cell, without these columns. Nodes that nothing reaches have no row.
    """

    def __init__(self, count: int) -> None:
        self.root: Node = (0, count - 1)
        self.entered: dict[Node, list[Variable]] = {}
        self.edges: dict[Node, Variable] = {}  # into each node

    def enter(self, first: int, last: int, new: Callable[[], Variable]) -> dict[Node, Variable]:
        """Flows over the cells from `first` to `last`: a new variable for each piece.

        Args:
            first: The first cell.
            last: The last cell.
            new: Makes a variable.
        """
        flows = {piece: new() for piece in pieces_of(self.root, first, last)}
        for piece, flow in flows.items():
            self.entered.setdefault(piece, []).append(flow)
        return flows

    def encode(self, block: Block, cells: list[Expression], new: Callable[[], Variable]) -> None:
        """The rows of the tree, and a new variable for every edge.

        Args:
            block: Where rows go.
            cells: What arrives at each cell.
            new: Makes a variable.
        """
        stack = [self.root]
        while stack:
            node = stack.pop()
            arriving = [*self.entered.get(node, ()), *([self.edges[node]] if node in self.edges else ())]
            if node[0] == node[1]:
                add(block, total(arriving) == cells[node[0]])
                continue
            if arriving:
                self.edges |= {half: new() for half in halves(node)}
                add(block, total(arriving) == total(self.edges[half] for half in halves(node)))
            stack += halves(node)

    def set(self, entered: dict[Node, Variable], cell: int) -> None:
        """Send one unit from the piece of an interval that holds a cell down to it.

        Args:
            entered: The flows of the interval, by piece.
            cell: The cell.
        """
        for (low, high), flow in entered.items():
            if low <= cell <= high:
                flow.set_value(1)
                self._descend((low, high), cell)

    def _descend(self, node: Node, cell: int) -> None:
        while node[0] < node[1]:
            node = next(half for half in halves(node) if half[0] <= cell <= half[1])
            self.edges[node].set_value(1)
