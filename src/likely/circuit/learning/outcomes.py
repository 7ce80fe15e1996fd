"""Histograms, blocks, or a mixture of both: what is best on held-out rows, learned from all of them.

Circuits of histograms (`learning.model_selection`) and mixtures of blocks (`learning.blocks_selection`) are judged by the same
held-out rows. Blocks are taken if these are likelier by more than a standard error of the difference: histograms are quicker
to search, as they are constant on cells. It is also known row by row how likely a mixture of the two circuits would make
them, with the weight that suits them best: it is taken if it gains more than two such errors, and enough to be worth two
circuits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np

from likely._display.progress import Move
from likely.circuit.learning import blocks_selection, mixture, model_selection
from likely.circuit.learning.binned import Binned
from likely.circuit.learning.bins import bins_of
from likely.circuit.learning.blocks_selection import BlockChoice
from likely.circuit.learning.grow import Grown
from likely.circuit.learning.model_selection import Choice, Judged, clearly_better
from likely.circuit.learning.splits import copies
from likely.circuit.learning.table import Table
from likely.circuit.model.builder import Builder
from likely.circuit.model.nodes import Node, Product, Sum

Method: TypeAlias = Literal["mixture", "tree", "blocks"]

#: What a mixture of both must gain to be worth two circuits: nats per row, and standard errors.
WORTH, ERRORS = 0.1, 2.0
#: Rounds in which the weights of a mixture of two circuits settle, and the least weight of either.
ROUNDS, LEAST_WEIGHT = 50, 0.02


@dataclass(frozen=True)
class Outcome:
    """What a method learned, and how it learns another table with the settings that were chosen."""

    nodes: tuple[Node, ...]
    method: str
    validation: float
    settings: dict[str, float]
    again: Callable[[Table], Outcome] = field(repr=False)
    interrupted: bool = False


@dataclass(frozen=True)
class Learner:
    """How to learn, whatever is chosen."""

    finest: float
    random_state: int
    threads: int

    def binned(self, table: Table) -> Binned:
        """The table by its bins."""
        return Binned.of(table.rows, table.weights, bins_of(table.rows, table.variables, self.finest))

    def chosen(self, table: Table, binned: Binned, methods: tuple[Method, ...], nodes: int | None, move: Move) -> Outcome:
        """What is best on held-out rows, learned from all.

        Args:
            table: What to learn from.
            binned: The same by its bins.
            methods: Which to choose from: "mixture", "tree" and "blocks".
            nodes: The most nodes, if that is given; no mixture of both is made then.
            move: Moves a progress bar.
        """
        first, last = part(move, 0.0, 0.5), part(move, 0.5, 1.0)
        if "blocks" not in methods:
            return self._histograms(binned, self._tried(table, binned, methods, nodes, -math.inf, first), last)
        blocks = blocks_selection.select(
            table, binned, nodes, self.random_state, threads=self.threads, progress=part(first, 0.0, 0.5)
        )
        if blocks.interrupted:
            return replace(self._histograms(binned, model_selection.unjudged(binned, nodes), nowhere), interrupted=True)
        rival = -math.inf if blocks.judged is None else blocks.judged.mean
        choice = self._tried(table, binned, methods, nodes, rival, part(first, 0.5, 1.0))
        if blocks.judged is None or choice.judged is None or (nodes is not None and blocks.plan.size(table) > nodes):
            return self._histograms(binned, choice, last)
        gain = clearly_better(blocks.judged, choice.judged)
        judged, share = mixed(choice.judged, blocks.judged)
        if nodes is None and clearly_better(judged, blocks.judged if gain else choice.judged, matters=WORTH, errors=ERRORS):
            return self._both(table, choice, blocks, judged, share, last)
        return self._blocks(table, binned, blocks, last) if gain else self._histograms(binned, choice, last)

    def _tried(
        self, table: Table, binned: Binned, methods: tuple[Method, ...], nodes: int | None, rival: float, move: Move
    ) -> Choice:
        """Which mixture or tree is best on held-out rows, where blocks are a rival with this mean log-likelihood."""
        return model_selection.select(
            binned,
            nodes,
            self.random_state,
            methods=[each for each in methods if each != "blocks"],
            rival=rival,
            groups=copies(table.rows),
            threads=self.threads,
            progress=move,
        )

    def _histograms(self, binned: Binned, choice: Choice, move: Move) -> Outcome:
        """The mixture or tree that was chosen, learned from all rows."""

        def progress(done: float) -> None:
            move(done, f"{choice.nodes} nodes")

        def again(other: Table) -> Outcome:
            return self._histograms(self.binned(other), replace(choice, kept=None), nowhere)

        fitted = choice.kept or next(
            model_selection.fitted(
                choice.method, binned, [choice.nodes], self.random_state, threads=self.threads, progress=progress
            )
        )
        made = fitted.circuit_nodes if isinstance(fitted, Grown) else mixture.circuit_nodes(fitted, binned.bins)
        return Outcome(made, choice.method, choice.validation, {"nodes at most": float(choice.nodes)}, again, fitted.interrupted)

    def _blocks(self, table: Table, binned: Binned, choice: BlockChoice, move: Move) -> Outcome:
        """The mixture of blocks that was chosen, learned from all rows."""

        def again(other: Table) -> Outcome:
            return self._blocks(other, self.binned(other), choice, nowhere)

        fitted, warps = blocks_selection.learned(table, binned, choice, self.random_state, threads=self.threads, progress=move)
        settings = choice.plan.settings
        chosen = {
            "components": float(settings.components),
            "columns in blocks": float(len(warps)),
            "pooled": settings.pooled,
            "independent": settings.independent,
        }
        made = blocks_selection.circuit_nodes(fitted, warps, binned)
        validation = choice.judged.mean if choice.judged else math.nan
        return Outcome(made, "blocks", validation, chosen, again, fitted.interrupted)

    def _both(self, table: Table, choice: Choice, blocks: BlockChoice, judged: Judged, share: float, move: Move) -> Outcome:
        """A mixture of the circuit of histograms, with this share, and of the one of blocks."""

        def again(other: Table) -> Outcome:
            return self._both(other, choice, blocks, judged, share, nowhere)

        binned = self.binned(table)
        first = self._histograms(binned, choice, part(move, 0.0, 0.5))
        second = self._blocks(table, binned, blocks, part(move, 0.5, 1.0))
        settings = {**first.settings, **second.settings, "share of histograms": share}
        nodes = joined(first.nodes, second.nodes, share)
        interrupted = first.interrupted or second.interrupted
        return Outcome(nodes, f"{first.method} and blocks", judged.mean, settings, again, interrupted)


def mixed(first: Judged, second: Judged) -> tuple[Judged, float]:
    """A mixture of two circuits, judged by the rows that both were judged by, and the best weight of the first."""
    share = 0.5
    for _ in range(ROUNDS):
        logs = np.logaddexp(math.log(share) + first.logs, math.log1p(-share) + second.logs)
        mean = float(np.average(np.exp(math.log(share) + first.logs - logs), weights=first.weights))
        share = min(max(mean, LEAST_WEIGHT), 1 - LEAST_WEIGHT)
    return Judged(logs, first.weights, first.size + second.size), share


def joined(first: tuple[Node, ...], second: tuple[Node, ...], share: float) -> tuple[Node, ...]:
    """The nodes of a mixture of two circuits, the first with this weight."""
    builder = Builder()
    roots = []
    for nodes in (first, second):
        place: list[int] = []
        for node in nodes:
            place.append(builder.add(_moved(node, place)))
        roots.append(place[-1])
    return builder.below(builder.sum(roots, [share, 1 - share]))


def _moved(node: Node, place: list[int]) -> Node:
    if isinstance(node, (Sum, Product)):
        return replace(node, children=tuple(place[child] for child in node.children))
    return node


def part(move: Move, low: float, high: float) -> Move:
    """Moves a bar through a part of it."""
    return lambda done, what: move(low + (high - low) * done, what)


def nowhere(done: float, what: str) -> None:
    """Moves no bar."""
