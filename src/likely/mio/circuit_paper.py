"""The circuit as the LiCE paper writes it: a 0-1 variable for every bin of every leaf and for every child of every sum.

Němeček, Pevný, Mareček: "Generating likely counterfactuals using sum-product networks", ICLR 2025.

With o_n the value of node n:

    leaf       o_n = sum_v log p_v d_v + sum_r log p_r (1 - b_r)                    1 column,  1 row
      numbers  sum_r (1 - b_r) = n,                                                 a column per bin r, 1 row
               u >= low_r (1 - b_r),   u <= high_r + (U - high_r) b_r               2 rows per bin
    product    o_n = sum_a o_a                                                      1 column,  1 row
    sum        o_n <= o_a + c_a + M_a m_a,   sum_a m_a = (number of children) - 1   1 column + 1 per child, 1 row + 1 per child
    root       log_likelihood <= o_root                                             1 column, 1 row

where c_a = log w_a, d_v the value that the row has, U the greatest scaled number (a leaf with one bin and no codes needs no
bins; a child with weight 0 is left out). M_a is computed: the greatest value of the sum less the least of o_a + c_a. Bins end
at the last double, and decoding keeps to them, so no epsilon is needed. Guarantee: at any row, the greatest
`log_likelihood` is the paper's maximum, to the solver's tolerance. For "over", every sum has its two maxima, each with its own
c_a and m_a. A density of 0 is a number so low that a row with it falls below every other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from likely.circuit import Circuit, Leaf, Product, Sum
from likely.mio.circuit import Likelihood, edge_logs, leaf_values
from likely.mio.inputs import IndicatorBounds, RowVariables
from likely.mio.leaves import Side, VariableLeaves, leaves_of
from likely.mio.modelling import Block, Expression, Variable, add, growing, new_block, numbers, rows, total
from likely.schema.values import Numbers


def encode_paper(
    circuit: Circuit, inputs: RowVariables, target: Sequence[Expression] | None, side: Side, big_m: float | None
) -> Likelihood:
    """The paper's formulation; see the module.

    Args:
        circuit: The density.
        inputs: The row.
        target: 0-1 expressions for the class of the row.
        side: "under" or "over".
        big_m: One constant for all nodes, instead of bounds of each.
    """
    block = new_block()
    maker = _Paper(circuit, leaves_of(circuit, inputs, target, side), side, big_m)
    maker.encode(block)

    def set_values(row: Numbers) -> None:
        maker.set(row)
        block.log_likelihood[0].set_value(maker.values(row)[-1])

    return Likelihood(circuit, block, block.log_likelihood[0], set_values, maker.value)


class _Paper:
    """The variables of the formulation, by node."""

    def __init__(self, circuit: Circuit, parts: list[VariableLeaves], side: Side, big_m: float | None) -> None:
        self.circuit, self.parts, self.big_m = circuit, parts, big_m
        self.edges = {n: edge_logs(node, side) for n, node in enumerate(circuit.nodes) if isinstance(node, Sum)}
        self.place = {leaf: (part, i) for part in parts for i, leaf in enumerate(part.leaves)}
        self.never = -1.0
        self.never = self._never()
        self.low, self.high = self._bounds()
        self.node: dict[int, Variable] = {}
        self.not_bin: dict[tuple[int, int], Variable] = {}
        self.not_child: dict[tuple[int, int, int], Variable] = {}

    # -- bounds -------------------------------------------------------------------------------------------------------

    def _logs(self, n: int) -> Numbers:
        part, i = self.place[n]
        return np.concatenate([part.atom_logs[i], part.runs[i].logs])

    def _never(self) -> float:
        """What stands for log 0: a row that has it at a leaf of its tree is less likely than all that are possible."""
        least, most = self._bounds(possible=True)
        if not math.isfinite(least[-1]):
            return -1.0
        largest = max(
            (float(np.abs(logs[np.isfinite(logs)]).max(initial=0.0)) for logs in map(self._logs, self.place)), default=0.0
        )
        return -(most[-1] - least[-1]) - largest - 10.0

    def _bounds(self, *, possible: bool = False) -> tuple[list[float], list[float]]:
        """What every node is at least and at most; of `possible` values only, infinite where there are none."""
        low: list[float] = []
        high: list[float] = []
        for n, node in enumerate(self.circuit.nodes):
            if isinstance(node, Leaf):
                logs = self._logs(n)
                logs = logs[np.isfinite(logs)] if possible else np.where(np.isfinite(logs), logs, self.never)
                low.append(float(logs.min(initial=math.inf)))
                high.append(float(logs.max(initial=-math.inf)))
            elif isinstance(node, Product):
                ends = [low[a] for a in node.children], [high[a] for a in node.children]
                dead = possible and any(end == -math.inf for end in ends[1])
                low.append(math.inf if dead else sum(ends[0]))
                high.append(-math.inf if dead else sum(ends[1]))
            elif isinstance(node, Sum):
                maxima = [self._ends(node, logs, low, high) for logs in self.edges[n]]
                low.append(min(ends[0] for ends in maxima))
                high.append(min(ends[1] for ends in maxima))
        return low, high

    @staticmethod
    def _ends(node: Sum, logs: Numbers, low: list[float], high: list[float]) -> tuple[float, float]:
        kept = [(low[a] + float(c), high[a] + float(c)) for a, c in zip(node.children, logs, strict=True) if c > -math.inf]
        return min((end for end, _ in kept), default=math.inf), max((end for _, end in kept), default=-math.inf)

    # -- rows ---------------------------------------------------------------------------------------------------------

    def encode(self, block: Block) -> None:
        """All variables and rows."""
        block.rows, block.log_likelihood = rows(), numbers(1, None, None)
        block.node, block.not_bin, block.not_child = growing(None, None), growing(0, 1, whole=True), growing(0, 1, whole=True)
        for n, node in enumerate(self.circuit.nodes):
            self.node[n] = block.node.add()
            if isinstance(node, Leaf):
                self._encode_leaf(block, n)
            elif isinstance(node, Product):
                add(block, self.node[n] == total(self.node[a] for a in node.children))
            elif isinstance(node, Sum):
                for which, logs in enumerate(self.edges[n]):
                    self._encode_maximum(block, n, node, which, logs)
        add(block, block.log_likelihood[0] <= self.node[len(self.circuit.nodes) - 1])
        least = self._bounds(possible=True)[0][-1]
        block.log_likelihood[0].setlb(least - 1 if math.isfinite(least) else None)
        if not math.isfinite(least):  # no row has a density above 0
            add(block, block.log_likelihood[0] >= 1 + self.high[-1])

    def _encode_leaf(self, block: Block, n: int) -> None:
        part, i = self.place[n]
        runs, logs = part.runs[i], np.where(np.isfinite(self._logs(n)), self._logs(n), self.never)
        atoms = total(float(log) * atom for log, atom in zip(logs, part.indicators, strict=False))
        if part.inputs is None or part.inputs.scale is None:
            add(block, self.node[n] == atoms)
            return
        first, scale, number = len(part.indicators), part.inputs.scale, part.inputs.variable
        if len(runs.low) == 1 and not part.indicators:
            add(block, self.node[n] == float(logs[first]))
            return
        chosen = []
        low, high = scale.units(runs.low), scale.units(runs.high)
        for r in range(len(runs.low)):
            not_bin = self.not_bin[n, r] = block.not_bin.add()
            chosen.append(1 - not_bin)
            add(block, number >= float(low[r]) * (1 - not_bin))
            add(block, number <= float(high[r]) + (scale.length - float(high[r])) * not_bin)
            part.inputs.indicator_bounds.append(IndicatorBounds(not_bin, float(runs.low[r]), float(runs.high[r]), negated=True))
        add(block, total(chosen) == part.inputs.is_number)
        add(block, self.node[n] == atoms + total(float(log) * bin_ for log, bin_ in zip(logs[first:], chosen, strict=True)))

    def _encode_maximum(self, block: Block, n: int, node: Sum, which: int, logs: Numbers) -> None:
        """The sum is at most one of its children, with what the edge adds."""
        children = [(e, a, float(logs[e])) for e, a in enumerate(node.children) if logs[e] > -math.inf]
        if not children:
            add(block, self.node[n] <= self.never)
        for e, a, log in children:
            off = self.not_child[n, e, which] = block.not_child.add()
            room = self.high[n] - self.low[a] - log if self.big_m is None else self.big_m
            add(block, self.node[n] <= self.node[a] + log + max(0.0, room) * off)
        if children:
            add(block, total(self.not_child[n, e, which] for e, _, _ in children) == len(children) - 1)

    # -- values -------------------------------------------------------------------------------------------------------

    def values(self, row: Numbers) -> list[float]:
        """What every node is worth at a row, log 0 being what stands for it."""
        leaves = leaf_values(self.parts, row)
        logs: list[float] = []
        for n, node in enumerate(self.circuit.nodes):
            if isinstance(node, Leaf):
                logs.append(leaves[n][3] if leaves[n][3] > -math.inf else self.never)
            elif isinstance(node, Product):
                logs.append(sum(logs[a] for a in node.children))
            elif isinstance(node, Sum):
                both = [[logs[a] + float(log) for a, log in zip(node.children, added, strict=True)] for added in self.edges[n]]
                logs.append(max(self.never, min(max(sums) for sums in both)))
        return logs

    def value(self, row: Numbers) -> float:
        """What the root can be at most at a row."""
        log, least = self.values(row)[-1], self._bounds(possible=True)[0][-1]
        return log if log >= least - 1 else -math.inf

    def set(self, row: Numbers) -> None:
        """Give the variables the values that follow from a row."""
        values, leaves = self.values(row), leaf_values(self.parts, row)
        for n, node in self.node.items():
            node.set_value(values[n])
        for (n, r), not_bin in self.not_bin.items():
            not_bin.set_value(int(leaves[n][2] != ("run", r)))
        for n, logs in self.edges.items():
            node = self.circuit.nodes[n]
            assert isinstance(node, Sum)
            for which, added in enumerate(logs):
                best = int(np.argmax([values[a] + float(log) for a, log in zip(node.children, added, strict=True)]))
                for e in range(len(node.children)):
                    if (n, e, which) in self.not_child:
                        self.not_child[n, e, which].set_value(int(e != best))
