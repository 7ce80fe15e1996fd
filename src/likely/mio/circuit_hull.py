"""The circuit as one unit of flow that chooses an induced tree: no big-M.

Choosing the largest child at every sum selects a tree with exactly one leaf per variable. So, with flow 1 into the root:

    sum n:       sum_a f_na = flow into n;  edge a adds (log w_a) f_na            a column per child, 1 row
    product:     every child receives the product's whole flow                    nothing
    leaf:        sum_v y_v + sum_r y_r = flow into the leaf, over the values v     a column per value and piece of a run, 1 row
                 and the runs r of equal density; each adds log p y
    variable j:  sum over its leaves of y_v = d_jv, for every atom v               a row per atom
                 the y_r of all its leaves, distributed over its cells c           `encode_cells` and `CellTree`: a column per
                 (on which every leaf is constant), are s_jc                       cell, 3 rows; per flow a row per cell, and
                                                                                   2 columns and a row per inner node
    block:       see `likely.mio.circuit_blocks`
    root:        log_likelihood <= what all edges and leaves add                   1 column, 1 row

(A sum with one child needs nothing; values and runs with density 0, and what only they lead to, have no column.) The s of
cells are 0-1, all flows follow, but for those into blocks, which are 0-1 themselves. Guarantee: at any row, the greatest
`log_likelihood` is the maximum over induced trees, to the solver's tolerance; of trees with blocks, that of their tangents, and
no less. The relaxation is the convex hull of each sum's disjunction (Balas, "Disjunctive programming", 1979; its extended
formulation is a flow because products share theirs). For "over" there are two flows over the same cells, one with
(log w_a + log n) and one with log(sum of weights) on the edges, and two rows at the root.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from likely.circuit import Circuit, GaussianBlock, Leaf, Product, Sum
from likely.mio.circuit import Likelihood, edge_logs, leaf_values
from likely.mio.circuit_blocks import BlockFlow, new_lists
from likely.mio.inputs import Cells, RowVariables, cell_holds, encode_cells
from likely.mio.intervals import CellTree, Node
from likely.mio.leaves import Side, VariableLeaves, blocks_of, leaves_of, spans
from likely.mio.modelling import Block, Expression, Variable, add, growing, new_block, new_blocks, numbers, rows, total
from likely.mio.refining import Refinement
from likely.mio.warped import BlockLeaf
from likely.schema.values import Numbers


def encode_hull(circuit: Circuit, inputs: RowVariables, target: Sequence[Expression] | None, side: Side) -> Likelihood:
    """The flow formulation; see the module.

    Args:
        circuit: The density.
        inputs: The row.
        target: 0-1 expressions for the class of the row.
        side: "under" or "over".
    """
    parts = leaves_of(circuit, inputs, target, side)
    blocks = blocks_of(circuit, inputs, parts)
    block = new_block()
    block.rows, block.log_likelihood = rows(), numbers(1, None, None)
    block.variable = new_blocks(len(parts))
    cells = {j: _encode_cells(block.variable[j], part) for j, part in enumerate(parts) if _has_numbers(part)}
    block.flow = new_blocks(1 if side == "under" else 2)
    flows = [_Flow(circuit, parts, blocks, cells, edges) for edges in _edges(circuit, side)]
    for i, flow in enumerate(flows):
        add(block, block.log_likelihood[0] <= flow.encode(block.flow[i]))

    def value(row: Numbers) -> float:
        return min(flow.values(row)[-1] for flow in flows)

    def set_values(row: Numbers) -> None:
        for j, part in cells.items():
            part.set(float(row[j]))
        for flow in flows:
            flow.set(row)
        block.log_likelihood[0].set_value(value(row))

    def refine(refinement: Refinement, above: float) -> bool:
        refined = [made.refine(refinement, above) for flow in flows for made in flow.blocks.values()]
        return any(refined)

    return Likelihood(circuit, block, block.log_likelihood[0], set_values, value, cells, refine)


def _edges(circuit: Circuit, side: Side) -> list[dict[int, Numbers]]:
    """Per flow, what is added to the children of every sum."""
    logs = {n: edge_logs(node, side) for n, node in enumerate(circuit.nodes) if isinstance(node, Sum)}
    return [{n: both[i] for n, both in logs.items()} for i in range(1 if side == "under" else 2)]


def _has_numbers(part: VariableLeaves) -> bool:
    return part.inputs is not None and part.inputs.scale is not None


def _encode_cells(block: Block, part: VariableLeaves) -> Cells:
    """The cells on which all leaves of a variable are constant."""
    assert part.inputs is not None
    block.rows = rows()
    cells = encode_cells(block, part.inputs, *part.cells)
    part.inputs.indicator_bounds += cells.indicator_bounds
    return cells


class _Flow:
    """One flow through the circuit, with its own numbers on the edges of sums."""

    def __init__(
        self,
        circuit: Circuit,
        parts: list[VariableLeaves],
        blocks: Mapping[int, BlockLeaf],
        cells: Mapping[int, Cells],
        edges: dict[int, Numbers],
    ) -> None:
        self.circuit, self.parts, self.cells, self.edges = circuit, parts, cells, edges
        self.trees = {j: CellTree(len(part.low)) for j, part in cells.items()}
        self.blocks = {n: BlockFlow(leaf, cells, self.trees) for n, leaf in blocks.items()}
        self.place = {leaf: (part, i) for part in parts for i, leaf in enumerate(part.leaves)}
        self.alive = self._alive()
        self.edge_flows: dict[tuple[int, int], Variable] = {}
        self.atom_flows: dict[tuple[int, int], Variable] = {}
        self.run_flows: dict[tuple[int, int], dict[Node, Variable]] = {}
        self.rest: dict[int, Variable] = {}

    def _alive(self) -> list[bool]:
        """Which nodes have a density above 0 somewhere."""
        alive: list[bool] = []
        for n, node in enumerate(self.circuit.nodes):
            if isinstance(node, Leaf):
                part, i = self.place[n]
                logs = np.concatenate([part.atom_logs[i], part.runs[i].logs])
                alive.append(bool((logs > -math.inf).any()))
            elif isinstance(node, Sum):
                alive.append(any(alive[a] and log > -math.inf for a, log in zip(node.children, self.edges[n], strict=True)))
            elif isinstance(node, Product):
                alive.append(all(alive[a] for a in node.children))
            elif isinstance(node, GaussianBlock):
                alive.append(self.blocks[n].leaf.near or self.blocks[n].leaf.far > -math.inf)
        return alive

    def _children(self, n: int, node: Sum) -> list[tuple[int, int, float]]:
        """Edge, child and what the edge adds, of the children that can be chosen."""
        logs = self.edges[n]
        return [(e, a, float(logs[e])) for e, a in enumerate(node.children) if self.alive[a] and logs[e] > -math.inf]

    def encode(self, block: Block) -> Expression:
        """The variables and rows of the flow; returns what it adds up to."""
        block.rows, block.edge, block.atom, block.run = rows(), growing(), growing(), growing()
        new_lists(block)
        nodes = self.circuit.nodes
        into: list[list[Expression]] = [[] for _ in nodes]
        into[-1].append(1.0)
        terms: list[Expression] = []
        for n in reversed(range(len(nodes))):
            node = nodes[n]
            if not into[n] or not self.alive[n]:
                continue
            if isinstance(node, Leaf):
                terms += self._encode_leaf(block, n, node.variable, into[n])
            elif isinstance(node, Sum):
                terms += self._encode_sum(block, n, node, into)
            elif isinstance(node, Product):
                for a in node.children:
                    into[a] += into[n]
            elif isinstance(node, GaussianBlock):
                terms += self.blocks[n].encode(block, into[n])
        if self.alive[-1]:
            self._couple(block)
        else:  # no row has a density above 0
            add(block, block.edge.add() >= 2)
        return total(terms) if terms else 0.0

    def _encode_sum(self, block: Block, n: int, node: Sum, into: list[list[Expression]]) -> list[Expression]:
        children = self._children(n, node)
        if len(children) == 1:
            _, a, log = children[0]
            into[a] += into[n]
            return [log * flow for flow in into[n]]
        terms = []
        for e, a, log in children:
            flow = self.edge_flows[n, e] = block.edge.add()
            into[a].append(flow)
            terms.append(log * flow)
        add(block, total(self.edge_flows[n, e] for e, _, _ in children) == total(into[n]))
        return terms

    def _encode_leaf(self, block: Block, n: int, j: int, into: list[Expression]) -> list[Expression]:
        part, i = self.place[n]
        terms, flows = [], []
        for k in np.flatnonzero(part.atom_logs[i] > -math.inf):
            flow = self.atom_flows[n, int(k)] = block.atom.add()
            flows.append(flow)
            terms.append(float(part.atom_logs[i][k]) * flow)
        places = spans(part.runs[i], self.cells[j].low) if j in self.cells else []
        for r in np.flatnonzero(part.runs[i].logs > -math.inf):
            pieces = self.run_flows[n, int(r)] = self.trees[j].enter(*places[r], block.run.add)
            flows += pieces.values()
            terms += [float(part.runs[i].logs[r]) * flow for flow in pieces.values()]
        add(block, total(flows) == total(into))
        return terms

    def _couple(self, block: Block) -> None:
        """The flows through all leaves of a variable go where its value is."""
        for j, part in enumerate(self.parts):
            for k, indicator in enumerate(part.indicators):
                flows = [self.atom_flows[leaf, k] for leaf in part.leaves if (leaf, k) in self.atom_flows]
                if flows or not isinstance(indicator, float):
                    add(block, total(flows) == indicator)
            if j in self.cells:
                self.trees[j].encode(block, self.cells[j].variables, block.run.add)
            if part.blocks:
                self._couple_number(block, j, part)

    def _couple_number(self, block: Block, j: int, part: VariableLeaves) -> None:
        """The shares of all blocks in a number add up to it; where there is none, it is any."""
        assert part.inputs is not None
        assert part.inputs.scale is not None
        rest = self.rest[j] = block.share.add()
        near = [self.blocks[n].near for n in part.blocks if self.blocks[n].near is not None]
        add(block, total([*chain(*(self.blocks[n].numbers[j] for n in part.blocks)), rest]) == part.inputs.variable)
        add(block, rest <= part.inputs.scale.length * (part.inputs.is_number - total(near)))

    def values(self, row: Numbers) -> list[float]:
        """What every node is worth at a row."""
        leaves = leaf_values(self.parts, row)
        logs: list[float] = []
        for n, node in enumerate(self.circuit.nodes):
            if isinstance(node, Leaf):
                logs.append(leaves[n][3])
            elif isinstance(node, Sum):
                logs.append(max(logs[a] + float(log) for a, log in zip(node.children, self.edges[n], strict=True)))
            elif isinstance(node, Product):
                logs.append(sum(logs[a] for a in node.children))
            elif isinstance(node, GaussianBlock):
                logs.append(float(node.log_density(row[None, list(node.variables)], self.circuit.floor)[0]))
        return logs

    def set(self, row: Numbers) -> None:
        """Give the flows the values of the best induced tree of a row."""
        values, leaves = self.values(row), leaf_values(self.parts, row)
        several = [flows.values() for flows in self.run_flows.values()] + [tree.edges.values() for tree in self.trees.values()]
        for variable in chain(self.edge_flows.values(), self.atom_flows.values(), *several):
            variable.set_value(0, skip_validation=True)  # there are many
        for block in self.blocks.values():
            block.clear()
        stack = [len(self.circuit.nodes) - 1]
        while stack:
            n = stack.pop()
            node = self.circuit.nodes[n]
            if isinstance(node, Leaf):
                self._set_leaf(n, node.variable, leaves[n][2], float(row[node.variable]))
            elif isinstance(node, Sum):
                logs = [values[a] + float(log) for a, log in zip(node.children, self.edges[n], strict=True)]
                best = int(np.argmax(logs))
                if (n, best) in self.edge_flows:
                    self.edge_flows[n, best].set_value(1)
                stack.append(node.children[best])
            elif isinstance(node, Product):
                stack += node.children
            elif isinstance(node, GaussianBlock):
                self.blocks[n].set(row)
        for j, rest in self.rest.items():
            number = self.cells[j].inputs.variable.value
            near = [self.blocks[n].near for n in self.parts[j].blocks]
            rest.set_value(0.0 if any(a is not None and a.value for a in near) else number)

    def _set_leaf(self, n: int, j: int, where: tuple[str, int], value: float) -> None:
        """Send one unit through a leaf to where it has the row's value."""
        kind, place = where
        if kind == "atom":
            if (n, place) in self.atom_flows:
                self.atom_flows[n, place].set_value(1)
            return
        cells = self.cells[j]
        cell = int(cell_holds(cells.inputs, cells.low, cells.high, value).argmax())
        self.trees[j].set(self.run_flows.get((n, place), {}), cell)
