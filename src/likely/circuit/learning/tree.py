"""Trees whose variables remember: the shape of small circuits over discrete tables.

In a Chow-Liu tree a variable depends on its parent's value. Here it depends on a *context*, one of a few, to which the
parent's context and value lead:

    context of v = route[v][context of parent, value of parent]
    p(row)       = product over v of p(value of v | context of v)

With a context per value of the parent it is a Chow-Liu tree (1968); where all variables know the values at the top it is
a cutset network (Rahman, Kothalkar and Gogate 2014). But a variable may also know one thing about an ancestor
far away, and then only the variables in between have more contexts, not all below. `Tree.remembering` makes such a tree of
another: one context of a variable learns whether the value of another variable is among some.

As a circuit, a context is a sum over the variable's values, each a product of the value and one context per child. All
contexts are shared by whatever leads to them, so nodes grow with what is remembered and not with the ways to get there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from likely.circuit.learning.bins import Indices

Flags: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Tree:
    """Variables with their parents (-1 of the root), and the routes (context x value of the parent) to their contexts."""

    values: tuple[int, ...]  # how many each variable has
    parent: tuple[int, ...]
    route: tuple[Indices, ...]  # that of the root is [[0]]
    contexts: tuple[int, ...]  # how many each variable has

    @classmethod
    def forgetful(cls, values: Sequence[int], parent: Sequence[int]) -> Tree:
        """The tree in which every variable has one context: all are independent."""
        routes = (np.zeros((1, 1 if above < 0 else values[above]), dtype=np.intp) for above in parent)
        return cls(tuple(values), tuple(parent), tuple(routes), (1,) * len(values))

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each variable."""
        children: list[list[int]] = [[] for _ in self.parent]
        for variable, above in enumerate(self.parent):
            if above >= 0:
                children[above].append(variable)
        return tuple(map(tuple, children))

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The variables, parents first."""
        order = [self.parent.index(-1)]
        for variable in order:
            order += self.children[variable]
        return tuple(order)

    def line(self, variable: int) -> list[int]:
        """A variable, its parent, and so on to the root."""
        line = [variable]
        while self.parent[line[-1]] >= 0:
            line.append(self.parent[line[-1]])
        return line

    # -- nodes ----------------------------------------------------------------------------------------------------

    def below(self, variable: int) -> Indices:
        """Where a variable's context and value lead: a number for each combination of its children's contexts."""
        below = np.zeros((self.contexts[variable], self.values[variable]), dtype=np.intp)
        for child in self.children[variable]:
            pairs = below * self.contexts[child] + self.route[child]
            below = _numbered(pairs)[1]
        return below

    def grouped(self, variable: int) -> tuple[bool, int]:
        """Whether it saves nodes to treat as one the values that lead to the same; and the nodes of the variable.

        A context all of whose values lead to the same is a leaf in the products above it. Other contexts are sums over
        values, which share a leaf per value and the products of a value and what is below; or over groups of values,
        where each group of two or more has a leaf and a product for this context alone.
        """
        if not self.children[variable]:
            return False, self.contexts[variable]
        below, values = self.below(variable), np.arange(self.values[variable])
        context, width = np.arange(len(below))[:, None], int(below.max()) + 1
        members = np.bincount((context * width + below).ravel(), minlength=len(below) * width).reshape(-1, width)
        split = np.count_nonzero(members, axis=1) > 1
        alone = split[:, None] & (members[context, below] == 1)
        kinds = below * len(values) + values
        by_value = _distinct(kinds[split]) + (len(values) if split.any() else 0)
        by_group = _distinct(kinds[alone]) + int(alone.any(axis=0).sum()) + 2 * int((members[split] > 1).sum())
        return by_group < by_value, len(below) + min(by_group, by_value)

    # -- remembering more -----------------------------------------------------------------------------------------

    def remembering(self, variable: int, context: int, other: int, yes: Flags) -> tuple[Tree, dict[int, Indices]]:
        """The tree in which a context knows whether the value of another variable is among those that `yes` marks.

        If the other variable is not above this one, the branch that holds this one is hung below it first, and whatever
        the branch knew is remembered on the way. Also the contexts that have changed: of each variable that may have
        more contexts now, the old one of each of the new. The other variable must not be below.
        """
        draft = _Draft(self)
        if other not in self.line(variable):
            draft.hang(variable, other)
        path = draft.path(other, variable)
        wanted = [np.arange(self.contexts[variable]) == context]
        for step in path[:0:-1]:
            wanted.append(wanted[-1][draft.route[step]].any(axis=1))
        draft.carry(path, wanted[::-1], np.broadcast_to(yes, draft.route[path[0]].shape).astype(np.intp))
        return draft.tree_now(), draft.origin


class _Draft:
    """A tree being changed."""

    def __init__(self, tree: Tree) -> None:
        self.tree, self.parent, self.route = tree, list(tree.parent), list(tree.route)
        self.origin: dict[int, Indices] = {}

    def tree_now(self) -> Tree:
        """The tree that it has become."""
        contexts = list(self.tree.contexts)
        for variable, old in self.origin.items():
            contexts[variable] = len(old)
        return Tree(self.tree.values, tuple(self.parent), tuple(self.route), tuple(contexts))

    def path(self, above: int, variable: int) -> list[int]:
        """From a child of an ancestor down to a variable."""
        path = [variable]
        while self.parent[path[-1]] != above:
            path.append(self.parent[path[-1]])
        return path[::-1]

    def hang(self, variable: int, other: int) -> None:
        """Hang the branch with a variable, where it parts from the one with another, below that other."""
        above = set(self.tree.line(other))
        meet = next(ancestor for ancestor in self.tree.line(variable) if ancestor in above)
        branch, path = self.path(meet, variable)[0], self.path(meet, other)
        everywhere = [np.ones(self.tree.contexts[ancestor], dtype=np.bool_) for ancestor in path]
        known = self.carry(path, everywhere, self.route[branch])
        self.route[branch] = np.repeat(known[:, None], self.tree.values[other], axis=1)
        self.parent[branch] = other

    def carry(self, path: Sequence[int], wanted: Sequence[Flags], label: Indices) -> Indices:
        """Let contexts remember a label, which the context and value above the path have, down a path.

        Only the wanted contexts do. The result is the label of each new context at the end of the path.
        """
        for variable, remembers in zip(path, wanted, strict=True):
            route = self.route[variable]
            count = int(label.max()) + 1
            kept, self.route[variable] = _numbered(route * count + np.where(remembers[route], label, 0))
            old, carried = np.divmod(kept, count)
            self.origin[variable] = old
            for child in self.tree.children[variable]:
                self.route[child] = self.route[child][old]
            label = carried[:, None]
        return carried


def _numbered(codes: Indices) -> tuple[Indices, Indices]:
    """The codes that occur, and for each code its place among them."""
    kept = np.flatnonzero(np.bincount(codes.ravel()))
    return kept, np.searchsorted(kept, codes)


def _distinct(codes: Indices) -> int:
    return int(np.count_nonzero(np.bincount(codes.ravel())))
